//! The probe ABI, for Rust: where running requests find out that their quantum has ended, and yield.
//!
//! The ABI itself is `include/caudal/probe.h`; `docs/reference/probe-abi.md` is its guide. This crate builds the static
//! library without Rust that instrumented objects link with, and gives Rust code the same probes.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! static YIELDS: AtomicU64 = AtomicU64::new(0);
//! extern "C" fn hook(now: u64) {
//!     YIELDS.fetch_add(1, Ordering::Relaxed);
//!     caudal_probe::arm(now, 2_000);
//! }
//!
//! caudal_probe::set_hook(hook);
//! // SAFETY: this thread's own block, and no reference to it is kept.
//! unsafe {
//!     (*caudal_probe::block()).stack_low = 0;
//!     (*caudal_probe::block()).stack_high = u64::MAX;
//! }
//! caudal_probe::arm(caudal_probe::rdtsc(), 2_000);
//! while YIELDS.load(Ordering::Relaxed) < 3 {
//!     caudal_probe::probe();
//! }
//! caudal_probe::disarm();
//! ```
#![no_std]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64")))]
compile_error!(
    "caudal-probe runs on Linux on x86-64 only: other systems lack its access to the thread-local block, and other \
     processors its clock and the assembly of its cold path"
);

mod block;
mod control;
mod critical;
mod probes;
mod sys;
mod threads;

pub use block::{Block, SECTIONS, block, flag};
pub use control::{
    ASKS_ONLY, arm, cold_visits, disarm, due_deadline, plain_sigaction, rdtsc, set_critical_hook, set_every,
    set_hook, set_locale_hook, set_wait_hook,
};
pub use critical::{
    critical_depth, critical_enter, critical_exit, critical_restore, forget_handlers, measured, request_ended,
};
pub use probes::{probe, probe_budget, probe_clock, probe_flag, probe_spend};
pub use threads::{futex_of, parker_is, thread_locals};

/// The version that the symbols' names end in; objects of different versions do not link.
pub const ABI: u32 = 1;
