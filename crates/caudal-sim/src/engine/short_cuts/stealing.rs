//! The short cut for work stealing: a first-come-first-served queue for each core, on the same cores all the time, without an observer.
//! The engine calls [`run`] once a run, when `route` says so. It owns the run's state.
//!
//! These systems are simulated most when systems are compared. Here no task is ever stopped, no core is granted or revoked, and
//! dispatch reads no counts. So a worker runs a task, walks, makes the last check of its walk because its own pool has got a task, or
//! steals. The general loop does the same with three times the instructions; tests compare the two.

use std::sync::atomic::AtomicBool;

use caudal_policy::dispatch::{AnyBlind, Blind};
use caudal_policy::random::Draw;
use caudal_policy::rebalance::{RebalanceConfig, WorkStealing};

use super::thieves::{CHECK_MAX_PS, Doing, Events, FEW, Few, Many, Thieves};
use crate::engine::kernel::account::Account;
use crate::engine::kernel::intake::is_set;
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::long::Long;
use crate::engine::kernel::places::AllOpen;
use crate::engine::kernel::record::{Plain, Recorder};
use crate::engine::kernel::run::{Outcome, Run, outcome};
use crate::engine::kernel::source;
use crate::engine::kernel::source::Source;
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tasks::{Linked, NONE, Queue, Tasks};
use crate::engine::kernel::walks::walk_order;
use crate::engine::kernel::window::{Audit, Measured, Window};
use caudal_workload::Demand;

/// A worker and its pool: one cache line.
#[repr(align(64))]
struct Worker {
    /// Does it run a long request?
    long: Long,
    queue: Queue,
    /// The pool that it steals from, or checks last.
    victim: u16,
    /// Workers that steal from its pool, or check it last.
    visitors: u16,
    /// The request that it runs; only requests that wait are in the slab, which is small then.
    running: Request,
}

const _: () = assert!(size_of::<Worker>() == 64);

/// A request that does not wait.
#[derive(Clone, Copy, Default)]
struct Request {
    arrival_ps: u64,
    service_ps: u64,
    class: u8,
    long: bool,
    /// Is it among those that are measured?
    counts: bool,
}

/// A request that waits.
#[derive(Clone, Copy)]
struct Waiting {
    arrival_ps: u64,
    service_ps: u64,
    /// Of its pool when it joined, see [`Long::behind_ps`].
    behind_ps: u64,
    next: u32,
    class: u8,
    long: bool,
    counts: bool,
}

impl Linked for Waiting {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// See the [module](self).
struct Stealing<'a, T, D, const LEVELS: u32> {
    now_ps: u64,
    events: Events<LEVELS>,
    thieves: T,
    workers: Box<[Worker]>,
    tasks: Tasks<Waiting>,
    dispatch: D,
    dispatch_seed: u64,
    source: Source,
    steal_ps: u64,
    /// The factor by which probes stretch a service time.
    stretch: f64,
    /// Requests longer than this are long.
    long_ps: u64,
    measured: Measured,
    account: Account,
    /// Time that requests have waited behind long ones, by class.
    behind_sums_ps: Vec<u128>,
    /// Requests on their way to the recorder.
    plain: Box<Plain>,
    recorder: Recorder,
    window: Window,
    /// See [`Run::stop`].
    stop: Option<&'a AtomicBool>,
    /// Tasks on their way to a thief.
    moving: Vec<u32>,
}

