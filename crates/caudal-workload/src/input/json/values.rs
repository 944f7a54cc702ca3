//! The meaning of a JSON value by itself: its text, its number, its time, its statistics. The other files of the reader of JSON ask here
//! for each value. Pure.

use serde_json::{Map, Value};

use crate::input::number::{Number, Style};
use crate::input::percentiles::Statistic;
use crate::input::unit::{Said, Unit, words};

/// A statistic, its value, and the key of it.
pub(super) type Known<'a> = (Statistic, &'a Value, String);

/// A unit, and who says it.
pub(super) type SaidUnit = (Unit, &'static str);

/// Is there more than one percentile that is neither the shortest nor the longest time?
pub(super) fn are_percentiles(known: &[Known<'_>]) -> bool {
    let is_inner =
        |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if (0.1..100.0).contains(p));
    known.iter().filter(|(statistic, ..)| is_inner(statistic)).count() > 1
}

/// The name of an object, under any of the usual keys.
pub(super) fn name_of(item: &Value) -> Option<&str> {
    ["name", "class", "task", "benchmark", "title", "label", "command", "alias"]
        .iter()
        .find_map(|key| item.get(key)?.as_str())
}

/// `{"p50": 1.2, "p99": 9, "mean": 2.1}`, `{"percentiles": {"50": 12, "99": 90}}`
pub(super) fn statistics_of<'a>(map: &'a Map<String, Value>, path: &str) -> Vec<Known<'a>> {
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
pub(super) fn listed_percentiles(items: &[Value]) -> Option<Vec<Known<'_>>> {
    let point = |item: &'_ Value| -> Option<(f64, String)> {
        let map = item.as_object()?;
        let is_percentile = |key: &str| {
            ["percentage", "percentile", "percent", "quantile"].contains(&key.to_lowercase().as_str())
        };
        let percentile = map.iter().find_map(|(key, value)| value.as_f64().filter(|_| is_percentile(key)))?;
        let key = map.keys().find(|key| rank(key) > 0 || key.eq_ignore_ascii_case("value"))?;
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
pub(super) fn as_time(value: &Value) -> Option<Number> {
    Number::parse(value.as_str()?.as_bytes(), Style::POINT).ok().filter(|number| number.unit.is_some())
}

/// A number, also one that is written as a text.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A value as a user writes it.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The value at this place of an object.
pub(super) fn at<'a>(item: &'a Value, keys: &[String]) -> &'a Value {
    keys.iter().fold(item, |item, key| &item[key])
}

/// How clearly a key says that it holds what something takes.
pub(super) fn rank(key: &str) -> usize {
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
