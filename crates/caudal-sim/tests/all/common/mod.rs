//! What several test files share: small systems as values, drawn at random, and watching a run.
// Each test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod strategies;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_config::coherence::{self, SystemHost};
use caudal_config::{Costs, Pools, System};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::discipline::lanes::Broken;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::random::Draw;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_sim::engine::{Event, Length, Observer, Outcome, Run, ShortCuts, simulate};
use caudal_workload::{
    ArrivalSpec, Arrivals, ClassSpec, DistributionSpec, GapPhases, Service, ServiceSpec, TimestampColumns,
    TimestampFile, Unit,
};

/// Service times.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    /// All equal, in ns.
    Constant(u64),
    /// One of these, in ns, each as likely and a class of its own.
    Grid(Vec<u64>),
    /// Exponential with this mean in ns.
    Exponential(u64),
}

/// Arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gaps {
    Poisson,
    /// Equal gaps in whole ns.
    Constant,
    /// Gamma, with this squared coefficient of variation.
    Gamma(f64),
    /// Two balanced phases, with this squared coefficient of variation.
    HyperExponential(f64),
    /// Recorded times, all multiples of this many ns; several at one time are common.
    Grid(u64),
    /// The same, and they end with the last measured request.
    GridThatEnds(u64),
}

/// A small system and what it is given to do.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) cores: u32,
    pub(crate) allocated: u32,
    pub(crate) pools: Pools,
    pub(crate) dispatch: DispatchConfig,
    pub(crate) rebalance: RebalanceConfig,
    pub(crate) discipline: DisciplineConfig,
    pub(crate) allocation: AllocationConfig,
    pub(crate) costs: Costs,
    pub(crate) sizes: Sizes,
    pub(crate) gaps: Gaps,
    pub(crate) load: f64,
    pub(crate) seed: u64,
    pub(crate) length: Length,
}

/// On a few lines: proptest shows cases with a line for every number.
impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { cores, allocated, pools, dispatch, rebalance, discipline, allocation, .. } = self;
        let Case { costs, sizes, gaps, load, seed, length, .. } = self;
        writeln!(
            f,
            "Case {{ cores: {cores}, allocated: {allocated}, pools: {pools:?}, load: {load:?}, seed: {seed},"
        )?;
        writeln!(f, "    sizes: {sizes:?}, gaps: {gaps:?}, length: {length:?},")?;
        writeln!(f, "    dispatch: {dispatch:?}, rebalance: {rebalance:?}, discipline: {discipline:?},")?;
        writeln!(f, "    allocation: {allocation:?},")?;
        write!(f, "    costs: {costs:?} }}")
    }
}

/// A [`Case`], ready to run.
pub(crate) struct Ready {
    pub(crate) system: System,
    pub(crate) costs: Costs,
    pub(crate) service: Service,
    pub(crate) arrivals: Arrivals,
    pub(crate) mean_gap_ps: f64,
    pub(crate) seed: u64,
    pub(crate) length: Length,
}

impl Case {
    /// One queue, first come first served, no costs; exponential service of 1 us, Poisson arrivals.
    pub(crate) fn plain(cores: u32, load: f64, measured: u64) -> Case {
        Case {
            cores,
            allocated: cores,
            pools: Pools::Equal(1),
            dispatch: DispatchConfig::Random,
            rebalance: RebalanceConfig::None,
            discipline: DisciplineConfig::Fcfs,
            allocation: AllocationConfig::Static,
            costs: Costs::FREE,
            sizes: Sizes::Exponential(1_000),
            gaps: Gaps::Poisson,
            load,
            seed: 1,
            length: Length { warm_up: measured / 10, measured },
        }
    }

    pub(crate) fn ready(&self) -> Ready {
        let system = System {
            cores_allocated: self.allocated,
            pools: self.pools.clone(),
            dispatch: self.dispatch,
            rebalance: self.rebalance,
            discipline: self.discipline,
            allocation: self.allocation,
            ..System::single_queue(self.cores)
        };
        let wrong = coherence::check(&system, &self.costs, SystemHost::Simulator);
        assert!(wrong.is_empty(), "{self:?}: {}", wrong[0]);
        let service = self.sizes.compile();
        let gap_ps = service.mean_ps() / (self.load * f64::from(self.cores));
        let mean_gap_ps = match self.gaps {
            Gaps::Constant => (gap_ps / 1e3).round().max(1.0) * 1e3,
            _ => gap_ps,
        };
        let arrivals = self.arrivals(mean_gap_ps);
        Ready {
            system,
            costs: self.costs,
            service,
            arrivals,
            mean_gap_ps,
            seed: self.seed,
            length: self.length,
        }
    }

