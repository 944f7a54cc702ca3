//! Log of where submitters placed their requests, in a runtime without a dispatcher. Any thread writes an entry when it places a request,
//! if decisions are logged; the copy of the log that a program takes has them.
//!
//! Any thread may submit, so submitters have no buffers of their own: they share one. An entry is two words; a thread that has drawn a place from
//! `next` writes its number first and then, with `Release`, its pool, which is zero until then.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use caudal_log::{Entry, Thread, ThreadLog};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Submitted {
    places: Box<[PlacedEntry]>,
    next: AtomicUsize,
}

#[derive(Debug, Default)]
struct PlacedEntry {
    number: AtomicU64,
    /// Pool + 1; 0: not written yet.
    pool: AtomicU64,
}

impl Submitted {
    pub(super) fn new(capacity: usize) -> Submitted {
        Submitted {
            places: (0..capacity).map(|_| PlacedEntry::default()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The submitter placed its request `number` at `pool`.
    pub(crate) fn placed(&self, number: u64, pool: usize) {
        if let Some(place) = self.places.get(self.next.fetch_add(1, Relaxed)) {
            place.number.store(number, Relaxed);
            place.pool.store(pool as u64 + 1, Release);
        }
    }

    /// A copy of the entries up to the first that is still being written.
    pub(super) fn copy(&self) -> ThreadLog {
        let placed = |place: &PlacedEntry| {
            let pool = place.pool.load(Acquire).checked_sub(1)?;
            Some(Entry::Placed { number: place.number.load(Relaxed), pool: pool as u32 })
        };
        let entries = self.places.iter().map_while(placed).collect();
        let lost = self.next.load(Relaxed).saturating_sub(self.places.len());
        ThreadLog { thread: Thread::Submitters, entries, lost: lost as u64 }
    }
}
