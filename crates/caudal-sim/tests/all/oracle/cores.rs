//! Cores come and go.

use caudal_policy::allocation::{Allocation, Application, CoreDemand, Triggered};
use caudal_policy::discipline::{Discipline, Order};
use caudal_policy::{Instant, Picos};
use caudal_sim::engine::Event;

use super::host::{DISPATCH, OracleHost};
use super::machine::Doing;

impl<D: Discipline> OracleHost<D> {
    pub(crate) fn is_held(&self, pool: usize) -> bool {
        self.machine.workers_of(pool).any(|worker| self.machine.workers[worker].held)
    }

    pub(crate) fn hold_core(&mut self, worker: usize) {
        self.machine.workers[worker].held = true;
        self.wake_lonely_thieves();
    }

    /// Another pool is there to check: workers that had none to check begin to.
    fn wake_lonely_thieves(&mut self) {
        if self.order.is_empty() || self.machine.costs.steal_check.0 == 0 {
            return;
        }
        for worker in 0..self.machine.workers.len() {
            if self.machine.workers[worker].doing == Doing::Idle {
                self.machine.workers[worker].due_ps = None;
                self.start_walk(worker);
            }
        }
    }

    pub(crate) fn open_worker(&mut self, worker: usize) {
        let first = self.open_pools().is_empty();
        self.machine.workers[worker].open = true;
        self.count_workers(worker);
        self.machine.workers[worker].doing = Doing::Deciding;
        self.machine.log(Event::Unparked { worker: worker as u32 });
        self.place_waiting(first);
        // It may have had to place what waited.
        if self.machine.workers[worker].doing == Doing::Deciding {
            self.become_free(worker);
        }
    }

    fn grow(&mut self) -> Option<usize> {
        let worker = self.machine.workers.iter().position(|worker| !worker.held)?;
        self.machine.account.grants += 1;
        self.hold_core(worker);
        self.machine.log(Event::Granted { worker: worker as u32 });
        let cost_ps = self.machine.costs.core_allocation.0;
        self.machine.busy_for(worker, Doing::Allocating, cost_ps);
        Some(worker)
    }

    pub(crate) fn grow_from_zero(&mut self) {
        if !self.machine.workers.iter().any(|worker| worker.held) {
            self.grow();
        }
    }

    fn count_workers(&mut self, worker: usize) {
        let pool = self.machine.workers[worker].pool;
        let open = self.machine.workers_of(pool).filter(|&worker| self.machine.workers[worker].open);
        self.disciplines[pool].on_workers(open.count() as u32);
    }

    fn park(&mut self, worker: usize) {
        let entry = &mut self.machine.workers[worker];
        (entry.held, entry.open) = (false, false);
        (entry.flag, entry.due_ps) = (None, None);
        entry.doing = Doing::Parked;
        self.count_workers(worker);
        self.machine.log(Event::Parked { worker: worker as u32 });
    }

    fn is_spare(&self, worker: usize) -> bool {
        let pool = self.machine.workers[worker].pool;
        self.machine.waiting(pool).next().is_none() && self.machine.pools[pool].inbound == 0
    }

    fn ask(&mut self, question: impl FnOnce(&mut Triggered, Instant, &Self) -> CoreDemand) -> CoreDemand {
        let Some(mut allocation) = self.allocation.take() else { return CoreDemand::Keep };
        let demand = question(&mut allocation, Instant(self.machine.now_ps), self);
        self.allocation = Some(allocation);
        demand
    }

    pub(crate) fn watches_arrivals(&self) -> bool {
        self.allocation.as_ref().is_some_and(Allocation::watches_arrivals)
    }

    fn watches_walks(&self) -> bool {
        self.allocation.as_ref().is_some_and(Allocation::watches_walks)
    }

    pub(crate) fn at_tick(&mut self) {
        match self.ask(Allocation::on_tick) {
            CoreDemand::Grow | CoreDemand::GrowForTask => {
                self.grow();
            }
            CoreDemand::Shrink if self.machine.workers.iter().filter(|worker| worker.open).count() > 1 => {
                self.revoke_idle();
            }
            CoreDemand::Shrink | CoreDemand::Keep => {}
        }
        self.at_tick = self.busy_and_present_ps();
        let interval = self.allocation.as_ref().and_then(Allocation::interval).expect("ticks have a rhythm");
        self.next_tick_ps = Some(self.machine.now_ps + interval.0);
    }

    fn busy_and_present_ps(&self) -> (u128, u128) {
        let account = &self.machine.account;
        (self.machine.work_done_ps(), account.held_ps - account.allocating_ps)
    }

    fn revoke_idle(&mut self) {
        let may_go = |worker: &usize| {
            matches!(self.machine.workers[*worker].doing, Doing::Idle | Doing::Checking(_))
                && self.is_spare(*worker)
        };
        let Some(worker) = (0..self.machine.workers.len()).rev().find(may_go) else { return };
        if self.machine.workers[worker].doing != Doing::Idle {
            self.account_for_walk(worker);
        }
        self.park(worker);
    }

