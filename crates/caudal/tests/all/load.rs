//! `caudal load`: what is wrong with what was asked, runs that are merged, and latencies that are no service times.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::Path;
use std::process::{Command, Output};

use caudal_load::export::{write_hgrm, write_hlog};
use caudal_load::record::{ClassRecord, OwnRecord};
use caudal_load::run::{FORMAT, Mode, Run};

fn caudal(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_caudal")).args(args).current_dir(folder).output().unwrap()
}

fn errors(folder: &Path, args: &[&str], code: i32) -> String {
    let output = caudal(folder, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    // As it would read on one line.
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// A run of 1,000 gets of 100 to 1,099 µs, of which the generator was late by `error_ns`, and one unanswered set.
fn run(seed: u64, error_ns: u64) -> Run {
    let (mut gets, mut sets) = (ClassRecord::new("get"), ClassRecord::new("set"));
    (gets.due, gets.answered, sets.due, sets.unanswered) = (1_000, 1_000, 1, 1);
    let mut own =
        OwnRecord { kept: 1.0, idle_ns: 900_000_000, watched_ns: 1_000_000_000, ..OwnRecord::default() };
    for us in 100..1_100 {
        gets.latency.record(us * 1_000);
        own.send_error.record(error_ns);
    }
    Run {
        load_format: FORMAT,
        target: "a service".to_owned(),
        workload: "facebook-usr".to_owned(),
        arrivals: "poisson".to_owned(),
        mode: Mode::Open { rate_per_s: 1_001.0 },
        seeds: vec![seed],
        connections: 1,
        warm_up_ns: 0,
        measured_ns: 1_000_000_000,
        timeout_ns: 1_000_000_000,
        cut_short: None,
        first_failure: None,
        classes: vec![gets, sets],
        own,
    }
}

fn write(folder: &Path, name: &str, run: &Run) {
    std::fs::write(folder.join(name), serde_json::to_string(run).unwrap()).unwrap();
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let load = |more: &[&str]| {
        let args = [&["load", &free, "--workload", "facebook-usr"], more].concat();
        errors(folder.path(), &args, 2)
    };
    for (more, parts) in [
        (&[][..], &["no rate", "--rate 10k/s"][..]),
        (&["--rate", "1k/s"], &["nothing listens on TCP port", "start the service first"]),
        (&["--rate", "1k/s", "--udp"], &["nothing listens on UDP port", "-U PORT"]),
        (&["--rate", "1k/s", "--udp", "--value-bytes", "70000"], &["has no room", "65000"]),
        (&["--rate", "1k/s", "--arrivals", "posson"], &["posson", "poisson"]),
        (&["--rate", "1k/s", "--timeout", "1ns"], &["from 1ms to 60s"]),
        (&["--rate", "1k/s", "--depth", "2"], &["--closed"]),
        (&["--search", "scan p99 < 1ms"], &["no class `scan`", "get, set"]),
        (&["--search", "p99 slowdown < 10"], &["not how much of it the service took"]),
    ] {
        let text = load(more);
        for part in parts {
            assert!(text.contains(part), "{more:?}: {part}: {text}");
        }
    }
    let unwritable =
        ["load", &free, "--workload", "facebook-usr", "--rate", "1k/s", "--out", "no/such/folder"];
    assert!(errors(folder.path(), &unwritable, 3).contains("no/such/folder"));
    let text = errors(folder.path(), &["load", "localhost", "--workload", "exp-1us", "--rate", "1k/s"], 2);
    assert!(text.contains("write HOST:PORT"), "{text}");
}

#[test]
fn runs_merge_and_a_percentile_that_is_the_generators_is_struck_out() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.json", &run(1, 200_000));
    write(folder.path(), "b.json", &run(2, 200_000));
    let output =
        caudal(folder.path(), &["load", "merge", "a.json", "b.json", "--hgrm", "x.hgrm", "--out", "c.json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let gets = text.lines().find(|line| line.starts_with("get")).unwrap();
    // 200 µs are more than a quarter of the median of 599 µs, and less than a quarter of 1,089 µs.
    assert!(gets.contains("2000") && gets.contains("~~599 µs~~") && gets.contains(" 1.09 ms"), "{text}");
    assert!(text.contains("(send error)") && text.contains("more than a quarter"), "{text}");
    assert!(text.contains("≥ 1.00 s") && text.contains("2 unanswered"), "{text}");
    let whole: Run =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("c.json")).unwrap()).unwrap();
    assert_eq!((whole.total().due, whole.seeds), (2_002, vec![1, 2]));
    let listing = std::fs::read_to_string(folder.path().join("x.hgrm")).unwrap();
    assert!(listing.contains("Total count    =         2002"), "{listing}");

    let json = caudal(folder.path(), &["load", "merge", "a.json", "b.json", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["percentiles"][0]["trusted"], false);
    assert_eq!(
        (&json["percentiles"][0]["class"], &json["classes"][0]["due"]),
        (&"get".into(), &2_000.into())
    );
    // What `--json` prints can be merged, too.
    std::fs::write(folder.path().join("d.json"), json.to_string()).unwrap();
    write(folder.path(), "e.json", &run(3, 1));
    assert!(caudal(folder.path(), &["load", "merge", "d.json", "e.json"]).status.success());

    let text = errors(folder.path(), &["load", "merge", "a.json", "a.json"], 2);
    assert!(text.contains("have seed 1") && text.contains("--seed"), "{text}");
    let text = errors(folder.path(), &["load", "merge", "x.hgrm", "a.json"], 2);
    assert!(text.contains("`x.hgrm` holds no run") && text.contains("--out FILE"), "{text}");
}

#[test]
fn a_plan_refuses_latencies_and_says_where_service_times_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Vec::new();
    write_hlog(&run(1, 1), &mut log).unwrap();
    std::fs::write(folder.path().join("x.hlog"), &log).unwrap();
    let plan = ["plan", "--workload", "x.hlog", "--target", "get p99 < 1ms"];
    let text = errors(folder.path(), &plan, 2);
    for part in ["holds latencies", "latency:get", "no service times", "caudal top NAME --hlog FILE"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut listing = Vec::new();
    write_hgrm(&run(1, 1), &run(1, 1).total(), &mut listing).unwrap();
    assert!(String::from_utf8(listing).unwrap().contains("1/(1-Percentile)"));
}
