//! Work stealing: an idle worker walks the other queues and takes from the first that has tasks.
//!
//! ## What it does
//! A worker whose queue is empty walks the other open pools in one fixed random order, from a random
//! start. Each check costs `costs.steal_check`; a find costs `costs.steal` more and moves half of the tasks,
//! rounded up, the oldest ones. Its own queue comes first after every check. After a walk that found
//! nothing the next begins at once, unless the allocation policy takes the core.
//! ## When it helps
//! Nearly always, the policies paper found: idle time pays for the balance, busy workers pay nothing.
//! ## When it hurts
//! Idle cores burn power and cache bandwidth; with many cores and short tasks, a walk is long.
//! ## Parameters
//! `amount` (default `half`): `half`, or `one` task a steal.
//! ## Source
//! Blumofe, Leiserson, JACM 1999; McClure et al., NSDI 2022, sections 3.2.1 and 4.1 (100 ns and 100 ns).
//! ## Example
//! `rebalance = { policy = "work-stealing" }`

use super::Rebalance;
use crate::Picos;
use crate::random::Draw;

/// How much a thief takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Amount {
    /// Half of the victim's tasks, rounded up.
    #[default]
    Half,
    /// One task.
    One,
}

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct WorkStealingConfig {
    /// How much a thief takes.
    pub amount: Amount,
}

/// The policy's decisions; what they are is in the [module](self). A worker asks when it has nothing to run, and between two of its tasks: a
/// simulated worker of the engine, or one of the runtime. It only answers; the worker moves the tasks.
#[derive(Clone, Debug)]
pub struct WorkStealing {
    amount: Amount,
}

impl WorkStealing {
    /// A thief that takes what `config` says.
    pub fn new(config: WorkStealingConfig) -> WorkStealing {
        WorkStealing { amount: config.amount }
    }
}

impl Rebalance for WorkStealing {
    #[inline]
    fn steals(&self) -> bool {
        true
    }

    #[inline]
    fn walk_start(&self, mut draw: Draw, pools: u32) -> u32 {
        draw.below(pools)
    }

    #[inline]
    fn steal_amount(&self, len: u32) -> u32 {
        match self.amount {
            Amount::Half => len.div_ceil(2),
            Amount::One => len.min(1),
        }
    }

    #[inline]
    fn sheds(&self, _oldest: Picos) -> bool {
        false
    }
    #[inline]
    fn may_shed(&self) -> bool {
        false
    }
}
