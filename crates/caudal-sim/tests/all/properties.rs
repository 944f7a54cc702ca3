//! What holds of every run, whatever the system: the account kept by an observer agrees with the engine's, to the
//! picosecond.

use std::collections::BTreeMap;

use caudal_config::{Costs, Pools};
use caudal_policy::Picos;
use caudal_policy::allocation::{AllocationConfig, Triggered};
use caudal_policy::discipline::{
    DisciplineConfig, Fcfs, Fresh, LasConfig, Lone, ProcessorSharingConfig, STARTED_MAX,
};
use caudal_policy::dispatch::{AnyDispatch, DispatchConfig, JsqConfig, PowerOfKConfig, Ties};
use caudal_policy::rebalance::{
    Amount, AnyRebalance, RebalanceConfig, WorkSheddingConfig, WorkStealingConfig,
};
use caudal_sim::engine::{Event, Length, Outcome, Policies, Unwatched, simulate, simulate_with};
use proptest::prelude::*;

use crate::common::strategies::{Among, cases, keyed, sharing};
use crate::common::{Case, Gaps, Sizes};

fn any_system() -> Among {
    let mut disciplines = sharing();
    disciplines.extend(keyed());
    // As many again that run to completion.
    disciplines.extend(vec![DisciplineConfig::Fcfs; 40]);
    Among { disciplines, moves: true, allocations: true, per_core: false }
}

