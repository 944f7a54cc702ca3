//! What tools write as JSON: arrays of times, objects with a time each, percentiles, histograms.
//!
//! Known writers come first: hyperfine, pyperf, pytest-benchmark, fio, criterion, k6, vegeta, ghz, Prometheus. In anything
//! else, every array of numbers, every array of objects with a time, and every object of percentiles may be what is meant: if
//! there is one, it is taken, otherwise the user is asked.

mod lines;
mod writers;

use std::path::Path;

use serde_json::{Map, Value};

use self::lines::read_lines;
use self::writers::{known, rows_of_split};
use super::buckets;
use super::number::{Number, Style};
use super::percentiles::{Moments, Percentiles, Statistic, unit_of_name};
use super::source::Source;
use super::unit::{Plausible, Said, Unit, words};
use super::{Columns, Data, Place, Read, Taken, Trace, spans, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

/// Does the input begin as JSON does?
pub(super) fn holds_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    matches!(head, [b'{', ..]) && head[1..].trim_ascii_start().starts_with(b"\"")
        || matches!(head, [b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'{' | b'[' | b'-' | b'0'..=b'9', ..]))
}

/// Reads JSON, or lines of it.
pub(super) fn read_json(source: Source, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    if spans::holds_otlp(source.head()) {
        return spans::read_otlp(&source.whole(&place)?, &place, wanted);
    }
    let first = source.head_lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let is_line = serde_json::from_slice::<Map<String, Value>>(first).is_ok();
    let lines = source.head_lines().filter(|line| line.trim_ascii_start().starts_with(b"{")).take(2).count();
    if is_line && lines == 2 {
        return read_lines(source, &place, wanted);
    }
    let bytes = source.whole(&place)?;
    let json: Value = serde_json::from_slice(&bytes).map_err(|error| {
        place.row(
            error.line() as u64,
            error.column().max(1),
            RowProblem::Format(format!("this is no JSON: {error}")),
        )
    })?;
    let json = rows_of_split(json);
    known(&json, path, wanted)?.map_or_else(|| anything(&json, &place, wanted), Ok)
}

/// Something in a JSON value that may be what is meant.
enum Candidate<'a> {
    Numbers(&'a [Value]),
    Objects(&'a [Value], String),
    Percentiles(Vec<Known<'a>>),
}

/// A statistic, its value, and the key of it.
type Known<'a> = (Statistic, &'a Value, String);

/// Is there more than one percentile that is neither the shortest nor the longest time?
fn are_percentiles(known: &[Known<'_>]) -> bool {
    let is_inner =
        |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if (0.1..100.0).contains(p));
    known.iter().filter(|(statistic, ..)| is_inner(statistic)).count() > 1
}

/// What may be meant, with where it is: `result.latency.percentiles`.
fn candidates<'a>(json: &'a Value, path: &str, found: &mut Vec<(String, Candidate<'a>)>) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match json {
        Value::Array(items)
            if items.len() > 1 && items.iter().all(|item| item.is_number() || as_time(item).is_some()) =>
        {
            found.push((path.to_owned(), Candidate::Numbers(items)));
        }
        Value::Array(items) => {
            if let Some(points) = listed_percentiles(items) {
                found.push((path.to_owned(), Candidate::Percentiles(points)));
                return;
            }
            for key in time_keys(items) {
                found.push((inner(&key), Candidate::Objects(items, key)));
            }
            items.iter().take(64).for_each(|item| candidates(item, path, found));
        }
        Value::Object(map) => {
            let points = statistics_of(map, path);
            if are_percentiles(&points) {
                found.push((path.to_owned(), Candidate::Percentiles(points)));
            }
            let before = found.len();
            map.iter().for_each(|(key, value)| candidates(value, &inner(key), found));
            // What stands beside `percentiles: { … }` is said of the same times.
            let stated = statistics_of(map, "");
            for (path, candidate) in &mut found[before..] {
                let key = path.rsplit('.').next().unwrap_or(path).to_lowercase();
                let is_own = *path == inner(path.rsplit('.').next().unwrap_or(path));
                if let Candidate::Percentiles(points) = candidate
                    && is_own
                    && ["percentile", "distribution", "quantile"].iter().any(|word| key.contains(word))
                {
                    let more = stated
                        .iter()
                        .filter(|(statistic, ..)| points.iter().all(|(known, ..)| known != statistic));
                    points.extend(more.cloned().collect::<Vec<_>>());
                }
            }
        }
        _ => {}
    }
}

