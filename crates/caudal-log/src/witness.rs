//! A discipline that is watched: every call and answer is told to a witness.
//! Hosts that write a log wrap their discipline in it.
//!
//! The witness stands between a host and a discipline: it hears of each event before the discipline does, and of each call that
//! the discipline makes on its pool. The discipline is the same code, the host as well; a host that is not watched runs
//! the discipline itself and pays nothing.

use std::ops::Range;

use caudal_policy::discipline::{Discipline, End, Intake, Lane, Order, Pool, Stopped, lanes};
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

use crate::Entry;

/// A listener that hears what a discipline sees and decides.
pub trait Witness {
    /// An event comes to the discipline.
    fn event(&self, event: Entry);
    /// The discipline decides.
    fn decision(&self, decision: Entry);
    /// The discipline has dealt with the event.
    fn end(&self);
    /// The discipline answered how many unstarted tasks should come in.
    fn intake(&self, answer: Intake);
}

/// The discipline `D`, watched by `W`.
#[derive(Clone, Debug)]
pub struct Watched<D, W> {
    discipline: D,
    witness: W,
}

impl<D, W> Watched<D, W> {
    /// `discipline` under the eyes of `witness`.
    pub fn new(discipline: D, witness: W) -> Watched<D, W> {
        Watched { discipline, witness }
    }

    /// The listener that watches.
    pub fn witness(&self) -> &W {
        &self.witness
    }
}

impl<D: Discipline, W: Witness> Watched<D, W> {
    /// The discipline deals with `event` by `react`.
    fn witnessed<P: Pool>(
        &mut self,
        event: Entry,
        pool: &mut P,
        react: impl FnOnce(&mut D, &mut Overheard<'_, P, W>),
    ) {
        self.witness.event(event);
        react(&mut self.discipline, &mut Overheard { pool, witness: &self.witness });
        self.witness.end();
    }
}

impl<D: Discipline, W: Witness> Discipline for Watched<D, W> {
    const TIES: bool = D::TIES;

    fn lanes(&self) -> u32 {
        self.discipline.lanes()
    }

    fn order(&self) -> Order {
        self.discipline.order()
    }

    fn stealable_lane(&self) -> Lane {
        self.discipline.stealable_lane()
    }

    fn clairvoyant(&self) -> bool {
        self.discipline.clairvoyant()
    }

    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        let event = Entry::Arrival { now_ps: now.0, task: task.0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_arrival(now, task, pool));
    }

    fn on_successor(&mut self, now: Instant, task: TaskId, free: WorkerId, pool: &mut impl Pool) {
        let event = Entry::Arrival { now_ps: now.0, task: task.0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_successor(now, task, free, pool));
    }

    fn on_free(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let event = Entry::Free { now_ps: now.0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_free(now, worker, pool));
    }

    fn on_stopped(
        &mut self,
        now: Instant,
        worker: WorkerId,
        task: TaskId,
        why: Stopped,
        pool: &mut impl Pool,
    ) {
        let attained_ps = pool.attained_at_rest(task).0;
        let event = Entry::Stopped { now_ps: now.0, task: task.0, attained_ps, why: why.into() };
        self.witnessed(event, pool, |discipline, pool| discipline.on_stopped(now, worker, task, why, pool));
    }

    fn on_completed(&mut self, now: Instant, worker: WorkerId, task: TaskId, pool: &mut impl Pool) {
        let event =
            Entry::Completed { now_ps: now.0, task: task.0, attained_ps: pool.attained_at_rest(task).0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_completed(now, worker, task, pool));
    }

    fn on_moved(&mut self, now: Instant, task: TaskId, more: u32, pool: &mut impl Pool) {
        let attained_ps = pool.attained_at_rest(task).0;
        let event = Entry::Moved { now_ps: now.0, task: task.0, more, attained_ps };
        self.witnessed(event, pool, |discipline, pool| discipline.on_moved(now, task, more, pool));
    }

