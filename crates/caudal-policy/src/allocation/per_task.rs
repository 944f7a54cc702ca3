//! Per-task: a core for each task, as Fred grants them.
//!
//! ## What it does
//! An arrival gets a new core if the machine has a spare one; the core where it landed pays
//! `costs.hand_over` to hand it over. A core that completes a task goes back if no more tasks wait than
//! cores are idle. Needs work stealing: once all cores are held, tasks queue and must be found. The name stands for two
//! `triggers`: `arrival` and `completion`. The simulator asks the first at each arrival, the second at each completion.
//! ## When it helps
//! Tasks much longer than a core allocation: no task ever waits while the machine has cores.
//! ## When it hurts
//! Short ones: efficiency can not pass T / (T + R) for tasks of T and allocations of R.
//! ## Parameters
//! None.
//! ## Source
//! Kaffes et al., SoCC 2019 ("Fred"); McClure et al., NSDI 2022, sections 3.2.2 and 4.3.
//! ## Example
//! `allocation = { policy = "per-task" }`

use super::triggers::interval_default;
use super::{Grow, Shrink, Triggers};

/// The parameters in a policy file: none. They decide nothing themselves: `AllocationConfig::triggers` turns them into
/// [`Triggers`] when a run is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PerTaskConfig {}

impl From<PerTaskConfig> for Triggers {
    fn from(_: PerTaskConfig) -> Triggers {
        Triggers { grow: Grow::Arrival, shrink: Shrink::Completion, interval: interval_default() }
    }
}
