//! The state of the loop for contexts without its disciplines: the clock, the workers, the tasks, the accounts. [`super`] calls its steps
//! at each event, after a discipline has decided.

use std::ops::Range;

use caudal_config::Costs;
use caudal_policy::discipline::{End, Lane, Pool};
use caudal_policy::{Picos, TaskId, WorkerId};

use super::speeds::Speeds;
use super::task::{NEVER as NOT_YET, Task};
use crate::engine::kernel::account::Account;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::events::{self, Due};
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::record::{Completed, Recorder};
use crate::engine::kernel::source::work_ps;
use crate::engine::kernel::tasks::{Queue, Tasks};
use crate::engine::kernel::tree::{NEVER, WinnerTree};
use crate::engine::kernel::window::{Audit, Counting, Measured};

/// The activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Idle,
    /// It runs a task; an event says until when.
    Running,
    /// Between an event and the next decision, within one instant.
    Between,
    /// It switches from one task to the next; an event says until when.
    Switching,
    /// Load adaptation has switched it off.
    Off,
    /// It checks another pool; an event says until when.
    Checking,
    /// It moves tasks from another pool; an event says until when.
    Stealing,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) phase: Phase,
    /// Set while its task has been asked to stop.
    pub(super) stopping: bool,
    /// Does its task complete when its event comes?
    pub(super) completes: bool,
    /// Is its task waiting for memory, because others have used the caches meanwhile?
    pub(super) loading: bool,
    /// Does it take a part of its core?
    active: bool,
    pub(super) pool: u32,
    pub(super) core: u32,
    /// The task that it runs.
    pub(super) task: u32,
    /// Up to when its task's work is accounted for.
    since_ps: u64,
    /// When its task has to stop, complete or not.
    pub(super) ends_ps: u64,
    /// When its caches are warm.
    warm_ps: u64,
    /// When its event comes.
    pub(super) due_ps: u64,
}

/// The queues of one pool.
pub(super) struct Lanes {
    pub(super) queues: Box<[Queue]>,
    /// The lanes with tasks in them, a bit each.
    waiting: u64,
    by_key: bool,
    /// The first worker, and the one after the last.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) resumed: bool,
}

/// Compiled for 2^`LEVELS` workers at most, or for any number if that is 0.
pub(super) struct ContextsSite<M, O, const LEVELS: u32> {
    pub(super) now_ps: u64,
    keys: Keys,
    pub(super) tree: WinnerTree,
    pub(super) idle: BitSet,
    pub(super) workers: Box<[Worker]>,
    pub(super) lanes: Box<[Lanes]>,
    pub(super) tasks: Tasks<Task>,
    pub(super) speeds: M,
    pub(super) costs: Costs,
    pub(super) account: Account,
    /// Events so far, arrivals included.
    pub(super) events: u64,
    settled_ps: u64,
    pub(super) recorder: Recorder,
    pub(super) measured: Measured,
    /// The worker that an arrival has asked to stop: its event is the next one, whatever the tree says.
    pub(super) called: Option<usize>,
    pub(super) observer: O,
}

/// Lanes of a pool, as its discipline wants them.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneKind {
    pub(super) count: u32,
    pub(super) by_key: bool,
}

impl<M: Speeds, O: Sink, const LEVELS: u32> ContextsSite<M, O, LEVELS> {
    pub(super) fn new(
        sizes: &[u32],
        kind: LaneKind,
        (speeds, costs): (M, Costs),
        (recorder, measured): (Recorder, Measured),
        observer: O,
    ) -> Self {
        let count: u32 = sizes.iter().sum();
        let leaves = if LEVELS == 0 { count } else { 1 << LEVELS };
        assert!(count <= leaves && kind.count <= u64::BITS);
        let mut workers = Vec::with_capacity(count as usize);
        let mut lanes = Vec::with_capacity(sizes.len());
        for (pool, &size) in sizes.iter().enumerate() {
            let first = workers.len() as u32;
            let worker = |number: u32| Worker {
                phase: Phase::Between,
                stopping: false,
                completes: false,
                loading: false,
                active: false,
                pool: pool as u32,
                core: number / speeds.contexts(),
                task: u32::MAX,
                since_ps: 0,
                ends_ps: 0,
                warm_ps: 0,
                due_ps: 0,
            };
            workers.extend((first..first + size).map(worker));
            lanes.push(Lanes {
                queues: vec![Queue::EMPTY; kind.count as usize].into(),
                waiting: 0,
                by_key: kind.by_key,
                first,
                end: first + size,
                resumed: false,
            });
        }
        ContextsSite {
            now_ps: 0,
            keys: Keys::new(leaves),
            tree: WinnerTree::new(leaves as usize),
            idle: BitSet::new(workers.len()),
            workers: workers.into(),
            lanes: lanes.into(),
            tasks: Tasks::new(),
            speeds,
            costs,
            account: Account::default(),
            events: 0,
            settled_ps: 0,
            recorder,
            measured,
            called: None,
            observer,
        }
    }

