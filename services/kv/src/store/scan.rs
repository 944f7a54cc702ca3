//! Scans: many items in a row, a few at a time under a lock, with a probe after each.
//! Sessions call [`Store::scan`] for the protocol's `scan`. What it promises is said in the module above.
//!
//! A scan of some thousand items takes hundreds of microseconds. It holds a shard's lock for [`PIECE`] slots at a time, in which it takes counts of
//! the items, and visits them when the lock is free again. So others wait for a fraction of a microsecond, the scan itself may be set aside
//! at each item, and what it has counted is neither changed nor freed under its eyes.

use std::ops::ControlFlow;

use super::item::Item;
use super::shard::Shard;
use super::slab::Slot;
use super::{Moment, Store};

/// Slots of one hold of the lock.
const PIECE: usize = 16;

/// Slots that a scan looks at whatever it was asked for, where many are free. There is an end to it, so that no scan takes long for
/// finding little.
const SPARE_SLOTS: u64 = 4_096;

/// Slots that a scan looks at for each item that it was asked for.
const SLOTS_AN_ITEM: u64 = 4;

/// Where a scan goes on: a shard and a slot of it. The number means nothing to clients, but that 0 is the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub u64);

/// The result of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Where it goes on; none at the end of the store.
    pub next: Option<Cursor>,
    /// Items that were visited, and taken.
    pub items: u32,
}

impl Cursor {
    /// The beginning of the store.
    pub const START: Cursor = Cursor(0);

    fn of(shard: usize, slot: u32) -> Cursor {
        Cursor((shard as u64) << 32 | u64::from(slot))
    }

    fn shard(self) -> usize {
        usize::try_from(self.0 >> 32).unwrap_or(usize::MAX)
    }

    fn slot(self) -> u32 {
        self.0 as u32
    }
}

impl Store {
    /// Gives at most `limit` items to `visit`, from the cursor on. A visitor that breaks has not taken its item: the scan ends, and its
    /// cursor is at this item. A scan also ends early, with a cursor, when it has looked at very many free slots.
    pub fn scan(
        &self,
        from: Cursor,
        limit: u32,
        now: u32,
        mut visit: impl FnMut(&Item) -> ControlFlow<()>,
    ) -> Scanned {
        let (mut shard, mut slot, mut items) = (from.shard(), from.slot(), 0);
        let mut slots_left = SPARE_SLOTS + SLOTS_AN_ITEM * u64::from(limit);
        while shard < self.shards.len() {
            if items == limit || slots_left == 0 {
                return Scanned { next: Some(Cursor::of(shard, slot)), items };
            }
            let wanted = PIECE.min((limit - items) as usize);
            let mut piece = [const { None }; PIECE];
            let (end, _) = self.on_shard::<0, _>(shard, now, |shard, moment, _| {
                take_piece(shard, slot, moment, &mut piece[..wanted])
            });
            for (item, at) in piece.iter_mut().map_while(Option::take) {
                caudal_probe::probe();
                if visit(&item).is_break() {
                    return Scanned { next: Some(Cursor::of(shard, at)), items };
                }
                items += 1;
            }
            slots_left = slots_left.saturating_sub(PIECE as u64);
            (shard, slot) = match end {
                Some(next) => (shard, next),
                None => (shard + 1, 0),
            };
            caudal_probe::probe();
        }
        Scanned { next: None, items }
    }

    /// Where a scan begins that begins at a key: its slot, or if it is not stored, a place that depends on its hash, so that scans
    /// from random keys begin everywhere.
    pub fn cursor_of(&self, key: &[u8], now: u32) -> Cursor {
        let home = self.home(key);
        let slot = self.on_key(home, now, |shard, moment, removed| {
            let share = u64::from(shard.slab.slots()) * u64::from(home.hash.0);
            shard.look_up(home.hash, key, moment, removed).unwrap_or(Slot((share >> 32) as u32))
        });
        Cursor::of(home.shard, slot.0)
    }
}

/// Takes live items from [`PIECE`] slots, from `first` on, as many as `piece` holds, with the slots that they are in. Says where to go on; none
/// at the end of the shard.
fn take_piece(shard: &Shard, first: u32, moment: Moment, piece: &mut [Option<(Item, u32)>]) -> Option<u32> {
    let slots = shard.slab.slots();
    let end = first.saturating_add(PIECE as u32).min(slots);
    let mut places = piece.iter_mut();
    for slot in first..end {
        if shard.slab.get(Slot(slot)).bytes.is_none() || shard.is_dead(Slot(slot), moment) {
            continue;
        }
        let Some(place) = places.next() else { return Some(slot) };
        *place = shard.item(Slot(slot)).map(|item| (item, slot));
    }
    (end < slots).then_some(end)
}
