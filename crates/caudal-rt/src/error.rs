//! What can go wrong: at the start, at a submission, and with a request.

use std::any::Any;
use std::fmt;

use caudal_config::ConfigError;

use crate::request::Outcome;

/// Gives errors a `Debug` that is their text and what it was caused by. A program whose `main` returns a `Result` prints errors that
/// way, and `Config(Invalid([Problem { …` tells nobody what to do.
macro_rules! debug_is_text {
    ($($error:ty),+ $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::error::write_with_causes(self, f)
            }
        }
    )+};
}
pub(crate) use debug_is_text;

/// The text of `error`, and of each cause that is not in it.
pub(crate) fn write_with_causes(error: &dyn std::error::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = error.to_string();
    f.write_str(&text)?;
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            write!(f, ": {more}")?;
            text = more;
        }
        cause = error.source();
    }
    Ok(())
}

debug_is_text!(StartError, SubmitError);

/// A runtime that can not start.
#[derive(thiserror::Error)]
pub enum StartError {
    /// The policy's file can not be read, or says what the runtime can not do.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The file has more systems than one, or none.
    #[error(
        "{path}: a runtime runs one system, and the file has {systems}; leave one `[system]` table, without swept keys"
    )]
    Systems {
        /// The file.
        path: String,
        /// How many it has.
        systems: usize,
    },
    /// More threads than processors.
    #[error(
        "system.cores = {workers}: {workers} workers{and_dispatcher} need a core each, and this process may use {available}; write \
         fewer `cores`, plan anew with `caudal plan --runnable --workers {fits}`, or override with `Builder::workers({fits})`"
    )]
    Cores {
        /// Workers that were asked for.
        workers: usize,
        /// " and a dispatcher", or nothing.
        and_dispatcher: &'static str,
        /// Processors that the process may use.
        available: usize,
        /// Workers for which there would be room.
        fits: usize,
    },
    /// Other runtimes of the process have the cores.
    #[error(
        "system.cores = {workers}: {workers} workers{and_dispatcher} need a core each, and of the {available} that this process may use, \
         {taken} are those of other runtimes of this process; write fewer `cores`, end the others first, or share cores on purpose \
         (`Pinning::These`, `Pinning::None`)"
    )]
    CoresTaken {
        /// Workers that were asked for.
        workers: usize,
        /// " and a dispatcher", or nothing.
        and_dispatcher: &'static str,
        /// Processors that the process may use.
        available: usize,
        /// Those of them that other runtimes have.
        taken: usize,
    },
    /// A setting out of its range.
    #[error("{name} = {value}: {instead}")]
    Setting {
        /// The setting of the [`Builder`](crate::Builder).
        name: &'static str,
        /// What it was.
        value: String,
        /// What would be right.
        instead: &'static str,
    },
    /// Compiled with `panic = "abort"`.
    #[error(
        "this program is compiled with panic = \"abort\", so a panic of one request would end all of them; remove it from the Cargo profile"
    )]
    PanicAbort,
    /// The processor's time-stamp counter does not run evenly.
    #[error(
        "the time-stamp counter of this processor stops or changes its rate ({missing} is missing in /proc/cpuinfo)"
    )]
    Clock {
        /// The flags that are missing.
        missing: &'static str,
    },
    /// Stacks of that size, or so many, can not be had.
    #[error(transparent)]
    Stacks(#[from] caudal_fiber::stack::StackError),
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// What it refused.
        what: &'static str,
        /// Its reason.
        source: std::io::Error,
    },
    /// This process was forked from one whose runtimes had threads, which do not exist here, and may have left things half done.
    #[error(
        "this process was forked from one with a running runtime, whose threads do not exist here and may have left things half done: \
         fork before the first runtime starts or after the last has ended, or start the runtime in a program that the child executes"
    )]
    Forked,
}

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

/// Why a request has no result.
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

/// How a request ended, without its result.
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

/// What a panic said.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}
