//! End of a cell's references: the thread that drops the last one sends the cell home. Called by queues, workers, handles and the helper.

use super::cell::Request;
use super::pool::release;
use super::state::Reference;

impl Request {
    /// Drops `reference`; the last one frees the cell.
    ///
    /// # Safety
    /// The caller has that reference, and does not touch the cell afterwards.
    #[inline]
    pub(crate) unsafe fn drop_ref(self, reference: Reference) {
        // SAFETY: as the caller promises.
        if unsafe { self.state.drop_ref(reference) } {
            // SAFETY: that was the last reference.
            unsafe { release(self) };
        }
    }
}
