//! Requests: submitted, waited for, cancelled, released. C programs call these functions on any thread, and handlers within their own requests,
//! at any time after a runtime was created.

use std::ffi::{c_char, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use caudal_rt::raw::{self, Heed, Waited};
use caudal_rt::{Ending, Handle, QUANTUM_MIN, SubmitError};

use crate::abi::caudal_outcome::*;
use crate::abi::caudal_status::*;
use crate::abi::*;
use crate::boundary::{Answer, Out, SizeFirst, call, explain, may_wait, read_sized, reference, span};
use crate::job::Job;
use crate::runtime::{Inside, caudal_runtime};

/// A request that was submitted, until it is released. Any thread may ask about it or cancel it; one at a time may wait for it.
pub struct caudal_request {
    handle: Handle<()>,
    /// Forks that had happened when it was submitted.
    forks: u64,
    /// Somebody waits for it.
    awaited: AtomicBool,
}

// SAFETY: its first field is its size, the others are integers, raw pointers and function pointers that may be null.
unsafe impl SizeFirst for caudal_submission {}

/// Submits a request of `class`: `handler(argument)` will run on a worker. If the queue is full, the call waits for room or
/// refuses, as the runtime's options say. `out` may be null: then the request is detached, and its outcome can not be asked for.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_FULL, CAUDAL_ERROR_STOPPED, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_FORKED; in a request
/// also CAUDAL_CANCELLED and CAUDAL_ERROR_IN_SECTION. The handler is then not called.
/// Ownership: the caller owns `*out`, and gives it back with caudal_request_release(); what `argument` points to stays the
/// caller's and has to live until the request has ended. Threads: any, requests included.
///
/// # Safety
/// The pointers are null or point to what their types say; the handler may be called with the argument on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_submit(
    runtime: *mut caudal_runtime,
    class: caudal_class,
    handler: caudal_handler,
    argument: *mut c_void,
    out: *mut *mut caudal_request,
) -> caudal_status {
    let submission = caudal_submission { handler, argument, ..NOTHING };
    // SAFETY: as the caller says.
    call(|| unsafe { submit(runtime, class, &submission, out) })
}

/// As caudal_submit(), but never waits: answers CAUDAL_ERROR_FULL where there is no room.
///
/// # Safety
/// As for caudal_submit().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_try_submit(
    runtime: *mut caudal_runtime,
    class: caudal_class,
    handler: caudal_handler,
    argument: *mut c_void,
    out: *mut *mut caudal_request,
) -> caudal_status {
    let submission = caudal_submission { handler, argument, refuse_if_full: 1, ..NOTHING };
    // SAFETY: as the caller says.
    call(|| unsafe { submit(runtime, class, &submission, out) })
}

/// As caudal_submit(), with a completion, a deadline or a quantum: see caudal_submission. If the request is not accepted, the
/// completion is not called. The structure may go when the call returns.
///
/// # Safety
/// As for caudal_submit(); the completion may be called with its argument on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_submit_with(
    runtime: *mut caudal_runtime,
    class: caudal_class,
    submission: *const caudal_submission,
    out: *mut *mut caudal_request,
) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        unsafe { submit(runtime, class, &read_sized(submission)?, out) }
    })
}

const NOTHING: caudal_submission = caudal_submission {
    size: size_of::<caudal_submission>(),
    handler: None,
    argument: std::ptr::null_mut(),
    completion: None,
    completion_argument: std::ptr::null_mut(),
    deadline_ns: 0,
    quantum_ns: 0,
    refuse_if_full: 0,
    migratable: 0,
};

