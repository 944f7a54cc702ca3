//! Time as workers read it: the processor's time-stamp counter, in cycles, and what a cycle is worth.

use std::sync::OnceLock;
use std::time::{Duration, Instant as SystemInstant};

use caudal_policy::{Instant, Picos};

/// Reads the time-stamp counter.
#[inline(always)]
pub fn now() -> u64 {
    // SAFETY: reading the counter has no precondition on x86-64.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The rate of the counter, and conversions that cost a multiplication each.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Picoseconds a cycle, 32.32 fixed point.
    ps_per_cycle: u64,
    /// Cycles a picosecond, 0.64 fixed point.
    cycles_per_ps: u64,
    hz: f64,
}

impl Clock {
    /// A counter that runs at `hz` cycles a second.
    ///
    /// # Panics
    /// Unless 100 MHz < `hz` < 100 GHz.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub fn new(hz: f64) -> Clock {
        assert!((1e8..1e11).contains(&hz), "a counter of {hz} Hz");
        Clock {
            ps_per_cycle: (1e12 / hz * 2_f64.powi(32)) as u64,
            cycles_per_ps: (hz / 1e12 * 2_f64.powi(64)) as u64,
            hz,
        }
    }

    /// Measures the counter against the system's clock for some 20 ms: the median of several spans, so that a span in which
    /// the thread was off its core does not count.
    pub fn measure() -> Clock {
        let mut rates: Vec<f64> = (0..7).map(|_| rate_over(Duration::from_millis(3))).collect();
        rates.sort_by(f64::total_cmp);
        Clock::new(rates[rates.len() / 2])
    }

    /// This machine's, measured by the first call in a process.
    pub fn of_this_machine() -> Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(Clock::measure)
    }

    /// Picoseconds a cycle, 32.32 fixed point.
    pub(crate) fn ps_per_cycle(self) -> u64 {
        self.ps_per_cycle
    }

    /// Cycles a second.
    pub fn hz(self) -> f64 {
        self.hz
    }

    /// The span of `cycles`, for policies. Exact to 2^-32.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn picos(self, cycles: u64) -> Picos {
        Picos(((u128::from(cycles) * u128::from(self.ps_per_cycle)) >> 32) as u64)
    }

    /// The instant of counter value `cycles`, for policies: picoseconds since the counter was 0. Wraps as [`Instant`] does.
    #[inline(always)]
    pub fn instant(self, cycles: u64) -> Instant {
        Instant(self.picos(cycles).0)
    }

    /// `span` in cycles; [`Picos::MAX`] stays [`u64::MAX`], which no counter reaches.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn cycles(self, span: Picos) -> u64 {
        if span == Picos::MAX {
            return u64::MAX;
        }
        ((u128::from(span.0) * u128::from(self.cycles_per_ps)) >> 64) as u64
    }

    /// `span` in cycles, or [`u64::MAX`] if that is more than a counter holds.
    pub fn cycles_of(self, span: Duration) -> u64 {
        let ps = span.as_nanos().saturating_mul(1_000);
        u64::try_from(ps).map_or(u64::MAX, |ps| self.cycles(Picos(ps)))
    }

    /// `cycles` in nanoseconds.
    #[allow(clippy::cast_precision_loss)]
    pub fn nanos(self, cycles: u64) -> f64 {
        cycles as f64 * (1e9 / self.hz)
    }

    /// `cycles` as a [`Duration`], to the nanosecond.
    pub fn duration(self, cycles: u64) -> Duration {
        Duration::from_nanos(self.picos(cycles).0 / 1_000)
    }
}

#[allow(clippy::cast_precision_loss)]
fn rate_over(span: Duration) -> f64 {
    let (started, first) = (SystemInstant::now(), now());
    while started.elapsed() < span {
        core::hint::spin_loop();
    }
    let (passed, last) = (started.elapsed(), now());
    (last - first) as f64 / passed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_convert_both_ways() {
        let clock = Clock::new(2.596e9);
        for us in [1_u64, 500, 1_000_000] {
            let cycles = clock.cycles(Picos::from_micros(us));
            let back = clock.picos(cycles).0;
            assert!(back.abs_diff(us * 1_000_000) < 500, "{us} us became {back} ps");
        }
        assert_eq!(clock.cycles(Picos::MAX), u64::MAX);
    }

    #[test]
    fn the_measured_rate_is_the_counters() {
        let (first, second) = (Clock::measure().hz(), Clock::measure().hz());
        assert!((first / second - 1.0).abs() < 0.05, "{first} Hz, then {second} Hz");
    }
}
