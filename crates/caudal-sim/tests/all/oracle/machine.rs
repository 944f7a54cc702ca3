//! Workers, tasks and lanes, and what a discipline may see and do of them.

use std::ops::Range;

use caudal_config::Costs;
use caudal_policy::discipline::{End, Lane, Pool};
use caudal_policy::{Picos, TaskId, WorkerId};
use caudal_sim::engine::{Account, Event};

/// A request; its index in [`OracleMachine::tasks`] is its number.
pub(crate) struct Task {
    pub(crate) class: u8,
    pub(crate) arrival_ps: u64,
    pub(crate) service_ps: u64,
    /// Service and probes.
    pub(crate) work_ps: u64,
    /// Work done in slices that have ended.
    pub(crate) done_ps: u64,
    pub(crate) first_ps: Option<u64>,
    pub(crate) overhead_ps: u64,
    pub(crate) preemptions: u64,
    pub(crate) quanta: u64,
    /// Under which it waited last.
    pub(crate) key: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Parked,
    Allocating,
    Idle,
    /// Between an event and the next decision.
    Deciding,
    Running(usize),
    Switching,
    Paying,
    /// A check of the pool at this place of the order.
    Checking(usize),
    /// From this pool.
    Stealing(usize),
    /// For this pool.
    Shedding(usize),
}

pub(crate) struct Worker {
    pub(crate) pool: usize,
    pub(crate) doing: Doing,
    /// When what it does is over.
    pub(crate) due_ps: Option<u64>,
    /// Work of the slice that it runs, how much of that was done before `resumes_ps`, and when it went on.
    pub(crate) slice_ps: u64,
    pub(crate) progress_ps: u64,
    pub(crate) resumes_ps: u64,
    pub(crate) stopping: bool,
    pub(crate) paying_until_ps: u64,
    pub(crate) idle_since_ps: u64,
    pub(crate) flag: Option<usize>,
    pub(crate) held: bool,
    pub(crate) open: bool,
    pub(crate) walk: u64,
    pub(crate) walk_began_ps: u64,
    pub(crate) walk_end: usize,
}

#[derive(Default)]
pub(crate) struct Lanes {
    /// (key, task), the next to be taken first.
    pub(crate) lanes: Vec<Vec<(u64, usize)>>,
    pub(crate) stealable_lane: usize,
    /// Requests that dispatch has put here and that have not completed.
    pub(crate) unfinished: u32,
    pub(crate) inbound: u32,
}

pub(crate) struct OracleMachine {
    pub(crate) now_ps: u64,
    pub(crate) costs: Costs,
    pub(crate) tasks: Vec<Task>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) pools: Vec<Lanes>,
    pub(crate) first_worker: Vec<usize>,
    /// Workers from this one on will never have a core.
    pub(crate) cores_max: usize,
    pub(crate) dispatcher_free_ps: u64,
    pub(crate) account: Account,
    pub(crate) log: Vec<(u64, Event)>,
    /// The task that a discipline is being asked about, unless it has let it go on.
    pub(crate) stopped: Option<usize>,
}

impl OracleMachine {
    pub(crate) fn new(
        costs: Costs,
        sizes: &[u32],
        cores_max: u32,
        lanes: u32,
        stealable_lane: Lane,
    ) -> OracleMachine {
        let mut machine = OracleMachine {
            now_ps: 0,
            costs,
            tasks: Vec::new(),
            workers: Vec::new(),
            pools: Vec::new(),
            first_worker: vec![0],
            cores_max: cores_max as usize,
            dispatcher_free_ps: 0,
            account: Account::default(),
            log: Vec::new(),
            stopped: None,
        };
        for (pool, &size) in sizes.iter().enumerate() {
            machine.workers.extend((0..size).map(|_| Worker::parked(pool)));
            machine.first_worker.push(machine.workers.len());
            let lanes = vec![Vec::new(); lanes as usize];
            machine.pools.push(Lanes { lanes, stealable_lane: stealable_lane as usize, ..Lanes::default() });
        }
        machine
    }

    pub(crate) fn workers_of(&self, pool: usize) -> Range<usize> {
        self.first_worker[pool]..self.first_worker[pool + 1]
    }

    /// How many workers of `pool` may ever run something.
    pub(crate) fn sharers(&self, pool: usize) -> usize {
        self.workers_of(pool).filter(|&worker| worker < self.cores_max).count()
    }

    pub(crate) fn log(&mut self, event: Event) {
        self.log.push((self.now_ps, event));
    }

    /// `worker` does `doing` for `span_ps` from now on.
    pub(crate) fn busy_for(&mut self, worker: usize, doing: Doing, span_ps: u64) {
        self.workers[worker].doing = doing;
        self.workers[worker].due_ps = Some(self.now_ps + span_ps);
    }

