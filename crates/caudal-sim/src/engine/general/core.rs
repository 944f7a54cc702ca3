//! What every part of a host shares: the clock, the workers, the tasks, the books.
//!
//! Events are totally ordered by (time, kind, worker): at one time arrivals come first, then tasks that
//! were handed over, then workers by id, then ticks. All are kept as one `u64`, see [`super::tree`].

use caudal_config::Costs;
use caudal_policy::dispatch::Asks;

use super::bits::BitSet;
use super::keys::Keys;
use super::observe::{Event, Sink};
use super::open::OpenPools;
use super::record::{Completed, Recorder};
use super::tasks::{NONE, Tasks};
use super::tree::{NEVER, WinnerTree};
use super::walks::Walks;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
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
    /// It turns from one task to the next; an event says until when.
    Switching,
    /// It works for the scheduler; an event says until when.
    Paying,
    /// It walks in the ring of thieves; its event is its alarm.
    Looking,
    /// It walks while nothing can happen; an event says when the last walk of that time begins.
    WalkingOn,
    /// It looks at one more queue, outside the ring, because something waits for the end of this check.
    LookingLate,
    /// It moves tasks from a victim; an event says until when.
    Stealing,
    /// It moves tasks from a pool that flagged it; an event says until when.
    Shedding,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) phase: Phase,
    pub(super) pool: u32,
    /// The task that it runs.
    pub(super) task: u32,
    /// Set while that task has been asked to stop.
    pub(super) stopping: bool,
    /// Work that will have been done when the event comes.
    pub(super) slice_ps: u64,
    /// When its event comes.
    pub(super) due_ps: u64,
    /// It works for the scheduler until then, if that is later than now.
    pub(super) paying_until_ps: u64,
    /// The pool that flagged it, or `NONE`.
    pub(super) flag: u32,
    /// Number of its current walk, and when that began.
    pub(super) walk: u64,
    pub(super) walk_began_ps: u64,
    /// The place before which the walk ends.
    pub(super) walk_end: u16,
    /// The place that it looks at in `LookingLate`.
    pub(super) at: u16,
    /// The pool that it steals from or sheds for.
    pub(super) victim: u32,
    /// Of the first worker of a pool: tasks on their way there.
    pub(super) inbound: u32,
    /// Since when it has been in `Idle`, or was there last.
    pub(super) idle_since_ps: u64,
}

/// Core time by what it went to, in ps, and counts of what happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Work on requests, probes included.
    pub busy_ps: u128,
    /// Work that arrived, probes included.
    pub offered_ps: u128,
    /// Cores held, from the decision to grow on.
    pub held_ps: u128,
    /// Cores on their way.
    pub allocating_ps: u128,
    /// Checks of walks.
    pub looking_ps: u128,
    /// Moving tasks from victims and overloaded pools.
    pub moving_ps: u128,
    /// Placing requests at other workers.
    pub placing_ps: u128,
    /// Turning from one task to the next, beginning and finishing requests included.
    pub switching_ps: u128,
    /// Cores that the machine took away, while they were held; what a worker did meanwhile is counted as well, if it is
    /// counted from begin to end: walks of thieves.
    pub stalled_ps: u128,
    /// Preemptions.
    pub preemptions: u64,
    /// Steals, those that found nothing any more included.
    pub steals: u64,
    /// Steals that found nothing any more.
    pub steals_empty: u64,
    /// Flags answered.
    pub sheds: u64,
    /// Cores granted.
    pub grants: u64,
    /// Arrivals that found no spare core, under per-task allocation.
    pub grants_refused: u64,
    /// Requests completed.
    pub completed: u64,
    /// Of those, how many were given up: nobody helped them any more.
    pub given_up: u64,
    /// How long those took from arrival to completion.
    pub given_up_ps: u128,
}

impl Account {
    pub(crate) fn since(&self, start: &Account) -> Account {
        Account {
            busy_ps: self.busy_ps - start.busy_ps,
            offered_ps: self.offered_ps - start.offered_ps,
            held_ps: self.held_ps - start.held_ps,
            allocating_ps: self.allocating_ps - start.allocating_ps,
            looking_ps: self.looking_ps - start.looking_ps,
            moving_ps: self.moving_ps - start.moving_ps,
            placing_ps: self.placing_ps - start.placing_ps,
            switching_ps: self.switching_ps - start.switching_ps,
            stalled_ps: self.stalled_ps - start.stalled_ps,
            preemptions: self.preemptions - start.preemptions,
            steals: self.steals - start.steals,
            steals_empty: self.steals_empty - start.steals_empty,
            sheds: self.sheds - start.sheds,
            grants: self.grants - start.grants,
            grants_refused: self.grants_refused - start.grants_refused,
            completed: self.completed - start.completed,
            given_up: self.given_up - start.given_up,
            given_up_ps: self.given_up_ps - start.given_up_ps,
        }
    }
}

