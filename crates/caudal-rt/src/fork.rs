//! Forks: a child process has the memory of a runtime and none of its threads.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Watches forks from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler adds to an atomic, which a child may do at any time.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// How many forks lie between this process and the first one that watched.
#[inline]
pub(crate) fn count() -> u64 {
    FORKS.load(Ordering::Relaxed)
}
