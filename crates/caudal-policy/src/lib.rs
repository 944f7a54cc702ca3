//! Scheduling policies as pure state machines.
//!
//! A policy here is written once and driven by two hosts: the simulator (virtual time, thousands of
//! cores) and the runtime (real cores). It never reads a clock, never owns a thread and never allocates
//! after construction: time, randomness and what it may observe are arguments; what it wants done are
//! calls on its host.
//!
//! | decision point | asks | trait | scope of one instance |
//! | --- | --- | --- | --- |
//! | [`dispatch`] | a request arrives: which pool, or hold it? | [`dispatch::Dispatch`] | dispatcher |
//! | [`discipline`] | which task runs on which worker of the pool, and for how long? | [`discipline::Discipline`] | pool |
//! | [`rebalance`] | a worker is idle or overloaded: move tasks between pools? | [`rebalance::Rebalance`] | worker |
//! | [`allocation`] | grow or shrink the application's cores? | [`allocation::Allocation`] | application |
//! | [`parallelism`] | a request forks inside: who may take its tasks? | [`parallelism::Parallelism`] | worker |
//!
//! Each policy is one file with one shape of documentation: what it does, when it helps, when it hurts,
//! its parameters, its source, an example. Each has a `…Config` (what a policy file says) and a state
//! machine that is made from it.
//!
//! Everything foreign that a policy observes may be stale; a host says how old it is where that matters.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod allocation;
pub mod contexts;
pub mod discipline;
pub mod dispatch;
mod ids;
pub mod list;
pub mod parallelism;
pub mod random;
pub mod rebalance;
pub mod time;

pub use ids::{PoolId, TaskId, WorkerId};
pub use list::List;
pub use time::{Instant, Picos};
