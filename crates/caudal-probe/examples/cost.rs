//! Cost of probes and of the cold path on this machine, in nanoseconds.
//!
//! ```text
//! cargo build --release -p caudal-probe --example cost && taskset -c 1 target/release/examples/cost
//! ```
//!
//! A probe's cost is that of a loop with it less that of the same loop without it; the two alternate, and medians over
//! many trials are compared. Pin it to a core on which nothing else runs.

use std::{cell::RefCell, hint::black_box, time::Instant};

use caudal_probe as probe;

const TRIALS: usize = 301;
const ROUNDS: u64 = 4_000;

unsafe extern "C" {
    safe fn caudal_probe_cold_clock_v1();
    safe fn caudal_probe_cold_budget_v1();
    safe fn caudal_probe_cold_flag_v1();
    safe fn caudal_probe_call_clock_v1();
    safe fn caudal_probe_call_budget_v1();
    safe fn caudal_probe_call_flag_v1();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// TSC cycles in a nanosecond.
fn cycles_per_ns() -> f64 {
    let rate = || {
        let (start, start_tsc) = (Instant::now(), probe::rdtsc());
        while start.elapsed().as_millis() < 20 {}
        (probe::rdtsc() - start_tsc) as f64 / start.elapsed().as_nanos() as f64
    };
    median((0..5).map(|_| rate()).collect())
}

/// TSC cycles per round of `rounds`.
fn timed(rounds: impl FnOnce(u64)) -> f64 {
    let start = probe::rdtsc();
    rounds(ROUNDS);
    (probe::rdtsc() - start) as f64 / ROUNDS as f64
}

/// Sixteen steps in eight lanes that do not wait for each other: as many instructions a cycle as the processor can.
#[inline(always)]
fn wide(lanes: &mut [u64; 8]) {
    for step in 0..16 {
        let lane = &mut lanes[step % 8];
        *lane = (*lane ^ (step as u64 * 0x9e37)).rotate_left(step as u32 + 1).wrapping_add(0x55);
    }
}

/// Sixteen steps that wait for each other.
#[inline(always)]
fn chain(lanes: &mut [u64; 8]) {
    for step in 0..16 {
        lanes[0] = (lanes[0] ^ (step * 0x9e37)).rotate_left(7).wrapping_add(0x55);
    }
}

/// Runs `body` and `probe` in turn, `rounds` times. Not inlined, so that all kinds are compiled alike.
#[inline(never)]
fn work(rounds: u64, body: impl Fn(&mut [u64; 8]), probe: impl Fn()) {
    // Not black_box of the array: its address would be known, and what the lanes hold would go through memory.
    let mut lanes = [black_box(1); 8];
    for _ in 0..rounds {
        body(&mut lanes);
        probe();
    }
    black_box(lanes.iter().fold(0, |all, lane| all ^ lane));
}

/// Median cycles of a round without the probe and what the probe adds.
fn added(body: impl Fn(&mut [u64; 8]) + Copy, probe: impl Fn() + Copy) -> (f64, f64) {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        without.push(timed(|rounds| work(rounds, body, || ())));
        with.push(timed(|rounds| work(rounds, body, probe)));
    }
    let without = median(without);
    (without, median(with) - without)
}

fn print_not_taken(name: &str, body: impl Fn(&mut [u64; 8]) + Copy, rate: f64) {
    let (bare, clock) = added(body, probe::probe_clock);
    let (_, budget) = added(body, probe::probe_budget::<16>);
    let (_, flag) = added(body, probe::probe_flag);
    println!(
        "not taken, {name:<34} bare {:6.2}   clock {:+6.2}   budget {:+6.2}   flag {:+6.2}",
        bare / rate,
        clock / rate,
        budget / rate,
        flag / rate
    );
}

/// Median nanoseconds of `call`.
fn cost(rate: f64, call: impl Fn()) -> f64 {
    let trials = (0..TRIALS).map(|_| {
        timed(|rounds| {
            for _ in 0..rounds {
                call();
            }
        })
    });
    median(trials.collect()) / rate
}

extern "C" fn nothing(_now: u64) {}

