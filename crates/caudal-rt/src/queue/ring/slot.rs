//! One slot of a ring, for the ring alone, which says who owns a slot's value when; the picture and the protocol are in the module above.

use std::mem::MaybeUninit;

use crate::base::primitives::{AtomicU64, Ordering, UnsafeCell};

/// Sequence number, value and stamp: 32 bytes, so that a slot never straddles two cache lines.
#[cfg_attr(not(loom), repr(C, align(32)))]
pub(super) struct Slot<T> {
    pub(super) sequence: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
    /// Atomic since a peeker reads it while its owner may be writing.
    pub(super) stamp: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot<u64>>() == 32);

impl<T: Copy> Slot<T> {
    /// Free for the producer of this position.
    pub(super) fn free_for(position: u64) -> Self {
        Self {
            sequence: AtomicU64::new(position),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            stamp: AtomicU64::new(0),
        }
    }

    /// Fills the slot and publishes it.
    ///
    /// # Safety
    /// The caller owns `position` as its producer, and has read (Acquire) that the slot is free for it.
    #[inline]
    pub(super) unsafe fn fill(&self, position: u64, value: T, stamp: u64) {
        // SAFETY: the caller owns the slot until the store below.
        self.access(|cell| unsafe { cell.write(MaybeUninit::new(value)) });
        // Release: a peeker that reads it must see that `head` has passed what was here before.
        self.stamp.store(stamp, Ordering::Release);
        self.sequence.store(position + 1, Ordering::Release);
    }

    /// Empties the slot and frees it for the next lap.
    ///
    /// # Safety
    /// The caller owns `position` as its consumer, and has read (Acquire) that the slot is full for it.
    #[inline]
    pub(super) unsafe fn take(&self, position: u64, capacity: u64) -> (T, u64) {
        // SAFETY: the caller owns the slot until the store below, and its producer has written the value.
        let value = self.access(|cell| unsafe { cell.read().assume_init() });
        let stamp = self.stamp.load(Ordering::Relaxed);
        self.sequence.store(position + capacity, Ordering::Release);
        (value, stamp)
    }

    /// Asks for the slot's line before it is needed.
    #[inline]
    pub(super) fn fetch_to_write(&self) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch changes nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(self).cast()) };
    }

    #[cfg(not(loom))]
    #[inline]
    fn access<R>(&self, touch: impl FnOnce(*mut MaybeUninit<T>) -> R) -> R {
        touch(self.value.get())
    }

    /// loom's cell fails the model when two threads are in here unordered.
    #[cfg(loom)]
    fn access<R>(&self, touch: impl FnOnce(*mut MaybeUninit<T>) -> R) -> R {
        self.value.with_mut(touch)
    }
}
