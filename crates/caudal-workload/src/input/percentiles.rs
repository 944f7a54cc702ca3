//! Percentiles alone: `p50 = 1.2 ms, p99 = 9 ms`, as many tools sum up what they measured.
//!
//! What is stated beside them, the mean and the standard deviation, is kept to where it can be.
//!
//! Two of them are those of one log-normal distribution. More are joined on the same scale: the logarithm of the time is a
//! polygon over the standard normal quantile, and goes on beyond the last one as steeply as before it. Nothing is known there,
//! which every output says.

use std::path::Path;

use crate::error::{Answer, Ask, AskKey, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::unit::{Said, Unit, words};
use crate::input::{Columns, Data, Place, Read, Taken, text};

/// Percentiles of one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Percentiles {
    pub(crate) class: String,
    /// Percentile, 0 to 100, and the time up to which so many requests take, in ps.
    pub(crate) points: Vec<(f64, u64)>,
    /// How much of the requests are of this class, in any measure.
    pub(crate) weight: f64,
    /// What else the file says of them.
    pub(crate) stated: Moments,
}

/// What may be stated beside percentiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean_ps: Option<f64>,
    /// The standard deviation.
    pub(crate) sd_ps: Option<f64>,
}

/// What sums up many times in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Statistic {
    /// 0 to 100.
    Percentile(f64),
    Mean,
    /// The standard deviation.
    Deviation,
}

impl Moments {
    /// Keeps what a statistic says; percentiles are kept elsewhere. 0 is what tools write that do not know.
    pub(crate) fn set(&mut self, statistic: Statistic, ps: u64) {
        let known = Some(ps as f64).filter(|ps| *ps > 0.0);
        match statistic {
            Statistic::Percentile(_) => {}
            Statistic::Mean => self.mean_ps = self.mean_ps.or(known),
            Statistic::Deviation => self.sd_ps = self.sd_ps.or(known),
        }
    }
}

impl Statistic {
    /// The one that a name is of: `p99.9`, `mean`, `Average Response Time`, `latency_stddev_us`.
    pub(crate) fn of(name: &str) -> Option<Statistic> {
        const MEAN: [&str; 3] = ["mean", "avg", "average"];
        const DEVIATION: [&str; 9] = [
            "std",
            "stddev",
            "stdev",
            "sd",
            "stdv",
            "deviation",
            "sigma",
            "standarddeviation",
            "stddeviation",
        ];
        const OTHERS: [&str; 13] = [
            "rt",
            "latency",
            "latencies",
            "lat",
            "response",
            "time",
            "times",
            "service",
            "duration",
            "dev",
            "standard",
            "of",
            "the",
        ];
        if let Some(percentile) = percentile_of(name) {
            return Some(Statistic::Percentile(percentile));
        }
        const MEDIAN: [&str; 2] = ["median", "med"];
        let words = words(name);
        let is = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let alone = words.iter().all(|word| {
            let word = word.as_str();
            [&MEAN[..], &DEVIATION, &MEDIAN, &OTHERS].iter().any(|known| known.contains(&word))
                || Unit::of_word(word).is_some()
        });
        match (is(&MEAN), is(&DEVIATION), is(&MEDIAN)) {
            _ if !alone => None,
            (true, false, false) => Some(Statistic::Mean),
            (false, true, false) => Some(Statistic::Deviation),
            (false, false, true) => Some(Statistic::Percentile(50.0)),
            _ => None,
        }
    }
}

