//! Timers of statsd, a metric a line: `api.request:12.5|ms`, `…|ms|@0.1` if only a part was sent, `…|h` and `…|d` for histograms and
//! distributions of DogStatsD, of which the type says no unit, several values as in `name:1:2:3|ms`, and tags (`|#route:/a`, or
//! `name,route=/a`).
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.

use std::collections::BTreeMap;

use super::{Shown, most, passed_over};
use crate::error::{Answer, Ask, AskKey, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::plausible::Plausible;
use crate::input::unit::{Said, Unit};
use crate::input::{Columns, Place, shorten, text};

/// A metric.
#[derive(Debug, PartialEq)]
struct Metric<'a> {
    name: &'a str,
    values: Vec<&'a str>,
    kind: &'a str,
    /// The part of the values that was sent.
    rate: f64,
    tags: Vec<(&'a str, &'a str)>,
}

fn metric(line: &str) -> Option<Metric<'_>> {
    let mut parts = line.trim().split('|');
    let (name, values) = parts.next()?.split_once(':')?;
    let kind = parts.next()?;
    let mut names = name.split([',', ';']);
    let name = names.next().filter(|name| !name.is_empty() && !name.contains([' ', '{', '"']))?;
    let values: Vec<&str> = values.split(':').collect();
    let are_numbers = values.iter().all(|value| value.parse::<f64>().is_ok_and(f64::is_finite));
    if !["c", "g", "ms", "h", "d", "s", "m"].contains(&kind) || !are_numbers && kind != "s" {
        return None;
    }
    let mut tags: Vec<(&str, &str)> = names.filter_map(|tag| tag.split_once('=')).collect();
    let mut rate = 1.0;
    for part in parts {
        if let Some(part) = part.strip_prefix('@') {
            rate = part.parse().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0)?;
        } else if let Some(part) = part.strip_prefix('#') {
            tags.extend(part.split(',').filter_map(|tag| tag.split_once(':')));
        }
    }
    Some(Metric { name, values, kind, rate, tags })
}

/// Does it hold what something took?
fn is_timer(metric: &Metric<'_>) -> bool {
    ["ms", "h", "d"].contains(&metric.kind)
}

/// Are these metrics of statsd?
pub(super) fn holds(lines: &[&str]) -> bool {
    most(lines, |line| metric(line).is_some())
}

/// The timers that are meant.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    /// Of this name, or of any, each a class.
    name: Option<&'a str>,
    kind: &'a str,
}

impl Chosen<'_> {
    fn holds(self, metric: &Metric<'_>) -> bool {
        metric.kind == self.kind && self.name.is_none_or(|name| name == metric.name)
    }
}

/// The column that says which timer a value is of.
const METRIC: &str = "metric";

/// The timers that are meant.
///
/// # Errors
/// The question for it, and if there are none.
fn chosen<'a>(text: &'a str, place: &Place<'_>, wanted: &Columns) -> Result<Chosen<'a>, WorkloadError> {
    let mut timers: BTreeMap<(&str, &str), (usize, &str)> = BTreeMap::new();
    for metric in text.lines().filter_map(metric).filter(is_timer) {
        let first = metric.values[0];
        timers.entry((metric.name, metric.kind)).or_insert((0, first)).0 += metric.values.len();
    }
    if timers.is_empty() {
        return Err(place
            .whole("holds statsd's counters, gauges and sets, and no timer, such as `api.request:12.5|ms`"));
    }
    let kinds: std::collections::BTreeSet<&str> = timers.keys().map(|(_, kind)| *kind).collect();
    if wanted.class_column.as_deref() == Some(METRIC)
        && wanted.column.is_none()
        && let (1, Some(&kind)) = (kinds.len(), kinds.first())
    {
        return Ok(Chosen { name: None, kind });
    }
    let mut found =
        timers.iter().filter(|((name, _), _)| wanted.column.as_deref().is_none_or(|column| column == *name));
    match (found.next(), found.next()) {
        (Some((&(name, kind), _)), None) => Ok(Chosen { name: Some(name), kind }),
        (Some((one, _)), Some(_)) if wanted.column.is_some() => Err(place.whole(format!(
            "`{}` is of several types in it; give the lines of one, as in `grep '|ms' FILE | caudal … -`",
            shorten(one.0)
        ))),
        (None, _) => {
            let names: Vec<String> =
                timers.keys().take(12).map(|(name, _)| format!("`{}`", shorten(name))).collect();
            let wanted = shorten(wanted.column.as_deref().unwrap_or_default());
            Err(place.whole(format!("has no timer `{wanted}`; there are {}", names.join(", "))))
        }
        _ => {
            let answer = |((name, kind), (count, first)): (&(&str, &str), &(usize, &str))| Answer {
                key: AskKey::Column,
                value: (*name).to_owned(),
                means: format!("{count} values of type `{kind}`: {first}, …"),
            };
            Err(WorkloadError::Ask(Box::new(Ask {
                path: place.0.to_owned(),
                problem: match kinds.len() {
                    1 => format!(
                        "holds {} timers of statsd (`--class-column {METRIC}` makes a class of each)",
                        timers.len()
                    ),
                    _ => format!("holds {} timers of statsd", timers.len()),
                },
                key: AskKey::Column,
                answers: timers.iter().take(12).map(answer).collect(),
            })))
        }
    }
}

