//! The cores: which is free first, and when requests start on them.

use super::sorted::{self, Batch};
use crate::engine::keys::Keys;
use crate::engine::tree::{Earliest, WinnerTree};

/// When a core is done with its last request, and whether that was a long one.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Free {
    pub(super) at_ps: u64,
    pub(super) was_long: bool,
}

/// All cores, in one of two forms: in order, for vectors, or each in its place, with a tree of the first.
pub(super) struct Cores {
    free: Box<[Free]>,
    /// Is `free` in order, and the tree out of date?
    in_order: bool,
    first: WinnerTree,
    keys: Keys,
    /// Few enough cores for vectors, and a processor that has them?
    has_vectors: bool,
}

impl Cores {
    pub(super) fn new(cores: u32) -> Cores {
        Cores {
            free: vec![Free::default(); cores as usize].into_boxed_slice(),
            in_order: true,
            first: WinnerTree::new(cores as usize),
            keys: Keys::new(cores),
            has_vectors: cores as usize <= sorted::MOST && sorted::is_possible(),
        }
    }

    /// Starts all requests of a batch, one after the other, each on the core that is free first. `sum_ps` is the
    /// work of all.
    pub(super) fn start(&mut self, batch: &mut Batch<'_>, sum_ps: u128) {
        let (Some(&first_ps), Some(&last_ps)) = (batch.arrival_ps.first(), batch.arrival_ps.last()) else {
            return;
        };
        let free_ps = self.free.iter().map(|core| core.at_ps).max().unwrap_or(0);
        let end_ps = u128::from(last_ps.max(free_ps)) + sum_ps;
        if self.has_vectors && end_ps - u128::from(first_ps) < u128::from(sorted::SPAN_PS) {
            if !self.in_order {
                self.free.sort_unstable();
                self.in_order = true;
            }
            return sorted::start(batch, &mut self.free);
        }
        if self.in_order {
            self.in_order = false;
            self.rebase();
        }
        let mut started = self.start_near(batch, 0);
        while started < batch.arrival_ps.len() {
            self.rebase();
            started = self.start_near(batch, started);
        }
    }

    /// From request `at` on, as far as keys can tell times apart; the first request after that.
    fn start_near(&mut self, batch: &mut Batch<'_>, at: usize) -> usize {
        match self.first.levels() {
            1 => self.start_by(WinnerTree::unrolled::<1>, batch, at),
            2 => self.start_by(WinnerTree::unrolled::<2>, batch, at),
            3 => self.start_by(WinnerTree::unrolled::<3>, batch, at),
            4 => self.start_by(WinnerTree::unrolled::<4>, batch, at),
            5 => self.start_by(WinnerTree::unrolled::<5>, batch, at),
            6 => self.start_by(WinnerTree::unrolled::<6>, batch, at),
            _ => self.start_by(|first| first, batch, at),
        }
    }

    #[inline(never)]
    fn start_by<'a, E: Earliest>(
        &'a mut self,
        view: impl FnOnce(&'a mut WinnerTree) -> E,
        batch: &mut Batch<'_>,
        from: usize,
    ) -> usize {
        let (mut first, keys, cores) = (view(&mut self.first), self.keys, &mut self.free[..]);
        for at in from..batch.arrival_ps.len() {
            let key = first.min();
            if Keys::is_far(key) {
                return at;
            }
            let core = keys.worker(key);
            let (start_ps, work_ps) = (batch.arrival_ps[at].max(keys.time_ps(key)), batch.work_ps[at]);
            let free = Free { at_ps: start_ps + work_ps, was_long: work_ps > batch.long_ps };
            batch.start_ps[at] = start_ps;
            batch.change[at] = i8::from(free.was_long) - i8::from(cores[core].was_long);
            first.set(core, keys.of(core, free.at_ps));
            cores[core] = free;
        }
        batch.arrival_ps.len()
    }

    /// Counts time from the first free core on.
    #[cold]
    fn rebase(&mut self) {
        self.keys.rebase(self.free.iter().map(|core| core.at_ps).min().unwrap_or(0));
        for (core, free) in self.free.iter().enumerate() {
            self.first.set(core, self.keys.of(core, free.at_ps));
        }
    }
}
