//! The announcements of stack switches to the sanitizers, which take a thread for one sequence of accesses on one stack. `coroutine`
//! calls it before and after each switch; without a sanitizer it compiles to nothing.
//!
//! To ThreadSanitizer a coroutine is a *fiber*, with a history of its own: without that it would see accesses of a coroutine that
//! has moved, and those of its next worker, as one thread's. Each switch says, just before the stack changes, who goes on.
//! AddressSanitizer wants to know the bounds of the stack that comes, and on it that it is there:
//!
//! ```text
//!  worker ── enter ──▶ entered: stack of the coroutine ── leave ──▶ left: worker
//!            parent := who runs                            goes on: parent
//! ```
//!
//! A switch orders what was done before it with what is done after it, as it does on the one thread on which both run.
//!
//! All of it is there with `--cfg caudal_tsan` or `--cfg caudal_asan` only, which `scripts/sanitize` sets; else a [`Announced`] is
//! nothing.

#[cfg(caudal_asan)]
pub(crate) use bounds::Announced;
#[cfg(caudal_tsan)]
pub(crate) use fibers::Announced;
#[cfg(not(any(caudal_tsan, caudal_asan)))]
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

    /// A coroutine, as the sanitizer knows it.
    #[derive(Debug)]
    pub(crate) struct Announced {
        fiber: *mut c_void,
        /// The fiber that has resumed it; null while it does not run.
        parent: Cell<*mut c_void>,
    }

    impl Announced {
        pub(crate) fn new(_low: usize, _high: usize) -> Announced {
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

        /// The coroutine goes on.
        #[allow(clippy::unused_self)]
        pub(crate) fn entered(&self) {}

        /// The coroutine is about to give its worker back, or has left without a word.
        pub(crate) fn leave(&self) {
            let parent = self.parent.replace(ptr::null_mut());
            // SAFETY: the parent is the worker's thread, or fiber, which waits for this switch.
            unsafe { __tsan_switch_to_fiber(parent, 0) };
        }

        /// The worker goes on.
        #[allow(clippy::unused_self)]
        pub(crate) fn left(&self) {}
    }

    impl Drop for Announced {
        fn drop(&mut self) {
            // SAFETY: the coroutine is gone, so the fiber runs nowhere and never will.
            unsafe { __tsan_destroy_fiber(self.fiber) };
        }
    }
}

#[cfg(caudal_asan)]
mod bounds {
    use std::cell::Cell;
    use std::ffi::c_void;
    use std::ptr;

    unsafe extern "C" {
        fn __sanitizer_start_switch_fiber(fake: *mut *mut c_void, bottom: *const c_void, size: usize);
        fn __asan_unpoison_memory_region(begin: *const c_void, size: usize);
        fn __sanitizer_finish_switch_fiber(fake: *mut c_void, bottom: *mut *const c_void, size: *mut usize);
    }

    /// A coroutine and its worker's stack, as the sanitizer knows them.
    #[derive(Debug)]
    pub(crate) struct Announced {
        low: usize,
        size: usize,
        /// The sanitizer's own words for either while it is not on its stack.
        own: Cell<*mut c_void>,
        worker: Cell<*mut c_void>,
        /// The worker's stack.
        worker_low: Cell<*const c_void>,
        worker_size: Cell<usize>,
    }

    impl Announced {
        pub(crate) fn new(low: usize, high: usize) -> Announced {
            Announced {
                low,
                size: high - low,
                own: Cell::new(ptr::null_mut()),
                worker: Cell::new(ptr::null_mut()),
                worker_low: Cell::new(ptr::null()),
                worker_size: Cell::new(0),
            }
        }

        /// The coroutine is about to go on, on this thread.
        pub(crate) fn enter(&self) {
            // SAFETY: the stack is the coroutine's, which the worker is about to resume.
            unsafe {
                __sanitizer_start_switch_fiber(
                    self.worker.as_ptr(),
                    ptr::with_exposed_provenance(self.low),
                    self.size,
                );
            }
        }

        /// The coroutine goes on.
        pub(crate) fn entered(&self) {
            // SAFETY: what is given back is what the sanitizer left there; the others are its to write to.
            unsafe {
                __sanitizer_finish_switch_fiber(
                    self.own.get(),
                    self.worker_low.as_ptr(),
                    self.worker_size.as_ptr(),
                );
            }
        }

        /// The coroutine is about to give its worker back, or has left without a word.
        pub(crate) fn leave(&self) {
            // SAFETY: the stack is the worker's, as the sanitizer has said itself.
            unsafe {
                __sanitizer_start_switch_fiber(
                    self.own.as_ptr(),
                    self.worker_low.get(),
                    self.worker_size.get(),
                );
            }
        }

        /// The worker goes on.
        pub(crate) fn left(&self) {
            // SAFETY: as in `entered`; nobody wants to know where the coroutine's stack is.
            unsafe {
                __sanitizer_finish_switch_fiber(self.worker.get(), ptr::null_mut(), ptr::null_mut());
            }
        }
    }

    impl Drop for Announced {
        fn drop(&mut self) {
            // SAFETY: the stack is there, and nobody is on it. Its last frames have not returned, so they are still marked.
            unsafe { __asan_unpoison_memory_region(ptr::with_exposed_provenance(self.low), self.size) }
        }
    }
}

#[cfg(not(any(caudal_tsan, caudal_asan)))]
mod nothing {
    /// Nobody wants to know.
    #[derive(Debug)]
    pub(crate) struct Announced(());

    impl Announced {
        #[inline(always)]
        pub(crate) fn new(_low: usize, _high: usize) -> Announced {
            Announced(())
        }

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn enter(&self) {}

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn entered(&self) {}

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn leave(&self) {}

        #[inline(always)]
        #[allow(clippy::unused_self)]
        pub(crate) fn left(&self) {}
    }
}
