//! Garbage collectors of the program: a collector that does not know the stacks of requests would free what only those refer to. The start
//! of a runtime calls this once, and warns of such a collector.

use std::arch::asm;
use std::ffi::c_void;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use caudal_fiber::census;

use crate::base::say::say;

/// Says so, once, where a runtime starts beside Boehm's collector and nobody hears of stacks: the collector would free what only a request's
/// stack refers to, and end the process where it finds a thread on a stack that it does not know.
pub(crate) fn warn() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    // SAFETY: the name is a C string.
    let is_seen = || !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"GC_push_all_eager".as_ptr()) }.is_null();
    let is_there = || !collector_linked().is_null() || is_seen();
    if !census::is_anybody_told() && is_there() && !WARNED.swap(true, Relaxed) {
        say!(
            "this program has Boehm's garbage collector (libgc), and nothing tells it of the stacks of requests: if a request uses \
             its objects, they are freed too early, or the process ends. Before the runtime starts, call caudal_on_stack_enter, as in \
             crates/caudal-capi/examples/collector.c (in Rust: caudal_rt::stack::on_enter)"
        );
    }
}

/// Boehm's collector where the linker or the loader has put it: inside of a program no name of it can be looked up. Null if there is none.
fn collector_linked() -> *const c_void {
    let address: *const c_void;
    // SAFETY: reads a word of the global offset table, which is 0 for a weak name that there is not.
    unsafe {
        asm!(
            ".weak GC_push_all_eager",
            "mov {}, qword ptr [rip + GC_push_all_eager@GOTPCREL]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    address
}
