//! Counters of the store, by memcached's names.
//! Operations count under the lock that they hold; `stats` and Prometheus read the sums.

use caudal_proto::text::Direction;

use super::Store;
use super::section::within;
use super::shard::Stored;

/// Declares a shard's counters and their sums once, so that no sum forgets a counter.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident: $public:literal,)*) => {
        /// The counters of a shard.
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Counters {
            $($(#[$doc])* pub(super) $name: u64,)*
        }

        impl Counters {
            fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
            }

            fn each(&self, mut see: impl FnMut(&'static str, u64)) {
                $(see($public, self.$name);)*
            }
        }
    };
}

counters! {
    /// Keys that a retrieval has found.
    get_hits: "get_hits",
    /// Keys that a retrieval has not found.
    get_misses: "get_misses",
    /// Storage commands that came to the point of storing.
    cmd_set: "cmd_set",
    /// Values that were stored.
    total_items: "total_items",
    /// `cas` commands that stored.
    cas_hits: "cas_hits",
    /// `cas` commands without an item.
    cas_misses: "cas_misses",
    /// `cas` commands that came too late.
    cas_badval: "cas_badval",
    /// `incr` commands that found an item.
    incr_hits: "incr_hits",
    /// `incr` commands that did not.
    incr_misses: "incr_misses",
    /// `decr` commands that found an item.
    decr_hits: "decr_hits",
    /// `decr` commands that did not.
    decr_misses: "decr_misses",
    /// `delete` commands that found an item.
    delete_hits: "delete_hits",
    /// `delete` commands that did not.
    delete_misses: "delete_misses",
    /// `touch`, `gat` and `gats` of an item.
    touch_hits: "touch_hits",
    /// The same without one.
    touch_misses: "touch_misses",
    /// Live items that gave way to others.
    evictions: "evictions",
    /// Dead items that a request or eviction came across.
    reclaimed: "reclaimed",
    /// Dead items that a sweep has cleared away.
    swept: "crawler_reclaimed",
    /// Values that were too long.
    too_large: "store_too_large",
    /// Values for which no memory could be found.
    no_memory: "store_no_memory",
}

impl Counters {
    pub(super) fn count_store(&mut self, _: Stored) {
        self.cmd_set += 1;
    }

    pub(super) fn count_cas(&mut self, stored: Stored) {
        self.cmd_set += 1;
        match stored {
            Stored::Stored => self.cas_hits += 1,
            Stored::Exists => self.cas_badval += 1,
            Stored::NotFound | Stored::NotStored => self.cas_misses += 1,
        }
    }

    /// An `append` or `prepend` that has to begin anew is counted when it gets through.
    pub(super) fn count_join(&mut self, stored: Stored) {
        self.cmd_set += u64::from(stored != Stored::Exists);
    }

    pub(super) fn count_arithmetic(&mut self, direction: Direction, hit: bool) {
        let counter = match (direction, hit) {
            (Direction::Up, true) => &mut self.incr_hits,
            (Direction::Up, false) => &mut self.incr_misses,
            (Direction::Down, true) => &mut self.decr_hits,
            (Direction::Down, false) => &mut self.decr_misses,
        };
        *counter += 1;
    }
}

/// Sums over all shards. Shards are read one after the other, so counters of different keys may be of slightly different moments.
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    counters: Counters,
    /// Items that are stored, dead ones that nobody has come across included.
    pub items: u64,
    /// Bytes that items take, and values in flight.
    pub bytes: u64,
    /// The limit of that.
    pub limit_bytes: u64,
}

impl Stats {
    /// Gives each statistic to `see`, by memcached's name.
    pub fn each(&self, mut see: impl FnMut(&'static str, u64)) {
        self.counters.each(&mut see);
        see("cmd_get", self.counters.get_hits + self.counters.get_misses);
        see("cmd_touch", self.counters.touch_hits + self.counters.touch_misses);
        see("curr_items", self.items);
        see("bytes", self.bytes);
        see("limit_maxbytes", self.limit_bytes);
    }

    /// The statistic of this name, 0 if there is none.
    pub fn of(&self, name: &str) -> u64 {
        let mut found = 0;
        self.each(|its_name, value| found = if its_name == name { value } else { found });
        found
    }
}

impl Store {
    /// Sets the counters of events to 0, shard by shard; items and bytes stay what they are.
    pub fn reset_stats(&self) {
        for shard in &self.shards {
            within(&shard.0, |shard| shard.counters = Counters::default());
            caudal_probe::probe();
        }
    }

    /// Counts a value that was too long, which the protocol has refused before it came here.
    pub fn count_too_large(&self) {
        within(&self.shards[0].0, |shard| shard.counters.too_large += 1);
    }

    /// The sums of all shards.
    pub fn stats(&self) -> Stats {
        let mut counters = Counters::default();
        let mut items = 0;
        for shard in &self.shards {
            let (its_counters, live) = within(&shard.0, |shard| (shard.counters, shard.slab.live()));
            counters.add(&its_counters);
            items += u64::from(live);
            caudal_probe::probe();
        }
        let limit_bytes = self.config.memory_bytes as u64;
        Stats { counters, items, bytes: self.used_bytes() as u64, limit_bytes }
    }
}
