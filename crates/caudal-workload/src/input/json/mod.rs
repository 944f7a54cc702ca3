//! What tools write as JSON: arrays of times, objects with a time each, percentiles, histograms.
//!
//! Known writers come first: hyperfine, pyperf, pytest-benchmark, fio, criterion, k6, vegeta, ghz, Prometheus. In anything
//! else, every array of numbers, every array of objects with a time, and every object of percentiles may be what is meant: if
//! there is one, it is taken, otherwise the user is asked.

mod conditions;
mod families;
mod lines;
mod writers;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use self::conditions::{Conditions, lookup, only_classes};
use self::families::{families, sums_up};
use self::lines::read_lines;
pub(super) use self::lines::{holds_objects, message_key, messages, read_objects};
use self::writers::{known, rows_of_frames};
use super::between;
use super::dates::epoch_unit;
use super::number::{Number, Style};
use super::percentiles::{Moments, Percentiles, Statistic, percentile_of, unit_of_name};
use super::plausible::{Plausible, unit_of};
use super::source::Source;
use super::unit::{Said, Unit, words};
use super::{Columns, Data, Place, Read, Taken, Trace, source, spans, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

/// Does the input begin as JSON does?
pub(super) fn holds_json(head: &[u8]) -> bool {
    match head.trim_ascii_start() {
        [b'{', rest @ ..] => rest.trim_ascii_start().starts_with(b"\""),
        [b'[', rest @ ..] => begins_array(rest.trim_ascii_start()),
        _ => false,
    }
}

/// Does an array go on like this? Logs begin with `[30/Nov/2026:…] GET`, `[0.604s][info]` or `[1796036093.12] 127.0.0.1`.
fn begins_array(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count();
    if digits == 0 {
        return matches!(rest, [b'{' | b'[', ..]);
    }
    match rest[digits..].trim_ascii_start() {
        [b',', ..] | [] => true,
        [b']', behind @ ..] => {
            behind.trim_ascii_start().is_empty() || behind.starts_with(b"\n") || behind.starts_with(b",")
        }
        _ => false,
    }
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
    if is_line && lines == 2 && !spans::holds_sdk(first) && !is_of_runs(first) {
        return read_lines(source, &place, wanted);
    }
    let (json, cut) = values_in(&source.whole(&place)?, &place)?;
    let json = rows_of_frames(json);
    let mut read = match known(&json, path, wanted)? {
        Some(read) => only_classes(read, wanted, &place)?,
        None => {
            let mut json = json;
            with_differences(&mut json);
            anything(&json, &place, wanted)?
        }
    };
    read.notes.extend(cut);
    Ok(read)
}

/// Does a line sum up a run by percentiles, as load generators append one a run?
fn is_of_runs(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|line| sums_up(&line))
}

/// The value in a text, or, of values one behind the other, as `jq` and exporters to a console write them, their array; and what to
/// say if the last one is cut off.
fn values_in(bytes: &[u8], place: &Place<'_>) -> Result<(Value, Option<String>), WorkloadError> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        source::check_stop()?;
        match value {
            Ok(value) => values.push(value),
            Err(error) if error.is_eof() && !values.is_empty() => {
                let cut = "the last object is cut off, and was left out; was the writer still at work?";
                return Ok((Value::Array(values), Some(cut.to_owned())));
            }
            Err(error) => {
                let problem = RowProblem::Format(format!("this is no JSON: {error}"));
                return Err(place.row(error.line() as u64, error.column().max(1), problem));
            }
        }
    }
    let json = if values.len() == 1 { values.pop() } else { None };
    Ok((json.unwrap_or(Value::Array(values)), None))
}

/// Adds what lies between beginning and end to objects that have both and do not say what they take.
fn with_differences(json: &mut Value) {
    if let Value::Array(items) = json
        && items.len() > 1
        && items.iter().all(Value::is_object)
        && time_keys(items).is_empty()
        && let Some((start, end)) = ends_of(&items[0])
    {
        let name = format!("duration ({end} - {start})");
        for item in items.iter_mut() {
            let time = difference(&item[&start], &item[&end]);
            if let (Some(map), Some(time)) = (item.as_object_mut(), time) {
                map.insert(name.clone(), Value::String(time));
            }
        }
    }
    match json {
        Value::Array(items) => items.iter_mut().for_each(with_differences),
        Value::Object(map) => map.values_mut().for_each(with_differences),
        _ => {}
    }
}

