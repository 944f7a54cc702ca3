//! The item store: everything that a cache keeps, shared by workers whose requests are pre-empted in the middle.
//! Sessions call it with requests of `caudal-proto`; it knows no sockets and no clock: seconds are an argument.
//!
//! # How workers share keys, and why that is right
//!
//! ```text
//!  key ──hash──▶ shard (1 of many)   lock ── table, entries, queue for eviction, counters
//!                    │
//!                    └─ bytes of an item: counted, never changed while anybody else holds them
//! ```
//!
//! * *A key is in one shard*, which its hash names, and everything about it changes under the shard's lock. Each operation on one key takes
//!   effect at one moment, while the lock is held. So operations on a key are linearizable, `cas` and `incr` too. A `get` of
//!   several keys is an operation for each.
//! * *The lock is held in a critical section* (`section.rs`), where no probe yields. A request that holds it is never set aside, so no
//!   request waits on the thread of the one that it waits for. No operation takes two locks. Hence nobody deadlocks.
//! * *Sections are short.* Under the lock are look-ups and changes of single entries. Whatever is long goes in pieces, with probes between the
//!   pieces: copies (4 KB), eviction (64 entries), sweeps (64), scans (16). Allocating a value, filling it and freeing it are done without the
//!   lock. The longest section is the doubling of a shard's table, which took 15 ns a key of the shard: 15 µs where a million keys are in
//!   1,024 shards, ten times in the life of a shard. [`Config::items_expected`] does it in advance.
//! * *Values are pinned by their count.* Who reads takes a count under the lock and copies after it; who writes fills memory that nobody knows
//!   yet and puts it in under the lock. So a reader that was set aside has the whole old value, and a write that was set aside, or
//!   whose rest never comes, has changed nothing.
//! * *Flushes* are a number beside each item (`expiry.rs`), so that a flush takes no time and no locks.
//!
//! # Memory
//!
//! The limit counts keys, values and an estimate of what else an item takes. Who stores counts the new item first, and evicts until the sum
//! is within the limit: so what is stored and what is being stored never exceed it by more than the values that are in flight.
//! Items are evicted by SIEVE (`queue.rs`), from the shard behind that of the new item on; dead items go first where the hand meets them.
//!
//! # What a scan promises
//!
//! Scans go through shards and slots in order (`scan.rs`). A slot is an item's for as long as it is stored, also while its value is replaced and
//! while the store grows. So a scan by cursors, from 0 until there is none, gives **every item that was there from its beginning to its end
//! exactly once**, with a value that it had at some moment of the scan. An item that was stored or deleted meanwhile may be given or not;
//! one that was deleted (evicted, expired, flushed) and stored again may be given twice. The order is not that of the keys, and another
//! process has another one. What a user of a cache does with scans is to look at everything, for a dump, a census or to
//! delete by some rule; an index by key would cost every set more than the set itself.

mod expiry;
mod item;
mod memory;
mod number;
mod queue;
mod scan;
mod section;
mod shard;
mod slab;
mod stats;
mod write;

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};

use foldhash::quality::FixedState;

use expiry::{Expiry, Flushes, Moment};
use section::within;
use shard::{KeyHash, Removed, Shard};

pub use item::{Draft, Item};
pub use memory::NoRoom;
pub use number::NotCounted;
pub use scan::{Cursor, Scanned};
pub use shard::Stored;
pub use stats::Stats;

/// How large a store is.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The most bytes that items may take, with keys and overhead.
    pub memory_bytes: usize,
    /// The most bytes of a value.
    pub value_bytes_max: usize,
    /// Shards, a power of two. More of them make waiting rarer and sections shorter; fewer stay in the processor's cache, which made a get
    /// some 10 ns cheaper with 256 of them than with 1,024.
    pub shards: usize,
    /// Items for which tables are made at the beginning; 0 to let them grow.
    pub items_expected: usize,
    /// The seed of the hash. A service takes a random one, so that nobody can choose keys that all fall into one shard.
    pub hash_seed: u64,
}

impl Default for Config {
    /// 64 MiB of items, values of 1 MiB, as memcached; 1,024 shards.
    fn default() -> Config {
        Config {
            memory_bytes: 64 << 20,
            value_bytes_max: 1 << 20,
            shards: 1_024,
            items_expected: 0,
            hash_seed: 0,
        }
    }
}

/// The most shards: their number has 16 bits of a cursor.
const SHARDS_MAX: usize = 1 << 16;

/// See the [module](self).
#[derive(Debug)]
pub struct Store {
    shards: Box<[Padded]>,
    hasher: FixedState,
    flushes: Flushes,
    /// Bytes that items and drafts take.
    used: Arc<AtomicUsize>,
    config: Config,
    /// The shard at which the next sweep goes on.
    sweep_at: AtomicU32,
}

