//! The moves of tasks between pools in the general loop: walks of thieves, steals, flags and sheds, as a rebalance policy asks for them.
//! `host` calls it when a worker becomes idle and when a walk ends; `replay` takes the draws and targets from here, so that it decides
//! alike.

use caudal_policy::allocation::Allocation;
use caudal_policy::dispatch::Dispatch;
use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::core::{Core, FLAGGED, Phase};
use super::host::GeneralHost;
use super::scheduling::Scheduling;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tasks::NONE;
use crate::engine::kernel::tree::NEVER;
use crate::engine::kernel::walks::{Position, Walks, walk_order};
use caudal_policy::Picos;

/// The draw of the walk `walk` of `worker`. No worker walks 2^48 times: at 100 ns a walk that is most of a year.
#[inline(always)]
pub(in crate::engine) fn walk_draw(walk_seed: u64, worker: usize, walk: u64) -> Draw {
    Draw::new(walk_seed, (worker as u64) << 48 | walk)
}

/// Whom `worker` flags of those that are `unflagged`, itself not; `own`: it is one of them.
#[inline(always)]
pub(in crate::engine) fn flag_target(
    unflagged: &BitSet,
    worker: usize,
    own: bool,
    draw: &mut Draw,
) -> Option<usize> {
    let others = unflagged.len() - u32::from(own);
    if others == 0 {
        return None;
    }
    let target = unflagged.nth(draw.below(others));
    if own && target >= worker {
        // The drawn one, counted without `worker` itself.
        return unflagged.first_from(target + 1).or(Some(target));
    }
    Some(target)
}

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> GeneralHost<'_, S, R, D, A, O> {
    /// Draws the fixed order in which all walks go, if workers walk at all.
    pub(in crate::engine) fn set_up_walks(&mut self) {
        let pools = self.core.pool_first.len() - 1;
        if !self.rebalance.steals() || pools < 2 {
            return;
        }
        let (order, place) = walk_order(self.seed, pools);
        let mut order = order.into_vec();
        order.extend_from_within(..);
        self.order = order.into_boxed_slice();
        let (workers, check_ps) = (self.core.workers.len(), self.core.costs.steal_check.0);
        self.core.place = place;
        self.core.is_held = vec![false; pools].into_boxed_slice();
        self.core.has_tasks = vec![false; pools].into_boxed_slice();
        self.core.ring = Walks::new(pools, workers, check_ps);
        self.core.walks = true;
    }

    /// Thieves may have to check `pool` from now on, or not to any more.
    pub(in crate::engine) fn refresh_walk_order(&mut self, pool: usize) {
        if self.core.walks && self.core.is_held[pool] != self.is_held(pool) {
            self.rebuild_walks();
        }
    }

    /// Thieves check the pools that are held now.
    pub(in crate::engine) fn rebuild_walks(&mut self) {
        if !self.core.walks {
            return;
        }
        let walking = |&worker: &usize| self.core.workers[worker].phase == Phase::Walking;
        let walking: Vec<usize> = (0..self.core.workers.len()).filter(walking).collect();
        // All of them step out, and those whose check goes on are in again at once. No heirs: everybody goes.
        let step_out = |&worker: &usize| {
            let end_ps = self.core.begin_single_check(worker);
            self.core.ring.remove(worker as u16);
            end_ps
        };
        let ends_ps: Vec<u64> = walking.iter().map(step_out).collect();
        for pool in 0..self.core.is_held.len() {
            self.core.is_held[pool] = self.is_held(pool);
        }
        let Core { ring, is_held, has_tasks, now_ps, .. } = &mut self.core;
        let order = &self.order;
        ring.rebuild(
            *now_ps,
            |place| is_held[order[place] as usize],
            |place| has_tasks[order[place] as usize],
        );
        for (worker, end_ps) in walking.into_iter().zip(ends_ps) {
            let at = self.core.workers[worker].at;
            let due_ps = if self.core.is_held[self.order[at as usize] as usize] {
                self.core.workers[worker].phase = Phase::Walking;
                let position = Position { rank: self.core.ring.rank(at), end_ps };
                let (end, then) = self.segments(worker, at);
                self.core.ring.rejoin(worker as u16, self.core.now_ps, position, (end, then))
            } else {
                end_ps
            };
            self.core.schedule(worker, due_ps);
        }
    }

    /// The first place from `from` on that `worker` may check, below `end`.
    #[inline(always)]
    fn place_from(&self, worker: usize, from: u16, end: u16) -> Option<u16> {
        let ring = &self.core.ring;
        let held_from = |place: u16| ring.place(ring.rank(place)).filter(|&place| place < end);
        let place = held_from(from)?;
        if u32::from(self.order[place as usize]) == self.core.workers[worker].pool {
            return held_from(place + 1);
        }
        Some(place)
    }

    /// One past the last rank of `worker`'s walk from place `at`, or the rank of its own pool if that comes first;
    /// and then one past the last rank behind that, or 0 if there is none.
    #[inline(always)]
    fn segments(&self, worker: usize, at: u16) -> (u16, u16) {
        let ring = &self.core.ring;
        let end = self.core.workers[worker].walk_end;
        let own = self.core.place[self.core.workers[worker].pool as usize];
        let own = if own > at { own } else { own + (self.order.len() / 2) as u16 };
        if own <= at || own >= end {
            return (ring.rank(end), 0);
        }
        let (own, end) = (ring.rank(own), ring.rank(end));
        (own, if own + 1 < end { end } else { 0 })
    }

    /// `worker` has nothing to run and begins to check other pools.
    pub(in crate::engine) fn start_walk(&mut self, worker: usize) {
        let pools = self.order.len() / 2;
        if !self.core.walks {
            return self.go_idle(worker);
        }
        let entry = &mut self.core.workers[worker];
        entry.walk += 1;
        let draw = walk_draw(self.walk_seed, worker, entry.walk);
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
                self.start_check(worker, at);
            }
        }
    }

    /// A check of `worker`'s walk begins now.
    #[inline(always)]
    fn start_check(&mut self, worker: usize, at: u16) {
        if self.core.attention[worker] != 0 {
            self.core.workers[worker].phase = Phase::SingleCheck;
            self.core.workers[worker].at = at;
            let end_ps = self.core.now_ps + self.core.costs.steal_check.0;
            return self.core.schedule(worker, end_ps);
        }
        self.core.workers[worker].phase = Phase::Walking;
        let (first, ends) = (self.core.ring.rank(at), self.segments(worker, at));
        let alarm_ps = self.core.ring.join(worker as u16, self.core.now_ps, first, ends);
        self.core.schedule(worker, alarm_ps);
    }

    /// The alarm of a thief in the ring goes: a check has ended.
    #[inline(always)]
    pub(in crate::engine) fn after_alarm(&mut self, worker: usize) {
        let rank = self.core.ring.rank_checked(worker as u16, self.core.now_ps, self.core.acting);
        let at = self.core.ring.place(rank).expect("a thief is at a held pool");
        if self.core.ring.is_stealable(rank) {
            let victim = self.order[at as usize] as usize;
            if self.sched.stealable(&mut self.core, victim) > 0 {
                self.core.drop_from_ring(worker);
                return self.start_steal(worker, victim);
            }
        }
        if let Some(alarm_ps) = self.core.ring.next_alarm(worker as u16, rank) {
            return self.core.schedule(worker, alarm_ps);
        }
        self.core.drop_from_ring(worker);
        if let Some(alarm_ps) = self.core.ring.rejoin_behind_own(worker as u16, self.core.now_ps) {
            return self.core.schedule(worker, alarm_ps);
        }
        self.go_on(worker, at);
    }

    /// A check outside the ring has ended.
    pub(in crate::engine) fn after_single_check(&mut self, worker: usize) {
        if self.core.attention[worker] != 0 && self.attend(worker) {
            return;
        }
        let at = self.core.workers[worker].at;
        let victim = self.order[at as usize] as usize;
        if self.core.has_tasks[victim] && self.sched.stealable(&mut self.core, victim) > 0 {
            return self.start_steal(worker, victim);
        }
        self.go_on(worker, at);
    }

    /// Nothing was found at place `at`: the walk goes on, or ends and another one begins.
    #[inline(always)]
    fn go_on(&mut self, worker: usize, at: u16) {
        let end = self.core.workers[worker].walk_end;
        if let Some(next) = self.place_from(worker, at + 1, end) {
            return self.start_check(worker, next);
        }
        self.end_walk(worker);
        if !self.maybe_yield_after_walk(worker) {
            self.walk_on(worker);
        }
    }

    /// `worker` begins another walk; those that are over before anything can happen are not gone through one by
    /// one.
    #[inline(always)]
    fn walk_on(&mut self, worker: usize) {
        let (pools, stealable) = self.core.ring.pools();
        let walk_ps = u64::from(pools.saturating_sub(1)) * self.core.costs.steal_check.0;
        let far_ps = self.core.now_ps.saturating_add(2 * walk_ps);
        let is_busy = stealable || self.watches_walks || walk_ps == 0;
        if is_busy || self.intake.peek_ps().is_some_and(|arrival_ps| arrival_ps <= far_ps) {
            return self.start_walk(worker);
        }
        // Within that time nothing is set that comes before its end.
        if self.quiet_ps <= self.core.now_ps {
            self.quiet_ps = self.quiet_until_ps();
        }
        if self.quiet_ps <= far_ps || self.quiet_ps == u64::MAX {
            return self.start_walk(worker);
        }
        let walks = (self.quiet_ps - self.core.now_ps - 1) / walk_ps;
        let due_ps = self.core.now_ps + walks * walk_ps;
        let entry = &mut self.core.workers[worker];
        entry.walk += walks;
        entry.walk_began_ps = self.core.now_ps;
        entry.phase = Phase::WalkingOn;
        self.core.walkers += 1;
        self.core.schedule(worker, due_ps);
    }

    /// The first event, or arrival, that is not the end of a walk.
    fn quiet_until_ps(&self) -> u64 {
        let is_walk = |phase| matches!(phase, Phase::Walking | Phase::WalkingOn);
        let workers = self.core.workers.iter().enumerate();
        let others = workers
            .filter(|(worker, entry)| self.core.tree.get(*worker) != NEVER && !is_walk(entry.phase))
            .map(|(_, entry)| entry.due_ps);
        let outside = self.intake.peek_ps().into_iter().chain(self.side_ps());
        others.chain(outside).min().unwrap_or(u64::MAX)
    }

    /// Something may happen before the walk that begins now is over.
    pub(in crate::engine) fn walk_again(&mut self, worker: usize) {
        self.end_walk(worker);
        self.start_walk(worker);
    }

    /// A walker attends to what waits for it: a flag, or a task in its own pool, ends its walk.
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
            self.core.workers[worker].phase = Phase::SingleCheck;
        }
        found
    }

    /// The time of a walk that ends now goes into the accounts.
    #[inline]
    fn end_walk(&mut self, worker: usize) {
        self.core.walkers -= 1;
        let span_ps = self.core.now_ps - self.core.workers[worker].walk_began_ps;
        self.core.account.looking_ps += u128::from(span_ps);
    }

    /// A walker pays for something else before its check goes on.
    pub(in crate::engine) fn delay_check(&mut self, worker: usize, cost_ps: u64) {
        let end_ps = self.core.leave_ring(worker) + cost_ps;
        self.core.schedule(worker, end_ps);
    }

    /// A walk is broken off: its core goes back.
    pub(in crate::engine) fn stop_walk(&mut self, worker: usize) {
        if self.core.workers[worker].phase == Phase::Walking {
            self.core.leave_ring(worker);
        }
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
    pub(in crate::engine) fn after_steal(&mut self, worker: usize) {
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
            let more = self.moving.len() as u32;
            self.sched.put(&mut self.core, to, task, more);
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
            from = at + 1;
            if from >= end {
                break;
            }
        }
        self.go_idle(worker);
    }

    /// Checks are free and a task has come to `pool`: a random idle thief finds it at once.
    pub(in crate::engine) fn wake_thieves(&mut self, pool: usize) {
        while self.core.idle.len() > 0 && self.sched.stealable(&mut self.core, pool) > 0 {
            self.flags += 1;
            let mut draw = Draw::new(stream(self.seed, Purpose::Thief), self.flags);
            let drawn = self.core.idle.nth(draw.below(self.core.idle.len()));
            let Some(worker) = self.thief(drawn, draw) else { return };
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

    /// `drawn`, which idles, or if it may not steal, a random other one that idles and may.
    #[inline(always)]
    fn thief(&self, drawn: usize, mut draw: Draw) -> Option<usize> {
        let may = |worker: &usize| self.sched.may_steal(&self.core, *worker);
        if may(&drawn) {
            return Some(drawn);
        }
        let count = self.core.idle.iter().filter(may).count() as u32;
        (count > 0)
            .then(|| draw.below(count))
            .and_then(|nth| self.core.idle.iter().filter(may).nth(nth as usize))
    }

    /// Between two tasks of `worker`: if its queue is overloaded, it flags another.
    pub(in crate::engine) fn maybe_flag(&mut self, worker: usize) {
        let pool = self.core.workers[worker].pool;
        let Some(oldest_ps) = self.sched.oldest_ps(&mut self.core, pool as usize) else { return };
        if !self.rebalance.sheds(Picos(self.core.now_ps - oldest_ps)) {
            return;
        }
        let own = self.core.workers[worker].flag == NONE;
        let mut draw = Draw::new(stream(self.seed, Purpose::Flag), self.flags + 1);
        if let Some(target) = flag_target(&self.unflagged, worker, own, &mut draw) {
            self.flags += 1;
            self.flag(target, pool);
        }
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
            _ => self.core.call(target, FLAGGED),
        }
    }

    /// A flagged worker answers.
    pub(in crate::engine) fn start_shed(&mut self, worker: usize) {
        let entry = &mut self.core.workers[worker];
        entry.victim = std::mem::replace(&mut entry.flag, NONE);
        entry.phase = Phase::Shedding;
        self.unflagged.insert(worker);
        self.core.attention[worker] &= !FLAGGED;
        let cost_ps = self.core.costs.shed.0;
        self.core.account.moving_ps += u128::from(cost_ps);
        self.core.account.sheds += 1;
        let due_ps = self.core.now_ps + cost_ps;
        self.core.schedule(worker, due_ps);
    }

    /// It takes its share of the overloaded queue, and runs one task before it attends to flags again.
    pub(in crate::engine) fn after_shed(&mut self, worker: usize) {
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
