//! Stalls: time that the machine takes in the middle of a request and that neither the count of the timer's interrupts nor the count of
//! switches shows. A service of many equal units of work owns a [`Units`]: it marks each unit while it serves a request, and the
//! measurement asks for the stall at the end of the request.
//!
//! A request of tens of microseconds repeats the same work many times: some words, some keys. The service reads the clock after
//! each such unit. The time of a unit follows from its bytes, up to some hundred nanoseconds. A unit that takes
//! [`THRESHOLD_NS`] longer was stopped by the hypervisor or by a device's interrupt; the time beyond its usual time is
//! the request's stall.
//!
//! ```text
//!   request   │ 8 keys │ 8 keys │ 8 keys                     │ 8 keys │
//!   takes       0.9 us   1.0 us   24.1 us: 23.2 us of stall    0.9 us
//! ```

use std::time::Instant;

use crate::figures::percentile;
use crate::machine::nanos;

/// The time that a unit may take beyond its usual time without counting as stalled. The project's measurements elsewhere have the same bound.
pub(crate) const THRESHOLD_NS: u64 = 2_500;

/// The times of the units of the request that is being served.
#[derive(Debug)]
pub(crate) struct Units {
    last: Instant,
    taken: Vec<Unit>,
    /// Usual time of a byte, in ns; unknown at first.
    pace: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Unit {
    bytes: usize,
    ns: u64,
}

impl Units {
    pub(crate) fn new() -> Units {
        Units { last: Instant::now(), taken: Vec::with_capacity(1 << 10), pace: None }
    }

    /// A request begins.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.last = now;
    }

    /// A unit of the request is done, which was the work of `bytes` of its bytes.
    pub(crate) fn mark(&mut self, bytes: usize) {
        self.mark_at(bytes, Instant::now());
    }

    fn mark_at(&mut self, bytes: usize, now: Instant) {
        self.taken.push(Unit { bytes, ns: nanos(now - self.last) });
        self.last = now;
    }

    /// The request is done. Returns the time that it was stalled, in ns; 0 as long as the usual time of a unit is not known.
    pub(crate) fn end(&mut self, now: Instant) -> u64 {
        let Some(pace) = self.pace else { return 0 };
        // The rest after the last unit is hardly any work, but may be stalled as well.
        self.mark_at(0, now);
        self.taken.drain(..).map(|unit| stall_ns(unit, pace)).sum()
    }

    /// The number of units that are not yet accounted for.
    #[cfg(test)]
    pub(crate) fn marked(&self) -> usize {
        self.taken.len()
    }

    /// Sets the pace to the median time of a byte in the units of the requests so far.
    pub(crate) fn learn(&mut self) {
        let picos = |unit: Unit| unit.ns * 1_000 / unit.bytes as u64;
        let mut paces: Vec<u64> = self.taken.drain(..).filter(|unit| unit.bytes > 0).map(picos).collect();
        paces.sort_unstable();
        self.pace = (!paces.is_empty()).then(|| percentile(&paces, 50.0) as f64 / 1e3);
    }
}

fn stall_ns(unit: Unit, pace: f64) -> u64 {
    let beyond = unit.ns.saturating_sub((unit.bytes as f64 * pace) as u64);
    if beyond > THRESHOLD_NS { beyond } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Units of 10 bytes that took so long; what the request's stall is.
    fn stall(units: &mut Units, took_ns: &[u64], rest_ns: u64) -> u64 {
        let mut now = Instant::now();
        units.begin(now);
        for &ns in took_ns {
            now += Duration::from_nanos(ns);
            units.mark_at(10, now);
        }
        units.end(now + Duration::from_nanos(rest_ns))
    }

    #[test]
    fn a_unit_far_beyond_its_usual_time_is_a_stall() {
        let mut units = Units::new();
        assert_eq!(stall(&mut units, &[1_000, 900, 1_100, 90_000, 1_000], 0), 0, "nothing is usual yet");
        units.learn();
        assert_eq!(stall(&mut units, &[1_000, 3_400, 10], 0), 0, "2.4 us beyond 1 us");
        assert_eq!(stall(&mut units, &[1_000, 3_600, 10], 0), 2_600);
        assert_eq!(stall(&mut units, &[5_000, 1_000, 21_000], 0), 24_000, "two stalls");
        assert_eq!(stall(&mut units, &[2_000; 50], 0), 0, "slow all along is no stall");
        assert_eq!(stall(&mut units, &[1_000], 7_000), 7_000, "behind the last unit");
        assert_eq!(stall(&mut units, &[1_000], 0), 0, "a request has its own units only");
    }

    #[test]
    fn units_of_more_bytes_may_take_longer() {
        let mut units = Units::new();
        stall(&mut units, &[1_000; 9], 0);
        units.learn();
        for (bytes, expected) in [(10, 4_000), (40, 0)] {
            let now = Instant::now();
            units.begin(now);
            let done = now + Duration::from_nanos(5_000);
            units.mark_at(bytes, done);
            assert_eq!(units.end(done), expected, "{bytes} bytes");
        }
    }
}
