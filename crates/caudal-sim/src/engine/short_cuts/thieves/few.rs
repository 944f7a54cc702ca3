//! Up to 64 thieves that walk past each other's queues, without an event for each check, or even for each walk. The loop of `stealing`
//! takes them where there are few workers, and asks which thief comes to a task first.
//!
//! All walks go through one fixed order of pools, and each check takes the same time P, so where a thief is follows
//! from when its walk began and where that started. While no pool has tasks for thieves these places are not computed.
//! Once one has, each thief has an *alarm*: the end of its first check of such a pool, or of its walk if that comes
//! earlier. Only the first of these alarms is an event, and only that one is stored. When a pool gets tasks or
//! has lost them, or the first thief has left, the first alarm is computed anew from the places of all thieves.
//!
//! ```text
//!   place:   an index into the fixed order of pools
//!   steps:   places from the start of a walk on, around the end; one's own pool takes a step but no time
//!   checks:  checks that have ended, the one meant included: steps, and one more before its own pool
//!   slot:    time is cut into slots of P; a thief's checks end at the same time in every slot, its *tick*
//!
//!   |   '   |   '   |   '   |   '   |   '   |   '        '  tick: (time since the slot began, worker)
//!       |- check 1 -|- check 2 -| … |- check M-1|        M pools; then the next walk begins
//!       began
//! ```
//!
//! That is done for all thieves at once, in columns of 32-bit numbers: a few instructions a thief where the compiler
//! has vectors. The set of pools with tasks, as bits by place, is turned for each thief to where its walk starts;
//! the lowest bit that it has not passed is where it finds something. What a column holds for a worker that is not
//! a thief is [`NOBODY`] or [`NO_TICK`], so that it never comes first.
//!
//! While no pool has tasks, thieves are not followed: the walks that have ended meanwhile are counted when they are needed.

use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::columns::{Columns, Moment, NO_TICK, NOBODY, TICK_BITS};
use super::{Called, Doing, Events, Thieves, WorkerKeys};
use crate::engine::kernel::tree::NEVER;

/// Most workers: sets of them are words.
pub(in crate::engine) const FEW: usize = 64;
/// Bits of a worker in a tick.
const WORKER_BITS: u32 = 6;
/// Longest check, in ps: the time in a tick is less.
pub(in crate::engine) const CHECK_MAX_PS: u64 = 1 << (TICK_BITS - WORKER_BITS);
/// So far ahead, slots are counted by multiplication.
const NEAR_PS: u64 = 1 << 40;
/// Slots are counted anew after so many.
const SLOTS_MAX: u64 = 1 << 29;

/// The walk that a worker is in, or was in last.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    number: u64,
    began_ps: u64,
}

/// See the [module](self).
pub(in crate::engine) struct Few<R, const LANES: usize> {
    policy: R,
    check_ps: u64,
    /// 2^64 / check, and a bit more.
    check_inverse: u64,
    /// The length of a whole walk.
    walk_ps: u64,
    pools: i32,
    slots_max: u64,
    /// By place, the pool; by pool, the place.
    order: Box<[u16]>,
    place: Box<[u16]>,
    columns: Columns<LANES>,
    walks: [Walk; LANES],
    /// Workers that walk.
    walking: u64,
    /// Places with tasks for thieves.
    stealable: u64,
    /// The current slot, counted from the one that began at `zero_ps`, and when it began.
    slot: i32,
    slot_ps: u64,
    zero_ps: u64,
    /// The thief with the first alarm, when that is, and its key.
    first: usize,
    first_ps: u64,
    key: u64,
    keys: WorkerKeys,
    seed: u64,
    /// Time of checks that has been counted, in ps.
    checked_ps: u128,
}

