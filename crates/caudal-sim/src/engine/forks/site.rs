//! The state of a loop of requests that fork: the clock, the workers, their deques, the requests, the accounts. It has the steps that need
//! no decision of a policy; [`super`] calls them.

use caudal_config::Costs;
use caudal_policy::Picos;
use caudal_policy::parallelism::{Size, Surroundings};

use super::deques::Deques;
use super::queue::{Interrupted, RunQueue};
use super::requests::{Done, NONE, Piece, Requests};
use super::retuning::Retuning;
use crate::engine::kernel::account::Account;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::events::{self, Due};
use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::record::{Completed, Recorder};
use crate::engine::kernel::tree::WinnerTree;
use crate::engine::kernel::window::{Audit, Counting, Measured};

/// The activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There was nothing to do.
    Waiting,
    /// It runs its piece; an event says until when.
    Running,
    /// It goes through the requests that run.
    CheckingRequests,
    /// It tries to steal.
    Trying,
    /// It moves a piece that it has stolen.
    Moving,
    /// Its slice was over; an event says when it begins the next piece.
    Switching,
    /// Its core is with another application.
    Parked,
    /// Its core is on the way; an event says when it is here.
    Allocating,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Worker {
    pub(super) phase: Phase,
    /// The request whose tasks it does, and since when.
    pub(super) request: u32,
    pub(super) since_ps: u64,
    pub(super) piece: Piece,
    /// From when on the work of its piece is done: forks come first.
    pub(super) works_from_ps: u64,
    /// When its piece is done, if no slice ends before.
    pub(super) done_ps: u64,
    /// When its slice at its request ends.
    pub(super) slice_ends_ps: u64,
    pub(super) due_ps: u64,
}

/// The clock, the workers, their deques, the requests, the accounts.
pub(super) struct ForksSite<O, const MORE: bool> {
    pub(super) now_ps: u64,
    pub(super) keys: Keys,
    pub(super) tree: WinnerTree,
    pub(super) workers: Box<[Worker]>,
    pub(super) deques: Deques,
    pub(super) requests: Requests,
    /// Requests that have arrived and were not admitted, and pieces whose slice was over.
    pub(super) queue: RunQueue,
    /// Requests that have arrived and not completed.
    pub(super) active: u32,
    pub(super) waiting: BitSet,
    /// Cores held, and of those the ones that are here.
    pub(super) held: u32,
    pub(super) here: u32,
    /// So many workers, the first ones, take only tasks of small requests.
    pub(super) kept: usize,
    pub(super) retuning: Option<Retuning>,
    pub(super) costs: Costs,
    /// Of a check of the requests that run.
    pub(super) check_requests_ps: u64,
    pub(super) account: Account,
    /// Events so far, arrivals included.
    pub(super) events: u64,
    pub(super) settled_ps: u64,
    pub(super) recorder: Recorder,
    pub(super) measured: Measured,
    pub(super) observer: O,
}

impl<O: Sink, const MORE: bool> ForksSite<O, MORE> {
    #[inline(always)]
    pub(super) fn schedule(&mut self, worker: usize, phase: Phase, takes_ps: u64) {
        let due_ps = self.now_ps + takes_ps;
        let entry = &mut self.workers[worker];
        (entry.phase, entry.due_ps) = (phase, due_ps);
        self.tree.set(worker, self.keys.of(worker, due_ps));
    }

    /// `worker` begins `piece`, which is in no deque.
    #[inline(always)]
    pub(super) fn run(&mut self, worker: usize, mut piece: Piece) {
        if self.workers[worker].request != piece.request {
            self.leave(worker);
            self.switch_to(worker, piece.request);
        }
        let mut forks = 0;
        if self.requests.get(piece.request).size == Size::Large {
            forks = piece.leaves() - 1;
        } else {
            while piece.leaves() > 1 {
                let half = piece.from + piece.leaves().div_ceil(2);
                self.deques.push_own(worker, Piece { from: half, ..piece }, &self.requests);
                piece.to = half;
                forks += 1;
            }
        }
        let forks_ps = u64::from(forks) * self.costs.fork.0;
        self.account.switching_ps += u128::from(forks_ps);
        self.begin(worker, piece, (forks_ps, self.requests.work_ps(piece)));
    }

