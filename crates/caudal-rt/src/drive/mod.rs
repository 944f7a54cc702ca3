//! Requests from elsewhere, and their replies: what a service is built on.
//!
//! ```text
//!  network, generator, file ──▶ Source ── Intake ──▶ dispatcher or worker ──▶ handler ──▶ Sinks::put ──▶ Sink ──▶ network
//!                                 │ poll: called between slices                                          │ flush: in batches,
//!                                 │ doorbell: tells that a poll is worth it                              │ by the same worker
//!                                 └ descriptor: waited for while everybody sleeps                        └ descriptor: the same
//! ```
//!
//! *Readiness.* A thread that has nothing else to do polls its [`Source`] all the time, until the runtime sleeps. A source with a
//! [descriptor](Source::descriptor) can be waited for, so the runtime sleeps while nothing comes, as it does without sources. While requests
//! run, a source with a [doorbell](Source::doorbell) is polled when that has rung, and others at intervals.
//!
//! *Replies.* A reply leaves from the worker that did the work: [`Sinks::put`](crate::task::Sinks::put) leaves it with that worker's own
//! [`Sink`], which sends replies in batches.
//!
//! *Back-pressure.* A worker whose sink is full does not ask its source: what it can not answer it does not take in. Nor does a worker whose
//! inbox is full. A dispatcher, which asks all sources, does not flush the sinks of workers.
//!
//! [`channel`] has a source within the process, for tests and for programs that bring their requests themselves.

pub mod channel;
pub mod doorbell;
pub(crate) mod sink;
pub(crate) mod source;

pub use doorbell::{Doorbell, Rings};
pub use sink::{REPLIES_MAX, Sink};
pub use source::{BATCH, Intake, Polled, Source};
