//! Preemption by flag: for handlers whose probes check a flag instead of a clock, the dispatcher reads the clock for them. The dispatcher
//! calls this in each of its rounds; of the workers it touches only their probe flags.
//!
//! A worker says when the quantum of its request is due. The dispatcher raises its flag when that is over and others wait there:
//! at the end of a quantum, or, where the request had the worker for itself, when another one arrives (preemption on arrival).
//! The request yields at its next probe. A request that nobody waits for is asked now and then, so that its worker shows that it
//! is not stuck; all are asked when the runtime moves on to another stage.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use crate::kernel::shared::{Shared, Stage};

/// Workers that are checked in one round of the dispatcher.
const CHECKS: usize = 4;

/// Time after which a request that has not yielded is asked again.
const AGAIN_AFTER: Duration = Duration::from_micros(20);

/// See the [module](self).
pub(super) struct Timekeeper {
    /// By worker: the due time for which its flag was raised last.
    raised_for: Box<[u64]>,
    /// By worker: when the flag was raised for that time first, and when it is to be raised again. The probe forgets a yield that is not
    /// possible (in a destructor while a panic unwinds, on a stack that is no request's).
    first: Box<[u64]>,
    again_at: Box<[u64]>,
    again_after: u64,
    next: usize,
    stage: Stage,
    /// Cycles after which a request is asked though nobody waits.
    now_and_then: u64,
}

impl Timekeeper {
    pub(super) fn new(shared: &Shared) -> Timekeeper {
        Timekeeper {
            raised_for: vec![0; shared.workers.len()].into(),
            first: vec![0; shared.workers.len()].into(),
            again_at: vec![0; shared.workers.len()].into(),
            again_after: shared.clock.cycles_of(AGAIN_AFTER),
            next: 0,
            stage: Stage::Running,
            now_and_then: shared.clock.cycles_of(shared.settings.stuck_after) / 4,
        }
    }

    /// Checks some workers, in turn. `unfinished`: requests at a worker, begun or not.
    pub(super) fn check_some(&mut self, shared: &Shared, time: u64, unfinished: impl Fn(usize) -> u32) {
        let stage = shared.stage();
        if stage != self.stage {
            self.stage = stage;
            (0..shared.workers.len()).for_each(|worker| raise(shared, worker, time));
        }
        for _ in 0..CHECKS.min(shared.workers.len()) {
            let worker = self.next;
            self.next = (worker + 1) % shared.workers.len();
            self.check(shared, worker, time, unfinished(worker) > 1 || stage != Stage::Running);
        }
    }

    fn check(&mut self, shared: &Shared, worker: usize, time: u64, others_wait: bool) {
        let other = &shared.workers[worker];
        let due = other.spent.due.load(Acquire);
        let patience = if others_wait { 0 } else { self.now_and_then };
        if due.saturating_add(patience) > time {
            return;
        }
        if self.raised_for[worker] != due {
            (self.raised_for[worker], self.first[worker]) = (due, time);
        } else if time < self.again_at[worker] {
            return;
        }
        self.again_at[worker] = time + self.again_after;
        raise(shared, worker, self.first[worker]);
    }
}

/// Raises the flag of a worker, whose request is asked to yield since the time `since`.
fn raise(shared: &Shared, worker: usize, since: u64) {
    let flag = &shared.workers[worker].mail.probe_flag;
    // SAFETY: a worker publishes its thread's flag, and withdraws it before its thread ends. Only the dispatcher raises flags.
    unsafe { flag.raise(since) };
}

/// Has every worker ended, or is about to?
pub(super) fn all_have_ended(shared: &Shared) -> bool {
    shared.workers.iter().all(|worker| worker.spent.ended.load(Relaxed))
}
