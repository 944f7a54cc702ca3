//! The inbox of a worker: a bounded FIFO queue that many may fill and many may empty.
//!
//! It is D. Vyukov's bounded queue of many producers and many consumers: a ring of slots, each with a sequence
//! number that says whether a producer or a consumer may use it next. A position counts values since the ring was made and never wraps (64 bits);
//! position `p` lives in slot `p mod capacity`.
//!
//! ```text
//!      head, its own 128 bytes         tail, its own 128 bytes
//!         │ next position to take         │ next position to fill
//!         ▼                               ▼
//!   ┌───────────┬───────────┬───────────┬───────────┬── ── ──┐     capacity: a power of two, at least 2
//!   │  slot 0   │  slot 1   │  slot 2   │  slot 3   │        │
//!   └───────────┴───────────┴───────────┴───────────┴── ── ──┘
//!
//!   slot, 32 bytes, two to a cache line
//!   0        8        16       24       32
//!   ├────────┼────────┼────────┼────────┤
//!   │sequence│ value  │ stamp  │ unused │
//!   └────────┴────────┴────────┴────────┘
//!
//!   sequence = p              free: the producer of position p may fill it
//!   sequence = p + 1          full: the consumer of position p may take it
//!   sequence = p + capacity   free again, for the producer of the next lap
//! ```
//!
//! ## Who may touch what
//!
//! | field | written by | read by |
//! | --- | --- | --- |
//! | `tail` | producers by compare-and-swap, or the one producer by a plain store | producers, [`Ring::len`] |
//! | `head` | consumers by compare-and-swap | consumers, [`Ring::len`], [`Ring::oldest`] |
//! | `sequence` of slot p | who owns position p: its producer, then its consumer | anyone |
//! | `value` | the producer that owns p, before it sets the sequence to p + 1 | the consumer that owns p |
//! | `stamp` | as `value` | the consumer that owns p, and anyone by [`Ring::oldest`] |
//!
//! A producer owns position `p` once it has moved `tail` from p to p + 1, which it tries only after it has read p
//! in the slot's sequence; a consumer owns p once it has moved `head` from p to p + 1, after it has read p + 1.
//!
//! ## Orderings
//!
//! * `sequence.store(p + 1, Release)` pairs with the consumer's `sequence.load(Acquire)`: a consumer that reads p + 1 reads the
//!   value and the stamp of position p.
//! * `sequence.store(p + capacity, Release)` pairs with the next lap's producer's `sequence.load(Acquire)`: the
//!   consumer has read the value before it is overwritten.
//! * `head` and `tail` are moved by relaxed operations: they decide who owns a position and publish nothing.
//! * `stamp.store(Release)` pairs with `stamp.load(Acquire)` in [`Ring::oldest`], for which see there.
//!
//! ## Why no value is lost or seen twice
//!
//! `head` and `tail` move by compare-and-swap from p to p + 1 and never back: a position has one producer and one
//! consumer. The consumer of p takes only after it has read p + 1, which the producer of p alone writes, after the
//! value: it takes that value. The producer of p + capacity fills only after it has read p + capacity, which the
//! consumer of p alone writes, after it has taken: nothing is overwritten that was not taken. With one slot alone
//! "full for p" and "free for p + 1" would be the same number, hence at least two.
//!
//! ## Who stalls whom
//!
//! No operation waits. A producer that stalls between owning p and publishing it hides the later values: `pop`
//! says that the ring is empty until p is published. A consumer that stalls between owning p and freeing it makes
//! the ring full one lap later, for producers that reach its slot. Workers are pinned and producers do nothing
//! between the two steps, so that a stall is a thread that the kernel or the hypervisor took off its core.
//!
//! ## Before a worker parks
//!
//! An empty ring is no promise about a push that another thread has just made. A thread that announces its sleep and
//! then reads the ring puts a `fence(SeqCst)` between the two, and a thread that pushes and then reads the
//! announcement does likewise.

