//! Stacks that are idle at another worker than the one that has mapped them, because a started request has moved.
//! Pools of stacks leave them here when they trim or end, and take their own back before they map more. The list is under a lock, which no
//! request waits for as long as its pool has a free stack.
//!
//! A slab is unmapped when all of its stacks are idle and in one place. So a worker leaves here the stacks that are not its own, pools take theirs
//! from here before they map more and when they trim, and a pool that ends leaves here the slabs that it could not unmap. Each pool that ends
//! unmaps the slabs whose stacks are complete by then. A slab stays mapped for ever if one of its stacks never comes back, because its coroutine
//! was given up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::CoroutineStack;
use super::slab::Slab;

/// A pool's slabs and its idle stacks.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) pool: usize,
    pub(super) slabs: Vec<Option<Slab>>,
    pub(super) free: Vec<CoroutineStack>,
}

/// Slabs and stacks of pools that have ended, and stacks that belong to them, or to pools that have not ended yet.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// How many there are, so that nobody takes the lock to find none.
    count: AtomicUsize,
    both: Mutex<(Vec<Left>, Vec<CoroutineStack>)>,
}

impl Strays {
    /// A stack has come home too late, or to the wrong place.
    pub(super) fn give(&self, stack: CoroutineStack) {
        let strays = &mut self.both.lock().unwrap_or_else(PoisonError::into_inner).1;
        strays.push(stack);
        self.count.store(strays.len(), Ordering::Relaxed);
    }

    /// Moves the strays of `pool` to the end of `free`.
    pub(super) fn take_home(&self, pool: usize, free: &mut Vec<CoroutineStack>) {
        if self.count.load(Ordering::Relaxed) != 0 {
            let strays = &mut self.both.lock().unwrap_or_else(PoisonError::into_inner).1;
            free.extend(strays.extract_if(.., |stack| stack.place().pool == pool));
            self.count.store(strays.len(), Ordering::Relaxed);
        }
    }

    /// A pool has ended. How many stacks were unmapped, its own and those of pools that have ended before.
    pub(super) fn leave(&self, left: Left) -> usize {
        let mut both = self.both.lock().unwrap_or_else(PoisonError::into_inner);
        let (pools, strays) = &mut *both;
        pools.push(left);
        let mut unmapped = 0;
        pools.retain_mut(|left| {
            left.free.extend(strays.extract_if(.., |stack| stack.place().pool == left.pool));
            unmapped += unmap_whole(&mut left.slabs, &mut left.free, 0);
            left.slabs.iter().any(Option::is_some)
        });
        self.count.store(strays.len(), Ordering::Relaxed);
        unmapped
    }
}

/// Unmaps the slabs of which all stacks are in `free`, none of them among the `keep` last; how many stacks went.
pub(super) fn unmap_whole(slabs: &mut [Option<Slab>], free: &mut Vec<CoroutineStack>, keep: usize) -> usize {
    let mut idle = vec![0; slabs.len()];
    free[..free.len() - keep].iter().for_each(|stack| idle[stack.place().slab] += 1);
    let whole = |place: usize| slabs[place].as_ref().is_some_and(|slab| slab.stacks() == idle[place]);
    let gone: Vec<bool> = (0..idle.len()).map(whole).collect();
    let before = free.len();
    free.retain(|stack| !gone[stack.place().slab]);
    for (slab, _) in slabs.iter_mut().zip(gone).filter(|(_, gone)| *gone) {
        let slab = slab.take().expect("counted above");
        // SAFETY: every stack of it was idle, and none is in `free` any more, where the only handles were.
        unsafe { slab.unmap() };
    }
    before - free.len()
}
