//! Histograms and intervals on random data.

use caudal_stats::{Histogram, RELATIVE_ERROR, Replicated};
use proptest::prelude::*;

/// Values of all magnitudes, ties included.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let value = (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
    let tied = (1000u64..1100).prop_map(|v| v * 1_000_000);
    prop::collection::vec(prop_oneof![3 => value, 1 => tied], 1..300)
}

fn histogram(values: &[u64]) -> Histogram {
    let mut h = Histogram::new();
    values.iter().for_each(|&v| h.record(v));
    h
}

/// The nearest-rank percentile of the definition, with the rank in integers: `thousandths` of a percent.
fn exact_percentile(sorted: &[u64], thousandths: usize) -> u64 {
    sorted[(thousandths * sorted.len()).div_ceil(100_000).max(1) - 1]
}

fn same(a: &Histogram, b: &Histogram) -> bool {
    let extremes = |h: &Histogram| (h.count(), h.sum(), h.min(), h.max());
    extremes(a) == extremes(b) && a.iter().eq(b.iter())
}

proptest! {
    #[test]
    fn percentiles_are_within_the_stated_error(mut values in values(), thousandths in 0usize..=100_000) {
        let got = histogram(&values).percentile(thousandths as f64 / 1000.0);
        values.sort_unstable();
        let exact = exact_percentile(&values, thousandths);
        prop_assert!(got.abs_diff(exact) as f64 <= exact as f64 * RELATIVE_ERROR, "{got} for {exact}");
    }

    #[test]
    fn percentiles_grow_with_p(values in values(), mut ps in prop::collection::vec(0.0f64..=100.0, 2..20)) {
        let h = histogram(&values);
        ps.sort_by(f64::total_cmp);
        let got: Vec<u64> = ps.iter().map(|&p| h.percentile(p)).collect();
        prop_assert!(got.is_sorted());
        prop_assert!(h.min() <= got[0] && got[got.len() - 1] <= h.max());
    }

    #[test]
    fn exact_numbers_are_exact(values in values()) {
        let h = histogram(&values);
        prop_assert_eq!(h.count(), values.len() as u64);
        prop_assert_eq!(h.sum(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        prop_assert_eq!(h.min(), *values.iter().min().unwrap());
        prop_assert_eq!(h.max(), *values.iter().max().unwrap());
    }

    #[test]
    fn merging_is_recording_everything(a in values(), b in values(), c in values()) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        merged.merge(&Histogram::new());
        let mut late = Histogram::new();
        late.merge(&histogram(&c));
        merged.merge(&late);
        prop_assert!(same(&merged, &histogram(&[a, b, c].concat())));
    }

    #[test]
    fn clearing_leaves_nothing(a in values(), b in values()) {
        let mut h = histogram(&a);
        h.clear();
        prop_assert!(same(&h, &Histogram::new()));
        b.iter().for_each(|&v| h.record(v));
        prop_assert!(same(&h, &histogram(&b)));
    }

    #[test]
    fn recording_n_times_is_recording_n_times(values in values(), n in 0u64..20) {
        let (mut once, mut often) = (Histogram::new(), Histogram::new());
        for &v in &values {
            once.record_n(v, n);
            (0..n).for_each(|_| often.record(v));
        }
        prop_assert!(same(&once, &often));
    }

    #[test]
    fn buckets_tile_and_hold_everything(values in values()) {
        let h = histogram(&values);
        let buckets: Vec<_> = h.iter().collect();
        prop_assert!(buckets.windows(2).all(|pair| pair[0].high < pair[1].low));
        for bucket in &buckets {
            let inside = values.iter().filter(|&&v| bucket.low <= v && v <= bucket.high).count();
            prop_assert_eq!(bucket.count, inside as u64);
            prop_assert_eq!(h.count_above(bucket.high), values.iter().filter(|&&v| v > bucket.high).count() as u64);
        }
    }

    #[test]
    fn counts_above_fall(values in values(), mut at in prop::collection::vec(any::<u64>(), 2..20)) {
        let h = histogram(&values);
        at.sort_unstable();
        let above: Vec<u64> = at.iter().map(|&v| h.count_above(v)).collect();
        prop_assert!(above.is_sorted_by(|a, b| a >= b));
        prop_assert!(above[0] <= h.count());
    }

    /// Every interval holds its estimate, grows with the confidence, and is the same for the same replications.
    #[test]
    fn intervals_hold_their_estimate(
        replications in prop::collection::vec(values(), 1..8),
        p in 0.0f64..=100.0,
    ) {
        let mut metric = Replicated::new();
        replications.iter().for_each(|values| metric.push(&histogram(values)));
        for (narrow, wide) in [
            (metric.mean(0.9), metric.mean(0.99)),
            (metric.percentile(p, 0.9), metric.percentile(p, 0.99)),
        ] {
            prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.estimate);
            prop_assert!(narrow.estimate <= narrow.high && narrow.high <= wide.high);
            prop_assert_eq!(narrow.estimate.to_bits(), wide.estimate.to_bits());
        }
        prop_assert!(same(metric.pooled(), &histogram(&replications.concat())));
    }
}
