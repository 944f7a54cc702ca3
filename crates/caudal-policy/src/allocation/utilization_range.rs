//! Utilization range: keep the share of core time that is spent on tasks inside a band.
//!
//! ## What it does
//! Every `interval`, computes the time spent on tasks over the core time held since the last check. Above
//! `high` it asks for one core, below `low` it gives an idle one back. The name stands for two `triggers`, both
//! `utilization`, which the simulator asks at every `interval`.
//! ## When it helps
//! An operator who wants a certain efficiency gets it, at any load and service time.
//! ## When it hurts
//! The policy does not look at latency: whatever latency the utilization brings is accepted.
//! ## Parameters
//! `low`, `high` (default 0.75, 0.95): 0 < `low` < `high` <= 1. `interval` (default 5 us).
//! ## Source
//! McClure et al., NSDI 2022, sections 4.1 and 5; defaults from Table 2.
//! ## Example
//! `allocation = { policy = "utilization-range", low = 0.75, high = 0.95 }`

use super::triggers::interval_default;
use super::{Grow, Shrink, Triggers};
use crate::Picos;

/// The parameters in a policy file. They decide nothing themselves: `AllocationConfig::triggers` turns them into
/// [`Triggers`] when a run is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct UtilizationRangeConfig {
    /// Below this a core is given back; a share, 0 to 1.
    pub low: f64,
    /// Above this a core is asked for; a share, 0 to 1.
    pub high: f64,
    /// Time between checks.
    pub interval: Picos,
}

impl Default for UtilizationRangeConfig {
    fn default() -> Self {
        UtilizationRangeConfig { low: 0.75, high: 0.95, interval: interval_default() }
    }
}

impl From<UtilizationRangeConfig> for Triggers {
    fn from(config: UtilizationRangeConfig) -> Triggers {
        Triggers {
            grow: Grow::Utilization { above: config.high },
            shrink: Shrink::Utilization { below: config.low },
            interval: config.interval,
        }
    }
}
