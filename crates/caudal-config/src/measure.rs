//! The `[measure]` table: what is measured, how precisely, from which seed. `file` reads and checks it once for each file. The simulator's
//! experiments take precision, limits and seed from it; the tuner and the reproduction of papers make variants of it for their runs, which
//! are not checked again. Pure.

use std::fmt;

use caudal_policy::Picos;
use caudal_workload::Arrivals;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::de::read_all;
use crate::finding::{Finding, Place};
use crate::tree::Node;

/// The `[measure]` table. All keys are optional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Percentiles to report, each above 0 and below 100, increasing (50, 99, 99.9).
    pub percentiles: Vec<f64>,
    /// Target latencies; for each, its miss ratio is reported, which is the share of requests that take longer (none).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub miss: Vec<Picos>,
    /// Report how long requests wait, too: their latency less their service time (false).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
    /// When a point is precise enough.
    pub stop: Stop,
    /// Seed of all randomness (1).
    pub seed: u64,
    /// The start of a run that is left out ("auto").
    #[serde(rename = "warm-up")]
    pub warm_up: WarmUp,
    /// The number of requests of each replication, instead of one that the host chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// The number of replications, at least 2, instead of as many as `stop` needs; one alone has no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<u32>,
}

/// When a point is precise enough: the mean, the reported percentiles and the miss ratios are, or the limit is reached. Percentiles that lie
/// in a gap between two clusters of latencies have no such precision and do not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Confidence of the intervals, from 0.5 to below 1 (0.95).
    pub confidence: f64,
    /// Half-width of an interval over the estimate, above 0 and below 1 (0.05).
    pub relative_error: f64,
    /// Most requests of a point, at least 1000 (100 million).
    pub max_requests: u64,
}

/// The start of a run that is left out: `"auto"`, a number of requests, or a time such as `"10ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WarmUp {
    /// Found from the system and the data; of recorded arrivals, nothing.
    #[default]
    Auto,
    /// So many requests.
    Requests(u64),
    /// So much time.
    Time(Picos),
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            percentiles: vec![50.0, 99.0, 99.9],
            miss: Vec::new(),
            wait: false,
            stop: Stop::default(),
            seed: 1,
            warm_up: WarmUp::Auto,
            requests: None,
            replications: None,
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop { confidence: 0.95, relative_error: 0.05, max_requests: 100_000_000 }
    }
}

/// Most requests of one point: a day of the fastest simulation.
const REQUESTS_MAX: u64 = 1_000_000_000_000;

/// Reads and checks the table.
pub(crate) fn measure(table: &Node) -> Result<Measure, Vec<Finding>> {
    let measure: Measure = read_all(table, "measure")?;
    let mut findings = Vec::new();
    let mut check = |key: &str, right: bool, message: String, help: &str| {
        if !right {
            let steps: Vec<String> = key.split('.').map(str::to_owned).collect();
            let place = table.at(&steps).map_or(table.place, |node| node.place);
            findings.push(Finding::new(place, format!("measure.{key}"), message).help(help));
        }
    };
    let Stop { confidence, relative_error, max_requests } = measure.stop;
    let in_range = measure.percentiles.iter().all(|&p| p > 0.0 && p < 100.0);
    let increasing = measure.percentiles.windows(2).all(|pair| pair[0] < pair[1]);
    check(
        "percentiles",
        in_range && increasing && (1..=32).contains(&measure.percentiles.len()),
        format!(
            "the percentiles {:?} are not 1 to 32 numbers that rise between 0 and 100",
            measure.percentiles
        ),
        "write 1 to 32 numbers above 0 and below 100, each above the one before, such as [50, 99, 99.9]",
    );
    check(
        "percentiles",
        measure.percentiles.iter().any(|&p| !(0.0..1.0).contains(&p)) || measure.percentiles.is_empty(),
        format!("the percentiles {:?} look like fractions", measure.percentiles),
        "percentiles are in percent: write [50, 99, 99.9], not [0.5, 0.99, 0.999]",
    );
    check(
        "miss",
        measure.miss.len() <= 32
            && measure.miss.iter().all(|&late| late > Picos::ZERO)
            && measure.miss.windows(2).all(|pair| pair[0] < pair[1]),
        format!(
            "the target latencies {} are not at most 32 times that rise from above 0",
            listed(&measure.miss)
        ),
        "write at most 32 times above 0, each above the one before, such as [\"25ms\", \"50ms\"]",
    );
    check(
        "stop.confidence",
        (0.5..1.0).contains(&confidence),
        format!("an interval can not have a confidence of {confidence}"),
        "write a number from 0.5 to below 1, such as 0.95",
    );
    check(
        "stop.relative_error",
        relative_error > 0.0 && relative_error < 1.0,
        format!("a relative error of {relative_error} is not between 0 and 1"),
        "write a number above 0 and below 1, such as 0.05 for 5 %",
    );
    check(
        "stop.max_requests",
        (1_000..=REQUESTS_MAX).contains(&max_requests),
        format!("a limit of {max_requests} requests is too low or too high"),
        "write a number from 1_000 to 1_000_000_000_000",
    );
    check(
        "requests",
        measure.requests.is_none_or(|requests| (1..=REQUESTS_MAX).contains(&requests)),
        format!("{} requests a replication are too few or too many", measure.requests.unwrap_or_default()),
        "write a number from 1 to 1_000_000_000_000",
    );
    check(
        "replications",
        measure.replications.is_none_or(|replications| (2..=10_000).contains(&replications)),
        format!("{} replications are too few or too many", measure.replications.unwrap_or_default()),
        "write a number from 2 to 10_000",
    );
    check(
        "warm-up",
        measure.warm_up != WarmUp::Time(Picos::MAX),
        "the warm-up has no end".to_owned(),
        "write \"auto\", a number of requests, or a time such as \"10ms\"",
    );
    if findings.is_empty() { Ok(measure) } else { Err(findings) }
}