/// # Safety
/// As for [`caudal_submit_with`].
unsafe fn submit(
    runtime: *mut caudal_runtime,
    class: caudal_class,
    submission: &caudal_submission,
    out: *mut *mut caudal_request,
) -> Answer {
    if let Ok(out) = Out::of(out) {
        // SAFETY: as the caller says.
        unsafe { out.put(std::ptr::null_mut()) };
    }
    let handler = submission.handler.ok_or(CAUDAL_ERROR_ARGUMENT)?;
    if submission.refuse_if_full > 1 || submission.migratable > 1 {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    // SAFETY: as the caller says.
    let inside = unsafe { Inside::enter(runtime)? };
    let (class, name) = inside.class(class)?;
    may_wait()?;
    let mut request = inside.runtime()?.request(class);
    if submission.deadline_ns != 0 {
        request = request.deadline(Duration::from_nanos(submission.deadline_ns));
    }
    if submission.quantum_ns != 0 {
        let quantum = Duration::from_nanos(submission.quantum_ns);
        if !(QUANTUM_MIN..=Duration::from_secs(1)).contains(&quantum) {
            return Err(CAUDAL_ERROR_ARGUMENT);
        }
        request = request.quantum(quantum);
    }
    if submission.migratable == 1 {
        // SAFETY: the caller that sets it promises what is asked for.
        request = unsafe { request.migratable() };
    }
    let completion = submission.completion.map(|completion| (completion, submission.completion_argument));
    let job = Job { handler, argument: submission.argument, completion, class: name };
    let forks = raw::forks();
    let handle = match submission.refuse_if_full {
        0 => request.submit(move || job.run()).map_err(status_of)?,
        _ => request.try_submit(move || job.run()).map_err(|refused| status_of(refused.why))?,
    };
    if let Ok(out) = Out::of(out) {
        let made = Box::new(caudal_request { handle, forks, awaited: AtomicBool::new(false) });
        // SAFETY: as the caller says.
        unsafe { out.put(Box::into_raw(made)) };
    }
    Ok(())
}

fn status_of(why: SubmitError) -> caudal_status {
    match why {
        SubmitError::Full => CAUDAL_ERROR_FULL,
        SubmitError::Stopped => CAUDAL_ERROR_STOPPED,
        SubmitError::Forked => CAUDAL_ERROR_FORKED,
    }
}

/// Waits until the request has ended, and stores how in `*outcome`, which may be null. If the caller is in a request, that request parks, and
/// its worker runs others; any other thread spins for some 20 us, then sleeps. May be called again.
///
/// Errors: CAUDAL_CANCELLED, if the request in which the caller runs is cancelled: the request waited for goes on, and may still use
/// the caller's memory (caudal_wait_regardless() goes on waiting in this case). CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_BUSY (somebody
/// else waits for it), CAUDAL_ERROR_FORKED, CAUDAL_ERROR_IN_SECTION. Threads: any, one at a time.
///
/// # Safety
/// `request` is null or has not been released; `outcome` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_wait(
    request: *mut caudal_request,
    outcome: *mut caudal_outcome,
) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { wait(request, None, Heed::Cancellation, outcome) })
}

/// As caudal_wait(), for `longest_ns` nanoseconds at most; CAUDAL_TIMED_OUT if the request has not ended by then.
///
/// # Safety
/// As for caudal_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_wait_for(
    request: *mut caudal_request,
    longest_ns: u64,
    outcome: *mut caudal_outcome,
) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { wait(request, span(longest_ns), Heed::Cancellation, outcome) })
}

/// As caudal_wait(), but a request that is cancelled goes on waiting: for handlers whose own requests use their memory.
///
/// # Safety
/// As for caudal_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_wait_regardless(
    request: *mut caudal_request,
    outcome: *mut caudal_outcome,
) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { wait(request, None, Heed::Nothing, outcome) })
}

/// The right to wait for a request, which one caller at a time has.
struct Waiting<'a>(&'a caudal_request);