    pub(crate) fn running(&self, worker: usize) -> Option<usize> {
        match self.workers[worker].doing {
            Doing::Running(task) => Some(task),
            _ => None,
        }
    }

    /// Work that `worker` has done in its slice.
    pub(crate) fn slice_progress_ps(&self, worker: usize) -> u64 {
        let worker = &self.workers[worker];
        worker.slice_ps.min(worker.progress_ps + self.now_ps.saturating_sub(worker.resumes_ps))
    }

    /// Work done on `task`.
    pub(crate) fn attained_ps(&self, task: usize) -> u64 {
        let runner = (0..self.workers.len()).find(|&worker| self.running(worker) == Some(task));
        self.tasks[task].done_ps + runner.map_or(0, |worker| self.slice_progress_ps(worker))
    }

    pub(crate) fn left_ps(&self, task: usize) -> u64 {
        self.tasks[task].work_ps - self.attained_ps(task)
    }

    /// All tasks that wait in `pool`.
    pub(crate) fn waiting(&self, pool: usize) -> impl Iterator<Item = usize> + '_ {
        self.pools[pool].lanes.iter().flatten().map(|&(_, task)| task)
    }

    /// Those of them that may be moved to another pool, in the order of their lane.
    pub(crate) fn stealable(&self, pool: usize) -> Vec<usize> {
        let Lanes { lanes, stealable_lane, .. } = &self.pools[pool];
        let fresh = |task: &usize| self.tasks[*task].first_ps.is_none();
        lanes[*stealable_lane].iter().map(|&(_, task)| task).filter(fresh).collect()
    }

    /// All work done so far.
    pub(crate) fn work_done_ps(&self) -> u128 {
        let ended: u128 = self.tasks.iter().map(|task| u128::from(task.done_ps)).sum();
        let running = (0..self.workers.len()).filter(|&worker| self.running(worker).is_some());
        ended + running.map(|worker| u128::from(self.slice_progress_ps(worker))).sum::<u128>()
    }

    /// `worker` works for the scheduler for `cost_ps` before anything else; returns until when.
    pub(crate) fn pay(&mut self, worker: usize, cost_ps: u64) -> u64 {
        let now_ps = self.now_ps;
        let until_ps = now_ps.max(self.workers[worker].paying_until_ps) + cost_ps;
        if let Some(task) = self.running(worker) {
            self.tasks[task].overhead_ps += cost_ps;
            let progress_ps = self.slice_progress_ps(worker);
            let entry = &mut self.workers[worker];
            entry.progress_ps = progress_ps;
            entry.resumes_ps = now_ps.max(entry.resumes_ps) + cost_ps;
        }
        let entry = &mut self.workers[worker];
        entry.paying_until_ps = until_ps;
        match entry.doing {
            Doing::Idle | Doing::Deciding => {
                entry.doing = Doing::Paying;
                entry.due_ps = Some(until_ps);
            }
            _ => entry.due_ps = entry.due_ps.map(|due_ps| due_ps + cost_ps),
        }
        until_ps
    }
}

impl Worker {
    fn parked(pool: usize) -> Worker {
        Worker {
            pool,
            doing: Doing::Parked,
            due_ps: None,
            slice_ps: 0,
            progress_ps: 0,
            resumes_ps: 0,
            stopping: false,
            paying_until_ps: 0,
            idle_since_ps: 0,
            flag: None,
            held: false,
            open: false,
            walk: 0,
            walk_began_ps: 0,
            walk_end: 0,
        }
    }
}

/// One pool of the machine, for its discipline.
pub(crate) struct View<'a> {
    pub(crate) machine: &'a mut OracleMachine,
    pub(crate) pool: usize,
}

impl View<'_> {
    fn lane(&mut self, lane: Lane) -> &mut Vec<(u64, usize)> {
        &mut self.machine.pools[self.pool].lanes[lane as usize]
    }

    fn begin_slice(&mut self, worker: usize, task: usize, start_ps: u64, quantum: Picos) {
        let turn_ps = quantum.0.saturating_add(self.machine.costs.overrun.0);
        let slice_ps = turn_ps.min(self.machine.tasks[task].work_ps - self.machine.tasks[task].done_ps);
        let entry = &mut self.machine.workers[worker];
        entry.doing = Doing::Running(task);
        (entry.slice_ps, entry.progress_ps, entry.resumes_ps) = (slice_ps, 0, start_ps);
        entry.stopping = false;
        entry.due_ps = Some(start_ps + slice_ps);
    }
}