    #[inline(always)]
    pub(super) fn schedule(&mut self, worker: usize, due_ps: u64) {
        self.workers[worker].due_ps = due_ps;
        self.tree.set_in::<LEVELS>(worker, self.keys().of(worker, due_ps));
    }

    #[inline(always)]
    pub(super) fn keys(&self) -> Keys {
        self.keys.for_levels(LEVELS)
    }

    #[inline(always)]
    fn begin(&mut self, worker: usize, task: u32, quantum: Picos) {
        let now_ps = self.now_ps;
        let place = &mut self.tasks[task];
        place.next = worker as u32;
        // It is the latest time as long as it has not started.
        place.start_ps = place.start_ps.min(now_ps);
        let entry = &mut self.workers[worker];
        let was_idle = entry.phase == Phase::Idle;
        entry.phase = Phase::Running;
        entry.stopping = false;
        entry.task = task;
        entry.since_ps = now_ps;
        entry.ends_ps = now_ps.saturating_add(quantum.0).saturating_add(self.costs.overrun.0);
        if was_idle {
            self.idle.remove(worker);
        }
        if M::SHARED {
            self.warm_up(worker, task);
        }
        self.time(worker);
        if O::ON {
            let (number, class) = (self.tasks[task].number(), self.tasks[task].class());
            self.observer.observe(now_ps, Event::Started { worker: worker as u32, number, class });
        }
    }

    /// `worker` begins to run `task`: at once, or when its caches are warm again. While it waits for memory, the other
    /// contexts have the core.
    fn warm_up(&mut self, worker: usize, task: u32) {
        let cold = self.costs.cold_miss.0 > 0 && self.tasks[task].preemptions > 0;
        let entry = &mut self.workers[worker];
        entry.loading = cold;
        entry.warm_ps = self.now_ps + self.costs.cold_miss.0;
        self.set_active(worker, !cold);
    }

    /// The caches of `worker` are warm.
    pub(super) fn is_warm(&mut self, worker: usize) {
        self.workers[worker].loading = false;
        self.set_active(worker, true);
        self.time(worker);
    }

    /// Sets the event of a running worker whose work is accounted for up to now.
    #[inline(always)]
    fn time(&mut self, worker: usize) {
        let (task, core, ends_ps) = {
            let entry = &self.workers[worker];
            (entry.task, entry.core, entry.ends_ps)
        };
        if M::SHARED && self.workers[worker].loading {
            self.workers[worker].completes = false;
            let due_ps = self.workers[worker].warm_ps.min(ends_ps);
            return self.schedule(worker, due_ps);
        }
        let work_ps = self.tasks[task].remaining_ps;
        let takes_ps =
            if M::SHARED { (work_ps as f64 / self.speeds.rate(core)).ceil() as u64 } else { work_ps };
        let done_ps = self.now_ps + takes_ps;
        self.workers[worker].completes = done_ps <= ends_ps;
        self.schedule(worker, done_ps.min(ends_ps));
    }

    /// `worker` takes a part of its core, or leaves it: others of the core go slower, or faster, from now on.
    #[inline(always)]
    pub(super) fn set_active(&mut self, worker: usize, active: bool) {
        if M::SHARED && self.workers[worker].active != active {
            self.workers[worker].active = active;
            self.change_speed(worker, active);
        }
    }

