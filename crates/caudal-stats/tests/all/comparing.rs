//! Paired comparison, batches and replications at work.

use crate::common::{Queue, Random, UNIT, recorded};
use caudal_stats::paired::{Metric, PairedError, Verdict, compare};
use caudal_stats::percentile_ci::{Batches, MIN_BATCHES};
use caudal_stats::{Histogram, Replicated};

/// The same requests on servers of different speed; `seed` chooses the requests.
fn replicated(load: f64, speed: f64, replications: u64, count: u32, seed: u64) -> Replicated {
    let mut metric = Replicated::new();
    for replication in 0..replications {
        let mut random = Random::new(seed * 1000 + replication);
        let mut queue = Queue::new(load, &mut random);
        let mut h = Histogram::new();
        (0..count).for_each(|_| h.record(recorded(queue.next(speed, &mut random))));
        metric.push(&h);
    }
    metric
}

#[test]
fn a_slightly_faster_server_is_found_in_pairs_and_not_alone() {
    let (faster, slower) = (replicated(0.7, 1.02, 10, 10_000, 1), replicated(0.7, 1.0, 10, 10_000, 1));
    for metric in [Metric::Mean, Metric::Percentile(50.0), Metric::Percentile(99.0)] {
        let result = compare(&faster, &slower, metric, 0.95).unwrap();
        assert_eq!(result.verdict, Verdict::Better, "{metric:?}");
        assert!(result.ratio.high < 1.0 && result.ratio.low > 0.8, "{metric:?}: {:?}", result.ratio);
        let reverse = compare(&slower, &faster, metric, 0.95).unwrap();
        assert_eq!(reverse.verdict, Verdict::Worse);
        assert!((reverse.difference.estimate + result.difference.estimate).abs() < 1e-6);
        assert!((reverse.ratio.low * result.ratio.high - 1.0).abs() < 1e-6, "Fieller's interval inverts");
    }
    let (a, b) = (faster.mean(0.95), slower.mean(0.95));
    assert!(a.high > b.low, "unpaired intervals overlap, else this test shows nothing");
    // Other requests: the pairing says nothing, and the verdict must not pretend.
    let other = replicated(0.7, 1.0, 10, 10_000, 2);
    assert_eq!(compare(&faster, &other, Metric::Mean, 0.95).unwrap().verdict, Verdict::Undecided);
}

/// Replications of one length: the textbook's paired t over the differences −10, −20 and −30.
#[test]
fn paired_difference_by_hand() {
    let (mut first, mut second) = (Replicated::new(), Replicated::new());
    for (a, b) in [(190, 200), (300, 320), (70, 100)] {
        for (system, value) in [(&mut first, a), (&mut second, b)] {
            let mut h = Histogram::new();
            h.record_n(value, 10);
            system.push(&h);
        }
    }
    let difference = compare(&first, &second, Metric::Mean, 0.95).unwrap().difference;
    assert!((difference.estimate + 20.0).abs() < 1e-9);
    // s = 10, t for 2 degrees of freedom 4.3027.
    assert!((difference.half_width() - 4.302_653 * 10.0 / 3f64.sqrt()).abs() < 1e-3, "{difference:?}");
}

#[test]
fn equal_systems_are_undecided_with_nothing_between_them() {
    let system = replicated(0.5, 1.0, 5, 2000, 3);
    let same = compare(&system, &system, Metric::Percentile(90.0), 0.95).unwrap();
    assert_eq!((same.difference.estimate, same.ratio.estimate), (0.0, 1.0));
    assert_eq!(same.verdict, Verdict::Undecided);
    assert!(same.difference.half_width() < 1e-6 && same.ratio.half_width() < 1e-6);
}

#[test]
fn what_cannot_be_compared() {
    let (five, four) = (replicated(0.5, 1.0, 5, 500, 4), replicated(0.5, 1.0, 4, 500, 4));
    let refused = compare(&five, &four, Metric::Mean, 0.95).unwrap_err();
    assert_eq!(refused, PairedError::DifferentReplications { first: 5, second: 4 });
    // Too few values beyond the percentile: no interval, no verdict.
    let tail = compare(&five, &five, Metric::Percentile(99.99), 0.95).unwrap();
    assert_eq!((tail.verdict, tail.difference.high), (Verdict::Undecided, f64::INFINITY));
    let mut nothing = Replicated::new();
    (0..5).for_each(|_| nothing.push(&Histogram::new()));
    let missing = compare(&five, &nothing, Metric::Mean, 0.95).unwrap();
    assert!(missing.difference.is_missing() && missing.verdict == Verdict::Undecided);
    let (one, other) = (replicated(0.5, 1.0, 1, 500, 4), replicated(0.5, 2.0, 1, 500, 4));
    assert_eq!(compare(&one, &other, Metric::Mean, 0.95).unwrap().verdict, Verdict::Undecided);
}

