//! The pools as a dispatch policy sees them that reads no counts, for loops in which all pools are open all the time. `contexts` and
//! `stealing` hand it to the policy at each arrival. Pure.

use caudal_policy::PoolId;
use caudal_policy::dispatch::Places;

/// So many pools, all of them open.
pub(in crate::engine) struct AllOpen {
    pub(in crate::engine) pools: u32,
}

impl Places for AllOpen {
    #[inline(always)]
    fn open(&self) -> u32 {
        self.pools
    }

    #[inline(always)]
    fn nth(&self, i: u32) -> PoolId {
        PoolId(i)
    }
}
