//! Cores of a row as a report counts them: with those that serve no requests, or without. Charts and tables ask it.

use caudal_row::{Row, Stat};
use serde::{Deserialize, Serialize};

/// The cores that a report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// All cores that a system takes, with those that serve no requests.
    #[default]
    Cores,
    /// Cores that serve requests: those of a runtime, on top of which a dispatcher comes.
    Workers,
}

impl Counted {
    /// `core`, or `worker`.
    pub(crate) fn singular(self) -> &'static str {
        match self {
            Self::Cores => "core",
            Self::Workers => "worker",
        }
    }

    /// Cores that the application held, or those of the machine; with the dedicated ones, if these count. None where the row has neither.
    pub(crate) fn held_cores(self, row: &Row) -> Option<f64> {
        let held = if row.cores_allocated > 0 { row.cores_allocated } else { row.cores };
        (held > 0).then(|| f64::from(held) + self.dedicated(row))
    }

    /// The same on average.
    pub(crate) fn mean_cores(self, row: &Row) -> Option<f64> {
        let mean = Stat::of(row.cores_mean).map(|stat| stat.estimate + self.dedicated(row));
        mean.or(self.held_cores(row))
    }

    fn dedicated(self, row: &Row) -> f64 {
        match self {
            Counted::Cores => f64::from(row.cores_dedicated),
            Counted::Workers => 0.0,
        }
    }
}