/// Runs queues of one core each under work stealing: [`Route::Stealing`](crate::engine::Route::Stealing).
pub(in crate::engine) fn run(run: &Run<'_>) -> Outcome {
    let RebalanceConfig::WorkStealing(config) = run.system.rebalance else {
        unreachable!("nobody else takes this route")
    };
    let (cores, check_ps) = (run.system.cores, run.costs.steal_check.0);
    let policy = WorkStealing::new(config);
    let order = walk_order(run.seed, cores as usize);
    let seed = stream(run.seed, Purpose::Walk);
    if cores as usize > FEW || !(2..=CHECK_MAX_PS).contains(&check_ps) {
        let times_ps = (check_ps, run.costs.steal.0);
        let many = Many::new(policy, times_ps, order, seed);
        // A tree of a known height takes 3 % fewer instructions a request; others are too rare to be compiled for each.
        return match cores {
            513..=1024 => run_by::<_, 10>(run, many),
            _ => run_by::<_, 0>(run, many),
        };
    }
    match cores {
        ..=16 => run_by::<_, 4>(run, Few::<_, 16>::new(policy, check_ps, order, seed)),
        17..=32 => run_by::<_, 5>(run, Few::<_, 32>::new(policy, check_ps, order, seed)),
        _ => run_by::<_, 6>(run, Few::<_, 64>::new(policy, check_ps, order, seed)),
    }
}

/// The same with thieves of this type.
pub(super) fn run_by<T: Thieves<LEVELS>, const LEVELS: u32>(run: &Run<'_>, thieves: T) -> Outcome {
    let dispatch = AnyBlind::of(run.system.dispatch).expect("this route has no other dispatch");
    Stealing::new(run, dispatch, thieves).run()
}

