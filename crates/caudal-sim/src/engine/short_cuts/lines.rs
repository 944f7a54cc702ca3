//! The short cut for pools whose tasks run to completion, first come first served: queues without a discipline to ask. The engine puts
//! such pools under the host of the general loop, when `route` says so.
//!
//! A worker finishes each task that it begins. So all waiting tasks are unstarted, every event of a running worker is a completion, and
//! a thief may take any waiting task. [`Step`](crate::engine::general::step::Step) under
//! [`Fcfs`](caudal_policy::discipline::Fcfs) does the same with more questions; tests hold the one against the
//! other.

use crate::engine::general::core::{Core, Phase};
use crate::engine::general::scheduling::{Expired, Scheduling};
use crate::engine::general::workers_with_core;
use crate::engine::kernel::long::Long;
use crate::engine::kernel::observe::Sink;
use crate::engine::kernel::run::Run;
use crate::engine::kernel::tasks::{Queue, Tasks};

/// One pool.
struct Line {
    queue: Queue,
    /// Of its workers.
    long: Long,
    /// Pools of one size share their sums.
    group: u32,
}

/// Pools of one size.
struct Group {
    workers: u32,
    /// Time that tasks have waited behind long ones, by class, times the workers of a pool.
    behind_ps: Box<[u128]>,
}

pub(in crate::engine) struct Lines {
    lines: Box<[Line]>,
    groups: Vec<Group>,
    stretch: f64,
}

impl Lines {
    /// The pools of `run`.
    pub(in crate::engine) fn of(run: &Run<'_>) -> Lines {
        Lines::new(&workers_with_core(run), run.costs.probe_factor, run.service.classes().len())
    }

    /// Pools of so many workers each, those that may run something, and requests of so many classes, which probes
    /// stretch.
    fn new(sizes: &[u32], stretch: f64, classes: usize) -> Lines {
        let mut groups: Vec<Group> = Vec::new();
        let line = |&workers: &u32| {
            let known = groups.iter().position(|group| group.workers == workers);
            let group = known.unwrap_or_else(|| {
                groups.push(Group { workers, behind_ps: vec![0; classes].into_boxed_slice() });
                groups.len() - 1
            });
            Line { queue: Queue::EMPTY, long: Long::default(), group: group as u32 }
        };
        let lines = sizes.iter().map(line).collect();
        Lines { lines, groups, stretch }
    }

    /// `task` begins on `worker`, now.
    #[inline(always)]
    fn run<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, pool: usize, task: u32) {
        let (long, work_ps) = (core.tasks[task].long, core.tasks[task].remaining_ps);
        self.lines[pool].long.change(core.now_ps, i64::from(long));
        core.begin(worker, task, work_ps);
    }

    /// `task` has joined the queue of `pool`.
    #[inline(always)]
    fn joined<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        let line = &mut self.lines[pool];
        // It has not started: this field is free.
        core.tasks[task].queued_ps = line.long.behind_ps(core.now_ps);
        core.waiting += 1;
        if line.queue.len() == 1 {
            core.mark_waiting(pool, true);
            core.mark_stealable(pool, true);
        }
    }

    /// The oldest task leaves the queue of `pool`.
    #[inline(always)]
    fn leave<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32> {
        let line = &mut self.lines[pool];
        let task = line.queue.pop_front(&core.tasks)?;
        let entry = &core.tasks[task];
        let waited_ps = line.long.behind_ps(core.now_ps).wrapping_sub(entry.queued_ps);
        self.groups[line.group as usize].behind_ps[entry.class as usize] += u128::from(waited_ps);
        core.waiting -= 1;
        if line.queue.len() == 0 {
            core.mark_waiting(pool, false);
            core.mark_stealable(pool, false);
        }
        Some(task)
    }

    /// An idle worker of `pool`, of least id.
    #[inline(always)]
    fn idle<O: Sink>(core: &Core<O>, pool: usize) -> Option<usize> {
        let workers = core.workers_of(pool);
        if workers.len() == 1 {
            return (core.workers[workers.start].phase == Phase::Idle).then_some(workers.start);
        }
        core.idle.first_from(workers.start).filter(|worker| workers.contains(worker))
    }

    fn waiting(&self, tasks: &Tasks, pool: usize) -> impl Iterator<Item = u32> {
        self.lines[pool].queue.iter(tasks)
    }
}

