//! Stackful coroutines from the ground up, for schedulers that want to decide everything else by themselves: `caudal-rt` runs its requests on
//! them.
//!
//! | module | contents |
//! | --- | --- |
//! | [`switch`] | the switch from one stack to another, a file for each architecture |
//! | [`stack`] | stacks: mapped in slabs with guards, coloured, pooled, and as many as memory allows |
//! | [`control`] | a coroutine's knowledge of itself, by which it gives its thread back |
//! | [`coroutine`] | a stack with a body that gives its thread back and is resumed, on any thread |
//! | [`overflow`] | stack overflows, told from other faults and named; the alternate stack for signal handlers |
//! | [`census`] | every coroutine of the process, for garbage collectors and dumps |
//! | [`frames`] | frames of a coroutine's stack, walked in a signal handler |
//! | [`message`] | messages to standard error from anywhere, signal handlers too |
//!
//! Sanitizers hear of every switch (`announce.rs`), in builds that set `--cfg caudal_tsan` or `--cfg caudal_asan`.
//!
//! ```
//! use std::cell::Cell;
//! use caudal_fiber::coroutine::{Control, Coroutine};
//! use caudal_fiber::stack::{StackConfig, StackPool};
//!
//! /// Counts, and gives its thread back after each step.
//! unsafe extern "C" fn count(control: *const Control<Cell<u32>>) -> ! {
//!     // SAFETY: the control lives as long as the coroutine.
//!     let control = unsafe { &*control };
//!     control.begin();
//!     loop {
//!         control.own.set(control.own.get() + 1);
//!         // SAFETY: this is the coroutine itself.
//!         unsafe { control.give_back() };
//!     }
//! }
//!
//! let mut stacks = StackPool::new(StackConfig::default())?;
//! let stack = stacks.take().expect("the first stack");
//! // SAFETY: `count` gives its thread back by its control alone, and never returns or unwinds.
//! let mut counter = unsafe { Coroutine::new(stack, count, Cell::new(0)) };
//! for step in 1..=3 {
//!     assert!(counter.resume());
//!     assert_eq!(counter.own().get(), step);
//! }
//! // SAFETY: `count` has nothing on its stack.
//! stacks.give(unsafe { counter.into_stack() });
//! # Ok::<(), caudal_fiber::stack::StackError>(())
//! ```
//!
//! `examples/turns.rs` is a scheduler of some thirty lines.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "caudal-fiber runs on Linux on x86-64 only: another architecture wants a file in src/switch, another system its guards and signals"
);

mod announce;
pub mod census;
pub mod control;
pub mod coroutine;
pub mod frames;
pub mod message;
pub mod overflow;
pub mod stack;
pub mod switch;