/// `[25ms, 50ms]`
fn listed(times: &[Picos]) -> String {
    format!("[{}]", times.iter().map(Picos::to_string).collect::<Vec<_>>().join(", "))
}

/// The `[measure]` table, or its defaults where a file has none.
pub(crate) fn or_default(table: Option<&Node>) -> Result<Measure, Vec<Finding>> {
    measure(table.unwrap_or(&Node::table(Place::BUILT_IN)))
}

/// The fault of a given warm-up that leaves out all recorded arrivals, so that none is left to measure: a message, and the help for it.
pub(crate) fn too_few(arrivals: &Arrivals, warm_up: WarmUp) -> Option<(String, String)> {
    let count = arrivals.count()?;
    let left_out = match warm_up {
        // All of them are measured.
        WarmUp::Auto => return None,
        WarmUp::Requests(requests) => requests,
        // Where gaps are stretched, how many requests that is depends on the load.
        WarmUp::Time(time) => (time.0 as f64 / 1e12 * arrivals.natural_rate()?).ceil() as u64,
    };
    (left_out >= count).then(|| {
        let message = format!(
            "a warm-up of {left_out} requests leaves none of the {count} recorded arrivals to measure"
        );
        (message, "record more, or write a shorter `warm-up` in [measure]".to_owned())
    })
}

impl Serialize for WarmUp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WarmUp::Auto => serializer.serialize_str("auto"),
            WarmUp::Requests(requests) => serializer.serialize_u64(*requests),
            WarmUp::Time(time) => time.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WarmUp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WarmUp, D::Error> {
        struct WarmUpVisitor;
        impl serde::de::Visitor<'_> for WarmUpVisitor {
            type Value = WarmUp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\", a number of requests, or a time such as \"10ms\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WarmUp, E> {
                match (text, Picos::parse(text)) {
                    ("auto", _) => Ok(WarmUp::Auto),
                    (_, Ok(time)) => Ok(WarmUp::Time(time)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<WarmUp, E> {
                let error = || E::invalid_value(serde::de::Unexpected::Signed(value), &self);
                u64::try_from(value).map(WarmUp::Requests).map_err(|_| error())
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<WarmUp, E> {
                Ok(WarmUp::Requests(value))
            }
        }
        deserializer.deserialize_any(WarmUpVisitor)
    }
}

impl JsonSchema for WarmUp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WarmUp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What is left out at the start of a run.",
            "anyOf": [
                { "const": "auto" },
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": r"^[0-9._]+ ?(ps|ns|us|µs|ms|s)$" },
            ],
        })
    }
}
