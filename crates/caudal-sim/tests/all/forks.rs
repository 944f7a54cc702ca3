//! Requests that fork: against a model, against closed forms, and where policies have to be the same to the last bit.

use std::collections::{HashMap, HashSet};

use caudal_config::{Costs, System};
use caudal_policy::Picos;
use caudal_policy::parallelism::{
    ClassConfig, DefaultTbbConfig, DequeEnd, LaneConfig, ParallelismConfig, RetuneConfig, Serial,
    TailControl, TailControlConfig, ThresholdTable,
};
use caudal_sim::engine::{Event, Length, Observer, Outcome, ShortCuts, Unwatched, simulate, simulate_forks};
use caudal_workload::{DagSpec, Grain, StepSpec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{Case, Gaps, Ready, Sizes, recorded};
use crate::forks_model::{Found, Model, Rules, Sample, Shapes, TailControl as TailControlRules, Task};

fn ns(ns: u64) -> Picos {
    Picos::from_nanos(ns)
}

/// The names of the classes of `case` with requests of `shapes`.
fn classes(case: &Case, shapes: &Shapes) -> Vec<String> {
    match shapes {
        Shapes::Same(_) => case.ready().service.classes().to_vec(),
        Shapes::Recorded(samples) => {
            let last = samples.iter().map(|sample| sample.class).max().unwrap_or(0);
            (0..=last).map(|class| format!("c{class}")).collect()
        }
    }
}

/// What a policy file says of `rules`, for requests of these classes.
fn config(rules: &Rules, classes: &[String]) -> ParallelismConfig {
    let pairs = |thresholds_ps: &[u64]| -> Vec<(u32, Picos)> {
        thresholds_ps.iter().enumerate().map(|(at, &ps)| (at as u32 + 1, Picos(ps))).collect()
    };
    let table = |thresholds_ps: &[u64]| TailControlConfig {
        thresholds: pairs(thresholds_ps),
        ..TailControlConfig::default()
    };
    match rules {
        Rules::Serial => ParallelismConfig::Serial,
        Rules::StealFirst => ParallelismConfig::StealFirst,
        Rules::AdmitFirst => ParallelismConfig::AdmitFirst,
        Rules::DefaultTbb { steal_end } => {
            let end = if *steal_end { DequeEnd::Steal } else { DequeEnd::Own };
            ParallelismConfig::DefaultTbb(DefaultTbbConfig { end })
        }
        Rules::TailControl(rules) => {
            let (last, own) = rules.thresholds_ps.split_last().expect("a table");
            let own =
                own.iter().map(|table| ClassConfig { thresholds: pairs(table), ..ClassConfig::default() });
            let lane = LaneConfig { workers: rules.kept as u32, cutoff: Picos(rules.cutoff_ps) };
            ParallelismConfig::TailControl(TailControlConfig {
                classes: classes.iter().cloned().zip(own).collect(),
                age: Picos(rules.age_ps),
                lane: (rules.kept > 0).then_some(lane),
                span: rules.span,
                ..table(last)
            })
        }
        Rules::Clairvoyant { thresholds_ps } => ParallelismConfig::Clairvoyant(table(thresholds_ps)),
    }
}

/// `case` with requests like `shapes` under `parallelism`.
fn ready(case: &Case, shapes: &Shapes, parallelism: ParallelismConfig) -> Ready {
    let ready = case.ready();
    let system = System { parallelism, ..System::single_queue(case.cores) };
    Ready { system, service: shapes.service(ready.service), ..ready }
}

struct Watch<'a>(&'a mut Vec<(u64, Event)>);

impl Observer for Watch<'_> {
    fn observe(&mut self, now_ps: u64, event: Event) {
        self.0.push((now_ps, event));
    }
}

/// Runs requests under `rules` in the engine: what happened.
fn watch(ready: &Ready, rules: &Rules) -> (Outcome, Vec<(u64, Event)>) {
    if *rules != Rules::Serial {
        return ready.watch(false);
    }
    // What is serial has an engine of its own; this is the one for requests that fork.
    let mut log = Vec::new();
    let outcome = simulate_forks(&ready.run(false), Serial, Watch(&mut log));
    (outcome, log)
}