/// The percentile, 0 to 100, that a name is of: `p99.9`, `99.9%`, `99th`, `p999`, `99thPercentileLatency(us)`, `median`,
/// `max`.
pub(crate) fn percentile_of(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let word = name.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty());
    match word.unwrap_or("") {
        "median" | "med" => return Some(50.0),
        "max" | "maximum" | "maxlatency" | "slowest" => return Some(100.0),
        "min" | "minimum" | "minlatency" | "fastest" => return Some(0.0),
        _ => {}
    }
    for (at, _) in name.match_indices(|letter: char| letter.is_ascii_digit()) {
        let before = name[..at].chars().next_back();
        // A part of a number: `p99_9`, but not `perc_99`.
        let goes_on = |rest: &str| rest.ends_with(|letter: char| letter.is_ascii_digit());
        let is_joint = before.is_some_and(|before| before == '.' || before == '_');
        if goes_on(&name[..at]) || is_joint && goes_on(&name[..at - 1]) || before == Some('.') {
            continue;
        }
        let digits = &name[at..];
        let is_part = |(index, letter): (usize, char)| {
            let next_is_digit =
                digits[index + letter.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
            letter.is_ascii_digit() || matches!(letter, '.' | '_' | ',') && next_is_digit
        };
        let end = digits.char_indices().find(|&part| !is_part(part)).map_or(digits.len(), |(index, _)| index);
        let rest = digits[end..].trim_start();
        // `p99`, and `p(99)` of k6.
        let bare = name[..at].strip_suffix('(').unwrap_or(&name[..at]);
        let behind_p = bare.strip_suffix('p').is_some_and(|rest| !rest.ends_with(char::is_alphabetic))
            || name[..at].trim_end_matches('_').ends_with("perc")
            || name[..at].ends_with("pct")
            || name[..at].trim_end().ends_with("percentile");
        let named = rest.starts_with('%')
            || rest.starts_with("pct")
            || ["th", "st", "nd", "rd"].iter().any(|end| rest.starts_with(end))
            || rest.starts_with("percentile");
        if !behind_p && !named {
            continue;
        }
        let number: f64 = digits[..end].replace(['_', ','], ".").parse().ok()?;
        // p999 is the 99.9th, and p995 the 99.5th.
        let is_beyond =
            end > 2 && digits.starts_with("99") && digits[..end].bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_beyond { number / 10f64.powi(end as i32 - 2) } else { number };
        return (0.0..=100.0).contains(&number).then_some(number);
    }
    None
}

/// Reads what a user writes: `p50 = 1.2 ms, p99 = 9 ms`, and `mean = 1.9 ms` beside it.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn parse_percentiles(text: &str) -> Option<Result<Vec<(Statistic, u64)>, String>> {
    let parts: Vec<&str> = text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let named = |part: &&str| {
        let (name, value) = part.split_once(['=', ':'])?;
        Some((Statistic::of(name)?, value.trim().to_owned()))
    };
    let points: Vec<(Statistic, String)> = parts.iter().map(named).collect::<Option<_>>()?;
    let point = |(statistic, value): (Statistic, String)| {
        let wrong = || format!("`{value}` is no time; write it with its unit, as in p99 = 9 ms");
        let number = Number::parse(value.as_bytes(), Style::POINT).map_err(|_| wrong())?;
        number.unit.ok_or_else(wrong)?;
        let ps = number.ps(Unit::Ns).and_then(|ps| u64::try_from(ps).ok()).ok_or_else(wrong)?;
        Ok((statistic, ps))
    };
    (!points.is_empty()).then(|| points.into_iter().map(point).collect())
}

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

/// What a line says: one statistic, or as many as fio (`|  1.00th=[   20],  5.00th=[   20],`) and vegeta (`Latencies  [min,
/// mean, 50]  1ms, 2ms, 1.5ms`) put there.
fn points(line: &str) -> Vec<Point> {
    if line.contains("th=[") {
        let parts = line.trim().trim_start_matches('|').split("],");
        let part = |part: &str| {
            let (name, value) = part.split_once("=[")?;
            Point::new(name, Statistic::of(name)?, value.trim_end_matches(']').trim())
        };
        return parts.filter_map(part).collect();
    }
    if let Some(points) =
        listed(line).or_else(|| of_fio(line)).or_else(|| of_k6(line)).or_else(|| assigned(line))
    {
        return points;
    }
    if let Some(points) = named_in_turn(line).or_else(|| named_behind(line)) {
        return points;
    }
    point(line).or_else(|| labelled(line)).into_iter().collect()
}

