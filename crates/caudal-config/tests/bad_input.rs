//! Every kind of mistake: where it is pointed at, and what is said.

use caudal_config::{ConfigError, File, Host, Options};

fn refused(text: &str, options: &Options) -> String {
    match File::parse_with(text, "in.toml", options).and_then(|file| file.points().map(|_| ())) {
        Ok(()) => panic!("taken:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn with(overrides: &[&str]) -> Options {
    Options { overrides: overrides.iter().map(|&text| text.to_owned()).collect(), ..Options::default() }
}

const GOOD: &str = r#"[workload]
service = "exp-1us"
load = 0.5
[system]
cores = 16
"#;

#[test]
fn the_good_file_is_taken() {
    let file = File::parse(GOOD, "in.toml").unwrap();
    assert_eq!(file.points().unwrap()[0].key, "system/load=0.5");
}

#[test]
fn dump() {
    for (text, _) in CASES {
        println!("--- {text}\n{}", refused(text, &Options::default()));
    }
}

const CASES: &[(&str, &str)] = &[
    ("x = [", ""),
    ("[system]\ncores = 16\nquantum = \"2us\"", ""),
    ("[system]\ncores = 16\ndiscipine = \"fcfs\"", ""),
    ("[sytem]\ncores = 16", ""),
    ("[system]\ncores = 0", ""),
    ("[system]\ncores = -4", ""),
    ("[system]\ncores = 1_000_000_000", ""),
    ("[system]\ncores = 99999999999999999999", ""),
    ("[system]\ncores = \"16\"", ""),
    ("[system]\nname = \"x\"", ""),
    ("[system]\ncores = 16\npreset = \"tiny-quata\"", ""),
    ("[system]\ncores = 16\npreset = \"zzz\"", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantum = \"2 parsecs\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantum = 2 }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantum = \"-2us\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantum = \"50ns\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantm = \"2us\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"processor-sharing\", quantum = \"2us\", fresh = \"fist\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { quantum = \"2us\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"procesor-sharing\", quantum = \"2us\" }", ""),
    ("[system]\ncores = 16\ndiscipline = { policy = \"fcfs\", quantum = \"2us\" }", ""),
    ("[system]\ncores = 16\ndiscipline = 3", ""),
    ("[system]\ncores = 16\ndispatch = { policy = \"power-of-k\", k = 17 }", ""),
    ("[system]\ncores = 16\ndispatch = { policy = \"power-of-k\", k = -1 }", ""),
    ("[system]\ncores = 16\ndispatch = { policy = \"power-of-k\", k = 1.5 }", ""),
    ("[system]\ncores = 16\npools = 5", ""),
    ("[system]\ncores = 16\npools = \"percore\"", ""),
    ("[system]\ncores = 16\npools = [13, 2, 2]", ""),
    ("[system]\ncores = 16\nallocation = { cores = 17 }", ""),
    ("[system]\ncores = 16\nallocation = { start = 3 }", ""),
    ("[system]\ncores = 16\nallocation = { policy = \"per-task\" }", ""),
    ("[system]\ncores = 16\nrebalance = \"work-stealing\"\nallocation = { policy = \"delay-range\", low = \"2us\", interval = \"5us\" }", ""),
    ("[system]\ncores = 16\nrebalance = \"work-stealing\"\nallocation = { policy = \"triggers\", grow = { when = \"delay-max\", above = \"5\" }, shrink = { when = \"never\" } }", ""),
    ("[system]\ncores = 16\nrebalance = \"work-stealing\"\nallocation = { policy = \"triggers\", grow = { when = \"delay-max\", abov = \"5us\" }, shrink = { when = \"never\" } }", ""),
    ("[system]\ncores = 16\nrebalance = \"work-stealing\"\nallocation = { policy = \"triggers\", grow = { when = \"delay-mx\", above = \"5us\" }, shrink = { when = \"never\" } }", ""),
    ("[system]\ncores = 16\nallocation = { policy = \"triggers\", grow = { when = \"delay-max\", above = \"5us\" }, shrink = { when = \"never\", above = 3 } }", ""),
    ("[system]\ncores = 16\nallocation = { policy = \"triggers\", grow = { when = \"delay-max\", above = \"5us\" } }", ""),
    ("[system]\ncores = 16\nallocation = { policy = \"triggers\", grow = { when = \"delay-max\" }, shrink = { when = \"never\" } }", ""),
    ("[system]\ncores = 16\n[costs]\npreemption = \"40\"", ""),
    ("[system]\ncores = 16\n[costs]\npremption = \"40ns\"", ""),
    ("[system]\ncores = 16\n[costs]\nsteal = \"1ns\"\npreemption = \"40s\"", ""),
    ("[system]\ncores = 16\n[costs]\nprobe_factor = 0.9", ""),
    ("[system]\ncores = 16\n[costs]\nprobe_factor = nan", ""),
    ("[system]\ncores = 16\n[measure]\npercentiles = [99, 50]", ""),
    ("[system]\ncores = 16\n[measure]\nstop = { confidence = 95 }", ""),
    ("[system]\ncores = 16\n[measure]\nseed = -1", ""),
    ("[system]\ncores = 16\n[measure]\nwarm-up = \"automatic\"", ""),
    ("[system]\ncores = 16\n[measure]\nstop = { relative_eror = 0.1 }", ""),
    ("[workload]\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp1us\"\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\nload = 1.0\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\nload = [0.5, -0.1, 0.5]\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\nrate = \"17M/s\"\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\nrate = \"17M\"\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\nload = []\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\n[system]\ncores = 16", ""),
    ("[workload]\nservice = { distribution = \"bimodal\", short = \"0.5us\", long = \"500us\", p_long = 1.5 }\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = { distribution = \"mixture\", classes = [{ name = \"a\", weight = 0.5, service = { distribution = \"constant\", value = \"0us\" } }, { name = \"b\", weight = 0.6, service = \"exp-1us\" }] }\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = { distribution = \"bimodal\", short = 0.5 }\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = { file = \"nowhere.csv\" }\nload = 0.5\n[system]\ncores = 16", ""),
    ("[workload]\nservice = \"exp-1us\"\narrivals = { process = \"poison\" }\nload = 0.5\n[system]\ncores = 16", ""),
    ("[[system]]\ncores = 16\n[[system]]\ncores = 8\nname = \"system\"", ""),
    ("system = 3", ""),
    ("[workload]\nservice = \"exp-1us\"\nload = 0.5\n", ""),
    ("", ""),
    ("[system]\ncores = 1979-05-27", ""),
    ("[system]\ncores = [16, 16]", ""),
];
