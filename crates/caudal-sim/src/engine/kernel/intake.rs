//! The intake of requests into a loop with events, one at a time: the key of the next arrival, the marks of the measured part, and the
//! end of arrivals, after which a run drains. Every loop with events calls it when an arrival is due.

use std::sync::atomic::{AtomicBool, Ordering};

use super::keys::Keys;
use super::run::Run;
use super::source::{Source, work_ps};
use super::tree::NEVER;
use super::window::{Audit, Counting, Window};
use caudal_workload::Demand;

/// The arrivals of a run, and the part of them that is measured.
pub(in crate::engine) struct Intake<'a> {
    source: Source,
    pub(in crate::engine) window: Window,
    /// The key of the next arrival; [`NEVER`] if there is none.
    pub(in crate::engine) key: u64,
    /// There are no more arrivals, and the measured part has been closed for that.
    drains: bool,
    /// See [`Run::stop`].
    stop: Option<&'a AtomicBool>,
}

/// A request that arrives now.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Arrival {
    /// Its number among all requests of the run.
    pub(in crate::engine) number: u64,
    pub(in crate::engine) at_ps: u64,
    pub(in crate::engine) demand: Demand,
    /// Is it a good moment for what is due every few hundred requests?
    pub(in crate::engine) is_first_of_batch: bool,
}

impl Arrival {
    /// Its work, in ps, with probes that stretch its service time.
    #[inline(always)]
    pub(in crate::engine) fn work_ps(&self, stretch: f64) -> u64 {
        work_ps(self.demand.service_ps, stretch)
    }
}

impl<'a> Intake<'a> {
    /// The arrivals of `run`.
    pub(in crate::engine) fn of(run: &Run<'a>) -> Intake<'a> {
        let window = Window::new(run.length, run.patience_ps());
        Intake { source: run.source(), window, key: NEVER, drains: false, stop: run.stop }
    }

    /// When the next request arrives, in ps.
    #[inline(always)]
    pub(in crate::engine) fn peek_ps(&self) -> Option<u64> {
        self.source.peek_ps()
    }

    /// Works out the key of the next arrival. It comes before the workers' events of its time, or `after` them.
    #[inline(always)]
    pub(in crate::engine) fn refresh(&mut self, keys: Keys, after: bool) {
        let key = |arrival_ps| if after { keys.after(arrival_ps) } else { keys.before(arrival_ps) };
        self.key = self.source.peek_ps().map_or(NEVER, key);
    }

    /// Takes the next request.
    #[inline(always)]
    pub(in crate::engine) fn take(&mut self) -> Arrival {
        let (number, at_ps, demand) = self.source.take();
        Arrival { number, at_ps, demand, is_first_of_batch: self.source.at_batch_start() }
    }

    /// `arrival` is about to arrive; `true` if the run is over.
    #[inline(always)]
    pub(in crate::engine) fn is_over(&mut self, arrival: Arrival, audit: &mut impl Audit) -> bool {
        arrival.is_first_of_batch && self.is_stopped() || self.window.at_request(arrival.number, audit)
    }

    /// Was the run told to stop?
    #[inline(never)]
    fn is_stopped(&self) -> bool {
        is_set(self.stop)
    }

    /// There are no more arrivals. Does the run go on, until what is measured and in the system has completed?
    #[cold]
    pub(in crate::engine) fn has_to_drain(&mut self, audit: &mut impl Counting) -> bool {
        if !self.drains {
            self.drains = true;
            self.window.close(audit);
            audit.measured().end_arrivals(self.source.taken());
        }
        !(audit.measured_is_done() || is_set(self.stop))
    }
}

/// Was a run with this flag told to stop?
pub(in crate::engine) fn is_set(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}
