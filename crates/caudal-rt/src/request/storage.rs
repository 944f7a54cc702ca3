//! Memory of a cell for a closure, then its result. Only a raw pointer to it is given out; `job.rs` says who may use it when.

use std::mem::MaybeUninit;

use crate::base::primitives::UnsafeCell;

/// Closures and results of up to so many bytes, with an alignment of up to 16, are kept in the cell.
pub(crate) const INLINE_BYTES: usize = 144;

#[repr(C, align(16))]
struct Bytes([u8; INLINE_BYTES]);

/// See the [module](self).
pub(super) struct Storage(UnsafeCell<MaybeUninit<Bytes>>);

// SAFETY: all that safe code can get of it is an address; whoever reads or writes there says why it may.
unsafe impl Sync for Storage {}
// SAFETY: as above; closures and results are `Send`.
unsafe impl Send for Storage {}

impl Storage {
    pub(super) fn empty() -> Storage {
        Storage(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[cfg(not(loom))]
    #[inline(always)]
    pub(super) fn get(&self) -> *mut u8 {
        self.0.get().cast()
    }

    /// loom's cell fails the model when two threads ask for it unordered.
    #[cfg(loom)]
    pub(super) fn get(&self) -> *mut u8 {
        self.0.with_mut(<*mut _>::cast)
    }
}
