//! A results directory: what was asked, and every row as soon as it is there. `caudal sim --out` makes one.
//!
//! ```text
//!   meta.json       version, command, seed, number of points, and digests of all that the rows depend on
//!   config.toml     the file that made them, --set included
//!   rows.jsonl      a row a line, in the order in which they were done; each names its point
//!   rows.csv        the same as a table, in the order of the points, when all are there
//!   hdr/            with --hdr: the latencies of each point as an HdrHistogram log, in ns, a tag a class
//!   report.html
//! ```
//!
//! and of a plan, besides `meta.json`, `rows.jsonl` and `report.html`:
//!
//! ```text
//!   progress.jsonl  what is known of a system after each phase of the search, as soon as it is known
//!   plan.json       the answer
//!   report.json     what the report says besides the rows
//!   policy.toml     the winner, for the runtime
//! ```
//!
//! A sweep or a plan that finds a directory with an equal `meta.json` goes on where it stopped: same version, same
//! command, same file with the same overrides, same *contents* of the files that it names. A line that was cut
//! off in the middle (a killed process, a full disk) does not count. A directory of anything else is left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use caudal_config::Point;
use caudal_report::hdr;
use caudal_row::Row;
use caudal_sim::experiment::Results as PointResults;

use crate::csv;
use crate::error::ResultsError;
use crate::files::{Lines, json_lines, make_dir, write_whole};
use crate::meta::Meta;
use crate::sweep::RowStore;
use crate::sweep_report::sweep_report;

/// Folder of a results directory in which the histograms are.
pub const HDR: &str = "hdr";

/// An open results directory of a sweep.
#[derive(Debug)]
pub struct ResultsDirectory {
    dir: PathBuf,
    rows: Lines,
    found: Vec<Row>,
    with_histograms: bool,
}

impl ResultsDirectory {
    /// Opens `dir`, or makes it. `meta` says everything that the rows depend on; `with_histograms` keeps the latencies of each point, too.
    ///
    /// # Errors
    /// If the directory holds results of something else, or can not be written.
    pub fn open(
        dir: &Path,
        config: &str,
        meta: &Meta,
        with_histograms: bool,
    ) -> Result<ResultsDirectory, ResultsError> {
        meta.claim(dir)?;
        write_whole(&dir.join("config.toml"), config)?;
        let (rows, found) = Lines::open(&dir.join("rows.jsonl"))?;
        if with_histograms {
            make_dir(&dir.join(HDR))?;
        }
        Ok(ResultsDirectory { dir: dir.to_owned(), rows, found, with_histograms })
    }

    /// The path of a file in the directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl RowStore for ResultsDirectory {
    fn found(&self) -> &[Row] {
        &self.found
    }

    fn lacks(&self, index: usize, point: &Point) -> bool {
        self.with_histograms && !self.path(&log_name(index, point)).exists()
    }

    fn add(
        &mut self,
        (index, point): (usize, &Point),
        row: &Row,
        is_new: bool,
        results: &PointResults,
    ) -> Result<(), ResultsError> {
        // The log first: where there is a row, there is its log.
        if self.with_histograms {
            write_log(&self.path(&log_name(index, point)), point, results)?;
        }
        if is_new { self.rows.add(row) } else { Ok(()) }
    }

    /// Writes all rows anew, and as a table, in this order: as they came, they stand in that of the threads. And the report.
    fn finish(&mut self, rows: &[Row]) -> Result<(), ResultsError> {
        write_whole(&self.path("rows.jsonl"), &json_lines(rows)?)?;
        write_whole(&self.path("rows.csv"), &csv::table(rows))?;
        let config = fs::read_to_string(self.path("config.toml")).unwrap_or_default();
        write_whole(&self.path("report.html"), &sweep_report(rows.to_vec(), config).to_html())
    }
}

/// The place of a point's histograms in its results directory.
fn log_name(index: usize, point: &Point) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "=.-".contains(c) { c } else { '_' };
    let key: String = point.key.chars().map(plain).take(100).collect();
    format!("{HDR}/{:04}-{key}.hlog", index + 1)
}

/// The latencies of a point by class, in ns; none of an overloaded one, whose latencies mean nothing.
fn write_log(path: &Path, point: &Point, results: &PointResults) -> Result<(), ResultsError> {
    let wrong = |error: caudal_report::ExportError| ResultsError::Histogram { problem: error.to_string() };
    let mut histograms = Vec::new();
    for (name, class) in point.workload.service.classes().iter().zip(&results.classes) {
        if !results.overloaded {
            let pooled = class.latency_ps.pooled();
            let counts =
                pooled.iter().map(|bucket| ((bucket.low.midpoint(bucket.high) + 500) / 1000, bucket.count));
            histograms.push((name.as_str(), hdr::from_counts(counts).map_err(wrong)?));
        }
    }
    let simulated_ps: u64 = results.accounts.iter().map(|(_, span_ps)| span_ps).sum();
    let mut log = Vec::new();
    let named = histograms.iter().map(|(name, histogram)| (*name, histogram));
    hdr::write_hlog(named, Duration::from_nanos(simulated_ps / 1000), &mut log).map_err(wrong)?;
    write_whole(path, &String::from_utf8_lossy(&log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(config: &str) -> Meta {
        Meta { command: "sim", seed: 1, points: Some(2), asked: vec![("config".to_owned(), json!(config))] }
    }

    fn open(dir: &Path, config: &str) -> Result<ResultsDirectory, ResultsError> {
        ResultsDirectory::open(dir, "x", &meta(config), false)
    }

    fn row(point: &str) -> Row {
        let line = json!({ "system": "a,b", "point": point, "varied": { "q": 1.5 } });
        Row::from_lines(&line.to_string()).unwrap().remove(0)
    }

    #[test]
    fn goes_on_where_it_stopped_and_forgets_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut results = open(dir.path(), "x").unwrap();
        results.rows.add(&row("a")).unwrap();
        let path = dir.path().join("rows.jsonl");
        let half = fs::read_to_string(&path).unwrap() + "{\"point\": \"b\", ";
        fs::write(&path, half).unwrap();
        let mut results = open(dir.path(), "x").unwrap();
        assert_eq!(results.found.iter().map(|row| row.point.as_str()).collect::<Vec<_>>(), ["a"]);
        results.rows.add(&row("b")).unwrap();
        let rows: Vec<Row> = crate::files::whole_lines(&path).unwrap();
        assert_eq!(rows.len(), 2);
        results.finish(&rows).unwrap();
        let csv = fs::read_to_string(dir.path().join("rows.csv")).unwrap();
        assert!(csv.starts_with("system,point,load,"), "{csv}");
        assert!(csv.contains("varied.q") && csv.contains("\n\"a,b\",a,0.0,"), "{csv}");
        let error = open(dir.path(), "y").map(drop).unwrap_err();
        assert!(!error.is_failure(), "that is bad input");
    }
}
