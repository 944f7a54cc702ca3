//! Shenango: a core more when any queue's oldest task has waited too long, one less when a walk finds nothing.
//!
//! ## What it does
//! Every `interval`, checks the oldest task of every queue; if one has waited longer than `threshold`, it
//! asks for one core. A core goes back after a walk that found nothing to steal; where the system does not steal,
//! after it has idled for as long as such a walk takes. The name stands for two `triggers`: `delay-max` and `failed-walk`.
//! The simulator asks the first at every `interval`, and the second whenever a walk has failed.
//! ## When it helps
//! Load that jumps: no task waits much longer than the threshold.
//! ## When it hurts
//! Short tasks on many cores: a walk over all of them is long, and what it costs is lost.
//! ## Parameters
//! `interval` and `threshold` (default 5 us each): any positive times.
//! ## Source
//! Ousterhout et al., NSDI 2019; McClure et al., NSDI 2022, section 4.1, Table 2.
//! ## Example
//! `allocation = { policy = "shenango" }`

use super::{Grow, Shrink, Triggers};
use crate::Picos;

/// The parameters in a policy file. They decide nothing themselves: `AllocationConfig::triggers` turns them into
/// [`Triggers`] when a run is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ShenangoConfig {
    /// Time between checks.
    pub interval: Picos,
    /// Longest queueing delay that is fine.
    pub threshold: Picos,
}

impl Default for ShenangoConfig {
    fn default() -> Self {
        ShenangoConfig { interval: Picos::from_micros(5), threshold: Picos::from_micros(5) }
    }
}

impl From<ShenangoConfig> for Triggers {
    fn from(config: ShenangoConfig) -> Triggers {
        Triggers {
            grow: Grow::DelayMax { above: config.threshold },
            shrink: Shrink::FailedWalk,
            interval: config.interval,
        }
    }
}
