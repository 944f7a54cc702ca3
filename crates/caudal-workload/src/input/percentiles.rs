//! Percentiles alone: `p50 = 1.2 ms, p99 = 9 ms`, as many tools sum up what they measured.
//!
//! Two of them are those of one log-normal distribution. More are joined on the same scale: the logarithm of the time is a
//! polygon over the standard normal quantile, and goes on beyond the last one as steeply as before it. Nothing is known there,
//! which every output says.

use std::path::Path;

use crate::error::WorkloadError;
use crate::input::number::{Number, Style};
use crate::input::unit::{Said, Unit};
use crate::input::{Columns, Data, Place, Read, Taken, text};

/// Percentiles of one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Percentiles {
    pub(crate) class: String,
    /// Percentile, 0 to 100, and the time up to which so many requests take, in ps.
    pub(crate) points: Vec<(f64, u64)>,
    /// How much of the requests are of this class, in any measure.
    pub(crate) weight: f64,
}

/// The percentile, 0 to 100, that a name is of: `p99.9`, `99.9%`, `99th`, `p999`, `99thPercentileLatency(us)`, `median`,
/// `max`.
pub(crate) fn percentile_of(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let word = name.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty());
    match word.unwrap_or("") {
        "median" => return Some(50.0),
        "max" | "maximum" | "maxlatency" => return Some(100.0),
        "min" | "minimum" | "minlatency" => return Some(0.0),
        _ => {}
    }
    for (at, _) in name.match_indices(|letter: char| letter.is_ascii_digit()) {
        let before = name[..at].chars().next_back();
        if before.is_some_and(|before| before.is_ascii_digit() || before == '.' || before == '_') {
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
        let behind_p = before == Some('p')
            && !name[..at - 1].chars().next_back().is_some_and(char::is_alphabetic)
            || name[..at].ends_with("perc")
            || name[..at].ends_with("pct")
            || name[..at].ends_with("percentile");
        let named = rest.starts_with('%')
            || ["th", "st", "nd", "rd"].iter().any(|end| rest.starts_with(end))
            || rest.starts_with("percentile");
        if !behind_p && !named {
            continue;
        }
        let number: f64 = digits[..end].replace(['_', ','], ".").parse().ok()?;
        // p999 is the 99.9th.
        let all_nines = digits[..end].len() > 2 && digits[..end].bytes().all(|byte| byte == b'9');
        let number = if all_nines { number / 10f64.powi(end as i32 - 2) } else { number };
        return (0.0..=100.0).contains(&number).then_some(number);
    }
    None
}

/// Reads what a user writes: `p50 = 1.2 ms, p99 = 9 ms`.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn parse_percentiles(text: &str) -> Option<Result<Vec<(f64, u64)>, String>> {
    let parts: Vec<&str> = text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let named = |part: &&str| {
        let (name, value) = part.split_once(['=', ':'])?;
        Some((percentile_of(name)?, value.trim().to_owned()))
    };
    let points: Vec<(f64, String)> = parts.iter().map(named).collect::<Option<_>>()?;
    let point = |(percentile, value): (f64, String)| {
        let wrong = || format!("`{value}` is no time; write it with its unit, as in p99 = 9 ms");
        let number = Number::parse(value.as_bytes(), Style::POINT).map_err(|_| wrong())?;
        number.unit.ok_or_else(wrong)?;
        let ps = number.ps(Unit::Ns).and_then(|ps| u64::try_from(ps).ok()).ok_or_else(wrong)?;
        Ok((percentile, ps))
    };
    (!points.is_empty()).then(|| points.into_iter().map(point).collect())
}

/// Is this a text that sums up latencies by percentiles? Of wrk, ab, memtier and their like.
pub(super) fn holds_percentiles<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let text: Vec<String> = lines.take(400).map(text).collect();
    text.iter().any(|line| is_memtier(line)) || text.iter().map(|line| points(line).len()).sum::<usize>() >= 2
}

/// All percentiles of a line: one, or as many as fio puts there (`|  1.00th=[   20],  5.00th=[   20],`).
fn points(line: &str) -> Vec<Point> {
    if !line.contains("th=[") {
        return point(line).into_iter().collect();
    }
    let parts = line.trim().trim_start_matches('|').split("],");
    let part = |part: &str| {
        let (name, value) = part.split_once("=[")?;
        let number = Number::parse(value.trim_end_matches(']').trim().as_bytes(), Style::POINT).ok()?;
        Some(Point { percentile: percentile_of(name)?, number })
    };
    parts.filter_map(part).collect()
}

fn is_memtier(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words == ["Type", "<=", "msec", "Percent"]
}

