//! Tables of measured service times: sorted values, histogram buckets, and sequences that are replayed. Compilation of a file makes one,
//! and a shape holds it and asks for its moments and draws. Immutable.

use crate::rng::{Alias, below};

use super::P_TOLERANCE;
use crate::demand::Demand;
use crate::input::Bucket;

/// Measured values of one class, each as likely as any other.
#[derive(Debug)]
pub(crate) struct Values {
    sorted_ps: Box<[u64]>,
    mean_ps: f64,
    variance_ps2: f64,
}

impl Values {
    /// At least one value, each at least 1 and at most [`crate::LONGEST_PS`].
    pub(crate) fn new(mut values_ps: Vec<u64>) -> Values {
        values_ps.sort_unstable();
        Values::of_sorted(values_ps)
    }

    /// As [`Values::new`], of values that ascend.
    pub(crate) fn of_sorted(values_ps: Vec<u64>) -> Values {
        assert!(!values_ps.is_empty(), "a class has values");
        debug_assert!(values_ps.is_sorted());
        let n = values_ps.len() as f64;
        let sum: u128 = values_ps.iter().map(|&v| u128::from(v)).sum();
        let mean_ps = sum as f64 / n;
        let variance_ps2 = values_ps.iter().map(|&v| (v as f64 - mean_ps).powi(2)).sum::<f64>() / n;
        Values { sorted_ps: values_ps.into(), mean_ps, variance_ps2 }
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted_ps.len()
    }

    pub(crate) fn mean_ps(&self) -> f64 {
        self.mean_ps
    }

    /// Of the table itself (divided by n): the table is the distribution, not a sample of it.
    pub(crate) fn variance_ps2(&self) -> f64 {
        self.variance_ps2
    }

    pub(crate) fn cdf(&self, ps: u64) -> f64 {
        self.sorted_ps.partition_point(|&v| v <= ps) as f64 / self.len() as f64
    }

    /// The values above `ps` picoseconds, sorted.
    pub(super) fn longer_than(&self, ps: u64) -> &[u64] {
        &self.sorted_ps[self.sorted_ps.partition_point(|&v| v <= ps)..]
    }

    /// All of them, sorted.
    pub(crate) fn sorted_ps(&self) -> &[u64] {
        &self.sorted_ps
    }

    /// Nearest rank.
    pub(crate) fn quantile(&self, p: f64) -> u64 {
        let rank = ((p - P_TOLERANCE) * self.len() as f64).ceil().max(1.0) as usize;
        self.sorted_ps[rank.min(self.len()) - 1]
    }

    #[inline]
    pub(crate) fn pick(&self, bits: u64) -> u64 {
        self.sorted_ps[below(bits, self.sorted_ps.len())]
    }
}

/// A histogram of one class; inside a bucket every picosecond is equally likely.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Ascending, without overlap, none empty.
    buckets: Box<[Bucket]>,
    /// Count of all buckets up to and with this one.
    up_to: Box<[u64]>,
    alias: Alias,
    /// Between which times the values of each bucket may lie in truth; the buckets themselves if there is nothing here.
    edges: Box<[(u64, u64)]>,
    /// Are counts those of measured values, rather than shares?
    is_measured: bool,
}

impl Buckets {
    /// Buckets of measured values of which those of each lie between these times in truth; all without gaps in the order.
    pub(crate) fn within(buckets: Vec<Bucket>, edges: Vec<(u64, u64)>) -> Buckets {
        debug_assert!(buckets.len() == edges.len() && buckets.iter().all(|bucket| bucket.count > 0));
        Buckets { edges: edges.into(), ..Buckets::new(buckets) }
    }

    /// Buckets whose counts are shares, of nobody knows how many values.
    pub(crate) fn of_shares(buckets: Vec<Bucket>) -> Buckets {
        Buckets { is_measured: false, ..Buckets::new(buckets) }
    }

