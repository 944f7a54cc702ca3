//! The host of pools that nobody takes from, and cores with hardware contexts: against the general host, against closed
//! forms, and in small scenes that can be followed by hand.

use std::collections::BTreeSet;

use caudal_config::coherence::{self, SystemHost};
use caudal_config::{ContextsConfig, Costs, Pools, System};
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_policy::discipline::lanes::Broken;
use caudal_policy::discipline::{DisciplineConfig, LasConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::rebalance::{RebalanceConfig, WorkStealingConfig};
use caudal_policy::{List, Picos};
use caudal_sim::engine::{Event, Length, Outcome, Unwatched, simulate};
use proptest::prelude::*;

use crate::common::{Case, Gaps, Ready, Sizes, recorded};

const US: u64 = 1_000_000;

fn lanes(cutoffs_ns: &[u64], reservations: &[u32]) -> SitaConfig {
    let cutoffs: Vec<Picos> = cutoffs_ns.iter().map(|&ns| Picos::from_nanos(ns)).collect();
    SitaConfig::new(&cutoffs, reservations).expect("sound lanes")
}

/// `case` on one core with a context for each of its cores; `throughput` by active contexts.
fn on_one_core(case: &Case, throughput: Vec<f64>) -> Ready {
    let ready = case.ready();
    let contexts = ContextsConfig { throughput, ..ContextsConfig::of(case.cores) };
    let system = System {
        cores: 1,
        cores_allocated: 1,
        contexts: Some(contexts),
        pools: Pools::PerCore,
        ..ready.system.clone()
    };
    Ready { system, ..ready }
}

fn free(cores: u32) -> Vec<f64> {
    (1..=cores).map(f64::from).collect()
}

/// When each request completed.
fn completions(ready: &Ready) -> Vec<(u64, u64)> {
    let (_, events) = ready.watch(false);
    let done = events.into_iter().filter_map(|(at_ps, event)| match event {
        Event::Completed { number, .. } => Some((number, at_ps)),
        _ => None,
    });
    let mut done: Vec<_> = done.collect();
    done.sort_unstable();
    done
}

fn statistics(outcome: &Outcome) -> String {
    let class = |class: &caudal_sim::engine::ClassStats| {
        let of = |p: f64| class.latency_ps.percentile(p);
        format!(
            "{:?} {:?} {} {} {}",
            [50.0, 99.0, 100.0].map(of),
            class.latency_ps.mean(),
            class.queued_ps,
            class.preempted_ps,
            class.preemptions
        )
    };
    let account = &outcome.account;
    let accounts = [account.busy_ps, account.held_ps, account.switching_ps, account.preemptions.into()];
    format!("{:?} {accounts:?} {}", outcome.classes.iter().map(class).collect::<Vec<_>>(), outcome.end_ps)
}

fn small_cases() -> impl Strategy<Value = Case> {
    let lanes = (1_u32..=3, 1_u32..=3, 0_u32..=2).prop_map(|(a, b, c)| match c {
        0 => lanes(&[700], &[a, b]),
        _ => lanes(&[700, 2_500], &[a, b, c]),
    });
    let policy = prop_oneof![
        Just(DisciplineConfig::IsqdSita as fn(SitaConfig) -> DisciplineConfig),
        Just(DisciplineConfig::SqdSita as fn(SitaConfig) -> DisciplineConfig)
    ];
    let sizes = prop_oneof![Just(Sizes::Exponential(1_000)), Just(Sizes::Grid(vec![500, 1_000, 4_000]))];
    let gaps = prop_oneof![Just(Gaps::Poisson), Just(Gaps::Grid(500))];
    let cost = prop_oneof![Just(0_u64), Just(100_000), Just(333_333)];
    (lanes, policy, sizes, gaps, cost, 0.3..1.1, 0_u64..1_000).prop_map(
        |(lanes, policy, sizes, gaps, cost_ps, load, seed)| Case {
            discipline: policy(lanes),
            sizes,
            gaps,
            load,
            seed,
            costs: Costs { preemption: Picos(cost_ps), ..Costs::FREE },
            ..Case::plain(lanes.servers(), load, 300)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_stays_in_its_pools_is_simulated_alike_by_both_hosts(case in small_cases()) {
        let ready = case.ready();
        let general = simulate(&ready.run(true), Unwatched);
        let own = simulate(&ready.run(false), Unwatched);
        prop_assert_eq!(statistics(&own), statistics(&general));
    }

    #[test]
    fn contexts_that_do_not_slow_each_other_down_are_cores(case in small_cases()) {
        let contexts = completions(&on_one_core(&case, free(case.cores)));
        prop_assert_eq!(contexts, completions(&case.ready()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn disciplines_that_order_by_key_are_those_of_cores(
        by_least_service in any::<bool>(), cores in 1_u32..=8, load in 0.3..1.1, seed in 0_u64..1_000,
        cost_ps in prop_oneof![Just(0_u64), Just(77_777)],
    ) {
        let quantum = Picos::from_nanos(300);
        let discipline = match by_least_service {
            true => DisciplineConfig::Las(LasConfig { quantum, ..LasConfig::default() }),
            false => DisciplineConfig::Srpt,
        };
        let costs = Costs { preemption: Picos(cost_ps), ..Costs::FREE };
        let case = Case { discipline, seed, costs, ..Case::plain(cores, load, 300) };
        prop_assert_eq!(completions(&on_one_core(&case, free(cores))), completions(&case.ready()));
    }
}

#[test]
fn arrivals_at_the_time_of_a_completion_come_in_the_same_order() {
    let discipline =
        DisciplineConfig::Las(LasConfig { quantum: Picos::from_nanos(300), ..LasConfig::default() });
    // Request 126 arrives when 123 completes, at 32,420,317 ps.
    let load = 0.9595801493701921;
    let case = Case { discipline, seed: 375, costs: Costs::FREE, ..Case::plain(4, load, 300) };
    assert_eq!(completions(&on_one_core(&case, free(4))), completions(&case.ready()));
}

#[test]
fn bounds_hold_on_contexts_that_slow_each_other_down() {
    for seed in 0..60 {
        let lanes = lanes(&[700, 2_500], &[2, 1, 1]);
        let case = Case { discipline: DisciplineConfig::IsqdSita(lanes), seed, ..Case::plain(4, 0.5, 400) };
        let ready = on_one_core(&case, vec![1.0, 1.6, 1.95, 2.3]);
        assert_eq!(ready.inspect(|_| true), None, "seed {seed}");
    }
}

/// Requests of one core with `throughput` that arrive at `arrivals_ns` and need `service_ns` each.
fn scenery(
    (service_ns, arrivals_ns): (u64, &[u64]),
    contexts: ContextsConfig,
    discipline: DisciplineConfig,
    costs: Costs,
) -> Ready {
    let count = arrivals_ns.len() as u64 + 1;
    let case = Case { sizes: Sizes::Constant(service_ns), costs: Costs::FREE, ..Case::plain(1, 0.5, count) };
    let ready = case.ready();
    // Recorded times are not all equal: one more request comes when the others are long gone.
    let arrivals = recorded(&[arrivals_ns, &[1_000_000]].concat());
    let system =
        System { contexts: Some(contexts), pools: Pools::PerCore, discipline, ..System::single_queue(1) };
    Ready { system, costs, arrivals, length: Length { warm_up: 0, measured: count }, ..ready }
}

/// When the requests of a [`scenery`] complete, in ns.
fn scene(
    requests: (u64, &[u64]),
    contexts: ContextsConfig,
    discipline: DisciplineConfig,
    costs: Costs,
) -> Vec<u64> {
    let ready = scenery(requests, contexts, discipline, costs);
    let mut done: Vec<u64> = completions(&ready).into_iter().map(|(_, at_ps)| at_ps / 1_000).collect();
    done.pop();
    done
}

/// Requests, and when something became of them in ns.
type Times = Vec<(u64, u64)>;

/// Who begins to run, or stops without being done, in a [`scenery`].
fn turns(ready: &Ready) -> (Times, Times) {
    let (mut begun, mut stopped) = (Vec::new(), Vec::new());
    for (at_ps, event) in ready.watch(false).1 {
        match event {
            Event::Started { number, .. } => begun.push((number, at_ps / 1_000)),
            Event::Stopped { number, .. } => stopped.push((number, at_ps / 1_000)),
            _ => {}
        }
    }
    (begun, stopped)
}

fn contexts(throughput: &[f64]) -> ContextsConfig {
    ContextsConfig { throughput: throughput.to_vec(), ..ContextsConfig::of(throughput.len() as u32) }
}

#[test]
fn who_shares_a_core_goes_slower_while_the_other_is_there() {
    // Alone from 0 to 1 us; then both at 0.75: the first has 3 us left, for 4 us; the second has done 3 us by then.
    let done = scene((4_000, &[0, 1_000]), contexts(&[1.0, 1.5]), DisciplineConfig::Fcfs, Costs::FREE);
    assert_eq!(done, [5_000, 6_000]);
}

#[test]
fn cutoffs_count_time_and_not_work() {
    // Both reach the cutoff of 2 us of time at once, with half of that done. One lane-1 context: the second waits.
    let lanes = DisciplineConfig::SqdSita(lanes(&[2_000], &[1, 1]));
    let done = scene((2_000, &[0, 0]), contexts(&[1.0, 1.0]), lanes, Costs::FREE);
    // The first goes on alone, at full speed, for its last us; then the second.
    assert_eq!(done, [3_000, 4_000]);
}

#[test]
fn who_was_stopped_pays_for_cold_misses() {
    let lanes = DisciplineConfig::SqdSita(lanes(&[2_000], &[1, 1]));
    let costs = Costs { preemption: Picos::from_nanos(300), cold_miss: Picos::from_micros(1), ..Costs::FREE };
    let done = scene((2_000, &[0, 0]), contexts(&[1.0, 1.0]), lanes, costs);
    // The switch takes half of the core for 300 ns: the first is 150 ns later, the second waits 1 us for memory.
    assert_eq!(done, [3_150, 5_150]);
}

#[test]
fn who_waits_for_memory_leaves_the_core_to_the_others() {
    let lanes = DisciplineConfig::SqdSita(lanes(&[2_000], &[1, 1]));
    let costs = Costs { cold_miss: Picos::from_micros(1), ..Costs::FREE };
    let done = scene((2_000, &[0, 0, 3_200]), contexts(&[1.0, 1.0]), lanes, costs);
    // 2.0: both at the cutoff with half of their work; the first goes on alone, to 3.0. Then the second waits for memory to
    // 4.0; the third has the core from 3.2 on, half of it from 4.0 to its cutoff at 5.2, with 0.6 us left. The second
    // ends alone at 5.6, the third waits for memory to 6.6.
    assert_eq!(done, [3_000, 5_600, 7_200]);
}

#[test]
fn virtual_contexts_keep_further_requests_outside() {
    let sharing =
        ProcessorSharingConfig { quantum: Picos::from_micros(1), ..ProcessorSharingConfig::default() };
    let sharing = DisciplineConfig::ProcessorSharing(sharing);
    let arrivals = [0, 0, 0];
    let all = scene((3_000, &arrivals), contexts(&[1.0]), sharing, Costs::FREE);
    assert_eq!(all, [7_000, 8_000, 9_000], "they take turns");
    let two = ContextsConfig { virtual_contexts: Some(2), ..contexts(&[1.0]) };
    assert_eq!(
        scene((3_000, &arrivals), two, sharing, Costs::FREE),
        [5_000, 7_000, 9_000],
        "the third waits, and has the first slice when it comes in"
    );
    let one = ContextsConfig { virtual_contexts: Some(1), ..contexts(&[1.0]) };
    assert_eq!(scene((3_000, &arrivals), one, sharing, Costs::FREE), [3_000, 6_000, 9_000]);
}

#[test]
fn who_comes_in_for_one_that_has_completed_finds_its_context_undecided() {
    let lanes = DisciplineConfig::IsqdSita(lanes(&[1_000], &[2, 1]));
    let config = ContextsConfig { virtual_contexts: Some(4), ..contexts(&free(3)) };
    // 3: the fourth request takes the context of the third, to 4, and waits in the second lane from then on. 5: the fifth
    // finds all virtual contexts taken. 10: the first one completes, and the fifth comes in. The second lane has more
    // than its one context, so that of the first is the fifth's, and nobody has to be interrupted for it.
    let ready = scenery((10_000, &[0, 100, 200, 3_000, 5_000]), config, lanes, Costs::FREE);
    let (begun, stopped) = turns(&ready);
    assert_eq!(begun.iter().find(|(number, _)| *number == 4), Some(&(4, 10_000)), "{begun:?}");
    assert_eq!(stopped.iter().filter(|(_, at_ns)| *at_ns == 10_000).count(), 0, "{stopped:?}");
    assert_eq!(ready.inspect(|_| true), None);
}

#[test]
fn who_comes_in_interrupts_if_the_free_context_is_due_elsewhere() {
    // Three lanes of one context each; requests of 10 us reach the last lane after 2 us.
    let lanes = DisciplineConfig::IsqdSita(lanes(&[1_000, 2_000], &[1, 1, 1]));
    let config = ContextsConfig { virtual_contexts: Some(5), ..contexts(&free(3)) };
    for seed in 0..40 {
        let mut arrivals: Vec<u64> = (0..30).map(|n| n * 1_700 + (n * n * seed * 131) % 1_900).collect();
        arrivals.sort_unstable();
        let ready = scenery((10_000, &arrivals), config.clone(), lanes, Costs::FREE);
        assert_eq!(ready.inspect(|_| true), None, "seed {seed}");
    }
}

#[test]
fn virtual_contexts_are_those_of_a_core() {
    // Eight requests at once; who has begun is served in turns of 1 us, of the context's 4 us.
    let sharing =
        ProcessorSharingConfig { quantum: Picos::from_micros(1), ..ProcessorSharingConfig::default() };
    let sharing = DisciplineConfig::ProcessorSharing(sharing);
    let begun_at_once = |cores: u32, pools: Pools, most: u32| {
        let config = ContextsConfig { virtual_contexts: Some(most), ..contexts(&free(2)) };
        let mut ready = scenery((4_000, &[0; 24]), config, sharing, Costs::FREE);
        ready.system = System { cores, cores_allocated: cores, pools, ..ready.system };
        // Nobody completes before 4 us; by then all that may begin have had a turn.
        let begun = turns(&ready).0.into_iter().filter(|(_, at_ns)| *at_ns < 4_000);
        begun.map(|(number, _)| number).collect::<BTreeSet<u64>>().len()
    };
    assert_eq!(begun_at_once(1, Pools::PerCore, 3), 3, "a core");
    assert_eq!(begun_at_once(2, Pools::Equal(1), 3), 6, "a pool of two cores");
    assert_eq!(begun_at_once(1, Pools::Equal(2), 3), 4, "two pools of a core: two each");
}

#[test]
fn a_core_of_contexts_is_a_birth_and_death_process() {
    // Exponential services without memory: departures at the core's throughput, whatever the order.
    let throughput = [1.0, 1.6, 1.95, 2.3];
    let (load, mu) = (0.7 * 2.3, 1.0);
    let mut weights = vec![1.0];
    for n in 1..4_000_usize {
        let rate = throughput[n.min(4) - 1] * mu;
        weights.push(weights[n - 1] * load / rate);
    }
    let total: f64 = weights.iter().sum();
    let requests: f64 = weights.iter().enumerate().map(|(n, weight)| n as f64 * weight).sum::<f64>() / total;
    let expected_us = requests / load;
    for discipline in [DisciplineConfig::Fcfs, DisciplineConfig::IsqdSita(lanes(&[1_500], &[3, 1]))] {
        let means: Vec<f64> = (0..12)
            .map(|seed| {
                let case = Case { discipline, seed, ..Case::plain(4, 0.7 * 2.3 / 4.0, 60_000) };
                let outcome = simulate(&on_one_core(&case, throughput.to_vec()).run(false), Unwatched);
                let class = &outcome.classes[0];
                class.latency_ps.mean() / US as f64
            })
            .collect();
        let mean = means.iter().sum::<f64>() / 12.0;
        let error = (means.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 11.0 / 12.0).sqrt();
        assert!(error < 0.02 * expected_us, "does not tell: {error}");
        assert!((mean - expected_us).abs() < 5.0 * error, "{mean} ± {error}, expected {expected_us}");
    }
}

/// Contexts `numbers`, from 10 arrivals in a window on the second, and so on.
fn adapting(window_us: u64, numbers: &[u32]) -> LoadAdaptationConfig {
    let rates: Vec<u32> = (1..numbers.len() as u64).map(|n| (n * 10_000_000 / window_us) as u32).collect();
    LoadAdaptationConfig {
        window: Picos::from_micros(window_us),
        contexts: List::new(numbers).expect("a few"),
        break_even_per_s: List::new(&rates).expect("a few"),
    }
}

fn four_that_adapt(window_us: u64, numbers: &[u32]) -> ContextsConfig {
    let adaptation = Some(adapting(window_us, numbers));
    ContextsConfig { adaptation, ..contexts(&free(4)) }
}

#[test]
fn who_is_switched_off_on_its_way_to_a_lane_leaves_its_place_to_others() {
    let lanes = DisciplineConfig::SqdSita(lanes(&[1_000], &[2, 2]));
    let costs = Costs { preemption: Picos::from_nanos(300), ..Costs::FREE };
    // 98.9: six requests, four of them run. 99.9: two go on in the second lane, two leave their contexts, which turn to
    // the requests that wait. 100.0: two contexts are enough from now on, so these are switched off at 100.2.
    let few = [0, 98_900, 98_900, 98_900, 98_900, 98_900, 98_900];
    // Later, so many that all four are switched on again.
    let many: Vec<u64> = (0..12).map(|n| 510_000 + 1_000 * n).collect();
    let arrivals = [&few[..], &many].concat();
    let done = scene((2_000, &arrivals), four_that_adapt(100, &[2, 4]), lanes, costs);
    // Two contexts do the remaining 2 * 2 + 2 * 1 + 2 * 1 us and a few switches.
    assert!(done[..7].iter().all(|&done_ns| done_ns < 110_000), "{done:?}");
}

#[test]
fn who_was_called_and_is_switched_off_is_replaced() {
    let lanes = DisciplineConfig::IsqdSita(lanes(&[1_000], &[2, 2]));
    let arrivals = [0, 90_000, 90_000, 90_000, 90_000, 105_000];
    // 91: all four run in the second lane. 100: two contexts are enough, and one of the second lane. 105: the youngest is
    // called for the fifth request, and switched off; so is the next one; then one comes.
    for (cost_ns, begins_ns) in [(0, 105_000), (300, 105_900)] {
        let costs = Costs { preemption: Picos::from_nanos(cost_ns), ..Costs::FREE };
        let ready = scenery((50_000, &arrivals), four_that_adapt(100, &[2, 4]), lanes, costs);
        let (begun, stopped) = turns(&ready);
        assert_eq!(begun.iter().find(|(number, _)| *number == 5), Some(&(5, begins_ns)), "{begun:?}");
        let first: Vec<u64> = stopped.iter().take(3).map(|(number, _)| *number).collect();
        assert_eq!(first, [4, 3, 2], "{stopped:?}");
        assert_eq!(ready.inspect(|_| true), None);
    }
}

/// Bursts and lulls, in ns: every 200 us another distance between arrivals.
fn waves(seed: u64) -> Vec<u64> {
    let mut arrivals = vec![0];
    for wave in 0..12_u64 {
        let every_ns = [4_000, 700, 1_500, 450][((seed + wave * (1 + seed % 3)) % 4) as usize];
        let time = |n: u64| wave * 200_000 + n * every_ns + (n * n * 37 + seed) % 400;
        arrivals.extend((1..200_000 / every_ns).map(time));
    }
    arrivals.sort_unstable();
    arrivals
}

#[test]
fn bounds_hold_while_contexts_come_and_go() {
    for seed in 0..120_u64 {
        let lanes = lanes(&[700, 2_500], &[[2, 1, 1], [1, 1, 2], [1, 2, 1]][seed as usize % 3]);
        let discipline =
            if seed % 4 == 3 { DisciplineConfig::SqdSita(lanes) } else { DisciplineConfig::IsqdSita(lanes) };
        let cost_ns = [0, 100, 333][seed as usize / 3 % 3];
        let costs = Costs { preemption: Picos::from_nanos(cost_ns), ..Costs::FREE };
        let arrivals = waves(seed);
        let throughput = if seed % 2 == 0 { free(4) } else { vec![1.0, 1.6, 1.95, 2.3] };
        let adaptation = Some(adapting(20, &[1, 2, 4]));
        let config = ContextsConfig { adaptation, ..contexts(&throughput) };
        let case = Case { seed, ..Case::plain(1, 0.5, arrivals.len() as u64) };
        let system =
            System { contexts: Some(config), pools: Pools::PerCore, discipline, ..System::single_queue(1) };
        let ready = Ready { system, costs, arrivals: recorded(&arrivals), ..case.ready() };
        // Who goes may be the one that a lane was due, while others are at work below it: equation 3 holds when they decide.
        let counts = |broken: Broken| !matches!(broken, Broken::Lower(_));
        assert_eq!(ready.inspect(counts), None, "seed {seed}");
    }
}

#[test]
fn load_adaptation_follows_the_load() {
    // 1 ms windows; 0.2, then 1.0, then 0.2 requests a us.
    let adaptation = LoadAdaptationConfig {
        window: Picos::from_micros(1_000),
        contexts: List::new(&[1, 4]).expect("two"),
        break_even_per_s: List::new(&[500_000]).expect("one"),
    };
    let mut arrivals = Vec::new();
    for (from_us, every_ns) in [(0, 5_000), (10_000, 1_000), (20_000, 5_000)] {
        arrivals.extend((0..10_000_000 / every_ns).map(|n| from_us * 1_000 + n * every_ns));
    }
    let case = Case { sizes: Sizes::Constant(1_500), ..Case::plain(1, 0.5, arrivals.len() as u64) };
    let config = ContextsConfig { adaptation: Some(adaptation), ..contexts(&[1.0, 1.6, 1.95, 2.3]) };
    let system = System { contexts: Some(config), pools: Pools::PerCore, ..System::single_queue(1) };
    let ready = Ready { system, arrivals: recorded(&arrivals), ..case.ready() };
    let (_, events) = ready.watch(false);
    let most_in = |from_us: u64, to_us: u64| {
        let span = from_us * US..to_us * US;
        let workers = events.iter().filter_map(|(at_ps, event)| match event {
            Event::Started { worker, .. } if span.contains(at_ps) => Some(*worker),
            _ => None,
        });
        workers.max().expect("somebody ran") + 1
    };
    assert_eq!(most_in(2_000, 10_000), 1, "one context at low load");
    assert!(most_in(12_000, 20_000) >= 2, "more of them at high load");
    assert_eq!(most_in(22_000, 30_000), 1, "and one again");
}

/// Cores of several contexts each, a queue a core, between which contexts steal; `throughput` by active contexts. The same as cores of a
/// machine that share queues, if contexts do not slow each other down.
#[derive(Clone, Debug)]
struct Stealing {
    cores: u32,
    count: u32,
    discipline: DisciplineConfig,
    costs: Costs,
    case: Case,
}

fn stealing_cases() -> impl Strategy<Value = Stealing> {
    let quantum = Picos::from_nanos(300);
    let time = || prop_oneof![Just(50_000_u64), Just(100_000), Just(37_003)].prop_map(Picos);
    let sizes = prop_oneof![Just(Sizes::Exponential(1_000)), Just(Sizes::Grid(vec![500, 1_000, 4_000]))];
    let gaps = prop_oneof![Just(Gaps::Poisson), Just(Gaps::Grid(50)), Just(Gaps::GridThatEnds(100))];
    let machine = (2_u32..=4, 2_u32..=4, 0_u8..6);
    (machine, (time(), time(), time()), sizes, gaps, 0.1..1.1, 0_u64..1 << 30).prop_map(
        move |((cores, count, which), (steal_check, steal, preemption), sizes, gaps, load, seed)| {
            let discipline = match which {
                0 => DisciplineConfig::Fcfs,
                1 => DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
                    quantum,
                    ..ProcessorSharingConfig::default()
                }),
                2 => DisciplineConfig::Las(LasConfig { quantum, ..LasConfig::default() }),
                3 => DisciplineConfig::Srpt,
                4 => DisciplineConfig::SqdSita(lanes(&[700], &[count - 1, 1])),
                _ => DisciplineConfig::IsqdSita(lanes(&[700], &[count - 1, 1])),
            };
            let costs = Costs { steal_check, steal, preemption, ..Costs::FREE };
            let rebalance = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
            let workers = cores * count;
            let pools = Pools::Equal(cores);
            let case = Case {
                pools,
                rebalance,
                discipline,
                costs,
                sizes,
                gaps,
                seed,
                ..Case::plain(workers, load, 250)
            };
            Stealing { cores, count, discipline, costs, case }
        },
    )
}

impl Stealing {
    fn on_contexts(&self, config: ContextsConfig) -> Ready {
        let ready = self.case.ready();
        let system = System {
            contexts: Some(config),
            pools: Pools::PerCore,
            discipline: self.discipline,
            rebalance: self.case.rebalance,
            ..System::single_queue(self.cores)
        };
        let wrong = coherence::check(&system, &self.costs, SystemHost::Simulator);
        assert!(wrong.is_empty(), "{}", wrong[0]);
        Ready { system, ..ready }
    }
}

/// When each request completed, and what thieves did.
fn completions_and_steals(ready: &Ready) -> String {
    let (outcome, events) = ready.watch(false);
    let seen = |event: &Event| matches!(event, Event::Completed { .. } | Event::Moved { .. });
    let seen: Vec<_> = events.into_iter().filter(|(_, event)| seen(event)).collect();
    let account = outcome.account;
    format!(
        "{seen:?} {:?}",
        [
            account.looking_ps,
            account.moving_ps,
            account.busy_ps,
            account.steals.into(),
            account.steals_empty.into()
        ]
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn contexts_that_do_not_slow_each_other_down_steal_as_cores_do(stealing in stealing_cases()) {
        let config = ContextsConfig { throughput: free(stealing.count), ..ContextsConfig::of(stealing.count) };
        let contexts = completions_and_steals(&stealing.on_contexts(config));
        prop_assert_eq!(contexts, completions_and_steals(&stealing.case.ready()));
    }

    #[test]
    fn what_is_stolen_begins_within_the_virtual_contexts_and_is_done(stealing in stealing_cases(), more in 0_u32..3) {
        let count = stealing.count;
        let config = ContextsConfig { virtual_contexts: Some(count + more), ..ContextsConfig::of(count) };
        let ready = stealing.on_contexts(config);
        // The last arrival is far away, so that all others complete before.
        let arrivals_ns: Vec<u64> = (0..80).map(|number| number / 8 * 900).chain([1_000_000_000]).collect();
        let ready =
            Ready { arrivals: recorded(&arrivals_ns), length: Length { warm_up: 0, measured: 80 }, ..ready };
        let (outcome, events) = ready.watch(false);
        prop_assert_eq!((outcome.unfinished, outcome.account.completed), (0, 80));
        prop_assert_eq!(outcome.account.busy_ps, outcome.account.offered_ps);
        let mut begun = vec![BTreeSet::new(); stealing.cores as usize];
        for (_, event) in events {
            match event {
                Event::Started { worker, number, .. } => {
                    begun[(worker / count) as usize].insert(number);
                }
                Event::Completed { worker, number } => {
                    begun[(worker / count) as usize].remove(&number);
                }
                _ => {}
            }
            prop_assert!(begun.iter().all(|begun| begun.len() <= (count + more) as usize));
        }
    }
}
