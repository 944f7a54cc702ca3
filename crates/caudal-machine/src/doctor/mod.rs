//! Conditions that spoil latency on a machine: read from `/proc`, `/sys` and a few system calls, with the evidence and advice.
//! `caudal doctor` calls it.
//!
//! Everything is read under a root directory, so that tests can lay out a machine that has each fault. What a file does not
//! say is no finding.

mod cgroups;
mod facts;
mod kernel;
mod processors;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::facts::{Limits, MachineFacts};

/// How much it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Tails are longer than they have to be.
    Warning,
    /// The runtime does not work, or not as its figures say.
    Serious,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A name for it, which stays.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The condition that was found.
    pub what: String,
    /// Where that is written, and what stands there.
    pub evidence: String,
    /// Advice on what to do.
    pub advice: &'static str,
}

impl Finding {
    fn new(
        name: &'static str,
        severity: Severity,
        what: impl Into<String>,
        evidence: impl Into<String>,
    ) -> Finding {
        Finding { name, severity, what: what.into(), evidence: evidence.into(), advice: "" }
    }

    fn advice(self, advice: &'static str) -> Finding {
        Finding { advice, ..self }
    }
}

/// The checks, in the order in which they are made.
const CHECKS: [fn(&MachineFacts) -> Vec<Finding>; 16] = [
    processors::allowed,
    processors::clock,
    processors::siblings,
    processors::governor,
    processors::turbo,
    processors::idle_states,
    processors::steal,
    processors::hypervisor,
    cgroups::quota,
    kernel::version,
    kernel::ticks,
    kernel::isolation,
    kernel::huge_pages,
    kernel::maps,
    kernel::real_time,
    kernel::counters,
];

/// Everything that `seen` shows, the worst first.
pub fn examine(seen: &MachineFacts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(seen)).collect();
    findings.extend(kernel::watchdogs(seen));
    findings.extend(kernel::slack(seen));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// This machine, for this process.
pub fn this_machine() -> MachineFacts {
    MachineFacts::new(Path::new("/"), Limits::of_this_process())
}

/// A machine whose files lie under `root`.
pub fn machine_at(root: impl Into<PathBuf>, limits: Limits) -> MachineFacts {
    MachineFacts::new(&root.into(), limits)
}

#[cfg(test)]
mod tests;
