//! The SITA family written down once more, straight from the paper's text and by brute force: every decision looks at
//! all servers and all queues. Shares no code with `caudal_policy`.

use caudal_policy::discipline::SitaConfig;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Servers of their own for each lane.
    Preemptive,
    /// SQD-SITA.
    Decoupled,
    /// ISQD-SITA.
    Interruptible,
}

/// What is changed to see whether the tests notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mutant {
    #[default]
    None,
    /// Interrupted tasks go to the tail of their lane.
    RequeueAtTail,
    /// The oldest running task of a lane is interrupted.
    PreemptOldest,
    /// Of servers that stop at the same time, the first by number acts first.
    TiesByServer,
    /// Tasks that arrive when others stop come first.
    ArrivalsFirst,
}

struct Task {
    arrival: u64,
    size: u64,
    served: u64,
    lane: usize,
    /// When it entered its lane.
    entered: u64,
    /// Order of entry into its lane among those that entered at the same time.
    order: u64,
    completion: u64,
}

pub(crate) struct Model {
    kind: Kind,
    mutant: Mutant,
    cutoffs: Vec<u64>,
    reservations: Vec<usize>,
    tasks: Vec<Task>,
    /// What each server runs.
    servers: Vec<Option<usize>>,
    /// Lane of each server under [`Kind::Preemptive`].
    homes: Vec<usize>,
    queues: Vec<Vec<usize>>,
    now: u64,
    entries: u64,
    strayed: Option<usize>,
}

/// What came out.
pub(crate) struct Ran {
    /// When each task completes.
    pub(crate) completions: Vec<u64>,
    /// The first task that lost its server at a cutoff though the upper bound had room for that.
    pub(crate) strayed: Option<usize>,
}

impl Model {
    /// Tasks are (arrival, size), by arrival.
    pub(crate) fn new(kind: Kind, config: &SitaConfig, tasks: &[(u64, u64)]) -> Model {
        let reservations: Vec<usize> = config.reservations.iter().map(|&count| count as usize).collect();
        let task = |&(arrival, size): &(u64, u64)| Task {
            arrival,
            size,
            served: 0,
            lane: 0,
            entered: 0,
            order: 0,
            completion: 0,
        };
        let homes = reservations.iter().enumerate().flat_map(|(lane, &count)| vec![lane; count]).collect();
        Model {
            kind,
            mutant: Mutant::None,
            cutoffs: config.cutoffs.iter().map(|cutoff| cutoff.0).collect(),
            tasks: tasks.iter().map(task).collect(),
            servers: vec![None; reservations.iter().sum()],
            homes,
            queues: vec![Vec::new(); reservations.len()],
            reservations,
            now: 0,
            entries: 0,
            strayed: None,
        }
    }

    pub(crate) fn mutate(self, mutant: Mutant) -> Model {
        Model { mutant, ..self }
    }

    pub(crate) fn run(mut self) -> Ran {
        let mut next = 0;
        loop {
            let arrival = self.tasks.get(next).map(|task| task.arrival);
            let timers = (0..self.servers.len()).filter_map(|server| self.due(server)).min();
            let timer = timers.and_then(|due| Some((due, self.first_timer(due)?)));
            match (arrival, timer) {
                (None, None) => {
                    let completions = self.tasks.iter().map(|task| task.completion).collect();
                    return Ran { completions, strayed: self.strayed };
                }
                (Some(at), timer) if timer.is_none_or(|(due, _)| self.comes_first(at, due)) => {
                    self.pass(at);
                    self.arrive(next);
                    next += 1;
                }
                (_, Some((due, server))) => {
                    self.pass(due);
                    self.stop(server);
                }
                (Some(_), None) => unreachable!("the guard holds without a timer"),
            }
        }
    }

    fn comes_first(&self, arrival: u64, due: u64) -> bool {
        arrival < due || arrival == due && self.mutant == Mutant::ArrivalsFirst
    }

    /// The server that stops first of those that stop at `due`.
    fn first_timer(&self, due: u64) -> Option<usize> {
        let stop = |&server: &usize| self.due(server) == Some(due);
        (0..self.servers.len()).filter(stop).min_by_key(|&server| self.tie(server))
    }

    fn tie(&self, server: usize) -> (u64, u64) {
        let task = &self.tasks[self.servers[server].expect("it runs")];
        if self.mutant == Mutant::TiesByServer { (0, server as u64) } else { (task.entered, task.order) }
    }

    /// When the task of `server` completes or reaches its cutoff.
    fn due(&self, server: usize) -> Option<u64> {
        let task = &self.tasks[self.servers[server]?];
        let end = self.cutoffs.get(task.lane).map_or(task.size, |&cutoff| cutoff.min(task.size));
        Some(self.now + end - task.served)
    }

    fn pass(&mut self, to: u64) {
        for task in self.servers.iter().flatten() {
            self.tasks[*task].served += to - self.now;
        }
        self.now = to;
    }

