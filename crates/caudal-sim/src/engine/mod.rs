//! The event engine: hosts for the policies of `caudal-policy` in virtual time.
//!
//! | file | what |
//! | --- | --- |
//! | `host` | the event loop, arrivals and dispatch |
//! | `balance`, `allocate` | carrying out rebalance and allocation policies |
//! | `any` | all disciplines as one type, for combinations that are simulated seldom |
//! | `scheduling` | what a host asks of its pools; `step`: any discipline, an event a slice; `lines`: first come first served; `rings`: processor sharing by leaps; `fluid`: the limit of small quanta |
//! | `core` | clock, workers, tasks and books, shared by all |
//! | `central` | instead of a host: one first-come-first-served queue, by starts |
//! | `contexts` | instead of a host: pools that nobody takes from, and cores with hardware contexts |
//! | `forks` | instead of a host: requests that fork, a deque a worker |
//! | `stealing`, `thieves` | instead of a host: a queue a core, work stealing, nothing else |
//! | `keys`, `tree`, `walks`, `bits`, `tasks`, `open`, `long` | the data structures |
//! | `replay` | the same pools and views, driven by the log of a runtime |
//! | `source`, `stalls`, `record`, `window` | requests in, cores away, statistics out |

mod allocate;
mod any;
mod balance;
pub(crate) mod bits;
mod central;
mod contexts;
mod core;
mod fluid;
mod forks;
mod host;
mod keys;
mod lines;
mod long;
mod observe;
mod open;
mod record;
pub(crate) mod replay;
mod rings;
mod scheduling;
mod source;
mod stalls;
mod stealing;
mod step;
mod tasks;
mod thieves;
pub(crate) mod tree;
mod walks;
mod window;

use std::sync::atomic::AtomicBool;

use caudal_config::{ContextsConfig, Costs, Pools, System};
use caudal_policy::allocation::{Allocation, Triggered};
use caudal_policy::discipline::round_robin::Turns;
use caudal_policy::discipline::{
    Discipline, DisciplineConfig, Fresh, IsqdSita, Las, PreemptiveSita, ProcessorSharing,
    ProcessorSharingConfig, SqdSita, Srpt,
};
use caudal_policy::dispatch::{AnyDispatch, Dispatch, DispatchConfig};
use caudal_policy::parallelism::Parallelism;
use caudal_policy::rebalance::{
    AnyRebalance, NoRebalance, Rebalance, RebalanceConfig, WorkStealing, WorkStealingConfig,
};
use caudal_stats::OverloadCheck;
use caudal_stats::mser::Mser5;
use caudal_workload::{Arrivals, Service};

use self::any::{AnyDiscipline, has_ties};
use self::central::Central;
use self::contexts::{Alone, Contexts, Machine, Shared};
use self::core::Core;
use self::fluid::{Fluid, Sharing};
use self::forks::built_in::{forks, forks_under};
use self::host::{Host, Parts};
use self::lines::Lines;
use self::observe::Sink;
use self::record::Recorder;
use self::rings::Rings;
use self::scheduling::Scheduling;
use self::source::Source;
use self::stealing::Stealing;
use self::step::Step;
use self::thieves::{CHECK_MAX_PS, FEW, Few, Many, Thieves};
use self::window::Window;

pub use self::core::Account;
pub use self::host::Length;
pub use self::observe::{Event, Observer, Unwatched};
pub use self::record::{ClassStats, SLOWDOWN_ONE};
pub use self::window::{Backlog, LOOKS};

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
    /// Keep how long each request waited ([`ClassStats::wait_ps`])?
    pub waits: bool,
    /// Use only the pools that take an event for each slice.
    pub stepwise: bool,
    /// Ends a run of requests that fork at its next arrival, when it is set: what comes out is worth nothing. Other runs do
    /// not look at it: their requests take some tens of nanoseconds each, not tens of microseconds.
    pub stop: Option<&'a AtomicBool>,
}

