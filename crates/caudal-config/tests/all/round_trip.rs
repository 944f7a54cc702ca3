//! What is written is read back equal, and nothing that is read makes the reader panic.

use caudal_config::{
    CORES_MAX, Costs, File, Options, Pools, Rate, Stalls, System, SystemHost, Variant, coherence, presets,
    schema, write_policy,
};
use caudal_policy::allocation::*;
use caudal_policy::discipline::*;
use caudal_policy::dispatch::*;
use caudal_policy::rebalance::*;
use caudal_policy::{List, Picos};
use proptest::prelude::*;

fn read_back(system: &System, costs: &Costs) -> (System, Costs) {
    let text = write_policy(system, costs, "Made by a test.\nIn two lines.");
    let file = File::parse(&text, "policy.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(file.systems.len(), 1, "{text}");
    (file.systems[0].system.clone(), file.systems[0].costs)
}

#[test]
fn presets_survive_being_written() {
    for preset in presets() {
        // Cores of eight contexts are as many workers each.
        let most = CORES_MAX / preset.system(1).workers();
        for cores in [2, 16, most] {
            let (system, costs) = (preset.system(cores), preset.costs());
            assert_eq!(read_back(&system, &costs), (system, costs), "{}", preset.name);
        }
    }
}

#[test]
fn a_preset_by_name_is_the_preset() {
    for preset in presets() {
        let text = format!("[system]\npreset = \"{}\"\ncores = 16", preset.name);
        let file = File::parse(&text, "in.toml").unwrap();
        assert_eq!((&file.systems[0].system, file.systems[0].costs), (&preset.system(16), preset.costs()));
        assert_eq!(file.systems[0].dedicated_cores(), preset.dedicated_cores);
        assert_eq!(file.systems[0].reference_only().is_none(), preset.deployable());
    }
}

#[test]
fn a_policy_file_is_easy_to_read() {
    let system = System { cores_allocated: 12, ..find("work-stealing").system(16) };
    let text = write_policy(&system, &Costs::default(), "Best of 12.");
    assert!(
        text.starts_with("# Best of 12.\n\n[system]\nname        = \"work-stealing\"\ncores       = 16\n"),
        "{text}"
    );
    assert!(text.contains("allocation  = { policy = \"static\", cores = 12 }\n"), "{text}");
    assert!(text.contains("rebalance   = { policy = \"work-stealing\", amount = \"half\" }\n"), "{text}");
    assert!(text.contains("\n[costs]\n") && text.contains("= \"100ns\"\n"), "{text}");
}

#[test]
fn contexts_are_read_back() {
    let text = r#"
[workload]
service = "exp-1us"
load = 0.5
[system]
name = "core"
cores = 2
contexts = { count = 4, virtual = 32, throughput = [1.0, 1.5, 1.75, 2.0], adaptation = { contexts = [1, 4], break_even_per_s = [250000] } }
discipline = { policy = "isqd-sita", cutoffs = ["2us"], reservations = [3, 1] }
[costs]
preemption = "300ns"
cold_miss = "1us"
"#;
    let plan = |text: &str| File::parse(text, "f.toml").unwrap().points().unwrap().remove(0);
    let point = plan(text);
    assert_eq!((point.system.workers(), point.system.capacity()), (8, 4.0));
    assert_eq!(point.system.pool_sizes(), Some(vec![4, 4]));
    let written = write_policy(&point.system, &point.costs, "");
    let again = plan(&format!("[workload]\nservice = \"exp-1us\"\nload = 0.5\n{written}"));
    assert_eq!((again.system, again.costs), (point.system, point.costs), "{written}");
    for (from, to, says) in [
        ("load = 0.5", "rate = \"4.1M/s\"", "overload"),
        ("count = 4", "count = 17", "hardware contexts that no core has"),
        ("virtual = 32", "virtual = 3", "hardware contexts that no core has"),
        ("cores = 2", "cores = 2\nrebalance = \"work-stealing\"", "stealing with load adaptation"),
        ("cores = 2", "cores = 2\npools = 1", "load adaptation with pools that are no cores"),
        ("reservations = [3, 1]", "reservations = [2, 1]", "reservations that do not sum"),
    ] {
        let error =
            File::parse(&text.replace(from, to), "f.toml").and_then(|file| file.points()).unwrap_err();
        let told: Vec<String> = error.problems().iter().map(|problem| format!("{problem:?}")).collect();
        assert!(told.iter().any(|one| one.contains(says)), "{says}: {told:?}");
    }
}

fn find(name: &str) -> &'static caudal_config::Preset {
    caudal_config::find_preset(name).unwrap()
}

