//! Join the bounded shortest queue, JBSQ(*n*).
//!
//! ## What it does
//! A request goes to the pool with the fewest unfinished ones if that is below `bound` (the one in service
//! counts); else it waits in one central queue, whose head goes out at the next completion. Ties at random.
//! ## When it helps
//! Nearly a single queue, but a core never waits for its next request: hardware does it (nanoPU).
//! ## When it hurts
//! In software the central queue needs a dispatcher that hears of every completion. If handlers wait for further requests,
//! the requests in service can for ever keep in the central queue the very requests that they wait for.
//! ## Parameters
//! `bound` (default 3): at least 1; 1 is a single queue.
//! ## Source
//! Kogias et al., USENIX ATC 2019 (R2P2); Ibanez et al., OSDI 2021 (nanoPU, bound 3); McClure et al.,
//! NSDI 2022, footnote 6.
//! ## Example
//! `dispatch = { policy = "jbsq", bound = 3 }`

use super::{Dispatch, Placement, Pools};
use crate::PoolId;
use crate::random::Draw;

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct JbsqConfig {
    /// Most unfinished requests of one pool; at least 1.
    pub bound: u32,
}

impl Default for JbsqConfig {
    fn default() -> Self {
        JbsqConfig { bound: 3 }
    }
}

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Jbsq {
    bound: u32,
}

impl Jbsq {
    /// A dispatcher with the bound of `config`.
    ///
    /// # Panics
    /// If the bound is 0.
    pub fn new(config: JbsqConfig) -> Jbsq {
        assert!(config.bound > 0, "a bound of 0 holds every request for ever");
        Jbsq { bound: config.bound }
    }
}

impl Dispatch for Jbsq {
    fn holds(&self) -> bool {
        true
    }

    #[inline]
    fn on_arrival(&mut self, draw: Draw, pools: &mut impl Pools) -> Placement {
        self.on_room(draw, pools).map_or(Placement::Hold, Placement::Pool)
    }

    #[inline]
    fn on_room(&mut self, mut draw: Draw, pools: &mut impl Pools) -> Option<PoolId> {
        let shortest = pools.shortest();
        (shortest.unfinished < self.bound).then(|| pools.nth_shortest(draw.below(shortest.pools)))
    }
}
