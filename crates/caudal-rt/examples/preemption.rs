//! Cost of a preemption on this machine: from the end of one request's quantum to the begin of the next one's.
//!
//! ```text
//! cargo run --release -p caudal-rt --example preemption [-- PREEMPTIONS]
//! ```
//!
//! Two requests take turns on one worker; every probe yields, so nothing but preemptions is measured. The probe's cold path is measured
//! apart, with a hook that returns at once; the rest is the scheduler's time, and the switch to it and back. `probe()`
//! is a call and has no vector registers to keep; probes that a compiler inserts keep all that this processor has.

use std::cell::Cell;
use std::hint::black_box;

use caudal_rt::{Builder, Pinning, Runtime, Shutdown, clock};

const PREEMPTIONS: u64 = 200_000;
const ROUNDS: usize = 31;

unsafe extern "C" {
    safe fn caudal_probe_cold_clock_v1();
}

/// As a call: it keeps more than a call has to.
fn inserted() {
    caudal_probe_cold_clock_v1();
}

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(PREEMPTIONS).max(1_000);
    let disciplines = [
        ("processor sharing", "{ policy = \"processor-sharing\", quantum = \"1us\" }"),
        ("least attained service", "{ policy = \"las\", quantum = \"1us\" }"),
    ];
    println!("ns a preemption, median (least) of {ROUNDS} rounds of {count}");
    println!("{:<34} {:>15} {:>15} {:>15}", "", "whole", "cold path", "the rest");
    for (name, discipline) in disciplines {
        for (kind, probe) in [("called", caudal_rt::probe as fn()), ("inserted", inserted)] {
            let whole = rounds(|| preemption(discipline, count, probe));
            // After: a runtime sets the hook when it starts.
            let cold = rounds(|| cold_path(count, probe));
            let rest = [whole[0] - cold[0], whole[1] - cold[1]];
            let said = [whole, cold, rest].map(|[least, median]| format!("{median:.1} ({least:.1})"));
            println!("{name:<24} {kind:<9} {:>15} {:>15} {:>15}", said[0], said[1], said[2]);
        }
    }
    // At the end: what goes with requests does so from then on.
    thread_local!(static WORDS: [Cell<u64>; 4] = const { [const { Cell::new(0) }; 4] });
    println!("\nns a preemption of processor sharing, called, while so many words go with each request");
    for (carried, index) in [None, Some(0), Some(1), Some(2), Some(3)].into_iter().enumerate() {
        if let Some(index) = index {
            carry_word(index);
        }
        let [least, median] = rounds(|| preemption(disciplines[0].1, count, caudal_rt::probe));
        println!("{carried:<24} {:9} {median:>8.1} ({least:.1})", "");
    }
    /// Lets one of the words go with each request.
    fn carry_word(index: usize) {
        macro_rules! address_of {
            ($($index:literal),*) => {[$({
                extern "C" fn address() -> *mut u64 {
                    WORDS.with(|words| words[$index].as_ptr())
                }
                address
            }),*]};
        }
        let address: [extern "C" fn() -> *mut u64; 4] = address_of!(0, 1, 2, 3);
        // SAFETY: the word is the calling thread's, and nothing refers to it.
        unsafe { caudal_rt::carry::word(address[index], 0) }.expect("there is room for four");
    }
}

/// The least and the median.
fn rounds(round: impl FnMut() -> f64) -> [f64; 2] {
    let mut values: Vec<f64> = std::iter::repeat_with(round).take(ROUNDS).collect();
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2]]
}

fn nanos(cycles: u64) -> f64 {
    clock::Clock::of_this_machine().nanos(cycles)
}

/// Nanoseconds of a probe that yields to nobody.
fn cold_path(probes: u64, probe: fn()) -> f64 {
    extern "C" fn again(now: u64) {
        caudal_probe::arm(now, 1_000);
    }
    caudal_probe::set_every(true);
    caudal_probe::set_hook(again);
    // SAFETY: this thread's own block, and no reference to it is kept.
    unsafe { ((*caudal_probe::block()).stack_low, (*caudal_probe::block()).stack_high) = (0, u64::MAX) };
    caudal_probe::arm(clock::now(), 1_000);
    let begun = clock::now();
    (0..probes).for_each(|_| black_box(probe)());
    let took = clock::now() - begun;
    caudal_probe::disarm();
    nanos(took) / probes as f64
}

/// Nanoseconds from a probe of one request to the next one of the other.
fn preemption(discipline: &str, count: u64, probe: fn()) -> f64 {
    let runtime = start(discipline);
    caudal_probe::set_every(true);
    let class = runtime.class("preempted").expect("the first class");
    let probes = move || {
        let begun = clock::now();
        (0..count / 2).for_each(|_| black_box(probe)());
        (begun, clock::now())
    };
    let handles = [(), ()].map(|()| runtime.submit(class, probes).expect("there is room"));
    let ends = handles.map(|handle| handle.wait().expect("it returns"));
    let begun = ends.iter().map(|end| end.0).max().unwrap_or(0);
    let over = ends.iter().map(|end| end.1).min().unwrap_or(0);
    runtime.shutdown(Shutdown::Drain);
    nanos(over.saturating_sub(begun)) / count as f64
}

fn start(discipline: &str) -> Runtime {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {{ policy = \"random\" }}\ndiscipline = {discipline}\n"
    );
    let builder = Builder::parse(&text, "preemption.toml").expect("the file is right");
    builder.pinning(Pinning::Cores).start().expect("a core")
}
