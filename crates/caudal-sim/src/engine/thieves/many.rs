//! Any number of thieves, on the turning ring of [`Walks`].

use caudal_policy::random::Draw;
use caudal_policy::rebalance::Rebalance;

use super::super::keys::Keys;
use super::super::tree::NEVER;
use super::super::walks::Walks;
use super::{Called, Events, Thieves};

/// The walk that a worker is in, or was in last.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    number: u64,
    began_ps: u64,
    /// One past the rank of its last pool.
    end: u16,
    /// The rank of the pool that it looks at for the last time.
    at: u16,
}

/// See the [module](self). All pools are held, so that places are ranks.
pub(in super::super) struct Many<R> {
    policy: R,
    ring: Walks,
    check_ps: u64,
    pools: u16,
    /// By rank, the pool; by pool, the rank.
    order: Box<[u16]>,
    place: Box<[u16]>,
    walks: Box<[Walk]>,
    seed: u64,
    looked_ps: u128,
}

impl<R: Rebalance> Many<R> {
    /// Nobody looks around yet. `order` names each pool once, `place` is its inverse.
    pub(in super::super) fn new(
        policy: R,
        check_ps: u64,
        (order, place): (Box<[u16]>, Box<[u16]>),
        seed: u64,
    ) -> Self {
        let pools = order.len();
        assert!(check_ps > 0 && pools >= 2);
        let mut ring = Walks::new(pools, pools, check_ps);
        ring.rebuild(0, |_| true, |_| false);
        let walks = vec![Walk::default(); pools].into();
        Many { policy, ring, check_ps, pools: pools as u16, order, place, walks, seed, looked_ps: 0 }
    }

    #[inline(always)]
    fn begin_walk<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        let walk = &mut self.walks[worker];
        walk.number += 1;
        let draw = Draw::new(self.seed, (worker as u64) << 48 | walk.number);
        let start = self.policy.walk_start(draw, u32::from(self.pools)) as u16;
        walk.began_ps = now_ps;
        walk.end = start + self.pools;
        let first = start + u16::from(start == self.place[worker]);
        self.enter(events, worker, now_ps, first);
    }

    /// `worker` begins a look at `first` now.
    #[inline(always)]
    fn enter<const LEVELS: u32>(
        &mut self,
        events: &mut Events<LEVELS>,
        worker: usize,
        now_ps: u64,
        first: u16,
    ) {
        let (own, end) = (self.place[worker], self.walks[worker].end);
        let own = if own > first { own } else { own + self.pools };
        // It may lie behind already.
        let ends =
            if own <= first || own >= end { (end, 0) } else { (own, if own + 1 < end { end } else { 0 }) };
        let alarm_ps = self.ring.join(worker as u16, now_ps, first, ends);
        events.set(worker, alarm_ps);
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
        self.ring.leave(worker as u16, now_ps, acting as u32, |heir, due_ps| {
            if due_ps < events.due_ps(usize::from(heir)) {
                events.set(usize::from(heir), due_ps);
            }
        });
    }

    fn pool(&self, rank: u16) -> usize {
        usize::from(self.order[usize::from(if rank >= self.pools { rank - self.pools } else { rank })])
    }

    fn walk_on<const LEVELS: u32>(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        self.looked_ps += u128::from(now_ps - self.walks[worker].began_ps);
        self.begin_walk(events, worker, now_ps);
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

    fn rebase(&mut self, _keys: Keys) {}

    #[inline(always)]
    fn join(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) {
        self.begin_walk(events, worker, now_ps);
    }

    #[inline(always)]
    fn look_up(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        let rank = self.ring.rank_checked(worker as u16, now_ps, worker as u32);
        if self.ring.is_stealable(rank) {
            self.leave(events, worker, now_ps, worker);
            self.looked_ps += u128::from(now_ps - self.walks[worker].began_ps);
            return Some(self.pool(rank));
        }
        if let Some(alarm_ps) = self.ring.next_alarm(worker as u16, rank) {
            events.set(worker, alarm_ps);
            return None;
        }
        self.leave(events, worker, now_ps, worker);
        match self.ring.pass_own(worker as u16, now_ps) {
            Some(alarm_ps) => events.set(worker, alarm_ps),
            None => self.walk_on(events, worker, now_ps),
        }
        None
    }

    #[inline(always)]
    fn set_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize) {
        let first = self.ring.set_stealable(self.place[pool], now_ps, acting as u32);
        if let Some((thief, due_ps)) = first
            && due_ps < events.due_ps(usize::from(thief))
        {
            events.set(usize::from(thief), due_ps);
        }
    }

    #[inline(always)]
    fn clear_stealable(&mut self, pool: usize, _now_ps: u64, _acting: usize) {
        self.ring.clear_stealable(self.place[pool]);
    }

    #[inline(always)]
    fn call(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Called {
        let position = self.ring.position(worker as u16, now_ps, 0);
        self.walks[worker].at = position.rank;
        self.leave(events, worker, now_ps, 0);
        let end_ps = position.end_ps;
        // Thieves that join now, or later, look for the first time after that; unless it is a whole look away.
        let is_near = end_ps - now_ps < self.check_ps;
        let alone = is_near && !self.ring.any_before(self.place[worker], now_ps, 0, end_ps);
        Called { end_ps, alone, last: self.pool(position.rank) }
    }

    #[inline(always)]
    fn end(&mut self, worker: usize, now_ps: u64) {
        self.looked_ps += u128::from(now_ps - self.walks[worker].began_ps);
    }

    fn look(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize> {
        let Walk { at, end, .. } = self.walks[worker];
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

    fn looked_ps(&self) -> u128 {
        self.looked_ps
    }

    /// Every walk is counted when it ends.
    fn unbooked_ps(&self, _worker: usize, _now_ps: u64) -> u128 {
        0
    }

    fn booked_ps(&self, worker: usize, end_ps: u64) -> u128 {
        u128::from(end_ps - self.walks[worker].began_ps)
    }
}
