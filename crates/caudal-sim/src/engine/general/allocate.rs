//! Grants and revocations of cores in the general loop: it asks the allocation policy at each tick, and carries out the answer. `host`
//! calls it at ticks, and when a core parks or arrives. It changes the host's state only.

use caudal_policy::allocation::{Allocation, CoreDemand};
use caudal_policy::dispatch::Dispatch;
use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::audit::account_now;
use super::core::{FLAGGED, Phase};
use super::host::GeneralHost;
use super::scheduling::Scheduling;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tasks::NONE;

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> GeneralHost<'_, S, R, D, A, O> {
    /// `worker`'s core is held from now on.
    pub(in crate::engine) fn hold_core(&mut self, worker: usize) {
        self.core.settle();
        self.cores.held.insert(worker);
        self.core.held += 1;
        let pool = self.core.workers[worker].pool as usize;
        self.refresh_walk_order(pool);
        self.wake_lonely_thieves();
    }

    /// Workers that had no other pool to check may have one now. Where checks cost nothing, idle ones
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

    /// `worker`'s core is here: its pool takes requests, and it searches for work.
    pub(in crate::engine) fn open_worker(&mut self, worker: usize) {
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

    pub(in crate::engine) fn after_allocation(&mut self, worker: usize) {
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
    pub(in crate::engine) fn grow_from_zero(&mut self) {
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

    pub(in crate::engine) fn at_tick(&mut self) {
        match self.ask(|allocation, now, seen| allocation.on_tick(now, seen)) {
            CoreDemand::Grow | CoreDemand::GrowForTask => {
                self.grow();
            }
            // The last core stays: a policy that reads delays would wake it at the next arrival.
            CoreDemand::Shrink if self.cores.open.len() > 1 => self.revoke_idle(),
            CoreDemand::Shrink | CoreDemand::Keep => {}
        }
        let now = account_now(&mut self.core, &mut self.sched);
        self.cores.at_tick = (now.busy_ps, now.held_ps - now.allocating_ps);
        let interval = self.allocation.as_ref().and_then(Allocation::interval);
        self.next_tick_ps += interval.map_or(0, |every| every.0);
    }

    /// The idle core with the highest id goes back, if there is one.
    fn revoke_idle(&mut self) {
        let idle = (0..self.core.workers.len()).rev().find(|&worker| {
            matches!(self.core.workers[worker].phase, Phase::Idle | Phase::Walking | Phase::SingleCheck)
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
    pub(in crate::engine) fn maybe_yield(&mut self, worker: usize) -> bool {
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
    pub(in crate::engine) fn maybe_yield_after_walk(&mut self, worker: usize) -> bool {
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
    pub(in crate::engine) fn after_spin(&mut self, worker: usize) {
        if !self.maybe_yield_after_walk(worker) {
            self.core.leave_idle(worker);
            self.go_idle(worker);
        }
    }

    /// How long a walk over all other held cores takes; at least one check, so that time passes.
    pub(in crate::engine) fn spin_ps(&self) -> u64 {
        let others = u64::from(self.cores.held.len().saturating_sub(1)).max(1);
        (others * self.core.costs.steal_check.0).max(1_000)
    }

    /// Does the allocation policy grant a core for `task`, which has just arrived? Then it goes there.
    pub(in crate::engine) fn maybe_grow_for(&mut self, task: u32) -> bool {
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

    /// Is any core of `pool` held, so that thieves check it?
    pub(in crate::engine) fn is_held(&self, pool: usize) -> bool {
        self.core.workers_of(pool).any(|worker| self.cores.held.contains(worker))
    }
}
