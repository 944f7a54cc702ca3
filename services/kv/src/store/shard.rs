//! One shard: the items whose keys have a hash of its own, all guarded by its lock.
//! The store calls it within sections. Everything here is short: a look-up, a change of one entry, or a bounded piece of a long walk.
//!
//! ```text
//!  table   hash ──▶ slot            hashbrown; 8 bytes a key, which hold all that growing the table needs
//!  slab    slot ──▶ entry           key and value (counted), cas, flags, expiry, generation
//!  queue   entries, oldest first    whom memory is taken from
//! ```
//!
//! What leaves the shard is handed to the caller, who frees it when the lock is free again.

use std::sync::Arc;

use hashbrown::HashTable;

use super::expiry::{Expiry, Moment};
use super::item::{Item, cost};
use super::queue::Queue;
use super::slab::{Entry, Slab, Slot};
use super::stats::Counters;

/// Entries that one hold of the lock looks at for eviction at most.
const STEPS_MAX: usize = 64;

/// A key's hash, as a shard needs it: which shard it is was decided by other bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyHash(pub(super) u32);

impl KeyHash {
    /// Bits for the table, which looks at the lowest for the place and at the highest for the tag.
    fn for_table(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: KeyHash,
    slot: Slot,
}

/// Bytes of at most `N` items that have left the store: for whoever held the lock to free.
#[derive(Debug)]
pub(super) struct Removed<const N: usize> {
    items: [Option<Arc<[u8]>>; N],
    count: usize,
    /// Bytes that they took, with overhead.
    pub(super) cost: usize,
}

impl<const N: usize> Removed<N> {
    #[inline]
    pub(super) fn new() -> Removed<N> {
        Removed { items: [const { None }; N], count: 0, cost: 0 }
    }

    fn push(&mut self, bytes: Arc<[u8]>) {
        self.cost += cost(bytes.len());
        self.items[self.count] = Some(bytes);
        self.count += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == N
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// When a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Always,
    Absent,
    Present,
    /// The item has this cas number.
    Unchanged(u64),
}

/// The result of a storage command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The value is stored.
    Stored,
    /// The condition was not met.
    NotStored,
    /// The item has changed since.
    Exists,
    /// There is no such item.
    NotFound,
}

/// A value that is to be stored, and what goes with it.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) bytes: Arc<[u8]>,
    pub(super) key_bytes: u8,
    /// Flags and expiry; none to keep those of the item that is there.
    pub(super) attributes: Option<(u32, Expiry)>,
}

impl Value {
    fn key(&self) -> &[u8] {
        &self.bytes[..usize::from(self.key_bytes)]
    }
}

#[derive(Debug)]
pub(super) struct Shard {
    table: HashTable<Place>,
    pub(super) slab: Slab,
    queue: Queue,
    /// The next cas number; each change takes one that no value of the store has had.
    next_cas: u64,
    /// Distance between cas numbers: the shards' count.
    cas_step: u64,
    /// The slot at which the next sweep goes on.
    sweep_at: u32,
    pub(super) counters: Counters,
}

impl Shard {
    /// The shard of this number among so many. Shards take turns with cas numbers, so that they need not agree on the next one.
    pub(super) fn new(number: usize, of: usize, capacity: usize) -> Shard {
        Shard {
            table: HashTable::with_capacity(capacity),
            slab: Slab::new(),
            queue: Queue::new(),
            next_cas: (number + 1) as u64,
            cas_step: of as u64,
            sweep_at: 0,
            counters: Counters::default(),
        }
    }

    fn find(&self, hash: KeyHash, key: &[u8]) -> Option<Slot> {
        let same = |place: &Place| place.hash == hash && self.slab.get(place.slot).key() == key;
        self.table.find(hash.for_table(), same).map(|place| place.slot)
    }

    /// The slot of a live item. A dead one is taken out.
    pub(super) fn look_up<const N: usize>(
        &mut self,
        hash: KeyHash,
        key: &[u8],
        moment: Moment,
        removed: &mut Removed<N>,
    ) -> Option<Slot> {
        let slot = self.find(hash, key)?;
        if !self.is_dead(slot, moment) {
            return Some(slot);
        }
        self.remove(slot, removed);
        self.counters.reclaimed += 1;
        None
    }

    pub(super) fn is_dead(&self, slot: Slot, moment: Moment) -> bool {
        let entry = self.slab.get(slot);
        moment.is_dead(entry.expiry, entry.generation)
    }

