//! Intake of a worker: it takes in all that has come since its last poll, which is coroutines that can go on, times that are due, and
//! requests. Called by the worker's loop, before it asks its discipline.

use std::sync::atomic::Ordering::Relaxed;

use caudal_policy::TaskId;
use caudal_policy::discipline::{Discipline, Intake as Wanted};

use super::Worker;
use crate::drive::source::{BATCH, Intake, Polled, Seen};
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
            self.poll_source(time);
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

    /// Are there requests that have not started?
    #[inline(always)]
    pub(super) fn has_unstarted(&self) -> bool {
        self.pool.fresh > 0 || !self.me.inbox.is_empty()
    }

    /// Is the worker's own source to be polled now? See [`Source`](crate::Source).
    #[inline]
    fn is_source_due(&mut self, time: u64) -> bool {
        if self.has_unstarted() && self.passed_over < BATCH {
            self.passed_over += 1;
            return false;
        }
        let has_others = self.pool.waiting > 0 || self.pool.running.is_some() || self.pool.next.is_some();
        !has_others || self.context.source.is_over(time)
    }

    /// Takes in what the worker's own source has, if there is room in the inbox.
    fn poll_source(&mut self, time: u64) {
        if !self.is_source_due(time) {
            return;
        }
        let Some(source) = &mut self.source else { return };
        let inbox = &self.me.inbox;
        let unstarted = inbox.len();
        let room = inbox.capacity() - unstarted;
        // SAFETY: this is the worker, where it schedules.
        if room == 0 || self.shared.sinks.iter().any(|sink| unsafe { sink.is_full(self.number) }) {
            return;
        }
        self.passed_over = 0;
        let (fresh, pool) = (self.pool.fresh as usize, &self.pool);
        let seen = Seen {
            between_slices: self.idle_since == 0,
            unstarted: unstarted + fresh,
            waiting: (pool.waiting as usize).saturating_sub(fresh) + usize::from(pool.running.is_some()),
        };
        let mut intake = Intake::new(&mut self.batch, &mut self.next_number, self.shared.of, room, seen);
        let polled = match self.stage {
            Stage::Running => source.poll_when_due(&mut intake, &self.context.source, time),
            _ => Polled::Over,
        };
        if polled == Polled::Over {
            self.context.source.never();
            self.source = None;
        }
        let has_brought = !self.batch.is_empty();
        self.source_worked |= polled == Polled::Worked || has_brought;
        let mut batch = std::mem::take(&mut self.batch);
        for cell in batch.drain(..) {
            // SAFETY: the source has just made the request.
            unsafe { cell.state.place_unshared(self.shared.place(self.number as u16)) };
            self.put_into_own(cell, cell.arrival.load(Relaxed));
        }
        self.batch = batch;
        // A descriptor has woken this thread, which wakes no others: they may still sleep.
        if has_brought {
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
