//! From a point of a file to its experiment, and many points on several threads. Called by all who simulate what a file says.

#[cfg(feature = "host")]
use std::sync::Mutex;
#[cfg(feature = "host")]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(feature = "host")]
use std::time::Instant;

use caudal_config::Point;

#[cfg(feature = "host")]
use crate::experiment::{Control, ExperimentError, Results};
use crate::experiment::{Experiment, StopOn};
#[cfg(feature = "host")]
use crate::row::{Row, row_of};

/// A sweep over points.
#[cfg(feature = "host")]
pub struct Sweep<'a> {
    /// The points that are simulated, in the order in which they are started.
    pub points: &'a [Point],
    /// Settle for less precision.
    pub quick: bool,
    /// Threads to use; at least 1.
    pub threads: usize,
    /// Set to stop.
    pub stop: &'a AtomicBool,
    /// Told how many requests have been simulated since the last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// Why a sweep ended early.
#[cfg(feature = "host")]
#[derive(Debug, thiserror::Error)]
#[error("point {point}: {source}")]
pub struct SweepError {
    /// Name of the point.
    pub point: String,
    /// The error there.
    pub source: ExperimentError,
}

/// The experiment that a point of a file asks for.
pub fn experiment<'a>(point: &'a Point, quick: bool, stop_on: StopOn) -> Experiment<'a> {
    Experiment {
        system: &point.system,
        costs: &point.costs,
        service: &point.workload.service,
        arrivals: &point.workload.arrivals,
        mean_gap_ps: point.mean_gap_ps(),
        measure: &point.measure,
        quick,
        stop_on,
    }
}

#[cfg(feature = "host")]
impl Sweep<'_> {
    /// Simulates all points that `todo` names by their index; `done` gets each row as soon as it is there, with
    /// the results that it sums up.
    ///
    /// A thread takes one point at a time; where points are fewer than threads, they share one.
    ///
    /// # Errors
    /// The first thing that went wrong; rows that were done before have been handed over.
    pub fn run(
        &self,
        todo: &[usize],
        done: &mut (dyn FnMut(usize, Row, &Results) + Send),
    ) -> Result<(), SweepError> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<SweepError>> = Mutex::new(None);
        let done = Mutex::new(done);
        let threads = self.threads.clamp(1, todo.len().max(1));
        let work = || {
            while let Some(&index) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                // Points that are left over for less than all threads share the threads.
                match self.one(index, self.threads / threads) {
                    Ok((row, results)) => {
                        (done.lock().expect("no thread panics with it"))(index, row, &results);
                    }
                    Err(error) => {
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                        failed.lock().expect("no thread panics with it").get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        failed.into_inner().expect("no thread panics with it").map_or(Ok(()), Err)
    }

    fn one(&self, index: usize, threads: usize) -> Result<(Row, Results), SweepError> {
        let point = &self.points[index];
        let started = Instant::now();
        let control = Control { threads: threads.max(1), stop: self.stop, progress: self.progress };
        let results = experiment(point, self.quick, StopOn::Reported)
            .run(&control)
            .map_err(|source| SweepError { point: point.key.clone(), source })?;
        Ok((row_of(point, &results, started.elapsed().as_secs_f64()), results))
    }
}
