//! A simulated clock, and a simulated service on one server: each reading of the clock takes some time, and nothing else does.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use caudal_load::clock::Clock;
use caudal_load::generator::{Live, Measured, Pace, Setup, generate};
use caudal_load::record::ClassRecord;
use caudal_load::run::{FORMAT, Mode, Run};
use caudal_load::schedule::Schedule;
use caudal_load::traffic::{Command, Traffic};
use caudal_load::transport::{Answer, Broken, Outcome, Transport};
use caudal_workload::{Arrivals, Service, ServiceSpec};

/// A clock that goes on by `step_ns` with each reading.
#[derive(Clone)]
pub(crate) struct SimulatedClock {
    now_ns: Rc<Cell<u64>>,
    step_ns: u64,
}

impl SimulatedClock {
    pub(crate) fn new(step_ns: u64) -> SimulatedClock {
        SimulatedClock { now_ns: Rc::new(Cell::new(0)), step_ns }
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

impl Clock for SimulatedClock {
    fn now_ns(&self) -> u64 {
        self.pass(self.step_ns);
        self.now_ns.get()
    }
}

/// A service on one server, first come, first served.
pub(crate) struct SimulatedService {
    clock: SimulatedClock,
    /// Every request takes so long.
    pub(crate) service_ns: u64,
    /// The service stands still for the first so many ns of each second.
    pub(crate) frozen_ns: u64,
    /// Every request of which the number, in the order of arrival, is a multiple of this is never answered.
    pub(crate) lost_every: Option<u64>,
    /// Sending a request costs the generator so much time.
    pub(crate) send_ns: u64,
    /// The outcome of every request.
    pub(crate) outcome: Outcome,
    arrived: u64,
    free_at_ns: u64,
    waiting: VecDeque<(u64, u32)>,
}

impl SimulatedService {
    pub(crate) fn new(clock: &SimulatedClock, service_ns: u64) -> SimulatedService {
        SimulatedService {
            clock: clock.clone(),
            service_ns,
            frozen_ns: 0,
            lost_every: None,
            send_ns: 0,
            outcome: Outcome::Done,
            arrived: 0,
            free_at_ns: 0,
            waiting: VecDeque::new(),
        }
    }

    /// The end of a service that begins at `start_ns` or as soon as the service does not stand still.
    fn end_of(&self, start_ns: u64) -> u64 {
        const SECOND_NS: u64 = 1_000_000_000;
        let awake = |at_ns: u64| at_ns.max(at_ns / SECOND_NS * SECOND_NS + self.frozen_ns);
        let end_ns = awake(start_ns) + self.service_ns;
        awake(end_ns)
    }
}

impl Transport for SimulatedService {
    fn send(&mut self, id: u32, _: Command) -> Result<(), Broken> {
        self.clock.pass(self.send_ns);
        self.arrived += 1;
        if self.lost_every.is_some_and(|every| self.arrived.is_multiple_of(every)) {
            return Ok(());
        }
        self.free_at_ns = self.end_of(self.free_at_ns.max(self.clock.now_ns.get()));
        self.waiting.push_back((self.free_at_ns, id));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    fn poll(&mut self, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        while let Some(&(at_ns, id)) = self.waiting.front().filter(|first| first.0 <= self.clock.now_ns.get())
        {
            assert!(at_ns > 0);
            self.waiting.pop_front();
            answers.push(Answer { id, outcome: self.outcome });
        }
        Ok(())
    }

    fn forget(&mut self, _: u32) {}
}

pub(crate) fn facebook() -> Service {
    ServiceSpec::named("facebook-usr").compile(Path::new("")).unwrap()
}

/// An open-loop run of a length in ms, of which the first tenth is a warm-up.
pub(crate) fn open(rate_per_s: f64, length_ms: u64, seed: u64) -> Setup {
    let (service, end_ns) = (facebook(), length_ms * 1_000_000);
    Setup {
        pace: Pace::Open(Schedule::new(&service, &Arrivals::poisson(), rate_per_s, seed, end_ns)),
        traffic: Traffic::cache(&service, 1_000, 0.0, 10, seed),
        timeout_ns: 1_000_000_000,
        warm_up_ns: end_ns / 10,
        end_ns,
        capacity: 1 << 20,
    }
}

pub(crate) fn run(setup: Setup, clock: &SimulatedClock, service: &mut SimulatedService) -> Measured {
    generate(setup, clock, service, &Live::default(), &AtomicBool::new(false))
}

/// What is kept of a run.
pub(crate) fn kept(setup: &Setup, rate_per_s: f64, seed: u64, measured: Measured) -> Run {
    Run {
        load_format: FORMAT,
        target: "a simulated service".to_owned(),
        workload: "facebook-usr".to_owned(),
        arrivals: "poisson".to_owned(),
        mode: Mode::Open { rate_per_s },
        seeds: vec![seed],
        connections: 1,
        warm_up_ns: setup.warm_up_ns,
        measured_ns: setup.end_ns - setup.warm_up_ns,
        timeout_ns: setup.timeout_ns,
        cut_short: None,
        first_failure: None,
        classes: measured.classes,
        own: measured.own,
    }
}

/// A run of a service that takes `service_ns` for each request.
pub(crate) fn fixed(rate_per_s: f64, length_ms: u64, seed: u64, service_ns: u64) -> Run {
    let clock = SimulatedClock::new(400);
    let setup = open(rate_per_s, length_ms, seed);
    let measured = run(setup.clone(), &clock, &mut SimulatedService::new(&clock, service_ns));
    kept(&setup, rate_per_s, seed, measured)
}

pub(crate) fn only(classes: &[ClassRecord]) -> &ClassRecord {
    assert_eq!(classes.len(), 1);
    &classes[0]
}
