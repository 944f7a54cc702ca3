//! Cores come and go: carrying out what an allocation policy asks for.

use std::cell::RefCell;

use caudal_policy::Picos;
use caudal_policy::allocation::{Allocation, Application, CoreDemand};
use caudal_policy::dispatch::Dispatch;
use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::bits::BitSet;
use super::core::{Core, FLAGGED, Phase};
use super::host::{Host, Purpose, stream};
use super::observe::{Event, Sink};
use super::scheduling::Scheduling;
use super::tasks::NONE;
use super::window::books;

/// Which cores the application holds.
pub(super) struct Cores {
    /// Held, those on their way included.
    held: BitSet,
    /// Here, and open to work.
    open: BitSet,
    /// By pool: how many of those it has.
    open_in: Box<[u32]>,
    /// Busy time and held time, without cores on their way, at the last tick.
    at_tick: (u128, u128),
}

impl Cores {
    /// The core of `worker` is held, at the start of a run.
    pub(super) fn hold(&mut self, worker: usize) {
        self.held.insert(worker);
    }

    pub(super) fn new(workers: usize, pools: usize) -> Cores {
        let open_in = vec![0; pools].into_boxed_slice();
        Cores { held: BitSet::new(workers), open: BitSet::new(workers), open_in, at_tick: (0, 0) }
    }

    #[inline]
    pub(super) fn is_open(&self, worker: usize) -> bool {
        self.open.contains(worker)
    }
}

/// What an allocation policy sees; worked out when it asks.
pub(super) struct View<'a, S, O> {
    inner: RefCell<(&'a mut Core<O>, &'a mut S)>,
    cores: &'a Cores,
    /// When the oldest request at the dispatcher arrived.
    held_ps: Option<u64>,
}

impl<'a, S, O> View<'a, S, O> {
    pub(super) fn new(
        core: &'a mut Core<O>,
        sched: &'a mut S,
        cores: &'a Cores,
        held_ps: Option<u64>,
    ) -> View<'a, S, O> {
        View { inner: RefCell::new((core, sched)), cores, held_ps }
    }
}