/// `{"p50": 1.2, "p99": 9, "mean": 2.1}`, `{"percentiles": {"50": 12, "99": 90}}`
fn statistics_of<'a>(map: &'a Map<String, Value>, path: &str) -> Vec<Known<'a>> {
    let lower = path.to_lowercase();
    let bare = ["percentile", "quantile"].iter().any(|word| lower.contains(word));
    let statistic = |key: &String| {
        let number = || key.parse().ok().filter(|p: &f64| bare && (0.0..=100.0).contains(p));
        Statistic::of(key).or_else(|| number().map(Statistic::Percentile))
    };
    let is_time = |value: &Value| value.is_number() || as_time(value).is_some();
    let mut known: Vec<Known<'a>> = Vec::new();
    for (key, value) in map.iter().filter(|(_, value)| is_time(value)) {
        // `average` and `mean`, `50th` and `median` say the same: the first one does.
        if let Some(statistic) = statistic(key).filter(|one| known.iter().all(|(known, ..)| known != one)) {
            known.push((statistic, value, key.clone()));
        }
    }
    known
}

/// `[{"percentage": 50, "latency": 1200}, …]`
fn listed_percentiles(items: &[Value]) -> Option<Vec<Known<'_>>> {
    let point = |item: &'_ Value| -> Option<(f64, String)> {
        let map = item.as_object()?;
        let percentile = ["percentage", "percentile", "percent", "quantile"]
            .iter()
            .find_map(|key| map.get(*key)?.as_f64())?;
        let key = map.keys().find(|key| rank(key) > 0 || *key == "value")?;
        Some((percentile, key.clone()))
    };
    if items.len() < 2 {
        return None;
    }
    let named: Vec<(f64, String)> = items.iter().map(point).collect::<Option<_>>()?;
    let known = named.into_iter().zip(items);
    Some(
        known
            .map(|((percentile, key), item)| (Statistic::Percentile(percentile), &item[&key], key))
            .collect(),
    )
}

/// A text that is a time with a unit: `"1.2ms"`.
fn as_time(value: &Value) -> Option<Number> {
    Number::parse(value.as_str()?.as_bytes(), Style::POINT).ok().filter(|number| number.unit.is_some())
}

/// Keys of times that all objects of an array have.
fn time_keys(items: &[Value]) -> Vec<String> {
    let Some(first) = items.first().and_then(Value::as_object).filter(|_| items.len() > 1) else {
        return Vec::new();
    };
    let all_have = |key: &&String| {
        items.iter().all(|item| {
            item.get(key.as_str()).is_some_and(|value| value.is_number() || as_time(value).is_some())
        })
    };
    let ranked = first.keys().filter(all_have).map(|key| (rank(key), key));
    let best = ranked.clone().map(|(rank, _)| rank).max().unwrap_or(0);
    ranked.filter(|(rank, _)| *rank == best && *rank > 0).map(|(_, key)| key.clone()).collect()
}

/// How clearly a key says that it holds what something takes.
fn rank(key: &str) -> usize {
    const DURATIONS: [&str; 9] =
        ["latency", "duration", "elapsed", "took", "rtt", "service", "runtime", "lat", "dur"];
    let words = words(key);
    if words.iter().any(|word| DURATIONS.contains(&word.as_str())) {
        2
    } else {
        usize::from(
            matches!(Unit::of_name(key), Said::Unit(_)) || words.last().is_some_and(|word| word == "time"),
        )
    }
}

