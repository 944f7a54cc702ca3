//! Figures 4 and 5 of Q-Zilla (Mirhosseini et al., HPCA 2020), step by step: three servers, three lanes, one reservation
//! each. The pool is a table that does at once what it is told; tasks have the names of the figures' colours.

use std::collections::VecDeque;
use std::ops::Range;

use caudal_policy::discipline::{Discipline, End, IsqdSita, Lane, Pool, SitaConfig, SqdSita, Stopped};
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

const CUTOFFS: [u64; 2] = [2, 40];
const SERVERS: u32 = 3;

/// A task, as its lane and what it has been served for.
#[derive(Clone, Copy, Debug)]
struct Task {
    name: &'static str,
    attained_us: u64,
    key: u64,
}

/// A pool without time.
#[derive(Default)]
struct Table {
    tasks: Vec<Task>,
    servers: [Option<TaskId>; SERVERS as usize],
    lanes: [VecDeque<TaskId>; 3],
    /// Servers that have been asked to stop.
    stopping: Vec<WorkerId>,
    resumed: bool,
}

impl Pool for Table {
    fn idle(&self) -> Option<WorkerId> {
        self.idle_among(0..SERVERS)
    }
    fn idle_among(&self, mut seats: Range<u32>) -> Option<WorkerId> {
        seats.find(|&seat| self.servers[seat as usize].is_none()).map(WorkerId)
    }
    fn len(&self, lane: Lane) -> u32 {
        self.lanes[lane as usize].len() as u32
    }
    fn waiting_lanes(&self) -> u64 {
        (0..3).filter(|&lane| self.len(lane) > 0).map(|lane| 1 << lane).sum()
    }
    fn head(&self, lane: Lane) -> Option<TaskId> {
        self.lanes[lane as usize].front().copied()
    }
    fn key(&self, task: TaskId) -> u64 {
        self.tasks[task.index()].key
    }
    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        self.lanes[lane as usize].pop_front()
    }
    fn enqueue(&mut self, _task: TaskId, _lane: Lane, _end: End) {
        unreachable!("lanes are in the order of entry");
    }
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        self.tasks[task.index()].key = key;
        let lane = &mut self.lanes[lane as usize];
        let at = lane.iter().position(|other| self.tasks[other.index()].key > key).unwrap_or(lane.len());
        lane.insert(at, task);
    }
    fn run(&mut self, worker: WorkerId, task: TaskId, _quantum: Picos) {
        assert!(self.servers[worker.index()].replace(task).is_none(), "{worker:?} is busy");
    }
    fn resume(&mut self, _worker: WorkerId, _quantum: Picos) {
        self.resumed = true;
    }
    fn preempt(&mut self, worker: WorkerId) -> bool {
        self.stopping.push(worker);
        true
    }
    fn seat(&self, worker: WorkerId) -> u32 {
        worker.0
    }
    fn worker(&self, seat: u32) -> WorkerId {
        WorkerId(seat)
    }
    fn workers(&self) -> u32 {
        SERVERS
    }
    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)> {
        self.servers[i as usize].map(|task| (WorkerId(i), task))
    }
    fn attained(&self, task: TaskId) -> Picos {
        Picos::from_micros(self.tasks[task.index()].attained_us)
    }
    fn remaining(&self, _task: TaskId) -> Picos {
        unreachable!("these disciplines do not know service times");
    }
}

/// A discipline and its pool.
struct Bench<D> {
    discipline: D,
    table: Table,
}

fn config() -> SitaConfig {
    SitaConfig::new(&CUTOFFS.map(Picos::from_micros), &[1, 1, 1]).expect("sound lanes")
}

impl<D: Discipline> Bench<D> {
    fn new(discipline: D) -> Bench<D> {
        Bench { discipline, table: Table::default() }
    }

    fn arrive(&mut self, name: &'static str) {
        let task = TaskId(self.table.tasks.len() as u32);
        self.table.tasks.push(Task { name, attained_us: 0, key: 0 });
        self.discipline.on_arrival(Instant(0), task, &mut self.table);
        for worker in std::mem::take(&mut self.table.stopping) {
            self.stop(worker, Stopped::Preempted);
        }
        self.keeps_its_promises();
    }

    /// The task of server `name` has run for as long as its lane lasts.
    fn reach_cutoff(&mut self, server: u32) {
        let task = self.table.servers[server as usize].expect("it runs").index();
        let attained_us = &mut self.table.tasks[task].attained_us;
        *attained_us = CUTOFFS.into_iter().find(|end| end > attained_us).expect("a lane that ends");
        self.stop(WorkerId(server), Stopped::Quantum);
        self.keeps_its_promises();
    }

    fn complete(&mut self, server: u32) {
        let worker = WorkerId(server);
        let task = self.table.servers[server as usize].take().expect("it runs");
        self.discipline.on_completed(Instant(0), worker, task, &mut self.table);
        self.discipline.on_free(Instant(0), worker, &mut self.table);
        self.keeps_its_promises();
    }

