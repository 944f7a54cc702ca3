//! Random [`Case`]s: every policy, every cost, and times on a common grid, so that events coincide.

use caudal_config::{Costs, Pools, Rate, Stalls};
use caudal_policy::allocation::{
    AllocationConfig, CaladanConfig, DelayRangeConfig, Grow, IdleBufferConfig, PerTaskConfig, ShenangoConfig,
    Shrink, Triggers, UtilizationRangeConfig,
};
use caudal_policy::discipline::{
    DisciplineConfig, Fresh, LasConfig, Lone, ProcessorSharingConfig, STARTED_MAX, SitaConfig,
};
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig, JsqConfig, PowerOfKConfig, Ties};
use caudal_policy::rebalance::{
    Amount, RebalanceConfig, StealAndShedConfig, WorkSheddingConfig, WorkStealingConfig,
};
use caudal_policy::{List, Picos};
use caudal_sim::engine::Length;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Case, Gaps, Sizes};

/// Which disciplines, moves and allocations to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Among {
    pub(crate) disciplines: Vec<DisciplineConfig>,
    pub(crate) moves: bool,
    pub(crate) allocations: bool,
    /// One worker a pool.
    pub(crate) per_core: bool,
}

fn nanos(ns: u64) -> Picos {
    Picos::from_nanos(ns)
}

/// Processor sharing in all its forms.
pub(crate) fn sharing() -> Vec<DisciplineConfig> {
    let mut all = Vec::new();
    for quantum in [100, 200, 500, 2_000, 5_000] {
        let bounds = [STARTED_MAX, 1, 2];
        for (fresh, started_max) in
            [Fresh::First, Fresh::Tail].into_iter().flat_map(|fresh| bounds.map(|max| (fresh, max)))
        {
            for lone in [Lone::Elide, Lone::Yield] {
                let quantum = nanos(quantum);
                let config = ProcessorSharingConfig { quantum, fresh, lone, started_max };
                all.push(DisciplineConfig::ProcessorSharing(config));
            }
        }
    }
    all
}

/// Least attained service, and shortest remaining processing time.
pub(crate) fn keyed() -> Vec<DisciplineConfig> {
    let forms = [(100, STARTED_MAX), (300, STARTED_MAX), (1_000, STARTED_MAX), (300, 1), (300, 2)];
    let las = forms.map(|(quantum, started_max)| LasConfig { quantum: nanos(quantum), started_max });
    las.map(DisciplineConfig::Las).into_iter().chain([DisciplineConfig::Srpt]).collect()
}

/// Lanes by time served, of each kind; [`coherent`] gives them reservations.
pub(crate) fn lanes() -> Vec<DisciplineConfig> {
    let mut all = Vec::new();
    for cutoffs in [&[300][..], &[100, 1_000], &[200, 500, 2_000], &[50, 100, 150, 400, 800]] {
        let cutoffs: Vec<Picos> = cutoffs.iter().map(|&ns| nanos(ns)).collect();
        let config = SitaConfig::new(&cutoffs, &vec![1; cutoffs.len() + 1]).expect("sound lanes");
        all.extend([
            DisciplineConfig::PreemptiveSita(config),
            DisciplineConfig::SqdSita(config),
            DisciplineConfig::IsqdSita(config),
        ]);
    }
    all
}

/// `config` with as many of its lanes as there are `servers` for, and all of these reserved.
fn reserved(config: SitaConfig, servers: u32, seed: u64) -> SitaConfig {
    let lanes = config.lanes().min(servers) as usize;
    let mut reservations = vec![1; lanes];
    for server in lanes as u64..u64::from(servers) {
        reservations[(seed.wrapping_add(server * server) % lanes as u64) as usize] += 1;
    }
    SitaConfig::new(&config.cutoffs[..lanes - 1], &reservations).expect("sound lanes")
}

fn machine(per_core: bool) -> impl Strategy<Value = (u32, Pools)> {
    let cores = prop_oneof![
        3 => select(vec![1_u32, 2, 3, 5]),
        3 => select(vec![8_u32, 16, 33]),
        1 => Just(200_u32),
    ];
    cores.prop_flat_map(move |cores| {
        let mut pools = vec![Pools::PerCore];
        if !per_core {
            pools.push(Pools::Equal(1));
            pools.extend([2, 3, 5].into_iter().filter(|n| cores.is_multiple_of(*n)).map(Pools::Equal));
            if cores > 2 {
                pools.push(Pools::Sizes(vec![1, cores - 1]));
                pools.push(Pools::Sizes(vec![cores - 2, 1, 1]));
            }
        }
        (Just(cores), select(pools))
    })
}

fn dispatches() -> impl Strategy<Value = DispatchConfig> {
    select(vec![
        DispatchConfig::Random,
        DispatchConfig::Random,
        DispatchConfig::RoundRobin,
        DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 }),
        DispatchConfig::PowerOfK(PowerOfKConfig { k: 3 }),
        DispatchConfig::Jsq(JsqConfig { ties: Ties::Random }),
        DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq }),
        DispatchConfig::Jbsq(JbsqConfig { bound: 1 }),
        DispatchConfig::Jbsq(JbsqConfig { bound: 3 }),
        DispatchConfig::LeastWork,
    ])
}

