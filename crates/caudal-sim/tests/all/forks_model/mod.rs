//! A model of requests that fork that shares no code with the engine: one leaf at a time, lists that are searched, every
//! decision written out where it is made. It is told what the engine draws.

mod shapes;

use std::collections::VecDeque;

use caudal_config::Costs;
use caudal_policy::random::{Draw, hash};

use shapes::Node;
pub(crate) use shapes::{Sample, Shapes, Task};

/// What a worker does that is out of tasks, by the names of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rules {
    Serial,
    StealFirst,
    AdmitFirst,
    /// The end of a random deque to which requests go.
    DefaultTbb {
        steal_end: bool,
    },
    TailControl(TailControl),
    Clairvoyant {
        thresholds_ps: Vec<u64>,
    },
}

/// What tail-control goes by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TailControl {
    /// Thresholds in ps by class (the last holds for all others) and active requests.
    pub(crate) thresholds_ps: Vec<Vec<u64>>,
    /// How old times are.
    pub(crate) age_ps: u64,
    /// So many workers, the first ones, take nothing of requests that were processed for longer than the cutoff.
    pub(crate) kept: usize,
    pub(crate) cutoff_ps: u64,
    /// What is left of serial parts counts as processed.
    pub(crate) span: bool,
}

impl TailControl {
    pub(crate) fn plain(thresholds_ps: Vec<u64>) -> TailControl {
        TailControl {
            thresholds_ps: vec![thresholds_ps],
            age_ps: 0,
            kept: 0,
            cutoff_ps: u64::MAX,
            span: false,
        }
    }
}

/// A leaf-to-be: request, node, leaves from and to; no node: a request that was not admitted.
type Piece = (usize, Option<usize>, u32, u32);

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waits,
    Runs(Piece),
    ChecksRequests,
    Tries,
    Moves(Piece),
}

struct Worker {
    state: State,
    until_ps: u64,
    deque: VecDeque<Piece>,
    request: Option<usize>,
    since_ps: u64,
    waited_from_ps: u64,
}

struct Request {
    arrival_ps: u64,
    work_ps: u64,
    class: usize,
    nodes: Vec<Node>,
    processed_ps: u64,
    long: bool,
    marked: bool,
    admitted: bool,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// By request: when it completed, if it did.
    pub(crate) completed_ps: Vec<Option<u64>>,
    pub(crate) attempts: u64,
    pub(crate) steals: u64,
    pub(crate) forks: u64,
    pub(crate) checks: u64,
    pub(crate) marked: u64,
    /// By request: when it was marked by a check of the requests, if it was.
    pub(crate) marked_ps: Vec<Option<u64>>,
    /// Each request that ran at a check and not just from then on, with the time of the check.
    pub(crate) ran_at_checks: Vec<(usize, u64)>,
    /// Requests that only some workers may help.
    pub(crate) long: u64,
    /// Time that workers have waited up to the last completion.
    pub(crate) waited_ps: u64,
    /// What attempts and moves that had begun by then were still to take.
    pub(crate) begun_ps: u64,
}

pub(crate) struct Model<'a> {
    rules: &'a Rules,
    shapes: &'a Shapes,
    costs: &'a Costs,
    seed: u64,
    now_ps: u64,
    workers: Vec<Worker>,
    queue: VecDeque<usize>,
    requests: Vec<Request>,
    active: usize,
    found: Found,
}

