//! Requests that fork: a deque a worker, and a parallelism policy that says where a worker looks for its next task.
//!
//! What a worker does, and what it takes:
//!
//! * It runs a *piece*, a range of leaves of one node. Of more than one leaf it first puts the later half to its own end
//!   of its deque, until one leaf is left (recursive halving). All of that happens at once; the worker pays `costs.fork` for
//!   each before it begins the leaf. Nobody sees what a marked request has in its deques, so a piece of it is run as
//!   one; it pays for its forks all the same.
//! * The last leaf of a node frees those that wait for it: they go to the own end of whoever did it, who so goes on with
//!   the parent of what it has joined.
//! * With its own end empty, it asks the policy. A look at the requests takes `costs.look` for each worker and sees what is
//!   there when it ends; an attempt to steal `costs.steal_check`, at the end of which it takes what is there then; a
//!   steal `costs.steal` more; a request from the queue nothing.
//! * Who waits notices at once when there is something: the first by name takes the first request, all who may try to
//!   steal do.
//! * Thresholds that are worked out anew hold from the first arrival after the end of an epoch on ([`retuning`]).
//!
//! Events are ordered by (time, kind, worker); arrivals come first. A request counts as *processed* for the time that
//! workers have been at it: from when they got a task of it until they have come to the end of theirs.

pub(super) mod built_in;
mod deques;
mod nodes;
mod requests;
mod retuning;

use std::collections::VecDeque;
use std::sync::Arc;

use caudal_config::Costs;
use caudal_policy::Picos;
use caudal_policy::parallelism::{Around, Landing, Look, Parallelism, Seen, Size};
use caudal_policy::random::Draw;
use caudal_workload::Graphs;

use self::deques::Deques;
use self::requests::{Done, NONE, Piece, Requests};
use self::retuning::Retuning;
use super::bits::BitSet;
use super::core::{Account, work_ps};
use super::host::{Length, Purpose, stream};
use super::keys::{FAR, Keys};
use super::observe::{Event, Sink};
use super::record::{Completed, Recorder};
use super::source::Source;
use super::tree::{NEVER, WinnerTree};
use super::window::{Audit, Window};
use super::{Outcome, outcome};

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// There was nothing to do.
    Waiting,
    /// It runs its piece; an event says until when.
    Running,
    /// It goes through the requests that run.
    Looking,
    /// It tries to steal.
    Trying,
    /// It moves a piece that it has stolen.
    Moving,
}

#[derive(Clone, Copy, Debug)]
struct Worker {
    phase: Phase,
    /// The request whose tasks it does, and since when.
    request: u32,
    since_ps: u64,
    piece: Piece,
    /// From when on the work of its piece is done: forks come first.
    works_from_ps: u64,
    due_ps: u64,
}

/// What a host is made of.
struct Parts<P, O> {
    policy: P,
    retuning: Option<Retuning>,
    workers: u32,
    costs: Costs,
    graphs: Arc<Graphs>,
    source: Source,
    recorder: Recorder,
    patience_ps: u64,
    seed: u64,
    length: Length,
    observer: O,
}

/// The clock, the workers, their deques, the requests, the books.
struct Site<O> {
    now_ps: u64,
    keys: Keys,
    tree: WinnerTree,
    workers: Box<[Worker]>,
    deques: Deques,
    requests: Requests,
    /// Requests that have arrived and were not admitted.
    queue: VecDeque<u32>,
    /// Requests that have arrived and not completed.
    active: u32,
    waiting: BitSet,
    /// So many workers, the first ones, take only tasks of small requests.
    kept: usize,
    retuning: Option<Retuning>,
    costs: Costs,
    /// Of a look at the requests that run.
    look_ps: u64,
    account: Account,
    settled_ps: u64,
    recorder: Recorder,
    measured: std::ops::Range<u64>,
    measured_left: u64,
    observer: O,
}

