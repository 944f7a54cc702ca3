//! Join the shortest queue.
//!
//! ## What it does
//! The request goes to the pool with the fewest unfinished requests. Ties are broken at random, or by
//! *maximum serviced quanta* (MSQ): the pool whose current requests have received the most quanta, because
//! they are likely to end soon. What MSQ leaves tied goes to the lowest id.
//! ## When it helps
//! With processor sharing behind it, it is near the best that a blind dispatcher can do; MSQ makes
//! long requests faster if usually every pool has one.
//! ## When it hurts
//! It needs a dispatcher that sees all pools; its core is lost to the service.
//! ## Parameters
//! `ties` (default `random`): `random` or `msq`.
//! ## Source
//! Luo et al., ASPLOS 2024, section 3.2.
//! ## Example
//! `dispatch = { policy = "jsq", ties = "msq" }`

use super::{Dispatch, Placement, Pools};
use crate::PoolId;
use crate::random::Draw;

/// How ties between the shortest pools are broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Ties {
    /// Uniformly.
    #[default]
    Random,
    /// Maximum serviced quanta, then the lowest id.
    Msq,
}

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct JsqConfig {
    /// How ties are broken.
    pub ties: Ties,
}

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Jsq {
    ties: Ties,
}

impl Jsq {
    /// A dispatcher that breaks ties as `config` says.
    pub fn new(config: JsqConfig) -> Jsq {
        Jsq { ties: config.ties }
    }
}

impl Dispatch for Jsq {
    #[inline(always)]
    fn on_arrival(&mut self, mut draw: Draw, pools: &mut impl Pools) -> Placement {
        let pool = match self.ties {
            Ties::Random => {
                let ties = pools.shortest().pools;
                pools.nth_shortest(draw.below(ties))
            }
            // An empty pool has no current requests: all are tied at zero quanta.
            Ties::Msq if pools.shortest().unfinished == 0 => pools.nth_shortest(0),
            Ties::Msq => most_serviced(pools),
        };
        Placement::Pool(pool)
    }
}

/// Of the shortest pools, the first of those that have received the most quanta. Out of line: most requests
/// find an empty pool.
#[inline(never)]
fn most_serviced(pools: &mut impl Pools) -> PoolId {
    let mut best = pools.nth_shortest(0);
    let mut next = pools.shortest_after(best);
    if next.is_none() {
        return best;
    }
    let mut most = pools.serviced_quanta(best);
    while let Some(pool) = next {
        if let Some(more) = pools.serviced_quanta_above(pool, most) {
            (best, most) = (pool, more);
        }
        next = pools.shortest_after(pool);
    }
    best
}
