//! The loop of the engine for requests that fork: a deque for each worker, and a parallelism policy that says where a worker searches for
//! its next task. `built_in` starts it once a run. It owns the run's state and touches nothing else.
//!
//! What a worker does, and how long that takes:
//!
//! * It runs a *piece*, a range of leaves of one node. While the piece has more than one leaf, the worker puts the later half of it to
//!   its own end of its deque, until one leaf is left (recursive halving). All halvings happen at one time; the worker pays
//!   `costs.fork` for each of them before it begins the leaf. Nobody may steal a piece of a marked request, so such a piece is not
//!   halved; the worker pays for its forks all the same.
//! * The last leaf of a node frees the nodes that wait for it. They go to the own end of the worker that ran the leaf, so this worker
//!   goes on with the parent of what it has joined.
//! * With its own end empty, it asks the policy. A check of the requests takes `costs.look` for each worker and sees what is
//!   there when it ends; an attempt to steal `costs.steal_check`, at the end of which it takes what is there then; a
//!   steal `costs.steal` more; a request from the queue nothing.
//! * A worker that waits notices at once when there is something to do: the waiting worker of least id takes the first request, and all
//!   that may try to steal do so.
//! * Under processor sharing a worker has a *slice* at a request: a quantum from when it took a piece of it from the queue or from another
//!   worker on. When that is over and something waits in the queue ([`queue`]), its piece waits for the next slice behind the others, in the
//!   queue, and the worker begins what comes next there, for `costs.preemption`. What it has in its deque stays where others may
//!   steal it. So a request that has forked has slices on several workers at a time.
//! * Where cores come and go ([`cores`]), a worker whose core is given back has an empty deque, and a victim is one that has a core.
//! * Thresholds that are worked out anew hold from the first arrival after the end of an epoch on ([`retuning`]).
//!
//! Events are ordered by (time, kind, worker); arrivals come first. A request counts as *processed* for the time that
//! workers have been at it: from when they got a task of it until they have come to the end of theirs.

mod any;
pub(super) mod built_in;
mod cores;
mod deques;
mod nodes;
mod queue;
mod requests;
mod retuning;
mod site;

use caudal_policy::Picos;
use caudal_policy::parallelism::{Landing, Parallelism, RunningRequest, Search, Size};
use caudal_policy::random::Draw;

use self::cores::Grants;
use self::deques::Deques;
use self::queue::{RunQueue, Taken};
use self::requests::{NONE, Piece, Requests};
use self::retuning::Retuning;
use self::site::{ForksSite, Phase, Worker};
use crate::engine::kernel::account::Account;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::intake::{Arrival, Intake};
use crate::engine::kernel::keys::{FAR, Keys};
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::run::{Outcome, Run, outcome};
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tree::{NEVER, WinnerTree};
use crate::engine::kernel::window::Measured;

/// See the [module](self). `MORE`: with slices, and with cores that come and go; without it nothing of that is compiled.
struct Forks<'a, P, O, const MORE: bool> {
    site: ForksSite<O, MORE>,
    /// The cores that the application holds, where they come and go.
    grants: Option<Grants>,
    /// The key of the next check of the demand for cores.
    tick_key: u64,
    policy: P,
    intake: Intake<'a>,
    victim_seed: u64,
    attempts: u64,
    landing_seed: u64,
    /// Checks of the requests that run.
    checks: u64,
}

