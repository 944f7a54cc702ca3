//! The event loop, arrivals and dispatch.
//!
//! Events at one time come in this order: the arrival, the dispatcher, deliveries as they departed, stalls by core, workers
//! by id, the tick.

use std::collections::VecDeque;

use caudal_policy::allocation::{Allocation, Triggered};
use caudal_policy::discipline::{Discipline, Order, Stopped};
use caudal_policy::dispatch::{AnyDispatch, Counts, Dispatch, Placement, Places, Shortest};
use caudal_policy::random::{Draw, hash};
use caudal_policy::rebalance::{AnyRebalance, Rebalance};
use caudal_policy::{Instant, Picos, PoolId, TaskId, WorkerId};
use caudal_sim::engine::{Event, Run};
use caudal_workload::{ArrivalSampler, Demand, ServiceSampler};

use super::accounts::{Accounts, Record};
use super::machine::{Doing, OracleMachine, Task, View};

/// Streams of randomness, by number.
pub(crate) const DISPATCH: u64 = 1;
pub(crate) const WALK: u64 = 2;
pub(crate) const FLAG: u64 = 3;
pub(crate) const ORDER: u64 = 4;
pub(crate) const THIEF: u64 = 5;
const STALLS: u64 = 7;

/// A task on its way to a pool.
struct Delivery {
    at_ps: u64,
    departure: u64,
    task: usize,
    pool: usize,
    /// Does dispatch count it at the pool already?
    counted: bool,
}

/// When a core stands still next, and for how long; the last core is the dispatcher's.
struct Stall {
    at_ps: u64,
    length_ps: u64,
    /// How many this core has had.
    number: u64,
}

pub(crate) struct OracleHost<D> {
    pub(crate) machine: OracleMachine,
    pub(crate) disciplines: Vec<D>,
    dispatch: AnyDispatch,
    pub(crate) rebalance: AnyRebalance,
    pub(crate) allocation: Option<Triggered>,
    pub(crate) next_tick_ps: Option<u64>,
    /// Busy and present core time at the last tick.
    pub(crate) at_tick: (u128, u128),
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    next_arrival_ps: Option<u64>,
    pub(crate) held: VecDeque<usize>,
    holds: bool,
    at_dispatcher: VecDeque<(u64, usize)>,
    deliveries: Vec<Delivery>,
    departures: u64,
    /// By core.
    stalls: Vec<Stall>,
    pub(crate) accounts: Accounts,
    seed: u64,
    probe_factor: f64,
    /// Pools in the order of walks; empty if nobody walks.
    pub(crate) order: Vec<usize>,
    /// Random choices of workers to flag or to wake so far.
    pub(crate) choices: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Arrival,
    Dispatcher,
    Delivery(u64),
    Stall(usize),
    Worker(usize),
    Tick,
}

impl<D: Discipline> OracleHost<D> {
    pub(crate) fn new(run: &Run<'_>, make: impl Fn() -> D) -> OracleHost<D> {
        let system = run.system;
        let sizes = system.pool_sizes().expect("pools that fit the machine");
        let sample = make();
        let counts_behind = sample.order() == Order::Queue && sample.lanes() == 1;
        let stay = system.allocation.triggers().is_none();
        let cores_max = if stay { system.cores_allocated } else { system.cores };
        let machine =
            OracleMachine::new(*run.costs, &sizes, cores_max, sample.lanes(), sample.stealable_lane());
        let allocation = system.allocation.triggers().map(Triggered::new);
        let dispatch = AnyDispatch::from(system.dispatch);
        let (classes, long_ps) = (run.service.classes().len(), run.service.mean_ps() as u64);
        let mut host = OracleHost {
            disciplines: sizes.iter().map(|_| make()).collect(),
            rebalance: system.rebalance.into(),
            next_tick_ps: allocation.as_ref().and_then(Allocation::interval).map(|every| every.0),
            allocation,
            at_tick: (0, 0),
            arrivals: run.arrivals.sampler(run.seed, run.mean_gap_ps),
            services: run.service.sampler(run.seed),
            next_arrival_ps: None,
            held: VecDeque::new(),
            holds: matches!(dispatch, AnyDispatch::Jbsq(_)),
            dispatch,
            at_dispatcher: VecDeque::new(),
            deliveries: Vec::new(),
            departures: 0,
            stalls: Vec::new(),
            accounts: Accounts::new((run.length, run.patience_ps()), classes, long_ps, counts_behind),
            seed: run.seed,
            probe_factor: run.costs.probe_factor,
            order: Vec::new(),
            choices: 0,
            machine,
        };
        host.draw_order();
        host.draw_arrival();
        let dispatchers = usize::from(run.costs.dispatcher.0 > 0);
        let stalled = if run.costs.stalls.is_some() { host.machine.workers.len() + dispatchers } else { 0 };
        for core in 0..stalled {
            let first = host.draw_stall(core, 0, 0);
            host.stalls.push(first);
        }
        let started = 0..system.cores_allocated as usize;
        started.clone().for_each(|worker| host.hold_core(worker));
        started.for_each(|worker| host.open_worker(worker));
        host
    }

