//! Pools under any [`Discipline`], with an event for each slice. The general loop has one for each run whose discipline no short cut
//! covers; `replay` drives the same pools by a log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use caudal_config::Costs;
use caudal_policy::discipline::{Discipline, End, Intake, Lane, Order, Pool, Stopped};
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

use super::core::{Core, Phase};
use super::scheduling::{Expired, Scheduling};
use crate::engine::kernel::long::Long;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::source::work_ps;
use crate::engine::kernel::tasks::{Queue, Tasks};

/// The lanes of one pool, and what the discipline's calls leave behind for the host.
struct Lanes {
    pool: usize,
    /// How many there can be: the first of the pool.
    workers: u32,
    queues: Box<[Queue]>,
    /// For lanes ordered by key: (key, entry, task).
    heaps: Vec<BinaryHeap<Reverse<(u64, u64, u32)>>>,
    entries: u64,
    stealable_lane: Lane,
    order: Order,
    /// The lanes with tasks in them, a bit each.
    waiting_lanes: u64,
    /// Tasks in `stealable_lane` that have not started.
    fresh: u32,
    waiting: u32,
    overrun_ps: u64,
    resumed: bool,
    /// Of those that wait behind long ones, where that is accounted for: the long ones that run, and by class the time that tasks have
    /// waited behind them, times the workers of the pool.
    long: Long,
    behind_ps: Box<[u128]>,
}

impl Lanes {
    /// Takes the head of `lane` with its key and number of entry, which a plain queue does not need.
    #[inline]
    fn pop(&mut self, tasks: &Tasks, lane: Lane) -> Option<(u64, u64, u32)> {
        if self.order == Order::Key {
            return self.heaps[lane as usize].pop().map(|Reverse(entry)| entry);
        }
        self.queues[lane as usize].pop_front(tasks).map(|task| (0, 0, task))
    }

    /// Puts back what [`Lanes::pop`] took last.
    fn put_back(&mut self, tasks: &mut Tasks, lane: Lane, entry: (u64, u64, u32)) {
        if self.order == Order::Key {
            self.heaps[lane as usize].push(Reverse(entry));
        } else {
            self.queues[lane as usize].push_front(tasks, entry.2);
        }
    }
}

/// Pools under a discipline of type `D`. `BEHIND`: they account for the time that tasks wait behind long ones, which takes a
/// discipline under which none waits that has begun.
pub(in crate::engine) struct Step<D, const BEHIND: bool = false> {
    pools: Box<[(D, Lanes)]>,
    /// By task: the number under which it waits, or waited last; where lanes are in the order of entry.
    keys: Vec<u64>,
    stretch: f64,
}

impl<D: Discipline> Step<D> {
    /// Pools of so many workers each.
    pub(in crate::engine) fn new(sizes: &[u32], make: impl Fn() -> D, costs: &Costs) -> Step<D> {
        Step::with_classes(sizes, make, costs, 0)
    }
}

impl<D: Discipline> Step<D, true> {
    /// The same for requests of so many classes.
    pub(in crate::engine) fn accounting(
        sizes: &[u32],
        make: impl Fn() -> D,
        costs: &Costs,
        classes: usize,
    ) -> Self {
        Step::with_classes(sizes, make, costs, classes)
    }
}

impl<D: Discipline, const BEHIND: bool> Step<D, BEHIND> {
    fn with_classes(sizes: &[u32], make: impl Fn() -> D, costs: &Costs, classes: usize) -> Self {
        let (overrun_ps, stretch) = (costs.overrun.0, costs.probe_factor);
        let pool = |(pool, &workers)| {
            let discipline = make();
            let lanes = Lanes {
                pool,
                workers,
                queues: vec![Queue::EMPTY; discipline.lanes() as usize].into_boxed_slice(),
                heaps: (0..discipline.lanes()).map(|_| BinaryHeap::new()).collect(),
                entries: 0,
                stealable_lane: discipline.stealable_lane(),
                order: discipline.order(),
                waiting_lanes: 0,
                fresh: 0,
                waiting: 0,
                overrun_ps,
                resumed: false,
                long: Long::default(),
                behind_ps: vec![0; classes].into_boxed_slice(),
            };
            (discipline, lanes)
        };
        Step { pools: sizes.iter().enumerate().map(pool).collect(), keys: Vec::new(), stretch }
    }
}

