//! What does recording cost? Prints nanoseconds per value; under `valgrind --tool=callgrind`, the difference of two
//! lengths gives instructions per value: `record_cost 2000000` minus `record_cost 1000000`.

use std::hint::black_box;
use std::time::Instant;

use caudal_stats::Histogram;

/// Latency-like values in picoseconds, from a small linear congruential generator: log-uniform over 16 octaves.
fn values() -> Vec<u64> {
    let next = |x: &mut u64| {
        *x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((1 << 18) + ((*x >> 20) >> (*x >> 60)))
    };
    std::iter::successors(Some(1u64), |x| Some(*x)).scan(1u64, |x, _| next(x)).take(1 << 16).collect()
}

fn main() {
    let count: usize =
        std::env::args().nth(1).map_or(100_000_000, |n| n.parse().expect("a number of values"));
    let values = values();
    let mut histogram = Histogram::new();
    let start = Instant::now();
    for &value in values.iter().cycle().take(count) {
        histogram.record(black_box(value));
    }
    let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / count as f64;
    println!(
        "{count} values: {nanoseconds:.2} ns each, p99.9 = {}, {} bytes",
        histogram.percentile(99.9),
        histogram.memory_bytes()
    );
}