impl Scheduling for Lines {
    #[inline(always)]
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        match Lines::idle(core, pool) {
            Some(worker) => self.run(core, worker, pool, task),
            None => {
                self.lines[pool].queue.push_back(&mut core.tasks, task);
                self.joined(core, pool, task);
            }
        }
    }

    #[inline(always)]
    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired {
        let entry = &mut core.workers[worker];
        entry.phase = Phase::Between;
        let (task, slice_ps, pool) = (entry.task, entry.slice_ps, entry.pool as usize);
        core.account.busy_ps += u128::from(slice_ps);
        self.lines[pool].long.change(core.now_ps, -i64::from(core.tasks[task].long));
        core.complete(worker, task, self.stretch);
        Expired::Completed(task)
    }

    #[inline(always)]
    fn free<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> bool {
        let pool = core.workers[worker].pool as usize;
        let Some(task) = self.leave(core, pool) else { return false };
        self.run(core, worker, pool, task);
        true
    }

    #[inline(always)]
    fn stealable<O: Sink>(&mut self, _core: &mut Core<O>, pool: usize) -> u32 {
        self.lines[pool].queue.len()
    }

    #[inline(always)]
    fn take<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32> {
        self.leave(core, pool)
    }

    #[inline(always)]
    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32, _more: u32) {
        self.lines[pool].queue.push_front(&mut core.tasks, task);
        self.joined(core, pool, task);
    }

    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64) {
        let task = core.workers[worker].task;
        core.tasks[task].overhead_ps += cost_ps;
        let due_ps = core.workers[worker].due_ps + cost_ps;
        core.schedule(worker, due_ps);
    }

    #[inline]
    fn oldest_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u64> {
        // The head; moved tasks go to the front because they have waited longest.
        self.lines[pool].queue.head().map(|task| core.tasks[task].arrival_ps)
    }

    fn serviced_quanta<O: Sink>(&mut self, _core: &mut Core<O>, _pool: usize) -> u64 {
        0
    }

    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let waiting: u64 = self.waiting(&core.tasks, pool).map(|task| core.tasks[task].remaining_ps).sum();
        let running = core.workers_of(pool).filter(|&worker| core.workers[worker].phase == Phase::Running);
        let left_ps =
            |worker: usize| core.tasks[core.workers[worker].task].remaining_ps - core.slice_done_ps(worker);
        waiting + running.map(left_ps).sum::<u64>()
    }

    fn unaccounted_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64 {
        if core.workers[worker].phase == Phase::Running { core.slice_done_ps(worker) } else { 0 }
    }

    fn queued<O: Sink>(&mut self, core: &mut Core<O>) -> u32 {
        core.waiting
    }

    fn has_waiting(&self, pool: usize) -> bool {
        self.lines[pool].queue.len() > 0
    }

    fn behind_long_ps<O: Sink>(&mut self, core: &Core<O>) -> Vec<f64> {
        let mut sums_ps: Vec<_> = self.groups.iter().map(|group| group.behind_ps.to_vec()).collect();
        for (pool, line) in self.lines.iter().enumerate() {
            let behind_ps = line.long.behind_ps(core.now_ps);
            for task in self.waiting(&core.tasks, pool) {
                let entry = &core.tasks[task];
                let waited_ps = behind_ps.wrapping_sub(entry.queued_ps);
                sums_ps[line.group as usize][entry.class as usize] += u128::from(waited_ps);
            }
        }
        let mut all_ps = vec![0.0; sums_ps.first().map_or(0, Vec::len)];
        for (group, sums_ps) in self.groups.iter().zip(sums_ps) {
            for (all_ps, sum_ps) in all_ps.iter_mut().zip(sums_ps) {
                *all_ps += sum_ps as f64 / f64::from(group.workers.max(1));
            }
        }
        all_ps
    }
}
