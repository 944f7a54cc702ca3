//! Releases the requests of a schedule when their time has come, by spinning on the clock. A contestant calls it in a loop, on a thread or in a
//! source of the runtime, for the whole run.
//!
//! The generator's loop records gaps as the work does, in a log of its own: while its core stands still nothing arrives, and
//! afterwards all overdue requests arrive at once.

use crate::clock::{self, Tsc};
use crate::gaps::GapLog;
use crate::schedule::Schedule;

/// How far ahead a run starts, in ns: time for the last thread to begin to spin.
pub const LEAD_NS: u64 = 5_000_000;

/// Intended arrivals in ticks, and how many of them have come.
#[derive(Clone, Debug)]
pub struct Arrivals {
    at_ticks: Vec<u64>,
    epoch: u64,
    next: usize,
}

impl Arrivals {
    /// The arrivals of `schedule` for a run that starts [`LEAD_NS`] from now.
    pub fn soon(schedule: &Schedule, tsc: Tsc) -> Arrivals {
        Arrivals::from_epoch(schedule, tsc, clock::now() + tsc.to_ticks(LEAD_NS))
    }

    /// The arrivals of `schedule` for a run that starts when the counter stands at `epoch`.
    pub fn from_epoch(schedule: &Schedule, tsc: Tsc, epoch: u64) -> Arrivals {
        let at_ticks = schedule.arrivals.iter().map(|arrival| epoch + tsc.to_ticks(arrival.at_ns)).collect();
        Arrivals { at_ticks, epoch, next: 0 }
    }

    /// The counter at the run's start.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The next request if its time has come at `now`; each is given once, in order. For those who read the schedule themselves.
    #[inline(always)]
    pub fn due(&mut self, now: u64) -> Option<usize> {
        let request = self.next;
        if *self.at_ticks.get(request)? > now {
            return None;
        }
        self.next += 1;
        Some(request)
    }

    /// Whether every request has been given out.
    pub fn is_done(&self) -> bool {
        self.next == self.at_ticks.len()
    }

    /// Gives every request to `submit` at its time; returns after the last.
    ///
    /// Time spent in `submit` is the contestant's and is no gap.
    pub fn release(mut self, gaps: &mut GapLog, mut submit: impl FnMut(usize)) {
        let mut before = clock::now();
        while !self.is_done() {
            let now = clock::now();
            gaps.check(before, now);
            before = now;
            if let Some(request) = self.due(now) {
                submit(request);
                before = clock::now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Mix;

    #[test]
    fn every_request_once_in_order_and_never_early() {
        let tsc = Tsc::calibrate().unwrap();
        let schedule = Schedule::poisson(Mix::extreme_bimodal(), 0.5, 1, 1000, 1);
        let arrivals = Arrivals::soon(&schedule, tsc);
        let (epoch, mut seen) = (arrivals.epoch(), Vec::new());
        arrivals
            .release(&mut GapLog::new(u64::MAX, 0), |request| seen.push((request, clock::now_after_all())));
        assert_eq!(seen.len(), 1000);
        for (number, (request, at)) in seen.into_iter().enumerate() {
            assert_eq!(request, number);
            assert!(at >= epoch + tsc.to_ticks(schedule.arrivals[request].at_ns));
        }
    }

    #[test]
    fn due_exactly_when_the_clock_has_passed() {
        let schedule = Schedule::poisson(Mix::extreme_bimodal(), 0.5, 1, 2, 1);
        let tsc = Tsc::with_hz(1e9);
        let mut arrivals = Arrivals::from_epoch(&schedule, tsc, 1_000);
        let first = 1_000 + schedule.arrivals[0].at_ns;
        assert_eq!(arrivals.due(first - 1), None);
        assert_eq!(arrivals.due(first), Some(0));
        assert_eq!(arrivals.due(first), None);
        assert_eq!(arrivals.due(u64::MAX), Some(1));
        assert!(arrivals.is_done());
        assert_eq!(arrivals.due(u64::MAX), None);
    }
}
