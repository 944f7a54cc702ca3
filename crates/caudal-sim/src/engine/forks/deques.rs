//! The workers' deques of pieces of requests, and the set of those deques that have something to steal. The loop pushes and pops at each
//! fork, join and steal. Data structure without policy.
//!
//! ```text
//!   steal end                 own end
//!   | half | quarter | eighth | leaf |      the oldest is the largest
//! ```

use std::collections::VecDeque;

use caudal_policy::parallelism::Size;

use super::requests::{Piece, Requests};
use crate::engine::kernel::bits::BitSet;

pub(super) struct Deques {
    deques: Box<[VecDeque<Piece>]>,
    /// Workers at the steal end of whose deque a task is that is not marked.
    stealable: BitSet,
    /// The workers among them whose task is of a small request, where any worker takes only such.
    small: Option<BitSet>,
}

impl Deques {
    /// `keeps`: some workers take only tasks of small requests.
    pub(super) fn new(workers: usize, keeps: bool) -> Deques {
        Deques {
            deques: vec![VecDeque::new(); workers].into(),
            stealable: BitSet::new(workers),
            small: keeps.then(|| BitSet::new(workers)),
        }
    }

    /// Where there is something to steal, for a worker that is `kept` for small requests or one that is not.
    #[inline(always)]
    pub(super) fn stealable(&self, kept: bool) -> &BitSet {
        match &self.small {
            Some(small) if kept => small,
            _ => &self.stealable,
        }
    }

    #[inline(always)]
    pub(super) fn push_own(&mut self, worker: usize, piece: Piece, requests: &Requests) {
        let deque = &mut self.deques[worker];
        deque.push_back(piece);
        // The first one decides.
        if deque.len() == 1 {
            self.refresh(worker, requests);
        }
    }

    #[inline(always)]
    pub(super) fn pop_own(&mut self, worker: usize) -> Option<Piece> {
        let deque = &mut self.deques[worker];
        let piece = deque.pop_back()?;
        if deque.is_empty() {
            self.set(worker, Size::Large);
        }
        Some(piece)
    }

    /// Has `worker` nothing in its deque?
    pub(super) fn is_empty(&self, worker: usize) -> bool {
        self.deques[worker].is_empty()
    }

    pub(super) fn push_steal(&mut self, worker: usize, piece: Piece, requests: &Requests) {
        self.deques[worker].push_front(piece);
        self.refresh(worker, requests);
    }

    /// The oldest task of `worker`, which is stealable.
    #[inline(always)]
    pub(super) fn steal(&mut self, worker: usize, requests: &Requests) -> Option<Piece> {
        let piece = self.deques[worker].pop_front()?;
        self.refresh(worker, requests);
        Some(piece)
    }

    /// Requests were found to be of another size.
    #[cold]
    pub(super) fn refresh_all(&mut self, requests: &Requests) {
        (0..self.deques.len()).for_each(|worker| self.refresh(worker, requests));
    }

    #[inline(always)]
    fn refresh(&mut self, worker: usize, requests: &Requests) {
        let first = self.deques[worker].front();
        self.set(worker, first.map_or(Size::Large, |piece| requests.get(piece.request).size));
    }

    /// At the steal end of `worker` is a task of a request of this size, or nothing, which nobody takes either.
    #[inline(always)]
    fn set(&mut self, worker: usize, size: Size) {
        put(&mut self.stealable, worker, size < Size::Large);
        if let Some(small) = &mut self.small {
            put(small, worker, size == Size::Small);
        }
    }
}

#[inline(always)]
fn put(set: &mut BitSet, worker: usize, is_in: bool) {
    match (set.contains(worker), is_in) {
        (false, true) => set.insert(worker),
        (true, false) => set.remove(worker),
        _ => {}
    }
}
