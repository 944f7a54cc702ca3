//! A snapshot of a histogram, which belongs to its holder: percentiles, merging, the difference to an earlier one, another unit. Programs
//! get it from a runtime's statistics; nothing here is shared between threads.

use super::{BUCKETS, bounds_of, index_of, midpoint_of};

/// Values of a [`LiveHistogram`](super::LiveHistogram) at some moment, in its unit or in a multiple of it.
///
/// Results are in the unit after [`Self::scaled`]; percentiles are off by at most
/// [`RELATIVE_ERROR`](super::RELATIVE_ERROR), whatever the scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub(super) counts: Box<[u64]>,
    count: u64,
    /// In the recorded unit, as `max`.
    sum: u128,
    max: u64,
    /// Of a recorded unit, in that of the results.
    pub(super) scale: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram, to merge others into.
    pub fn new() -> Self {
        Self::of(vec![0; BUCKETS].into(), 0, 0)
    }

    pub(super) fn of(counts: Box<[u64]>, sum: u64, max: u64) -> Self {
        Self { count: counts.iter().sum(), counts, sum: u128::from(sum), max, scale: 1.0 }
    }

    pub(super) fn read(counts: Box<[u64]>, sum: u128, max: u64, scale: f64) -> Self {
        Self { count: counts.iter().sum(), counts, sum, max, scale }
    }

    /// Adds `count` values of 0, of which nobody made records of their own.
    pub(crate) fn add_zeros(&mut self, count: u64) {
        self.counts[0] += count;
        self.count += count;
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// True without values.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Sum of the values; exact but for what was being recorded while the snapshot was taken.
    pub fn sum(&self) -> f64 {
        self.sum as f64 * self.scale
    }

    /// Mean of the values; NaN when empty.
    pub fn mean(&self) -> f64 {
        self.sum() / self.count as f64
    }

    /// The largest value; 0 when empty. Exact in a snapshot; in a difference the end of the highest bucket in use.
    pub fn max(&self) -> f64 {
        self.max as f64 * self.scale
    }

    /// The nearest-rank percentile, `p` from 0 to 100: the midpoint of the bucket of the value with rank
    /// ⌈p/100 · count⌉ (at least 1), at most the largest value. 0 when empty.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100 or NaN: a mistake of the caller, never of a user.
    pub fn percentile(&self, p: f64) -> f64 {
        assert!((0.0..=100.0).contains(&p), "percentile {p} is outside 0 ..= 100");
        if self.is_empty() {
            return 0.0;
        }
        let rank = nearest_rank(p, self.count);
        if rank == self.count {
            return self.max();
        }
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        });
        let midpoint = midpoint_of(index.expect("a rank up to the count"));
        midpoint.min(self.max) as f64 * self.scale
    }

    /// Number of values whose bucket lies above that of `value`, which is in the unit of the results.
    pub fn count_above(&self, value: f64) -> u64 {
        // Saturates at both ends of `u64`.
        let cut = index_of((value / self.scale) as u64);
        self.counts[cut + 1..].iter().sum()
    }

    /// The buckets in use, in increasing order: lowest value, highest value (inclusive), count.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        self.used().map(|(index, count)| {
            let (low, high) = bounds_of(index);
            (low as f64 * self.scale, high as f64 * self.scale, count)
        })
    }

    /// Tells `record` each value that stands for a bucket, rounded to whole units of the results, with its count: a bucket's midpoint, and for
    /// the largest value itself. For conversions to other libraries' histograms: scale to picoseconds or nanoseconds first.
    pub fn for_each_value(&self, mut record: impl FnMut(u64, u64)) {
        let max = self.max();
        // Saturates at the end of `u64`.
        let mut each = |value: f64, count| record(value.round() as u64, count);
        let mut used = self.used().peekable();
        while let Some((index, count)) = used.next() {
            let last = used.peek().is_none();
            let midpoint = (midpoint_of(index) as f64 * self.scale).min(max);
            if count > u64::from(last) {
                each(midpoint, count - u64::from(last));
            }
            if last {
                each(max, 1);
            }
        }
    }

    /// Number and count of each bucket in use.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|&(_, count)| count > 0)
    }

    /// Adds the values of another histogram.
    ///
    /// # Panics
    /// If the two are in different units: values of both kinds in one histogram mean nothing.
    pub fn merge(&mut self, other: &Histogram) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.scale = other.scale;
        }
        self.assert_same_unit(other);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The values recorded after `earlier` was taken, of which this is a later snapshot.
    ///
    /// The largest value of the window is not known: the end of its highest bucket stands for it, or the largest
    /// value ever if that is less.
    ///
    /// # Panics
    /// If the two are in different units.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        self.assert_same_unit(earlier);
        let pairs = self.counts.iter().zip(&earlier.counts);
        // Saturating: of histograms that are no pair of snapshots nothing sensible comes, but no panic either.
        let counts: Box<[u64]> = pairs.map(|(now, then)| now.saturating_sub(*then)).collect();
        let highest = counts.iter().rposition(|&count| count > 0);
        Histogram {
            count: counts.iter().sum(),
            sum: self.sum.saturating_sub(earlier.sum),
            max: highest.map_or(0, |index| bounds_of(index).1.min(self.max)),
            scale: self.scale,
            counts,
        }
    }

    /// The same values in another unit: `factor` new units to one old (nanoseconds per cycle, say). Nothing is
    /// rounded.
    ///
    /// # Panics
    /// If `factor` is not a positive number.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Histogram {
        assert!(factor.is_finite() && factor > 0.0, "a factor of {factor} makes no unit");
        Histogram { scale: self.scale * factor, ..self }
    }

    fn assert_same_unit(&self, other: &Histogram) {
        let (mine, theirs) = (self.scale, other.scale);
        assert!(
            mine == theirs,
            "histograms in different units: a value counts {mine} here and {theirs} there"
        );
    }
}

/// Rank (1 ..= `count`) of the nearest-rank percentile; the tolerance is for 99.9 and the like, which are not
/// representable in binary.
fn nearest_rank(percentile: f64, count: u64) -> u64 {
    let exact = percentile / 100.0 * count as f64;
    let near = (exact - exact.round()).abs() <= exact * 4.0 * f64::EPSILON;
    let rank = if near { exact.round() } else { exact.ceil() };
    (rank as u64).clamp(1, count)
}
