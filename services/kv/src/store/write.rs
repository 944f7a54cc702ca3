//! The storage commands.
//! Sessions call [`Store::store`] with a whole value, or [`Store::publish`] with one that came in pieces.

use caudal_proto::text::StoreMode;

use super::expiry::Expiry;
use super::item::Draft;
use super::memory::NoRoom;
use super::shard::{Condition, Value};
use super::stats::Counters;
use super::{Store, Stored};

/// Times that an `append` or `prepend` begins anew because others have changed the item. Each time another write has got through; it takes
/// this many to be unlucky forever.
const JOINS_MAX: u32 = 10_000;

impl Store {
    /// Carries out a storage command.
    ///
    /// # Errors
    /// [`NoRoom`]; then nothing is stored. A `set` that finds no room deletes the old value, because a client that has set a new one
    /// must not find the old one.
    pub fn store(
        &self,
        mode: StoreMode,
        key: &[u8],
        flags: u32,
        exptime: i64,
        data: &[u8],
        now: u32,
    ) -> Result<Stored, NoRoom> {
        let (before, behind): (&[u8], &[u8]) = match mode {
            StoreMode::Append => (&[], data),
            StoreMode::Prepend => (data, &[]),
            _ => {
                let draft = self.draft(key, data.len(), now);
                let mut draft = draft.inspect_err(|_| {
                    if mode == StoreMode::Set {
                        self.invalidate(key, now);
                    }
                })?;
                draft.fill(data);
                return self.publish(mode, draft, flags, exptime, now);
            }
        };
        self.join(key, before, behind, now)
    }

    /// Takes out the item of a key for which a `set` has failed: a client that has set a new value must not find the old one. It is no
    /// `delete` in the statistics.
    pub fn invalidate(&self, key: &[u8], now: u32) {
        let home = self.home(key);
        self.on_key(home, now, |shard, moment, removed| {
            if let Some(slot) = shard.look_up(home.hash, key, moment, removed) {
                shard.remove(slot, removed);
            }
        });
    }

    /// Stores a draft that was filled.
    ///
    /// # Errors
    /// [`NoRoom`], for `append` and `prepend`, whose value becomes longer than the draft.
    ///
    /// # Panics
    /// If bytes are missing.
    pub fn publish(
        &self,
        mode: StoreMode,
        draft: Draft,
        flags: u32,
        exptime: i64,
        now: u32,
    ) -> Result<Stored, NoRoom> {
        assert_eq!(draft.missing(), 0, "a value that is not whole");
        let condition = match mode {
            StoreMode::Set => Condition::Always,
            StoreMode::Add => Condition::Absent,
            StoreMode::Replace => Condition::Present,
            StoreMode::Cas(cas) => Condition::Unchanged(cas),
            StoreMode::Append => return self.join(draft.key(), &[], draft.data(), now),
            StoreMode::Prepend => return self.join(draft.key(), draft.data(), &[], now),
        };
        let count = match mode {
            StoreMode::Cas(_) => Counters::count_cas,
            _ => Counters::count_store,
        };
        Ok(self.put(draft, Some((flags, Expiry::of(exptime, now))), condition, count, now))
    }

    fn put(
        &self,
        draft: Draft,
        attributes: Option<(u32, Expiry)>,
        condition: Condition,
        count: fn(&mut Counters, Stored),
        now: u32,
    ) -> Stored {
        let Draft { bytes, key_bytes, home, reserved, .. } = draft;
        // A value that is not taken is freed at the end, where no lock is held.
        let mut value = Some(Value { bytes, key_bytes, attributes });
        let stored = self.on_key(home, now, |shard, moment, removed| {
            let stored = shard.put(home.hash, &mut value, condition, moment, removed);
            count(&mut shard.counters, stored);
            stored
        });
        if stored == Stored::Stored {
            reserved.keep();
        }
        stored
    }

    /// Stores the old value with `before` and `behind` around it. The long part, copying, needs no lock: if the item has changed by the time
    /// that the copy is made, it is made anew. Flags and expiry stay.
    fn join(&self, key: &[u8], before: &[u8], behind: &[u8], now: u32) -> Result<Stored, NoRoom> {
        let home = self.home(key);
        for _ in 0..JOINS_MAX {
            let old = self.on_key(home, now, |shard, moment, removed| {
                let slot = shard.look_up(home.hash, key, moment, removed)?;
                shard.item(slot)
            });
            let Some(old) = old else {
                self.on_key(home, now, |shard, _, _| shard.counters.count_store(Stored::NotStored));
                return Ok(Stored::NotStored);
            };
            let length = before.len() + old.data().len() + behind.len();
            let mut draft = self.draft(key, length, now)?;
            for part in [before, old.data(), behind] {
                draft.fill(part);
            }
            match self.put(draft, None, Condition::Unchanged(old.cas), Counters::count_join, now) {
                Stored::Exists => caudal_probe::probe(),
                Stored::NotFound => return Ok(Stored::NotStored),
                stored => return Ok(stored),
            }
        }
        Err(NoRoom::OutOfMemory)
    }
}