mod producer;
mod slot;
pub mod stack;

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::base::primitives::{AtomicBool, AtomicU64, Ordering};
use slot::Slot;

pub use producer::SingleProducer;

/// The ring holds as many values as it has slots: nothing was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring is full")]
pub struct Full;

/// A word on cache lines of its own: two, since processors fetch lines in pairs.
#[repr(align(128))]
struct Apart<T>(T);

/// Number of threads that may push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Producers {
    Many,
    One,
}

/// A bounded FIFO queue of words of at most 8 bytes, each with a stamp of 64 bits (its arrival time, say).
///
/// Values still in the ring when it is dropped are forgotten: they are `Copy` and own nothing.
pub struct Ring<T> {
    head: Apart<AtomicU64>,
    tail: Apart<AtomicU64>,
    // From here on nothing changes but `claimed`, once in the life of a producer.
    slots: Box<[Slot<T>]>,
    mask: u64,
    producers: Producers,
    /// The one producer's handle is out.
    claimed: AtomicBool,
}

// SAFETY: a value goes in by copy on one thread and comes out once on another, hence `T: Send`; nobody gets a
// reference to a value in a slot, and each slot's cell is touched by the owner of its position only (module's head).
unsafe impl<T: Copy + Send> Sync for Ring<T> {}
// SAFETY: as above; the ring has no tie to a thread.
unsafe impl<T: Copy + Send> Send for Ring<T> {}

/// State of the head's slot, as a check finds it.
enum Front {
    /// Full: whoever moves `head` from here owns it.
    Ready,
    /// Not filled yet.
    Empty,
    /// Taken by somebody else since `head` was read.
    Moved,
}

impl<T: Copy> Ring<T> {
    /// A ring that any thread may push to; `capacity` in values.
    ///
    /// # Panics
    /// If `capacity` is not a power of two from 2 to 2^32.
    pub fn new(capacity: usize) -> Self {
        Self::with_producers(capacity, Producers::Many)
    }

    /// A ring that is filled through [`Self::producer`] only: a push then costs no compare-and-swap.
    ///
    /// # Panics
    /// If `capacity` is not a power of two from 2 to 2^32.
    pub fn with_one_producer(capacity: usize) -> Self {
        Self::with_producers(capacity, Producers::One)
    }

    fn with_producers(capacity: usize, producers: Producers) -> Self {
        const { assert!(size_of::<T>() <= 8, "a ring holds words: let it hold a pointer to what is larger") };
        assert!(capacity.is_power_of_two(), "the capacity of a ring, {capacity}, is not a power of two");
        assert!(
            (2..=1 << 32).contains(&capacity),
            "the capacity of a ring, {capacity}, is outside 2 ..= 2^32"
        );
        Self {
            head: Apart(AtomicU64::new(0)),
            tail: Apart(AtomicU64::new(0)),
            slots: (0..capacity as u64).map(Slot::free_for).collect(),
            mask: capacity as u64 - 1,
            producers,
            claimed: AtomicBool::new(false),
        }
    }

