//! The choice among the candidates in JSON of an unknown writer: by what the user says, or by what is likely; else the user is asked
//! which. The reader of JSON calls it where no known writer fits. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::candidates::{Candidate, Times, candidates};
use super::collect::{Collect, class_key, percentiles};
use super::conditions::{Conditions, lookup};
use super::families::{self, sums_up};
use super::values::{Known, at, plain, rank};
use crate::error::{Answer, Ask, AskKey, WorkloadError};
use crate::input::percentiles::unit_of_name;
use crate::input::plausible::Plausible;
use crate::input::unit::{Unit, words};
use crate::input::{Columns, Place, Read};

/// The one thing in a JSON value that may be meant, or the question which.
pub(super) fn anything(json: &Value, place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
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

/// The candidates that the conditions leave.
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
