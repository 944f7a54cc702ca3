//! One turn of one contestant: start it, wait within a bound, read its trace, repeat if the machine was too bad.

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use caudal_measure::filter::{self, GapsOf, Report};
use caudal_measure::pin::RealTime;
use caudal_measure::schedule::Schedule;
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;

use super::contestants::Contestant;

/// How often a turn is taken at most.
const TRIES: u32 = 3;
/// What a program may need beyond its schedule: preparation, 2 s of patience, writing.
const BEYOND: Duration = Duration::from_secs(15);

/// A run, looked at twice.
pub(crate) struct Reports {
    /// Without what stalls in the work touched.
    pub(crate) work: Report,
    /// Also without what was to arrive while the generator stood still.
    pub(crate) generator: Report,
}

impl Reports {
    pub(crate) fn of(trace: &Trace) -> Reports {
        Reports {
            work: filter::report(trace, GapsOf::Work),
            generator: filter::report(trace, GapsOf::WorkAndGenerator),
        }
    }
}

/// What is the same for all contestants in a turn.
pub(crate) struct Conditions<'a> {
    pub(crate) schedule: &'a Schedule,
    /// The schedule as a file.
    pub(crate) file: &'a Path,
    pub(crate) classes: Option<&'a str>,
    pub(crate) work: Work,
    pub(crate) worker_core: usize,
    pub(crate) generator_core: usize,
    /// Whether contestants have real-time priority.
    pub(crate) real_time: bool,
    /// Where traces go.
    pub(crate) directory: &'a Path,
}

/// Real-time priority of contestants; any does, they are alone in having one.
pub(crate) const PRIORITY: u32 = 10;
/// What the rest of the machine gets after anything with real-time priority: else the kernel gives it 50 ms in the next turn.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);

/// What is kept of a turn.
pub(crate) struct Turn {
    pub(crate) reports: Reports,
    /// How often it was taken.
    pub(crate) tries: u32,
}

/// Takes a turn, again if less than four fifths are kept; of three bad ones the best counts.
pub(crate) fn take(contestant: &Contestant, conditions: &Conditions<'_>) -> Result<Turn, Box<dyn Error>> {
    let mut best: Option<Reports> = None;
    for tries in 1..=TRIES {
        let reports = Reports::of(&once(contestant, conditions)?);
        let good = !reports.work.must_be_repeated();
        if best.as_ref().is_none_or(|best| reports.work.kept_share > best.work.kept_share) {
            best = Some(reports);
        }
        if good || tries == TRIES {
            return Ok(Turn { reports: best.expect("a report was just made"), tries });
        }
    }
    unreachable!("the last try returns")
}

fn once(contestant: &Contestant, conditions: &Conditions<'_>) -> Result<Trace, Box<dyn Error>> {
    let out = conditions.directory.join("trace");
    let _ = std::fs::remove_file(&out);
    let mut command = command(contestant, conditions, &out);
    let child = start(&mut command, conditions.real_time)?;
    wait(child, BEYOND + Duration::from_nanos(conditions.schedule.duration_ns()))?;
    if conditions.real_time {
        std::thread::sleep(PAUSE);
    }
    let trace = Trace::read(&out)?;
    if (trace.seed, trace.requests.len()) != (conditions.schedule.seed, conditions.schedule.arrivals.len()) {
        return Err("its trace is of another schedule".into());
    }
    Ok(trace)
}

/// Starts a program; all its threads inherit the priority that this thread has at that moment.
fn start(command: &mut Command, real_time: bool) -> Result<Child, Box<dyn Error>> {
    let priority = if real_time { Some(RealTime::enter(PRIORITY)?) } else { None };
    let child = command.spawn().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    drop(priority);
    Ok(child)
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
