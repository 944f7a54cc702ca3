//! Inputs on the command line: packed, from a pipe, with questions, under names that are no UTF-8; and Ctrl-C while they are
//! read.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../caudal-workload/tests/inputs")
}

fn caudal(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(arguments).current_dir(inputs());
    command
}

fn ran(arguments: &[&str]) -> Output {
    caudal(arguments).stdin(Stdio::null()).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_is_not_known_is_refused_with_the_readings_where_nobody_can_answer() {
    let found = ran(&["plan", "-w", "hdr_elapsed_18.csv", "-t", "p99 < 1ms"]);
    let error = text(&found.stderr);
    assert_eq!(found.status.code(), Some(2), "{error}");
    assert!(error.contains("--unit us  the mean is 25.8 µs") && error.contains("--unit ms"), "{error}");
    let answered = ran(&["workload", "show", "hdr_elapsed_18.csv", "--unit", "us", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&answered.stdout).unwrap();
    assert_eq!(
        (json["read_as"]["unit"].as_str(), json["read_as"]["values"].as_u64()),
        (Some("us"), Some(300))
    );
}

#[test]
fn options_that_say_how_requests_are_drawn_are_refused_where_none_are() {
    for arguments in [
        &["workload", "show", "semi.csv", "--replay"][..],
        &["workload", "show", "semi.csv", "--recorded"],
        &["workload", "convert", "semi.csv", "-", "--weights", "get=1"],
    ] {
        let found = ran(arguments);
        assert_eq!(found.status.code(), Some(2), "{arguments:?}");
        assert!(text(&found.stderr).contains("says how requests are drawn"), "{}", text(&found.stderr));
    }
}

#[test]
fn standard_input_and_names_that_are_no_utf_8_are_read() {
    let mut child =
        caudal(&["workload", "show", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(inputs().join("semi.csv")).unwrap()).unwrap();
    let found = child.wait_with_output().unwrap();
    assert!(text(&found.stdout).contains("500 values"), "{}", text(&found.stdout));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(OsStr::from_bytes(b"caf\xe9.csv"));
    std::fs::copy(inputs().join("semi.csv"), &path).unwrap();
    for arguments in [
        &["workload", "show"][..],
        &["compare", "no-balancing", "work-stealing", "--load", "0.5", "--cores", "2", "--quick", "-w"],
    ] {
        let found = caudal(arguments).arg(&path).output().unwrap();
        assert!(found.status.success(), "{}", text(&found.stderr));
    }
}

#[test]
fn what_tools_wrote_is_converted_and_reads_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    for (from, to, more) in [
        ("k6.csv", "k6.out.csv", &[][..]),
        ("jmeter.jtl", "jmeter.out.csv", &[]),
        ("vegeta.csv", "vegeta.out.csv", &["--recorded"]),
        ("biolatency.txt", "biolatency.out.csv", &[]),
        ("hist8.csv", "hist8.out.csv", &[]),
    ] {
        let found = ran(&[&["workload", "convert", from, &path(to)], more].concat());
        assert!(found.status.success(), "{from}: {}", text(&found.stderr));
        let shown = |file: &str| {
            let found = ran(&["workload", "show", file, "--json"]);
            let json: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
            (
                json["all"]["mean_ns"].as_f64().unwrap(),
                json["all"]["samples"].clone(),
                json["classes"].clone(),
            )
        };
        let (before, after) = (shown(from), shown(&path(to)));
        assert!((before.0 / after.0 - 1.0).abs() < 1e-6, "{from}: {before:?} {after:?}");
        assert_eq!(
            (before.1, before.2.as_object().unwrap().len()),
            (after.1, after.2.as_object().unwrap().len()),
            "{from}"
        );
    }
    let wrk = dir.path().join("wrk.txt");
    std::fs::write(&wrk, "  Latency Distribution\n     50%    1.20ms\n     99%    9.00ms\n").unwrap();
    let wrk = wrk.display().to_string();
    let wrong = ran(&["workload", "convert", &wrk, &path("wrk.csv")]);
    assert!(
        wrong.status.code() == Some(2) && text(&wrong.stderr).contains("wrk.toml"),
        "{}",
        text(&wrong.stderr)
    );
    assert!(ran(&["workload", "convert", &wrk, &path("wrk.toml")]).status.success());
    let found =
        ran(&["threshold", "-w", &path("wrk.toml"), "-t", "30ms", "--rate", "100/s", "--out", &path("t")]);
    assert!(found.status.success(), "{}", text(&found.stderr));
}

#[test]
fn a_trace_is_played_as_it_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.csv");
    let rows: String = (0..4_000)
        .map(|n| {
            format!(
                "{},{},{}\n",
                1_700_000_000_000_000_000u64 + n * 100_000,
                if n % 10 == 0 { "scan" } else { "get" },
                20 + n % 7
            )
        })
        .collect();
    std::fs::write(&path, format!("timestamp,class,service_us\n{rows}")).unwrap();
    let found = caudal(&[
        "compare",
        "no-balancing",
        "work-stealing",
        "--load",
        "0.5",
        "--cores",
        "2",
        "--quick",
        "--recorded",
        "-w",
    ])
    .arg(&path)
    .output()
    .unwrap();
    let error = text(&found.stderr);
    assert!(found.status.success() && error.contains("times of arrivals in CSV"), "{error}");
}

/// Has the process a handler for SIGINT?
fn catches_interrupts(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() >> (libc::SIGINT - 1) & 1 == 1
}

/// While a pipe is silent, and while it never ends: the first Ctrl-C ends the command.
#[test]
fn ctrl_c_is_heard_while_a_pipe_is_read() {
    for endless in [false, true] {
        let mut child = caudal(&["workload", "show", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"service_us\n10\n").unwrap();
        // Whoever writes ends when nobody reads any more.
        let writer = std::thread::spawn(move || {
            let rows = b"12.5\n".repeat(10_000);
            while endless && stdin.write_all(&rows).is_ok() {}
            if !endless {
                std::thread::sleep(Duration::from_millis(300));
            }
            stdin
        });
        let pid = child.id().to_string();
        // Until its handler stands, a signal would simply end it.
        while !catches_interrupts(&pid) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let deadline = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it goes on reading");
            std::thread::sleep(Duration::from_millis(20));
        }
        let found = child.wait_with_output().unwrap();
        assert_eq!(found.status.code(), Some(130), "{}", text(&found.stderr));
        drop(writer.join().unwrap());
    }
}

#[test]
fn the_script_that_records_a_function_is_printed() {
    let program = env!("CARGO_BIN_EXE_caudal");
    let found = ran(&["record", "--function", &format!("{program}:main"), "--duration", "2s", "--print"]);
    let script = text(&found.stdout);
    assert!(
        found.status.success() && script.contains("uretprobe:") && script.contains("interval:s:2"),
        "{script}"
    );
    let refused = ran(&["record", "--function", "nowhere:main", "--print"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// Needs bpftrace, root, and a kernel that permits it; says so where that is not there.
#[test]
#[ignore = "long: make test-long"]
fn a_function_of_a_running_program_is_recorded() {
    let works = Command::new("bpftrace").args(["-q", "-e", "BEGIN { exit(); }"]).output();
    if !works.is_ok_and(|found| found.status.success()) {
        eprintln!("not shown: bpftrace is missing, or not permitted here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = "#include <unistd.h>\n__attribute__((noinline)) void handle_get(void) { usleep(2000); }\n\
                  int main(void) { for (int i = 0; i < 100000; i++) handle_get(); }\n";
    std::fs::write(dir.path().join("service.c"), source).unwrap();
    let built =
        Command::new("cc").args(["-O1", "service.c", "-o", "service"]).current_dir(dir.path()).status();
    assert!(built.unwrap().success());
    let mut service = Command::new(dir.path().join("service")).spawn().unwrap();
    let found = Command::new(env!("CARGO_BIN_EXE_caudal"))
        .args([
            "record",
            "--function",
            "./service:handle_get",
            "--duration",
            "2s",
            "--out",
            "times.csv",
            "--json",
        ])
        .current_dir(dir.path())
        .output()
        .unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(found.status.success(), "{}", text(&found.stderr));
    let json: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert!(json["disturbed"]["requests"].as_u64().unwrap() > 50, "{json}");
    assert!(json["all"]["percentiles_ns"]["p1"].as_f64().unwrap() > 1.9e6, "it sleeps for 2 ms: {json}");
}
