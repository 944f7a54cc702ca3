//! Critical sections: between enter and exit no probe yields; a yield that comes due happens at the outermost exit. The runtime calls these functions
//! around its own code and for `no_preempt`, on the thread that runs the request; they change this thread's block only.

use core::{arch::asm, mem::offset_of};

use crate::{Block, block::block_offset, sys};

/// Enters a critical section: an addition. Sections nest.
#[inline(always)]
pub fn critical_enter() {
    // SAFETY: adds 1 to this thread's own depth. Memory counts as changed, so that nothing moves out of the section.
    unsafe {
        asm!(
            "add dword ptr fs:[{offset} + {depth}], 1",
            offset = in(reg) block_offset(),
            depth = const offset_of!(Block, depth),
            options(nostack),
        );
    }
}

/// Leaves the section that the last [`critical_enter`] entered. At the outermost one a yield that came due happens.
#[inline(always)]
pub fn critical_exit() {
    // SAFETY: takes 1 from this thread's own depth, which the enter before it had made at least 1.
    unsafe {
        asm!(
            "sub dword ptr fs:[{offset} + {depth}], 1",
            "jnz 2f",
            "cmp dword ptr fs:[{offset} + {pending}], 0",
            "jne {due}",
            "2:",
            offset = in(reg) block_offset(),
            depth = const offset_of!(Block, depth),
            pending = const offset_of!(Block, pending),
            due = label { sys::caudal_probe_call_exit_v1() },
            options(nostack),
        );
    }
}

/// The depth of the running coroutine: critical sections, and locks above them. 0 where probes may yield.
#[inline]
pub fn critical_depth() -> u32 {
    sys::caudal_critical_depth_v1()
}

/// Leaves all sections but the outer `depth`, for code that was left before their exits. A depth that is not below the current one changes
/// nothing.
#[inline]
pub fn critical_restore(depth: u32) {
    sys::caudal_critical_restore_v1(depth);
}

/// Runs `section` as a critical section whose length is measured, by two readings of the clock if it is the outermost one. A panic leaves
/// the section, too.
#[inline]
pub fn measured<R>(section: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            sys::caudal_critical_exit_v1();
        }
    }
    sys::caudal_critical_enter_v1();
    let _leave = Leave;
    section()
}

/// Forgets the signal handlers that this thread has left without returning from them. For a runtime, at the end of a request that has
/// left its depth raised: the next request on that stack is none of theirs.
pub fn forget_handlers() {
    sys::caudal_forget_handlers_v1();
}

/// The request whose stack ends at `stack_high` has ended on this thread, and left its depth raised: the thread's mutexes that it has kept are
/// not the next one's. The next one that locks a robust one is told that its owner has died.
pub fn request_ended(stack_high: u64) {
    sys::caudal_request_ended_v1(stack_high);
}
