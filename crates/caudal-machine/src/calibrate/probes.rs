//! The cost of a probe that is not taken, of its cold path, and of a pair of switches. The calibration calls [`measure`] as the first step of
//! every round, on a thread of its own, and [`clock_ns`] once before the rounds. No runtime runs meanwhile. The step pins its thread to the
//! worker's processor and replaces the hook of probes in this process by one that does nothing; the next runtime sets its own.

use std::hint::black_box;

use caudal_measure::clock::{self, Tsc};
use caudal_measure::pin::pin_to;
use caudal_measure::work::iterate;
use caudal_probe as probe;
use caudal_rt::bench::SwitchPair;

use super::{CalibrateError, CalibrationBench, Trials, median};

const TRIALS: usize = 101;
const ROUNDS: u64 = 2_000;
/// Iterations between two probes: enough that probes do not wait for each other.
const BETWEEN: u32 = 20;

unsafe extern "C" {
    safe fn caudal_probe_cold_clock_v1();
}

/// Nanoseconds between two readings of the clock with nothing between them.
pub(super) fn clock_ns(tsc: Tsc) -> f64 {
    let trials = (0..TRIALS).map(|_| {
        per_round(tsc, |_| {
            black_box(clock::now());
        })
    });
    median(trials.collect())
}

/// Nanoseconds of one call of `body`, on average over [`ROUNDS`].
fn per_round(tsc: Tsc, mut body: impl FnMut(u64)) -> f64 {
    let start = clock::now();
    (0..ROUNDS).for_each(&mut body);
    (clock::now() - start) as f64 / ROUNDS as f64 * 1e9 / tsc.hz()
}

/// The time that `probe` adds to an iteration of a loop, in ns; the loops with it and without it take turns.
fn added(tsc: Tsc, probe: impl Fn() + Copy) -> f64 {
    let mut differences = Vec::with_capacity(TRIALS);
    for _ in 0..TRIALS {
        let without = per_round(tsc, |_| {
            black_box(iterate(BETWEEN));
        });
        let with = per_round(tsc, |_| {
            black_box(iterate(BETWEEN));
            probe();
        });
        differences.push(with - without);
    }
    median(differences).max(0.0)
}

extern "C" fn nothing(_now: u64) {}

/// Adds the trials of the three kinds of probes, of the cold path and of a pair of switches, in ns.
pub(super) fn measure(bench: &CalibrationBench, trials: &mut Trials) -> Result<(), CalibrateError> {
    let tsc = bench.tsc;
    pin_to(bench.worker_cpu)?;
    // No runtime runs now; the next one sets its own hook when it starts.
    probe::set_hook(nothing);
    trials.push("probe, clock", added(tsc, probe::probe_clock));
    trials.push("probe, budget", added(tsc, probe::probe_budget::<1>));
    trials.push("probe, flag", added(tsc, probe::probe_flag));
    let cold = (0..TRIALS).map(|_| {
        per_round(tsc, |_| {
            // SAFETY: this thread's own block.
            unsafe { (*probe::block()).deadline = 0 };
            caudal_probe_cold_clock_v1();
        })
    });
    trials.push("cold path", median(cold.collect()));
    probe::disarm();
    trials.push("switch pair", switch_pair_ns(tsc));
    Ok(())
}

/// Nanoseconds of a switch to a coroutine and back.
fn switch_pair_ns(tsc: Tsc) -> f64 {
    let pairs = (0..TRIALS).map(|_| {
        let mut pair = SwitchPair::new(0, 0);
        per_round(tsc, |_| pair.switch())
    });
    median(pairs.collect())
}
