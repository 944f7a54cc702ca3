//! The host of the general loop: it takes the next event and carries out what that event asks for, arrivals and dispatch included.
//! [`super`] makes one for each run and calls it once; it owns the run's state.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use caudal_policy::allocation::{Allocation, CoreDemand};
use caudal_policy::dispatch::{Counts, Dispatch, Placement, Places, Shortest};
use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;
use caudal_policy::{Instant, Picos, PoolId};

use super::audit::Audited;
use super::core::{Core, Phase};
use super::scheduling::{Expired, Scheduling};
use super::stalls::{StallTimes, Stalled};
use crate::engine::kernel::intake::{Arrival, Intake};
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::run::Run;
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tasks::{NONE, Task};
use crate::engine::kernel::tree::NEVER;

/// A task on its way to a pool: (when it is there, order of departure, task, pool, has dispatch counted it there already?).
type Delivery = Reverse<(u64, u64, u32, u32, bool)>;

/// A simulated machine under scheduling `S` and rebalancing `R`, watched by `O`.
pub(in crate::engine) struct GeneralHost<'a, S, R, D, A, O> {
    pub(in crate::engine) core: Core<O>,
    pub(in crate::engine) sched: S,
    pub(in crate::engine) rebalance: R,
    pub(in crate::engine) dispatch: D,
    pub(in crate::engine) intake: Intake<'a>,
    /// The order of walks: every pool once, twice over.
    pub(in crate::engine) order: Box<[u16]>,
    /// Requests longer than this are long.
    pub(in crate::engine) long_ps: u64,
    pub(in crate::engine) seed: u64,
    dispatch_seed: u64,
    pub(in crate::engine) walk_seed: u64,
    /// Requests that dispatch holds back (JBSQ), or that found no open pool.
    pub(in crate::engine) held: VecDeque<u32>,
    holds: bool,
    /// There is one pool, and every request goes there.
    lone_pool: bool,
    pub(in crate::engine) deliveries: BinaryHeap<Delivery>,
    departures: u64,
    /// Requests at the dispatcher, with the times at which it will have placed them.
    at_dispatcher: VecDeque<(u64, u32)>,
    /// When the machine takes cores away, if it does.
    stalls: Option<StallTimes>,
    /// Key of the first delivery, dispatcher event, stall or tick.
    side_key: u64,
    /// Until then, thieves that find nothing are all that has events.
    pub(in crate::engine) quiet_ps: u64,

    pub(in crate::engine) allocation: Option<A>,
    pub(in crate::engine) next_tick_ps: u64,
    pub(in crate::engine) watches_arrivals: bool,
    pub(in crate::engine) watches_completions: bool,
    pub(in crate::engine) watches_walks: bool,
    pub(in crate::engine) cores: super::cores::Cores,
    /// Open workers without a flag.
    pub(in crate::engine) unflagged: crate::engine::kernel::bits::BitSet,
    pub(in crate::engine) flags: u64,
    pub(in crate::engine) moving: Vec<u32>,
}

/// The pools of a host, as a dispatch policy sees them.
pub(in crate::engine) struct PoolsSeen<'a, S, O> {
    pub(in crate::engine) core: &'a mut Core<O>,
    pub(in crate::engine) sched: &'a mut S,
    /// The request that is to be placed.
    pub(in crate::engine) task: u32,
}

impl<S: Scheduling, O: Sink> Places for PoolsSeen<'_, S, O> {
    #[inline(always)]
    fn open(&self) -> u32 {
        self.core.open.len()
    }
    #[inline(always)]
    fn nth(&self, i: u32) -> PoolId {
        self.core.open.nth(i)
    }
}

impl<S: Scheduling, O: Sink> Counts for PoolsSeen<'_, S, O> {
    #[inline(always)]
    fn unfinished(&self, pool: PoolId) -> u32 {
        self.core.open.unfinished(pool.index())
    }
    #[inline(always)]
    fn shortest(&self) -> Shortest {
        self.core.open.shortest()
    }
    #[inline(always)]
    fn nth_shortest(&self, i: u32) -> PoolId {
        self.core.open.nth_shortest(i)
    }
    #[inline(always)]
    fn shortest_after(&self, pool: PoolId) -> Option<PoolId> {
        self.core.open.shortest_after(pool.index())
    }
    #[inline(always)]
    fn serviced_quanta(&mut self, pool: PoolId) -> u64 {
        self.sched.serviced_quanta(self.core, pool.index())
    }
    #[inline(always)]
    fn serviced_quanta_above(&mut self, pool: PoolId, bound: u64) -> Option<u64> {
        self.sched.serviced_quanta_above(self.core, pool.index(), bound)
    }
    fn unfinished_work(&mut self, pool: PoolId) -> Picos {
        Picos(self.sched.work_left_ps(self.core, pool.index()))
    }
    fn arriving_work(&self) -> Picos {
        Picos(self.core.tasks[self.task].service_ps)
    }
}

