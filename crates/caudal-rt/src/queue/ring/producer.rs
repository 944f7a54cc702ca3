//! The handle of a ring's one producer. The dispatcher has one for each inbox that nobody else fills; a push by it costs no
//! compare-and-swap.

use super::{Full, Producers, Ring};
use crate::base::primitives::Ordering;

/// The only one who may push to a ring made [`Ring::with_one_producer`]; dropping it lets another be had.
///
/// Nobody else moves `tail`, so the handle keeps it and stores it for [`Ring::len`] only.
#[derive(Debug)]
pub struct SingleProducer<'a, T> {
    ring: &'a Ring<T>,
    tail: u64,
}

impl<T: Copy> Ring<T> {
    /// The handle through which this ring is filled; `None` while another one lives, and for a ring that anyone may
    /// push to.
    pub fn producer(&self) -> Option<SingleProducer<'_, T>> {
        // Acquire pairs with the Release of the last handle's drop: its tail is seen.
        if self.producers == Producers::Many || self.claimed.swap(true, Ordering::Acquire) {
            return None;
        }
        Some(SingleProducer { ring: self, tail: self.tail.0.load(Ordering::Relaxed) })
    }
}

impl<T: Copy> SingleProducer<'_, T> {
    /// Appends a value: one load, three stores to its slot, one to `tail`.
    ///
    /// # Errors
    /// [`Full`] when the slot that is next still holds a value, or its consumer has not left it yet.
    #[inline]
    pub fn push(&mut self, value: T, stamp: u64) -> Result<(), Full> {
        self.fill_next(value, stamp)?;
        self.ring.tail.0.store(self.tail, Ordering::Relaxed);
        Ok(())
    }

    /// Appends values with their stamps until the ring is full; how many it took, from the first on.
    ///
    /// Each can be popped as soon as it is in; [`Ring::len`] learns of all of them at the end.
    #[inline]
    pub fn push_batch(&mut self, batch: &[(T, u64)]) -> usize {
        let taken = batch.iter().take_while(|&&(value, stamp)| self.fill_next(value, stamp).is_ok()).count();
        self.ring.tail.0.store(self.tail, Ordering::Relaxed);
        taken
    }

    #[inline]
    fn fill_next(&mut self, value: T, stamp: u64) -> Result<(), Full> {
        let slot = self.ring.slot(self.tail);
        if slot.sequence.load(Ordering::Acquire) != self.tail {
            return Err(Full);
        }
        // SAFETY: this handle is the only one (`claimed`), so position `tail` is its own; the slot is free for it.
        unsafe { slot.fill(self.tail, value, stamp) };
        self.tail += 1;
        Ok(())
    }

    /// Asks for the slot that is next, which its consumer wrote last, so that it is here at the next push.
    #[inline]
    pub fn fetch(&self) {
        self.ring.slot(self.tail).fetch_to_write();
    }

    /// The ring that it fills.
    pub fn ring(&self) -> &Ring<T> {
        self.ring
    }
}

impl<T> Drop for SingleProducer<'_, T> {
    fn drop(&mut self) {
        self.ring.claimed.store(false, Ordering::Release);
    }
}
