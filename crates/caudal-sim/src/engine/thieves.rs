//! Up to 64 thieves that walk past each other's queues, without an event for each look, or even for each walk.
//!
//! All walks go through one fixed order of pools, each look takes the same time P, and where a walk starts is a
//! function of its number. So what a thief looks at at any time follows from when it began to walk, and
//! while no pool has tasks for thieves nobody has to know. Once one has, each thief gets an *alarm*: the
//! end of its first look at such a pool, or of its walk if that comes earlier. The first of these alarms is the
//! only event.
//!
//! ```text
//!   order:   a fixed permutation of the pools; a place is an index
//!   steps:   places from the start of a walk on, around the end; one's own pool takes a step but no time
//!
//!            began          + P          + 2 P        + 3 P  (its own) + 4 P             + L = (pools - 1) P
//!            |--- step 0 ---|--- step 1 ---|--- step 2 ---|--- step 4 ---|  …  ---| the next walk begins
//! ```
//!
//! Alarms are exact but for two cases, in which they come too early and are set anew: the pool has lost its
//! tasks again, or the walk ends. They are worth nothing while no pool has tasks, and walks are not kept up to
//! date then.

use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::keys::Keys;
use super::tree::NEVER;

/// Most workers: sets of them are words.
pub(super) const THIEVES_MAX: usize = 64;

/// In place of steps: the walk ends.
const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Thief {
    /// When its walk began, or one before.
    began_ps: u64,
    /// When that walk ends; 0 if its start is yet to be drawn.
    end_ps: u64,
    /// Number of that walk.
    walk: u64,
    /// The place where it starts, and the steps from there to its own pool.
    start: u32,
    own: u32,
    /// The end of its first look that may find something, and the steps to that, or [`END`].
    alarm_ps: u64,
    found: u32,
}

/// See the [module](self).
pub(super) struct Thieves<R> {
    policy: R,
    check_ps: u64,
    /// What a whole walk takes.
    walk_ps: u64,
    pools: u32,
    /// By place, the pool; by pool, the place.
    order: Box<[u16]>,
    place: Box<[u16]>,
    thieves: [Thief; THIEVES_MAX],
    /// Workers that look around.
    looking: u64,
    /// Places with tasks for thieves.
    stealable: u64,
    /// The thief with the first alarm, and the key of that.
    first: u32,
    key: u64,
    keys: Keys,
    seed: u64,
    /// Time of looking that has ended.
    looked_ps: u128,
}

impl<R: Rebalance> Thieves<R> {
    /// Nobody looks around yet. `order` names each pool once.
    pub(super) fn new(policy: R, check_ps: u64, (order, place): (Box<[u16]>, Box<[u16]>), keys: Keys, seed: u64) -> Thieves<R> {
        let pools = order.len() as u32;
        assert!(check_ps > 0 && pools >= 2 && pools as usize <= THIEVES_MAX);
        Thieves {
            policy,
            check_ps,
            walk_ps: u64::from(pools - 1) * check_ps,
            pools,
            order,
            place,
            thieves: [Thief::default(); THIEVES_MAX],
            looking: 0,
            stealable: 0,
            first: 0,
            key: NEVER,
            keys,
            seed,
            looked_ps: 0,
        }
    }

    /// Time of looking that has been counted.
    pub(super) fn looked_ps(&self) -> u128 {
        self.looked_ps
    }

    /// How tasks are taken.
    #[inline(always)]
    pub(super) fn policy(&self) -> &R {
        &self.policy
    }

    /// The key of the first alarm.
    #[inline(always)]
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// When and whose the first alarm is.
    #[inline(always)]
    pub(super) fn first_ps(&self) -> Option<u64> {
        (self.key != NEVER).then(|| self.thieves[self.first as usize % THIEVES_MAX].alarm_ps)
    }

    /// Keys are counted from elsewhere now.
    pub(super) fn rebase(&mut self, keys: Keys) {
        self.keys = keys;
        if let Some(first_ps) = self.first_ps() {
            self.key = keys.of(self.first as usize, first_ps);
        }
    }

    #[inline(always)]
    fn thief(&mut self, worker: usize) -> &mut Thief {
        &mut self.thieves[worker % THIEVES_MAX]
    }

    /// `worker` begins to walk.
    #[inline(always)]
    pub(super) fn join(&mut self, worker: usize, now_ps: u64) {
        let thief = self.thief(worker);
        thief.began_ps = now_ps;
        thief.end_ps = 0;
        thief.walk += 1;
        self.looking |= 1 << worker;
        if self.stealable != 0 {
            self.draw(worker);
            self.set_alarm(worker, 0);
        }
    }

