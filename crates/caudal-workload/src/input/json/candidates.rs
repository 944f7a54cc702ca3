//! The candidates in a JSON value: all lists and objects that may hold the times, each with its path. `choosing` calls [`candidates`] once
//! for each document and chooses one of them. Pure.

use serde_json::Value;

use super::families::families;
use super::keys::time_keys;
use super::values::{Known, as_time, listed_percentiles, name_of, statistics_of};

/// A part of a JSON value that may hold the times.
pub(super) struct Candidate<'a> {
    /// Its path: `result.latency.percentiles`.
    pub(super) path: String,
    /// The name of the nearest object around it that is in an array. Candidates with the same path and different names are classes.
    pub(super) class: Option<&'a str>,
    /// The objects around it, the innermost first.
    pub(super) around: Vec<&'a Value>,
    pub(super) times: Times<'a>,
}

/// The form in which a candidate holds times.
pub(super) enum Times<'a> {
    Numbers(&'a [Value]),
    /// Objects, and the path of the time in each of them.
    Objects(Vec<&'a Value>, Vec<String>),
    Percentiles(Vec<Known<'a>>),
}

/// Adds all candidates in `json` to `found`.
pub(super) fn candidates<'a>(
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
                // A family without a name gets the name of its first key.
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
            // Statistics beside `percentiles: { … }` are of the same times.
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