    /// The item in a slot, for somebody to hold.
    pub(super) fn item(&self, slot: Slot) -> Option<Item> {
        let entry = self.slab.get(slot);
        let bytes = entry.bytes.clone()?;
        Some(Item { bytes, key_bytes: entry.key_bytes, flags: entry.flags, cas: entry.cas })
    }

    pub(super) fn take_cas(&mut self) -> u64 {
        let cas = self.next_cas;
        self.next_cas += self.cas_step;
        cas
    }

    /// Stores a value if its condition is met, and takes it then; a value that is left is the caller's to free.
    pub(super) fn put<const N: usize>(
        &mut self,
        hash: KeyHash,
        value: &mut Option<Value>,
        condition: Condition,
        moment: Moment,
        removed: &mut Removed<N>,
    ) -> Stored {
        let key = value.as_ref().map_or(&[][..], Value::key);
        let present = self.look_up(hash, key, moment, removed);
        match (present, condition) {
            (None, Condition::Present) | (Some(_), Condition::Absent) => return Stored::NotStored,
            (None, Condition::Unchanged(_)) => return Stored::NotFound,
            (Some(slot), Condition::Unchanged(cas)) if self.slab.get(slot).cas != cas => {
                return Stored::Exists;
            }
            _ => {}
        }
        let value = value.take().expect("a value to store");
        let cas = self.take_cas();
        match present {
            Some(slot) => {
                let entry = self.slab.get_mut(slot);
                if let Some(old) = entry.bytes.replace(value.bytes) {
                    removed.push(old);
                }
                (entry.cas, entry.generation, entry.visited) = (cas, moment.generation, true);
                if let Some(attributes) = value.attributes {
                    (entry.flags, entry.expiry) = attributes;
                }
            }
            None => self.insert(hash, value, cas, moment),
        }
        self.counters.total_items += 1;
        Stored::Stored
    }

    fn insert(&mut self, hash: KeyHash, value: Value, cas: u64, moment: Moment) {
        let (flags, expiry) = value.attributes.unwrap_or((0, Expiry(0)));
        let slot = self.slab.insert(Entry {
            bytes: Some(value.bytes),
            cas,
            hash: hash.0,
            flags,
            expiry,
            generation: moment.generation,
            newer: Slot::NONE,
            older: Slot::NONE,
            key_bytes: value.key_bytes,
            visited: false,
        });
        self.queue.push(&mut self.slab, slot);
        self.table.insert_unique(hash.for_table(), Place { hash, slot }, |place| place.hash.for_table());
    }

    /// Takes an item out.
    pub(super) fn remove<const N: usize>(&mut self, slot: Slot, removed: &mut Removed<N>) {
        self.queue.unlink(&mut self.slab, slot);
        let entry = self.slab.remove(slot);
        let place = self.table.find_entry(KeyHash(entry.hash).for_table(), |place| place.slot == slot);
        place.expect("every entry has its place").remove();
        if let Some(bytes) = entry.bytes {
            removed.push(bytes);
        }
    }

    /// Evicts until `wanted` bytes are free, or for as long as one hold of the lock may take.
    pub(super) fn evict<const N: usize>(&mut self, wanted: usize, moment: Moment, removed: &mut Removed<N>) {
        for _ in 0..STEPS_MAX {
            if removed.cost >= wanted || removed.is_full() {
                return;
            }
            let Some(slot) = self.queue.step(&self.slab) else { return };
            let dead = self.is_dead(slot, moment);
            let entry = self.slab.get_mut(slot);
            if entry.visited && !dead {
                entry.visited = false;
                continue;
            }
            self.remove(slot, removed);
            let counter = if dead { &mut self.counters.reclaimed } else { &mut self.counters.evictions };
            *counter += 1;
        }
    }

    /// Takes dead items out of the next `slots` slots. Says whether it has come to the end of the shard, where the next sweep begins.
    pub(super) fn sweep<const N: usize>(
        &mut self,
        slots: u32,
        moment: Moment,
        removed: &mut Removed<N>,
    ) -> bool {
        let end = self.slab.slots();
        for _ in 0..slots {
            if self.sweep_at >= end {
                self.sweep_at = 0;
                return true;
            }
            if removed.is_full() {
                return false;
            }
            let slot = Slot(self.sweep_at);
            self.sweep_at += 1;
            if self.slab.get(slot).bytes.is_some() && self.is_dead(slot, moment) {
                self.remove(slot, removed);
                self.counters.swept += 1;
            }
        }
        false
    }
}