    fn change_speed(&mut self, worker: usize, busy: bool) {
        let core = self.workers[worker].core;
        let contexts = self.speeds.contexts() as usize;
        let siblings = core as usize * contexts..(core as usize + 1) * contexts;
        let running =
            |site: &Self, other: usize| other != worker && site.workers[other].phase == Phase::Running;
        // What was done so far was done at the old speed.
        for other in siblings.clone() {
            if running(self, other) {
                self.account_for(other);
            }
        }
        if !self.speeds.set_busy(core, busy) {
            return;
        }
        for other in siblings {
            // Who stops at this very time does so.
            if running(self, other) && self.workers[other].due_ps > self.now_ps {
                self.time(other);
            }
        }
    }

    /// Work of a running worker up to now goes into the accounts and is off its task.
    #[inline(always)]
    pub(super) fn account_for(&mut self, worker: usize) {
        let entry = &mut self.workers[worker];
        let elapsed_ps = self.now_ps - entry.since_ps;
        entry.since_ps = self.now_ps;
        let task = &mut self.tasks[entry.task];
        let done_ps = if !M::SHARED {
            elapsed_ps
        } else if entry.completes && entry.due_ps == self.now_ps {
            task.remaining_ps
        } else if entry.loading {
            0
        } else {
            ((elapsed_ps as f64 * self.speeds.rate(entry.core)).round() as u64).min(task.remaining_ps)
        };
        task.remaining_ps -= done_ps;
        task.attained_ps += elapsed_ps;
        self.account.busy_ps += u128::from(done_ps);
    }

    /// Work and time of a running worker that are not accounted for yet.
    #[inline]
    fn unaccounted(&self, worker: usize) -> (u64, u64) {
        let entry = &self.workers[worker];
        let elapsed_ps = self.now_ps - entry.since_ps;
        let done_ps = if M::SHARED && entry.loading {
            0
        } else if M::SHARED {
            (elapsed_ps as f64 * self.speeds.rate(entry.core)).round() as u64
        } else {
            elapsed_ps
        };
        (done_ps.min(self.tasks[entry.task].remaining_ps), elapsed_ps)
    }

    /// The worker that runs `task`, if any does.
    #[inline]
    fn runner(&self, task: u32) -> Option<usize> {
        // Of a task that waits, this is some other task, and nobody's name for it.
        let worker = self.tasks[task].next as usize;
        let runs = |entry: &Worker| entry.phase == Phase::Running && entry.task == task;
        self.workers.get(worker).is_some_and(runs).then_some(worker)
    }

    /// `task` goes back into a lane.
    #[inline(always)]
    pub(super) fn preempted(&mut self, worker: usize, task: u32) {
        let place = &mut self.tasks[task];
        place.preemptions += 1;
        self.account.preemptions += 1;
        if O::ON {
            let number = place.number();
            self.observer.observe(self.now_ps, Event::Stopped { worker: worker as u32, number });
        }
    }

    /// The task of `worker` has completed and leaves.
    #[inline(always)]
    pub(super) fn complete(&mut self, worker: usize, task: u32) {
        let done = self.tasks.remove(task);
        self.account.completed += 1;
        if self.measured.complete(done.number()) {
            let sojourn_ps = self.now_ps - done.arrival_ps;
            let work_ps = work_ps(done.service_ps, self.costs.probe_factor);
            let queued_ps = done.start_ps - done.arrival_ps;
            // Slower service is time that went to somebody else: neither waiting nor work.
            let overhead_ps = if M::SHARED { done.attained_ps - work_ps } else { 0 };
            self.recorder.push(Completed {
                sojourn_ps,
                service_ps: done.service_ps,
                queued_ps,
                overhead_ps,
                work_ps,
                preemptions: done.preemptions,
                class: done.class(),
            });
        }
        if O::ON {
            let event = Event::Completed { worker: worker as u32, number: done.number() };
            self.observer.observe(self.now_ps, event);
        }
    }

    #[inline(always)]
    pub(super) fn go_idle(&mut self, worker: usize, was_busy: bool) {
        self.workers[worker].phase = Phase::Idle;
        self.idle.insert(worker);
        if was_busy {
            self.tree.set_in::<LEVELS>(worker, NEVER);
            self.set_active(worker, false);
        }
    }

