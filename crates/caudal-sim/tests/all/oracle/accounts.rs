//! The measured window: when it begins and ends, and what is written down about it.

use caudal_sim::engine::{Account, Event, Length, SLOWDOWN_ONE};
use caudal_stats::{Histogram, OverloadCheck};

use super::machine::{OracleMachine, Task};

/// Totals of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassTotals {
    pub(crate) latency_ps: Histogram,
    pub(crate) slowdown: Histogram,
    pub(crate) queued_ps: u128,
    pub(crate) behind_long_ps: Option<f64>,
    pub(crate) preempted_ps: u128,
    pub(crate) overhead_ps: u128,
    pub(crate) probe_ps: u128,
    pub(crate) preemptions: u64,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Everything that an observer of the engine would see.
    pub(crate) events: Vec<(u64, Event)>,
    pub(crate) classes: Vec<ClassTotals>,
    pub(crate) account: Account,
    pub(crate) span_ps: u64,
    pub(crate) end_ps: u64,
    pub(crate) overload: OverloadCheck,
    /// In ns of work.
    pub(crate) overload_work: OverloadCheck,
    pub(crate) unfinished: u64,
    pub(crate) arrived: u64,
}

pub(crate) struct Accounts {
    length: Length,
    patience_ps: u64,
    give_up: u64,
    marks_passed: u32,
    start_ps: u64,
    start: Account,
    behind_start_ps: Vec<f64>,
    half_completed: u64,
    check: OverloadCheck,
    half: Account,
    work: OverloadCheck,
    end: Option<(u64, Account)>,
    /// Time behind long tasks so far, by class, and at the end of the window.
    behind_ps: Vec<f64>,
    behind_end_ps: Vec<f64>,
    classes: Vec<ClassTotals>,
    pub(crate) measured_arrived: u64,
    measured_completed: u64,
    /// Longer than this is long.
    long_ps: u64,
    counts_behind: bool,
}

impl Accounts {
    pub(crate) fn new(
        (length, patience_ps): (Length, u64),
        classes: usize,
        long_ps: u64,
        counts_behind: bool,
    ) -> Accounts {
        Accounts {
            length,
            patience_ps,
            give_up: length.warm_up + 2 * length.measured + 1000,
            marks_passed: 0,
            start_ps: 0,
            start: Account::default(),
            behind_start_ps: vec![0.0; classes],
            half_completed: 0,
            check: OverloadCheck::default(),
            half: Account::default(),
            work: OverloadCheck::default(),
            end: None,
            behind_ps: vec![0.0; classes],
            behind_end_ps: vec![0.0; classes],
            classes: vec![ClassTotals::default(); classes],
            measured_arrived: 0,
            measured_completed: 0,
            long_ps,
            counts_behind,
        }
    }

    fn is_measured(&self, number: u64) -> bool {
        (self.length.warm_up..self.length.warm_up + self.length.measured).contains(&number)
    }

    /// Adds up what `span_ps` more of the machine as it is costs.
    pub(crate) fn pass(&mut self, machine: &mut OracleMachine, span_ps: u64) {
        let count =
            |f: fn(&super::machine::Worker) -> bool| machine.workers.iter().filter(|w| f(w)).count() as u128;
        let (held, on_their_way) = (count(|w| w.held), count(|w| w.held && !w.open));
        machine.account.held_ps += u128::from(span_ps) * held;
        machine.account.allocating_ps += u128::from(span_ps) * on_their_way;
        if !self.counts_behind {
            return;
        }
        for pool in 0..machine.pools.len() {
            let workers = machine.workers_of(pool);
            let is_long = |worker: &usize| {
                machine.running(*worker).is_some_and(|task| machine.tasks[task].service_ps > self.long_ps)
            };
            let share = workers.filter(is_long).count() as f64 / machine.sharers(pool).max(1) as f64;
            for task in machine.waiting(pool) {
                self.behind_ps[machine.tasks[task].class as usize] += share * span_ps as f64;
            }
        }
    }

    fn snapshot(machine: &OracleMachine) -> Account {
        Account { busy_ps: machine.work_done_ps(), ..machine.account }
    }

