//! Means and percentiles over independent replications, with intervals.

use crate::compact::Compact;
use crate::estimate::Estimate;
use crate::histogram::{Histogram, bounds_of, nearest_rank};
use crate::t;

/// Statistics of one metric over independent replications: all of them pooled for the estimate, one by one for
/// the interval.
///
/// Replications are pushed in their own order (see [`InOrder`](crate::InOrder)), so that the result does not
/// depend on which thread was first.
#[derive(Clone, Debug, Default)]
pub struct Replicated {
    pooled: Histogram,
    /// The replications that recorded something.
    parts: Vec<Compact>,
    pushed: usize,
}

impl Replicated {
    /// No replication yet.
    pub const fn new() -> Self {
        Self { pooled: Histogram::new(), parts: Vec::new(), pushed: 0 }
    }

    /// Adds the next replication; an empty one (a rare class that did not occur) counts as pushed and no more.
    pub fn push(&mut self, replication: &Histogram) {
        self.pushed += 1;
        if !replication.is_empty() {
            self.pooled.merge(replication);
            self.parts.push(Compact::of(replication));
        }
    }

    /// Number of replications pushed.
    pub const fn replications(&self) -> usize {
        self.pushed
    }

    /// Every value of every replication.
    pub const fn pooled(&self) -> &Histogram {
        &self.pooled
    }

    /// The mean of all values. The interval treats it as a ratio of two sums over replications (sum of values,
    /// number of values), so that longer replications weigh more.
    ///
    /// [`Estimate::MISSING`] if nothing was recorded; unbounded with fewer than two replications.
    ///
    /// # Panics
    /// If `confidence` is not between 0 and 1.
    pub fn mean(&self, confidence: f64) -> Estimate {
        if self.pooled.is_empty() {
            return Estimate::MISSING;
        }
        let mean = self.pooled.mean();
        let error = self.ratio_error(mean, |part| part.sum as f64);
        match self.factor(confidence) * error {
            half if half.is_finite() => Estimate::symmetric(mean, half),
            _ => Estimate::unbounded(mean),
        }
    }

    /// The nearest-rank percentile of all values, `p` in 0 ..= 100.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100 or `confidence` is not between 0 and 1.
    pub fn percentile(&self, p: f64, confidence: f64) -> Estimate {
        if self.pooled.is_empty() {
            return Estimate::MISSING;
        }
        let estimate = self.pooled.percentile(p) as f64;
        let n = self.pooled.count();
        let index = self.pooled.index_at_rank(nearest_rank(p, n));
        let at = self.parts.iter().map(|part| part.count_up_to(index)).sum::<u64>() as f64 / n as f64;
        let error = self.ratio_error(at, |part| part.count_up_to(index) as f64);
        let half = self.factor(confidence) * error * 100.0;
        if !half.is_finite() {
            return Estimate::unbounded(estimate);
        }
        let low = if p - half > 0.0 {
            bounds_of(self.pooled.index_at_rank(nearest_rank(p - half, n))).0
        } else {
            0
        };
        let high = if p + half < 100.0 {
            bounds_of(self.pooled.index_at_rank(nearest_rank(p + half, n))).1 as f64
        } else {
            f64::INFINITY
        };
        Estimate { estimate, low: low as f64, high }
    }

    /// Student's factor for the replications at hand; infinite for fewer than two.
    fn factor(&self, confidence: f64) -> f64 {
        t::two_sided(confidence, (self.parts.len() as u64).saturating_sub(1))
    }

    /// Standard error of the ratio Σ numerator / Σ count, whose value is `ratio` (Cochran, *Sampling Techniques*,
    /// 3rd ed., eq. 6.13): replications are clusters of unequal size.
    fn ratio_error(&self, ratio: f64, numerator: impl Fn(&Compact) -> f64) -> f64 {
        let parts = self.parts.len() as f64;
        let squares: f64 =
            self.parts.iter().map(|part| (numerator(part) - ratio * part.count as f64).powi(2)).sum();
        (parts / (parts - 1.0) * squares).sqrt() / self.pooled.count() as f64
    }
}
