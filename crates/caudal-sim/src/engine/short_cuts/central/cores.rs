//! The cores of the short cut for one central queue: which is free first, and when requests start on them. [`super`] gives it a batch of
//! arrivals at a time; few cores are kept sorted in vectors (`sorted`), more in a tree.

use super::sorted::{self, Batch, Columns, Free};
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::tree::{Earliest, WinnerTree};

/// All cores, in one of two forms: in order, for vectors, or each in its place, with a tree of the first.
pub(super) struct Cores {
    free: Box<[Free]>,
    /// Is `free` in order, and the tree out of date?
    in_order: bool,
    first: WinnerTree,
    keys: Keys,
    /// Few enough cores for vectors, and a processor that has them?
    has_vectors: bool,
    columns: Box<Columns>,
}

impl Cores {
    pub(super) fn new(cores: u32) -> Cores {
        Cores {
            free: vec![Free::default(); cores as usize].into_boxed_slice(),
            in_order: true,
            first: WinnerTree::new(cores as usize),
            keys: Keys::new(cores),
            has_vectors: cores as usize <= sorted::MOST && sorted::is_possible(),
            columns: Box::new(Columns::EMPTY),
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
            return sorted::start(batch, &mut self.free, &mut self.columns);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals, works and what comes of them: starts, changes of the number of long ones.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Requests {
        arrival_ps: Vec<u64>,
        work_ps: Vec<u64>,
        start_ps: Vec<u64>,
        change: Vec<i8>,
    }

    const LONG_PS: u64 = 500;

    /// Short and long ones of a system with some load, on a grid, so that many times are equal.
    fn requests(cores: u64, scale: u64, count: usize) -> Requests {
        let mut state = cores;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut now_ps = 1 << 40;
        let mut requests =
            Requests { start_ps: vec![0; count], change: vec![0; count], ..Requests::default() };
        for _ in 0..count {
            now_ps += random(2 * 500 / cores + 20) / 10 * 10 * scale;
            requests.arrival_ps.push(now_ps);
            requests.work_ps.push((10 + random(90) * 10) * scale);
        }
        requests
    }

    /// In batches of changing sizes.
    fn start(cores: &mut Cores, mut requests: Requests, long_ps: u64) -> Requests {
        let mut at = 0;
        for size in [1, 7, 200, 256, 33].into_iter().cycle() {
            let places = at..(at + size).min(requests.arrival_ps.len());
            if places.is_empty() {
                break;
            }
            let sum_ps = requests.work_ps[places.clone()].iter().map(|&ps| u128::from(ps)).sum();
            let mut batch = Batch {
                arrival_ps: &requests.arrival_ps[places.clone()],
                work_ps: &requests.work_ps[places.clone()],
                start_ps: &mut requests.start_ps[places.clone()],
                change: &mut requests.change[places.clone()],
                long_ps,
            };
            cores.start(&mut batch, sum_ps);
            at = places.end;
        }
        requests
    }

    /// The same by looking at all cores for each request. Of two that are free at one time, the one that did a short
    /// request comes first.
    fn plain(cores: u32, mut requests: Requests, long_ps: u64) -> Requests {
        let mut free = vec![Free::default(); cores as usize];
        for at in 0..requests.arrival_ps.len() {
            let first = free.iter_mut().min().unwrap();
            let (start_ps, work_ps) = (requests.arrival_ps[at].max(first.at_ps), requests.work_ps[at]);
            let was_long = first.was_long;
            *first = Free { at_ps: start_ps + work_ps, was_long: work_ps > long_ps };
            requests.start_ps[at] = start_ps;
            requests.change[at] = i8::from(work_ps > long_ps) - i8::from(was_long);
        }
        requests
    }

    #[test]
    fn both_forms_start_requests_when_a_core_is_free() {
        for cores in (1..=34).chain([64, 65, 200]) {
            let given = requests(u64::from(cores), 1, 3_000);
            let expected = plain(cores, given.clone(), LONG_PS);
            let mut by_tree = Cores { has_vectors: false, ..Cores::new(cores) };
            // Which of two cores with one time is taken is another matter in a tree.
            assert_eq!(
                start(&mut by_tree, given.clone(), LONG_PS).start_ps,
                expected.start_ps,
                "{cores} cores"
            );
            let mut cores_in_order = Cores::new(cores);
            let found = start(&mut cores_in_order, given, LONG_PS);
            assert_eq!(found.start_ps, expected.start_ps, "{cores} cores");
            if cores_in_order.has_vectors {
                assert_eq!(found.change, expected.change, "{cores} cores");
                assert!(cores_in_order.in_order);
            }
        }
    }

    #[test]
    fn times_may_lie_far_apart_and_come_together_again() {
        for cores in [1, 3, 16, 31, 100] {
            // Seconds, then two weeks, then seconds; no tie, so that all forms agree on everything.
            let mut given = requests(u64::from(cores), 1 << 30, 600);
            given.work_ps.iter_mut().zip(1..).for_each(|(work_ps, i)| *work_ps += i * i);
            given.work_ps[200] = 1 << 60;
            given.arrival_ps[400..].iter_mut().for_each(|arrival_ps| *arrival_ps += 1 << 60);
            let expected = plain(cores, given.clone(), LONG_PS << 30);
            let mut cores_both = Cores::new(cores);
            assert_eq!(start(&mut cores_both, given, LONG_PS << 30), expected, "{cores} cores");
        }
    }
}
