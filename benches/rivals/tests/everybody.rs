//! Every contestant serves every request of a short run, whatever its language; how fast is not asked.

use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// One run at a time: contestants spin on both cores.
static TURN: Mutex<()> = Mutex::new(());

/// One round at load 0.2, with ordinary priority, because tests share the machine.
fn rivals(options: &[&str]) -> Output {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(env!("CARGO_BIN_EXE_rivals"))
        .args(["run", "--ordinary", "--rounds", "1", "--loads", "0.2", "--length", "20ms"])
        .args(options)
        .output()
        .expect("the driver starts");
    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The JSON lines of such a run.
fn run(options: &[&str]) -> Vec<Value> {
    let output = rivals(&[options, &["--json"]].concat());
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn count(row: &Value, class: &str) -> f64 {
    row[class]["raw"]["count"]["median"].as_f64().expect("a count")
}

#[test]
fn all_serve_the_same_requests() {
    let rows = run(&[]);
    let contestants: Vec<&Value> = rows.iter().filter(|row| row["contestant"].is_string()).collect();
    // Go and oneTBB are left out where they are not installed.
    let here = |program: &str, argument: &str| Command::new(program).arg(argument).output().is_ok();
    assert!(contestants.len() >= if here("go", "version") { 9 } else { 6 });
    let (short, long) = (count(contestants[0], "short"), count(contestants[0], "long"));
    assert_eq!(short + long, 1201.0, "nine tenths of 20 ms at load 0.2");
    for row in contestants {
        assert_eq!((count(row, "short"), count(row, "long")), (short, long), "{row}");
        assert_eq!(
            (&row["short"]["unfinished"][0], &row["long"]["unfinished"][0]),
            (&0.into(), &0.into()),
            "{row}"
        );
        // A sojourn has the whole service in it: the iterations were done.
        assert!(row["short"]["raw"]["p50_ns"]["median"].as_f64().expect("a median") > 300.0, "{row}");
    }
}

#[test]
fn a_command_takes_part_and_others_are_compared_with_it() {
    let extra = format!("ours={} --polled", env!("CARGO_BIN_EXE_rival-tokio"));
    let rows = run(&["--only", "fcfs", "--extra", &extra, "--mix", "0.5:1us,0.5:2us"]);
    assert_eq!(
        (rows[0]["contestant"].as_str(), rows[1]["contestant"].as_str()),
        (Some("ours"), Some("fcfs"))
    );
    assert_eq!(rows[0]["p99_over_first"]["raw"]["median"], 1.0);
    assert_eq!(rows[0]["mean_over_first"]["filtered"]["median"], 1.0);
    assert!(rows[1]["p99_over_first"]["raw"]["median"].as_f64().expect("a ratio") > 0.0);
}

#[test]
fn a_command_that_fails_is_named_and_the_others_are_printed() {
    let output = rivals(&["--only", "fcfs", "--extra", "broken=false"]);
    let (table, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("broken fails at load 0.2: it ended with exit status: 1"), "{said}");
    assert!(table.contains("fcfs") && table.contains("failed: it ended"), "{table}");
}
