//! Interval logs of HdrHistogram: each line is `[Tag=name,]start,length,max,histogram`. The recogniser of formats calls [`holds_intervals`] for each
//! text that may be one, and [`read_log`] for the texts that are. Pure.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;

use super::decode::{Decoded, decode};
use crate::LONGEST_PS;
use crate::error::{RowProblem, WorkloadError};
use crate::input::Bucket;
use crate::input::plausible::Plausible;
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Histogram, Number, Place, Read, Taken, number::Style, text};

/// Is this a log? It is if one of the first lines ends in an encoded histogram, all of which begin with the same letters, or is the header of
/// such logs.
pub(in crate::input) fn holds_intervals<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(200).any(|line| {
        let last = line.rsplit(|&byte| byte == b',').next().unwrap_or_default();
        last.starts_with(b"HIST")
            || last.starts_with(b"DHIS")
            || line.starts_with(b"#[Histogram log format version")
            || line.starts_with(b"\"StartTimestamp\"")
    })
}

/// The beginning of a tag whose values are latencies, as `caudal load` writes it. A latency includes waiting, and so is no service time to plan
/// with: such logs are refused.
pub const LATENCY_TAG: &str = "latency:";

/// The values of one tag: the lowest and the highest equivalent value, as the bits of the numbers so that they are sorted, with the count.
type Tag = BTreeMap<(u64, u64), u64>;

/// Reads an interval log: all intervals of a tag together are one class; those without a tag are `all`.
pub(in crate::input) fn read_log(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let mut tags: Vec<(String, Tag)> = Vec::new();
    let mut intervals = 0;
    let (mut notes, mut is_double) = (Vec::new(), false);
    let mut lines = bytes.split(|&byte| byte == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let (line, number) = (line.trim_ascii(), index as u64 + 1);
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"\"StartTimestamp\"") {
            continue;
        }
        let is_last = lines.peek().is_none() && !bytes.ends_with(b"\n");
        match interval(line) {
            Ok((tag, decoded)) => {
                intervals += 1;
                is_double |= decoded.is_double;
                if !tags.iter().any(|(known, _)| *known == tag) {
                    tags.push((tag.clone(), Tag::new()));
                }
                let (_, sum) = tags.iter_mut().find(|(known, _)| *known == tag).expect("it was added");
                for (low, high, count) in decoded.counts {
                    *sum.entry((low.to_bits(), high.to_bits())).or_default() += count;
                }
            }
            Err(_) if is_last && intervals > 0 => {
                notes.push(format!(
                    "line {number}, the last one, is cut off, and was left out; was the writer still at work?"
                ));
            }
            Err(problem) => return Err(place.row(number, 1, RowProblem::Format(problem))),
        }
    }
    let read = Log { tags, intervals, is_double };
    read.finish(wanted, &place, notes)
}

/// The tag and the histogram in a line.
fn interval(line: &[u8]) -> Result<(String, Decoded), String> {
    const NO_INTERVAL: &str =
        "this is no line of an HdrHistogram log; lines are `[Tag=name,]start,length,max,histogram`";
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    let (tag, fields) = match fields.split_first() {
        Some((first, rest)) if first.starts_with(b"Tag=") => (text(&first[4..]), rest),
        _ => ("all".to_owned(), &fields[..]),
    };
    let [start, length, max, encoded] = fields else { return Err(NO_INTERVAL.to_owned()) };
    if [start, length, max].iter().any(|field| Number::parse(field, Style::POINT).is_err()) {
        return Err(NO_INTERVAL.to_owned());
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded);
    let bytes = bytes.map_err(|error| format!("the histogram cannot be read: it is no base64 ({error})"))?;
    let decoded = decode(&bytes).map_err(|problem| format!("the histogram cannot be read: {problem}"))?;
    Ok((tag, decoded))
}

struct Log {
    tags: Vec<(String, Tag)>,
    intervals: u64,
    is_double: bool,
}

