//! Histograms and summaries of Prometheus: a scrape in its text format, or the answer to a query as JSON.
//! The recogniser of formats calls it once for a scrape, and the reader of JSON once for the answer to a query. Pure.

use std::path::Path;

use serde_json::Value;

use super::{Bins, which_one};
use crate::LONGEST_PS;
use crate::error::WorkloadError;
use crate::input::percentiles::{Moments, Percentiles};
use crate::input::plausible::unit_of;
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Place, Read, Taken, shorten, text};

/// Is this a scrape with a histogram or a summary?
pub(in crate::input) fn holds_exposition<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(2000).any(|line| {
        let line = text(line);
        let typed =
            line.starts_with("# TYPE ") && (line.ends_with(" histogram") || line.ends_with(" summary"));
        typed
            || sample(&line)
                .is_some_and(|sample| sample.name.ends_with("_bucket") && sample.label("le").is_some())
    })
}

/// One line: a name, labels, a value.
#[derive(Clone, Debug, PartialEq)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

/// `rpc_seconds_bucket{method="get",le="0.5"} 12 1700000000000`
fn sample(line: &str) -> Option<Sample> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (name, labels, rest) = match line.split_once('{') {
        Some((name, rest)) => {
            let (labels, rest) = labels(rest)?;
            (name, labels, rest)
        }
        None => {
            let (name, rest) = line.split_once(char::is_whitespace)?;
            (name, Vec::new(), rest)
        }
    };
    let value = rest.split_whitespace().next()?;
    Some(Sample { name: name.trim().to_owned(), labels, value: number(value)? })
}

/// The labels up to the closing brace, and what is behind it.
fn labels(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        let end = loop {
            match letters.next()? {
                (_, '\\') => value.push(match letters.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                (at, '"') => break at,
                (_, letter) => value.push(letter),
            }
        };
        labels.push((name.trim().to_owned(), value));
        rest = quoted[end + 1..].trim_start().trim_start_matches(',').trim_start();
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "+Inf" | "Inf" => Some(f64::INFINITY),
        _ => text.parse().ok(),
    }
}

/// Reads a text for which [`holds_exposition`].
pub(in crate::input) fn read_exposition(
    bytes: &[u8],
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let text = text(bytes);
    let samples: Vec<Sample> = text.lines().filter_map(sample).collect();
    read(&samples, "a scrape of Prometheus", path, wanted)
}

/// Reads the answer to a query: `{"status": "success", "data": {"result": [{"metric": {…}, "value": [t, "12"]}]}}`.
pub(in crate::input) fn from_query(
    json: &Value,
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let results = json["data"]["result"].as_array().map_or(&[][..], Vec::as_slice);
    let samples: Vec<Sample> = results.iter().filter_map(sample_of_query).collect();
    read(&samples, "the answer to a query of Prometheus", path, wanted)
}

fn sample_of_query(result: &Value) -> Option<Sample> {
    let metric = result["metric"].as_object()?;
    let mut labels: Vec<(String, String)> =
        metric.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let at = labels.iter().position(|(name, _)| name == "__name__");
    // Sums and rates over a histogram have no name any more.
    let name = at.map_or_else(|| "_bucket".to_owned(), |at| labels.remove(at).1);
    // Of a range, the last value is the whole of it.
    let point = result.get("value").or_else(|| result["values"].as_array()?.last())?;
    Some(Sample { name, labels, value: number(point[1].as_str()?)? })
}

/// A histogram or a summary of one class.
struct Series<'a> {
    metric: &'a str,
    class: Vec<(&'a str, &'a str)>,
    /// Bounds or quantiles, with what belongs to each.
    points: Vec<(f64, f64)>,
    is_summary: bool,
    sum: Option<f64>,
    count: Option<f64>,
}

fn series(samples: &[Sample]) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for sample in samples {
        let (label, is_summary) = match (sample.label("le"), sample.label("quantile")) {
            (Some(_), _) if sample.name.ends_with("_bucket") => ("le", false),
            (_, Some(_)) => ("quantile", true),
            _ => continue,
        };
        let metric = if is_summary { sample.name.as_str() } else { sample.name.trim_end_matches("_bucket") };
        let class = class_of(sample, label);
        let Some(point) = sample.label(label).and_then(number) else { continue };
        let at = all.iter().position(|one| one.metric == metric && one.class == class).unwrap_or_else(|| {
            let (points, sum, count) = (Vec::new(), None, None);
            all.push(Series { metric, class: class.clone(), points, is_summary, sum, count });
            all.len() - 1
        });
        all[at].points.push((point, sample.value));
    }
    for sample in samples {
        let Some((metric, is_sum)) = (match sample.name.strip_suffix("_sum") {
            Some(metric) => Some((metric, true)),
            None => sample.name.strip_suffix("_count").map(|metric| (metric, false)),
        }) else {
            continue;
        };
        let class = class_of(sample, "");
        for one in all.iter_mut().filter(|one| one.metric == metric && one.class == class) {
            *(if is_sum { &mut one.sum } else { &mut one.count }) = Some(sample.value);
        }
    }
    all
}