    /// Does any task wait in `pool`?
    pub(super) fn has_waiting(&self, pool: usize) -> bool {
        self.lanes[pool].waiting != 0
    }

    /// Takes the first task of `lane` of `pool` that has begun nowhere.
    pub(super) fn take_unstarted(&mut self, pool: usize, lane: Lane) -> Option<u32> {
        let lanes = &mut self.lanes[pool];
        let queue = &mut lanes.queues[lane as usize];
        // Those that have begun stay where they are.
        let mut passed = Vec::new();
        let found = loop {
            let Some(task) = queue.pop_front(&self.tasks) else { break None };
            if self.tasks[task].start_ps == NOT_YET {
                break Some(task);
            }
            passed.push(task);
        };
        for task in passed.into_iter().rev() {
            queue.push_front(&mut self.tasks, task);
        }
        lanes.waiting &= !(u64::from(queue.len() == 0) << (lane % u64::BITS));
        found
    }

    pub(super) fn rebase(&mut self, base_ps: u64) {
        events::rebase(&mut self.keys, &mut self.tree, &self.workers, base_ps);
    }

    /// The first event of a worker.
    pub(super) fn first_due_ps(&self) -> Option<u64> {
        events::first_due_ps(&self.tree, &self.workers)
    }
}

impl Due for Worker {
    fn due_ps(&self) -> u64 {
        self.due_ps
    }
}

impl<M: Speeds, O: Sink, const LEVELS: u32> Counting for ContextsSite<M, O, LEVELS> {
    fn measured(&mut self) -> &mut Measured {
        &mut self.measured
    }
}

impl<M: Speeds, O: Sink, const LEVELS: u32> Audit for ContextsSite<M, O, LEVELS> {
    #[inline]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    #[inline]
    fn measured_is_done(&self) -> bool {
        self.measured.are_done()
    }

    fn account(&mut self) -> Account {
        let span_ps = self.now_ps - self.settled_ps;
        self.settled_ps = self.now_ps;
        self.account.held_ps += (span_ps as f64 * self.speeds.capacity()) as u128;
        let mut account = self.account;
        for worker in 0..self.workers.len() {
            if self.workers[worker].phase == Phase::Running {
                account.busy_ps += u128::from(self.unaccounted(worker).0);
            }
        }
        account
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        Vec::new()
    }
}

/// The host's side of pool number `pool` while its discipline decides.
pub(super) struct ContextsPool<'a, M, O, const LEVELS: u32> {
    pub(super) site: &'a mut ContextsSite<M, O, LEVELS>,
    pub(super) pool: usize,
    /// Is this the last event at this time? Then a worker that is asked to stop does so at once.
    pub(super) is_last: bool,
}

impl<M: Speeds, O: Sink, const LEVELS: u32> ContextsPool<'_, M, O, LEVELS> {
    #[inline(always)]
    fn lanes(&self) -> &Lanes {
        &self.site.lanes[self.pool]
    }
}

