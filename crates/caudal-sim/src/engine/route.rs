//! The choice of the loop of the engine that runs a system. The engine takes that loop, the tuner reckons with what it costs, and the
//! docs print it. Pure.
//!
//! Whether any loop can is a question of the system alone, which the rules of coherence ask too: [`EngineLoop`], in `caudal-config` below.
//! Here the answer is refined by the short cuts.

use caudal_config::{Costs, EngineLoop, LoopLacks, Pools, System, Variant};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, Fresh};
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::{AnyRebalance, Rebalance, RebalanceConfig};

use super::kernel::run::Run;
use super::kernel::short_cuts::{ShortCut, ShortCuts};

/// The loop that runs a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The simulator of the policies paper's authors, beside the engine.
    Authors,
    /// Requests that fork.
    Forks,
    /// Cores with hardware contexts.
    Contexts,
    /// [`ShortCut::Central`].
    Central,
    /// [`ShortCut::Stealing`].
    Stealing,
    /// [`ShortCut::Lanes`].
    Lanes,
    /// The general loop, with queues of this kind.
    General(Queues),
}

/// How the general loop simulates the queues of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// [`ShortCut::Lines`].
    Lines,
    /// [`ShortCut::Leaps`].
    Leaps,
    /// The limit of small quanta, which has no slices.
    Fluid,
    /// An event for each slice, under any discipline.
    Steps,
}

/// Circumstances that decide about short cuts and are no part of a system.
#[derive(Clone, Copy)]
struct Terms {
    short_cuts: ShortCuts,
    is_watched: bool,
    is_pilot: bool,
}

impl Route {
    /// The loop that runs `system` without an observer, with all short cuts allowed.
    ///
    /// # Errors
    /// The loop for such systems lacks something that this one has.
    pub fn of(system: &System, costs: &Costs) -> Result<Route, LoopLacks> {
        if system.variant == Variant::AuthorsSimulator {
            return Ok(Route::Authors);
        }
        if let Some(lacks) = EngineLoop::of(system).lacks(system, costs) {
            return Err(lacks);
        }
        let terms = Terms { short_cuts: ShortCuts::ALL, is_watched: false, is_pilot: false };
        Ok(Route::on(system, costs, terms))
    }

    /// The loop that runs `run` without an observer.
    pub fn of_run(run: &Run<'_>) -> Route {
        let terms = Terms { short_cuts: run.short_cuts, is_watched: false, is_pilot: run.pilot };
        Route::on(run.system, run.costs, terms)
    }

    /// The loop that runs `run` for an observer.
    pub(super) fn of_watched_run(run: &Run<'_>) -> Route {
        let terms = Terms { short_cuts: run.short_cuts, is_watched: true, is_pilot: run.pilot };
        Route::on(run.system, run.costs, terms)
    }

    fn on(system: &System, costs: &Costs, terms: Terms) -> Route {
        match EngineLoop::of(system) {
            EngineLoop::Contexts => Route::Contexts,
            EngineLoop::Forks => Route::Forks,
            // The engine can run the authors' systems, too, by the rules of the paper.
            EngineLoop::General | EngineLoop::Authors => short_cut(system, costs, terms)
                .filter(|_| !terms.is_watched)
                .unwrap_or_else(|| Route::General(Queues::of(system, costs, terms.short_cuts))),
        }
    }

    /// Does the loop simulate each slice of `system`, which runs on it, so that a request costs as many events as it has slices?
    pub fn simulates_each_slice(self, system: &System) -> bool {
        let has_slices = system.discipline.quantum().is_some_and(|quantum| quantum > Picos::ZERO);
        has_slices && matches!(self, Route::General(Queues::Steps) | Route::Contexts | Route::Forks)
    }
}

/// The loop of its own that `system` may take instead of the general one.
fn short_cut(system: &System, costs: &Costs, terms: Terms) -> Option<Route> {
    let is = |short_cut, takes: bool| terms.short_cuts.allow(short_cut) && takes;
    if !is_unchanging(system, costs) {
        return None;
    }
    if is(ShortCut::Central, is_central(system) && !terms.is_pilot) {
        return Some(Route::Central);
    }
    if is(ShortCut::Stealing, is_plain_stealing(system, costs)) {
        return Some(Route::Stealing);
    }
    is(ShortCut::Lanes, has_lanes_left_alone(system)).then_some(Route::Lanes)
}

