//! The events of a run that an observer is told: for timelines, and for tests that keep accounts of their own. Every loop tells its
//! observer at once; a run without an observer compiles to nothing here. The observer decides what it touches.

use caudal_policy::discipline::lanes::Broken;

/// Something that happened in a run. Times are in ps of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request arrived.
    Arrived {
        /// Its number in order of arrival.
        number: u64,
        /// Its class.
        class: u8,
        /// Its service time.
        service_ps: u64,
    },
    /// A worker runs a request from now on.
    Started {
        /// The worker.
        worker: u32,
        /// Number of the request.
        number: u64,
        /// Its class.
        class: u8,
    },
    /// A worker runs it no more: it was preempted.
    Stopped {
        /// The worker.
        worker: u32,
        /// Number of the request.
        number: u64,
    },
    /// A request completed.
    Completed {
        /// The worker that ran it last.
        worker: u32,
        /// Number of the request.
        number: u64,
    },
    /// Tasks moved to `worker`: stolen, or shed.
    Moved {
        /// The worker that took them.
        worker: u32,
        /// The pool that had them.
        from: u32,
        /// How many.
        tasks: u32,
    },
    /// A worker was told that a pool is overloaded.
    Flagged {
        /// The worker.
        worker: u32,
        /// The overloaded pool.
        from: u32,
    },
    /// A core was asked for.
    Granted {
        /// Its worker.
        worker: u32,
    },
    /// A core began to serve.
    Unparked {
        /// Its worker.
        worker: u32,
    },
    /// A core was given back.
    Parked {
        /// Its worker.
        worker: u32,
    },
    /// The machine has taken a core away for a while: whatever it does stands still (`costs.stalls`).
    Stalled {
        /// Its worker; none: the dispatcher's core.
        worker: Option<u32>,
        /// For how long from now on.
        length_ps: u64,
    },
}

/// Watches a run.
pub trait Observer {
    /// `event` happened at `now_ps`.
    fn observe(&mut self, now_ps: u64, event: Event);

    /// Is the discipline to be asked after every event whether its pools are as it promises?
    fn checks(&self) -> bool {
        false
    }

    /// They were not, at `pool`.
    fn broken(&mut self, _now_ps: u64, _pool: u32, _promise: Broken) {}

    /// `false`: never call me; the run is faster for it.
    fn watches(&self) -> bool {
        true
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn observe(&mut self, _now_ps: u64, _event: Event) {}

    fn watches(&self) -> bool {
        false
    }
}

/// An observer as the engine knows it: one that is not there compiles away, and all others share one
/// compiled engine.
pub(in crate::engine) trait Sink {
    const ON: bool;
    fn observe(&mut self, now_ps: u64, event: Event);
    fn checks(&self) -> bool {
        false
    }
    fn broken(&mut self, _now_ps: u64, _pool: u32, _promise: Broken) {}
}

impl Sink for Unwatched {
    const ON: bool = false;
    #[inline(always)]
    fn observe(&mut self, _now_ps: u64, _event: Event) {}
}

impl Sink for &mut dyn Observer {
    const ON: bool = true;
    fn observe(&mut self, now_ps: u64, event: Event) {
        (**self).observe(now_ps, event);
    }
    fn checks(&self) -> bool {
        (**self).checks()
    }
    fn broken(&mut self, now_ps: u64, pool: u32, promise: Broken) {
        (**self).broken(now_ps, pool, promise);
    }
}
