//! Tail-control's thresholds at a point, computed without a simulation. `run` calls it for figures that show thresholds. Pure.

use caudal_config::Point;
use caudal_policy::Picos;
use caudal_policy::parallelism::ThresholdTable;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_sim::thresholds::{TableDemand, tables};
use serde_json::{Value, json};

use super::cell::target;
use super::error::ReproduceError;

/// Rows of the table that are written.
const ROWS: u32 = 100;

/// The table of a target at a rate.
#[derive(Clone, Debug)]
pub(crate) struct Thresholds {
    pub(crate) rate_per_s: f64,
    pub(crate) target: Picos,
    pub(crate) table: ThresholdTable,
}

impl Thresholds {
    /// The thresholds of the point's system for its workload.
    ///
    /// # Errors
    /// If it has no target, or the load takes all cores.
    pub(crate) fn of(point: &Point) -> Result<Thresholds, ReproduceError> {
        let service = &point.workload.service;
        let mean_gap_ps = point.mean_gap_ps();
        let wrong = |problem: String| ReproduceError::Thresholds { point: point.key.clone(), problem };
        let target = target(&point.system.parallelism).ok_or_else(|| wrong("it has no target".to_owned()))?;
        let cores = point.system.cores;
        let knowledge = Knowledge::Processed;
        let wanted = TableDemand { targets: vec![target], mean_gap_ps, work: 1.0, cores, knowledge };
        let tables =
            tables(service, &wanted).map_err(|fault| wrong(format!("there is no table: {fault:?}")))?;
        Ok(Thresholds { rate_per_s: 1e12 / mean_gap_ps, target, table: tables.tables()[0].clone() })
    }

    /// The row in the file of results.
    pub(crate) fn row(&self) -> Value {
        let limits = (1..=ROWS).map(|active| self.table.at(active).as_nanos_f64());
        json!({
            "rate_per_s": self.rate_per_s,
            "target_ns": self.target.as_nanos_f64(),
            "threshold_ns": limits.collect::<Vec<_>>(),
        })
    }
}
