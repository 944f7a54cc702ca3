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
//!
//! # Floors
//!
//! Modules use what lies below them and nothing above; `caudal-lint` knows the order and refuses what goes upwards.
//!
//! | floor | contents |
//! | --- | --- |
//! | `api` | the runtime from its builder to its shutdown, statistics, layers for other languages |
//! | `task` | handles, submissions, scopes; a request about itself |
//! | `sync` | locks, channels and the like, which park the coroutine and never its worker |
//! | `kernel` | workers, dispatcher, context of the running coroutine, sleeping, helper, watchdog, threads |
//! | `drive` | sources and sinks of requests |
//! | `board` | what workers publish: counters, histograms, timelines, logs of decisions |
//! | `request` | the state word, the cell, coroutines and what goes with them, how a request ends |
//! | `queue` | rings, stacks that are taken whole, owners of the end of requests, flags that another thread may raise |
//! | `base` | clocks, sleeps, futexes, messages, forks |

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "caudal-rt runs on Linux on x86-64 only: other systems lack its futex parking, and other processors its probe \
     (`caudal-probe`) and its cycle counter"
);

mod api;
mod base;
mod board;
pub mod drive;
mod kernel;
mod queue;
mod request;
pub mod sync;
pub mod task;

#[cfg(all(test, loom))]
mod loom_models;

/// Stacks of coroutines: of `caudal-fiber`, for whoever scans them or handles their overflows.
pub mod stack {
    pub use caudal_fiber::census::{InUse, each, on_enter};
    pub use caudal_fiber::overflow::{self, AltStack};
    pub use caudal_fiber::stack::*;
}

#[doc(hidden)]
pub use api::bench;
pub use api::beside::Beside;
pub use api::runtime::{Builder, LeftBehind, Runtime, Shutdown};
pub use api::time::{sleep, sleep_until};
pub use api::{raw, stats, time};
pub use base::clock;
pub use board::histogram;
pub use caudal_log::{DecisionLog, Entry, ThreadLog};
pub use drive::source::{BATCH, Intake, Polled, Source};
pub use kernel::error::StartError;
pub use kernel::settings::{OnFull, OnOverflow, OnStuck, Pinning};
pub use queue::ring;
pub use request::carry;
pub use request::class::{CLASSES_MAX, ClassId, TooManyClasses};
pub use request::failure::{Ending, Failure, Refused, SubmitError};
pub use task::handle::Handle;
pub use task::submit::{QUANTUM_MIN, RequestBuilder};
pub use task::{check_cancelled, no_preempt, scope, spawn, yield_now};

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
