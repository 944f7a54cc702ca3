//! How many tasks a pool has started, and whether one more may.
//!
//! A discipline that lets new tasks overtake started ones has to stop at some number of them. Where more work comes than the pool can
//! do, each new task takes a stack, its page faults and a first slice that is shorter than its service, and those that are half
//! done wait behind it: all time goes into starting what is never finished. This is receive livelock (Mogul and Ramakrishnan, ACM
//! TOCS 1997); limited processor sharing (Zhang and Zwart, *Performance Evaluation* 2008) does not have it.

use super::Pool;

/// Most started tasks of a worker, unless a policy file says otherwise.
///
/// A larger bound costs work under overload: that many half-done requests do not fit into a core's second-level cache, and each slice
/// begins with what the others have thrown out. A smaller one costs the tail below saturation: all that may start are long ones then,
/// and short ones wait for them. `docs/background/overload.md` has what was measured.
pub const STARTED_MAX: u32 = 32;

/// Says to serde that a file need not hold the number.
#[cfg(feature = "serde")]
pub(super) fn is_default_started_max(max: &u32) -> bool {
    *max == STARTED_MAX
}

/// The started tasks of a pool that have not ended, blocked ones among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pub(super) count: u32,
    /// A worker's share.
    max: u32,
}

impl Started {
    /// None yet, of at most `max` a worker.
    pub(super) fn new(max: u32) -> Started {
        Started { count: 0, max }
    }

    /// Are as many started as there may be?
    #[inline]
    pub(super) fn is_full(&self, pool: &impl Pool) -> bool {
        self.count >= self.max.saturating_mul(pool.workers())
    }

    /// May one more task start, where `can_go_on` says whether a started one could run instead? If none can, all started ones wait
    /// for something, perhaps for a task that has not started: then one more has to.
    #[inline]
    pub(super) fn may_start(&self, pool: &impl Pool, can_go_on: bool) -> bool {
        !can_go_on || !self.is_full(pool)
    }
}
