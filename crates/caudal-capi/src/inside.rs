//! Functions that a handler in C calls while it runs: yield, sleep, ask whether its request was cancelled, and whether it is in a request at
//! all. Any other thread may call them, too; it then yields or sleeps as a thread.

use std::time::Duration;

use caudal_rt::raw;

use crate::abi::caudal_status;
use crate::abi::caudal_status::*;
use crate::boundary::{call, may_wait};

/// Lets other requests of this worker run; outside of requests, other threads.
///
/// Errors: CAUDAL_CANCELLED, CAUDAL_ERROR_IN_SECTION. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_yield() -> caudal_status {
    call(|| {
        may_wait()?;
        raw::yield_now().map_err(|_| CAUDAL_CANCELLED)
    })
}

/// Waits for so many nanoseconds. A request parks, and its worker runs others; on another thread the thread sleeps.
///
/// Errors: CAUDAL_CANCELLED, as soon as the request is cancelled; CAUDAL_ERROR_IN_SECTION. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_sleep(ns: u64) -> caudal_status {
    call(|| {
        may_wait()?;
        raw::sleep(Duration::from_nanos(ns)).map_err(|_| CAUDAL_CANCELLED)
    })
}

/// Has the request in which the caller runs been cancelled? Then CAUDAL_CANCELLED, else CAUDAL_OK, also outside of requests. If a
/// handler got this answer and returns, its request ends as CAUDAL_OUTCOME_CANCELLED; if it never asks and never waits, the request ends as
/// CAUDAL_OUTCOME_RETURNED, although it was cancelled.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_check_cancelled() -> caudal_status {
    call(|| if raw::is_cancelled() { Err(CAUDAL_CANCELLED) } else { Ok(()) })
}

/// 1 in a request, 0 elsewhere. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_is_in_request() -> i32 {
    i32::from(raw::is_in_request())
}
