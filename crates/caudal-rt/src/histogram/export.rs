//! Conversions, for what plans and for the tools that read HdrHistogram logs.

use super::{Histogram, midpoint_of};

impl Histogram {
    /// The same counts as `caudal-stats` holds them: every value its bucket's midpoint, the largest its own.
    ///
    /// Values are rounded to whole units of the results: scale to picoseconds or nanoseconds first.
    pub fn to_stats(&self) -> caudal_stats::Histogram {
        let mut stats = caudal_stats::Histogram::new();
        self.for_each_value(|value, count| stats.record_n(value, count));
        stats
    }

    /// The same counts as an HdrHistogram of three significant figures, in whole units of the results; 0 counts as 1,
    /// the least value that its format has.
    pub fn to_hdr(&self) -> hdrhistogram::Histogram<u64> {
        let mut hdr = hdrhistogram::Histogram::new(3).expect("three figures are in its range");
        self.for_each_value(|value, count| {
            hdr.record_n(value.max(1), count).expect("it grows as far as values go");
        });
        hdr
    }

    /// Each value that stands for a bucket, with its count; the largest value stands for itself.
    fn for_each_value(&self, mut record: impl FnMut(u64, u64)) {
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
}