impl<'a, T: Thieves<LEVELS>, D: Blind, const LEVELS: u32> Stealing<'a, T, D, LEVELS> {
    fn new(run: &Run<'a>, dispatch: D, mut thieves: T) -> Stealing<'a, T, D, LEVELS> {
        let (cores, recorder) = (run.system.cores, run.recorder());
        let mut events = Events::new(cores);
        assert!(cores <= u32::from(u16::MAX));
        let worker = |_| Worker {
            long: Long::default(),
            queue: Queue::EMPTY,
            victim: 0,
            visitors: 0,
            running: Request::default(),
        };
        (0..cores as usize).for_each(|worker| thieves.join(&mut events, worker, 0));
        Stealing {
            now_ps: 0,
            events,
            thieves,
            workers: (0..cores).map(worker).collect(),
            tasks: Tasks::new(),
            dispatch,
            dispatch_seed: stream(run.seed, Purpose::Dispatch),
            source: run.source(),
            steal_ps: run.costs.steal.0,
            stretch: run.costs.probe_factor,
            long_ps: run.long_ps(),
            measured: Measured::new(run.length),
            account: Account::default(),
            behind_sums_ps: vec![0; recorder.classes.len()],
            plain: Box::new(Plain::EMPTY),
            recorder,
            window: Window::new(run.length, run.patience_ps()),
            stop: run.stop,
            moving: Vec::new(),
        }
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    fn run(mut self) -> Outcome {
        loop {
            let Some(arrival_ps) = self.source.peek_ps() else {
                self.drain();
                break;
            };
            let arrival = self.events.keys.before(arrival_ps);
            self.events_before(arrival);
            if Keys::is_far(arrival) {
                self.rebase_to_next();
            } else if self.at_arrival() {
                break;
            }
        }
        self.recorder.push_plain(&mut self.plain);
        self.recorder.flush();
        // Arrivals, completions, and for each steal the find and its end: what else thieves do is worked out without events.
        let events = self.source.taken() + self.account.completed + 2 * self.account.steals;
        outcome(self.recorder, self.window, self.measured.left(), (self.now_ps, events))
    }

    /// All events before `end`.
    #[inline(always)]
    fn events_before(&mut self, end: u64) {
        loop {
            let (next, alarm) = (self.events.min(), self.thieves.key());
            if next.min(alarm) >= end {
                return;
            }
            if alarm < next {
                let worker = self.at_event(alarm);
                self.after_alarm(worker);
            } else {
                self.at_worker(next);
            }
        }
    }

    /// There are no more arrivals: what is in the system completes. One event at a time, because thieves
    /// that find nothing would walk for ever.
    fn drain(&mut self) {
        self.with_window(|window, audit| window.close(audit));
        self.measured.end_arrivals(self.source.taken());
        while !self.measured.are_done() && !is_set(self.stop) {
            let next = self.events.min().min(self.thieves.key());
            if Keys::is_far(next) {
                self.rebase_to_next();
            } else {
                self.events_before(next + 1);
            }
        }
    }

    #[inline(always)]
    fn with_window<V>(&mut self, ask: impl FnOnce(&mut Window, &mut Audited<'_, T, LEVELS>) -> V) -> V {
        let Stealing { window, thieves, events, workers, tasks, account, behind_sums_ps, .. } = self;
        let (now_ps, measured_left, stretch) = (self.now_ps, self.measured.left(), self.stretch);
        let accounts = (&*account, &behind_sums_ps[..]);
        ask(
            window,
            &mut Audited { now_ps, measured_left, thieves, events, workers, tasks, stretch, accounts },
        )
    }

    /// All that is left lies too far ahead for keys to tell it apart.
    #[cold]
    fn rebase_to_next(&mut self) {
        let next_ps = [self.source.peek_ps(), self.events.first_ps(), self.thieves.first_ps()];
        self.rebase(next_ps.into_iter().flatten().min().unwrap_or(self.now_ps));
    }

    #[cold]
    fn rebase(&mut self, base_ps: u64) {
        self.events.rebase(base_ps);
        self.thieves.rebase(self.events.keys);
    }

    /// A batch of requests was drawn: keys are kept small. `true` if the run was told to stop.
    #[inline(never)]
    fn is_stopped_at_batch(&mut self, arrival_ps: u64) -> bool {
        if self.events.keys.are_old(arrival_ps) {
            self.rebase(arrival_ps);
        }
        is_set(self.stop)
    }

    /// A request arrives; `true` ends the run.
    #[inline(always)]
    fn at_arrival(&mut self) -> bool {
        let (number, arrival_ps, demand) = self.source.take();
        self.now_ps = arrival_ps;
        if self.source.at_batch_start() && self.is_stopped_at_batch(arrival_ps) {
            return true;
        }
        if self.is_over(number) {
            return true;
        }
        let request = Request {
            arrival_ps,
            service_ps: demand.service_ps,
            class: demand.class,
            long: demand.service_ps > self.long_ps,
            counts: self.measured.contains(number),
        };
        self.account.offered_ps += u128::from(self.work_ps(&request));
        let draw = Draw::new(self.dispatch_seed, number);
        let pool = self.dispatch.place(draw, &AllOpen { pools: self.workers.len() as u32 });
        self.arrive(pool.index(), request);
        false
    }

    #[inline(always)]
    fn arrive(&mut self, pool: usize, request: Request) {
        if self.events.doing(pool) == Doing::Walking {
            let called = self.thieves.call(&mut self.events, pool, self.now_ps);
            if called.alone && self.workers[pool].visitors == 0 {
                // Whatever comes until then, this request is the next that the worker runs.
                self.thieves.end(pool, called.end_ps);
                return self.begin(pool, request, called.end_ps);
            }
            self.workers[pool].victim = called.last as u16;
            self.workers[called.last].visitors += 1;
            self.events.set(pool, called.end_ps, Doing::LastCheck);
        }
        let task = self.insert(request);
        self.workers[pool].queue.push_back(&mut self.tasks, task);
        self.joined(pool, task);
        if self.workers[pool].queue.len() == 1 {
            self.thieves.set_stealable(&mut self.events, pool, self.now_ps, 0);
        }
    }

    /// Is the run over, now that request `number` arrives?
    #[inline(always)]
    fn is_over(&mut self, number: u64) -> bool {
        if self.window.is_before_mark(number) {
            return self.window.is_closed() && self.measured.are_done();
        }
        self.with_window(|window, audit| window.at_mark(number, audit))
    }

    /// Time that a request takes on a core, in ps.
    #[inline(always)]
    fn work_ps(&self, request: &Request) -> u64 {
        source::work_ps(request.service_ps, self.stretch)
    }

    /// `request` has to wait.
    #[inline(always)]
    fn insert(&mut self, request: Request) -> u32 {
        let Request { arrival_ps, service_ps, class, long, counts } = request;
        self.tasks.insert(Waiting { arrival_ps, service_ps, behind_ps: 0, next: NONE, class, long, counts })
    }

    /// `task` waits in the queue of `pool` from now on.
    #[inline(always)]
    fn joined(&mut self, pool: usize, task: u32) {
        self.tasks[task].behind_ps = self.workers[pool].long.behind_ps(self.now_ps);
    }

    /// The oldest task of `pool`, if it has any, leaves its queue.
    #[inline(always)]
    fn leave(&mut self, pool: usize) -> Option<u32> {
        let worker = &mut self.workers[pool];
        let task = worker.queue.pop_front(&self.tasks)?;
        let entry = &self.tasks[task];
        let waited_ps = worker.long.behind_ps(self.now_ps).wrapping_sub(entry.behind_ps);
        self.behind_sums_ps[entry.class as usize] += u128::from(waited_ps);
        Some(task)
    }

    /// It waits no more.
    #[inline(always)]
    fn take(&mut self, pool: usize) -> Option<Request> {
        let task = self.leave(pool)?;
        let Waiting { arrival_ps, service_ps, class, long, counts, .. } = self.tasks.remove(task);
        Some(Request { arrival_ps, service_ps, class, long, counts })
    }

    /// The worker whose event comes now.
    #[inline(always)]
    fn at_event(&mut self, key: u64) -> usize {
        let (now_ps, worker) = self.events.keys.event(key);
        self.now_ps = now_ps;
        worker
    }

    #[inline(always)]
    fn at_worker(&mut self, key: u64) {
        let worker = self.at_event(key);
        match Events::<LEVELS>::doing_by(key) {
            Doing::Running => {
                self.complete(worker);
                self.run_or_walk(worker);
            }
            Doing::Stealing => self.after_steal(worker),
            Doing::LastCheck => self.after_last_check(worker),
            Doing::Walking => self.after_alarm(worker),
        }
    }

    #[inline(always)]
    fn after_alarm(&mut self, worker: usize) {
        if let Some(victim) = self.thieves.after_alarm(&mut self.events, worker, self.now_ps) {
            self.start_steal(worker, victim);
        }
    }

    #[inline(always)]
    fn complete(&mut self, worker: usize) {
        let entry = &mut self.workers[worker];
        let done = entry.running;
        entry.long.change(self.now_ps, -i64::from(done.long));
        let work_ps = self.work_ps(&done);
        self.account.busy_ps += u128::from(work_ps);
        self.account.completed += 1;
        self.measured.complete_if(done.counts);
        let demand = Demand { service_ps: done.service_ps, class: done.class };
        self.plain.push_if(done.counts, self.now_ps - done.arrival_ps, work_ps, demand);
        if self.plain.is_full() {
            self.recorder.push_plain(&mut self.plain);
        }
    }

    /// `worker` runs the oldest task of its pool, or begins to walk.
    #[inline(always)]
    fn run_or_walk(&mut self, worker: usize) {
        let Some(request) = self.take(worker) else {
            return self.thieves.join(&mut self.events, worker, self.now_ps);
        };
        if self.workers[worker].queue.len() == 0 {
            self.thieves.clear_stealable(&mut self.events, worker, self.now_ps, worker);
        }
        self.begin(worker, request, self.now_ps);
    }

    /// `worker` runs `request` from `start_ps` on.
    #[inline(always)]
    fn begin(&mut self, worker: usize, request: Request, start_ps: u64) {
        let work_ps = self.work_ps(&request);
        let entry = &mut self.workers[worker];
        entry.running = request;
        entry.long.change(start_ps, i64::from(request.long));
        self.events.set(worker, start_ps + work_ps, Doing::Running);
    }

    /// The last check of `worker` is over; its own pool comes first.
    #[inline(always)]
    fn after_last_check(&mut self, worker: usize) {
        let last = self.workers[worker].victim as usize;
        self.workers[last].visitors -= 1;
        if self.workers[worker].queue.len() > 0 {
            self.thieves.end(worker, self.now_ps);
            return self.run_or_walk(worker);
        }
        if let Some(victim) = self.thieves.finish_last_check(&mut self.events, worker, self.now_ps) {
            self.start_steal(worker, victim);
        }
    }

    #[inline(always)]
    fn start_steal(&mut self, worker: usize, victim: usize) {
        self.account.moving_ps += u128::from(self.steal_ps);
        self.workers[worker].victim = victim as u16;
        self.workers[victim].visitors += 1;
        self.events.set(worker, self.now_ps + self.steal_ps, Doing::Stealing);
    }

    /// The thief takes what is there by now; that may be nothing.
    #[inline(always)]
    fn after_steal(&mut self, worker: usize) {
        let victim = self.workers[worker].victim as usize;
        self.workers[victim].visitors -= 1;
        let waiting = self.workers[victim].queue.len();
        let amount = self.thieves.steal_amount(waiting);
        self.account.steals += 1;
        if amount == 0 {
            self.account.steals_empty += 1;
            return self.run_or_walk(worker);
        }
        let first = self.take(victim).expect("the victim has as many tasks");
        if amount > 1 {
            self.move_tasks(victim, worker, amount - 1);
        }
        if amount == waiting {
            self.thieves.clear_stealable(&mut self.events, victim, self.now_ps, worker);
        } else {
            self.thieves.leave_stealable(&mut self.events, victim, self.now_ps, worker);
        }
        self.begin(worker, first, self.now_ps);
    }

    /// The oldest `amount` tasks of `victim` go to the front of the queue of `worker`.
    fn move_tasks(&mut self, victim: usize, worker: usize, amount: u32) {
        self.moving.clear();
        for _ in 0..amount {
            let task = self.leave(victim).expect("the victim has as many tasks");
            self.moving.push(task);
        }
        let had_none = self.workers[worker].queue.len() == 0;
        while let Some(task) = self.moving.pop() {
            self.workers[worker].queue.push_front(&mut self.tasks, task);
            self.joined(worker, task);
        }
        if had_none {
            self.thieves.set_stealable(&mut self.events, worker, self.now_ps, worker);
        }
    }
}

/// The machine as the marks of a run see it.
struct Audited<'a, T, const LEVELS: u32> {
    now_ps: u64,
    measured_left: u64,
    thieves: &'a T,
    events: &'a Events<LEVELS>,
    workers: &'a [Worker],
    tasks: &'a Tasks<Waiting>,
    stretch: f64,
    accounts: (&'a Account, &'a [u128]),
}

impl<T: Thieves<LEVELS>, const LEVELS: u32> Audit for Audited<'_, T, LEVELS> {
    #[inline(always)]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    #[inline(always)]
    fn measured_is_done(&self) -> bool {
        self.measured_left == 0
    }

    fn account(&mut self) -> Account {
        let mut account = *self.accounts.0;
        account.held_ps = self.workers.len() as u128 * u128::from(self.now_ps);
        account.looking_ps = self.thieves.checked_ps();
        for (id, worker) in self.workers.iter().enumerate() {
            match self.events.doing(id) {
                Doing::Running => {
                    let left_ps = self.events.due_ps(id) - self.now_ps;
                    let work_ps = source::work_ps(worker.running.service_ps, self.stretch);
                    account.busy_ps += u128::from(work_ps.saturating_sub(left_ps));
                    if left_ps >= work_ps {
                        // It still walks: arrivals come before workers of the same time.
                        account.looking_ps -= self.thieves.counted_ps(id, self.events.due_ps(id) - work_ps);
                        account.looking_ps += self.thieves.uncounted_ps(id, self.now_ps);
                    }
                }
                Doing::Walking | Doing::LastCheck => {
                    account.looking_ps += self.thieves.uncounted_ps(id, self.now_ps);
                }
                Doing::Stealing => {}
            }
        }
        account
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        let mut sums_ps = self.accounts.1.to_vec();
        for worker in self.workers {
            let behind_ps = worker.long.behind_ps(self.now_ps);
            for task in worker.queue.iter(self.tasks) {
                let entry = &self.tasks[task];
                sums_ps[entry.class as usize] += u128::from(behind_ps.wrapping_sub(entry.behind_ps));
            }
        }
        sums_ps.into_iter().map(|sum_ps| sum_ps as f64).collect()
    }
}
