//! This thread's two lines. Stable Rust cannot declare initial-exec thread-locals: their addresses are computed here.
//! Every probe and critical section reads or writes them, some nanoseconds each; the runtime's workers fill them.
//!
//! ```text
//! fs:0 ── thread pointer ──────────────┐
//!                                      ▼
//! … | caudal_flag_v1 | caudal_probe_v1 | thread control block      (below the thread pointer, at fixed offsets
//!                                                                   that the linker or loader knows: @GOTTPOFF)
//! ```

use core::{
    arch::asm,
    mem::{offset_of, size_of},
    sync::atomic::AtomicU8,
};

/// A thread's probe line, as `struct caudal_probe` of the header. Only its own thread may touch it.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Block {
    /// The TSC value from which on the running request is due; `u64::MAX`: never.
    pub deadline: u64,
    /// Cost units until the clock has to be read; due when negative; `i64::MAX / 2`: never.
    pub budget: i64,
    /// Reasons for which probes must not yield: critical sections that the running coroutine is in ([`SECTIONS`]), and above
    /// them locks that it has. A runtime saves and restores it with the coroutine.
    pub depth: u32,
    /// 1: a yield came due in a critical section; it happens where the depth returns to 0.
    pub pending: u32,
    /// Lowest address of the running coroutine's stack; 0 with `stack_high` 0: none runs.
    pub stack_low: u64,
    /// First address above the running coroutine's stack. With the stack pointer outside, due probes decline.
    pub stack_high: u64,
    /// Length of the quantum that was armed last, in TSC cycles; `u64::MAX`: never due.
    pub quantum: u64,
    /// Cost units per TSC cycle, 16.16 fixed point, at least 1; what budget mode has learnt of this thread's work. A
    /// runtime may save and restore it with a coroutine or a class.
    pub ratio: u32,
    /// Cost units that instrumented code in clock mode spends until the clock has to be read; due when negative.
    pub credit: i32,
    /// The runtime's own; the library never touches it.
    pub runtime: u64,
}

/// The half of the depth that counts critical sections, under which a request never gives its worker back. The other one counts
/// locks, under which it may do so where it waits.
pub const SECTIONS: u32 = 0xFFFF;

/// Offset of the flag in its line.
pub(crate) const ASKED: usize = 0;

// The header's offsets; a test compiles a C file that prints them.
const _: () = assert!(
    offset_of!(Block, deadline) == 0
        && offset_of!(Block, budget) == 8
        && offset_of!(Block, depth) == 16
        && offset_of!(Block, pending) == 20
        && offset_of!(Block, stack_low) == 24
        && offset_of!(Block, stack_high) == 32
        && offset_of!(Block, quantum) == 40
        && offset_of!(Block, ratio) == 48
        && offset_of!(Block, credit) == 52
        && offset_of!(Block, runtime) == 56
        && size_of::<Block>() == 64
);

/// Offset of the block from the thread pointer: a link-time or load-time constant, the same in all threads, so that the
/// compiler may keep it in a register across loops and yields.
#[inline(always)]
pub(crate) fn block_offset() -> u64 {
    let offset: u64;
    // SAFETY: reads a constant of the global offset table.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + caudal_probe_v1@GOTTPOFF]",
            out(reg) offset,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    offset
}

/// As [`block_offset`], for the flag.
#[inline(always)]
pub(crate) fn flag_offset() -> u64 {
    let offset: u64;
    // SAFETY: reads a constant of the global offset table.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + caudal_flag_v1@GOTTPOFF]",
            out(reg) offset,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    offset
}

/// The thread pointer. Not `pure`: it differs between threads, and a coroutine may change its thread at a yield.
#[inline(always)]
fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the first word that fs points at is its own address, on Linux.
    unsafe { asm!("mov {0}, qword ptr fs:[0]", out(reg) pointer, options(nostack, nomem, preserves_flags)) };
    pointer
}

/// This thread's block. Valid as long as the thread lives.
///
/// Three instructions. Code that may go on on another thread after a probe asks for it anew.
#[inline(always)]
pub fn block() -> *mut Block {
    (thread_pointer().wrapping_add(block_offset())) as *mut Block
}

/// This thread's flag: a store of anything but 0 by another thread asks this thread to yield, at its next probe in flag
/// mode. Valid as long as the thread lives; alone on its cache line.
#[inline(always)]
pub fn flag() -> *mut AtomicU8 {
    (thread_pointer().wrapping_add(flag_offset()).wrapping_add(ASKED as u64)) as *mut AtomicU8
}
