//! C++ exceptions in flight, which their library keeps per thread and a coroutine takes along. Coroutines call this at each switch; the
//! start of a runtime searches for the library.
//!
//! There is one C++ runtime to a process, and it is searched for when a runtime starts:
//!
//! 1. By a weak reference, which the linker or the loader resolves: where this code is linked with a C++ runtime, also one inside of
//!    the program (`-static-libstdc++`), or is loaded along with one.
//! 2. Among the names that all of the process sees.
//! 3. In every object that is loaded, also in those whose names others do not see (`RTLD_LOCAL`).
//!
//! *One that is loaded later*, with a plug-in, is found before the first switch that could mix up exceptions. A throw or catch makes the
//! C++ runtime's thread-locals of its thread, and the C library notes that the thread knows of them: in the first word of the thread's
//! table of thread-locals, which grows with what is loaded ([`thread_locals_known`]). While no C++ runtime is known, each switch compares that
//! word with its value at the last search, and searches again if it has grown: two loads more.
//!
//! *What is left*: a C++ runtime whose thread-locals need not be made, for they are in the room that each thread has from its beginning
//! (`-ftls-model=initial-exec`, or TLS descriptors). No library of GCC's or LLVM's is built so. And one inside of a shared object that shows no
//! names (`-static-libstdc++ -Wl,--exclude-libs,ALL`): the drivers say so when they link one.

mod dynamic;

use std::arch::asm;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Structure to which `__cxa_get_globals` points (Itanium C++ ABI, section 2.2.2).
#[repr(C)]
struct CxaGlobals {
    caught: *mut c_void,
    uncaught: u32,
}

type GetGlobals = unsafe extern "C" fn() -> *mut CxaGlobals;

/// `__cxa_get_globals`, where a C++ runtime is in the process; else null.
static GET_GLOBALS: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Value of [`thread_locals_known`] at the last search.
static KNOWN_THEN: AtomicUsize = AtomicUsize::new(0);

const NAME: &CStr = c"__cxa_get_globals";

/// Finds the C++ runtime of the process, if there is one; called when a runtime of ours starts.
pub(crate) fn find_cxx() {
    // What is loaded during this search is found by the next one.
    KNOWN_THEN.fetch_max(thread_locals_known(), Ordering::Relaxed);
    // SAFETY: the name is a C string.
    let seen_by_all = || unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
    let searches: [&dyn Fn() -> *mut c_void; 3] = [&linked, &seen_by_all, &in_any_object];
    let found = searches.into_iter().map(|search| search()).find(|found| !found.is_null());
    GET_GLOBALS.store(found.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
}

/// Of how many objects with thread-locals, or loads of such, the C library has told this thread: the first word of the table behind the second
/// word of the thread's block, in glibc ("generation") and in musl alike. 0: another C library.
#[inline(always)]
fn thread_locals_known() -> usize {
    let table: *const usize;
    // SAFETY: reads a word of the thread's block.
    unsafe {
        asm!("mov {}, qword ptr fs:[8]", out(reg) table, options(pure, readonly, nostack, preserves_flags));
    }
    // SAFETY: the table of this thread, which it alone replaces.
    unsafe { table.as_ref() }.copied().unwrap_or(0)
}

/// The C++ runtime that this thread has come to know since the last search.
#[cold]
#[inline(never)]
fn loaded_since() -> *mut c_void {
    find_cxx();
    GET_GLOBALS.load(Ordering::Relaxed)
}

/// The address that the linker or the loader has put in the place of the name; null if there is none.
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

/// The name in any object that is loaded, which then stays for as long as the process; null if none has it.
fn in_any_object() -> *mut c_void {
    unsafe extern "C" fn visit(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: as `dl_iterate_phdr` says, and the file's name is a C string that lives as long as the object.
        unsafe {
            let found = &mut *found.cast::<Found>();
            found.function = dynamic::find(&*object, NAME);
            if !found.function.is_null() {
                found.file = (*object).dlpi_name;
            }
            c_int::from(!found.function.is_null())
        }
    }

    struct Found {
        function: *mut c_void,
        file: *const libc::c_char,
    }

    let mut found = Found { function: ptr::null_mut(), file: ptr::null() };
    // SAFETY: the answer lives during the call, and `visit` does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    if !found.file.is_null() {
        // SAFETY: a C string, by which the loader knows the object: no file is opened, and no code of it runs.
        unsafe { libc::dlopen(found.file, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
    found.function
}

/// The C++ exceptions that a coroutine was handling when it was suspended.
pub(crate) struct Exceptions {
    caught: *mut c_void,
    uncaught: u32,
}

impl Exceptions {
    const NONE: Exceptions = Exceptions { caught: ptr::null_mut(), uncaught: 0 };

    #[inline(always)]
    fn globals() -> Option<*mut CxaGlobals> {
        Exceptions::globals_by(GET_GLOBALS.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn globals_by(get: *mut c_void) -> Option<*mut CxaGlobals> {
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
        let mut get = GET_GLOBALS.load(Ordering::Relaxed);
        if get.is_null() && thread_locals_known() > KNOWN_THEN.load(Ordering::Relaxed) {
            get = loaded_since();
        }
        let Some(globals) = Exceptions::globals_by(get) else { return Exceptions::NONE };
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