/// Arrivals, work and classes of all requests that came.
fn requests(events: &[(u64, Event)]) -> Vec<(u64, u64, u8)> {
    let arrived = |&(at_ps, event): &(u64, Event)| match event {
        Event::Arrived { service_ps, class, .. } => Some((at_ps, service_ps, class)),
        _ => None,
    };
    events.iter().filter_map(arrived).collect()
}

/// When each request completed: its number, and the time.
fn completions(events: &[(u64, Event)]) -> Vec<(usize, u64)> {
    let completed = |&(at_ps, event): &(u64, Event)| match event {
        Event::Completed { number, .. } => Some((number as usize, at_ps)),
        _ => None,
    };
    let mut done: Vec<_> = events.iter().filter_map(completed).collect();
    done.sort_unstable();
    done
}

fn same(spec: &DagSpec) -> Shapes {
    Shapes::Same(spec.compile().expect("a sound graph"))
}

fn loops(per_core: u32) -> Shapes {
    let grain = Grain { least: ns(100), per_core };
    same(&DagSpec { grain, ..DagSpec::default() })
}

fn serial() -> Shapes {
    same(&DagSpec { serial: 1.0, segments: 1, ..DagSpec::default() })
}

fn shapes() -> impl Strategy<Value = Shapes> {
    let steps = prop::collection::vec(step(), 1..4);
    let of = |steps: Vec<StepSpec>, per_core| {
        let grain = Grain { least: ns(100), per_core };
        let spec = DagSpec { steps, grain, ..DagSpec::default() };
        Shapes::Same(spec.compile().unwrap_or_default())
    };
    prop_oneof![
        1 => (1_u32..=4).prop_map(loops),
        1 => Just(serial()),
        1 => (0.01..0.9, 1_u32..=4, 1_u32..=3, 1_u32..=3).prop_map(|(serial, segments, loops, per_core)| {
            let grain = Grain { least: ns(100), per_core };
            same(&DagSpec { serial, segments, loops, grain, ..DagSpec::default() })
        }),
        1 => (steps, 1_u32..=3).prop_map(move |(steps, per_core)| of(steps, per_core)),
        3 => prop::collection::vec(sample(), 1..8).prop_map(recorded_shapes),
    ]
}

/// Requests that often have as much work as others.
fn sample() -> impl Strategy<Value = Sample> {
    let task = (select(vec![0_u64, 100, 250, 400, 1_000]), select(vec![1_u32, 1, 2, 5]), any::<u8>());
    (0_u8..3, prop::collection::vec(task, 1..8)).prop_map(|(class, tasks)| {
        let task = |(at, (work_ns, leaves, before)): (usize, (u64, u32, u8))| Task {
            // Some work there is.
            work_ns: if at == 0 { work_ns.max(300) } else { work_ns },
            leaves,
            before: (0..at).filter(|earlier| before >> earlier & 1 == 1).collect(),
        };
        Sample { class, tasks: tasks.into_iter().enumerate().map(task).collect() }
    })
}

/// Numbers the classes as they come.
fn recorded_shapes(mut samples: Vec<Sample>) -> Shapes {
    let mut seen = Vec::new();
    for sample in &mut samples {
        if !seen.contains(&sample.class) {
            seen.push(sample.class);
        }
        sample.class = seen.iter().position(|class| *class == sample.class).expect("it was seen") as u8;
    }
    Shapes::Recorded(samples)
}

fn step() -> impl Strategy<Value = StepSpec> {
    let leaf = prop_oneof![(0.0..1.0).prop_map(StepSpec::Serial), (0.0..1.0).prop_map(StepSpec::Loop)];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let branch = prop::collection::vec(inner, 1..3);
        prop::collection::vec(branch, 1..3).prop_map(StepSpec::Fork)
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let table = || prop::collection::vec(select(vec![0_u64, 300_000, 1_000_000, 2_500_000, u64::MAX]), 1..6);
    prop_oneof![
        Just(Rules::Serial),
        Just(Rules::StealFirst),
        Just(Rules::AdmitFirst),
        any::<bool>().prop_map(|steal_end| Rules::DefaultTbb { steal_end }),
        tail_control(),
        table().prop_map(|thresholds_ps| Rules::Clairvoyant { thresholds_ps }),
    ]
}