/// Reads a text for which [`holds_percentiles`].
pub(super) fn read_percentiles(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    let lines: Vec<&str> = text.lines().collect();
    if let Some(heading) = lines.iter().position(|line| is_memtier(line)) {
        return memtier(&lines, heading, &place);
    }
    // The first run of percentiles that rise; a second one, such as that of fio's writes, is another statistic.
    let all: Vec<Point> = lines.iter().flat_map(|line| points(line)).collect();
    let rising = all.windows(2).take_while(|two| two[0].percentile < two[1].percentile).count() + 1;
    let (points, others) = all.split_at(rising.min(all.len()));
    if points.is_empty() {
        return Err(place.whole("holds no percentiles, such as `99%  9.00ms`"));
    }
    let mut notes = Vec::new();
    if !others.is_empty() {
        notes.push(format!(
            "{} percentiles of something else follow, and were passed over; give that part alone to read it",
            others.len()
        ));
    }
    let of_text = lines.iter().find_map(|line| heading_unit(line));
    let bare = points.iter().any(|point| point.number.unit.is_none());
    let (unit, unit_by) = match (wanted.unit, of_text, bare) {
        (Some(unit), _, _) => (Some(unit), "as you said"),
        (None, Some(unit), true) => (Some(unit), "says its heading"),
        (None, None, true) => {
            let middle = points[points.len() / 2].number.value();
            let (unit, by) = super::buckets::unit_of("percentiles", None, middle, &place)?;
            (Some(unit), by)
        }
        (None, _, false) => (None, ""),
    };
    let at = |point: &Point| {
        let ps = point.number.ps(unit.unwrap_or_default()).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        ps.map(|ps| (point.percentile, ps as u64))
            .ok_or_else(|| place.whole("has a percentile of more than an hour"))
    };
    let points = points.iter().map(at).collect::<Result<Vec<_>, _>>()?;
    let taken = Taken {
        format: "a text with percentiles".to_owned(),
        unit,
        unit_by,
        values: points.len() as u64,
        ..Taken::default()
    };
    let classes = vec![Percentiles { class: "all".to_owned(), points, weight: 1.0 }];
    Ok(Read { taken, data: Data::Percentiles(classes), notes })
}

/// The unit that a heading says: of ab, `Percentage of the requests served within a certain time (ms)`; of fio, `clat
/// percentiles (nsec):`.
fn heading_unit(line: &str) -> Option<Unit> {
    let is_heading = line.contains("served within a certain time") || line.contains("percentiles (");
    let (_, unit) = line.rsplit_once('(').filter(|_| is_heading)?;
    Unit::of_word(unit.split(')').next()?)
}

/// A percentile in a line.
struct Point {
    percentile: f64,
    number: Number,
}

/// `  99%    9.00ms`, ` 99.000%  126.00us`, `p99: 9.0 ms`, `99th percentile: 12.3`, `100%   12 (longest request)`
fn point(line: &str) -> Option<Point> {
    let line = line.trim().split(" (").next()?;
    let cut = line.find(['=', ':']).or_else(|| line.find('%')).or_else(|| line.find(char::is_whitespace))?;
    let (name, value) = line.split_at(cut + line[cut..].chars().next().map_or(0, char::len_utf8));
    let name = name.trim_end_matches(['=', ':']).trim();
    // Names are short; sentences that mention a percentile are none.
    let percentile = percentile_of(name).filter(|_| name.split_whitespace().count() <= 3)?;
    let value = value.trim().trim_start_matches(['=', ':', '<']).trim();
    let number = Number::parse(value.as_bytes(), Style::POINT).ok()?;
    let is_percentile = name.chars().any(|letter| letter.is_ascii_digit()) || number.unit.is_some();
    is_percentile.then_some(Point { percentile, number })
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
            let weight = rate(lines, class).unwrap_or(1.0);
            classes.push(Percentiles { class: class.to_owned(), points: Vec::new(), weight });
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
        values: classes.iter().map(|class| class.points.len() as u64).sum(),
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Percentiles(classes), notes: Vec::new() })
}

/// Operations a second of a class in memtier's table: `Sets   5000.00 …`.
fn rate(lines: &[&str], class: &str) -> Option<f64> {
    let row = lines.iter().find(|line| {
        let first = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        first.trim_end_matches('s') == class.to_lowercase() && line.split_whitespace().count() > 4
    })?;
    row.split_whitespace().nth(1)?.parse().ok().filter(|rate: &f64| *rate > 0.0)
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
    fn users_write_percentiles_with_units() {
        let points = parse_percentiles("p50 = 1.2 ms, p99 = 9ms").unwrap().unwrap();
        assert_eq!(points, [(50.0, 1_200_000_000), (99.0, 9_000_000_000)]);
        assert!(parse_percentiles("p50 = 1.2, p99 = 9ms").unwrap().unwrap_err().contains("with its unit"));
        assert!(parse_percentiles("exp-1us").is_none());
        assert!(parse_percentiles("a=b.csv").is_none());
    }

    #[test]
    fn tools_print_percentiles_in_their_ways() {
        let of = |line: &str| point(line).map(|point| (point.percentile, point.number.value()));
        assert_eq!(of("     99%    9.00ms"), Some((99.0, 9.0)));
        assert_eq!(of(" 50.000%   19.00us"), Some((50.0, 19.0)));
        assert_eq!(of(" 100%     12 (longest request)"), Some((100.0, 12.0)));
        assert_eq!(of("p99.9: 12.5 ms"), Some((99.9, 12.5)));
        assert_eq!(of("99% of requests were served"), None);
        assert_eq!(of("Requests/sec: 1200"), None);
        assert_eq!(of("p99\u{a0}12 ms"), Some((99.0, 12.0)), "a blank of two bytes");
    }
}
