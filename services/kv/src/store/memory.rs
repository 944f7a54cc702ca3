//! How memory is found for a new item, and dead items are cleared away.
//! Storing operations call [`Store::reserve`]; a service calls [`Store::sweep`] when it has nothing else to do.

use std::sync::atomic::Ordering;

use super::item::{Draft, Reserved, cost};
use super::{Home, Store};

/// Items that one hold of a lock takes out at most.
const REMOVED_MAX: usize = 32;

/// Holds of locks after which a value has no room, although items are left: others ask for all of them faster than eviction comes by.
const HOLDS_MAX: u32 = 100_000;

/// Slots that one hold of a lock is swept for.
const SWEPT_SLOTS: u32 = 64;

/// The reason for which a value has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// It is longer than values may be.
    TooLarge,
    /// All memory is taken by values that are in flight.
    OutOfMemory,
}

impl Store {
    /// Memory for a value of `data_bytes` bytes under `key`, to be filled and then stored by [`publish`](Self::publish).
    ///
    /// # Errors
    /// [`NoRoom`].
    ///
    /// # Panics
    /// If the key has more than 250 bytes; the protocol lets none such through.
    pub fn draft(&self, key: &[u8], data_bytes: usize, now: u32) -> Result<Draft, NoRoom> {
        assert!(key.len() <= caudal_proto::text::KEY_BYTES_MAX, "a key of {} bytes", key.len());
        let home = self.home(key);
        if data_bytes > self.config.value_bytes_max {
            self.on_key(home, now, |shard, _, _| shard.counters.too_large += 1);
            return Err(NoRoom::TooLarge);
        }
        match self.reserve(cost(key.len() + data_bytes), home, now) {
            Some(reserved) => Ok(Draft::new(key, data_bytes, home, reserved)),
            None => {
                self.on_key(home, now, |shard, _, _| shard.counters.no_memory += 1);
                Err(NoRoom::OutOfMemory)
            }
        }
    }

    /// Counts `bytes` as used, and evicts until the limit is kept. None if nothing is left that could be evicted.
    fn reserve(&self, bytes: usize, home: Home, now: u32) -> Option<Reserved> {
        let limit = self.config.memory_bytes;
        let (reserved, mut used) = Reserved::take(&self.used, bytes);
        // The key's own shard comes last: it may hold nothing but the value that an `append`, `replace` or `cas` is about to change.
        let mut shard = (home.shard + 1) % self.shards.len();
        let (mut empty, mut holds) = (0, 0);
        while used > limit {
            holds += 1;
            if holds > HOLDS_MAX {
                return None;
            }
            let (left, evicted) = self.on_shard::<REMOVED_MAX, _>(shard, now, |shard, moment, removed| {
                shard.evict(used - limit, moment, removed);
                shard.slab.live()
            });
            // A hold that has spared all that it looked at has evicted nothing, and the next one will.
            if left == 0 && evicted == 0 {
                empty += 1;
                shard = (shard + 1) % self.shards.len();
                if empty == self.shards.len() {
                    return None;
                }
            } else {
                empty = 0;
            }
            caudal_probe::probe();
            used = self.used.load(Ordering::Relaxed);
        }
        Some(reserved)
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn count_grown(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes that items take, and values that are in flight.
    pub fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Looks at the next `slots` slots, and clears away the items in them that have expired or were flushed. Says how many. A whole round
    /// is as many slots as there are items, or were at most. A service sweeps when it is idle, so that dead items do not take the
    /// place of live ones until eviction meets them.
    pub fn sweep(&self, slots: u32, now: u32) -> usize {
        let mut cleared = 0;
        for _ in 0..slots.div_ceil(SWEPT_SLOTS) {
            let shard = self.sweep_at.load(Ordering::Relaxed) as usize % self.shards.len();
            let (ended, count) = self.on_shard::<REMOVED_MAX, _>(shard, now, |shard, moment, removed| {
                shard.sweep(SWEPT_SLOTS, moment, removed)
            });
            cleared += count;
            if ended {
                // Two sweeps at a time may skip a shard, which is swept in the next round.
                self.sweep_at.store((shard as u32 + 1) % self.shards.len() as u32, Ordering::Relaxed);
            }
            caudal_probe::probe();
        }
        cleared
    }
}
