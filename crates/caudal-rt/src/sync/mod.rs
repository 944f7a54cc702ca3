//! Locks, channels and the like that park the coroutine and never its worker. Handlers call them, and so may any thread that is no
//! worker's: that one sleeps instead.
//!
//! | instead of | take | because |
//! | --- | --- | --- |
//! | `std::sync::Mutex`, `parking_lot::Mutex` | [`Mutex`] | a waiter polls those at times, and nothing makes sure that it ever gets one |
//! | `std::sync::RwLock` | [`RwLock`] | the same |
//! | `std::sync::Condvar` | [`Condvar`] | the same |
//! | `std::sync::mpsc` | [`mpsc`], [`oneshot`] | the same |
//! | `std::thread::sleep` | [`sleep`](crate::sleep()) | the same |
//! | — | [`Semaphore`] | |
//!
//! All of them work from any thread: requests of one runtime or of several, and threads that belong to none, with or without a
//! runtime in the process. Such a thread blocks on a futex; a worker that wakes it makes no system call, its runtime's helper
//! does that for it some 50 µs later.
//!
//! *Waiting* is not possible in a critical section ([`no_preempt`](crate::no_preempt)) and while a panic unwinds, also that of a
//! cancelled request: such a call panics and says so, which aborts the process where a panic is under way. Calls that find
//! what they want do not wait. In a `Drop` that could have to wait, use the `try_` calls.
//!
//! *Cancellation*: a request that is cancelled while it waits here unwinds, and its handle answers
//! [`Failure::Cancelled`](crate::Failure::Cancelled). It leaves every queue; a lock, a permit or a wake-up that was on its way to it
//! goes to the next one; a value stays in its channel. A call that has nothing to wait for does not check for it, but for
//! [`Receiver::recv`](mpsc::Receiver::recv).
//!
//! *No poisoning*: a request that panics drops its guards, which frees the locks; what they protected is as the panic left it.
//! The panic is its own handle's to hear of. Data that a panic could leave half changed wants a check of its own.
//!
//! # How it is made
//!
//! ```text
//!  Mutex ── lock ──┐                      ┌── parker ── coroutine: Shared::wake
//!  RwLock ─┐       ├── list of waiters ───┤            └ thread: futex, through the helper
//!  Semaphore ─ permits ─┤                 └── models: what stands for them under loom
//!  mpsc ───┘       │
//!  oneshot ─ gate ─┤
//!  Condvar ────────┘
//! ```
//!
//! Each part says in its head what its states are, and why no wake-up is lost.

/// A `const fn`; but under loom, whose atomics can not be made at compile time, not a `const` one.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arguments:tt)*) -> $result:ty $body:block) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $name($($arguments)*) -> $result $body
        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $name($($arguments)*) -> $result $body
    };
}
pub(crate) use const_fn;

mod condvar;
mod gate;
mod list;
mod lock;
#[cfg(all(test, loom))]
mod loom_models;
pub mod mpsc;
mod mutex;
pub mod oneshot;
mod parker;
mod permits;
mod rwlock;
mod semaphore;

pub use condvar::{Condvar, Woken};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{ReadGuard, RwLock, WriteGuard};
pub use semaphore::{Permit, Semaphore};

pub(crate) use gate::Gate;
pub(crate) use list::GaveUp;
pub(crate) use parker::{Parker, Patience};
#[cfg(all(test, loom))]
pub(crate) use {list::Waiter, lock::RawLock};

/// Error of a call whose time was over before the thing came for which it waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time was over before it came")]
pub struct TimedOut;

/// A wait was given up: unwinds if the request was cancelled.
#[cold]
pub(crate) fn gave_up(why: GaveUp) -> TimedOut {
    match why {
        GaveUp::Cancelled => crate::kernel::context::end_cancelled(),
        GaveUp::TimedOut => TimedOut,
    }
}
