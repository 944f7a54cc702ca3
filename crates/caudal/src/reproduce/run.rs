//! Simulating the points of a figure on several threads, keeping every replication.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use caudal_config::{File, Measure, Point};
use caudal_sim::experiment::{Crew, ExperimentError, Judged};
use caudal_sim::sweep::experiment;

use super::cell::Cell;
use super::figure::{Figure, Kind, Measured};
use super::search::{Highest, Search};
use crate::global::Global;
use crate::progress::Progress;

/// How much less is simulated for a first look.
const QUICK_SHARE: u64 = 8;
/// Least requests of a replication.
const REQUESTS_MIN: u64 = 4_000;

/// Why a figure could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("{point}: {source}")]
pub(crate) struct RunError {
    pub(crate) point: String,
    pub(crate) source: ExperimentError,
}

/// What is to be simulated for a figure.
pub(crate) struct Plan {
    points: Vec<Point>,
    searches: Vec<Search>,
}

impl Plan {
    /// Reads the figure's file.
    ///
    /// # Errors
    /// If it is wrong; the tests read all of them.
    pub(crate) fn new(figure: &Figure, quick: bool) -> miette::Result<Plan> {
        let file = File::parse(figure.file, path(figure.name))?;
        let mut plan = Plan { points: Vec::new(), searches: Vec::new() };
        match figure.kind {
            Kind::Points => plan.points = file.points()?,
            Kind::HighestLoad => plan.searches = Search::all(&file, quick),
        }
        if quick {
            for point in &mut plan.points {
                point.measure = std::sync::Arc::new(hurried(&point.measure));
            }
        }
        Ok(plan)
    }

    /// How many steps it takes.
    pub(crate) fn steps(&self) -> usize {
        self.points.len() + self.searches.len() * Search::STEPS
    }

    /// Simulates all of it; `on_row` gets the row of each point or search as soon as it is there.
    ///
    /// # Errors
    /// If it was interrupted, or a point asks for what its variant can not do.
    pub(crate) fn run(
        &self,
        global: &Global,
        progress: &Progress,
        on_row: &mut (dyn FnMut(&serde_json::Value) + Send),
    ) -> Result<Measured, RunError> {
        let on_row = Mutex::new(on_row);
        let done =
            |row: &serde_json::Value| (on_row.lock().unwrap_or_else(std::sync::PoisonError::into_inner))(row);
        let cells = in_parallel(global.threads, &self.points, |point| {
            let cell = simulate(point, global, progress)?;
            progress.step();
            done(&cell.row);
            Ok(cell)
        })?;
        let highest: Vec<Highest> = in_parallel(global.threads, &self.searches, |search| {
            let found = search.run(global, progress)?;
            done(&found.row());
            Ok(found)
        })?;
        Ok(Measured { cells, highest })
    }
}

/// Where the file of a figure is kept.
pub(crate) fn path(name: &str) -> String {
    format!("experiments/{name}.toml")
}

fn hurried(measure: &Measure) -> Measure {
    let less = |requests: u64| (requests / QUICK_SHARE).max(REQUESTS_MIN);
    let warm_up = match measure.warm_up {
        caudal_config::WarmUp::Requests(requests) => caudal_config::WarmUp::Requests(less(requests)),
        other => other,
    };
    Measure { requests: measure.requests.map(less), warm_up, ..measure.clone() }
}

fn simulate(point: &Point, global: &Global, progress: &Progress) -> Result<Cell, RunError> {
    let started = Instant::now();
    let crew = Crew { threads: 1, stop: &global.stop, progress: &|more| progress.requests(more) };
    let results = experiment(point, false, Judged::Reported)
        .run(&crew)
        .map_err(|source| RunError { point: point.key.clone(), source })?;
    Ok(Cell::new(point, &results, started.elapsed().as_secs_f64()))
}

/// `work` on all `items`, one at a time on each thread; the results are in the order of the items.
fn in_parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R, RunError>)>> = Mutex::new(Vec::new());
    let one_by_one = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            if result.is_err() {
                next.store(usize::MAX / 2, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(one_by_one);
        }
        one_by_one();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
