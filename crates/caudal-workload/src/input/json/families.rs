//! Families of statistics in one object: `mean_ttft_ms` and `p99_ttft_ms` are of one, `p99_tpot_ms` is of another. The search for
//! candidates groups by it, and the choice among them names the families in its question. Pure.

use serde_json::{Map, Value};

use super::values::{Known, are_percentiles, as_time, statistics_of};
use crate::input::percentiles::{Statistic, percentile_of};
use crate::input::unit::{Unit, words};

/// Words that say how something is summed up, or nothing at all.
const SUMS: [&str; 28] = [
    "mean",
    "avg",
    "average",
    "std",
    "stddev",
    "stdev",
    "sd",
    "stdv",
    "deviation",
    "sigma",
    "p",
    "pct",
    "perc",
    "percent",
    "percentile",
    "percentiles",
    "quantile",
    "quantiles",
    "th",
    "latency",
    "latencies",
    "lat",
    "response",
    "time",
    "times",
    "duration",
    "of",
    "the",
];

/// The statistic that a key names, and what it is of; none if it names no statistic.
fn member(key: &str) -> Option<(Statistic, String)> {
    let is_sum = |word: &String| {
        SUMS.contains(&word.as_str())
            || percentile_of(word).is_some()
            || Unit::of_word(word).is_some()
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let words = words(key);
    let rest: Vec<String> = words.iter().filter(|word| !is_sum(word)).cloned().collect();
    let alone: Vec<String> = words.iter().filter(|word| is_sum(word)).cloned().collect();
    let statistic = Statistic::of(key).or_else(|| alone.iter().find_map(|word| Statistic::of(word)))?;
    Some((statistic, rest.join("_")))
}

/// The families of an object's statistics that have percentiles, each with its name.
pub(super) fn families<'a>(map: &'a Map<String, Value>, path: &str) -> Vec<(String, Vec<Known<'a>>)> {
    let mut families: Vec<(String, Vec<Known<'a>>)> = Vec::new();
    for (key, value) in map.iter().filter(|(_, value)| value.is_number() || as_time(value).is_some()) {
        let Some((statistic, family)) = member(key) else { continue };
        let at = match families.iter().position(|(name, _)| *name == family) {
            Some(at) => at,
            None => {
                families.push((family, Vec::new()));
                families.len() - 1
            }
        };
        let known = &mut families[at].1;
        if known.iter().all(|(known, ..)| *known != statistic) {
            known.push((statistic, value, key.clone()));
        }
    }
    families.retain(|(_, known)| are_percentiles(known));
    if families.len() > 1 {
        return families;
    }
    // Of one alone, what has no name of its own is said of it too.
    let all = statistics_of(map, path);
    match families.pop() {
        Some((family, mut known)) => {
            let more = all.into_iter().filter(|(statistic, _, key)| {
                known.iter().all(|(one, ..)| one != statistic)
                    && member(key).is_none_or(|(_, of)| of.is_empty())
            });
            let more: Vec<Known<'a>> = more.collect();
            known.extend(more);
            vec![(family, known)]
        }
        None if are_percentiles(&all) => vec![(String::new(), all)],
        None => Vec::new(),
    }
}

/// Is this object a sum of many requests: has it percentiles?
pub(super) fn sums_up(object: &Value) -> bool {
    object.as_object().is_some_and(|map| !families(map, "").is_empty())
}

/// Is a family, or a key of it, called so? `p99_e2el_ms` and `e2el` mean the same.
pub(super) fn is_called(family: &str, wanted: &str) -> bool {
    let of = |name: &str| member(name).map_or_else(|| name.to_lowercase(), |(_, family)| family);
    !wanted.is_empty() && !of(wanted).is_empty() && of(family) == of(wanted)
}

/// Does a name say that it holds percentiles, means or ends, as of each interval?
pub(super) fn is_statistic(name: &str) -> bool {
    member(name).is_some()
}