    fn intake(&self, pool: &impl Pool) -> Intake {
        let answer = self.discipline.intake(pool);
        self.witness.intake(answer);
        answer
    }

    fn on_blocked(&mut self, now: Instant, worker: WorkerId, task: TaskId, pool: &mut impl Pool) {
        let event =
            Entry::Blocked { now_ps: now.0, task: task.0, attained_ps: pool.attained_at_rest(task).0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_blocked(now, worker, task, pool));
    }

    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        let event = Entry::Ready { now_ps: now.0, task: task.0 };
        self.witnessed(event, pool, |discipline, pool| discipline.on_ready(now, task, pool));
    }

    // Cores that come and go have no entries yet: no host that is watched has them.
    fn on_workers(&mut self, count: u32) {
        self.discipline.on_workers(count);
    }

    fn on_gone(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        self.discipline.on_gone(now, worker, pool);
    }

    fn tie(&self, seat: u32) -> u64 {
        self.discipline.tie(seat)
    }

    fn may_steal(&self, seat: u32) -> bool {
        self.discipline.may_steal(seat)
    }

    fn check(&self, pool: &impl Pool) -> Result<(), lanes::Broken> {
        self.discipline.check(pool)
    }
}

/// A host's pool, whose calls the witness hears.
struct Overheard<'a, P, W> {
    pool: &'a mut P,
    witness: &'a W,
}

impl<P: Pool, W: Witness> Pool for Overheard<'_, P, W> {
    fn idle(&self) -> Option<WorkerId> {
        self.pool.idle()
    }

    fn len(&self, lane: Lane) -> u32 {
        self.pool.len(lane)
    }

    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId> {
        self.pool.idle_among(seats)
    }

    fn waiting_lanes(&self) -> u64 {
        self.pool.waiting_lanes()
    }

    fn head(&self, lane: Lane) -> Option<TaskId> {
        self.pool.head(lane)
    }

    fn key(&self, task: TaskId) -> u64 {
        self.pool.key(task)
    }

    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let taken = self.pool.take(lane);
        if let Some(task) = taken {
            self.witness.decision(Entry::Take { lane, task: task.0 });
        }
        taken
    }

    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        self.witness.decision(Entry::Enqueue { task: task.0, lane, at_head: end == End::Head });
        self.pool.enqueue(task, lane, end);
    }

    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        self.witness.decision(Entry::EnqueueBy { task: task.0, lane, key });
        self.pool.enqueue_by(task, lane, key);
    }

    fn run(&mut self, worker: WorkerId, task: TaskId, quantum: Picos) {
        self.witness.decision(Entry::Run { task: task.0, quantum_ps: quantum.0 });
        self.pool.run(worker, task, quantum);
    }

    fn resume(&mut self, worker: WorkerId, quantum: Picos) {
        self.witness.decision(Entry::Resume { quantum_ps: quantum.0 });
        self.pool.resume(worker, quantum);
    }

    fn preempt(&mut self, worker: WorkerId) -> bool {
        let granted = self.pool.preempt(worker);
        self.witness.decision(Entry::Preempt { worker: worker.0, granted });
        granted
    }

    fn seat(&self, worker: WorkerId) -> u32 {
        self.pool.seat(worker)
    }

    fn worker(&self, seat: u32) -> WorkerId {
        self.pool.worker(seat)
    }

    fn workers(&self) -> u32 {
        self.pool.workers()
    }

    fn present(&self) -> u32 {
        self.pool.present()
    }

    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)> {
        self.pool.running(i)
    }

    fn preemption_is_free(&self) -> bool {
        self.pool.preemption_is_free()
    }

    fn attained(&self, task: TaskId) -> Picos {
        self.pool.attained(task)
    }

    fn attained_at_rest(&self, task: TaskId) -> Picos {
        self.pool.attained_at_rest(task)
    }

    fn remaining(&self, task: TaskId) -> Picos {
        self.pool.remaining(task)
    }
}