/// How many times the longest service time a run waits for the last measured requests, if they are that few.
const PATIENCE: f64 = 10.0;

impl Run<'_> {
    /// How long arrivals go on at least, in ps, for measured requests that have not completed by the end of the measured
    /// part: on many cores, that part may be shorter than a service time.
    pub fn patience_ps(&self) -> u64 {
        // All but one in a million are shorter than this.
        (self.service.quantile(0.999_999) as f64 * self.costs.probe_factor * PATIENCE) as u64
    }
}

/// How many events a run has taken. Hosts that do the same may take different numbers of them: they are no part of what came out,
/// and are not shown with it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Events(pub u64);

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
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
    /// Events that were simulated, arrivals included, warm-up and drain too: what the run has taken, whatever the host's speed.
    pub events: Events,
    /// Did it keep up, counted in requests?
    pub overload: OverloadCheck,
    /// Did it keep up, counted in ns of work? Of one run this says little where few requests make most of
    /// the work; the majority of several does.
    pub overload_work: OverloadCheck,
    /// Did the cores work, for requests or for the scheduler, nearly all the time that they were here, or wait for
    /// a dispatcher? Where they had time to spare, work that has piled up was a burst.
    pub no_time_to_spare: bool,
    /// Measured requests that had not completed.
    pub unfinished: u64,
    /// Measured requests that had arrived.
    pub arrived: u64,
    /// The series of a pilot run.
    pub series: Option<Mser5>,
    /// What had arrived and was not done, from the first measured request to past the last, at equal distances; fewer looks
    /// where the run is short or ended early, none where nobody looks.
    pub backlog: Vec<Backlog>,
}

/// Simulates `run` and shows `observer` what happens.
pub fn simulate<O: Observer>(run: &Run<'_>, mut observer: O) -> Outcome {
    if observer.watches() { watched(run, &mut observer) } else { unwatched(run) }
}

fn unwatched(run: &Run<'_>) -> Outcome {
    if let Some(config) = &run.system.contexts {
        return on_contexts(run, config, Unwatched);
    }
    if run.system.parallelism.forks() {
        return forks(run, Unwatched);
    }
    if is_central(run) {
        return central(run);
    }
    match (run.system.rebalance, run.system.discipline) {
        (RebalanceConfig::None, DisciplineConfig::SqdSita(config)) if is_left_alone(run) => {
            alone(run, || SqdSita::new(config))
        }
        (RebalanceConfig::None, DisciplineConfig::IsqdSita(config)) if is_left_alone(run) => {
            alone(run, || IsqdSita::new(config))
        }
        (RebalanceConfig::None, DisciplineConfig::Fcfs) => built_in(run, lines(run), NoRebalance, Unwatched),
        (RebalanceConfig::None, DisciplineConfig::Srpt) => {
            built_in(run, step(run, || Srpt), NoRebalance, Unwatched)
        }
        (RebalanceConfig::None, DisciplineConfig::Las(config)) if config.quantum.0 > 0 => {
            built_in(run, step(run, || Las::new(config)), NoRebalance, Unwatched)
        }
        (RebalanceConfig::None, DisciplineConfig::PreemptiveSita(config)) => {
            built_in(run, step(run, || PreemptiveSita::new(config)), NoRebalance, Unwatched)
        }
        (RebalanceConfig::None, DisciplineConfig::ProcessorSharing(config)) if may_leap(run, &config) => {
            built_in(run, rings(run, &config), NoRebalance, Unwatched)
        }
        (RebalanceConfig::None, DisciplineConfig::ProcessorSharing(config)) if config.quantum.0 > 0 => {
            built_in(run, step(run, || ProcessorSharing::new(config)), NoRebalance, Unwatched)
        }
        (RebalanceConfig::WorkStealing(config), DisciplineConfig::Fcfs) if is_plain_stealing(run) => {
            stealing(run, config)
        }
        (RebalanceConfig::WorkStealing(config), DisciplineConfig::Fcfs) => {
            built_in(run, lines(run), WorkStealing::new(config), Unwatched)
        }
        (rebalance, DisciplineConfig::ProcessorSharing(config))
            if config.quantum.0 > 0 && !may_leap(run, &config) =>
        {
            built_in(
                run,
                step(run, || ProcessorSharing::new(config)),
                AnyRebalance::from(rebalance),
                Unwatched,
            )
        }
        _ => by_discipline(run, Unwatched),
    }
}

