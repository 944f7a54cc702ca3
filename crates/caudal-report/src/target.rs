//! A latency target as reports show it: a line across charts, a column of tables. Tables, charts and waits of a report ask it.

use serde::{Deserialize, Serialize};

use crate::chart::Unit;
use caudal_row::{Row, RowMetric, Stat};

/// A latency target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetLine {
    /// The target as the user put it: `get p99.9 < 50us`.
    pub label: String,
    /// The class that it is for; all requests if none.
    pub class: Option<String>,
    /// Latency, slowdown, waiting or miss ratio.
    pub metric: RowMetric,
    /// Name of the statistic, such as `p99.9`; of a miss ratio, the latency as [`crate::miss_name`] calls it.
    pub percentile: String,
    /// The bound: nanoseconds, a ratio, or a share.
    pub value: f64,
}

impl TargetLine {
    /// The statistic that the target bounds. What a run shows that was too short for the steady state is a lower bound.
    #[must_use]
    pub fn of(&self, row: &Row) -> Option<Stat> {
        row.steady_stat(self.class.as_deref(), self.metric, &self.percentile)
    }

    /// The unit in which its statistic is shown.
    pub(crate) fn unit(&self) -> Unit {
        match self.metric {
            RowMetric::Latency | RowMetric::Wait => Unit::Nanoseconds,
            RowMetric::Slowdown => Unit::Times,
            RowMetric::Miss => Unit::Percent,
        }
    }
}
