//! The event engine: hosts for the policies of `caudal-policy` in virtual time.
//!
//! | file | what |
//! | --- | --- |
//! | `host` | the event loop, arrivals and dispatch |
//! | `balance`, `allocate` | carrying out rebalance and allocation policies |
//! | `scheduling` | what a host asks of its pools; `step`: any discipline, an event a slice; `rings`: processor sharing by leaps; `fluid`: the limit of small quanta |
//! | `core` | clock, workers, tasks and books, shared by all |
//! | `tree`, `lane`, `bits`, `tasks`, `open` | the data structures |
//! | `source`, `record`, `window` | requests in, statistics out |

mod allocate;
mod balance;
mod behind;
pub(crate) mod bits;
mod core;
mod fluid;
mod host;
mod lane;
mod observe;
mod open;
mod record;
mod rings;
mod scheduling;
mod source;
mod step;
mod tasks;
pub(crate) mod tree;
mod window;

use caudal_config::{Costs, Pools, System};
use caudal_policy::allocation::Triggered;
use caudal_policy::discipline::round_robin::Turns;
use caudal_policy::discipline::{
    Discipline, DisciplineConfig, Fcfs, Las, ProcessorSharing, ProcessorSharingConfig, Srpt,
};
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::{AnyRebalance, NoRebalance, Rebalance, RebalanceConfig};
use caudal_stats::OverloadCheck;
use caudal_stats::mser::Mser5;
use caudal_workload::{Arrivals, Service};

use self::core::{Asks, Core};
use self::fluid::{Fluid, Sharing};
use self::host::{Host, Parts};
use self::record::Recorder;
use self::rings::Rings;
use self::scheduling::Scheduling;
use self::source::Source;
use self::step::Step;

pub use self::core::Account;
pub use self::host::Length;
pub use self::observe::{Event, Observer, Unwatched};
pub use self::record::{ClassStats, SLOWDOWN_ONE};

/// One replication: a system, its load, a seed and a length.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The system.
    pub system: &'a System,
    /// What its overheads are.
    pub costs: &'a Costs,
    /// Service times.
    pub service: &'a Service,
    /// When requests arrive.
    pub arrivals: &'a Arrivals,
    /// Mean time between arrivals, in ps.
    pub mean_gap_ps: f64,
    /// Seed of all randomness.
    pub seed: u64,
    /// How many requests.
    pub length: Length,
    /// Keep the series from which the end of the warm-up is found?
    pub pilot: bool,
    /// Use only the pools that take an event for each slice.
    pub stepwise: bool,
}

/// What came out of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Statistics of the measured requests, by class.
    pub classes: Vec<ClassStats>,
    /// Books of the time in which the measured requests arrived.
    pub account: Account,
    /// Time from the first to past the last measured arrival, in ps.
    pub span_ps: u64,
    /// When the run ended.
    pub end_ps: u64,
    /// Did it keep up?
    pub overload: OverloadCheck,
    /// Measured requests that had not completed.
    pub unfinished: u64,
    /// Measured requests that had arrived.
    pub arrived: u64,
    /// The series of a pilot run.
    pub series: Option<Mser5>,
}

/// Simulates `run`.
pub fn simulate<O: Observer>(run: &Run<'_>, observer: O) -> Outcome {
    match run.system.rebalance {
        RebalanceConfig::None => with_rebalance(run, NoRebalance, observer),
        config => with_rebalance(run, AnyRebalance::from(config), observer),
    }
}

fn with_rebalance<R: Rebalance, O: Observer>(run: &Run<'_>, rebalance: R, observer: O) -> Outcome {
    let Run { system, costs, .. } = run;
    match system.discipline {
        DisciplineConfig::Fcfs => go(run, step(run, || Fcfs, true), rebalance, observer),
        DisciplineConfig::Srpt => go(run, step(run, || Srpt, false), rebalance, observer),
        DisciplineConfig::Las(config) if config.quantum.0 == 0 => {
            go(run, fluid(run, Sharing::Least), rebalance, observer)
        }
        DisciplineConfig::ProcessorSharing(config) if config.quantum.0 == 0 => {
            go(run, fluid(run, Sharing::Equal), rebalance, observer)
        }
        DisciplineConfig::Las(config) => go(run, step(run, || Las::new(config), false), rebalance, observer),
        DisciplineConfig::ProcessorSharing(config) => {
            if system.pools == Pools::PerCore && !run.stepwise && costs.dispatcher_quantum.0 == 0 {
                let rings = Rings::new(system.cores as usize, turns(&config, costs), costs.probe_factor);
                return go(run, rings, rebalance, observer);
            }
            go(run, step(run, || ProcessorSharing::new(config), false), rebalance, observer)
        }
    }
}

fn sizes(system: &System) -> Vec<u32> {
    system.pools.sizes(system.cores).expect("a system that was checked shares out its cores")
}

fn step<D: Discipline>(run: &Run<'_>, make: impl Fn() -> D, behind: bool) -> Step<D> {
    let (overrun_ps, stretch) = (run.costs.overrun.0, run.costs.probe_factor);
    Step::new(&sizes(run.system), make, overrun_ps, stretch, run.service.classes().len(), behind)
}

fn fluid(run: &Run<'_>, sharing: Sharing) -> Fluid {
    Fluid::new(&sizes(run.system), sharing, run.costs.probe_factor)
}

fn turns(config: &ProcessorSharingConfig, costs: &Costs) -> Turns {
    Turns {
        slice_ps: config.quantum.0.saturating_add(costs.overrun.0),
        switch_ps: costs.preemption.0,
        fresh: config.fresh,
        lone: config.lone,
        resident_max: config.resident_max.unwrap_or(u32::MAX),
    }
}

fn go<S: Scheduling, R: Rebalance, O: Observer>(run: &Run<'_>, sched: S, rebalance: R, observer: O) -> Outcome {
    let asks = match run.system.dispatch {
        DispatchConfig::Jsq(_) | DispatchConfig::Jbsq(_) => Asks::Shortest,
        DispatchConfig::PowerOfK(_) => Asks::Counts,
        DispatchConfig::Random | DispatchConfig::RoundRobin | DispatchConfig::LeastWork => Asks::Nothing,
    };
    let recorder = Recorder::new(run.service.classes().len(), run.pilot);
    let core = Core::new(&sizes(run.system), *run.costs, asks, recorder, observer);
    let mut host = Host::new(Parts {
        core,
        sched,
        rebalance,
        dispatch: run.system.dispatch.into(),
        source: Source::new(run.arrivals.sampler(run.seed, run.mean_gap_ps), run.service.sampler(run.seed)),
        allocation: run.system.allocation.triggers().map(Triggered::new),
        cores_start: run.system.cores_allocated,
        long_ps: run.service.mean_ps() as u64,
        seed: run.seed,
        length: run.length,
    });
    host.run();
    host.into_outcome()
}

impl<S: Scheduling, R: Rebalance, O: Observer> Host<S, R, O> {
    fn into_outcome(self) -> Outcome {
        let Host { core, window, .. } = self;
        let mut classes = core.recorder.classes;
        for (class, &behind_ps) in classes.iter_mut().zip(&window.behind_ps) {
            class.behind_long_ps = Some(behind_ps);
        }
        let recorded: u64 = classes.iter().map(|class| class.latency_ps.count()).sum();
        Outcome {
            classes,
            account: window.account,
            span_ps: window.span_ps,
            end_ps: core.now_ps,
            overload: window.check,
            unfinished: core.measured_left,
            arrived: recorded + core.measured_left,
            series: core.recorder.pilot,
        }
    }
}
