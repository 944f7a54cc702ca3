//! The speed of this machine's iterations, found once for all contestants of a comparison.
//! Called before a comparison.
//!
//! Noise only ever lengthens a trial. The shortest of some dozen trials is one that no stall touched, but not yet an undisturbed
//! one: for tens of milliseconds the readings of the clock may cost half as much again (seen: 12 and 19 ns), and the clock
//! rate moves by some per cent. Hence many such minima with pauses between, all quantities in each of them, and of each the
//! lower decile: right if a tenth of the time was quiet, and without the luck of a single shortest trial.

use std::time::Duration;

use super::{Job, Work, iterate};
use crate::clock::{self, Tsc};
use crate::gaps::GapLog;

/// Trials of which the shortest counts.
const TRIALS: usize = 40;
/// Such minima of which the lower decile counts.
const BLOCKS: usize = 101;
/// The pause before each of them.
const PAUSE: Duration = Duration::from_millis(1);
/// Iterations of the shorter and of the longer trial whose difference is free of everything but iterations.
const SHORT: u32 = 1_000;
const LONG: u32 = 5_000;
/// Short jobs in a trial of their true duration.
const JOBS: u32 = 10;
/// A chunk about as long as those of jobs, and how many of them a trial has.
const CHUNK: Job = Job { chunks: 20, iterations: 180 };

impl Work {
    /// Measures on the calling thread, which should be pinned to the core where the work will run; takes
    /// some 150 ms.
    pub fn calibrate(tsc: Tsc) -> Work {
        let mut gaps = GapLog::new(u64::MAX, 0);
        let (mut ticks_per_iteration, mut overheads) = (Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            std::thread::sleep(PAUSE);
            // Within a block all three see the same clock rate.
            let long = shortest(|| ticks_of(|| iterate(LONG)));
            let short = shortest(|| ticks_of(|| iterate(SHORT)));
            let chunks = shortest(|| ticks_of(|| CHUNK.run(&mut gaps, || {})));
            let each = (long - short) / f64::from(LONG - SHORT);
            ticks_per_iteration.push(each);
            overheads.push(chunks / f64::from(CHUNK.chunks) / each - f64::from(CHUNK.iterations));
        }
        let iterations_per_us = tsc.hz() * 1e-6 / lower_decile(ticks_per_iteration);
        let overhead = lower_decile(overheads);
        // Three and two digits are finer than what the machine keeps up, and short on a command line.
        Work::new((iterations_per_us * 1e3).round() / 1e3, (overhead.max(0.0) * 1e2).round() / 1e2)
    }

    /// The time that a job of `service_ns` really takes on the calling thread, in ns: the lower decile of minima, or for jobs of more than
    /// 20 µs, which few stalls spare, the minimum of some hundred.
    pub fn measure(self, tsc: Tsc, service_ns: u64) -> f64 {
        let job = self.job(service_ns);
        let mut gaps = GapLog::new(u64::MAX, 0);
        let ticks = if service_ns > 20_000 {
            let trial = || ticks_of(|| job.run(&mut gaps, || {}));
            std::iter::repeat_with(trial).take(200).min().expect("200 trials") as f64
        } else {
            // Several in a row, so that the readings around them do not count.
            undisturbed(|| ticks_of(|| (0..JOBS).for_each(|_| job.run(&mut gaps, || {})))) / f64::from(JOBS)
        };
        ticks / tsc.hz() * 1e9
    }
}

/// The shortest of some trials, in ticks.
fn shortest(trial: impl FnMut() -> u64) -> f64 {
    std::iter::repeat_with(trial).take(TRIALS).min().expect("TRIALS is not 0") as f64
}

/// The value that a tenth of `values` does not exceed.
fn lower_decile(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 10]
}

/// The lower decile of the minima of many trials, in ticks.
fn undisturbed(mut trial: impl FnMut() -> u64) -> f64 {
    let block = |_| {
        std::thread::sleep(PAUSE);
        shortest(&mut trial)
    };
    lower_decile((0..BLOCKS).map(block).collect())
}

fn ticks_of<T>(run: impl FnOnce() -> T) -> u64 {
    let start = clock::now_after_all();
    std::hint::black_box(run());
    clock::now_after_all() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_speed_that_can_be() {
        // From a core of 0.3 GHz to one of 30 GHz at three cycles each.
        let work = Work::calibrate(Tsc::calibrate().unwrap());
        assert!((100.0..10_000.0).contains(&work.iterations_per_us()), "{work}");
        assert!((0.0..1_000.0).contains(&work.overhead_iterations()), "{work}");
        assert_eq!(work.to_string().parse(), Ok(work));
    }

    #[test]
    fn the_trial_that_counts_is_not_a_disturbed_one() {
        let mut number = 0;
        let found = undisturbed(|| {
            number += 1;
            if number % 3 == 0 { 1_000_000 } else { 500 }
        });
        assert_eq!(found, 500.0);
    }
}