fn time() -> impl Strategy<Value = Picos> {
    (100_000_u64..10_000_000_000_000).prop_map(Picos)
}

fn cost() -> impl Strategy<Value = Picos> {
    prop_oneof![Just(Picos::ZERO), (0..=1_000_000_000_000_u64).prop_map(Picos)]
}

/// Up to half of a core's time, at any rate that gives that.
fn stalls() -> impl Strategy<Value = Stalls> {
    let lengths = (0..100_000_000_u64, proptest::collection::vec(1..1_000_000_000_u64, 1..16));
    (lengths, 0.0001..0.5_f64).prop_map(|((shortest, steps), share)| {
        let count = steps.len() as f64;
        let mut lengths = vec![(0.0, Picos(shortest))];
        for (i, step) in (1..).zip(steps) {
            let longest = lengths.last().expect("the shortest").1;
            lengths.push((f64::from(i) / count, Picos(longest.0 + step)));
        }
        let lengths = List::new(&lengths).expect("16 at most");
        let one = Stalls { rate: Rate::per_second(1.0).expect("a rate"), lengths };
        Stalls { rate: Rate::per_second(share / one.share()).expect("a rate"), lengths }
    })
}

fn costs() -> impl Strategy<Value = Costs> {
    let measured = (proptest::array::uniform5(cost()), proptest::option::of(stalls()));
    (proptest::array::uniform12(cost()), 1.0..100.0, measured).prop_map(|(c, probe_factor, (m, stalls))| {
        Costs {
            steal_check: c[0],
            steal: c[1],
            shed: c[2],
            enqueue: c[3],
            hand_over: c[4],
            core_allocation: c[5],
            preemption: c[6],
            // For cores with contexts only.
            cold_miss: Picos::ZERO,
            overrun: c[7],
            dispatcher: c[8],
            dispatcher_quantum: c[9],
            fork: c[10],
            look: c[11],
            probe_factor,
            start: m[0],
            finish: m[1],
            hop: m[2],
            wake_up: m[3],
            sleep_after: m[4],
            stalls,
        }
    })
}

fn dispatch() -> impl Strategy<Value = DispatchConfig> {
    prop_oneof![
        Just(DispatchConfig::Random),
        Just(DispatchConfig::RoundRobin),
        Just(DispatchConfig::LeastWork),
        (1_u32..=16).prop_map(|k| DispatchConfig::PowerOfK(PowerOfKConfig { k })),
        (1_u32..).prop_map(|bound| DispatchConfig::Jbsq(JbsqConfig { bound })),
        prop_oneof![Just(Ties::Msq), Just(Ties::Random)]
            .prop_map(|ties| DispatchConfig::Jsq(JsqConfig { ties })),
    ]
}