impl<'a> Waiting<'a> {
    fn begin(request: &'a caudal_request) -> Result<Waiting<'a>, caudal_status> {
        match request.awaited.swap(true, Acquire) {
            true => Err(CAUDAL_ERROR_BUSY),
            false => Ok(Waiting(request)),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.awaited.store(false, Release);
    }
}

/// # Safety
/// As for [`caudal_wait`].
unsafe fn wait(
    request: *mut caudal_request,
    longest: Option<Duration>,
    heed: Heed,
    outcome: *mut caudal_outcome,
) -> Answer {
    // SAFETY: as the caller says.
    let request = unsafe { reference(request)? };
    may_wait()?;
    if !request.handle.is_done() && raw::forks() != request.forks {
        return Err(CAUDAL_ERROR_FORKED);
    }
    let waiting = Waiting::begin(request)?;
    match waiting.0.handle.wait_at_most(longest, heed) {
        Waited::TimedOut => return Err(CAUDAL_TIMED_OUT),
        Waited::Cancelled => return Err(CAUDAL_CANCELLED),
        Waited::Forked => return Err(CAUDAL_ERROR_FORKED),
        Waited::Ended => {}
    }
    if let Ok(out) = Out::of(outcome) {
        // SAFETY: as the caller says.
        unsafe { out.put(request.outcome()) };
    }
    Ok(())
}

impl caudal_request {
    fn outcome(&self) -> caudal_outcome {
        self.handle.ending().map_or(CAUDAL_OUTCOME_NONE, Into::into)
    }
}

/// How the request ended, without waiting; CAUDAL_OUTCOME_NONE while it has not, and for null. Threads: any.
///
/// # Safety
/// `request` is null or has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_request_outcome(request: *const caudal_request) -> caudal_outcome {
    // SAFETY: as the caller says.
    unsafe { reference(request) }.map_or(CAUDAL_OUTCOME_NONE, caudal_request::outcome)
}

/// Why the request failed: fills `*error` with what its handler gave to caudal_fail(), or with an empty message. `error->status` is
/// CAUDAL_OK.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `request` is null or has not been released; `error` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_request_failure(
    request: *const caudal_request,
    error: *mut caudal_error,
) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let request = unsafe { reference(request)? };
        Out::of(error)?;
        let message = match request.handle.ending() {
            Some(Ending::Panicked) => request.handle.panic_message().unwrap_or_default(),
            _ => "",
        };
        // SAFETY: as the caller says.
        unsafe { explain(error, CAUDAL_OK, message) };
        Ok(())
    })
}

/// Cancels the request. If it has not started, it ends at once. If it has started, it goes on until its handler returns, but from now on
/// its calls that wait, caudal_yield() and caudal_check_cancelled() answer CAUDAL_CANCELLED. A request that has ended stays as
/// it is.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `request` is null or has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_cancel(request: *mut caudal_request) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        unsafe { reference(request)? }.handle.cancel();
        Ok(())
    })
}

/// Releases the request, after which `request` must not be used. A request that has not ended goes on, detached.
///
/// Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_BUSY, if somebody waits for it: then it is not released. Threads: any.
///
/// # Safety
/// `request` is null or has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_request_release(request: *mut caudal_request) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let known = unsafe { reference(request)? };
        if known.awaited.load(Relaxed) {
            return Err(CAUDAL_ERROR_BUSY);
        }
        // SAFETY: it came from a box, and the caller gives it back.
        drop(unsafe { Box::from_raw(request) });
        Ok(())
    })
}

/// Called by a handler: its request has failed, and `message` (UTF-8; null: no words) says why. The handler goes on and should return;
/// then the request ends as CAUDAL_OUTCOME_FAILED. The last call counts.
///
/// Errors: CAUDAL_ERROR_NOT_IN_REQUEST. Ownership: the message is copied. Threads: requests'.
///
/// # Safety
/// `message` is null or a string that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_fail(message: *const c_char) -> caudal_status {
    call(|| {
        let message = match message.is_null() {
            true => String::new(),
            // SAFETY: as the caller says.
            false => unsafe { std::ffi::CStr::from_ptr(message) }.to_string_lossy().into_owned(),
        };
        crate::job::fail(message)
    })
}