impl<'a, P: Parallelism, O: Sink, const MORE: bool> Forks<'a, P, O, MORE> {
    fn new(run: &Run<'a>, (policy, retuning): (P, Option<Retuning>), observer: O) -> Self {
        let (workers, costs, seed) = (run.system.cores, *run.costs, run.seed);
        let kept = policy.kept().min(workers) as usize;
        let count = workers as usize;
        let worker = Worker {
            phase: Phase::Waiting,
            request: NONE,
            since_ps: 0,
            piece: Piece::NOTHING,
            works_from_ps: 0,
            done_ps: 0,
            slice_ends_ps: 0,
            due_ps: 0,
        };
        let mut waiting = BitSet::new(count);
        (0..count).for_each(|worker| waiting.insert(worker));
        let site = ForksSite {
            now_ps: 0,
            keys: Keys::new(workers),
            tree: WinnerTree::new(count),
            workers: vec![worker; count].into(),
            deques: Deques::new(count, kept > 0),
            requests: Requests::new(run.service.dag().clone(), stream(seed, Purpose::Graph), workers),
            queue: RunQueue::new(run.system.discipline, workers),
            held: workers,
            here: workers,
            active: 0,
            waiting,
            kept,
            retuning,
            check_requests_ps: costs.look.0 * u64::from(workers),
            costs,
            account: Account::default(),
            events: 0,
            settled_ps: 0,
            recorder: run.recorder(),
            measured: Measured::new(run.length),
            observer,
        };
        let grants = if MORE {
            run.system.allocation.triggers().map(|triggers| Grants::new(triggers, count))
        } else {
            None
        };
        let mut forks = Forks {
            site,
            grants,
            tick_key: NEVER,
            policy,
            intake: Intake::of(run),
            victim_seed: stream(seed, Purpose::Walk),
            attempts: 0,
            landing_seed: stream(seed, Purpose::Dispatch),
            checks: 0,
        };
        if MORE && forks.grants.is_some() {
            forks.hold_first(run.system.cores_allocated as usize);
        }
        forks
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    fn run(mut self) -> Outcome {
        self.refresh_keys();
        while self.intake.key != NEVER || self.intake.has_to_drain(&mut self.site) {
            let due = self.site.tree.min();
            let outside = if MORE { self.intake.key.min(self.tick_key) } else { self.intake.key };
            if due < outside.min(FAR) {
                self.site.now_ps = self.site.keys.time_ps(due);
                self.at_worker(self.site.keys.worker(due));
            } else if Keys::is_far(outside) {
                self.rebase_to_next();
                continue;
            } else if MORE && self.tick_key < self.intake.key {
                self.at_tick();
            } else if self.at_arrival() {
                break;
            }
            if self.site.waiting.len() > 0 {
                self.wake();
            }
        }
        self.site.recorder.flush();
        let ended = (self.site.now_ps, self.site.events);
        outcome(self.site.recorder, self.intake.window, self.site.measured.left(), ended)
    }

    /// Works out the keys of the next arrival and of the next check of the demand for cores, which comes after all else of its time.
    #[inline(always)]
    fn refresh_keys(&mut self) {
        self.intake.refresh(self.site.keys, false);
        if MORE {
            let tick_ps = self.grants.as_ref().and_then(Grants::next_tick_ps);
            self.tick_key = tick_ps.map_or(NEVER, |tick_ps| self.site.keys.after(tick_ps));
        }
    }

    /// All that is left lies too far ahead for keys to tell it apart.
    #[cold]
    fn rebase_to_next(&mut self) {
        let tick_ps = self.grants.as_ref().and_then(Grants::next_tick_ps);
        let next_ps = [self.intake.peek_ps(), tick_ps, self.site.first_due_ps()];
        let base_ps = next_ps.into_iter().flatten().min().unwrap_or(self.site.now_ps);
        self.site.rebase(base_ps);
        self.refresh_keys();
    }

    /// A request arrives; `true` ends the run.
    #[inline(always)]
    fn at_arrival(&mut self) -> bool {
        let arrival = self.intake.take();
        let Arrival { number, at_ps: arrival_ps, demand, .. } = arrival;
        let site = &mut self.site;
        site.events += 1;
        site.now_ps = arrival_ps;
        if arrival.is_first_of_batch && site.keys.are_old(arrival_ps) {
            site.rebase(arrival_ps);
        }
        self.refresh_keys();
        let site = &mut self.site;
        if let Some(tables) = site.retuning.as_mut().and_then(|retuning| retuning.at_arrival(arrival_ps)) {
            self.policy.set_tables(tables);
        }
        if self.intake.is_over(arrival, site) {
            return true;
        }
        let work_ps = arrival.work_ps(site.costs.probe_factor);
        site.account.offered_ps += u128::from(work_ps);
        site.active += 1;
        let request = site.requests.insert(number, arrival_ps, demand, work_ps);
        if O::ON {
            let event = Event::Arrived { number, class: demand.class, service_ps: demand.service_ps };
            site.observer.observe(arrival_ps, event);
        }
        match self.policy.landing() {
            Landing::Queue => site.queue.arrive(request),
            landing => self.land(request, number, landing),
        }
        if MORE {
            self.grow_from_zero();
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
        self.site.events += 1;
        match self.site.workers[worker].phase {
            Phase::Running if MORE && self.site.workers[worker].done_ps > self.site.now_ps => {
                self.at_slice_end(worker);
            }
            Phase::Running => {
                let completes = self.site.finish(worker);
                if MORE && completes && self.yields_after_completion(worker) {
                    return;
                }
                self.go_on(worker);
            }
            Phase::Switching => self.take_or_go_on(worker),
            Phase::Allocating => self.open(worker),
            Phase::Waiting if MORE => self.after_spin(worker),
            Phase::Trying => self.try_victim(worker),
            Phase::CheckingRequests => {
                self.mark_large();
                self.search(worker);
            }
            Phase::Moving => self.start_piece(worker, self.site.workers[worker].piece),
            Phase::Waiting | Phase::Parked => unreachable!("no event is set in these phases"),
        }
    }

    /// `worker` takes the next task of its own, or searches elsewhere.
    #[inline(always)]
    fn go_on(&mut self, worker: usize) {
        if MORE && self.site.is_slice_over(worker) && self.site.queue.is_wanted() {
            return self.take_or_go_on(worker);
        }
        match self.site.deques.pop_own(worker) {
            Some(piece) => self.start_piece(worker, piece),
            None => {
                self.site.leave(worker);
                let search = self.policy.on_exhausted(self.site.surroundings(worker));
                self.carry_out(worker, search);
            }
        }
    }

    #[inline(always)]
    fn start_piece(&mut self, worker: usize, piece: Piece) {
        if piece.node == NONE { self.admit(worker, piece.request) } else { self.site.run(worker, piece) }
    }

    /// The slice of `worker` at its request is over, and its piece is not done.
    fn at_slice_end(&mut self, worker: usize) {
        if self.site.queue.elides() && !self.site.queue.is_wanted() {
            return self.site.begin_slice(worker);
        }
        self.site.interrupt(worker);
        let cost_ps = self.site.costs.preemption.0;
        if cost_ps == 0 {
            return self.take_or_go_on(worker);
        }
        self.site.account.switching_ps += u128::from(cost_ps);
        self.site.schedule(worker, Phase::Switching, cost_ps);
    }

    /// `worker`, whose slice is over, begins what comes next in the queue.
    fn take_or_go_on(&mut self, worker: usize) {
        self.site.leave(worker);
        match self.site.queue.take() {
            Some(taken) => self.begin(worker, taken),
            None => self.go_on(worker),
        }
    }

    /// `worker` begins with what it has taken from the queue.
    #[inline(always)]
    fn begin(&mut self, worker: usize, taken: Taken) {
        match taken {
            Taken::New(request) => self.admit(worker, request),
            Taken::Interrupted(interrupted) => self.site.go_on_with(worker, interrupted),
        }
    }

    fn search(&mut self, worker: usize) {
        // A request may have landed in its deque meanwhile.
        if let Some(piece) = self.site.deques.pop_own(worker) {
            return self.start_piece(worker, piece);
        }
        let search = self.policy.next(self.site.surroundings(worker));
        self.carry_out(worker, search);
    }

    #[inline(always)]
    fn carry_out(&mut self, worker: usize, search: Search) {
        match search {
            Search::Requests if self.site.check_requests_ps == 0 => {
                self.mark_large();
                self.search(worker);
            }
            Search::Requests => {
                self.site.account.placing_ps += u128::from(self.site.check_requests_ps);
                self.site.schedule(worker, Phase::CheckingRequests, self.site.check_requests_ps);
            }
            Search::Victim => {
                self.site.account.looking_ps += u128::from(self.site.costs.steal_check.0);
                self.site.schedule(worker, Phase::Trying, self.site.costs.steal_check.0);
            }
            Search::Queue => match self.site.queue.take() {
                Some(taken) => self.begin(worker, taken),
                None => unreachable!("nothing is queued"),
            },
            Search::Wait => {
                self.site.workers[worker].phase = Phase::Waiting;
                self.site.tree.set(worker, NEVER);
                self.site.waiting.insert(worker);
                if MORE {
                    self.spin(worker);
                }
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

    /// `worker` checks the steal end of a random other one.
    #[inline(always)]
    fn try_victim(&mut self, worker: usize) {
        let victim = self.victim(worker);
        self.attempts += 1;
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
            return self.start_piece(worker, piece);
        }
        site.account.moving_ps += u128::from(site.costs.steal.0);
        site.workers[worker].piece = piece;
        site.schedule(worker, Phase::Moving, site.costs.steal.0);
    }

    /// A random other worker that has a core.
    #[inline(always)]
    fn victim(&self, worker: usize) -> usize {
        let mut draw = Draw::new(self.victim_seed, self.attempts);
        if MORE && let Some(grants) = &self.grants {
            return grants.other(worker, &mut draw);
        }
        let victim = draw.below(self.site.workers.len() as u32 - 1) as usize;
        victim + usize::from(victim >= worker)
    }

    /// Finds out which of the requests that run are long or large, as far as can be seen.
    fn mark_large(&mut self) {
        let site = &mut self.site;
        self.checks += 1;
        let as_of_ps = site.now_ps.saturating_sub(self.policy.age().0);
        let running = |worker: &&Worker| worker.request != NONE;
        for worker in site.workers.iter().filter(running) {
            let request = site.requests.get_mut(worker.request);
            if request.check != self.checks {
                (request.check, request.seen_ps) = (self.checks, request.processed_ps);
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
            let seen = RunningRequest { class: request.class, processed, span_left: Picos(span_left_ps) };
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

    /// Workers that wait, and that have something to do now, begin.
    #[inline(always)]
    fn wake(&mut self) {
        let mut from = 0;
        while let Some(worker) = self.site.waiting.first_from(from) {
            match self.policy.next(self.site.surroundings(worker)) {
                // Workers that are not kept for small requests all see the same.
                Search::Wait if worker >= self.site.kept => break,
                Search::Wait => from = worker + 1,
                search => {
                    self.site.waiting.remove(worker);
                    self.carry_out(worker, search);
                    // What it began may give something to do to a worker that was passed over.
                    from = 0;
                }
            }
        }
    }
}
