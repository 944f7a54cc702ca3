//! One simulated point, as `caudal sim` writes it: a JSON object a line.
//!
//! Reading is tolerant where a report can do without: keys it does not know are kept (and embedded in the
//! report again), statistics that are `null` because the point was overloaded are left out.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::RowError;
use crate::misses::Misses;

/// An estimate and the confidence interval around it, both in the unit of the key that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat {
    /// The estimate itself.
    pub estimate: f64,
    /// Lower and upper end of the interval: infinite where the data support no end. None for a number that is known
    /// without error.
    pub interval: Option<(f64, f64)>,
}

/// Statistics by name (`mean`, `p50`, `p99.9`, `max`; for waiting the cause), in the order of the file.
pub type Stats = IndexMap<String, Stat>;

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum RawStat {
    Number(f64),
    Interval { estimate: Option<f64>, low: Option<f64>, high: Option<f64> },
}

impl RawStat {
    pub(crate) fn into_stat(self) -> Option<Stat> {
        let (estimate, interval) = match self {
            Self::Number(estimate) => (estimate, None),
            // An end that is missing is one that nobody knows, not one that is near.
            Self::Interval { estimate, low, high } => {
                (estimate?, Some((low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))))
            }
        };
        estimate.is_finite().then_some(Stat { estimate, interval })
    }
}

impl Serialize for Stat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Interval {
            estimate: f64,
            low: Option<f64>,
            high: Option<f64>,
        }
        let known = |end: f64| end.is_finite().then_some(end);
        match self.interval {
            None => serializer.serialize_f64(self.estimate),
            Some((low, high)) => {
                Interval { estimate: self.estimate, low: known(low), high: known(high) }.serialize(serializer)
            }
        }
    }
}

fn stat<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Stat>, D::Error> {
    Ok(Option::<RawStat>::deserialize(from)?.and_then(RawStat::into_stat))
}

fn stats<'de, D: Deserializer<'de>>(from: D) -> Result<Stats, D::Error> {
    let raw = Option::<IndexMap<String, Option<RawStat>>>::deserialize(from)?.unwrap_or_default();
    Ok(raw.into_iter().filter_map(|(name, value)| Some((name, value?.into_stat()?))).collect())
}

fn yes() -> bool {
    true
}

/// What is known of one class of requests at a point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClassRow {
    /// Latency in nanoseconds.
    #[serde(default, deserialize_with = "stats")]
    pub latency_ns: Stats,
    /// Sojourn time divided by service time.
    #[serde(default, deserialize_with = "stats")]
    pub slowdown: Stats,
    /// Latency less service time, in nanoseconds; empty unless it was asked for.
    #[serde(default, deserialize_with = "stats", skip_serializing_if = "Stats::is_empty")]
    pub waiting_ns: Stats,
    /// Shares of requests that exceed a latency.
    #[serde(default, skip_serializing_if = "Misses::is_empty")]
    pub misses: Misses,
    /// Mean waiting per request by cause, in nanoseconds.
    #[serde(default, deserialize_with = "stats")]
    pub wait_ns: Stats,
    /// Everything else that the row holds of the class.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One simulated point: a system under one load on so many cores.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Name of the system.
    pub system: String,
    /// Offered work divided by the capacity of the machine's cores; may exceed 1.
    #[serde(default)]
    pub load: Option<f64>,
    /// Cores of the machine.
    #[serde(default)]
    pub cores: Option<f64>,
    /// Cores that the application held, where that differs.
    #[serde(default)]
    pub cores_allocated: Option<f64>,
    /// Cores that serve no requests, on top of those that the application held: a dispatcher's, for example.
    #[serde(default)]
    pub cores_dedicated: Option<f64>,
    /// The keys that the sweep varied, and their values here.
    #[serde(default)]
    pub varied: Map<String, Value>,
    /// Whether the system could be run; the others are reference lines.
    #[serde(default = "yes")]
    pub deployable: bool,
    /// Latency of all requests in nanoseconds; empty when overloaded.
    #[serde(default, deserialize_with = "stats")]
    pub latency_ns: Stats,
    /// Slowdown of all requests; empty when overloaded.
    #[serde(default, deserialize_with = "stats")]
    pub slowdown: Stats,
    /// Latency less service time, in nanoseconds; empty unless it was asked for.
    #[serde(default, deserialize_with = "stats", skip_serializing_if = "Stats::is_empty")]
    pub waiting_ns: Stats,
    /// Shares of requests that exceed a latency.
    #[serde(default, skip_serializing_if = "Misses::is_empty")]
    pub misses: Misses,
    /// The same by class of requests.
    #[serde(default)]
    pub classes: IndexMap<String, ClassRow>,
    /// Mean waiting per request by cause, in nanoseconds.
    #[serde(default, deserialize_with = "stats")]
    pub wait_ns: Stats,
    /// Useful work divided by core time held, 0 to 1.
    #[serde(default, deserialize_with = "stat")]
    pub efficiency: Option<Stat>,
    /// Mean number of cores that the application held.
    #[serde(default, deserialize_with = "stat")]
    pub cores_mean: Option<Stat>,
    /// Share of core time by overhead, 0 to 1.
    #[serde(default, deserialize_with = "stats")]
    pub overheads: Stats,
    /// Preemptions per request.
    #[serde(default, deserialize_with = "stat")]
    pub preemptions_per_request: Option<Stat>,
    /// Whether work arrived faster than it was done.
    #[serde(default)]
    pub overloaded: bool,
    /// Whether the run was long enough for its statistics to be those of the steady state.
    #[serde(default = "yes")]
    pub steady: bool,
    /// Keys that this crate has no use for, kept for the reader of the report.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a percentile is a percentile of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Arrival to completion, in nanoseconds.
    Latency,
    /// Arrival to completion divided by the service time of the request.
    Slowdown,
    /// Arrival to completion less the service time, in nanoseconds.
    Wait,
    /// The share of requests with a longer latency, 0 to 1.
    Miss,
}