/// Statistics with their names in front, one behind the other: `READ   - Takes(s): 10.0, Avg(us): 1034, 50th(us): 812, 99th(us): 5223` of
/// go-ycsb, `[I] Latency: min = 1.96 ms, median = 1.97 ms, percentile(99%) = 2.00 ms` of trtexec, `--- Latency: mean: 3.757 ms - med: 2.900 -
/// 99pct: 8.700` of Pulsar. What stands before the first is the family.
fn named_in_turn(line: &str) -> Option<Vec<Point>> {
    let is_label = line.matches(" - ").count() == 1;
    let (family, rest) = line.split_once(" - ").filter(|_| is_label).unwrap_or(("", line));
    [",", " - "].into_iter().find_map(|separator| {
        let mut family = family.trim();
        let mut points: Vec<Point> = Vec::new();
        for part in rest.split(separator) {
            let Some((name, value)) = part.rsplit_once(['=', ':']) else { continue };
            // `… [I] Latency: min = …`
            let (before, name) = name.rsplit_once(": ").unwrap_or(("", name));
            if !before.is_empty() {
                let label = before.rsplit(['-', ']']).next().unwrap_or(before).trim();
                family = if label.len() < 30 { label } else { family };
            }
            let point = Statistic::of(name)
                .and_then(|statistic| Point::new(name, statistic, value)?.of_name(family, name));
            points.extend(point);
        }
        // Only the first has the unit, which is that of all.
        let unit = points.iter().find_map(|point| point.number.unit);
        let bare = points.iter_mut().filter(|point| point.number.unit.is_none());
        bare.for_each(|point| point.number = unit.map_or(point.number, |unit| point.number.in_unit(unit)));
        (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
    })
}

/// `2.43 ms avg latency, 331.00 ms max latency, 1 ms 50th, 6 ms 95th, 27 ms 99th`, as Kafka's tools sum up
fn named_behind(line: &str) -> Option<Vec<Point>> {
    let point = |part: &str| {
        let mut words = part.split_whitespace();
        let value = format!("{} {}", words.next()?, words.next()?);
        let name = words.collect::<Vec<_>>().join(" ");
        let name = name.trim_end_matches('.');
        Point::new(name, Statistic::of(name)?, &value).filter(|point| point.number.unit.is_some())
    };
    let points: Vec<Point> = line.split(',').filter_map(point).collect();
    (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
}

/// `P99 E2EL (ms):    11012.80` of vLLM, `99.00 percentile latency (ns)   : 21934431` of MLPerf: a label with its unit, of which the
/// words that name no statistic are the family.
fn labelled(line: &str) -> Option<Point> {
    let (name, value) = line.trim().split_once(':')?;
    let unit = name.trim_end().strip_suffix(')')?.rsplit_once('(')?.1;
    Unit::of_word(unit)?;
    let known = |word: &&str| {
        let word = word.to_lowercase();
        let is_digit = word.starts_with(|letter: char| letter.is_ascii_digit());
        is_digit || ["percentile", "latency"].contains(&word.as_str()) || Statistic::of(&word).is_some()
    };
    let words: Vec<&str> = name.split('(').next()?.split_whitespace().collect();
    let family = words.iter().filter(|word| !known(word)).copied().collect::<Vec<_>>().join(" ");
    let rest = words.iter().filter(|word| known(word)).copied().collect::<Vec<_>>().join(" ");
    let statistic = Statistic::of(&rest).filter(|_| words.len() <= 5)?;
    Point::new(&rest, statistic, value)?.of_name(&family, name)
}

/// Percentiles in a row below their names: `P50 P99` of plow, netperf's `-o`, RDMA's perftest; and in rows of several columns, as nodetool has
/// them. Where the names are the first line, the text is a table and read as that.
fn in_rows(lines: &[&str]) -> Vec<(usize, Point)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().skip_while(|(_, line)| is_comment(line)).skip(1) {
        // nodetool leaves one blank between names that are as long as their column.
        let line = line.replace("Latency ", "Latency  ");
        let names: Vec<&str> =
            cells_of(&line).into_iter().map(|name| name.strip_prefix("t_").unwrap_or(name)).collect();
        let below = lines.iter().enumerate().skip(at + 1).take_while(|(_, line)| !line.trim().is_empty());
        if names.first().is_some_and(|name| *name == "Percentile") && names.len() >= 2 {
            found.extend(of_columns(&names[1..], below.collect()));
            continue;
        }
        let statistics: Vec<_> =
            names.iter().map(|name| Statistic::of(&name.replace("typical", "median"))).collect();
        let is_inner = |(name, statistic): (&&str, &Option<Statistic>)| {
            matches!(statistic, Some(Statistic::Percentile(_))) && name.contains(|l: char| l.is_ascii_digit())
        };
        // A row of values is none of names, though shares stand in it.
        let is_value = |name: &str| Number::parse(name.as_bytes(), Style::POINT).is_ok();
        let has_values = names.iter().any(|name| name.contains(['=', ':']) || is_value(name));
        if has_values || names.iter().zip(&statistics).filter(|&pair| is_inner(pair)).count() < 2 {
            continue;
        }
        let has_several = below.clone().count() > 1;
        for (row, line) in below {
            let values: Vec<&str> = match line.contains(',') {
                true => line.split(',').map(str::trim).collect(),
                false => line.split_whitespace().collect(),
            };
            // What has no name stands in front, such as a size.
            let Some(extra) = values.len().checked_sub(names.len()).filter(|extra| *extra <= 2) else {
                break;
            };
            // Rows below each other are runs, each with its name in front.
            let is_run = extra > 0 || has_several && statistics[0].is_none();
            let family = if is_run { values[0] } else { "" };
            let of = |(name, (statistic, value)): (&&str, (&Option<Statistic>, &&str))| {
                Some((row, Point::new(name, (*statistic)?, value)?.of_name(family, name)?))
            };
            let points: Vec<_> =
                names.iter().zip(statistics.iter().zip(&values[extra..])).filter_map(of).collect();
            if points.is_empty() {
                break;
            }
            found.extend(points);
        }
    }
    found
}

/// Is this line blank, or a comment above a table?
fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#') && !line.contains("percentile")
}

