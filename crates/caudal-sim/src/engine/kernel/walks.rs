//! Thieves that check one queue after the other, without an event for each check. The general loop and the short cut for many thieves add
//! idle workers to the ring, and ask which thief comes to a task first. A data structure without other state.
//!
//! Every check takes the same time P and all walks follow one fixed order, so thieves move in lockstep: on a ring
//! of the held pools that rotates by one pool in every P, they stand still. A thief's place on that ring is
//! where it would have been at time 0; pools move past it.
//!
//! ```text
//!   order:    a fixed permutation of the pools, written twice, so that no walk wraps; a place is an index
//!   rank:     how many held pools come before a place; a walk checks consecutive ranks, one in each P
//!   base:     when a thief would have finished with rank 0; it finishes with rank r at base + r P
//!   bucket:   base / P modulo the number of held pools M, and `frac` = base modulo P within it
//!   bin:      a part of a bucket, so that few thieves share one
//!
//!   buckets     |  .   | a    |      |  b c |      |         `a` checks a pool first, then `b`, then `c`:
//!               '-- time at which rank 0 passes by --->      who comes first at rank q has the least base from
//!                                                            now - q P on
//! ```
//!
//! # Alarms
//!
//! Each thief has one event, its *alarm*: the end of its first check after which something may have to be
//! decided. Most checks find nothing, and nobody hears of them. What must hold is that **of all thieves, the
//! one that gets to a pool with tasks first has its alarm there or earlier**, and that every thief has one
//! where its walk ends, or is interrupted because the next pool is its own. It does, because
//!
//! * a thief that joins gets its alarm at the first pool with tasks ahead of it;
//! * when a pool gets tasks, the thief that comes to it first is found, and gets its alarm there if that
//!   is earlier;
//! * when a thief leaves, what it would have got to first falls to the next one behind it, which gets
//!   its alarm at the first pool with tasks ahead of *it* if that is earlier;
//! * a thief whose alarm turns out to be false gets it at the next pool with tasks ahead of it.
//!
//! An alarm too many costs time but changes nothing: what is decided depends on what is there when it goes.

use caudal_policy::random::Draw;

use super::bits::BitSet;
use super::streams::{Purpose, stream};

const NOBODY: u16 = u16::MAX;

/// Most bins of a bucket: about one thief in four then, at most.
const BINS_MAX: usize = 4;
/// Fractional bits of bins per ps.
const BINS_SHIFT: u32 = 60;

/// A thief in the ring, and what its host notes down about it: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Thief<N> {
    /// May be before time 0: wraps.
    base_ps: u64,
    frac_ps: u64,
    /// `NOBODY` if it is not in the ring.
    bin: u16,
    /// The rank of its first check since it joined.
    first: u16,
    /// One past the rank of its last check, or the rank of its own pool if that comes first.
    end: u16,
    /// One past the rank of its last check behind its own pool, or 0 if there is none.
    then: u16,
    /// The next thief in its bin.
    next: u16,
    note: N,
}

/// The ring; see the [module](self).
pub(in crate::engine) struct Walks<N = ()> {
    check_ps: u64,
    /// By place: ranks before it.
    rank: Box<[u16]>,
    /// By rank, twice over: its place.
    place: Vec<u16>,
    /// Held pools.
    held: u16,
    /// By rank: has it tasks to steal?
    stealable: BitSet,
    thieves: Box<[Thief<N>]>,
    /// log2 of the bins of a bucket, and what turns a time within it into one.
    bins_log2: u32,
    bins_per_ps: u64,
    /// By bin, its first thief.
    heads: Box<[u16]>,
    /// Bins with thieves.
    taken: BitSet,
    /// The slot that was current when somebody asked last: its index modulo `held`, and when it began.
    slot: u16,
    slot_ps: u64,
}

