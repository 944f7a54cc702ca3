//! Sections in which no probe yields, and the question whether the caller is on a coroutine. The runtime's code enters such a section
//! wherever it runs on a request's coroutine and must not be interrupted by another request of the same thread.

use std::marker::PhantomData;

use caudal_probe as probe;

/// Section in which no probe yields, for as long as this lives; a yield that came due meanwhile happens where the outermost section ends.
pub(crate) struct NoYield(PhantomData<*const ()>);

impl NoYield {
    #[inline]
    pub(crate) fn enter() -> NoYield {
        probe::critical_enter();
        NoYield(PhantomData)
    }
}

impl Drop for NoYield {
    #[inline]
    fn drop(&mut self) {
        probe::critical_exit();
    }
}

/// Does the caller run on a coroutine of this thread's worker? Where a worker schedules, in forked children and on other threads it does not.
#[inline]
pub(crate) fn is_on_coroutine() -> bool {
    // SAFETY: the block is this thread's. Workers note there on which stack a request runs, for as long as it does.
    let block = unsafe { &*probe::block() };
    block.runtime != 0 && block.stack_low != 0
}