    /// Draws the start of the walk that begins at `began_ps`.
    #[inline(always)]
    fn draw(&mut self, worker: usize) {
        let own_place = u32::from(self.place[worker]);
        let thief = &mut self.thieves[worker % THIEVES_MAX];
        thief.end_ps = thief.began_ps + self.walk_ps;
        let draw = Draw::new(self.seed, (worker as u64) << 48 | thief.walk);
        thief.start = self.policy.walk_start(draw, self.pools);
        thief.own = steps(self.pools, thief.start, own_place);
    }

    /// Brings `worker` to the walk of its first look that ends at `from_ps` or later.
    #[inline(always)]
    fn catch_up(&mut self, worker: usize, from_ps: u64) {
        if self.thief(worker).end_ps < from_ps {
            self.walk_on(worker, from_ps);
            self.draw(worker);
        }
    }

    /// Of the walk before [`Thieves::draw`].
    #[inline(always)]
    fn walk_on(&mut self, worker: usize, from_ps: u64) {
        let walk_ps = self.walk_ps;
        let thief = self.thief(worker);
        let behind_ps = from_ps.saturating_sub(thief.began_ps + walk_ps);
        let walks = if behind_ps <= walk_ps { u64::from(behind_ps > 0) } else { behind_ps.div_ceil(walk_ps) };
        thief.walk += walks;
        thief.began_ps += walks * walk_ps;
        self.looked_ps += u128::from(walks * walk_ps);
    }

    /// The end of the look of `thief` that is `steps` from its start, which is not its own pool.
    #[inline(always)]
    fn end_of_look_ps(&self, thief: &Thief, steps: u32) -> u64 {
        let looks = u64::from(steps) + u64::from(steps < thief.own);
        thief.began_ps + looks * self.check_ps
    }

    /// Steps to the first pool with tasks that is at least `from` steps behind `start`.
    #[inline(always)]
    fn first_from(&self, start: u32, from: u32) -> Option<u32> {
        let twice = u128::from(self.stealable) | u128::from(self.stealable) << self.pools;
        let ahead = (twice >> start) as u64 & (!0 >> (64 - self.pools));
        let ahead = ahead & (!0_u64).checked_shl(from).unwrap_or(0);
        (ahead != 0).then(|| ahead.trailing_zeros())
    }

    /// `worker` is at least `from` steps into its walk, which is up to date; some pool has tasks.
    #[inline(always)]
    fn set_alarm(&mut self, worker: usize, from: u32) {
        let thief = *self.thief(worker);
        let (alarm_ps, found) = match self.first_from(thief.start, from) {
            Some(steps) => (self.end_of_look_ps(&thief, steps), steps),
            None => (thief.end_ps, END),
        };
        (self.thief(worker).alarm_ps, self.thief(worker).found) = (alarm_ps, found);
        let key = self.keys.of(worker, alarm_ps);
        if key < self.key {
            (self.first, self.key) = (worker as u32, key);
        }
    }

    /// Looks for the first of all alarms.
    fn find_first(&mut self) {
        let mut left = if self.stealable == 0 { 0 } else { self.looking };
        let (mut first_ps, mut first) = (NEVER, 0);
        while left != 0 {
            let worker = left.trailing_zeros();
            let alarm_ps = self.thieves[worker as usize % THIEVES_MAX].alarm_ps;
            // The lesser id of two at one time comes first.
            if alarm_ps < first_ps {
                (first_ps, first) = (alarm_ps, worker);
            }
            left &= left - 1;
        }
        self.first = first;
        self.key = if first_ps == NEVER { NEVER } else { self.keys.of(first as usize, first_ps) };
    }

    /// `pool` has tasks for thieves now. Workers below `acting` are through with this moment.
    #[inline(always)]
    pub(super) fn set_stealable(&mut self, pool: usize, now_ps: u64, acting: u32) {
        let place = u32::from(self.place[pool]);
        let none_before = self.stealable == 0;
        self.stealable |= 1 << place;
        // No look ends at time 0, and what ends there is yet to be drawn.
        let now_ps = now_ps.max(1);
        let (mut first_ps, mut first) = match self.first_ps() {
            Some(first_ps) => (first_ps, self.first),
            None => (NEVER, 0),
        };
        let mut left = self.looking;
        while left != 0 {
            let worker = left.trailing_zeros();
            left &= left - 1;
            let from_ps = now_ps + u64::from(worker < acting);
            self.catch_up(worker as usize, from_ps);
            let thief = &self.thieves[worker as usize % THIEVES_MAX];
            let there = steps(self.pools, thief.start, place);
            let there_ps = self.end_of_look_ps(thief, there);
            let is_past = there_ps < from_ps;
            let at_ps = if is_past { thief.end_ps } else { there_ps };
            // The last look ends when the walk does.
            if none_before || at_ps < thief.alarm_ps || !is_past && at_ps == thief.alarm_ps {
                let thief = self.thief(worker as usize);
                (thief.alarm_ps, thief.found) = (at_ps, if is_past { END } else { there });
            }
            if at_ps < first_ps || at_ps == first_ps && worker < first {
                (first_ps, first) = (at_ps, worker);
            }
        }
        if first_ps != NEVER {
            (self.first, self.key) = (first, self.keys.of(first as usize, first_ps));
        }
    }