impl Pool for View<'_> {
    fn idle(&self) -> Option<WorkerId> {
        let mut workers = self.machine.workers_of(self.pool);
        let found = workers.find(|&worker| self.machine.workers[worker].doing == Doing::Idle);
        found.map(|worker| WorkerId(worker as u32))
    }

    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId> {
        let is_idle = |seat: &u32| self.machine.workers[self.worker(*seat).index()].doing == Doing::Idle;
        seats.clone().find(is_idle).map(|seat| self.worker(seat))
    }

    fn len(&self, lane: Lane) -> u32 {
        self.machine.pools[self.pool].lanes[lane as usize].len() as u32
    }

    fn waiting_lanes(&self) -> u64 {
        let lanes = self.machine.pools[self.pool].lanes.iter().enumerate();
        lanes.filter(|(_, tasks)| !tasks.is_empty()).fold(0, |bits, (lane, _)| bits | 1 << lane)
    }

    fn head(&self, lane: Lane) -> Option<TaskId> {
        let head = self.machine.pools[self.pool].lanes[lane as usize].first();
        head.map(|&(_, task)| TaskId(task as u32))
    }

    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let lane = self.lane(lane);
        if lane.is_empty() {
            return None;
        }
        let (key, task) = lane.remove(0);
        self.machine.tasks[task].key = key;
        Some(TaskId(task as u32))
    }

    fn key(&self, task: TaskId) -> u64 {
        let lanes = self.machine.pools[self.pool].lanes.iter().flatten();
        let waiting = lanes.copied().find(|&(_, other)| other == task.index());
        waiting.map_or(self.machine.tasks[task.index()].key, |(key, _)| key)
    }

    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        let lane = self.lane(lane);
        let at = if end == End::Head { 0 } else { lane.len() };
        lane.insert(at, (0, task.index()));
    }

    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        let lane = self.lane(lane);
        let at = lane.iter().position(|&(other, _)| other > key).unwrap_or(lane.len());
        lane.insert(at, (key, task.index()));
    }

    fn run(&mut self, worker: WorkerId, task: TaskId, quantum: Picos) {
        let (worker, task) = (worker.index(), task.index());
        let machine = &mut *self.machine;
        let (now_ps, costs) = (machine.now_ps, machine.costs);
        let mut start_ps = now_ps;
        let entry = &machine.workers[worker];
        let sleeps = entry.doing == Doing::Idle && now_ps >= entry.idle_since_ps + costs.sleep_after.0;
        if sleeps {
            start_ps += costs.wake_up.0;
        }
        let fresh = machine.tasks[task].first_ps.is_none();
        if fresh {
            machine.tasks[task].first_ps = Some(now_ps);
            machine.account.switching_ps += u128::from(costs.start.0);
            start_ps += costs.start.0;
        }
        machine.tasks[task].overhead_ps += start_ps - now_ps;
        if start_ps > now_ps {
            machine.workers[worker].paying_until_ps = start_ps;
        }
        if !fresh && costs.dispatcher_quantum.0 > 0 {
            start_ps = start_ps.max(machine.dispatcher_free_ps) + costs.dispatcher_quantum.0;
            machine.dispatcher_free_ps = start_ps;
        }
        let class = machine.tasks[task].class;
        let event = Event::Started { worker: worker as u32, number: task as u64, class };
        machine.log.push((start_ps, event));
        self.begin_slice(worker, task, start_ps, quantum);
    }

    fn resume(&mut self, worker: WorkerId, quantum: Picos) {
        let task = self.machine.stopped.take().expect("only a task that has stopped is resumed");
        self.begin_slice(worker.index(), task, self.machine.now_ps, quantum);
    }

    fn preempt(&mut self, worker: WorkerId) -> bool {
        let now_ps = self.machine.now_ps;
        let entry = &mut self.machine.workers[worker.index()];
        let due_ps = entry.due_ps.expect("what runs has an end");
        let in_time = matches!(entry.doing, Doing::Running(_)) && !entry.stopping && due_ps > now_ps;
        if in_time {
            entry.stopping = true;
            entry.due_ps = Some(due_ps.min(now_ps.max(entry.paying_until_ps)));
        }
        in_time
    }

    fn seat(&self, worker: WorkerId) -> u32 {
        worker.0 - self.machine.first_worker[self.pool] as u32
    }

    fn worker(&self, seat: u32) -> WorkerId {
        WorkerId(self.machine.first_worker[self.pool] as u32 + seat)
    }

    fn workers(&self) -> u32 {
        self.machine.sharers(self.pool) as u32
    }

    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)> {
        let worker = self.machine.first_worker[self.pool] + i as usize;
        let task = self.machine.running(worker).filter(|_| !self.machine.workers[worker].stopping);
        task.map(|task| (WorkerId(worker as u32), TaskId(task as u32)))
    }

    fn attained(&self, task: TaskId) -> Picos {
        Picos(self.machine.attained_ps(task.index()))
    }

    fn remaining(&self, task: TaskId) -> Picos {
        Picos(self.machine.left_ps(task.index()))
    }
}
