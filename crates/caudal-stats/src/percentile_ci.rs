//! Intervals within one long run, from batches; and why replications are the default.
//!
//! **Default: replications** ([`Replicated`]). They are independent by construction, at any load, so the interval
//! needs no assumption that the data could break; every one can run on a thread of its own; and "stop after the
//! n-th" gives the same bits on any number of threads. The price is one warm-up each.
//!
//! **Alternative: non-overlapping batches** of one run ([`Batches`]), for what cannot be repeated: a measured
//! trace, a live system, a warm-up that costs more than the run. Batches are only nearly independent. They must
//! be much longer than the time over which the queue remembers, which grows like 1/(1 − ρ)²; intervals from
//! batches that are too short are too narrow. [`Batches::lag1`] shows it.
//!
//! Source: Law, *Simulation Modeling and Analysis*, sec. 9.5.3 (batch means); the interval of a percentile is the
//! one of [`Replicated`], with batches in place of replications.

use crate::histogram::Histogram;
use crate::replicated::Replicated;

/// Batches at least, once there is enough data; there are never twice as many.
pub const MIN_BATCHES: usize = 32;

/// Collects one run in its order and cuts it into batches of equal length.
///
/// The length is not chosen: it doubles, neighbours being merged, whenever there are `2 ·` [`MIN_BATCHES`]
/// batches. Memory does not grow with the run.
#[derive(Clone, Debug)]
pub struct Batches {
    closed: Replicated,
    open: Histogram,
    batch: u64,
}

impl Batches {
    /// An empty run whose batches start with `first_batch` values.
    ///
    /// # Panics
    /// If `first_batch` is 0.
    pub fn new(first_batch: u64) -> Self {
        assert!(first_batch > 0, "a batch has at least one value");
        Self { closed: Replicated::new(), open: Histogram::new(), batch: first_batch }
    }

    /// Adds the next value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.open.record(value);
        if self.open.count() == self.batch {
            self.close();
        }
    }

    fn close(&mut self) {
        self.closed.push(&self.open);
        self.open.clear();
        if self.closed.replications() == 2 * MIN_BATCHES {
            self.closed.merge_neighbours();
            self.batch *= 2;
        }
    }

    /// Values of a batch by now.
    pub const fn batch_size(&self) -> u64 {
        self.batch
    }

    /// All values, with batches in place of replications; the batch that is not full yet joins the last full one.
    pub fn as_replications(&self) -> Replicated {
        let mut all = self.closed.clone();
        all.extend_last(&self.open);
        all
    }

    /// Correlation of the means of neighbouring batches, −1 … 1; NaN for fewer than three batches or equal means.
    ///
    /// Above about 1.6/√batches (0.3 for [`MIN_BATCHES`]) the batches are too short to be taken as independent.
    pub fn lag1(&self) -> f64 {
        let means: Vec<f64> = self.closed.replication_means().collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
        let neighbours: f64 = means.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        if means.len() < 3 { f64::NAN } else { neighbours / variance }
    }
}
