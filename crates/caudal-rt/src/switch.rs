//! The context switch: from one stack to another, on one thread.
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
//! they change, so it keeps those that it needs. MXCSR and the x87 control word, rounding modes among them, are left to the
//! caller.
//!
//! *Unwinding.* A new stack begins with a frame that says there is none before it: unwinders and debuggers end there. Within the few
//! instructions of a switch there is no such information; an unwinder that a signal starts just there is on its own.
//!
//! *Threads.* A stack may go on on another thread than the one on which it was left, if whoever switches has seen to it that
//! what was written before is seen there. Nothing here touches thread-local memory; a caller must not keep addresses of such
//! across a switch.

use std::arch::{asm, naked_asm};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr;

/// Where a stack that nobody is on goes on: its stack pointer, and the rest as drawn in the [module](self).
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Point(Cell<*mut usize>);

/// The words of a stack on which nothing has run.
const WORDS_OF_NEW: usize = 4;

impl Point {
    /// Nowhere: for [`switch`] to write to.
    pub(crate) const fn none() -> Point {
        Point(Cell::new(ptr::null_mut()))
    }

    /// The lowest address that the stack uses.
    pub(crate) fn address(&self) -> usize {
        self.0.get().addr()
    }

    /// Makes this the beginning of `body(argument)`, which never returns, on a stack whose top is `base`.
    ///
    /// # Safety
    /// The stack is there and in nobody's use, and `base` is a multiple of 16.
    pub(crate) unsafe fn set_new(
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
    pub(crate) unsafe fn registers(&self) -> [usize; 2] {
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
pub(crate) unsafe fn switch(from: &Point, to: &Point) {
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

/// What runs first on a new stack: there is nobody to return to.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A stack that counts, and the words through which it talks.
    struct Counter {
        own: Point,
        caller: Point,
        count: Cell<u64>,
        _stack: Vec<u128>,
    }

    unsafe extern "C" fn count(counter: *const ()) -> ! {
        // SAFETY: made by `counter`, below.
        let counter = unsafe { &*counter.cast::<Counter>() };
        loop {
            deeper(counter, 3);
        }
    }

    /// Suspends some calls deep, with values in every register that the compiler likes.
    #[inline(never)]
    fn deeper(counter: &Counter, levels: u64) {
        let kept: [u64; 8] = std::array::from_fn(|i| std::hint::black_box(levels * 10 + i as u64));
        if levels > 0 {
            deeper(counter, levels - 1);
        } else {
            counter.count.set(counter.count.get() + 1);
            // SAFETY: whoever runs this one has left its own stack in `caller`.
            unsafe { switch(&counter.own, &counter.caller) };
        }
        assert!(kept.iter().enumerate().all(|(i, &value)| value == levels * 10 + i as u64));
    }

    fn counter() -> Box<Counter> {
        let mut stack = vec![0_u128; 8 << 10];
        let base = NonZeroUsize::new(stack.as_mut_ptr_range().end as usize).unwrap();
        let (own, caller) = (Point::none(), Point::none());
        let counter = Box::new(Counter { own, caller, count: Cell::new(0), _stack: stack });
        // SAFETY: the stack lives as long as the counter.
        unsafe { counter.own.set_new(base, count, ptr::from_ref(&*counter).cast()) };
        counter
    }

    #[test]
    fn stacks_go_on_where_they_were_left_on_any_thread() {
        struct Sent(Box<Counter>);
        // SAFETY: one thread has it at a time.
        unsafe impl Send for Sent {}
        fn run(Sent(counter): Sent, times: u64) -> Sent {
            for _ in 0..times {
                let before = counter.count.get();
                // SAFETY: its stack has been left, or is new.
                unsafe { switch(&counter.caller, &counter.own) };
                assert_eq!(counter.count.get(), before + 1);
            }
            Sent(counter)
        }
        let mut counters: Vec<Sent> = (0..3).map(|_| run(Sent(counter()), 10)).collect();
        for _ in 0..3 {
            let threads = counters.drain(..).map(|counter| std::thread::spawn(|| run(counter, 1_000)));
            counters = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect();
        }
        assert!(counters.iter().all(|Sent(counter)| counter.count.get() == 3_010));
    }

    #[test]
    fn a_backtrace_ends_where_the_stack_begins() {
        unsafe extern "C" fn look(counter: *const ()) -> ! {
            // SAFETY: made by `counter`.
            let counter = unsafe { &*counter.cast::<Counter>() };
            let mut frames = 0;
            backtrace::trace(|_| {
                frames += 1;
                frames < 100
            });
            counter.count.set(frames);
            // SAFETY: as in `deeper`.
            unsafe { switch(&counter.own, &counter.caller) };
            unreachable!("nobody goes on here");
        }
        let mut counter = counter();
        let base = NonZeroUsize::new(counter._stack.as_mut_ptr_range().end as usize).unwrap();
        // SAFETY: as in `counter`.
        unsafe { counter.own.set_new(base, look, ptr::from_ref(&*counter).cast()) };
        // SAFETY: its stack is new.
        unsafe { switch(&counter.caller, &counter.own) };
        assert!((1..20).contains(&counter.count.get()), "{} frames", counter.count.get());
    }
}
