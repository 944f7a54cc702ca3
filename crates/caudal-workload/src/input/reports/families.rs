//! The choice among several things that a report has percentiles of: parts with headings, and names in front of statistics. The reader of
//! reports asks once; the answer is what the user's column says, or a question to the user. Pure.

use super::Points;
use super::lines::points;
use crate::error::{Answer, Ask, AskKey, WorkloadError};
use crate::input::unit::Unit;
use crate::input::{Columns, Place, shorten};

/// Of several families the one that is meant.
///
/// # Errors
/// The question, where nobody has said it.
pub(super) fn of_family(
    mut all: Points,
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<(Points, Option<String>), WorkloadError> {
    let mut families: Vec<String> = Vec::new();
    for (_, point) in all.iter().filter(|(_, point)| point.percentile().is_some()) {
        if !point.family.is_empty() && !families.contains(&point.family) {
            families.push(point.family.clone());
        }
    }
    let chosen = match (&wanted.column, families.as_slice()) {
        (_, []) => return Ok((all, None)),
        (None, [only]) => only.clone(),
        (Some(column), _) => {
            let same = |family: &&String| family.eq_ignore_ascii_case(column);
            families.iter().find(same).cloned().ok_or_else(|| {
                let there: Vec<String> = families.iter().map(|family| format!("`{family}`")).collect();
                place.whole(format!(
                    "has no percentiles of `{}`; there are {}",
                    shorten(column),
                    there.join(", ")
                ))
            })?
        }
        (None, _) => {
            let answer = |family: &String| {
                let last =
                    all.iter().filter(|(_, point)| point.family == *family && point.percentile().is_some());
                let means = last.max_by(|a, b| {
                    a.1.percentile().unwrap_or(0.0).total_cmp(&b.1.percentile().unwrap_or(0.0))
                });
                let means = means.map_or(String::new(), |(_, point)| {
                    let value = match point.number.unit.and(point.number.ps(Unit::Ns)) {
                        Some(ps) => crate::format::time(ps as f64),
                        None => point.number.value().to_string(),
                    };
                    format!("p{} {value}", point.percentile().unwrap_or(0.0))
                });
                Answer { key: AskKey::Column, value: family.clone(), means }
            };
            return Err(WorkloadError::Ask(Box::new(Ask {
                path: place.0.to_owned(),
                problem: "has percentiles of several things".to_owned(),
                key: AskKey::Column,
                answers: families.iter().map(answer).collect(),
            })));
        }
    };
    all.retain(|(_, point)| point.family == chosen);
    // What is said again and again is said of the whole run in the end.
    let again = |at: usize| all[at + 1..].iter().any(|(_, later)| later.statistic == all[at].1.statistic);
    let keep: Vec<bool> = (0..all.len()).map(|at| !again(at)).collect();
    let mut keep = keep.into_iter();
    all.retain(|_| keep.next().unwrap_or(true));
    Ok((all, Some(chosen)))
}

/// The part of a text that begins with a line such as `Request Latencies percentiles (usec) runtime 30 (s)`.
pub(super) struct Section<'a> {
    pub(super) name: String,
    /// Of its times, if it is of times.
    pub(super) unit: Option<Unit>,
    pub(super) text: &'a str,
}

/// The parts of a text that have names of their own.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let heading = |line: &str| {
        let (name, unit) = line.trim().split_once(" percentiles (")?;
        Some((name.to_owned(), Unit::of_word(unit.split(')').next()?)))
    };
    let mut begins = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        begins.extend(heading(line).map(|(name, unit)| (at, name, unit)));
        at += line.len();
    }
    let ends: Vec<usize> = begins.iter().skip(1).map(|(at, ..)| *at).chain([text.len()]).collect();
    let section = |((at, name, unit), end): ((usize, String, Option<Unit>), usize)| Section {
        name,
        unit,
        text: &text[at..end],
    };
    let sections: Vec<Section<'_>> = begins.into_iter().zip(ends).map(section).collect();
    let differ = sections.windows(2).any(|two| two[0].name != two[1].name);
    if differ { sections } else { Vec::new() }
}

/// The index of the section that is meant.
///
/// # Errors
/// The question, if there are several of times.
pub(super) fn section(
    mut sections: Vec<Section<'_>>,
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<usize, WorkloadError> {
    let of_times: Vec<usize> = (0..sections.len()).filter(|&at| sections[at].unit.is_some()).collect();
    if let Some(column) = &wanted.column {
        let called = |at: &&usize| sections[**at].name.eq_ignore_ascii_case(column);
        return of_times.iter().find(called).copied().ok_or_else(|| {
            let names: Vec<String> = of_times.iter().map(|&at| format!("`{}`", sections[at].name)).collect();
            place.whole(format!("has no part called `{column}` with times; there is {}", names.join(", ")))
        });
    }
    if let [only] = of_times[..] {
        return Ok(only);
    }
    let shown = |part: &mut Section<'_>| {
        let points: Vec<String> = part
            .text
            .lines()
            .flat_map(points)
            .filter_map(|point| {
                let percentile = point.percentile()?;
                let ps = point.number.ps(part.unit?)?;
                Some(format!("p{percentile} = {}", crate::format::time(ps as f64)))
            })
            .take(3)
            .collect();
        points.join(", ")
    };
    let answers = of_times.iter().map(|&at| Answer {
        key: AskKey::Column,
        value: sections[at].name.clone(),
        means: shown(&mut sections[at]),
    });
    let answers = answers.collect();
    Err(WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: format!("has percentiles of {} kinds of times", of_times.len()),
        key: AskKey::Column,
        answers,
    })))
}

/// The name of a test that redis-benchmark prints above its percentiles: `====== SET ======`.
pub(super) fn heading_above(lines: &[&str]) -> Option<String> {
    const MARK: &str = "======";
    let name = |line: &&&str| Some(line.trim().strip_suffix(MARK)?.rsplit_once(MARK)?.1.trim().to_owned());
    lines.iter().rev().find_map(|line| name(&line)).filter(|name| !name.is_empty() && !name.contains('='))
}
