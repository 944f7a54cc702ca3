//! The context switch: from one stack to another, on one thread. An architecture has a file here, which says how it does that.
//!
//! *What is kept.* Registers that a function must keep, as the file of the architecture says. Rounding modes and exception masks of the
//! floating point unit are left to the caller.
//!
//! *Unwinding.* A new stack begins with a frame that says there is none before it: unwinders and debuggers end there. Within the few
//! instructions of a switch there is no such information; an unwinder that a signal starts just there is on its own.
//!
//! *Threads.* A stack may go on on another thread than the one on which it was left, if whoever switches has seen to it that
//! what was written before is seen there. Nothing here touches thread-local memory; a caller must not keep addresses of such
//! across a switch.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::{Point, go_on_at, interrupted, switch};

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::num::NonZeroUsize;
    use std::ptr;

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
