//! When coroutines of a worker want to be woken: a heap that only the worker touches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times of one worker, in cycles.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Timer>>,
}

/// A time at which a task wants to be woken, unless it has been since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timer {
    /// Cycles.
    pub(crate) due: u64,
    pub(crate) task: u32,
    /// How often the task had parked then.
    pub(crate) parks: u32,
}

impl Timers {
    pub(crate) fn add(&mut self, timer: Timer) {
        self.heap.push(Reverse(timer));
    }

    /// The first time; [`u64::MAX`] if there is none.
    #[inline(always)]
    pub(crate) fn first_due(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse(timer)| timer.due)
    }

    /// Takes the first one that is due at `now`.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Timer> {
        if self.first_due() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(timer)| timer)
    }
}
