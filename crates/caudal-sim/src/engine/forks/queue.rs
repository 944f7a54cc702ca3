//! The queue of all workers in the loop for requests that fork: requests that have not been admitted, and under processor sharing pieces
//! whose slice was over. The loop adds arrivals and interrupted pieces, and takes the next for a worker whose deque is empty.
//!
//! A request that waits for its first slice comes first, or waits behind the others, as
//! [`ProcessorSharing`](caudal_policy::discipline::ProcessorSharing) says of tasks: a request that does not fork is served as there, to the
//! last bit.

use std::collections::VecDeque;

use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, Fresh, Lone, ProcessorSharingConfig};

use super::requests::Piece;

/// A piece whose slice was over before it was done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupted {
    pub(super) piece: Piece,
    /// Time for forks that is left, in ps: it comes first.
    pub(super) fork_ps: u64,
    /// Work that is left, in ps.
    pub(super) work_ps: u64,
}

/// The next thing that a worker takes from the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    /// A request, which is admitted now.
    New(u32),
    /// A piece that goes on.
    Interrupted(Interrupted),
}

/// See the [module](self).
pub(super) struct RunQueue {
    /// Requests that wait for their first slice, first come first served.
    fresh: VecDeque<u32>,
    /// Requests and pieces that wait for their next slice.
    rotation: VecDeque<Taken>,
    sharing: Option<ProcessorSharingConfig>,
    /// Requests that have been admitted to the rotation and have not completed, and how many there may be.
    started: u32,
    started_max: u32,
}

impl RunQueue {
    /// An empty queue of so many workers under `discipline`: first come first served, or processor sharing.
    pub(super) fn new(discipline: DisciplineConfig, workers: u32) -> RunQueue {
        let sharing = match discipline {
            DisciplineConfig::ProcessorSharing(config) => Some(config),
            _ => None,
        };
        let started_max = sharing.map_or(u32::MAX, |config| config.started_max.saturating_mul(workers));
        RunQueue { fresh: VecDeque::new(), rotation: VecDeque::new(), sharing, started: 0, started_max }
    }

    /// The length of a slice of a worker at a request; `None` where requests are not sliced.
    pub(super) fn quantum(&self) -> Option<Picos> {
        self.sharing.map(|config| config.quantum)
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.rotation.is_empty()
    }

    /// How many requests and pieces wait.
    pub(super) fn len(&self) -> u32 {
        (self.fresh.len() + self.rotation.len()) as u32
    }

    /// Requests of all that waits, those of the first piece or request first.
    pub(super) fn requests(&self) -> impl Iterator<Item = u32> {
        let of = |taken: &Taken| match taken {
            Taken::New(request) => *request,
            Taken::Interrupted(interrupted) => interrupted.piece.request,
        };
        self.fresh.iter().copied().chain(self.rotation.iter().map(of))
    }

    fn is_full(&self) -> bool {
        self.started >= self.started_max
    }

    /// `request` has arrived.
    #[inline(always)]
    pub(super) fn arrive(&mut self, request: u32) {
        match self.sharing {
            Some(ProcessorSharingConfig { fresh: Fresh::Tail, .. }) if !self.is_full() => {
                self.started += 1;
                self.rotation.push_back(Taken::New(request));
            }
            _ => self.fresh.push_back(request),
        }
    }

    /// The next thing for a worker that takes from the queue.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<Taken> {
        if self.sharing.is_none() {
            return self.fresh.pop_front().map(Taken::New);
        }
        if (self.rotation.is_empty() || !self.is_full())
            && let Some(request) = self.fresh.pop_front()
        {
            self.started += 1;
            return Some(Taken::New(request));
        }
        self.rotation.pop_front()
    }

    /// Does anything wait for a worker whose slice is over?
    pub(super) fn is_wanted(&self) -> bool {
        !self.rotation.is_empty() || !self.fresh.is_empty() && !self.is_full()
    }

    /// Does a worker whose slice is over, and for which nothing waits, go on free of charge?
    pub(super) fn elides(&self) -> bool {
        self.sharing.is_none_or(|config| config.lone == Lone::Elide)
    }

    /// A piece waits for its next slice behind the others.
    pub(super) fn put_back(&mut self, interrupted: Interrupted) {
        self.rotation.push_back(Taken::Interrupted(interrupted));
    }

    /// A request has completed: another may begin.
    #[inline(always)]
    pub(super) fn complete(&mut self) {
        let Some(config) = self.sharing else { return };
        self.started -= 1;
        if config.fresh == Fresh::Tail
            && !self.is_full()
            && let Some(request) = self.fresh.pop_front()
        {
            self.started += 1;
            self.rotation.push_back(Taken::New(request));
        }
    }
}