/// Rows such as `99%   36365.00   740.60`, and `Max`, below the names of what was measured; perhaps with units below these.
fn of_columns(names: &[&str], rows: Vec<(usize, &&str)>) -> Vec<(usize, Point)> {
    let mut found = Vec::new();
    let mut unit = None;
    for (row, line) in rows {
        let words: Vec<&str> = line.split_whitespace().collect();
        let said = words.iter().find_map(|word| Unit::of_word(word.strip_prefix('(')?.strip_suffix(')')?));
        unit = unit.or(said);
        let Some((statistic, values)) =
            words.split_first().and_then(|(name, values)| Some((Statistic::of(name)?, values)))
        else {
            continue;
        };
        if values.len() != names.len() {
            continue;
        }
        for (family, value) in names.iter().zip(values) {
            let point = Point::new(words[0], statistic, value).map(|point| Point {
                family: (*family).to_owned(),
                number: unit.map_or(point.number, |unit| point.number.in_unit(unit)),
                ..point
            });
            found.extend(point.map(|point| (row, point)));
        }
    }
    // A column of zeros was not measured.
    let is_measured = |family: &str| {
        found.iter().any(|(_, point): &(usize, Point)| point.family == family && !point.number.is_zero())
    };
    // Beside latencies stand sizes and counts.
    let is_time = |name: &str| name.contains("Latency");
    let has_times = names.iter().any(|name| is_time(name));
    let is_wanted = |name: &&&str| is_measured(name) && (is_time(name) || !has_times);
    let measured: Vec<String> = names.iter().filter(is_wanted).map(|name| (*name).to_owned()).collect();
    found.retain(|(_, point)| measured.contains(&point.family));
    found
}