fn tail_control() -> impl Strategy<Value = Rules> {
    let table = || prop::collection::vec(select(vec![0_u64, 300_000, 1_000_000, 2_500_000, u64::MAX]), 1..6);
    let lane = (0_usize..=3, select(vec![0_u64, 200_000, 900_000]));
    (prop::collection::vec(table(), 1..4), select(vec![0_u64, 77_000, 400_000]), lane, any::<bool>())
        .prop_map(|(thresholds_ps, age_ps, (kept, cutoff_ps), span)| {
            let cutoff_ps = if kept > 0 { cutoff_ps } else { u64::MAX };
            Rules::TailControl(TailControlRules { thresholds_ps, age_ps, kept, cutoff_ps, span })
        })
}

fn cases() -> impl Strategy<Value = Case> {
    let cost = || select(vec![0_u64, 10_000, 33_000, 100_000]);
    let gaps = select(vec![Gaps::Poisson, Gaps::Grid(50), Gaps::GridThatEnds(100)]);
    let sizes =
        select(vec![Sizes::Exponential(2_000), Sizes::Constant(1_000), Sizes::Grid(vec![200, 1_000, 5_000])]);
    let costs = (cost(), cost(), cost(), select(vec![0_u64, 5_000, 20_000]));
    (1_u32..=6, 0.2..1.2, 0_u64..1 << 40, gaps, sizes, costs).prop_map(
        |(cores, load, seed, gaps, sizes, (check, steal, fork, look))| {
            let costs = Costs {
                steal_check: Picos(check),
                steal: Picos(steal),
                fork: Picos(fork),
                look: Picos(look),
                ..Costs::FREE
            };
            Case { seed, gaps, sizes, costs, ..Case::plain(cores, load, 150) }
        },
    )
}

fn modelled(ready: &Ready, shapes: &Shapes, rules: &Rules, requests: &[(u64, u64, u8)]) -> Found {
    let cores = ready.system.cores as usize;
    Model::run((rules, shapes, &ready.costs), cores, ready.seed, requests)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_is_the_model(case in cases(), shapes in shapes(), rules in rules()) {
        let ready = ready(&case, &shapes, config(&rules, &classes(&case, &shapes)));
        let (_, events) = watch(&ready, &rules);
        let found = modelled(&ready, &shapes, &rules, &requests(&events));
        let done = completions(&events);
        prop_assert!(!done.is_empty());
        for &(number, at_ps) in &done {
            prop_assert_eq!(found.completed_ps[number], Some(at_ps), "request {}", number);
        }
        // All that the engine did not see complete did so later.
        let end_ps = events.last().map_or(0, |event| event.0);
        let seen = |number: usize| done.binary_search_by_key(&number, |done| done.0).is_ok();
        for (number, at_ps) in found.completed_ps.iter().enumerate() {
            prop_assert!(seen(number) || at_ps.is_some_and(|at_ps| at_ps >= end_ps), "request {}", number);
        }
    }

    #[test]
    fn serial_requests_are_the_same_whoever_decides(case in cases()) {
        let case = Case { costs: Costs { look: Picos::ZERO, ..case.costs }, ..case };
        let infinite = vec![u64::MAX];
        let all = [
            Rules::StealFirst,
            Rules::AdmitFirst,
            Rules::TailControl(TailControlRules::plain(vec![1_000_000, 100_000])),
            Rules::Clairvoyant { thresholds_ps: vec![1_000_000, 100_000] },
            Rules::TailControl(TailControlRules::plain(infinite)),
        ];
        let first = watch(&ready(&case, &serial(), config(&Rules::Serial, &classes(&case, &serial()))), &Rules::Serial).1;
        for rules in all {
            prop_assert_eq!(&watch(&ready(&case, &serial(), config(&rules, &classes(&case, &serial()))), &rules).1, &first);
        }
    }

    #[test]
    fn an_infinite_threshold_is_steal_first(case in cases(), shapes in shapes()) {
        let case = Case { costs: Costs { look: Picos::ZERO, ..case.costs }, ..case };
        let steal_first = ready(&case, &shapes, ParallelismConfig::StealFirst);
        let (_, events) = steal_first.watch(false);
        let mut log = Vec::new();
        let never: TailControl<false> =
            TailControl::new(ThresholdTable::never().into(), &TailControlConfig::default());
        simulate_forks(&steal_first.run(false), never, Watch(&mut log));
        prop_assert_eq!(events, log);
    }

    /// What is watched and what is not are compiled apart.
    #[test]
    fn watching_changes_nothing(case in cases(), shapes in shapes(), rules in rules()) {
        let ready = ready(&case, &shapes, config(&rules, &classes(&case, &shapes)));
        let (watched, _) = ready.watch(false);
        let unwatched = simulate(&ready.run(false), Unwatched);
        let accounts = |outcome: &Outcome| format!("{:?} {:?} {}", outcome.classes, outcome.account, outcome.end_ps);
        prop_assert_eq!(accounts(&watched), accounts(&unwatched));
    }
}

