//! The system call `futex`, by which a thread sleeps on a word and others wake it. Everything of this crate that sleeps or wakes a thread
//! calls it, but no worker does so on the path of a request; models have `modelled_futex.rs` in its place.

use std::ptr;
use std::time::Duration;

use crate::base::primitives::AtomicU32;

/// Sleeps while `word` is `value`, at most for `longest`; may return for no reason.
pub(crate) fn wait(word: &AtomicU32, value: u32, longest: Option<Duration>) {
    let span = longest.map(|longest| libc::timespec {
        tv_sec: longest.as_secs().min(1 << 30) as libc::time_t,
        tv_nsec: libc::c_long::from(longest.subsec_nanos()),
    });
    let span = span.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the word and the span live during the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            span,
        );
    }
}

/// Wakes up to `count` threads that sleep on `word`.
pub(crate) fn wake(word: &AtomicU32, count: i32) {
    wake_at(word, count);
}

/// As [`wake`], for a word that may be gone.
pub(crate) fn wake_at(word: *const AtomicU32, count: i32) {
    // SAFETY: the kernel does not touch the word, it only compares its address.
    unsafe {
        libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, count);
    }
}
