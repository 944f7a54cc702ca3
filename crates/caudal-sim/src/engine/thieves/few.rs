//! Up to 64 thieves that walk past each other's queues, without an event for each look, or even for each walk.
//!
//! All walks go through one fixed order of pools, and each look takes the same time P, so where a thief is follows
//! from when its walk began and where that started. While no pool has tasks for thieves nobody has to know.
//! Once one has, each thief gets an *alarm*: the end of its first look at such a pool, or of its walk if that
//! comes earlier. The first of these alarms is the only event.
//!
//! ```text
//!   place:   an index into the fixed order of pools
//!   steps:   places from the start of a walk on, around the end; one's own pool takes a step but no time
//!   looks:   looks that have ended, the one meant included: steps, and one more before its own pool
//!   slot:    time is cut into slots of P; a thief's looks end at the same time in every slot, its *tick*
//!
//!   |   '   |   '   |   '   |   '   |   '   |   '        '  tick: (time since the slot began, worker)
//!       |- look 1 --|- look 2 --| … |- look M-1 |        M pools; then the next walk begins
//!       began
//! ```
//!
//! Who comes to a pool when is worked out for all thieves at once, in columns of 32-bit numbers: a few instructions a
//! thief where the compiler has vectors. What a column holds for a worker that is not a thief is [`NOBODY`], so
//! large that it never comes first.
//!
//! Alarms are exact but for two cases, in which they come too early and are set anew: the pool has lost its
//! tasks again, or the walk ends. They are worth nothing while no pool has tasks.

use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::super::keys::Keys;
use super::super::tree::NEVER;
use super::columns::{Columns, Found, NOBODY};
use super::{Called, Events, Thieves};

/// Most workers: sets of them are words.
pub(in super::super) const FEW: usize = 64;
/// Longest look, in ps: a tick is one 32-bit number.
pub(in super::super) const CHECK_MAX_PS: u64 = 1 << 24;
/// Bits of a worker in a tick.
const WORKER_BITS: u32 = 6;
/// Slots are counted anew after so many.
const SLOTS_MAX: u64 = 1 << 29;

/// The walk that a worker is in, or was in last.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    number: u64,
    began_ps: u64,
}

/// See the [module](self).
pub(in super::super) struct Few<R, const LANES: usize> {
    policy: R,
    check_ps: u64,
    /// What a whole walk takes.
    walk_ps: u64,
    pools: i32,
    /// By place, the pool; by pool, the place.
    order: Box<[u16]>,
    place: Box<[u16]>,
    columns: Columns<LANES>,
    walks: [Walk; LANES],
    /// Workers that look around.
    looking: u64,
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
    keys: Keys,
    seed: u64,
    /// Time of looking that has been counted.
    looked_ps: u128,
}

impl<R: Rebalance, const LANES: usize> Few<R, LANES> {
    /// Nobody looks around yet. `order` names each pool once, `place` is its inverse.
    pub(in super::super) fn new(
        policy: R,
        check_ps: u64,
        (order, place): (Box<[u16]>, Box<[u16]>),
        seed: u64,
    ) -> Self {
        let pools = order.len();
        assert!((1..=CHECK_MAX_PS).contains(&check_ps) && pools >= 2 && pools <= LANES && LANES <= FEW);
        Few {
            policy,
            check_ps,
            walk_ps: (pools as u64 - 1) * check_ps,
            pools: pools as i32,
            order,
            place,
            columns: Columns::new(),
            walks: [Walk::default(); LANES],
            looking: 0,
            stealable: 0,
            slot: 0,
            slot_ps: 0,
            zero_ps: 0,
            first: 0,
            first_ps: 0,
            key: NEVER,
            keys: Keys::new(pools as u32),
            seed,
            looked_ps: 0,
        }
    }

    /// Moves the slot up to `now_ps`; returns the time since it began.
    #[inline(always)]
    fn advance(&mut self, now_ps: u64) -> u64 {
        let mut ahead_ps = now_ps - self.slot_ps;
        if ahead_ps < 4 * self.check_ps && (self.slot as u64) < SLOTS_MAX {
            while ahead_ps >= self.check_ps {
                ahead_ps -= self.check_ps;
                self.slot += 1;
            }
            self.slot_ps = now_ps - ahead_ps;
            return ahead_ps;
        }
        self.advance_far(now_ps)
    }

    #[inline(never)]
    fn advance_far(&mut self, now_ps: u64) -> u64 {
        let slots = (now_ps - self.slot_ps) / self.check_ps;
        self.slot_ps += slots * self.check_ps;
        if self.slot as u64 + slots < SLOTS_MAX {
            self.slot += slots as i32;
        } else {
            self.count_anew(now_ps);
        }
        now_ps - self.slot_ps
    }

