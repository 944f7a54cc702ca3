//! Which pools are open to new requests, and how many unfinished ones each has.

use caudal_policy::PoolId;
use caudal_policy::dispatch::Shortest;

use super::bits::BitSet;

/// Pools by number of unfinished requests, kept while some dispatch policy wants the shortest.
struct Levels {
    /// `levels[n]`: the open pools with `n` unfinished requests.
    levels: Vec<BitSet>,
    /// The least `n` with a pool; meaningless if no pool is open.
    least: usize,
    pools: usize,
}

impl Levels {
    fn insert(&mut self, pool: usize, unfinished: usize) {
        while self.levels.len() <= unfinished {
            self.levels.push(BitSet::new(self.pools));
        }
        self.levels[unfinished].insert(pool);
        self.least = self.least.min(unfinished);
    }

    fn remove(&mut self, pool: usize, unfinished: usize) {
        self.levels[unfinished].remove(pool);
        while self.least + 1 < self.levels.len() && self.levels[self.least].len() == 0 {
            self.least += 1;
        }
    }

    /// One request more at `pool`, which had `unfinished`.
    #[inline]
    fn up(&mut self, pool: usize, unfinished: usize) {
        if unfinished + 1 == self.levels.len() {
            self.levels.push(BitSet::new(self.pools));
        }
        self.levels[unfinished].remove(pool);
        self.levels[unfinished + 1].insert(pool);
        if unfinished == self.least && self.levels[unfinished].len() == 0 {
            self.least += 1;
        }
    }

    /// One request less at `pool`, which had `unfinished`.
    #[inline]
    fn down(&mut self, pool: usize, unfinished: usize) {
        self.levels[unfinished].remove(pool);
        self.levels[unfinished - 1].insert(pool);
        self.least = self.least.min(unfinished - 1);
    }
}

/// The open pools.
pub(super) struct OpenPools {
    unfinished: Box<[u32]>,
    /// Does the dispatch policy look at unfinished requests? Else they are not counted.
    counts: bool,
    open: BitSet,
    /// The open pools in increasing order; empty while all are open, when the `i`-th is `i`.
    sorted: Vec<u32>,
    levels: Option<Levels>,
}

impl OpenPools {
    /// `pools` closed ones. `counts`: will unfinished requests be asked for? `shortest`: and the shortest?
    pub(super) fn new(pools: usize, counts: bool, shortest: bool) -> OpenPools {
        OpenPools {
            unfinished: vec![0; pools].into_boxed_slice(),
            counts,
            open: BitSet::new(pools),
            sorted: Vec::with_capacity(pools),
            levels: shortest.then(|| Levels { levels: vec![BitSet::new(pools)], least: usize::MAX, pools }),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.open.len()
    }

    #[inline]
    pub(super) fn contains(&self, pool: usize) -> bool {
        self.open.contains(pool)
    }

    pub(super) fn open(&mut self, pool: usize) {
        self.open.insert(pool);
        self.sort();
        if let Some(levels) = &mut self.levels {
            levels.insert(pool, self.unfinished[pool] as usize);
        }
    }

    pub(super) fn close(&mut self, pool: usize) {
        self.open.remove(pool);
        self.sort();
        if let Some(levels) = &mut self.levels {
            levels.remove(pool, self.unfinished[pool] as usize);
            if self.open.len() == 0 {
                levels.least = usize::MAX;
            }
        }
    }

    fn sort(&mut self) {
        self.sorted.clear();
        if self.open.len() as usize != self.unfinished.len() {
            self.sorted.extend(self.open.iter().map(|pool| pool as u32));
        }
    }

    #[inline]
    pub(super) fn nth(&self, i: u32) -> PoolId {
        PoolId(if self.sorted.is_empty() { i } else { self.sorted[i as usize] })
    }

    #[inline]
    pub(super) fn unfinished(&self, pool: usize) -> u32 {
        self.unfinished[pool]
    }

    #[inline]
    pub(super) fn add(&mut self, pool: usize) {
        if !self.counts {
            return;
        }
        let before = self.unfinished[pool];
        self.unfinished[pool] = before + 1;
        if let Some(levels) = &mut self.levels
            && self.open.contains(pool)
        {
            levels.up(pool, before as usize);
        }
    }

    #[inline]
    pub(super) fn sub(&mut self, pool: usize) {
        if !self.counts {
            return;
        }
        let before = self.unfinished[pool];
        self.unfinished[pool] = before - 1;
        if let Some(levels) = &mut self.levels
            && self.open.contains(pool)
        {
            levels.down(pool, before as usize);
        }
    }

    /// `tasks` requests move from one pool to another.
    pub(super) fn shift(&mut self, from: usize, to: usize, tasks: u32) {
        if self.counts && from != to {
            self.change(from, self.unfinished[from] - tasks);
            self.change(to, self.unfinished[to] + tasks);
        }
    }

    #[inline]
    fn change(&mut self, pool: usize, to: u32) {
        let from = std::mem::replace(&mut self.unfinished[pool], to);
        if let Some(levels) = &mut self.levels
            && from != to
            && self.open.contains(pool)
        {
            // Insert first: the least level never runs past a pool.
            levels.insert(pool, to as usize);
            levels.remove(pool, from as usize);
        }
    }

    #[inline]
    fn shortest_level(&self) -> &BitSet {
        let levels = self.levels.as_ref().expect("a policy that asks for the shortest was announced");
        &levels.levels[levels.least]
    }

    #[inline]
    pub(super) fn shortest(&self) -> Shortest {
        let levels = self.levels.as_ref().expect("a policy that asks for the shortest was announced");
        Shortest { unfinished: levels.least as u32, pools: levels.levels[levels.least].len() }
    }

    #[inline]
    pub(super) fn nth_shortest(&self, i: u32) -> PoolId {
        PoolId(self.shortest_level().nth(i) as u32)
    }

    #[inline]
    pub(super) fn shortest_after(&self, pool: usize) -> Option<PoolId> {
        self.shortest_level().first_from(pool + 1).map(|pool| PoolId(pool as u32))
    }
}
