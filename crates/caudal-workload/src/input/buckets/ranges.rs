//! Buckets as lines of text: of bpftrace, of bcc's tools, of sysbench, of db_bench, of anything that writes `320ns..384ns => 1`.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.

use std::path::Path;

use super::{Bins, Edges, which_one};
use crate::LONGEST_PS;
use crate::error::{RowProblem, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::plausible::unit_of;
use crate::input::unit::{Said, Unit};
use crate::input::{Columns, Data, Place, Read, Taken, shorten};

/// The bounds in a line, and how many values there are within them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    /// The lower bound of the bucket, which belongs to it.
    low: Number,
    /// The upper bound, which does not belong to it; none if there is no end.
    high: Option<Number>,
    count: u64,
}

/// How a tool prints its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Bpftrace,
    Bcc,
    Sysbench,
    /// The `db_bench` of RocksDB and LevelDB.
    DbBench,
    Plain,
}

impl Dialect {
    const ALL: [Dialect; 5] =
        [Dialect::Bpftrace, Dialect::Bcc, Dialect::Sysbench, Dialect::DbBench, Dialect::Plain];

    fn name(self) -> &'static str {
        match self {
            Dialect::Bpftrace => "a histogram of bpftrace",
            Dialect::Bcc => "a histogram of bcc's tools",
            Dialect::Sysbench => "a histogram of sysbench",
            Dialect::DbBench => "a histogram of db_bench",
            Dialect::Plain => "a histogram with ranges",
        }
    }

    /// The bucket in a line.
    fn bounds(self, line: &str) -> Option<Bounds> {
        match self {
            Dialect::Bpftrace => bpftrace(line),
            Dialect::Bcc => bcc(line),
            Dialect::Sysbench => sysbench(line),
            Dialect::DbBench => db_bench(line),
            Dialect::Plain => plain(line),
        }
    }

    /// The histogram that begins in a line, and its class.
    fn begins(self, line: &str) -> Option<(String, Option<String>)> {
        let line = line.trim();
        match self {
            Dialect::Bpftrace => {
                let name = line.strip_prefix('@')?.strip_suffix(':')?;
                let (name, key) = match name.split_once('[') {
                    Some((name, key)) => (name, Some(key.trim_end_matches(']').to_owned())),
                    None => (name, None),
                };
                Some((format!("@{name}"), key))
            }
            Dialect::Bcc => {
                let (name, rest) = line.split_once(':')?;
                let header = rest.contains("count") && rest.contains("distribution");
                header.then(|| (name.trim().trim_matches(['(', ')']).to_owned(), None))
            }
            Dialect::Sysbench => {
                let unit = line.strip_prefix("Latency histogram (values are in ")?.strip_suffix(')')?;
                Some((unit.to_owned(), None))
            }
            Dialect::DbBench => {
                let name = line.strip_suffix(':')?;
                let (unit, _) = name.split_once(" per ")?;
                Unit::of_word(unit).is_some().then(|| (name.to_owned(), None))
            }
            Dialect::Plain => None,
        }
    }
}

/// Is this a text with buckets?
pub(in crate::input) fn holds_ranges<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    dialect(lines.map(crate::input::text)).is_some()
}

/// The dialect in which most lines are buckets: at least two, or one below its heading.
fn dialect(lines: impl Iterator<Item = String>) -> Option<Dialect> {
    let lines: Vec<String> = lines.take(400).collect();
    Dialect::ALL.into_iter().find(|dialect| {
        let buckets = lines.iter().filter(|line| dialect.bounds(line).is_some()).count();
        let headed = lines.iter().any(|line| dialect.begins(line).is_some());
        let rest = lines.iter().filter(|line| !line.trim().is_empty()).count() - buckets;
        match dialect {
            Dialect::Plain => buckets >= 2 && buckets > rest,
            // Somebody may have cut out the rows.
            Dialect::DbBench => headed && buckets >= 1 || buckets >= 3 && buckets > rest,
            _ => headed && buckets >= 1,
        }
    })
}

/// A histogram of a file, in whatever unit.
struct Found {
    name: String,
    class: String,
    buckets: Vec<(u64, Bounds)>,
    /// The mean that is stated beside it, in its unit.
    mean: Option<f64>,
    longest: Option<Number>,
}

impl Found {
    fn new(name: String, class: String) -> Found {
        Found { name, class, buckets: Vec::new(), mean: None, longest: None }
    }

    fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, bounds)| bounds.count).sum()
    }

    /// Takes what a line says beside the buckets: `Count: 50000 Average: 6.7881  StdDev: 191.78`, `Min: 0  Median: 1.66  Max: 16094`.
    fn state(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let behind = |name: &str| {
            words.iter().position(|word| *word == name).and_then(|at| number(words.get(at + 1)?))
        };
        self.mean = behind("Average:").map(|mean| mean.value()).or(self.mean);
        self.longest = behind("Max:").or(self.longest);
    }

    /// Ends the last bucket where the longest time says.
    fn cut(&mut self) {
        let Some(longest) = self.longest.map(Number::next) else { return };
        if let Some((_, Bounds { low, high: Some(high), .. })) = self.buckets.last_mut()
            && (low.value()..high.value()).contains(&longest.value())
        {
            *high = longest;
        }
    }
}

/// Reads a text for which [`holds_ranges`].
pub(in crate::input) fn read_ranges(
    bytes: &[u8],
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = crate::input::text(bytes);
    let dialect = dialect(text.lines().map(str::to_owned))
        .ok_or_else(|| place.whole("holds no buckets, such as `[2, 4)  71`"))?;
    let found = all(&text, dialect);
    let found = chosen(found, wanted, &place)?;
    let (unit, by) = unit(&found, wanted, &place)?;
    let mut bins = Bins::default();
    for histogram in &found {
        for &(line, bounds) in &histogram.buckets {
            add(&mut bins, &histogram.class, bounds, unit).map_err(|problem| place.row(line, 1, problem))?;
        }
        if let Some(mean) = histogram.mean {
            let unit_ps = unit.unwrap_or_default().ps() as f64;
            bins.set_sum(&histogram.class, mean * unit_ps * histogram.count() as f64);
        }
    }
    let mut notes = Vec::new();
    let values = bins.count();
    let several = found.iter().any(|histogram| histogram.name != found[0].name);
    let taken = Taken {
        format: dialect.name().to_owned(),
        column: Some(found[0].name.clone()).filter(|name| !name.is_empty() && !several),
        unit,
        unit_by: by,
        values,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Histograms(bins.finish(&place, &mut notes)?), notes })
}

/// All histograms of a text.
fn all(text: &str, dialect: Dialect) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    // What a line such as `disk = sda` says of the histogram below it.
    let mut key: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if let Some((name, class)) = dialect.begins(line) {
            let class = class.or_else(|| key.take()).unwrap_or_else(|| "all".to_owned());
            found.push(Found::new(name, class));
        } else if let Some(bounds) = dialect.bounds(line) {
            if found.is_empty() {
                found.push(Found::new(String::new(), "all".to_owned()));
            }
            found.last_mut().expect("there is one").buckets.push((index as u64 + 1, bounds));
        } else if let Some((_, value)) = line.split_once(" = ") {
            key = Some(value.trim().trim_matches(['\'', '"']).to_owned());
        } else if dialect == Dialect::DbBench {
            // `readrandom   :       6.471 micros/op 154506 ops/sec …` stands above its histogram.
            if let Some((name, _)) = line.split_once(" :").filter(|(_, rest)| rest.contains(" micros/op ")) {
                key = Some(name.trim().to_owned());
            } else if let Some(last) = found.last_mut() {
                last.state(line);
            }
        }
    }
    found.iter_mut().for_each(Found::cut);
    found.retain(|histogram| !histogram.buckets.is_empty());
    found
}

/// The histograms that are meant: those of one name, each of a class.
fn chosen(mut found: Vec<Found>, wanted: &Columns, place: &Place<'_>) -> Result<Vec<Found>, WorkloadError> {
    let mut names: Vec<(String, u64)> = Vec::new();
    for histogram in &found {
        match names.iter_mut().find(|(name, _)| *name == histogram.name) {
            Some((_, sum)) => *sum += histogram.count(),
            None => names.push((histogram.name.clone(), histogram.count())),
        }
    }
    if let Some(column) = &wanted.column {
        let bare = |name: &str| name.trim_start_matches('@').to_owned();
        found.retain(|histogram| bare(&histogram.name) == bare(column));
        if found.is_empty() {
            let there: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            let there = there.join(", ");
            return Err(
                place.whole(format!("there is no histogram `{}`; there are {there}", shorten(column)))
            );
        }
    } else if names.len() > 1 {
        let timed: Vec<&str> = names
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| matches!(Unit::of_name(name), Said::Unit(_)))
            .collect();
        let [only] = timed[..] else { return Err(which_one(place, &names)) };
        let only = only.to_owned();
        found.retain(|histogram| histogram.name == only);
    }
    // The same one printed again and again: a tool that was asked for an interval.
    let mut seen: Vec<String> = Vec::new();
    for histogram in &found {
        if seen.contains(&histogram.class) {
            return Ok(merged(found));
        }
        seen.push(histogram.class.clone());
    }
    Ok(found)
}