fn class_of<'a>(sample: &'a Sample, without: &str) -> Vec<(&'a str, &'a str)> {
    sample
        .labels
        .iter()
        .filter(|(name, _)| name != without)
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

fn read(samples: &[Sample], format: &str, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let mut found = series(samples);
    found.retain(|one| one.points.iter().any(|(_, value)| *value > 0.0));
    if found.is_empty() {
        return Err(place.whole(format!("is {format} without a histogram that has values, or a summary")));
    }
    let metric = metric(&found, wanted, &place)?;
    found.retain(|one| one.metric == metric);
    let mean = mean(&found);
    let (unit, unit_by) = unit_of(&metric, wanted.unit, mean, &place)?;
    let names = class_names(&found);
    let mut taken = Taken {
        format: format.to_owned(),
        column: Some(metric.clone()).filter(|metric| !metric.is_empty()),
        unit: Some(unit),
        unit_by,
        ..Taken::default()
    };
    let mut notes = Vec::new();
    if found.iter().all(|one| one.is_summary) {
        let classes: Result<Vec<Percentiles>, WorkloadError> =
            found.iter().zip(names).map(|(one, class)| summary(one, class, unit, &place)).collect();
        let classes = classes?;
        return Ok(Read { taken, data: Data::Percentiles(classes), notes });
    }
    let mut bins = Bins::default();
    for (one, class) in found.iter_mut().zip(names) {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(bound, up_to) in &one.points {
            let upper_ps = if bound.is_finite() { Some(in_ps(bound, unit, &place)?) } else { None };
            bins.add_up_to(&class, upper_ps, up_to.max(0.0).round() as u64)
                .map_err(|problem| place.whole(format!("`{metric}`: {problem}")))?;
        }
        if let Some(sum) = one.sum {
            bins.set_sum(&class, sum * unit.ps() as f64);
        }
    }
    taken.values = bins.count();
    Ok(Read { taken, data: Data::Histograms(bins.finish(&place, &mut notes)?), notes })
}

/// The metric that is meant.
fn metric(found: &[Series<'_>], wanted: &Columns, place: &Place<'_>) -> Result<String, WorkloadError> {
    let mut names: Vec<(String, u64)> = Vec::new();
    for one in found {
        let count =
            one.count.unwrap_or_else(|| one.points.iter().map(|(_, count)| *count).fold(0.0, f64::max));
        match names.iter_mut().find(|(name, _)| name == one.metric) {
            Some((_, sum)) => *sum += count as u64,
            None => names.push((one.metric.to_owned(), count as u64)),
        }
    }
    if let Some(column) = &wanted.column {
        let known = names
            .iter()
            .find(|(name, _)| name == column || Some(name.as_str()) == column.strip_suffix("_bucket"));
        return known.map(|(name, _)| name.clone()).ok_or_else(|| {
            let there: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            place.whole(format!(
                "there is no histogram `{}`; there are {}",
                shorten(column),
                there.join(", ")
            ))
        });
    }
    match &names[..] {
        [(only, _)] => Ok(only.clone()),
        _ => Err(which_one(place, &names)),
    }
}

/// About the mean of all, for a question.
fn mean(found: &[Series<'_>]) -> f64 {
    let sums: f64 = found.iter().filter_map(|one| one.sum).sum();
    let counts: f64 = found.iter().filter_map(|one| one.count).sum();
    if counts > 0.0 && sums > 0.0 {
        return sums / counts;
    }
    // The bound below which half of the values lie.
    let one = &found[0];
    let most = one.points.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    one.points.iter().find(|(_, count)| *count * 2.0 >= most).map_or(0.0, |(bound, _)| *bound)
}

/// Classes are called by the labels in which they differ.
fn class_names(found: &[Series<'_>]) -> Vec<String> {
    let differs = |name: &str| {
        let value = |one: &Series<'_>| {
            one.class.iter().find(|(label, _)| *label == name).map(|(_, v)| (*v).to_owned())
        };
        found.iter().any(|one| value(one) != value(&found[0]))
    };
    let name = |one: &Series<'_>| {
        let parts: Vec<&str> =
            one.class.iter().filter(|(label, _)| differs(label)).map(|(_, value)| *value).collect();
        let name: String = parts.join(" ").chars().take(64).collect();
        if name.is_empty() { "all".to_owned() } else { name }
    };
    found.iter().map(name).collect()
}

fn summary(
    one: &Series<'_>,
    class: String,
    unit: Unit,
    place: &Place<'_>,
) -> Result<Percentiles, WorkloadError> {
    let mut points = Vec::new();
    for &(quantile, value) in one.points.iter().filter(|(_, value)| value.is_finite()) {
        points.push((quantile * 100.0, in_ps(value, unit, place)?));
    }
    // Sum and count are of all time, quantiles of the last minutes: their mean is not stated of the same requests.
    let stated = Moments::default();
    Ok(Percentiles { class, points, weight: one.count.unwrap_or(1.0).max(1.0), stated })
}

fn in_ps(value: f64, unit: Unit, place: &Place<'_>) -> Result<u64, WorkloadError> {
    let ps = (value * unit.ps() as f64).round();
    if (0.0..=LONGEST_PS as f64).contains(&ps) {
        return Ok(ps as u64);
    }
    Err(place.whole(format!(
        "a bound of {value} {} is no time from 0 to an hour; is the unit right?",
        unit.name()
    )))
}