fn rebalances(moves: bool) -> impl Strategy<Value = RebalanceConfig> {
    let stealing = |amount| RebalanceConfig::WorkStealing(WorkStealingConfig { amount });
    let shedding = |ns| RebalanceConfig::WorkShedding(WorkSheddingConfig { threshold: nanos(ns) });
    let both =
        |ns| RebalanceConfig::StealAndShed(StealAndShedConfig { threshold: nanos(ns), amount: Amount::Half });
    let mut all = vec![RebalanceConfig::None];
    if moves {
        all.extend([stealing(Amount::Half), stealing(Amount::One), shedding(200), shedding(2_000)]);
        all.extend([both(200), both(2_000)]);
    }
    select(all)
}

fn allocations(any: bool) -> impl Strategy<Value = AllocationConfig> {
    let mut all = vec![AllocationConfig::Static];
    if any {
        all.extend([
            AllocationConfig::PerTask(PerTaskConfig {}),
            AllocationConfig::Shenango(ShenangoConfig { interval: nanos(500), threshold: nanos(400) }),
            AllocationConfig::Shenango(ShenangoConfig::default()),
            AllocationConfig::Caladan(CaladanConfig::default()),
            AllocationConfig::DelayRange(DelayRangeConfig::default()),
            AllocationConfig::DelayRange(DelayRangeConfig {
                low: nanos(100),
                high: nanos(300),
                interval: nanos(500),
            }),
            AllocationConfig::UtilizationRange(UtilizationRangeConfig::default()),
            AllocationConfig::IdleBuffer(IdleBufferConfig { cores: 1, interval: nanos(1_000) }),
        ]);
        let triggers =
            |grow, shrink| AllocationConfig::Triggers(Triggers { grow, shrink, interval: nanos(700) });
        all.extend([
            triggers(Grow::NoThief, Shrink::FailedWalk),
            triggers(Grow::Queued { above: 0.5 }, Shrink::Utilization { below: 0.3 }),
            triggers(Grow::DelayMax { above: nanos(300) }, Shrink::Completion),
        ]);
    }
    select(all)
}

/// Stalls of tens of nanoseconds to microseconds, on the grid of times or not, as often as a machine could hardly stand.
fn stalls() -> impl Strategy<Value = Option<Stalls>> {
    let lengths = select(vec![
        vec![(0.0, 100), (1.0, 100)],
        vec![(0.0, 50), (0.5, 300), (1.0, 300)],
        vec![(0.0, 0), (0.9, 1_000), (1.0, 20_000)],
    ]);
    let share = prop_oneof![Just(0.01), Just(0.1), Just(0.4)];
    let stalls = (lengths, share).prop_map(|(lengths, share): (Vec<(f64, u64)>, f64)| {
        let lengths: Vec<(f64, Picos)> = lengths.into_iter().map(|(at, ns)| (at, nanos(ns))).collect();
        let lengths = List::new(&lengths).expect("few enough");
        let one = Stalls { rate: Rate::per_second(1.0).expect("a rate"), lengths };
        Stalls { rate: Rate::per_second(share / one.share()).expect("a rate"), lengths }
    });
    prop_oneof![2 => Just(None), 1 => stalls.prop_map(Some)]
}

/// `costs` with those that only measured runs need, in one case of two.
fn with_measured(costs: impl Strategy<Value = Costs>) -> impl Strategy<Value = Costs> {
    let time = |cost| prop_oneof![Just(0_u64), Just(50), Just(100), Just(cost)].prop_map(nanos);
    let sleeps = prop_oneof![Just(0_u64), Just(500), Just(2_000)].prop_map(nanos);
    let more = (time(37), time(200), time(300), time(1_500), sleeps, stalls());
    (costs, any::<bool>(), more).prop_map(|(costs, measured, more)| {
        let (start, finish, hop, wake_up, sleep_after, stalls) = more;
        if measured { Costs { start, finish, hop, wake_up, sleep_after, stalls, ..costs } } else { costs }
    })
}

/// Costs that are multiples of each other, or that never meet, or nothing.
fn costs() -> impl Strategy<Value = Costs> {
    let unit_ps = prop_oneof![3 => Just(50_000_u64), 2 => Just(100_000), 1 => Just(37_003), 1 => Just(0)];
    let times = || prop_oneof![2 => Just(1_u64), 1 => 0_u64..=4];
    let moves = (times(), times(), times(), times(), times(), prop_oneof![Just(0_u64), Just(4), Just(50)]);
    let turns = (prop_oneof![Just(0_u64), Just(1), Just(2)], prop_oneof![3 => Just(0_u64), 1 => 1_u64..=8]);
    let dispatcher = prop_oneof![3 => Just((0_u64, 0_u64)), 1 => Just((1, 0)), 1 => Just((1, 1))];
    let probe_factor = prop_oneof![3 => Just(1.0), 1 => Just(1.1), 1 => Just(1.25)];
    (unit_ps, moves, turns, dispatcher, probe_factor).prop_map(
        |(unit, moves, turns, dispatcher, probe_factor)| {
            let cost = |times: u64| Picos(unit * times);
            Costs {
                steal_check: cost(moves.0),
                steal: cost(moves.1),
                shed: cost(moves.2),
                enqueue: cost(moves.3),
                hand_over: cost(moves.4),
                core_allocation: cost(moves.5),
                preemption: cost(turns.0),
                cold_miss: Picos::ZERO,
                overrun: cost(turns.1),
                probe_factor,
                dispatcher: cost(dispatcher.0),
                dispatcher_quantum: cost(dispatcher.1),
                // For requests that fork only.
                fork: Picos::ZERO,
                look: Picos::ZERO,
                ..Costs::FREE
            }
        },
    )
}

