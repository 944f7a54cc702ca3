//! Doorbells: a word in memory that changes when something has come to a source, so that a worker hears of it without a system call.
//! A program's source makes one and hands it out at the start; in-process channels have one. The worker that polls the source reads it between slices.
//!
//! ```text
//!  who brings something                          the worker
//!   makes it visible to Source::poll              seen = look()            before each poll
//!   changes the word (Release)                    Source::poll
//!                                                 has_rung(seen)? (Acquire)   between slices, and when a lone request goes on
//! ```
//!
//! *Why nothing is missed while the worker runs requests.* The worker remembers the word as it was before the poll. If the word changes after
//! that, `has_rung` says so and the worker polls again. If it had changed before, the poll that followed saw what had come, for the look
//! acquires what the change released. The worst case is one poll that finds nothing.
//!
//! *A doorbell wakes nobody.* A worker that sleeps waits for the source's descriptor.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::base::primitives::{AtomicU32, Ordering};

/// When a doorbell has rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rings {
    /// When the word is not what it was before the last poll: a counter of arrivals, as a filter in the kernel keeps one.
    OnChange,
    /// For as long as any of these bits is set. Polling clears them.
    WhileSet(u32),
}

/// A word that tells of arrivals. See the [module](self).
#[derive(Clone, Debug)]
pub struct Doorbell {
    word: NonNull<AtomicU32>,
    /// Bits that ring.
    bits: u32,
    /// Bits that are remembered from before a poll.
    remembered: u32,
    /// Keeps the word's memory.
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the word is an atomic that everybody may read, and the owner of its memory is `Send` and `Sync`.
unsafe impl Send for Doorbell {}
// SAFETY: as above.
unsafe impl Sync for Doorbell {}

impl Doorbell {
    /// The doorbell of a word of the process.
    pub fn new(word: Arc<AtomicU32>, rings: Rings) -> Doorbell {
        let address = NonNull::from(&*word);
        // SAFETY: the owner is the word's own `Arc`.
        unsafe { Doorbell::in_memory(address, rings, word) }
    }

    /// The doorbell of a word in memory that others write as well: a map of the kernel, or a ring.
    ///
    /// # Safety
    /// The word can be read for as long as `owner` lives, and is written by atomic stores alone.
    pub unsafe fn in_memory(
        word: NonNull<AtomicU32>,
        rings: Rings,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Doorbell {
        let (bits, remembered) = match rings {
            Rings::OnChange => (u32::MAX, u32::MAX),
            Rings::WhileSet(bits) => (bits, 0),
        };
        Doorbell { word, bits, remembered, _owner: owner }
    }

    fn load(&self) -> u32 {
        // SAFETY: the owner keeps the memory, as the constructor's caller has promised.
        unsafe { self.word.as_ref() }.load(Ordering::Acquire)
    }

    /// The part of the word that a poll that begins now has to remember.
    #[inline]
    pub(crate) fn look(&self) -> u32 {
        self.load() & self.remembered
    }

    /// Has it rung since the poll that remembers `seen`?
    #[inline]
    pub(crate) fn has_rung(&self, seen: u32) -> bool {
        self.load() & self.bits != seen
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_counter_rings_until_the_next_look_and_a_flag_until_it_is_cleared() {
        let word = Arc::new(AtomicU32::new(7));
        let counter = Doorbell::new(Arc::clone(&word), Rings::OnChange);
        let flag = Doorbell::new(Arc::clone(&word), Rings::WhileSet(8));
        let (seen, cleared) = (counter.look(), flag.look());
        assert_eq!((counter.has_rung(seen), flag.has_rung(cleared)), (false, false));
        word.store(8, Ordering::Release);
        assert_eq!((counter.has_rung(seen), flag.has_rung(cleared)), (true, true));
        let (seen, still) = (counter.look(), flag.look());
        assert_eq!((counter.has_rung(seen), flag.has_rung(still)), (false, true));
        word.store(0, Ordering::Release);
        assert_eq!((counter.has_rung(seen), flag.has_rung(still)), (true, false));
    }
}

/// Arrivals at a source with a doorbell, in every order.
#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::base::primitives::thread;
    use crate::loom_models::model;

    /// Two arrivals, each of which is visible before the word changes; the worker polls only when the doorbell has rung.
    fn arrivals(rings: Rings) {
        model(3, move || {
            let word = Arc::new(AtomicU32::new(0));
            let arrived = Arc::new(AtomicU32::new(0));
            let bell = Doorbell::new(Arc::clone(&word), rings);
            let source = {
                let (word, arrived) = (Arc::clone(&word), Arc::clone(&arrived));
                thread::spawn(move || {
                    for _ in 0..2 {
                        arrived.fetch_add(1, Ordering::Relaxed);
                        match rings {
                            Rings::OnChange => word.fetch_add(1, Ordering::Release),
                            Rings::WhileSet(bits) => word.fetch_or(bits, Ordering::Release),
                        };
                    }
                })
            };
            let mut taken = 0;
            let mut poll = || {
                let seen = bell.look();
                if let Rings::WhileSet(bits) = rings {
                    word.fetch_and(!bits, Ordering::AcqRel);
                }
                taken += arrived.swap(0, Ordering::Relaxed);
                seen
            };
            let mut seen = poll();
            // Slices: the worker looks after each.
            for _ in 0..2 {
                if bell.has_rung(seen) {
                    seen = poll();
                }
            }
            source.join().unwrap();
            if bell.has_rung(seen) {
                poll();
            }
            assert_eq!(taken, 2, "an arrival of which no doorbell tells is not polled for");
        });
    }

    #[test]
    fn no_arrival_is_missed_by_a_counter() {
        arrivals(Rings::OnChange);
    }

    #[test]
    fn no_arrival_is_missed_by_a_flag() {
        arrivals(Rings::WhileSet(1));
    }
}