impl<M: Speeds, O: Sink, const LEVELS: u32> Pool for ContextsPool<'_, M, O, LEVELS> {
    #[inline(always)]
    fn idle(&self) -> Option<WorkerId> {
        let (idle, start) = (&self.site.idle, self.lanes().first as usize);
        let first = if LEVELS == 0 { idle.first_from(start) } else { idle.first_of_few(start) };
        first.map(|first| first as u32).filter(|&first| first < self.lanes().end).map(WorkerId)
    }

    #[inline]
    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId> {
        let start = self.lanes().first;
        let first = self.site.idle.first_from((start + seats.start) as usize)? as u32;
        (first < start + seats.end).then_some(WorkerId(first))
    }

    #[inline(always)]
    fn len(&self, lane: Lane) -> u32 {
        self.lanes().queues[lane as usize].len()
    }

    #[inline(always)]
    fn head(&self, lane: Lane) -> Option<TaskId> {
        self.lanes().queues[lane as usize].head().map(TaskId)
    }

    #[inline(always)]
    fn waiting_lanes(&self) -> u64 {
        self.lanes().waiting
    }

    #[inline(always)]
    fn key(&self, task: TaskId) -> u64 {
        self.site.tasks[task.0].key
    }

    #[inline(always)]
    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let lanes = &mut self.site.lanes[self.pool];
        let queue = &mut lanes.queues[lane as usize];
        let task = queue.pop_front(&self.site.tasks)?;
        // No branch: whether others are left is a toss.
        lanes.waiting &= !(u64::from(queue.len() == 0) << (lane % u64::BITS));
        Some(TaskId(task))
    }

    #[inline(always)]
    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        let lanes = &mut self.site.lanes[self.pool];
        lanes.waiting |= 1 << (lane % u64::BITS);
        let queue = &mut lanes.queues[lane as usize];
        match end {
            End::Head => queue.push_front(&mut self.site.tasks, task.0),
            End::Tail => queue.push_back(&mut self.site.tasks, task.0),
        }
    }

    #[inline(always)]
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        let lanes = &mut self.site.lanes[self.pool];
        assert!(lanes.by_key, "lanes of this discipline are queues");
        lanes.waiting |= 1 << (lane % u64::BITS);
        self.site.tasks[task.0].key = key;
        lanes.queues[lane as usize]
            .insert(&mut self.site.tasks, task.0, |tasks, other| tasks[other].key > key);
    }

    #[inline(always)]
    fn run(&mut self, worker: WorkerId, task: TaskId, quantum: Picos) {
        self.site.begin(worker.index(), task.0, quantum);
    }

    #[inline(always)]
    fn resume(&mut self, worker: WorkerId, quantum: Picos) {
        let (worker, now_ps) = (worker.index(), self.site.now_ps);
        let entry = &mut self.site.workers[worker];
        entry.phase = Phase::Running;
        entry.stopping = false;
        entry.ends_ps = now_ps.saturating_add(quantum.0).saturating_add(self.site.costs.overrun.0);
        self.site.time(worker);
        self.site.lanes[self.pool].resumed = true;
    }

    #[inline(always)]
    fn preempt(&mut self, worker: WorkerId) -> bool {
        let (worker, now_ps) = (worker.index(), self.site.now_ps);
        let entry = &mut self.site.workers[worker];
        // A task that completes, or stops, at this very time needs no request; one whose caches are warm now does.
        let only_warm = M::SHARED && entry.loading && entry.ends_ps > now_ps;
        if entry.phase != Phase::Running || entry.stopping || entry.due_ps == now_ps && !only_warm {
            return false;
        }
        entry.stopping = true;
        entry.completes = false;
        if !M::SHARED && self.is_last && self.site.called.is_none() {
            entry.due_ps = now_ps;
            self.site.called = Some(worker);
        } else {
            self.site.schedule(worker, now_ps);
        }
        true
    }

    #[inline(always)]
    fn seat(&self, worker: WorkerId) -> u32 {
        worker.0 - self.lanes().first
    }

    #[inline(always)]
    fn worker(&self, seat: u32) -> WorkerId {
        WorkerId(self.lanes().first + seat)
    }

    fn workers(&self) -> u32 {
        self.lanes().end - self.lanes().first
    }

    fn present(&self) -> u32 {
        let Lanes { first, end, .. } = *self.lanes();
        let workers = &self.site.workers[first as usize..end as usize];
        workers.iter().filter(|worker| worker.phase != Phase::Off).count() as u32
    }

    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)> {
        let worker = self.lanes().first + i;
        let entry = &self.site.workers[worker as usize];
        (entry.phase == Phase::Running && !entry.stopping).then_some((WorkerId(worker), TaskId(entry.task)))
    }

    #[inline(always)]
    fn preemption_is_free(&self) -> bool {
        self.site.costs.preemption.0 == 0
    }

    #[inline(always)]
    fn attained_at_rest(&self, task: TaskId) -> Picos {
        Picos(self.site.tasks[task.0].attained_ps)
    }

    #[inline]
    fn attained(&self, task: TaskId) -> Picos {
        let attained_ps = self.site.tasks[task.0].attained_ps;
        Picos(attained_ps + self.site.runner(task.0).map_or(0, |worker| self.site.unaccounted(worker).1))
    }

    #[inline]
    fn remaining(&self, task: TaskId) -> Picos {
        let remaining_ps = self.site.tasks[task.0].remaining_ps;
        Picos(remaining_ps - self.site.runner(task.0).map_or(0, |worker| self.site.unaccounted(worker).0))
    }
}
