//! A results directory: what was asked, and every row as soon as it is there.
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

mod csv;
mod meta;

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) use meta::{Meta, Owner, digest, digests};

use crate::exit::Failure;

/// Files of a directory that took time to compute.
const RESULTS: [&str; 3] = ["rows.jsonl", "plan.json", "progress.jsonl"];

/// An open results directory of a sweep.
pub(crate) struct Results {
    dir: PathBuf,
    rows: Lines,
    /// Rows that were there already, with their points' names.
    pub(crate) found: Vec<Value>,
}

impl Results {
    /// Opens `dir`, or makes it. `meta` says everything that the rows depend on.
    ///
    /// # Errors
    /// If the directory holds results of something else, or can not be written.
    pub(crate) fn open(dir: &Path, config: &str, meta: &Meta) -> miette::Result<Results> {
        meta.claim(dir)?;
        write_whole(&dir.join("config.toml"), config)?;
        let (rows, found) = Lines::open(&dir.join("rows.jsonl"))?;
        Ok(Results { dir: dir.to_owned(), rows, found })
    }

    /// Names of the points that have a row already.
    pub(crate) fn points_done(&self) -> HashSet<String> {
        self.found.iter().filter_map(|row| Some(row.get("point")?.as_str()?.to_owned())).collect()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it can not be written.
    pub(crate) fn add(&mut self, row: &Value) -> miette::Result<()> {
        self.rows.add(row)
    }

    /// Writes all rows anew, and as a table, in this order: as they came, they stand in that of the threads.
    ///
    /// # Errors
    /// If it can not be written.
    pub(crate) fn finish(&self, rows: &[Value]) -> miette::Result<()> {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        write_whole(&self.dir.join("rows.jsonl"), &lines)?;
        write_whole(&self.dir.join("rows.csv"), &csv::table(rows))
    }

    /// The path of a file in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// A file of JSON lines that grows.
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens the file, or makes it, and gives what it has; half a line at its end is forgotten.
    ///
    /// # Errors
    /// If it can not be read or written.
    pub(crate) fn open(path: &Path) -> miette::Result<(Lines, Vec<Value>)> {
        let found = whole_rows(path)?;
        // Written anew without what was cut off.
        write_whole(path, &found.iter().map(|row| format!("{row}\n")).collect::<String>())?;
        let file = OpenOptions::new().append(true).open(path).map_err(|error| cannot_write(path, &error))?;
        Ok((Lines { path: path.to_owned(), file }, found))
    }

    /// Adds a line.
    ///
    /// # Errors
    /// If it can not be written.
    pub(crate) fn add(&mut self, line: &Value) -> miette::Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| cannot_write(&self.path, &error).into())
    }
}

/// What could not be written is no fault of the input.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("can not write `{}`: {error}", path.display()))
}

/// Makes a directory that can be written into.
///
/// # Errors
/// If it can not.
pub(crate) fn make_dir(dir: &Path) -> miette::Result<()> {
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, &error))?;
    writable(&dir.join(".caudal.part"))
}

/// That a file can be written is better known before the work than after it. What it holds stays.
///
/// # Errors
/// If it can not.
pub(crate) fn writable(path: &Path) -> miette::Result<()> {
    let was_there = path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| cannot_write(path, &error))?;
    if !was_there {
        fs::remove_file(path).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(())
}

/// Writes a file so that a reader sees the old one or the new one, never half of it.
pub(crate) fn write_whole(path: &Path, text: &str) -> miette::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| cannot_write(path, &error).into())
}

/// The complete rows of a file; none if there is no file.
pub(crate) fn whole_rows(path: &Path) -> miette::Result<Vec<Value>> {
    let cannot_read = |error: std::io::Error| Failure(format!("can not read `{}`: {error}", path.display()));
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        opened => opened.map_err(cannot_read)?,
    };
    let mut rows = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(cannot_read)?;
        rows.extend(serde_json::from_str::<Value>(&line).ok());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(config: &str) -> Meta {
        Meta { command: "sim", seed: 1, points: Some(2), asked: vec![("config".to_owned(), json!(config))] }
    }

    #[test]
    fn goes_on_where_it_stopped_and_forgets_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut results = Results::open(dir.path(), "x", &meta("x")).unwrap();
        results.add(&json!({ "point": "a", "p": { "q": 1.5 } })).unwrap();
        let path = dir.path().join("rows.jsonl");
        let half = fs::read_to_string(&path).unwrap() + "{\"point\": \"b\", ";
        fs::write(&path, half).unwrap();
        let mut results = Results::open(dir.path(), "x", &meta("x")).unwrap();
        assert_eq!(results.points_done(), HashSet::from(["a".to_owned()]));
        results.add(&json!({ "point": "b", "note": "a,b" })).unwrap();
        let rows = whole_rows(&path).unwrap();
        assert_eq!(rows.len(), 2);
        results.finish(&rows).unwrap();
        let csv = fs::read_to_string(dir.path().join("rows.csv")).unwrap();
        assert_eq!(csv, "point,p.q,note\na,1.5,\nb,,\"a,b\"\n");
        let error = Results::open(dir.path(), "x", &meta("y")).map(drop).unwrap_err();
        assert!(error.downcast_ref::<Failure>().is_none(), "that is bad input");
    }

    #[test]
    fn what_is_checked_for_writing_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        writable(&path).unwrap();
        assert!(!path.exists());
        fs::write(&path, "kept").unwrap();
        writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        let error = writable(&path.join("b")).unwrap_err();
        assert!(error.downcast_ref::<Failure>().is_some());
    }
}