/// Is it one queue, first come first served, with nothing else to it? Then no task needs to be kept.
fn is_central(run: &Run<'_>) -> bool {
    let Run { system, .. } = run;
    let one_queue = sizes(system).len() == 1 && !AnyDispatch::from(system.dispatch).holds();
    let plain = system.discipline == DisciplineConfig::Fcfs && system.rebalance == RebalanceConfig::None;
    one_queue && plain && is_unchanging(run) && !run.pilot
}

/// Are there the same cores all the time, no dispatcher that takes time, and none of the costs that only hosts account for?
fn is_unchanging(run: &Run<'_>) -> bool {
    let Run { system, costs, .. } = run;
    let same_cores = system.allocation.triggers().is_none() && system.cores_allocated == system.cores;
    let no_dispatcher = costs.dispatcher.0 == 0 && costs.dispatcher_quantum.0 == 0;
    same_cores && no_dispatcher && costs.is_plain() && !run.stepwise
}

/// Do its pools have to do with nobody but their requests, which come to them without a look at them?
fn is_left_alone(run: &Run<'_>) -> bool {
    use DispatchConfig::{Random, RoundRobin, Sita};
    is_unchanging(run) && matches!(run.system.dispatch, Random | RoundRobin | Sita(_))
}

fn alone<D: Discipline>(run: &Run<'_>, make: impl Fn() -> D) -> Outcome {
    let cores = run.system.cores;
    let parts = contexts_parts(run, Alone { cores }, Unwatched);
    // Keys and their tree of a known size take a seventh of the instructions; others are too rare to be compiled for each.
    match cores {
        ..=8 => Contexts::<_, _, _, 3>::new(parts, make).run(),
        _ => Contexts::<_, _, _, 0>::new(parts, make).run(),
    }
}

/// Cores with hardware contexts.
fn on_contexts<O: Sink>(run: &Run<'_>, config: &ContextsConfig, observer: O) -> Outcome {
    let machine = Shared::new(run.system.cores, &config.speeds());
    let parts = contexts_parts(run, machine, observer);
    let virtual_contexts = parts.sizes.iter().filter_map(|&size| config.virtual_of(size)).collect();
    let parts = contexts::Parts { virtual_contexts, adaptation: config.adaptation, ..parts };
    let discipline = run.system.discipline;
    if has_ties(discipline) {
        Contexts::<_, _, _, 0>::new(parts, || AnyDiscipline::<true>::new(discipline)).run()
    } else {
        Contexts::<_, _, _, 0>::new(parts, || AnyDiscipline::<false>::new(discipline)).run()
    }
}

fn contexts_parts<M: Machine, O: Sink>(run: &Run<'_>, machine: M, observer: O) -> contexts::Parts<M, O> {
    contexts::Parts {
        machine,
        sizes: sizes(run.system),
        costs: *run.costs,
        dispatch: AnyDispatch::from(run.system.dispatch),
        source: Source::new(run.arrivals.sampler(run.seed, run.mean_gap_ps), run.service.sampler(run.seed)),
        recorder: Recorder::of(run),
        virtual_contexts: Vec::new(),
        adaptation: None,
        patience_ps: run.patience_ps(),
        seed: run.seed,
        length: run.length,
        observer,
    }
}

/// Is there nothing to it but work stealing?
fn is_plain_stealing(run: &Run<'_>) -> bool {
    let Run { system, costs, .. } = run;
    let asks_nothing = matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin);
    let per_core = system.pools == Pools::PerCore && system.cores > 1;
    per_core && asks_nothing && costs.steal_check.0 > 0 && is_unchanging(run)
}