/// Histograms of the same class as one: those of each interval.
fn merged(found: Vec<Found>) -> Vec<Found> {
    let mut sum: Vec<Found> = Vec::new();
    for histogram in found {
        let Some(same) = sum.iter_mut().find(|other| other.class == histogram.class) else {
            sum.push(histogram);
            continue;
        };
        // That of the parts.
        let counts = (same.count() as f64, histogram.count() as f64);
        same.mean = same
            .mean
            .zip(histogram.mean)
            .map(|(mean, other)| (mean * counts.0 + other * counts.1) / (counts.0 + counts.1).max(1.0));
        for (line, bounds) in histogram.buckets {
            match same
                .buckets
                .iter_mut()
                .find(|(_, other)| (other.low, other.high) == (bounds.low, bounds.high))
            {
                Some((_, other)) => other.count += bounds.count,
                None => same.buckets.push((line, bounds)),
            }
        }
    }
    sum
}

/// The unit of bounds that have none of their own.
fn unit(
    found: &[Found],
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<(Option<Unit>, &'static str), WorkloadError> {
    let bounds = || found.iter().flat_map(|histogram| &histogram.buckets).map(|(_, bounds)| bounds);
    let bare = |bounds: &Bounds| bounds.low.value() > 0.0 && bounds.low.unit.is_none();
    if !bounds().any(bare) {
        return Ok((None, ""));
    }
    let count: f64 = bounds().map(|bounds| bounds.count as f64).sum();
    let middle = |bounds: &Bounds| match bounds.high {
        Some(high) => (bounds.low.value() + high.value()) / 2.0,
        None => bounds.low.value(),
    };
    let mean = bounds().map(|bounds| bounds.count as f64 * middle(bounds)).sum::<f64>() / count.max(1.0);
    let (unit, by) = unit_of(&found[0].name, wanted.unit, mean, place)?;
    Ok((Some(unit), by))
}

/// Adds a bucket whose bounds are in `unit`, or in units of their own.
fn add(bins: &mut Bins, class: &str, bounds: Bounds, unit: Option<Unit>) -> Result<(), RowProblem> {
    let ps = |number: Number| {
        let ps = number.ps(unit.unwrap_or_default()).filter(|&ps| ps <= u128::from(LONGEST_PS));
        ps.map(|ps| ps as u64).ok_or_else(|| RowProblem::TooLong(number.value().to_string()))
    };
    let high_ps = bounds.high.map(ps).transpose()?;
    bins.add(class, Edges { low_ps: ps(bounds.low)?, high_ps }, bounds.count)
}

fn number(text: &str) -> Option<Number> {
    Number::parse(text.trim().as_bytes(), Style::POINT).ok()
}

/// A whole number with bpftrace's suffixes, of which each is 1024 of the one before.
fn with_suffix(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024u64.checked_pow(power)?)
}

fn whole(value: u64) -> Number {
    Number::whole(value)
}

/// `[2, 4)   71 |@@@|`, `[1]   13 |@|`, `[1K, ...)   2 |  |`
fn bpftrace(line: &str) -> Option<Bounds> {
    let line = line.trim();
    let inner = line.strip_prefix('[')?;
    let end = inner.find([')', ']'])?;
    let (range, rest) = (&inner[..end], &inner[end + 1..]);
    let closed = inner.as_bytes()[end] == b']';
    let count = rest.split('|').next()?.trim().parse().ok()?;
    let (low, high) = range.split_once(',').unwrap_or((range, range));
    let low = with_suffix(low)?;
    let high = match high.trim() {
        "..." => None,
        // Whole units: up to the next one.
        high => Some(with_suffix(high)? + u64::from(closed)),
    };
    Some(Bounds { low: whole(low), high: high.map(whole), count })
}

