//! What other languages' libraries keep per thread and a coroutine takes along: C++ exceptions in flight.
//!
//! There is one C++ runtime to a process, and it is looked for when a runtime starts:
//!
//! 1. By a weak reference, which the linker or the loader resolves: where this code is linked with a C++ runtime, also one inside of
//!    the program (`-static-libstdc++`), or is loaded along with one.
//! 2. Among the names that all of the process sees.
//! 3. In the usual libraries, if somebody has loaded them for himself (`RTLD_LOCAL`).
//!
//! One that is loaded later is not found until another runtime starts; nor is one inside of a library that shows no names.

use std::arch::asm;
use std::ffi::{CStr, c_void};
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

const NAME: &CStr = c"__cxa_get_globals";
/// Where compilers' C++ runtimes are, of GCC and of LLVM.
const LIBRARIES: [&CStr; 2] = [c"libstdc++.so.6", c"libc++abi.so.1"];

/// Looks for a C++ runtime; a runtime does so when it starts.
pub(crate) fn look_for_cxx() {
    // SAFETY: the name is a C string.
    let seen_by_all = || unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
    let loaded = || LIBRARIES.into_iter().map(in_loaded).find(|found| !found.is_null());
    let found = [linked(), seen_by_all()].into_iter().find(|found| !found.is_null()).or_else(loaded);
    GET_GLOBALS.store(found.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
}

/// What the linker or the loader has put in the place of the name; null if there is none.
fn linked() -> *mut c_void {
    let address: *mut c_void;
    // SAFETY: reads a word of the global offset table, which is 0 for a weak name that there is not.
    unsafe {
        asm!(
            ".weak __cxa_get_globals",
            "mov {}, qword ptr [rip + __cxa_get_globals@GOTPCREL]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    address
}

/// The name in a library that is loaded already, and stays so from then on; null if it is not.
fn in_loaded(library: &CStr) -> *mut c_void {
    // SAFETY: both are C strings, and the library is not loaded by this call: no code of it runs.
    unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() { ptr::null_mut() } else { libc::dlsym(library, NAME.as_ptr()) }
    }
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
        asm!("fninit", options(nomem, nostack));
    }
}
