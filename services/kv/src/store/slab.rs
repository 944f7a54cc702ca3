//! The entries of a shard, each in a slot that it keeps for as long as its item is stored.
//! Shards find entries by slot; scans and sweeps go through the slots in order.
//!
//! ```text
//!  chunks   [entry × 64] [entry × 64] …      a chunk never moves, so growing copies no entries
//!            0 … 63       64 … 127           the slot's number; a free slot's entry has no bytes and names the next free one
//! ```

use std::sync::Arc;

use super::expiry::Expiry;

/// Entries of a chunk: 3.5 KB, so that small shards stay small.
const CHUNK: usize = 64;

/// The number of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    /// No slot.
    pub(super) const NONE: Slot = Slot(u32::MAX);
}

/// One item.
#[derive(Debug)]
pub(super) struct Entry {
    /// Key and value; none in a free slot.
    pub(super) bytes: Option<Arc<[u8]>>,
    /// A number that changes with the value.
    pub(super) cas: u64,
    /// Bits of the key's hash that find it in the table.
    pub(super) hash: u32,
    pub(super) flags: u32,
    pub(super) expiry: Expiry,
    /// The generation in which it was stored.
    pub(super) generation: u32,
    /// The neighbour in the queue towards the newest; of a free slot, the next free one.
    pub(super) newer: Slot,
    /// The neighbour in the queue towards the oldest.
    pub(super) older: Slot,
    pub(super) key_bytes: u8,
    /// Whether it was asked for since eviction last came by.
    pub(super) visited: bool,
}

impl Entry {
    pub(super) fn key(&self) -> &[u8] {
        match &self.bytes {
            Some(bytes) => &bytes[..usize::from(self.key_bytes)],
            None => &[],
        }
    }

    pub(super) fn data(&self) -> &[u8] {
        match &self.bytes {
            Some(bytes) => &bytes[usize::from(self.key_bytes)..],
            None => &[],
        }
    }

    fn free(next: Slot) -> Entry {
        Entry {
            bytes: None,
            cas: 0,
            hash: 0,
            flags: 0,
            expiry: Expiry(0),
            generation: 0,
            newer: next,
            older: Slot::NONE,
            key_bytes: 0,
            visited: false,
        }
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Slab {
    chunks: Vec<Box<[Entry]>>,
    free: Slot,
    live: u32,
}

impl Slab {
    pub(super) fn new() -> Slab {
        Slab { chunks: Vec::new(), free: Slot::NONE, live: 0 }
    }

    /// Slots that there are, free or not: the numbers below this.
    pub(super) fn slots(&self) -> u32 {
        (self.chunks.len() * CHUNK) as u32
    }

    /// Entries that there are.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    #[inline]
    pub(super) fn get(&self, slot: Slot) -> &Entry {
        &self.chunks[slot.0 as usize / CHUNK][slot.0 as usize % CHUNK]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.chunks[slot.0 as usize / CHUNK][slot.0 as usize % CHUNK]
    }

    /// Puts an entry into a free slot.
    ///
    /// # Panics
    /// Beyond four billion slots of one shard, which no memory holds.
    pub(super) fn insert(&mut self, entry: Entry) -> Slot {
        if self.free == Slot::NONE {
            self.grow();
        }
        let slot = self.free;
        let place = self.get_mut(slot);
        let next = place.newer;
        *place = entry;
        self.free = next;
        self.live += 1;
        slot
    }

    /// Takes the entry out of a slot, which is free then.
    pub(super) fn remove(&mut self, slot: Slot) -> Entry {
        let next = self.free;
        self.free = slot;
        self.live -= 1;
        std::mem::replace(self.get_mut(slot), Entry::free(next))
    }

    fn grow(&mut self) {
        let first = self.slots();
        let last = first.checked_add(CHUNK as u32).expect("less than four billion slots") - 1;
        let next = |slot: u32| if slot == last { Slot::NONE } else { Slot(slot + 1) };
        self.chunks.push((first..=last).map(|slot| Entry::free(next(slot))).collect());
        self.free = Slot(first);
    }
}
