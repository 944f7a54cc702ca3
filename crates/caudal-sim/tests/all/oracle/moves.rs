//! Walks, steals, flags and sheds.

use caudal_policy::discipline::Discipline;
use caudal_policy::rebalance::Rebalance;
use caudal_policy::{Instant, Picos, TaskId};
use caudal_sim::engine::Event;

use super::host::{FLAG, ORDER, OracleHost, THIEF, WALK};
use super::machine::{Doing, View};

impl<D: Discipline> OracleHost<D> {
    /// Draws the order in which all walks go; it stays empty if nobody walks.
    pub(crate) fn draw_order(&mut self) {
        let pools = self.machine.pools.len();
        if !self.rebalance.steals() || pools < 2 {
            return;
        }
        self.order = (0..pools).collect();
        let mut draw = self.draw(ORDER, 0);
        for left in (1..pools).rev() {
            self.order.swap(left, draw.below(left as u32 + 1) as usize);
        }
    }

    fn pool_at(&self, place: usize) -> usize {
        self.order[place % self.order.len()]
    }

    /// The first place of the walk of `worker`, from `from` on, that it may check.
    fn place_from(&self, worker: usize, from: usize) -> Option<usize> {
        let own = self.machine.workers[worker].pool;
        (from..self.machine.workers[worker].walk_end)
            .find(|&place| self.pool_at(place) != own && self.is_held(self.pool_at(place)))
    }

    pub(crate) fn start_walk(&mut self, worker: usize) {
        let pools = self.order.len();
        let now_ps = self.machine.now_ps;
        let entry = &mut self.machine.workers[worker];
        entry.walk += 1;
        entry.walk_began_ps = now_ps;
        let number = (worker as u64) << 48 | entry.walk;
        let start = self.rebalance.walk_start(self.draw(WALK, number), pools as u32) as usize;
        self.machine.workers[worker].walk_end = start + pools;
        if self.machine.costs.steal_check.0 == 0 {
            return self.walk_at_once(worker, start);
        }
        match self.place_from(worker, start) {
            Some(place) => self.begin_check(worker, place),
            None => self.go_idle(worker),
        }
    }

    fn begin_check(&mut self, worker: usize, place: usize) {
        let check_ps = self.machine.costs.steal_check.0;
        self.machine.busy_for(worker, Doing::Checking(place), check_ps);
    }

    /// At the end of a check: a flag, then tasks of its own pool, then what it has checked, then the next.
    pub(crate) fn check_ends(&mut self, worker: usize, place: usize) {
        if let Some(from) = self.machine.workers[worker].flag.take() {
            self.account_for_walk(worker);
            return self.start_shed(worker, from);
        }
        self.machine.workers[worker].doing = Doing::Deciding;
        if self.finds_own(worker) {
            return self.account_for_walk(worker);
        }
        let victim = self.pool_at(place);
        if !self.machine.stealable(victim).is_empty() {
            return self.start_steal(worker, victim);
        }
        if let Some(next) = self.place_from(worker, place + 1) {
            return self.begin_check(worker, next);
        }
        self.account_for_walk(worker);
        if !self.maybe_yield_after_walk(worker) {
            self.start_walk(worker);
        }
    }

    /// A walk is over: its time goes into the accounts.
    pub(crate) fn account_for_walk(&mut self, worker: usize) {
        let span_ps = self.machine.now_ps - self.machine.workers[worker].walk_began_ps;
        self.machine.account.looking_ps += u128::from(span_ps);
    }

    fn start_steal(&mut self, worker: usize, victim: usize) {
        self.account_for_walk(worker);
        let cost_ps = self.machine.costs.steal.0;
        self.machine.account.moving_ps += u128::from(cost_ps);
        self.machine.busy_for(worker, Doing::Stealing(victim), cost_ps);
    }

    pub(crate) fn steal_ends(&mut self, worker: usize, victim: usize) {
        let len = self.machine.stealable(victim).len() as u32;
        let amount = self.rebalance.steal_amount(len);
        self.machine.account.steals += 1;
        self.machine.account.steals_empty += u64::from(amount == 0);
        self.move_tasks(victim, worker, amount);
        self.run_or_rest(worker);
        self.wake_idle_mates(worker);
    }

