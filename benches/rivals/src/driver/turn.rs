//! One turn of one contestant: start it, wait within a bound, read its trace, repeat if the machine was too bad.

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use caudal_measure::filter::{self, GapsOf, Report};
use caudal_measure::schedule::Schedule;
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;

use super::contestants::Contestant;

/// How often a turn is taken at most.
const TRIES: u32 = 3;
/// What a program may need beyond its schedule: preparation, 10 s of patience, writing.
const BEYOND: Duration = Duration::from_secs(25);

/// What is the same for all contestants in a turn.
pub(crate) struct Conditions<'a> {
    pub(crate) schedule: &'a Schedule,
    /// The schedule as a file.
    pub(crate) file: &'a Path,
    pub(crate) classes: Option<&'a str>,
    pub(crate) work: Work,
    pub(crate) worker_core: usize,
    pub(crate) generator_core: usize,
    pub(crate) gaps_of: GapsOf,
    /// Where traces go.
    pub(crate) directory: &'a Path,
}

/// What is kept of a turn.
pub(crate) struct Turn {
    pub(crate) report: Report,
    /// How often it was taken.
    pub(crate) tries: u32,
}

/// Takes a turn, again if less than four fifths are kept; of three bad ones the best counts.
pub(crate) fn take(contestant: &Contestant, conditions: &Conditions<'_>) -> Result<Turn, Box<dyn Error>> {
    let mut best: Option<Report> = None;
    for tries in 1..=TRIES {
        let report = filter::report(&once(contestant, conditions)?, conditions.gaps_of);
        let good = !report.must_be_repeated();
        if best.as_ref().is_none_or(|best| report.kept_share > best.kept_share) {
            best = Some(report);
        }
        if good || tries == TRIES {
            return Ok(Turn { report: best.expect("a report was just made"), tries });
        }
    }
    unreachable!("the last try returns")
}

fn once(contestant: &Contestant, conditions: &Conditions<'_>) -> Result<Trace, Box<dyn Error>> {
    let out = conditions.directory.join("trace");
    let _ = std::fs::remove_file(&out);
    let mut command = command(contestant, conditions, &out);
    let child = command.spawn().map_err(|error| format!("{}: {error}", contestant.command[0]))?;
    wait(child, BEYOND + Duration::from_nanos(conditions.schedule.duration_ns()))?;
    let trace = Trace::read(&out)?;
    if (trace.seed, trace.requests.len()) != (conditions.schedule.seed, conditions.schedule.arrivals.len()) {
        return Err("its trace is of another schedule".into());
    }
    Ok(trace)
}

fn command(contestant: &Contestant, conditions: &Conditions<'_>, out: &Path) -> Command {
    let schedule = conditions.schedule;
    let mut command = Command::new(&contestant.command[0]);
    command.args(&contestant.command[1..]).stdin(Stdio::null()).stdout(Stdio::null());
    let options = [
        ("--load", schedule.load.to_string()),
        ("--requests", schedule.arrivals.len().to_string()),
        ("--seed", schedule.seed.to_string()),
        ("--worker-core", conditions.worker_core.to_string()),
        ("--generator-core", conditions.generator_core.to_string()),
        ("--quantum", contestant.quantum.to_owned()),
        ("--iterations-per-us", conditions.work.to_string()),
    ];
    for (name, value) in options {
        command.args([name, &value]);
    }
    if contestant.reads_schedule {
        command.arg("--schedule").arg(conditions.file);
    } else if let Some(classes) = conditions.classes {
        command.args(["--mix", classes]);
    }
    command.arg("--out").arg(out);
    command
}

/// Waits, without taking a core from the contestant; ends it when it takes too long.
fn wait(mut child: Child, limit: Duration) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return if status.success() { Ok(()) } else { Err(format!("it ended with {status}").into()) };
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(format!("it was not done after {limit:?}").into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
