//! A log-linear histogram of `u64` values, made for the hot path of a simulator. Each replication of a simulation records its latencies
//! into one; `replicated` pools them. A data structure without other state.
//!
//! ```text
//! value          bucket width   buckets
//! 0   .. 511     1 (exact)      0   .. 511
//! 512 .. 1023    2              512 .. 767
//! 2^e .. 2^e+1   2^(e-8)        (e-7)*256 .. +255
//! ```
//!
//! Every power of two from 256 on is cut into 256 equal buckets, so a bucket is at most 1/256 of the values in
//! it, and its midpoint is off by at most 1/512. The counts of the buckets in use are one contiguous vector that
//! grows by whole powers of two in either direction, so that a histogram of latencies around a microsecond does
//! not pay for nanoseconds and hours. All 2^64 values would take 114 KiB.

mod batch;

/// Bits of a value that a bucket keeps below its leading one.
const PRECISION_BITS: u32 = 8;
/// Buckets per power of two.
const PER_OCTAVE: usize = 1 << PRECISION_BITS;
/// Buckets that all of `u64` needs.
const BUCKETS: usize = (64 - PRECISION_BITS as usize + 1) * PER_OCTAVE;

/// Largest relative error of a percentile: half a bucket's width over its lowest value (0.195 %).
///
/// The counts are exact: the error is that of the reported value, not of its rank. Minimum, maximum, mean and
/// count have no error at all.
pub const RELATIVE_ERROR: f64 = 1.0 / 512.0;

/// Log-linear histogram of `u64` values with a relative error of at most [`RELATIVE_ERROR`]; values below 512
/// are exact.
///
/// Made for recording: no allocation except when a value opens a new power of two, no branch on the value but the
/// one for new extremes, some twenty instructions. An empty histogram owns no memory. Where values are recorded by
/// class, do not record the whole as well: [`Self::merge`] the classes when they are done.
///
/// ```
/// let mut latency_ps = caudal_stats::Histogram::new();
/// (1..=1000).for_each(|ns| latency_ps.record(ns * 1000));
/// assert!(latency_ps.percentile(99.0).abs_diff(990_000) < 990_000 / 512);
/// assert_eq!(latency_ps.max(), 1_000_000);
/// ```
#[derive(Clone, Debug)]
pub struct Histogram {
    /// `counts[i]` belongs to bucket `base + i`; the length is a multiple of [`PER_OCTAVE`].
    counts: Vec<u64>,
    /// A multiple of [`PER_OCTAVE`].
    base: usize,
    count: u64,
    sum: u128,
    /// `u64::MAX` when empty.
    min: u64,
    /// Maximum − minimum: one comparison then tells whether a value lies between them.
    span: u64,
}

/// One bucket that holds at least one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value of the bucket.
    pub low: u64,
    /// Highest value of the bucket (inclusive).
    pub high: u64,
    /// Number of recorded values in it, at least 1.
    pub count: u64,
}

/// The bucket of a value.
#[inline]
pub(crate) fn index_of(value: u64) -> usize {
    // The or-ed bit makes everything below 512 share one shift of 0: no branch for small values.
    let shift = (63 - PRECISION_BITS) - (value | PER_OCTAVE as u64).leading_zeros();
    ((shift as usize) << PRECISION_BITS) + (value >> shift) as usize
}

/// Lowest and highest value of a bucket.
pub(crate) fn bounds_of(index: usize) -> (u64, u64) {
    let shift = (index >> PRECISION_BITS).saturating_sub(1) as u32;
    let mantissa = (index - ((shift as usize) << PRECISION_BITS)) as u64;
    let low = mantissa << shift;
    (low, low + ((1u64 << shift) - 1))
}

/// The value that a bucket reports: its midpoint.
pub(crate) fn midpoint_of(index: usize) -> u64 {
    let (low, high) = bounds_of(index);
    low + (high - low).div_ceil(2)
}

