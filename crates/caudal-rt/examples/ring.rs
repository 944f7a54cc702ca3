//! Cost of the ring on this machine: a push and a pop without contention, and the hop from core to core.
//!
//! ```text
//! cargo run --release -p caudal-rt --example ring
//! ```
//!
//! Prints the median of several rounds. The hop needs two cores that do nothing else.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use caudal_rt::ring::Ring;

const CAPACITY: usize = 1024;
const ROUNDS: usize = 2001;
const HOPS: usize = 200_000;

fn main() {
    // Before pinning: afterwards there is one.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    pin(0);
    let many = Ring::<u64>::new(CAPACITY);
    fill_and_drain("many producers", &many, |values| {
        values.iter().for_each(|&(value, stamp)| many.push(value, stamp).expect("it is empty"));
    });
    let single = Ring::<u64>::with_one_producer(CAPACITY);
    let mut producer = single.producer().expect("the first handle");
    fill_and_drain("one producer", &single, |values| {
        values.iter().for_each(|&(value, stamp)| producer.push(value, stamp).expect("it is empty"));
    });
    fill_and_drain("one producer, batch", &single, |values| {
        assert_eq!(producer.push_batch(values), CAPACITY);
    });
    println!(
        "poll of an empty ring: {:.2} ns",
        median_of(|| time_per(CAPACITY, || _ = black_box(single.pop())))
    );
    if cores < 2 {
        println!("hop: needs two cores");
    } else {
        hop();
    }
}

fn fill_and_drain(name: &str, ring: &Ring<u64>, mut fill: impl FnMut(&[(u64, u64)])) {
    let values: Vec<(u64, u64)> = (0..CAPACITY as u64).map(|value| (value, value)).collect();
    let mut pops = Vec::new();
    let push = median_of(|| {
        let start = Instant::now();
        fill(&values);
        let push = start.elapsed().as_nanos() as f64 / CAPACITY as f64;
        pops.push(time_per(CAPACITY, || _ = black_box(ring.pop())));
        push
    });
    println!("{name}: push {push:.2} ns, pop {:.2} ns", median(&mut pops));
}

/// Nanoseconds of each of `times` calls.
fn time_per(times: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| call());
    start.elapsed().as_nanos() as f64 / times as f64
}

fn median_of(mut round: impl FnMut() -> f64) -> f64 {
    median(&mut (0..ROUNDS).map(|_| round()).collect::<Vec<_>>())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Half of the round trip through two rings, between two pinned threads.
fn hop() {
    let (there, back) = (Ring::<u64>::with_one_producer(64), Ring::<u64>::with_one_producer(64));
    let done = AtomicBool::new(false);
    let mut trips = thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            let mut back = back.producer().expect("the first handle");
            while !done.load(Ordering::Relaxed) {
                match there.pop() {
                    Some((value, stamp)) => back.push(value, stamp).expect("one value at a time"),
                    None => std::hint::spin_loop(),
                }
            }
        });
        let mut there = there.producer().expect("the first handle");
        let trips: Vec<f64> = (0..HOPS as u64).map(|value| round_trip_ns(&mut there, &back, value)).collect();
        done.store(true, Ordering::Relaxed);
        trips
    });
    println!("hop from core to core (half of a round trip): median {:.0} ns", median(&mut trips) / 2.0);
}

fn round_trip_ns(there: &mut caudal_rt::ring::SingleProducer<'_, u64>, back: &Ring<u64>, value: u64) -> f64 {
    let start = Instant::now();
    there.push(value, value).expect("one value at a time");
    while back.pop().is_none() {
        std::hint::spin_loop();
    }
    start.elapsed().as_nanos() as f64
}

/// Keeps this thread on a core; without the right to, the figures are of unpinned threads.
fn pin(core: usize) {
    // SAFETY: a zeroed set is an empty one, and the call reads only the set that it is given.
    let pinned = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set) == 0
    };
    if !pinned {
        eprintln!("core {core} can not be had: {}", std::io::Error::last_os_error());
    }
}