fn print_cold(rate: f64) {
    probe::set_hook(nothing);
    let always_due = || {
        // SAFETY: this thread's block.
        unsafe { (*probe::block()).deadline = 0 };
    };
    println!("arm                                      {:6.1}", cost(rate, || probe::arm(1, 1 << 60)));
    let pair = || {
        probe::critical_enter();
        probe::critical_exit();
    };
    println!("critical section, inline                 {:6.1}", cost(rate, pair));
    println!("critical section, measured               {:6.1}", cost(rate, || probe::measured(|| ())));
    probe::arm(probe::rdtsc(), 1 << 60);
    // SAFETY: this thread's block.
    let spend = || unsafe { (*probe::block()).budget -= 40 };
    let visit = || {
        spend();
        caudal_probe_cold_budget_v1();
    };
    println!("budget visit that learns and arms again  {:6.1}", cost(rate, visit));
    probe::critical_enter();
    println!("declined in a critical section           {:6.1}", cost(rate, || caudal_probe_cold_clock_v1()));
    probe::critical_exit();
    probe::disarm();
    for (name, entries) in [
        (
            "keeping all registers",
            [
                caudal_probe_cold_clock_v1 as extern "C" fn(),
                caudal_probe_cold_budget_v1,
                caudal_probe_cold_flag_v1,
            ],
        ),
        (
            "by the C convention",
            [caudal_probe_call_clock_v1, caudal_probe_call_budget_v1, caudal_probe_call_flag_v1],
        ),
    ] {
        let [clock, budget, flag] = entries.map(|entry| {
            cost(rate, || {
                always_due();
                entry();
            })
        });
        println!("empty hook, {name:<22} clock {clock:6.1}   budget {budget:6.1}   flag {flag:6.1}");
    }
    probe::disarm();
}

thread_local! {
    /// Distances of the yields from their deadlines, in TSC cycles.
    static DISTANCES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn note_distance(now: u64) {
    DISTANCES.with_borrow_mut(|distances| distances.push(now.abs_diff(probe::due_deadline())));
    // SAFETY: this thread's block.
    let quantum = unsafe { (*probe::block()).quantum };
    probe::arm(probe::rdtsc(), quantum);
}

/// How well budget mode hits a quantum of 2 us where `slow_phases` of ten phases are ten times slower. A unit is a round
/// of the fast body; the slow one charges the same. Stalls of the machine are in it: the mean is theirs too.
fn print_budget(name: &str, rate: f64, slow_phases: u64) {
    const QUANTUM_NS: f64 = 2_000.0;
    probe::set_hook(note_distance);
    DISTANCES.set(Vec::with_capacity(1 << 20));
    let visits = probe::cold_visits();
    probe::arm(probe::rdtsc(), (QUANTUM_NS * rate) as u64);
    for phase in 0..20_000_u64 {
        let repeated = if phase % 10 < slow_phases { 10 } else { 1 };
        let body = |lanes: &mut [u64; 8]| (0..repeated).for_each(|_| chain(lanes));
        work(200, body, probe::probe_budget::<1>);
    }
    probe::disarm();
    let mut distances = DISTANCES.take();
    distances.sort_unstable();
    let yields = distances.len();
    let ns = |cycles: u64| cycles as f64 / rate;
    println!(
        "budget mode, 2 us, {name:<33} from the deadline: mean {:5.0}, p50 {:4.0}, p90 {:4.0}, p99 {:5.0}; \
         {:.2} visits per yield, {yields} yields",
        ns(distances.iter().sum()) / yields as f64,
        ns(distances[yields / 2]),
        ns(distances[yields * 9 / 10]),
        ns(distances[yields * 99 / 100]),
        (probe::cold_visits() - visits) as f64 / yields as f64,
    );
}

fn main() {
    let rate = cycles_per_ns();
    println!("ns; {rate:.3} TSC cycles/ns; medians of {TRIALS} trials of {ROUNDS} rounds");
    // SAFETY: this thread's block.
    unsafe { (*probe::block()).stack_high = u64::MAX };
    print_not_taken("16 independent steps:", wide, rate);
    print_not_taken("16 dependent steps:", chain, rate);
    print_cold(rate);
    print_budget("steady:", rate, 0);
    print_budget("phases, half of them 10 x slower:", rate, 5);
}
