//! The state that all parts of the general loop share: the clock, the workers, the tasks, the accounts. `host` owns it and lends it to
//! disciplines, `balance` and `allocate` for each of their steps.
//!
//! Events are totally ordered by (time, kind, worker): at one time arrivals come first, then tasks that
//! were handed over, then workers by id, then ticks. All are kept as one `u64`, see [`tree`](crate::engine::kernel::tree).

use caudal_config::Costs;
use caudal_policy::dispatch::Asks;

use super::open::OpenPools;
use crate::engine::kernel::account::Account;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::events::{self, Due};
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::record::{Completed, Recorder};
use crate::engine::kernel::source::work_ps;
use crate::engine::kernel::tasks::{NONE, Task, Tasks};
use crate::engine::kernel::tree::{NEVER, WinnerTree};
use crate::engine::kernel::walks::Walks;
use crate::engine::kernel::window::Measured;

/// The activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Phase {
    /// Its core is with another application.
    Parked,
    /// Its core is on the way; an event says when it is here.
    Allocating,
    /// Nothing. An event, if any, says when it has idled for as long as a walk takes.
    Idle,
    /// It runs a task; an event says until when.
    Running,
    /// Between an event and the next decision, within one instant.
    Between,
    /// It switches from one task to the next; an event says until when.
    Switching,
    /// It works for the scheduler; an event says until when.
    Paying,
    /// It walks in the ring of thieves; its event is its alarm.
    Walking,
    /// It walks while nothing can happen; an event says when the last walk of that time begins.
    WalkingOn,
    /// It checks one queue, outside the ring, because something waits for the end of this check.
    SingleCheck,
    /// It moves tasks from a victim; an event says until when.
    Stealing,
    /// It moves tasks from a pool that flagged it; an event says until when.
    Shedding,
}

#[derive(Clone, Debug)]
pub(in crate::engine) struct Worker {
    pub(in crate::engine) phase: Phase,
    pub(in crate::engine) pool: u32,
    /// The task that it runs.
    pub(in crate::engine) task: u32,
    /// Set while that task has been asked to stop.
    pub(in crate::engine) stopping: bool,
    /// Work that will have been done when the event comes.
    pub(in crate::engine) slice_ps: u64,
    /// When its event comes.
    pub(in crate::engine) due_ps: u64,
    /// It works for the scheduler until then, if that is later than now.
    pub(in crate::engine) paying_until_ps: u64,
    /// The pool that flagged it, or `NONE`.
    pub(in crate::engine) flag: u32,
    /// Number of its current walk, and when that began.
    pub(in crate::engine) walk: u64,
    pub(in crate::engine) walk_began_ps: u64,
    /// The place before which the walk ends.
    pub(in crate::engine) walk_end: u16,
    /// The place that it checks in `SingleCheck`.
    pub(in crate::engine) at: u16,
    /// The pool that it steals from or sheds for.
    pub(in crate::engine) victim: u32,
    /// Of the first worker of a pool: tasks on their way there.
    pub(in crate::engine) inbound: u32,
    /// Since when it has been in `Idle`, or was there last.
    pub(in crate::engine) idle_since_ps: u64,
}