    fn stop(&mut self, worker: WorkerId, why: Stopped) {
        let task = self.table.servers[worker.index()].expect("it runs");
        self.table.resumed = false;
        self.discipline.on_stopped(Instant(0), worker, task, why, &mut self.table);
        if !self.table.resumed {
            self.table.servers[worker.index()] = None;
            self.discipline.on_free(Instant(0), worker, &mut self.table);
        }
    }

    fn keeps_its_promises(&self) {
        self.discipline.check(&self.table).unwrap_or_else(|broken| panic!("{broken}"));
    }

    fn name(&self, task: TaskId) -> &'static str {
        self.table.tasks[task.index()].name
    }

    /// What servers 0, 1 and 2 run, and what waits in lanes 0, 1 and 2.
    fn picture(&self) -> ([&'static str; 3], [Vec<&'static str>; 3]) {
        let running = self.table.servers.map(|task| task.map_or("-", |task| self.name(task)));
        let waiting = |lane: &VecDeque<TaskId>| lane.iter().map(|&task| self.name(task)).collect();
        (running, self.table.lanes.each_ref().map(waiting))
    }

    #[track_caller]
    fn shows(&self, running: [&'static str; 3], waiting: [&[&'static str]; 3]) {
        assert_eq!(self.picture(), (running, waiting.map(<[_]>::to_vec)));
    }
}

/// Steps 1 to 3, which SQD-SITA and ISQD-SITA share.
fn three_of_whom_two_reach_the_cutoff<D: Discipline>(bench: &mut Bench<D>) {
    ["red", "orange", "yellow"].into_iter().for_each(|name| bench.arrive(name));
    bench.shows(["red", "orange", "yellow"], [&[], &[], &[]]);
    // S0 follows its task to lane 1: an elided preemption.
    bench.reach_cutoff(0);
    assert!(bench.table.resumed);
    // So does S1: lanes 1 and 2 have two reservations together.
    bench.reach_cutoff(1);
    assert!(bench.table.resumed);
    bench.shows(["red", "orange", "yellow"], [&[], &[], &[]]);
}

#[test]
fn figure_4() {
    let mut bench = Bench::new(SqdSita::new(config()));
    three_of_whom_two_reach_the_cutoff(&mut bench);
    // Step 4: S2 may not follow yellow, and waits at lane 0.
    bench.reach_cutoff(2);
    bench.shows(["red", "orange", "-"], [&[], &["yellow"], &[]]);
    bench.arrive("green");
    bench.shows(["red", "orange", "green"], [&[], &["yellow"], &[]]);
}

#[test]
fn figure_4_interruptible() {
    let mut bench = Bench::new(IsqdSita::new(config()));
    three_of_whom_two_reach_the_cutoff(&mut bench);
    // S2 would have nothing to do: it breaks the bound and follows yellow.
    bench.reach_cutoff(2);
    assert!(bench.table.resumed);
    bench.shows(["red", "orange", "yellow"], [&[], &[], &[]]);
    // The next arrival takes the server of the youngest task of lane 1.
    bench.arrive("green");
    bench.shows(["red", "orange", "green"], [&[], &["yellow"], &[]]);
    // It waits at the head of its lane: whoever is free next goes on with it.
    bench.complete(0);
    bench.shows(["yellow", "orange", "green"], [&[], &[], &[]]);
}

/// Step 1 of Figure 5: red in lane 2 on S0, orange in lane 1 on S1, blue in lane 0 on S2; indigo and violet wait in lane
/// 0, yellow and green in lane 1.
fn figure_5_step_1<D: Discipline>(discipline: D) -> Bench<D> {
    let mut bench = Bench::new(discipline);
    ["red", "orange", "yellow", "green"].into_iter().for_each(|name| bench.arrive(name));
    bench.reach_cutoff(0);
    bench.reach_cutoff(0);
    bench.reach_cutoff(1);
    // S2 leaves yellow in lane 1, and green after it.
    bench.reach_cutoff(2);
    bench.reach_cutoff(2);
    ["blue", "indigo", "violet"].into_iter().for_each(|name| bench.arrive(name));
    bench.shows(["red", "orange", "blue"], [&["indigo", "violet"], &["yellow", "green"], &[]]);
    bench
}

/// Step 2a, and what it is good for.
fn longer_lanes_first<D: Discipline>(mut bench: Bench<D>) {
    // S0 goes to lane 1, though short tasks wait in lane 0.
    bench.complete(0);
    bench.shows(["yellow", "orange", "blue"], [&["indigo", "violet"], &["green"], &[]]);
    // So orange finds room in lane 2 when it gets there, and lane 1 still has a server: nobody starves.
    bench.reach_cutoff(1);
    bench.shows(["yellow", "orange", "blue"], [&["indigo", "violet"], &["green"], &[]]);
}

#[test]
fn figure_5() {
    longer_lanes_first(figure_5_step_1(SqdSita::new(config())));
}

#[test]
fn figure_5_interruptible() {
    longer_lanes_first(figure_5_step_1(IsqdSita::new(config())));
}