/// Are there the same cores all the time, no dispatcher that takes time, and none of the costs that only the general loop accounts for?
fn is_unchanging(system: &System, costs: &Costs) -> bool {
    let same_cores = system.allocation.triggers().is_none() && system.cores_allocated == system.cores;
    let no_dispatcher = costs.dispatcher.0 == 0 && costs.dispatcher_quantum.0 == 0;
    same_cores && no_dispatcher && costs.is_plain()
}

/// Is it one queue, first come first served, with nothing else to it? Then no task needs to be kept.
fn is_central(system: &System) -> bool {
    let one_queue = system.pool_count() == 1 && !may_hold(system.dispatch);
    one_queue && system.discipline == DisciplineConfig::Fcfs && system.rebalance == RebalanceConfig::None
}

/// May the dispatch policy keep requests from the queue?
fn may_hold(dispatch: DispatchConfig) -> bool {
    match dispatch {
        DispatchConfig::Jbsq(_) => true,
        DispatchConfig::Random
        | DispatchConfig::RoundRobin
        | DispatchConfig::PowerOfK(_)
        | DispatchConfig::Jsq(_)
        | DispatchConfig::LeastWork
        | DispatchConfig::Sita(_) => false,
    }
}

/// Is there nothing to it but work stealing?
fn is_plain_stealing(system: &System, costs: &Costs) -> bool {
    let steals = matches!(system.rebalance, RebalanceConfig::WorkStealing(_));
    let asks_nothing = matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin);
    let per_core = system.pools == Pools::PerCore && system.cores > 1;
    steals
        && system.discipline == DisciplineConfig::Fcfs
        && per_core
        && asks_nothing
        && costs.steal_check.0 > 0
}

/// Are there lanes in pools between which no task moves, and does dispatch choose a pool without counts?
fn has_lanes_left_alone(system: &System) -> bool {
    use DispatchConfig::{Random, RoundRobin, Sita};
    let lanes = matches!(system.discipline, DisciplineConfig::SqdSita(_) | DisciplineConfig::IsqdSita(_));
    lanes
        && system.rebalance == RebalanceConfig::None
        && matches!(system.dispatch, Random | RoundRobin | Sita(_))
}

impl Queues {
    fn of(system: &System, costs: &Costs, short_cuts: ShortCuts) -> Queues {
        match system.discipline {
            DisciplineConfig::Fcfs if short_cuts.allow(ShortCut::Lines) => Queues::Lines,
            DisciplineConfig::Las(config) if config.quantum == Picos::ZERO => Queues::Fluid,
            DisciplineConfig::ProcessorSharing(config) if config.quantum == Picos::ZERO => Queues::Fluid,
            DisciplineConfig::ProcessorSharing(config)
                if short_cuts.allow(ShortCut::Leaps) && may_leap(system, costs, config.fresh) =>
            {
                Queues::Leaps
            }
            _ => Queues::Steps,
        }
    }
}

/// Can cores under processor sharing leap from completion to completion? Not where a flag has to be answered between slices, at which
/// leaps do not stop, or where a slice takes the dispatcher time, or the start, the end or a wake-up takes the worker time.
fn may_leap(system: &System, costs: &Costs, fresh: Fresh) -> bool {
    let sheds = AnyRebalance::from(system.rebalance).may_shed();
    let slices_are_all =
        costs.dispatcher_quantum.0 == 0 && costs.start.0 == 0 && costs.finish.0 == 0 && costs.wake_up.0 == 0;
    // Where new tasks queue behind started ones, a ring has no place for a task that was moved here and has not run.
    let moved_among_slices = fresh == Fresh::Tail && system.rebalance != RebalanceConfig::None;
    system.pools == Pools::PerCore && !sheds && slices_are_all && !moved_among_slices
}