    /// `worker` is at `request` from now on, with a whole slice before it.
    #[inline(always)]
    fn switch_to(&mut self, worker: usize, request: u32) {
        let slice_ends_ps = if MORE { self.slice_ends_ps() } else { 0 };
        let entry = &mut self.workers[worker];
        (entry.request, entry.since_ps, entry.slice_ends_ps) = (request, self.now_ps, slice_ends_ps);
    }

    /// When a slice ends that begins now.
    fn slice_ends_ps(&self) -> u64 {
        let quantum = self.queue.quantum();
        quantum.map_or(u64::MAX, |quantum| {
            self.now_ps.saturating_add(quantum.0).saturating_add(self.costs.overrun.0)
        })
    }

    /// Is the slice of `worker` at its request over?
    pub(super) fn is_slice_over(&self, worker: usize) -> bool {
        self.workers[worker].request != NONE && self.workers[worker].slice_ends_ps <= self.now_ps
    }

    /// `worker` has another slice at its piece.
    pub(super) fn begin_slice(&mut self, worker: usize) {
        let slice_ends_ps = self.slice_ends_ps();
        let entry = &mut self.workers[worker];
        entry.slice_ends_ps = slice_ends_ps;
        let takes_ps = entry.done_ps.min(slice_ends_ps) - self.now_ps;
        self.schedule(worker, Phase::Running, takes_ps);
    }

    /// The piece of `worker` waits for its next slice behind the others.
    pub(super) fn interrupt(&mut self, worker: usize) {
        let Worker { piece, works_from_ps, done_ps, .. } = self.workers[worker];
        self.account.busy_ps += u128::from(self.now_ps.saturating_sub(works_from_ps));
        self.account.preemptions += 1;
        self.requests.get_mut(piece.request).preemptions += 1;
        let fork_ps = works_from_ps.saturating_sub(self.now_ps);
        let work_ps = done_ps - self.now_ps - fork_ps;
        self.queue.put_back(Interrupted { piece, fork_ps, work_ps });
        if O::ON {
            let number = self.requests.get(piece.request).number;
            self.observer.observe(self.now_ps, Event::Stopped { worker: worker as u32, number });
        }
        self.leave(worker);
    }

    /// `worker` goes on with a piece whose slice had been over.
    pub(super) fn go_on_with(&mut self, worker: usize, Interrupted { piece, fork_ps, work_ps }: Interrupted) {
        self.leave(worker);
        self.switch_to(worker, piece.request);
        self.begin(worker, piece, (fork_ps, work_ps));
    }

    /// `worker` begins to run `piece`, which takes so long: forks first, then work.
    #[inline(always)]
    fn begin(&mut self, worker: usize, piece: Piece, (forks_ps, work_ps): (u64, u64)) {
        let mut takes_ps = forks_ps + work_ps;
        let entry = &mut self.workers[worker];
        (entry.piece, entry.works_from_ps) = (piece, self.now_ps + forks_ps);
        if MORE {
            // Where nobody has waited for the end of its slice, it has another one.
            let next_ends_ps = self.slice_ends_ps();
            let entry = &mut self.workers[worker];
            if entry.slice_ends_ps <= self.now_ps {
                entry.slice_ends_ps = next_ends_ps;
            }
            entry.done_ps = self.now_ps + takes_ps;
            takes_ps = takes_ps.min(entry.slice_ends_ps - self.now_ps);
        }
        if O::ON {
            let request = self.requests.get(piece.request);
            let (number, class) = (request.number, request.class);
            self.observer.observe(self.now_ps, Event::Started { worker: worker as u32, number, class });
        }
        self.schedule(worker, Phase::Running, takes_ps);
    }

    /// The time of `worker` at its request is over.
    #[inline(always)]
    pub(super) fn leave(&mut self, worker: usize) {
        let Worker { request, since_ps, .. } = self.workers[worker];
        if request != NONE {
            self.requests.get_mut(request).processed_ps += self.now_ps - since_ps;
            self.workers[worker].request = NONE;
        }
    }

