//! Runs of the runtime: this program as a contestant, in a process of its own for each run, under real-time priority where that is
//! permitted. The fidelity run and the measurements of Tiny Quanta's figures call it once a point and round.

use std::error::Error;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use caudal_machine::calibrate::{Options, calibrate};
use caudal_measure::clock::Tsc;
use caudal_measure::contestant::duration_ns;
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;
use clap::Args;

use crate::workloads::Workload;

/// Under real-time priority the kernel gives a spinning thread's core to others after 0.95 s.
const REAL_TIME_SPAN_NS: u64 = 800_000_000;
/// After so long there is enough in the kernel's account of real-time threads for another run.
const PAUSE: Duration = Duration::from_millis(300);
/// The time that a run may take beyond its span.
const LONGEST: Duration = Duration::from_secs(20);

/// Length, priority and processors of the runs of a table.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// How long each run lasts; at most 0.8s, unless --ordinary
    #[arg(long, default_value = "0.8s", value_parser = duration_ns, value_name = "DURATION")]
    pub(crate) span: u64,
    /// Ordinary priority; otherwise runs and calibrations have SCHED_FIFO, if that is permitted
    #[arg(long)]
    pub(crate) ordinary: bool,
    /// CPU of the worker
    #[arg(long, default_value_t = 1)]
    pub(crate) worker_core: usize,
    /// CPU of the dispatcher
    #[arg(long, default_value_t = 0)]
    pub(crate) dispatcher_core: usize,
}

impl RunOptions {
    /// Do runs have real-time priority?
    pub(crate) fn is_real_time(&self) -> bool {
        static PERMITTED: OnceLock<bool> = OnceLock::new();
        !self.ordinary && *PERMITTED.get_or_init(may_be_real_time)
    }

    /// The speed of the work, on the worker's core.
    pub(crate) fn work(&self) -> Result<Work, Box<dyn Error>> {
        let core = self.worker_core;
        let calibrated = std::thread::spawn(move || {
            caudal_measure::pin::pin_to(core).map_err(|error| error.to_string())?;
            Ok::<Work, String>(Work::calibrate(Tsc::calibrate().map_err(|error| error.to_string())?))
        });
        Ok(calibrated.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
    }

    /// The overrides that put this machine's costs into a file, as they are now.
    pub(crate) fn costs(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let options = Options {
            worker_cpu: Some(self.worker_core),
            other_cpu: Some(self.dispatcher_core),
            real_time: self.is_real_time(),
            rounds: 1,
            ..Options::default()
        };
        let mut said = |_: u32, _: u32, _: &str| ();
        let found = calibrate(&options, &AtomicBool::new(false), &mut said)?;
        Ok(caudal_config::costs_as_overrides_of_text(&found.to_toml())?)
    }
}

/// May a process of this one's have real-time priority?
fn may_be_real_time() -> bool {
    let tried = Command::new("chrt").args(["-f", "1", "true"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Waits without taking a core from the run; ends it when it takes too long.
fn wait(mut child: Child, longest: Duration) -> Result<ExitStatus, Box<dyn Error>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > longest {
            child.kill()?;
            child.wait()?;
            return Err(format!("a run was not done after {longest:?}").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// One run.
pub(crate) struct Once<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) workload: &'a Workload,
    pub(crate) load: f64,
    pub(crate) work: Work,
    pub(crate) seed: u64,
    pub(crate) quantum_ns: u64,
}

impl Once<'_> {
    /// The trace of the run under `discipline`; `more`: further options of the contestant.
    pub(crate) fn trace(&self, discipline: &str, more: &[&str]) -> Result<Trace, Box<dyn Error>> {
        let Once { options, workload, load, work, seed, quantum_ns } = *self;
        let real_time = options.is_real_time();
        let out = std::env::temp_dir().join(format!("caudal-run-{}.trace", std::process::id()));
        let span_ns = if real_time { options.span.min(REAL_TIME_SPAN_NS) } else { options.span };
        let program = std::env::current_exe()?;
        let mut command = match real_time {
            true => {
                let mut command = Command::new("chrt");
                command.args(["-f", "1"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command
            .arg("contest")
            .args(["--load", &load.to_string(), "--seed", &seed.to_string(), "--discipline", discipline])
            .args(["--quantum", &format!("{quantum_ns}ns")])
            .args(["--requests", &workload.requests_in(span_ns, load).to_string()])
            .args(["--worker-core", &options.worker_core.to_string()])
            .args(["--generator-core", &options.dispatcher_core.to_string()])
            .args(["--iterations-per-us", &work.to_string(), "--mix", &workload.mix()])
            .args(more)
            .arg("--out")
            .arg(&out);
        if real_time {
            std::thread::sleep(PAUSE);
        }
        let status = wait(command.spawn()?, LONGEST + Duration::from_nanos(span_ns))?;
        if !status.success() {
            return Err(format!("a run of {} at {load} failed: {status}", workload.name).into());
        }
        let trace = Trace::read(&out)?;
        std::fs::remove_file(&out)?;
        Ok(trace)
    }
}
