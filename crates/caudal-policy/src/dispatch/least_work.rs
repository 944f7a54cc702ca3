//! Least work: the pool that would be done first.
//!
//! ## What it does
//! The request goes to the pool whose unfinished requests need the least service time in all; ties go to
//! the lowest id. Clairvoyant: it knows every service time at arrival.
//! ## When it helps
//! As a reference line: with first come first served it equals a single queue.
//! ## When it hurts
//! It cannot be built: real dispatchers do not know service times. The runtime refuses it.
//! ## Parameters
//! None.
//! ## Source
//! McClure et al., NSDI 2022, section 4.2.1 ("the sum of the service times in the queue").
//! ## Example
//! `dispatch = { policy = "least-work" }`

use super::{Asks, Dispatch, Placement, Pools};
use crate::random::Draw;

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct LeastWork;

impl Dispatch for LeastWork {
    fn asks(&self) -> Asks {
        Asks::Nothing
    }

    fn on_arrival(&mut self, _draw: Draw, pools: &mut impl Pools) -> Placement {
        let mut best = pools.nth(0);
        let mut least = pools.unfinished_work(best);
        for i in 1..pools.open() {
            let pool = pools.nth(i);
            let work = pools.unfinished_work(pool);
            if work < least {
                (best, least) = (pool, work);
            }
        }
        Placement::Pool(best)
    }
}
