//! Preemption by flag: for handlers whose probes look at a flag instead of a clock, the dispatcher looks at the clock for them.
//!
//! A worker says when the quantum of its request is due. The dispatcher raises its flag when that is over and others wait there:
//! at the end of a quantum, or, where the request had the worker for itself, when another one arrives (preemption on arrival).
//! The request yields at its next probe. A request that nobody waits for is asked now and then, so that its worker shows that it
//! is not stuck; all are asked when the runtime moves on to another stage.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::shared::{Shared, Stage};

/// Workers that are looked at in one round of the dispatcher.
const LOOKS: usize = 4;

/// See the [module](self).
pub(super) struct Timekeeper {
    /// By worker: the due time for which its flag was raised last.
    raised_for: Box<[u64]>,
    next: usize,
    stage: Stage,
    /// Cycles after which a request is asked though nobody waits.
    now_and_then: u64,
}

impl Timekeeper {
    pub(super) fn new(shared: &Shared) -> Timekeeper {
        Timekeeper {
            raised_for: vec![0; shared.workers.len()].into(),
            next: 0,
            stage: Stage::Running,
            now_and_then: shared.clock.cycles_of(shared.settings.stuck_after) / 4,
        }
    }

    /// Looks at some workers, in turn. `unfinished`: requests at a worker, begun or not.
    pub(super) fn look(&mut self, shared: &Shared, time: u64, unfinished: impl Fn(usize) -> u32) {
        let stage = shared.stage();
        if stage != self.stage {
            self.stage = stage;
            (0..shared.workers.len()).for_each(|worker| raise(shared, worker, time));
        }
        for _ in 0..LOOKS.min(shared.workers.len()) {
            let worker = self.next;
            self.next = (worker + 1) % shared.workers.len();
            self.look_at(shared, worker, time, unfinished(worker) > 1 || stage != Stage::Running);
        }
    }

    fn look_at(&mut self, shared: &Shared, worker: usize, time: u64, others_wait: bool) {
        let other = &shared.workers[worker];
        let due = other.spent.due.load(Acquire);
        let patience = if others_wait { 0 } else { self.now_and_then };
        if due.saturating_add(patience) <= time && self.raised_for[worker] != due {
            self.raised_for[worker] = due;
            raise(shared, worker, time);
        }
    }
}

fn raise(shared: &Shared, worker: usize, time: u64) {
    let flag = &shared.workers[worker].mail.probe_flag;
    // SAFETY: a worker lends its thread's flag, and takes it back before its thread ends. Only the dispatcher raises flags.
    unsafe { flag.raise(time) };
}

/// Has every worker ended, or is about to?
pub(super) fn all_have_ended(shared: &Shared) -> bool {
    shared.workers.iter().all(|worker| worker.spent.ended.load(Relaxed))
}
