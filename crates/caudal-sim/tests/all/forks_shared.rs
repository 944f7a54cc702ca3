//! Requests that fork and share cores: with turns (processor sharing), and on cores that come and go. Where no request forks, or nobody's
//! turn ends, or no core goes, the outcome is that of simpler systems, to the last bit.

use caudal_config::{Costs, System};
use caudal_policy::Picos;
use caudal_policy::allocation::{
    AllocationConfig, CaladanConfig, DelayRangeConfig, Grow, IdleBufferConfig, ShenangoConfig, Shrink,
    Triggers, UtilizationRangeConfig,
};
use caudal_policy::discipline::{DisciplineConfig, Fresh, Lone, ProcessorSharingConfig, STARTED_MAX};
use caudal_policy::parallelism::{ParallelismConfig, TailControlConfig};
use caudal_sim::engine::{Event, Outcome, Run, ShortCuts, Unwatched, simulate};
use caudal_workload::{DagSpec, Grain};
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{Case, Gaps, Ready, Sizes, recorded};
use crate::forks_model::Shapes;

fn ns(ns: u64) -> Picos {
    Picos::from_nanos(ns)
}

fn shapes(serial: f64, loops: u32) -> Shapes {
    let grain = Grain { least: ns(100), per_core: 2 };
    let spec = DagSpec { serial, segments: 1, loops, grain, ..DagSpec::default() };
    Shapes::Same(spec.compile().expect("a sound graph"))
}

/// `case` with requests of `shapes` on one queue.
fn ready(case: &Case, shapes: &Shapes, system: System) -> Ready {
    let ready = case.ready();
    let system = System { cores_allocated: case.allocated, ..system };
    Ready { system, service: shapes.service(ready.service), ..ready }
}

/// When each request completed, and all that was counted.
fn facts(ready: &Ready) -> String {
    let (outcome, events) = ready.watch(false);
    let done = events.iter().filter_map(|&(at_ps, event)| match event {
        Event::Completed { number, .. } => Some((number, at_ps)),
        _ => None,
    });
    format!("{:?} {:?} {:?}", outcome.account, outcome.backlog, done.collect::<Vec<_>>())
}

fn numbers(outcome: &Outcome) -> String {
    format!("{:?} {:?} {:?} {}", outcome.classes, outcome.account, outcome.backlog, outcome.end_ps)
}

fn policies() -> impl Strategy<Value = ParallelismConfig> {
    let thresholds = vec![(1, ns(2_500)), (3, ns(600))];
    let tail = TailControlConfig { thresholds, ..TailControlConfig::default() };
    select(vec![
        ParallelismConfig::StealFirst,
        ParallelismConfig::AdmitFirst,
        ParallelismConfig::TailControl(TailControlConfig { span: true, ..tail.clone() }),
        ParallelismConfig::TailControl(tail.clone()),
        ParallelismConfig::Clairvoyant(tail),
    ])
}

fn cases() -> impl Strategy<Value = Case> {
    let gaps = select(vec![Gaps::Poisson, Gaps::Grid(50), Gaps::GridThatEnds(100)]);
    let sizes =
        select(vec![Sizes::Exponential(2_000), Sizes::Constant(1_000), Sizes::Grid(vec![200, 1_000, 5_000])]);
    let cost = || select(vec![0_u64, 33, 100]).prop_map(ns);
    (1_u32..=6, 0.3..1.2, 0_u64..1 << 40, gaps, sizes, (cost(), cost(), cost(), cost())).prop_map(
        |(cores, load, seed, gaps, sizes, (preemption, overrun, steal_check, core_allocation))| {
            let costs = Costs { preemption, overrun, steal_check, core_allocation, ..Costs::FREE };
            Case { seed, gaps, sizes, costs, ..Case::plain(cores, load, 200) }
        },
    )
}

fn sharing() -> impl Strategy<Value = DisciplineConfig> {
    let quantum = select(vec![100_u64, 300, 1_000]).prop_map(ns);
    let bound = select(vec![1_u32, 2, STARTED_MAX]);
    (quantum, select(vec![Fresh::First, Fresh::Tail]), bound).prop_map(|(quantum, fresh, started_max)| {
        let config = ProcessorSharingConfig { quantum, fresh, lone: Lone::Elide, started_max };
        DisciplineConfig::ProcessorSharing(config)
    })
}

fn allocations() -> impl Strategy<Value = AllocationConfig> {
    let triggers = |grow, shrink| AllocationConfig::Triggers(Triggers { grow, shrink, interval: ns(700) });
    select(vec![
        AllocationConfig::Shenango(ShenangoConfig { interval: ns(500), threshold: ns(400) }),
        AllocationConfig::Caladan(CaladanConfig::default()),
        AllocationConfig::DelayRange(DelayRangeConfig { low: ns(100), high: ns(300), interval: ns(500) }),
        AllocationConfig::UtilizationRange(UtilizationRangeConfig::default()),
        AllocationConfig::IdleBuffer(IdleBufferConfig { cores: 1, interval: ns(1_000) }),
        triggers(Grow::Queued { above: 0.5 }, Shrink::Utilization { below: 0.3 }),
        triggers(Grow::DelayMax { above: ns(300) }, Shrink::Completion),
    ])
}

