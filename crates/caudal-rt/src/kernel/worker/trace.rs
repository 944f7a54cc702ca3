//! Events that a worker appends to its timeline while one is recorded; the rings are in [`crate::board::timeline`].

use caudal_policy::discipline::Discipline;

use super::Worker;
use crate::base::clock::now;
use crate::board::timeline::{Event, OFF, Stop};
use crate::request::coroutine::Reason;

impl<D: Discipline> Worker<D> {
    /// A slice of `task` has ended. Its request may have ended with it, but is not handed over yet.
    #[cold]
    pub(super) fn trace_slice(&mut self, task: u32, reason: Reason, begin: u64, end: u64, session: u32) {
        let cell = self.pool.task(task).cell;
        let stop = match reason {
            Reason::Done(_) | Reason::Overflow => Stop::Ended,
            Reason::Quantum => Stop::Preempted,
            Reason::Yield => Stop::Yielded,
            Reason::Park => Stop::Parked,
        };
        let (class, number) = (cell.class.get(), cell.number.get());
        self.trace(session, Event::Slice { begin, end, class, number, stop });
    }

    /// The worker has had nothing to do until `time`.
    pub(super) fn trace_idle(&self, time: u64) {
        let session = self.shared.timeline.session();
        if session != OFF {
            self.trace(session, Event::Idle { begin: self.idle_since, end: time });
        }
    }

    /// The thread slept from `begin` until now.
    pub(super) fn trace_sleep(&self, begin: u64) {
        let session = self.shared.timeline.session();
        if session != OFF {
            self.trace(session, Event::Asleep { begin, end: now() });
        }
    }

    /// It has taken requests from the inbox of `victim`.
    pub(super) fn trace_moved(&self, victim: usize, requests: u32) {
        let session = self.shared.timeline.session();
        if session != OFF {
            self.trace(session, Event::Moved { at: now(), from: victim as u16, requests });
        }
    }

    #[cold]
    fn trace(&self, session: u32, event: Event) {
        self.shared.timeline.append(self.number, session, event);
    }
}