impl<R: Rebalance, const LANES: usize> Few<R, LANES> {
    /// Nobody walks yet. `order` names each pool once, `place` is its inverse.
    pub(in crate::engine) fn new(
        policy: R,
        check_ps: u64,
        (order, place): (Box<[u16]>, Box<[u16]>),
        seed: u64,
    ) -> Self {
        let pools = order.len();
        assert!((2..=CHECK_MAX_PS).contains(&check_ps) && pools >= 2 && pools <= LANES && LANES <= FEW);
        Few {
            policy,
            check_ps,
            check_inverse: u64::MAX / check_ps + 1,
            walk_ps: (pools as u64 - 1) * check_ps,
            pools: pools as i32,
            slots_max: SLOTS_MAX,
            order,
            place,
            columns: Columns::new(),
            walks: [Walk::default(); LANES],
            walking: 0,
            stealable: 0,
            slot: 0,
            slot_ps: 0,
            zero_ps: 0,
            first: 0,
            first_ps: 0,
            key: NEVER,
            keys: WorkerKeys::new(pools as u32),
            seed,
            checked_ps: 0,
        }
    }

    /// Moves the slot up to `now_ps`; returns the time since it began.
    #[inline(always)]
    fn advance(&mut self, now_ps: u64) -> u64 {
        let ahead_ps = now_ps - self.slot_ps;
        // The quotient: with e = inverse x check - 2^64 in 1 ..= check, it is exact as long as ahead x e < 2^64.
        let slots = ((u128::from(ahead_ps) * u128::from(self.check_inverse)) >> 64) as u64;
        if ahead_ps >= NEAR_PS || self.slot as u64 + slots >= self.slots_max {
            return self.advance_far(now_ps);
        }
        self.slot += slots as i32;
        self.slot_ps += slots * self.check_ps;
        now_ps - self.slot_ps
    }

    #[inline(never)]
    fn advance_far(&mut self, now_ps: u64) -> u64 {
        let slots = (now_ps - self.slot_ps) / self.check_ps;
        self.slot_ps += slots * self.check_ps;
        if self.slot as u64 + slots < self.slots_max {
            self.slot += slots as i32;
        } else {
            self.count_anew(now_ps);
        }
        now_ps - self.slot_ps
    }

    /// Moves the slot up to `now_ps`. Workers below `acting` are through with that moment.
    #[inline(always)]
    fn moment(&mut self, now_ps: u64, acting: usize) -> Moment {
        // When time begins, all have begun to walk before anything arrives.
        let acting = if now_ps == 0 { LANES } else { acting };
        let acts = tick(self.advance(now_ps), acting);
        Moment { pools: self.pools, slot: self.slot, acts }
    }

    /// Counts slots from about now on.
    #[cold]
    fn count_anew(&mut self, now_ps: u64) {
        let walking = self.walking;
        for worker in (0..LANES).filter(|worker| walking >> worker & 1 == 1) {
            // A walk that ends now is not over yet.
            let walks = (now_ps - self.walks[worker].began_ps).saturating_sub(1) / self.walk_ps;
            self.walk_on(worker, walks);
        }
        let before_ps = self.walk_ps + self.check_ps;
        self.zero_ps = self.slot_ps - before_ps.min(self.slot_ps);
        self.slot = ((self.slot_ps - self.zero_ps) / self.check_ps) as i32;
        for worker in (0..LANES).filter(|worker| walking >> worker & 1 == 1) {
            self.columns.began[worker] = self.slot_of(worker);
        }
    }

    /// The slot in which the walk of `worker` began.
    fn slot_of(&self, worker: usize) -> i32 {
        ((self.walks[worker].began_ps - self.zero_ps) / self.check_ps) as i32
    }

    /// Draws where the walk that begins at `began_ps` starts.
    #[inline(always)]
    fn begin_walk(&mut self, worker: usize) {
        let walk = &mut self.walks[worker % LANES];
        walk.number += 1;
        let draw = Draw::new(self.seed, (worker as u64) << 48 | walk.number);
        let start = self.policy.walk_start(draw, self.pools as u32) as i32;
        self.columns.start[worker % LANES] = start;
        self.columns.own[worker % LANES] = steps(self.pools, start, i32::from(self.place[worker]));
    }

