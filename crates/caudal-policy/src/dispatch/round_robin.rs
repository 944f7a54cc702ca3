//! Round robin: one pool after the other.
//!
//! ## What it does
//! Request `n` goes to the `n`-th open pool, modulo their number.
//! ## When it helps
//! Arrivals at each pool become more regular than random ones, at no cost.
//! ## When it hurts
//! It is as blind as random dispatch to a long request that blocks its queue.
//! ## Parameters
//! None.
//! ## Source
//! Folklore; Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, chapter 24.
//! ## Example
//! `dispatch = { policy = "round-robin" }`

use super::{Blind, Places};
use crate::PoolId;
use crate::random::Draw;

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    next: u32,
}

impl Blind for RoundRobin {
    #[inline]
    fn place(&mut self, _draw: Draw, places: &impl Places) -> PoolId {
        // The number of open pools may have shrunk since the last request.
        let turn = if self.next < places.open() { self.next } else { 0 };
        self.next = turn + 1;
        places.nth(turn)
    }
}