    /// `pool` has no tasks for thieves any more.
    #[inline(always)]
    pub(super) fn clear_stealable(&mut self, pool: usize) {
        self.stealable &= !(1 << self.place[pool]);
        if self.stealable == 0 {
            self.key = NEVER;
        }
    }

    #[inline(always)]
    fn leave(&mut self, worker: usize) {
        self.looking &= !(1 << worker);
        if self.key != NEVER && self.first as usize == worker {
            self.find_first();
        }
    }

    /// The first alarm goes. Returns the pool to steal from, and whose alarm it was: it does not look around any
    /// more then.
    #[inline(always)]
    pub(super) fn at_alarm(&mut self) -> Option<(usize, usize)> {
        let worker = self.first as usize;
        let thief = *self.thief(worker);
        if thief.found == END {
            self.catch_up(worker, thief.alarm_ps + 1);
        } else if let Some(pool) = self.stealable_pool(&thief, thief.found) {
            self.looked_ps += u128::from(thief.alarm_ps - thief.began_ps);
            self.leave(worker);
            return Some((worker, pool));
        }
        // Behind `END` there is step 0.
        self.set_alarm(worker, thief.found.wrapping_add(1));
        self.find_first();
        None
    }

    #[inline(always)]
    fn stealable_pool(&self, thief: &Thief, steps: u32) -> Option<usize> {
        let place = thief.start + steps;
        let place = if place >= self.pools { place - self.pools } else { place };
        (self.stealable >> place & 1 == 1).then(|| usize::from(self.order[place as usize]))
    }

    /// `worker` stops looking around at the end of the look under way, because there is a task in its own pool.
    /// Returns when that is. [`Thieves::end`] or [`Thieves::look`] must follow then.
    #[inline(always)]
    pub(super) fn call(&mut self, worker: usize, now_ps: u64, acting: u32) -> u64 {
        self.leave(worker);
        let from_ps = now_ps + u64::from((worker as u32) < acting);
        let check_ps = self.check_ps;
        let began_ps = self.thief(worker).began_ps;
        began_ps + (from_ps - began_ps).div_ceil(check_ps).max(1) * check_ps
    }

    /// The look of `worker` is over, and so is its walk.
    #[inline(always)]
    pub(super) fn end(&mut self, worker: usize, now_ps: u64) {
        let walk_ps = self.walk_ps;
        let thief = self.thief(worker);
        let span_ps = now_ps - thief.began_ps;
        if span_ps > walk_ps {
            thief.walk += (span_ps - 1) / walk_ps;
        }
        self.looked_ps += u128::from(span_ps);
    }

    /// The look of `worker` is over, and the task in its own pool is gone. Returns the pool to steal from; without
    /// one, it looks around again.
    pub(super) fn look(&mut self, worker: usize, now_ps: u64) -> Option<usize> {
        // To the walk with the look that ends now; later, on.
        self.catch_up(worker, now_ps);
        let thief = *self.thief(worker);
        let looks = ((now_ps - thief.began_ps) / self.check_ps) as u32;
        let steps = if looks > thief.own { looks } else { looks - 1 };
        if let Some(pool) = self.stealable_pool(&thief, steps) {
            self.looked_ps += u128::from(now_ps - thief.began_ps);
            return Some(pool);
        }
        self.looking |= 1 << worker;
        if self.stealable != 0 {
            let is_over = thief.end_ps == now_ps;
            self.catch_up(worker, now_ps + 1);
            self.set_alarm(worker, if is_over { 0 } else { steps + 1 });
        }
        None
    }

    /// Of the time that `worker` has been looking around and that has not been counted, what went to walks that are
    /// over, before anything of `now_ps` has happened.
    pub(super) fn unbooked_ps(&self, worker: usize, now_ps: u64) -> u64 {
        let span_ps = now_ps - self.thieves[worker].began_ps;
        span_ps.saturating_sub(1) / self.walk_ps * self.walk_ps
    }
}

/// Places from `start` on to `place`, around the end.
#[inline(always)]
fn steps(pools: u32, start: u32, place: u32) -> u32 {
    if place >= start { place - start } else { place + pools - start }
}
