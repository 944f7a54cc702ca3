//! A cuckoo hash table from 64-bit keys to small values: every key is in one of two buckets of four slots.
//!
//! Its own code because no maintained crate holds one: those that there are, are filters, abandoned, or part of a
//! collection of exercises. Buckets of four (Dietzfelbinger and Weidling 2007) hold some 97 % of their slots, where
//! the single slots of Pagh and Rodler (2004) hold half.
//!
//! ```text
//!   bucket a of key        ┌────┬────┬────┬────┐
//!   (low half of hash) ──▶ │ k  │ k' │ k''│ k'''│   all full: some k of them moves to its other bucket,
//!                          └────┴────┴────┴────┘   if that has room, or one of those moves first, …
//!   bucket b of key ─────▶ the same
//! ```
//!
//! The chain of moves is searched breadth-first before anything moves, so an insertion that finds none changes nothing.
//! It is therefore one of the shortest, and a shortest chain meets no bucket twice: its moves do not disturb each other.

use crate::random::scatter;

const SLOTS: usize = 4;
/// Buckets that a search looks at before the table counts as full: more than any insertion takes up to 95 % of load.
const SEARCH_LIMIT: usize = 2_048;

/// The table was too full for this insertion.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

#[derive(Clone, Copy)]
struct Entry<V> {
    key: u64,
    value: V,
}

type Bucket<V> = [Option<Entry<V>>; SLOTS];

/// See the [module](self).
pub(crate) struct Cuckoo<V> {
    buckets: Vec<Bucket<V>>,
    len: usize,
}

/// A bucket that the search reached: by moving what is in `slot` of the bucket of step `from`.
struct Step {
    bucket: usize,
    from: Option<(usize, usize)>,
}

impl<V: Copy> Cuckoo<V> {
    /// A table that is filled to `load` (0 to 1) when it holds `entries`.
    pub(crate) fn with_room_for(entries: usize, load: f64) -> Cuckoo<V> {
        let buckets = (entries as f64 / load / SLOTS as f64).ceil().max(1.0) as usize;
        Cuckoo { buckets: vec![[None; SLOTS]; buckets], len: 0 }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, key: u64) -> Option<V> {
        self.find(key).and_then(|(bucket, slot)| self.buckets[bucket][slot]).map(|entry| entry.value)
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let (bucket, slot) = self.find(key)?;
        self.buckets[bucket][slot].as_mut().map(|entry| &mut entry.value)
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<V> {
        let (bucket, slot) = self.find(key)?;
        let entry = self.buckets[bucket][slot].take()?;
        self.len -= 1;
        Some(entry.value)
    }

    /// Puts `value` under `key`, in place of what was there.
    pub(crate) fn insert(&mut self, key: u64, value: V) -> Result<(), Full> {
        if let Some(present) = self.get_mut(key) {
            *present = value;
            return Ok(());
        }
        let (bucket, slot) = self.make_room(key).ok_or(Full)?;
        self.buckets[bucket][slot] = Some(Entry { key, value });
        self.len += 1;
        Ok(())
    }

    fn find(&self, key: u64) -> Option<(usize, usize)> {
        self.homes(key).into_iter().find_map(|bucket| {
            let is_it = |slot: &Option<Entry<V>>| slot.is_some_and(|entry| entry.key == key);
            self.buckets[bucket].iter().position(is_it).map(|slot| (bucket, slot))
        })
    }

    /// The two buckets of a key; the same one twice is possible and does no harm.
    fn homes(&self, key: u64) -> [usize; 2] {
        let hash = scatter(key);
        let below = |half: u32| ((u64::from(half) * self.buckets.len() as u64) >> 32) as usize;
        [below(hash as u32), below((hash >> 32) as u32)]
    }

    /// Where `key` can go, after the moves that this takes.
    fn make_room(&mut self, key: u64) -> Option<(usize, usize)> {
        let steps = &mut Vec::with_capacity(2);
        steps.extend(self.homes(key).map(|bucket| Step { bucket, from: None }));
        let mut at = 0;
        while at < steps.len() && at < SEARCH_LIMIT {
            let bucket = steps[at].bucket;
            if let Some(slot) = self.buckets[bucket].iter().position(Option::is_none) {
                return Some(self.shift(steps, at, slot));
            }
            for slot in 0..SLOTS {
                let Some(entry) = self.buckets[bucket][slot] else { continue };
                let [a, b] = self.homes(entry.key);
                let other = if a == bucket { b } else { a };
                steps.push(Step { bucket: other, from: Some((at, slot)) });
            }
            at += 1;
        }
        None
    }

    /// Moves entries along the path that ends in the free `slot` of step `at`; what is then free is at its beginning.
    fn shift(&mut self, steps: &[Step], mut at: usize, mut slot: usize) -> (usize, usize) {
        while let Some((from, from_slot)) = steps[at].from {
            let moved = self.buckets[steps[from].bucket][from_slot].take();
            self.buckets[steps[at].bucket][slot] = moved;
            (at, slot) = (from, from_slot);
        }
        (steps[at].bucket, slot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::RngExt;

    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn everything_put_in_comes_out_at_95_percent_load() {
        let entries = 20_000;
        let mut table = Cuckoo::with_room_for(entries, 0.95);
        for key in 0..entries as u64 {
            table.insert(key, !key).unwrap();
        }
        assert_eq!(table.len(), entries);
        assert!((0..entries as u64).all(|key| table.get(key) == Some(!key)));
        assert!((entries as u64..2 * entries as u64).all(|key| table.get(key).is_none()));
    }

    #[test]
    fn it_does_what_a_hash_map_does() {
        let mut random = stream(1, Purpose::Keys);
        let mut table = Cuckoo::with_room_for(500, 0.9);
        let mut map = HashMap::new();
        for value in 0..200_000_u32 {
            let key = random.random_range(0..1_000);
            if map.len() < 500 && random.random_bool(0.6) {
                assert_eq!(table.insert(key, value), Ok(()));
                map.insert(key, value);
            } else {
                assert_eq!(table.remove(key), map.remove(&key));
            }
            assert_eq!(table.get(key), map.get(&key).copied());
            assert_eq!(table.len(), map.len());
        }
        assert!((0..1_000).all(|key| table.get(key) == map.get(&key).copied()));
    }

    /// The fewer buckets, the sooner a chain of moves would meet itself.
    #[test]
    fn small_tables_lose_nothing() {
        for first in (0..1_000_000_u64).step_by(1_000) {
            let mut table = Cuckoo::with_room_for(24, 1.0);
            let held: Vec<u64> =
                (first..first + 100).filter(|&key| table.insert(key, !key).is_ok()).collect();
            assert!(held.len() > 16, "{} of 24 slots", held.len());
            assert!(held.iter().all(|&key| table.get(key) == Some(!key)));
        }
    }

    #[test]
    fn a_full_table_refuses_and_loses_nothing() {
        let mut table = Cuckoo::with_room_for(400, 1.0);
        let mut held = Vec::new();
        let refused = (0..10_000_u64).filter(|&key| {
            let put = table.insert(key, key);
            if put.is_ok() {
                held.push(key);
            }
            put == Err(Full)
        });
        assert!(refused.count() > 9_000);
        assert!(held.len() as f64 > 0.95 * 400.0, "{} of 400 slots", held.len());
        assert!(held.iter().all(|&key| table.get(key) == Some(key)));
    }
}