    /// A worker has completed a task: does it give its core back?
    pub(crate) fn maybe_yield(&mut self, worker: usize) -> bool {
        let watches = self.allocation.as_ref().is_some_and(Allocation::watches_completions);
        if !watches || !self.is_spare(worker) || self.machine.workers[worker].flag.is_some() {
            return false;
        }
        let demand = self.ask(Allocation::on_completion);
        if demand == CoreDemand::Shrink {
            self.park(worker);
        }
        demand == CoreDemand::Shrink
    }

    /// A walk of `worker`, or a spin of the same length, found nothing: does it give its core back?
    pub(crate) fn maybe_yield_after_walk(&mut self, worker: usize) -> bool {
        if !self.watches_walks() || !self.is_spare(worker) {
            return false;
        }
        let demand = self.ask(Allocation::on_failed_walk);
        if demand == CoreDemand::Shrink {
            self.park(worker);
        }
        demand == CoreDemand::Shrink
    }

    pub(crate) fn go_idle(&mut self, worker: usize) {
        self.machine.workers[worker].doing = Doing::Idle;
        self.machine.workers[worker].idle_since_ps = self.machine.now_ps;
        self.machine.workers[worker].due_ps = None;
        if self.watches_walks() {
            // At least a nanosecond, so that time passes.
            let others = self.machine.workers.iter().filter(|worker| worker.held).count().saturating_sub(1);
            let spin_ps = (others.max(1) as u64 * self.machine.costs.steal_check.0).max(1_000);
            self.machine.busy_for(worker, Doing::Idle, spin_ps);
        }
        if let Some(from) = self.machine.workers[worker].flag.take() {
            self.start_shed(worker, from);
        }
    }

    pub(crate) fn spin_ends(&mut self, worker: usize) {
        if !self.maybe_yield_after_walk(worker) {
            self.go_idle(worker);
        }
    }

    /// Does the allocation policy grant a core for `task`, which arrives? Then it goes there.
    pub(crate) fn maybe_grow_for(&mut self, task: usize) -> bool {
        let demand = self.ask(Allocation::on_arrival);
        if demand == CoreDemand::Keep {
            self.machine.account.grants_refused += 1;
            return false;
        }
        let Some(worker) = self.grow() else { return false };
        if demand != CoreDemand::GrowForTask {
            return false;
        }
        let open = self.open_pools();
        let landed = open[self.draw(DISPATCH, task as u64).below(open.len() as u32) as usize];
        let cost_ps = self.machine.costs.hand_over.0;
        self.send(task, landed, self.machine.workers[worker].pool, cost_ps);
        true
    }

    /// When the oldest task that waits in `pool` arrived. In a plain queue that is the head: moved tasks
    /// go to the front because they have waited longest.
    pub(crate) fn oldest_ps(&self, pool: usize) -> Option<u64> {
        let discipline = &self.disciplines[pool];
        let plain = discipline.order() == Order::Queue && discipline.lanes() == 1;
        let among = if plain { 1 } else { usize::MAX };
        self.machine.waiting(pool).take(among).map(|task| self.machine.tasks[task].arrival_ps).min()
    }
}

impl<D: Discipline> Application for OracleHost<D> {
    fn cores(&self) -> u32 {
        self.machine.workers.iter().filter(|worker| worker.held).count() as u32
    }

    fn spare(&self) -> u32 {
        self.machine.workers.iter().filter(|worker| !worker.held).count() as u32
    }

    fn idle(&self) -> u32 {
        let is_idle = |doing| matches!(doing, Doing::Idle | Doing::Checking(_));
        self.machine.workers.iter().filter(|worker| is_idle(worker.doing)).count() as u32
    }

    fn stealing(&self) -> u32 {
        let is_walking = |doing| matches!(doing, Doing::Checking(_));
        self.machine.workers.iter().filter(|worker| is_walking(worker.doing)).count() as u32
    }

    fn queued(&self) -> u32 {
        (0..self.machine.pools.len()).map(|pool| self.machine.waiting(pool).count() as u32).sum()
    }

    fn oldest_delay_max(&self) -> Picos {
        let pools = (0..self.machine.pools.len()).filter_map(|pool| self.oldest_ps(pool));
        let held = self.held.front().map(|&task| self.machine.tasks[task].arrival_ps);
        Picos(pools.chain(held).min().map_or(0, |oldest_ps| self.machine.now_ps - oldest_ps))
    }

    fn oldest_delay_mean(&self) -> Picos {
        let held = self.machine.workers.iter().filter(|worker| worker.held);
        let delays = held.map(|worker| self.oldest_ps(worker.pool).map_or(0, |ps| self.machine.now_ps - ps));
        Picos(delays.sum::<u64>() / u64::from(self.cores().max(1)))
    }

    fn utilization(&self) -> f64 {
        let (busy_ps, present_ps) = self.busy_and_present_ps();
        let spent_ps = present_ps - self.at_tick.1;
        if spent_ps == 0 {
            return 1.0;
        }
        busy_ps.saturating_sub(self.at_tick.0) as f64 / spent_ps as f64
    }
}
