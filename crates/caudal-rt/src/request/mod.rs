//! Requests: the cell in which one travels, its state, its closure and result, and where free cells come from.

mod cell;
pub(crate) mod coroutine;
mod job;
#[cfg_attr(loom, path = "modelled_pool.rs")]
mod pool;
mod state;
mod storage;
mod will;

pub(crate) use cell::{Header, Join, Request, VTable};
pub(crate) use coroutine::Coroutine;
pub(crate) use job::{INLINE_BYTES, fill, payload_at, payload_of, put_payload, result_of, take_job};
#[cfg(all(test, loom))]
pub(crate) use pool::Cells;
pub(crate) use pool::{allocate, allocate_outlined, for_each, look_ahead, send_home};
pub(crate) use state::{Finished, NOWHERE, Outcome, Phase, Place, Reference, Snapshot, Unended, Wanted};
pub(crate) use will::{Estate, Leave, Will};
