//! Synthetic work: a number of iterations, never a time. Contestants run it as the work of each request, after a calibration. It spins on
//! the calling thread and logs gaps.
//!
//! ```text
//! job      chunk                         chunk                         chunk
//!          read  iterations        read  read  iterations        read  read ...
//!          +------- ~200 ns ---------+   +------- ~200 ns ---------+
//!                  a gap? ----------^ ^             a gap? --------^ ^
//!                                     between                        between
//! ```
//!
//! `between` is what a contestant puts there: nothing, a probe, a yield. The clock is read anew after it, so that time away
//! in a yield is no gap. One iteration is a multiplication that waits for the one before it, written in assembly: the same
//! three instructions in every language, whatever the compiler, the alignment or the neighbours.

mod calibrate;

use std::arch::asm;
use std::fmt;
use std::str::FromStr;

use crate::clock;
use crate::gaps::GapLog;

/// Length of a chunk that jobs are cut into, as near as their service time allows.
pub const CHUNK_NS: f64 = 200.0;
/// Multiplier of the iterations: odd, so that an odd state stays odd and never becomes 0 (Knuth's MMIX generator).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// How fast this machine iterates: the two numbers that every contestant of a comparison has to share.
///
/// Written and parsed as `RATE:OVERHEAD` (`--iterations-per-us 1032.5:19.4`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    iterations_per_us: f64,
    overhead_iterations: f64,
}

/// A service time as chunks of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Chunks, at least 1.
    pub chunks: u32,
    /// Iterations of each chunk, at least 1.
    pub iterations: u32,
}

/// A fault of a calibration that was given as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is no calibration: it is `RATE:OVERHEAD`, iterations per us and the iterations that a chunk's clock readings last, such as 1032.5:19.4"
)]
pub struct ParseWorkError {
    given: String,
}

impl Work {
    /// Work of a known speed.
    ///
    /// # Panics
    /// Unless the rate is positive and the overhead is not negative.
    pub fn new(iterations_per_us: f64, overhead_iterations: f64) -> Work {
        assert!(
            iterations_per_us > 0.0 && iterations_per_us.is_finite(),
            "{iterations_per_us} iterations per us"
        );
        assert!(
            overhead_iterations >= 0.0 && overhead_iterations.is_finite(),
            "{overhead_iterations} iterations"
        );
        Work { iterations_per_us, overhead_iterations }
    }

    /// Iterations in a microsecond.
    pub fn iterations_per_us(self) -> f64 {
        self.iterations_per_us
    }

    /// How long the two readings of the clock in a chunk last, in iterations.
    pub fn overhead_iterations(self) -> f64 {
        self.overhead_iterations
    }

    /// The job whose chunks, clock readings included, last `service_ns` on an undisturbed core.
    ///
    /// # Panics
    /// If that is longer than some 800 s (2^32 chunks).
    pub fn job(self, service_ns: u64) -> Job {
        let chunks = (service_ns as f64 / CHUNK_NS).round().max(1.0);
        assert!(chunks <= f64::from(u32::MAX), "a service time of {service_ns} ns");
        let each = service_ns as f64 * 1e-3 * self.iterations_per_us / chunks - self.overhead_iterations;
        Job { chunks: chunks as u32, iterations: each.round().max(1.0) as u32 }
    }
}

impl Job {
    /// One of the job's chunks; for contestants that leave the function between chunks.
    #[inline(always)]
    pub fn chunk(&self, gaps: &mut GapLog) {
        let start = clock::now();
        iterate(self.iterations);
        gaps.check(start, clock::now_after_all());
    }

    /// All of it, with `between` after every chunk but the last.
    #[inline(always)]
    pub fn run(&self, gaps: &mut GapLog, mut between: impl FnMut()) {
        self.chunk(gaps);
        for _ in 1..self.chunks {
            between();
            self.chunk(gaps);
        }
    }

    /// How many chunks come closest to `quantum_ns`, at least 1; `service_ns` is the job's service time.
    pub fn chunks_in(&self, quantum_ns: u64, service_ns: u64) -> u32 {
        let chunk_ns = service_ns as f64 / f64::from(self.chunks);
        (quantum_ns as f64 / chunk_ns).round().max(1.0) as u32
    }
}

