//! MSER-5 on what it is for: a queue that starts empty.

use crate::common::Random;
use caudal_stats::mser::Mser5;

/// Sojourn times of M/M/1 from the first request of an empty system on.
fn from_empty(load: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut wait = 0.0f64;
    let next = |_| {
        let sojourn = wait + random.exponential(1.0);
        wait = (sojourn - random.exponential(1.0 / load)).max(0.0);
        sojourn
    };
    (0..count).map(next).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The series of `replications` laid over one another, and their mean before and after the cut that it finds.
fn means(load: f64, count: usize, replications: u64, experiment: u64) -> Option<(f64, f64)> {
    let runs: Vec<Vec<f64>> =
        (0..replications).map(|run| from_empty(load, count, experiment * 1000 + run)).collect();
    let mut all = Mser5::of(&runs[0]);
    runs[1..].iter().for_each(|run| all.superpose(&Mser5::of(run)));
    let cut = all.truncation()? as usize;
    let over = |from: usize| mean(&runs.iter().map(|run| mean(&run[from..])).collect::<Vec<_>>());
    Some((over(0), over(cut)))
}

/// Over many experiments, the mean after the cut must lose much of the bias that the empty start brings.
#[test]
fn superposed_replications_lose_the_bias_of_an_empty_start() {
    let found: Vec<(f64, f64)> = (0..60).filter_map(|e| means(0.9, 2500, 40, e)).collect();
    assert!(found.len() >= 50, "only {} of 60 found a cut", found.len());
    let (before, after): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    let (before, after) = (mean(&before) / 10.0 - 1.0, mean(&after) / 10.0 - 1.0);
    assert!(before < -0.02, "a bias of {before} is not worth a test");
    assert!(after.abs() < 0.75 * before.abs(), "{before} before the cut, {after} after it");
}
