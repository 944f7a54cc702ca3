//! The runtime: handlers written as ordinary blocking code, pre-empted every microsecond or two, under the policies of
//! `caudal-policy`.
//!
//! See `docs/background/runtime.md` for what it is made of.
//!
//! # What the compiler does not see
//!
//! Requests of one worker share its thread, so they share its thread-locals, and Rust takes a thread for one line of execution. One
//! use of safe code is therefore undefined behaviour here: a [`thread_local!`](std::thread_local) whose initialiser waits, or
//! is pre-empted at a probe, while another request of the worker initialises and borrows it. Give thread-locals a `const { … }`
//! initialiser, or touch them first inside of [`no_preempt`], where waiting panics.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "caudal-rt runs on Linux on x86-64 only: other systems lack its futex parking, and other processors its probe \
     (`caudal-probe`) and its cycle counter"
);

mod alone;
mod belongings;
#[doc(hidden)]
pub mod bench;
mod beside;
mod board;
pub mod carry;
mod classes;
pub mod clock;
mod collectors;
mod config;
mod context;
mod custody;
mod dispatcher;
mod error;
mod flag;
mod foreign;
mod fork;
mod handle;
mod helper;
mod log;
#[cfg(all(test, loom))]
mod loom_models;
mod panic_hook;
mod pause;
mod place;
mod primitives;
pub mod raw;
mod request;
mod reserved;
pub mod ring;
mod runtime;
mod say;
mod shared;
mod sleep;
mod source;
mod start;
pub mod stats;
pub mod sync;
pub mod task;
pub mod time;
mod timer;
mod unwinding;
mod watchdog;
mod worker;

/// Stacks of coroutines: of `caudal-fiber`, for whoever scans them or handles their overflows.
pub mod stack {
    pub use caudal_fiber::census::{InUse, each, on_enter};
    pub use caudal_fiber::overflow::{self, AltStack};
    pub use caudal_fiber::stack::*;
}

pub use beside::Beside;
pub use board::histogram;
pub use caudal_log::{DecisionLog, Entry, ThreadLog};
pub use classes::{CLASSES_MAX, ClassId, TooManyClasses};
pub use config::{OnFull, OnOverflow, OnStuck, Pinning};
pub use error::{Ending, Failure, Refused, StartError, SubmitError};
pub use handle::Handle;
pub use runtime::{Builder, LeftBehind, QUANTUM_MIN, RequestBuilder, Runtime, Shutdown};
pub use source::{BATCH, Intake, Source};
pub use task::{check_cancelled, no_preempt, scope, spawn, yield_now};
pub use time::{sleep, sleep_until};

/// A place where a long handler may be pre-empted: reads the clock, and yields if the request's quantum is over. Call it every
/// few hundred nanoseconds in loops; code that a compiler has instrumented does so by itself.
#[inline(always)]
pub fn probe() {
    caudal_probe::probe();
}

/// The examples of the guide are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/locks-and-preemption.md")]
struct Guide;