/// Rank (1 ..= `count`) of the nearest-rank percentile.
///
/// 99.9 and the like are not representable in binary; without the tolerance, the 99.9th percentile of 1000
/// values would sometimes be the 1000th.
pub(crate) fn nearest_rank(percentile: f64, count: u64) -> u64 {
    let exact = percentile / 100.0 * count as f64;
    let rank = if (exact - exact.round()).abs() <= exact * 4.0 * f64::EPSILON {
        exact.round()
    } else {
        exact.ceil()
    };
    (rank as u64).clamp(1, count.max(1))
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram; allocates nothing.
    pub const fn new() -> Self {
        Self { counts: Vec::new(), base: 0, count: 0, sum: 0, min: u64::MAX, span: 0 }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let offset = index_of(value).wrapping_sub(self.base);
        let new_extreme = value.wrapping_sub(self.min) > self.span;
        match self.counts.get_mut(offset) {
            Some(count) if !new_extreme => *count += 1,
            _ => return self.record_outside(value),
        }
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// Adds one value `n` times.
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.stretch(value, value);
        self.counts[index_of(value) - self.base] += n;
        self.count += n;
        self.sum += u128::from(value) * u128::from(n);
    }

    /// Out of line: the n-th of random values is a new extreme with probability 2/n.
    #[cold]
    #[inline(never)]
    fn record_outside(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Makes minimum and maximum, and the buckets, reach over `low ..= high`.
    fn stretch(&mut self, low: u64, high: u64) {
        self.cover(index_of(low));
        self.cover(index_of(high));
        let max = if self.count == 0 { high } else { self.max().max(high) };
        self.min = self.min.min(low);
        self.span = max - self.min;
    }

    /// Makes room for a bucket: whole powers of two, in either direction.
    fn cover(&mut self, index: usize) {
        let octave_start = index / PER_OCTAVE * PER_OCTAVE;
        if self.counts.is_empty() {
            self.base = octave_start;
        } else if octave_start < self.base {
            let missing = self.base - octave_start;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.base = octave_start;
        }
        let needed = octave_start + PER_OCTAVE - self.base;
        if needed > self.counts.len() {
            // Exact: the next power of two may never come, and there is one histogram per class and metric.
            self.counts.reserve_exact(needed - self.counts.len());
            self.counts.resize(needed, 0);
        }
    }

    /// Adds everything that `other` holds: as if its values had been recorded here.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.stretch(other.min, other.max());
        let (first, last) = other.used();
        let mine = &mut self.counts[first - self.base..=last - self.base];
        let theirs = &other.counts[first - other.base..=last - other.base];
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Empties the histogram and keeps its memory; touches only the buckets between minimum and maximum.
    pub fn clear(&mut self) {
        if self.count > 0 {
            let (first, last) = self.used();
            self.counts[first - self.base..=last - self.base].fill(0);
        }
        (self.count, self.sum, self.min, self.span) = (0, 0, u64::MAX, 0);
    }

    /// Buckets of the minimum and of the maximum; only for histograms that are not empty.
    fn used(&self) -> (usize, usize) {
        (index_of(self.min), index_of(self.max()))
    }

    /// Number of recorded values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// True if nothing was recorded.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Exact sum of the recorded values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact smallest value; 0 when empty.
    pub const fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Exact largest value; 0 when empty.
    pub const fn max(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min + self.span }
    }

    /// Exact mean (of an exact sum); NaN when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.sum as f64 / self.count as f64 }
    }

    /// The nearest-rank percentile, `p` in 0 ..= 100: midpoint of the bucket of the value with rank
    /// ⌈p/100 · count⌉ (at least 1), held between the exact minimum and maximum. 0 when empty.
    ///
    /// Off by at most [`RELATIVE_ERROR`] of the true nearest-rank value; 0 and 100 give exact minimum and maximum.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100 or NaN: a mistake of the caller, never of a user.
    pub fn percentile(&self, p: f64) -> u64 {
        assert!((0.0..=100.0).contains(&p), "percentile {p} is outside 0 ..= 100");
        if self.count == 0 || p == 0.0 {
            return self.min();
        }
        if p == 100.0 {
            return self.max();
        }
        let index = self.index_at_rank(nearest_rank(p, self.count));
        midpoint_of(index).clamp(self.min, self.max())
    }

    /// Bucket of the value with this rank (1 ..= count).
    pub(crate) fn index_at_rank(&self, rank: u64) -> usize {
        let mut seen = 0;
        for (index, count) in self.indexed() {
            seen += count;
            if seen >= rank {
                return index;
            }
        }
        index_of(self.max())
    }

    /// Number of recorded values above `value`.
    ///
    /// Exact where `value` is the end of a bucket (every value below 512 is) and outside `min ..= max`; else the
    /// bucket that holds `value` counts in proportion to what of it lies above, rounded to the nearest.
    pub fn count_above(&self, value: u64) -> u64 {
        if self.count == 0 || value >= self.max() {
            return 0;
        }
        if value < self.min {
            return self.count;
        }
        let cut = index_of(value);
        let above = self.counts[cut + 1 - self.base..].iter().sum::<u64>();
        let (low, high) = bounds_of(cut);
        // The exact minimum and maximum narrow the buckets at the two ends.
        let (low, high) = (low.max(self.min), high.min(self.max()));
        let share = high.saturating_sub(value) as f64 / ((high - low) as f64 + 1.0);
        above + (self.counts[cut - self.base] as f64 * share).round() as u64
    }

    /// The buckets that hold something, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.indexed().filter(|&(_, count)| count > 0).map(|(index, count)| {
            let (low, high) = bounds_of(index);
            Bucket { low, high, count }
        })
    }

    /// Counts by bucket number, from the bucket of the minimum to that of the maximum.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let used = if self.count == 0 { 0..0 } else { index_of(self.min)..index_of(self.max()) + 1 };
        used.map(|index| (index, self.counts[index - self.base]))
    }

    /// Bytes that the counts take, at most 114 KiB.
    pub fn memory_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
    }
}

