//! Parallelism: a request forks inside: who may take its tasks, and when is a new request admitted?
//!
//! Each worker has a deque. It works at its own end; tasks that it forks go there, and the parent of the last task that
//! was joined is there again when it can go on. So a worker that finds its own end empty has come to the end of what it can
//! do for a request. Then it asks its policy where to look: at the requests that run (to tell which of them are large), at
//! the other end of a random victim's deque, at the queue of requests that have arrived and have not been admitted, or
//! nowhere.
//!
//! ```text
//!            own end empty
//!                  |  on_exhausted
//!                  v                          next              next
//!      [ look at the requests that run ] ------------> victim --------> nothing there
//!                  | next                                |  a task         | next: another victim, the queue, wait
//!                  '--------> queue --> admit            v                 v
//!                                                      its own
//! ```
//!
//! Deques, queues, clocks and random numbers are the host's; policies are answers to questions, without state of their
//! own. A request is *marked* once it was found to be large: then none of its tasks is stolen any more, those that run
//! go on, and what is forked stays with whoever forked it.

mod admit_first;
mod clairvoyant;
mod default_tbb;
mod serial;
mod steal_first;
mod table;
mod tail_control;
pub mod thresholds;

pub use admit_first::AdmitFirst;
pub use clairvoyant::Clairvoyant;
pub use default_tbb::{DefaultTbb, DefaultTbbConfig, DequeEnd};
pub use serial::Serial;
pub use steal_first::StealFirst;
pub use table::ThresholdTable;
pub use tail_control::{TailControl, TailControlConfig};

use crate::Picos;

/// What a worker does that has no task of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It goes through the requests that run, and asks [`Parallelism::is_large`] of each.
    Requests,
    /// It tries to take the oldest task of a random other worker.
    Victim,
    /// It admits the request that has waited longest.
    Queue,
    /// There is nothing, until there is.
    Wait,
}

/// Where a request goes that has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Landing {
    /// To the end of the queue of all workers.
    #[default]
    Queue,
    /// To the end of a random worker's deque at which others steal.
    StealEnd,
    /// To the end of a random worker's deque at which the worker itself takes.
    OwnEnd,
}

/// What a worker may know when it looks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// Is there a task at the steal end of another worker's deque whose request is not marked?
    pub stealable: bool,
    /// Is a request waiting to be admitted?
    pub queued: bool,
}

/// A parallelism policy. Instances have no state that changes, so a host may share one.
pub trait Parallelism {
    /// Where requests go that arrive.
    fn landing(&self) -> Landing {
        Landing::Queue
    }

    /// A worker has come to the end of its own tasks.
    fn on_exhausted(&self, around: Around) -> Look {
        self.next(around)
    }

    /// It has looked at the requests, or has found nothing at a victim, or has waited and something has changed. Never
    /// [`Look::Victim`] unless something is stealable, or [`Look::Queue`] unless something is queued.
    fn next(&self, around: Around) -> Look;

    /// A request that runs has been processed for `processed` by all workers together while `active` requests had arrived
    /// and not completed. Is it large?
    fn is_large(&self, active: u32, processed: Picos) -> bool {
        let _ = (active, processed);
        false
    }

    /// How old what a worker reads of another's processing time is.
    fn age(&self) -> Picos {
        Picos::ZERO
    }

    /// A request of `work` is admitted while `active` requests, it included, have arrived and not completed. Is it large
    /// from the start? Only clairvoyant policies ask for the work.
    fn is_large_when_admitted(&self, active: u32, work: Picos) -> bool {
        let _ = (active, work);
        false
    }
}

/// The parallelism policy as a policy file names it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum ParallelismConfig {
    /// A request is one task.
    #[default]
    Serial,
    /// Requests that run are helped before others are admitted.
    StealFirst,
    /// Requests are admitted before others are helped.
    AdmitFirst,
    /// Requests go to a random worker's deque.
    DefaultTbb(DefaultTbbConfig),
    /// Steal-first, and requests that turn out to be large lose their help.
    TailControl(TailControlConfig),
    /// Tail-control that knows from the start which requests are large.
    Clairvoyant(TailControlConfig),
}

impl ParallelismConfig {
    /// Do requests fork?
    pub fn forks(&self) -> bool {
        *self != ParallelismConfig::Serial
    }
}