/// Blocking, and waiting at the door: a real service's tasks do so, simulated ones do not.
impl<D: Discipline> Step<D> {
    pub(in crate::engine) fn discipline(&self, pool: usize) -> &D {
        &self.pools[pool].0
    }

    /// How many unstarted tasks does `pool` want?
    pub(in crate::engine) fn intake<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Intake {
        let (discipline, lanes) = &mut self.pools[pool];
        discipline.intake(&StepPool::<_, false> { core, lanes, keys: &mut self.keys })
    }

    /// The task of `worker` waits for something else than a worker.
    pub(in crate::engine) fn block<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) {
        let entry = &mut core.workers[worker];
        entry.phase = Phase::Between;
        let (task, pool) = (entry.task, entry.pool as usize);
        let (discipline, lanes) = &mut self.pools[pool];
        let now = Instant(core.now_ps);
        let mut view = StepPool::<_, false> { core, lanes, keys: &mut self.keys };
        discipline.on_blocked(now, WorkerId(worker as u32), TaskId(task), &mut view);
    }

    /// `task`, which was blocked, can run again.
    pub(in crate::engine) fn wake<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        let (discipline, lanes) = &mut self.pools[pool];
        let now = Instant(core.now_ps);
        discipline.on_ready(
            now,
            TaskId(task),
            &mut StepPool::<_, false> { core, lanes, keys: &mut self.keys },
        );
    }
}

/// The host's side of a pool while its discipline decides.
struct StepPool<'a, O, const BEHIND: bool> {
    core: &'a mut Core<O>,
    lanes: &'a mut Lanes,
    keys: &'a mut Vec<u64>,
}

impl<O: Sink, const BEHIND: bool> StepPool<'_, O, BEHIND> {
    /// `task` has joined `lane`.
    #[inline(always)]
    fn joined(&mut self, task: u32, lane: Lane) {
        self.lanes.waiting_lanes |= 1_u64.checked_shl(lane).unwrap_or(0);
        self.lanes.waiting += 1;
        self.core.waiting += 1;
        if self.lanes.waiting == 1 {
            self.core.mark_waiting(self.lanes.pool, true);
        }
        if BEHIND {
            // It has not started: this field is free.
            self.core.tasks[task].queued_ps = self.lanes.long.behind_ps(self.core.now_ps);
        }
        let entry = &self.core.tasks[task];
        if lane == self.lanes.stealable_lane && !entry.started {
            self.lanes.fresh += 1;
            if self.lanes.fresh == 1 {
                self.core.mark_stealable(self.lanes.pool, true);
            }
        }
    }

    /// `task` has left `lane`.
    #[inline(always)]
    fn left(&mut self, task: u32, lane: Lane) {
        if self.len(lane) == 0 {
            self.lanes.waiting_lanes &= !1_u64.checked_shl(lane).unwrap_or(0);
        }
        self.lanes.waiting -= 1;
        self.core.waiting -= 1;
        if self.lanes.waiting == 0 {
            self.core.mark_waiting(self.lanes.pool, false);
        }
        if BEHIND {
            let entry = &self.core.tasks[task];
            let waited_ps = self.lanes.long.behind_ps(self.core.now_ps).wrapping_sub(entry.queued_ps);
            self.lanes.behind_ps[usize::from(entry.class)] += u128::from(waited_ps);
        }
        let entry = &self.core.tasks[task];
        if lane == self.lanes.stealable_lane && !entry.started {
            self.lanes.fresh -= 1;
            if self.lanes.fresh == 0 {
                self.core.mark_stealable(self.lanes.pool, false);
            }
        }
    }

    #[inline(always)]
    fn slice_ps(&self, task: u32, quantum: Picos) -> u64 {
        self.core.tasks[task].remaining_ps.min(quantum.0.saturating_add(self.lanes.overrun_ps))
    }
}

