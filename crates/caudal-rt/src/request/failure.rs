//! Failures of a submission and of a request, and how a request ended. Submissions and handles return them to programs.

use std::any::Any;
use std::fmt;

use super::Outcome;

crate::base::text::debug_is_text!(SubmitError);

/// A request that was not accepted; the closure was dropped, or is in [`Refused::job`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The queue is full, and the runtime was told to refuse then.
    #[error("the queue is full")]
    Full,
    /// The runtime has been told to stop.
    #[error("the runtime has stopped, or is about to")]
    Stopped,
    /// This process was forked from the one that has the runtime's threads.
    #[error(
        "this process was forked from the one that has the runtime's threads: fork before the runtime starts"
    )]
    Forked,
}

/// A closure that was not accepted, and why.
pub struct Refused<F> {
    /// The closure, unharmed.
    pub job: F,
    /// Why.
    pub why: SubmitError,
}

impl<F> fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("why", &self.why).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<F> std::error::Error for Refused<F> {}

/// Reason why a request has no result.
#[derive(thiserror::Error)]
pub enum Failure {
    /// Its handler panicked; this is what it panicked with.
    #[error("the request panicked: {}", message(.0.as_ref()))]
    Panicked(Box<dyn Any + Send>),
    /// It was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// It had not started by its deadline.
    #[error("the request had not started by its deadline")]
    Expired,
    /// Its stack overflowed, or it had not ended within the bound of a shutdown: its coroutine was given up.
    #[error("the request was abandoned: its stack overflowed, or it outlived the bound of a shutdown")]
    Abandoned,
    /// The runtime stopped before the request started.
    #[error("the runtime stopped before the request started")]
    Stopped,
    /// It goes on in the process from which this one was forked; nobody hears here how it ends.
    #[error("this process was forked from the one that runs the request, and can not wait for it")]
    Forked,
}

/// End of a request, without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its handler returned.
    Returned,
    /// Its handler panicked.
    Panicked,
    /// It was cancelled.
    Cancelled,
    /// It had not started by its deadline.
    Expired,
    /// It was given up: see [`Failure::Abandoned`].
    Abandoned,
    /// The runtime stopped before it started.
    Stopped,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Ending {
        match outcome {
            Outcome::Returned => Ending::Returned,
            Outcome::Panicked => Ending::Panicked,
            Outcome::Cancelled => Ending::Cancelled,
            Outcome::Expired => Ending::Expired,
            Outcome::Abandoned => Ending::Abandoned,
            Outcome::Stopped => Ending::Stopped,
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}
