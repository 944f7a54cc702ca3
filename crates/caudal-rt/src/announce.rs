//! Switches of stacks, announced to ThreadSanitizer, which takes a thread for one sequence of accesses on one stack.
//!
//! To it a coroutine is a *fiber*, with a history of its own: without that it would see accesses of a coroutine that has
//! moved, and those of its next worker, as one thread's. Each switch says, just before the stack changes, who goes on:
//!
//! ```text
//!  worker ── enter ──▶ stack of the coroutine ── leave ──▶ worker
//!            parent := who runs           goes on: parent
//! ```
//!
//! A switch orders what was done before it with what is done after it, as it does on the one thread on which both run.
//!
//! All of it is there with `--cfg caudal_tsan` only, which `scripts/sanitize` sets; else a [`Announced`] is nothing. AddressSanitizer is
//! told by corosensei itself, whose feature `sanitizer` comes with `--cfg caudal_asan`.

#[cfg(caudal_tsan)]
pub(crate) use fibers::Announced;
#[cfg(not(caudal_tsan))]
pub(crate) use nothing::Announced;

#[cfg(caudal_tsan)]
mod fibers {
    use std::cell::Cell;
    use std::ffi::c_void;
    use std::ptr;

    unsafe extern "C" {
        fn __tsan_get_current_fiber() -> *mut c_void;
        fn __tsan_create_fiber(flags: u32) -> *mut c_void;
        fn __tsan_destroy_fiber(fiber: *mut c_void);
        fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: u32);
    }

    /// What the sanitizer knows of a coroutine.
    pub(crate) struct Announced {
        fiber: *mut c_void,
        /// Who has resumed it; null while it does not run.
        parent: Cell<*mut c_void>,
    }

    impl Announced {
        pub(crate) fn new() -> Announced {
            // SAFETY: the call has no precondition; 0 is the only flag.
            let fiber = unsafe { __tsan_create_fiber(0) };
            Announced { fiber, parent: Cell::new(ptr::null_mut()) }
        }

        /// The coroutine is about to go on, on this thread.
        pub(crate) fn enter(&self) {
            // SAFETY: the fiber lives, and runs nowhere: its worker is about to resume it.
            unsafe {
                self.parent.set(__tsan_get_current_fiber());
                __tsan_switch_to_fiber(self.fiber, 0);
            }
        }

        /// The coroutine is about to give its worker back, or has left without a word.
        pub(crate) fn leave(&self) {
            let parent = self.parent.replace(ptr::null_mut());
            // SAFETY: the parent is the worker's thread, or fiber, which waits for this switch.
            unsafe { __tsan_switch_to_fiber(parent, 0) };
        }
    }

    impl Drop for Announced {
        fn drop(&mut self) {
            // SAFETY: the coroutine is gone, so the fiber runs nowhere and never will.
            unsafe { __tsan_destroy_fiber(self.fiber) };
        }
    }
}

#[cfg(not(caudal_tsan))]
mod nothing {
    /// Nobody wants to know.
    pub(crate) struct Announced(());

    impl Announced {
        #[inline(always)]
        pub(crate) fn new() -> Announced {
            Announced(())
        }

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn enter(&self) {}

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn leave(&self) {}
    }
}
