//! Any number of thieves, on the rotating ring of [`Walks`]. The loop of `stealing` takes them where there are more than 64 workers, and
//! asks for the next event of a thief.
//!
//! For each pool with tasks, the loop stores which thief steals from it next. That thief *claims* the pool: it comes to the pool
//! first without passing another pool with tasks, where it would stop. So there is at most one claim for each pool and for each
//! thief, and a change on the ring changes few claims:
//!
//! ```text
//!   ring:   …  a  .  .  [q]  .  b  .  c  .  [r]  .  …       pools move to the left, past thieves that stand still
//!              '---------'            '------'
//!              a claims q             c claims r; b, which comes to r after c, claims nothing
//! ```
//!
//! * a pool that gets tasks is claimed by the thief that comes to it first, unless that one stops elsewhere before;
//! * when a pool has lost its tasks, the thief that claimed it goes on to the next pool, and claims that if it is there first;
//! * when a thief leaves, the pool that it claimed is offered to the next; no other pool is concerned;
//! * a thief that joins claims the next pool ahead if it is there first.
//!
//! A thief that has come to the pool that it claims, and steals from it, *holds* the claim until the steal is done, unless another
//! thief comes earlier. Most often the pool has no tasks by then, so that no other thief had to be found. Meanwhile the thief that
//! comes next claims nothing; but a thief that joins and comes before the steal is done gets the claim. When the pool has lost its
//! tasks, the thief that comes first to the next pool may be one that was going to this pool. So the next pool is offered to it,
//! unless a thief that is already past this pool claims the next one.
//!
//! A claim is computed as if walks never ended. Each thief has one event: the end of its walk, or the point at which the walk is
//! interrupted because the next pool is its own, or the time at which it reaches the pool that it claims, whichever is earliest. At
//! the end of a walk a thief leaves the ring and joins anew.

use std::hint::select_unpredictable;

use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::{Called, Doing, Events, Thieves, WorkerKeys};
use crate::engine::kernel::tree::NEVER;
use crate::engine::kernel::walks::Walks;

/// In place of a rank or a worker.
const NONE: u16 = u16::MAX;

/// The walk that a worker is in, or was in last.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// Of the next one, and where it starts.
    number: u64,
    start: u16,
    began_ps: u64,
    /// One past the rank of its last pool.
    end: u16,
    /// The rank of the pool that it checks last.
    at: u16,
    /// The rank of the pool that it claims, and when it comes there or, if it is no thief, until when it holds the
    /// claim.
    claim: u16,
    claim_ps: u64,
}

/// With what the ring keeps about a thief, one cache line.
const _: () = assert!(size_of::<Walk>() <= 32);

impl Default for Walk {
    fn default() -> Walk {
        Walk { number: 0, start: 0, began_ps: 0, end: 0, at: 0, claim: NONE, claim_ps: 0 }
    }
}

/// See the [module](self). All pools are held, so that places are ranks.
pub(in crate::engine) struct Many<R> {
    policy: R,
    ring: Walks<Walk>,
    check_ps: u64,
    /// The time of a steal, in ps and in bins of the ring.
    steal_ps: u64,
    steal_bins: u64,
    pools: u16,
    /// By rank, the pool; by pool, the rank.
    order: Box<[u16]>,
    place: Box<[u16]>,
    /// By rank, who claims the pool.
    claims: Box<[u16]>,
    seed: u64,
    checked_ps: u128,
}

impl<R: Rebalance> Many<R> {
    /// Nobody walks yet. `order` names each pool once, `place` is its inverse.
    pub(in crate::engine) fn new(
        policy: R,
        (check_ps, steal_ps): (u64, u64),
        (order, place): (Box<[u16]>, Box<[u16]>),
        seed: u64,
    ) -> Self {
        let pools = order.len();
        assert!(check_ps > 0 && pools >= 2);
        let mut ring = Walks::new(pools, pools, check_ps);
        ring.rebuild(0, |_| true, |_| false);
        let steal_bins = ring.bins_of(steal_ps);
        let mut many = Many {
            policy,
            ring,
            check_ps,
            steal_ps,
            steal_bins,
            pools: pools as u16,
            order,
            place,
            claims: vec![NONE; pools].into(),
            seed,
            checked_ps: 0,
        };
        (0..pools as u16).for_each(|worker| {
            many.draw_next_start(worker);
        });
        many
    }

    /// Where the next walk of `worker` starts, which was drawn when the last one did: nothing waits for that then.
    #[inline(always)]
    fn draw_next_start(&mut self, worker: u16) -> u16 {
        let walk = self.ring.note_mut(worker);
        walk.number += 1;
        let draw = Draw::new(self.seed, u64::from(worker) << 48 | walk.number);
        let next = self.policy.walk_start(draw, u32::from(self.pools)) as u16;
        std::mem::replace(&mut walk.start, next)
    }

