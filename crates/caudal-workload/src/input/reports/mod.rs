//! The reader of reports that load generators print for people, with percentiles in lines and rows: wrk, ab, fio, memtier, sockperf and
//! their like. The recogniser calls it for a text in which it finds percentiles ([`holds_percentiles`]). Pure: bytes in, percentiles out.

mod families;
mod lines;
mod memtier;
mod rows;

use std::path::Path;

use families::{heading_above, of_family, section, sections};
use lines::{Point, points};
use memtier::{is_memtier, memtier};
use rows::{averages, drawn, in_rows};

use super::percentiles::{Moments, Percentiles, Statistic, unit_of_name};
use super::plausible::unit_of;
use super::unit::Unit;
use super::{Columns, Data, Place, Read, Taken, text};
use crate::error::WorkloadError;

/// Is this a text that sums up latencies by percentiles? Of wrk, ab, memtier and their like.
pub(super) fn holds_percentiles<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let text: Vec<String> = lines.take(400).map(text).collect();
    let percentiles =
        |line: &String| points(line).iter().filter(|point| point.percentile().is_some()).count();
    let lines: Vec<&str> = text.iter().map(String::as_str).collect();
    text.iter().any(|line| is_memtier(line))
        || text.iter().map(percentiles).sum::<usize>() + drawn(&lines).len() >= 2
        || in_rows(&lines).iter().filter(|(_, point)| point.percentile().is_some()).count() >= 2
}

/// Reads a text for which [`holds_percentiles`].
pub(super) fn read_percentiles(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    let parts = sections(&text);
    if parts.iter().filter(|part| part.unit.is_some()).count() > 0 {
        let texts: Vec<(String, &str)> = parts.iter().map(|part| (part.name.clone(), part.text)).collect();
        let at = section(parts, wanted, &place)?;
        let (name, text) = &texts[at];
        let within = Columns { column: None, ..wanted.clone() };
        let mut read = read_percentiles(text.as_bytes(), path, &within)?;
        read.taken.column = Some(name.clone());
        return Ok(read);
    }
    let lines: Vec<&str> = text.lines().collect();
    if let Some(heading) = lines.iter().position(|line| is_memtier(line)) {
        return memtier(&lines, heading, &place);
    }
    let all: Vec<(usize, Point)> = lines
        .iter()
        .enumerate()
        .flat_map(|(at, line)| points(line).into_iter().map(move |point| (at, point)))
        .chain(averages(&lines))
        .chain(drawn(&lines))
        .chain(in_rows(&lines))
        .map(|(at, point)| {
            let family = if point.family.is_empty() { heading_above(&lines[..at]) } else { None };
            (at, Point { family: family.unwrap_or(point.family), ..point })
        })
        .collect();
    let (all, family) = of_family(all, wanted, &place)?;
    let (points, others) = first_run(&all);
    if points.is_empty() {
        return Err(place.whole("holds no percentiles, such as `99%  9.00ms`"));
    }
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(format!(
            "{others} percentiles of something else follow, and were passed over; give that part alone to read it"
        ));
    }
    let first = points.iter().map(|(line, _)| *line).min().unwrap_or(0);
    let of_text = lines.iter().find_map(|line| heading_unit(line)).or_else(|| name_above(&lines[..first]));
    let bare = points.iter().any(|(_, point)| point.number.unit.is_none());
    let (unit, unit_by) = match (wanted.unit, of_text, bare) {
        (Some(unit), _, _) => (Some(unit), "as you said"),
        (None, Some(unit), true) => (Some(unit), "says its heading"),
        (None, None, true) => {
            let middle = points[points.len() / 2].1.number.value();
            let (unit, by) = unit_of("", None, middle, &place)?;
            (Some(unit), by)
        }
        (None, _, false) => (None, ""),
    };
    let ps = |point: &Point| {
        let ps = point.number.ps(unit.unwrap_or_default()).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        ps.map(|ps| ps as u64)
    };
    let (mut known, mut stated) = (Vec::new(), Moments::default());
    for (_, point) in &points {
        let ps = ps(point).ok_or_else(|| place.whole("has a percentile of more than an hour"))?;
        known.extend(point.percentile().map(|percentile| (percentile, ps)));
    }
    for point in beside(&lines, &all, &points) {
        match (point.statistic, ps(point)) {
            (Statistic::Percentile(percentile), Some(ps)) => known.push((percentile, ps)),
            (moment, Some(ps)) => stated.set(moment, ps),
            (_, None) => {}
        }
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let taken = Taken {
        format: "a text with percentiles".to_owned(),
        column: family,
        unit,
        unit_by,
        ..Taken::default()
    };
    let classes = vec![Percentiles { class: "all".to_owned(), points: known, weight: 1.0, stated }];
    Ok(Read { taken, data: Data::Percentiles(classes), notes })
}

