//! No rebalancing: a task stays where it was put.
//!
//! ## What it does
//! Nothing.
//! ## When it helps
//! With one central queue, or where dispatch is good enough: no checks, no cache misses.
//! ## When it hurts
//! Tasks strand behind long ones while other workers idle.
//! ## Parameters
//! None.
//! ## Source
//! McClure et al., NSDI 2022, section 3.2.1.
//! ## Example
//! `rebalance = { policy = "none" }`

use super::Rebalance;
use crate::Picos;
use crate::random::Draw;

/// The policy's decisions; what they are is in the [module](self). A worker asks when it has nothing to run, and between two of its tasks: a
/// simulated worker of the engine, or one of the runtime. It only answers; the worker moves the tasks.
#[derive(Clone, Debug)]
pub struct NoRebalance;

impl Rebalance for NoRebalance {
    #[inline]
    fn steals(&self) -> bool {
        false
    }
    fn walk_start(&self, _draw: Draw, _pools: u32) -> u32 {
        0
    }
    fn steal_amount(&self, _len: u32) -> u32 {
        0
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
