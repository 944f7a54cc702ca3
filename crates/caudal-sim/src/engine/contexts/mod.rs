//! The loop of the engine for workers that are never granted or revoked: lanes on all cores of a machine, from which nobody steals, and
//! cores with hardware contexts, of which idle ones may steal ([`thieves`]). The engine calls [`run`] or [`run_cores`] once a run, when
//! `route` says so. It owns the run's state and touches nothing else.
//!
//! This is a loop of its own for two reasons. After every event the general loop checks whether a worker has to be flagged, granted,
//! woken or stolen from; where none of that can happen, a request with lanes takes half of its time here. And contexts that share a
//! core slow each other down: when one of them begins or ends to work, the events of the others move ([`Speeds`]), which events of the
//! general loop never do. Systems that both loops can run have the same results in both, to the last bit.
//!
//! Of a core with contexts ([`Contexts`] over [`SharedSpeeds`]):
//!
//! * A context does `throughput(active) / active` of what it does alone; work is timed anew when that changes, the ends of
//!   quanta are not: they count time on a context, whatever was done in it.
//! * Requests that find all *virtual contexts* of their pool taken wait before the first lane.
//! * Who stops a task pays `costs.preemption`, and counts as active meanwhile. The task finds its caches cold when it runs
//!   again: for `costs.cold_miss` it waits for memory, takes its context and nothing of the core.
//! * Load adaptation ([`LoadAdaptation`]) switches contexts off when they have nothing to run, and on at once.
//!
//! A shared queue may cost: each request takes `costs.dispatcher` of one server, in the order of arrival, before it is in
//! the queue.

mod site;
mod speeds;
mod task;
mod thieves;

use std::collections::VecDeque;

use caudal_config::ContextsConfig;
use caudal_policy::contexts::LoadAdaptation;
use caudal_policy::discipline::{AnyDiscipline, Discipline, Order, Stopped, has_ties};
use caudal_policy::dispatch::{AnyBlind, Blind, DispatchConfig, Sita};
use caudal_policy::random::Draw;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

use self::speeds::{SharedSpeeds, Speeds, WholeCores};

use self::site::{ContextsPool, ContextsSite, LaneKind, Phase};
use self::task::Task;
use self::thieves::Thieves;
use crate::engine::kernel::intake::{Arrival, Intake};
use crate::engine::kernel::keys::{FAR, Keys};
use crate::engine::kernel::observe::{Event, Sink, Unwatched};
use crate::engine::kernel::places::AllOpen;
use crate::engine::kernel::run::{Outcome, Run, outcome};
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tree::NEVER;
use crate::engine::kernel::window::Measured;

/// Runs cores with hardware contexts, under any discipline.
pub(in crate::engine) fn run<O: Sink>(run: &Run<'_>, observer: O) -> Outcome {
    let speeds = run.system.contexts.as_ref().map_or_else(|| vec![1.0], ContextsConfig::speeds);
    let speeds = SharedSpeeds::new(run.system.cores, &speeds);
    let discipline = run.system.discipline;
    if has_ties(discipline) {
        Contexts::<_, _, _, 0>::new(run, speeds, observer, || AnyDiscipline::<true>::new(discipline)).run()
    } else {
        Contexts::<_, _, _, 0>::new(run, speeds, observer, || AnyDiscipline::<false>::new(discipline)).run()
    }
}

/// Runs pools of whole cores that nobody takes from, under the lanes that `make` makes: [`Route::Lanes`](crate::engine::Route::Lanes).
pub(in crate::engine) fn run_cores<D: Discipline>(run: &Run<'_>, make: impl Fn() -> D) -> Outcome {
    let cores = run.system.cores;
    // Keys and their tree of a known size take a seventh of the instructions; others are too rare to be compiled for each.
    match cores {
        ..=8 => Contexts::<_, _, _, 3>::new(run, WholeCores { cores }, Unwatched, make).run(),
        _ => Contexts::<_, _, _, 0>::new(run, WholeCores { cores }, Unwatched, make).run(),
    }
}

/// A pool's discipline, and what stands before its lanes.
struct PoolDoor<D> {
    discipline: D,
    /// Tasks inside, and how many there can be.
    admitted: u32,
    virtual_contexts: u32,
    outside: VecDeque<u32>,
    adaptation: Option<LoadAdaptation>,
    /// Workers that are not off, and how many there are to be.
    open: u32,
    wanted: u32,
}