/// The cells of a row: between commas, else between at least two blanks or tabs; single words where there are no others.
fn cells_of(line: &str) -> Vec<&str> {
    if line.contains(',') {
        return line.split(',').map(str::trim).collect();
    }
    line.split("  ")
        .flat_map(|part| part.split('\t'))
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

/// Of several families the one that is meant.
///
/// # Errors
/// The question, where nobody has said it.
fn of_family(
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
                    super::shorten(column),
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
                        Some(ps) => crate::show::time(ps as f64),
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

/// `Latencies     [min, mean, 50, 90, 99, max]  1.2ms, 3.1ms, 2.9ms, 4ms, 9.1ms, 12ms`
fn listed(line: &str) -> Option<Vec<Point>> {
    let (names, values) = line.split_once('[')?.1.split_once(']')?;
    let (names, values): (Vec<&str>, Vec<&str>) = (names.split(',').collect(), values.split(',').collect());
    if names.len() != values.len() || names.len() < 2 {
        return None;
    }
    let statistic = |name: &str| match name.trim().parse::<f64>() {
        Ok(percentile) => {
            Some(Statistic::Percentile(percentile)).filter(|_| (0.0..=100.0).contains(&percentile))
        }
        Err(_) => Statistic::of(name),
    };
    let point = |(name, value): (&&str, &&str)| Point::new(name, statistic(name)?, value);
    let points: Vec<Point> = names.iter().zip(&values).filter_map(point).collect();
    (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
}

/// `clat (usec): min=1, max=211, avg= 4.31, stdev= 2.16`
fn of_fio(line: &str) -> Option<Vec<Point>> {
    let (unit, values) = line.trim().strip_prefix("clat (")?.split_once("):")?;
    let unit = Unit::of_word(unit)?;
    let point = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let point = Point::new(name, Statistic::of(name)?, value)?;
        Some(Point { number: point.number.in_unit(unit), ..point })
    };
    Some(values.split(',').filter_map(point).collect())
}

/// `min=1, max=8018`: nothing but statistics
fn assigned(line: &str) -> Option<Vec<Point>> {
    let point = |part: &str| {
        let (name, value) = part.trim().split_once('=')?;
        Point::new(name, Statistic::of(name)?, value)
    };
    let points: Vec<Point> = line.split(',').map(point).collect::<Option<_>>()?;
    (points.len() > 1).then_some(points)
}

/// The part of a text that begins with a line such as `Request Latencies percentiles (usec) runtime 30 (s)`.
struct Section<'a> {
    name: String,
    /// Of its times, if it is of times.
    unit: Option<Unit>,
    text: &'a str,
}

/// The parts of a text that have names of their own.
fn sections(text: &str) -> Vec<Section<'_>> {
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

/// Which of them is meant.
///
/// # Errors
/// The question, if there are several of times.
fn section(
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
                Some(format!("p{percentile} = {}", crate::show::time(ps as f64)))
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

/// `http_req_duration..............: avg=2.1ms min=1ms med=2ms max=9ms p(90)=3ms p(95)=4ms`; the other lines of k6's report
/// are of parts of requests.
fn of_k6(line: &str) -> Option<Vec<Point>> {
    let (name, values) = line.trim().split_once(": ")?;
    if !name.trim_end_matches(['.', ' ']).ends_with("_req_duration") {
        return None;
    }
    let point = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Point::new(name, Statistic::of(name)?, value)
    };
    Some(values.split_whitespace().filter_map(point).collect())
}

fn is_memtier(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words == ["Type", "<=", "msec", "Percent"]
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
            let (unit, by) = super::buckets::unit_of("", None, middle, &place)?;
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

/// The name of a test that redis-benchmark prints above its percentiles: `====== SET ======`.
fn heading_above(lines: &[&str]) -> Option<String> {
    const MARK: &str = "======";
    let name = |line: &&&str| Some(line.trim().strip_suffix(MARK)?.rsplit_once(MARK)?.1.trim().to_owned());
    lines.iter().rev().find_map(|line| name(&line)).filter(|name| !name.is_empty() && !name.contains('='))
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

/// What is said of the same times as these percentiles: the shortest, the longest, the mean and the deviation, by the lines next
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

/// Averages that tools state in places of their own: wrk and bombardier (`Thread Stats   Avg      Stdev     Max`), sockperf, and ab (`Time per request:
/// 1.204 [ms] (mean)`).
fn averages(lines: &[&str]) -> Vec<(usize, Point)> {
    let mut found = Vec::new();
    let mut is_table = false;
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Thread", "Stats", "Avg", "Stdev", "Max", ..] | ["Statistics", "Avg", "Stdev", "Max"] => {
                is_table = true;
            }
            ["Latency", mean, sd, max] | ["Latency", mean, sd, max, _] if is_table => {
                let of = |statistic, value| Some((at, Point::new("", statistic, value)?));
                found.extend(of(Statistic::Mean, mean));
                found.extend(of(Statistic::Deviation, sd));
                found.extend(of(Statistic::Percentile(100.0), max));
            }
            ["Time", "per", "request:", mean, unit, "(mean)"] => {
                let value = format!("{mean} {}", unit.trim_matches(['[', ']']));
                found.extend(Point::new("", Statistic::Mean, &value).map(|point| (at, point)));
            }
            _ => {}
        }
        // `sockperf: ====> avg-latency=11.852 (std-dev=128.502)`
        if let Some((_, rest)) = line.split_once("avg-latency=")
            && let Some((mean, sd)) = rest.split_once(" (std-dev=")
        {
            found.extend(Point::new("", Statistic::Mean, mean).map(|point| (at, point)));
            let sd = sd.split(')').next().unwrap_or_default();
            found.extend(Point::new("", Statistic::Deviation, sd).map(|point| (at, point)));
        }
    }
    found
}