impl Log {
    fn finish(self, wanted: &Columns, place: &Place<'_>, notes: Vec<String>) -> Result<Read, WorkloadError> {
        let Log { mut tags, intervals, is_double } = self;
        tags.retain(|(_, counts)| !counts.is_empty());
        if tags.is_empty() {
            return Err(place.whole("holds no recorded values"));
        }
        if let Some((name, _)) = tags.iter().find(|(name, _)| name.starts_with(LATENCY_TAG)) {
            return Err(place.whole(format!(
                "holds latencies (tag `{name}`), from the intended send time to the answer: these have the waiting and the network in \
                 them, and are no service times; service times come from the service itself: `caudal top NAME --hlog FILE` writes \
                 those of a runtime, `caudal record` those of functions of a running program"
            )));
        }
        if let Some((name, _)) = tags.iter().find(|(name, _)| !crate::input::is_class_name(name)) {
            return Err(place.whole(format!("the tag {name:?} cannot name a class; use 1 to 64 characters")));
        }
        if tags.len() > 256 {
            return Err(place.whole(format!("has {} tags; at most 256 classes are possible", tags.len())));
        }
        if let Some(column) = &wanted.column {
            return Err(place.whole(format!("a histogram has no columns; drop `column = \"{column}\"`")));
        }
        let (unit, unit_by) = unit(&tags, is_double, wanted, place)?;
        let histograms = tags.iter().map(|(name, counts)| histogram(name, counts, unit, place));
        let histograms = histograms.collect::<Result<Vec<Histogram>, WorkloadError>>()?;
        let values = tags.iter().flat_map(|(_, counts)| counts.values()).sum();
        let doubles = if is_double { " of doubles" } else { "" };
        let s = if intervals == 1 { "" } else { "s" };
        let taken = Taken {
            format: format!("an HdrHistogram log{doubles} of {intervals} interval{s}"),
            class_column: (tags.len() > 1).then(|| "Tag".to_owned()),
            unit: Some(unit),
            unit_by,
            values,
            ..Taken::default()
        };
        Ok(Read { taken, data: Data::Histograms(histograms), notes })
    }
}

/// The unit of the values: integers are taken for nanoseconds, as is usual, if that is plausible.
fn unit(
    tags: &[(String, Tag)],
    is_double: bool,
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<(Unit, &'static str), WorkloadError> {
    if let Some(unit) = wanted.unit {
        return Ok((unit, "as you said"));
    }
    let (mut sum, mut count, mut first) = (0.0, 0u64, Vec::new());
    for (&(low, high), &times) in tags.iter().flat_map(|(_, counts)| counts) {
        let middle = f64::from_bits(low) / 2.0 + f64::from_bits(high) / 2.0;
        sum += middle * times as f64;
        count += times;
        if first.len() < 3 {
            first.push(format!("{middle:.3}").trim_end_matches('0').trim_end_matches('.').to_owned());
        }
    }
    Plausible::of_histogram(sum, count, is_double, first).check(place)?;
    Ok((Unit::Ns, "by custom of such logs"))
}

fn histogram(name: &str, counts: &Tag, unit: Unit, place: &Place<'_>) -> Result<Histogram, WorkloadError> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (&(low, high), &count) in counts {
        let in_ps = |value: u64| {
            let ps = (f64::from_bits(value) * unit.ps() as f64).round();
            let value = f64::from_bits(value);
            let problem = || place.whole(RowProblem::TooLong(format!("{value} {}", unit.name())).to_string());
            if ps <= LONGEST_PS as f64 { Ok(ps as u64) } else { Err(problem()) }
        };
        // A recorded 0 is "less than one unit": the shortest time there is.
        let (low_ps, high_ps) = (in_ps(low)?.max(1), in_ps(high)?.max(1));
        match buckets.last_mut() {
            // Histograms with other precisions have other buckets, which may overlap: a bucket that begins within another is added to that one.
            Some(last) if low_ps <= last.high_ps => {
                last.high_ps = last.high_ps.max(high_ps);
                last.count += count;
            }
            _ => buckets.push(Bucket { low_ps, high_ps: high_ps.max(low_ps), count }),
        }
    }
    let edges = buckets.iter().map(|bucket| (bucket.low_ps, bucket.high_ps)).collect();
    Ok(Histogram { class: name.to_owned(), buckets, edges, sum_ps: None })
}
