//! How fast this machine iterates, found once for all contestants.
//!
//! Noise only ever lengthens a trial. The shortest of some dozen trials is an undisturbed one; the median over many such
//! minima leaves out moments in which the clock rate was unusual.

use super::{Job, Work, iterate};
use crate::clock::{self, Tsc};
use crate::gaps::GapLog;

/// Trials of which the shortest counts.
const TRIALS: u32 = 40;
/// Such minima of which the median counts.
const BLOCKS: usize = 101;
/// Iterations of the shorter and of the longer trial whose difference is free of everything but iterations.
const SHORT: u32 = 1_000;
const LONG: u32 = 5_000;
/// Short jobs in a trial of their true duration.
const JOBS: u32 = 10;
/// A chunk about as long as those of jobs, and how many of them a trial has.
const CHUNK: Job = Job { chunks: 20, iterations: 180 };

impl Work {
    /// Measures on the calling thread, which should be pinned to the core where the work will run; takes about 50 ms.
    pub fn calibrate(tsc: Tsc) -> Work {
        let iterating = typical(|| ticks_of(|| iterate(LONG))) - typical(|| ticks_of(|| iterate(SHORT)));
        let ticks_per_iteration = iterating / f64::from(LONG - SHORT);
        let mut gaps = GapLog::new(u64::MAX, 0);
        let chunks = typical(|| ticks_of(|| CHUNK.run(&mut gaps, || {})));
        let overhead = chunks / f64::from(CHUNK.chunks) / ticks_per_iteration - f64::from(CHUNK.iterations);
        let iterations_per_us = tsc.hz() * 1e-6 / ticks_per_iteration;
        // Three and two digits are finer than what the machine keeps up, and short on a command line.
        Work::new((iterations_per_us * 1e3).round() / 1e3, (overhead.max(0.0) * 1e2).round() / 1e2)
    }

    /// What a job of `service_ns` really takes on the calling thread, in ns: the median of minima, or for jobs of more than
    /// 20 µs, which few stalls spare, the minimum of some hundred.
    pub fn measure(self, tsc: Tsc, service_ns: u64) -> f64 {
        let job = self.job(service_ns);
        let mut gaps = GapLog::new(u64::MAX, 0);
        let ticks = if service_ns > 20_000 {
            let trial = || ticks_of(|| job.run(&mut gaps, || {}));
            std::iter::repeat_with(trial).take(200).min().expect("200 trials") as f64
        } else {
            // Several in a row, so that the readings around them do not count.
            typical(|| ticks_of(|| (0..JOBS).for_each(|_| job.run(&mut gaps, || {})))) / f64::from(JOBS)
        };
        ticks / tsc.hz() * 1e9
    }
}

/// The median of the minima of many trials, in ticks.
fn typical(mut trial: impl FnMut() -> u64) -> f64 {
    let mut minima: Vec<u64> =
        (0..BLOCKS).map(|_| (0..TRIALS).map(|_| trial()).min().expect("TRIALS is not 0")).collect();
    minima.sort_unstable();
    minima[BLOCKS / 2] as f64
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
    fn the_typical_trial_is_not_a_disturbed_one() {
        let mut number = 0;
        let found = typical(|| {
            number += 1;
            if number % 3 == 0 { 1_000_000 } else { 500 }
        });
        assert_eq!(found, 500.0);
    }
}