const _: () = assert!(BUCKETS * size_of::<u64>() <= 120 * 1024);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_values() {
        let mut next = 0u64;
        for index in 0..BUCKETS {
            let (low, high) = bounds_of(index);
            assert_eq!(low, next, "bucket {index} must start where the last one ended");
            assert_eq!((index_of(low), index_of(high)), (index, index));
            assert!((high - low) as f64 <= low as f64 / 256.0);
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at u64::MAX");
    }

    #[test]
    fn small_values_are_exact() {
        let mut h = Histogram::new();
        (0..512).for_each(|v| h.record(v));
        for v in 0..512u64 {
            assert_eq!(h.percentile((v + 1) as f64 / 512.0 * 100.0), v);
            assert_eq!(h.count_above(v), 511 - v);
        }
    }

    #[test]
    fn extremes_of_the_range() {
        let mut h = Histogram::new();
        h.record(u64::MAX);
        h.record(0);
        h.record(u64::MAX);
        assert_eq!((h.count(), h.min(), h.max()), (3, 0, u64::MAX));
        assert_eq!(h.sum(), 2 * u128::from(u64::MAX));
        assert_eq!((h.percentile(0.0), h.percentile(33.0), h.percentile(100.0)), (0, 0, u64::MAX));
        assert!(h.memory_bytes() <= 120 * 1024);
    }

    #[test]
    fn ranks_survive_binary_fractions() {
        for (p, n, rank) in [
            (99.9, 1000, 999),
            (99.9, 10_000, 9990),
            (99.99, 10_000, 9999),
            (50.0, 10, 5),
            (50.0, 11, 6),
            (0.1, 1000, 1),
            (0.0, 7, 1),
            (100.0, 7, 7),
            (99.9, 1, 1),
            (99.7, 1_000_000_000, 997_000_000),
        ] {
            assert_eq!(nearest_rank(p, n), rank, "p{p} of {n}");
        }
    }

    #[test]
    fn empty_and_cleared() {
        let mut h = Histogram::new();
        assert_eq!((h.count(), h.min(), h.max(), h.percentile(50.0), h.count_above(0)), (0, 0, 0, 0, 0));
        assert!(h.mean().is_nan());
        assert_eq!((h.memory_bytes(), h.iter().count()), (0, 0));
        h.record_n(1_000_000, 5);
        h.record(3);
        h.clear();
        assert!(h.is_empty() && h.iter().next().is_none() && h.counts.iter().all(|&c| c == 0));
        h.record(7_000_000);
        assert_eq!((h.min(), h.max(), h.percentile(50.0)), (7_000_000, 7_000_000, 7_000_000));
    }

    #[test]
    fn grows_in_both_directions_and_only_as_far_as_needed() {
        let mut h = Histogram::new();
        h.record(1_000_000);
        assert_eq!(h.memory_bytes(), 256 * 8);
        h.record(5_000);
        h.record(100_000_000);
        assert_eq!(h.iter().map(|b| b.count).collect::<Vec<_>>(), [1, 1, 1]);
        assert!(h.memory_bytes() <= 16 * 256 * 8);
    }
}
