//! The engine against the plain simulator in `oracle`: on random small systems, with times on a common
//! grid so that events coincide, everything that can be seen of a run is equal, to the bit.

use caudal_config::{Costs, Pools};
use caudal_policy::allocation::{AllocationConfig, CaladanConfig, DelayRangeConfig};
use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::dispatch::{DispatchConfig, PowerOfKConfig};
use caudal_policy::rebalance::{
    Amount, RebalanceConfig, StealAndShedConfig, WorkSheddingConfig, WorkStealingConfig,
};
use caudal_policy::{List, Picos};
use caudal_sim::engine::{ClassStats, Event, Length, Outcome, Unwatched, simulate};
use caudal_stats::Histogram;
use proptest::prelude::*;

use crate::common::strategies::{Among, cases, keyed, lanes, sharing};
use crate::common::{Case, Gaps, Ready, Sizes};
use crate::oracle::{self, ClassTotals, Record};

/// Slices of tasks are not seen where the engine leaps over them.
fn seen_by_all(events: &[(u64, Event)]) -> Vec<(u64, Event)> {
    let is_slice = |event: &Event| matches!(event, Event::Started { .. } | Event::Stopped { .. });
    events.iter().filter(|(_, event)| !is_slice(event)).copied().collect()
}

/// A run whose arrivals have ended ends with the event in which the last measured request is done. What a worker
/// then does at no cost is a part of that event for the engine, and an event of its own for the oracle.
fn is_rest_of_last_event(engine: &[(u64, Event)], oracle: &[(u64, Event)]) -> bool {
    let Some((rest, &(end_ps, _))) = engine.get(oracle.len()..).zip(oracle.last()) else { return false };
    rest.iter().all(|&(time_ps, event)| time_ps == end_ps && !matches!(event, Event::Completed { .. }))
}

fn same_events(engine: &[(u64, Event)], oracle: &[(u64, Event)]) -> Result<(), String> {
    let differs = (0..engine.len().max(oracle.len())).find(|&at| engine.get(at) != oracle.get(at));
    let Some(at) = differs else { return Ok(()) };
    if at == oracle.len() && is_rest_of_last_event(engine, oracle) {
        return Ok(());
    }
    let around = |events: &[(u64, Event)]| {
        let shown = events.iter().enumerate().skip(at.saturating_sub(12)).take(16);
        shown.map(|(at, (time_ps, event))| format!("\n  {at}: {time_ps} {event:?}")).collect::<String>()
    };
    Err(format!("event {at} differs\nengine:{}\noracle:{}", around(engine), around(oracle)))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, engine: T, oracle: T) -> Result<(), String> {
    if engine == oracle { Ok(()) } else { Err(format!("{what}: engine {engine:?}, oracle {oracle:?}")) }
}

fn same_histogram(what: &str, engine: &Histogram, oracle: &Histogram) -> Result<(), String> {
    let facts = |h: &Histogram| (h.count(), h.sum(), h.min(), h.max());
    same(what, facts(engine), facts(oracle))?;
    same(what, engine.iter().collect::<Vec<_>>(), oracle.iter().collect())
}

/// How the engine runs processor sharing on pools of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Steps,
    /// Leaps count less finely: preemptions, and what they cost, when the task completes; and they do not
    /// know which task stands still while its worker places another, so that time counts as preempted.
    Leaps,
}

fn same_class(by: By, engine: &ClassStats, oracle: &ClassTotals) -> Result<(), String> {
    same_histogram("latency", &engine.latency_ps, &oracle.latency_ps)?;
    same_histogram("slowdown", &engine.slowdown, &oracle.slowdown)?;
    same("queued_ps", engine.queued_ps, oracle.queued_ps)?;
    let engine_ps = engine.overhead_ps + engine.preempted_ps;
    same("overhead_ps + preempted_ps", engine_ps, oracle.overhead_ps + oracle.preempted_ps)?;
    if by == By::Steps {
        same("overhead_ps", engine.overhead_ps, oracle.overhead_ps)?;
    }
    same("probe_ps", engine.probe_ps, oracle.probe_ps)?;
    same("preemptions", engine.preemptions, oracle.preemptions)?;
    match (engine.behind_long_ps, oracle.behind_long_ps) {
        // A sum of floats in another order.
        (Some(engine_ps), Some(oracle_ps)) if (engine_ps - oracle_ps).abs() <= 1e-9 * oracle_ps + 1.0 => {
            Ok(())
        }
        (engine_ps, oracle_ps) => same("behind_long_ps", engine_ps, oracle_ps),
    }
}

