//! The published simulator's statistics of one run.

use crate::engine::Outcome;

/// The `p`-th percentile, 0 to 100, of values in increasing order: linear between the two values around place
/// (n − 1) · p / 100, counted from 0, as NumPy does by default. NaN if there are none.
pub fn percentile(sorted: &[u64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = last as f64 * p / 100.0;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let (low, high) = (sorted[below] as f64, sorted[above.min(last)] as f64);
    low + (high - low) * place.fract()
}

/// The figures of one run that the published tables show; they average it over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Median latency, in ns.
    pub p50_ns: f64,
    /// 99th percentile of latency, in ns.
    pub p99_ns: f64,
    /// 99.9th percentile of latency, in ns.
    pub p999_ns: f64,
    /// Time on requests over all time of cores, of the whole run, 0 to 1.
    pub efficiency: f64,
    /// Time of cores over the time at which the run ended.
    pub cores_mean: f64,
}

impl Estimate {
    /// Of a run and the latencies that [`super::sample`] gives with it.
    pub fn new(outcome: &Outcome, mut latencies_ns: Vec<u64>) -> Estimate {
        latencies_ns.sort_unstable();
        let held_ps = outcome.account.held_ps as f64;
        Estimate {
            p50_ns: percentile(&latencies_ns, 50.0),
            p99_ns: percentile(&latencies_ns, 99.0),
            p999_ns: percentile(&latencies_ns, 99.9),
            efficiency: outcome.account.busy_ps as f64 / held_ps,
            cores_mean: held_ps / outcome.span_ps as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_linear_between_values() {
        let values = [10, 20, 30, 50];
        let expected = [(0.0, 10.0), (50.0, 25.0), (100.0, 50.0), (99.0, 49.4)];
        for (p, value) in expected {
            assert!((percentile(&values, p) - value).abs() < 1e-9, "p{p}");
        }
        assert_eq!(percentile(&[7], 99.9), 7.0);
        assert!(percentile(&[], 50.0).is_nan());
    }
}
