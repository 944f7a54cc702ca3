//! `caudal lanes` as a user meets it.

use std::path::Path;
use std::process::{Command, Output};

/// Short requests, and a few long ones: 200 values of 1 us and 8 of 100 us, a little spread.
fn service(dir: &Path) {
    let value = |n: u32| if n.is_multiple_of(26) { 100_000 + 10 * n } else { 1_000 + n % 50 };
    let rows: String = (0..208).map(|n| format!("{}\n", value(n))).collect();
    std::fs::write(dir.join("service.csv"), format!("service_ns\n{rows}")).expect("a file");
}

fn caudal(dir: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_caudal");
    Command::new(program).args(arguments).current_dir(dir).output().expect("it starts")
}

fn lanes(dir: &Path, more: &[&str]) -> Output {
    let base =
        ["lanes", "service.csv", "--cores", "4", "--load", "0.6", "--target", "p95", "--quick", "--quiet"];
    caudal(dir, &[&base[..], &["--budget", "1s"], more].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn lanes_are_found_said_written_and_can_be_simulated() {
    let dir = tempfile::tempdir().expect("a directory");
    service(dir.path());
    let found = lanes(dir.path(), &["--check-against", "0.8"]);
    let short = text(&found.stdout);
    assert!(found.status.success(), "{short}{}", text(&found.stderr));
    assert!(short.starts_with("Run isqd-sita with "), "{short}");
    for said in ["It gives", "one half", "answer", "today", "no lanes", "bound", "lanes made for it", "0.800"]
    {
        assert!(short.contains(said), "{said}: {short}");
    }
    assert!(!short.contains("is certainly shorter"), "that is for --explain: {short}");
    let out = text(&lanes(dir.path(), &["--check-against", "0.8", "--explain"]).stdout);
    assert!(out.starts_with(short.rsplit_once("\n\n").expect("parts").0), "{out}");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!out.contains("2us") && !out.contains("05us"), "one spelling of units: {out}");
    for said in ["isqd-sita", "one queue", "LAS, 2 µs", "is certainly shorter", "at load 0.8", "one half"] {
        assert!(out.contains(said), "{said}: {out}");
    }
    assert!(out.contains("lanes made for it") && out.contains("that those were not fitted to"), "{out}");
    let kept = dir.path().join("caudal-lanes");
    let answer = std::fs::read(kept.join("lanes.json")).expect("a file");
    let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
    let loss = &answer["drifts"][0]["loss"];
    let [low, estimate] = ["low", "estimate"].map(|of| loss[of].as_f64().expect("both keep up"));
    assert!(low <= estimate, "{loss}");
    for file in [
        "lanes.json",
        "policy.toml",
        "report.html",
        "report.json",
        "rows.jsonl",
        "progress.jsonl",
        "meta.json",
    ] {
        assert!(kept.join(file).exists(), "{file}");
    }
    let page = std::fs::read_to_string(kept.join("report.html")).expect("a page");
    let parts =
        ["The search", "Systems on fresh requests", "By class of requests", "When the workload changes"];
    for part in parts.into_iter().chain(["ends of lanes", "up to "]) {
        assert!(page.contains(part), "{part}");
    }
    // The file that comes out is one that goes in.
    let policy = std::fs::read_to_string(kept.join("policy.toml")).expect("a file");
    let file = format!("[workload]\nservice = {{ file = \"service.csv\" }}\nload = 0.6\n{policy}");
    std::fs::write(dir.path().join("system.toml"), file).expect("a file");
    let checked = caudal(dir.path(), &["check", "system.toml"]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));

    // Asked again, it is all there: nothing is simulated, and the answer is the same.
    let again = lanes(dir.path(), &["--check-against", "0.8"]);
    assert!(text(&again.stderr).contains("going on in"), "{}", text(&again.stderr));
    assert_eq!(text(&again.stdout), short);
    // Another question has a directory of its own.
    let other = lanes(dir.path(), &["--policy", "sqd-sita", "--json"]);
    assert!(dir.path().join("caudal-lanes-2/lanes.json").exists());
    let answer: serde_json::Value = serde_json::from_slice(&other.stdout).expect("JSON");
    assert!(answer["layout"]["reservations"].as_array().is_some_and(|lanes| lanes.len() >= 2), "{answer}");

    let page = std::fs::read_to_string(kept.join("report.html")).expect("a page");
    let report = |bytes: &str| std::fs::write(kept.join("report.html"), bytes).expect("a file");
    report("gone");
    assert!(caudal(dir.path(), &["report", "caudal-lanes"]).status.success());
    assert!(std::fs::read_to_string(kept.join("report.html")).expect("a page") == page, "made anew");
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_left_behind() {
    let dir = tempfile::tempdir().expect("a directory");
    service(dir.path());
    for (more, says) in [
        (&["--reservations", "2,1"][..], "one for each lane, that sum"),
        (&["--also", "scan p99 < 1us"], "no class `scan`"),
        (&["--also", "p99 < 1ns"], "can not be met"),
        (&["--check-against", "1.5"], "load is 1.500"),
        (&["--check-against", "nothing.csv"], "nothing.csv"),
        (&["--policy", "fifo"], "isqd-sita"),
        (&["--probe-factor", "0.5"], "from 1 on"),
    ] {
        let refused = lanes(dir.path(), more);
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(says), "{says}: {}", text(&refused.stderr));
    }
    assert!(!dir.path().join("caudal-lanes").exists());
}

