//! The workers' deques, and which of them have something to steal.
//!
//! ```text
//!   steal end                 own end
//!   | half | quarter | eighth | leaf |      the oldest is the largest
//! ```

use std::collections::VecDeque;

use super::requests::{Piece, Requests};
use crate::engine::bits::BitSet;

pub(super) struct Deques {
    deques: Box<[VecDeque<Piece>]>,
    /// Workers at the steal end of whose deque a task is that is not marked.
    stealable: BitSet,
}

impl Deques {
    pub(super) fn new(workers: usize) -> Deques {
        Deques { deques: vec![VecDeque::new(); workers].into(), stealable: BitSet::new(workers) }
    }

    /// Is there anything to steal?
    #[inline(always)]
    pub(super) fn any_stealable(&self) -> bool {
        self.stealable.len() > 0
    }

    #[inline(always)]
    pub(super) fn is_stealable(&self, worker: usize) -> bool {
        self.stealable.contains(worker)
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
            self.set(worker, false);
        }
        Some(piece)
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

    /// Requests have been marked.
    #[cold]
    pub(super) fn refresh_all(&mut self, requests: &Requests) {
        (0..self.deques.len()).for_each(|worker| self.refresh(worker, requests));
    }

    #[inline(always)]
    fn refresh(&mut self, worker: usize, requests: &Requests) {
        let first = self.deques[worker].front();
        self.set(worker, first.is_some_and(|piece| !requests.get(piece.request).marked));
    }

    #[inline(always)]
    fn set(&mut self, worker: usize, stealable: bool) {
        match (self.stealable.contains(worker), stealable) {
            (false, true) => self.stealable.insert(worker),
            (true, false) => self.stealable.remove(worker),
            _ => {}
        }
    }
}