/// See the [module](self). Compiled for 2^`LEVELS` workers at most, or for any number if that is 0.
struct Contexts<'a, D, M, O, const LEVELS: u32> {
    site: ContextsSite<M, O, LEVELS>,
    doors: Box<[PoolDoor<D>]>,
    dispatch: Entry,
    dispatch_seed: u64,
    intake: Intake<'a>,
    /// The thieves; none if no context steals.
    thieves: Option<Thieves>,
    /// Requests that the shared queue's lock has yet to let in, with the time at which it does.
    at_dispatcher: VecDeque<(u64, u32)>,
    dispatcher_free_ps: u64,
    /// End of the current window of load adaptation.
    next_window_ps: u64,
    /// The earlier of the two.
    side_key: u64,
    /// The earlier of that and that of the next arrival, if it is not far.
    next_key: u64,
}

/// How requests find their pool: by no count, which this loop does not keep.
enum Entry {
    Blind(AnyBlind),
    /// By their service time.
    BySize(Sita),
}

impl Entry {
    /// Dispatch by `config`, which a rule has checked.
    fn of(config: DispatchConfig) -> Entry {
        match (config, AnyBlind::of(config)) {
            (DispatchConfig::Sita(config), _) => Entry::BySize(Sita::new(config)),
            (_, Some(blind)) => Entry::Blind(blind),
            (_, None) => unreachable!("a rule refuses policies that read counts"),
        }
    }
}

