//! The limit of small quanta (`quantum = 0`): the workers of a pool are shared out continuously among its tasks. The general loop takes
//! it in place of a discipline with an event for each slice.
//!
//! Processor sharing gives all tasks of a pool the same rate, min(1, workers / tasks). Least attained
//! service fills the tasks with the least service first, each at most at rate 1; equal tasks share. Both
//! are *levels*: groups of tasks that have received the same service (under processor sharing: since they
//! came), of which some rise. A pool has one event, its next completion or meeting of levels, kept at its
//! first worker.
//!
//! Levels are `f64` ps: within a busy period they stay below 2^53, and all sums are made in one fixed
//! order, so that results repeat to the bit.

use super::core::{Core, Phase};
use super::scheduling::{Expired, Scheduling};
use crate::engine::kernel::observe::Sink;
use crate::engine::kernel::source::work_ps;

/// How a pool shares its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Sharing {
    /// Processor sharing.
    Equal,
    /// Least attained service.
    Least,
}

/// Tasks that rise together.
#[derive(Debug)]
struct Level {
    attained_ps: f64,
    /// (level at which it completes, task), the first to complete last.
    tasks: Vec<(f64, u32)>,
    /// Attained service per time, by the last sharing out.
    rate: f64,
}

struct FluidPool {
    workers: f64,
    /// From the least attained up.
    levels: Vec<Level>,
    settled_ps: u64,
}

/// Pools whose workers are shared continuously.
pub(in crate::engine) struct Fluid {
    pools: Box<[FluidPool]>,
    sharing: Sharing,
    stretch: f64,
}

/// Levels closer than this, in ps, are one.
const CLOSE_PS: f64 = 0.5;

impl FluidPool {
    /// Brings all levels to `now_ps`.
    fn settle(&mut self, now_ps: u64) {
        if now_ps <= self.settled_ps {
            return;
        }
        let span_ps = (now_ps - self.settled_ps) as f64;
        for level in &mut self.levels {
            level.attained_ps += level.rate * span_ps;
        }
        self.settled_ps = now_ps;
    }

    /// Joins levels that have met, and shares the workers out.
    fn share_out(&mut self) {
        let mut i = 0;
        while i + 1 < self.levels.len() {
            if self.levels[i + 1].attained_ps - self.levels[i].attained_ps < CLOSE_PS {
                let lower = self.levels.remove(i);
                self.levels[i].join(lower);
            } else {
                i += 1;
            }
        }
        let mut left = self.workers;
        for level in &mut self.levels {
            level.rate = (left / level.tasks.len() as f64).min(1.0);
            left = (left - level.tasks.len() as f64).max(0.0);
        }
    }

    /// Time until a task completes or two levels meet.
    fn next_in_ps(&self) -> Option<f64> {
        let completions = self.levels.iter().filter(|level| level.rate > 0.0).filter_map(|level| {
            let (end_ps, _) = level.tasks.last()?;
            Some((end_ps - level.attained_ps).max(0.0) / level.rate)
        });
        let meetings = self.levels.windows(2).filter_map(|pair| {
            let closing = pair[0].rate - pair[1].rate;
            (closing > 0.0).then(|| (pair[1].attained_ps - pair[0].attained_ps) / closing)
        });
        completions.chain(meetings).min_by(f64::total_cmp)
    }

    /// Takes a task that has completed.
    fn take_done(&mut self) -> Option<u32> {
        for i in 0..self.levels.len() {
            let level = &mut self.levels[i];
            if let Some(&(end_ps, task)) = level.tasks.last()
                && end_ps - level.attained_ps < CLOSE_PS
            {
                level.tasks.pop();
                if level.tasks.is_empty() {
                    self.levels.remove(i);
                }
                return Some(task);
            }
        }
        None
    }
}

impl Level {
    /// Takes in the tasks of a level that has come up to this one.
    fn join(&mut self, lower: Level) {
        for (end_ps, task) in lower.tasks {
            self.insert(end_ps, task);
        }
    }

    fn insert(&mut self, end_ps: f64, task: u32) {
        let place = self.tasks.partition_point(|&(other_ps, _)| other_ps >= end_ps);
        self.tasks.insert(place, (end_ps, task));
    }
}

