//! Requests from elsewhere, and their replies: what a service is built on.
//!
//! ```text
//!  network, generator, file ──▶ Source ── Intake ──▶ dispatcher or worker ──▶ handler ──▶ Sinks::put ──▶ Sink ──▶ network
//!                                 │ poll: called between slices                                          │ flush: in batches,
//!                                 └ descriptor: waited for while everybody sleeps                        └ by the same worker
//! ```
//!
//! *Readiness.* The runtime polls a [`Source`] whenever it has room for requests. A source with a [descriptor](Source::descriptor) can be waited
//! for as well: then the runtime sleeps while nothing comes, as it does without sources.
//!
//! *Replies.* A reply leaves from the worker that did the work: [`Sinks::put`](crate::task::Sinks::put) leaves it with that worker's own
//! [`Sink`], which sends replies in batches.
//!
//! *Back-pressure.* A worker whose sink is full does not ask its source: what it can not answer it does not take in. A dispatcher, which asks
//! all sources, does not flush the sinks of workers.
//!
//! [`channel`] has a source within the process, for tests and for programs that bring their requests themselves.

pub mod channel;
pub(crate) mod sink;
pub(crate) mod source;

pub use sink::{REPLIES_MAX, Sink};
pub use source::{BATCH, Intake, Source};
