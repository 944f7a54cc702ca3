//! Against sorted values, and while it is written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;

use super::*;

/// Values of every magnitude.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let value = (0..64u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
    prop::collection::vec(value, 1..300)
}

fn live_of(values: &[u64]) -> LiveHistogram {
    let live = LiveHistogram::new();
    values.iter().for_each(|&value| live.record(value));
    live
}

fn of(values: &[u64]) -> Histogram {
    live_of(values).snapshot()
}

fn close(got: f64, exact: f64) -> bool {
    (got - exact).abs() <= exact * RELATIVE_ERROR * (1.0 + 1e-9)
}

const PERCENTILES: [f64; 7] = [0.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0];

/// Nearest rank, by its definition.
fn exact_percentile(sorted: &[u64], p: f64) -> u64 {
    let rank = (1..=sorted.len()).find(|&rank| rank as f64 >= p / 100.0 * sorted.len() as f64 - 1e-9);
    sorted[rank.unwrap() - 1]
}

proptest! {
    #[test]
    fn percentiles_are_within_the_error(mut values in values(), factor in 1e-3..1e3f64) {
        let (raw, scaled) = (of(&values), of(&values).scaled(factor));
        values.sort_unstable();
        for p in PERCENTILES {
            let exact = exact_percentile(&values, p);
            prop_assert!(close(raw.percentile(p), exact as f64), "p{p} is {exact}, not {}", raw.percentile(p));
            prop_assert!(close(scaled.percentile(p), exact as f64 * factor));
            if exact < 64 {
                prop_assert_eq!(raw.percentile(p), exact as f64);
            }
        }
        prop_assert_eq!(raw.count(), values.len() as u64);
        prop_assert_eq!(raw.max(), *values.last().unwrap() as f64);
    }

    #[test]
    fn a_merge_is_the_union(a in values(), b in values()) {
        // Sums of live histograms are modulo 2^64, those of merged ones are not.
        let small = |values: &[u64]| values.iter().map(|value| value >> 16).collect::<Vec<_>>();
        let (a, b) = (small(&a), small(&b));
        let mut merged = Histogram::new();
        merged.merge(&of(&a));
        merged.merge(&of(&b));
        prop_assert_eq!(merged, of(&[a, b].concat()));
    }

    #[test]
    fn a_difference_is_the_window(before in values(), window in values()) {
        let live = live_of(&before);
        let earlier = live.snapshot();
        window.iter().for_each(|&value| live.record(value));
        let difference = live.snapshot().since(&earlier);
        let alone = of(&window);
        prop_assert_eq!(&difference.counts, &alone.counts);
        prop_assert_eq!(difference.count(), window.len() as u64);
        let exact = alone.max();
        prop_assert!(difference.max() >= exact && difference.max() <= exact * (1.0 + 2.0 * RELATIVE_ERROR));
    }
}

#[test]
fn buckets_tile_the_values() {
    let mut next = 0u64;
    for index in 0..BUCKETS {
        let (low, high) = bounds_of(index);
        assert_eq!(low, next, "bucket {index} must start where the last one ended");
        assert_eq!((index_of(low), index_of(high)), (index, index));
        assert!((high - low) as f64 <= low as f64 / 32.0);
        next = high.wrapping_add(1);
    }
    assert_eq!(next, 0, "the last bucket ends at u64::MAX");
}

#[test]
fn an_empty_one() {
    let empty = LiveHistogram::new().snapshot();
    assert!(empty.is_empty() && empty.mean().is_nan());
    assert_eq!((empty.count(), empty.percentile(99.0), empty.max(), empty.sum()), (0, 0.0, 0.0, 0.0));
    assert_eq!(empty.buckets().count(), 0);
    let mut merged = of(&[5]).scaled(2.0);
    merged.merge(&empty);
    assert_eq!((merged.count(), merged.max()), (1, 10.0));
}

#[test]
fn mean_and_count_above() {
    let histogram = of(&[10, 20, 30, 1_000_000]).scaled(0.5);
    assert_eq!((histogram.sum(), histogram.mean()), (500_030.0, 125_007.5));
    assert_eq!(
        (histogram.count_above(10.0), histogram.count_above(9.0), histogram.count_above(1e30)),
        (2, 3, 0)
    );
    assert_eq!(histogram.buckets().map(|bucket| bucket.2).sum::<u64>(), 4);
}

#[test]
#[should_panic(expected = "different units")]
fn units_do_not_mix() {
    let mut cycles = of(&[1]);
    cycles.merge(&of(&[1]).scaled(0.4));
}

#[test]
fn snapshots_while_it_is_written() {
    const VALUES: u64 = 300_000;
    let live = LiveHistogram::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..VALUES).for_each(|value| live.record(value));
            done.store(true, Ordering::Release);
        });
        let mut last = Histogram::new();
        loop {
            let ended = done.load(Ordering::Acquire);
            let now = live.snapshot();
            assert!(now.count() >= last.count(), "the count only grows");
            assert!(now.counts.iter().zip(&last.counts).all(|(now, last)| now >= last), "in each bucket");
            let highest = now.used().last().map_or(0, |(index, _)| bounds_of(index).0);
            assert!(now.max() >= highest as f64, "the largest value covers every bucket in use");
            assert_eq!(now.since(&last).count(), now.count() - last.count());
            last = now;
            if ended {
                break;
            }
        }
        assert_eq!((last.count(), live.count(), last.max()), (VALUES, VALUES, (VALUES - 1) as f64));
        assert_eq!(last.sum(), (VALUES * (VALUES - 1) / 2) as f64);
    });
}
