//! Every rule refuses what it says, alone, and nothing beside it.

use caudal_config::{CORES_MAX, Costs, File, Options, SystemHost, coherence};

/// A file that breaks just this rule, and where that is pointed at.
const BREAKING: &[(&str, &str, &str)] = &[
    ("cores-allocated", "cores = 16\nallocation.cores = 0", "3:20"),
    ("pools", "cores = 16\npools = [8, 9]", "3:9"),
    ("contexts", "cores = 4\ncontexts = { count = 0 }", "3:12"),
    ("contexts", "cores = 4\ncontexts = { count = 2, throughput = [1.0, 2.5] }", "3:12"),
    ("contexts-alone", "cores = 4\ncontexts = { count = 2 }\ndispatch = \"jsq\"", "3:12"),
    (
        "contexts-alone",
        "cores = 4\ncontexts = { count = 2 }\ndiscipline = { policy = \"las\", quantum = \"0ns\" }",
        "3:12",
    ),
    (
        "contexts-alone",
        "cores = 4\npools = \"per-core\"\ncontexts = { count = 2, adaptation = { contexts = [1, 2], break_even_per_s = [1000] } }\n\
         rebalance = \"work-stealing\"",
        "4:12",
    ),
    (
        "adaptation",
        "cores = 4\npools = 1\ncontexts = { count = 2, adaptation = { contexts = [1, 2], break_even_per_s = [1000] } }",
        "4:38",
    ),
    ("cold-misses", "cores = 4\ncosts = { cold_miss = \"1us\" }", "3:23"),
    ("stall-lengths", "cores = 4\ncosts = { stalls = { rate = \"1/s\", lengths = [[0, \"1us\"]] } }", "3:46"),
    (
        "stall-lengths",
        "cores = 4\ncosts = { stalls = { rate = \"1/s\", lengths = [[0, \"3us\"], [1, \"2us\"]] } }",
        "3:46",
    ),
    (
        "stall-share",
        "cores = 4\ncosts = { stalls = { rate = \"1M/s\", lengths = [[0, \"1us\"], [1, \"1us\"]] } }",
        "3:29",
    ),
    (
        "measured-costs",
        "cores = 4\ncosts = { start = \"1us\" }\ndiscipline = { policy = \"las\", quantum = \"0ns\" }",
        "3:19",
    ),
    ("measured-costs", "cores = 4\ncosts = { hop = \"1us\" }\ncontexts = { count = 2 }", "3:17"),
    ("runtime-contexts", "cores = 4\ncontexts = { count = 2 }", "3:12"),
    ("moving-without-pools", "cores = 16\npools = 1\nrebalance = \"work-stealing\"", "4:13"),
    ("choice-without-pools", "cores = 16\ndispatch = \"jsq\"\npools = 1", "3:12"),
    ("power-of-k", "cores = 4\ndispatch = { policy = \"power-of-k\", k = 5 }", "3:41"),
    ("power-of-k", "cores = 1\npreset = \"enqueue-choice\"", "3:10"),
    ("jbsq-bound", "cores = 4\ndispatch = { policy = \"jbsq\", bound = 0 }", "3:39"),
    ("msq-without-quanta", "cores = 4\ndispatch = { policy = \"jsq\", ties = \"msq\" }", "3:37"),
    ("quantum-range", "cores = 4\ndiscipline = { policy = \"las\", quantum = \"99ns\" }", "3:42"),
    (
        "fluid-options",
        "cores = 4\ndiscipline = { policy = \"processor-sharing\", quantum = 0, lone = \"yield\" }",
        "3:66",
    ),
    ("started-max", "cores = 4\ndiscipline = { policy = \"processor-sharing\", started_max = 0 }", "3:60"),
    (
        "lanes",
        "cores = 4\npools = 1\ndiscipline = { policy = \"isqd-sita\", cutoffs = [\"2us\", \"1us\"], reservations = [2, 1, 1] }",
        "4:48",
    ),
    (
        "lanes",
        "cores = 4\npools = 1\ndiscipline = { policy = \"sqd-sita\", cutoffs = [], reservations = [3, 1] }",
        "4:47",
    ),
    (
        "reservations",
        "cores = 4\npools = 2\ndiscipline = { policy = \"isqd-sita\", cutoffs = [\"2us\"], reservations = [3, 1] }",
        "4:72",
    ),
    (
        "lanes-of-their-own",
        "cores = 2\npools = 1\nallocation = \"shenango\"\ndiscipline = { policy = \"preemptive-sita\", cutoffs = [\"2us\"], reservations = [1, 1] }",
        "4:14",
    ),
    (
        "sita-dispatch",
        "cores = 4\npools = [3, 1]\ndispatch = { policy = \"sita\", cutoffs = [\"2us\", \"9us\"] }",
        "4:41",
    ),
    (
        "sita-dispatch-moves",
        "cores = 2\ndispatch = { policy = \"sita\", cutoffs = [\"2us\"] }\nrebalance = \"work-stealing\"",
        "4:13",
    ),
    (
        "shedding-threshold",
        "cores = 4\nrebalance = { policy = \"work-shedding\", threshold = \"0us\" }",
        "3:53",
    ),
    (
        "empty-band",
        "cores = 4\nallocation = { policy = \"delay-range\", low = \"0.1us\", high = \"0.1us\" }",
        "3:62",
    ),
    ("empty-band", "cores = 4\nallocation = { policy = \"utilization-range\", low = 0.96 }", "3:52"),
    (
        "allocation-times",
        "cores = 4\nallocation = { policy = \"delay-range\", interval = \"5us\", low = \"0ns\" }",
        "3:64",
    ),
    ("allocation-times", "cores = 4\nallocation = { policy = \"caladan\", interval = \"0ns\" }", "3:47"),
    ("allocation-shares", "cores = 4\nallocation = { policy = \"utilization-range\", high = 1.5 }", "3:53"),
    ("allocation-shares", "cores = 4\nallocation = { policy = \"idle-buffer\", cores = 5 }", "3:48"),
    ("per-task-without-stealing", "cores = 4\nallocation = \"per-task\"", "3:14"),
    ("part-of-a-pool", "cores = 4\npools = 2\nallocation = \"shenango\"", "4:14"),
    ("part-of-a-pool", "cores = 4\nallocation.cores = 3\npools = 2", "3:1"),
    (
        "fluid-allocation",
        "cores = 4\nallocation = \"shenango\"\ndiscipline = { policy = \"las\", quantum = 0 }",
        "3:14",
    ),
    (
        "fluid-rebalance",
        "cores = 4\nrebalance = \"work-stealing\"\ndiscipline = { policy = \"las\", quantum = 0 }",
        "3:13",
    ),
    ("authors-simulator", "cores = 4\nvariant = \"authors-simulator\"\ndispatch = \"round-robin\"", "3:11"),
    ("forks-alone", "cores = 4\npools = \"per-core\"\nparallelism = \"steal-first\"", "4:15"),
    (
        "forks-alone",
        "cores = 4\npools = 1\nparallelism = \"default-tbb\"\ndiscipline = \"processor-sharing\"",
        "4:15",
    ),
    ("thresholds", "cores = 4\npools = 1\nparallelism = \"tail-control\"", "4:15"),
    (
        "thresholds",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", thresholds = [[1, \"2ms\"]] }",
        "4:51",
    ),
    (
        "thresholds-of-classes",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", classes = { get = { thresholds = [[1, \"2ms\"]] } } }",
        "4:68",
    ),
    (
        "thresholds-of-classes",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", thresholds = [[1, \"2ms\"]], classes = { get = {} } }",
        "4:79",
    ),
    (
        "thresholds-rise",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", thresholds = [[2, \"2ms\"], [2, \"1ms\"]] }",
        "4:55",
    ),
    (
        "thresholds-rise",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", thresholds = [[0, \"2ms\"]] }",
        "4:55",
    ),
    (
        "thresholds-rise",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", thresholds = [[1, \"2ms\"]], classes = { get = { thresholds = [[3, \"2ms\"], [1, \"1ms\"]] } } }",
        "4:79",
    ),
    (
        "target-range",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"3601s\" }",
        "4:51",
    ),
    (
        "target-range",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", classes = { get = { target = \"3601s\" } } }",
        "4:68",
    ),
    (
        "threshold-scale",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", scale = 0.0 }",
        "4:66",
    ),
    (
        "threshold-age",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", age = \"3601s\" }",
        "4:64",
    ),
    (
        "retune-target",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", thresholds = [[1, \"2ms\"]], retune = {} }",
        "4:78",
    ),
    (
        "retune-every",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", retune = { every = \"100us\", window = \"10ms\" } }",
        "4:77",
    ),
    (
        "retune-window",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", retune = { every = \"3s\", window = \"10s\" } }",
        "4:77",
    ),
    (
        "retune-window",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", retune = { window = \"1001s\" } }",
        "4:78",
    ),
    (
        "small-lane",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", lane = { workers = 4, cutoff = \"1ms\" } }",
        "4:77",
    ),
    (
        "small-lane-cutoff",
        "cores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", lane = { workers = 2, cutoff = \"0\" } }",
        "4:89",
    ),
    (
        "clairvoyant-age",
        "cores = 4\npools = 1\nparallelism = { policy = \"clairvoyant\", target = \"5ms\", age = \"1us\" }",
        "4:63",
    ),
    (
        "clairvoyant-retune",
        "cores = 4\npools = 1\nparallelism = { policy = \"clairvoyant\", target = \"5ms\", retune = {} }",
        "4:66",
    ),
    (
        "clairvoyant-lane",
        "cores = 4\npools = 1\nparallelism = { policy = \"clairvoyant\", target = \"5ms\", lane = { workers = 2, cutoff = \"1ms\" } }",
        "4:64",
    ),
    (
        "clairvoyant-span",
        "cores = 4\npools = 1\nparallelism = { policy = \"clairvoyant\", target = \"5ms\", span = true }",
        "4:64",
    ),
    ("cost-range", "cores = 4\ncosts = { steal = \"1ns\", shed = \"2s\" }", "3:33"),
    ("probe-factor", "cores = 4\ncosts = { probe_factor = 0.5 }", "3:26"),
    ("runtime-clairvoyant", "cores = 4\ndiscipline = \"srpt\"", "3:14"),
    ("runtime-fluid", "cores = 4\ndiscipline = { policy = \"las\", quantum = \"0us\" }", "3:42"),
    (
        "runtime-quantum",
        "cores = 4\ndiscipline = { policy = \"processor-sharing\", quantum = \"400ns\" }",
        "3:56",
    ),
    ("runtime-pools", "cores = 4\npools = 2", "3:9"),
    (
        "runtime-lanes",
        "cores = 1\ndiscipline = { policy = \"isqd-sita\", cutoffs = [], reservations = [1] }",
        "3:14",
    ),
    ("runtime-forks", "cores = 1\npools = 1\nparallelism = \"steal-first\"", "4:15"),
    ("runtime-allocation", "cores = 4\nallocation = \"shenango\"", "3:14"),
    ("runtime-variant", "cores = 4\nvariant = \"authors-simulator\"", "3:11"),
];

#[test]
fn each_rule_is_broken_alone_and_at_its_place() {
    let mut wrong = Vec::new();
    for (name, system, place) in BREAKING {
        let rule = coherence::table().iter().find(|rule| rule.name == *name).expect(name);
        let host = if rule.runtime_only { SystemHost::Runtime } else { SystemHost::Simulator };
        let options = Options { host, ..Options::default() };
        let error = File::parse_with(&format!("[system]\n{system}"), "in.toml", &options).expect_err(system);
        let expected = format!("in.toml:{place}: {}: {} (", rule.refused, rule.why);
        let message = error.to_string();
        let rest = message.strip_prefix(&expected);
        // What contexts should be depends on what they are.
        if rest != Some(&format!("{})", rule.instead)) && !(*name == "contexts" && rest.is_some()) {
            wrong.push(format!("{name}, at {place}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn contexts_are_told_what_would_be_right() {
    let help = |contexts: &str| {
        let text = format!("[system]\ncores = 400\ncontexts = {{ {contexts} }}");
        File::parse(&text, "in.toml").expect_err(contexts).to_string()
    };
    for (contexts, right) in [
        ("count = 17", "`count` is 17; write a number from 1 to 16"),
        ("count = 2, throughput = [1, 3]", "`throughput` is [1.0, 3.0]; write 2 numbers"),
        ("count = 2, virtual = 1", "`virtual` is 1; write at least `count`, which is 2"),
        (
            "count = 2, adaptation = { contexts = [1, 2], break_even_per_s = [] }",
            "`adaptation` has the contexts [1, 2] and the break-even rates []",
        ),
        ("count = 16", "all cores together have at most 4096 contexts"),
    ] {
        assert!(help(contexts).contains(right), "{}", help(contexts));
    }
}

#[test]
fn every_rule_has_its_example() {
    for rule in coherence::table() {
        // A wrong number of cores is refused before there is a system.
        let shown = BREAKING.iter().any(|(name, ..)| *name == rule.name) || rule.name == "cores";
        assert!(shown, "{}", rule.name);
    }
}

#[test]
fn a_wrong_number_of_cores_is_refused_in_a_system_of_ones_own() {
    for cores in [0, CORES_MAX + 1, u32::MAX] {
        let system =
            caudal_config::System { cores, cores_allocated: 1, ..caudal_config::System::single_queue(1) };
        let broken = coherence::check(&system, &Costs::default(), SystemHost::Simulator);
        assert!(broken.iter().any(|broken| broken.rule.name == "cores"), "{cores}");
    }
}

/// Parameters may be written out even where they have their defaults, which are not written.
#[test]
fn defaults_may_be_written_out() {
    let text = "[system]\ncores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\", scale = 1.0, \
                age = \"0\", thresholds = [], span = false }";
    let file = File::parse(text, "in.toml").unwrap_or_else(|error| panic!("{error}"));
    let short =
        "[system]\ncores = 4\npools = 1\nparallelism = { policy = \"tail-control\", target = \"5ms\" }";
    let short = File::parse(short, "in.toml").expect("a file");
    assert_eq!(file.systems[0].system, short.systems[0].system);
    // And from a preset with a target to a table.
    let table = "[system]\npreset = \"tail-control\"\ncores = 4\n\
                 parallelism = { target = \"0\", thresholds = [[1, \"9ms\"]] }";
    File::parse(table, "in.toml").unwrap_or_else(|error| panic!("{error}"));
}
