//! Forks: a child process has the memory of a runtime and none of its threads. Starts of runtimes, submissions and waits ask here whether
//! the process is such a child; the start of a runtime registers the hook that counts forks.
//!
//! Nobody in the child can know what a thread that is not there was about to do in the runtime's memory, or which locks it held. So a
//! runtime of the parent's takes no submission in the child and lets nobody wait there, and while the parent had threads of any
//! runtime at the fork, the child starts none.
//!
//! A handler that forks goes on in the child, on a worker's thread: it is no request there any more, so that it yields to none. Where
//! it returns, into a worker whose block no longer names a runtime, the child is ended. The block alone says so: the depth is what the handler
//! has made of it since, and forks by `_Fork` or by the kernel's call alone are counted nowhere.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_probe as probe;

use super::say::say;

static FORKS: AtomicU64 = AtomicU64::new(0);
/// Workers and dispatchers of this process, of all runtimes.
static THREADS: AtomicU64 = AtomicU64::new(0);
/// This process, or one before it, was forked while there were any.
static ORPHANED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    if THREADS.swap(0, Ordering::Relaxed) != 0 {
        ORPHANED.store(true, Ordering::Relaxed);
    }
    forget_worker();
}

/// In a forked child: its only thread is no worker any more, should it have been one, and yields nowhere.
fn forget_worker() {
    /// Depth of sections that are never left: the worker finds it where the handler returns.
    const IN_CHILD: u32 = 1 << 31;
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *probe::block() };
    if block.runtime == 0 {
        return;
    }
    block.runtime = 0;
    block.depth = IN_CHILD;
    probe::disarm();
}

/// Watches forks from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler touches atomics, and what is the calling thread's alone, which a child may do at any time.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// Number of forks that lie between this process and the first one that watched.
#[inline]
pub(crate) fn count() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Is this the child of a process that had threads of a runtime?
pub(crate) fn is_orphaned() -> bool {
    ORPHANED.load(Ordering::Relaxed)
}

/// A thread of a runtime, while this lives.
pub(crate) struct RuntimeThread(());

impl RuntimeThread {
    pub(crate) fn begin() -> RuntimeThread {
        THREADS.fetch_add(1, Ordering::Relaxed);
        RuntimeThread(())
    }
}

impl Drop for RuntimeThread {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A handler has returned in a child: what it returns to is a worker that would go on with requests that the parent has.
#[cold]
pub(crate) fn end_child() -> ! {
    say!(
        "a handler has forked, and its child returned from it into a runtime that has no threads there: let children of \
         handlers end with _exit, or call exec"
    );
    std::process::abort()
}
