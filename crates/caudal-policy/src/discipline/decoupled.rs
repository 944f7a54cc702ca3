//! The steps of SQD-SITA and ISQD-SITA: Algorithm 1 of Q-Zilla, driven by the events of a pool.
//!
//! [`Lanes`] answers which lane a server joins and whom an arrival interrupts; this file turns events into questions,
//! and answers into what the host is to do. Three things are not obvious:
//!
//! * A task that stops counts as waiting in its lane already: if its server would take it again, it goes on, and
//!   nothing is paid (an *elided* preemption).
//! * A task that an arrival interrupts goes back under the number that it has, before all tasks that wait in its
//!   lane; behind them, it could finish later than under ganged lanes (the paper's corollary 1).
//! * When a host says that it is too late to interrupt a task, because the task stops by itself, the discipline decides
//!   after that stop which server has to leave its lane. Where order matters to the last picosecond
//!   ([`Discipline::TIES`]), all tasks that stop at a time stop before any request arrives, and it is never too late.

use super::lanes::{Broken, Entries, Lanes};
use super::sita::{Cutoffs, SitaConfig};
use super::{Discipline, Lane, Order, Pool, Stopped};
use crate::{Instant, TaskId, WorkerId};

/// The state machine that SQD-SITA and ISQD-SITA share; only the latter is `INTERRUPTIBLE`: its servers never rest while tasks wait, and
/// arrivals take back what they should not have.
#[derive(Clone, Debug)]
pub struct Decoupled<const INTERRUPTIBLE: bool> {
    lanes: Lanes,
    cutoffs: Cutoffs,
    entries: Entries,
    /// The seat of a worker that has to decide before the discipline decides which task the last arrivals interrupt: the task of
    /// this worker stops by itself now, or has completed.
    due: Option<u32>,
}

impl<const INTERRUPTIBLE: bool> Decoupled<INTERRUPTIBLE> {
    /// A pool with the lanes of `config`.
    ///
    /// # Panics
    /// If `config` is at [fault](SitaConfig::fault).
    pub fn new(config: SitaConfig) -> Self {
        let (cutoffs, lanes) = (Cutoffs::new(&config), Lanes::new(&config.reservations));
        Decoupled { lanes, cutoffs, entries: Entries::default(), due: None }
    }

    /// The lane that a free server joins, if any.
    #[inline(always)]
    fn choose(&self, waiting: u64) -> Option<Lane> {
        if waiting == 0 {
            return None;
        }
        match INTERRUPTIBLE {
            true => self.lanes.within_or_beyond_bounds(waiting),
            false => self.lanes.within_bounds(waiting),
        }
    }

    /// The lanes, a bit each, with waiting tasks to which no worker is on its way; a task of `own` counts as waiting.
    #[inline(always)]
    fn unserved(&self, own: Lane, pool: &impl Pool) -> u64 {
        let waiting = pool.waiting_lanes() | 1 << own;
        if self.lanes.all_have_come() {
            return waiting;
        }
        let promised = |&lane: &Lane| self.lanes.promised(lane) >= pool.len(lane) + u32::from(lane == own);
        (0..self.lanes.count()).filter(promised).fold(waiting, |waiting, lane| waiting & !(1 << lane))
    }

    /// Calls a server to lane 0, if one has to give way; `true` if it comes.
    #[inline(always)]
    fn interrupt(&mut self, pool: &mut impl Pool) -> bool {
        let Some(seat) = self.lanes.to_interrupt() else { return false };
        let comes = pool.preempt(pool.worker(seat));
        if comes {
            self.lanes.call(seat);
        } else {
            self.due = Some(seat);
        }
        comes
    }

    /// The worker of `seat` has decided what to do; if arrivals waited for that, they interrupt a task now, if they may.
    #[inline(always)]
    fn decided(&mut self, seat: u32, pool: &mut impl Pool) {
        if !INTERRUPTIBLE || self.due != Some(seat) {
            return;
        }
        self.due = None;
        for _ in self.lanes.promised(0)..pool.len(0) {
            if self.due.is_none() {
                self.interrupt(pool);
            }
        }
    }

