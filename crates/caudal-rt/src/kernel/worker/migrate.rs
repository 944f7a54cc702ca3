//! Started requests that change their worker. Called by the worker's loop at the end of a quantum, and by its intake.
//!
//! A request may change its worker only where its handler has promised that it may ([`migratable`](crate::task::submit::RequestBuilder::migratable)), the policy steals,
//! and a quantum has ended: then the coroutine is in no critical section but the hook's own, and waits for nothing. A
//! worker that has others to run, and sees one that has none, puts the request back into its own inbox, started, with its
//! coroutine. There it is like any other: a thief takes it on its walk, or else the worker itself does after the next slice.
//!
//! ```text
//!  quantum over ─▶ on_completed ─▶ cell (coroutine, record) ─▶ own inbox ─▶ thief or owner ─▶ on_moved
//! ```
//!
//! *Why no thread uses it at the same time as another.* The owner writes coroutine and record before it pushes the cell, with
//! release ordering, and does not touch it afterwards; whoever pops the cell, with acquire ordering, is its owner from then on. A
//! request in an inbox is not parked, so whoever wakes it only leaves a notice in the state word, and reads nothing of any worker.

use std::sync::atomic::Ordering::Relaxed;

use caudal_policy::discipline::Discipline;
use caudal_policy::{TaskId, WorkerId};

use super::Worker;
use super::pool::Task;
use crate::kernel::shared::Stage;
use crate::request::Request;
use crate::request::coroutine::{Reason, TaskRecord};

impl<D: Discipline> Worker<D> {
    /// May `task`, which has stopped for `reason`, leave, and would anybody take it at once?
    #[inline(always)]
    pub(super) fn is_wanted_elsewhere(&mut self, task: u32, reason: Reason) -> bool {
        let cell = self.pool.task(task).cell;
        // Else the place holds the clean-up of a request that was about to wait.
        let has_room = cell.has_room();
        cell.migratable.get() && reason == Reason::Quantum && has_room && self.has_one_to_spare()
    }

    /// Others wait here, none of them where a thief could take it, and a thief has nothing to do.
    fn has_one_to_spare(&self) -> bool {
        let others = self.shared.workers.iter().enumerate().filter(|&(other, _)| other != self.number);
        self.pool.waiting > 0
            && self.stackless.is_empty()
            && self.me.inbox.is_empty()
            && others.map(|(_, worker)| &worker.board.idle_since).any(|since| since.load(Relaxed) != 0)
    }

    /// Puts the stopped `task` into the inbox, with its coroutine; `false` if there is no room: it stays.
    #[cold]
    pub(super) fn offer(&mut self, task: u32, time: u64) -> bool {
        let entry = self.pool.task(task);
        let (cell, quanta) = (entry.cell, entry.quanta);
        let Some(mut coroutine) = entry.fiber.take() else { return false };
        let Task { attained, preemptions, depth, parks, .. } = *entry;
        coroutine.record = TaskRecord { attained, quanta, preemptions, depth, parks };
        cell.leave_coroutine(coroutine);
        let own = self.me;
        own.mail.started.fetch_add(1, Relaxed);
        if own.inbox.push(cell, time).is_err() {
            own.mail.started.fetch_sub(1, Relaxed);
            // SAFETY: no inbox has taken the request.
            self.pool.task(task).fiber = unsafe { cell.take_coroutine() };
            return false;
        }
        self.pool.running = None;
        let (instant, me) = (self.shared.clock.instant(time), WorkerId(self.number as u32));
        self.discipline.on_completed(instant, me, TaskId(task), &mut self.pool);
        self.pool.forget(task);
        self.count_inside(-1, quanta);
        true
    }

    /// A started request has come out of an inbox: it is this worker's from now on.
    #[cold]
    pub(super) fn admit_started(&mut self, cell: Request, time: u64) {
        self.me.mail.started.fetch_sub(1, Relaxed);
        // SAFETY: the request has come out of an inbox.
        let Some(coroutine) = (unsafe { cell.take_coroutine() }) else {
            unreachable!("a started request in an inbox has its coroutine with it")
        };
        let TaskRecord { attained, quanta, preemptions, depth, parks } = coroutine.record;
        let task = self.pool.admit(cell);
        cell.task.set(task);
        if self.stage >= Stage::Cancelling {
            // It was in an inbox when the worker's other requests were cancelled.
            cell.state.cancel_own();
        }
        let entry = self.pool.task(task);
        (entry.attained, entry.quanta, entry.preemptions) = (attained, quanta, preemptions);
        (entry.depth, entry.parks) = (depth, parks);
        (entry.fiber, entry.started) = (Some(coroutine), true);
        self.count_inside(1, quanta);
        self.discipline.on_moved(self.shared.clock.instant(time), TaskId(task), 0, &mut self.pool);
    }

    /// One more request inside, or one less, with so many quanta.
    fn count_inside(&mut self, one: i32, quanta: u32) {
        self.counts.inside = self.counts.inside.wrapping_add_signed(one);
        self.counts.quanta = self.counts.quanta.wrapping_add_signed(i64::from(one) * i64::from(quanta));
        let board = self.board();
        board.inside.store(self.counts.inside, Relaxed);
        board.quanta.store(self.counts.quanta, Relaxed);
    }
}