/// Runs `count` iterations (at least 1): a multiplication each that needs the result of the one before.
#[inline(always)]
pub fn iterate(count: u32) -> u64 {
    debug_assert!(count > 0);
    let mut state: u64 = 1;
    // SAFETY: registers only; the loop ends after `count` rounds (2^32 when 0).
    unsafe {
        asm!(
            "2:",
            "imul {state}, {multiplier}",
            "sub {count:e}, 1",
            "jnz 2b",
            state = inout(reg) state,
            multiplier = in(reg) MULTIPLIER,
            count = inout(reg) count => _,
            options(nomem, nostack),
        );
    }
    state
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.iterations_per_us, self.overhead_iterations)
    }
}

impl FromStr for Work {
    type Err = ParseWorkError;

    fn from_str(given: &str) -> Result<Work, ParseWorkError> {
        let wrong = || ParseWorkError { given: given.to_owned() };
        let (rate, overhead) = given.split_once(':').ok_or_else(wrong)?;
        let rate: f64 = rate.parse().map_err(|_| wrong())?;
        let overhead: f64 = overhead.parse().map_err(|_| wrong())?;
        let valid = rate > 0.0 && rate.is_finite() && overhead >= 0.0 && overhead.is_finite();
        if valid { Ok(Work::new(rate, overhead)) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_exactly_as_often_as_told() {
        for count in [1, 2, 3, 1000, 65_537] {
            assert_eq!(iterate(count), MULTIPLIER.wrapping_pow(count));
        }
    }

    #[test]
    fn a_job_is_its_service_time_with_the_readings_in_it() {
        let work = Work::new(1000.0, 20.0);
        assert_eq!(work.job(500), Job { chunks: 3, iterations: 147 });
        assert_eq!(work.job(500_000), Job { chunks: 2500, iterations: 180 });
        assert_eq!(work.job(1), Job { chunks: 1, iterations: 1 });
        assert_eq!(work.job(500_000).chunks_in(1000, 500_000), 5);
        assert_eq!(work.job(500).chunks_in(1, 500), 1);
    }

    #[test]
    fn between_runs_between_chunks_and_is_no_gap() {
        let mut gaps = GapLog::new(u64::MAX, 0);
        let mut calls = 0;
        Job { chunks: 5, iterations: 10 }.run(&mut gaps, || calls += 1);
        assert_eq!(calls, 4);

        // With a threshold of 0 every chunk is a gap: none may reach into a time between.
        let mut gaps = GapLog::new(0, 10);
        let mut away = Vec::new();
        Job { chunks: 4, iterations: 1000 }.run(&mut gaps, || {
            let left = clock::now_after_all();
            std::thread::sleep(std::time::Duration::from_micros(10));
            away.push((left, clock::now_after_all()));
            clock::now_after_all();
        });
        assert_eq!((gaps.gaps().len(), away.len()), (4, 3));
        for (chunks, (left, back)) in gaps.gaps().windows(2).zip(away) {
            assert!(chunks[0].end <= left && back <= chunks[1].start);
        }
    }

    #[test]
    fn a_chunk_that_takes_longer_than_the_threshold_is_a_gap() {
        let mut gaps = GapLog::new(0, 10);
        Job { chunks: 3, iterations: 1000 }.run(&mut gaps, || {});
        assert_eq!(gaps.gaps().len(), 3);
        assert!(
            gaps.gaps().windows(2).all(|pair| pair[0].end <= pair[1].start && pair[0].start < pair[0].end)
        );
    }

    #[test]
    fn text_and_back() {
        let work = Work::new(1032.503, 19.25);
        assert_eq!(work.to_string().parse(), Ok(work));
        for wrong in ["1032.5", "0:1", "-3:1", "1:-1", "a:1", "inf:1", "1:NaN", ""] {
            assert!(wrong.parse::<Work>().is_err(), "{wrong}");
        }
    }
}
