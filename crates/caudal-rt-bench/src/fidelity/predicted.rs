//! The same, simulated with the costs of this machine.

use std::error::Error;

use caudal_config::{File, Options};
use caudal_sim::engine::{Length, Run, Unwatched, simulate};
use caudal_stats::Histogram;

use super::workloads::Workload;

/// Replications of a round, and requests of each.
const REPLICATIONS: u64 = 4;
const REQUESTS: u64 = 200_000;

/// One class over the rounds: p50 and p99 of each, in ns.
#[derive(Clone, Debug, Default)]
pub(super) struct OfClass {
    /// With stalls.
    pub(super) raw: Vec<[f64; 2]>,
    /// Without.
    pub(super) filtered: Vec<[f64; 2]>,
}

/// One workload at one load.
pub(super) struct Predicted {
    pub(super) classes: Vec<OfClass>,
}

impl Predicted {
    pub(super) fn new(classes: usize) -> Predicted {
        Predicted { classes: vec![OfClass::default(); classes] }
    }

    /// Simulates it with the costs of a round.
    pub(super) fn round(
        &mut self,
        workload: &Workload,
        load: f64,
        costs: &[String],
        round: u64,
    ) -> Result<(), Box<dyn Error>> {
        let without: Vec<String> =
            costs.iter().filter(|cost| !cost.starts_with("costs.stalls")).cloned().collect();
        let filtered = percentiles(workload, load, &without, round)?;
        let raw = percentiles(workload, load, costs, round)?;
        for ((class, filtered), raw) in self.classes.iter_mut().zip(filtered).zip(raw) {
            class.filtered.push(filtered);
            class.raw.push(raw);
        }
        Ok(())
    }
}

fn percentiles(
    workload: &Workload,
    load: f64,
    costs: &[String],
    round: u64,
) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    let text = format!(
        "[workload]\nservice = {}\nload = {load}\n[system]\ncores = 1\npools = \"per-core\"\n\
         dispatch = {{ policy = \"jsq\", ties = \"msq\" }}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"1us\" }}\n",
        workload.service()
    );
    // A runtime with a source does not sleep.
    let awake = "costs.wake_up=0ns".to_owned();
    let overrides = costs.iter().cloned().chain([awake]).collect();
    let options = Options { overrides, ..Options::default() };
    let point = File::parse_with(&text, "fidelity.toml", &options)?.points()?.remove(0);
    let mut latencies = vec![Histogram::new(); workload.classes.len()];
    for seed in (1..=REPLICATIONS).map(|replication| round * REPLICATIONS + replication) {
        let run = Run {
            system: &point.system,
            costs: &point.costs,
            service: &point.workload.service,
            arrivals: &point.workload.arrivals,
            mean_gap_ps: point.workload.service.mean_ps() / (point.load * point.system.capacity()),
            seed,
            length: Length { warm_up: REQUESTS / 10, measured: REQUESTS },
            pilot: false,
            stepwise: false,
            stop: None,
        };
        for (latency, class) in latencies.iter_mut().zip(simulate(&run, Unwatched).classes) {
            latency.merge(&class.latency_ps);
        }
    }
    let both =
        |latency: &Histogram| [50.0, 99.0].map(|percentile| latency.percentile(percentile) as f64 / 1e3);
    Ok(latencies.iter().map(both).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::workloads::workloads;
    use super::*;

    #[test]
    fn every_workload_can_be_simulated_and_stalls_make_it_slower() {
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/rocksdb-get-scan.csv");
        let stalls = "costs.stalls={ rate = \"1200/s\", lengths = [[0, \"2us\"], [1, \"60us\"]] }";
        let costs = ["costs.start=50ns".to_owned(), stalls.to_owned()];
        let workload = &workloads(&trace).unwrap()[0];
        let mut found = Predicted::new(workload.classes.len());
        found.round(workload, 0.3, &costs, 0).unwrap();
        let short = &found.classes[0];
        assert!(short.filtered[0][0] >= 550.0, "{short:?}");
        assert!(short.raw[0][1] > short.filtered[0][1], "{short:?}");
        for workload in &workloads(&trace).unwrap()[1..] {
            let text = format!("[workload]\nservice = {}\n[system]\ncores = 1", workload.service());
            File::parse(&text, "a.toml").unwrap();
        }
    }
}