fn discipline() -> impl Strategy<Value = DisciplineConfig> {
    let quantum = || prop_oneof![Just(Picos::ZERO), time()];
    let started_max = || prop_oneof![Just(STARTED_MAX), 1_u32..];
    let sharing = (quantum(), any::<bool>(), any::<bool>(), started_max()).prop_map(
        |(quantum, tail, elide, started_max)| ProcessorSharingConfig {
            quantum,
            fresh: if tail { Fresh::Tail } else { Fresh::First },
            lone: if elide { Lone::Elide } else { Lone::Yield },
            started_max,
        },
    );
    prop_oneof![
        Just(DisciplineConfig::Fcfs),
        Just(DisciplineConfig::Srpt),
        sharing.prop_map(DisciplineConfig::ProcessorSharing),
        (quantum(), started_max())
            .prop_map(|(quantum, started_max)| DisciplineConfig::Las(LasConfig { quantum, started_max })),
    ]
}

fn rebalance() -> impl Strategy<Value = RebalanceConfig> {
    let amount = || prop_oneof![Just(Amount::Half), Just(Amount::One)];
    prop_oneof![
        Just(RebalanceConfig::None),
        amount().prop_map(|amount| RebalanceConfig::WorkStealing(WorkStealingConfig { amount })),
        time().prop_map(|threshold| RebalanceConfig::WorkShedding(WorkSheddingConfig { threshold })),
        (time(), amount()).prop_map(|(threshold, amount)| RebalanceConfig::StealAndShed(
            StealAndShedConfig { threshold, amount }
        )),
    ]
}

fn allocation() -> impl Strategy<Value = AllocationConfig> {
    let grow = prop_oneof![
        Just(Grow::Arrival),
        Just(Grow::NoThief),
        time().prop_map(|above| Grow::DelayMax { above }),
        time().prop_map(|above| Grow::DelayMean { above }),
        (0.01..1.0).prop_map(|above| Grow::Utilization { above }),
        (0.0..1e6).prop_map(|above| Grow::Queued { above }),
        (1_u32..5).prop_map(|below| Grow::Idle { below }),
    ];
    let shrink = prop_oneof![
        Just(Shrink::Never),
        Just(Shrink::Completion),
        Just(Shrink::FailedWalk),
        time().prop_map(|below| Shrink::DelayMean { below }),
        (0.01..1.0).prop_map(|below| Shrink::Utilization { below }),
        (0_u32..5).prop_map(|above| Shrink::Idle { above }),
    ];
    prop_oneof![
        Just(AllocationConfig::Static),
        Just(AllocationConfig::PerTask(PerTaskConfig {})),
        (time(), time()).prop_map(|(interval, threshold)| AllocationConfig::Shenango(ShenangoConfig {
            interval,
            threshold
        })),
        (time(), time()).prop_map(|(interval, threshold)| AllocationConfig::Caladan(CaladanConfig {
            interval,
            threshold
        })),
        (time(), time(), time()).prop_map(|(low, high, interval)| AllocationConfig::DelayRange(
            DelayRangeConfig { low, high, interval }
        )),
        (0.01..1.0, 0.01..1.0, time()).prop_map(|(low, high, interval)| {
            AllocationConfig::UtilizationRange(UtilizationRangeConfig { low, high, interval })
        }),
        (1_u32..5, time())
            .prop_map(|(cores, interval)| AllocationConfig::IdleBuffer(IdleBufferConfig { cores, interval })),
        (grow, shrink, time()).prop_map(|(grow, shrink, interval)| AllocationConfig::Triggers(Triggers {
            grow,
            shrink,
            interval
        })),
    ]
}

fn pools() -> impl Strategy<Value = Pools> {
    prop_oneof![
        Just(Pools::PerCore),
        (1_u32..8).prop_map(Pools::Equal),
        proptest::collection::vec(1_u32..9, 1..5).prop_map(Pools::Sizes),
    ]
}

prop_compose! {
    fn system()(
        name in "[a-zA-Z0-9 \"'\\\\#=.µ]{1,64}",
        cores in 1_u32..=64,
        held in 1_u32..=64,
        pools in pools(),
        dispatch in dispatch(),
        rebalance in rebalance(),
        discipline in discipline(),
        allocation in allocation(),
        authors in any::<bool>(),
    ) -> System {
        let cores = match &pools { Pools::Sizes(sizes) => sizes.iter().sum(), _ => cores };
        System {
            name, cores, cores_allocated: held.min(cores), pools, dispatch, rebalance, discipline, allocation,
            variant: if authors { Variant::AuthorsSimulator } else { Variant::Paper },
            ..System::single_queue(cores)
        }
    }
}