/// Requests of `case` that arrive at `arrivals_ns`; one more comes when they are long gone.
fn alone(case: Case, arrivals_ns: &[u64], shapes: &Shapes, parallelism: ParallelismConfig) -> Ready {
    let length = Length { warm_up: 0, measured: arrivals_ns.len() as u64 };
    let end_ns = arrivals_ns.last().map_or(0, |last| last + 1_000_000_000);
    let arrivals = recorded(&[arrivals_ns, &[end_ns]].concat());
    Ready { arrivals, length, ..ready(&case, shapes, parallelism) }
}

#[test]
fn one_request_alone_takes_no_less_than_its_work_over_the_cores_and_its_span() {
    let costs = Costs { steal_check: ns(100), steal: ns(30), fork: ns(25), ..Costs::FREE };
    let branch = |share| vec![StepSpec::Serial(share / 4.0), StepSpec::Loop(share)];
    let fork = DagSpec {
        steps: vec![
            StepSpec::Fork(vec![branch(1.0), branch(2.0)]),
            StepSpec::Serial(0.2),
            StepSpec::Loop(1.0),
        ],
        grain: Grain { least: ns(100), per_core: 4 },
        ..DagSpec::default()
    };
    let tenth = DagSpec { serial: 0.1, steps: Vec::new(), ..fork.clone() };
    let work_ns = 1_000_000;
    let task = |work_ns, leaves, before: &[usize]| Task { work_ns, leaves, before: before.to_vec() };
    let tasks = vec![
        task(40_000, 1, &[]),
        task(500_000, 32, &[0]),
        task(90_001, 1, &[0]),
        task(300_000, 40, &[2]),
        task(69_999, 1, &[1, 3]),
    ];
    let recorded = Shapes::Recorded(vec![Sample { class: 0, tasks }]);
    for (shapes, cores) in [
        (loops(4), 16),
        (loops(4), 3),
        (same(&tenth), 16),
        (same(&fork), 8),
        (recorded.clone(), 4),
        (recorded, 16),
    ] {
        let mut sum_ps = 0;
        for seed in 0..200 {
            // One after the other, each alone: a run of one has no middle.
            let case = Case { sizes: Sizes::Constant(work_ns), costs, seed, ..Case::plain(cores, 0.5, 4) };
            let arrivals_ns = [0, 10_000_000, 20_000_000, 30_000_000];
            let ready = alone(case, &arrivals_ns, &shapes, ParallelismConfig::StealFirst);
            let (outcome, events) = ready.watch(false);
            let requests = requests(&events);
            let found = modelled(&ready, &shapes, &Rules::StealFirst, &requests[..4]);
            let work_ps = work_ns * 1_000;
            let least_ps = (work_ps / u64::from(cores)).max(shapes.span_ps(work_ps));
            let done = completions(&events);
            for &(number, at_ps) in &done[..4] {
                let took_ps = at_ps - requests[number].0;
                assert!(took_ps >= least_ps, "{took_ps} {least_ps}");
                sum_ps += took_ps;
            }
            // All time of all cores up to the last completion, to the picosecond: work, forks, attempts, steals, and waiting.
            let (forks_ps, steals_ps) = (found.forks * costs.fork.0, found.steals * costs.steal.0);
            let tried_ps = found.attempts * costs.steal_check.0;
            let spent_ps = 4 * work_ps + forks_ps + tried_ps + steals_ps - found.begun_ps;
            assert_eq!(u64::from(cores) * done[3].1, spent_ps + found.waited_ps);
            // The engine's account says the same.
            let account = outcome.account;
            assert_eq!(account.busy_ps, u128::from(4 * work_ps));
            assert_eq!(account.switching_ps, u128::from(forks_ps));
            assert_eq!(account.looking_ps, u128::from(tried_ps));
            assert_eq!(account.moving_ps, u128::from(steals_ps));
            assert_eq!((account.steals, account.completed), (found.steals, 4));
        }
        // Greedy but for attempts: a constant times the span, of which a leaf and some attempts a level are the least.
        let leaf_ns = work_ns as f64 / f64::from(4 * cores);
        let span_ns = shapes.span_ps(work_ns * 1_000) as f64 / 1e3 + leaf_ns + 20.0 * 100.0;
        let mean_ns = sum_ps as f64 / 800.0 / 1e3;
        let bound_ns = work_ns as f64 / f64::from(cores) + 2.0 * span_ns;
        assert!(mean_ns <= bound_ns, "{mean_ns} ns on average, {bound_ns} ns at most");
    }
}