/// The keys of an object's beginning and end.
fn ends_of(object: &Value) -> Option<(String, String)> {
    let keys: Vec<&str> = object.as_object()?.keys().map(String::as_str).collect();
    let (start, end) = between::pair(&keys)?;
    difference(&object[keys[start]], &object[keys[end]])?;
    Some((keys[start].to_owned(), keys[end].to_owned()))
}

/// The time between dates, or between times since 1970, whose unit shows.
fn difference(start: &Value, end: &Value) -> Option<String> {
    let (start, end) = (plain(start), plain(end));
    let number = between::between(start.as_bytes(), end.as_bytes(), Style::POINT).ok()?;
    let unit = number.unit.or_else(|| epoch_unit(&start))?;
    // A float of seconds since 1970 has no more than six good decimals.
    let ps = number.ps(unit)?;
    let ns =
        if unit == Unit::S && number.unit.is_none() { (ps + 500_000) / 1_000_000 * 1000 } else { ps / 1000 };
    Some(format!("{ns} ns"))
}

/// Something in a JSON value that may be what is meant.
struct Candidate<'a> {
    /// Where it is: `result.latency.percentiles`.
    path: String,
    /// What the nearest object of an array around it is called: those of one path are classes.
    class: Option<&'a str>,
    /// The objects around it, the innermost first.
    around: Vec<&'a Value>,
    times: Times<'a>,
}

