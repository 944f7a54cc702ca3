//! Default-TBB: requests go to a random worker's deque.
//!
//! ## What it does
//! There is no queue of requests: each is a task in the deque of a random worker from the start, and workers take and
//! steal tasks without regard to the request that they belong to.
//! ## When it helps
//! No queue is shared by all workers. Otherwise its results are near those of admit-first.
//! ## When it hurts
//! Requests are not admitted in the order in which they came: one that has waited long may wait longer than one that has
//! just arrived.
//! ## Parameters
//! `end` (default `steal`): the end of the deque to which a request goes, `steal` or `own`. At its own end a worker turns to
//! the latest request first, which makes more of them late.
//! ## Source
//! Li et al., PPoPP 2016, section 5.6; the paper leaves open to which end requests go.
//! ## Example
//! `parallelism = { policy = "default-tbb", end = "own" }`

use super::{Landing, Parallelism, Search, Surroundings};

/// The end of a deque.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum DequeEnd {
    /// Where others steal: the request comes after all that the worker has.
    #[default]
    Steal,
    /// Where the worker takes: the request comes before all that the worker has.
    Own,
}

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct DefaultTbbConfig {
    /// The end of a random deque to which a request goes.
    pub end: DequeEnd,
}

/// The policy's decisions; what they are is in the [module](self). The simulator's engine for requests that fork asks when a request arrives, and
/// when a worker has come to the end of its own tasks. It only answers; the engine moves the tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTbb {
    config: DefaultTbbConfig,
}

impl DefaultTbb {
    /// The policy of `config`.
    pub fn new(config: DefaultTbbConfig) -> DefaultTbb {
        DefaultTbb { config }
    }
}

impl Parallelism for DefaultTbb {
    #[inline]
    fn landing(&self) -> Landing {
        match self.config.end {
            DequeEnd::Steal => Landing::StealEnd,
            DequeEnd::Own => Landing::OwnEnd,
        }
    }

    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        if surroundings.stealable { Search::Victim } else { Search::Wait }
    }
}
