//! What a dispatch policy sees of the workers: counts in arrays, as old as the last look at the boards.

use std::cell::Cell;

use caudal_policy::dispatch::{Pools, Shortest};
use caudal_policy::{Picos, PoolId};

/// Counts of every worker, and which are the shortest. Workers of a multiple of [`WIDTH`]; those that do not exist are never
/// the shortest.
pub(crate) struct View {
    workers: u32,
    unfinished: Box<[u32]>,
    quanta: Box<[u64]>,
    /// Placed here so far; wraps.
    placed: Box<[u64]>,
    /// The fewest unfinished requests, and which workers have so few, a bit each; `None`: has to be found.
    shortest: Cell<Option<Shortest>>,
    masks: Box<[Cell<u64>]>,
}

/// Counts that are looked at in one step.
const WIDTH: usize = 16;

impl View {
    pub(crate) fn new(workers: usize) -> View {
        let width = workers.next_multiple_of(WIDTH);
        let mut unfinished = vec![u32::MAX; width].into_boxed_slice();
        unfinished[..workers].fill(0);
        View {
            workers: workers as u32,
            unfinished,
            quanta: vec![0; width].into(),
            placed: vec![0; width].into(),
            shortest: Cell::new(None),
            masks: vec![Cell::new(0); workers.div_ceil(64)].into(),
        }
    }

    /// So many requests have gone from `worker` so far, and its present ones have received so many quanta.
    #[inline(always)]
    pub(crate) fn update(&mut self, worker: usize, gone: u64, quanta: u64) {
        // Counters of a board are read one after the other: for a moment more may seem gone than there were.
        let left = self.placed[worker].wrapping_sub(gone) as i64;
        self.unfinished[worker] = left.clamp(0, i64::from(u32::MAX - 1)) as u32;
        self.quanta[worker] = quanta;
        self.shortest.set(None);
    }

    /// A request was placed at `worker`.
    #[inline(always)]
    pub(crate) fn placed(&mut self, worker: usize) {
        self.placed[worker] = self.placed[worker].wrapping_add(1);
        self.unfinished[worker] += 1;
        self.shortest.set(None);
    }

    #[inline(always)]
    fn find_shortest(&self) -> Shortest {
        if let Some(known) = self.shortest.get() {
            return known;
        }
        let least = self.unfinished.iter().copied().fold(u32::MAX, u32::min);
        let mut pools = 0;
        for (mask, counts) in self.masks.iter().zip(self.unfinished.chunks(64)) {
            let mut bits = 0;
            for (chunk, counts) in counts.as_chunks::<WIDTH>().0.iter().enumerate() {
                bits |= u64::from(equal_to(counts, least)) << (chunk * WIDTH);
            }
            mask.set(bits);
            pools += bits.count_ones();
        }
        let found = Shortest { unfinished: least, pools };
        self.shortest.set(Some(found));
        found
    }
}

/// Which of `counts` are `value`, a bit each.
#[inline(always)]
fn equal_to(counts: &[u32; WIDTH], value: u32) -> u16 {
    let mut bits = 0;
    for (i, &count) in counts.iter().enumerate() {
        bits |= u16::from(count == value) << i;
    }
    bits
}

impl Pools for View {
    #[inline(always)]
    fn open(&self) -> u32 {
        self.workers
    }

    #[inline(always)]
    fn nth(&self, i: u32) -> PoolId {
        PoolId(i)
    }

    #[inline(always)]
    fn unfinished(&self, pool: PoolId) -> u32 {
        self.unfinished[pool.index()]
    }

    #[inline(always)]
    fn shortest(&self) -> Shortest {
        self.find_shortest()
    }

    #[inline(always)]
    fn nth_shortest(&self, i: u32) -> PoolId {
        self.find_shortest();
        let mut skip = i;
        for (word, mask) in self.masks.iter().enumerate() {
            let mut bits = mask.get();
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
        self.find_shortest();
        let next = pool.0 + 1;
        let first = (next / 64) as usize;
        for (word, mask) in self.masks.iter().enumerate().skip(first) {
            let seen = if word == first { u64::MAX << (next % 64) } else { u64::MAX };
            let bits = mask.get() & seen;
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

    fn unfinished_work(&mut self, _pool: PoolId) -> Picos {
        unreachable!("clairvoyant policies are refused when the file is read")
    }

    fn arriving_work(&self) -> Picos {
        unreachable!("clairvoyant policies are refused when the file is read")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_shortest_are_those_that_a_plain_search_finds(counts in prop::collection::vec(0_u32..4, 1..200)) {
            let mut view = View::new(counts.len());
            for (worker, &count) in counts.iter().enumerate() {
                (0..count).for_each(|_| view.placed(worker));
            }
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
        let mut view = View::new(3);
        (0..5).for_each(|_| view.placed(1));
        view.update(1, 3, 7);
        assert_eq!((view.unfinished(PoolId(1)), view.serviced_quanta(PoolId(1))), (2, 7));
        view.update(1, 6, 0);
        assert_eq!(view.unfinished(PoolId(1)), 0);
        view.update(2, u64::MAX, 0);
        assert_eq!(view.unfinished(PoolId(2)), 1, "one was received from another");
    }
}
