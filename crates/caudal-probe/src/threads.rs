//! Futex words that belong to a thread: what a runtime tells the library of each thread that runs requests.

use core::ops::Range;

use crate::sys;

/// The word of the first futex wait that `body` comes to on this thread, by the C library's `syscall`. The wait itself is as ever.
pub fn futex_of(body: impl FnOnce()) -> Option<*const u32> {
    sys::caudal_learn_futex_v1();
    body();
    let word = sys::caudal_learnt_futex_v1();
    (!word.is_null()).then_some(word)
}

/// This thread's `std::thread::park` waits on `word`: from now on several of its requests may at once. One that is set aside leaves the
/// word as if nobody waited, and returns when there is a token, or for no reason.
///
/// # Safety
/// It is the word of the Parker of this thread, which std has in its own form: 0, 1 (a token), and all ones (parked).
pub unsafe fn parker_is(word: *const u32) {
    // SAFETY: as the caller says.
    unsafe { sys::caudal_parker_is_v1(word) }
}

/// Where this thread has the thread-locals of the program (or of the shared object that this crate is part of). From now on
/// two requests of this thread that wait on one of them at once end the process.
pub fn thread_locals() -> Option<Range<usize>> {
    let mut bounds = [0; 2];
    sys::caudal_thread_locals_v1(&mut bounds);
    (bounds[1] != 0).then_some(bounds[0]..bounds[1])
}