    /// The draw of decision `number` of stream `purpose`.
    pub(crate) fn draw(&self, purpose: u64, number: u64) -> Draw {
        Draw::new(hash(self.seed, purpose), number)
    }

    fn draw_arrival(&mut self) {
        let mut at_ps = [0];
        self.next_arrival_ps = (self.arrivals.fill(&mut at_ps) == 1).then_some(at_ps[0]);
    }

    /// Stall `number` of `core`, after one that ended at `from_ps`.
    fn draw_stall(&self, core: usize, number: u64, from_ps: u64) -> Stall {
        let stalls = self.machine.costs.stalls.expect("somebody asked for them");
        // The dispatcher's core comes after those of the workers.
        let stream = if core == self.machine.workers.len() { u64::MAX } else { core as u64 };
        let mut draw = Draw::new(hash(hash(self.seed, STALLS), stream), number);
        let mut uniform = || (draw.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let gap_ps = -stalls.mean_gap_ps() * (1.0 - uniform()).ln();
        let length_ps = stalls.length(uniform()).0;
        Stall { at_ps: from_ps + gap_ps.round() as u64, length_ps, number }
    }

    fn at_stall(&mut self, core: usize) {
        let Stall { at_ps, length_ps, number } = self.stalls[core];
        self.stalls[core] = self.draw_stall(core, number + 1, at_ps + length_ps);
        if core == self.machine.workers.len() {
            self.machine.log(Event::Stalled { worker: None, length_ps });
            for (done_ps, _) in &mut self.at_dispatcher {
                *done_ps += length_ps;
            }
            self.machine.dispatcher_free_ps = at_ps.max(self.machine.dispatcher_free_ps) + length_ps;
        } else if self.machine.workers[core].doing != Doing::Parked {
            self.machine.log(Event::Stalled { worker: Some(core as u32), length_ps });
            self.machine.account.stalled_ps += u128::from(length_ps);
            self.machine.pay(core, length_ps);
        }
    }

    pub(crate) fn run(mut self) -> Record {
        while let Some((at_ps, next)) = self.next_event() {
            let span_ps = at_ps - self.machine.now_ps;
            self.accounts.pass(&mut self.machine, span_ps);
            self.machine.now_ps = at_ps;
            match next {
                Next::Arrival => {
                    if self.at_arrival() {
                        break;
                    }
                }
                Next::Dispatcher => {
                    let (_, task) = self.at_dispatcher.pop_front().expect("the first one is due");
                    self.place(task);
                }
                Next::Delivery(departure) => self.at_delivery(departure),
                Next::Stall(core) => self.at_stall(core),
                Next::Worker(worker) => self.at_worker(worker),
                Next::Tick => self.at_tick(),
            }
            if self.next_arrival_ps.is_none() {
                self.accounts.close(&self.machine);
                if self.accounts.none_left() {
                    break;
                }
            }
        }
        self.accounts.into_record(self.machine)
    }

    fn next_event(&self) -> Option<(u64, Next)> {
        let workers = self.machine.workers.iter().enumerate();
        let workers = workers.filter_map(|(id, worker)| Some((worker.due_ps?, Next::Worker(id))));
        let deliveries = self.deliveries.iter().map(|first| (first.at_ps, Next::Delivery(first.departure)));
        let arrival = self.next_arrival_ps.map(|at_ps| (at_ps, Next::Arrival));
        let dispatcher = self.at_dispatcher.front().map(|first| (first.0, Next::Dispatcher));
        let tick = self.next_tick_ps.map(|at_ps| (at_ps, Next::Tick));
        let stalls = self.stalls.iter().enumerate().map(|(core, stall)| (stall.at_ps, Next::Stall(core)));
        let all = workers.chain(deliveries).chain(stalls).chain(arrival).chain(dispatcher).chain(tick);
        if !D::TIES || !self.order.is_empty() {
            return all.min();
        }
        // Nobody arrives before those have stopped that stop at the time.
        let first = all.min_by_key(|&(at_ps, next)| {
            let late = match next {
                Next::Arrival => 1,
                Next::Tick => 2,
                _ => 0,
            };
            (at_ps, late, next)
        })?;
        match first {
            (at_ps, Next::Worker(worker)) => Some((at_ps, Next::Worker(self.first_of_ties(worker, at_ps)))),
            _ => Some(first),
        }
    }

    /// Of the workers of its pool that have an event at the time of the first one by name, the one who is to act.
    fn first_of_ties(&self, first: usize, at_ps: u64) -> usize {
        let pool = self.machine.workers[first].pool;
        let mates = self.machine.workers_of(pool);
        let seat = |worker: usize| (worker - mates.start) as u32;
        let due = mates.clone().filter(|&worker| self.machine.workers[worker].due_ps == Some(at_ps));
        due.min_by_key(|&worker| (self.disciplines[pool].tie(seat(worker)), worker))
            .expect("the first one is due")
    }

    fn at_arrival(&mut self) -> bool {
        let number = self.machine.tasks.len();
        if self.accounts.before_arrival(number as u64, &self.machine) {
            return true;
        }
        self.draw_arrival();
        let mut demand = [Demand::default()];
        self.services.fill(&mut demand);
        let [Demand { service_ps, class }] = demand;
        let stretched_ps = (service_ps as f64 * self.probe_factor).round() as u64;
        self.machine.tasks.push(Task {
            class,
            arrival_ps: self.machine.now_ps,
            service_ps,
            work_ps: stretched_ps.max(service_ps),
            done_ps: 0,
            first_ps: None,
            overhead_ps: 0,
            preemptions: 0,
            quanta: 0,
            key: 0,
        });
        self.accounts.arrived(number as u64);
        self.machine.account.offered_ps += u128::from(stretched_ps.max(service_ps));
        self.machine.log(Event::Arrived { number: number as u64, class, service_ps });
        let cost_ps = self.machine.costs.dispatcher.0;
        if cost_ps > 0 {
            let free_ps = self.machine.now_ps.max(self.machine.dispatcher_free_ps) + cost_ps;
            self.machine.dispatcher_free_ps = free_ps;
            self.at_dispatcher.push_back((free_ps, number));
        } else {
            self.place(number);
        }
        false
    }

    fn at_delivery(&mut self, departure: u64) {
        let place = self.deliveries.iter().position(|delivery| delivery.departure == departure);
        let Delivery { task, pool, counted, .. } = self.deliveries.remove(place.expect("it is due"));
        self.machine.pools[pool].inbound -= 1;
        self.machine.pools[pool].unfinished += u32::from(!counted);
        self.is_there(task, pool);
    }

    /// A request goes to a pool, or waits for one.
    fn place(&mut self, task: usize) {
        let open = self.open_pools();
        if open.is_empty() {
            self.held.push_back(task);
            return self.grow_from_zero();
        }
        if self.watches_arrivals() && self.maybe_grow_for(task) {
            return;
        }
        let draw = self.draw(DISPATCH, task as u64);
        match self.dispatch.on_arrival(draw, &mut Seen { machine: &self.machine, open, task }) {
            Placement::Pool(pool) if self.held.is_empty() => self.deliver(task, pool.index()),
            Placement::Pool(_) | Placement::Hold => {
                self.held.push_back(task);
                self.place_held();
            }
            Placement::Moved { landed, pool } if landed == pool => self.deliver(task, pool.index()),
            Placement::Moved { landed, pool } => {
                let cost_ps = self.machine.costs.enqueue.0;
                self.send(task, landed.index(), pool.index(), cost_ps);
            }
        }
    }

    /// Held requests go out, the oldest first, for as long as there is room.
    pub(crate) fn place_held(&mut self) {
        while let Some(&task) = self.held.front() {
            let draw = self.draw(DISPATCH, task as u64);
            let open = self.open_pools();
            let Some(pool) = self.dispatch.on_room(draw, &mut Seen { machine: &self.machine, open, task })
            else {
                return;
            };
            self.held.pop_front();
            self.deliver(task, pool.index());
        }
    }

    /// A core has opened. What waited for the first one is placed as if it arrived now; what JBSQ holds
    /// back goes to any that has room.
    pub(crate) fn place_waiting(&mut self, first: bool) {
        if self.holds {
            self.place_held();
        } else if first {
            for task in std::mem::take(&mut self.held) {
                self.place(task);
            }
        }
    }

    fn deliver(&mut self, task: usize, pool: usize) {
        self.machine.pools[pool].unfinished += 1;
        let hop_ps = self.machine.costs.hop.0;
        if hop_ps > 0 {
            return self.depart(task, pool, self.machine.now_ps + hop_ps, true);
        }
        self.is_there(task, pool);
    }

    fn depart(&mut self, task: usize, pool: usize, at_ps: u64, counted: bool) {
        self.departures += 1;
        self.machine.pools[pool].inbound += 1;
        self.deliveries.push(Delivery { at_ps, departure: self.departures, task, pool, counted });
    }

    fn is_there(&mut self, task: usize, pool: usize) {
        let now = Instant(self.machine.now_ps);
        let mut view = View { machine: &mut self.machine, pool };
        self.disciplines[pool].on_arrival(now, TaskId(task as u32), &mut view);
        if !self.order.is_empty() && self.machine.costs.steal_check.0 == 0 {
            self.wake_thieves(pool);
        }
    }

    /// The first open worker of `landed` pays `cost_ps` to place `task` at `pool`, where it is afterwards.
    pub(crate) fn send(&mut self, task: usize, landed: usize, pool: usize, cost_ps: u64) {
        let mut workers = self.machine.workers_of(landed);
        let payer = workers.find(|&worker| self.machine.workers[worker].open).expect("an open pool");
        if cost_ps == 0 {
            return self.deliver(task, pool);
        }
        self.machine.account.placing_ps += u128::from(cost_ps);
        let at_ps = self.machine.pay(payer, cost_ps);
        self.depart(task, pool, at_ps + self.machine.costs.hop.0, false);
    }

    pub(crate) fn open_pools(&self) -> Vec<usize> {
        let is_open = |pool: &usize| self.machine.workers_of(*pool).any(|w| self.machine.workers[w].open);
        (0..self.machine.pools.len()).filter(is_open).collect()
    }

    fn at_worker(&mut self, worker: usize) {
        self.machine.workers[worker].due_ps = None;
        match self.machine.workers[worker].doing {
            Doing::Running(task) => self.slice_ends(worker, task),
            Doing::Switching | Doing::Paying => self.become_free(worker),
            Doing::Checking(place) => self.check_ends(worker, place),
            Doing::Stealing(from) => self.steal_ends(worker, from),
            Doing::Shedding(from) => self.shed_ends(worker, from),
            Doing::Allocating => self.open_worker(worker),
            Doing::Idle => self.spin_ends(worker),
            Doing::Parked | Doing::Deciding => unreachable!("nothing ends here"),
        }
    }

    fn slice_ends(&mut self, worker: usize, task: usize) {
        let now = Instant(self.machine.now_ps);
        let pool = self.machine.workers[worker].pool;
        let why = if self.machine.workers[worker].stopping { Stopped::Preempted } else { Stopped::Quantum };
        self.machine.tasks[task].done_ps += self.machine.slice_progress_ps(worker);
        self.machine.workers[worker].doing = Doing::Deciding;
        let entry = &mut self.machine.tasks[task];
        if entry.done_ps == entry.work_ps {
            let mut view = View { machine: &mut self.machine, pool };
            let worker_id = WorkerId(worker as u32);
            self.disciplines[pool].on_completed(now, worker_id, TaskId(task as u32), &mut view);
            return self.completed(worker, task, pool);
        }
        entry.quanta += 1;
        self.machine.stopped = Some(task);
        let mut view = View { machine: &mut self.machine, pool };
        self.disciplines[pool].on_stopped(now, WorkerId(worker as u32), TaskId(task as u32), why, &mut view);
        if self.machine.stopped.take().is_none() {
            return;
        }
        self.machine.tasks[task].preemptions += 1;
        self.machine.account.preemptions += 1;
        self.machine.log(Event::Stopped { worker: worker as u32, number: task as u64 });
        let cost_ps = self.machine.costs.preemption.0;
        if cost_ps == 0 {
            return self.become_free(worker);
        }
        self.machine.account.switching_ps += u128::from(cost_ps);
        self.machine.busy_for(worker, Doing::Switching, cost_ps);
    }

    fn completed(&mut self, worker: usize, task: usize, pool: usize) {
        self.machine.pools[pool].unfinished -= 1;
        self.machine.account.completed += 1;
        self.accounts.completed(task as u64, &self.machine.tasks[task], self.machine.now_ps);
        self.machine.log(Event::Completed { worker: worker as u32, number: task as u64 });
        if self.rebalance.may_shed() {
            self.maybe_flag(worker);
        }
        self.place_held();
        if self.maybe_yield(worker) {
            return;
        }
        let cost_ps = self.machine.costs.finish.0;
        if cost_ps == 0 {
            return self.become_free(worker);
        }
        self.machine.account.switching_ps += u128::from(cost_ps);
        self.machine.busy_for(worker, Doing::Switching, cost_ps);
    }

    /// `worker` has nothing to do: it answers a flag, runs its pool's next task, searches elsewhere, or idles.
    pub(crate) fn become_free(&mut self, worker: usize) {
        self.machine.workers[worker].doing = Doing::Deciding;
        match self.machine.workers[worker].flag.take() {
            Some(from) => self.start_shed(worker, from),
            None => self.run_or_rest(worker),
        }
    }

    /// The same, but flags wait.
    pub(crate) fn run_or_rest(&mut self, worker: usize) {
        self.machine.workers[worker].doing = Doing::Deciding;
        if self.finds_own(worker) {
            return;
        }
        let walks = !self.order.is_empty() && self.may_steal(worker);
        if walks { self.start_walk(worker) } else { self.go_idle(worker) }
    }

    /// Does its discipline let `worker` steal?
    pub(crate) fn may_steal(&self, worker: usize) -> bool {
        let pool = self.machine.workers[worker].pool;
        self.disciplines[pool].may_steal((worker - self.machine.workers_of(pool).start) as u32)
    }

    /// Does `worker` find something to run in its own pool?
    pub(crate) fn finds_own(&mut self, worker: usize) -> bool {
        let (now, pool) = (Instant(self.machine.now_ps), self.machine.workers[worker].pool);
        let mut view = View { machine: &mut self.machine, pool };
        self.disciplines[pool].on_free(now, WorkerId(worker as u32), &mut view);
        self.machine.running(worker).is_some()
    }
}

/// What dispatch sees.
struct Seen<'a> {
    machine: &'a OracleMachine,
    open: Vec<usize>,
    task: usize,
}