/// How it holds times.
enum Times<'a> {
    Numbers(&'a [Value]),
    /// Objects, and where in each of them its time is.
    Objects(Vec<&'a Value>, Vec<String>),
    Percentiles(Vec<Known<'a>>),
}

/// A statistic, its value, and the key of it.
type Known<'a> = (Statistic, &'a Value, String);

/// A unit, and who says it.
type SaidUnit = (Unit, &'static str);

/// Is there more than one percentile that is neither the shortest nor the longest time?
fn are_percentiles(known: &[Known<'_>]) -> bool {
    let is_inner =
        |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if (0.1..100.0).contains(p));
    known.iter().filter(|(statistic, ..)| is_inner(statistic)).count() > 1
}

/// What may be meant.
fn candidates<'a>(
    json: &'a Value,
    path: &str,
    class: Option<&'a str>,
    around: &[&'a Value],
    found: &mut Vec<Candidate<'a>>,
) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let mut push = |path: String, times: Times<'a>| {
        found.push(Candidate { path, class, around: around.to_vec(), times });
    };
    match json {
        Value::Array(items)
            if items.len() > 1 && items.iter().all(|item| item.is_number() || as_time(item).is_some()) =>
        {
            push(path.to_owned(), Times::Numbers(items));
        }
        Value::Array(items) => {
            if let Some(points) = listed_percentiles(items) {
                return push(path.to_owned(), Times::Percentiles(points));
            }
            for keys in time_keys(items) {
                push(inner(&keys.join(".")), Times::Objects(items.iter().collect(), keys));
            }
            items.iter().for_each(|item| candidates(item, path, name_of(item).or(class), around, found));
        }
        Value::Object(map) => {
            let around: Vec<&Value> = std::iter::once(json).chain(around.iter().copied()).collect();
            let of_families = families(map, path);
            let several = of_families.len() > 1;
            for (family, points) in of_families {
                // A family without a name of its own is called as the first of its keys.
                let name = if family.is_empty() { points[0].2.clone() } else { family };
                let path = if several { inner(&name) } else { path.to_owned() };
                found.push(Candidate {
                    path,
                    class,
                    around: around.clone(),
                    times: Times::Percentiles(points),
                });
            }
            let before = found.len();
            map.iter().for_each(|(key, value)| candidates(value, &inner(key), class, &around, found));
            // What stands beside `percentiles: { … }` is said of the same times.
            let stated = statistics_of(map, "");
            for Candidate { path, times, .. } in &mut found[before..] {
                let key = path.rsplit('.').next().unwrap_or(path).to_lowercase();
                let is_own = *path == inner(path.rsplit('.').next().unwrap_or(path));
                if let Times::Percentiles(points) = times
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

/// What an object is called.
fn name_of(item: &Value) -> Option<&str> {
    ["name", "class", "task", "benchmark", "title", "label", "command", "alias"]
        .iter()
        .find_map(|key| item.get(key)?.as_str())
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
fn as_time(value: &Value) -> Option<Number> {
    Number::parse(value.as_str()?.as_bytes(), Style::POINT).ok().filter(|number| number.unit.is_some())
}

/// Where the times are that the objects of an array have: keys, or, if none of their own says so, those of objects within them.
fn time_keys(items: &[Value]) -> Vec<Vec<String>> {
    let items: Vec<&Value> = items.iter().collect();
    time_keys_in(&items, 1)
}

/// How deep in an object its time may lie.
const DEEPEST: usize = 4;

/// The same of keys that one of so many objects has at least, as lines of a log that are of several kinds.
fn time_keys_in(items: &[&Value], one_of: usize) -> Vec<Vec<String>> {
    if items.is_empty() || !items.iter().all(|item| item.is_object()) {
        return Vec::new();
    }
    // Those of a level are clearer than those below it.
    (0..DEEPEST)
        .map(|depth| time_keys_at(items, items.len(), one_of, depth))
        .find(|keys| !keys.is_empty())
        .unwrap_or_default()
}

/// Those that lie so deep; `all` is how many objects there are, of which these are parts.
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

/// A number, also one that is written as a text.
fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
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

/// A value as a user writes it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is at this place of an object.
fn at<'a>(item: &'a Value, keys: &[String]) -> &'a Value {
    keys.iter().fold(item, |item, key| &item[key])
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
    candidates(json, "", None, &[], &mut found);
    // One object alone is no array of them, but those of many small arrays are.
    let are_several = |path: &str| {
        let of_path = found.iter().filter(|one| one.path == path);
        of_path
            .map(|one| if let Times::Objects(items, _) = &one.times { items.len() } else { 2 })
            .sum::<usize>()
            > 1
    };
    let several: BTreeSet<String> =
        found.iter().map(|one| one.path.clone()).filter(|path| are_several(path)).collect();
    found.retain(|one| several.contains(&one.path));
    match &wanted.column {
        Some(column) => {
            let all = found.iter().map(|one| one.path.clone()).collect::<BTreeSet<_>>();
            let behind = format!(".{column}");
            let is_family = |path: &str| families::is_called(path.rsplit('.').next().unwrap_or(path), column);
            match all.iter().any(|path| path == column || path.ends_with(&behind)) {
                true => found.retain(|one| one.path == *column || one.path.ends_with(&behind)),
                false => found.retain(|one| is_family(&one.path)),
            }
            if found.is_empty() || column.is_empty() && all.len() > 1 {
                let all: Vec<String> = all
                    .iter()
                    .filter(|path| !path.is_empty())
                    .take(12)
                    .map(|path| format!("`{path}`"))
                    .collect();
                let there =
                    if all.is_empty() { String::new() } else { format!("; there is {}", all.join(", ")) };
                return Err(place.whole(format!("nothing in it is called `{column}` and holds times{there}")));
            }
        }
        None => leave_likely(&mut found),
    }
    let mut paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    match &paths[..] {
        [] => Err(place.whole(
            "is JSON in which no array of times, no objects with a latency or a duration, and no percentiles were found",
        )),
        [path] => {
            let path = (*path).to_owned();
            let mut conditions = Conditions::of(wanted, place)?;
            let found = meant(found, &mut conditions, place)?;
            let mut read = take(&path, &found, unit_of_writer(json), place, wanted)?;
            read.taken.left_out = conditions.left_out;
            read.taken.filter.clone_from(&wanted.filter);
            Ok(read)
        }
        paths => {
            let of = |path: &&str| answer(path, found.iter().filter(|one| one.path == *path));
            Err(WorkloadError::Ask(Box::new(Ask {
                path: place.0.to_owned(),
                problem: format!("{} things in it may be the times", paths.len()),
                key: AskKey::Column,
                answers: paths.iter().filter(|path| !path.is_empty()).take(12).map(of).collect(),
            })))
        }
    }
}

/// What the conditions leave.
fn meant<'a>(
    found: Vec<Candidate<'a>>,
    conditions: &mut Conditions,
    place: &Place<'_>,
) -> Result<Vec<Candidate<'a>>, WorkloadError> {
    if conditions.is_empty() {
        return Ok(found);
    }
    let mut keys: BTreeSet<String> = BTreeSet::new();
    let mut left = Vec::new();
    for Candidate { path, class, around, times } in found {
        let scalars = |object: &Value| -> Vec<String> {
            let map = object.as_object();
            let is_plain = |value: &Value| !value.is_object() && !value.is_array();
            map.into_iter()
                .flatten()
                .filter(|(_, value)| is_plain(value))
                .map(|(key, _)| key.clone())
                .collect()
        };
        keys.extend(around.iter().copied().flat_map(scalars));
        let times = match times {
            Times::Objects(items, at) => {
                keys.extend(items.iter().take(200).copied().flat_map(scalars));
                let keep = |item: &&'a Value| {
                    conditions.keep(std::iter::once(*item).chain(around.iter().copied()), 1)
                };
                Times::Objects(items.into_iter().filter(keep).collect(), at)
            }
            times => {
                let count = if let Times::Numbers(items) = &times { items.len() } else { 1 };
                if !conditions.keep(around.iter().copied(), count as u64) {
                    continue;
                }
                times
            }
        };
        left.push(Candidate { path, class, around, times });
    }
    let is_left = left.iter().any(|one| !matches!(&one.times, Times::Objects(items, _) if items.is_empty()));
    let keys: Vec<String> = keys.into_iter().collect();
    conditions.check(is_left, &keys, place)?;
    Ok(left)
}

