//! A grow trigger and a shrink trigger: every allocation policy here is such a pair.
//!
//! ## What it does
//! Asks for one core when the grow trigger fires and gives one back when the shrink trigger does; where
//! both fire at the same tick, growing wins. The simulator asks both at every `interval`, and those that hear of an
//! arrival, a completion or a failed walk whenever one happens.
//! ## When it helps
//! To build a policy that has no name, such as Go's or Arachne's pair, and to see which half matters.
//! ## When it hurts
//! Triggers that contradict each other (shrink below a delay that grow calls fine) make it oscillate.
//! ## Parameters
//! `grow`, `shrink`: see [`Grow`] and [`Shrink`]. `interval` (default 5 us): time between checks.
//! ## Source
//! McClure et al., NSDI 2022, Table 1 and section 3.2.2.
//! ## Example
//! `allocation = { policy = "triggers", grow = { when = "no-thief" }, shrink = { when = "failed-walk" } }`

use super::{Allocation, Application, CoreDemand};
use crate::{Instant, Picos};

/// When to ask for a core.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "when", rename_all = "kebab-case", deny_unknown_fields))]
pub enum Grow {
    /// At every arrival; the new core gets the task (Fred).
    Arrival,
    /// At an arrival while no core looks for work (Go).
    NoThief,
    /// At a tick: the oldest task of any queue has waited longer than `above` (Shenango, Caladan).
    DelayMax {
        /// Longest delay that is fine.
        above: Picos,
    },
    /// At a tick: the mean delay of the oldest tasks is above `above` (delay range, IX).
    DelayMean {
        /// Longest mean delay that is fine.
        above: Picos,
    },
    /// At a tick: utilization is above `above`, 0 to 1 (utilization range).
    Utilization {
        /// Highest utilization that is fine.
        above: f64,
    },
    /// At a tick: more than `above` tasks are queued per core (Arachne).
    Queued {
        /// Most queued tasks per core that are fine.
        above: f64,
    },
    /// At a tick: fewer than `below` cores are idle (PerfIso).
    Idle {
        /// Fewest idle cores that are fine.
        below: u32,
    },
}

/// When to give a core back.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "when", rename_all = "kebab-case", deny_unknown_fields))]
pub enum Shrink {
    /// Never.
    Never,
    /// At a completion after which no more tasks wait than cores are idle (Fred).
    Completion,
    /// After a walk that found nothing (Shenango, Caladan, Go).
    FailedWalk,
    /// At a tick: the mean delay of the oldest tasks is below `below` (delay range).
    DelayMean {
        /// Shortest mean delay that is fine.
        below: Picos,
    },
    /// At a tick: utilization is below `below`, 0 to 1 (utilization range, IX, Arachne).
    Utilization {
        /// Lowest utilization that is fine.
        below: f64,
    },
    /// At a tick: more than `above` cores are idle (PerfIso).
    Idle {
        /// Most idle cores that are fine.
        above: u32,
    },
}

/// The parameters in a policy file, or those behind the name of a policy (`AllocationConfig::triggers`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Triggers {
    /// When to ask for a core.
    pub grow: Grow,
    /// When to give a core back.
    pub shrink: Shrink,
    /// Time between checks.
    #[cfg_attr(feature = "serde", serde(default = "interval_default"))]
    pub interval: Picos,
}

/// The interval of most published systems: 5 us.
pub(super) const fn interval_default() -> Picos {
    Picos::from_micros(5)
}

/// The policy that decides for an application: a host makes one when a run is set up. It has no state but its triggers. See the
/// [module](self).
#[derive(Clone, Debug)]
pub struct Triggered {
    triggers: Triggers,
}

impl Triggered {
    /// A policy that follows `triggers`.
    pub fn new(triggers: Triggers) -> Triggered {
        Triggered { triggers }
    }
}

impl Allocation for Triggered {
    fn interval(&self) -> Option<Picos> {
        let grows = !matches!(self.triggers.grow, Grow::Arrival | Grow::NoThief);
        let shrinks =
            !matches!(self.triggers.shrink, Shrink::Never | Shrink::Completion | Shrink::FailedWalk);
        (grows || shrinks).then_some(self.triggers.interval)
    }

    fn watches_arrivals(&self) -> bool {
        matches!(self.triggers.grow, Grow::Arrival | Grow::NoThief)
    }

    fn watches_completions(&self) -> bool {
        matches!(self.triggers.shrink, Shrink::Completion)
    }

    fn watches_walks(&self) -> bool {
        matches!(self.triggers.shrink, Shrink::FailedWalk)
    }

    fn on_tick(&mut self, _now: Instant, seen: &impl Application) -> CoreDemand {
        let grow = match self.triggers.grow {
            Grow::Arrival | Grow::NoThief => false,
            Grow::DelayMax { above } => seen.oldest_delay_max() > above,
            Grow::DelayMean { above } => seen.oldest_delay_mean() > above,
            Grow::Utilization { above } => seen.utilization() > above,
            Grow::Queued { above } => f64::from(seen.queued()) > above * f64::from(seen.cores()),
            Grow::Idle { below } => seen.idle() < below,
        };
        if grow {
            return CoreDemand::Grow;
        }
        let shrink = match self.triggers.shrink {
            Shrink::Never | Shrink::Completion | Shrink::FailedWalk => false,
            Shrink::DelayMean { below } => seen.oldest_delay_mean() < below,
            Shrink::Utilization { below } => seen.utilization() < below,
            Shrink::Idle { above } => seen.idle() > above,
        };
        if shrink { CoreDemand::Shrink } else { CoreDemand::Keep }
    }

    fn on_arrival(&mut self, _now: Instant, seen: &impl Application) -> CoreDemand {
        match self.triggers.grow {
            Grow::Arrival if seen.spare() > 0 => CoreDemand::GrowForTask,
            Grow::NoThief if seen.spare() > 0 && seen.stealing() == 0 => CoreDemand::Grow,
            _ => CoreDemand::Keep,
        }
    }

    fn on_completion(&mut self, _now: Instant, seen: &impl Application) -> CoreDemand {
        let shrink = matches!(self.triggers.shrink, Shrink::Completion) && seen.queued() <= seen.idle();
        if shrink { CoreDemand::Shrink } else { CoreDemand::Keep }
    }

    fn on_failed_walk(&mut self, _now: Instant, _seen: &impl Application) -> CoreDemand {
        match self.triggers.shrink {
            Shrink::FailedWalk => CoreDemand::Shrink,
            _ => CoreDemand::Keep,
        }
    }
}
