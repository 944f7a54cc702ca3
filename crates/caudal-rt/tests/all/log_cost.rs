//! Cost of a log, for people to read: times are printed, never judged.
//!
//! `cargo test --release -p caudal-rt --test all log_cost -- --ignored --nocapture`

use std::io::{Read, Write};
use std::time::Instant;

use caudal_rt::{Builder, Pinning, Runtime, Shutdown};

const REQUESTS: u32 = 20_000;
const TRIES: usize = 41;

fn runtime(log: bool) -> Runtime {
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let builder = Builder::parse(text, "cost.toml").unwrap().pinning(Pinning::None);
    let builder = builder.queues(1 << 15, 1 << 15);
    if log { builder.log(1 << 18) } else { builder }.start().unwrap()
}

/// Nanoseconds a request, from the moment at which all are there until the last has ended: the worker's own time.
fn ns_a_request(log: bool) -> f64 {
    let runtime = runtime(log);
    let class = runtime.class("empty").unwrap();
    let (mut gate, mut open) = std::io::pipe().unwrap();
    let first = runtime.submit(class, move || gate.read_exact(&mut [0]).is_ok()).unwrap();
    for _ in 0..REQUESTS {
        drop(runtime.submit(class, || ()).unwrap());
    }
    let last = runtime.submit(class, Instant::now).unwrap();
    let begun = Instant::now();
    open.write_all(&[0]).unwrap();
    let ended = last.wait().unwrap();
    assert!(first.wait().unwrap());
    runtime.shutdown(Shutdown::Drain);
    ended.duration_since(begun).as_secs_f64() * 1e9 / f64::from(REQUESTS)
}

#[test]
#[ignore = "it prints times"]
fn what_a_log_costs() {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..TRIES {
        for log in [false, true] {
            times[usize::from(log)].push(ns_a_request(log));
        }
    }
    for (name, times) in ["without a log", "with a log"].into_iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("{name}: least {:.1}, median {:.1} ns a request", times[0], times[TRIES / 2]);
    }
}
