//! The points of a file one after the other, and every row where it is safe as soon as it is there.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use caudal_config::Point;
use caudal_report::hdr;
use caudal_sim::experiment::{ExperimentError, Results as PointResults};
use caudal_sim::row::Row;
use caudal_sim::sweep::{Sweep, SweepError};
use miette::miette;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::global::Global;
use crate::progress::Progress;
use crate::results::{Results, write_whole};

/// Where in a results directory the histograms are.
pub(crate) const HDR: &str = "hdr";

/// What became of a sweep.
pub(crate) struct Swept {
    /// The rows that are there, in the order of the points.
    pub(crate) rows: Vec<Value>,
    pub(crate) outcome: Result<(), Stopped>,
}

/// Why a sweep has not all rows.
pub(crate) enum Stopped {
    Interrupted,
    Failed(miette::Report),
}

/// Simulates the points that `results` does not have yet.
pub(crate) fn sweep(points: &[Point], results: Option<Results>, hdr: bool, global: &Global) -> Swept {
    let found = results.as_ref().map(|results| results.found.clone()).unwrap_or_default();
    let done = results.as_ref().map(Results::points_done).unwrap_or_default();
    let lacks_log = |index: usize| {
        hdr && results
            .as_ref()
            .is_some_and(|results| !results.path(&log_name(index, &points[index])).exists())
    };
    let todo: Vec<usize> =
        (0..points.len()).filter(|&index| !done.contains(&points[index].key) || lacks_log(index)).collect();
    let progress = Progress::new(global, points.len() as u64, "simulating");
    progress.set_done((points.len() - todo.len()) as u64);
    let rows: Vec<Option<Value>> = points
        .iter()
        .map(|point| found.iter().find(|row| row["point"] == point.key.as_str()).cloned())
        .collect();
    let mut collected = Collected { results, rows, shown: 0, written: Ok(()) };
    let show = |row: &Value| {
        if global.json {
            progress.note_data(row);
        }
    };
    collected.show_next(show);
    let collected = Mutex::new(collected);
    let mut on_row = |index: usize, row: Row, of: &PointResults| {
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.take(index, &points[index], row, hdr.then_some(of));
        collected.show_next(show);
        progress.step();
    };
    let requests = |more| progress.requests(more);
    let Global { threads, quick, ref stop, .. } = *global;
    let outcome = Sweep { points, quick, threads, stop, progress: &requests }.run(&todo, &mut on_row);
    let mut collected = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    collected.show_rest(show);
    progress.finish();
    collected.finish(outcome)
}

/// The rows of a sweep so far.
struct Collected {
    results: Option<Results>,
    rows: Vec<Option<Value>>,
    /// Points whose rows have been shown: the first so many.
    shown: usize,
    /// The first thing that could not be written; the sweep goes on, its rows are printed.
    written: miette::Result<()>,
}

impl Collected {
    /// Shows the rows that are there, in the order of the points, up to the first point that has none yet: who reads them shall
    /// not see which thread was first.
    fn show_next(&mut self, show: impl Fn(&Value)) {
        while let Some(Some(row)) = self.rows.get(self.shown) {
            show(row);
            self.shown += 1;
        }
    }

    /// Shows what is left of them, when no more will come: where the sweep ended early, there are gaps.
    fn show_rest(&mut self, show: impl Fn(&Value)) {
        self.rows[self.shown..].iter().flatten().for_each(show);
        self.shown = self.rows.len();
    }

    /// Takes in a row, with its histograms if they are wanted.
    fn take(&mut self, index: usize, point: &Point, row: Row, logged: Option<&PointResults>) {
        let row = serde_json::to_value(&row).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        let is_new = self.rows[index].is_none();
        if let (Some(results), Ok(())) = (self.results.as_mut(), &self.written) {
            // The log first: where there is a row, there is its log.
            let log =
                logged.map_or(Ok(()), |of| write_log(&results.path(&log_name(index, point)), point, of));
            self.written = log.and_then(|()| if is_new { results.add(&row) } else { Ok(()) });
        }
        if is_new {
            self.rows[index] = Some(row);
        }
    }

    fn finish(self, outcome: Result<(), SweepError>) -> Swept {
        let rows: Vec<Value> = self.rows.into_iter().flatten().collect();
        let finished = self.written.map_err(Stopped::Failed).and_then(|()| {
            outcome.map_err(|error| match error.source {
                ExperimentError::Interrupted(_) => Stopped::Interrupted,
                source => Stopped::Failed(miette!("{}: {source}", error.point)),
            })
        });
        let outcome = finished.and_then(|()| match &self.results {
            Some(results) => write_summaries(results, &rows).map_err(Stopped::Failed),
            None => Ok(()),
        });
        Swept { rows, outcome }
    }
}

/// The table and the report of a whole sweep.
fn write_summaries(results: &Results, rows: &[Value]) -> miette::Result<()> {
    results.finish(rows)?;
    let report = results.path("report.html");
    crate::commands::write_report(&report, rows, &results.path("config.toml"))?;
    errln!("wrote {}", report.display());
    Ok(())
}

/// Where a point's histograms are in its results directory.
fn log_name(index: usize, point: &Point) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "=.-".contains(c) { c } else { '_' };
    let key: String = point.key.chars().map(plain).take(100).collect();
    format!("{HDR}/{:04}-{key}.hlog", index + 1)
}

/// The latencies of a point by class, in ns; none of an overloaded one, whose latencies mean nothing.
fn write_log(path: &Path, point: &Point, results: &PointResults) -> miette::Result<()> {
    let mut histograms = Vec::new();
    for (name, class) in point.workload.service.classes().iter().zip(&results.classes) {
        if !results.overloaded {
            let pooled = class.latency_ps.pooled();
            let counts =
                pooled.iter().map(|bucket| ((bucket.low.midpoint(bucket.high) + 500) / 1000, bucket.count));
            let histogram = hdr::from_counts(counts).map_err(|error| Failure(error.to_string()))?;
            histograms.push((name.as_str(), histogram));
        }
    }
    let simulated_ps: u64 = results.accounts.iter().map(|(_, span_ps)| span_ps).sum();
    let mut log = Vec::new();
    let named = histograms.iter().map(|(name, histogram)| (*name, histogram));
    hdr::write_hlog(named, Duration::from_nanos(simulated_ps / 1000), &mut log)
        .map_err(|error| Failure(error.to_string()))?;
    write_whole(path, &String::from_utf8_lossy(&log))
}
