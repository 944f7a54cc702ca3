//! Replies of redis to `LATENCY HISTOGRAM`: cumulative counts up to bounds in microseconds, a command each; and to `INFO latencystats`:
//! percentiles of each command.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.

use std::path::Path;

use serde_json::Value;

use super::Bins;
use crate::error::WorkloadError;
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles, percentile_of};
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Place, Read, Taken, text, time_ps};

/// Is this a reply of redis, as its command-line client prints it?
pub(in crate::input) fn holds_replies<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(40).any(|line| {
        let line = text(line);
        line.contains("\"histogram_usec\"") || line.split_whitespace().next() == Some("histogram_usec")
    })
}

/// A part of a reply.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Number(u64),
}

/// Reads a text for which [`holds_replies`].
pub(in crate::input) fn read_replies(bytes: &[u8], path: &Path, _: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    let parts: Vec<(u64, Part)> = match serde_json::from_str::<serde_json::Map<String, Value>>(&text) {
        Ok(commands) => parts_of_json(&commands),
        Err(_) => {
            let parts = |(index, line)| parts(line).map(move |part| (index as u64 + 1, part));
            text.lines().enumerate().flat_map(parts).collect()
        }
    };
    let mut bins = Bins::default();
    let mut notes = Vec::new();
    let (mut command, mut calls) = (String::new(), 0);
    let mut at = 0;
    while let Some((_, part)) = parts.get(at) {
        let next = parts.get(at + 1).map(|(_, part)| part);
        match (part, next) {
            (Part::Text(word), Some(Part::Number(number))) if word == "calls" => {
                (calls, at) = (*number, at + 2);
            }
            (Part::Text(word), _) if word == "histogram_usec" => {
                let mut counted = 0;
                at += 1;
                while let [(line, Part::Number(upper)), (_, Part::Number(up_to)), ..] = parts[at..] {
                    let upper_ps = upper.saturating_mul(Unit::Us.ps());
                    bins.add_up_to(&command, Some(upper_ps), up_to)
                        .map_err(|problem| place.row(line, 1, problem))?;
                    (counted, at) = (up_to, at + 2);
                }
                if counted != calls {
                    notes.push(format!(
                        "`{command}` was called {calls} times, and its histogram has {counted} of them: is the reply cut?"
                    ));
                }
            }
            (Part::Text(word), _) => {
                command.clone_from(word);
                at += 1;
            }
            (Part::Number(_), _) => at += 1,
        }
    }
    let taken = Taken {
        format: "redis's LATENCY HISTOGRAM".to_owned(),
        unit: Some(Unit::Us),
        unit_by: "as the writer has it",
        values: bins.count(),
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Histograms(bins.finish(&place, &mut notes)?), notes })
}

/// The same of `redis-cli --json`: an object a command, whose histogram has bounds as keys.
fn parts_of_json(commands: &serde_json::Map<String, Value>) -> Vec<(u64, Part)> {
    let mut parts = Vec::new();
    for (command, reply) in commands {
        let Some(histogram) = reply["histogram_usec"].as_object() else { continue };
        let pair = |(upper, count): (&String, &Value)| Some((upper.parse().ok()?, count.as_u64()?));
        let mut buckets: Vec<(u64, u64)> = histogram.iter().filter_map(pair).collect();
        buckets.sort_unstable();
        parts.push(Part::Text(command.clone()));
        parts.extend([Part::Text("calls".to_owned()), Part::Number(reply["calls"].as_u64().unwrap_or(0))]);
        parts.push(Part::Text("histogram_usec".to_owned()));
        parts.extend(
            buckets.into_iter().flat_map(|(upper, count)| [Part::Number(upper), Part::Number(count)]),
        );
    }
    parts.into_iter().map(|part| (1, part)).collect()
}

/// The parts in a line: one, or, of a client that speaks the third version of the protocol, all of a map's line.
fn parts(line: &str) -> impl Iterator<Item = Part> {
    let is_plain = !line.contains([')', '"', '#']);
    let words: Vec<&str> = if is_plain { line.split_whitespace().collect() } else { vec![line] };
    words.into_iter().filter_map(part).collect::<Vec<_>>().into_iter()
}

/// `   4)  1) (integer) 1`, `1) "set"`; without a terminal, the client prints no numbers in front.
fn part(line: &str) -> Option<Part> {
    let mut rest = line.trim();
    while let Some((number, behind)) = rest.split_once(") ")
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        rest = behind.trim_start();
    }
    if let Some(number) = rest.strip_prefix("(integer) ") {
        return number.trim().parse().ok().map(Part::Number);
    }
    if rest.is_empty() {
        return None;
    }
    Some(rest.parse().map_or_else(|_| Part::Text(rest.trim_matches('"').to_owned()), Part::Number))
}

/// The beginning of a line of `INFO latencystats`, before the name of a command.
const PERCENTILES: &str = "latency_percentiles_usec_";

/// Is this a reply to `INFO latencystats`, or to `INFO` of everything?
pub(in crate::input) fn holds_latency_stats<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.any(|line| line.starts_with(PERCENTILES.as_bytes()))
}

/// Reads a text for which [`holds_latency_stats`]: `latency_percentiles_usec_get:p50=1.003,p99=2.007`. How often each command was called
/// stands in another part of the same reply: `cmdstat_get:calls=300,usec=512,…`.
pub(in crate::input) fn read_latency_stats(
    bytes: &[u8],
    path: &Path,
    _: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    let calls = |command: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("cmdstat_")?.strip_prefix(command)?.strip_prefix(':'))?;
        let part =
            |key: &str| line.split(',').find_map(|part| part.strip_prefix(key)?.trim().parse::<f64>().ok());
        Some((part("calls=")?, part("usec_per_call=")?))
    };
    let mut classes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((command, list)) = line.strip_prefix(PERCENTILES).and_then(|line| line.split_once(':'))
        else {
            continue;
        };
        let mut points = Vec::new();
        for part in list.trim().split(',') {
            let point = part.split_once('=').and_then(|(name, us)| Some((percentile_of(name)?, us)));
            let Some((percentile, us)) = point else { continue };
            let at = |problem| place.row(index as u64 + 1, 1, problem);
            let number = Number::parse(us.as_bytes(), Style::POINT).map_err(at)?;
            points.push((percentile, time_ps(&number, us.as_bytes(), Unit::Us).map_err(at)?));
        }
        let known = calls(command);
        let stated = Moments { mean_ps: known.map(|(_, us)| us * 1e6).filter(|ps| *ps > 0.0), sd_ps: None };
        let weight = known.map_or(1.0, |(calls, _)| calls.max(1.0));
        classes.push((known.is_some(), Percentiles { class: command.to_owned(), points, weight, stated }));
    }
    let notes = if classes.iter().all(|(known, _)| *known) {
        Vec::new()
    } else {
        classes.iter_mut().for_each(|(_, class)| class.weight = 1.0);
        vec![
            "how often each command was called is not in the file, so all count alike: `redis-cli INFO all` says it, and `--weights` \
             does; `redis-cli LATENCY HISTOGRAM` has the distributions"
                .to_owned(),
        ]
    };
    let taken = Taken {
        format: "redis's INFO latencystats".to_owned(),
        unit: Some(Unit::Us),
        unit_by: "as the writer has it",
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Percentiles(classes.into_iter().map(|(_, class)| class).collect()), notes })
}
