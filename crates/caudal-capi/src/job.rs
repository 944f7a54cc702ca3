//! A C handler as a request of the runtime, and the state that is kept of it while it runs. `request.rs` submits a [`Job`]; a worker of the
//! runtime calls [`Job::run`] once, on the request's coroutine, or drops a job that never ran. While the handler runs, the exported functions
//! find its state by the coroutine's word: `boundary.rs` notes cancellations, `locks.rs` asks who the caller is.
//!
//! ```text
//!  the coroutine's stack              the coroutine's word (caudal_rt::raw::slot)
//!  +--------------------------+         |
//!  | fiber: catch_unwind      |         |
//!  | Job::run                 |         |
//!  |   Running {class, noticed, failure} <
//!  |   AbortOnUnwind          |  an exception ends here
//!  | the handler's frames (C) |  never unwound
//!  +--------------------------+
//! ```
//!
//! [`Running`] says how the request will end: [`note_cancellation`] writes there when a call has answered the handler that the request was
//! cancelled, [`fail`] when the handler gives up. Only after the handler has returned does [`Job::run`] unwind, when only Rust frames are left.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use caudal_rt::{Ending, raw};

use crate::abi::caudal_outcome;
use crate::abi::caudal_outcome::*;
use crate::abi::caudal_status::{self, CAUDAL_ERROR_NOT_IN_REQUEST};

pub(crate) type HandlerFn = unsafe extern "C-unwind" fn(*mut c_void);
pub(crate) type CompletionFn = unsafe extern "C-unwind" fn(*mut c_void, caudal_outcome);

/// A handler and its arguments.
pub(crate) struct Job {
    pub(crate) handler: HandlerFn,
    pub(crate) argument: *mut c_void,
    pub(crate) completion: Option<(CompletionFn, *mut c_void)>,
    pub(crate) class: &'static str,
}

// SAFETY: the program hands its arguments to another thread, knowingly: that is what a submission is.
unsafe impl Send for Job {}

/// The state of a request while its handler runs.
struct Running {
    /// A call has answered that the request was cancelled.
    noticed: Cell<bool>,
    failure: RefCell<Option<String>>,
}

impl Job {
    /// Runs the handler and then the completion, and ends the request with its outcome.
    pub(crate) fn run(mut self) {
        let running = Running { noticed: Cell::new(false), failure: RefCell::default() };
        let outer = raw::set_slot(std::ptr::from_ref(&running).cast_mut().cast());
        AbortOnUnwind::around(self.class, || {
            // SAFETY: the program's function with the program's argument.
            unsafe { (self.handler)(self.argument) }
        });
        let outcome = running.outcome();
        self.complete(outcome);
        raw::set_slot(outer);
        match outcome {
            CAUDAL_OUTCOME_FAILED => {
                std::panic::resume_unwind(Box::new(running.failure.take().unwrap_or_default()))
            }
            CAUDAL_OUTCOME_CANCELLED => raw::end_as_cancelled(),
            _ => {}
        }
    }

    fn complete(&mut self, outcome: caudal_outcome) {
        if let Some((completion, argument)) = self.completion.take() {
            // SAFETY: the program's function with the program's argument.
            AbortOnUnwind::around(self.class, || unsafe { completion(argument, outcome) });
        }
    }
}

impl Drop for Job {
    /// If the runtime drops the job, it never ran: the completion is called with the reason. Otherwise it was not accepted, or has ended.
    fn drop(&mut self) {
        if let Some(why) = raw::why_dropped() {
            self.complete(why.into());
        }
    }
}

impl Running {
    fn outcome(&self) -> caudal_outcome {
        match self.failure.borrow().is_some() {
            true => CAUDAL_OUTCOME_FAILED,
            false if self.noticed.get() => CAUDAL_OUTCOME_CANCELLED,
            false => CAUDAL_OUTCOME_RETURNED,
        }
    }

    /// The state of the request in which the caller runs.
    fn of_caller<'a>() -> Option<&'a Running> {
        // SAFETY: the word is null or was set by `Job::run`, further out on this stack.
        unsafe { raw::slot().cast::<Running>().as_ref() }
    }
}

/// A number of the caller that nobody else has while it runs: of its request, or outside of requests of its thread. Never 0.
pub(crate) fn identity() -> usize {
    thread_local! {
        static THREAD: u8 = const { 0 };
    }
    match raw::slot() {
        word if !word.is_null() => word.addr(),
        _ => THREAD.with(|own| std::ptr::from_ref(own).addr()),
    }
}

/// Notes that a call is about to answer that the caller's request was cancelled.
#[cold]
pub(crate) fn note_cancellation() {
    if let Some(running) = Running::of_caller() {
        running.noticed.set(true);
    }
}

/// Notes that the caller's request has failed, and why; the last reason counts.
pub(crate) fn fail(message: String) -> Result<(), caudal_status> {
    let running = Running::of_caller().ok_or(CAUDAL_ERROR_NOT_IN_REQUEST)?;
    running.failure.replace(Some(message));
    Ok(())
}

impl From<Ending> for caudal_outcome {
    fn from(ending: Ending) -> caudal_outcome {
        match ending {
            Ending::Returned => CAUDAL_OUTCOME_RETURNED,
            Ending::Panicked => CAUDAL_OUTCOME_FAILED,
            Ending::Cancelled => CAUDAL_OUTCOME_CANCELLED,
            Ending::Expired => CAUDAL_OUTCOME_EXPIRED,
            Ending::Abandoned => CAUDAL_OUTCOME_ABANDONED,
            Ending::Stopped => CAUDAL_OUTCOME_STOPPED,
        }
    }
}

/// Ends the process when it is dropped by unwinding. Rust cannot catch other languages' exceptions, and a forced unwinding
/// (`pthread_exit`) would leave a worker without its thread.
struct AbortOnUnwind(&'static str);

impl AbortOnUnwind {
    fn around(class: &'static str, call: impl FnOnce()) {
        let guard = AbortOnUnwind(class);
        call();
        std::mem::forget(guard);
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        let text = format!(
            "caudal: an exception, or pthread_exit, left a handler of class '{}': catch it in the handler and call caudal_fail(), \
             or submit with caudal::submit() of caudal/caudal.hpp, which hands it to the waiter\n",
            self.0
        );
        // SAFETY: the bytes are there. Not `eprintln!`: another request of this worker may hold the lock of stderr.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        std::process::abort()
    }
}