/// The row of latencies in a table that is drawn, as autocannon's is: `│ Latency │ 14 ms │ 223 ms │` below `│ Stat │ 2.5% │ 50% │`.
fn drawn(lines: &[&str]) -> Vec<(usize, Point)> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_matches('│');
        inner.split('│').map(|cell| cell.trim().to_owned()).collect()
    };
    let heading = lines.iter().position(|line| line.contains('│') && cells(line)[0] == "Stat");
    let Some(heading) = heading else { return Vec::new() };
    let names = cells(lines[heading]);
    let row = lines[heading..].iter().position(|line| line.contains('│') && cells(line)[0] == "Latency");
    let Some(row) = row.map(|row| row + heading) else { return Vec::new() };
    let values = cells(lines[row]);
    let point =
        |(name, value): (&String, &String)| Some((row, Point::new(name, Statistic::of(name)?, value)?));
    names.iter().zip(&values).filter_map(point).collect()
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

/// A statistic in a line.
#[derive(Debug)]
struct Point {
    statistic: Statistic,
    /// Is it a percentile by its name, rather than the end of all times?
    is_inner: bool,
    number: Number,
    /// What it is of, where a text has percentiles of several things.
    family: String,
}

impl Point {
    fn new(name: &str, statistic: Statistic, value: &str) -> Option<Point> {
        let number = Number::parse(value.trim().as_bytes(), Style::POINT).ok()?;
        let is_end = matches!(statistic, Statistic::Percentile(0.0 | 100.0))
            && !name.contains(|l: char| l.is_ascii_digit());
        Some(Point { statistic, is_inner: !is_end, number, family: String::new() })
    }

    /// Of this family, in the unit that its name says.
    fn of_name(self, family: &str, name: &str) -> Option<Point> {
        let number = match (self.number.unit, unit_of_name(name)) {
            (None, Some(unit)) => self.number.in_unit(unit),
            _ => self.number,
        };
        Some(Point { number, family: family.trim().to_owned(), ..self })
    }

    /// Which percentile it is: neither a mean nor the shortest or longest time.
    fn percentile(&self) -> Option<f64> {
        match self.statistic {
            Statistic::Percentile(percentile) if self.is_inner => Some(percentile),
            _ => None,
        }
    }
}

