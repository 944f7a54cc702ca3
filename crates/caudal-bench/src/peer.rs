//! M/M/16 as one line of JSON. The script `benches/peers/run` starts `caudal-bench peer`, which calls [`line()`] once, and compares the line with
//! those of other simulators. Runs on the calling thread.

use serde_json::{Value, json};

use crate::case::Case;
use crate::machine::timed;

/// Simulates `requests`, the first tenth of which are not in the statistics.
pub(crate) fn line(requests: u64, seed: u64) -> Value {
    let case = Case::single_queue(16, 0.8);
    let (answer, took) = timed(|| {
        // Reading the percentiles is part of the statistics, and so of the time.
        let outcome = case.simulate(requests, seed);
        let class = &outcome.classes[0];
        let latency_ns = [50.0, 99.0, 99.9].map(|p| class.latency_ps.percentile(p) as f64 / 1e3);
        let slowdown = [50.0, 99.0, 99.9]
            .map(|p| class.slowdown.percentile(p) as f64 / caudal_sim::engine::SLOWDOWN_ONE as f64);
        let extremes = [class.latency_ps.max(), class.slowdown.max()];
        (class.latency_ps.mean() / 1e3, latency_ns, class.slowdown.mean(), slowdown, extremes)
    });
    let (mean_ns, [p50_ns, p99_ns, p999_ns], mean_slowdown, [slowdown_p50, slowdown_p99, slowdown_p999], max) =
        answer;
    let one = caudal_sim::engine::SLOWDOWN_ONE as f64;
    json!({
        "requests": requests,
        "cpu_s": took.cpu_s,
        "mean_ns": mean_ns,
        "p50_ns": p50_ns,
        "p99_ns": p99_ns,
        "p99.9_ns": p999_ns,
        "max_ns": max[0] as f64 / 1e3,
        "slowdown_mean": mean_slowdown / one,
        "slowdown_p50": slowdown_p50,
        "slowdown_p99": slowdown_p99,
        "slowdown_p99.9": slowdown_p999,
        "slowdown_max": max[1] as f64 / one,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_theory_knows() {
        let line = line(400_000, 1);
        assert_eq!(line["requests"], 400_000);
        // Erlang C: mean sojourn time of M/M/16 at load 0.8.
        let expected = caudal_stats::theory::mmk::MMk::new(16, 0.8 * 16.0, 1.0).unwrap().mean_sojourn();
        let mean = line["mean_ns"].as_f64().unwrap() / 1e3;
        assert!((mean - expected).abs() < 0.02, "{mean} against {expected}");
        assert!(line["p50_ns"].as_f64() < line["p99_ns"].as_f64());
        assert!(line["p99_ns"].as_f64() < line["p99.9_ns"].as_f64());
        assert!(line["slowdown_p50"].as_f64().unwrap() >= 1.0 && line["cpu_s"].as_f64().unwrap() > 0.0);
    }
}
