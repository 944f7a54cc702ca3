//! Runs in processes of their own: long runs whose memory is measured, runs under valgrind, clean builds. `caudal-bench` calls [`memory`] and
//! [`clean_build`] for their rows, and `count` starts one process for each case; the started process is this program, and calls [`run`].

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::limit;
use crate::machine::{on_all_cores, peak_memory_bytes, timed};
use crate::measure::Figure;
use crate::row::{Row, Target};

/// Why a row could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChildError {
    #[error("`{0}` could not be started: {1}")]
    Start(String, std::io::Error),
    #[error("`{0}` failed: {1}")]
    Failed(String, String),
    #[error("`{0}` said something else than was expected: {1}")]
    Says(String, String),
    #[error("there is no case `{0}`; there are: {1}")]
    NoCase(String, String),
}

/// The key of the limit, which is given instead of the key of a case.
pub(crate) const LIMIT: &str = "limit";

/// The report of a run in a process of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Simulated time at the end, in ps; 0 for the limit.
    pub(crate) end_ps: u64,
    /// Requests that arrived; known at once only for the limit.
    pub(crate) arrived: Option<u64>,
    pub(crate) peak_memory_bytes: Option<u64>,
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
}

/// The case with this key.
pub(crate) fn find(key: &str) -> Result<Case, ChildError> {
    let cases = Case::all();
    let keys: Vec<String> = cases.iter().map(|case| case.key.clone()).collect();
    let missing = || ChildError::NoCase(key.to_owned(), format!("{LIMIT}, {}", keys.join(", ")));
    cases.into_iter().find(|case| case.key == key).ok_or_else(missing)
}

/// Runs a case in this process, once.
pub(crate) fn run(key: &str, requests: u64, seed: u64) -> Result<Report, ChildError> {
    let (end_ps, arrived, took) = if key == LIMIT {
        let service = Case::single_queue(limit::SERVERS as u32, 0.8).service;
        let warm_up = requests / 10;
        let (found, took) = timed(|| limit::simulate(&service, 0.8, seed, warm_up, requests - warm_up));
        (0, Some(found.arrived), took)
    } else {
        let case = find(key)?;
        let (outcome, took) = timed(|| case.simulate(requests, seed));
        (outcome.end_ps, None, took)
    };
    let peak_memory_bytes = peak_memory_bytes();
    Ok(Report { end_ps, arrived, peak_memory_bytes, cpu_s: took.cpu_s, wall_s: took.wall_s })
}

/// Runs `command` and returns its stdout and stderr.
pub(crate) fn output(command: &mut Command) -> Result<(String, String), ChildError> {
    let said = format!("{command:?}").replace('"', "");
    let done =
        command.stdin(Stdio::null()).output().map_err(|error| ChildError::Start(said.clone(), error))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if !done.status.success() {
        return Err(ChildError::Failed(said, text(done.stderr)));
    }
    Ok((text(done.stdout), text(done.stderr)))
}

/// The arguments with which this program runs a case.
pub(crate) fn arguments(key: &str, requests: u64, seed: u64) -> [String; 6] {
    let number = |number: u64| number.to_string();
    ["run", key, "--requests", &number(requests), "--seed", &number(seed)].map(str::to_owned)
}

/// The report of a process that ran a case.
pub(crate) fn parse(stdout: &str) -> Result<Report, ChildError> {
    let says = |error| ChildError::Says("caudal-bench run".to_owned(), format!("{error} in {stdout:?}"));
    serde_json::from_str(stdout.trim()).map_err(says)
}

/// Path of this program.
pub(crate) fn this_program() -> Result<std::path::PathBuf, ChildError> {
    std::env::current_exe().map_err(|error| ChildError::Start("caudal-bench".to_owned(), error))
}

/// The row about the memory of a run of `requests` requests.
pub(crate) fn memory(requests: u64, seed: u64) -> Result<Row, ChildError> {
    let mut command = Command::new(this_program()?);
    let (stdout, _) = output(command.args(arguments("single-queue-16-0.8", requests, seed)))?;
    let report = parse(&stdout)?;
    let megabytes = report.peak_memory_bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
    let million = requests as f64 / 1e6;
    Ok(Row {
        work: format!("memory, {million} million requests of M/M/16"),
        unit: "MB",
        measured: Figure::of([megabytes]),
        wall: None,
        target: Target::AtMost(64.0),
        detail: format!(
            "{:.1} s, {:.1} M/s (CPU), {:.1} M/s (wall)",
            report.wall_s,
            million / report.cpu_s,
            million / report.wall_s
        ),
    })
}

/// The row about the time of a clean release build of the `caudal` command, on all cores.
pub(crate) fn clean_build() -> Result<Row, ChildError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = tempfile::tempdir().map_err(|error| ChildError::Start("mktemp".to_owned(), error))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--release", "--locked", "-p", "caudal", "--target-dir"]);
    command.arg(target.path());
    let started = Instant::now();
    on_all_cores(|| output(&mut command))?;
    Ok(Row {
        work: "clean release build of the command".to_owned(),
        unit: "s",
        measured: Figure::of([started.elapsed().as_secs_f64()]),
        wall: None,
        target: Target::AtMost(300.0),
        detail: "downloads included where crates are not in the registry's cache".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_says_is_read_back() {
        let report = run("stealing-32-0.5", 2_000, 1).unwrap();
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(parse(&text).unwrap().end_ps, report.end_ps);
        assert!(report.end_ps > 0 && report.arrived.is_none());
        assert!(run(LIMIT, 2_000, 1).unwrap().arrived >= Some(2_000));
        assert!(parse("nothing").is_err());
    }

    #[test]
    fn unknown_cases_are_refused_with_what_there_is() {
        let error = run("stealing", 2_000, 1).unwrap_err().to_string();
        assert!(error.contains("`stealing`") && error.contains("limit, single-queue-16-0.8"), "{error}");
    }
}