/// Shared state of a host; see the [module](self).
pub(in crate::engine) struct Core<O> {
    pub(in crate::engine) now_ps: u64,
    /// Events of workers below this one, at this time, are over.
    pub(in crate::engine) acting: u32,
    pub(in crate::engine) keys: Keys,
    pub(in crate::engine) tree: WinnerTree,
    pub(in crate::engine) workers: Box<[Worker]>,
    /// First worker of each pool, and one past the last: `pool_first[pool] .. pool_first[pool + 1]`.
    pub(in crate::engine) pool_first: Box<[u32]>,
    pub(in crate::engine) tasks: Tasks,
    /// Workers in `Phase::Idle`, if anybody asks.
    pub(in crate::engine) idle: BitSet,
    pub(in crate::engine) asks_idle: bool,
    pub(in crate::engine) open: OpenPools,
    /// Tasks that wait in queues of pools.
    pub(in crate::engine) waiting: u32,
    pub(in crate::engine) walkers: u32,
    pub(in crate::engine) costs: Costs,
    /// Does it take time until a worker begins with a request that nobody has begun?
    beginning_costs: bool,
    /// When the dispatcher has finished what it has been given.
    pub(in crate::engine) dispatcher_free_ps: u64,
    pub(in crate::engine) account: Account,
    /// Events so far, arrivals included.
    pub(in crate::engine) events: u64,
    /// Cores held, and of those the ones that are here; the accounts are settled up to `settled_ps`.
    pub(in crate::engine) held: u32,
    pub(in crate::engine) here: u32,
    settled_ps: u64,
    pub(in crate::engine) recorder: Recorder,
    pub(in crate::engine) measured: Measured,
    /// Do workers walk?
    pub(in crate::engine) walks: bool,
    pub(in crate::engine) ring: Walks,
    /// By pool: its place in the order of walks, whether thieves check it, and whether it has tasks for them.
    /// Empty unless workers walk.
    pub(in crate::engine) place: Box<[u16]>,
    pub(in crate::engine) is_held: Box<[bool]>,
    pub(in crate::engine) has_tasks: Box<[bool]>,
    /// By worker: has it something better to do than to go on ([`OWN_TASKS`], [`FLAGGED`])?
    pub(in crate::engine) attention: Box<[u8]>,
    pub(in crate::engine) observer: O,
}

/// Bit of [`Core::attention`]: the worker's own pool has tasks.
pub(in crate::engine) const OWN_TASKS: u8 = 1;
/// Bit of [`Core::attention`]: the worker has been flagged.
pub(in crate::engine) const FLAGGED: u8 = 2;

impl<O: Sink> Core<O> {
    pub(in crate::engine) fn new(
        sizes: &[u32],
        costs: Costs,
        asks: Asks,
        (recorder, measured): (Recorder, Measured),
        observer: O,
    ) -> Core<O> {
        let count: u32 = sizes.iter().sum();
        let mut pool_first = vec![0];
        let mut workers = Vec::with_capacity(count as usize);
        for (pool, &size) in sizes.iter().enumerate() {
            workers.extend((0..size).map(|_| Worker::new(pool as u32)));
            pool_first.push(workers.len() as u32);
        }
        Core {
            now_ps: 0,
            acting: 0,
            keys: Keys::new(count),
            tree: WinnerTree::new(workers.len()),
            idle: BitSet::new(workers.len()),
            asks_idle: true,
            workers: workers.into_boxed_slice(),
            pool_first: pool_first.into_boxed_slice(),
            tasks: Tasks::new(),
            open: OpenPools::new(sizes.len(), asks != Asks::Nothing, asks == Asks::Shortest),
            waiting: 0,
            walkers: 0,
            beginning_costs: costs.start.0 > 0 || costs.wake_up.0 > 0,
            costs,
            dispatcher_free_ps: 0,
            account: Account::default(),
            events: 0,
            held: 0,
            here: 0,
            settled_ps: 0,
            recorder,
            measured,
            walks: false,
            ring: Walks::new(0, 0, 0),
            place: Box::default(),
            is_held: Box::default(),
            has_tasks: Box::default(),
            attention: vec![0; count as usize].into_boxed_slice(),
            observer,
        }
    }

    /// Counts keys from `base_ps`, which is not later than any event.
    pub(in crate::engine) fn rebase(&mut self, base_ps: u64) {
        events::rebase(&mut self.keys, &mut self.tree, &self.workers, base_ps);
    }

    /// The first event of a worker.
    pub(in crate::engine) fn first_due_ps(&self) -> Option<u64> {
        events::first_due_ps(&self.tree, &self.workers)
    }

    /// Held core time up to now goes into the accounts.
    pub(in crate::engine) fn settle(&mut self) {
        let span_ps = u128::from(self.now_ps - self.settled_ps);
        self.account.held_ps += span_ps * u128::from(self.held);
        self.account.allocating_ps += span_ps * u128::from(self.held - self.here);
        self.settled_ps = self.now_ps;
    }

    /// `worker`'s event is at `due_ps`.
    #[inline(always)]
    pub(in crate::engine) fn schedule(&mut self, worker: usize, due_ps: u64) {
        self.workers[worker].due_ps = due_ps;
        let key = self.keys.of(worker, due_ps);
        self.tree.set(worker, key);
    }

