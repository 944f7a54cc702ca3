//! The measurements of runs of the runtime, over the rounds of a fidelity run, which adds to them after each run.

use caudal_measure::filter::{Latency, Report};

/// The measurements of one class, over the rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct OfClass {
    /// p50 and p99 of each round, in ns.
    pub(super) raw: Vec<[f64; 2]>,
    pub(super) filtered: Vec<[f64; 2]>,
    /// Requests in all rounds that the filter kept.
    pub(super) count: u64,
}

/// The measurements of one workload at one load.
pub(super) struct Measured {
    pub(super) classes: Vec<OfClass>,
    pub(super) stalls_per_second: Vec<f64>,
    /// Shares of the requests whose wait at an idle worker was taken for a stall, by round.
    pub(super) idle_stalls: Vec<f64>,
    pub(super) kept_least: f64,
    /// Runs that were kept although the machine's costs differed from those just before the run.
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