impl<'a, D: Discipline, M: Speeds, O: Sink, const LEVELS: u32> Contexts<'a, D, M, O, LEVELS> {
    fn new(run: &Run<'a>, speeds: M, observer: O, make: impl Fn() -> D) -> Self {
        let config = run.system.contexts.as_ref();
        let adaptation = config.and_then(|config| config.adaptation);
        let sizes = run.pool_sizes();
        let first = make();
        let kind = LaneKind { count: first.lanes(), by_key: first.order() != Order::Queue };
        let counted = (run.recorder(), Measured::new(run.length));
        let door = |&size: &u32| PoolDoor {
            discipline: make(),
            admitted: 0,
            virtual_contexts: config.and_then(|config| config.virtual_of(size)).unwrap_or(u32::MAX),
            outside: VecDeque::new(),
            adaptation: adaptation.map(LoadAdaptation::new),
            open: size,
            wanted: size,
        };
        let doors: Box<[PoolDoor<D>]> = sizes.iter().map(door).collect();
        let mut site = ContextsSite::new(&sizes, kind, (speeds, *run.costs), counted, observer);
        let thieves = match run.system.rebalance {
            RebalanceConfig::WorkStealing(config) if M::SHARED => {
                Some(Thieves::new(run, config, site.workers.len()))
            }
            _ => None,
        };
        if thieves.is_none() {
            (0..site.workers.len()).for_each(|worker| site.go_idle(worker, false));
        }
        // A table with one entry says the same after each window.
        let windows = adaptation.filter(|config| config.contexts.len() > 1);
        let mut host = Contexts {
            site,
            doors,
            dispatch: Entry::of(run.system.dispatch),
            dispatch_seed: stream(run.seed, Purpose::Dispatch),
            intake: Intake::of(run),
            thieves,
            at_dispatcher: VecDeque::new(),
            dispatcher_free_ps: 0,
            next_window_ps: windows.map_or(NEVER, |config| config.window.0),
            side_key: NEVER,
            next_key: FAR,
        };
        if M::SHARED && host.thieves.is_some() {
            (0..host.site.workers.len()).for_each(|worker| host.become_free(worker));
        }
        if let Some(config) = adaptation {
            (0..host.doors.len()).for_each(|pool| host.activate(pool, config.most()));
        }
        host
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    fn run(mut self) -> Outcome {
        self.refresh_side();
        self.refresh_arrival();
        while self.intake.key != NEVER || self.intake.has_to_drain(&mut self.site) {
            let due = self.site.tree.min();
            let worker = if due < self.next_key {
                self.first_at(due)
            } else if Keys::is_far(self.next_key) {
                self.rebase_to_next();
                continue;
            } else if self.intake.key <= self.side_key {
                if self.at_arrival() {
                    break;
                }
                let Some(worker) = self.called() else {
                    self.check_promises();
                    continue;
                };
                worker
            } else {
                self.at_side();
                self.check_promises();
                continue;
            };
            self.at_worker(worker);
            self.check_promises();
        }
        self.end()
    }

    /// Tells the observer of pools that are not as their discipline promises.
    #[inline(always)]
    fn check_promises(&mut self) {
        if !O::ON || !self.site.observer.checks() {
            return;
        }
        for pool in 0..self.doors.len() {
            let view = ContextsPool { site: &mut self.site, pool, is_last: false };
            if let Err(broken) = self.doors[pool].discipline.check(&view) {
                let now_ps = self.site.now_ps;
                self.site.observer.broken(now_ps, pool as u32, broken);
            }
        }
    }

    fn end(mut self) -> Outcome {
        self.site.recorder.flush();
        let ended = (self.site.now_ps, self.site.events);
        outcome(self.site.recorder, self.intake.window, self.site.measured.left(), ended)
    }

    /// The worker that the last arrival has asked to stop. No other event has the same time: those of workers came before
    /// the arrival, and the next arrival comes after them.
    #[inline(always)]
    fn called(&mut self) -> Option<usize> {
        let worker = self.site.called.take()?;
        if self.intake.key == NEVER {
            // The window closes before that.
            self.site.schedule(worker, self.site.now_ps);
            return None;
        }
        Some(worker)
    }

    #[inline(always)]
    fn refresh_arrival(&mut self) {
        self.intake.refresh(self.site.keys(), self.has_ties());
        self.refresh_next();
    }

    /// Does the discipline order the workers that have events at one time? Not where thieves walk: there the order of ids says which
    /// thief comes to a task first.
    #[inline(always)]
    fn has_ties(&self) -> bool {
        D::TIES && !(M::SHARED && self.thieves.is_some())
    }

    #[inline(always)]
    fn refresh_next(&mut self) {
        let side_key = if M::SHARED { self.side_key } else { NEVER };
        self.next_key = self.intake.key.min(side_key).min(FAR);
    }

    fn refresh_side(&mut self) {
        let entry_ps = self.at_dispatcher.front().map_or(NEVER, |first| first.0);
        let entry = match entry_ps {
            NEVER => NEVER,
            // As an arrival.
            _ if self.has_ties() => self.site.keys().after(entry_ps),
            _ => self.site.keys().before(entry_ps),
        };
        let window = match self.next_window_ps {
            NEVER => NEVER,
            window_ps => self.site.keys().after(window_ps),
        };
        self.side_key = entry.min(window);
        self.refresh_next();
    }

    /// All that is left lies too far ahead for keys to tell it apart.
    #[cold]
    fn rebase_to_next(&mut self) {
        let entry_ps = self.at_dispatcher.front().map(|first| first.0);
        let window_ps = Some(self.next_window_ps).filter(|&window_ps| window_ps != NEVER);
        let next_ps = [self.intake.peek_ps(), entry_ps, window_ps, self.site.first_due_ps()];
        self.rebase(next_ps.into_iter().flatten().min().unwrap_or(self.site.now_ps));
    }

    #[cold]
    fn rebase(&mut self, base_ps: u64) {
        self.site.rebase(base_ps);
        self.refresh_side();
        self.refresh_arrival();
    }

    /// A request arrives; `true` ends the run.
    #[inline(always)]
    fn at_arrival(&mut self) -> bool {
        let arrival = self.intake.take();
        let Arrival { number, at_ps: arrival_ps, demand, .. } = arrival;
        self.site.events += 1;
        self.site.now_ps = arrival_ps;
        if arrival.is_first_of_batch && self.site.keys().are_old(arrival_ps) {
            self.rebase(arrival_ps);
        }
        self.refresh_arrival();
        if self.intake.is_over(arrival, &mut self.site) {
            return true;
        }
        let work_ps = arrival.work_ps(self.site.costs.probe_factor);
        self.site.account.offered_ps += u128::from(work_ps);
        let task = Task::new(number, arrival_ps, (demand.service_ps, demand.class), work_ps);
        let task = self.site.tasks.insert(task);
        if O::ON {
            let event = Event::Arrived { number, class: demand.class, service_ps: demand.service_ps };
            self.site.observer.observe(arrival_ps, event);
        }
        if M::SHARED && self.site.costs.dispatcher.0 > 0 {
            self.queue_at_dispatcher(task);
        } else {
            self.place(task);
        }
        false
    }

    fn queue_at_dispatcher(&mut self, task: u32) {
        let free_ps = self.site.now_ps.max(self.dispatcher_free_ps) + self.site.costs.dispatcher.0;
        self.dispatcher_free_ps = free_ps;
        self.at_dispatcher.push_back((free_ps, task));
        self.refresh_side();
    }

    /// A request goes to its pool.
    #[inline(always)]
    fn place(&mut self, task: u32) {
        if self.doors.len() == 1 {
            return self.knock(task, 0);
        }
        let entry = &self.site.tasks[task];
        let draw = Draw::new(self.dispatch_seed, entry.number());
        let pool = match &mut self.dispatch {
            Entry::Blind(policy) => policy.place(draw, &AllOpen { pools: self.doors.len() as u32 }),
            Entry::BySize(policy) => policy.pool_of(Picos(entry.service_ps)),
        };
        self.knock(task, pool.index());
    }

    /// A request is at its pool, and goes in if there is a virtual context for it.
    #[inline(always)]
    fn knock(&mut self, task: u32, pool: usize) {
        if M::SHARED {
            let door = &mut self.doors[pool];
            if let Some(adaptation) = &mut door.adaptation {
                adaptation.on_arrival();
            }
            if door.admitted == door.virtual_contexts {
                return door.outside.push_back(task);
            }
            door.admitted += 1;
        }
        self.admit(task, pool);
    }

    #[inline(always)]
    fn admit(&mut self, task: u32, pool: usize) {
        let now = Instant(self.site.now_ps);
        // With ties, workers' events come before arrivals of the same time.
        let mut view = ContextsPool { site: &mut self.site, pool, is_last: D::TIES };
        self.doors[pool].discipline.on_arrival(now, TaskId(task), &mut view);
    }

    /// The worker whose event comes first, which has the least key.
    #[inline(always)]
    fn first_at(&mut self, key: u64) -> usize {
        let keys = self.site.keys();
        self.site.now_ps = keys.time_ps(key);
        let worker = keys.worker(key);
        if self.has_ties() && self.site.tree.has_rival_in::<LEVELS>(worker, keys.end_of(key)) {
            return self.first_by_tie(worker);
        }
        worker
    }

    #[inline(always)]
    fn at_worker(&mut self, worker: usize) {
        self.site.events += 1;
        let phase = self.site.workers[worker].phase;
        // Two branches that hardly ever change their minds; a match would be a jump through a table.
        if phase == Phase::Running {
            self.expire(worker);
        } else if M::SHARED && phase == Phase::Checking {
            self.after_check(worker);
        } else if M::SHARED && phase == Phase::Stealing {
            self.after_steal(worker);
        } else {
            assert!(phase == Phase::Switching, "no event is set in other phases");
            self.become_free(worker);
        }
    }

    /// The worker of a pool that acts first, among those of this pool that have an event now; `worker` is the one with the least id.
    #[cold]
    fn first_by_tie(&self, worker: usize) -> usize {
        let site = &self.site;
        let pool = site.workers[worker].pool;
        let door = &self.doors[pool as usize];
        let first = site.workers.iter().position(|other| other.pool == pool).unwrap_or(0);
        let due_now = |other: &usize| {
            let key = site.tree.get(*other);
            site.workers[*other].pool == pool && key != NEVER && site.keys().time_ps(key) == site.now_ps
        };
        let mates = (first..site.workers.len()).filter(due_now);
        mates.min_by_key(|&other| (door.discipline.tie((other - first) as u32), other)).unwrap_or(worker)
    }

    /// The event of a worker that runs a task has come.
    #[inline(always)]
    fn expire(&mut self, worker: usize) {
        self.site.account_for(worker);
        let entry = &mut self.site.workers[worker];
        if M::SHARED && entry.loading && !entry.stopping && entry.ends_ps > self.site.now_ps {
            return self.site.is_warm(worker);
        }
        entry.phase = Phase::Between;
        let (task, pool) = (entry.task, entry.pool as usize);
        let (id, now) = (WorkerId(worker as u32), Instant(self.site.now_ps));
        let why = if entry.stopping { Stopped::Preempted } else { Stopped::Quantum };
        let done = self.site.tasks[task].remaining_ps == 0;
        let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
        if done {
            self.doors[pool].discipline.on_completed(now, id, TaskId(task), &mut view);
            self.site.complete(worker, task);
            if M::SHARED {
                self.next_from_outside(pool, id);
            }
            return self.become_free(worker);
        }
        view.site.lanes[pool].resumed = false;
        self.doors[pool].discipline.on_stopped(now, id, TaskId(task), why, &mut view);
        if self.site.lanes[pool].resumed {
            return;
        }
        self.site.preempted(worker, task);
        let cost_ps = self.site.costs.preemption.0;
        if cost_ps == 0 {
            return self.become_free(worker);
        }
        self.site.account.switching_ps += u128::from(cost_ps);
        self.site.workers[worker].phase = Phase::Switching;
        self.site.set_active(worker, true);
        let due_ps = self.site.now_ps + cost_ps;
        self.site.schedule(worker, due_ps);
    }

    /// A virtual context is free again: the request that waits for it comes in before `free`, whose task has completed, chooses.
    fn next_from_outside(&mut self, pool: usize, free: WorkerId) {
        let door = &mut self.doors[pool];
        let Some(task) = door.outside.pop_front() else {
            door.admitted -= 1;
            return;
        };
        let now = Instant(self.site.now_ps);
        let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
        door.discipline.on_successor(now, TaskId(task), free, &mut view);
    }

    /// `worker` is between tasks: it runs its pool's next one, or idles.
    #[inline(always)]
    fn become_free(&mut self, worker: usize) {
        let pool = self.site.workers[worker].pool as usize;
        self.site.workers[worker].phase = Phase::Between;
        if M::SHARED && self.doors[pool].open > self.doors[pool].wanted {
            return self.switch_off(worker);
        }
        let now = Instant(self.site.now_ps);
        let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
        self.doors[pool].discipline.on_free(now, WorkerId(worker as u32), &mut view);
        if self.site.workers[worker].phase == Phase::Running {
            return;
        }
        if M::SHARED && self.thieves.is_some() {
            self.start_walk(worker);
        } else {
            self.site.go_idle(worker, true);
        }
    }

    /// An entry of the shared queue, or the end of a window.
    #[cold]
    fn at_side(&mut self) {
        let entry_ps = self.at_dispatcher.front().map_or(NEVER, |first| first.0);
        self.site.events += 1;
        if entry_ps <= self.next_window_ps {
            self.site.now_ps = entry_ps;
            if let Some((_, task)) = self.at_dispatcher.pop_front() {
                self.place(task);
            }
        } else {
            self.site.now_ps = self.next_window_ps;
            for pool in 0..self.doors.len() {
                self.adapt(pool);
            }
            let window =
                self.doors.first().and_then(|door| door.adaptation.as_ref()).map(LoadAdaptation::window);
            self.next_window_ps += window.map_or(NEVER - self.next_window_ps, |window| window.0);
        }
        self.refresh_side();
    }

    /// A window is over for the core of `pool`.
    fn adapt(&mut self, pool: usize) {
        let door = &mut self.doors[pool];
        let Some(adaptation) = &mut door.adaptation else { return };
        let wanted = adaptation.on_window();
        self.activate(pool, wanted);
    }

    /// From now on, so many workers of `pool` are to be active.
    fn activate(&mut self, pool: usize, wanted: u32) {
        let door = &mut self.doors[pool];
        if wanted == door.wanted {
            return;
        }
        door.wanted = wanted;
        door.discipline.on_workers(wanted);
        let workers: Vec<usize> = {
            let of_pool = |&worker: &usize| self.site.workers[worker].pool as usize == pool;
            (0..self.site.workers.len()).filter(of_pool).collect()
        };
        for &worker in workers.iter().rev() {
            let door = &self.doors[pool];
            if door.open > door.wanted && self.site.workers[worker].phase == Phase::Idle {
                self.site.idle.remove(worker);
                self.switch_off_idle(worker);
            }
        }
        for &worker in &workers {
            let door = &mut self.doors[pool];
            if door.open < door.wanted && self.site.workers[worker].phase == Phase::Off {
                door.open += 1;
                self.become_free(worker);
            }
        }
    }

    /// A busy worker has nothing to run any more, and is one too many.
    #[cold]
    fn switch_off(&mut self, worker: usize) {
        self.site.tree.set(worker, NEVER);
        self.site.set_active(worker, false);
        self.switch_off_idle(worker);
    }

    fn switch_off_idle(&mut self, worker: usize) {
        self.site.workers[worker].phase = Phase::Off;
        let (pool, now) = (self.site.workers[worker].pool as usize, Instant(self.site.now_ps));
        let door = &mut self.doors[pool];
        door.open -= 1;
        let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
        door.discipline.on_gone(now, WorkerId(worker as u32), &mut view);
    }
}