/// Leaves out what is unlikely to be meant, if anything is left then.
fn leave_likely(found: &mut Vec<Candidate<'_>>) {
    const NO_TIMES: [&str; 14] = [
        "throughput",
        "rps",
        "ops",
        "hz",
        "rate",
        "bytes",
        "size",
        "count",
        "len",
        "lens",
        "length",
        "lengths",
        "tokens",
        "backlog",
    ];
    // What is measured is the last part of a path, or the one before where the last says only how: `throughput.samples`.
    const HOW: [&str; 5] = ["samples", "values", "data", "percentiles", "buckets"];
    let is_time = |one: &Candidate<'_>| {
        let mut parts = one.path.rsplit('.').skip_while(|part| HOW.contains(part));
        words(parts.next().unwrap_or_default()).iter().all(|word| !NO_TIMES.contains(&word.as_str()))
    };
    if found.iter().any(is_time) {
        found.retain(is_time);
    }
    // An object with percentiles sums up: what else it has is no time of a request. So does a list of them, an interval each.
    let sums_up = |one: &Candidate<'_>| match &one.times {
        Times::Objects(items, _) => items.iter().any(|item| sums_up(item)),
        Times::Numbers(_) => families::is_statistic(one.path.rsplit('.').next().unwrap_or_default()),
        Times::Percentiles(_) => false,
    };
    found.retain(|one| !sums_up(one));
    // Values say more than percentiles of them.
    if found.iter().any(|one| matches!(one.times, Times::Objects(..))) {
        found.retain(|one| matches!(one.times, Times::Objects(..)));
    }
    let of_values: Vec<String> = found
        .iter()
        .filter(|one| matches!(one.times, Times::Numbers(_)))
        .filter_map(|one| Some(one.path.rsplit_once('.')?.0.to_owned()))
        .collect();
    found.retain(|one| !matches!(one.times, Times::Percentiles(_)) || !of_values.contains(&one.path));
}

fn answer<'a>(path: &str, candidates: impl Iterator<Item = &'a Candidate<'a>> + Clone) -> Answer {
    let count = |one: &Candidate<'_>| match &one.times {
        Times::Numbers(items) => items.len(),
        Times::Objects(items, _) => items.len(),
        Times::Percentiles(points) => points.len(),
    };
    let all: usize = candidates.clone().map(count).sum();
    let means = candidates.into_iter().next().map_or_else(String::new, |one| match &one.times {
        Times::Numbers(items) => format!("{all} numbers: {}, …", items[0]),
        Times::Objects(items, keys) => format!("{all} objects: {}, …", at(items[0], keys)),
        Times::Percentiles(_) => format!("{all} percentiles"),
    });
    Answer { key: AskKey::Column, value: path.to_owned(), means }
}