    /// Buckets in ascending order without overlap; empty ones are dropped, one must remain.
    pub(crate) fn new(mut buckets: Vec<Bucket>) -> Buckets {
        buckets.retain(|bucket| bucket.count > 0);
        assert!(!buckets.is_empty(), "a class has values");
        debug_assert!(buckets.iter().all(|b| 1 <= b.low_ps && b.low_ps <= b.high_ps));
        debug_assert!(buckets.windows(2).all(|pair| pair[0].high_ps < pair[1].low_ps));
        let up_to = buckets
            .iter()
            .scan(0u64, |sum, bucket| {
                *sum = sum.saturating_add(bucket.count);
                Some(*sum)
            })
            .collect();
        let alias = Alias::new(&buckets.iter().map(|bucket| bucket.count as f64).collect::<Vec<_>>());
        Buckets { buckets: buckets.into(), up_to, alias, edges: Box::default(), is_measured: true }
    }

    pub(crate) fn count(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    /// How many values were measured, if that is known.
    pub(crate) fn samples(&self) -> Option<u64> {
        self.is_measured.then(|| self.count())
    }

    /// Between which times quantile `p` lies in truth.
    pub(crate) fn quantile_bounds(&self, p: f64) -> (u64, u64) {
        let wanted = ((p - P_TOLERANCE) * self.count() as f64).max(0.0);
        let at = self.up_to.partition_point(|&sum| (sum as f64) < wanted).min(self.buckets.len() - 1);
        let own = &self.buckets[at];
        self.edges.get(at).copied().unwrap_or((own.low_ps, own.high_ps))
    }

    /// The buckets that are not empty, ascending.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter()
    }

    fn weighted(&self, value: impl Fn(&Bucket) -> f64) -> f64 {
        self.buckets.iter().map(|b| b.count as f64 * value(b)).sum::<f64>() / self.count() as f64
    }

    pub(crate) fn mean_ps(&self) -> f64 {
        self.weighted(Bucket::middle_ps)
    }

    pub(crate) fn variance_ps2(&self) -> f64 {
        let mean = self.mean_ps();
        // A discrete uniform variable of n values has variance (n² − 1)/12.
        self.weighted(|b| (b.width_ps() * b.width_ps() - 1.0) / 12.0 + (b.middle_ps() - mean).powi(2))
    }

    pub(crate) fn cdf(&self, ps: u64) -> f64 {
        let at = self.buckets.partition_point(|b| b.high_ps < ps);
        let before = if at == 0 { 0 } else { self.up_to[at - 1] } as f64;
        let inside = match self.buckets.get(at) {
            Some(b) if ps >= b.low_ps => b.count as f64 * ((ps - b.low_ps + 1) as f64 / b.width_ps()),
            _ => 0.0,
        };
        (before + inside) / self.count() as f64
    }

    pub(crate) fn quantile(&self, p: f64) -> u64 {
        let wanted = ((p - P_TOLERANCE) * self.count() as f64).max(0.0);
        let at = self.up_to.partition_point(|&sum| (sum as f64) < wanted).min(self.buckets.len() - 1);
        let bucket = &self.buckets[at];
        let before = if at == 0 { 0 } else { self.up_to[at - 1] } as f64;
        let steps = ((wanted - before) / bucket.count as f64 * bucket.width_ps()).ceil().max(1.0) as u64;
        (bucket.low_ps + (steps - 1)).min(bucket.high_ps)
    }

    #[inline]
    pub(crate) fn pick(&self, bits: u64, inside: u64) -> u64 {
        let bucket = &self.buckets[self.alias.pick(bits)];
        bucket.low_ps + below(inside, (bucket.high_ps - bucket.low_ps + 1) as usize) as u64
    }
}

impl Bucket {
    fn middle_ps(&self) -> f64 {
        self.low_ps as f64 / 2.0 + self.high_ps as f64 / 2.0
    }

    fn width_ps(&self) -> f64 {
        (self.high_ps - self.low_ps + 1) as f64
    }
}

/// The rows of a file in their order.
#[derive(Clone, Debug)]
pub(crate) struct Sequence(pub(crate) std::sync::Arc<[Demand]>);