fn stealing(run: &Run<'_>, config: WorkStealingConfig) -> Outcome {
    let (cores, check_ps) = (run.system.cores, run.costs.steal_check.0);
    let policy = WorkStealing::new(config);
    let order = balance::walk_order(run.seed, cores as usize);
    let seed = host::stream(run.seed, host::Purpose::Walk);
    if cores as usize > FEW || !(2..=CHECK_MAX_PS).contains(&check_ps) {
        let times_ps = (check_ps, run.costs.steal.0);
        let many = Many::new(policy, times_ps, order, seed);
        // A tree of a known height takes 3 % fewer instructions a request; others are too rare to be compiled for each.
        return match cores {
            513..=1024 => stealing_by::<_, 10>(run, many),
            _ => stealing_by::<_, 0>(run, many),
        };
    }
    match cores {
        ..=16 => stealing_by::<_, 4>(run, Few::<_, 16>::new(policy, check_ps, order, seed)),
        17..=32 => stealing_by::<_, 5>(run, Few::<_, 32>::new(policy, check_ps, order, seed)),
        _ => stealing_by::<_, 6>(run, Few::<_, 64>::new(policy, check_ps, order, seed)),
    }
}

fn stealing_by<T: Thieves<LEVELS>, const LEVELS: u32>(run: &Run<'_>, thieves: T) -> Outcome {
    let parts = stealing::Parts {
        source: Source::new(run.arrivals.sampler(run.seed, run.mean_gap_ps), run.service.sampler(run.seed)),
        recorder: Recorder::of(run),
        dispatch: AnyDispatch::from(run.system.dispatch),
        thieves,
        cores: run.system.cores,
        steal_ps: run.costs.steal.0,
        long_ps: run.service.mean_ps() as u64,
        patience_ps: run.patience_ps(),
        stretch: run.costs.probe_factor,
        seed: run.seed,
        length: run.length,
    };
    Stealing::new(parts).run()
}

fn central(run: &Run<'_>) -> Outcome {
    let parts = central::Parts {
        arrivals: run.arrivals.sampler(run.seed, run.mean_gap_ps),
        services: run.service.sampler(run.seed),
        recorder: Recorder::of(run),
        cores: run.system.cores,
        long_ps: run.service.mean_ps() as u64,
        patience_ps: run.patience_ps(),
        stretch: run.costs.probe_factor,
        length: run.length,
    };
    Central::new(parts).run()
}

fn watched(run: &Run<'_>, observer: &mut dyn Observer) -> Outcome {
    if let Some(config) = &run.system.contexts {
        return on_contexts(run, config, observer);
    }
    if run.system.parallelism.forks() {
        return forks(run, observer);
    }
    by_discipline(run, observer)
}

/// Simulates requests that fork under a policy that is not in `caudal-policy`, or not in a [`System`]: any type that
/// implements [`Parallelism`].
pub fn simulate_forks<P: Parallelism, O: Observer>(run: &Run<'_>, policy: P, mut observer: O) -> Outcome {
    let observer: &mut dyn Observer = &mut observer;
    forks_under(run, policy, observer)
}

/// Policies that are not in `caudal-policy`, or not in a [`System`]: any types that implement its traits.
#[derive(Clone, Debug)]
pub struct Policies<M, D, R, A> {
    /// Makes the discipline of a pool.
    pub discipline: M,
    /// Places new requests.
    pub dispatch: D,
    /// Moves tasks between pools.
    pub rebalance: R,
    /// Asks for cores and gives them back; the same cores all the time if none.
    pub allocation: Option<A>,
}