/// The one thing in a JSON value that may be meant, or the question which.
fn anything(json: &Value, place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
    let mut found = Vec::new();
    candidates(json, "", &mut found);
    if let Some(column) = &wanted.column {
        found.retain(|(path, _)| path == column || path.ends_with(&format!(".{column}")));
        if found.is_empty() {
            return Err(place.whole(format!("nothing in it is called `{column}` and holds times")));
        }
    }
    // Values say more than percentiles of them.
    if found.iter().any(|(_, one)| matches!(one, Candidate::Objects(..))) && wanted.column.is_none() {
        found.retain(|(_, one)| matches!(one, Candidate::Objects(..)));
    }
    let mut paths: Vec<String> = found.iter().map(|(path, _)| path.clone()).collect();
    paths.dedup();
    match &paths[..] {
        [] => Err(place.whole(
            "is JSON in which no array of times, no objects with a latency or a duration, and no percentiles were found",
        )),
        [path] => take(path, found.iter().map(|(_, one)| one), place, wanted),
        _ => Err(WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!("{} things in it may be the times", paths.len()),
            key: AskKey::Column,
            answers: found.iter().take(12).map(|(path, one)| answer(path, one)).collect(),
        }))),
    }
}

fn answer(path: &str, candidate: &Candidate<'_>) -> Answer {
    let means = match candidate {
        Candidate::Numbers(items) => format!("{} numbers: {}, …", items.len(), items[0]),
        Candidate::Objects(items, key) => format!("{} objects: {}, …", items.len(), items[0][key]),
        Candidate::Percentiles(points) => format!("{} percentiles", points.len()),
    };
    Answer { key: AskKey::Column, value: path.to_owned(), means }
}

/// Reads candidates of one path: together they are one array.
fn take<'a>(
    path: &str,
    candidates: impl Iterator<Item = &'a Candidate<'a>>,
    place: &Place<'_>,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let said = wanted.unit.map(|unit| (unit, "as you said"));
    let said = said.or_else(|| {
        unit_of_name(path.rsplit('.').next().unwrap_or(path)).map(|unit| (unit, "says its name"))
    });
    let plausible = Plausible::called(path.rsplit('.').next().unwrap_or(path));
    let mut collect = Collect { unit: said, plausible, ..Collect::default() };
    for candidate in candidates {
        match candidate {
            Candidate::Numbers(items) => items.iter().try_for_each(|item| collect.add("all", item, place))?,
            Candidate::Objects(items, key) => {
                let class = class_key(items);
                for item in *items {
                    let name = class.as_ref().and_then(|class| item[class].as_str()).unwrap_or("all");
                    collect.add(name, &item[key], place)?;
                }
            }
            Candidate::Percentiles(points) => return percentiles(path, points, said, place),
        }
    }
    collect.finish("JSON", Some(path.to_owned()), place)
}

/// The key that all objects have as a class.
fn class_key(items: &[Value]) -> Option<String> {
    let known = ["class", "type", "op", "operation", "kind", "label"];
    let first = items.first()?.as_object()?;
    let key = known.iter().find(|key| first.contains_key(**key))?;
    let mut names: Vec<&str> = items.iter().map(|item| item[*key].as_str()).collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    (names.len() <= 16).then(|| (*key).to_owned())
}