/// The unit in which a document has all its times, if its writer is known: browsers (HAR), Playwright, mocha, `deno bench`.
fn unit_of_writer(json: &Value) -> Option<Unit> {
    if json["log"]["entries"].is_array() && json["log"]["version"].is_string()
        || json["suites"].is_array() && json["config"].is_object() && json["stats"]["expected"].is_number()
        || json["stats"]["passes"].is_number() && json["passes"].is_array()
    {
        Some(Unit::Ms)
    } else if json["benches"].is_array()
        && json["runtime"].as_str().is_some_and(|name| name.starts_with("Deno/"))
    {
        Some(Unit::Ns)
    } else {
        None
    }
}

/// Reads candidates of one path: together they are one array, or the classes of one.
fn take(
    path: &str,
    candidates: &[Candidate<'_>],
    of_writer: Option<Unit>,
    place: &Place<'_>,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let key = path.rsplit('.').next().unwrap_or(path);
    let said = wanted.unit.map(|unit| (unit, "as you said"));
    let said = said.or_else(|| unit_of_name(key).map(|unit| (unit, "says its name")));
    let said = said.or_else(|| of_writer.map(|unit| (unit, "as the writer has it")));
    let mut collect = Collect { unit: said, plausible: Plausible::called(key), ..Collect::default() };
    let has_classes = wanted.class_column.as_deref() != Some("");
    // Names that hardly one time has as the other are those of single runs, and no classes.
    let names: Vec<(&str, usize)> = candidates
        .iter()
        .map(|one| match &one.times {
            Times::Numbers(items) => (one.class.unwrap_or("all"), items.len()),
            Times::Objects(items, _) => (one.class.unwrap_or("all"), items.len()),
            Times::Percentiles(_) => (one.class.unwrap_or("all"), usize::MAX >> 20),
        })
        .collect();
    let distinct = names.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len();
    let has_classes =
        has_classes && !(distinct > 16 && 2 * distinct > names.iter().map(|(_, count)| count).sum::<usize>());
    let mut of_class = None;
    let mut summed: Vec<(&str, &[Known<'_>])> = Vec::new();
    for candidate in candidates {
        let name = candidate.class.filter(|_| has_classes).unwrap_or("all");
        match &candidate.times {
            Times::Numbers(items) => items.iter().try_for_each(|item| collect.add(name, item, place))?,
            Times::Objects(items, keys) => {
                let class = class_key(items, wanted, place)?;
                for item in items {
                    let class = class.as_ref().and_then(|class| lookup(item, class)).map(plain);
                    collect.add(class.as_deref().unwrap_or(name), at(item, keys), place)?;
                }
                of_class = of_class.or(class);
            }
            Times::Percentiles(points) if summed.iter().any(|(known, _)| *known == name) => {
                return Err(which_run(path, candidates, points.len(), place));
            }
            Times::Percentiles(points) => summed.push((name, points)),
        }
    }
    if !summed.is_empty() {
        // `"unit": "ms"` beside them.
        let beside = candidates.iter().filter_map(|one| one.around.first()?.get("unit")?.as_str()).next();
        let beside = beside.and_then(Unit::of_word).map(|unit| (unit, "says a key beside them"));
        return percentiles(path, &summed, said.or(beside), place);
    }
    let mut read = collect.finish("JSON", Some(path.to_owned()), place)?;
    read.taken.class_column = of_class.or(read.taken.class_column);
    Ok(read)
}

/// The question of which run the percentiles are to be: by what differs in the objects around them.
fn which_run(path: &str, candidates: &[Candidate<'_>], points: usize, place: &Place<'_>) -> WorkloadError {
    let is_plain = |value: &Value| value.is_string() || value.is_u64() || value.is_boolean();
    let keys = candidates[0].around.iter().filter_map(|object| object.as_object()).flatten();
    let values_of = |key: &String| -> Option<Vec<String>> {
        let of = |one: &Candidate<'_>| {
            one.around.iter().find_map(|object| object.get(key)).filter(|v| is_plain(v)).map(plain)
        };
        candidates.iter().map(of).collect()
    };
    let differ = |values: &Vec<String>| values.iter().collect::<BTreeSet<_>>().len() == candidates.len();
    // What says when is as good as what says how many, but is no name.
    let (clear, others): (Vec<_>, Vec<_>) = keys
        .filter(|(key, value)| is_plain(value) && !families::is_statistic(key))
        .partition(|(key, _)| rank(key) == 0);
    let told = clear
        .into_iter()
        .chain(others)
        .find_map(|(key, _)| Some((key.clone(), values_of(key).filter(differ)?)));
    let Some((key, values)) = told else {
        return place.whole(format!(
            "has {points} percentiles of several runs at `{path}`, and nothing there says what each is of; give those of one"
        ));
    };
    let answer = |value: &String| Answer {
        key: AskKey::Where,
        value: format!("{key}={value}"),
        means: format!("{points} percentiles"),
    };
    WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: format!(
            "has percentiles of several runs at `{path}`, {} of them, which have no common distribution",
            candidates.len()
        ),
        key: AskKey::Where,
        answers: values.iter().take(12).map(answer).collect(),
    }))
}