/// `  99%    9.00ms`, ` 99.000%  126.00us`, `p99: 9.0 ms`, `99th percentile: 12.3`, `100%   12 (longest request)`, `99% in 0.0120
/// secs`, `Average: 1.2 ms`, `sockperf: ---> percentile 99.900 =   12.345`
fn point(line: &str) -> Option<Point> {
    // schbench marks the percentile that matters by a star.
    let line = line
        .trim()
        .trim_start_matches("* ")
        .trim_start_matches("sockperf:")
        .trim()
        .trim_start_matches("--->")
        .trim();
    let line = line.split(" (").next()?;
    let cut = line.find(['=', ':']).or_else(|| line.find('%')).or_else(|| line.find(char::is_whitespace))?;
    let (name, value) = line.split_at(cut + line[cut..].chars().next().map_or(0, char::len_utf8));
    let name = name.trim_end_matches(['=', ':']).trim();
    // Names are short; sentences that mention a percentile are none.
    let statistic = Statistic::of(name).filter(|_| name.split_whitespace().count() <= 3)?;
    let value = value.trim().trim_start_matches(['=', ':', '<']).trim();
    let value = value.strip_prefix("in ").unwrap_or(value);
    // `60.5 [WRITE:60.5]` of cassandra-stress
    let value = value.split(" [").next().unwrap_or(value);
    // `50% in 0.0123 secs.` of etcd's benchmark
    let value = value.strip_suffix('.').filter(|rest| rest.ends_with(char::is_alphabetic)).unwrap_or(value);
    Point::new(name, statistic, value)
}

/// memtier's cumulative percents, a class an operation: `SET       0.100        10.000`.
fn memtier(lines: &[&str], heading: usize, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut classes: Vec<Percentiles> = Vec::new();
    for line in &lines[heading + 1..] {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [class, value, percent] = fields[..] else { continue };
        let (Ok(number), Ok(percent)) =
            (Number::parse(value.as_bytes(), Style::POINT), percent.parse::<f64>())
        else {
            continue;
        };
        let ps = number.ps(Unit::Ms).and_then(|ps| u64::try_from(ps).ok());
        let Some(ps) = ps.filter(|_| (0.0..=100.0).contains(&percent)) else { continue };
        if !classes.iter().any(|known| known.class == class) {
            let weight = of_operation(lines, class, "Ops/sec").unwrap_or(1.0);
            let mean_ps = of_operation(lines, class, "Avg. Latency").map(|ms| ms * Unit::Ms.ps() as f64);
            let stated = Moments { mean_ps, sd_ps: None };
            classes.push(Percentiles { class: class.to_owned(), points: Vec::new(), weight, stated });
        }
        let known = classes.iter_mut().find(|known| known.class == class).expect("it was added");
        known.points.push((percent, ps));
    }
    classes.retain(|class| class.points.len() > 1 && class.class != "WAIT");
    if classes.is_empty() {
        return Err(place.whole("holds no rows below `Type <= msec Percent`"));
    }
    let taken = Taken {
        format: "memtier's latency distribution".to_owned(),
        class_column: Some("Type".to_owned()),
        unit: Some(Unit::Ms),
        unit_by: "says its heading",
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Percentiles(classes), notes: Vec::new() })
}

/// What memtier's table says of a class: `Sets   5000.00 …` below `Type   Ops/sec   …   Avg. Latency`.
fn of_operation(lines: &[&str], class: &str, column: &str) -> Option<f64> {
    let heading = lines.iter().find(|line| line.starts_with("Type") && line.contains("Ops/sec"))?;
    let mut names = heading.split("  ").map(str::trim).filter(|name| !name.is_empty());
    let at = names.position(|name| name == column)?;
    let row = lines.iter().find(|line| {
        let first = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        first.trim_end_matches('s') == class.to_lowercase() && line.split_whitespace().count() > 4
    })?;
    row.split_whitespace().nth(at)?.parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite())
}