    /// So many walks of `worker` are over; the next one begins.
    #[inline(always)]
    fn walk_on(&mut self, worker: usize, walks: u64) {
        if walks == 0 {
            return;
        }
        let walk = &mut self.walks[worker % LANES];
        walk.number += walks - 1;
        walk.began_ps += walks * self.walk_ps;
        self.checked_ps += u128::from(walks * self.walk_ps);
        self.columns.began[worker % LANES] += walks as i32 * (self.pools - 1);
        self.begin_walk(worker);
    }

    /// The walks of `worker` that are over are followed by others.
    #[inline(always)]
    fn catch_up(&mut self, worker: usize, now: Moment) {
        let walk = self.pools - 1;
        let next = self.slot + i32::from(self.columns.tick[worker % LANES] < now.acts);
        let behind = next - self.columns.began[worker % LANES] - 1;
        let walks = if behind < 2 * walk { 1 } else { behind / walk };
        self.walk_on(worker, walks as u64);
    }

    /// Steps from `start` on to the first pool with tasks.
    #[inline(always)]
    fn first_from(&self, start: i32) -> Option<i32> {
        let twice = u128::from(self.stealable) | u128::from(self.stealable) << self.pools;
        let ahead = (twice >> start) as u64 & (!0 >> (64 - self.pools));
        (ahead != 0).then(|| ahead.trailing_zeros() as i32)
    }

    /// `worker` begins its walk; some pool has tasks.
    #[inline(always)]
    fn set_alarm(&mut self, worker: usize) {
        let lane = worker % LANES;
        let checks = match self.first_from(self.columns.start[lane]) {
            Some(steps) => steps + i32::from(steps < self.columns.own[lane]),
            None => self.pools - 1,
        };
        let alarm_ps = self.walks[lane].began_ps + checks as u64 * self.check_ps;
        let key = self.keys.of(worker, alarm_ps, Doing::Walking);
        if key < self.key {
            (self.first, self.first_ps, self.key) = (worker, alarm_ps, key);
        }
    }

    /// Finds the first alarm.
    #[inline(always)]
    fn find_first(&mut self, now: Moment) {
        let Some((slots, tick)) = self.columns.first(self.stealable, now).ahead() else {
            self.key = NEVER;
            return;
        };
        self.first = (tick & ((1 << WORKER_BITS) - 1)) as usize;
        self.first_ps = self.slot_ps + u64::from(slots) * self.check_ps + u64::from(tick >> WORKER_BITS);
        self.key = self.keys.of(self.first, self.first_ps, Doing::Walking);
    }

    /// All walks that are over are followed by others.
    #[inline(always)]
    fn catch_all_up(&mut self, now: Moment) {
        let mut over = self.columns.over(now);
        while over != 0 {
            self.catch_up(over.trailing_zeros() as usize, now);
            over &= over - 1;
        }
    }

    /// The pool that the thief in `lane` checks after `steps`, if that has tasks.
    #[inline(always)]
    fn stealable_pool(&self, lane: usize, steps: i32) -> Option<usize> {
        let place = self.place_after(lane, steps);
        (self.stealable >> place & 1 == 1).then(|| usize::from(self.order[place]))
    }

    #[inline(always)]
    fn place_after(&self, lane: usize, steps: i32) -> usize {
        let place = self.columns.start[lane] + steps;
        (if place >= self.pools { place - self.pools } else { place }) as usize
    }

    /// The steps to the pool of check `checks` of the thief in `lane`.
    #[inline(always)]
    fn steps_of(&self, lane: usize, checks: i32) -> i32 {
        checks - i32::from(checks <= self.columns.own[lane])
    }

    #[inline(always)]
    fn leave(&mut self, worker: usize, now: Moment) {
        self.walking &= !(1 << worker);
        self.columns.began[worker % LANES] = NOBODY;
        self.columns.tick[worker % LANES] = NO_TICK;
        if self.key != NEVER && self.first == worker {
            self.find_first(now);
        }
    }