/// Shared state of a host; see the [module](self).
pub(super) struct Core<O> {
    pub(super) now_ps: u64,
    /// Events of workers below this one, at this time, are over.
    pub(super) acting: u32,
    pub(super) keys: Keys,
    pub(super) tree: WinnerTree,
    pub(super) workers: Box<[Worker]>,
    /// First worker of each pool, and one past the last: `pool_first[pool] .. pool_first[pool + 1]`.
    pub(super) pool_first: Box<[u32]>,
    pub(super) tasks: Tasks,
    /// Workers in `Phase::Idle`, if anybody asks.
    pub(super) idle: BitSet,
    pub(super) asks_idle: bool,
    pub(super) open: OpenPools,
    /// Tasks that wait in queues of pools.
    pub(super) waiting: u32,
    pub(super) walkers: u32,
    pub(super) costs: Costs,
    /// Does it take time until a worker begins with a request that nobody has begun?
    beginning_costs: bool,
    /// When the dispatcher has finished what it has been given.
    pub(super) dispatcher_free_ps: u64,
    pub(super) account: Account,
    /// Events so far, arrivals included.
    pub(super) events: u64,
    /// Cores held, and of those the ones that are here; the books are settled up to `settled_ps`.
    pub(super) held: u32,
    pub(super) here: u32,
    settled_ps: u64,
    pub(super) recorder: Recorder,
    /// Requests numbered in this range are measured.
    pub(super) measured: std::ops::Range<u64>,
    /// Of those, how many have not completed.
    pub(super) measured_left: u64,
    /// Do workers walk?
    pub(super) walks: bool,
    pub(super) ring: Walks,
    /// By pool: its place in the order of walks, whether thieves look at it, and whether it has tasks for them.
    /// Empty unless workers walk.
    pub(super) place: Box<[u16]>,
    pub(super) is_held: Box<[bool]>,
    pub(super) has_tasks: Box<[bool]>,
    /// By worker: has it something better to do than to go on ([`OWN_TASKS`], [`FLAGGED`])?
    pub(super) attention: Box<[u8]>,
    pub(super) observer: O,
}

/// Bit of [`Core::attention`]: the worker's own pool has tasks.
pub(super) const OWN_TASKS: u8 = 1;
/// Bit of [`Core::attention`]: the worker has been flagged.
pub(super) const FLAGGED: u8 = 2;