fn check<V: std::fmt::Debug>(
    cases_run: u32,
    strategy: impl Strategy<Value = V>,
    test: impl Fn(&V) -> Result<(), String>,
) {
    let config = ProptestConfig { cases: cases_run, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(case in strategy)| {
        test(&case).map_err(TestCaseError::fail)?;
    });
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// When each request arrived and when, if ever, it completed.
#[derive(Clone, Copy, Debug)]
struct Stay {
    arrival_ps: u64,
    completion_ps: Option<u64>,
}

/// The stays of all requests, by number; an error if one arrives twice, completes twice, or completes first.
fn stays(log: &[(u64, Event)]) -> Result<BTreeMap<u64, Stay>, String> {
    let mut stays = BTreeMap::new();
    for &(now_ps, event) in log {
        match event {
            Event::Arrived { number, .. } => {
                let before = stays.insert(number, Stay { arrival_ps: now_ps, completion_ps: None });
                require(before.is_none(), || format!("request {number} arrives twice"))?;
            }
            Event::Completed { number, .. } => {
                let stay = stays.get_mut(&number).ok_or(format!("request {number} never arrived"))?;
                let before = stay.completion_ps.replace(now_ps);
                require(before.is_none(), || format!("request {number} completes twice"))?;
            }
            _ => {}
        }
    }
    Ok(stays)
}

/// ∫ N dt over the run, from arrivals and completions alone.
fn integral_of_number_in_system(log: &[(u64, Event)], end_ps: u64) -> u128 {
    let (mut inside, mut since_ps, mut integral) = (0_u128, 0, 0);
    let changes = log.iter().filter_map(|&(now_ps, event)| match event {
        Event::Arrived { .. } => Some((now_ps, true)),
        Event::Completed { .. } => Some((now_ps, false)),
        _ => None,
    });
    for (now_ps, arrives) in changes {
        integral += inside * u128::from(now_ps - since_ps);
        since_ps = now_ps;
        inside = if arrives { inside + 1 } else { inside - 1 };
    }
    integral + inside * u128::from(end_ps - since_ps)
}

fn recorded_ps(outcome: &Outcome) -> u128 {
    outcome.classes.iter().map(|class| class.latency_ps.sum()).sum()
}

/// All requests are measured, and all of them complete: the engine's sum of sojourn times is ∫ N dt. Those
/// that a run leaves behind, or does not measure, are added from their stays.
fn littles_law(case: &Case) -> Result<(), String> {
    let (outcome, log) = case.ready().watch(false);
    let measured = case.length.warm_up..case.length.warm_up + case.length.measured;
    let others = stays(&log)?
        .into_iter()
        .filter(|(number, stay)| !measured.contains(number) || stay.completion_ps.is_none());
    let others_ps: u128 = others
        .map(|(_, stay)| u128::from(stay.completion_ps.unwrap_or(outcome.end_ps) - stay.arrival_ps))
        .sum();
    let integral_ps = integral_of_number_in_system(&log, outcome.end_ps);
    let sum_ps = recorded_ps(&outcome) + others_ps;
    require(integral_ps == sum_ps, || format!("∫ N dt = {integral_ps}, Σ time in system = {sum_ps}"))
}

#[test]
fn the_time_integral_of_requests_in_the_system_is_the_sum_of_their_times() {
    check(150, cases(any_system(), 400), littles_law);
}

/// Arrivals that end: everything that came is served, exactly once, and nothing walks or ticks on for ever.
fn all_are_served(case: &Case) -> Result<(), String> {
    let case = Case { gaps: Gaps::GridThatEnds(50), ..case.clone() };
    let (outcome, log) = case.ready().watch(false);
    let stays = stays(&log)?;
    // Those before the measured ones may be overtaken by the end.
    let left =
        stays.iter().filter(|(number, stay)| **number >= case.length.warm_up && stay.completion_ps.is_none());
    let left = left.count();
    require(left == 0 && outcome.unfinished == 0, || format!("{left} are left"))?;
    let recorded: u64 = outcome.classes.iter().map(|class| class.latency_ps.count()).sum();
    require(recorded == case.length.measured, || format!("{recorded} recorded of {}", case.length.measured))
}

#[test]
fn every_request_is_served_once() {
    check(150, cases(any_system(), 400), all_are_served);
}

/// Core time is only spent once, and nobody is faster than alone.
fn accounts_add_up(case: &Case) -> Result<(), String> {
    let (outcome, log) = case.ready().watch(true);
    let account = &outcome.account;
    require(account.busy_ps <= account.held_ps, || format!("busy for longer than held: {account:?}"))?;
    require(account.allocating_ps <= account.held_ps, || format!("{account:?}"))?;
    require(account.steals_empty <= account.steals, || format!("{account:?}"))?;
    for class in &outcome.classes {
        let (sum_ps, count) = (class.latency_ps.sum(), class.latency_ps.count());
        let parts_ps = class.queued_ps + class.preempted_ps + class.overhead_ps + class.probe_ps;
        require(parts_ps <= sum_ps, || format!("waits of {parts_ps} ps in {sum_ps} ps"))?;
        require(count == 0 || class.slowdown.min() >= 1024, || "faster than alone".to_owned())?;
    }
    let stopped = log.iter().filter(|(_, event)| matches!(event, Event::Stopped { .. })).count() as u64;
    let preemptions: u64 = outcome.classes.iter().map(|class| class.preemptions).sum();
    require(preemptions <= stopped, || format!("{preemptions} preemptions, {stopped} seen"))?;
    let everything = case.length.warm_up == 0 && stays(&log)?.len() as u64 == case.length.measured;
    require(!everything || outcome.unfinished > 0 || preemptions == stopped, || {
        format!("{preemptions} preemptions, {stopped} seen")
    })
}

#[test]
fn core_time_is_spent_once() {
    check(150, cases(any_system(), 300), accounts_add_up);
}

/// Sums of time on workers: what observers see of a task's slices is its work.
fn slices_are_the_work(case: &Case) -> Result<(), String> {
    let case = Case { costs: Costs { probe_factor: 1.0, ..Costs::FREE }, ..case.clone() };
    let (_, log) = case.ready().watch(true);
    let (mut since_ps, mut ran_ps, mut sizes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for &(now_ps, event) in &log {
        match event {
            Event::Arrived { number, service_ps, .. } => {
                sizes.insert(number, service_ps);
            }
            Event::Started { worker, number, .. } => {
                let before = since_ps.insert(worker, (number, now_ps));
                require(before.is_none(), || format!("worker {worker} runs two tasks at {now_ps}"))?;
            }
            Event::Stopped { worker, number } | Event::Completed { worker, number } => {
                let (runs, from_ps) = since_ps.remove(&worker).ok_or("a worker without a task".to_owned())?;
                require(runs == number, || format!("worker {worker} runs {runs}, not {number}"))?;
                *ran_ps.entry(number).or_insert(0) += now_ps - from_ps;
                if matches!(event, Event::Completed { .. }) {
                    require(ran_ps[&number] == sizes[&number], || {
                        format!("request {number} ran {}", ran_ps[&number])
                    })?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn tasks_run_for_as_long_as_they_need() {
    check(100, cases(any_system(), 300), slices_are_the_work);
}

/// A single queue at no cost: after each instant, as many workers run as there are requests for them, and
/// requests start in the order in which they came.
fn no_worker_idles_while_requests_wait(case: &Case) -> Result<(), String> {
    let (_, log) = case.ready().watch(true);
    let (mut inside, mut running, mut next) = (0_u32, 0_u32, 0);
    for (at, &(now_ps, event)) in log.iter().enumerate() {
        match event {
            Event::Arrived { .. } => inside += 1,
            Event::Started { number, .. } => {
                running += 1;
                require(number == next, || format!("{number} starts before {next}"))?;
                next += 1;
            }
            Event::Completed { .. } => (inside, running) = (inside - 1, running - 1),
            _ => {}
        }
        let instant_ends = log.get(at + 1).is_none_or(|&(later_ps, _)| later_ps > now_ps);
        let conserves = !instant_ends || at + 1 == log.len() || running == inside.min(case.cores);
        require(conserves, || format!("{running} of {inside} run at {now_ps}"))?;
    }
    Ok(())
}

#[test]
fn a_single_queue_idles_no_worker_and_keeps_the_order() {
    let among = Among {
        disciplines: vec![DisciplineConfig::Fcfs],
        moves: false,
        allocations: false,
        per_core: false,
    };
    let single = cases(among, 400).prop_map(|case| {
        let (allocated, dispatch) = (case.cores, DispatchConfig::Random);
        Case { allocated, dispatch, pools: Pools::Equal(1), costs: Costs::FREE, ..case }
    });
    check(80, single, no_worker_idles_while_requests_wait);
}

/// Without moves, requests of one pool start in the order in which they were placed: by number, where
/// placing takes no time.
fn pools_are_first_come_first_served(case: &Case) -> Result<(), String> {
    let ready = case.ready();
    let sizes = ready.system.pools.sizes(case.cores).expect("pools that fit");
    let pool_of: Vec<usize> = (0..sizes.len()).flat_map(|pool| vec![pool; sizes[pool] as usize]).collect();
    let mut last = vec![None; sizes.len()];
    for (_, event) in ready.watch(true).1 {
        if let Event::Started { worker, number, .. } = event {
            let before = last[pool_of[worker as usize]].replace(number);
            require(before < Some(number), || format!("{number} starts after {before:?}"))?;
        }
    }
    Ok(())
}

#[test]
fn pools_keep_the_order_of_their_requests() {
    let among =
        Among { disciplines: vec![DisciplineConfig::Fcfs], moves: false, allocations: true, per_core: false };
    let free = cases(among, 400)
        .prop_map(|case| Case { costs: Costs { enqueue: Picos::ZERO, ..case.costs }, ..case });
    check(80, free, pools_are_first_come_first_served);
}

/// The requests of a run: number, arrival, class, size.
fn requests(case: &Case) -> Vec<(u64, u64, u8, u64)> {
    let arrived = |&(now_ps, event): &(u64, Event)| match event {
        Event::Arrived { number, class, service_ps } => Some((number, now_ps, class, service_ps)),
        _ => None,
    };
    case.ready().watch(false).1.iter().filter_map(arrived).collect()
}

#[test]
fn all_systems_meet_the_same_requests() {
    let two = (cases(any_system(), 200), cases(any_system(), 200));
    let config = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((one, other) in two)| {
        let other = Case {
            cores: one.cores,
            allocated: one.cores,
            pools: Pools::PerCore,
            dispatch: DispatchConfig::Random,
            rebalance: RebalanceConfig::None,
            allocation: caudal_policy::allocation::AllocationConfig::Static,
            discipline: other.discipline,
            costs: other.costs,
            ..one.clone()
        };
        let (a, b) = (requests(&one), requests(&other));
        let both = a.len().min(b.len());
        prop_assert!(both >= (one.length.measured as usize).min(10));
        prop_assert_eq!(&a[..both], &b[..both]);
    });
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    check(60, cases(any_system(), 200), |case| {
        let (first, log) = case.ready().watch(false);
        let (again, log_again) = case.ready().watch(false);
        require(log == log_again, || "the second run differs".to_owned())?;
        require(format!("{first:?}") == format!("{again:?}"), || "the second outcome differs".to_owned())
    });
}

/// Runs that nobody watches take short cuts.
fn unwatched_is_watched(case: &Case) -> Result<(), String> {
    let ready = case.ready();
    let (watched, unwatched) = (ready.watch(false).0, simulate(&ready.run(false), Unwatched));
    same(&watched, &unwatched)
}

fn same(one: &Outcome, other: &Outcome) -> Result<(), String> {
    require(format!("{one:?}") == format!("{other:?}"), || {
        let brief = |outcome: &Outcome| Outcome { classes: Vec::new(), ..outcome.clone() };
        format!("{:?}\nand: {:?}", brief(one), brief(other))
    })
}

#[test]
fn watching_changes_nothing() {
    check(150, cases(any_system(), 400), unwatched_is_watched);
}

/// What is built in is what a user could write.
#[test]
fn first_come_first_served_is_one_discipline_among_others() {
    let fcfs =
        Among { disciplines: vec![DisciplineConfig::Fcfs], moves: true, allocations: true, per_core: false };
    check(200, cases(fcfs, 400), |case| {
        let ready = case.ready();
        let system = &ready.system;
        let policies = Policies {
            discipline: || Fcfs,
            dispatch: AnyDispatch::from(system.dispatch),
            rebalance: AnyRebalance::from(system.rebalance),
            allocation: system.allocation.triggers().map(Triggered::new),
        };
        let mut own = simulate_with(&ready.run(false), policies, Unwatched);
        let mut built_in = ready.watch(false).0;
        // Only what is built in knows that nobody is preempted, and keeps account of this.
        own.classes.iter_mut().chain(&mut built_in.classes).for_each(|class| class.behind_long_ps = None);
        require(format!("{own:?}") == format!("{built_in:?}"), || {
            format!("{:?}\n{:?}", own.account, built_in.account)
        })
    });
}

#[test]
fn a_single_queue_by_starts_is_the_same_as_by_events() {
    let fcfs = Among {
        disciplines: vec![DisciplineConfig::Fcfs],
        moves: false,
        allocations: false,
        per_core: false,
    };
    let single = cases(fcfs, 3_000).prop_map(|case| Case {
        pools: Pools::Equal(1),
        allocated: case.cores,
        dispatch: DispatchConfig::Random,
        costs: Costs { dispatcher: Picos::ZERO, ..case.costs },
        ..case
    });
    check(300, single, unwatched_is_watched);
}

/// Cores in every number of vectors and in trees, with ties and without, and queues that are long or empty.
#[test]
fn a_single_queue_by_starts_is_the_same_as_by_events_in_long_runs() {
    let machines = [(1, 0.9), (7, 0.5), (9, 0.97), (16, 0.8), (17, 0.3), (32, 0.95), (33, 0.9), (70, 1.1)];
    let sizes =
        [Sizes::Exponential(1_000), Sizes::Grid(vec![100, 1_000]), Sizes::Grid(vec![50, 100, 20_000])];
    for (seed, (cores, load)) in (1..).zip(machines) {
        for (sizes, gaps) in sizes.iter().zip([Gaps::Poisson, Gaps::Grid(50), Gaps::Poisson]) {
            let case = Case {
                cores,
                allocated: cores,
                pools: Pools::Equal(1),
                load,
                seed,
                sizes: sizes.clone(),
                gaps,
                length: Length { warm_up: 1_000, measured: 20_000 },
                dispatch: DispatchConfig::Random,
                rebalance: RebalanceConfig::None,
                discipline: DisciplineConfig::Fcfs,
                allocation: AllocationConfig::Static,
                costs: Costs::default(),
            };
            unwatched_is_watched(&case).unwrap_or_else(|differs| panic!("{case:?}: {differs}"));
        }
    }
}

/// Stealing on cores that stay, and nothing else.
fn plain_stealing(requests: u64) -> impl Strategy<Value = Case> {
    let fcfs =
        Among { disciplines: vec![DisciplineConfig::Fcfs], moves: true, allocations: false, per_core: true };
    let amount = prop_oneof![Just(Amount::Half), Just(Amount::One)];
    let dispatch = prop_oneof![Just(DispatchConfig::Random), Just(DispatchConfig::RoundRobin)];
    (cases(fcfs, requests), amount, dispatch, prop_oneof![Just(50_u64), 20_u64..200]).prop_map(
        |(case, amount, dispatch, check_ns)| Case {
            allocated: case.cores,
            allocation: AllocationConfig::Static,
            rebalance: RebalanceConfig::WorkStealing(WorkStealingConfig { amount }),
            dispatch,
            costs: Costs {
                dispatcher: Picos::ZERO,
                dispatcher_quantum: Picos::ZERO,
                steal_check: case.costs.steal_check.max(Picos::from_nanos(check_ns)),
                ..case.costs
            },
            ..case
        },
    )
}

#[test]
fn plain_stealing_is_the_same_as_by_events() {
    check(150, plain_stealing(1_500), unwatched_is_watched);
}

/// A machine of which some cores are held is a machine of so many cores.
#[test]
fn cores_that_are_not_held_are_not_there() {
    let fluid = ProcessorSharingConfig { quantum: Picos::ZERO, ..ProcessorSharingConfig::default() };
    let mut disciplines = vec![
        DisciplineConfig::Fcfs,
        DisciplineConfig::ProcessorSharing(fluid),
        DisciplineConfig::Las(LasConfig { quantum: Picos::ZERO, ..LasConfig::default() }),
    ];
    disciplines.extend(sharing());
    disciplines.extend(keyed());
    let one = Among { disciplines, moves: false, allocations: false, per_core: false };
    let held = cases(one, 400).prop_map(|case| Case {
        pools: Pools::Equal(1),
        allocation: AllocationConfig::Static,
        dispatch: DispatchConfig::Random,
        ..case
    });
    check(200, held, |case| {
        let all = Case { allocated: case.cores, ..case.clone() };
        // The load is that of the whole machine, and halves are exact.
        let half = Case { cores: 2 * case.cores, load: case.load / 2.0, ..all.clone() };
        let [all, half] = [all, half].map(|case| simulate(&case.ready().run(false), Unwatched));
        same(&all, &half)
    });
}

/// Workers begin to walk when the first requests arrive.
#[test]
fn plain_stealing_is_the_same_as_by_events_from_the_first_moment_on() {
    let gaps = Gaps::Grid(50);
    for (seed, cores) in (0..300).zip([2, 16, 17, 32, 33, 64, 70].into_iter().cycle()) {
        let check = Picos::from_nanos(50);
        let case = Case {
            cores,
            allocated: cores,
            pools: Pools::PerCore,
            load: 0.05,
            seed,
            sizes: Sizes::Exponential(1_000),
            gaps,
            length: Length { warm_up: 0, measured: 10 },
            dispatch: DispatchConfig::Random,
            rebalance: RebalanceConfig::WorkStealing(WorkStealingConfig::default()),
            discipline: DisciplineConfig::Fcfs,
            allocation: AllocationConfig::Static,
            costs: Costs { steal_check: check, steal: check, ..Costs::default() },
        };
        unwatched_is_watched(&case).unwrap_or_else(|differs| panic!("{case:?}: {differs}"));
    }
}

/// Rare coincidences have the time to come, and where all times are multiples of 100 ns the common ones too.
#[test]
fn plain_stealing_is_the_same_as_by_events_in_long_runs() {
    let machines = [
        (2, 0.7),
        (13, 0.4),
        (16, 0.9),
        (32, 0.1),
        (32, 0.8),
        (33, 0.5),
        (64, 0.3),
        (65, 0.6),
        (90, 0.2),
        (130, 0.9),
    ];
    for (seed, (cores, load)) in (1..).zip(machines) {
        for sizes in [Sizes::Exponential(1_000_000), Sizes::Grid(vec![500, 500, 500, 5_500])] {
            let case = Case {
                seed,
                pools: Pools::PerCore,
                rebalance: RebalanceConfig::WorkStealing(WorkStealingConfig::default()),
                costs: Costs::default(),
                sizes,
                ..Case::plain(cores, load, 10_000)
            };
            unwatched_is_watched(&case).unwrap_or_else(|why| panic!("{case:?}: {why}"));
        }
    }
}

/// Who steals from a pool keeps others from being sent there, for as long as that takes: less than a check, as long, or
/// many checks.
#[test]
fn plain_stealing_is_the_same_as_by_events_however_long_steals_take() {
    let machines = [(65, 0.1), (66, 0.4), (70, 0.6), (90, 0.8), (130, 0.95)];
    for (seed, (cores, load)) in (100..).zip(machines) {
        for steal_ns in [0, 30, 100, 130, 300, 2_000] {
            let sizes =
                if seed % 2 == 0 { Sizes::Exponential(1_000_000) } else { Sizes::Grid(vec![500, 1_500]) };
            let case = Case {
                seed,
                pools: Pools::PerCore,
                rebalance: RebalanceConfig::WorkStealing(WorkStealingConfig::default()),
                costs: Costs { steal: Picos::from_nanos(steal_ns), ..Costs::default() },
                sizes,
                ..Case::plain(cores, load, 10_000)
            };
            unwatched_is_watched(&case).unwrap_or_else(|why| panic!("{case:?}: {why}"));
        }
    }
}

/// Order-sensitive, over (request, completion time).
fn fingerprint(log: &[(u64, Event)]) -> u64 {
    log.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, &(now_ps, event)| match event {
        Event::Completed { number, .. } => (hash ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ now_ps)
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(29),
        _ => hash,
    })
}

/// A dozen systems whose results are pinned.
fn golden_cases() -> Vec<Case> {
    let plain = |cores| Case { costs: Costs::default(), ..Case::plain(cores, 0.7, 20_000) };
    let per_core = |cores| Case { pools: Pools::PerCore, ..plain(cores) };
    let stealing = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    let shedding = RebalanceConfig::WorkShedding(WorkSheddingConfig::default());
    let sharing = |fresh, lone| {
        let quantum = Picos::from_nanos(500);
        DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
            quantum,
            fresh,
            lone,
            started_max: STARTED_MAX,
        })
    };
    let sizes = Sizes::Grid(vec![500, 500, 500, 20_000]);
    let msq = DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq });
    let two = DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 });
    vec![
        plain(16),
        Case { rebalance: stealing, ..per_core(32) },
        Case { rebalance: shedding, ..per_core(8) },
        Case { dispatch: two, ..per_core(8) },
        Case {
            dispatch: msq,
            discipline: sharing(Fresh::First, Lone::Elide),
            sizes: sizes.clone(),
            ..per_core(16)
        },
        Case { discipline: sharing(Fresh::Tail, Lone::Yield), sizes: sizes.clone(), ..plain(16) },
        Case { discipline: DisciplineConfig::Srpt, sizes: sizes.clone(), ..plain(4) },
        Case {
            discipline: DisciplineConfig::Las(LasConfig {
                quantum: Picos::from_micros(1),
                ..LasConfig::default()
            }),
            sizes,
            ..plain(4)
        },
        Case {
            seed: 2,
            rebalance: stealing,
            length: Length { warm_up: 0, measured: 5_000 },
            ..per_core(200)
        },
        Case { seed: 3, load: 0.2, rebalance: stealing, ..per_core(3) },
        Case {
            seed: 4,
            gaps: Gaps::Constant,
            sizes: Sizes::Constant(1_000),
            rebalance: stealing,
            ..per_core(16)
        },
        Case {
            seed: 5,
            gaps: Gaps::Grid(50),
            sizes: Sizes::Constant(500),
            dispatch: msq_random(),
            ..per_core(5)
        },
    ]
}

fn msq_random() -> DispatchConfig {
    DispatchConfig::Jsq(JsqConfig { ties: Ties::Random })
}

#[test]
fn results_are_those_of_last_time() {
    // A change here means that results have changed: say so in the changelog.
    const GOLDEN: [u64; 12] = [
        0x920894f992309a9b,
        0x47a7f79059545406,
        0x6e154caa6e65b963,
        0x97465d04c5165094,
        0xac253d2dd3d258f5,
        0xf07eaea7bf385843,
        0x279139f6e8200876,
        0x361485e238be5221,
        0xe91b5d9a0189e673,
        0x3c12c412baf8b5cf,
        0x3be73d698e89a308,
        0x3f6146581b7432f6,
    ];
    let now: Vec<u64> = golden_cases().iter().map(|case| fingerprint(&case.ready().watch(false).1)).collect();
    assert_eq!(now, GOLDEN, "the fingerprints are now {now:#018x?}");
}