    /// Is the first alarm that of a thief that checks `pool` then?
    #[inline(always)]
    fn first_is_at(&self, pool: usize) -> bool {
        let lane = self.first % LANES;
        let checks = ((self.first_ps - self.walks[lane].began_ps) / self.check_ps) as i32;
        self.place_after(lane, self.steps_of(lane, checks)) == usize::from(self.place[pool])
    }
}

impl<R: Rebalance, const LANES: usize, const LEVELS: u32> Thieves<LEVELS> for Few<R, LANES> {
    #[inline(always)]
    fn steal_amount(&self, waiting: u32) -> u32 {
        self.policy.steal_amount(waiting)
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.key
    }

    fn first_ps(&self) -> Option<u64> {
        (self.key != NEVER).then_some(self.first_ps)
    }

    fn rebase(&mut self, keys: WorkerKeys) {
        self.keys = keys;
        if self.key != NEVER {
            self.key = keys.of(self.first, self.first_ps, Doing::Walking);
        }
    }

    #[inline(always)]
    fn join(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        events.clear(worker);
        self.columns.tick[worker % LANES] = tick(self.advance(now_ps), worker);
        self.columns.began[worker % LANES] = self.slot;
        self.walks[worker % LANES].began_ps = now_ps;
        self.walking |= 1 << worker;
        self.begin_walk(worker);
        if self.stealable != 0 {
            self.set_alarm(worker);
        }
    }

    #[inline(always)]
    fn after_alarm(&mut self, _events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        let now = self.moment(now_ps, worker);
        let lane = worker % LANES;
        let checks = self.slot - self.columns.began[lane];
        let steps = self.steps_of(lane, checks);
        if let Some(pool) = self.stealable_pool(lane, steps) {
            self.checked_ps += u128::from(now_ps - self.walks[lane].began_ps);
            self.leave(worker, now);
            return Some(pool);
        }
        if checks == self.pools - 1 {
            self.walk_on(worker, 1);
        }
        self.find_first(Moment { acts: now.acts + 1, ..now });
        None
    }

    #[inline(always)]
    fn set_stealable(&mut self, _events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let is_first = self.stealable == 0;
        self.stealable |= 1 << self.place[pool];
        if self.walking != 0 {
            let now = self.moment(now_ps, acting);
            if is_first {
                self.catch_all_up(now);
            }
            self.find_first(now);
        }
    }

    #[inline(always)]
    fn clear_stealable(&mut self, _events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        self.stealable &= !(1 << self.place[pool]);
        if self.stealable == 0 {
            self.key = NEVER;
        } else if self.walking != 0 && self.first_is_at(pool) {
            let now = self.moment(now_ps, acting);
            self.find_first(now);
        }
    }

    #[inline(always)]
    fn leave_stealable(&mut self, _events: &mut Events<LEVELS>, _pool: usize, _now_ps: u64, _acting: usize) {}