impl Seen<'_> {
    /// The open pools with the fewest unfinished requests, and how many that are.
    fn shortest_pools(&self) -> (u32, Vec<usize>) {
        let length = |pool: &usize| self.machine.pools[*pool].unfinished;
        let least = self.open.iter().map(length).min().expect("an open pool");
        (least, self.open.iter().copied().filter(|pool| length(pool) == least).collect())
    }

    fn unfinished_tasks(&self, pool: usize) -> Vec<usize> {
        let running = self.machine.workers_of(pool).filter_map(|worker| self.machine.running(worker));
        running.chain(self.machine.waiting(pool)).collect()
    }
}

impl Places for Seen<'_> {
    fn open(&self) -> u32 {
        self.open.len() as u32
    }
    fn nth(&self, i: u32) -> PoolId {
        PoolId(self.open[i as usize] as u32)
    }
}

impl Counts for Seen<'_> {
    fn unfinished(&self, pool: PoolId) -> u32 {
        self.machine.pools[pool.index()].unfinished
    }
    fn shortest(&self) -> Shortest {
        let (unfinished, pools) = self.shortest_pools();
        Shortest { unfinished, pools: pools.len() as u32 }
    }
    fn nth_shortest(&self, i: u32) -> PoolId {
        PoolId(self.shortest_pools().1[i as usize] as u32)
    }
    fn shortest_after(&self, pool: PoolId) -> Option<PoolId> {
        let (_, pools) = self.shortest_pools();
        pools.into_iter().find(|&other| other > pool.index()).map(|other| PoolId(other as u32))
    }
    fn serviced_quanta(&mut self, pool: PoolId) -> u64 {
        self.unfinished_tasks(pool.index()).iter().map(|&task| self.machine.tasks[task].quanta).sum()
    }
    fn unfinished_work(&mut self, pool: PoolId) -> Picos {
        Picos(self.unfinished_tasks(pool.index()).iter().map(|&task| self.machine.left_ps(task)).sum())
    }
    fn arriving_work(&self) -> Picos {
        Picos(self.machine.tasks[self.task].service_ps)
    }
}