/// `     2 -> 3          : 71       |**     |`
fn bcc(line: &str) -> Option<Bounds> {
    let (low, rest) = line.split_once("->")?;
    let (high, rest) = rest.split_once(':')?;
    let count = rest.split('|').next()?.trim().parse().ok()?;
    let (low, high): (u64, u64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    Some(Bounds { low: whole(low), high: Some(whole(high.checked_add(1)?)), count })
}

/// `       0.047 |***            27`: a bucket of some 2 % around the value
fn sysbench(line: &str) -> Option<Bounds> {
    let (value, rest) = line.split_once('|')?;
    let count = rest.trim().trim_start_matches('*').trim().parse().ok()?;
    let value = number(value)?;
    Some(Bounds { low: value, high: Some(value.next()), count })
}

/// `[   1,    2 )  20466  40.932%  63.956% ####` of LevelDB, `(   1,    2 ]  20466 …` of RocksDB
fn db_bench(line: &str) -> Option<Bounds> {
    let (range, rest) = line.trim().strip_prefix(['[', '('])?.split_once([']', ')'])?;
    let (low, high) = range.split_once(',')?;
    let mut words = rest.split_whitespace();
    let count = words.next()?.parse().ok()?;
    words.next().filter(|share| share.ends_with('%'))?;
    let bare = |text: &str| number(text).filter(|number| number.unit.is_none());
    Some(Bounds { low: bare(low)?, high: Some(bare(high)?), count })
}

/// `[1ms,    5ms]    5    2.50%   ###` of vegeta: bounds with their units
fn bracketed(line: &str) -> Option<Bounds> {
    let (range, rest) = line.trim().strip_prefix('[')?.split_once([']', ')'])?;
    let (low, high) = range.split_once(',')?;
    let with_unit = |text: &str| number(text).filter(|number| number.unit.is_some());
    let high = match high.trim() {
        "+Inf" => None,
        high => Some(with_unit(high)?),
    };
    let count = rest.split_whitespace().next()?.parse().ok()?;
    Some(Bounds { low: with_unit(low)?, high, count })
}

/// `320ns..384ns => 1`, `10 us - 20 us: 5`
fn plain(line: &str) -> Option<Bounds> {
    if let Some(bounds) = bracketed(line) {
        return Some(bounds);
    }
    let (range, count) = ["=>", ":", "="].iter().find_map(|mark| line.rsplit_once(mark))?;
    let count = count.trim().parse().ok()?;
    let (low, high) = ["..=", "..", " - ", " to ", "–"].iter().find_map(|mark| range.split_once(mark))?;
    let low = if low.trim().is_empty() { whole(0) } else { number(low)? };
    let high = if high.trim().is_empty() { None } else { Some(number(high)?) };
    Some(Bounds { low, high, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bounds: Option<Bounds>) -> Option<(f64, Option<f64>, u64)> {
        bounds.map(|bounds| (bounds.low.value(), bounds.high.map(|high| high.value()), bounds.count))
    }

    #[test]
    fn every_tool_writes_its_bounds_in_another_way() {
        assert_eq!(parts(bpftrace("[2, 4)                71 |@@@   |")), Some((2.0, Some(4.0), 71)));
        assert_eq!(parts(bpftrace("[0, 1]                 2 |      |")), Some((0.0, Some(2.0), 2)));
        assert_eq!(parts(bpftrace("[1]                    2 |      |")), Some((1.0, Some(2.0), 2)));
        assert_eq!(parts(bpftrace("[1K, 2K)               2 |      |")), Some((1024.0, Some(2048.0), 2)));
        assert_eq!(parts(bpftrace("[1000, ...)            2 |      |")), Some((1000.0, None, 2)));
        assert_eq!(parts(bcc("         2 -> 3          : 71       |**   |")), Some((2.0, Some(4.0), 71)));
        assert_eq!(parts(plain("320ns..384ns => 1")), Some((320.0, Some(384.0), 1)));
        assert_eq!(parts(plain("  10 us - 20 us: 5")), Some((10.0, Some(20.0), 5)));
        assert_eq!(parts(plain("[1ms,    5ms]    5    2.50%   #")), Some((1.0, Some(5.0), 5)));
        assert_eq!(parts(plain("[100ms,  +Inf]   0    0.00%   ")), Some((100.0, None, 0)));
        assert_eq!(
            parts(db_bench("(       1,       2 ]    25974  25.974%  25.974% #")),
            Some((1.0, Some(2.0), 25974))
        );
        assert_eq!(parts(db_bench("[INFO, 5) 3 requests")), None);
        assert_eq!(parts(plain("[INFO, 5ms] 3 requests")), None);
        assert_eq!(parts(plain("12:30:05 some text")), None);
    }
}
