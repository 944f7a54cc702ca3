//! The statistics of a report that stand in rows below their names, in drawn tables, or as averages in a line of their own. The reader of
//! reports calls these functions once for a whole text, before it goes through the lines. Pure.

use super::lines::Point;
use crate::input::number::{Number, Style};
use crate::input::percentiles::Statistic;
use crate::input::unit::Unit;

/// Percentiles in a row below their names, as plow (`P50 P99`), netperf with `-o` and RDMA's perftest print them, and in rows of several columns,
/// as nodetool prints them. If the names are the first line of the text, it is a table, and another file reads it.
pub(super) fn in_rows(lines: &[&str]) -> Vec<(usize, Point)> {
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
        // A row of values is no row of names, even if there are shares in it.
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
            // Values without a name, such as a size, stand in front.
            let Some(extra) = values.len().checked_sub(names.len()).filter(|extra| *extra <= 2) else {
                break;
            };
            // Several rows below each other are several runs, each with its name in front.
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

/// Whether the line is blank, or a comment above a table.
fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#') && !line.contains("percentile")
}

/// Rows such as `99%   36365.00   740.60`, and `Max`, below the names of the measured quantities, perhaps with a row of units between them.
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
    // A column with only zeros was not measured.
    let is_measured = |family: &str| {
        found.iter().any(|(_, point): &(usize, Point)| point.family == family && !point.number.is_zero())
    };
    // Other columns have sizes and counts.
    let is_time = |name: &str| name.contains("Latency");
    let has_times = names.iter().any(|name| is_time(name));
    let is_wanted = |name: &&&str| is_measured(name) && (is_time(name) || !has_times);
    let measured: Vec<String> = names.iter().filter(is_wanted).map(|name| (*name).to_owned()).collect();
    found.retain(|(_, point)| measured.contains(&point.family));
    found
}

/// The cells of a row: split at commas if there are any, else at two or more blanks or at tabs if there are any, else at each blank.
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

/// The row of latencies in a drawn table such as autocannon's: `│ Latency │ 14 ms │ 223 ms │` below `│ Stat │ 2.5% │ 50% │`.
pub(super) fn drawn(lines: &[&str]) -> Vec<(usize, Point)> {
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

/// Averages that tools print apart from percentiles: wrk and bombardier (`Thread Stats   Avg      Stdev     Max`), sockperf, and ab (`Time per
/// request: 1.204 [ms] (mean)`).
pub(super) fn averages(lines: &[&str]) -> Vec<(usize, Point)> {
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
