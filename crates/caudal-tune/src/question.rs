//! The question that a plan answers: workload, targets, machine, systems, budget. The command and other programs fill it. It is data:
//! `check` refuses what cannot be asked, and every step of the plan reads it.

use std::fmt;
use std::sync::Arc;

use caudal_config::{LatencyTarget, Measure, Offered, Workload};

use caudal_policy::Picos;

use crate::Budget;

/// The aim of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The highest load within all targets.
    HighestLoad,
    /// The fewest cores, held all the time, that carry this within all targets.
    FewestCores(Offered),
}

/// The machine on which the service is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// A number of cores; those that a system dedicates to a dispatcher are among them.
    Cores(u32),
    /// The runtime with so many workers: only systems that it can run.
    Runtime {
        /// Workers of every system.
        workers: u32,
        /// Is there a core beyond those of the workers, for the dispatcher of the systems that have one? Without it only systems whose
        /// workers take their requests in themselves are considered.
        dispatcher: bool,
    },
}

impl fmt::Display for Machine {
    /// Writes `16 cores`, `1 worker`, or `1 worker without a dispatcher`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, what, rest) = match *self {
            Machine::Cores(cores) => (cores, "core", ""),
            Machine::Runtime { workers, dispatcher: true } => (workers, "worker", ""),
            Machine::Runtime { workers, dispatcher: false } => (workers, "worker", " without a dispatcher"),
        };
        write!(f, "{count} {what}{}{rest}", if count == 1 { "" } else { "s" })
    }
}

impl Machine {
    /// The cores that a load of 1 would fill.
    pub fn capacity_cores(self) -> u32 {
        match self {
            Machine::Cores(cores) => cores,
            Machine::Runtime { workers, .. } => workers,
        }
    }

    /// One with twice the cores, or as many as there can be; none if there are none.
    pub(crate) fn larger(self) -> Option<Machine> {
        match self {
            Machine::Cores(cores) if cores < caudal_config::CORES_MAX => {
                Some(Machine::Cores(cores.saturating_mul(2).min(caudal_config::CORES_MAX)))
            }
            _ => None,
        }
    }
}

/// A question to [`crate::plan()`].
#[derive(Clone, Debug)]
pub struct Question {
    /// The workload; its own load or rate does not matter.
    pub workload: Arc<Workload>,
    /// The name of the workload in sentences.
    pub workload_name: String,
    /// The targets, all of which must be met.
    pub targets: Vec<LatencyTarget>,
    /// The machine on which the service is to run.
    pub machine: Machine,
    /// The aim of the search.
    pub goal: Goal,
    /// Names of presets to consider; all if empty.
    pub systems: Vec<String>,
    /// Costs of the machine, for all systems but reference lines, as [`caudal_config::costs_as_overrides`] reads them from a file;
    /// empty: each system has those of its preset.
    pub costs: Vec<String>,
    /// Seed, confidence and percentiles (those of the targets are added).
    pub measure: Measure,
    /// The number of requests that may be simulated.
    pub budget: Budget,
    /// Settle for shorter replications.
    pub quick: bool,
}

/// The work that a plan is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Simulation of all systems, coarsely.
    Screening,
    /// Quanta and ranges of the leading systems.
    Tuning,
    /// Leading systems at full precision.
    Refining,
    /// Systems that were only screened, on longer runs.
    Checking,
    /// Simulation of reference lines, which nobody can deploy.
    References,
    /// The winner once more, on requests that no search has seen, and the others at its load.
    Confirming,
    /// Points in between, so that curves show.
    Curves,
}

impl Phase {
    /// The words of a progress bar.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Screening => "screening all systems",
            Phase::Tuning => "tuning the leaders",
            Phase::Refining => "refining the leaders",
            Phase::Checking => "checking the others",
            Phase::References => "reference lines",
            Phase::Confirming => "confirming the winner",
            Phase::Curves => "curves",
        }
    }
}

/// The progress of a plan, as its listener is told.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The work that it is at.
    pub phase: Phase,
    /// Requests simulated since the last call.
    pub requests: u64,
}

impl Question {
    /// Offered work in cores, where the goal says how much there is.
    pub(crate) fn offered_cores(&self) -> Option<f64> {
        match self.goal {
            Goal::HighestLoad => None,
            Goal::FewestCores(offered) => {
                let cores = self.machine.capacity_cores();
                Some(offered.load(&self.workload.service, cores) * f64::from(cores))
            }
        }
    }

    /// The latencies of `measure` and of the targets whose miss ratios count.
    pub(crate) fn late(&self) -> Vec<Picos> {
        let asked = self.targets.iter().filter_map(|target| match target.statistic {
            caudal_config::Statistic::Miss(late) => Some(late),
            _ => None,
        });
        let mut all: Vec<Picos> = self.measure.miss.iter().copied().chain(asked).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The percentiles of `measure` and those of the targets, increasing.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        let asked = self.targets.iter().filter_map(|target| match target.statistic {
            caudal_config::Statistic::Percentile(percentile) => Some(percentile),
            caudal_config::Statistic::Miss(_) => Some(100.0 * (1.0 - target.limit.value())),
            caudal_config::Statistic::Mean => None,
        });
        let mut all: Vec<f64> = self.measure.percentiles.iter().copied().chain(asked).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}
