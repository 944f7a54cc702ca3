//! Times at which coroutines of a worker want to be woken: an ordered set. A coroutine adds its time before it parks, and its worker takes
//! out the times that are due, where it takes in work; only the worker's thread touches the set.
//!
//! Not a heap: a coroutine that is woken earlier takes its time out again, and most times of locks and channels never come. In a heap they
//! would stay until they are due.

use std::collections::BTreeSet;

/// Times of one worker, in cycles.
#[derive(Debug)]
pub(crate) struct Timers {
    times: BTreeSet<Timer>,
    /// The first time; [`u64::MAX`] if there is none.
    first_due: u64,
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

impl Default for Timers {
    fn default() -> Timers {
        Timers { times: BTreeSet::new(), first_due: u64::MAX }
    }
}

impl Timers {
    pub(crate) fn add(&mut self, timer: Timer) {
        self.times.insert(timer);
        self.first_due = self.first_due.min(timer.due);
    }

    /// Takes `timer` out, if it is still there.
    pub(crate) fn remove(&mut self, timer: &Timer) {
        if self.times.remove(timer) {
            self.update_first_due();
        }
    }

    /// The first time; [`u64::MAX`] if there is none.
    #[inline(always)]
    pub(crate) fn first_due(&self) -> u64 {
        self.first_due
    }

    /// Takes the first one that is due at `now`.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Timer> {
        if self.first_due > now {
            return None;
        }
        let timer = self.times.pop_first();
        self.update_first_due();
        timer
    }

    fn update_first_due(&mut self) {
        self.first_due = self.times.first().map_or(u64::MAX, |timer| timer.due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_their_order_and_go_when_nobody_wants_them() {
        let mut timers = Timers::default();
        assert_eq!((timers.first_due(), timers.pop_due(u64::MAX - 1)), (u64::MAX, None));
        let timer = |due, task| Timer { due, task, parks: 0 };
        [timer(30, 1), timer(10, 2), timer(20, 3)].into_iter().for_each(|timer| timers.add(timer));
        assert_eq!(timers.first_due(), 10);
        timers.remove(&timer(10, 2));
        timers.remove(&timer(10, 2));
        assert_eq!(timers.pop_due(19), None);
        assert_eq!(timers.pop_due(20), Some(timer(20, 3)));
        assert_eq!(timers.pop_due(40), Some(timer(30, 1)));
        assert_eq!(timers.first_due(), u64::MAX);
    }
}