fn sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        2 => select(vec![100_u64, 500, 1_000]).prop_map(Sizes::Constant),
        3 => select(vec![vec![100, 1_000], vec![200, 300, 400, 5_000], vec![50, 100, 150, 20_000]])
            .prop_map(Sizes::Grid),
        2 => Just(Sizes::Exponential(1_000)),
    ]
}

fn gaps() -> impl Strategy<Value = Gaps> {
    prop_oneof![
        2 => Just(Gaps::Poisson),
        1 => Just(Gaps::Constant),
        3 => select(vec![Gaps::Grid(50), Gaps::Grid(100)]),
        1 => select(vec![Gaps::GridThatEnds(50), Gaps::GridThatEnds(100)]),
    ]
}

/// Cases of `among`, of up to 10 + `requests` requests.
pub(crate) fn cases(among: Among, requests: u64) -> impl Strategy<Value = Case> {
    let system = (
        machine(among.per_core),
        dispatches(),
        rebalances(among.moves),
        select(among.disciplines),
        allocations(among.allocations),
        0.0..=1.0_f64,
    );
    let load = prop_oneof![3 => 0.05..0.95_f64, 1 => 0.95..1.2_f64, 1 => Just(0.5)];
    let length = (0..requests / 4, 10..10 + requests);
    let work = (with_measured(costs()), sizes(), gaps(), load, 0..1_000_000_u64, length);
    (system, work).prop_map(|(system, work)| {
        let ((cores, pools), dispatch, rebalance, discipline, allocation, share) = system;
        let (costs, sizes, gaps, load, seed, (warm_up, measured)) = work;
        let length = Length { warm_up, measured };
        let allocated = 1 + (f64::from(cores - 1) * share.max(0.3)) as u32;
        let case = Case {
            cores,
            allocated,
            pools,
            dispatch,
            rebalance,
            discipline,
            allocation,
            costs,
            sizes,
            gaps,
            load,
            seed,
            length,
        };
        coherent(case)
    })
}

/// Changes what the reader of files would refuse.
fn coherent(mut case: Case) -> Case {
    let quantum = match case.discipline {
        DisciplineConfig::ProcessorSharing(config) => Some(config.quantum),
        DisciplineConfig::Las(config) => Some(config.quantum),
        _ => None,
    };
    if quantum == Some(Picos::ZERO) {
        let Costs { start, finish, hop, wake_up, stalls, .. } = Costs::FREE;
        case.costs = Costs { start, finish, hop, wake_up, stalls, ..case.costs };
    }
    if let DisciplineConfig::PreemptiveSita(config)
    | DisciplineConfig::SqdSita(config)
    | DisciplineConfig::IsqdSita(config) = &mut case.discipline
    {
        if matches!(case.pools, Pools::Sizes(_)) {
            case.pools = Pools::Equal(1);
        }
        let sizes = case.pools.sizes(case.cores).expect("pools that fit the machine");
        *config = reserved(*config, sizes[0], case.seed);
    }
    if matches!(case.discipline, DisciplineConfig::PreemptiveSita(_)) {
        case.allocation = AllocationConfig::Static;
        case.allocated = case.cores;
    }
    let pools = case.pools.count(case.cores);
    if case.cores > 1 && pools == 1 {
        case.rebalance = RebalanceConfig::None;
        if !matches!(case.dispatch, DispatchConfig::RoundRobin) {
            case.dispatch = DispatchConfig::Random;
        }
    }
    match &mut case.dispatch {
        DispatchConfig::PowerOfK(config) => config.k = config.k.min(pools),
        DispatchConfig::Jsq(config) if !matches!(case.discipline, DisciplineConfig::ProcessorSharing(_)) => {
            config.ties = Ties::Random;
        }
        _ => {}
    }
    let steals =
        matches!(case.rebalance, RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_));
    let by_arrival =
        case.allocation.triggers().is_some_and(|t| matches!(t.grow, Grow::Arrival | Grow::NoThief));
    let shared_pools = pools != 1 && pools != case.cores;
    if shared_pools || (by_arrival && !steals) {
        case.allocation = AllocationConfig::Static;
    }
    if shared_pools || case.allocation == AllocationConfig::Static && case.seed.is_multiple_of(2) {
        case.allocated = case.cores;
    }
    case
}