impl<O: Sink> Core<O> {
    pub(super) fn new(sizes: &[u32], costs: Costs, asks: Asks, recorder: Recorder, observer: O) -> Core<O> {
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
            measured: 0..0,
            measured_left: 0,
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
    pub(super) fn rebase(&mut self, base_ps: u64) {
        self.keys.rebase(base_ps);
        for worker in 0..self.workers.len() {
            if self.tree.get(worker) != NEVER {
                self.tree.set(worker, self.keys.of(worker, self.workers[worker].due_ps));
            }
        }
    }

    /// The first event of a worker.
    pub(super) fn first_due_ps(&self) -> Option<u64> {
        let due = |worker: &usize| self.tree.get(*worker) != NEVER;
        (0..self.workers.len()).filter(due).map(|worker| self.workers[worker].due_ps).min()
    }

    /// Held core time up to now goes into the books.
    pub(super) fn settle(&mut self) {
        let span_ps = u128::from(self.now_ps - self.settled_ps);
        self.account.held_ps += span_ps * u128::from(self.held);
        self.account.allocating_ps += span_ps * u128::from(self.held - self.here);
        self.settled_ps = self.now_ps;
    }

    /// `worker`'s event is at `due_ps`.
    #[inline(always)]
    pub(super) fn schedule(&mut self, worker: usize, due_ps: u64) {
        self.workers[worker].due_ps = due_ps;
        let key = self.keys.of(worker, due_ps);
        self.tree.set(worker, key);
    }

    #[inline(always)]
    pub(super) fn unschedule(&mut self, worker: usize) {
        self.tree.set(worker, NEVER);
    }

    #[inline]
    pub(super) fn workers_of(&self, pool: usize) -> std::ops::Range<usize> {
        self.pool_first[pool] as usize..self.pool_first[pool + 1] as usize
    }

    /// An idle worker becomes anything else.
    #[inline(always)]
    pub(super) fn leave_idle(&mut self, worker: usize) {
        if self.workers[worker].phase == Phase::Idle {
            if self.asks_idle {
                self.idle.remove(worker);
            }
            self.workers[worker].phase = Phase::Between;
        }
    }

    /// `worker` turns to `task` for a slice of `slice_ps`; returns when the slice ends.
    #[inline(always)]
    pub(super) fn begin(&mut self, worker: usize, task: u32, slice_ps: u64) {
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

    /// Who runs `task`, if anybody does.
    #[inline]
    pub(super) fn runner(&self, task: u32) -> Option<usize> {
        // Of a task that waits, this is some other task, and nobody's name for it.
        let worker = self.tasks[task].next as usize;
        let runs = |entry: &Worker| entry.phase == Phase::Running && entry.task == task;
        self.workers.get(worker).is_some_and(runs).then_some(worker)
    }

    /// Work that `worker` has done in its current slice.
    #[inline]
    pub(super) fn slice_done_ps(&self, worker: usize) -> u64 {
        let entry = &self.workers[worker];
        let left_ps = entry.due_ps - self.now_ps.max(entry.paying_until_ps).min(entry.due_ps);
        entry.slice_ps.saturating_sub(left_ps)
    }

    /// `task` has completed and leaves; it ran on `worker` last.
    #[inline(always)]
    pub(super) fn complete(&mut self, worker: usize, task: u32, stretch: f64) {
        let done = self.tasks.remove(task);
        self.book(worker, &done, stretch);
    }

    /// `done` has completed and left; it ran on `worker` last.
    #[inline(always)]
    pub(super) fn book(&mut self, worker: usize, done: &Task, stretch: f64) {
        self.open.sub(self.workers[worker].pool as usize);
        self.account.completed += 1;
        if self.measured.contains(&done.number) {
            self.measured_left -= 1;
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
    pub(super) fn stalled(&mut self, worker: Option<u32>, length_ps: u64) {
        if O::ON {
            self.observer.observe(self.now_ps, Event::Stalled { worker, length_ps });
        }
    }

    /// The first task joins, or the last one leaves, what thieves may take from `pool`.
    #[inline(always)]
    pub(super) fn mark_stealable(&mut self, pool: usize, some: bool) {
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
    pub(super) fn mark_waiting(&mut self, pool: usize, some: bool) {
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

    /// `worker` looks up when its current check, if any, is over.
    #[inline(always)]
    pub(super) fn call(&mut self, worker: usize, why: u8) {
        self.attention[worker] |= why;
        if self.workers[worker].phase == Phase::Looking {
            let end_ps = self.leave_ring(worker);
            self.schedule(worker, end_ps);
        }
    }

    /// `worker` ends its current check outside the ring of thieves; returns when.
    #[inline(always)]
    pub(super) fn leave_ring(&mut self, worker: usize) -> u64 {
        let end_ps = self.look_up(worker);
        self.drop_from_ring(worker);
        end_ps
    }

    /// `worker`, which is in the ring of thieves, is to leave it; returns when its current check ends.
    #[inline(always)]
    pub(super) fn look_up(&mut self, worker: usize) -> u64 {
        let position = self.ring.position(worker as u16, self.now_ps, self.acting);
        let entry = &mut self.workers[worker];
        entry.phase = Phase::LookingLate;
        entry.at = self.ring.place(position.rank).expect("a thief is at a held pool");
        position.end_ps
    }

    /// `worker` is not in the ring of thieves any more.
    #[inline(always)]
    pub(super) fn drop_from_ring(&mut self, worker: usize) {
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

use super::tasks::Task;

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

/// Work of a request of `service_ps` with probes that stretch it.
#[inline]
pub(super) fn work_ps(service_ps: u64, stretch: f64) -> u64 {
    if stretch == 1.0 { service_ps } else { ((service_ps as f64 * stretch).round() as u64).max(service_ps) }
}