#[test]
fn with_a_threshold_of_nothing_all_that_runs_is_marked_at_a_check_and_stolen_no_more() {
    let [check, look] = [10_000, 5_000].map(Picos);
    let costs = Costs { steal_check: check, look, ..Costs::FREE };
    let case = Case { sizes: Sizes::Grid(vec![500, 5_000]), costs, ..Case::plain(6, 0.7, 300) };
    let rules = Rules::TailControl(TailControlRules::plain(vec![0]));
    let shapes = loops(4);
    let ready = ready(&case, &shapes, config(&rules, &classes(&case, &shapes)));
    let (_, events) = ready.watch(false);
    let found = modelled(&ready, &shapes, &rules, &requests(&events));
    assert!(found.marked > 100 && found.checks > found.marked && found.steals > 100, "{found:?}");
    for &(request, at_ps) in &found.ran_at_checks {
        assert!(found.marked_ps[request].is_some_and(|marked_ps| marked_ps <= at_ps), "{request} at {at_ps}");
    }
    // The engine does what the model does,
    for (number, at_ps) in completions(&events) {
        assert_eq!(found.completed_ps[number], Some(at_ps));
    }
    // and nobody begins with a request after it was marked who was not at it before: that takes a steal.
    let mut helpers: HashMap<u64, HashSet<u32>> = HashMap::new();
    for (at_ps, event) in events {
        let Event::Started { worker, number, .. } = event else { continue };
        let helpers = helpers.entry(number).or_default();
        let marked = found.marked_ps[number as usize].is_some_and(|marked_ps| marked_ps < at_ps);
        assert!(!marked || helpers.contains(&worker), "{worker} helps {number} at {at_ps} ps");
        helpers.insert(worker);
    }
    assert!(helpers.values().any(|helpers| helpers.len() > 1), "nobody helped");
}

#[test]
fn default_tbb_does_the_same_work_for_serial_requests() {
    // 0.7 of four cores, and then nothing until all is done.
    let arrivals_ns: Vec<u64> = (0..2_000).map(|at| 714 * at).collect();
    let done = |parallelism: ParallelismConfig| {
        let case = Case { sizes: Sizes::Exponential(2_000), ..Case::plain(4, 0.7, 2_000) };
        let (outcome, events) = alone(case, &arrivals_ns, &serial(), parallelism).watch(false);
        let ends: Vec<u64> = completions(&events).iter().map(|done| done.1).collect();
        (outcome.account.busy_ps, outcome.account.completed, ends)
    };
    let (work_ps, completed, ends) = done(ParallelismConfig::StealFirst);
    for end in [DequeEnd::Steal, DequeEnd::Own] {
        let theirs = done(ParallelismConfig::DefaultTbb(DefaultTbbConfig { end }));
        assert_eq!((theirs.0, theirs.1), (work_ps, completed));
        assert_ne!(theirs.2, ends, "random deques are not one queue");
    }
    assert!(completed >= 2_000);
}