/// A table of tail-control gives up requests, and looks at those that run; neither has a cost here, and who was given up is not held against
/// a system without.
fn without_given_up(facts: &str) -> String {
    let end = facts.find(", given_up").expect("an account");
    let rest = facts[end..].find('}').expect("its end") + end;
    format!("{}{}", &facts[..end], &facts[rest..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn requests_that_do_not_fork_take_turns_as_on_any_queue(
        case in cases(), discipline in sharing(), parallelism in policies(),
    ) {
        let system = |parallelism| System { discipline, parallelism, ..System::single_queue(case.cores) };
        let serial = shapes(1.0, 1);
        let forked = facts(&ready(&case, &serial, system(parallelism)));
        let plain = facts(&ready(&case, &serial, system(ParallelismConfig::Serial)));
        prop_assert_eq!(without_given_up(&forked), without_given_up(&plain));
    }

    #[test]
    fn requests_that_do_not_fork_are_allocated_cores_as_on_any_queue(
        case in cases(), allocation in allocations(), share in 0.0..1.0_f64, turns in prop::option::of(sharing()),
    ) {
        let case = Case { allocated: 1 + (f64::from(case.cores - 1) * share) as u32, ..case };
        let discipline = turns.unwrap_or_default();
        let system = |parallelism| System { allocation, discipline, parallelism, ..System::single_queue(case.cores) };
        let serial = shapes(1.0, 1);
        let forked = facts(&ready(&case, &serial, system(ParallelismConfig::AdmitFirst)));
        let plain = facts(&ready(&case, &serial, system(ParallelismConfig::Serial)));
        prop_assert_eq!(without_given_up(&forked), without_given_up(&plain));
    }

    #[test]
    fn turns_that_never_end_and_cores_that_never_go_change_nothing(
        case in cases(), parallelism in policies(), loops in 1_u32..=3, serial in select(vec![0.0, 0.3]),
    ) {
        let shapes = shapes(serial, loops);
        let plain = System { parallelism, ..System::single_queue(case.cores) };
        let quantum = ns(3_600_000_000_000);
        let turns = ProcessorSharingConfig { quantum, started_max: 1_000_000, ..ProcessorSharingConfig::default() };
        let never = Triggers { grow: Grow::Queued { above: 1e6 }, shrink: Shrink::Never, interval: ns(700) };
        let expected = numbers(&simulate(&ready(&case, &shapes, plain.clone()).run(false), Unwatched));
        let with_turns = System { discipline: DisciplineConfig::ProcessorSharing(turns), ..plain.clone() };
        let with_grants = System { allocation: AllocationConfig::Triggers(never), ..plain.clone() };
        for system in [with_turns, with_grants] {
            let found = simulate(&ready(&case, &shapes, system).run(false), Unwatched);
            prop_assert_eq!(numbers(&found), expected.clone());
        }
        // The same without code of its own for the policy.
        let ready = ready(&case, &shapes, plain);
        let general = simulate(&Run { short_cuts: ShortCuts::NONE, ..ready.run(false) }, Unwatched);
        prop_assert_eq!(numbers(&general), expected);
    }

    #[test]
    fn all_that_forks_and_is_interrupted_is_done_in_the_end(
        case in cases(), discipline in sharing(), parallelism in policies(), allocation in prop::option::of(allocations()),
        loops in 1_u32..=3,
    ) {
        // The last arrival is far away, so that all others complete before.
        let arrivals_ns: Vec<u64> = (0..60).map(|number| number * 400).chain([100_000_000]).collect();
        let allocation = allocation.unwrap_or(AllocationConfig::Static);
        let case = Case { gaps: Gaps::Poisson, ..case };
        let system = System { discipline, parallelism, allocation, ..System::single_queue(case.cores) };
        let ready = ready(&case, &shapes(0.1, loops), system);
        let length = caudal_sim::engine::Length { warm_up: 0, measured: 60 };
        let ready = Ready { arrivals: recorded(&arrivals_ns), length, ..ready };
        let outcome = simulate(&ready.run(false), Unwatched);
        prop_assert_eq!(outcome.unfinished, 0);
        prop_assert_eq!(outcome.account.completed, 60);
        prop_assert_eq!(outcome.account.busy_ps, outcome.account.offered_ps);
    }
}

/// Requests with two leaves each, on one core; when each completed, in ns.
fn by_hand(discipline: DisciplineConfig) -> Vec<(u64, u64)> {
    let grain = Grain { least: ns(100), per_core: 2 };
    let dag = DagSpec { grain, ..DagSpec::default() }.compile().expect("a sound graph");
    let case = Case { sizes: Sizes::Constant(4_000), ..Case::plain(1, 0.5, 3) };
    let system = System { discipline, parallelism: ParallelismConfig::StealFirst, ..System::single_queue(1) };
    let ready = ready(&case, &Shapes::Same(dag), system);
    let length = caudal_sim::engine::Length { warm_up: 0, measured: 3 };
    let ready = Ready { arrivals: recorded(&[0, 500, 1_000_000]), length, ..ready };
    let (_, events) = ready.watch(false);
    let done = events.into_iter().filter_map(|(at_ps, event)| match event {
        Event::Completed { number, .. } => Some((number, at_ps / 1_000)),
        _ => None,
    });
    done.take(2).collect()
}

#[test]
fn a_turn_is_that_of_a_request_and_not_of_a_leaf() {
    // Leaves of 2 us. In turns of 3 us the first request is interrupted in its second leaf, the second one in its own; then each has 1 us
    // left.
    let quantum = ns(3_000);
    let turns = ProcessorSharingConfig { quantum, ..ProcessorSharingConfig::default() };
    assert_eq!(by_hand(DisciplineConfig::ProcessorSharing(turns)), [(0, 7_000), (1, 8_000)]);
    assert_eq!(by_hand(DisciplineConfig::Fcfs), [(0, 4_000), (1, 8_000)]);
}
