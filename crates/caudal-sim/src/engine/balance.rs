//! Walks of thieves, steals, flags and sheds: carrying out what a rebalance policy asks for.

use caudal_policy::allocation::Allocation;
use caudal_policy::dispatch::Dispatch;
use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::core::{FLAGGED, Phase};
use super::host::{Host, Purpose, stream};
use super::lane::{Check, Looks};
use super::observe::{Event, Sink};
use super::scheduling::Scheduling;
use super::tasks::NONE;
use caudal_policy::Picos;

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> Host<S, R, D, A, O> {
    /// Draws the fixed order in which all walks go, if workers walk at all.
    pub(super) fn set_up_walks(&mut self) {
        let pools = self.core.pool_first.len() - 1;
        if !self.rebalance.steals() || pools < 2 {
            return;
        }
        let mut order: Vec<u16> = (0..pools as u16).collect();
        let mut draw = Draw::new(stream(self.seed, Purpose::Order), 0);
        for left in (1..pools).rev() {
            order.swap(left, draw.below(left as u32 + 1) as usize);
        }
        let mut place = vec![0; pools];
        for (at, &pool) in order.iter().enumerate() {
            place[pool as usize] = at as u16;
        }
        order.extend_from_within(..);
        self.order = order.into_boxed_slice();
        let workers = self.core.workers.len();
        self.core.place = place.into_boxed_slice();
        self.core.walks = true;
        self.core.looks = Looks::new(workers);
    }

    /// `pool` has become one that thieves look at, or is one no more.
    pub(super) fn refresh_walk_order(&mut self, _pool: usize) {
        if !self.core.walks {
            return;
        }
        let places = self.order.len();
        let mut next = u16::MAX;
        for place in (0..places).rev() {
            self.core.looks.step[place] = next - place as u16;
            let held = self.is_held(self.order[place] as usize);
            self.core.looks.held[place] = held;
            if held {
                next = place as u16;
            }
        }
        let all_held = self.core.looks.held[..places].iter().all(|&held| held);
        self.core.looks.all_held = all_held;
    }

    /// The first place from `from` on that `worker` may look at, below `end`.
    fn place_from(&self, worker: usize, from: u16, end: u16) -> Option<u16> {
        let looks = &self.core.looks;
        let mut place = if looks.held[from as usize] { from } else { looks.next(from) };
        if place < end && u32::from(self.order[place as usize]) == self.core.workers[worker].pool {
            place = self.core.looks.next(place);
        }
        (place < end).then_some(place)
    }

    /// The next place after `at` at which `worker`'s walk needs a thought: its own pool's, or the end.
    fn bound_after(&self, worker: usize, at: u16) -> u16 {
        let end = self.core.workers[worker].walk_end;
        let own = self.core.place[self.core.workers[worker].pool as usize];
        let pools = (self.order.len() / 2) as u16;
        if own > at && own < end {
            own
        } else if own + pools > at && own + pools < end {
            own + pools
        } else {
            end
        }
    }

    /// `worker` has nothing to run and begins to look at other pools.
    pub(super) fn start_walk(&mut self, worker: usize) {
        let pools = self.order.len() / 2;
        if !self.core.walks {
            return self.go_idle(worker);
        }
        let entry = &mut self.core.workers[worker];
        entry.walk += 1;
        // No worker walks 2^48 times: at 100 ns a walk that is most of a year.
        let draw = Draw::new(self.walk_seed, (worker as u64) << 48 | entry.walk);
        let start = self.rebalance.walk_start(draw, pools as u32) as u16;
        entry.walk_end = start + pools as u16;
        entry.walk_began_ps = self.core.now_ps;
        let end = entry.walk_end;
        if self.core.costs.steal_check.0 == 0 {
            return self.walk_at_once(worker, start, end);
        }
        match self.place_from(worker, start, end) {
            // No other pool: it waits for one to open.
            None => self.go_idle(worker),
            Some(at) => {
                self.core.walkers += 1;
                // A worker that comes from another walk has no event in the tree.
                if self.core.workers[worker].phase != Phase::Looking {
                    self.core.workers[worker].phase = Phase::Looking;
                    self.core.unschedule(worker);
                }
                self.look_at(worker, at);
            }
        }
    }

    /// The next check of `worker`'s walk begins now.
    #[inline(always)]
    fn look_at(&mut self, worker: usize, at: u16) {
        let end_ps = self.core.now_ps + self.core.costs.steal_check.0;
        let left = self.bound_after(worker, at) - at;
        self.lane.push(Check::new(self.core.keys.of(worker, end_ps), worker as u16, at, left));
    }

    /// A check has ended and something needs a decision.
    #[inline]
    pub(super) fn after_look(&mut self, check: Check) {
        let worker = check.worker() as usize;
        if self.core.looks.attention[worker] != 0 && self.attend(worker) {
            return;
        }
        let victim = self.order[check.at() as usize] as usize;
        if self.core.looks.stealable[check.at() as usize] && self.sched.stealable(&mut self.core, victim) > 0
        {
            return self.start_steal(worker, victim);
        }
        let end = self.core.workers[worker].walk_end;
        let next = self.core.looks.next(check.at());
        if next < end
            && let Some(next) = self.place_from(worker, next, end)
        {
            return self.look_at(worker, next);
        }
        self.end_walk(worker);
        if !self.maybe_yield_after_walk(worker) {
            self.start_walk(worker);
        }
    }

    /// A walker looks up: a flag, or a task in its own pool, ends its walk.
    fn attend(&mut self, worker: usize) -> bool {
        if self.core.workers[worker].flag != NONE {
            self.end_walk(worker);
            self.start_shed(worker);
            return true;
        }
        self.core.workers[worker].phase = Phase::Between;
        let found = self.sched.free(&mut self.core, worker);
        if found {
            self.end_walk(worker);
        } else {
            self.core.workers[worker].phase = Phase::Looking;
        }
        found
    }

    /// The time of a walk that ends now goes into the books.
    #[inline]
    fn end_walk(&mut self, worker: usize) {
        self.core.walkers -= 1;
        let span_ps = self.core.now_ps - self.core.workers[worker].walk_began_ps;
        self.core.account.looking_ps += u128::from(span_ps);
    }

    pub(super) fn after_late_look(&mut self, worker: usize) {
        let check = self.core.workers[worker].check;
        self.core.workers[worker].phase = Phase::Looking;
        self.core.unschedule(worker);
        self.after_look(check);
    }

    /// A walker pays for something else before its check goes on.
    pub(super) fn delay_look(&mut self, worker: usize, cost_ps: u64) {
        let Some(check) = self.lane.remove(worker as u16) else { return };
        let end_ps = self.core.keys.time_ps(check.key) + cost_ps;
        self.core.workers[worker].check = check;
        self.core.workers[worker].phase = Phase::LookingLate;
        self.core.schedule(worker, end_ps);
    }

    /// A walk is broken off: its core goes back.
    pub(super) fn stop_walk(&mut self, worker: usize) {
        self.lane.remove(worker as u16);
        self.end_walk(worker);
    }

    #[inline]
    fn start_steal(&mut self, worker: usize, victim: usize) {
        self.end_walk(worker);
        let cost_ps = self.core.costs.steal.0;
        let entry = &mut self.core.workers[worker];
        entry.victim = victim as u32;
        entry.phase = Phase::Stealing;
        self.core.account.moving_ps += u128::from(cost_ps);
        let due_ps = self.core.now_ps + cost_ps;
        self.core.schedule(worker, due_ps);
    }

    /// The thief takes what is there by now; that may be nothing.
    #[inline]
    pub(super) fn after_steal(&mut self, worker: usize) {
        let victim = self.core.workers[worker].victim as usize;
        let len = self.sched.stealable(&mut self.core, victim);
        let amount = self.rebalance.steal_amount(len);
        self.core.account.steals += 1;
        self.core.account.steals_empty += u64::from(amount == 0);
        self.core.workers[worker].phase = Phase::Between;
        self.move_tasks(victim, worker, amount);
        self.run_or_rest(worker);
        self.wake_mates(worker);
    }

    /// Tasks may have been moved to the pool of `worker`, which has taken one: idle workers of that pool
    /// take others.
    fn wake_mates(&mut self, worker: usize) {
        let mates = self.core.workers_of(self.core.workers[worker].pool as usize);
        if mates.len() == 1 {
            return;
        }
        for mate in mates {
            if self.core.workers[mate].phase == Phase::Idle {
                self.sched.free(&mut self.core, mate);
            }
        }
    }

    /// The oldest `amount` tasks of pool `from` go to the front of the pool of `worker`.
    fn move_tasks(&mut self, from: usize, worker: usize, amount: u32) {
        if amount == 0 {
            return;
        }
        let to = self.core.workers[worker].pool as usize;
        self.moving.clear();
        for _ in 0..amount {
            self.moving.extend(self.sched.take(&mut self.core, from));
        }
        let moved = self.moving.len() as u32;
        self.core.open.shift(from, to, moved);
        while let Some(task) = self.moving.pop() {
            self.sched.put(&mut self.core, to, task);
        }
        if O::ON {
            let event = Event::Moved { worker: worker as u32, from: from as u32, tasks: moved };
            self.core.observer.observe(self.core.now_ps, event);
        }
    }

    /// Checks are free: the walk is over at once, and goes on when a task comes.
    fn walk_at_once(&mut self, worker: usize, start: u16, end: u16) {
        let mut from = start;
        while let Some(at) = self.place_from(worker, from, end) {
            let victim = self.order[at as usize] as usize;
            if self.sched.stealable(&mut self.core, victim) > 0 {
                self.core.walkers += 1;
                return self.start_steal(worker, victim);
            }
            from = self.core.looks.next(at);
            if from >= end {
                break;
            }
        }
        self.go_idle(worker);
    }

    /// Checks are free and a task has come to `pool`: a random idle thief finds it at once.
    pub(super) fn wake_thieves(&mut self, pool: usize) {
        while self.core.idle.len() > 0 && self.sched.stealable(&mut self.core, pool) > 0 {
            self.flags += 1;
            let mut draw = Draw::new(stream(self.seed, Purpose::Thief), self.flags);
            let worker = self.core.idle.nth(draw.below(self.core.idle.len()));
            self.core.leave_idle(worker);
            self.core.walkers += 1;
            self.core.workers[worker].walk_began_ps = self.core.now_ps;
            self.start_steal(worker, pool);
            if self.core.costs.steal.0 > 0 {
                return;
            }
            self.core.unschedule(worker);
            self.after_steal(worker);
        }
    }

    /// Between two tasks of `worker`: if its queue is overloaded, it flags another.
    pub(super) fn maybe_flag(&mut self, worker: usize) {
        let pool = self.core.workers[worker].pool;
        let Some(oldest_ps) = self.sched.oldest_ps(&mut self.core, pool as usize) else { return };
        if !self.rebalance.sheds(Picos(self.core.now_ps - oldest_ps)) {
            return;
        }
        let own = u32::from(self.core.workers[worker].flag == NONE);
        let others = self.unflagged.len() - own;
        if others == 0 {
            return;
        }
        self.flags += 1;
        let mut draw = Draw::new(stream(self.seed, Purpose::Flag), self.flags);
        let mut target = self.unflagged.nth(draw.below(others));
        if own == 1 && target >= worker {
            // The drawn one, counted without `worker` itself.
            target = self.unflagged.first_from(target + 1).unwrap_or(target);
        }
        self.flag(target, pool);
    }

    fn flag(&mut self, target: usize, pool: u32) {
        self.core.workers[target].flag = pool;
        self.unflagged.remove(target);
        if O::ON {
            let event = Event::Flagged { worker: target as u32, from: pool };
            self.core.observer.observe(self.core.now_ps, event);
        }
        match self.core.workers[target].phase {
            Phase::Idle => {
                self.core.leave_idle(target);
                self.start_shed(target);
            }
            _ if self.core.walks => self.core.looks.attention[target] |= FLAGGED,
            _ => {}
        }
    }

    /// A flagged worker answers.
    pub(super) fn start_shed(&mut self, worker: usize) {
        let entry = &mut self.core.workers[worker];
        entry.victim = std::mem::replace(&mut entry.flag, NONE);
        entry.phase = Phase::Shedding;
        self.unflagged.insert(worker);
        if self.core.walks {
            self.core.looks.attention[worker] &= !FLAGGED;
        }
        let cost_ps = self.core.costs.shed.0;
        self.core.account.moving_ps += u128::from(cost_ps);
        self.core.account.sheds += 1;
        let due_ps = self.core.now_ps + cost_ps;
        self.core.schedule(worker, due_ps);
    }

    /// It takes its share of the overloaded queue, and runs one task before it looks at flags again.
    pub(super) fn after_shed(&mut self, worker: usize) {
        let (victim, own) =
            (self.core.workers[worker].victim as usize, self.core.workers[worker].pool as usize);
        self.core.workers[worker].phase = Phase::Between;
        if victim != own {
            let own_len = self.sched.stealable(&mut self.core, own);
            let len = self.sched.stealable(&mut self.core, victim);
            let amount = self.rebalance.shed_amount(own_len, len);
            self.move_tasks(victim, worker, amount);
        }
        self.run_or_rest(worker);
        self.wake_mates(worker);
    }
}