fn same_outcome(by: By, engine: &Outcome, oracle: &Record) -> Result<(), String> {
    same("span_ps", engine.span_ps, oracle.span_ps)?;
    same("end_ps", engine.end_ps, oracle.end_ps)?;
    same("overload", engine.overload, oracle.overload)?;
    same("overload_work", engine.overload_work, oracle.overload_work)?;
    same("unfinished", engine.unfinished, oracle.unfinished)?;
    same("arrived", engine.arrived, oracle.arrived)?;
    same("classes", engine.classes.len(), oracle.classes.len())?;
    for (engine, oracle) in engine.classes.iter().zip(&oracle.classes) {
        same_class(by, engine, oracle)?;
    }
    let mut expected = oracle.account;
    if by == By::Leaps {
        (expected.preemptions, expected.switching_ps) =
            (engine.account.preemptions, engine.account.switching_ps);
    }
    // All fields, those that are added later included.
    same("account", format!("{:?}", engine.account), format!("{expected:?}"))
}

/// Does the engine, by leaps where it can and by steps, do what the oracle does?
fn agrees(case: &Case) -> Result<(), String> {
    let ready: Ready = case.ready();
    let oracle = oracle::simulate(&ready.run(true));
    let (outcome, events) = ready.watch(true);
    let steps =
        same_events(&events, &oracle.events).and_then(|()| same_outcome(By::Steps, &outcome, &oracle));
    steps.map_err(|why| format!("step by step: {why}"))?;
    // Nobody watches: loops of their own for what is simulated most, and the same pools by events for the rest.
    let unwatched = simulate(&ready.run(false), Unwatched);
    same_outcome(by_of(case), &unwatched, &oracle).map_err(|why| format!("unwatched: {why}"))?;
    if !matches!(case.discipline, DisciplineConfig::ProcessorSharing(_)) {
        return Ok(());
    }
    let (outcome, events) = ready.watch(false);
    let leaps = same_events(&seen_by_all(&events), &seen_by_all(&oracle.events));
    leaps.and_then(|()| same_outcome(By::Leaps, &outcome, &oracle)).map_err(|why| format!("by leaps: {why}"))
}

/// How the engine runs it when it may choose.
fn by_of(case: &Case) -> By {
    if matches!(case.discipline, DisciplineConfig::ProcessorSharing(_)) { By::Leaps } else { By::Steps }
}

fn among(disciplines: Vec<DisciplineConfig>) -> Among {
    Among { disciplines, moves: false, allocations: false, per_core: false }
}

/// `CAUDAL_ORACLE_TIMES=100` in the environment tries a hundred times as many cases.
fn check(cases_run: u32, among: Among, requests: u64) {
    let times = std::env::var("CAUDAL_ORACLE_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let cases_run = cases_run * times;
    let config = ProptestConfig { cases: cases_run, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(case in cases(among, requests))| {
        agrees(&case).map_err(TestCaseError::fail)?;
    });
}

#[test]
fn first_come_first_served() {
    check(100, among(vec![DisciplineConfig::Fcfs]), 400);
}

#[test]
fn first_come_first_served_with_moves() {
    check(150, Among { moves: true, ..among(vec![DisciplineConfig::Fcfs]) }, 400);
}

#[test]
fn first_come_first_served_with_moves_and_changing_cores() {
    check(200, Among { moves: true, allocations: true, ..among(vec![DisciplineConfig::Fcfs]) }, 400);
}

/// Longer runs at real costs, which are all multiples of 100 ns: most checks coincide with others, and what
/// takes many events to go wrong has the time to.
fn agrees_in_long_runs(
    rebalance: RebalanceConfig,
    discipline: DisciplineConfig,
    allocation: AllocationConfig,
) {
    for (cores, allocated, load) in
        [(32, 32, 0.5), (32, 21, 0.5), (32, 18, 0.5), (33, 7, 0.15), (64, 3, 0.02)]
    {
        for seed in 1..=8 {
            let plain = Case { seed, costs: Costs::default(), ..Case::plain(cores, load, 2_000) };
            let sizes = Sizes::Grid(vec![500, 500, 500, 500, 5_500]);
            let pools = Pools::PerCore;
            let case = Case { allocated, pools, rebalance, discipline, allocation, sizes, ..plain };
            agrees(&case).unwrap_or_else(|why| panic!("{case:?}: {why}"));
        }
    }
}

fn stealing() -> RebalanceConfig {
    RebalanceConfig::WorkStealing(WorkStealingConfig::default())
}

#[test]
fn thieves_in_long_runs() {
    agrees_in_long_runs(stealing(), DisciplineConfig::Fcfs, AllocationConfig::Static);
    let both = RebalanceConfig::StealAndShed(StealAndShedConfig::default());
    agrees_in_long_runs(both, DisciplineConfig::Fcfs, AllocationConfig::Static);
}

#[test]
fn thieves_of_started_tasks_in_long_runs() {
    let quantum = Picos::from_nanos(1_000);
    let sharing = ProcessorSharingConfig { quantum, ..ProcessorSharingConfig::default() };
    agrees_in_long_runs(stealing(), DisciplineConfig::ProcessorSharing(sharing), AllocationConfig::Static);
}

#[test]
fn thieves_on_changing_cores_in_long_runs() {
    let caladan = AllocationConfig::Caladan(CaladanConfig::default());
    agrees_in_long_runs(stealing(), DisciplineConfig::Fcfs, caladan);
    let delay_range = AllocationConfig::DelayRange(DelayRangeConfig::default());
    agrees_in_long_runs(stealing(), DisciplineConfig::Fcfs, delay_range);
}

#[test]
fn processor_sharing() {
    check(100, among(sharing()), 300);
}

#[test]
fn processor_sharing_by_leaps() {
    check(150, Among { per_core: true, ..among(sharing()) }, 300);
}

#[test]
fn processor_sharing_with_moves() {
    check(150, Among { moves: true, ..among(sharing()) }, 300);
}

#[test]
fn processor_sharing_with_moves_and_changing_cores() {
    check(150, Among { moves: true, allocations: true, per_core: true, ..among(sharing()) }, 300);
}

#[test]
fn least_attained_service_and_shortest_remaining_time() {
    check(100, among(keyed()), 300);
}

#[test]
fn least_attained_service_and_shortest_remaining_time_with_moves_and_changing_cores() {
    check(150, Among { moves: true, allocations: true, ..among(keyed()) }, 300);
}

#[test]
fn lanes_by_time_served() {
    check(200, among(lanes()), 300);
}

#[test]
fn lanes_by_time_served_with_moves_and_changing_cores() {
    check(150, Among { moves: true, allocations: true, ..among(lanes()) }, 300);
}

/// A server of a higher lane of preemptive SITA idles while a task waits in lane 0, and stealing is free: taken by that server,
/// which may not run it, the task would be there to be taken again.
#[test]
fn who_may_not_steal_is_not_woken_for_it() {
    let cutoffs = [50, 100, 150].map(Picos::from_nanos);
    let lanes = SitaConfig::new(&cutoffs, &[1, 1, 1, 1]).expect("sound lanes");
    let stealing = WorkStealingConfig { amount: Amount::One };
    for dispatch in [DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 }), DispatchConfig::Random] {
        let case = Case {
            pools: Pools::Equal(2),
            dispatch,
            rebalance: RebalanceConfig::WorkStealing(stealing),
            discipline: DisciplineConfig::PreemptiveSita(lanes),
            gaps: Gaps::Grid(50),
            seed: 139_416,
            ..Case::plain(8, 0.5, 300)
        };
        agrees(&case).unwrap();
    }
}