#[test]
fn where_lanes_do_not_help_the_exit_code_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("service.csv"), "1000\n1001\n".repeat(60)).expect("a file");
    let found = lanes(dir.path(), &[]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    assert!(text(&found.stdout).starts_with("Keep one queue: "), "{}", text(&found.stdout));
    assert!(!dir.path().join("caudal-lanes/policy.toml").exists());
}

const CORE: &str = "[workload]\nservice = { file = \"service.csv\" }\nload = 0.6\n[system]\npreset = \"corezilla\"\n\
                    cores = 2\n[measure]\nrequests = 5_000\nreplications = 4\nwarm-up = 1_000\n";

/// A core's contexts as servers: the policy is a core, which can be simulated.
#[test]
fn lanes_of_the_contexts_of_a_core() {
    let dir = tempfile::tempdir().expect("a directory");
    service(dir.path());
    let asked = ["lanes", "service.csv", "--contexts", "4", "--preemption", "300ns", "--cold-miss", "1us"];
    let more = ["--target", "p95", "--quick", "--quiet", "--budget", "1s"];
    let found = caudal(dir.path(), &[&asked[..], &more[..]].concat());
    let out = text(&found.stdout);
    assert!(
        out.contains("contexts of a core") && out.contains("\nno lanes "),
        "{out}{}",
        text(&found.stderr)
    );
    if let Ok(policy) = std::fs::read_to_string(dir.path().join("caudal-lanes/policy.toml")) {
        assert!(policy.contains("count = 4, virtual = 32") && policy.contains("cold_miss"), "{policy}");
    }
    let on_cores = ["lanes", "service.csv", "--cores", "4", "--cold-miss", "1us"];
    assert_eq!(caudal(dir.path(), &on_cores).status.code(), Some(2), "cores have no cold misses");
    for (wrong, says) in [
        (&["--cores", "4"][..], "cannot be used with"),
        (&["--max-lanes", "0"], "there is no lane"),
        (&["--policy", "sita"], "by time served"),
    ] {
        let refused = caudal(dir.path(), &[&asked[..], &more[..], wrong].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(says), "{}", text(&refused.stderr));
    }
}

/// The profile's table goes into a policy that simulates.
#[test]
fn break_even_rates_become_a_table_of_the_policy() {
    let dir = tempfile::tempdir().expect("a directory");
    service(dir.path());
    std::fs::write(dir.path().join("core.toml"), CORE).expect("a file");
    let found = caudal(dir.path(), &["break-even", "core.toml", "--quick", "--quiet"]);
    let out = text(&found.stdout);
    assert!(found.status.success(), "{out}{}", text(&found.stderr));
    assert!(out.contains("8 active") && out.contains("adaptation = { window = \"5ms\""), "{out}");
    let policy = std::fs::read_to_string(dir.path().join("caudal-break-even/policy.toml")).expect("a policy");
    let workload = CORE.split("[system]").next().expect("a workload");
    std::fs::write(dir.path().join("adaptive.toml"), format!("{workload}{policy}")).expect("a file");
    let simulated = caudal(dir.path(), &["sim", "adaptive.toml", "--quick", "--quiet"]);
    assert!(simulated.status.success(), "{}", text(&simulated.stderr));
    let report = std::fs::read_to_string(dir.path().join("caudal-break-even/report.html")).expect("a report");
    assert!(report.contains("contexts") && report.contains("<svg"));
    let none = caudal(dir.path(), &["break-even", "core.toml", "--counts", "4,2", "--quiet"]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
}

#[test]
fn bounds_of_lanes_are_checked_on_request() {
    let dir = tempfile::tempdir().expect("a directory");
    service(dir.path());
    let lanes =
        CORE.replace("preset = \"corezilla\"", "preset = \"isqd-sita\"").replace("cores = 2", "cores = 8");
    std::fs::write(dir.path().join("lanes.toml"), lanes).expect("a file");
    let sim = |more: &[&str]| {
        caudal(dir.path(), &[&["sim", "lanes.toml", "--check-bounds", "--quiet"], more].concat())
    };
    let checked = sim(&["--set", "costs.preemption=0ns"]);
    let said = text(&checked.stderr);
    assert!(checked.status.success() && said.contains("kept after each of"), "{said}");
    let none = sim(&["--set", "system.discipline=\"fcfs\""]);
    assert!(!none.status.success() && text(&none.stderr).contains("no point has a discipline with bounds"));
}