/// Nominal 95 %: the interval of difference and ratio holds the truth, known from M/M/1 at two loads.
#[test]
fn paired_intervals_cover() {
    const EXPERIMENTS: u64 = 300;
    let mut hits = [[0u32; 2]; 2];
    for seed in 0..EXPERIMENTS {
        // Speed 1.1 at arrival rate 0.5: sojourn is exponential with rate 1.1 − 0.5.
        let (fast, slow) = (replicated(0.5, 1.1, 10, 4000, seed), replicated(0.5, 1.0, 10, 4000, seed));
        for (metric, hits) in [Metric::Mean, Metric::Percentile(95.0)].into_iter().zip(&mut hits) {
            let result = compare(&fast, &slow, metric, 0.95).unwrap();
            let scale = if metric == Metric::Mean { UNIT } else { UNIT * 20f64.ln() };
            hits[0] += u32::from(result.difference.contains((1.0 / 0.6 - 1.0 / 0.5) * scale));
            hits[1] += u32::from(result.ratio.contains(0.5 / 0.6));
        }
    }
    for hits in hits.as_flattened() {
        let covered = f64::from(*hits) / EXPERIMENTS as f64 * 100.0;
        assert!((90.0..=99.0).contains(&covered), "{hits:?}: {covered} %");
    }
}

#[test]
fn a_wide_ratio_is_undecided_on_request() {
    let (fast, slow) = (replicated(0.5, 1.2, 10, 2000, 5), replicated(0.5, 1.0, 10, 2000, 5));
    let result = compare(&fast, &slow, Metric::Mean, 0.95).unwrap();
    assert_eq!(result.verdict_within(0.1), Verdict::Better);
    assert_eq!(result.verdict_within(1e-4), Verdict::Undecided);
}

#[test]
fn rare_classes_do_not_pretend_to_be_certain() {
    let mut metric = Replicated::new();
    let mut one = Histogram::new();
    one.record(5_000_000);
    metric.push(&one);
    (0..9).for_each(|_| metric.push(&Histogram::new()));
    assert_eq!(metric.replications(), 10);
    assert_eq!(metric.mean(0.95).high, f64::INFINITY, "one replication with values has no spread");
    assert_eq!(metric.percentile(50.0, 0.95).high, f64::INFINITY);
    let mut slower = Replicated::new();
    one.record(9_000_000);
    slower.push(&one);
    (0..9).for_each(|_| slower.push(&Histogram::new()));
    let result = compare(&metric, &slower, Metric::Mean, 0.95).unwrap();
    assert_eq!(result.verdict, Verdict::Undecided, "one pair decides nothing");
}

#[test]
fn constant_values_have_an_interval_without_width() {
    let mut metric = Replicated::new();
    let mut constant = Histogram::new();
    constant.record_n(1_234_567, 1000);
    (0..3).for_each(|_| metric.push(&constant));
    for p in [50.0, 99.0, 99.9] {
        let estimate = metric.percentile(p, 0.95);
        assert_eq!((estimate.low, estimate.estimate, estimate.high), (1_234_567.0, 1_234_567.0, 1_234_567.0));
    }
}

/// Two sizes whose shares vary between replications, a percentile just above the border: both are possible.
#[test]
fn a_percentile_at_the_border_of_two_atoms_reaches_over_both() {
    let mut metric = Replicated::new();
    for short in [9900u64, 9960, 9940, 9930] {
        let mut h = Histogram::new();
        h.record_n(500_000, short);
        h.record_n(500_000_000, 10_000 - short);
        metric.push(&h);
    }
    let estimate = metric.percentile(99.4, 0.95);
    assert!(estimate.low <= 500_000.0 && estimate.high >= 499_000_000.0, "{estimate:?}");
}

#[test]
fn batches_keep_every_value_and_their_number_in_bounds() {
    let mut run = Batches::new(10);
    for i in 0..100_007u64 {
        run.record(i * 1000);
    }
    let all = run.as_replications();
    assert_eq!((all.pooled().count(), all.pooled().max()), (100_007, 100_006_000));
    assert!((MIN_BATCHES..2 * MIN_BATCHES).contains(&all.replications()));
    assert_eq!(all.replications() as u64, 100_007 / run.batch_size());
    assert!(run.lag1() > 0.8, "a trend is the opposite of independent batches");
}

#[test]
fn batches_much_longer_than_the_memory_are_uncorrelated() {
    let mut random = Random::new(9);
    let mut queue = Queue::new(0.5, &mut random);
    let mut run = Batches::new(100);
    (0..200_000).for_each(|_| run.record(recorded(queue.next(1.0, &mut random))));
    assert!(run.lag1().abs() < 0.35, "{}", run.lag1());
    let mut short = Batches::new(100);
    (0..100).for_each(|_| short.record(1));
    assert!(short.lag1().is_nan());
    assert_eq!(short.as_replications().replications(), 1);
    assert_eq!(Batches::new(5).as_replications().pooled().count(), 0);
}