    #[inline(always)]
    fn call(&mut self, _events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Called {
        let now = self.moment(now_ps, 0);
        if self.stealable == 0 {
            self.catch_all_up(now);
        }
        let lane = worker % LANES;
        let (began, tick) = (self.columns.began[lane], self.columns.tick[lane]);
        let late = tick < now.acts;
        let slot = self.slot + i32::from(late);
        let end_ps = self.slot_ps + (tick >> WORKER_BITS) as u64 + if late { self.check_ps } else { 0 };
        // Thieves that join now, or later, end their first check after that; unless it is a whole check away.
        let is_near = end_ps - now_ps < self.check_ps;
        let alone = is_near && !self.columns.any_before(i32::from(self.place[worker]), now, slot, tick);
        self.leave(worker, now);
        let last = self.place_after(lane, self.steps_of(lane, slot - began));
        Called { end_ps, alone, last: usize::from(self.order[last]) }
    }

    #[inline(always)]
    fn end(&mut self, worker: usize, now_ps: u64) {
        self.checked_ps += u128::from(now_ps - self.walks[worker % LANES].began_ps);
    }

    fn finish_last_check(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
    ) -> Option<usize> {
        let lane = worker % LANES;
        let checks = ((now_ps - self.walks[lane].began_ps) / self.check_ps) as i32;
        let steps = self.steps_of(lane, checks);
        if let Some(pool) = self.stealable_pool(lane, steps) {
            <Self as Thieves<LEVELS>>::end(self, worker, now_ps);
            return Some(pool);
        }
        self.columns.tick[lane] = tick(self.advance(now_ps), worker);
        self.columns.began[lane] = self.slot_of(worker);
        events.clear(worker);
        self.walking |= 1 << worker;
        if checks == self.pools - 1 {
            self.walk_on(worker, 1);
        }
        if self.stealable != 0 {
            let now = self.moment(now_ps, worker + 1);
            self.find_first(now);
        }
        None
    }

    fn checked_ps(&self) -> u128 {
        self.checked_ps
    }

    fn uncounted_ps(&self, worker: usize, now_ps: u64) -> u128 {
        let span_ps = now_ps - self.walks[worker].began_ps;
        u128::from(span_ps.saturating_sub(1) / self.walk_ps * self.walk_ps)
    }

    fn counted_ps(&self, worker: usize, end_ps: u64) -> u128 {
        u128::from(end_ps - self.walks[worker].began_ps)
    }
}

/// The tick of `worker` if its checks end so long after a slot has begun.
#[inline(always)]
fn tick(since_ps: u64, worker: usize) -> i32 {
    (since_ps << WORKER_BITS) as i32 | worker as i32
}

/// Places from `start` on to `place`, around the end.
#[inline(always)]
fn steps(pools: i32, start: i32, place: i32) -> i32 {
    let ahead = place - start;
    if ahead < 0 { ahead + pools } else { ahead }
}

#[cfg(test)]
mod tests {
    use caudal_config::{Costs, Pools, System};
    use caudal_policy::Picos;
    use caudal_policy::rebalance::{RebalanceConfig, WorkStealing, WorkStealingConfig};
    use caudal_workload::{Arrivals, find_named};

    use super::super::super::stealing::run_by;
    use super::*;
    use crate::engine::kernel::run::Run;
    use crate::engine::kernel::short_cuts::ShortCuts;
    use crate::engine::kernel::walks::walk_order;
    use crate::engine::kernel::window::Length;

    /// The outcome of a run when slots are counted anew after so many.
    fn outcome(cores: u32, load: f64, slots_max: u64) -> String {
        let config = WorkStealingConfig::default();
        let system = System {
            pools: Pools::PerCore,
            rebalance: RebalanceConfig::WorkStealing(config),
            ..System::single_queue(cores)
        };
        let service = find_named("exp-1us").unwrap().compile().unwrap();
        let run = Run {
            system: &system,
            costs: &Costs::default(),
            service: &service,
            arrivals: &Arrivals::poisson(),
            mean_gap_ps: service.mean_ps() / (load * f64::from(cores)),
            seed: 5,
            length: Length { warm_up: 100, measured: 20_000 },
            pilot: false,
            waits: false,
            short_cuts: ShortCuts::ALL,
            stop: None,
        };
        let order = walk_order(run.seed, cores as usize);
        let check = Picos::from_nanos(100).0;
        let mut thieves = Few::<_, 32>::new(WorkStealing::new(config), check, order, 7);
        thieves.slots_max = slots_max;
        format!("{:?}", run_by::<_, 5>(&run, thieves))
    }

    #[test]
    fn slots_that_are_counted_anew_change_nothing() {
        for (cores, load) in [(2, 0.7), (19, 0.05), (32, 0.5), (32, 0.9)] {
            let once = outcome(cores, load, SLOTS_MAX);
            for slots_max in [200, 1_001] {
                assert_eq!(outcome(cores, load, slots_max), once, "{cores} cores, load {load}");
            }
        }
    }
}