    /// `task` enters `lane` at its tail.
    fn enter(&mut self, task: usize, lane: usize) {
        self.entries += 1;
        let entry = &mut self.tasks[task];
        (entry.lane, entry.entered, entry.order) = (lane, self.now, self.entries);
        self.queues[lane].push(task);
    }

    fn running(&self, lane: usize) -> Vec<usize> {
        let on = |&server: &usize| self.servers[server].is_some_and(|task| self.tasks[task].lane == lane);
        (0..self.servers.len()).filter(on).collect()
    }

    /// Servers and reservations of `lane` and all higher ones.
    fn from(&self, lane: usize) -> (usize, usize) {
        let servers = (lane..self.queues.len()).map(|lane| self.running(lane).len()).sum();
        (servers, self.reservations[lane..].iter().sum())
    }

    fn arrive(&mut self, task: usize) {
        self.enter(task, 0);
        let idle = |server: &usize| {
            self.servers[*server].is_none() && (self.kind != Kind::Preemptive || self.homes[*server] == 0)
        };
        if let Some(server) = (0..self.servers.len()).find(idle) {
            return self.seek(server);
        }
        if self.kind == Kind::Interruptible {
            self.interrupt();
        }
    }

    /// The oldest task of lane 0 takes a server from a lane that has too many, if there is one.
    fn interrupt(&mut self) {
        let broken = (0..self.queues.len()).rev().find(|&lane| self.from(lane).0 > self.from(lane).1);
        let Some(lane) = broken else { return };
        let by_entry = |&server: &usize| {
            let task = &self.tasks[self.servers[server].expect("it runs")];
            (task.entered, task.order)
        };
        let running = self.running(lane).into_iter();
        let server = match self.mutant {
            Mutant::PreemptOldest => running.min_by_key(by_entry),
            _ => running.max_by_key(by_entry),
        };
        let server = server.expect("a lane with too many servers has one");
        let victim = self.servers[server].take().expect("it runs");
        let place = match self.mutant {
            Mutant::RequeueAtTail => self.queues[lane].len(),
            _ => self.place_by_entry(victim, lane),
        };
        let task = &self.tasks[victim];
        let end = self.cutoffs.get(lane).map_or(task.size, |&cutoff| cutoff.min(task.size));
        if self.mutant == Mutant::ArrivalsFirst && task.served == end {
            // Its timer goes off as it is stopped.
            self.end_slice(victim);
        } else {
            self.queues[lane].insert(place, victim);
        }
        self.servers[server] = Some(self.queues[0].remove(0));
    }

    /// `task` has completed or reached its cutoff.
    fn end_slice(&mut self, task: usize) {
        if self.tasks[task].served == self.tasks[task].size {
            self.tasks[task].completion = self.now;
        } else {
            let lane = self.tasks[task].lane + 1;
            self.enter(task, lane);
        }
    }

    fn place_by_entry(&self, task: usize, lane: usize) -> usize {
        let entry = |task: usize| (self.tasks[task].entered, self.tasks[task].order);
        self.queues[lane]
            .iter()
            .position(|&other| entry(other) > entry(task))
            .unwrap_or(self.queues[lane].len())
    }

    /// The task of `server` has completed or reached its cutoff.
    fn stop(&mut self, server: usize) {
        let task = self.servers[server].take().expect("it runs");
        self.end_slice(task);
        if self.kind == Kind::Preemptive {
            // A server of the next lane that has nothing to do takes it at once.
            let lane = self.tasks[task].lane;
            let idle = |&other: &usize| {
                other != server && self.servers[other].is_none() && self.homes[other] == lane
            };
            if let Some(other) = (0..self.servers.len()).find(idle) {
                self.seek(other);
            }
        }
        let lane = self.tasks[task].lane;
        let may_follow = self.tasks[task].completion == 0 && self.from(lane).0 < self.from(lane).1;
        self.seek(server);
        if may_follow && self.servers[server] != Some(task) {
            self.strayed.get_or_insert(task);
        }
    }

    /// `server` is free: which lane does it join?
    fn seek(&mut self, server: usize) {
        let lanes = self.queues.len();
        let waits = |&lane: &usize| !self.queues[lane].is_empty();
        let chosen = match self.kind {
            Kind::Preemptive => Some(self.homes[server]).filter(waits),
            Kind::Decoupled => {
                (0..lanes).rev().filter(waits).find(|&lane| self.from(lane).0 < self.from(lane).1)
            }
            Kind::Interruptible => {
                let within =
                    (0..lanes).rev().filter(waits).find(|&lane| self.from(lane).0 < self.from(lane).1);
                within.or_else(|| (0..lanes).find(waits))
            }
        };
        if let Some(lane) = chosen {
            self.servers[server] = Some(self.queues[lane].remove(0));
        }
    }
}
