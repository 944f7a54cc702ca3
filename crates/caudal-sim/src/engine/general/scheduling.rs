//! The trait between the host of the general loop and its pools: what the host asks of a pool at arrivals, ends of slices and steals.
//! `step`, `fluid` and the short cuts `rings` and `lines` implement it; `host` calls it.

use super::core::Core;
use crate::engine::kernel::observe::Sink;

/// The meaning of an event of a running worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Expired {
    /// This task has completed.
    Completed(u32),
    /// The worker goes on with the same task.
    Resumed,
    /// The task is back in a lane; the worker begins the next.
    Preempted,
}

/// All pools of a host, under one kind of discipline.
pub(in crate::engine) trait Scheduling {
    /// Does it read [`Core::idle`]?
    const ASKS_IDLE: bool = true;
    /// Does it have an order of its own for workers whose tasks stop at the same time?
    const TIES: bool = false;

    /// `count` workers of `pool` have a core from now on.
    fn workers_changed(&mut self, _pool: usize, _count: u32) {}
    /// The place of `worker` in that order: the least is first.
    fn tie<O: Sink>(&self, _core: &Core<O>, worker: usize) -> u64 {
        worker as u64
    }
    /// May `worker`, which rests, look for tasks of other pools?
    fn may_steal<O: Sink>(&self, _core: &Core<O>, _worker: usize) -> bool {
        true
    }

    /// A new task joins `pool`; an idle worker of the pool may begin it.
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32);
    /// The event of `worker`, which runs a task, has come.
    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired;
    /// `worker` has nothing to run; does it find something in its pool?
    fn free<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> bool;
    /// Tasks of `pool` that a thief may take: those that have not started.
    fn stealable<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u32;
    /// Takes the oldest of them.
    fn take<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32>;
    /// A task from another pool joins at the front; the youngest comes first, `more` older ones follow.
    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32, more: u32);
    /// `worker`, which runs a task, stands still for `cost_ps` more.
    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64);
    /// When the oldest waiting task of `pool` arrived.
    fn oldest_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u64>;
    /// Quanta that the current tasks of `pool` have received.
    fn serviced_quanta<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64;
    /// The same if they are more than `bound`.
    #[inline]
    fn serviced_quanta_above<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, bound: u64) -> Option<u64> {
        let quanta = self.serviced_quanta(core, pool);
        (quanta > bound).then_some(quanta)
    }
    /// Work left in `pool`.
    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64;
    /// Work that `worker` has done and that is not accounted for.
    fn unaccounted_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64;
    /// Tasks that wait, in all pools.
    fn queued<O: Sink>(&mut self, core: &mut Core<O>) -> u32;
    /// Are there tasks, fresh or not, that wait in `pool`?
    fn has_waiting(&self, pool: usize) -> bool;
    /// Tells the observer of pools that are not as their discipline promises.
    fn check<O: Sink>(&mut self, _core: &mut Core<O>) {}
    /// Time that waited-behind-long accounts have collected, by class, in ps.
    fn behind_long_ps<O: Sink>(&mut self, _core: &Core<O>) -> Vec<f64> {
        Vec::new()
    }
}