    fn arrivals(&self, mean_gap_ps: f64) -> Arrivals {
        let Length { warm_up, measured } = self.length;
        let spec = match self.gaps {
            Gaps::Poisson => ArrivalSpec::Poisson,
            Gaps::Constant => ArrivalSpec::Constant,
            Gaps::Gamma(scv) => ArrivalSpec::Gamma { scv },
            Gaps::HyperExponential(scv) => ArrivalSpec::HyperExponential { phases: GapPhases::Scv(scv) },
            // Longer than any run goes on after the last measured request.
            Gaps::Grid(step_ns) => {
                return recorded(&grid_times(
                    self.seed,
                    mean_gap_ps,
                    step_ns,
                    warm_up + 2 * measured + 1_100,
                ));
            }
            Gaps::GridThatEnds(step_ns) => {
                return recorded(&grid_times(self.seed, mean_gap_ps, step_ns, warm_up + measured));
            }
        };
        spec.compile(".".as_ref()).expect("a sound process")
    }
}

impl Sizes {
    pub(crate) fn compile(&self) -> Service {
        let constant = |ns| DistributionSpec::Constant { value: Picos::from_nanos(ns) };
        let distribution = match self {
            Sizes::Constant(ns) => constant(*ns),
            Sizes::Exponential(ns) => DistributionSpec::Exponential { mean: Picos::from_nanos(*ns) },
            Sizes::Grid(sizes) => {
                let class = |(number, &ns): (usize, &u64)| ClassSpec {
                    name: format!("c{number}"),
                    weight: 1.0 / sizes.len() as f64,
                    service: ServiceSpec::Distribution(constant(ns)),
                };
                DistributionSpec::Mixture { classes: sizes.iter().enumerate().map(class).collect() }
            }
        };
        ServiceSpec::Distribution(distribution).compile(".".as_ref()).expect("sound service times")
    }
}

/// Arrival times in ns with geometric gaps of a multiple of `step_ns`; the first is 0.
fn grid_times(seed: u64, mean_gap_ps: f64, step_ns: u64, count: u64) -> Vec<u64> {
    let steps = mean_gap_ps / (step_ns as f64 * 1e3);
    let mut draw = Draw::new(seed, 99);
    let mut now_ns = 0;
    let gap = |draw: &mut Draw| {
        let unit = (draw.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        // A geometric number of mean `steps`.
        ((1.0 - unit).ln() / (steps / (1.0 + steps)).ln()).floor() as u64
    };
    let mut times = vec![0];
    for _ in 1..count {
        now_ns += gap(&mut draw) * step_ns;
        times.push(now_ns);
    }
    // Two equal ones would have no rate.
    *times.last_mut().expect("not empty") += 1;
    times
}

/// Arrivals at these times in ns.
pub(crate) fn recorded(times_ns: &[u64]) -> Arrivals {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let name = format!("arrivals-{}-{}.csv", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let rows: Vec<String> = times_ns.iter().map(ToString::to_string).collect();
    std::fs::write(&path, rows.join("\n")).expect("room for a small file");
    let columns = TimestampColumns { unit: Some(Unit::Ns), ..TimestampColumns::default() };
    let file = TimestampFile { file: path.clone(), columns, scale: false };
    let arrivals = ArrivalSpec::File(file).compile(".".as_ref()).expect("sound timestamps");
    std::fs::remove_file(&path).expect("it was just written");
    arrivals
}

impl Ready {
    pub(crate) fn run(&self, stepwise: bool) -> Run<'_> {
        Run {
            system: &self.system,
            costs: &self.costs,
            service: &self.service,
            arrivals: &self.arrivals,
            mean_gap_ps: self.mean_gap_ps,
            seed: self.seed,
            length: self.length,
            pilot: false,
            waits: false,
            short_cuts: if stepwise { ShortCuts::STEPWISE } else { ShortCuts::ALL },
            stop: None,
        }
    }

    /// Runs it in the engine and asks after every event whether the pools are as their discipline promises: the first
    /// time that one is not, in a way that `counts`.
    pub(crate) fn inspect(&self, counts: impl Fn(Broken) -> bool) -> Option<String> {
        let mut found = None;
        simulate(&self.run(true), Inspect(&mut found, counts));
        found.map(|(now_ps, pool, promise)| format!("{now_ps} ps, pool {pool}: {promise}"))
    }

    /// Runs it in the engine and writes down all that can be seen.
    pub(crate) fn watch(&self, stepwise: bool) -> (Outcome, Vec<(u64, Event)>) {
        let mut log = Vec::new();
        let outcome = simulate(&self.run(stepwise), Watch(&mut log));
        (outcome, log)
    }
}

struct Watch<'a>(&'a mut Vec<(u64, Event)>);

impl Observer for Watch<'_> {
    fn observe(&mut self, now_ps: u64, event: Event) {
        self.0.push((now_ps, event));
    }
}

/// The first time at which a pool is not as its discipline promises.
struct Inspect<'a, F>(&'a mut Option<(u64, u32, Broken)>, F);

impl<F: Fn(Broken) -> bool> Observer for Inspect<'_, F> {
    fn observe(&mut self, _now_ps: u64, _event: Event) {}

    fn checks(&self) -> bool {
        self.0.is_none()
    }

    fn broken(&mut self, now_ps: u64, pool: u32, promise: Broken) {
        if (self.1)(promise) {
            self.0.get_or_insert((now_ps, pool, promise));
        }
    }
}