/// The unit that the name of a percentile says, if it says one.
pub(super) fn unit_of_name(name: &str) -> Option<Unit> {
    match Unit::of_name(name) {
        Said::Unit(unit) => Some(unit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_many_names() {
        for (name, percentile) in [
            ("p50", 50.0),
            ("p99.9", 99.9),
            ("P99", 99.0),
            ("p999", 99.9),
            ("p99_9", 99.9),
            ("perc_99.0", 99.0),
            ("publishLatency99pct", 99.0),
            ("p50_latency_ms", 50.0),
            ("99.9%", 99.9),
            (" 99.000%", 99.0),
            ("99thPercentileLatency(us)", 99.0),
            ("95th percentile", 95.0),
            ("median", 50.0),
            ("max", 100.0),
            ("MaxLatency(us)", 100.0),
            ("100%", 100.0),
        ] {
            assert_eq!(percentile_of(name), Some(percentile), "{name}");
        }
        for name in ["service", "latency_us", "p", "http2", "step99", "2026", "requests"] {
            assert_eq!(percentile_of(name), None, "{name}");
        }
    }

    #[test]
    fn moments_have_many_names() {
        for name in
            ["mean", "Average Response Time", "avg", "latency_mean_us", "Average(ms)", "averageLatency"]
        {
            assert_eq!(Statistic::of(name), Some(Statistic::Mean), "{name}");
        }
        for name in ["std", "stddev", "Std Dev", "latency stdev", "stdDev_ms", "standard deviation"] {
            assert_eq!(Statistic::of(name), Some(Statistic::Deviation), "{name}");
        }
        for name in ["mean bytes", "Average Content Size", "count", "total", "avg_rps", "p", "means"] {
            assert_eq!(Statistic::of(name), None, "{name}");
        }
        assert_eq!(percentile_of("p(95)"), Some(95.0));
    }

    #[test]
    fn users_write_percentiles_with_units() {
        let points = parse_percentiles("p50 = 1.2 ms, p99 = 9ms").unwrap().unwrap();
        let percentile = Statistic::Percentile;
        assert_eq!(points, [(percentile(50.0), 1_200_000_000), (percentile(99.0), 9_000_000_000)]);
        let points = parse_percentiles("p50 = 1.2 ms, mean = 2ms, sd = 1 ms").unwrap().unwrap();
        assert_eq!(points[1..], [(Statistic::Mean, 2_000_000_000), (Statistic::Deviation, 1_000_000_000)]);
        assert!(parse_percentiles("p50 = 1.2, p99 = 9ms").unwrap().unwrap_err().contains("with its unit"));
        assert!(parse_percentiles("exp-1us").is_none());
        assert!(parse_percentiles("a=b.csv").is_none());
    }

    #[test]
    fn tools_print_percentiles_in_their_ways() {
        let of = |line: &str| point(line).and_then(|point| Some((point.percentile()?, point.number.value())));
        assert_eq!(of("     99%    9.00ms"), Some((99.0, 9.0)));
        assert_eq!(of(" 50.000%   19.00us"), Some((50.0, 19.0)));
        assert_eq!(of(" 100%     12 (longest request)"), Some((100.0, 12.0)));
        assert_eq!(of("p99.9: 12.5 ms"), Some((99.9, 12.5)));
        assert_eq!(of("  99% in 0.0021 secs"), Some((99.0, 21.0 * 1e-4)));
        assert_eq!(of("sockperf: ---> percentile 99.900 =   12.345"), Some((99.9, 12.345)));
        assert_eq!(of("sockperf: ---> <MAX> observation =  190.105"), None, "an end, no percentile");
        assert_eq!(listed("Latencies  [mean, 50, 99, max]  2ms, 1ms, 9ms, 1m2.5s").unwrap().len(), 4);
        assert!(listed("Bytes In  [total, mean]  1200, 6.00").is_none());
        assert_eq!(of("99% of requests were served"), None);
        assert_eq!(of("Requests/sec: 1200"), None);
        assert_eq!(of("p99\u{a0}12 ms"), Some((99.0, 12.0)), "a blank of two bytes");
    }
}
