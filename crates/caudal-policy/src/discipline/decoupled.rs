//! The steps of SQD-SITA and ISQD-SITA: Algorithm 1 of Q-Zilla, driven by the events of a pool.
//!
//! [`Lanes`] answers which lane a server joins and whom an arrival interrupts; this file turns events into questions,
//! and answers into what the host is to do. Three things are not obvious:
//!
//! * A task that stops is thought of as waiting in its lane already: if its server would take it again, it goes on, and
//!   nothing is paid (an *elided* preemption).
//! * A task that an arrival interrupts goes back under the number that it has, which is before all that wait in its
//!   lane; behind them, it could finish later than under ganged lanes (the paper's corollary 1).
//! * A worker that is called to lane 0 stays called until it is free, whatever ends its task. If it reaches its cutoff
//!   at the very time of the arrival, its task moves on to the next lane first.

use super::lanes::{Broken, Entries, Lanes};
use super::sita::{Cutoffs, SitaConfig};
use super::{Discipline, Lane, Order, Pool, Stopped};
use crate::{Instant, TaskId, WorkerId};

/// What SQD-SITA and ISQD-SITA share; only the latter is `INTERRUPTIBLE`: its servers never rest while tasks wait, and
/// arrivals take back what they should not have.
#[derive(Clone, Debug)]
pub struct Decoupled<const INTERRUPTIBLE: bool> {
    lanes: Lanes,
    cutoffs: Cutoffs,
    entries: Entries,
}

impl<const INTERRUPTIBLE: bool> Decoupled<INTERRUPTIBLE> {
    /// A pool with the lanes of `config`.
    ///
    /// # Panics
    /// If `config` is at [fault](SitaConfig::fault).
    pub fn new(config: SitaConfig) -> Self {
        let (cutoffs, lanes) = (Cutoffs::new(&config), Lanes::new(&config.reservations));
        Decoupled { lanes, cutoffs, entries: Entries::default() }
    }

    /// The lane that a free server joins, if any.
    #[inline(always)]
    fn choose(&self, waits: impl Fn(Lane) -> bool) -> Option<Lane> {
        let chosen = self.lanes.within_bounds(&waits);
        if INTERRUPTIBLE && chosen.is_none() { self.lanes.beyond_bounds(&waits) } else { chosen }
    }

    #[inline(always)]
    fn run(&mut self, worker: WorkerId, task: TaskId, (lane, entry): (Lane, u64), pool: &mut impl Pool) {
        self.lanes.join(pool.seat(worker), lane, entry);
        let quantum = self.cutoffs.quantum(lane, pool.attained(task));
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
        if INTERRUPTIBLE && let Some(seat) = self.lanes.to_interrupt() {
            self.lanes.call(seat);
            pool.preempt(pool.worker(seat));
        }
    }

    #[inline(always)]
    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let awaited = self.lanes.arrive(pool.seat(worker));
        let chosen =
            if awaited && pool.len(0) > 0 { Some(0) } else { self.choose(|lane| pool.len(lane) > 0) };
        let Some(lane) = chosen else { return };
        if let Some(task) = pool.take(lane) {
            let entry = pool.key(task);
            self.run(worker, task, (lane, entry), pool);
        }
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
        let (seat, attained) = (pool.seat(worker), pool.attained(task));
        let entry = self.lanes.entry(seat);
        let (left, called) = self.lanes.leave(seat);
        let lane = self.cutoffs.advance(left, attained);
        let entry = if lane == left { entry } else { self.entries.enter() };
        let next = match called && pool.len(0) > 0 {
            true => Some(0),
            false => self.choose(|other| other == lane || pool.len(other) > 0),
        };
        let is_first = pool.head(lane).is_none_or(|head| entry < pool.key(head));
        if next == Some(lane) && is_first {
            self.lanes.join(seat, lane, entry);
            return pool.resume(worker, self.cutoffs.quantum(lane, attained));
        }
        self.lanes.await_server(seat, called);
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

    fn tie(&self, seat: u32) -> u64 {
        self.lanes.tie(seat)
    }

    fn check(&self, pool: &impl Pool) -> Result<(), Broken> {
        self.lanes.check(INTERRUPTIBLE, |lane| pool.len(lane))
    }
}
