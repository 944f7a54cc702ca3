//! The event queue of workers: a winner tree (tournament) of one key a worker, see [`super::keys`].
//!
//! ```text
//!                 keys[1]                       the least of all
//!            keys[2]   keys[3]                  a leaf's key changes: climb while the winner changes
//!          k4   k5   k6   k7                    leaves: workers 0 .. 3
//! ```

/// No event.
pub(crate) const NEVER: u64 = u64::MAX;

/// Up to so many leaves, every climb goes to the root.
const LEAVES_SMALL: usize = 64;

pub(crate) struct WinnerTree {
    keys: Box<[u64]>,
    leaves: usize,
}

impl WinnerTree {
    pub(crate) fn new(workers: usize) -> WinnerTree {
        let leaves = workers.next_power_of_two().max(2);
        WinnerTree { keys: vec![NEVER; 2 * leaves].into_boxed_slice(), leaves }
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

    /// Replaces the key of `worker`.
    #[inline]
    pub(crate) fn set(&mut self, worker: usize, key: u64) {
        assert!(worker < self.leaves);
        let keys = &mut self.keys[..];
        debug_assert!(keys.len() == 2 * self.leaves);
        let mut at = self.leaves + worker;
        // SAFETY: `keys` has 2 * leaves entries and `at` starts below that: the worker is below `leaves`,
        // which was just asserted. It only shrinks, and `at ^ 1` stays below because the length is even.
        // This loop is the hottest of the engine; checked accesses make it half as fast again.
        unsafe {
            *keys.get_unchecked_mut(at) = key;
            while at > 1 {
                let winner = (*keys.get_unchecked(at)).min(*keys.get_unchecked(at ^ 1));
                at >>= 1;
                let place = keys.get_unchecked_mut(at);
                // In a small tree a climb to the root costs less than to guess wrongly where it may end.
                if LEAVES_SMALL < self.leaves && *place == winner {
                    return;
                }
                *place = winner;
            }
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
