//! What other languages' libraries keep per thread and a coroutine takes along: C++ exceptions in flight.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What `__cxa_get_globals` points to (Itanium C++ ABI, section 2.2.2).
#[repr(C)]
struct CxaGlobals {
    caught: *mut c_void,
    uncaught: u32,
}

type GetGlobals = unsafe extern "C" fn() -> *mut CxaGlobals;

/// `__cxa_get_globals`, where a C++ runtime is in the process; else null.
static GET_GLOBALS: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks for a C++ runtime; a runtime does so when it starts.
pub(crate) fn look_for_cxx() {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_get_globals".as_ptr()) };
    GET_GLOBALS.store(found, Ordering::Relaxed);
}

/// The C++ exceptions that a coroutine was handling when it was suspended.
pub(crate) struct Exceptions {
    caught: *mut c_void,
    uncaught: u32,
}

impl Exceptions {
    const NONE: Exceptions = Exceptions { caught: ptr::null_mut(), uncaught: 0 };

    fn globals() -> Option<*mut CxaGlobals> {
        let get = GET_GLOBALS.load(Ordering::Relaxed);
        if get.is_null() {
            return None;
        }
        // SAFETY: the symbol of this name is that function.
        let get: GetGlobals = unsafe { std::mem::transmute(get) };
        // SAFETY: it has no precondition; it answers with this thread's structure.
        Some(unsafe { get() })
    }

    /// Takes them from the thread.
    #[inline]
    pub(crate) fn take() -> Exceptions {
        let Some(globals) = Exceptions::globals() else { return Exceptions::NONE };
        // SAFETY: the structure is this thread's, and nobody else's.
        let globals = unsafe { &mut *globals };
        let taken = Exceptions { caught: globals.caught, uncaught: globals.uncaught };
        (globals.caught, globals.uncaught) = (ptr::null_mut(), 0);
        taken
    }

    /// Gives them back to the thread on which the coroutine goes on.
    #[inline]
    pub(crate) fn put_back(self) {
        if self.caught.is_null() && self.uncaught == 0 {
            return;
        }
        if let Some(globals) = Exceptions::globals() {
            // SAFETY: the structure is this thread's, and nobody else's.
            unsafe { *globals = CxaGlobals { caught: self.caught, uncaught: self.uncaught } };
        }
    }
}

/// Does a C++ exception unwind what runs on this thread? Safe in a signal handler, on a thread that has switched coroutines.
pub(crate) fn is_unwinding() -> bool {
    // SAFETY: the structure is this thread's, and nobody else's.
    Exceptions::globals().is_some_and(|globals| unsafe { (*globals).uncaught } != 0)
}

/// A coroutine was left in the middle of something: what it kept in its thread is not for the next one.
#[cold]
pub(crate) fn reset_thread() {
    // What it was handling is lost with its stack.
    let _ = Exceptions::take();
    // SAFETY: errno is this thread's; the instruction empties the x87 registers, in which no Rust code keeps anything.
    unsafe {
        *libc::__errno_location() = 0;
        std::arch::asm!("fninit", options(nomem, nostack));
    }
}