    /// Moves the slot up to `now_ps`; returns the tick of `acting` if it were a thief that came now.
    #[inline(always)]
    fn acts(&mut self, now_ps: u64, acting: usize) -> i32 {
        (self.advance(now_ps) << WORKER_BITS) as i32 | acting as i32
    }

    /// Counts slots from about now on.
    #[cold]
    fn count_anew(&mut self, now_ps: u64) {
        let looking = self.looking;
        for worker in (0..LANES).filter(|worker| looking >> worker & 1 == 1) {
            // A walk that ends now is not over yet.
            let walks = (now_ps - self.walks[worker].began_ps).saturating_sub(1) / self.walk_ps;
            self.walk_on(worker, walks);
        }
        let before_ps = self.walk_ps + self.check_ps;
        let zero_ps = self.slot_ps - before_ps.min(self.slot_ps);
        let gone = ((zero_ps - self.zero_ps) / self.check_ps) as i64;
        self.zero_ps = zero_ps;
        self.slot = ((self.slot_ps - zero_ps) / self.check_ps) as i32;
        let alarms_count = self.stealable != 0;
        for worker in (0..LANES).filter(|worker| looking >> worker & 1 == 1) {
            self.columns.began[worker] = self.slot_of(worker);
            let alarm = i64::from(self.columns.alarm[worker]) - gone;
            self.columns.alarm[worker] = if alarms_count { alarm as i32 } else { NOBODY };
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
        self.looked_ps += u128::from(walks * self.walk_ps);
        self.columns.began[worker % LANES] += walks as i32 * (self.pools - 1);
        self.begin_walk(worker);
    }

    /// The walks of `worker` that end before `acts` of the current slot are followed by others.
    #[inline(always)]
    fn catch_up(&mut self, worker: usize, acts: i32) {
        let walk = self.pools - 1;
        let next = self.slot + i32::from(self.columns.tick[worker % LANES] < acts);
        let behind = next - self.columns.began[worker % LANES] - 1;
        if behind >= walk {
            let walks = if behind < 2 * walk { 1 } else { behind / walk };
            self.walk_on(worker, walks as u64);
        }
    }

    /// Steps to the first pool with tasks that is at least `from` steps behind `start`.
    #[inline(always)]
    fn first_from(&self, start: i32, from: i32) -> Option<i32> {
        let twice = u128::from(self.stealable) | u128::from(self.stealable) << self.pools;
        let ahead = (twice >> start) as u64 & (!0 >> (64 - self.pools));
        let ahead = ahead & (!0_u64).checked_shl(from as u32).unwrap_or(0);
        (ahead != 0).then(|| ahead.trailing_zeros() as i32)
    }

    /// `worker` is at least `from` steps into its walk; some pool has tasks.
    #[inline(always)]
    fn set_alarm(&mut self, worker: usize, from: i32) {
        let lane = worker % LANES;
        let looks = match self.first_from(self.columns.start[lane], from) {
            Some(steps) => steps + i32::from(steps < self.columns.own[lane]),
            None => self.pools - 1,
        };
        self.columns.alarm[lane] = self.columns.began[lane] + looks;
        let alarm_ps = self.walks[lane].began_ps + looks as u64 * self.check_ps;
        let key = self.keys.of(worker, alarm_ps);
        if key < self.key {
            (self.first, self.first_ps, self.key) = (worker, alarm_ps, key);
        }
    }

    /// The first alarm has this slot and tick, see [`Columns::first`].
    #[inline(always)]
    fn set_first(&mut self, (slot, tick): (i32, i32)) {
        if slot >= NOBODY {
            self.key = NEVER;
            return;
        }
        self.first = (tick & ((1 << WORKER_BITS) - 1)) as usize;
        self.first_ps = self.zero_ps + slot as u64 * self.check_ps + (tick >> WORKER_BITS) as u64;
        self.key = self.keys.of(self.first, self.first_ps);
    }

    /// What the columns, which are up to date then, have to know of `pool` and this moment.
    #[inline(always)]
    fn found(&mut self, pool: usize, now_ps: u64, acting: usize) -> Found {
        let acts = self.acts(now_ps, acting);
        let mut over = self.columns.over(self.slot, acts, self.pools - 1);
        while over != 0 {
            self.catch_up(over.trailing_zeros() as usize, acts);
            over &= over - 1;
        }
        // Alarms that were set before there were tasks are worth nothing.
        let anew = self.stealable == 0;
        Found { place: i32::from(self.place[pool]), pools: self.pools, slot: self.slot, acts, anew }
    }

    /// The look of `worker` after so many steps was in vain: it goes on with the next, or another walk.
    #[inline(always)]
    fn go_on(&mut self, worker: usize, (looks, steps): (i32, i32)) {
        if looks == self.pools - 1 {
            self.walk_on(worker, 1);
            self.set_alarm(worker, 0);
        } else {
            self.set_alarm(worker, steps + 1);
        }
    }

    /// The pool that the thief in `lane` looks at after `steps`, if that has tasks.
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

    /// The steps to the pool of look `looks` of the thief in `lane`.
    #[inline(always)]
    fn steps_of(&self, lane: usize, looks: i32) -> i32 {
        looks - i32::from(looks <= self.columns.own[lane])
    }

    #[inline(always)]
    fn leave(&mut self, worker: usize) {
        self.looking &= !(1 << worker);
        self.columns.began[worker % LANES] = NOBODY;
        self.columns.alarm[worker % LANES] = NOBODY;
        if self.key != NEVER && self.first == worker {
            self.set_first(self.columns.first());
        }
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

    fn rebase(&mut self, keys: Keys) {
        self.keys = keys;
        if self.key != NEVER {
            self.key = keys.of(self.first, self.first_ps);
        }
    }

    #[inline(always)]
    fn join(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        events.clear(worker);
        self.columns.tick[worker % LANES] = self.acts(now_ps, worker);
        self.columns.began[worker % LANES] = self.slot;
        self.walks[worker % LANES].began_ps = now_ps;
        self.looking |= 1 << worker;
        self.begin_walk(worker);
        if self.stealable != 0 {
            self.set_alarm(worker, 0);
        }
    }

    #[inline(always)]
    fn look_up(&mut self, _events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        let lane = worker % LANES;
        let looks = self.columns.alarm[lane] - self.columns.began[lane];
        let steps = self.steps_of(lane, looks);
        if let Some(pool) = self.stealable_pool(lane, steps) {
            self.looked_ps += u128::from(now_ps - self.walks[lane].began_ps);
            self.leave(worker);
            return Some(pool);
        }
        self.go_on(worker, (looks, steps));
        self.set_first(self.columns.first());
        None
    }

    #[inline(always)]
    fn set_stealable(&mut self, _events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let found = self.found(pool, now_ps, acting);
        self.stealable |= 1 << found.place;
        if self.looking != 0 {
            let first = self.columns.set_alarms(found);
            self.set_first(first);
        }
    }

    #[inline(always)]
    fn clear_stealable(&mut self, pool: usize) {
        self.stealable &= !(1 << self.place[pool]);
        if self.stealable == 0 {
            self.key = NEVER;
        }
    }

    #[inline(always)]
    fn call(&mut self, _events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Called {
        let found = self.found(worker, now_ps, 0);
        let lane = worker % LANES;
        let (began, tick) = (self.columns.began[lane], self.columns.tick[lane]);
        // One that has joined at this very moment has a whole look before it.
        let late = tick < found.acts || began == self.slot;
        let slot = self.slot + i32::from(late);
        let end_ps = self.slot_ps + (tick >> WORKER_BITS) as u64 + if late { self.check_ps } else { 0 };
        // Thieves that join now, or later, look for the first time after that; unless it is a whole look away.
        let alone = end_ps - now_ps < self.check_ps && !self.columns.any_before(found, slot, tick);
        self.leave(worker);
        let last = self.place_after(lane, self.steps_of(lane, slot - began));
        Called { end_ps, alone, last: usize::from(self.order[last]) }
    }

    #[inline(always)]
    fn end(&mut self, worker: usize, now_ps: u64) {
        self.looked_ps += u128::from(now_ps - self.walks[worker % LANES].began_ps);
    }

    fn look(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        let lane = worker % LANES;
        let looks = ((now_ps - self.walks[lane].began_ps) / self.check_ps) as i32;
        let steps = self.steps_of(lane, looks);
        if let Some(pool) = self.stealable_pool(lane, steps) {
            <Self as Thieves<LEVELS>>::end(self, worker, now_ps);
            return Some(pool);
        }
        self.advance(now_ps);
        self.columns.began[lane] = self.slot_of(worker);
        events.clear(worker);
        self.looking |= 1 << worker;
        if self.stealable != 0 {
            self.go_on(worker, (looks, steps));
        }
        None
    }

    fn looked_ps(&self) -> u128 {
        self.looked_ps
    }

    fn unbooked_ps(&self, worker: usize, now_ps: u64) -> u128 {
        let span_ps = now_ps - self.walks[worker].began_ps;
        u128::from(span_ps.saturating_sub(1) / self.walk_ps * self.walk_ps)
    }

    fn booked_ps(&self, worker: usize, end_ps: u64) -> u128 {
        u128::from(end_ps - self.walks[worker].began_ps)
    }
}

/// Places from `start` on to `place`, around the end.
#[inline(always)]
fn steps(pools: i32, start: i32, place: i32) -> i32 {
    let ahead = place - start;
    if ahead < 0 { ahead + pools } else { ahead }
}