    #[inline(always)]
    fn begin_walk<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        let start = self.draw_next_start(worker as u16);
        let walk = self.ring.note_mut(worker as u16);
        walk.began_ps = now_ps;
        walk.end = start + self.pools;
        let first = start + u16::from(start == self.place[worker]);
        self.enter(events, worker, now_ps, first);
    }

    /// `worker` begins a check of `first` now.
    #[inline(always)]
    fn enter<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
        first: u16,
    ) {
        let (own, end) = (self.place[worker], self.ring.note(worker as u16).end);
        // Whether it still lies ahead is a toss-up: no branches.
        let own = select_unpredictable(own > first, own, own + self.pools);
        let is_ahead = (own > first) & (own < end);
        let then = select_unpredictable(is_ahead & (own + 1 < end), end, 0);
        let ends = (select_unpredictable(is_ahead, own, end), then);
        self.ring.enter(worker as u16, now_ps, first, ends);
        self.entered(events, worker, now_ps, first, ends.0);
    }

    /// `worker` checks `first` from now on, and then at all others before `end`.
    #[inline(always)]
    fn entered<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
        first: u16,
        end: u16,
    ) {
        if !self.claim_next(events, worker as u16, now_ps + self.check_ps, first) {
            let end_ps = now_ps + u64::from(end - first) * self.check_ps;
            events.set(worker, end_ps, Doing::Walking);
        }
    }

    /// `thief`, which claims nothing, is through with `rank` at `at_ps` if it gets there: it claims the first pool
    /// with tasks from there on if nobody is there before. Does it, and sets its event?
    #[inline(always)]
    fn claim_next<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        thief: u16,
        at_ps: u64,
        rank: u16,
    ) -> bool {
        let Some(ahead) = self.ring.to_stealable(rank) else { return false };
        let rank = self.wrapped(self.wrapped(rank) + ahead);
        let at_ps = at_ps + u64::from(ahead) * self.check_ps;
        let other = self.claims[usize::from(rank)];
        if other != NONE {
            if (at_ps, thief) > (self.ring.note(other).claim_ps, other) {
                return false;
            }
            self.unclaim(events, other);
        }
        self.claim(events, rank, thief, at_ps);
        true
    }

    #[inline(always)]
    fn claim<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, rank: u16, thief: u16, at_ps: u64) {
        let walk = self.ring.note_mut(thief);
        (walk.claim, walk.claim_ps) = (rank, at_ps);
        self.claims[usize::from(rank)] = thief;
        events.set(usize::from(thief), at_ps.min(self.ring.end_ps(thief)), Doing::Walking);
    }

    /// The claim of `thief` is another's.
    #[inline(always)]
    fn unclaim<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, thief: u16) {
        let end_ps = self.ring.end_ps(thief);
        let walk = self.ring.note_mut(thief);
        walk.claim = NONE;
        let claim_ps = walk.claim_ps;
        if claim_ps < end_ps && self.ring.has(thief) {
            events.set(usize::from(thief), end_ps, Doing::Walking);
        }
    }

    /// The pool of `rank`, which has tasks, goes to the thief that is there first, unless that stops before.
    #[inline(always)]
    fn offer<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        rank: u16,
        now_ps: u64,
        acting: usize,
    ) {
        self.claims[usize::from(rank)] = NONE;
        let Some((thief, at_ps)) = self.ring.first_to(rank, now_ps, acting as u32) else { return };
        let &Walk { claim: before, claim_ps: before_ps, .. } = self.ring.note(thief);
        if before != NONE {
            if before_ps < at_ps {
                return;
            }
            self.claims[usize::from(before)] = NONE;
        }
        self.claim(events, rank, thief, at_ps);
    }

    /// `worker` is not in the ring any more.
    #[inline(always)]
    fn leave<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
        acting: usize,
    ) {
        self.ring.remove(worker as u16);
        let claim = std::mem::replace(&mut self.ring.note_mut(worker as u16).claim, NONE);
        if claim != NONE {
            self.offer(events, claim, now_ps, acting);
        }
    }

    /// `worker`, which has come to the pool of `rank`, steals from it.
    #[inline(always)]
    fn hold<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
        rank: u16,
    ) {
        self.ring.remove(worker as u16);
        let may_come = self.ring.may_come(rank, now_ps, self.steal_bins);
        let walk = self.ring.note_mut(worker as u16);
        walk.claim_ps = now_ps + self.steal_ps;
        if may_come {
            walk.claim = NONE;
            self.offer(events, rank, now_ps, worker);
        }
    }

    /// The pool of `rank` has no tasks any more, after somebody has held the claim to it: none of those who are still
    /// before it may have claimed the next one, or not the first of them.
    #[inline(always)]
    fn offer_next<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        rank: u16,
        now_ps: u64,
        acting: usize,
    ) {
        let Some(ahead) = self.ring.to_stealable(rank) else { return };
        let next = self.wrapped(rank + ahead);
        let claimed_by = self.claims[usize::from(next)];
        if claimed_by != NONE {
            // Who is there before that is past this pool. (At that time, others may be between him and it: whoever is
            // through with this pool now may come before or after the one who acts.)
            if self.ring.note(claimed_by).claim_ps < now_ps + u64::from(ahead) * self.check_ps {
                return;
            }
            self.unclaim(events, claimed_by);
        }
        self.offer(events, next, now_ps, acting);
    }

    /// Does a thief come to the pool of `rank` until `end_ps`, which is less than a check away?
    #[inline(always)]
    fn comes_by(&mut self, rank: u16, now_ps: u64, end_ps: u64) -> bool {
        self.ring.may_come(rank, now_ps, self.ring.bins_of_part(end_ps - now_ps))
            && self.ring.first_to(rank, now_ps, 0).is_some_and(|(_, at_ps)| at_ps <= end_ps)
    }

    fn pool(&self, rank: u16) -> usize {
        usize::from(self.order[usize::from(self.wrapped(rank))])
    }

    #[inline(always)]
    fn wrapped(&self, rank: u16) -> u16 {
        if rank >= self.pools { rank - self.pools } else { rank }
    }

    fn walk_on<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        self.checked_ps += u128::from(now_ps - self.ring.note(worker as u16).began_ps);
        self.begin_walk(events, worker, now_ps);
    }

    /// The pool that `worker` claims, if it is there now.
    #[inline(always)]
    fn hit(&self, worker: usize, now_ps: u64) -> Option<u16> {
        let &Walk { claim, claim_ps, .. } = self.ring.note(worker as u16);
        (claim != NONE && claim_ps == now_ps).then_some(claim)
    }
}