/// The key that all objects have as a class: the one that is wanted, or one with few names.
///
/// # Errors
/// If none of them has the key that is wanted.
fn class_key(items: &[&Value], wanted: &Columns, place: &Place<'_>) -> Result<Option<String>, WorkloadError> {
    if let Some(key) = &wanted.class_column {
        if !key.is_empty() && items.iter().all(|item| lookup(item, key).is_none()) {
            return Err(place.whole(format!("no object in it has `{key}`, which is to be its class")));
        }
        return Ok(Some(key.clone()).filter(|key| !key.is_empty()));
    }
    let known = ["class", "type", "op", "operation", "kind", "label"];
    let names_of = |key: &str| -> Option<Vec<&str>> {
        let mut names: Vec<&str> = items.iter().map(|item| item[key].as_str()).collect::<Option<_>>()?;
        names.sort_unstable();
        names.dedup();
        Some(names).filter(|names| (1..=16).contains(&names.len()))
    };
    Ok(known.into_iter().find(|key| names_of(key).is_some()).map(str::to_owned))
}

/// Percentiles of classes, each with its name.
fn percentiles(
    path: &str,
    classes: &[(&str, &[Known<'_>])],
    said: Option<SaidUnit>,
    place: &Place<'_>,
) -> Result<Read, WorkloadError> {
    let mut taken = Taken {
        format: "percentiles in JSON".to_owned(),
        column: Some(path.to_owned()).filter(|path| !path.is_empty()),
        class_column: (classes.len() > 1).then(|| "name".to_owned()),
        ..Taken::default()
    };
    let mut read = Vec::new();
    for (class, known) in classes {
        let (percentiles, unit) = percentiles_of(path, class, known, said, place)?;
        read.push(percentiles);
        (taken.unit, taken.unit_by) = unit.map_or((None, ""), |(unit, by)| (Some(unit), by));
    }
    let equal = "the percentiles do not say how many requests each class has: they count alike; `--weights` says their shares";
    let notes = (classes.len() > 1).then(|| equal.to_owned()).into_iter().collect();
    Ok(Read { taken, data: Data::Percentiles(read), notes })
}

/// Those of one class, and their unit.
fn percentiles_of(
    path: &str,
    class: &str,
    known: &[Known<'_>],
    said: Option<SaidUnit>,
    place: &Place<'_>,
) -> Result<(Percentiles, Option<SaidUnit>), WorkloadError> {
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
    let unit = match said {
        None if bare => {
            let middle = numbers[numbers.len() / 2].1.value();
            Some(unit_of(path, None, middle, place)?)
        }
        said => said,
    };
    let (mut points, mut stated) = (Vec::new(), Moments::default());
    for (statistic, number, key) in numbers {
        let in_unit = unit.map(|(unit, _)| unit).unwrap_or_default();
        let ps = number.ps(in_unit).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        let ps = ps.ok_or_else(|| place.whole(format!("`{key}` is longer than an hour")))? as u64;
        match statistic {
            // Shares, 0 to 1, but not the names of the ends.
            Statistic::Percentile(percentile) if percentile <= 1.0 => points.push((percentile * scale, ps)),
            Statistic::Percentile(percentile) => points.push((percentile, ps)),
            moment => stated.set(moment, ps),
        }
    }
    Ok((Percentiles { class: class.to_owned(), points, weight: 1.0, stated }, unit))
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