    /// Most values that it holds.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn slot(&self, position: u64) -> &Slot<T> {
        let index = (position & self.mask) as usize;
        // SAFETY: the mask is the number of slots, a power of two, less one.
        unsafe { self.slots.get_unchecked(index) }
    }

    /// Appends a value.
    ///
    /// # Errors
    /// [`Full`] when the slot that is next still holds a value, or its consumer has not left it yet.
    ///
    /// # Panics
    /// If the ring was made [`Self::with_one_producer`]: its handle alone may push.
    #[inline]
    pub fn push(&self, value: T, stamp: u64) -> Result<(), Full> {
        assert!(self.producers == Producers::Many, "this ring is filled through its one producer's handle");
        let mut position = self.tail.0.load(Ordering::Relaxed);
        // Whoever polls has the line: to read it first and ask for it to write afterwards would be two hops.
        self.slot(position).fetch_to_write();
        loop {
            let slot = self.slot(position);
            let sequence = slot.sequence.load(Ordering::Acquire);
            if sequence < position {
                return Err(Full);
            }
            if sequence > position {
                // Another producer has been here: `tail` is ahead of what was read.
                position = self.tail.0.load(Ordering::Relaxed);
                continue;
            }
            let own = self.tail.0.compare_exchange_weak(
                position,
                position + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match own {
                Ok(_) => {
                    // SAFETY: `tail` was moved from here by this thread, and the slot was free for this position.
                    unsafe { slot.fill(position, value, stamp) };
                    return Ok(());
                }
                Err(seen) => position = seen,
            }
        }
    }

    /// Takes the oldest value and its stamp; `None` when the ring is empty or its oldest value is not yet
    /// published.
    ///
    /// Reads the head's slot and never `tail`: an empty poll touches no line that a producer of another slot
    /// writes.
    #[inline]
    pub fn pop(&self) -> Option<(T, u64)> {
        let mut position = self.head.0.load(Ordering::Relaxed);
        loop {
            let slot = self.slot(position);
            match front(slot, position) {
                Front::Empty => return None,
                Front::Moved => position = self.head.0.load(Ordering::Relaxed),
                Front::Ready => {
                    slot.fetch_to_write();
                    let own = self.head.0.compare_exchange_weak(
                        position,
                        position + 1,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    match own {
                        // SAFETY: `head` was moved from here by this thread, and the slot was full for this position.
                        Ok(_) => return Some(unsafe { slot.take(position, self.mask + 1) }),
                        Err(seen) => position = seen,
                    }
                }
            }
        }
    }

    /// The stamp of the oldest value, which stays where it is; `None` when there is none.
    ///
    /// The value was the oldest at the moment of the second reading of `head`: a new stamp in that slot is stored
    /// (Release) by a producer that has seen the slot freed, hence after `head` had moved on; whoever reads it (Acquire)
    /// therefore reads a `head` that has moved, and reads again. Every further reading means that somebody took a
    /// value.
    pub fn oldest(&self) -> Option<u64> {
        let mut position = self.head.0.load(Ordering::Relaxed);
        loop {
            let slot = self.slot(position);
            if let Front::Empty = front(slot, position) {
                return None;
            }
            let stamp = slot.stamp.load(Ordering::Acquire);
            let again = self.head.0.load(Ordering::Relaxed);
            if again == position {
                return Some(stamp);
            }
            position = again;
        }
    }

    /// True if a `pop` now would find nothing.
    pub fn is_empty(&self) -> bool {
        let mut position = self.head.0.load(Ordering::Relaxed);
        loop {
            match front(self.slot(position), position) {
                Front::Empty => return true,
                Front::Ready => return false,
                Front::Moved => position = self.head.0.load(Ordering::Relaxed),
            }
        }
    }

    /// Number of values, from 0 to the capacity; exact only while nobody pushes or pops.
    ///
    /// Values whose producer has not published them yet count.
    pub fn len(&self) -> usize {
        let head = self.head.0.load(Ordering::Relaxed);
        let tail = self.tail.0.load(Ordering::Relaxed);
        // The two are not read at one moment: either may be ahead of the other.
        (tail.saturating_sub(head) as usize).min(self.capacity())
    }
}

/// Whether position `position`, which was read from `head`, can be taken.
#[inline]
fn front<T>(slot: &Slot<T>, position: u64) -> Front {
    let sequence = slot.sequence.load(Ordering::Acquire);
    match sequence.cmp(&(position + 1)) {
        std::cmp::Ordering::Equal => Front::Ready,
        std::cmp::Ordering::Less => Front::Empty,
        std::cmp::Ordering::Greater => Front::Moved,
    }
}

impl<T> std::fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("capacity", &self.slots.len())
            .field("producers", &self.producers)
            .finish()
    }
}
