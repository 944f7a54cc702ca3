//! One turn of one program: its schedule goes to a file, its trace comes from one.
//! `caudal-rt-bench scan` calls it for each program in each round.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use caudal_measure::clock::Tsc;
use caudal_measure::filter::{GapsOf, Latency, report};
use caudal_measure::schedule::Schedule;
use caudal_measure::trace::{Recorder, Run, Trace};

/// A program of `benches/scan`, and its name in the tables.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: String,
    file: PathBuf,
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let (name, file) = text.split_once('=').ok_or("write NAME=FILE")?;
        Ok(Program { name: name.to_owned(), file: file.into() })
    }
}

/// The times of requests where nothing else runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    pub(super) get_ns: u64,
    pub(super) scan_ns: u64,
}

impl Program {
    /// Measures its requests without a runtime on `core`.
    pub(super) fn alone(&self, core: usize) -> Result<Alone, Box<dyn Error>> {
        let [get_ns, scan_ns] = self.printed(&["alone", &core.to_string()])?;
        Ok(Alone { get_ns: get_ns.parse()?, scan_ns: scan_ns.parse()? })
    }

    /// Runs it and gives the two words that it prints.
    fn printed(&self, arguments: &[&str]) -> Result<[String; 2], Box<dyn Error>> {
        let mut command = Command::new(&self.file);
        let output = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("{}: {error}", self.file.display()))?;
        if !output.status.success() {
            return Err(format!("{} failed: {}", self.name, output.status).into());
        }
        let words: Vec<String> =
            String::from_utf8(output.stdout)?.split_whitespace().map(str::to_owned).collect();
        words.try_into().map_err(|_| format!("{} has not printed two words", self.file.display()).into())
    }
}

/// The conditions that are the same for all programs in a round.
pub(super) struct Conditions<'a> {
    pub(super) policy: &'a Path,
    pub(super) generator_core: usize,
    pub(super) worker_core: usize,
    /// Real-time priority of the threads; 0: none.
    pub(super) priority: u32,
    /// For schedules and traces.
    pub(super) directory: &'a Path,
}

/// One class in one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfClass {
    pub(super) raw: Latency,
    /// Without what stalls of the machine touched, in the work or in the generator.
    pub(super) filtered: Latency,
}

/// How a turn went.
pub(super) struct Turn {
    pub(super) gets: OfClass,
    pub(super) scans: OfClass,
    pub(super) kept_share: f64,
    /// Of all answers.
    pub(super) checksum: String,
    pub(super) yields: u64,
}

impl Conditions<'_> {
    /// Writes a schedule, which is a trace in which nothing has run; the turns of a round share it.
    pub(super) fn write(&self, schedule: &Schedule, tsc: Tsc) -> Result<(), Box<dyn Error>> {
        let run = Run { contestant: "", tsc, epoch: 0, schedule, gaps: &[], generator_gaps: None };
        Ok(Recorder::new(schedule.arrivals.len()).trace(&run).write(&self.schedule())?)
    }

    fn schedule(&self) -> PathBuf {
        self.directory.join("schedule")
    }

    /// Runs `program` on the schedule that was written last.
    pub(super) fn turn(&self, program: &Program) -> Result<Turn, Box<dyn Error>> {
        let (schedule, out) = (self.schedule(), self.directory.join("trace"));
        let [generator, worker, priority] =
            [self.generator_core, self.worker_core, self.priority as usize].map(|number| number.to_string());
        let files = [&schedule, &out, self.policy].map(|path: &Path| path.display().to_string());
        let [checksum, yields] =
            program.printed(&["run", &files[0], &files[1], &files[2], &generator, &worker, &priority])?;
        let report = report(&Trace::read(&out)?, GapsOf::WorkAndGenerator);
        let class = |number: usize| {
            let class = &report.classes[number];
            OfClass { raw: class.raw, filtered: class.filtered }
        };
        let (gets, scans) = (class(0), class(1));
        Ok(Turn { gets, scans, kept_share: report.kept_share, checksum, yields: yields.parse()? })
    }
}
