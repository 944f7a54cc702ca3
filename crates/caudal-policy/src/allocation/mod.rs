//! Allocation: grow or shrink the application's cores?
//!
//! Every policy here is a *grow trigger* and a *shrink trigger* ([`Triggers`]); the names are shorthands
//! for pairs with the numbers of a paper. Each name has a file with its parameters; [`triggers`] has the one state machine,
//! [`Triggered`]. The simulator makes it when it sets up a run ([`AllocationConfig::triggers`]), and asks it at every interval, and at those
//! arrivals, completions and failed walks that its triggers are about. The runtime does not allocate cores.

mod caladan;
mod delay_range;
mod idle_buffer;
mod per_task;
mod shenango;
pub mod triggers;
mod utilization_range;

pub use caladan::CaladanConfig;
pub use delay_range::DelayRangeConfig;
pub use idle_buffer::IdleBufferConfig;
pub use per_task::PerTaskConfig;
pub use shenango::ShenangoConfig;
pub use triggers::{Grow, Shrink, Triggered, Triggers};
pub use utilization_range::UtilizationRangeConfig;

use crate::{Instant, Picos};

/// An application as its allocation policy sees it. The host implements it, and computes a number only when the policy asks for it.
pub trait Application {
    /// Cores held, those on their way included.
    fn cores(&self) -> u32;
    /// Cores of the machine that could still be had.
    fn spare(&self) -> u32;
    /// Held cores that run no task, including cores that spin or steal, without cores on their way.
    fn idle(&self) -> u32;
    /// Held cores that walk for work to steal.
    fn stealing(&self) -> u32;
    /// Tasks that wait in queues.
    fn queued(&self) -> u32;
    /// The longest that the oldest task of any queue has waited.
    fn oldest_delay_max(&self) -> Picos;
    /// The mean over the held cores of how long each core's oldest queued task has waited; 0 for an empty queue.
    fn oldest_delay_mean(&self) -> Picos;
    /// Time spent on tasks over core time held since the last tick, without time in which cores were on
    /// their way; 0 to 1. A host that measures only at the ends of tasks counts an interval without such an end as busy.
    fn utilization(&self) -> f64;
}

/// The answer of an allocation policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreDemand {
    /// No change.
    Keep,
    /// One core more, if the machine has a spare one.
    Grow,
    /// On an arrival: one core more, which gets the task that has just arrived.
    GrowForTask,
    /// One core less: on a completion or a failed walk the core that the host asks for, on a tick any idle core.
    Shrink,
}

/// An allocation policy. One instance per application.
pub trait Allocation {
    /// The time between two calls of [`Allocation::on_tick`], if any.
    fn interval(&self) -> Option<Picos>;
    /// Is [`Allocation::on_arrival`] of interest?
    fn watches_arrivals(&self) -> bool;
    /// Is [`Allocation::on_completion`] of interest?
    fn watches_completions(&self) -> bool;
    /// Is [`Allocation::on_failed_walk`] of interest?
    fn watches_walks(&self) -> bool;
    /// An interval has passed.
    fn on_tick(&mut self, now: Instant, seen: &impl Application) -> CoreDemand;
    /// A request arrives.
    fn on_arrival(&mut self, now: Instant, seen: &impl Application) -> CoreDemand;
    /// A core has completed a task and has not taken the next.
    fn on_completion(&mut self, now: Instant, seen: &impl Application) -> CoreDemand;
    /// A core has looked everywhere, or idled for as long as that takes, and found nothing.
    fn on_failed_walk(&mut self, now: Instant, seen: &impl Application) -> CoreDemand;
}

/// The allocation policy as a policy file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum AllocationConfig {
    /// The same cores all the time.
    #[default]
    Static,
    /// A core for each task.
    PerTask(PerTaskConfig),
    /// A core more when the longest queueing delay passes a threshold.
    Shenango(ShenangoConfig),
    /// As Shenango, with other numbers.
    Caladan(CaladanConfig),
    /// Mean queueing delay inside a band.
    DelayRange(DelayRangeConfig),
    /// Utilization inside a band.
    UtilizationRange(UtilizationRangeConfig),
    /// A buffer of idle cores.
    IdleBuffer(IdleBufferConfig),
    /// Any grow trigger with any shrink trigger.
    Triggers(Triggers),
}

impl AllocationConfig {
    /// The pair of triggers behind the name; `None` for static allocation.
    pub fn triggers(&self) -> Option<Triggers> {
        match self {
            AllocationConfig::Static => None,
            AllocationConfig::PerTask(config) => Some((*config).into()),
            AllocationConfig::Shenango(config) => Some((*config).into()),
            AllocationConfig::Caladan(config) => Some((*config).into()),
            AllocationConfig::DelayRange(config) => Some((*config).into()),
            AllocationConfig::UtilizationRange(config) => Some((*config).into()),
            AllocationConfig::IdleBuffer(config) => Some((*config).into()),
            AllocationConfig::Triggers(triggers) => Some(*triggers),
        }
    }
}