/// The first percentiles that rise, or fall, from line to line, at least two; and how many there are beside them: those of
/// fio's writes, of another phase, which are another statistic.
fn first_run(all: &[(usize, Point)]) -> (Vec<&(usize, Point)>, usize) {
    let percentiles: Vec<(f64, &(usize, Point))> =
        all.iter().filter_map(|one| Some((one.1.percentile()?, one))).collect();
    let run_at = |at: usize| {
        let rest = &percentiles[at..];
        let run = |follows: fn(f64, f64) -> bool| {
            rest.windows(2).take_while(|two| follows(two[0].0, two[1].0)).count()
        };
        1 + run(|a, b| a < b).max(run(|a, b| a > b))
    };
    let mut at = 0;
    while at < percentiles.len() {
        let mut run = run_at(at);
        // One that is stated above the others belongs to none of their runs: `90th percentile`, then `50th`, `90th`, `99th`.
        if run == 2 && at + 1 < percentiles.len() && run_at(at + 1) > 2 {
            at += 1;
            run = run_at(at);
        }
        if run >= 2 || at + 1 == percentiles.len() {
            return (
                percentiles[at..at + run].iter().map(|(_, one)| *one).collect(),
                percentiles.len() - run,
            );
        }
        at += run;
    }
    (Vec::new(), 0)
}

/// The statistics of the same times as these percentiles: the shortest, the longest, the mean and the deviation, by the lines next
/// to theirs, without a blank line between; or anywhere, if it has a unit and is said only once.
fn beside<'a>(lines: &[&str], all: &'a [(usize, Point)], points: &[&(usize, Point)]) -> Vec<&'a Point> {
    let at = |line: usize| lines[..line].iter().filter(|line| line.trim().is_empty()).count();
    let line_of = |index: usize| points.get(index).map_or(0, |(line, _)| *line);
    let (first, last) = (line_of(0), line_of(points.len() - 1));
    let (first, last) = (first.min(last), first.max(last));
    let paragraphs = at(first)..=at(last);
    let kinds =
        [Statistic::Percentile(0.0), Statistic::Percentile(100.0), Statistic::Mean, Statistic::Deviation];
    let of_kind = |kind: Statistic| {
        // One that the run has already, as `100%`.
        if points.iter().any(|(_, point)| point.statistic == kind) {
            return None;
        }
        let same = || all.iter().filter(move |(_, point)| point.statistic == kind);
        let near = same().filter(|(line, _)| paragraphs.contains(&at(*line)));
        let far = |line: usize| first.saturating_sub(line).max(line.saturating_sub(last));
        let nearest = near.min_by_key(|(line, _)| far(*line));
        let only = || same().next().filter(|(_, point)| same().count() == 1 && point.number.unit.is_some());
        nearest.or_else(only).map(|(_, point)| point)
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// The unit that a heading says: of ab, `Percentage of the requests served within a certain time (ms)`; of fio, `clat
/// percentiles (nsec):`; of sockperf, `====> avg-latency=7.102 (std-dev=1.2)`.
fn heading_unit(line: &str) -> Option<Unit> {
    // sockperf writes nothing but microseconds.
    if line.starts_with("sockperf:") && line.contains("avg-latency=") {
        return Some(Unit::Us);
    }
    let (_, rest) =
        line.split_once("served within a certain time").or_else(|| line.split_once("percentiles "))?;
    Unit::of_word(rest.trim_start().strip_prefix('(')?.split(')').next()?)
}

/// The unit that the name of a column says, alone in the line above its statistics, as pandas prints a description.
fn name_above(lines: &[&str]) -> Option<Unit> {
    let above = lines.iter().rev().take_while(|line| !line.trim().is_empty());
    let name = above.map(|line| line.trim()).find(|line| !line.contains(char::is_whitespace))?;
    unit_of_name(name)
}

/// Statistics, each with the line in which it stands, from 0 on.
type Points = Vec<(usize, Point)>;
