//! Base: clocks, sleeps, futexes, messages and the like, which know nothing of requests. All floors above call it.

#[cfg_attr(loom, path = "modelled_bell.rs")]
pub(crate) mod bell;
pub mod clock;
pub(crate) mod cores;
pub(crate) mod fork;
#[cfg_attr(loom, path = "modelled_futex.rs")]
pub(crate) mod futex;
pub(crate) mod pause;
pub(crate) mod primitives;
pub(crate) mod quiet;
pub(crate) mod say;
pub(crate) mod text;
pub(crate) mod unwinding;
