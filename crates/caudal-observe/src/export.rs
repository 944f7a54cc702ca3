//! The conversion of the runtime's histograms to those of HdrHistogram. `hlog` calls it for each class of a snapshot. Pure.

use caudal_rt::histogram::Histogram;

/// The same counts as an HdrHistogram of three significant figures, in whole units of the results; 0 counts as 1,
/// the least value that its format has.
pub fn to_hdr(histogram: &Histogram) -> hdrhistogram::Histogram<u64> {
    let mut hdr = hdrhistogram::Histogram::new(3).expect("three figures are in its range");
    histogram.for_each_value(|value, count| {
        hdr.record_n(value.max(1), count).expect("it grows as far as values go");
    });
    hdr
}

#[cfg(test)]
mod tests {
    use caudal_rt::histogram::{LiveHistogram, RELATIVE_ERROR};
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let live = LiveHistogram::new();
        values.iter().for_each(|&value| live.record(value));
        live.snapshot()
    }

    proptest! {
        #[test]
        fn exports_keep_counts_and_percentiles(values in prop::collection::vec(any::<u64>(), 1..200)) {
            // HdrHistogram knows no 0, and results are floating point: exact to 2^53.
            let mut values: Vec<u64> = values.iter().map(|value| (value >> 11).max(1)).collect();
            let hdr = to_hdr(&of(&values));
            values.sort_unstable();
            prop_assert_eq!(hdr.len(), values.len() as u64);
            for p in [50.0, 90.0, 99.0, 100.0] {
                let rank = ((p / 100.0 * values.len() as f64).ceil() as usize).max(1);
                let exact = values[rank - 1] as f64;
                // Its own error: one part in a thousand.
                let error = exact * (RELATIVE_ERROR + 2e-3) + 1.0;
                prop_assert!((hdr.value_at_percentile(p) as f64 - exact).abs() <= error, "p{p}");
            }
        }
    }

    #[test]
    fn an_empty_one_stays_empty() {
        assert_eq!(to_hdr(&Histogram::new()).len(), 0);
    }
}