const VALID: &str = r#"
[workload]
service = { distribution = "bimodal", short = "0.5us", long = "500us", p_long = 0.005 }
arrivals = { process = "poisson" }
load = [0.3, 0.5]
[system]
preset = ["tiny-quanta", "shenango"]
cores = 16
pools = "per-core"
allocation = { policy = "delay-range", low = "0.5us", high = ["1us", "2us"] }
rebalance = "work-stealing"
[costs]
preemption = "40ns"
probe_factor = 1.1
[measure]
percentiles = [50, 99, 99.9]
stop = { confidence = 0.95, relative_error = 0.05, max_requests = 100_000_000 }
warm-up = "10ms"
seed = 1
"#;

const TOKENS: [&str; 34] = [
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    "\"",
    "\n",
    ".",
    "-",
    "0",
    "1",
    "1e400",
    "nan",
    "inf",
    "[[system]]",
    "[costs]",
    "[x]",
    "policy",
    "when",
    "grow",
    "quantum",
    "cores",
    "\"us\"",
    "99999999999999999999",
    "true",
    "1979-05-27",
    "#",
    "µ",
    "load = 2",
    "preset",
    "service",
    "file = \"x\"",
    "'''",
];

#[test]
fn the_file_that_is_mutated_is_valid() {
    let file = File::parse(VALID, "in.toml").unwrap();
    assert_eq!(file.points().unwrap().len(), 8);
}

fn is_coherent(system: &System) -> bool {
    coherence::check(system, &Costs::default(), SystemHost::Simulator).is_empty()
}

