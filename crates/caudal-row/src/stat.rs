//! One number of a row by its name, as charts, tables and targets ask for it.

use caudal_stats::{Estimate, Summary, percentile_label};
use serde::{Deserialize, Serialize};

use crate::row::Row;

/// A quantity of which rows have statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowMetric {
    /// Arrival to completion, in nanoseconds.
    Latency,
    /// Arrival to completion divided by the service time of the request.
    Slowdown,
    /// Arrival to completion less the service time, in nanoseconds.
    Wait,
    /// The share of requests with a longer latency, 0 to 1.
    Miss,
}

/// A number and the confidence interval around it, both in the unit of the key that holds them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat {
    /// The estimate itself.
    pub estimate: f64,
    /// Lower and upper end of the interval: infinite where the data support no end. None for a number that is known
    /// without error, as the largest value that was seen.
    pub interval: Option<(f64, f64)>,
}

impl Stat {
    /// The estimate with its interval; nothing where there is none.
    #[must_use]
    pub fn of(estimate: Estimate) -> Option<Stat> {
        let Estimate { estimate, low, high } = estimate;
        estimate.is_finite().then_some(Stat { estimate, interval: Some((low, high)) })
    }
}

/// The name of the statistic of a target latency: `25 ms`.
#[must_use]
pub fn miss_name(late_ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| late_ns >= *unit).unwrap_or((1.0, "ns"));
    // Without what the division leaves behind.
    format!("{} {name}", (late_ns / unit * 1e9).round() / 1e9)
}

/// The statistics of a summary with their names, in the order of the row.
fn named(summary: &Summary) -> Vec<(String, Stat)> {
    let mean = Stat::of(summary.mean).map(|stat| ("mean".to_owned(), stat));
    let percentile = |&(p, estimate): &(f64, Estimate)| Some((percentile_label(p), Stat::of(estimate)?));
    let max = summary.max.filter(|max| max.is_finite());
    let max = max.map(|estimate| ("max".to_owned(), Stat { estimate, interval: None }));
    mean.into_iter().chain(summary.percentiles.iter().filter_map(percentile)).chain(max).collect()
}

impl Row {
    /// All statistics of a metric with their names, for all requests (`class` = `None`) or one class: `mean`, `p50`, `p99.9`, `max`; of
    /// miss ratios, the latency as [`miss_name`] calls it. None where the row has no such class.
    #[must_use]
    pub fn stats(&self, class: Option<&str>, metric: RowMetric) -> Option<Vec<(String, Stat)>> {
        let own = match class {
            None => None,
            Some(name) => Some(self.classes.get(name)?),
        };
        let summary = match metric {
            RowMetric::Latency => Some(own.map_or(&self.latency_ns, |class| &class.latency_ns)),
            RowMetric::Slowdown => Some(own.map_or(&self.slowdown, |class| &class.slowdown)),
            RowMetric::Wait => own.map_or(self.waiting_ns.as_ref(), |class| class.waiting_ns.as_ref()),
            RowMetric::Miss => {
                let misses = own.map_or(&self.misses, |class| &class.misses).iter();
                return Some(
                    misses.filter_map(|it| Some((miss_name(it.late_ns), Stat::of(it.ratio)?))).collect(),
                );
            }
        };
        Some(summary.map(named).unwrap_or_default())
    }

    /// A statistic of all requests (`class` = `None`) or of one class.
    #[must_use]
    pub fn stat(&self, class: Option<&str>, metric: RowMetric, name: &str) -> Option<Stat> {
        self.stats(class, metric)?.into_iter().find(|(other, _)| other == name).map(|(_, stat)| stat)
    }

    /// As [`Row::stat`], with what it shows of the steady state: in a run that was too short for that, the system was
    /// still filling up, and the interval has no upper end.
    #[must_use]
    pub fn steady_stat(&self, class: Option<&str>, metric: RowMetric, name: &str) -> Option<Stat> {
        let stat = self.stat(class, metric, name)?;
        let open = |(low, _): (f64, f64)| (low, f64::INFINITY);
        Some(if self.holds() { stat } else { Stat { interval: stat.interval.map(open), ..stat } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        Row::from_lines(line).unwrap().remove(0)
    }

    #[test]
    fn numbers_and_intervals_are_both_statistics() {
        let row =
            row(r#"{"system":"go","latency_ns":{"p99":{"estimate":2.0,"low":1.5,"high":3.0},"max":9.0}}"#);
        assert_eq!(row.stat(None, RowMetric::Latency, "max").unwrap().interval, None);
        let p99 = row.stat(None, RowMetric::Latency, "p99").unwrap();
        assert_eq!(p99, Stat { estimate: 2.0, interval: Some((1.5, 3.0)) });
        assert_eq!(row.stat(None, RowMetric::Latency, "mean"), None);
        assert_eq!(row.stat(Some("get"), RowMetric::Latency, "p99"), None);
    }

    #[test]
    fn a_run_that_was_too_short_gives_a_lower_bound() {
        let row = row(
            r#"{"system":"go","steady":false,"latency_ns":{"p99":{"estimate":2.0,"low":1.5,"high":3.0}}}"#,
        );
        let p99 = row.steady_stat(None, RowMetric::Latency, "p99").unwrap();
        assert_eq!(p99.interval, Some((1.5, f64::INFINITY)));
    }

    #[test]
    fn misses_are_called_by_their_latency() {
        let row = row(
            r#"{"system":"go","misses":[{"late_ns":25000000.0,"ratio":{"estimate":0.01,"low":0.008,"high":null}},{"late_ns":4020.0,"ratio":null}]}"#,
        );
        let late = Stat { estimate: 0.01, interval: Some((0.008, f64::INFINITY)) };
        assert_eq!(row.stats(None, RowMetric::Miss).unwrap(), [("25 ms".to_owned(), late)]);
        assert_eq!(
            [21_090_000.0, 4_020.0, 3e9, 0.5].map(miss_name),
            ["21.09 ms", "4.02 µs", "3 s", "0.5 ns"]
        );
    }
}