    /// Request `number` is about to arrive; `true` if the run is over.
    pub(crate) fn before_arrival(&mut self, number: u64, machine: &OracleMachine) -> bool {
        let Length { warm_up, measured } = self.length;
        let marks = [warm_up, warm_up + measured / 2, warm_up + measured * 3 / 4, warm_up + measured];
        let completed = machine.account.completed;
        let mark = marks.get(self.marks_passed as usize).copied().unwrap_or(self.give_up);
        let all_done = self.measured_completed == measured;
        if number < mark {
            return self.end.is_some() && all_done;
        }
        self.marks_passed += 1;
        match self.marks_passed {
            1 => {
                (self.start_ps, self.start) = (machine.now_ps, Accounts::snapshot(machine));
                self.behind_start_ps = self.behind_ps.clone();
            }
            2 => {
                (self.half_completed, self.check.backlog_start) = (completed, number - completed);
                self.half = Accounts::snapshot(machine);
                self.work.backlog_start = backlog_ns(&self.half);
            }
            3 => {
                self.check.backlog_middle = number - completed;
                self.work.backlog_middle = backlog_ns(&Accounts::snapshot(machine));
            }
            4 => {
                self.close(machine);
                self.check.arrivals = measured - measured / 2;
                self.check.completions = completed - self.half_completed;
                self.check.backlog_end = number - completed;
                let end = Accounts::snapshot(machine);
                self.work.arrivals = ((end.offered_ps - self.half.offered_ps) / 1000) as u64;
                self.work.completions = ((end.busy_ps - self.half.busy_ps) / 1000) as u64;
                self.work.backlog_end = backlog_ns(&end);
                return self.check.is_overloaded() || all_done;
            }
            _ => {
                // Every thousand arrivals from then on.
                self.give_up = number + 1000;
                let closed_ps = self.end.as_ref().map_or(0, |end| end.0);
                return all_done || machine.now_ps >= closed_ps.saturating_add(self.patience_ps);
            }
        }
        false
    }

    pub(crate) fn close(&mut self, machine: &OracleMachine) {
        if self.end.is_none() {
            self.end = Some((machine.now_ps, Accounts::snapshot(machine)));
            self.behind_end_ps = self.behind_ps.clone();
        }
    }

    pub(crate) fn arrived(&mut self, number: u64) {
        self.measured_arrived += u64::from(self.is_measured(number));
    }

    /// No measured request is in the system.
    pub(crate) fn none_left(&self) -> bool {
        self.measured_completed == self.measured_arrived
    }

    pub(crate) fn completed(&mut self, number: u64, task: &Task, now_ps: u64) {
        if !self.is_measured(number) {
            return;
        }
        self.measured_completed += 1;
        let sojourn_ps = now_ps - task.arrival_ps;
        let queued_ps = task.first_ps.expect("it ran") - task.arrival_ps;
        let class = &mut self.classes[task.class as usize];
        class.latency_ps.record(sojourn_ps);
        let slowdown = u128::from(sojourn_ps) * u128::from(SLOWDOWN_ONE) / u128::from(task.service_ps);
        class.slowdown.record(slowdown as u64);
        class.queued_ps += u128::from(queued_ps);
        class.overhead_ps += u128::from(task.overhead_ps);
        class.probe_ps += u128::from(task.work_ps - task.service_ps);
        class.preempted_ps += u128::from(sojourn_ps - queued_ps - task.overhead_ps - task.work_ps);
        class.preemptions += task.preemptions;
    }

    pub(crate) fn into_record(self, machine: OracleMachine) -> Record {
        let Accounts { mut classes, start, start_ps, end, .. } = self;
        let behind = self.behind_end_ps.iter().zip(&self.behind_start_ps);
        for (class, (end_ps, start_ps)) in classes.iter_mut().zip(behind) {
            class.behind_long_ps = self.counts_behind.then_some(end_ps - start_ps);
        }
        let (close_ps, close) = end.unwrap_or((start_ps, start));
        Record {
            events: machine.log,
            classes,
            account: difference(&close, &start),
            span_ps: close_ps - start_ps,
            end_ps: machine.now_ps,
            overload: self.check,
            overload_work: self.work,
            unfinished: self.measured_arrived - self.measured_completed,
            arrived: self.measured_arrived,
        }
    }
}

/// Work that has arrived and is not done, in ns.
fn backlog_ns(account: &Account) -> u64 {
    ((account.offered_ps - account.busy_ps) / 1000) as u64
}

fn difference(end: &Account, start: &Account) -> Account {
    Account {
        given_up: 0,
        given_up_ps: 0,
        busy_ps: end.busy_ps - start.busy_ps,
        offered_ps: end.offered_ps - start.offered_ps,
        held_ps: end.held_ps - start.held_ps,
        allocating_ps: end.allocating_ps - start.allocating_ps,
        looking_ps: end.looking_ps - start.looking_ps,
        moving_ps: end.moving_ps - start.moving_ps,
        placing_ps: end.placing_ps - start.placing_ps,
        switching_ps: end.switching_ps - start.switching_ps,
        stalled_ps: end.stalled_ps - start.stalled_ps,
        preemptions: end.preemptions - start.preemptions,
        steals: end.steals - start.steals,
        steals_empty: end.steals_empty - start.steals_empty,
        sheds: end.sheds - start.sheds,
        grants: end.grants - start.grants,
        grants_refused: end.grants_refused - start.grants_refused,
        completed: end.completed - start.completed,
    }
}
