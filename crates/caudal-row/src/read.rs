//! The readers of statistics in a row, which the keys of [`crate::Row`] name in their `deserialize_with`. serde calls them when a row is
//! read; they take what older versions wrote, and numbers without an interval. Pure.

use caudal_stats::{Estimate, Summary};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value};

/// An estimate as a row may hold it: with its interval, as a plain number, or missing.
#[derive(Deserialize)]
#[serde(untagged)]
enum EstimateText {
    Number(f64),
    Interval { estimate: Option<f64>, low: Option<f64>, high: Option<f64> },
}

impl EstimateText {
    fn estimate(self) -> Estimate {
        match self {
            EstimateText::Number(value) => Estimate::exact(value),
            // An end that is missing is one that nobody knows, not one that is near.
            EstimateText::Interval { estimate: Some(estimate), low, high } => Estimate {
                estimate,
                low: low.unwrap_or(f64::NEG_INFINITY),
                high: high.unwrap_or(f64::INFINITY),
            },
            EstimateText::Interval { estimate: None, .. } => Estimate::MISSING,
        }
    }
}

pub(crate) fn estimate<'de, D: Deserializer<'de>>(from: D) -> Result<Estimate, D::Error> {
    Ok(Option::<EstimateText>::deserialize(from)?.map_or(Estimate::MISSING, EstimateText::estimate))
}

/// A number, NaN where the row has `null`.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// A summary, whose percentiles are told by their names; an empty one where the row has `null`.
pub(crate) fn summary<'de, D: Deserializer<'de>>(from: D) -> Result<Summary, D::Error> {
    let fields = Option::<Map<String, Value>>::deserialize(from)?.unwrap_or_default();
    let mut summary = Summary::missing(&[]);
    for (name, value) in fields {
        let known = |value| estimate::<Value>(value).map_err(D::Error::custom);
        match (name.as_str(), name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok())) {
            ("mean", _) => summary.mean = known(value)?,
            ("max", _) => summary.max = serde_json::from_value(value).map_err(D::Error::custom)?,
            (_, Some(percentile)) => summary.percentiles.push((percentile, known(value)?)),
            _ => return Err(D::Error::custom(format!("`{name}` is no statistic"))),
        }
    }
    Ok(summary)
}

pub(crate) fn some_summary<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Summary>, D::Error> {
    summary(from).map(Some)
}

/// A list that older versions left out or wrote as `null`.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(from)?.unwrap_or_default())
}

pub(crate) fn no_summary() -> Summary {
    Summary::missing(&[])
}

pub(crate) fn no_estimate() -> Estimate {
    Estimate::MISSING
}

pub(crate) fn yes() -> bool {
    true
}
