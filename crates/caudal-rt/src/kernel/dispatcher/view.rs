//! Workers as a dispatch policy sees them: counts as old as the dispatcher's last reading of the boards, corrected by what it has placed
//! since. The dispatcher owns the view, and passes it to its policy with every request.

use caudal_policy::dispatch::{Counts, Places, Shortest};
use caudal_policy::{Picos, PoolId};

/// Counts of every worker, and the workers of each count.
///
/// ```text
///  counts   3 0 1 0 …      a number a worker
///  level 0  0 1 0 1 …      a bit a worker: those with 0 unfinished requests, 64 in a word
///  level 1  0 0 1 0 …
///    …
///  filled   1 1 0 1 …      a bit a level: is any worker there?
/// ```
///
/// To place a request moves one bit, and the shortest are the first filled level. (A search of the counts by vector
/// instructions seems cheaper and is not: it would have to wait until the count that was written last is in the cache, behind the
/// lines of inboxes that were written before it.) Workers with [`TOP`] requests or more share the last level.
pub(crate) struct WorkersView {
    workers: u32,
    words: usize,
    counts: Box<[u32]>,
    quanta: Box<[u64]>,
    /// Placed here so far; wraps.
    placed: Box<[u64]>,
    /// Level by level, `words` each.
    levels: Box<[u64]>,
    /// How many workers are at each level.
    sizes: [u32; LEVELS],
    filled: u64,
    /// The shortest workers of the last level, where no other level is filled.
    top: Box<[u64]>,
}

const LEVELS: usize = 64;
/// From so many unfinished requests on, levels do not tell workers apart.
const TOP: u32 = LEVELS as u32 - 1;

impl WorkersView {
    pub(crate) fn new(workers: usize) -> WorkersView {
        let words = workers.div_ceil(64);
        let mut view = WorkersView {
            workers: workers as u32,
            words,
            counts: vec![0; workers].into(),
            quanta: vec![0; workers].into(),
            placed: vec![0; workers].into(),
            levels: vec![0; words * LEVELS].into(),
            sizes: [0; LEVELS],
            filled: 0,
            top: vec![0; words].into(),
        };
        (0..workers).for_each(|worker| view.join(worker, 0));
        view
    }

    /// So many requests have gone from `worker` so far, and its present ones have received so many quanta.
    #[inline(always)]
    pub(crate) fn update(&mut self, worker: usize, gone: u64, quanta: u64) {
        // Counters of a board are read one after the other: for a moment more may seem gone than there were.
        let left = self.placed[worker].wrapping_sub(gone) as i64;
        let count = left.clamp(0, i64::from(u32::MAX - 1)) as u32;
        self.quanta[worker] = quanta;
        if count != self.counts[worker] {
            self.move_to(worker, count);
        }
    }

    /// Numbers of `worker` that a policy sees: unfinished requests, and quanta that they have received.
    pub(crate) fn counts(&self, worker: usize) -> (u32, u64) {
        (self.counts[worker], self.quanta[worker])
    }

    #[cfg(all(test, loom))]
    pub(crate) fn placed_at(&self, worker: usize) -> u64 {
        self.placed[worker]
    }

    /// A request was placed at `worker`.
    #[inline(always)]
    pub(crate) fn placed(&mut self, worker: usize) {
        self.placed[worker] = self.placed[worker].wrapping_add(1);
        self.move_to(worker, self.counts[worker] + 1);
    }

    #[inline(always)]
    fn move_to(&mut self, worker: usize, count: u32) {
        let (from, to) = (self.counts[worker].min(TOP) as usize, count.min(TOP) as usize);
        self.counts[worker] = count;
        if from == to {
            return;
        }
        self.levels[from * self.words + worker / 64] &= !(1 << (worker % 64));
        self.sizes[from] -= 1;
        self.filled &= !(u64::from(self.sizes[from] == 0) << from);
        self.join(worker, to);
    }

    #[inline(always)]
    fn join(&mut self, worker: usize, level: usize) {
        self.levels[level * self.words + worker / 64] |= 1 << (worker % 64);
        self.sizes[level] += 1;
        self.filled |= 1 << level;
    }

    /// The workers that are the shortest, a bit each.
    #[inline(always)]
    fn shortest_mask(&self) -> &[u64] {
        let level = self.filled.trailing_zeros() as usize;
        if level == TOP as usize {
            return &self.top;
        }
        &self.levels[level * self.words..][..self.words]
    }

