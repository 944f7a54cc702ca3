//! The event queue of workers: a winner tree (tournament) of one key for each worker, see [`super::keys`]. Every loop sets a worker's key
//! when its next event changes, and asks for the least. A data structure without other state.
//!
//! ```text
//!                 keys[1]                       the least of all
//!            keys[2]   keys[3]                  a leaf's key changes: climb while the winner changes
//!          k4   k5   k6   k7                    leaves: workers 0 .. 3
//! ```

use super::bits::BitSet;

/// No event.
pub(crate) const NEVER: u64 = u64::MAX;

/// The lesser of two keys. Which one that is, is a toss: never a branch.
#[inline(always)]
fn least(a: u64, b: u64) -> u64 {
    std::hint::select_unpredictable(a < b, a, b)
}

pub(crate) struct WinnerTree {
    keys: Box<[u64]>,
    leaves: usize,
    /// log2 of `leaves`.
    levels: u32,
}

impl WinnerTree {
    pub(crate) fn new(workers: usize) -> WinnerTree {
        let leaves = workers.next_power_of_two().max(2);
        assert!(leaves <= BitSet::CAPACITY_MAX, "{workers} workers in a tree");
        WinnerTree {
            keys: vec![NEVER; 2 * leaves].into_boxed_slice(),
            leaves,
            levels: leaves.trailing_zeros(),
        }
    }

    /// The least key.
    #[inline]
    pub(crate) fn min(&self) -> u64 {
        self.keys[1]
    }

    /// The key of `worker`.
    #[inline]
    pub(crate) fn get(&self, worker: usize) -> u64 {
        self.keys[self.leaves + worker]
    }

    /// Does another than `worker`, which has the least key, have one up to `latest`?
    #[inline(always)]
    pub(in crate::engine) fn has_rival(&self, worker: usize, latest: u64) -> bool {
        let mut node = self.leaves + worker;
        let mut least_other = NEVER;
        while node > 1 {
            least_other = least(least_other, self.keys[node ^ 1]);
            node >>= 1;
        }
        least_other <= latest
    }

    /// [`WinnerTree::has_rival`] of a tree with `LEVELS` levels, or any number if that is 0.
    #[inline(always)]
    pub(in crate::engine) fn has_rival_in<const LEVELS: u32>(&self, worker: usize, latest: u64) -> bool {
        if LEVELS == 0 {
            return self.has_rival(worker, latest);
        }
        let keys = &self.keys[..2 << LEVELS];
        let mut at = (1 << LEVELS) + worker % (1 << LEVELS);
        let mut any = false;
        for _ in 0..LEVELS {
            any |= keys[at ^ 1] <= latest;
            at = (at >> 1) % (1 << LEVELS);
        }
        any
    }

    /// [`WinnerTree::set`] in a tree with `LEVELS` levels, or any number if that is 0.
    #[inline(always)]
    pub(in crate::engine) fn set_in<const LEVELS: u32>(&mut self, worker: usize, key: u64) {
        if LEVELS == 0 { self.set(worker, key) } else { self.unrolled::<LEVELS>().set(worker, key) }
    }

    /// log2 of the number of leaves.
    pub(in crate::engine) fn levels(&self) -> u32 {
        self.levels
    }

    /// The same tree for a loop that is compiled for `LEVELS` levels.
    pub(in crate::engine) fn unrolled<const LEVELS: u32>(&mut self) -> Unrolled<'_, LEVELS> {
        Unrolled(&mut self.keys[..2 << LEVELS])
    }

    /// Replaces the key of `worker`.
    ///
    /// It climbs to the root always. Most climbs in a large tree could end sooner, but to guess wrongly where
    /// costs more than ten levels, whose other halves are all loaded at once.
    // A function of its own, once: a call is nothing beside that.
    #[inline(never)]
    pub(crate) fn set(&mut self, worker: usize, key: u64) {
        match self.levels() {
            1 => self.unrolled::<1>().set(worker, key),
            2 => self.unrolled::<2>().set(worker, key),
            3 => self.unrolled::<3>().set(worker, key),
            4 => self.unrolled::<4>().set(worker, key),
            5 => self.unrolled::<5>().set(worker, key),
            6 => self.unrolled::<6>().set(worker, key),
            7 => self.unrolled::<7>().set(worker, key),
            8 => self.unrolled::<8>().set(worker, key),
            9 => self.unrolled::<9>().set(worker, key),
            10 => self.unrolled::<10>().set(worker, key),
            11 => self.unrolled::<11>().set(worker, key),
            12 => self.unrolled::<12>().set(worker, key),
            _ => unreachable!("no tree is that large"),
        }
    }
}

/// The earliest event, as a loop over events needs it.
pub(in crate::engine) trait Earliest {
    /// The least key.
    fn min(&self) -> u64;
    /// Replaces the key of `worker`.
    fn set(&mut self, worker: usize, key: u64);
}

impl Earliest for &mut WinnerTree {
    #[inline(always)]
    fn min(&self) -> u64 {
        (**self).min()
    }

    #[inline(always)]
    fn set(&mut self, worker: usize, key: u64) {
        (**self).set(worker, key);
    }
}

/// A [`WinnerTree`] with 2^`LEVELS` leaves.
pub(in crate::engine) struct Unrolled<'a, const LEVELS: u32>(&'a mut [u64]);

impl<const LEVELS: u32> Earliest for Unrolled<'_, LEVELS> {
    #[inline(always)]
    fn min(&self) -> u64 {
        self.0[1]
    }

    #[inline(always)]
    fn set(&mut self, worker: usize, key: u64) {
        let keys = &mut self.0[..2 << LEVELS];
        let mut at = (1 << LEVELS) + worker % (1 << LEVELS);
        let mut winner = key;
        keys[at] = winner;
        for _ in 0..LEVELS {
            winner = least(winner, keys[at ^ 1]);
            // The remainder changes nothing but tells the compiler that no index is out of bounds.
            at = (at >> 1) % (1 << LEVELS);
            keys[at] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_key_wins_whatever_the_order_of_changes() {
        for workers in [1, 2, 3, 16, 33, 200] {
            let mut tree = WinnerTree::new(workers);
            let mut keys = vec![NEVER; workers];
            let mut state = 1_u64;
            for _ in 0..2_000 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let worker = (state >> 33) as usize % workers;
                let key = if state & 7 == 0 { NEVER } else { (state >> 50) << 8 | worker as u64 };
                keys[worker] = key;
                tree.set(worker, key);
                assert_eq!(tree.min(), *keys.iter().min().unwrap());
            }
        }
    }
}
