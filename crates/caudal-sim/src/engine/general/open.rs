//! The set of pools that are open to new requests, with the number of unfinished requests of each. `core` updates it at each arrival,
//! completion and change of cores; dispatch policies choose by it.

use caudal_policy::PoolId;
use caudal_policy::dispatch::Shortest;

use crate::engine::kernel::bits::{BitSet, Rows};

/// Pools by number of unfinished requests, kept while some dispatch policy wants the shortest.
struct Levels {
    /// Row `n`: the open pools with `n` unfinished requests.
    rows: Rows,
    /// The least `n` with a pool; meaningless if no pool is open.
    least: usize,
}

impl Levels {
    fn insert(&mut self, pool: usize, unfinished: usize) {
        self.rows.reach(unfinished);
        self.rows.insert(unfinished, pool);
        self.least = self.least.min(unfinished);
    }

    fn remove(&mut self, pool: usize, unfinished: usize) {
        self.rows.remove(unfinished, pool);
        while self.least + 1 < self.rows.len() && self.rows.is_empty(self.least) {
            self.least += 1;
        }
    }

    /// One request more at `pool`, which had `unfinished`.
    #[inline(always)]
    fn up(&mut self, pool: usize, unfinished: usize) {
        if unfinished + 1 == self.rows.len() {
            self.rows.reach(unfinished + 1);
        }
        // Only the pool's old level can have become empty. No branch: it would be a toss-up.
        self.least += usize::from(self.rows.shift(pool, unfinished, unfinished + 1, self.least));
    }

    /// One request less at `pool`, which had `unfinished`.
    #[inline(always)]
    fn down(&mut self, pool: usize, unfinished: usize) {
        let fewer = unfinished - 1;
        self.rows.shift(pool, unfinished, fewer, fewer);
        self.least = self.least.min(fewer);
    }
}

#[derive(Clone, Copy)]
struct State {
    unfinished: u32,
    open: bool,
}

/// The open pools.
pub(in crate::engine) struct OpenPools {
    pools: Box<[State]>,
    /// Does the dispatch policy look at unfinished requests? Else they are not counted.
    counts: bool,
    open: BitSet,
    /// The open pools in increasing order; empty while all are open, when the `i`-th is `i`.
    sorted: Vec<u32>,
    levels: Option<Levels>,
}

impl OpenPools {
    /// `pools` closed ones. `counts`: will unfinished requests be asked for? `shortest`: and the shortest?
    pub(in crate::engine) fn new(pools: usize, counts: bool, shortest: bool) -> OpenPools {
        OpenPools {
            pools: vec![State { unfinished: 0, open: false }; pools].into_boxed_slice(),
            counts,
            open: BitSet::new(pools),
            sorted: Vec::with_capacity(pools),
            levels: shortest.then(|| Levels { rows: Rows::new(pools), least: usize::MAX }),
        }
    }

    #[inline]
    pub(in crate::engine) fn len(&self) -> u32 {
        self.open.len()
    }

    #[inline]
    pub(in crate::engine) fn contains(&self, pool: usize) -> bool {
        self.pools[pool].open
    }

    pub(in crate::engine) fn open(&mut self, pool: usize) {
        self.open.insert(pool);
        self.pools[pool].open = true;
        self.sort();
        if let Some(levels) = &mut self.levels {
            levels.insert(pool, self.pools[pool].unfinished as usize);
        }
    }

    pub(in crate::engine) fn close(&mut self, pool: usize) {
        self.open.remove(pool);
        self.pools[pool].open = false;
        self.sort();
        if let Some(levels) = &mut self.levels {
            levels.remove(pool, self.pools[pool].unfinished as usize);
            if self.open.len() == 0 {
                levels.least = usize::MAX;
            }
        }
    }

    fn sort(&mut self) {
        self.sorted.clear();
        if self.open.len() as usize != self.pools.len() {
            self.sorted.extend(self.open.iter().map(|pool| pool as u32));
        }
    }

    #[inline]
    pub(in crate::engine) fn nth(&self, i: u32) -> PoolId {
        PoolId(if self.sorted.is_empty() { i } else { self.sorted[i as usize] })
    }

    #[inline]
    pub(in crate::engine) fn unfinished(&self, pool: usize) -> u32 {
        self.pools[pool].unfinished
    }

    #[inline(always)]
    pub(in crate::engine) fn add(&mut self, pool: usize) {
        let state = &mut self.pools[pool];
        let before = state.unfinished;
        if let Some(levels) = &mut self.levels {
            state.unfinished = before + 1;
            if state.open {
                levels.up(pool, before as usize);
            }
        } else if self.counts {
            state.unfinished = before + 1;
        }
    }

    #[inline(always)]
    pub(in crate::engine) fn sub(&mut self, pool: usize) {
        let state = &mut self.pools[pool];
        let before = state.unfinished;
        if let Some(levels) = &mut self.levels {
            state.unfinished = before - 1;
            if state.open {
                levels.down(pool, before as usize);
            }
        } else if self.counts {
            state.unfinished = before - 1;
        }
    }

    /// `tasks` requests move from one pool to another.
    pub(in crate::engine) fn shift(&mut self, from: usize, to: usize, tasks: u32) {
        if self.counts && from != to {
            self.change(from, self.pools[from].unfinished - tasks);
            self.change(to, self.pools[to].unfinished + tasks);
        }
    }

    #[inline]
    fn change(&mut self, pool: usize, to: u32) {
        let from = std::mem::replace(&mut self.pools[pool].unfinished, to);
        if let Some(levels) = &mut self.levels
            && from != to
            && self.pools[pool].open
        {
            // Insert first: the least level never runs past a pool.
            levels.insert(pool, to as usize);
            levels.remove(pool, from as usize);
        }
    }

    #[inline(always)]
    fn levels(&self) -> &Levels {
        self.levels.as_ref().expect("a policy that asks for the shortest was announced")
    }

    #[inline(always)]
    pub(in crate::engine) fn shortest(&self) -> Shortest {
        let Levels { rows, least } = self.levels();
        Shortest { unfinished: *least as u32, pools: rows.count(*least) }
    }

    #[inline(always)]
    pub(in crate::engine) fn nth_shortest(&self, i: u32) -> PoolId {
        let Levels { rows, least } = self.levels();
        PoolId(rows.nth(*least, i) as u32)
    }

    #[inline(always)]
    pub(in crate::engine) fn shortest_after(&self, pool: usize) -> Option<PoolId> {
        let Levels { rows, least } = self.levels();
        rows.next_after(*least, pool).map(|pool| PoolId(pool as u32))
    }
}