/// The fixed order in which all walks go: by place, the pool, and by pool, the place.
pub(in crate::engine) fn walk_order(seed: u64, pools: usize) -> (Box<[u16]>, Box<[u16]>) {
    let mut order: Box<[u16]> = (0..pools as u16).collect();
    let mut draw = Draw::new(stream(seed, Purpose::Order), 0);
    for left in (1..pools).rev() {
        order.swap(left, draw.below(left as u32 + 1) as usize);
    }
    let mut place = vec![0; pools].into_boxed_slice();
    for (at, &pool) in order.iter().enumerate() {
        place[pool as usize] = at as u16;
    }
    (order, place)
}

/// Where a thief is: the rank of the check under way, and when that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Position {
    pub(in crate::engine) rank: u16,
    pub(in crate::engine) end_ps: u64,
}

impl<N: Copy + Default> Walks<N> {
    /// A ring for so many pools and workers.
    pub(in crate::engine) fn new(pools: usize, workers: usize, check_ps: u64) -> Walks<N> {
        let (check_ps, bins_log2) =
            (check_ps.max(1), (BitSet::CAPACITY_MAX / pools.max(1)).clamp(1, BINS_MAX).ilog2());
        let bins = 1 << bins_log2;
        let nobody = Thief {
            base_ps: 0,
            frac_ps: 0,
            bin: NOBODY,
            first: 0,
            end: 0,
            then: 0,
            next: NOBODY,
            note: N::default(),
        };
        Walks {
            check_ps,
            rank: vec![0; 2 * pools + 1].into_boxed_slice(),
            place: Vec::with_capacity(2 * pools),
            held: 0,
            stealable: BitSet::new(pools),
            thieves: vec![nobody; workers].into_boxed_slice(),
            bins_log2,
            bins_per_ps: ((bins as u64) << BINS_SHIFT) / check_ps,
            heads: vec![NOBODY; pools * bins].into_boxed_slice(),
            taken: BitSet::new(pools * bins),
            slot: 0,
            slot_ps: 0,
        }
    }

    /// Other pools are held now. The ring must be empty; thieves are to join anew.
    pub(in crate::engine) fn rebuild(
        &mut self,
        now_ps: u64,
        is_held: impl Fn(usize) -> bool,
        has_tasks: impl Fn(usize) -> bool,
    ) {
        debug_assert!(self.taken.len() == 0);
        let pools = self.rank.len() / 2;
        self.place.clear();
        self.stealable = BitSet::new(pools);
        for place in 0..2 * pools {
            self.rank[place] = self.place.len() as u16;
            if is_held(place % pools) {
                if place < pools && has_tasks(place) {
                    self.stealable.insert(self.place.len());
                }
                self.place.push(place as u16);
            }
        }
        self.rank[2 * pools] = self.place.len() as u16;
        self.held = (self.place.len() / 2) as u16;
        let slots = now_ps / self.check_ps;
        self.slot = (slots % u64::from(self.held.max(1))) as u16;
        self.slot_ps = slots * self.check_ps;
    }

    /// The host's notes about `worker`.
    #[inline(always)]
    pub(in crate::engine) fn note(&self, worker: u16) -> &N {
        &self.thieves[worker as usize].note
    }

    /// See [`Walks::note`].
    #[inline(always)]
    pub(in crate::engine) fn note_mut(&mut self, worker: u16) -> &mut N {
        &mut self.thieves[worker as usize].note
    }

    /// Is `worker` in the ring?
    #[inline(always)]
    pub(in crate::engine) fn has(&self, worker: u16) -> bool {
        self.thieves[worker as usize].bin != NOBODY
    }

    /// When the walk of `worker` ends, or is interrupted because the next pool is its own.
    #[inline(always)]
    pub(in crate::engine) fn end_ps(&self, worker: u16) -> u64 {
        let thief = &self.thieves[worker as usize];
        thief.base_ps.wrapping_add(u64::from(thief.end - 1) * self.check_ps)
    }

    /// Held pools before `place`.
    #[inline(always)]
    pub(in crate::engine) fn rank(&self, place: u16) -> u16 {
        self.rank[place as usize]
    }

