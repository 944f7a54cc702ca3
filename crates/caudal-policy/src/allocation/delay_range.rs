//! Delay range: keep the application's mean queueing delay inside a band.
//!
//! ## What it does
//! Every `interval`, checks the mean, over the held cores, of how long each core's oldest queued task
//! has waited. Above `high` it asks for one core, below `low` it gives an idle one back. The name stands for two `triggers`,
//! both `delay-mean`, which the simulator asks at every `interval`.
//! ## When it helps
//! Short tasks and load that moves: cores go back before they run out of work, so thieves burn less.
//! ## When it hurts
//! An `interval` below the time that a grant takes: it oscillates. Delay that comes from one long task.
//! ## Parameters
//! `low`, `high` (default 0.5 us, 1 us): any band, `low < high`. `interval` (default 5 us).
//! ## Source
//! McClure et al., NSDI 2022, sections 4.1 and 5; defaults from Table 2.
//! ## Example
//! `allocation = { policy = "delay-range", low = "0.5us", high = "1us" }`

use super::triggers::interval_default;
use super::{Grow, Shrink, Triggers};
use crate::Picos;

/// The parameters in a policy file. They decide nothing themselves: `AllocationConfig::triggers` turns them into
/// [`Triggers`] when a run is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct DelayRangeConfig {
    /// Below this a core is given back.
    pub low: Picos,
    /// Above this a core is asked for.
    pub high: Picos,
    /// Time between checks.
    pub interval: Picos,
}

impl Default for DelayRangeConfig {
    fn default() -> Self {
        DelayRangeConfig {
            low: Picos::from_nanos(500),
            high: Picos::from_micros(1),
            interval: interval_default(),
        }
    }
}

impl From<DelayRangeConfig> for Triggers {
    fn from(config: DelayRangeConfig) -> Triggers {
        Triggers {
            grow: Grow::DelayMean { above: config.high },
            shrink: Shrink::DelayMean { below: config.low },
            interval: config.interval,
        }
    }
}