    #[inline(always)]
    pub(in crate::engine) fn unschedule(&mut self, worker: usize) {
        self.tree.set(worker, NEVER);
    }

    #[inline]
    pub(in crate::engine) fn workers_of(&self, pool: usize) -> std::ops::Range<usize> {
        self.pool_first[pool] as usize..self.pool_first[pool + 1] as usize
    }

    /// An idle worker becomes anything else.
    #[inline(always)]
    pub(in crate::engine) fn leave_idle(&mut self, worker: usize) {
        if self.workers[worker].phase == Phase::Idle {
            if self.asks_idle {
                self.idle.remove(worker);
            }
            self.workers[worker].phase = Phase::Between;
        }
    }

    /// `worker` begins to run `task` for a slice of `slice_ps`; returns when the slice ends.
    #[inline(always)]
    pub(in crate::engine) fn begin(&mut self, worker: usize, task: u32, slice_ps: u64) {
        let mut start_ps = self.now_ps;
        if self.beginning_costs {
            start_ps = self.pay_to_begin(worker, task);
        }
        self.leave_idle(worker);
        if self.costs.dispatcher_quantum.0 > 0 && self.tasks[task].started {
            // Every quantum but the first goes through the dispatcher's hands.
            start_ps = start_ps.max(self.dispatcher_free_ps) + self.costs.dispatcher_quantum.0;
            self.dispatcher_free_ps = start_ps;
        }
        let place = &mut self.tasks[task];
        place.next = worker as u32;
        if !place.started {
            place.started = true;
            place.queued_ps = self.now_ps - place.arrival_ps;
        }
        let entry = &mut self.workers[worker];
        entry.phase = Phase::Running;
        entry.task = task;
        entry.stopping = false;
        entry.slice_ps = slice_ps;
        self.schedule(worker, start_ps + slice_ps);
        if O::ON {
            let Task { number, class, .. } = self.tasks[task];
            self.observer.observe(start_ps, Event::Started { worker: worker as u32, number, class });
        }
    }

    /// `worker` wakes up if it sleeps, and takes `task` up if nobody has yet; returns when it has.
    #[inline(never)]
    fn pay_to_begin(&mut self, worker: usize, task: u32) -> u64 {
        let Costs { start, wake_up, sleep_after, .. } = self.costs;
        let entry = &mut self.workers[worker];
        let mut cost_ps = 0;
        if entry.phase == Phase::Idle && self.now_ps - entry.idle_since_ps >= sleep_after.0 {
            cost_ps += wake_up.0;
        }
        let place = &mut self.tasks[task];
        if !place.started {
            cost_ps += start.0;
            self.account.switching_ps += u128::from(start.0);
        }
        place.overhead_ps += cost_ps;
        let start_ps = self.now_ps + cost_ps;
        // Who stops the task before that stops it then.
        entry.paying_until_ps = entry.paying_until_ps.max(start_ps);
        start_ps
    }

    /// The worker that runs `task`, if any does.
    #[inline]
    pub(in crate::engine) fn runner(&self, task: u32) -> Option<usize> {
        // Of a task that waits, this is some other task, and nobody's name for it.
        let worker = self.tasks[task].next as usize;
        let runs = |entry: &Worker| entry.phase == Phase::Running && entry.task == task;
        self.workers.get(worker).is_some_and(runs).then_some(worker)
    }

    /// Work that `worker` has done in its current slice.
    #[inline]
    pub(in crate::engine) fn slice_done_ps(&self, worker: usize) -> u64 {
        let entry = &self.workers[worker];
        let left_ps = entry.due_ps - self.now_ps.max(entry.paying_until_ps).min(entry.due_ps);
        entry.slice_ps.saturating_sub(left_ps)
    }

    /// `task` has completed and leaves; it ran on `worker` last.
    #[inline(always)]
    pub(in crate::engine) fn complete(&mut self, worker: usize, task: u32, stretch: f64) {
        let done = self.tasks.remove(task);
        self.account_for(worker, &done, stretch);
    }