/// The pools and the policies of a host.
pub(in crate::engine) struct HostParts<S, R, D, A, O> {
    pub(in crate::engine) core: Core<O>,
    pub(in crate::engine) sched: S,
    pub(in crate::engine) rebalance: R,
    pub(in crate::engine) dispatch: D,
    pub(in crate::engine) allocation: Option<A>,
}

impl<'a, S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> GeneralHost<'a, S, R, D, A, O> {
    pub(in crate::engine) fn new(parts: HostParts<S, R, D, A, O>, run: &Run<'a>) -> Self {
        let HostParts { core, sched, rebalance, dispatch, allocation } = parts;
        let (seed, cores_start) = (run.seed, run.system.cores_allocated);
        let workers = core.workers.len();
        let stall_times = |process| StallTimes::new(process, seed, workers, core.costs.dispatcher.0 > 0);
        let stalls = core.costs.stalls.map(stall_times);
        let watches = |f: fn(&A) -> bool| allocation.as_ref().is_some_and(f);
        let mut host = GeneralHost {
            order: Box::default(),
            long_ps: run.long_ps(),
            seed,
            dispatch_seed: stream(seed, Purpose::Dispatch),
            walk_seed: stream(seed, Purpose::Walk),
            held: VecDeque::new(),
            holds: dispatch.holds(),
            lone_pool: core.pool_first.len() == 2 && !dispatch.holds(),
            deliveries: BinaryHeap::new(),
            departures: 0,
            at_dispatcher: VecDeque::new(),
            stalls,
            side_key: NEVER,
            quiet_ps: 0,
            next_tick_ps: allocation.as_ref().and_then(Allocation::interval).map_or(NEVER, |every| every.0),
            watches_arrivals: watches(A::watches_arrivals),
            watches_completions: watches(A::watches_completions),
            watches_walks: watches(A::watches_walks),
            cores: super::cores::Cores::new(workers, core.pool_first.len() - 1),
            unflagged: crate::engine::kernel::bits::BitSet::new(workers),
            flags: 0,
            moving: Vec::new(),
            intake: Intake::of(run),
            core,
            sched,
            rebalance,
            dispatch,
            allocation,
        };
        host.core.asks_idle = S::ASKS_IDLE || host.rebalance.steals() || host.allocation.is_some();
        host.set_up_walks();
        // All are held before the first begins to walk.
        (0..cores_start as usize).for_each(|worker| host.cores.hold(worker));
        host.core.held = cores_start;
        host.rebuild_walks();
        (0..cores_start as usize).for_each(|worker| host.open_worker(worker));
        host.refresh_side();
        host
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    pub(in crate::engine) fn run(&mut self) {
        self.refresh_arrival();
        while self.intake.key != NEVER {
            if !self.run_workers(self.intake.key.min(self.side_key)) {
                continue;
            }
            if Keys::is_far(self.intake.key.min(self.side_key)) {
                self.rebase_to_next();
            } else if self.intake.key <= self.side_key {
                if self.at_arrival() {
                    return self.core.recorder.flush();
                }
                self.check_promises();
            } else {
                self.at_side();
            }
        }
        self.drain();
        self.core.recorder.flush();
    }

    /// There are no more arrivals: what is in the system completes. One event at a time, because thieves
    /// that find nothing would walk for ever.
    fn drain(&mut self) {
        while self.intake.has_to_drain(&mut Audited(&mut self.core, &mut self.sched)) {
            let next = self.core.tree.min();
            if next == NEVER && self.side_key == NEVER {
                return;
            }
            if Keys::is_far(next.min(self.side_key)) {
                self.rebase_to_next();
            } else if next >= self.side_key {
                self.at_side();
            } else {
                self.at_due(next);
            }
        }
    }

    #[inline(always)]
    fn refresh_arrival(&mut self) {
        // Where it matters who of those that stop at a time is first, nobody arrives before they have stopped.
        self.intake.refresh(self.core.keys, S::TIES && !self.core.walks);
    }

    /// All events of workers before `outside`; `false` if something else has come up before it.
    #[inline(always)]
    fn run_workers(&mut self, outside: u64) -> bool {
        loop {
            let due = self.core.tree.min();
            if due >= outside {
                return true;
            }
            self.at_due(due);
            // What a worker does can call for something before the next arrival.
            if self.side_key < outside {
                return false;
            }
        }
    }

    /// The event of the worker with the least key, `due`. If several workers have an event at this time, the discipline's rule for ties chooses
    /// the worker.
    #[inline(always)]
    fn at_due(&mut self, due: u64) {
        self.core.events += 1;
        self.core.now_ps = self.core.keys.time_ps(due);
        let mut worker = self.core.keys.worker(due);
        if S::TIES && !self.core.walks {
            worker = self.first_of_ties(worker);
        }
        self.core.acting = worker as u32;
        self.at_worker(worker);
        self.check_promises();
    }

    #[inline(always)]
    fn check_promises(&mut self) {
        if O::ON && self.core.observer.checks() {
            self.sched.check(&mut self.core);
        }
    }

    /// The worker of a pool that acts first, among those of this pool that have an event now; `worker` is the one with the least id.
    /// With thieves about it is always the first by name: where they stand at a time follows from that.
    #[inline(always)]
    fn first_of_ties(&self, worker: usize) -> usize {
        let core = &self.core;
        if !core.tree.has_rival(worker, core.keys.after(core.now_ps)) {
            return worker;
        }
        let due_now = |other: &usize| {
            let key = core.tree.get(*other);
            key != NEVER && core.keys.time_ps(key) == core.now_ps
        };
        let mates = core.workers_of(core.workers[worker].pool as usize);
        mates.filter(due_now).min_by_key(|&other| (self.sched.tie(core, other), other)).unwrap_or(worker)
    }

    #[inline(always)]
    fn at_worker(&mut self, worker: usize) {
        match self.core.workers[worker].phase {
            Phase::Running => match self.sched.expire(&mut self.core, worker) {
                Expired::Completed(_) => self.after_completion(worker),
                Expired::Resumed => {}
                Expired::Preempted => self.switch(worker),
            },
            Phase::Switching | Phase::Paying => self.become_free(worker),
            Phase::Walking => self.after_alarm(worker),
            Phase::WalkingOn => self.walk_again(worker),
            Phase::SingleCheck => self.after_single_check(worker),
            Phase::Stealing => self.after_steal(worker),
            Phase::Shedding => self.after_shed(worker),
            Phase::Allocating => self.after_allocation(worker),
            Phase::Idle => self.after_spin(worker),
            Phase::Parked | Phase::Between => unreachable!("no event is set in this phase"),
        }
    }

    /// A preempted worker pays and goes on to the next task.
    #[inline]
    fn switch(&mut self, worker: usize) {
        let cost_ps = self.core.costs.preemption.0;
        if cost_ps == 0 {
            return self.become_free(worker);
        }
        self.change_over(worker, cost_ps);
    }

    /// `worker` changes from what it has done to what is next, which takes `cost_ps`.
    #[inline]
    fn change_over(&mut self, worker: usize, cost_ps: u64) {
        self.core.account.switching_ps += u128::from(cost_ps);
        self.core.workers[worker].phase = Phase::Switching;
        let due_ps = self.core.now_ps + cost_ps;
        self.core.schedule(worker, due_ps);
    }

    #[inline(always)]
    fn after_completion(&mut self, worker: usize) {
        if self.rebalance.may_shed() {
            self.maybe_flag(worker);
        }
        if self.holds && !self.held.is_empty() {
            self.place_held();
        }
        if self.watches_completions && self.maybe_yield(worker) {
            return;
        }
        let cost_ps = self.core.costs.finish.0;
        if cost_ps > 0 {
            return self.change_over(worker, cost_ps);
        }
        self.become_free(worker);
    }

    /// `worker` is between tasks: it answers a flag, runs its pool's next task, searches elsewhere, or idles.
    #[inline(always)]
    pub(in crate::engine) fn become_free(&mut self, worker: usize) {
        self.core.workers[worker].phase = Phase::Between;
        if self.rebalance.may_shed() && self.core.workers[worker].flag != NONE {
            return self.start_shed(worker);
        }
        self.run_or_rest(worker);
    }

    /// As [`GeneralHost::become_free`], but flags wait.
    #[inline(always)]
    pub(in crate::engine) fn run_or_rest(&mut self, worker: usize) {
        if self.sched.free(&mut self.core, worker) {
            return;
        }
        if self.rebalance.steals() && self.sched.may_steal(&self.core, worker) {
            self.start_walk(worker);
        } else {
            self.go_idle(worker);
        }
    }

    #[inline(always)]
    pub(in crate::engine) fn go_idle(&mut self, worker: usize) {
        self.core.workers[worker].phase = Phase::Idle;
        self.core.workers[worker].idle_since_ps = self.core.now_ps;
        if S::ASKS_IDLE || self.core.asks_idle {
            self.core.idle.insert(worker);
        }
        if self.watches_walks {
            let due_ps = self.core.now_ps + self.spin_ps();
            self.core.schedule(worker, due_ps);
        } else {
            self.core.unschedule(worker);
        }
        if self.rebalance.may_shed() && self.core.workers[worker].flag != NONE {
            self.core.leave_idle(worker);
            self.start_shed(worker);
        }
    }

    /// A request arrives; `true` ends the run.
    #[inline(always)]
    fn at_arrival(&mut self) -> bool {
        let arrival = self.intake.take();
        let Arrival { number, at_ps: arrival_ps, demand, .. } = arrival;
        self.core.events += 1;
        self.core.now_ps = arrival_ps;
        self.core.acting = 0;
        if arrival.is_first_of_batch {
            self.keep_keys_small();
        }
        self.refresh_arrival();
        if self.intake.is_over(arrival, &mut Audited(&mut self.core, &mut self.sched)) {
            return true;
        }
        let remaining_ps = arrival.work_ps(self.core.costs.probe_factor);
        self.core.account.offered_ps += u128::from(remaining_ps);
        let task = self.core.tasks.insert(Task {
            arrival_ps,
            service_ps: demand.service_ps,
            remaining_ps,
            queued_ps: 0,
            overhead_ps: 0,
            number,
            next: NONE,
            preemptions: 0,
            quanta: 0,
            class: demand.class,
            started: false,
            long: demand.service_ps > self.long_ps,
        });
        if O::ON {
            let event = Event::Arrived { number, class: demand.class, service_ps: demand.service_ps };
            self.core.observer.observe(arrival_ps, event);
        }
        if self.core.costs.dispatcher.0 > 0 {
            self.queue_at_dispatcher(task);
        } else {
            self.place(task);
        }
        false
    }

    /// A dispatcher with one thread takes its time for each request, first come first served.
    fn queue_at_dispatcher(&mut self, task: u32) {
        let core = &mut self.core;
        core.dispatcher_free_ps = core.now_ps.max(core.dispatcher_free_ps) + core.costs.dispatcher.0;
        self.at_dispatcher.push_back((core.dispatcher_free_ps, task));
        self.refresh_side();
    }

    /// A new request goes to a pool, or waits for one.
    #[inline(always)]
    fn place(&mut self, task: u32) {
        if self.core.open.len() == 0 {
            self.held.push_back(task);
            return self.grow_from_zero();
        }
        if self.watches_arrivals && self.maybe_grow_for(task) {
            return;
        }
        if self.lone_pool {
            return self.deliver(task, 0);
        }
        self.place_by_policy(task);
    }

    #[inline(always)]
    fn place_by_policy(&mut self, task: u32) {
        let number = self.core.tasks[task].number;
        let draw = Draw::new(self.dispatch_seed, number);
        let mut seen = PoolsSeen { core: &mut self.core, sched: &mut self.sched, task };
        match self.dispatch.on_arrival(draw, &mut seen) {
            // Requests that were held before this one go first.
            Placement::Pool(_) if self.holds && !self.held.is_empty() => {
                self.held.push_back(task);
                self.place_held();
            }
            Placement::Pool(pool) => self.deliver(task, pool.index()),
            Placement::Hold => self.held.push_back(task),
            Placement::Moved { landed, pool } if landed == pool => self.deliver(task, pool.index()),
            Placement::Moved { landed, pool } => {
                let cost_ps = self.core.costs.enqueue.0;
                self.send(task, landed.index(), pool.index(), cost_ps);
            }
        }
    }

    /// As [`GeneralHost::place`], out of the hot loop.
    #[inline(never)]
    fn place_later(&mut self, task: u32) {
        self.place(task);
    }

    /// `task` goes to `pool`, where dispatch counts it from now on.
    #[inline(always)]
    pub(in crate::engine) fn deliver(&mut self, task: u32, pool: usize) {
        self.core.open.add(pool);
        let hop_ps = self.core.costs.hop.0;
        if hop_ps > 0 {
            return self.depart(task, pool, self.core.now_ps + hop_ps, true);
        }
        self.arrive(task, pool);
    }

    /// `task` is at `pool` now.
    #[inline(always)]
    fn arrive(&mut self, task: u32, pool: usize) {
        self.sched.arrive(&mut self.core, pool, task);
        if self.rebalance.steals() && self.core.walks && self.core.costs.steal_check.0 == 0 {
            self.wake_thieves(pool);
        }
    }

    /// A worker of `landed` pays `cost_ps` to place `task` at `pool`, where it is afterwards.
    pub(in crate::engine) fn send(&mut self, task: u32, landed: usize, pool: usize, cost_ps: u64) {
        let payer = self.core.workers_of(landed).find(|&worker| self.cores.is_open(worker));
        let there_ps = match payer {
            Some(worker) if cost_ps > 0 => {
                self.core.account.placing_ps += u128::from(cost_ps);
                self.pay(worker, cost_ps)
            }
            _ => self.core.now_ps,
        };
        if there_ps == self.core.now_ps {
            return self.deliver(task, pool);
        }
        self.depart(task, pool, there_ps + self.core.costs.hop.0, false);
    }

    /// `task` is under way to `pool` until `there_ps`.
    fn depart(&mut self, task: u32, pool: usize, there_ps: u64, counted: bool) {
        let first = self.core.workers_of(pool).start;
        self.core.workers[first].inbound += 1;
        self.departures += 1;
        self.deliveries.push(Reverse((there_ps, self.departures, task, pool as u32, counted)));
        self.refresh_side();
    }

    /// A core stands still for `length_ps` from now on: what was to happen there happens that much later.
    fn stall(&mut self, who: Stalled, length_ps: u64) {
        match who {
            Stalled::Dispatcher => {
                let core = &mut self.core;
                core.stalled(None, length_ps);
                core.dispatcher_free_ps = core.now_ps.max(core.dispatcher_free_ps) + length_ps;
                self.at_dispatcher.iter_mut().for_each(|(done_ps, _)| *done_ps += length_ps);
            }
            Stalled::Worker(worker) => {
                // A core that is with another application is no loss to this one.
                if self.core.workers[worker].phase != Phase::Parked {
                    self.core.stalled(Some(worker as u32), length_ps);
                    self.core.account.stalled_ps += u128::from(length_ps);
                    self.pay(worker, length_ps);
                }
            }
        }
    }

    /// `worker` works for the scheduler for `cost_ps`, behind what it pays for already; returns until when.
    fn pay(&mut self, worker: usize, cost_ps: u64) -> u64 {
        let now_ps = self.core.now_ps;
        let until_ps = now_ps.max(self.core.workers[worker].paying_until_ps) + cost_ps;
        self.core.workers[worker].paying_until_ps = until_ps;
        match self.core.workers[worker].phase {
            Phase::Running => self.sched.delay(&mut self.core, worker, cost_ps),
            Phase::Idle | Phase::Between => {
                self.core.leave_idle(worker);
                self.core.workers[worker].phase = Phase::Paying;
                self.core.schedule(worker, until_ps);
            }
            Phase::Walking => self.delay_check(worker, cost_ps),
            _ => {
                let due_ps = self.core.workers[worker].due_ps + cost_ps;
                self.core.schedule(worker, due_ps);
            }
        }
        until_ps
    }

    /// Held requests go out for as long as dispatch lets them.
    pub(in crate::engine) fn place_held(&mut self) {
        while let Some(&task) = self.held.front() {
            let number = self.core.tasks[task].number;
            let draw = Draw::new(self.dispatch_seed, number);
            let mut seen = PoolsSeen { core: &mut self.core, sched: &mut self.sched, task };
            let Some(pool) = self.dispatch.on_room(draw, &mut seen) else { return };
            self.held.pop_front();
            self.deliver(task, pool.index());
        }
    }

    /// A pool has opened. What waited for the first one is placed as if it arrived now; what dispatch
    /// holds back goes to any that has room.
    pub(in crate::engine) fn place_waiting(&mut self, first: bool) {
        if self.holds {
            return self.place_held();
        }
        if !first {
            return;
        }
        for _ in 0..self.held.len() {
            if let Some(task) = self.held.pop_front() {
                self.place_later(task);
            }
        }
    }

    /// A delivery, the dispatcher, a stall, or a tick.
    #[cold]
    fn at_side(&mut self) {
        let delivery_ps = self.deliveries.peek().map_or(NEVER, |Reverse(first)| first.0);
        let dispatch_ps = self.at_dispatcher.front().map_or(NEVER, |first| first.0);
        let stall_ps = self.stall_ps();
        let first_ps = delivery_ps.min(dispatch_ps).min(stall_ps).min(self.next_tick_ps);
        self.core.events += 1;
        self.core.now_ps = first_ps;
        self.core.acting = 0;
        if dispatch_ps == first_ps {
            if let Some((_, task)) = self.at_dispatcher.pop_front() {
                self.place_later(task);
            }
        } else if delivery_ps == first_ps {
            if let Some(Reverse((_, _, task, pool, counted))) = self.deliveries.pop() {
                let first = self.core.workers_of(pool as usize).start;
                self.core.workers[first].inbound -= 1;
                if !counted {
                    self.core.open.add(pool as usize);
                }
                self.arrive(task, pool as usize);
            }
        } else if stall_ps == first_ps {
            if let Some((who, length_ps)) = self.stalls.as_mut().and_then(StallTimes::take) {
                self.stall(who, length_ps);
            }
        } else {
            self.core.acting = u32::MAX;
            self.at_tick();
        }
        self.refresh_side();
    }

    /// The next stall; [`NEVER`] if there is none.
    fn stall_ps(&self) -> u64 {
        self.stalls.as_ref().and_then(StallTimes::peek_ps).unwrap_or(NEVER)
    }

    /// The next delivery, end of the dispatcher's work, or stall; [`NEVER`] if there is none.
    fn before_ps(&self) -> u64 {
        let delivery_ps = self.deliveries.peek().map_or(NEVER, |Reverse(first)| first.0);
        delivery_ps.min(self.stall_ps()).min(self.at_dispatcher.front().map_or(NEVER, |first| first.0))
    }

    /// The next delivery, end of the dispatcher's work, stall, or tick.
    pub(in crate::engine) fn side_ps(&self) -> Option<u64> {
        Some(self.before_ps().min(self.next_tick_ps)).filter(|&side_ps| side_ps != NEVER)
    }

    /// Deliveries, the dispatcher and stalls come before the workers of the same time, ticks after them.
    pub(in crate::engine) fn refresh_side(&mut self) {
        let before_ps = self.before_ps();
        let before = if before_ps == NEVER { NEVER } else { self.core.keys.before(before_ps) };
        let after = if self.next_tick_ps == NEVER { NEVER } else { self.core.keys.after(self.next_tick_ps) };
        self.side_key = before.min(after);
    }

    #[inline]
    fn keep_keys_small(&mut self) {
        if self.core.keys.are_old(self.core.now_ps) {
            self.rebase(self.core.now_ps);
        }
    }

    /// All that is left lies too far ahead for keys to tell it apart.
    #[cold]
    fn rebase_to_next(&mut self) {
        let next_ps = [self.intake.peek_ps(), self.side_ps(), self.core.first_due_ps()];
        self.rebase(next_ps.into_iter().flatten().min().unwrap_or(self.core.now_ps));
    }

    #[cold]
    fn rebase(&mut self, base_ps: u64) {
        self.core.rebase(base_ps);
        self.refresh_side();
        self.refresh_arrival();
    }

    /// Asks the allocation policy, with a view of the application.
    pub(in crate::engine) fn ask(
        &mut self,
        question: impl FnOnce(&mut A, Instant, &super::cores::ApplicationView<'_, S, O>) -> CoreDemand,
    ) -> CoreDemand {
        let now = Instant(self.core.now_ps);
        let Some(allocation) = &mut self.allocation else { return CoreDemand::Keep };
        let held_ps = self.held.front().map(|&task| self.core.tasks[task].arrival_ps);
        let view = super::cores::ApplicationView::new(&mut self.core, &mut self.sched, &self.cores, held_ps);
        question(allocation, now, &view)
    }
}
