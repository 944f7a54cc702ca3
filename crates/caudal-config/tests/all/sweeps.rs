//! Points, precedence, presets laid under keys, overrides.

use caudal_config::{File, Offered, Options, POINTS_MAX, Rate, SystemHost, coherence};
use caudal_policy::Picos;
use caudal_policy::discipline::DisciplineConfig;
use serde_json::json;

fn file(text: &str) -> File {
    File::parse(text, "in.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn keys(text: &str) -> Vec<String> {
    file(text).points().unwrap().into_iter().map(|point| point.key).collect()
}

const WORKLOAD: &str = "[workload]\nservice = \"exp-1us\"\n";

#[test]
fn lists_make_the_cartesian_product_in_the_order_of_the_file() {
    let text = format!(
        "{WORKLOAD}load = [0.3, 0.5]\n[system]\npreset = \"tiny-quanta\"\ncores = 16\n\
         discipline.quantum = [\"1us\", \"2us\"]\n[costs]\npreemption = [\"40ns\", \"1us\"]"
    );
    assert_eq!(
        keys(&text)[..5],
        [
            "tiny-quanta/discipline.quantum=1us/costs.preemption=40ns/load=0.3",
            "tiny-quanta/discipline.quantum=1us/costs.preemption=40ns/load=0.5",
            "tiny-quanta/discipline.quantum=1us/costs.preemption=1us/load=0.3",
            "tiny-quanta/discipline.quantum=1us/costs.preemption=1us/load=0.5",
            "tiny-quanta/discipline.quantum=2us/costs.preemption=40ns/load=0.3",
        ]
    );
    let point = &file(&text).points().unwrap()[3];
    assert_eq!(point.costs.preemption, Picos::from_micros(1));
    assert!(
        matches!(point.system.discipline, DisciplineConfig::ProcessorSharing(ps) if ps.quantum == Picos::from_micros(1))
    );
    let varied: Vec<(String, serde_json::Value)> =
        [("discipline.quantum", json!("1us")), ("costs.preemption", json!("1us")), ("load", json!(0.5))]
            .map(|(key, value)| (key.to_owned(), value))
            .into();
    assert_eq!(point.varied, varied);
}

#[test]
fn every_kind_of_key_can_be_swept() {
    for (system, costs, expected) in [
        ("cores = [8, 16]", "", "system/cores=16/load=0.5"),
        ("cores = 16\nallocation.cores = [12, 16]", "", "system/allocation.cores=16/load=0.5"),
        (
            "cores = 16\ndispatch = { policy = \"power-of-k\", k = [2, 4] }",
            "",
            "system/dispatch.k=4/load=0.5",
        ),
        (
            "cores = 16\ndispatch = { policy = \"jbsq\", bound = [1, 3] }",
            "",
            "system/dispatch.bound=3/load=0.5",
        ),
        ("cores = 16\ndiscipline = [\"fcfs\", \"las\"]", "", "system/discipline=las/load=0.5"),
        (
            "cores = 16\nrebalance = { policy = \"work-shedding\", threshold = [\"1us\", \"2us\"] }",
            "",
            "system/rebalance.threshold=2us/load=0.5",
        ),
        ("cores = 16\npreset = [\"shenango\", \"caladan\"]", "", "caladan/load=0.5"),
        (
            "cores = 16\nvariant = [\"paper\", \"authors-simulator\"]",
            "",
            "system/variant=authors-simulator/load=0.5",
        ),
        ("cores = 16", "probe_factor = [1, 1.1]", "system/costs.probe_factor=1.1/load=0.5"),
    ] {
        let found = keys(&format!("{WORKLOAD}load = 0.5\n[system]\n{system}\n[costs]\n{costs}"));
        assert_eq!((found.len(), found[1].as_str()), (2, expected));
    }
}

#[test]
fn a_list_of_pool_sizes_is_no_sweep() {
    assert_eq!(keys(&format!("{WORKLOAD}load = 0.5\n[system]\ncores = 16\npools = [13, 2, 1]")).len(), 1);
}

#[test]
fn several_systems_stand_side_by_side() {
    let text = format!(
        "{WORKLOAD}rate = [\"4.5M/s\", \"800k/s\"]\n[[system]]\npreset = \"tiny-quanta\"\ncores = 16\n\
         [[system]]\ncores = 8\nname = \"mine\"\n[system.costs]\nsteal = \"7ns\"\n[costs]\nsteal = \"5ns\""
    );
    let points = file(&text).points().unwrap();
    let keys: Vec<&str> = points.iter().map(|point| point.key.as_str()).collect();
    assert_eq!(
        keys,
        ["tiny-quanta/rate=4.5M/s", "tiny-quanta/rate=800k/s", "mine/rate=4.5M/s", "mine/rate=800k/s"]
    );
    assert_eq!(points[0].offered, Offered::Rate(Rate::parse("4.5M/s").unwrap()));
    assert!((points[0].load - 4.5 / 16.0).abs() < 1e-12 && (points[2].load - 4.5 / 8.0).abs() < 1e-12);
    assert_eq!((points[0].costs.steal, points[2].costs.steal), (Picos::from_nanos(5), Picos::from_nanos(7)));
}

#[test]
fn a_preset_yields_to_costs_and_both_to_the_system() {
    let read = |text: &str| file(text).systems.remove(0);
    let head = "[system]\npreset = \"tiny-quanta\"\ncores = 16\n";
    assert_eq!(read(head).costs.overrun, Picos::from_nanos(430));
    let plan = read(&format!("{head}[costs]\noverrun = \"10ns\""));
    assert_eq!((plan.costs.overrun, plan.costs.dispatcher), (Picos::from_nanos(10), Picos::from_nanos(71)));
    let plan = read(&format!("{head}costs.overrun = \"20ns\"\n[costs]\noverrun = \"10ns\""));
    assert_eq!(plan.costs.overrun, Picos::from_nanos(20));
}

#[test]
fn a_policy_of_the_same_name_keeps_the_parameters_of_the_preset() {
    let read = |discipline: &str| {
        file(&format!("[system]\npreset = \"tiny-quanta\"\ncores = 16\ndiscipline = {discipline}"))
            .systems
            .remove(0)
    };
    let DisciplineConfig::ProcessorSharing(kept) = read("{ quantum = \"1us\" }").system.discipline else {
        panic!("not processor sharing")
    };
    assert_eq!((kept.quantum, kept.started_max), (Picos::from_micros(1), 8));
    let error =
        File::parse("[system]\npreset = \"tiny-quanta\"\ncores = 16\ndiscipline = \"fcfs\"", "in.toml")
            .unwrap_err();
    assert!(error.to_string().contains("MSQ ties"), "{error}");
}

#[test]
fn overrides_win_and_are_pointed_at() {
    let text = format!("{WORKLOAD}load = 0.5\n[system]\ncores = 16\ndiscipline = \"las\"");
    let read = |overrides: &[&str]| {
        let overrides = overrides.iter().map(|&text| text.to_owned()).collect();
        File::parse_with(&text, "in.toml", &Options { overrides, ..Options::default() })
    };
    let taken = read(&[
        "system.discipline.quantum=1us",
        "workload.load=[0.1, 0.2]",
        "measure.seed=7",
        "costs.steal = 5ns",
    ])
    .unwrap();
    assert!(
        matches!(taken.systems[0].system.discipline, DisciplineConfig::Las(las) if las.quantum == Picos::from_micros(1))
    );
    assert_eq!((taken.points().unwrap().len(), taken.measure.seed), (2, 7));
    for (set, expected) in [
        (
            "system.discipline.quantum=1",
            "--set:1:27: `1` has no unit; write \"1ns\", \"1us\", \"1ms\" or \"1s\"",
        ),
        (
            "system.discipline.quantm=1us",
            "--set:1:1: `quantm` is no key of `system.discipline` (did you mean `quantum`?)",
        ),
        ("system.quantum=1us", "--set:1:1: `quantum` is no key of `[system]` (it belongs to `discipline`,"),
        ("sytem.cores=1", "--set:1:1: `sytem` is no key of this file (did you mean `system`?)"),
        ("system.cores", "--set:1:1: `system.cores` sets nothing (write key.of.tables=value,"),
        ("system..cores=1", "--set:1:1: `system..cores` is no path of keys"),
        ("workload.load=1.5", "--set:1:15: at a load of 1.5 the backlog grows without end"),
        ("system.cores=nan", "--set:1:14: `nan` is no finite number (write digits, as in 1.5 or 1e-3)"),
        ("system.pools=3", "--set:1:14: pools that the cores can not be shared out to"),
    ] {
        let error = read(&[set]).expect_err(set).to_string();
        assert!(error.starts_with(expected), "{set}: {error}");
    }
}

#[test]
fn the_number_of_points_has_a_limit() {
    let loads: Vec<String> = (1..=101).map(|i| format!("{}", f64::from(i) / 1000.0)).collect();
    let times: Vec<String> = (1..=100).map(|i| format!("\"{i}us\"")).collect();
    let text = |loads: &[String]| {
        format!(
            "{WORKLOAD}load = [{}]\n[system]\ncores = 16\ndiscipline = {{ policy = \"las\", quantum = [{}] }}",
            loads.join(", "),
            times.join(", ")
        )
    };
    assert_eq!(keys(&text(&loads[1..])).len(), POINTS_MAX);
    let error = File::parse(&text(&loads), "in.toml").unwrap_err().to_string();
    assert!(error.starts_with("in.toml:6:42: the lists of this file make more than 10000 points"), "{error}");
}

#[test]
fn the_runtime_refuses_what_only_a_simulator_can_do() {
    let options = Options { host: SystemHost::Runtime, ..Options::default() };
    for (system, place, says) in [
        ("discipline = \"srpt\"", "3:14", "SRPT"),
        ("dispatch = \"least-work\"", "3:12", "least-work"),
        ("discipline = { policy = \"las\", quantum = 0 }", "3:42", "quantum = 0"),
        ("preset = \"shenango\"", "3:10", "an allocation policy in the runtime"),
        ("preset = \"ps-fluid\"", "3:10", "quantum = 0 in the runtime"),
        ("variant = \"authors-simulator\"", "3:11", "it selects a simulator"),
    ] {
        let text = format!("[system]\ncores = 16\n{system}");
        assert!(File::parse(&text, "in.toml").is_ok(), "{system}");
        let error = File::parse_with(&text, "in.toml", &options).expect_err(system).to_string();
        assert!(
            error.starts_with(&format!("in.toml:{place}: ")) && error.contains(says),
            "{system}: {error}"
        );
    }
    assert!(File::parse_with("[system]\ncores = 16\npreset = \"caudal-ps\"", "in.toml", &options).is_ok());
}

#[test]
fn several_problems_are_told_at_once_in_the_order_of_the_text() {
    let text = "[workload]\nservice = \"exp2us\"\nload = 0\n[system]\ncores = 0\nquantum = 1\ndiscipline = \"fifo\"\n[measure]\nseed = \"x\"";
    let error = File::parse(text, "in.toml").unwrap_err();
    let lines: Vec<usize> = error.problems().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 5, 6, 7, 9], "{error}");
}