    /// Every worker is at the last level: which have the fewest?
    #[cold]
    fn find_in_top(&mut self) -> Shortest {
        let least = self.counts.iter().copied().fold(u32::MAX, u32::min);
        self.top.fill(0);
        let mut pools = 0;
        for (worker, _) in self.counts.iter().enumerate().filter(|&(_, &count)| count == least) {
            self.top[worker / 64] |= 1 << (worker % 64);
            pools += 1;
        }
        Shortest { unfinished: least, pools }
    }

    /// To be called after counts have changed, before a policy reads them.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        if self.filled == 1 << TOP {
            self.find_in_top();
        }
    }
}

impl Places for WorkersView {
    #[inline(always)]
    fn open(&self) -> u32 {
        self.workers
    }

    #[inline(always)]
    fn nth(&self, i: u32) -> PoolId {
        PoolId(i)
    }
}

impl Counts for WorkersView {
    #[inline(always)]
    fn unfinished(&self, pool: PoolId) -> u32 {
        self.counts[pool.index()]
    }

    #[inline(always)]
    fn shortest(&self) -> Shortest {
        let level = self.filled.trailing_zeros();
        if level < TOP {
            return Shortest { unfinished: level, pools: self.sizes[level as usize] };
        }
        let first = self.nth_shortest(0);
        let pools = self.top.iter().map(|word| word.count_ones()).sum();
        Shortest { unfinished: self.counts[first.index()], pools }
    }

    #[inline(always)]
    fn nth_shortest(&self, i: u32) -> PoolId {
        let mut skip = i;
        for (word, &mask) in self.shortest_mask().iter().enumerate() {
            let mut bits = mask;
            if skip >= bits.count_ones() {
                skip -= bits.count_ones();
                continue;
            }
            for _ in 0..skip {
                bits &= bits - 1;
            }
            return PoolId(word as u32 * 64 + bits.trailing_zeros());
        }
        unreachable!("there are fewer shortest pools than that")
    }

    #[inline(always)]
    fn shortest_after(&self, pool: PoolId) -> Option<PoolId> {
        let next = pool.0 + 1;
        let first = (next / 64) as usize;
        for (word, &mask) in self.shortest_mask().iter().enumerate().skip(first) {
            let seen = if word == first { u64::MAX << (next % 64) } else { u64::MAX };
            let bits = mask & seen;
            if bits != 0 {
                return Some(PoolId(word as u32 * 64 + bits.trailing_zeros()));
            }
        }
        None
    }

    #[inline(always)]
    fn serviced_quanta(&mut self, pool: PoolId) -> u64 {
        self.quanta[pool.index()]
    }

    // `Counts` has the questions of clairvoyant policies, too, and one `Dispatch` is written for all of them: types can not tell a host which
    // policies ask. So such a policy is refused when a runtime's file is read, and again when it starts.
    fn unfinished_work(&mut self, _pool: PoolId) -> Picos {
        unreachable!("clairvoyant policies are refused when the file is read")
    }

    fn arriving_work(&self) -> Picos {
        unreachable!("clairvoyant policies are refused when the file is read")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_shortest_are_those_that_a_plain_search_finds(
            low in 0_u32..80,
            above in prop::collection::vec(0_u32..4, 1..200),
        ) {
            let counts: Vec<u32> = above.iter().map(|more| low + more).collect();
            let mut view = WorkersView::new(counts.len());
            for (worker, &count) in counts.iter().enumerate() {
                (0..count).for_each(|_| view.placed(worker));
            }
            view.settle();
            let least = *counts.iter().min().unwrap();
            let plain: Vec<u32> =
                (0..counts.len() as u32).filter(|&worker| counts[worker as usize] == least).collect();
            let shortest = view.shortest();
            prop_assert_eq!((shortest.unfinished, shortest.pools as usize), (least, plain.len()));
            let nth: Vec<u32> = (0..shortest.pools).map(|i| view.nth_shortest(i).0).collect();
            prop_assert_eq!(&nth, &plain);
            let mut walked = vec![view.nth_shortest(0).0];
            while let Some(next) = view.shortest_after(PoolId(*walked.last().unwrap())) {
                walked.push(next.0);
            }
            prop_assert_eq!(&walked, &plain);
        }
    }

    #[test]
    fn counters_that_wrap_and_run_ahead_are_harmless() {
        let mut view = WorkersView::new(3);
        (0..5).for_each(|_| view.placed(1));
        view.update(1, 3, 7);
        assert_eq!((view.unfinished(PoolId(1)), view.serviced_quanta(PoolId(1))), (2, 7));
        view.update(1, 6, 0);
        assert_eq!(view.unfinished(PoolId(1)), 0);
        view.update(2, u64::MAX, 0);
        assert_eq!(view.unfinished(PoolId(2)), 1, "one was received from another");
    }
}