/// The values of the timer that is meant.
pub(super) fn table(bytes: &[u8], place: &Place<'_>, wanted: &Columns) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let chosen = chosen(&text, place, wanted)?;
    let (name, kind) = (chosen.name.unwrap_or(METRIC), chosen.kind);
    let meant = || {
        let metrics = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, metric(line)?)));
        metrics.filter(move |(_, metric)| chosen.holds(metric))
    };
    // The first column behind the values says which timer it is.
    let mut tags: Vec<&str> = vec![METRIC];
    let (mut least, mut most, mut sum) = (f64::MAX, 0.0_f64, 0.0);
    for (_, metric) in meant() {
        let new: Vec<&str> =
            metric.tags.iter().map(|(key, _)| *key).filter(|key| !tags.contains(key)).collect();
        tags.extend(new.into_iter().take(64_usize.saturating_sub(tags.len())));
        (least, most) = (least.min(metric.rate), most.max(metric.rate));
        sum += metric.values.len() as f64 / metric.rate;
    }
    if kind != "ms" && wanted.unit.is_none() && Unit::of_name(name) == Said::Nothing {
        let mut plausible = Plausible::default();
        for value in meant().flat_map(|(_, metric)| metric.values) {
            if let Ok(number) = Number::parse(value.as_bytes(), Style::POINT) {
                plausible.see(&number, value.as_bytes());
            }
        }
        return Err(plausible.ask(place, &format!("are of statsd's type `{kind}`, which has none")));
    }
    // The type says milliseconds; of others the name of the metric may say something.
    let column = match (kind, chosen.name) {
        ("ms", _) => "time_ms",
        (_, Some(name)) => name,
        (_, None) => "time",
    };
    let is_weighted = least < most;
    let names: Vec<&str> =
        [column].into_iter().chain(is_weighted.then_some("share")).chain(tags.iter().copied()).collect();
    let mut shown = Shown::new("timers of statsd", &names);
    shown.count = is_weighted.then(|| "share".to_owned());
    let called = chosen.name.map_or_else(|| format!("those of type {kind}"), str::to_owned);
    shown.called = Some((called, if kind == "ms" { "says their type, `ms`" } else { "" }));
    for (line, metric) in meant() {
        // Shares, and no counts: a value that stands for ten was measured once.
        let share = (1.0 / metric.rate / sum).to_string();
        for value in &metric.values {
            let of = |key: &&str| {
                if *key == METRIC {
                    return metric.name;
                }
                metric.tags.iter().find(|(known, _)| known == key).map_or("", |(_, value)| *value)
            };
            let fields: Vec<&str> = [*value]
                .into_iter()
                .chain(is_weighted.then_some(share.as_str()))
                .chain(tags.iter().map(of))
                .collect();
            shown.rows.add(line, &fields)?;
        }
    }
    if is_weighted {
        shown.notes.push(format!(
            "statsd was sent a part of the values, from {least} to {most} of them: each counts for as many as it stands for"
        ));
    } else if least < 1.0 {
        shown.notes.push(format!(
            "statsd was sent {least} of the values, drawn at random: the others are missing here, of the longest too"
        ));
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let others = lines - meant().count();
    shown.notes.extend(passed_over(others, "line", "of other metrics"));
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_a_type_a_rate_and_tags() {
        let known = metric("api.request:12.5|ms|@0.1|#route:/a,debug").unwrap();
        assert_eq!((known.name, known.kind, known.rate), ("api.request", "ms", 0.1));
        assert_eq!((known.values, known.tags), (vec!["12.5"], vec![("route", "/a")]));
        assert_eq!(metric("a,route=/x:1:2|d").unwrap().values, ["1", "2"]);
        for other in ["a|b|c", "a:b|ms", "a:1|x", "a:1", "12:30:01 | ms", "a:1|ms|@2", "", "|", "a b:1|ms"] {
            assert_eq!(metric(other), None, "{other}");
        }
    }
}