    /// The place of the held pool of `rank`; `None` past the last.
    #[inline(always)]
    pub(in crate::engine) fn place(&self, rank: u16) -> Option<u16> {
        self.place.get(rank as usize).copied()
    }

    /// How many pools are held, and whether any has tasks to steal.
    #[inline(always)]
    pub(in crate::engine) fn pools(&self) -> (u16, bool) {
        (self.held, self.stealable.len() > 0)
    }

    /// Has the pool of `rank` tasks to steal?
    #[inline(always)]
    pub(in crate::engine) fn is_stealable(&self, rank: u16) -> bool {
        self.stealable.contains(self.wrapped(rank) as usize)
    }

    #[inline(always)]
    fn wrapped(&self, rank: u16) -> u16 {
        if rank >= self.held { rank - self.held } else { rank }
    }

    /// The first rank from `first` on that is `wrapped` modulo the held pools.
    #[inline(always)]
    fn unwrapped(&self, wrapped: u16, first: u16) -> u16 {
        let once = if wrapped < first { wrapped + self.held } else { wrapped };
        if once < first { once + self.held } else { once }
    }

    /// `from - back` modulo the held pools; both are below that.
    #[inline(always)]
    fn minus(&self, from: u16, back: u16) -> u16 {
        if from >= back { from - back } else { from + self.held - back }
    }

    /// Moves the slot up to `now_ps`; returns the time since it began.
    #[inline(always)]
    fn advance(&mut self, now_ps: u64) -> u64 {
        let mut ahead_ps = now_ps - self.slot_ps;
        if ahead_ps >= self.check_ps {
            if ahead_ps < 4 * self.check_ps {
                while ahead_ps >= self.check_ps {
                    ahead_ps -= self.check_ps;
                    self.slot = if self.slot + 1 == self.held { 0 } else { self.slot + 1 };
                }
            } else {
                let slots = ahead_ps / self.check_ps;
                ahead_ps -= slots * self.check_ps;
                self.slot = ((u64::from(self.slot) + slots) % u64::from(self.held)) as u16;
            }
            self.slot_ps = now_ps - ahead_ps;
        }
        ahead_ps
    }

    /// `worker` begins a check of `first` now, and goes on with the ranks before the end; then with those between
    /// its own pool, which is at that end, and the second end if that is not 0. Returns when its alarm is.
    #[inline(always)]
    pub(in crate::engine) fn join(&mut self, worker: u16, now_ps: u64, first: u16, ends: (u16, u16)) -> u64 {
        self.enter(worker, now_ps, first, ends);
        self.alarm_ps(&self.thieves[worker as usize], first)
    }

    /// As [`Walks::join`], for callers that keep alarms themselves.
    #[inline(always)]
    pub(in crate::engine) fn enter(&mut self, worker: u16, now_ps: u64, first: u16, ends: (u16, u16)) {
        let frac_ps = self.advance(now_ps);
        // The check ends one slot later.
        let slot = if self.slot + 1 == self.held { 0 } else { self.slot + 1 };
        self.insert(worker, now_ps + self.check_ps, slot, frac_ps, first, ends);
    }

    /// `worker` has left at its own pool, which it passes over without a check, and joins again. Returns the rank
    /// that it checks now, and the end of its walk; `None` if that is over.
    #[inline(always)]
    pub(in crate::engine) fn pass_own(&mut self, worker: u16, now_ps: u64) -> Option<(u16, u16)> {
        let Thief { end, then, .. } = self.thieves[worker as usize];
        if then == 0 {
            return None;
        }
        self.enter(worker, now_ps, end + 1, (then, 0));
        Some((end + 1, then))
    }

    /// As [`Walks::pass_own`]. Returns when its alarm is.
    pub(in crate::engine) fn rejoin_behind_own(&mut self, worker: u16, now_ps: u64) -> Option<u64> {
        let (first, _) = self.pass_own(worker, now_ps)?;
        Some(self.alarm_ps(&self.thieves[worker as usize], first))
    }

