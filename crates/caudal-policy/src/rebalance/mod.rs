//! Rebalance: a worker is idle, or overloaded; move tasks between pools?

mod both;
mod none;
mod work_shedding;
mod work_stealing;

pub use both::{StealAndShed, StealAndShedConfig};
pub use none::NoRebalance;
pub use work_shedding::{WorkShedding, WorkSheddingConfig};
pub use work_stealing::{Amount, WorkStealing, WorkStealingConfig};

use crate::Picos;
use crate::random::Draw;

/// A rebalance policy. One instance per worker; the methods are pure, so a host may share one.
///
/// Tasks that move are always the oldest of the victim's queue, in order, and go to the front of the
/// thief's: they have waited longest.
pub trait Rebalance {
    /// Does an idle worker walk the other pools for tasks?
    fn steals(&self) -> bool;

    /// Where the walk number `walk` of a worker starts: a place in the fixed order of all pools, below
    /// `pools`. The walk checks every open pool but the worker's own, once, in that order.
    ///
    /// Walks are data so that a host may jump to the next check that finds something.
    fn walk_start(&self, draw: Draw, pools: u32) -> u32;

    /// How many tasks a thief takes from a queue of `len`; at most `len`.
    fn steal_amount(&self, len: u32) -> u32;

    /// Between two tasks of a worker: is its queue, whose oldest task has waited for `oldest`, overloaded,
    /// so that another worker should be flagged?
    fn sheds(&self, oldest: Picos) -> bool;

    /// Does any worker ever shed? `false` lets a host skip the question.
    fn may_shed(&self) -> bool;

    /// How many tasks a flagged worker with `own` tasks takes from the overloaded queue of `len`.
    fn shed_amount(&self, own: u32, len: u32) -> u32 {
        len.saturating_sub(own) / 2
    }
}

/// The rebalance policy as a policy file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum RebalanceConfig {
    /// Tasks stay where they were put.
    #[default]
    None,
    /// Idle workers take from others.
    WorkStealing(WorkStealingConfig),
    /// Overloaded workers ask others to take.
    WorkShedding(WorkSheddingConfig),
    /// Both at once.
    StealAndShed(StealAndShedConfig),
}

/// Any rebalance policy of this crate: a match that the branch predictor learns.
#[derive(Clone, Debug)]
pub enum AnyRebalance {
    /// See [`NoRebalance`].
    None(NoRebalance),
    /// See [`WorkStealing`].
    WorkStealing(WorkStealing),
    /// See [`WorkShedding`].
    WorkShedding(WorkShedding),
    /// See [`StealAndShed`].
    StealAndShed(StealAndShed),
}

impl From<RebalanceConfig> for AnyRebalance {
    fn from(config: RebalanceConfig) -> AnyRebalance {
        match config {
            RebalanceConfig::None => AnyRebalance::None(NoRebalance),
            RebalanceConfig::WorkStealing(config) => AnyRebalance::WorkStealing(WorkStealing::new(config)),
            RebalanceConfig::WorkShedding(config) => AnyRebalance::WorkShedding(WorkShedding::new(config)),
            RebalanceConfig::StealAndShed(config) => AnyRebalance::StealAndShed(StealAndShed::new(config)),
        }
    }
}

macro_rules! each {
    ($self:ident, $policy:ident => $answer:expr) => {
        match $self {
            AnyRebalance::None($policy) => $answer,
            AnyRebalance::WorkStealing($policy) => $answer,
            AnyRebalance::WorkShedding($policy) => $answer,
            AnyRebalance::StealAndShed($policy) => $answer,
        }
    };
}

impl Rebalance for AnyRebalance {
    #[inline]
    fn steals(&self) -> bool {
        each!(self, policy => policy.steals())
    }
    #[inline]
    fn walk_start(&self, draw: Draw, pools: u32) -> u32 {
        each!(self, policy => policy.walk_start(draw, pools))
    }
    #[inline]
    fn steal_amount(&self, len: u32) -> u32 {
        each!(self, policy => policy.steal_amount(len))
    }
    #[inline]
    fn sheds(&self, oldest: Picos) -> bool {
        each!(self, policy => policy.sheds(oldest))
    }
    #[inline]
    fn may_shed(&self) -> bool {
        each!(self, policy => policy.may_shed())
    }
    #[inline]
    fn shed_amount(&self, own: u32, len: u32) -> u32 {
        each!(self, policy => policy.shed_amount(own, len))
    }
}