/// Event keys hold times relative to a base that moves on; services of an hour make it move.
#[test]
fn long_times_do_not_confuse_the_order_of_events() {
    let second = Picos(1_000_000_000_000);
    let costs = Costs { steal_check: second, steal: second, ..Costs::FREE };
    let stealing = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    let case = Case {
        pools: Pools::PerCore,
        rebalance: stealing,
        costs,
        sizes: Sizes::Exponential(1_000_000_000_000),
        ..Case::plain(16, 0.9, 1_200)
    };
    agrees(&case).unwrap();
    let central = Case { sizes: Sizes::Constant(3_600_000_000_000), ..Case::plain(200, 0.9, 3_000) };
    agrees(&central).unwrap();
}

/// The last measured request is done after the last arrival, and its worker goes on at no cost.
#[test]
fn a_run_may_end_in_the_middle_of_what_costs_nothing() {
    let delay_range = DelayRangeConfig {
        low: Picos::from_nanos(500),
        high: Picos::from_micros(1),
        interval: Picos::from_micros(5),
    };
    let case = Case {
        allocated: 116,
        pools: Pools::PerCore,
        dispatch: DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 }),
        rebalance: RebalanceConfig::WorkShedding(WorkSheddingConfig { threshold: Picos::from_nanos(200) }),
        allocation: AllocationConfig::DelayRange(delay_range),
        gaps: Gaps::Grid(50),
        seed: 379_427,
        length: Length { warm_up: 50, measured: 204 },
        ..Case::plain(200, 0.869794596000526, 204)
    };
    agrees(&case).unwrap();
}

/// Many workers are due when the last measured request completes: those that come later in the order of ties are not run.
#[test]
fn a_run_ends_with_the_last_measured_request_among_ties() {
    let cutoff = |times: u64| Picos(50_000 * times);
    let sita = SitaConfig {
        cutoffs: List::new(&[1, 2, 3, 8, 16].map(cutoff)).expect("six lanes"),
        reservations: List::new(&[34, 66, 1, 33, 65, 1]).expect("six lanes"),
    };
    let case = Case {
        discipline: DisciplineConfig::IsqdSita(sita),
        sizes: Sizes::Constant(1000),
        gaps: Gaps::Grid(100),
        seed: 198_258,
        length: Length { warm_up: 0, measured: 249 },
        costs: Costs {
            steal_check: Picos(100_000),
            steal: Picos(100_000),
            shed: Picos(100_000),
            enqueue: Picos(100_000),
            hand_over: Picos(100_000),
            preemption: Picos(200_000),
            ..Costs::FREE
        },
        ..Case::plain(200, 0.95, 249)
    };
    agrees(&case).unwrap_or_else(|why| panic!("{why}"));
}