    /// As [`Walks::join`], in the middle of the check.
    pub(in crate::engine) fn rejoin(
        &mut self,
        worker: u16,
        now_ps: u64,
        at: Position,
        ends: (u16, u16),
    ) -> u64 {
        self.advance(now_ps);
        let ahead_ps = at.end_ps - self.slot_ps;
        let slots = ahead_ps / self.check_ps % u64::from(self.held);
        let slot = self.wrapped(self.slot + slots as u16);
        self.insert(worker, at.end_ps, slot, ahead_ps % self.check_ps, at.rank, ends);
        self.alarm_ps(&self.thieves[worker as usize], at.rank)
    }

    #[inline(always)]
    fn insert(
        &mut self,
        worker: u16,
        end_ps: u64,
        slot: u16,
        frac_ps: u64,
        first: u16,
        (end, then): (u16, u16),
    ) {
        let bucket = self.minus(slot, self.wrapped(first));
        let bin = self.bin(bucket, frac_ps);
        let next = std::mem::replace(&mut self.heads[bin as usize], worker);
        if next == NOBODY {
            self.taken.insert(bin as usize);
        }
        let base_ps = end_ps.wrapping_sub(u64::from(first) * self.check_ps);
        let thief = &mut self.thieves[worker as usize];
        *thief = Thief { base_ps, frac_ps, bin, first, end, then, next, note: thief.note };
    }

    /// When `thief` has its alarm, of its checks from `rank` on.
    #[inline(always)]
    fn alarm_ps(&self, thief: &Thief<N>, rank: u16) -> u64 {
        let alarm = self.stealable_from(rank, thief.end).unwrap_or(thief.end - 1);
        thief.base_ps.wrapping_add(u64::from(alarm) * self.check_ps)
    }

    /// The first rank in `from .. end` with tasks to steal.
    #[inline(always)]
    fn stealable_from(&self, from: u16, end: u16) -> Option<u16> {
        if self.stealable.len() == 0 {
            return None;
        }
        Some(from + self.to_stealable(from)?).filter(|&found| found < end)
    }

    /// The check under way of `worker`, where workers below `acting` are through with this moment.
    #[inline(always)]
    pub(in crate::engine) fn position(&mut self, worker: u16, now_ps: u64, acting: u32) -> Position {
        let now_frac_ps = self.advance(now_ps);
        let thief = self.thieves[worker as usize];
        let is_over = (thief.frac_ps, u32::from(worker)) < (now_frac_ps, acting);
        let slot = self.wrapped(self.slot + u16::from(is_over));
        let wrapped = self.minus(slot, self.bucket(thief.bin));
        let rank = self.unwrapped(wrapped, thief.first);
        // One that has joined at this very moment checks, if anything, as if it were one check earlier.
        let rank = if rank >= thief.end { thief.first } else { rank };
        Position { rank, end_ps: thief.base_ps.wrapping_add(u64::from(rank) * self.check_ps) }
    }

    /// The rank of the check of `worker` that ends now.
    #[inline(always)]
    pub(in crate::engine) fn rank_checked(&mut self, worker: u16, now_ps: u64, acting: u32) -> u16 {
        let thief = &self.thieves[worker as usize];
        let last = thief.end - 1;
        // Most alarms go at the end of a walk.
        if thief.base_ps.wrapping_add(u64::from(last) * self.check_ps) == now_ps {
            return last;
        }
        self.position(worker, now_ps, acting).rank
    }

    /// The alarm of `worker` after its check of `rank`; `None` if that was the last before something else happens.
    #[inline(always)]
    pub(in crate::engine) fn next_alarm(&self, worker: u16, rank: u16) -> Option<u64> {
        let thief = &self.thieves[worker as usize];
        (rank + 1 < thief.end).then(|| self.alarm_ps(thief, rank + 1))
    }