    /// The first `amount` tasks of pool `from` that have not started go to the front of `worker`'s pool.
    fn move_tasks(&mut self, from: usize, worker: usize, amount: u32) {
        if amount == 0 {
            return;
        }
        let to = self.machine.workers[worker].pool;
        let mut moving = self.machine.stealable(from);
        moving.truncate(amount as usize);
        for lane in &mut self.machine.pools[from].lanes {
            lane.retain(|(_, task)| !moving.contains(task));
        }
        self.machine.pools[from].unfinished -= amount;
        self.machine.pools[to].unfinished += amount;
        let now = Instant(self.machine.now_ps);
        for (more, &task) in moving.iter().enumerate().rev() {
            let mut view = View { machine: &mut self.machine, pool: to };
            self.disciplines[to].on_moved(now, TaskId(task as u32), more as u32, &mut view);
        }
        self.machine.log(Event::Moved { worker: worker as u32, from: from as u32, tasks: amount });
    }

    /// Tasks have been moved to the pool of `worker`, which has taken one: idle workers of it take others.
    fn wake_idle_mates(&mut self, worker: usize) {
        for mate in self.machine.workers_of(self.machine.workers[worker].pool) {
            if self.machine.workers[mate].doing == Doing::Idle {
                self.finds_own(mate);
            }
        }
    }

    /// Checks that cost nothing: the whole walk happens now.
    fn walk_at_once(&mut self, worker: usize, start: usize) {
        let mut from = start;
        while let Some(place) = self.place_from(worker, from) {
            let victim = self.pool_at(place);
            if !self.machine.stealable(victim).is_empty() {
                return self.start_steal(worker, victim);
            }
            from = place + 1;
        }
        self.go_idle(worker);
    }

    /// Checks cost nothing and a task has come to `pool`: random idle workers find it at once.
    pub(crate) fn wake_thieves(&mut self, pool: usize) {
        loop {
            let is_idle = |worker: &usize| self.machine.workers[*worker].doing == Doing::Idle;
            let idle: Vec<usize> = (0..self.machine.workers.len()).filter(is_idle).collect();
            if idle.is_empty() || self.machine.stealable(pool).is_empty() {
                return;
            }
            self.choices += 1;
            let mut draw = self.draw(THIEF, self.choices);
            let mut thief = idle[draw.below(idle.len() as u32) as usize];
            if !self.may_steal(thief) {
                let may: Vec<usize> = idle.into_iter().filter(|&worker| self.may_steal(worker)).collect();
                if may.is_empty() {
                    return;
                }
                thief = may[draw.below(may.len() as u32) as usize];
            }
            self.machine.workers[thief].walk_began_ps = self.machine.now_ps;
            self.start_steal(thief, pool);
            if self.machine.costs.steal.0 > 0 {
                return;
            }
            self.machine.workers[thief].due_ps = None;
            self.steal_ends(thief, pool);
        }
    }

    /// Between two tasks of `worker`: if its queue is overloaded, it flags another.
    pub(crate) fn maybe_flag(&mut self, worker: usize) {
        let pool = self.machine.workers[worker].pool;
        let Some(oldest_ps) = self.oldest_ps(pool) else { return };
        if !self.rebalance.sheds(Picos(self.machine.now_ps - oldest_ps)) {
            return;
        }
        let workers = self.machine.workers.iter().enumerate();
        let can_be_flagged =
            workers.filter(|(id, entry)| *id != worker && entry.open && entry.flag.is_none());
        let targets: Vec<usize> = can_be_flagged.map(|(id, _)| id).collect();
        if targets.is_empty() {
            return;
        }
        self.choices += 1;
        let target = targets[self.draw(FLAG, self.choices).below(targets.len() as u32) as usize];
        self.machine.log(Event::Flagged { worker: target as u32, from: pool as u32 });
        if self.machine.workers[target].doing == Doing::Idle {
            self.start_shed(target, pool);
        } else {
            self.machine.workers[target].flag = Some(pool);
        }
    }

    pub(crate) fn start_shed(&mut self, worker: usize, from: usize) {
        let cost_ps = self.machine.costs.shed.0;
        self.machine.account.moving_ps += u128::from(cost_ps);
        self.machine.account.sheds += 1;
        self.machine.busy_for(worker, Doing::Shedding(from), cost_ps);
    }

    pub(crate) fn shed_ends(&mut self, worker: usize, from: usize) {
        let own = self.machine.workers[worker].pool;
        if from != own {
            let (own_len, len) = (self.machine.stealable(own).len(), self.machine.stealable(from).len());
            let amount = self.rebalance.shed_amount(own_len as u32, len as u32);
            self.move_tasks(from, worker, amount);
        }
        self.run_or_rest(worker);
        self.wake_idle_mates(worker);
    }
}