/// See the [module](self).
struct Forks<P, O> {
    site: Site<O>,
    policy: P,
    source: Source,
    window: Window,
    arrival_key: u64,
    victim_seed: u64,
    attempts: u64,
    landing_seed: u64,
    /// Looks at the requests that run.
    looks: u64,
    drains: bool,
}

impl<O: Sink> Site<O> {
    #[inline(always)]
    fn schedule(&mut self, worker: usize, phase: Phase, takes_ps: u64) {
        let due_ps = self.now_ps + takes_ps;
        let entry = &mut self.workers[worker];
        (entry.phase, entry.due_ps) = (phase, due_ps);
        self.tree.set(worker, self.keys.of(worker, due_ps));
    }

    /// `worker` turns to `piece`, which is in no deque.
    #[inline(always)]
    fn run(&mut self, worker: usize, mut piece: Piece) {
        if self.workers[worker].request != piece.request {
            self.leave(worker);
            let entry = &mut self.workers[worker];
            (entry.request, entry.since_ps) = (piece.request, self.now_ps);
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
        let takes_ps = forks_ps + self.requests.work_ps(piece);
        let entry = &mut self.workers[worker];
        (entry.piece, entry.works_from_ps) = (piece, self.now_ps + forks_ps);
        if O::ON {
            let request = self.requests.get(piece.request);
            let (number, class) = (request.number, request.class);
            self.observer.observe(self.now_ps, Event::Started { worker: worker as u32, number, class });
        }
        self.schedule(worker, Phase::Running, takes_ps);
    }

    /// The time of `worker` at its request is over.
    #[inline(always)]
    fn leave(&mut self, worker: usize) {
        let Worker { request, since_ps, .. } = self.workers[worker];
        if request != NONE {
            self.requests.get_mut(request).processed_ps += self.now_ps - since_ps;
            self.workers[worker].request = NONE;
        }
    }

    /// The piece of `worker` is done.
    #[inline(always)]
    fn finish(&mut self, worker: usize) {
        let piece = self.workers[worker].piece;
        self.account.busy_ps += u128::from(self.requests.work_ps(piece));
        match self.requests.done(piece) {
            Done::Piece if O::ON => {
                let number = self.requests.get(piece.request).number;
                self.observer.observe(self.now_ps, Event::Stopped { worker: worker as u32, number });
            }
            Done::Piece => {}
            Done::Node => self.join(worker, piece),
            Done::Request => self.complete(worker, piece.request),
        }
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
        self.account.completed += 1;
        if done.size == Size::Large {
            self.account.given_up += 1;
            self.account.given_up_ps += u128::from(self.now_ps - done.arrival_ps);
        }
        if self.measured.contains(&done.number) {
            self.measured_left -= 1;
            self.recorder.push_forked(Completed {
                sojourn_ps: self.now_ps - done.arrival_ps,
                service_ps: done.service_ps,
                queued_ps: done.start_ps - done.arrival_ps,
                overhead_ps: 0,
                work_ps: done.work_ps,
                preemptions: 0,
                class: done.class,
            });
        }
        if O::ON {
            let event = Event::Completed { worker: worker as u32, number: done.number };
            self.observer.observe(self.now_ps, event);
        }
    }

    #[inline(always)]
    fn around(&self, worker: usize) -> Around {
        let kept = worker < self.kept;
        Around { stealable: self.deques.stealable(kept).len() > 0, queued: !self.queue.is_empty(), kept }
    }

    fn rebase(&mut self, base_ps: u64) {
        self.keys.rebase(base_ps);
        for worker in 0..self.workers.len() {
            if self.tree.get(worker) != NEVER {
                self.tree.set(worker, self.keys.of(worker, self.workers[worker].due_ps));
            }
        }
    }

    fn first_due_ps(&self) -> Option<u64> {
        let due = |worker: &usize| self.tree.get(*worker) != NEVER;
        (0..self.workers.len()).filter(due).map(|worker| self.workers[worker].due_ps).min()
    }
}

impl<P: Parallelism, O: Sink> Forks<P, O> {
    fn new(parts: Parts<P, O>) -> Self {
        let Parts {
            policy, retuning, workers, costs, graphs, source, recorder, seed, length, observer, ..
        } = parts;
        let kept = policy.kept().min(workers) as usize;
        let count = workers as usize;
        let worker = Worker {
            phase: Phase::Waiting,
            request: NONE,
            since_ps: 0,
            piece: Piece::NOTHING,
            works_from_ps: 0,
            due_ps: 0,
        };
        let mut waiting = BitSet::new(count);
        (0..count).for_each(|worker| waiting.insert(worker));
        let site = Site {
            now_ps: 0,
            keys: Keys::new(workers),
            tree: WinnerTree::new(count),
            workers: vec![worker; count].into(),
            deques: Deques::new(count, kept > 0),
            requests: Requests::new(graphs, stream(seed, Purpose::Graph), workers),
            queue: VecDeque::new(),
            active: 0,
            waiting,
            kept,
            retuning,
            look_ps: costs.look.0 * u64::from(workers),
            costs,
            account: Account::default(),
            settled_ps: 0,
            recorder,
            measured: length.warm_up..length.warm_up + length.measured,
            measured_left: length.measured,
            observer,
        };
        Forks {
            site,
            policy,
            source,
            window: Window::new(length, parts.patience_ps),
            arrival_key: NEVER,
            victim_seed: stream(seed, Purpose::Walk),
            attempts: 0,
            landing_seed: stream(seed, Purpose::Dispatch),
            looks: 0,
            drains: false,
        }
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    fn run(mut self) -> Outcome {
        self.refresh_arrival();
        while self.arrival_key != NEVER || self.has_to_drain() {
            let due = self.site.tree.min();
            if due < self.arrival_key.min(FAR) {
                self.site.now_ps = self.site.keys.time_ps(due);
                self.at_worker(self.site.keys.worker(due));
            } else if Keys::is_far(self.arrival_key) {
                self.look_farther();
                continue;
            } else if self.at_arrival() {
                break;
            }
            if self.site.waiting.len() > 0 {
                self.wake();
            }
        }
        self.site.recorder.flush();
        outcome(self.site.recorder, self.window, self.site.measured_left, self.site.now_ps)
    }

    /// There are no more arrivals: what is measured and in the system completes.
    #[cold]
    fn has_to_drain(&mut self) -> bool {
        if !self.drains {
            self.drains = true;
            self.window.close(&mut self.site);
            let measured = &self.site.measured;
            // Measured requests that never came.
            self.site.measured_left -= measured.end.saturating_sub(self.source.taken().max(measured.start));
        }
        self.site.measured_left > 0
    }

    #[inline(always)]
    fn refresh_arrival(&mut self) {
        let keys = self.site.keys;
        self.arrival_key = self.source.peek_ps().map_or(NEVER, |arrival_ps| keys.before(arrival_ps));
    }

    /// All that is left lies too far ahead for keys to tell it apart.
    #[cold]
    fn look_farther(&mut self) {
        let next_ps = [self.source.peek_ps(), self.site.first_due_ps()];
        let base_ps = next_ps.into_iter().flatten().min().unwrap_or(self.site.now_ps);
        self.site.rebase(base_ps);
        self.refresh_arrival();
    }

    /// A request arrives; `true` ends the run.
    #[inline(always)]
    fn at_arrival(&mut self) -> bool {
        let (number, arrival_ps, demand) = self.source.take();
        let site = &mut self.site;
        site.now_ps = arrival_ps;
        if self.source.at_batch_start() && site.keys.are_old(arrival_ps) {
            site.rebase(arrival_ps);
        }
        self.refresh_arrival();
        let site = &mut self.site;
        if let Some(tables) = site.retuning.as_mut().and_then(|retuning| retuning.at_arrival(arrival_ps)) {
            self.policy.set_tables(tables);
        }
        if self.window.at_request(number, site) {
            return true;
        }
        let work_ps = work_ps(demand.service_ps, site.costs.probe_factor);
        site.account.offered_ps += u128::from(work_ps);
        site.active += 1;
        let request = site.requests.insert(number, arrival_ps, demand, work_ps);
        if O::ON {
            let event = Event::Arrived { number, class: demand.class, service_ps: demand.service_ps };
            site.observer.observe(arrival_ps, event);
        }
        match self.policy.landing() {
            Landing::Queue => site.queue.push_back(request),
            landing => self.land(request, number, landing),
        }
        false
    }

    /// A request lands in the deque of a random worker.
    fn land(&mut self, request: u32, number: u64, landing: Landing) {
        let worker = Draw::new(self.landing_seed, number).below(self.site.workers.len() as u32) as usize;
        if self.site.workers[worker].phase == Phase::Waiting {
            self.site.waiting.remove(worker);
            return self.admit(worker, request);
        }
        let (site, whole) = (&mut self.site, Piece::whole(request));
        match landing {
            Landing::OwnEnd => site.deques.push_own(worker, whole, &site.requests),
            _ => site.deques.push_steal(worker, whole, &site.requests),
        }
    }

    #[inline(always)]
    fn at_worker(&mut self, worker: usize) {
        match self.site.workers[worker].phase {
            Phase::Running => {
                self.site.finish(worker);
                self.go_on(worker);
            }
            Phase::Trying => self.try_victim(worker),
            Phase::Looking => {
                self.mark_large();
                self.search(worker);
            }
            Phase::Moving => self.turn_to(worker, self.site.workers[worker].piece),
            Phase::Waiting => unreachable!("who waits has no event"),
        }
    }

    /// `worker` takes the next task of its own, or looks elsewhere.
    #[inline(always)]
    fn go_on(&mut self, worker: usize) {
        match self.site.deques.pop_own(worker) {
            Some(piece) => self.turn_to(worker, piece),
            None => {
                self.site.leave(worker);
                let look = self.policy.on_exhausted(self.site.around(worker));
                self.look(worker, look);
            }
        }
    }

    #[inline(always)]
    fn turn_to(&mut self, worker: usize, piece: Piece) {
        if piece.node == NONE { self.admit(worker, piece.request) } else { self.site.run(worker, piece) }
    }

    fn search(&mut self, worker: usize) {
        // A request may have landed in its deque meanwhile.
        if let Some(piece) = self.site.deques.pop_own(worker) {
            return self.turn_to(worker, piece);
        }
        let look = self.policy.next(self.site.around(worker));
        self.look(worker, look);
    }

    #[inline(always)]
    fn look(&mut self, worker: usize, look: Look) {
        match look {
            Look::Requests if self.site.look_ps == 0 => {
                self.mark_large();
                self.search(worker);
            }
            Look::Requests => {
                self.site.account.placing_ps += u128::from(self.site.look_ps);
                self.site.schedule(worker, Phase::Looking, self.site.look_ps);
            }
            Look::Victim => {
                self.site.account.looking_ps += u128::from(self.site.costs.steal_check.0);
                self.site.schedule(worker, Phase::Trying, self.site.costs.steal_check.0);
            }
            Look::Queue => match self.site.queue.pop_front() {
                Some(request) => self.admit(worker, request),
                None => unreachable!("nothing is queued"),
            },
            Look::Wait => {
                self.site.workers[worker].phase = Phase::Waiting;
                self.site.tree.set(worker, NEVER);
                self.site.waiting.insert(worker);
            }
        }
    }

    /// `worker` begins a request.
    fn admit(&mut self, worker: usize, request: u32) {
        let site = &mut self.site;
        let (now_ps, active) = (site.now_ps, site.active);
        let entry = site.requests.get_mut(request);
        entry.start_ps = now_ps;
        if self.policy.is_large_when_admitted(active, entry.class, Picos(entry.work_ps)) {
            entry.size = Size::Large;
        }
        let graphs = site.requests.graphs().clone();
        let roots = site.requests.get(request).graph(&graphs).roots();
        let Some((&first, others)) = roots.split_first() else { unreachable!("a request has work") };
        for &node in others.iter().rev() {
            let piece = site.requests.piece(request, node);
            site.deques.push_own(worker, piece, &site.requests);
        }
        site.run(worker, site.requests.piece(request, first));
    }

    /// `worker` looks at the steal end of a random other one.
    #[inline(always)]
    fn try_victim(&mut self, worker: usize) {
        let others = self.site.workers.len() as u32 - 1;
        let victim = Draw::new(self.victim_seed, self.attempts).below(others) as usize;
        self.attempts += 1;
        let victim = victim + usize::from(victim >= worker);
        let site = &mut self.site;
        if !site.deques.stealable(worker < site.kept).contains(victim) {
            return self.search(worker);
        }
        let Some(piece) = site.deques.steal(victim, &site.requests) else { return self.search(worker) };
        site.account.steals += 1;
        if O::ON {
            let event = Event::Moved { worker: worker as u32, from: victim as u32, tasks: 1 };
            site.observer.observe(site.now_ps, event);
        }
        if site.costs.steal.0 == 0 {
            return self.turn_to(worker, piece);
        }
        site.account.moving_ps += u128::from(site.costs.steal.0);
        site.workers[worker].piece = piece;
        site.schedule(worker, Phase::Moving, site.costs.steal.0);
    }

    /// Finds out which of the requests that run are long or large, as far as can be seen.
    fn mark_large(&mut self) {
        let site = &mut self.site;
        self.looks += 1;
        let as_of_ps = site.now_ps.saturating_sub(self.policy.age().0);
        let running = |worker: &&Worker| worker.request != NONE;
        for worker in site.workers.iter().filter(running) {
            let request = site.requests.get_mut(worker.request);
            if request.look != self.looks {
                (request.look, request.seen_ps) = (self.looks, request.processed_ps);
            }
            request.seen_ps += as_of_ps.saturating_sub(worker.since_ps);
        }
        let mut any = false;
        for worker in site.workers.iter().filter(running) {
            let request = site.requests.get(worker.request);
            if request.size == Size::Large {
                continue;
            }
            let span_left_ps = if P::SPANS { site.requests.span_left_ps(worker.request) } else { 0 };
            let processed = Picos(request.seen_ps);
            let seen = Seen { class: request.class, processed, span_left: Picos(span_left_ps) };
            let size = self.policy.size(site.active, seen);
            if size > request.size {
                site.requests.get_mut(worker.request).size = size;
                any = true;
            }
        }
        if any {
            site.deques.refresh_all(&site.requests);
        }
    }

    /// Whoever waits and has something to do now begins with it.
    #[inline(always)]
    fn wake(&mut self) {
        let mut from = 0;
        while let Some(worker) = self.site.waiting.first_from(from) {
            match self.policy.next(self.site.around(worker)) {
                // Those that are not kept all see the same.
                Look::Wait if worker >= self.site.kept => break,
                Look::Wait => from = worker + 1,
                look => {
                    self.site.waiting.remove(worker);
                    self.look(worker, look);
                    // What it began with may be for one that was passed over.
                    from = 0;
                }
            }
        }
    }
}

impl<O: Sink> Audit for Site<O> {
    #[inline]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    #[inline]
    fn measured_is_done(&self) -> bool {
        self.measured_left == 0
    }

    fn books(&mut self) -> Account {
        let span_ps = self.now_ps - self.settled_ps;
        self.settled_ps = self.now_ps;
        self.account.held_ps += u128::from(span_ps) * self.workers.len() as u128;
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
