//! Work stealing and work shedding at once.
//!
//! ## What it does
//! Idle workers walk as in [`WorkStealing`]; overloaded ones flag others as in
//! [`WorkShedding`]. A flag is answered before a walk goes on.
//! ## When it helps
//! At the tail with few spare cores: a long queue is cut also where nobody is idle.
//! ## When it hurts
//! With hardly any spare cycles the flags cost more than they bring.
//! ## Parameters
//! `threshold` (default 2 us) and `amount` (default `half`), as in the two.
//! ## Source
//! McClure et al., NSDI 2022, section 4.2.1 ("Combining policies"), Figure 4.
//! ## Example
//! `rebalance = { policy = "steal-and-shed", threshold = "2us" }`

use super::{Amount, Rebalance, WorkShedding, WorkSheddingConfig, WorkStealing, WorkStealingConfig};
use crate::Picos;
use crate::random::Draw;

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct StealAndShedConfig {
    /// A queue whose oldest task has waited longer than this is overloaded.
    pub threshold: Picos,
    /// How much a thief takes.
    pub amount: Amount,
}

impl Default for StealAndShedConfig {
    fn default() -> Self {
        StealAndShedConfig { threshold: WorkSheddingConfig::default().threshold, amount: Amount::Half }
    }
}

/// The policy's decisions; what they are is in the [module](self). A worker asks when it has nothing to run, and between two of its tasks: a
/// simulated worker of the engine, or one of the runtime. It only answers; the worker moves the tasks.
#[derive(Clone, Debug)]
pub struct StealAndShed {
    steal: WorkStealing,
    shed: WorkShedding,
}

impl StealAndShed {
    /// Both policies with the parameters of `config`.
    pub fn new(config: StealAndShedConfig) -> StealAndShed {
        StealAndShed {
            steal: WorkStealing::new(WorkStealingConfig { amount: config.amount }),
            shed: WorkShedding::new(WorkSheddingConfig { threshold: config.threshold }),
        }
    }
}

impl Rebalance for StealAndShed {
    #[inline]
    fn steals(&self) -> bool {
        true
    }
    #[inline]
    fn walk_start(&self, draw: Draw, pools: u32) -> u32 {
        self.steal.walk_start(draw, pools)
    }
    #[inline]
    fn steal_amount(&self, len: u32) -> u32 {
        self.steal.steal_amount(len)
    }
    #[inline]
    fn sheds(&self, oldest: Picos) -> bool {
        self.shed.sheds(oldest)
    }
    #[inline]
    fn may_shed(&self) -> bool {
        true
    }
}