impl<'a> Model<'a> {
    /// Runs `requests`, (arrival, work, class) in order of arrival, on `cores`, until all have completed.
    pub(crate) fn run(
        (rules, shapes, costs): (&'a Rules, &'a Shapes, &'a Costs),
        cores: usize,
        seed: u64,
        requests: &[(u64, u64, u8)],
    ) -> Found {
        let worker = || Worker {
            state: State::Waits,
            until_ps: u64::MAX,
            deque: VecDeque::new(),
            request: None,
            since_ps: 0,
            waited_from_ps: 0,
        };
        let mut model = Model {
            rules,
            shapes,
            costs,
            seed,
            now_ps: 0,
            workers: (0..cores).map(|_| worker()).collect(),
            queue: VecDeque::new(),
            requests: Vec::new(),
            active: 0,
            found: Found {
                completed_ps: vec![None; requests.len()],
                marked_ps: vec![None; requests.len()],
                ..Found::default()
            },
        };
        let mut next = 0;
        while next < requests.len() || model.active > 0 {
            let first =
                (0..cores).min_by_key(|&worker| (model.workers[worker].until_ps, worker)).expect("a worker");
            let first_ps = model.workers[first].until_ps;
            if next < requests.len() && requests[next].0 <= first_ps {
                model.now_ps = requests[next].0;
                model.arrive(next, requests[next]);
                next += 1;
            } else {
                model.now_ps = first_ps;
                model.event(first);
            }
            model.wake();
        }
        for worker in &model.workers {
            match worker.state {
                State::Waits => model.found.waited_ps += model.now_ps - worker.waited_from_ps,
                _ => model.found.begun_ps += worker.until_ps - model.now_ps,
            }
        }
        model.found
    }

    fn leaves(&self, request: usize, node: usize) -> u32 {
        self.requests[request].nodes[node].leaves
    }

    fn leaf_ps(&self, request: usize, node: usize, leaf: u32) -> u64 {
        let own_ps = self.requests[request].nodes[node].work_ps;
        let leaves = u64::from(self.leaves(request, node));
        own_ps / leaves + u64::from(u64::from(leaf) < own_ps % leaves)
    }

    fn arrive(&mut self, request: usize, (arrival_ps, work_ps, class): (u64, u64, u8)) {
        let nodes = self.shapes.nodes(request, (work_ps, class), self.workers.len() as u32, self.seed);
        self.requests.push(Request {
            arrival_ps,
            work_ps,
            class: usize::from(class),
            nodes,
            processed_ps: 0,
            long: false,
            marked: false,
            admitted: false,
        });
        self.active += 1;
        let Rules::DefaultTbb { steal_end } = self.rules else { return self.queue.push_back(request) };
        let worker = Draw::new(hash(self.seed, 1), request as u64).below(self.workers.len() as u32) as usize;
        if self.workers[worker].state == State::Waits {
            self.stop_waiting(worker);
            return self.admit(worker, request);
        }
        let deque = &mut self.workers[worker].deque;
        if *steal_end {
            deque.push_front((request, None, 0, 0));
        } else {
            deque.push_back((request, None, 0, 0));
        }
    }

    fn stop_waiting(&mut self, worker: usize) {
        self.found.waited_ps += self.now_ps - self.workers[worker].waited_from_ps;
    }

    fn set(&mut self, worker: usize, state: State, takes_ps: u64) {
        (self.workers[worker].state, self.workers[worker].until_ps) = (state, self.now_ps + takes_ps);
    }

    fn event(&mut self, worker: usize) {
        match self.workers[worker].state {
            State::Runs((request, Some(node), ..)) => self.leaf_done(worker, request, node),
            State::Runs(_) => unreachable!("a request is admitted first"),
            State::ChecksRequests => {
                self.mark();
                self.search(worker);
            }
            State::Tries => self.attempt(worker),
            State::Moves(piece) => self.take(worker, piece),
            State::Waits => unreachable!("it waits"),
        }
    }

    fn leaf_done(&mut self, worker: usize, request: usize, node: usize) {
        self.requests[request].nodes[node].left -= 1;
        if self.requests[request].nodes[node].left == 0 {
            let mut ready = Vec::new();
            for after in self.requests[request].nodes[node].after.clone() {
                self.requests[request].nodes[after].blocked -= 1;
                if self.requests[request].nodes[after].blocked == 0 {
                    ready.push(after);
                }
            }
            for &after in ready.iter().rev() {
                let all = self.leaves(request, after);
                self.workers[worker].deque.push_back((request, Some(after), 0, all));
            }
        }
        if self.requests[request].nodes.iter().all(|node| node.left == 0) {
            self.found.completed_ps[request] = Some(self.now_ps);
            self.active -= 1;
            self.workers[worker].request = None;
        }
        if let Some(piece) = self.workers[worker].deque.pop_back() {
            return self.take(worker, piece);
        }
        self.leave(worker);
        if !matches!(self.rules, Rules::TailControl(_)) {
            return self.search(worker);
        }
        self.found.checks += 1;
        let takes_ps = self.costs.look.0 * self.workers.len() as u64;
        if takes_ps == 0 {
            self.mark();
            return self.search(worker);
        }
        self.set(worker, State::ChecksRequests, takes_ps);
    }

    fn leave(&mut self, worker: usize) {
        if let Some(request) = self.workers[worker].request.take() {
            self.requests[request].processed_ps += self.now_ps - self.workers[worker].since_ps;
        }
    }

    fn mark(&mut self) {
        let Rules::TailControl(rules) = self.rules else { return };
        let mut running: Vec<usize> = self.workers.iter().filter_map(|worker| worker.request).collect();
        running.sort_unstable();
        running.dedup();
        for request in running {
            let as_of_ps = self.now_ps.saturating_sub(rules.age_ps);
            let on_it = self.workers.iter().filter(|worker| worker.request == Some(request));
            let seen: u64 = on_it.map(|worker| as_of_ps.saturating_sub(worker.since_ps)).sum();
            let processed_ps = self.requests[request].processed_ps + seen;
            if processed_ps > 0 {
                self.found.ran_at_checks.push((request, self.now_ps));
            }
            let span_ps = if rules.span { self.span_left_ps(request) } else { 0 };
            let entry = &mut self.requests[request];
            let of_class = &rules.thresholds_ps[entry.class.min(rules.thresholds_ps.len() - 1)];
            if !entry.marked && processed_ps.saturating_add(span_ps) > at(of_class, self.active) {
                entry.marked = true;
                self.found.marked += 1;
                self.found.marked_ps[request] = Some(self.now_ps);
            } else if !entry.marked && !entry.long && processed_ps > rules.cutoff_ps {
                entry.long = true;
                self.found.long += 1;
            }
        }
    }

    /// Of the nodes that are not done, the one with the longest chain of serial work before it is all done.
    fn span_left_ps(&self, request: usize) -> u64 {
        let left = self.requests[request].nodes.iter().filter(|node| node.left > 0);
        left.map(|node| node.chain_ps).max().unwrap_or(0)
    }

    fn is_kept(&self, worker: usize) -> bool {
        matches!(self.rules, Rules::TailControl(rules) if worker < rules.kept)
    }

    /// May `thief` take the oldest task of `victim`?
    fn stealable(&self, thief: usize, victim: usize) -> bool {
        self.workers[victim].deque.front().is_some_and(|piece| {
            let request = &self.requests[piece.0];
            !(request.marked || self.is_kept(thief) && request.long)
        })
    }

    /// What there is to do for a worker: a victim, the queue, or nothing.
    fn choice(&self, thief: usize) -> Option<bool> {
        let stealable = (0..self.workers.len()).any(|worker| self.stealable(thief, worker));
        let queued = !self.queue.is_empty();
        match self.rules {
            Rules::Serial => queued.then_some(false),
            Rules::AdmitFirst if queued => Some(false),
            Rules::DefaultTbb { .. } | Rules::AdmitFirst => stealable.then_some(true),
            _ if queued && self.is_kept(thief) => Some(false),
            _ if stealable => Some(true),
            _ => queued.then_some(false),
        }
    }

    fn search(&mut self, worker: usize) {
        if let Some(piece) = self.workers[worker].deque.pop_back() {
            return self.take(worker, piece);
        }
        match self.choice(worker) {
            Some(choice) => self.begin(worker, choice),
            None => {
                self.workers[worker].state = State::Waits;
                self.workers[worker].until_ps = u64::MAX;
                self.workers[worker].waited_from_ps = self.now_ps;
            }
        }
    }

    fn begin(&mut self, worker: usize, steal: bool) {
        if steal {
            self.found.attempts += 1;
            return self.set(worker, State::Tries, self.costs.steal_check.0);
        }
        let request = self.queue.pop_front().expect("one is queued");
        self.admit(worker, request);
    }

    /// Until nobody who waits has anything to do.
    fn wake(&mut self) {
        let waits = |model: &Self, worker: &usize| model.workers[*worker].state == State::Waits;
        let next = |model: &Self| {
            let mut all = (0..model.workers.len()).filter(|worker| waits(model, worker));
            all.find_map(|worker| Some((worker, model.choice(worker)?)))
        };
        while let Some((worker, choice)) = next(self) {
            self.stop_waiting(worker);
            self.begin(worker, choice);
        }
    }

    fn attempt(&mut self, worker: usize) {
        let others = self.workers.len() as u32 - 1;
        let done = self.found.attempts
            - self.workers.iter().filter(|other| other.state == State::Tries).count() as u64;
        let drawn = Draw::new(hash(self.seed, 2), done).below(others) as usize;
        let victim = if drawn >= worker { drawn + 1 } else { drawn };
        if !self.stealable(worker, victim) {
            return self.search(worker);
        }
        let piece = self.workers[victim].deque.pop_front().expect("there is one");
        assert!(!self.requests[piece.0].marked, "a marked task is stolen");
        self.found.steals += 1;
        if self.costs.steal.0 == 0 {
            return self.take(worker, piece);
        }
        self.set(worker, State::Moves(piece), self.costs.steal.0);
    }

    fn admit(&mut self, worker: usize, request: usize) {
        self.requests[request].admitted = true;
        let work_ps = self.requests[request].work_ps;
        self.requests[request].marked = match self.rules {
            Rules::Serial => true,
            Rules::Clairvoyant { thresholds_ps } => work_ps > at(thresholds_ps, self.active),
            _ => false,
        };
        for (node, entry) in self.requests[request].nodes.iter().enumerate().rev() {
            if entry.blocked == 0 {
                self.workers[worker].deque.push_back((request, Some(node), 0, entry.leaves));
            }
        }
        let piece = self.workers[worker].deque.pop_back().expect("a root");
        self.take(worker, piece);
    }

    fn take(&mut self, worker: usize, (request, node, from, mut to): Piece) {
        let Some(node) = node else { return self.admit(worker, request) };
        assert!(self.requests[request].admitted && self.requests[request].arrival_ps <= self.now_ps);
        if self.workers[worker].request != Some(request) {
            self.leave(worker);
            (self.workers[worker].request, self.workers[worker].since_ps) = (Some(request), self.now_ps);
        }
        let mut forks = 0;
        while to - from > 1 {
            let half = from + (to - from).div_ceil(2);
            self.workers[worker].deque.push_back((request, Some(node), half, to));
            (to, forks) = (half, forks + 1);
        }
        self.found.forks += forks;
        let takes_ps = forks * self.costs.fork.0 + self.leaf_ps(request, node, from);
        self.set(worker, State::Runs((request, Some(node), from, to)), takes_ps);
    }
}

fn at(thresholds_ps: &[u64], active: usize) -> u64 {
    thresholds_ps[active.clamp(1, thresholds_ps.len()) - 1]
}