impl<O: Sink, const BEHIND: bool> Pool for StepPool<'_, O, BEHIND> {
    #[inline(always)]
    fn idle(&self) -> Option<WorkerId> {
        let range = self.core.workers_of(self.lanes.pool);
        let first = self.core.idle.first_from(range.start)?;
        (first < range.end).then_some(WorkerId(first as u32))
    }

    #[inline]
    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId> {
        let start = self.core.workers_of(self.lanes.pool).start;
        let first = self.core.idle.first_from(start + seats.start as usize)?;
        (first < start + seats.end as usize).then_some(WorkerId(first as u32))
    }

    #[inline]
    fn len(&self, lane: Lane) -> u32 {
        if self.lanes.order == Order::Key {
            return self.lanes.heaps[lane as usize].len() as u32;
        }
        self.lanes.queues[lane as usize].len()
    }

    #[inline]
    fn head(&self, lane: Lane) -> Option<TaskId> {
        if self.lanes.order == Order::Key {
            return self.lanes.heaps[lane as usize].peek().map(|Reverse((_, _, task))| TaskId(*task));
        }
        self.lanes.queues[lane as usize].head().map(TaskId)
    }

    #[inline(always)]
    fn waiting_lanes(&self) -> u64 {
        self.lanes.waiting_lanes
    }

    #[inline(always)]
    fn key(&self, task: TaskId) -> u64 {
        self.keys[task.index()]
    }

    #[inline(always)]
    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let (_, _, task) = self.lanes.pop(&self.core.tasks, lane)?;
        self.left(task, lane);
        Some(TaskId(task))
    }

    #[inline(always)]
    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        let queue = &mut self.lanes.queues[lane as usize];
        match end {
            End::Head => queue.push_front(&mut self.core.tasks, task.0),
            End::Tail => queue.push_back(&mut self.core.tasks, task.0),
        }
        self.joined(task.0, lane);
    }

    #[inline(always)]
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        if self.lanes.order == Order::Entry {
            if self.keys.len() <= task.index() {
                self.keys.resize((task.index() + 1).next_power_of_two(), 0);
            }
            self.keys[task.index()] = key;
            let keys = &*self.keys;
            self.lanes.queues[lane as usize]
                .insert(&mut self.core.tasks, task.0, |_, other| keys[other as usize] > key);
        } else {
            self.lanes.entries += 1;
            self.lanes.heaps[lane as usize].push(Reverse((key, self.lanes.entries, task.0)));
        }
        self.joined(task.0, lane);
    }

    #[inline(always)]
    fn run(&mut self, worker: WorkerId, task: TaskId, quantum: Picos) {
        let slice_ps = self.slice_ps(task.0, quantum);
        if BEHIND {
            self.lanes.long.change(self.core.now_ps, i64::from(self.core.tasks[task.0].long));
        }
        self.core.begin(worker.index(), task.0, slice_ps);
    }

    fn resume(&mut self, worker: WorkerId, quantum: Picos) {
        let worker = worker.index();
        let slice_ps = self.slice_ps(self.core.workers[worker].task, quantum);
        let entry = &mut self.core.workers[worker];
        entry.phase = Phase::Running;
        entry.stopping = false;
        entry.slice_ps = slice_ps;
        self.core.schedule(worker, self.core.now_ps + slice_ps);
        self.lanes.resumed = true;
    }

    fn preempt(&mut self, worker: WorkerId) -> bool {
        let worker = worker.index();
        let (now_ps, entry) = (self.core.now_ps, &self.core.workers[worker]);
        // A task that completes, or stops, at this very time needs no request.
        if entry.phase != Phase::Running || entry.stopping || entry.due_ps == now_ps {
            return false;
        }
        // What it still pays for delays the stop.
        let stop_ps = now_ps.max(entry.paying_until_ps).min(entry.due_ps);
        let done_ps = entry.slice_ps.saturating_sub(entry.due_ps - stop_ps);
        let entry = &mut self.core.workers[worker];
        entry.stopping = true;
        entry.slice_ps = done_ps;
        self.core.schedule(worker, stop_ps);
        true
    }

    #[inline(always)]
    fn seat(&self, worker: WorkerId) -> u32 {
        worker.0 - self.core.workers_of(self.lanes.pool).start as u32
    }

    #[inline(always)]
    fn worker(&self, seat: u32) -> WorkerId {
        WorkerId(self.core.workers_of(self.lanes.pool).start as u32 + seat)
    }

    fn workers(&self) -> u32 {
        self.lanes.workers
    }

    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)> {
        let worker = self.core.workers_of(self.lanes.pool).start + i as usize;
        let entry = &self.core.workers[worker];
        (entry.phase == Phase::Running && !entry.stopping)
            .then_some((WorkerId(worker as u32), TaskId(entry.task)))
    }

    #[inline]
    fn attained(&self, task: TaskId) -> Picos {
        let entry = &self.core.tasks[task.0];
        let total_ps = work_ps(entry.service_ps, self.core.costs.probe_factor);
        Picos(total_ps - self.remaining(task).0)
    }

    #[inline]
    fn remaining(&self, task: TaskId) -> Picos {
        // Only a running task has work that is not accounted for yet.
        let unaccounted_ps = self.core.runner(task.0).map_or(0, |worker| self.core.slice_done_ps(worker));
        Picos(self.core.tasks[task.0].remaining_ps - unaccounted_ps)
    }
}