/// What can be done by all cores at once is one fast core: M/G/1, by Pollaczek and Khinchine.
#[test]
fn steal_first_of_fine_loops_is_one_fast_core() {
    let case = Case { sizes: Sizes::Exponential(1_000_000), ..Case::plain(8, 0.6, 60_000) };
    let grain = Grain { least: Picos(1), per_core: 64 };
    let fine = same(&DagSpec { grain, ..DagSpec::default() });
    let outcome = simulate(&ready(&case, &fine, ParallelismConfig::StealFirst).run(false), Unwatched);
    let mean_ns = outcome.classes[0].latency_ps.mean() / 1e3;
    // Exponential work of 1 ms on 8 cores: 125 us, over 1 - 0.6.
    assert!((mean_ns / (125_000.0 / 0.4) - 1.0).abs() < 0.06, "{mean_ns} ns");
}

/// Log-normal work on 16 cores whose rate and work change every two seconds.
fn drifting(retune: Option<RetuneConfig>, steps: &str) -> Outcome {
    let text = format!(
        "[workload]\nservice = \"log-normal-10ms\"\ndag = {{}}\nrate = \"1200/s\"\n\
         arrivals = {{ process = \"steps\", steps = {steps} }}\n[system]\ncores = 16"
    );
    let file = caudal_config::File::parse(&text, "drifting.toml").expect("a file");
    let workload = file.workload.clone().expect("a workload");
    let config =
        TailControlConfig { target: Picos::from_micros(25_000), retune, ..TailControlConfig::default() };
    let system = System { parallelism: ParallelismConfig::TailControl(config), ..System::single_queue(16) };
    let run = caudal_sim::engine::Run {
        system: &system,
        costs: &Costs::default(),
        service: &workload.service,
        arrivals: &workload.arrivals,
        mean_gap_ps: 1e12 / 1_200.0,
        seed: 3,
        length: Length { warm_up: 0, measured: 20_000 },
        pilot: false,
        waits: false,
        short_cuts: ShortCuts::ALL,
        stop: None,
    };
    simulate(&run, Unwatched)
}

fn accounts(outcome: &Outcome) -> String {
    format!("{:?} {:?}", outcome.classes, outcome.account)
}

#[test]
fn an_oracle_of_what_never_changes_is_the_fixed_table() {
    let constant = "[{ for = \"2s\", rate = 1 }]";
    let oracle = RetuneConfig { oracle: true, ..RetuneConfig::default() };
    assert_eq!(accounts(&drifting(Some(oracle), constant)), accounts(&drifting(None, constant)));
}

#[test]
fn thresholds_follow_what_drifts() {
    let steps = "[{ for = \"2s\", rate = 1, work = 1.4 }, { for = \"2s\", rate = 2, work = 0.6 }]";
    let ms = |ms: u64| Picos::from_micros(1_000 * ms);
    let measured = RetuneConfig { every: ms(100), window: ms(500), oracle: false };
    let oracle = RetuneConfig { oracle: true, ..measured };
    let [fixed, measured, oracle] =
        [None, Some(measured), Some(oracle)].map(|retune| drifting(retune, steps));
    assert_ne!(accounts(&fixed), accounts(&measured));
    assert_ne!(accounts(&fixed), accounts(&oracle));
    assert_ne!(accounts(&measured), accounts(&oracle));
    let idle = RetuneConfig { every: ms(60_000), window: ms(60_000), oracle: false };
    assert_eq!(accounts(&drifting(Some(idle), steps)), accounts(&fixed), "no epoch is over");
}
