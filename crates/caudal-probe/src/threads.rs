//! Futex words and thread-local storage that belong to a thread. A runtime tells the probe library of them when one of its threads begins, before that
//! runs requests.

use core::ops::Range;

use crate::sys;

/// The word of the first futex wait that `body` makes on this thread through the C library's `syscall`. The wait itself does not change.
pub fn futex_of(body: impl FnOnce()) -> Option<*const u32> {
    sys::caudal_learn_futex_v1();
    body();
    let word = sys::caudal_learnt_futex_v1();
    (!word.is_null()).then_some(word)
}

/// Tells the library that this thread's `std::thread::park` waits on `word`. From now on several of its requests may park at once. A request
/// that is set aside leaves the word as if nobody waited; its `park` returns when there is a token, or spuriously.
///
/// # Safety
/// `word` is that of std's Parker of this thread, which is 0, 1 (a token), or all ones (parked).
pub unsafe fn parker_is(word: *const u32) {
    // SAFETY: as the caller says.
    unsafe { sys::caudal_parker_is_v1(word) }
}

/// The addresses of this thread's thread-locals of the program (or of the shared object that this crate is part of); none if they are not
/// known. From now on, if two requests of this thread wait on one of them at the same time, the process ends.
pub fn thread_locals() -> Option<Range<usize>> {
    let mut bounds = [0; 2];
    sys::caudal_thread_locals_v1(&mut bounds);
    (bounds[1] != 0).then_some(bounds[0]..bounds[1])
}
