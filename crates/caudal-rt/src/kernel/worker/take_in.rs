//! Intake of a worker: it takes in all that has come since its last poll, which is coroutines that can go on, times that are due, and
//! requests. Called by the worker's loop, before it asks its discipline.

use std::sync::atomic::Ordering::Relaxed;

use caudal_policy::TaskId;
use caudal_policy::discipline::{Discipline, Intake as Wanted};

use super::Worker;
use crate::drive::source::Intake;
use crate::kernel::shared::{Admission, Stage};
use crate::request::Request;

impl<D: Discipline> Worker<D> {
    /// Takes in what has come; a few loads when nothing has.
    #[inline(always)]
    pub(super) fn take_in(&mut self, time: u64) {
        let notice = self.shared.notice();
        if notice != self.notice {
            self.take_notice(notice);
        }
        if !self.me.mail.woken.is_empty() {
            self.take_in_woken(time);
        }
        if self.context.timers.borrow().first_due() <= time {
            self.ring_timers(time);
        }
        if self.source.is_some() {
            self.poll_source();
        }
        self.take_in_requests(time);
    }

    fn take_in_woken(&mut self, time: u64) {
        let instant = self.shared.clock.instant(time);
        for cell in self.me.mail.woken.take_all().reversed() {
            // SAFETY: addresses of cells are pushed there.
            let cell = unsafe { Request::of(cell) };
            // SAFETY: it has been taken off the list.
            unsafe { cell.state.unpark() };
            let task = cell.task.get();
            if self.pool.task(task).cell == cell {
                self.discipline.on_ready(instant, TaskId(task), &mut self.pool);
            }
        }
    }

    #[cold]
    fn ring_timers(&mut self, time: u64) {
        loop {
            let due = self.context.timers.borrow_mut().pop_due(time);
            let Some(timer) = due else { break };
            let entry = self.pool.task(timer.task);
            // Another task of the same name that has parked as often is woken for no reason, as parks allow.
            if entry.parks == timer.parks + 1 && entry.fiber.is_some() {
                self.shared.wake(entry.cell);
            }
        }
        self.take_in_woken(time);
    }

    /// Takes in what the worker's own source has.
    fn poll_source(&mut self) {
        let Some(source) = &mut self.source else { return };
        // SAFETY: this is the worker, where it schedules.
        if self.shared.sinks.iter().any(|sink| unsafe { sink.is_full(self.number) }) {
            return;
        }
        let running = self.stage == Stage::Running;
        let busy = self.idle_since == 0;
        let mut intake = Intake::new(&mut self.batch, &mut self.next_number, busy, self.shared.of);
        if !(running && source.poll(&mut intake)) {
            self.source = None;
        }
        let mut has_brought = false;
        for cell in std::mem::take(&mut self.batch).drain(..) {
            // SAFETY: the source has just made the request.
            unsafe { cell.state.place_unshared(self.shared.place(self.number as u16)) };
            self.put_into_own(cell, cell.arrival.load(Relaxed));
            has_brought = true;
        }
        // A descriptor has woken this thread, which wakes no others: they may still sleep.
        if has_brought && self.shared.event_count.sleepers() != 0 {
            self.shared.wake_sleepers();
        }
    }

    /// Requests from the inbox, as many as the discipline wants now. Those that it leaves there, others may take.
    #[inline(always)]
    fn take_in_requests(&mut self, time: u64) {
        loop {
            match self.discipline.intake(&self.pool) {
                Wanted::None => return,
                Wanted::Next if self.pool.fresh > 0 || self.pool.next.is_some() => return,
                Wanted::Next | Wanted::All if !self.stackless.is_empty() => {
                    self.try_for_stack(time);
                    // Started ones bring their stacks along.
                    if self.me.mail.started.load(Relaxed) == 0 {
                        return;
                    }
                }
                Wanted::Next | Wanted::All => {}
            }
            let Some((cell, _)) = self.me.inbox.pop() else { return };
            self.admit(cell, time);
        }
    }

    /// The request is this worker's from now on, unless it has ended, or has to.
    #[inline(always)]
    pub(super) fn admit(&mut self, cell: Request, time: u64) {
        cell.fetch_to_start();
        let header = cell;
        // SAFETY: the request has come out of an inbox.
        match unsafe { self.shared.admits(cell, self.stage, time) } {
            Admission::Waits => {}
            Admission::Started => return self.admit_started(cell, time),
            Admission::Ended => return,
        }
        let task = self.pool.admit(cell);
        header.task.set(task);
        self.counts.inside += 1;
        self.board().inside.store(self.counts.inside, Relaxed);
        let instant = self.shared.clock.instant(time);
        self.discipline.on_arrival(instant, TaskId(task), &mut self.pool);
    }
}
