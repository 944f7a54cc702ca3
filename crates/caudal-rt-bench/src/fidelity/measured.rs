//! Runs of the runtime: this program as a contestant, in a process of its own each.
//! The fidelity run calls it in every round.

use std::error::Error;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use caudal_measure::filter::{Latency, Report};
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;

use super::Fidelity;
use super::workloads::Workload;

/// Under real-time priority the kernel gives a spinning thread's core to others after 0.95 s.
const REAL_TIME_SPAN_NS: u64 = 800_000_000;
/// After so long there is enough in the kernel's account of real-time threads for another run.
const PAUSE: Duration = Duration::from_millis(300);
/// The time that a run may take beyond its span.
const LONGEST: Duration = Duration::from_secs(20);

/// One class over the rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct OfClass {
    /// p50 and p99 of each round, in ns.
    pub(super) raw: Vec<[f64; 2]>,
    pub(super) filtered: Vec<[f64; 2]>,
    /// Requests in all rounds that the filter kept.
    pub(super) count: u64,
}

/// One workload at one load.
pub(super) struct Measured {
    pub(super) classes: Vec<OfClass>,
    pub(super) stalls_per_second: Vec<f64>,
    /// Shares of the requests whose wait at an idle worker was taken for a stall, by round.
    pub(super) idle_stalls: Vec<f64>,
    pub(super) kept_least: f64,
    /// Runs that counted though the machine was another one than just before.
    pub(super) unlike: u32,
}

impl Measured {
    pub(super) fn new(classes: usize) -> Measured {
        let classes = vec![OfClass::default(); classes];
        Measured {
            classes,
            stalls_per_second: Vec::new(),
            idle_stalls: Vec::new(),
            kept_least: 1.0,
            unlike: 0,
        }
    }

    /// Adds the report of a round, the stalls that its work noticed, and the share of those that only waits show.
    pub(super) fn add(&mut self, seen: &Report, stalls_per_second: f64, idle_stalls: f64) {
        self.idle_stalls.push(idle_stalls);
        self.kept_least = self.kept_least.min(seen.kept_share);
        self.stalls_per_second.push(stalls_per_second);
        for (class, seen) in self.classes.iter_mut().zip(&seen.classes) {
            let both = |latency: &Latency| [latency.p50_ns as f64, latency.p99_ns as f64];
            class.raw.push(both(&seen.raw));
            class.filtered.push(both(&seen.filtered));
            class.count += seen.filtered.count;
        }
    }
}

/// May a process of this one's have real-time priority?
pub(super) fn may_be_real_time() -> bool {
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
pub(super) struct Once<'a> {
    pub(super) fidelity: &'a Fidelity,
    pub(super) workload: &'a Workload,
    pub(super) load: f64,
    pub(super) work: Work,
    pub(super) seed: u64,
}

impl Once<'_> {
    /// How it went under `discipline`.
    pub(super) fn trace(&self, discipline: &str) -> Result<Trace, Box<dyn Error>> {
        let Once { fidelity, workload, load, work, seed } = *self;
        let real_time = fidelity.is_real_time();
        let out = std::env::temp_dir().join(format!("caudal-fidelity-{}.trace", std::process::id()));
        let span_ns = if real_time { fidelity.span.min(REAL_TIME_SPAN_NS) } else { fidelity.span };
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
            .args(["--quantum", &format!("{}ns", fidelity.quantum)])
            .args(["--requests", &workload.requests_in(span_ns, load).to_string()])
            .args(["--worker-core", &fidelity.worker_core.to_string()])
            .args(["--generator-core", &fidelity.dispatcher_core.to_string()])
            .args(["--iterations-per-us", &work.to_string(), "--mix", &workload.mix()])
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