impl Fluid {
    /// Pools of so many workers each, those that are held; they stay.
    pub(in crate::engine) fn new(sizes: &[u32], sharing: Sharing, stretch: f64) -> Fluid {
        let pool =
            |&workers: &u32| FluidPool { workers: f64::from(workers), levels: Vec::new(), settled_ps: 0 };
        Fluid { pools: sizes.iter().map(pool).collect(), sharing, stretch }
    }

    fn reschedule<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) {
        let shared = &mut self.pools[pool];
        shared.share_out();
        let first = core.workers_of(pool).start;
        let Some(in_ps) = shared.next_in_ps() else { return };
        core.leave_idle(first);
        core.workers[first].phase = Phase::Running;
        // Rounded up: the task has then certainly completed.
        let due_ps = core.now_ps.max(shared.settled_ps) + in_ps.ceil() as u64;
        core.schedule(first, due_ps);
    }
}

impl Scheduling for Fluid {
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        let shared = &mut self.pools[pool];
        shared.settle(core.now_ps);
        if shared.levels.is_empty() {
            shared.settled_ps = shared.settled_ps.max(core.now_ps);
        }
        core.tasks[task].started = true;
        let work_ps = core.tasks[task].remaining_ps as f64;
        match (self.sharing, shared.levels.first_mut()) {
            // Under processor sharing all rise together from wherever they are.
            (Sharing::Equal, Some(level)) => level.insert(level.attained_ps + work_ps, task),
            _ => {
                let fresh = Level { attained_ps: 0.0, tasks: vec![(work_ps, task)], rate: 0.0 };
                shared.levels.insert(0, fresh);
            }
        }
        self.reschedule(core, pool);
    }

    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired {
        let pool = core.workers[worker].pool as usize;
        let shared = &mut self.pools[pool];
        shared.settle(core.now_ps);
        let Some(task) = shared.take_done() else {
            self.reschedule(core, pool);
            return Expired::Resumed;
        };
        core.workers[worker].phase = Phase::Between;
        let work_ps = work_ps(core.tasks[task].service_ps, self.stretch);
        core.account.busy_ps += u128::from(work_ps);
        // A completion is rounded to a whole ps; sojourn must cover the work.
        let arrival_ps = core.tasks[task].arrival_ps;
        core.tasks[task].arrival_ps = arrival_ps.min(core.now_ps - work_ps.min(core.now_ps));
        core.complete(worker, task, self.stretch);
        Expired::Completed(task)
    }

    fn free<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> bool {
        let pool = core.workers[worker].pool as usize;
        if worker != core.workers_of(pool).start || self.pools[pool].levels.is_empty() {
            return false;
        }
        self.pools[pool].settle(core.now_ps);
        self.reschedule(core, pool);
        true
    }

    fn stealable<O: Sink>(&mut self, _core: &mut Core<O>, _pool: usize) -> u32 {
        0
    }

    fn take<O: Sink>(&mut self, _core: &mut Core<O>, _pool: usize) -> Option<u32> {
        None
    }

    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32, _more: u32) {
        self.arrive(core, pool, task);
    }

    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64) {
        let pool = core.workers[worker].pool as usize;
        self.pools[pool].settle(core.now_ps);
        self.pools[pool].settled_ps += cost_ps;
        self.reschedule(core, pool);
    }

    fn oldest_ps<O: Sink>(&mut self, _core: &mut Core<O>, _pool: usize) -> Option<u64> {
        None
    }

    fn serviced_quanta<O: Sink>(&mut self, _core: &mut Core<O>, _pool: usize) -> u64 {
        0
    }

    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let shared = &mut self.pools[pool];
        shared.settle(core.now_ps);
        let left = shared.levels.iter().flat_map(|level| {
            level.tasks.iter().map(move |(end_ps, _)| (end_ps - level.attained_ps).max(0.0))
        });
        left.sum::<f64>() as u64
    }

    fn unaccounted_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64 {
        let pool = core.workers[worker].pool as usize;
        // The first worker keeps the accounts of its pool.
        if worker != core.workers_of(pool).start {
            return 0;
        }
        let tasks = self.pools[pool].levels.iter().flat_map(|level| &level.tasks);
        let total_ps: u64 = tasks.map(|&(_, task)| core.tasks[task].remaining_ps).sum();
        total_ps.saturating_sub(self.work_left_ps(core, pool))
    }

    fn queued<O: Sink>(&mut self, _core: &mut Core<O>) -> u32 {
        0
    }

    fn has_waiting(&self, _pool: usize) -> bool {
        false
    }
}
