//! Elided preemption: a request whose quantum is over goes on at once if no other request of its worker waits. Called by the probe's hook.
//!
//! Its discipline has promised that ([`Discipline::elides`](caudal_policy::discipline::Discipline::elides)), so the probe's hook
//! does not switch to the scheduler and back only to learn it, which takes three times as long. What others see of the worker is
//! brought up to date as if it had.
//!
//! Whether a request waits in the worker's lanes is known when the slice begins, and does not change: only the scheduler puts requests
//! there. What can come from elsewhere is checked each time: inbox, woken coroutines, times, the runtime's stage, the doorbell of the
//! worker's source; and what the running request may have left: replies that are to be sent.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Relaxed, Release};

use caudal_probe as probe;

use crate::board::timeline::OFF;
use crate::kernel::shared::{Notice, Shared};
use crate::request::Request;

/// Knowledge of the present slice. Only the worker's thread touches it.
#[derive(Default)]
pub(crate) struct Elision {
    /// Length of a quantum, in cycles; 0: another request waits, or the discipline promises nothing.
    quantum: Cell<u64>,
    /// The runtime's quantum ([`Shared::quantum`]) when the slice began.
    set_quantum: Cell<u64>,
    notice: Cell<Option<Notice>>,
    /// When the slice began.
    begun: Cell<u64>,
    /// The worker's accounts at that time: cycles on requests, and quanta of unfinished ones.
    busy: Cell<u64>,
    quanta: Cell<u64>,
    /// Quanta that have ended without the scheduler since.
    elided: Cell<u32>,
}

/// The worker's accounts and counts when a slice begins.
pub(crate) struct SliceStart {
    pub(crate) begun: u64,
    pub(crate) busy: u64,
    pub(crate) quanta: u64,
    pub(crate) notice: Notice,
}

/// The request whose quantum is over, as its worker's context knows it.
#[derive(Clone, Copy)]
pub(crate) struct RunningSlice<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) worker: u16,
    pub(crate) cell: Request,
    /// Time when the probe was due, in cycles.
    pub(crate) due: u64,
    /// The first time at which a coroutine of the worker wants to be woken.
    pub(crate) first_due: u64,
    /// The worker's own source is to be polled.
    pub(crate) source_is_due: bool,
}

impl Elision {
    /// A slice begins, of a request behind which others wait, or whose discipline promises nothing.
    #[inline(always)]
    pub(crate) fn forbid(&self) {
        self.quantum.set(0);
    }

    /// A slice begins, of a request behind which none waits in the lanes.
    #[inline]
    pub(crate) fn allow(&self, shared: &Shared, quantum: u64, start: &SliceStart) {
        self.quantum.set(quantum);
        self.set_quantum.set(shared.quantum.load(Relaxed));
        self.notice.set(Some(start.notice));
        self.begun.set(start.begun);
        self.busy.set(start.busy);
        self.quanta.set(start.quanta);
    }

    /// Takes the number of quanta that ended in the slice without the scheduler.
    #[inline(always)]
    pub(crate) fn take_elided(&self) -> u32 {
        self.elided.replace(0)
    }

    /// A quantum of the running request is over. `true`: no other request waits, and the next quantum has begun.
    #[inline]
    pub(crate) fn goes_on(&self, slice: RunningSlice<'_>, noticed: u64) -> bool {
        let quantum = self.quantum.get();
        let RunningSlice { shared, worker: number, cell, due, .. } = slice;
        // Deadline 0: every probe is to yield.
        if quantum == 0 || due == 0 || self.has_work_come(slice, noticed) {
            return false;
        }
        let elided = self.elided.get() + 1;
        self.elided.set(elided);
        let worker = &shared.workers[usize::from(number)];
        if shared.settings.measuring {
            let measured = shared.classes.of_worker(usize::from(number));
            measured.class(cell.class.get()).preempted(noticed.saturating_sub(due));
        }
        if shared.settings.raise_flags {
            worker.spent.due.store(noticed.saturating_add(quantum), Release);
        }
        worker.board.quanta.store(self.quanta.get() + u64::from(elided), Relaxed);
        worker.spent.busy.store(self.busy.get() + (noticed - self.begun.get()), Relaxed);
        worker.spent.accounted.store(noticed, Release);
        // After the account: a reader that sees the later slice sees the time before it there.
        worker.board.slice_start.store(noticed, Release);
        probe::arm(noticed, quantum);
        true
    }

    #[inline]
    fn has_work_come(&self, slice: RunningSlice<'_>, noticed: u64) -> bool {
        let shared = slice.shared;
        let worker = &shared.workers[usize::from(slice.worker)];
        !worker.inbox.is_empty()
            || !worker.mail.woken.is_empty()
            || slice.first_due <= noticed
            || slice.source_is_due
            // SAFETY: the probe's hook is on the worker's thread, in a section.
            || shared.sinks.iter().any(|sink| unsafe { sink.pending(usize::from(slice.worker)) } != 0)
            || self.notice.get() != Some(shared.notice())
            || shared.quantum.load(Relaxed) != self.set_quantum.get()
            || shared.timeline.session() != OFF
    }
}