#[test]
fn a_diagnostic_shows_the_line_and_the_help() {
    let error = File::parse("[system]\ncores = 16\nquantum = \"2us\"\n", "in.toml").unwrap_err();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    let mut shown = String::new();
    handler.render_report(&mut shown, &error.problems()[0]).unwrap();
    for part in [
        "`quantum` is no key of `[system]`",
        "in.toml:3:1",
        "quantum = \"2us\"",
        "help: it belongs to `discipline`",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn the_table_of_rules_can_be_printed() {
    let text = coherence::table_markdown();
    assert_eq!(text.lines().count(), coherence::table().len() + 2);
    assert!(text.contains("| stealing or shedding on a central queue |"));
    let mut names: Vec<&str> = coherence::table().iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), coherence::table().len());
}

#[test]
fn recorded_arrivals_have_a_load_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("times.csv"), "timestamp_ns\n0\n1000\n2000\n").unwrap();
    let read = |arrivals: &str| {
        let text = format!("{WORKLOAD}arrivals = {arrivals}\n[system]\ncores = 16\n[measure]\nwarm-up = 0");
        File::parse(&text, dir.path().join("in.toml"))
    };
    let points = read("{ file = \"times.csv\" }").unwrap().points().unwrap();
    assert_eq!((points.len(), points[0].key.as_str()), (1, "system"));
    assert!((points[0].load - 1.0 / 16.0).abs() < 1e-9);
    let error = read("{ file = \"times.csv\" }\nload = 0.5").unwrap_err().to_string();
    assert!(error.contains(":4:8: `load` and `rate` are not for recorded arrivals"), "{error}");
    assert!(read("{ file = \"times.csv\", scale = true }\nload = 0.5").is_ok());
}

#[test]
fn a_workload_names_the_files_that_it_was_read_from() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("gets.csv"), "1000\n1200\n").unwrap();
    std::fs::write(path("times.csv"), "0\n2000\n4000\n").unwrap();
    let text = "[workload]\nservice = { distribution = \"mixture\", classes = [{ name = \"get\", weight = 1, \
                service = { file = \"gets.csv\" } }] }\narrivals = { file = \"times.csv\" }\n[system]\ncores = 16\n\
                [measure]\nwarm-up = 0\n";
    let file = File::parse(text, path("in.toml")).unwrap();
    assert_eq!(file.workload.unwrap().files, [path("gets.csv"), path("times.csv")]);
}
