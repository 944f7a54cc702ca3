//! The keys under which an object has its time: by their names, and by what most objects of an array have there. `candidates` asks for
//! arrays of objects, and `lines` for lines of them. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::families::sums_up;
use super::values::{as_time, number_of, rank};
use crate::input::percentiles::percentile_of;
use crate::input::unit::{Unit, words};

/// Where the times are that the objects of an array have: keys, or, if none of their own says so, those of objects within them.
pub(super) fn time_keys(items: &[Value]) -> Vec<Vec<String>> {
    let items: Vec<&Value> = items.iter().collect();
    time_keys_in(&items, 1)
}

/// How deep in an object its time may lie.
const DEEPEST: usize = 4;

/// The same of keys that one of so many objects has at least, as lines of a log that are of several kinds.
pub(super) fn time_keys_in(items: &[&Value], one_of: usize) -> Vec<Vec<String>> {
    if items.is_empty() || !items.iter().all(|item| item.is_object()) {
        return Vec::new();
    }
    // Those of a level are clearer than those below it.
    (0..DEEPEST)
        .map(|depth| time_keys_at(items, items.len(), one_of, depth))
        .find(|keys| !keys.is_empty())
        .unwrap_or_default()
}

/// The keys of times that lie `depth` objects deep; `all` is how many objects there are, of which these are parts.
fn time_keys_at(items: &[&Value], all: usize, one_of: usize, depth: usize) -> Vec<Vec<String>> {
    if depth == 0 {
        return keys_of_times(items, all, one_of).into_iter().map(|key| vec![key]).collect();
    }
    let outer: BTreeSet<&String> =
        items.iter().filter_map(|item| item.as_object()).flat_map(Map::keys).collect();
    let nested = outer.into_iter().flat_map(|outer| {
        let within: Vec<&Value> =
            items.iter().map(|item| &item[outer]).filter(|inner| inner.is_object()).collect();
        let enough = !within.is_empty() && within.len() * one_of >= all;
        let inner = if enough { time_keys_at(&within, all, one_of, depth - 1) } else { Vec::new() };
        inner.into_iter().map(|keys| std::iter::once(outer.clone()).chain(keys).collect())
    });
    nested.collect()
}

/// The keys of times that one of so many objects has at least.
fn keys_of_times(objects: &[&Value], all: usize, one_of: usize) -> Vec<String> {
    // What sums up a run says how long the run was.
    let are_runs = objects.iter().any(|object| is_run(object));
    let objects: Vec<&Map<String, Value>> = objects.iter().filter_map(|object| object.as_object()).collect();
    let keys: BTreeSet<&String> =
        objects.iter().flat_map(|object| object.keys()).filter(|key| rank(key) > 0).collect();
    let holds_times = |key: &&String| {
        let values: Vec<&Value> = objects.iter().filter_map(|object| object.get(*key)).collect();
        !values.is_empty()
            && values.len() * one_of >= all
            && !(are_runs && is_length(key))
            // A percentile of an interval is none of a request.
            && percentile_of(key).is_none_or(|percentile| percentile <= 0.0 || percentile >= 100.0)
            && values.iter().all(|value| number_of(value).is_some() || as_time(value).is_some())
            && (rank(key) > 1 || !are_epochs(&values))
    };
    let mut keys: Vec<&String> = keys.into_iter().filter(holds_times).collect();
    let best = keys.iter().map(|key| rank(key)).max().unwrap_or(0);
    keys.retain(|key| rank(key) == best);
    keys.into_iter().cloned().collect()
}

/// Is an object about a run of many requests: does it sum them up by percentiles, or say how many there were?
fn is_run(object: &Value) -> bool {
    const COUNTS: [&str; 11] = [
        "completed",
        "requests",
        "throughput",
        "rps",
        "qps",
        "tps",
        "operations",
        "ops",
        "passes",
        "tests",
        "suites",
    ];
    let counts = |map: &Map<String, Value>| {
        map.iter().any(|(key, value)| {
            let words = words(key);
            // How many a connection has had is said of a request.
            value.is_number()
                && words.iter().any(|word| COUNTS.contains(&word.as_str()))
                && words.iter().all(|word| word != "connection")
        })
    };
    object.as_object().is_some_and(|map| counts(map) || map.values().any(sums_up)) || sums_up(object)
}

/// Does a key say how long all of it took?
fn is_length(key: &str) -> bool {
    const LENGTHS: [&str; 6] = ["duration", "elapsed", "runtime", "dur", "time", "total"];
    let rest = |word: &String| !LENGTHS.contains(&word.as_str()) && Unit::of_word(word).is_none();
    !words(key).iter().any(rest)
}

/// Are these times since 1970, between 2001 and 2100, in s, ms, us or ns, and near each other?
fn are_epochs(values: &[&Value]) -> bool {
    let is_epoch = |number: f64| {
        [1.0, 1e3, 1e6, 1e9].iter().any(|unit| (978_307_200.0..4_102_444_800.0).contains(&(number / unit)))
    };
    let numbers: Option<Vec<f64>> =
        values.iter().map(|value| number_of(value).filter(|number| is_epoch(*number))).collect();
    numbers.is_some_and(|numbers| {
        let (least, most) = numbers
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), &number| (least.min(number), most.max(number)));
        most <= 1.05 * least
    })
}