impl<D: Discipline, const BEHIND: bool> Scheduling for Step<D, BEHIND> {
    const TIES: bool = D::TIES;

    fn workers_changed(&mut self, pool: usize, count: u32) {
        self.pools[pool].0.on_workers(count);
    }

    fn tie<O: Sink>(&self, core: &Core<O>, worker: usize) -> u64 {
        let pool = core.workers[worker].pool as usize;
        self.pools[pool].0.tie((worker - core.workers_of(pool).start) as u32)
    }

    fn may_steal<O: Sink>(&self, core: &Core<O>, worker: usize) -> bool {
        let pool = core.workers[worker].pool as usize;
        self.pools[pool].0.may_steal((worker - core.workers_of(pool).start) as u32)
    }

    #[inline(always)]
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        let (discipline, lanes) = &mut self.pools[pool];
        let now = Instant(core.now_ps);
        discipline.on_arrival(
            now,
            TaskId(task),
            &mut StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys },
        );
    }

    #[inline(always)]
    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired {
        let entry = &mut core.workers[worker];
        entry.phase = Phase::Between;
        let (task, slice_ps, pool) = (entry.task, entry.slice_ps, entry.pool as usize);
        let (discipline, lanes) = &mut self.pools[pool];
        core.account.busy_ps += u128::from(slice_ps);
        let left = &mut core.tasks[task];
        left.remaining_ps -= slice_ps;
        let done = left.remaining_ps == 0;
        let now = Instant(core.now_ps);
        if done {
            if BEHIND {
                lanes.long.change(core.now_ps, -i64::from(core.tasks[task].long));
            }
            let mut view = StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys };
            discipline.on_completed(now, WorkerId(worker as u32), TaskId(task), &mut view);
            core.complete(worker, task, self.stretch);
            return Expired::Completed(task);
        }
        core.tasks[task].quanta += 1;
        let why = if core.workers[worker].stopping { Stopped::Preempted } else { Stopped::Quantum };
        lanes.resumed = false;
        let mut view = StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys };
        discipline.on_stopped(now, WorkerId(worker as u32), TaskId(task), why, &mut view);
        if lanes.resumed {
            return Expired::Resumed;
        }
        core.tasks[task].preemptions += 1;
        core.account.preemptions += 1;
        if O::ON {
            let number = core.tasks[task].number;
            core.observer.observe(core.now_ps, Event::Stopped { worker: worker as u32, number });
        }
        Expired::Preempted
    }

    #[inline(always)]
    fn free<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> bool {
        let (discipline, lanes) = &mut self.pools[core.workers[worker].pool as usize];
        let now = Instant(core.now_ps);
        discipline.on_free(
            now,
            WorkerId(worker as u32),
            &mut StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys },
        );
        core.workers[worker].phase == Phase::Running
    }

    #[inline(always)]
    fn stealable<O: Sink>(&mut self, _core: &mut Core<O>, pool: usize) -> u32 {
        self.pools[pool].1.fresh
    }

    fn take<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32> {
        let (_, lanes) = &mut self.pools[pool];
        if lanes.fresh == 0 {
            return None;
        }
        let lane = lanes.stealable_lane;
        // Those that have started stay where they are.
        let mut passed = Vec::new();
        let found = loop {
            let entry = lanes.pop(&core.tasks, lane)?;
            if !core.tasks[entry.2].started {
                break entry.2;
            }
            passed.push(entry);
        };
        for entry in passed.into_iter().rev() {
            lanes.put_back(&mut core.tasks, lane, entry);
        }
        StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys }.left(found, lane);
        Some(found)
    }

    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32, more: u32) {
        let (discipline, lanes) = &mut self.pools[pool];
        let now = Instant(core.now_ps);
        discipline.on_moved(
            now,
            TaskId(task),
            more,
            &mut StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys },
        );
    }

    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64) {
        let task = core.workers[worker].task;
        core.tasks[task].overhead_ps += cost_ps;
        let due_ps = core.workers[worker].due_ps + cost_ps;
        core.schedule(worker, due_ps);
    }

    fn oldest_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u64> {
        let (_, lanes) = &self.pools[pool];
        if let [_] = lanes.heaps[..]
            && lanes.order == Order::Queue
        {
            // A plain queue: the head; moved tasks go to the front because they have waited longest.
            return lanes.queues[0].head().map(|task| core.tasks[task].arrival_ps);
        }
        let queued = lanes.queues.iter().flat_map(|queue| queue.iter(&core.tasks));
        let keyed = lanes.heaps.iter().flatten().map(|Reverse((_, _, task))| *task);
        queued.chain(keyed).map(|task| core.tasks[task].arrival_ps).min()
    }

    fn serviced_quanta<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let lanes = &self.pools[pool].1;
        let running = core.workers_of(pool).filter(|&worker| core.workers[worker].phase == Phase::Running);
        let running: u64 =
            running.map(|worker| u64::from(core.tasks[core.workers[worker].task].quanta)).sum();
        let queued = lanes.queues.iter().flat_map(|queue| queue.iter(&core.tasks));
        let waiting: u64 = queued.map(|task| u64::from(core.tasks[task].quanta)).sum();
        running + waiting
    }

    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let lanes = &self.pools[pool].1;
        let queued = lanes.queues.iter().flat_map(|queue| queue.iter(&core.tasks));
        let mut left_ps: u64 = queued.map(|task| core.tasks[task].remaining_ps).sum();
        let keyed = lanes.heaps.iter().flatten();
        left_ps += keyed.map(|Reverse((_, _, task))| core.tasks[*task].remaining_ps).sum::<u64>();
        for worker in core.workers_of(pool) {
            if core.workers[worker].phase == Phase::Running {
                left_ps += core.tasks[core.workers[worker].task].remaining_ps - core.slice_done_ps(worker);
            }
        }
        left_ps
    }

    fn unaccounted_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64 {
        if core.workers[worker].phase == Phase::Running { core.slice_done_ps(worker) } else { 0 }
    }

    fn queued<O: Sink>(&mut self, core: &mut Core<O>) -> u32 {
        core.waiting
    }

    fn has_waiting(&self, pool: usize) -> bool {
        self.pools[pool].1.waiting > 0
    }

    fn behind_long_ps<O: Sink>(&mut self, core: &Core<O>) -> Vec<f64> {
        if !BEHIND {
            return Vec::new();
        }
        // Whole numbers of pools of one size are added up first, so that no order of sums shows.
        let mut sums: Vec<(u32, Vec<u128>)> = Vec::new();
        for (_, lanes) in &self.pools {
            let mut behind_ps = lanes.behind_ps.to_vec();
            let now_ps = lanes.long.behind_ps(core.now_ps);
            for task in lanes.queues.iter().flat_map(|queue| queue.iter(&core.tasks)) {
                let entry = &core.tasks[task];
                behind_ps[usize::from(entry.class)] += u128::from(now_ps.wrapping_sub(entry.queued_ps));
            }
            match sums.iter_mut().find(|(workers, _)| *workers == lanes.workers) {
                Some((_, sums)) => sums.iter_mut().zip(behind_ps).for_each(|(sum, more)| *sum += more),
                None => sums.push((lanes.workers, behind_ps)),
            }
        }
        let mut all_ps = vec![0.0; sums.first().map_or(0, |(_, sums)| sums.len())];
        for (workers, sums_ps) in sums {
            for (all_ps, sum_ps) in all_ps.iter_mut().zip(sums_ps) {
                *all_ps += sum_ps as f64 / f64::from(workers.max(1));
            }
        }
        all_ps
    }

    fn check<O: Sink>(&mut self, core: &mut Core<O>) {
        for (pool, (discipline, lanes)) in self.pools.iter_mut().enumerate() {
            let view = StepPool::<_, BEHIND> { core, lanes, keys: &mut self.keys };
            if let Err(broken) = discipline.check(&view) {
                core.observer.broken(core.now_ps, pool as u32, broken);
            }
        }
    }
}