    /// `done` has completed and left; it ran on `worker` last.
    #[inline(always)]
    pub(in crate::engine) fn account_for(&mut self, worker: usize, done: &Task, stretch: f64) {
        self.open.sub(self.workers[worker].pool as usize);
        self.account.completed += 1;
        if self.measured.complete(done.number) {
            self.recorder.push(Completed {
                sojourn_ps: self.now_ps - done.arrival_ps,
                service_ps: done.service_ps,
                queued_ps: done.queued_ps,
                overhead_ps: done.overhead_ps,
                work_ps: work_ps(done.service_ps, stretch),
                preemptions: done.preemptions,
                class: done.class,
            });
        }
        if O::ON {
            self.observer
                .observe(self.now_ps, Event::Completed { worker: worker as u32, number: done.number });
        }
    }

    /// Says that a core stands still from now on: that of `worker`, or of the dispatcher.
    pub(in crate::engine) fn stalled(&mut self, worker: Option<u32>, length_ps: u64) {
        if O::ON {
            self.observer.observe(self.now_ps, Event::Stalled { worker, length_ps });
        }
    }

    /// The first task joins, or the last one leaves, what thieves may take from `pool`.
    #[inline(always)]
    pub(in crate::engine) fn mark_stealable(&mut self, pool: usize, some: bool) {
        if !self.walks || self.has_tasks[pool] == some {
            return;
        }
        self.has_tasks[pool] = some;
        if !self.is_held[pool] {
            return;
        }
        let rank = self.ring.rank(self.place[pool]);
        if !some {
            self.ring.clear_stealable(rank);
        } else if let Some((thief, due_ps)) = self.ring.set_stealable(rank, self.now_ps, self.acting)
            && due_ps < self.workers[thief as usize].due_ps
        {
            self.schedule(thief as usize, due_ps);
        }
    }

    /// The first task joins, or the last one leaves, what the workers of `pool` may run.
    #[inline(always)]
    pub(in crate::engine) fn mark_waiting(&mut self, pool: usize, some: bool) {
        if !self.walks {
            return;
        }
        for worker in self.pool_first[pool] as usize..self.pool_first[pool + 1] as usize {
            if some {
                self.call(worker, OWN_TASKS);
            } else {
                self.attention[worker] &= !OWN_TASKS;
            }
        }
    }

    /// `worker` attends to this when its current check, if any, is over.
    #[inline(always)]
    pub(in crate::engine) fn call(&mut self, worker: usize, why: u8) {
        self.attention[worker] |= why;
        if self.workers[worker].phase == Phase::Walking {
            let end_ps = self.leave_ring(worker);
            self.schedule(worker, end_ps);
        }
    }

    /// `worker` ends its current check outside the ring of thieves; returns when.
    #[inline(always)]
    pub(in crate::engine) fn leave_ring(&mut self, worker: usize) -> u64 {
        let end_ps = self.begin_single_check(worker);
        self.drop_from_ring(worker);
        end_ps
    }

    /// `worker`, which is in the ring of thieves, is to leave it; returns when its current check ends.
    #[inline(always)]
    pub(in crate::engine) fn begin_single_check(&mut self, worker: usize) -> u64 {
        let position = self.ring.position(worker as u16, self.now_ps, self.acting);
        let entry = &mut self.workers[worker];
        entry.phase = Phase::SingleCheck;
        entry.at = self.ring.place(position.rank).expect("a thief is at a held pool");
        position.end_ps
    }

    /// `worker` is not in the ring of thieves any more.
    #[inline(always)]
    pub(in crate::engine) fn drop_from_ring(&mut self, worker: usize) {
        let Core { ring, workers, tree, keys, now_ps, acting, .. } = self;
        ring.leave(worker as u16, *now_ps, *acting, |heir, due_ps| {
            let heir = heir as usize;
            if due_ps < workers[heir].due_ps {
                workers[heir].due_ps = due_ps;
                tree.set(heir, keys.of(heir, due_ps));
            }
        });
    }
}

impl Due for Worker {
    fn due_ps(&self) -> u64 {
        self.due_ps
    }
}

impl Worker {
    fn new(pool: u32) -> Worker {
        Worker {
            phase: Phase::Parked,
            pool,
            task: NONE,
            stopping: false,
            slice_ps: 0,
            due_ps: 0,
            paying_until_ps: 0,
            flag: NONE,
            walk: 0,
            walk_began_ps: 0,
            walk_end: 0,
            at: 0,
            victim: NONE,
            inbound: 0,
            idle_since_ps: 0,
        }
    }
}