impl<R: Rebalance, const LEVELS: u32> Thieves<LEVELS> for Many<R> {
    #[inline(always)]
    fn steal_amount(&self, waiting: u32) -> u32 {
        self.policy.steal_amount(waiting)
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        NEVER
    }

    fn first_ps(&self) -> Option<u64> {
        None
    }

    fn rebase(&mut self, _keys: WorkerKeys) {}

    #[inline(always)]
    fn join(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        self.begin_walk(events, worker, now_ps);
    }

    #[inline(always)]
    fn after_alarm(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        if let Some(rank) = self.hit(worker, now_ps) {
            self.hold(events, worker, now_ps, rank);
            self.checked_ps += u128::from(now_ps - self.ring.note(worker as u16).began_ps);
            return Some(self.pool(rank));
        }
        self.leave(events, worker, now_ps, worker);
        match self.ring.pass_own(worker as u16, now_ps) {
            Some((first, end)) => self.entered(events, worker, now_ps, first, end),
            None => self.walk_on(events, worker, now_ps),
        }
        None
    }

    #[inline(always)]
    fn set_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let rank = self.place[pool];
        self.ring.add_stealable(rank);
        self.offer(events, rank, now_ps, acting);
    }

    #[inline(always)]
    fn clear_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let rank = self.place[pool];
        self.ring.clear_stealable(rank);
        let thief = std::mem::replace(&mut self.claims[usize::from(rank)], NONE);
        if thief == NONE {
            return;
        }
        let walk = self.ring.note_mut(thief);
        walk.claim = NONE;
        let at_ps = walk.claim_ps;
        if !self.ring.has(thief) {
            return self.offer_next(events, rank, now_ps, acting);
        }
        if !self.claim_next(events, thief, at_ps, rank) {
            self.unclaim(events, thief);
        }
    }

    #[inline(always)]
    fn leave_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let rank = self.place[pool];
        if usize::from(self.claims[usize::from(rank)]) == acting {
            self.ring.note_mut(acting as u16).claim = NONE;
            self.offer(events, rank, now_ps, acting);
        }
    }

    #[inline(always)]
    fn call(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Called {
        let position = self.ring.position(worker as u16, now_ps, 0);
        self.ring.note_mut(worker as u16).at = position.rank;
        self.leave(events, worker, now_ps, 0);
        let end_ps = position.end_ps;
        // Thieves that join now, or later, end their first check after that; unless it is a whole check away.
        let is_near = end_ps - now_ps < self.check_ps;
        let alone = is_near && !self.comes_by(self.place[worker], now_ps, end_ps);
        Called { end_ps, alone, last: self.pool(position.rank) }
    }

    #[inline(always)]
    fn end(&mut self, worker: usize, now_ps: u64) {
        self.checked_ps += u128::from(now_ps - self.ring.note(worker as u16).began_ps);
    }

    fn finish_last_check(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
    ) -> Option<usize> {
        let &Walk { at, end, .. } = self.ring.note(worker as u16);
        if self.ring.is_stealable(at) {
            <Self as Thieves<LEVELS>>::end(self, worker, now_ps);
            return Some(self.pool(at));
        }
        let own = self.place[worker];
        let next = if at + 1 == own || at + 1 == own + self.pools { at + 2 } else { at + 1 };
        if next < end {
            self.enter(events, worker, now_ps, next);
        } else {
            self.walk_on(events, worker, now_ps);
        }
        None
    }

    fn checked_ps(&self) -> u128 {
        self.checked_ps
    }

    /// Every walk is counted when it ends.
    fn uncounted_ps(&self, _worker: usize, _now_ps: u64) -> u128 {
        0
    }

    fn counted_ps(&self, worker: usize, end_ps: u64) -> u128 {
        u128::from(end_ps - self.ring.note(worker as u16).began_ps)
    }
}
