//! Work stealing between the pools of hardware contexts: contexts without work search other pools, and take tasks from them. The loop
//! calls it when a context becomes idle and at the end of each check. It changes the loop's state only.
//!
//! A check of another pool is a cache miss, and so is moving tasks from there. The thief waits for memory meanwhile: it holds its context but
//! uses no part of its core, like a task whose caches are cold. Thieves walk as on cores (`general::balance`), with an event for each
//! check. Checks during a time in which nothing else can happen are skipped in one step.
//!
//! A thief takes only tasks that have not begun, and no more of them than its own pool has virtual contexts for. The victim's pool then admits
//! as many requests that waited outside of it.

use caudal_policy::discipline::Discipline;
use caudal_policy::rebalance::{Rebalance, WorkStealing, WorkStealingConfig};
use caudal_policy::{Instant, TaskId, WorkerId};

use super::Contexts;
use super::site::{ContextsPool, Phase};
use super::speeds::Speeds;
use super::task::NEVER as NOT_YET;
use crate::engine::general::walk_draw;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::run::Run;
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tree::NEVER;
use crate::engine::kernel::walks::walk_order;

/// The walk of a worker.
#[derive(Clone, Copy, Default)]
struct Walk {
    number: u64,
    began_ps: u64,
    /// The place of the order that it checks now, and the place before which the walk ends.
    at: usize,
    end: usize,
    victim: usize,
}

/// The thieves of a run.
pub(super) struct Thieves {
    policy: WorkStealing,
    /// The order in which all walks visit the pools, each pool once.
    order: Box<[u16]>,
    seed: u64,
    /// The walk of each worker.
    walks: Box<[Walk]>,
    /// Time, in ps, before which nothing happens but checks that find nothing.
    quiet_ps: u64,
}

impl Thieves {
    pub(super) fn new(run: &Run<'_>, config: WorkStealingConfig, workers: usize) -> Thieves {
        Thieves {
            policy: WorkStealing::new(config),
            order: walk_order(run.seed, run.pool_sizes().len()).0,
            seed: stream(run.seed, Purpose::Walk),
            walks: vec![Walk::default(); workers].into(),
            quiet_ps: 0,
        }
    }

    fn pool_at(&self, place: usize) -> usize {
        usize::from(self.order[place % self.order.len()])
    }

    /// The first place of the walk of `worker`, from `from` on, that is not its own `pool`.
    fn place_from(&self, worker: usize, pool: usize, from: usize) -> Option<usize> {
        (from..self.walks[worker].end).find(|&place| self.pool_at(place) != pool)
    }

    /// `worker` of `pool` begins its next walk, at `now_ps`.
    fn begin(&mut self, worker: usize, pool: usize, now_ps: u64) {
        let number = self.walks[worker].number + 1;
        let start =
            self.policy.walk_start(walk_draw(self.seed, worker, number), self.order.len() as u32) as usize;
        let walk = Walk { number, began_ps: now_ps, at: start, end: start + self.order.len(), victim: 0 };
        self.walks[worker] = walk;
        self.walks[worker].at = self.place_from(worker, pool, start).expect("there are several pools");
    }

    /// Moves `worker` of `pool` on by `checks` checks that find nothing, each of which takes `check_ps`, after the check that ends now; it is at
    /// the last of them afterwards. Returns the time, in ps, of the walks that end meanwhile.
    fn skip(&mut self, worker: usize, pool: usize, (now_ps, check_ps): (u64, u64), checks: u64) -> u64 {
        let a_walk = self.order.len() as u64 - 1;
        let walk = self.walks[worker];
        let left = (walk.at + 1..walk.end).filter(|&place| self.pool_at(place) != pool).count() as u64;
        let mut checks = checks;
        let mut over_ps = 0;
        if checks > left {
            checks -= left;
            let walks = (checks - 1) / a_walk;
            checks -= walks * a_walk;
            let began_ps = now_ps + (left + walks * a_walk) * check_ps;
            over_ps = began_ps - walk.began_ps;
            self.walks[worker].number += walks;
            self.begin(worker, pool, began_ps);
            checks -= 1;
        }
        for _ in 0..checks {
            let from = self.walks[worker].at + 1;
            self.walks[worker].at = self.place_from(worker, pool, from).expect("the walk is as long");
        }
        over_ps
    }
}