    /// The pool of `rank` has no tasks to steal any more.
    #[inline(always)]
    pub(in crate::engine) fn clear_stealable(&mut self, rank: u16) {
        self.stealable.remove(rank as usize);
    }

    /// The pool of `rank` has tasks to steal now.
    #[inline(always)]
    pub(in crate::engine) fn add_stealable(&mut self, rank: u16) {
        self.stealable.insert(rank as usize);
    }

    /// As [`Walks::add_stealable`]. Returns the thief that comes to it first, and when.
    #[inline(always)]
    pub(in crate::engine) fn set_stealable(
        &mut self,
        rank: u16,
        now_ps: u64,
        acting: u32,
    ) -> Option<(u16, u64)> {
        self.add_stealable(rank);
        let (worker, at_ps) = self.first_to(rank, now_ps, acting)?;
        (at_ps <= self.end_ps(worker)).then_some((worker, at_ps))
    }

    /// The thief that comes to the pool of `rank` first if no walk ends before, and when.
    #[inline(always)]
    pub(in crate::engine) fn first_to(&mut self, rank: u16, now_ps: u64, acting: u32) -> Option<(u16, u64)> {
        let frac_ps = self.advance(now_ps);
        let lap_ps = u64::from(self.held) * self.check_ps;
        let mut from = (self.minus(self.slot, rank), frac_ps, acting);
        let mut passed = NOBODY;
        loop {
            let worker = self.behind(from)?;
            let thief = &self.thieves[worker as usize];
            let at = self.unwrapped(rank, thief.first);
            let at_ps = thief.base_ps.wrapping_add(u64::from(at) * self.check_ps);
            let ahead_ps = at_ps.wrapping_sub(now_ps) as i64;
            if ahead_ps < 0 || ahead_ps == 0 && u32::from(worker) < acting {
                // It has been there, and so have all others.
                return Some((worker, at_ps.wrapping_add(lap_ps)));
            }
            if (ahead_ps as u64) < lap_ps || worker == passed {
                return Some((worker, at_ps));
            }
            // It has just joined at the pool after this one: the next thief comes here first.
            passed = if passed == NOBODY { worker } else { passed };
            from = (self.bucket(thief.bin), thief.frac_ps, u32::from(worker) + 1);
        }
    }

    /// So many bins take at least `span_ps`.
    pub(in crate::engine) fn bins_of(&self, span_ps: u64) -> u64 {
        let bins = u128::from(span_ps) << self.bins_log2;
        let check_ps = u128::from(self.check_ps);
        // Where a bin begins is rounded; over whole checks that comes to nothing.
        let rounding = u128::from(!u128::from(span_ps).is_multiple_of(check_ps));
        u64::try_from(bins.div_ceil(check_ps) + rounding).unwrap_or(u64::MAX)
    }

    /// As [`Walks::bins_of`], for less than a check.
    #[inline(always)]
    pub(in crate::engine) fn bins_of_part(&self, span_ps: u64) -> u64 {
        // One may have begun already, and that may be rounded down where the end is not.
        self.bins_within(span_ps) + 2
    }

    /// May any thief come to the pool of `rank` before so many bins have passed by? Of those that are there now.
    #[inline(always)]
    pub(in crate::engine) fn may_come(&mut self, rank: u16, now_ps: u64, bins: u64) -> bool {
        let frac_ps = self.advance(now_ps);
        let from = self.bin(self.minus(self.slot, rank), frac_ps) as usize;
        let ahead = match self.taken.first_from(from) {
            Some(found) => found - from,
            None => match self.taken.first_from(0) {
                Some(found) => (usize::from(self.held) << self.bins_log2) - from + found,
                None => return false,
            },
        };
        ahead as u64 <= bins
    }

    /// How far it is to the first pool with tasks, from `rank` on.
    #[inline(always)]
    pub(in crate::engine) fn to_stealable(&self, rank: u16) -> Option<u16> {
        let wrapped = self.wrapped(rank);
        match self.stealable.first_from(wrapped as usize) {
            Some(found) => Some(found as u16 - wrapped),
            None => self.stealable.first_from(0).map(|found| self.held - wrapped + found as u16),
        }
    }