impl<S: Scheduling, O: Sink> Application for View<'_, S, O> {
    fn cores(&self) -> u32 {
        self.cores.held.len()
    }

    fn spare(&self) -> u32 {
        self.inner.borrow().0.workers.len() as u32 - self.cores.held.len()
    }

    fn idle(&self) -> u32 {
        let (core, _) = &*self.inner.borrow();
        core.idle.len() + core.walkers
    }

    fn stealing(&self) -> u32 {
        self.inner.borrow().0.walkers
    }

    fn queued(&self) -> u32 {
        let (core, sched) = &mut *self.inner.borrow_mut();
        sched.queued(core)
    }

    fn oldest_delay_max(&self) -> Picos {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let pools = 0..core.pool_first.len() - 1;
        let oldest_ps = pools.filter_map(|pool| sched.oldest_ps(core, pool)).chain(self.held_ps).min();
        Picos(oldest_ps.map_or(0, |oldest_ps| core.now_ps - oldest_ps))
    }

    fn oldest_delay_mean(&self) -> Picos {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let mut sum_ps = 0;
        for pool in 0..core.pool_first.len() - 1 {
            let held =
                core.workers_of(pool).filter(|&worker| self.cores.held.contains(worker)).count() as u64;
            if held > 0
                && let Some(oldest_ps) = sched.oldest_ps(core, pool)
            {
                sum_ps += held * (core.now_ps - oldest_ps);
            }
        }
        Picos(sum_ps / u64::from(self.cores.held.len().max(1)))
    }

    fn utilization(&self) -> f64 {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let now = books(core, *sched);
        let (busy_ps, here_ps) = (now.busy_ps, now.held_ps - now.allocating_ps);
        let spent_ps = here_ps - self.cores.at_tick.1;
        if spent_ps == 0 {
            return 1.0;
        }
        // A worker that had booked ahead of the last tick can make the difference negative by a hair.
        busy_ps.saturating_sub(self.cores.at_tick.0) as f64 / spent_ps as f64
    }
}

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> Host<S, R, D, A, O> {
    /// `worker`'s core is held from now on.
    pub(super) fn hold_core(&mut self, worker: usize) {
        self.core.settle();
        self.cores.held.insert(worker);
        self.core.held += 1;
        let pool = self.core.workers[worker].pool as usize;
        self.refresh_walk_order(pool);
        self.wake_lonely_thieves();
    }

    /// Workers that had no other pool to look at may have one now. Where checks cost nothing, idle ones
    /// are called when there is something to find.
    fn wake_lonely_thieves(&mut self) {
        if !self.core.walks || self.core.costs.steal_check.0 == 0 {
            return;
        }
        let mut from = 0;
        while let Some(worker) = self.core.idle.first_from(from) {
            self.core.leave_idle(worker);
            self.core.unschedule(worker);
            self.start_walk(worker);
            from = worker + 1;
        }
    }

    /// `worker`'s core is here: its pool takes requests, and it looks for work.
    pub(super) fn open_worker(&mut self, worker: usize) {
        self.core.settle();
        self.cores.open.insert(worker);
        self.core.here += 1;
        self.unflagged.insert(worker);
        let pool = self.core.workers[worker].pool as usize;
        self.cores.open_in[pool] += 1;
        self.sched.workers_changed(pool, self.cores.open_in[pool]);
        let first = self.core.open.len() == 0;
        if !self.core.open.contains(pool) {
            self.core.open.open(pool);
        }
        if O::ON {
            self.core.observer.observe(self.core.now_ps, Event::Unparked { worker: worker as u32 });
        }
        self.core.workers[worker].phase = Phase::Between;
        if !self.held.is_empty() {
            self.place_waiting(first);
        }
        // It may be the one that has to place them.
        if self.core.workers[worker].phase == Phase::Between {
            self.become_free(worker);
        }
    }

    pub(super) fn after_allocation(&mut self, worker: usize) {
        self.open_worker(worker);
    }

    /// The spare core with the lowest id is asked for; `None` if there is none.
    fn grow(&mut self) -> Option<usize> {
        let worker = (0..self.core.workers.len()).find(|&worker| !self.cores.held.contains(worker))?;
        self.core.account.grants += 1;
        self.hold_core(worker);
        if O::ON {
            self.core.observer.observe(self.core.now_ps, Event::Granted { worker: worker as u32 });
        }
        self.core.workers[worker].phase = Phase::Allocating;
        let cost_ps = self.core.costs.core_allocation.0;
        let due_ps = self.core.now_ps + cost_ps;
        self.core.schedule(worker, due_ps);
        Some(worker)
    }

    /// A request found no open pool: unless a core is on its way already, one is asked for at once.
    pub(super) fn grow_from_zero(&mut self) {
        if self.cores.held.len() == 0 {
            self.grow();
        }
    }

    /// The core of `worker`, which does nothing, goes back.
    fn park(&mut self, worker: usize) {
        self.core.settle();
        self.cores.held.remove(worker);
        self.cores.open.remove(worker);
        self.core.held -= 1;
        self.core.here -= 1;
        self.core.attention[worker] &= !FLAGGED;
        if self.core.workers[worker].flag == NONE {
            self.unflagged.remove(worker);
        }
        self.core.workers[worker].flag = NONE;
        self.core.workers[worker].phase = Phase::Parked;
        self.core.unschedule(worker);
        let pool = self.core.workers[worker].pool as usize;
        self.cores.open_in[pool] -= 1;
        self.sched.workers_changed(pool, self.cores.open_in[pool]);
        if self.cores.open_in[pool] == 0 {
            self.core.open.close(pool);
        }
        self.refresh_walk_order(pool);
        if O::ON {
            self.core.observer.observe(self.core.now_ps, Event::Parked { worker: worker as u32 });
        }
    }

    /// May the core of `worker` go, as far as tasks in its own queue or on their way to it are concerned?
    fn is_spare(&self, worker: usize) -> bool {
        let pool = self.core.workers[worker].pool as usize;
        let first = self.core.workers_of(pool).start;
        !self.sched.has_waiting(pool) && self.core.workers[first].inbound == 0
    }

    pub(super) fn at_tick(&mut self) {
        match self.ask(|allocation, now, seen| allocation.on_tick(now, seen)) {
            CoreDemand::Grow | CoreDemand::GrowForTask => {
                self.grow();
            }
            // The last core stays: a policy that looks at delays would wake it at the next arrival.
            CoreDemand::Shrink if self.cores.open.len() > 1 => self.revoke_idle(),
            CoreDemand::Shrink | CoreDemand::Keep => {}
        }
        let now = books(&mut self.core, &mut self.sched);
        self.cores.at_tick = (now.busy_ps, now.held_ps - now.allocating_ps);
        let interval = self.allocation.as_ref().and_then(Allocation::interval);
        self.next_tick_ps += interval.map_or(0, |every| every.0);
    }

    /// The idle core with the highest id goes back, if there is one.
    fn revoke_idle(&mut self) {
        let idle = (0..self.core.workers.len()).rev().find(|&worker| {
            matches!(self.core.workers[worker].phase, Phase::Idle | Phase::Looking | Phase::LookingLate)
                && self.is_spare(worker)
        });
        let Some(worker) = idle else { return };
        if self.core.workers[worker].phase == Phase::Idle {
            self.core.leave_idle(worker);
        } else {
            self.stop_walk(worker);
        }
        self.park(worker);
    }

    /// A worker has completed a task: does it give its core back?
    pub(super) fn maybe_yield(&mut self, worker: usize) -> bool {
        if !self.is_spare(worker) || self.core.workers[worker].flag != NONE {
            return false;
        }
        let shrink =
            self.ask(|allocation, now, seen| allocation.on_completion(now, seen)) == CoreDemand::Shrink;
        if shrink {
            self.park(worker);
        }
        shrink
    }

    /// A walk of `worker`, or a spin of the same length, found nothing: does it give its core back?
    pub(super) fn maybe_yield_after_walk(&mut self, worker: usize) -> bool {
        if !self.watches_walks || !self.is_spare(worker) {
            return false;
        }
        let shrink =
            self.ask(|allocation, now, seen| allocation.on_failed_walk(now, seen)) == CoreDemand::Shrink;
        if shrink {
            self.core.leave_idle(worker);
            self.park(worker);
        }
        shrink
    }

    /// An idle worker has spun for as long as a walk takes.
    pub(super) fn after_spin(&mut self, worker: usize) {
        if !self.maybe_yield_after_walk(worker) {
            self.core.leave_idle(worker);
            self.go_idle(worker);
        }
    }

    /// How long a walk over all other held cores takes; at least one check, so that time passes.
    pub(super) fn spin_ps(&self) -> u64 {
        let others = u64::from(self.cores.held.len().saturating_sub(1)).max(1);
        (others * self.core.costs.steal_check.0).max(1_000)
    }

    /// Does the allocation policy grant a core for `task`, which has just arrived? Then it goes there.
    pub(super) fn maybe_grow_for(&mut self, task: u32) -> bool {
        let demand = self.ask(|allocation, now, seen| allocation.on_arrival(now, seen));
        if demand == CoreDemand::Keep {
            self.core.account.grants_refused += 1;
            return false;
        }
        let Some(worker) = self.grow() else { return false };
        if demand != CoreDemand::GrowForTask {
            return false;
        }
        // It landed at a random open core, which hands it over.
        let mut draw = Draw::new(stream(self.seed, Purpose::Dispatch), self.core.tasks[task].number);
        let landed = self.core.open.nth(draw.below(self.core.open.len())).index();
        let pool = self.core.workers[worker].pool as usize;
        let cost_ps = self.core.costs.hand_over.0;
        self.send(task, landed, pool, cost_ps);
        true
    }

    /// Is any core of `pool` held, so that thieves look at it?
    pub(super) fn is_held(&self, pool: usize) -> bool {
        self.core.workers_of(pool).any(|worker| self.cores.held.contains(worker))
    }
}
