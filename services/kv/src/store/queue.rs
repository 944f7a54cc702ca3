//! The order in which a shard evicts: SIEVE.
//! Shards call it when an item comes and goes, and when memory is needed.
//!
//! Items stand in a queue in the order in which they came. A hand walks from the oldest towards the newest, and from there to the oldest again:
//! it spares an item that was asked for since it last came by, once, and evicts one that was not. A hit sets one bit and moves nothing,
//! so a get writes no shared list; and on the skewed popularity of caches it misses less than LRU (Zhang et al., NSDI 2024).
//! Scans set no bit: reading everything once makes nothing popular.
//!
//! ```text
//!   oldest ── older ◀── entry ──▶ newer ── newest
//!                         ▲ hand walks this way ──▶
//! ```

use super::slab::{Slab, Slot};

/// The ends of the queue and its hand. The links are in the entries.
#[derive(Debug)]
pub(super) struct Queue {
    oldest: Slot,
    newest: Slot,
    /// The next one to look at; none for the oldest.
    hand: Slot,
}

impl Queue {
    pub(super) fn new() -> Queue {
        Queue { oldest: Slot::NONE, newest: Slot::NONE, hand: Slot::NONE }
    }

    /// Puts an entry behind the newest.
    pub(super) fn push(&mut self, slab: &mut Slab, slot: Slot) {
        let before = self.newest;
        let entry = slab.get_mut(slot);
        (entry.older, entry.newer) = (before, Slot::NONE);
        if before == Slot::NONE {
            self.oldest = slot;
        } else {
            slab.get_mut(before).newer = slot;
        }
        self.newest = slot;
    }

    /// Takes an entry out of the queue.
    pub(super) fn unlink(&mut self, slab: &mut Slab, slot: Slot) {
        let entry = slab.get(slot);
        let (older, newer) = (entry.older, entry.newer);
        if older == Slot::NONE {
            self.oldest = newer;
        } else {
            slab.get_mut(older).newer = newer;
        }
        if newer == Slot::NONE {
            self.newest = older;
        } else {
            slab.get_mut(newer).older = older;
        }
        if self.hand == slot {
            self.hand = newer;
        }
    }

    /// The entry under the hand, which walks on. None if the queue is empty.
    pub(super) fn step(&mut self, slab: &Slab) -> Option<Slot> {
        let slot = if self.hand == Slot::NONE { self.oldest } else { self.hand };
        if slot == Slot::NONE {
            return None;
        }
        self.hand = slab.get(slot).newer;
        Some(slot)
    }
}