    /// `worker` leaves. Thieves that have to check more than before are handed to `alarm`, with the time of the
    /// first check that may find something.
    #[inline(always)]
    pub(in crate::engine) fn leave(
        &mut self,
        worker: u16,
        now_ps: u64,
        acting: u32,
        mut alarm: impl FnMut(u16, u64),
    ) {
        let gone = self.thieves[worker as usize];
        self.remove(worker);
        if self.stealable.len() == 0 || self.taken.len() == 0 {
            return;
        }
        let mut from = (self.bucket(gone.bin), gone.frac_ps, u32::from(worker) + 1);
        let mut passed = NOBODY;
        while let Some(heir) = self.behind(from) {
            let at = self.position(heir, now_ps, acting);
            let thief = &self.thieves[heir as usize];
            if let Some(found) = self.stealable_from(at.rank, thief.end) {
                alarm(heir, thief.base_ps.wrapping_add(u64::from(found) * self.check_ps));
            }
            // In its first check it may have begun right behind a pool that `worker` was on its way to.
            if at.rank != thief.first || heir == passed {
                return;
            }
            passed = if passed == NOBODY { heir } else { passed };
            from = (self.bucket(thief.bin), thief.frac_ps, u32::from(heir) + 1);
        }
    }

    /// `worker` leaves; thieves that have to check more than before are not reported.
    #[inline(always)]
    pub(in crate::engine) fn remove(&mut self, worker: u16) {
        let thief = &mut self.thieves[worker as usize];
        let next = thief.next;
        let bin = std::mem::replace(&mut thief.bin, NOBODY);
        let mut at = self.heads[bin as usize];
        if at == worker {
            self.heads[bin as usize] = next;
            if next == NOBODY {
                self.taken.remove(bin as usize);
            }
            return;
        }
        while self.thieves[at as usize].next != worker {
            at = self.thieves[at as usize].next;
        }
        self.thieves[at as usize].next = next;
    }

    /// Of a bucket, the bin of a time within it. It only has to grow with the time.
    #[inline(always)]
    fn bin(&self, bucket: u16, frac_ps: u64) -> u16 {
        (bucket << self.bins_log2) + self.bins_within(frac_ps) as u16
    }

    #[inline(always)]
    fn bins_within(&self, span_ps: u64) -> u64 {
        ((u128::from(span_ps) * u128::from(self.bins_per_ps)) >> BINS_SHIFT) as u64
    }

    #[inline(always)]
    fn bucket(&self, bin: u16) -> u16 {
        bin >> self.bins_log2
    }

    /// The first thief from (bucket, frac, worker) on, around the ring; the last to be found is the one before.
    #[inline(always)]
    fn behind(&self, (bucket, frac_ps, worker): (u16, u64, u32)) -> Option<u16> {
        let bin = self.bin(bucket, frac_ps) as usize;
        let mut next = self.taken.first_from(bin);
        if next == Some(bin) {
            let from = |thief: &(u64, u16)| (thief.0, u32::from(thief.1)) >= (frac_ps, worker);
            if let Some(found) = self.least_of(bin as u16, from) {
                return Some(found);
            }
            next = self.taken.first_from(bin + 1);
        }
        self.least_of(next.or_else(|| self.taken.first_from(0))? as u16, |_| true)
    }

    /// The first thief of a bin among those that `counts`.
    #[inline(always)]
    fn least_of(&self, bin: u16, counts: impl Fn(&(u64, u16)) -> bool) -> Option<u16> {
        let mut least = None;
        let mut at = self.heads[bin as usize];
        while at != NOBODY {
            let thief = &self.thieves[at as usize];
            let here = (thief.frac_ps, at);
            if counts(&here) && least.is_none_or(|least| here < least) {
                least = Some(here);
            }
            at = thief.next;
        }
        least.map(|(_, worker)| worker)
    }
}
