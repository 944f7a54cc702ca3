//! A run as it is kept: what was asked, what came out, and how runs of several processes become one.
//! A session makes a [`Run`] when its generator has ended. The command joins runs by [`merge`] and prints them; the search for the highest rate
//! and the judgement of a run read them. Plain data.

use serde::{Deserialize, Serialize};

use crate::record::{ClassRecord, OwnRecord};

/// The version of the JSON of a run.
pub const FORMAT: u32 = 1;

/// The rule by which requests were sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Open loop: at intended times.
    Open {
        /// Requests a second, on average.
        rate_per_s: f64,
    },
    /// Closed loop: each connection has so many requests on their way, and an answer makes room for the next.
    Closed {
        /// Requests that wait on each connection.
        depth: u32,
    },
}

/// A run, or several that were merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`FORMAT`].
    pub load_format: u32,
    /// The service that was asked, and how.
    pub target: String,
    /// The workload, and what its requests were made.
    pub workload: String,
    /// The process of arrivals.
    pub arrivals: String,
    /// The rule by which requests were sent.
    pub mode: Mode,
    /// The seed; several if runs were merged.
    pub seeds: Vec<u64>,
    /// Connections, or sockets of a transport without connections.
    pub connections: u32,
    /// Time at the beginning that was not counted, in ns.
    pub warm_up_ns: u64,
    /// Time in which counted requests were due, in ns.
    pub measured_ns: u64,
    /// Time after which a request counts as unanswered, in ns.
    pub timeout_ns: u64,
    /// The reason for which the run ended before its time, if it did.
    pub cut_short: Option<String>,
    /// The first error that the service answered with, if any.
    pub first_failure: Option<String>,
    /// The requests, by class.
    pub classes: Vec<ClassRecord>,
    /// The generator itself.
    pub own: OwnRecord,
}

/// Error of runs that do not make one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("there is no run to merge; give the files of two runs or more, which `--out` writes")]
    Nothing,
    /// Runs are of different things.
    #[error(
        "run 1 and run {number} differ in their {what} ({first} and {other}): percentiles of both together mean nothing; \
         merge runs of generators that did the same at the same time"
    )]
    Differ {
        /// The number of the run, from 1.
        number: usize,
        /// The thing that differs.
        what: &'static str,
        /// The first run's.
        first: String,
        /// This run's.
        other: String,
    },
    /// Two runs have sent the same requests.
    #[error(
        "two of the runs have seed {seed}: their requests were the same ones at the same times, which is no other load than \
         one of them twice; give each generator a --seed of its own"
    )]
    Seed {
        /// The seed.
        seed: u64,
    },
}

impl Run {
    /// All classes together.
    pub fn total(&self) -> ClassRecord {
        let mut total = ClassRecord::new("all");
        self.classes.iter().for_each(|class| total.add(class));
        total
    }

    /// The requests of a class, or of all.
    pub fn class(&self, name: Option<&str>) -> Option<ClassRecord> {
        match name {
            None => Some(self.total()),
            Some(name) => self.classes.iter().find(|class| class.class == name).cloned(),
        }
    }

    /// Requests a second that were done.
    pub fn throughput_per_s(&self) -> f64 {
        let answered: u64 = self.classes.iter().map(|class| class.answered).sum();
        answered as f64 / (self.measured_ns.max(1) as f64 / 1e9)
    }
}

/// One run of those of several generators, which loaded one service at the same time. Counts, times and rates add up.
///
/// # Errors
/// [`MergeError`]: there are none, they are of different things, or two have the same seed.
pub fn merge(runs: &[Run]) -> Result<Run, MergeError> {
    let Some((first, others)) = runs.split_first() else { return Err(MergeError::Nothing) };
    let mut merged = first.clone();
    for (index, run) in others.iter().enumerate() {
        same(index + 2, first, run)?;
        if let Some(&seed) = run.seeds.iter().find(|seed| merged.seeds.contains(seed)) {
            return Err(MergeError::Seed { seed });
        }
        merged.seeds.extend(&run.seeds);
        merged.connections += run.connections;
        merged.own.add(&run.own);
        merged.classes.iter_mut().zip(&run.classes).for_each(|(sum, class)| sum.add(class));
        merged.cut_short = merged.cut_short.or_else(|| run.cut_short.clone());
        merged.first_failure = merged.first_failure.or_else(|| run.first_failure.clone());
        if let (Mode::Open { rate_per_s }, Mode::Open { rate_per_s: more }) = (&mut merged.mode, run.mode) {
            *rate_per_s += more;
        }
    }
    Ok(merged)
}

fn same(number: usize, first: &Run, other: &Run) -> Result<(), MergeError> {
    let names = |run: &Run| run.classes.iter().map(|class| class.class.clone()).collect::<Vec<_>>().join(" ");
    let mode = |run: &Run| match run.mode {
        Mode::Open { .. } => "open loop".to_owned(),
        Mode::Closed { depth } => format!("closed loop of depth {depth}"),
    };
    let ns = |ns: u64| format!("{ns} ns");
    let pairs = [
        ("target", first.target.clone(), other.target.clone()),
        ("workload", first.workload.clone(), other.workload.clone()),
        ("classes", names(first), names(other)),
        ("mode", mode(first), mode(other)),
        ("duration", ns(first.measured_ns), ns(other.measured_ns)),
        ("time-out", ns(first.timeout_ns), ns(other.timeout_ns)),
    ];
    for (what, first, other) in pairs {
        if first != other {
            return Err(MergeError::Differ { number, what, first, other });
        }
    }
    Ok(())
}
