//! Idle buffer: keep a few cores idle, so that a burst finds one.
//!
//! ## What it does
//! Every `interval`, counts the held cores that run no task. Fewer than `cores`: asks for one. More: gives
//! one back. The name stands for two `triggers`, both `idle`, which the simulator asks at every `interval`.
//! ## When it helps
//! Long intervals and long tasks, where the count is steady (PerfIso's setting).
//! ## When it hurts
//! At 5 us and 1 us tasks the count is noise, and the policy follows it.
//! ## Parameters
//! `cores` (default 2, ours: the papers give none). `interval` (default 5 us).
//! ## Source
//! Iorgulescu et al., USENIX ATC 2018 ("PerfIso"); McClure et al., NSDI 2022, end of section 4.3.
//! ## Example
//! `allocation = { policy = "idle-buffer", cores = 2 }`

use super::triggers::interval_default;
use super::{Grow, Shrink, Triggers};
use crate::Picos;

/// The parameters in a policy file. They decide nothing themselves: `AllocationConfig::triggers` turns them into
/// [`Triggers`] when a run is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct IdleBufferConfig {
    /// Idle cores to keep.
    pub cores: u32,
    /// Time between checks.
    pub interval: Picos,
}

impl Default for IdleBufferConfig {
    fn default() -> Self {
        IdleBufferConfig { cores: 2, interval: interval_default() }
    }
}

impl From<IdleBufferConfig> for Triggers {
    fn from(config: IdleBufferConfig) -> Triggers {
        Triggers {
            grow: Grow::Idle { below: config.cores },
            shrink: Shrink::Idle { above: config.cores },
            interval: config.interval,
        }
    }
}
