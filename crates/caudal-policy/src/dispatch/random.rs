//! Random: each request goes to a pool drawn uniformly.
//!
//! ## What it does
//! Draws one of the open pools, all with the same chance, without looking at any of them.
//! ## When it helps
//! It costs nothing and needs no dispatcher: it is what a network card's receive-side scaling (RSS) does
//! with many flows. With work stealing behind it, it is the best that the policies paper found.
//! ## When it hurts
//! Alone, some queues are long while other cores idle; the tail suffers first.
//! ## Parameters
//! None.
//! ## Source
//! McClure et al., NSDI 2022, section 3.2.1 ("no load balancing") and 4.1.
//! ## Example
//! `dispatch = { policy = "random" }`

use super::{Blind, Places};
use crate::PoolId;
use crate::random::Draw;

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Random;

impl Blind for Random {
    #[inline]
    fn place(&mut self, mut draw: Draw, places: &impl Places) -> PoolId {
        places.nth(draw.below(places.open()))
    }
}