/// Simulates `run` under `policies` instead of those of its system, of which only the cores and the pools
/// count.
///
/// # Panics
/// If `policies` break the contracts of their traits, such as running a task on a busy worker.
pub fn simulate_with<Di, M, D, R, A, O>(
    run: &Run<'_>,
    policies: Policies<M, D, R, A>,
    mut observer: O,
) -> Outcome
where
    Di: Discipline,
    M: Fn() -> Di,
    D: Dispatch,
    R: Rebalance,
    A: Allocation,
    O: Observer,
{
    let Policies { discipline, dispatch, rebalance, allocation } = policies;
    let observer: &mut dyn Observer = &mut observer;
    go(run, step(run, discipline), dispatch, rebalance, allocation, observer)
}

/// Runs a combination of policies that [`unwatched`] has no arm for. An arm makes the compiler build an engine for that combination alone:
/// its runs then take a tenth less time, and the build takes two seconds more. So only what is simulated often has one.
fn by_discipline<O: Sink>(run: &Run<'_>, observer: O) -> Outcome {
    let rebalance = AnyRebalance::from(run.system.rebalance);
    match run.system.discipline {
        DisciplineConfig::Fcfs => built_in(run, lines(run), rebalance, observer),
        DisciplineConfig::Las(config) if config.quantum.0 == 0 => {
            built_in(run, fluid(run, Sharing::Least), rebalance, observer)
        }
        DisciplineConfig::ProcessorSharing(config) if config.quantum.0 == 0 => {
            built_in(run, fluid(run, Sharing::Equal), rebalance, observer)
        }
        DisciplineConfig::ProcessorSharing(config) if may_leap(run, &config) => {
            built_in(run, rings(run, &config), rebalance, observer)
        }
        config if has_ties(config) => {
            built_in(run, step(run, || AnyDiscipline::<true>::new(config)), rebalance, observer)
        }
        config => built_in(run, step(run, || AnyDiscipline::<false>::new(config)), rebalance, observer),
    }
}

/// Can cores leap from completion to completion? Not where a flag has to be answered between turns, which leaps do not stop at;
/// and where a leap ends, nobody begins.
fn may_leap(run: &Run<'_>, config: &ProcessorSharingConfig) -> bool {
    config.quantum.0 > 0 && !run.stepwise && leaps(run.system, run.costs)
}

/// The same, of systems.
fn leaps(system: &System, costs: &Costs) -> bool {
    let sheds = AnyRebalance::from(system.rebalance).may_shed();
    let turns_are_all =
        costs.dispatcher_quantum.0 == 0 && costs.start.0 == 0 && costs.finish.0 == 0 && costs.wake_up.0 == 0;
    // Where new tasks queue among those that take turns, one that was moved here is neither, until it runs: a ring has no place for it.
    let queues = matches!(system.discipline, DisciplineConfig::ProcessorSharing(config) if config.fresh == Fresh::Tail);
    let moved_among_turns = queues && system.rebalance != RebalanceConfig::None;
    system.pools == Pools::PerCore && !sheds && turns_are_all && !moved_among_turns
}

/// Does the engine take turns of `system` one by one, so that a request costs as many events as it has turns?
pub fn turns_are_events(system: &System, costs: &Costs) -> bool {
    match system.discipline {
        DisciplineConfig::ProcessorSharing(config) => config.quantum.0 > 0 && !leaps(system, costs),
        DisciplineConfig::Las(config) => config.quantum.0 > 0,
        _ => false,
    }
}

fn rings(run: &Run<'_>, config: &ProcessorSharingConfig) -> Rings {
    Rings::new(run.system.cores as usize, turns(config, run.costs), run.costs.probe_factor)
}

fn built_in<S: Scheduling, R: Rebalance, O: Sink>(
    run: &Run<'_>,
    sched: S,
    rebalance: R,
    observer: O,
) -> Outcome {
    let allocation = run.system.allocation.triggers().map(Triggered::new);
    go(run, sched, AnyDispatch::from(run.system.dispatch), rebalance, allocation, observer)
}

fn sizes(system: &System) -> Vec<u32> {
    system.pool_sizes().expect("a system that was checked shares out its cores")
}

