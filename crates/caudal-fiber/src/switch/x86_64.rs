//! The switch of stacks on x86-64 (System V's calling convention). `coroutine` calls it at each start, yield and end of a coroutine. It
//! saves registers on the stack that is left, in assembly, and touches nothing else.
//!
//! ```text
//!   a stack that was left                     a stack on which nothing has run
//!   high ┌───────────────────┐                base ┌───────────────────┐
//!        │ frames            │                     │ body              │
//!        │ rbx               │                     │ its argument      │
//!        │ rbp               │                     │ 0, for rbp        │
//!  Point │ where it goes on  │               Point │ begin             │
//!        └───────────────────┘                     └───────────────────┘
//! ```
//!
//! *Jumps, no returns.* A processor predicts where a `ret` goes from a stack of its own, onto which every `call` puts an
//! address. A coroutine that was suspended has called functions from which it has yet to return: the probe, its cold path, the
//! hook. A switch that leaves by `ret` finds their addresses there instead of its own, and one that comes by `call` leaves one
//! too many, so both are predicted wrongly each time: some 40 cycles. Jumps leave the addresses alone, and the next coroutine,
//! suspended in the same place as the last, finds just those that it is going to return to. (`cargo run --release -p caudal-rt
//! --example switch` has both, beside each other.)
//!
//! *What is kept.* rbp and rbx on the stack that is left. Of the other general, vector and mask registers the compiler is told that
//! they change, so it keeps those that it needs. MXCSR and the x87 control word are left to the caller.

use std::arch::{asm, naked_asm};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr;

/// Place where a stack that nobody is on goes on: its stack pointer, and the rest as drawn in the [module](self).
#[derive(Debug)]
#[repr(transparent)]
pub struct Point(Cell<*mut usize>);

/// The words of a stack on which nothing has run.
const WORDS_OF_NEW: usize = 4;

impl Point {
    /// Nowhere: for [`switch`] to write to.
    pub const fn none() -> Point {
        Point(Cell::new(ptr::null_mut()))
    }

    /// The lowest address that the stack uses.
    pub fn address(&self) -> usize {
        self.0.get().addr()
    }

    /// Makes this the beginning of `body(argument)`, which never returns, on a stack whose top is `base`.
    ///
    /// # Safety
    /// The stack is there and in nobody's use, and `base` is a multiple of 16.
    pub unsafe fn set_new(
        &self,
        base: NonZeroUsize,
        body: unsafe extern "C" fn(*const ()) -> !,
        argument: *const (),
    ) {
        debug_assert!(base.get().is_multiple_of(16));
        let words =
            [begin as *const () as usize, 0, argument.expose_provenance(), body as *const () as usize];
        let point = ptr::with_exposed_provenance_mut::<usize>(base.get()).wrapping_sub(WORDS_OF_NEW);
        // SAFETY: as the caller promises; a stack has room for four words.
        unsafe { point.cast::<[usize; WORDS_OF_NEW]>().write(words) };
        self.0.set(point);
    }

    /// Instruction and stack pointer with which a handler of signals makes the thread go on here instead of where it was; all other
    /// registers may have any value.
    ///
    /// # Safety
    /// The stack was left by [`switch`], and nobody has gone on there since.
    pub unsafe fn registers(&self) -> [usize; 2] {
        let point = self.0.get();
        // SAFETY: as the caller promises.
        [unsafe { *point }, point.wrapping_add(1) as usize]
    }
}

/// Leaves the stack that this runs on, which goes on from `from` later, for `to`. Returns when somebody switches to `from`.
///
/// # Safety
/// `to` is a stack that was left, or a new one, whose memory is there, and nobody else switches to it. Whoever switches to `from`
/// does so once.
#[inline(always)]
pub unsafe fn switch(from: &Point, to: &Point) {
    // SAFETY: what runs next is `to`, as the caller promises; when this stack goes on, at 2, its own rbp and rbx are on it, and
    // all registers that the block does not name are as they were.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbp",
            "pop rbx",
            inout("rdi") from.0.as_ptr() => _,
            inout("rsi") to.0.get() => _,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// First code on a new stack: there is nobody to return to.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "pop rbp",
        "pop rdi",
        "pop rax",
        // The stack pointer is at the top again, which is aligned: as a function wants it before the call.
        "call rax",
        "ud2",
        ".cfi_endproc",
    )
}

/// Instruction and stack pointer of code that a signal has interrupted.
///
/// # Safety
/// The context is a signal handler's own.
pub unsafe fn interrupted(context: *mut libc::ucontext_t) -> (usize, usize) {
    // SAFETY: by contract.
    let registers = unsafe { &(*context).uc_mcontext.gregs };
    (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize)
}

/// Makes the thread go on at an instruction and stack pointer of [`Point::registers`] when its signal handler returns.
///
/// # Safety
/// The context is a signal handler's own, and whatever the thread was doing is left for ever.
pub unsafe fn go_on_at(context: *mut libc::ucontext_t, [instruction, stack]: [usize; 2]) {
    /// The direction flag, which is clear where functions begin.
    const DIRECTION: i64 = 1 << 10;
    // SAFETY: by contract.
    let registers = unsafe { &mut (*context).uc_mcontext.gregs };
    registers[libc::REG_RIP as usize] = instruction as i64;
    registers[libc::REG_RSP as usize] = stack as i64;
    registers[libc::REG_EFL as usize] &= !DIRECTION;
}
