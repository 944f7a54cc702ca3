//! Do intervals hold what they promise? Each test repeats a whole experiment some hundred times and counts how
//! often the 95 % interval holds the true value. Seeds are fixed: these tests give the same result every time.

use crate::common::{Queue, Random, UNIT, recorded};
use caudal_stats::percentile_ci::Batches;
use caudal_stats::{Decision, Estimate, Histogram, Replicated, StopRule};

const EXPERIMENTS: u64 = 300;

/// `count` independent values, or sojourn times of a queue with `load`.
fn replication(load: Option<f64>, count: u32, random: &mut Random) -> Histogram {
    let mut h = Histogram::new();
    match load {
        None => (0..count).for_each(|_| h.record(recorded(random.exponential(1.0)))),
        Some(load) => {
            let mut queue = Queue::new(load, random);
            (0..count).for_each(|_| h.record(recorded(queue.next(1.0, random))));
        }
    }
    h
}

/// The p-th percentile of the process above.
fn true_percentile(load: Option<f64>, p: f64) -> f64 {
    -(1.0 - p / 100.0).ln() / (1.0 - load.unwrap_or(0.0)) * UNIT
}

/// Share of experiments whose interval holds the truth, in percent.
fn coverage(experiment: impl Fn(&mut Random) -> Estimate, truth: f64) -> f64 {
    let hits = (0..EXPERIMENTS).filter(|&seed| experiment(&mut Random::new(seed)).contains(truth)).count();
    hits as f64 / EXPERIMENTS as f64 * 100.0
}

fn percentile_coverage(load: Option<f64>, replications: u32, count: u32, p: f64) -> f64 {
    let experiment = |random: &mut Random| {
        let mut metric = Replicated::new();
        (0..replications).for_each(|_| metric.push(&replication(load, count, random)));
        metric.percentile(p, 0.95)
    };
    coverage(experiment, true_percentile(load, p))
}

fn assert_nominal(covered: f64, what: &str) {
    assert!((90.0..=99.0).contains(&covered), "{what}: {covered} % of the 95 % intervals hold the truth");
}

#[test]
fn percentiles_of_independent_values() {
    for (replications, count, p) in [(10, 1000, 50.0), (10, 2000, 99.0), (20, 5000, 99.9), (5, 1000, 90.0)] {
        let covered = percentile_coverage(None, replications, count, p);
        assert_nominal(covered, &format!("{replications} × {count}, p{p}"));
    }
}

#[test]
fn percentiles_of_a_queue() {
    for (load, replications, count, p) in
        [(0.5, 10, 5000, 50.0), (0.5, 10, 5000, 99.0), (0.8, 10, 10_000, 99.0), (0.5, 20, 10_000, 99.9)]
    {
        let covered = percentile_coverage(Some(load), replications, count, p);
        assert_nominal(covered, &format!("load {load}, {replications} × {count}, p{p}"));
    }
}

#[test]
fn mean_of_a_queue_with_replications_of_unequal_length() {
    let experiment = |random: &mut Random| {
        let mut metric = Replicated::new();
        (0..10).for_each(|i| metric.push(&replication(Some(0.5), 1000 + 500 * i, random)));
        metric.mean(0.95)
    };
    assert_nominal(coverage(experiment, 2.0 * UNIT), "mean");
}

/// A run too short for its tail must say so: an interval with an end would be wrong most of the time.
#[test]
fn hopeless_tails_have_no_upper_end() {
    let unbounded = (0..100u64).filter(|&seed| {
        let mut random = Random::new(seed);
        let mut metric = Replicated::new();
        (0..5).for_each(|_| metric.push(&replication(Some(0.8), 2000, &mut random)));
        metric.percentile(99.9, 0.95).high.is_infinite()
    });
    assert!(unbounded.count() >= 95);
}

#[test]
fn percentiles_from_batches_of_one_run() {
    let experiment = |random: &mut Random| {
        let mut run = Batches::new(64);
        let mut queue = Queue::new(0.5, random);
        (0..50_000).for_each(|_| run.record(recorded(queue.next(1.0, random))));
        run.as_replications().percentile(99.0, 0.95)
    };
    assert_nominal(coverage(experiment, true_percentile(Some(0.5), 99.0)), "batches");
}

/// Stopping when the interval happens to be narrow costs a little coverage; it must stay little.
#[test]
fn stopping_on_precision_keeps_coverage() {
    let rule = StopRule { relative_error: 0.1, ..StopRule::default() };
    let experiment = |random: &mut Random| {
        let mut metric = Replicated::new();
        loop {
            metric.push(&replication(Some(0.5), 5000, random));
            let estimate = metric.percentile(99.0, rule.confidence);
            match rule.decide(metric.replications() as u32, &[estimate]) {
                Decision::Continue => {}
                Decision::Precise => return estimate,
                Decision::LimitReached => panic!("100 replications of 5000 are enough for 10 %"),
            }
        }
    };
    let covered = coverage(experiment, true_percentile(Some(0.5), 99.0));
    assert!((88.0..=99.0).contains(&covered), "{covered} %");
}