/// How many workers of each pool there can be. If cores stay, those that are held: the first of all.
fn sharers(system: &System) -> Vec<u32> {
    let stay = system.allocation.triggers().is_none();
    let mut left = if stay { system.cores_allocated } else { system.cores };
    let held = |size: u32| {
        let held = size.min(left);
        left -= held;
        held
    };
    sizes(system).into_iter().map(held).collect()
}

fn step<D: Discipline>(run: &Run<'_>, make: impl Fn() -> D) -> Step<D> {
    let (overrun_ps, stretch) = (run.costs.overrun.0, run.costs.probe_factor);
    Step::new(&sharers(run.system), make, overrun_ps, stretch)
}

fn lines(run: &Run<'_>) -> Lines {
    Lines::new(&sharers(run.system), run.costs.probe_factor, run.service.classes().len())
}

fn fluid(run: &Run<'_>, sharing: Sharing) -> Fluid {
    Fluid::new(&sharers(run.system), sharing, run.costs.probe_factor)
}

fn turns(config: &ProcessorSharingConfig, costs: &Costs) -> Turns {
    Turns {
        slice_ps: config.quantum.0.saturating_add(costs.overrun.0),
        switch_ps: costs.preemption.0,
        fresh: config.fresh,
        lone: config.lone,
        started_max: config.started_max,
    }
}

fn go<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink>(
    run: &Run<'_>,
    sched: S,
    dispatch: D,
    rebalance: R,
    allocation: Option<A>,
    observer: O,
) -> Outcome {
    let recorder = Recorder::of(run);
    let core = Core::new(&sizes(run.system), *run.costs, dispatch.asks(), recorder, observer);
    let mut host = Host::new(Parts {
        core,
        sched,
        rebalance,
        dispatch,
        source: Source::new(run.arrivals.sampler(run.seed, run.mean_gap_ps), run.service.sampler(run.seed)),
        allocation,
        cores_start: run.system.cores_allocated,
        long_ps: run.service.mean_ps() as u64,
        patience_ps: run.patience_ps(),
        seed: run.seed,
        length: run.length,
    });
    host.run();
    host.into_outcome()
}

impl Outcome {
    /// Did it fall behind, in requests or in work?
    pub fn fell_behind(&self) -> bool {
        self.overload.is_overloaded() || self.overload_work.is_overloaded() && self.no_time_to_spare
    }
}

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> Host<S, R, D, A, O> {
    fn into_outcome(self) -> Outcome {
        // Workers that wait for a dispatcher after every quantum do not show how busy it is.
        let waits = self.core.costs.dispatcher_quantum.0 > 0;
        let ended = (self.core.now_ps, self.core.events);
        let found = outcome(self.core.recorder, self.window, self.core.measured_left, ended);
        Outcome { no_time_to_spare: found.no_time_to_spare || waits, ..found }
    }
}

/// All but a twentieth of the core time.
fn no_time_to_spare(account: &Account) -> bool {
    let Account { moving_ps, placing_ps, switching_ps, stalled_ps, .. } = account;
    let spent_ps = account.busy_ps + moving_ps + placing_ps + switching_ps + stalled_ps;
    spent_ps * 20 >= (account.held_ps - account.allocating_ps) * 19
}

/// What came out of a run that ended at this time, after so many events.
fn outcome(recorder: Recorder, window: Window, measured_left: u64, (end_ps, events): (u64, u64)) -> Outcome {
    let mut classes = recorder.classes;
    for (class, &behind_ps) in classes.iter_mut().zip(&window.behind_ps) {
        class.behind_long_ps = Some(behind_ps);
    }
    let recorded: u64 = classes.iter().map(|class| class.latency_ps.count()).sum();
    Outcome {
        classes,
        account: window.account,
        span_ps: window.span_ps,
        end_ps,
        events: Events(events),
        overload: window.check,
        overload_work: window.work,
        no_time_to_spare: no_time_to_spare(&window.account),
        unfinished: measured_left,
        arrived: recorded + measured_left,
        series: recorder.pilot,
        backlog: window.looks,
    }
}
