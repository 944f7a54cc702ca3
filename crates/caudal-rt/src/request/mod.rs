//! Requests: the cell in which one travels, its state, its closure and result, how it ends, and what goes with it at a switch.

pub mod carry;
mod cell;
pub(crate) mod class;
mod clean_up;
pub(crate) mod coroutine;
pub(crate) mod ending;
pub(crate) mod exceptions;
pub(crate) mod failure;
mod job;
pub(crate) mod new;
#[cfg_attr(loom, path = "modelled_pool.rs")]
mod pool;
mod refs;
mod state;
mod storage;

pub(crate) use cell::{Header, Join, Request};
pub(crate) use clean_up::{CleanUp, CleanUpChain, CleanUpGuard};
pub(crate) use coroutine::Coroutine;
pub(crate) use job::{fill, payload_at, payload_of, put_payload, result_of, take_job};
#[cfg(all(test, loom))]
pub(crate) use pool::Cells;
pub(crate) use pool::{allocate, allocate_outlined, for_each, prepare_next, send_home};
pub(crate) use state::{NOWHERE, Outcome, Reference, RequestPhase, RequestPlace, StateSnapshot, Wanted};
