//! Preemptive SITA, ganged: lanes for short and long tasks, each with servers of its own.
//!
//! ## What it does
//! Every task starts in lane 0 and moves to the tail of the next lane when it has run for as long as the lane's cutoff;
//! in the last lane it runs to completion. The first workers of the pool serve lane 0, the next ones lane 1, and so on,
//! each lane first come first served. With one server a lane it is preemptive SITA, with more the lanes are *ganged*.
//! ## When it helps
//! Service times that differ a lot, unknown beforehand: short tasks never wait behind long ones.
//! ## When it hurts
//! Servers of one lane rest while tasks wait in another; every task that passes a cutoff changes its server. As a line to
//! compare with: SQD-SITA is never later.
//! ## Parameters
//! * `cutoffs`: where lanes end, in time that a task has run, such as `["2us", "40us"]`.
//! * `reservations`: servers of each lane; their sum is the number of workers of a pool.
//! ## Source
//! Mirhosseini et al., HPCA 2020, section 3.1.
//! ## Example
//! `discipline = { policy = "preemptive-sita", cutoffs = ["2us", "40us"], reservations = [13, 2, 1] }`

use alloc::boxed::Box;
use alloc::vec;
use core::ops::Range;

use super::lanes::{Broken, Entries, Lanes};
use super::sita::{Cutoffs, SitaConfig};
use super::{Discipline, Lane, Order, Pool, Stopped};
use crate::{Instant, TaskId, WorkerId};

/// The state machine of one pool; what it does is in the [module](self). The engine of the simulator, or a worker of the runtime, tells it of
/// arrivals, ends of slices and completions; it answers by calls on the host's pool, and touches nothing else.
#[derive(Clone, Debug)]
pub struct PreemptiveSita {
    cutoffs: Cutoffs,
    /// By lane: the seat after its last one.
    end: [u32; Lanes::MAX],
    /// By seat: the number, among all that entered a lane, of the task that it runs, or ran last.
    entry: Box<[u64]>,
    entries: Entries,
}

impl PreemptiveSita {
    /// A pool with the lanes of `config`.
    ///
    /// # Panics
    /// If `config` is at [fault](SitaConfig::fault).
    pub fn new(config: SitaConfig) -> PreemptiveSita {
        let mut end = [0; Lanes::MAX];
        let mut sum = 0;
        for (end, reservations) in end.iter_mut().zip(config.reservations.iter()) {
            sum += reservations;
            *end = sum;
        }
        let entry = vec![0; sum as usize].into_boxed_slice();
        PreemptiveSita { cutoffs: Cutoffs::new(&config), end, entry, entries: Entries::default() }
    }

    fn seats(&self, lane: Lane) -> Range<u32> {
        let start = if lane == 0 { 0 } else { self.end[lane as usize - 1] };
        start..self.end[lane as usize]
    }

    fn lane_of(&self, seat: u32) -> Lane {
        (0..self.cutoffs.lanes()).find(|&lane| seat < self.end[lane as usize]).expect("a seat of a lane")
    }

    /// `task` joins `lane` as number `entry`, and runs if a server of the lane has nothing to do.
    #[inline]
    fn offer(&mut self, task: TaskId, lane: Lane, entry: u64, pool: &mut impl Pool) {
        let idle = pool.idle_among(self.seats(lane));
        if let Some(worker) = idle
            && pool.len(lane) == 0
        {
            return self.run(worker, task, lane, entry, pool);
        }
        pool.enqueue_by(task, lane, entry);
        if let Some(worker) = idle {
            self.next(worker, lane, pool);
        }
    }

    #[inline]
    fn next(&mut self, worker: WorkerId, lane: Lane, pool: &mut impl Pool) {
        if let Some(task) = pool.take(lane) {
            let entry = pool.key(task);
            self.run(worker, task, lane, entry, pool);
        }
    }

    #[inline]
    fn run(&mut self, worker: WorkerId, task: TaskId, lane: Lane, entry: u64, pool: &mut impl Pool) {
        self.entry[pool.seat(worker) as usize] = entry;
        let quantum = self.cutoffs.quantum(lane, pool.attained(task));
        pool.run(worker, task, quantum);
    }
}

impl Discipline for PreemptiveSita {
    const TIES: bool = true;

    fn lanes(&self) -> u32 {
        self.cutoffs.lanes()
    }

    fn order(&self) -> Order {
        Order::Entry
    }

    fn on_arrival(&mut self, _now: Instant, task: TaskId, pool: &mut impl Pool) {
        let entry = self.entries.enter();
        self.offer(task, 0, entry, pool);
    }

    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let lane = self.lane_of(pool.seat(worker));
        self.next(worker, lane, pool);
    }

    fn on_stopped(
        &mut self,
        _now: Instant,
        worker: WorkerId,
        task: TaskId,
        _why: Stopped,
        pool: &mut impl Pool,
    ) {
        let lane = self.lane_of(pool.seat(worker));
        let entry = self.entries.enter();
        let next = self.cutoffs.advance(lane, pool.attained(task));
        self.offer(task, next, entry, pool);
    }

    fn on_moved(&mut self, _now: Instant, task: TaskId, more: u32, pool: &mut impl Pool) {
        let entry = self.entries.enter_before(more);
        pool.enqueue_by(task, 0, entry);
    }

    fn tie(&self, seat: u32) -> u64 {
        self.entry[seat as usize]
    }

    /// Moved tasks are new ones, which only lane 0 serves.
    fn may_steal(&self, seat: u32) -> bool {
        seat < self.end[0]
    }

    fn check(&self, pool: &impl Pool) -> Result<(), Broken> {
        let idle_while_tasks_wait =
            |&lane: &Lane| pool.len(lane) > 0 && pool.idle_among(self.seats(lane)).is_some();
        (0..self.cutoffs.lanes()).find(idle_while_tasks_wait).map_or(Ok(()), |lane| Err(Broken::Lower(lane)))
    }
}