/// A shard on cache lines of its own, with the neighbour that processors fetch together.
#[derive(Debug)]
#[repr(align(128))]
struct Padded(Mutex<Shard>);

/// A key's place.
#[derive(Clone, Copy, Debug)]
struct Home {
    shard: usize,
    hash: KeyHash,
}

impl Store {
    /// An empty store.
    ///
    /// # Panics
    /// If the number of shards is no power of two, or above 65,536.
    pub fn new(config: Config) -> Store {
        let shards = config.shards;
        assert!(
            shards.is_power_of_two() && shards <= SHARDS_MAX,
            "{shards} shards are no power of two up to 65,536"
        );
        // A little more than the mean, because keys do not spread evenly.
        let capacity = (config.items_expected + config.items_expected / 8).div_ceil(shards);
        Store {
            shards: (0..shards)
                .map(|number| Padded(Mutex::new(Shard::new(number, shards, capacity))))
                .collect(),
            hasher: FixedState::with_seed(config.hash_seed),
            flushes: Flushes::default(),
            used: Arc::default(),
            config,
            sweep_at: AtomicU32::new(0),
        }
    }

    /// The limits that it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn home(&self, key: &[u8]) -> Home {
        let hash = self.hasher.hash_one(key);
        Home { shard: (hash >> 32) as usize & (self.shards.len() - 1), hash: KeyHash(hash as u32) }
    }

    /// Runs `work` on a shard under its lock, then frees what left the store.
    #[inline]
    fn on_shard<const N: usize, R>(
        &self,
        shard: usize,
        now: u32,
        work: impl FnOnce(&mut Shard, Moment, &mut Removed<N>) -> R,
    ) -> (R, usize) {
        let mut removed = Removed::new();
        let result =
            within(&self.shards[shard].0, |shard| work(shard, self.flushes.moment(now), &mut removed));
        let count = removed.count();
        if count > 0 {
            self.give_back(removed.cost);
        }
        (result, count)
    }

    /// As [`on_shard`](Self::on_shard), for an operation on one key, which takes out one item at most.
    #[inline]
    fn on_key<R>(
        &self,
        home: Home,
        now: u32,
        work: impl FnOnce(&mut Shard, Moment, &mut Removed<1>) -> R,
    ) -> R {
        self.on_shard(home.shard, now, work).0
    }

    /// The item of `key`.
    #[inline]
    pub fn get(&self, key: &[u8], now: u32) -> Option<Item> {
        let home = self.home(key);
        self.on_key(home, now, |shard, moment, removed| {
            let slot = shard.look_up(home.hash, key, moment, removed);
            let Some(slot) = slot else {
                shard.counters.get_misses += 1;
                return None;
            };
            shard.counters.get_hits += 1;
            shard.slab.get_mut(slot).visited = true;
            shard.item(slot)
        })
    }

    /// The item of `key`, whose expiry becomes what `exptime` means.
    pub fn get_and_touch(&self, key: &[u8], exptime: i64, now: u32) -> Option<Item> {
        self.touched(key, exptime, now, Shard::item)
    }

    /// Makes the expiry of an item what `exptime` means. Says whether there is one.
    pub fn touch(&self, key: &[u8], exptime: i64, now: u32) -> bool {
        self.touched(key, exptime, now, |_, _| Some(())).is_some()
    }

    fn touched<R>(
        &self,
        key: &[u8],
        exptime: i64,
        now: u32,
        result: impl FnOnce(&Shard, slab::Slot) -> Option<R>,
    ) -> Option<R> {
        let home = self.home(key);
        self.on_key(home, now, |shard, moment, removed| {
            let Some(slot) = shard.look_up(home.hash, key, moment, removed) else {
                shard.counters.touch_misses += 1;
                return None;
            };
            shard.counters.touch_hits += 1;
            let entry = shard.slab.get_mut(slot);
            (entry.expiry, entry.visited) = (Expiry::of(exptime, now), true);
            result(shard, slot)
        })
    }

    /// Deletes an item. Says whether there was one.
    pub fn delete(&self, key: &[u8], now: u32) -> bool {
        let home = self.home(key);
        self.on_key(home, now, |shard, moment, removed| {
            let Some(slot) = shard.look_up(home.hash, key, moment, removed) else {
                shard.counters.delete_misses += 1;
                return false;
            };
            shard.counters.delete_hits += 1;
            shard.remove(slot, removed);
            true
        })
    }

    /// Makes everything that is stored before a moment dead: now, or at what `delay` means as an expiry.
    pub fn flush_all(&self, delay: i64, now: u32) {
        self.flushes.flush(delay, now);
    }
}
