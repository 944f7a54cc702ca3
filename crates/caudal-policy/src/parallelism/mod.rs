//! Parallelism: a request forks inside: who may take its tasks, and when is a new request admitted?
//!
//! Each worker has a deque. It works at its own end; tasks that it forks go there, and the parent of the last task that
//! was joined is there again when it can go on. So a worker that finds its own end empty has come to the end of what it can
//! do for a request. Then it asks its policy where to search: among the requests that run (to tell which of them are large), at
//! the other end of a random victim's deque, at the queue of requests that have arrived and have not been admitted, or
//! nowhere.
//!
//! ```text
//!            own end empty
//!                  |  on_exhausted
//!                  v                          next              next
//!      [ check the requests that run  ] ------------> victim --------> nothing there
//!                  | next                                |  a task         | next: another victim, the queue, wait
//!                  '--------> queue --> admit            v                 v
//!                                                      its own
//! ```
//!
//! Deques, queues, clocks and random numbers are the host's; policies are answers to questions, without state of their
//! own. A request is *marked* once it was found to be large: then none of its tasks is stolen any more, those that run
//! go on, and what is forked stays with whoever forked it. A policy may also keep some workers for small requests: those
//! take no task of a request that was found to be long.

mod admit_first;
mod clairvoyant;
mod default_tbb;
mod serial;
mod steal_first;
mod table;
mod tail_control;
pub mod thresholds;
pub mod tuner;

pub use admit_first::AdmitFirst;
pub use clairvoyant::Clairvoyant;
pub use default_tbb::{DefaultTbb, DefaultTbbConfig, DequeEnd};
pub use serial::Serial;
pub use steal_first::StealFirst;
pub use table::{ClassTables, ThresholdTable};
pub use tail_control::{ClassConfig, LaneConfig, RetuneConfig, TailControl, TailControlConfig};

use crate::Picos;

/// The next step of a worker that has no task of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// It goes through the requests that run, and asks [`Parallelism::size`] of each.
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

/// The surroundings of a worker that searches for a task, as far as it may know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Is there a task at the steal end of another worker's deque that this one may take?
    pub stealable: bool,
    /// Is a request waiting to be admitted?
    pub queued: bool,
    /// Is the worker one of those that are kept for small requests ([`Parallelism::kept`])?
    pub kept: bool,
}

/// A request that runs, as a worker sees it that checks the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningRequest {
    /// Index of its class.
    pub class: u8,
    /// How long all workers together have processed it.
    pub processed: Picos,
    /// The longest chain of what is left of it that is done one after the other, on any number of cores; 0 unless
    /// [`Parallelism::SPANS`].
    pub span_left: Picos,
}

/// The size that a request that runs is found to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Any worker may take its tasks.
    #[default]
    Small,
    /// Workers that are kept for small requests take none of its tasks.
    Long,
    /// Nobody takes any of its tasks: it is marked.
    Large,
}

/// A parallelism policy. What it answers depends on its parameters alone, so a host may share one.
pub trait Parallelism {
    /// Does [`Self::size`] ask for [`RunningRequest::span_left`]?
    const SPANS: bool = false;

    /// Where requests go that arrive.
    fn landing(&self) -> Landing {
        Landing::Queue
    }

    /// A worker has come to the end of its own tasks.
    fn on_exhausted(&self, surroundings: Surroundings) -> Search {
        self.next(surroundings)
    }

    /// It has checked the requests, or has found nothing at a victim, or has waited and something has changed. Never
    /// [`Search::Victim`] unless something is stealable, or [`Search::Queue`] unless something is queued.
    fn next(&self, surroundings: Surroundings) -> Search;

    /// A request that runs has come as far as `seen` while `active` requests had arrived and not completed. What is it? A
    /// request that was found to be of a size never shrinks.
    fn size(&self, active: u32, seen: RunningRequest) -> Size {
        let _ = (active, seen);
        Size::Small
    }

    /// How many workers, the first ones, take no tasks of long requests.
    fn kept(&self) -> u32 {
        0
    }

    /// How old what a worker reads of another's processing time is.
    fn age(&self) -> Picos {
        Picos::ZERO
    }

    /// A request of `work` and of a class is admitted while `active` requests, it included, have arrived and not
    /// completed. Is it large from the start? Only clairvoyant policies ask for the work.
    fn is_large_when_admitted(&self, active: u32, class: u8, work: Picos) -> bool {
        let _ = (active, class, work);
        false
    }

    /// Other thresholds hold from now on.
    fn set_tables(&mut self, tables: ClassTables) {
        let _ = tables;
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