    /// The piece of `worker` is done. Is its request, too?
    #[inline(always)]
    pub(super) fn finish(&mut self, worker: usize) -> bool {
        let Worker { piece, works_from_ps, .. } = self.workers[worker];
        self.account.busy_ps += u128::from(self.now_ps - works_from_ps);
        match self.requests.done(piece) {
            Done::Piece if O::ON => {
                let number = self.requests.get(piece.request).number;
                self.observer.observe(self.now_ps, Event::Stopped { worker: worker as u32, number });
            }
            Done::Piece => {}
            Done::Node => self.join(worker, piece),
            Done::Request => {
                self.complete(worker, piece.request);
                return true;
            }
        }
        false
    }

    /// A node is done: those that have waited for it alone can begin.
    fn join(&mut self, worker: usize, piece: Piece) {
        let graphs = self.requests.graphs().clone();
        let request = self.requests.get(piece.request);
        let after = request.graph(&graphs).after(request.node_at(piece.node));
        // The first of them is the next that the worker does.
        for &node in after.iter().rev() {
            if self.requests.unblock(piece.request, node) {
                let ready = self.requests.piece(piece.request, node);
                self.deques.push_own(worker, ready, &self.requests);
            }
        }
        if O::ON {
            let number = self.requests.get(piece.request).number;
            self.observer.observe(self.now_ps, Event::Stopped { worker: worker as u32, number });
        }
    }

    fn complete(&mut self, worker: usize, request: u32) {
        // The time of others at it is over: they have nothing of it.
        self.leave(worker);
        let done = self.requests.remove(request);
        if let Some(retuning) = &mut self.retuning {
            retuning.on_completed(done.class, Picos(done.processed_ps));
        }
        self.active -= 1;
        if MORE {
            self.queue.complete();
        }
        self.account.completed += 1;
        if done.size == Size::Large {
            self.account.given_up += 1;
            self.account.given_up_ps += u128::from(self.now_ps - done.arrival_ps);
        }
        if self.measured.complete(done.number) {
            let completed = Completed {
                sojourn_ps: self.now_ps - done.arrival_ps,
                service_ps: done.service_ps,
                queued_ps: done.start_ps - done.arrival_ps,
                work_ps: done.work_ps,
                preemptions: done.preemptions,
                class: done.class,
                ..Completed::default()
            };
            let alone = [done.service_ps, done.work_ps].map(|ps| self.requests.alone_ps(&done, ps));
            self.recorder.push_forked(completed, alone);
        }
        if O::ON {
            let event = Event::Completed { worker: worker as u32, number: done.number };
            self.observer.observe(self.now_ps, event);
        }
    }

    #[inline(always)]
    pub(super) fn surroundings(&self, worker: usize) -> Surroundings {
        let kept = worker < self.kept;
        Surroundings {
            stealable: self.deques.stealable(kept).len() > 0,
            queued: !self.queue.is_empty(),
            kept,
        }
    }

    /// Held core time up to now goes into the accounting.
    pub(super) fn settle(&mut self) {
        let span_ps = u128::from(self.now_ps - self.settled_ps);
        self.settled_ps = self.now_ps;
        self.account.held_ps += span_ps * u128::from(self.held);
        self.account.allocating_ps += span_ps * u128::from(self.held - self.here);
    }

    pub(super) fn rebase(&mut self, base_ps: u64) {
        events::rebase(&mut self.keys, &mut self.tree, &self.workers, base_ps);
    }

    pub(super) fn first_due_ps(&self) -> Option<u64> {
        events::first_due_ps(&self.tree, &self.workers)
    }
}

impl Due for Worker {
    fn due_ps(&self) -> u64 {
        self.due_ps
    }
}

impl<O: Sink, const MORE: bool> Counting for ForksSite<O, MORE> {
    fn measured(&mut self) -> &mut Measured {
        &mut self.measured
    }
}

impl<O: Sink, const MORE: bool> Audit for ForksSite<O, MORE> {
    #[inline]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    #[inline]
    fn measured_is_done(&self) -> bool {
        self.measured.are_done()
    }

    fn account(&mut self) -> Account {
        self.settle();
        let mut account = self.account;
        for worker in self.workers.iter().filter(|worker| worker.phase == Phase::Running) {
            account.busy_ps += u128::from(self.now_ps.saturating_sub(worker.works_from_ps));
        }
        account
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        Vec::new()
    }
}
