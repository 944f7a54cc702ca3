//! Work shedding: an overloaded worker flags another, which takes some of its tasks.
//!
//! ## What it does
//! Between two tasks, a worker whose oldest queued task has waited longer than `threshold` flags a random
//! other worker that has no flag. That one sees the flag between its own tasks (at once when it is idle),
//! pays `costs.shed`, and moves the oldest tasks until both queues are equally long.
//! ## When it helps
//! Together with stealing, where few cores are idle enough to steal.
//! ## When it hurts
//! Alone: a task waits until the threshold has passed, and until the tasks of its own worker and of the flagged one have ended.
//! ## Parameters
//! `threshold` (default 2 us): any positive time.
//! ## Source
//! McClure et al., NSDI 2022, sections 3.2.1 and 4.1, Table 2.
//! ## Example
//! `rebalance = { policy = "work-shedding", threshold = "2us" }`

use super::Rebalance;
use crate::Picos;
use crate::random::Draw;

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct WorkSheddingConfig {
    /// A queue whose oldest task has waited longer than this is overloaded.
    pub threshold: Picos,
}

impl Default for WorkSheddingConfig {
    fn default() -> Self {
        WorkSheddingConfig { threshold: Picos::from_micros(2) }
    }
}

/// The policy's decisions; what they are is in the [module](self). A worker asks when it has nothing to run, and between two of its tasks: a
/// simulated worker of the engine, or one of the runtime. It only answers; the worker moves the tasks.
#[derive(Clone, Debug)]
pub struct WorkShedding {
    threshold: Picos,
}

impl WorkShedding {
    /// A shedder with the threshold of `config`.
    pub fn new(config: WorkSheddingConfig) -> WorkShedding {
        WorkShedding { threshold: config.threshold }
    }
}

impl Rebalance for WorkShedding {
    #[inline]
    fn steals(&self) -> bool {
        false
    }
    fn walk_start(&self, _draw: Draw, _pools: u32) -> u32 {
        0
    }
    fn steal_amount(&self, _len: u32) -> u32 {
        0
    }
    #[inline]
    fn sheds(&self, oldest: Picos) -> bool {
        oldest > self.threshold
    }
    #[inline]
    fn may_shed(&self) -> bool {
        true
    }
}