/// What is counted where cores are.
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
}

impl Row {
    /// Reads rows from text with one JSON object a line; empty lines are skipped.
    ///
    /// # Errors
    /// [`RowError`] with the line (from 1) that is not a row.
    pub fn from_lines(text: &str) -> Result<Vec<Self>, RowError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| serde_json::from_str(line).map_err(|source| RowError { line: at + 1, source }))
            .collect()
    }

    /// A statistic of all requests (`class` = `None`) or of one class.
    #[must_use]
    pub fn stat(&self, class: Option<&str>, metric: Metric, name: &str) -> Option<Stat> {
        self.stats(class, metric)?.get(name).copied()
    }

    /// As [`Row::stat`], with what it shows of the steady state: in a run that was too short for that, the system was
    /// still filling up, and the interval has no upper end.
    #[must_use]
    pub fn steady_stat(&self, class: Option<&str>, metric: Metric, name: &str) -> Option<Stat> {
        let stat = self.stat(class, metric, name)?;
        let open = |(low, _): (f64, f64)| (low, f64::INFINITY);
        Some(if self.holds() { stat } else { Stat { interval: stat.interval.map(open), ..stat } })
    }

    /// Do the figures hold for what they are about: the steady state, or all that was recorded of arrivals?
    #[must_use]
    pub fn holds(&self) -> bool {
        let played = |key: &str| self.extra.get("recorded").and_then(|recorded| recorded[key].as_u64());
        let whole = || Some(played("left_out")? + played("measured")? == played("arrivals")?);
        self.steady || !self.overloaded && whole().unwrap_or(false)
    }

    /// All statistics of a metric, for all requests (`class` = `None`) or one class.
    #[must_use]
    pub fn stats(&self, class: Option<&str>, metric: Metric) -> Option<&Stats> {
        let own = match class {
            None => None,
            Some(name) => Some(self.classes.get(name)?),
        };
        Some(match metric {
            Metric::Latency => own.map_or(&self.latency_ns, |class| &class.latency_ns),
            Metric::Slowdown => own.map_or(&self.slowdown, |class| &class.slowdown),
            Metric::Wait => own.map_or(&self.waiting_ns, |class| &class.waiting_ns),
            Metric::Miss => own.map_or(&self.misses.by_late, |class| &class.misses.by_late),
        })
    }

    /// Cores that the application held, or those of the machine; with the dedicated ones, if these are `counted`.
    #[must_use]
    pub fn held_cores(&self, counted: Counted) -> Option<f64> {
        Some(self.cores_allocated.or(self.cores)? + self.dedicated(counted))
    }

    /// The same on average.
    #[must_use]
    pub fn mean_cores(&self, counted: Counted) -> Option<f64> {
        let mean = self.cores_mean.map(|stat| stat.estimate + self.dedicated(counted));
        mean.or(self.held_cores(counted))
    }

    fn dedicated(&self, counted: Counted) -> f64 {
        match counted {
            Counted::Cores => self.cores_dedicated.unwrap_or(0.0),
            Counted::Workers => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overloaded_row_has_no_statistics_but_is_a_row() {
        let line = r#"{"system":"go","load":0.9,"latency_ns":null,"slowdown":{"p99":null,"mean":
            {"estimate":null,"low":null,"high":null}},"overloaded":true,"novel":[1]}"#;
        let row: Row = serde_json::from_str(line).unwrap();
        assert!(row.overloaded && row.deployable);
        assert!(row.latency_ns.is_empty() && row.slowdown.is_empty());
        assert_eq!(row.extra["novel"], serde_json::json!([1]));
    }

    #[test]
    fn numbers_and_intervals_are_both_statistics_and_are_written_as_they_came() {
        let line = r#"{"system":"go","latency_ns":{"p99":{"estimate":2.0,"low":1.5,"high":3.0},"max":9.0}}"#;
        let row: Row = serde_json::from_str(line).unwrap();
        assert_eq!(row.stat(None, Metric::Latency, "max").unwrap().interval, None);
        let p99 = row.stat(None, Metric::Latency, "p99").unwrap();
        assert_eq!(p99, Stat { estimate: 2.0, interval: Some((1.5, 3.0)) });
        let again = serde_json::to_value(&row).unwrap();
        assert_eq!(again["latency_ns"], serde_json::from_str::<Value>(line).unwrap()["latency_ns"]);
    }

    #[test]
    fn an_interval_without_upper_end_is_no_exact_number() {
        let line = r#"{"system":"go","latency_ns":{"p99":{"estimate":2.0,"low":1.5,"high":null}}}"#;
        let row: Row = serde_json::from_str(line).unwrap();
        let p99 = row.stat(None, Metric::Latency, "p99").unwrap();
        assert_eq!(p99.interval, Some((1.5, f64::INFINITY)));
        let again = serde_json::to_value(&row).unwrap();
        assert_eq!(again["latency_ns"], serde_json::from_str::<Value>(line).unwrap()["latency_ns"]);
    }

    #[test]
    fn the_line_of_a_broken_row_is_named() {
        let error = Row::from_lines("{\"system\":\"go\"}\n\n{\"load\":0.5}\n").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(error.to_string().contains("line 3"), "{error}");
    }
}
