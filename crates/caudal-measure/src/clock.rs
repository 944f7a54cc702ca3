//! The time stamp counter: the only clock that is cheap enough to be read in every request (9 ns, no system call).
//! Everything here that measures reads it.

use std::arch::x86_64::{_mm_lfence, _rdtsc};
use std::time::Duration;

/// How long the frequency is measured.
const CALIBRATION: Duration = Duration::from_millis(10);
/// Pairs of readings from which the tightest is taken: a pair that a stall fell into is never the tightest.
const PAIRS: u32 = 200;

/// Why the time stamp counter is no clock here.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// The counter's rate changes, or it stands still in idle states.
    #[error(
        "the time stamp counter is no clock on this machine: /proc/cpuinfo does not list {missing}; measure on a \
         processor (or under a hypervisor) with an invariant counter"
    )]
    NotInvariant {
        /// The flags that are missing.
        missing: String,
    },
    /// `/proc/cpuinfo` cannot be read.
    #[error("cannot read /proc/cpuinfo, which says whether the time stamp counter is a clock: {0}")]
    CpuInfo(#[from] std::io::Error),
}

/// The counter now, in ticks. May be read up to a reorder buffer's length before earlier instructions are done.
#[inline(always)]
pub fn now() -> u64 {
    // SAFETY: RDTSC has no precondition; that it is not trapped into a signal is Linux's default (PR_TSC_ENABLE).
    unsafe { _rdtsc() }
}

/// The counter once every earlier instruction is done, in ticks; a few ns more than [`now`].
#[inline(always)]
pub fn now_after_all() -> u64 {
    // SAFETY: LFENCE belongs to SSE2, which every x86-64 processor has; RDTSC as in `now`.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// The counter's frequency, and with it the conversion between ticks and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tsc {
    hz: f64,
    error_ppm: f64,
}

impl Tsc {
    /// Measures the frequency against `CLOCK_MONOTONIC_RAW`; takes 10 ms.
    ///
    /// # Errors
    /// If the processor does not promise a constant rate (`constant_tsc`, `nonstop_tsc`).
    pub fn calibrate() -> Result<Tsc, ClockError> {
        require_invariant(&std::fs::read_to_string("/proc/cpuinfo")?)?;
        let first = Pair::tightest();
        std::thread::sleep(CALIBRATION);
        let second = Pair::tightest();
        let ticks = (second.middle_ticks() - first.middle_ticks()) as f64;
        let uncertain_ticks = (first.span_ticks + second.span_ticks) as f64 / 2.0;
        let elapsed_s = (second.raw_ns - first.raw_ns) as f64 * 1e-9;
        Ok(Tsc { hz: ticks / elapsed_s, error_ppm: uncertain_ticks / ticks * 1e6 })
    }

    /// A counter of a known frequency: what a trace or a schedule file says.
    ///
    /// # Panics
    /// If `hz` is not positive.
    pub fn with_hz(hz: f64) -> Tsc {
        assert!(hz > 0.0 && hz.is_finite(), "a counter of {hz} Hz is no clock");
        Tsc { hz, error_ppm: 0.0 }
    }

    /// Ticks per second.
    pub fn hz(self) -> f64 {
        self.hz
    }

    /// The largest error that [`Self::hz`] can have, in parts per million: half the time that reading both clocks took.
    pub fn error_ppm(self) -> f64 {
        self.error_ppm
    }

    /// Nanoseconds that `ticks` last, rounded.
    #[inline]
    pub fn to_ns(self, ticks: u64) -> u64 {
        (ticks as f64 * (1e9 / self.hz)).round() as u64
    }

    /// Ticks in `ns` nanoseconds, rounded.
    #[inline]
    pub fn to_ticks(self, ns: u64) -> u64 {
        (ns as f64 * (self.hz * 1e-9)).round() as u64
    }
}

/// Both clocks at one moment: the raw one was read somewhere within `span_ticks` from `from_ticks`.
struct Pair {
    from_ticks: u64,
    span_ticks: u64,
    raw_ns: u64,
}

impl Pair {
    fn tightest() -> Pair {
        (0..PAIRS).map(|_| Pair::read()).min_by_key(|pair| pair.span_ticks).expect("PAIRS is not 0")
    }

    fn read() -> Pair {
        let from_ticks = now_after_all();
        let raw_ns = monotonic_raw_ns();
        Pair { from_ticks, span_ticks: now_after_all() - from_ticks, raw_ns }
    }

    fn middle_ticks(&self) -> u64 {
        self.from_ticks + self.span_ticks / 2
    }
}

fn monotonic_raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; the clock exists since Linux 2.6.28, so the call cannot fail.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut time) };
    assert_eq!(result, 0, "CLOCK_MONOTONIC_RAW is missing");
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

fn require_invariant(cpuinfo: &str) -> Result<(), ClockError> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|wanted| !flags.split_whitespace().any(|flag| flag == *wanted))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(ClockError::NotInvariant { missing: missing.join(", ") }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_counter_that_may_stand_still() {
        let error = require_invariant("processor : 0\nflags\t\t: fpu tsc constant_tsc\n").unwrap_err();
        assert!(error.to_string().contains("does not list nonstop_tsc;"), "{error}");
        assert!(require_invariant("").unwrap_err().to_string().contains("constant_tsc, nonstop_tsc"));
        require_invariant("flags : tsc constant_tsc nonstop_tsc").unwrap();
    }

    #[test]
    fn converts_there_and_back() {
        let tsc = Tsc::with_hz(2.596e9);
        assert_eq!(tsc.to_ticks(1_000_000_000), 2_596_000_000);
        assert_eq!(tsc.to_ns(2_596), 1_000);
        for ns in [0, 1, 499, 500_000, 3_600_000_000_000] {
            assert_eq!(tsc.to_ns(tsc.to_ticks(ns)), ns);
        }
    }

    #[test]
    fn never_runs_backwards_in_a_thread() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now_after_all();
            assert!(next >= last);
            last = next;
        }
    }
}
