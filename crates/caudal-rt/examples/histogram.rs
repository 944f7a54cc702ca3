//! Cost of recording a latency on this machine, with values of a bimodal service.
//!
//! ```text
//! cargo run --release -p caudal-rt --example histogram
//! ```

use std::hint::black_box;
use std::time::Instant;

use caudal_rt::histogram::LiveHistogram;

const VALUES: usize = 1 << 14;
const ROUNDS: usize = 2001;

fn main() {
    let live = black_box(LiveHistogram::new());
    // A multiplicative sequence: a different bucket each time, spread over a factor of eight or, seldom, a thousand.
    let values: Vec<u64> = (0..VALUES as u64)
        .map(|i| {
            let random = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            if random % 200 == 0 { 1_300_000 + random % 500_000 } else { 1300 + random % 9000 }
        })
        .collect();
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            values.iter().for_each(|&value| live.record(value));
            start.elapsed().as_nanos() as f64 / VALUES as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    let start = Instant::now();
    let snapshot = live.snapshot();
    let snapshot_us = start.elapsed().as_nanos() as f64 / 1e3;
    println!("record: median {:.2} ns, least {:.2} ns", rounds[ROUNDS / 2], rounds[0]);
    println!("snapshot of {} values: {snapshot_us:.1} us", snapshot.count());
}
