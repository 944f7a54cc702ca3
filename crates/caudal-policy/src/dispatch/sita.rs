//! Size-interval task assignment (SITA): each pool gets the requests of one range of service times.
//!
//! ## What it does
//! A request goes to pool 0 if its service time is at most the first cutoff, to pool 1 if it is at most the second, and so
//! on. With one core a pool that is the original SITA; with more, the pools are *ganged*. Clairvoyant: it knows every
//! service time.
//! ## When it helps
//! Service times that differ a lot: short requests never wait behind long ones. Without preemption, and without any
//! knowledge of queues.
//! ## When it hurts
//! It needs service times that nobody knows, and pools rest while requests wait in others, the more often the more pools there
//! are. The runtime refuses it; it is there to compare with.
//! ## Parameters
//! * `cutoffs`: one less than there are pools, in increasing order, such as `["2us", "40us"]`.
//! ## Source
//! Harchol-Balter, Crovella, Murta, *J. Parallel and Distributed Computing* 1999; Mirhosseini et al., HPCA 2020, section
//! 2.2 and, for ganged pools, section 3.1.
//! ## Example
//! `dispatch = { policy = "sita", cutoffs = ["2us", "40us"] }`, with `pools = [13, 2, 1]`

use super::{Asks, Dispatch, Placement, Pools};
use crate::random::Draw;
use crate::{List, Picos, PoolId};

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SitaDispatchConfig {
    /// Up to which service time a pool is for, by pool; the last pool has none.
    pub cutoffs: List<Picos>,
}

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Sita(SitaDispatchConfig);

impl Sita {
    /// A dispatcher with the cutoffs of `config`.
    pub fn new(config: SitaDispatchConfig) -> Sita {
        Sita(config)
    }

    /// The pool for a request of this service time.
    #[inline]
    pub fn pool_of(&self, work: Picos) -> PoolId {
        PoolId(self.0.cutoffs.iter().filter(|&&cutoff| cutoff < work).count() as u32)
    }
}

impl Dispatch for Sita {
    fn asks(&self) -> Asks {
        Asks::Nothing
    }

    #[inline]
    fn on_arrival(&mut self, _draw: Draw, pools: &mut impl Pools) -> Placement {
        Placement::Pool(self.pool_of(pools.arriving_work()))
    }
}