impl<D: Discipline, M: Speeds, O: Sink, const LEVELS: u32> Contexts<'_, D, M, O, LEVELS> {
    /// `worker`, which has nothing to run, begins to check other pools, if it may; else it idles.
    pub(super) fn start_walk(&mut self, worker: usize) {
        let pool = self.site.workers[worker].pool as usize;
        let seat = worker as u32 - self.site.lanes[pool].first;
        let may = self.doors[pool].discipline.may_steal(seat);
        let Some(thieves) = self.thieves.as_mut().filter(|_| may) else {
            return self.site.go_idle(worker, true);
        };
        thieves.begin(worker, pool, self.site.now_ps);
        self.site.set_active(worker, false);
        self.schedule_checks(worker, 1);
    }

    /// Sets the event of `worker` to the end of the last of `checks` checks.
    fn schedule_checks(&mut self, worker: usize, checks: u64) {
        self.site.workers[worker].phase = Phase::Checking;
        let due_ps = self.site.now_ps + checks * self.site.costs.steal_check.0;
        self.site.schedule(worker, due_ps);
    }

    /// A check has ended: the worker takes a task of its own pool if there is one, else steals from the pool that it has checked, else makes the
    /// next check.
    pub(super) fn after_check(&mut self, worker: usize) {
        let pool = self.site.workers[worker].pool as usize;
        if self.site.has_waiting(pool) {
            self.site.workers[worker].phase = Phase::Between;
            let now = Instant(self.site.now_ps);
            let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
            self.doors[pool].discipline.on_free(now, WorkerId(worker as u32), &mut view);
            if self.site.workers[worker].phase == Phase::Running {
                return self.end_walk(worker);
            }
        }
        let Some(thieves) = &self.thieves else { return };
        let victim = thieves.pool_at(thieves.walks[worker].at);
        if self.room(pool) > 0 && self.unstarted(victim) > 0 {
            return self.start_steal(worker, victim);
        }
        self.next_check(worker, pool);
    }

    /// Nothing was found: the walk goes on, or the next one begins.
    fn next_check(&mut self, worker: usize, pool: usize) {
        let (now_ps, check_ps) = (self.site.now_ps, self.site.costs.steal_check.0);
        let quiet_ps = self.quiet_ps();
        let checks = (quiet_ps.saturating_sub(now_ps + 1) / check_ps).clamp(1, 1 << 32);
        let Some(thieves) = &mut self.thieves else { return };
        let over_ps = thieves.skip(worker, pool, (now_ps, check_ps), checks);
        self.site.account.looking_ps += u128::from(over_ps);
        self.schedule_checks(worker, checks);
    }

    /// The time, in ps, before which nothing can happen but checks that find nothing; now, if a check can find something.
    fn quiet_ps(&mut self) -> u64 {
        let now_ps = self.site.now_ps;
        let Some(thieves) = &mut self.thieves else { return now_ps };
        if self.site.lanes.iter().any(|lanes| lanes.queues.iter().any(|queue| queue.len() > 0)) {
            return now_ps;
        }
        if thieves.quiet_ps <= now_ps {
            let others = self.site.workers.iter().enumerate().filter(|(worker, entry)| {
                entry.phase != Phase::Checking && self.site.tree.get(*worker) != NEVER
            });
            let first_ps = others.map(|(_, entry)| entry.due_ps).min();
            let entry_ps = self.at_dispatcher.front().map(|first| first.0);
            let all = [first_ps, entry_ps, self.intake.peek_ps()];
            thieves.quiet_ps = all.into_iter().flatten().min().unwrap_or(now_ps);
        }
        thieves.quiet_ps
    }

    /// The time of a walk that ends now goes into the accounting.
    fn end_walk(&mut self, worker: usize) {
        let began_ps =
            self.thieves.as_ref().map_or(self.site.now_ps, |thieves| thieves.walks[worker].began_ps);
        self.site.account.looking_ps += u128::from(self.site.now_ps - began_ps);
    }

    fn start_steal(&mut self, worker: usize, victim: usize) {
        self.end_walk(worker);
        if let Some(thieves) = &mut self.thieves {
            thieves.walks[worker].victim = victim;
        }
        let cost_ps = self.site.costs.steal.0;
        self.site.account.moving_ps += u128::from(cost_ps);
        self.site.workers[worker].phase = Phase::Stealing;
        let due_ps = self.site.now_ps + cost_ps;
        self.site.schedule(worker, due_ps);
    }

    /// The thief takes the tasks that are there by now, which may be none.
    pub(super) fn after_steal(&mut self, worker: usize) {
        let pool = self.site.workers[worker].pool as usize;
        let Some(thieves) = &self.thieves else { return };
        let victim = thieves.walks[worker].victim;
        let amount = thieves.policy.steal_amount(self.unstarted(victim)).min(self.room(pool));
        self.site.account.steals += 1;
        self.site.account.steals_empty += u64::from(amount == 0);
        self.site.workers[worker].phase = Phase::Between;
        self.move_tasks((victim, pool), worker, amount);
        self.become_free(worker);
        // Other workers of the pool take the tasks that the thief leaves.
        for mate in self.site.lanes[pool].first..self.site.lanes[pool].end {
            if self.site.workers[mate as usize].phase == Phase::Idle {
                let now = Instant(self.site.now_ps);
                let mut view = ContextsPool { site: &mut self.site, pool, is_last: false };
                self.doors[pool].discipline.on_free(now, WorkerId(mate), &mut view);
            }
        }
    }

    /// Requests that `pool` has virtual contexts for.
    fn room(&self, pool: usize) -> u32 {
        self.doors[pool].virtual_contexts - self.doors[pool].admitted
    }

    /// Tasks of `pool` that have not begun, and that a thief may take.
    fn unstarted(&self, pool: usize) -> u32 {
        let queue = &self.site.lanes[pool].queues[self.doors[pool].discipline.stealable_lane() as usize];
        let tasks = &self.site.tasks;
        queue.iter(tasks).filter(|&task| tasks[task].start_ps == NOT_YET).count() as u32
    }

    /// Moves the oldest `amount` of these tasks from one pool to the front of another, which is the pool of `worker`.
    fn move_tasks(&mut self, (from, to): (usize, usize), worker: usize, amount: u32) {
        if amount == 0 {
            return;
        }
        let lane = self.doors[from].discipline.stealable_lane();
        let moving: Vec<u32> = (0..amount).filter_map(|_| self.site.take_unstarted(from, lane)).collect();
        let now = Instant(self.site.now_ps);
        self.doors[from].admitted -= amount;
        self.doors[to].admitted += amount;
        for (more, &task) in moving.iter().enumerate().rev() {
            let mut view = ContextsPool { site: &mut self.site, pool: to, is_last: false };
            self.doors[to].discipline.on_moved(now, TaskId(task), more as u32, &mut view);
        }
        if O::ON {
            let event = Event::Moved { worker: worker as u32, from: from as u32, tasks: amount };
            self.site.observer.observe(self.site.now_ps, event);
        }
        while self.room(from) > 0
            && let Some(task) = self.doors[from].outside.pop_front()
        {
            self.doors[from].admitted += 1;
            self.admit(task, from);
        }
    }
}