proptest! {
    #[test]
    fn coherent_systems_survive_being_written(system in system().prop_filter("coherent", is_coherent), costs in costs()) {
        // Some hosts do not know those of measured runs.
        let known = coherence::check(&system, &costs, SystemHost::Simulator).is_empty();
        let costs = if known { costs } else { Costs { stalls: None, start: Picos::ZERO, finish: Picos::ZERO, hop: Picos::ZERO, wake_up: Picos::ZERO, ..costs } };
        prop_assert_eq!(read_back(&system, &costs), (system, costs));
    }

    #[test]
    fn the_reader_and_the_table_of_rules_agree(system in system()) {
        let broken = coherence::check(&system, &Costs::default(), SystemHost::Simulator);
        let read = File::parse(&write_policy(&system, &Costs::default(), ""), "policy.toml");
        let error = read.err().map(|error| error.to_string()).unwrap_or_default();
        prop_assert_eq!(error.is_empty(), broken.is_empty());
        prop_assert!(broken.iter().all(|broken| error.contains(broken.rule.refused)), "{}", error);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), overrides in proptest::collection::vec(any::<String>(), 0..3)) {
        let _ = File::parse_with(&text, "in.toml", &Options { overrides, ..Options::default() });
    }

    #[test]
    fn no_near_miss_makes_the_reader_panic(
        cuts in proptest::collection::vec((0..VALID.len(), 0_usize..12, proptest::sample::select(&TOKENS[..])), 1..4),
        path in "(system|costs|workload|measure)\\.[a-z.]{1,12}=[a-z0-9\\[\\]{}\",]{0,8}",
    ) {
        let mut text = VALID.to_owned();
        for (at, len, token) in cuts {
            let at = at.min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary((at + len).min(text.len())) {
                text.replace_range(at..(at + len).min(text.len()), token);
            }
        }
        for overrides in [vec![], vec![path]] {
            if let Err(error) = File::parse_with(&text, "in.toml", &Options { overrides, ..Options::default() }) {
                for problem in error.problems() {
                    prop_assert!(problem.line >= 1 && problem.line <= text.matches('\n').count() + 1);
                    prop_assert!(problem.column >= 1 && !problem.message.is_empty());
                }
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_at_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.toml");
    std::fs::write(&path, b"[system]\ncores = \xff").unwrap();
    let error = File::read(&path).unwrap_err();
    assert_eq!((error.problems()[0].line, error.problems()[0].column), (2, 9));
    assert!(File::read(dir.path().join("none.toml")).unwrap_err().to_string().contains("cannot read"));
    std::fs::write(&path, vec![b'#'; (4 << 20) + 1]).unwrap();
    assert!(File::read(&path).unwrap_err().to_string().contains("at most 4194304"));
}

#[test]
fn deep_nesting_is_refused_or_read_but_never_overflows() {
    for deep in [
        format!("x{} = 1", ".x".repeat(100_000)),
        format!("[x{}]", ".x".repeat(100_000)),
        format!("x = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        assert!(File::parse(&deep, "in.toml").is_err());
    }
    let options = Options { overrides: vec![format!("x{}=1", ".x".repeat(100_000))], ..Options::default() };
    assert!(File::parse_with("[system]\ncores = 1", "in.toml", &options).is_err());
}

#[test]
fn the_schema_knows_every_table() {
    let schema = schema();
    let system = &schema["properties"]["system"]["anyOf"][0]["properties"];
    for key in [
        "name",
        "preset",
        "cores",
        "contexts",
        "pools",
        "dispatch",
        "rebalance",
        "discipline",
        "allocation",
        "parallelism",
        "variant",
        "costs",
    ] {
        assert!(system.get(key).is_some(), "{key}");
    }
    for key in ["service", "dag", "arrivals", "load", "rate", "overload"] {
        assert!(schema["properties"]["workload"]["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(schema["$defs"]["Pools"]["anyOf"][0]["const"], "per-core");
    // Every reference leads somewhere.
    let text = schema.to_string();
    for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap_or_default();
        assert!(schema["$defs"].get(name).is_some(), "{name}");
    }
    assert!(
        text.contains("steal_check") && text.contains("processor-sharing") && text.contains("log-normal")
    );
}

#[test]
fn the_schema_asks_for_no_key_that_may_be_left_out() {
    for (table, key, without) in [
        ("ArrivalSpec", "off_rate", "arrivals = { process = \"on-off\", on = \"1us\", off = \"1us\" }"),
        ("TimestampFile", "scale", "arrivals = { file = \"times.csv\" }"),
        ("FileSpec", "replay", "service = { file = \"service.csv\" }"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let times: String = (0..200).map(|n| format!("{}\n", n * 1000)).collect();
        std::fs::write(dir.path().join("times.csv"), times).unwrap();
        std::fs::write(dir.path().join("service.csv"), "1000\n2000\n").unwrap();
        let service = if without.starts_with("service") { "" } else { "service = \"exp-1us\"\n" };
        let load = if without.contains("times.csv") { "" } else { "load = 0.5\n" };
        let text = format!("[workload]\n{service}{without}\n{load}[system]\ncores = 16\n");
        let read = File::parse(&text, dir.path().join("in.toml"));
        assert!(read.is_ok(), "{text}: {read:?}");
        let definition = schema()["$defs"][table].clone();
        let tables: Vec<&serde_json::Value> =
            match definition["anyOf"].as_array().or(definition["oneOf"].as_array()) {
                Some(variants) => {
                    variants.iter().filter(|variant| variant["properties"].get(key).is_some()).collect()
                }
                None => vec![&definition],
            };
        assert!(!tables.is_empty(), "{table} has no `{key}`");
        for table in tables {
            let required = table["required"].as_array().map_or(&[][..], Vec::as_slice);
            assert!(
                table["properties"].get(key).is_some() && !required.iter().any(|it| it == key),
                "{table}"
            );
        }
    }
}