fn percentiles(
    path: &str,
    known: &[Known<'_>],
    said: Option<(Unit, &'static str)>,
    place: &Place<'_>,
) -> Result<Read, WorkloadError> {
    let is_share =
        |statistic: &Statistic| !matches!(statistic, Statistic::Percentile(p) if *p > 1.0 && *p < 100.0);
    let scale = if known.iter().all(|(statistic, ..)| is_share(statistic)) { 100.0 } else { 1.0 };
    let mut numbers = Vec::new();
    for (statistic, value, key) in known {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parsed = Number::parse(text.as_bytes(), Style::POINT);
        numbers.push((
            *statistic,
            parsed.map_err(|problem| place.whole(format!("`{key}`: {problem}")))?,
            key,
        ));
    }
    let said = said.or_else(|| unit_of_name(numbers[0].2).map(|unit| (unit, "says its name")));
    let bare = numbers.iter().any(|(_, number, _)| number.unit.is_none());
    let (unit, unit_by) = match said {
        Some((unit, by)) => (Some(unit), by),
        None if bare => {
            let middle = numbers[numbers.len() / 2].1.value();
            let (unit, by) = buckets::unit_of(path, None, middle, place)?;
            (Some(unit), by)
        }
        None => (None, ""),
    };
    let (mut points, mut stated) = (Vec::new(), Moments::default());
    for (statistic, number, key) in numbers {
        let ps = number.ps(unit.unwrap_or_default()).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        let ps = ps.ok_or_else(|| place.whole(format!("`{key}` is longer than an hour")))? as u64;
        match statistic {
            // Shares, 0 to 1, but not the names of the ends.
            Statistic::Percentile(percentile) if percentile <= 1.0 => points.push((percentile * scale, ps)),
            Statistic::Percentile(percentile) => points.push((percentile, ps)),
            moment => stated.set(moment, ps),
        }
    }
    let taken = Taken {
        format: "percentiles in JSON".to_owned(),
        column: Some(path.to_owned()).filter(|path| !path.is_empty()),
        unit,
        unit_by,
        ..Taken::default()
    };
    let classes = vec![Percentiles { class: "all".to_owned(), points, weight: 1.0, stated }];
    Ok(Read { taken, data: Data::Percentiles(classes), notes: Vec::new() })
}

/// Values that are being collected, and what they show of their unit.
#[derive(Default)]
struct Collect {
    trace: Trace,
    unit: Option<(Unit, &'static str)>,
    plausible: Plausible,
    line: Option<u64>,
    /// One of the last digit of the finest time.
    step_ps: Option<u64>,
}

impl Collect {
    fn add(&mut self, class: &str, value: &Value, place: &Place<'_>) -> Result<(), WorkloadError> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let line = self.line.unwrap_or(self.trace.ps.len() as u64 + 1);
        let add = || -> Result<(), RowProblem> {
            let number = Number::parse(text.as_bytes(), Style::POINT)?;
            if number.unit.is_some() {
                self.plausible.see_unit();
            } else if self.unit.is_none() {
                self.plausible.see(&number, text.as_bytes());
            }
            let ps = match time_ps(&number, text.as_bytes(), self.unit.map_or(Unit::Ns, |(unit, _)| unit)) {
                // Its unit will be asked for: it has fractions.
                Err(RowProblem::TooShort(_)) if self.unit.is_none() && number.unit.is_none() => 1,
                ps => ps?,
            };
            let step_ps = number.step_ps(self.unit.map_or(Unit::Ns, |(unit, _)| unit));
            self.step_ps = Some(self.step_ps.map_or(step_ps, |step| step.min(step_ps)));
            self.trace.push(class.as_bytes(), line, ps)
        };
        let mut add = add;
        add().map_err(|problem| match self.line {
            Some(line) => place.row(line, 1, problem),
            None => place.whole(format!("value {line}: {problem}")),
        })
    }

    fn finish(
        mut self,
        format: &str,
        column: Option<String>,
        place: &Place<'_>,
    ) -> Result<Read, WorkloadError> {
        if self.trace.ps.is_empty() {
            return Err(place.whole("holds no times"));
        }
        let zeros = self.trace.replace_zeros(self.step_ps.unwrap_or(1), place)?;
        let unsaid = self.plausible.check(place)?;
        let (unit, unit_by) = match self.unit {
            Some((unit, by)) => (Some(unit), by),
            None if self.plausible.is_untouched() => (None, ""),
            None => (Some(Unit::Ns), "nothing says another one"),
        };
        let taken = Taken {
            format: format.to_owned(),
            column: column.filter(|column| !column.is_empty()),
            class_column: (self.trace.classes.len() > 1).then(|| "class".to_owned()),
            unit,
            unit_by,
            values: self.trace.ps.len() as u64,
            ..Taken::default()
        };
        Ok(Read { taken, data: Data::Trace(self.trace), notes: unsaid.into_iter().chain(zeros).collect() })
    }
}