    #[inline(always)]
    fn run(&mut self, worker: WorkerId, task: TaskId, (lane, entry): (Lane, u64), pool: &mut impl Pool) {
        self.lanes.join(pool.seat(worker), lane, entry);
        let quantum = self.cutoffs.quantum(lane, pool.attained_at_rest(task));
        pool.run(worker, task, quantum);
    }
}

impl<const INTERRUPTIBLE: bool> Discipline for Decoupled<INTERRUPTIBLE> {
    const TIES: bool = true;

    fn lanes(&self) -> u32 {
        self.cutoffs.lanes()
    }

    fn order(&self) -> Order {
        Order::Entry
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        let entry = self.entries.enter();
        let idle = pool.idle();
        if let Some(worker) = idle
            && pool.len(0) == 0
        {
            return self.run(worker, task, (0, entry), pool);
        }
        pool.enqueue_by(task, 0, entry);
        if let Some(worker) = idle {
            return self.on_free(now, worker, pool);
        }
        if INTERRUPTIBLE {
            self.interrupt(pool);
        }
    }

    /// A server that is free is like one that idles at lane 0: no task is interrupted before it has chosen.
    fn on_successor(&mut self, now: Instant, task: TaskId, free: WorkerId, pool: &mut impl Pool) {
        if pool.idle().is_some() {
            return self.on_arrival(now, task, pool);
        }
        let entry = self.entries.enter();
        pool.enqueue_by(task, 0, entry);
        if INTERRUPTIBLE {
            self.due = Some(pool.seat(free));
        }
    }

    #[inline(always)]
    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let seat = pool.seat(worker);
        self.lanes.arrive(seat);
        if let Some(lane) = self.choose(pool.waiting_lanes())
            && let Some(task) = pool.take(lane)
        {
            let entry = pool.key(task);
            self.run(worker, task, (lane, entry), pool);
        }
        self.decided(seat, pool);
    }

    #[inline(always)]
    fn on_stopped(
        &mut self,
        _now: Instant,
        worker: WorkerId,
        task: TaskId,
        _why: Stopped,
        pool: &mut impl Pool,
    ) {
        let (seat, attained) = (pool.seat(worker), pool.attained_at_rest(task));
        let entry = self.lanes.entry(seat);
        let left = self.lanes.leave(seat);
        let lane = self.cutoffs.advance(left, attained);
        let entry = if lane == left { entry } else { self.entries.enter() };
        let next = self.choose(self.unserved(lane, pool));
        if next == Some(lane) && pool.head(lane).is_none_or(|head| entry < pool.key(head)) {
            self.lanes.join(seat, lane, entry);
            pool.resume(worker, self.cutoffs.quantum(lane, attained));
            return self.decided(seat, pool);
        }
        if !pool.preemption_is_free() {
            self.lanes.depart(seat, next);
        }
        pool.enqueue_by(task, lane, entry);
    }

    #[inline(always)]
    fn on_completed(&mut self, _now: Instant, worker: WorkerId, _task: TaskId, pool: &mut impl Pool) {
        self.lanes.leave(pool.seat(worker));
    }

    fn on_moved(&mut self, _now: Instant, task: TaskId, more: u32, pool: &mut impl Pool) {
        let entry = self.entries.enter_before(more);
        pool.enqueue_by(task, 0, entry);
    }

    fn on_workers(&mut self, count: u32) {
        self.lanes.share_out(count);
    }

    /// Others are interrupted in its place, as long as they keep tasks waiting that they should not.
    fn on_gone(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let seat = pool.seat(worker);
        self.lanes.arrive(seat);
        if !INTERRUPTIBLE {
            return;
        }
        self.due = self.due.filter(|&due| due != seat);
        while self.due.is_none()
            && self.lanes.keeps_others_waiting(|lane| pool.len(lane))
            && self.interrupt(pool)
        {}
    }

    fn tie(&self, seat: u32) -> u64 {
        self.lanes.tie(seat)
    }

    fn check(&self, pool: &impl Pool) -> Result<(), Broken> {
        if self.due.is_some() {
            return Ok(());
        }
        self.lanes.check(INTERRUPTIBLE, pool.present(), |lane| pool.len(lane))
    }
}
