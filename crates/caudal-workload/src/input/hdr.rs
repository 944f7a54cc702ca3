//! HdrHistogram files: interval logs (`.hlog`) and percentile listings (`.hgrm`).

use std::path::Path;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::{Histograms, Place, Unit, parse_time};
use crate::LONGEST_PS;
use crate::error::{RowProblem, WorkloadError};
use crate::service::Bucket;

/// Reads an interval log: all intervals of a tag together are one class; those without a tag are `all`.
pub(crate) fn read_hlog(bytes: &[u8], path: &Path, unit: Unit) -> Result<Histograms, WorkloadError> {
    let place = Place(path);
    // The parser wants the last line ended.
    let mut text = bytes.to_vec();
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    let mut classes: Vec<(String, Histogram<u64>)> = Vec::new();
    let mut decoder = Deserializer::new();
    // Java's writer has a legend line that this parser does not know.
    let text = without_legend(text);
    for entry in IntervalLogIterator::new(&text) {
        let entry = entry.map_err(|error| {
            let hdrhistogram::serialization::interval_log::LogIteratorError::ParseError { offset } = error;
            place.row(line_at(&text, offset), 1, RowProblem::Format(NO_INTERVAL.into()))
        })?;
        let LogEntry::Interval(interval) = entry else { continue };
        let encoded = interval.encoded_histogram();
        let offset = encoded.as_ptr() as usize - text.as_ptr() as usize;
        let line = line_at(&text, offset);
        let bad = |why: String| {
            place.row(line, 1, RowProblem::Format(format!("the histogram cannot be read: {why}")))
        };
        let raw =
            base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|e| bad(e.to_string()))?;
        let histogram: Histogram<u64> = decoder.deserialize(&mut &raw[..]).map_err(|e| bad(e.to_string()))?;
        let name = interval.tag().map_or_else(|| "all".to_owned(), |tag| tag.as_str().to_owned());
        match classes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => sum.add(&histogram).map_err(|e| bad(e.to_string()))?,
            None => classes.push((name, widened(&histogram))),
        }
    }
    classes.retain(|(_, histogram)| !histogram.is_empty());
    if classes.is_empty() {
        return Err(place.whole("holds no recorded values"));
    }
    let classes = classes
        .into_iter()
        .map(|(name, histogram)| Ok((name, buckets(&histogram, unit, &place)?)))
        .collect::<Result<_, WorkloadError>>()?;
    Ok(Histograms { classes, notes: Vec::new() })
}

const NO_INTERVAL: &str =
    "this is no line of an HdrHistogram log; lines are `[Tag=name,]start,length,max,histogram`";

/// Blanks the legend of Java's log writer (`"StartTimestamp","Interval_Length",…`), keeping offsets.
fn without_legend(mut text: Vec<u8>) -> Vec<u8> {
    let mut start = 0;
    while start < text.len() {
        let end = text[start..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| start + at);
        if text[start..end].starts_with(b"\"StartTimestamp\"") {
            text[start] = b'#';
        }
        start = end + 1;
    }
    text
}

/// The line, from 1, of the byte at `offset`.
fn line_at(text: &[u8], offset: usize) -> u64 {
    text[..offset.min(text.len())].iter().filter(|&&b| b == b'\n').count() as u64 + 1
}

/// A copy that may grow when intervals with larger values are added.
fn widened(histogram: &Histogram<u64>) -> Histogram<u64> {
    let mut sum = histogram.clone();
    sum.auto(true);
    sum
}

fn buckets(histogram: &Histogram<u64>, unit: Unit, place: &Place<'_>) -> Result<Vec<Bucket>, WorkloadError> {
    let in_ps = |value: u64| {
        let ps = value.checked_mul(unit.ps()).filter(|&ps| ps <= LONGEST_PS);
        ps.ok_or_else(|| place.whole(RowProblem::TooLong(format!("{value} {}", unit.name())).to_string()))
    };
    let mut buckets = Vec::new();
    for step in histogram.iter_recorded() {
        let value = step.value_iterated_to();
        // A recorded 0 is "less than one unit": the shortest time there is.
        let low_ps = in_ps(histogram.lowest_equivalent(value))?.max(1);
        let high_ps = in_ps(histogram.highest_equivalent(value))?.max(1);
        buckets.push(Bucket { low_ps, high_ps, count: step.count_at_value() });
    }
    Ok(buckets)
}

/// Reads a percentile listing: `Value Percentile TotalCount 1/(1-Percentile)`.
///
/// A row is the first value up to which there are enough for its percentile. What its count has beyond that are values
/// like it; the others, between this row and the one before, are taken as spread evenly, or as like it where those are
/// fewer: then values repeat. So the mean is near the file's own, which is compared.
pub(crate) fn read_hgrm(bytes: &[u8], path: &Path, unit: Unit) -> Result<Histograms, WorkloadError> {
    let place = Place(path);
    let text = String::from_utf8_lossy(bytes);
    let mut levels: Vec<Level> = Vec::new();
    let (mut counted, mut mean) = (0u64, None);
    for (index, line) in text.lines().enumerate() {
        let number = index as u64 + 1;
        if let Some(footer) = line.trim().strip_prefix('#') {
            mean = mean.or_else(|| footer_mean(footer));
            continue;
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() || fields[0] == "Value" {
            continue;
        }
        let column = line.len() - line.trim_start().len() + 1;
        let format = |text: &str| place.row(number, column, RowProblem::Format(text.to_owned()));
        let [value, percentile, total, ..] = fields[..] else {
            return Err(format("rows are `Value Percentile TotalCount 1/(1-Percentile)`"));
        };
        let ps = parse_time(value, unit, LONGEST_PS, true).map_err(|p| place.row(number, column, p))?.max(1);
        let share = percentile.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let Some(share) = share else {
            return Err(format("the second field is a percentile between 0 and 1"));
        };
        let total: u64 = total.parse().map_err(|_| format("the third field is a count"))?;
        let count = total.checked_sub(counted).ok_or_else(|| format("the counts must not decrease"))?;
        counted = total;
        if levels.last().is_some_and(|last| ps < last.ps) {
            return Err(format("the values must not decrease"));
        }
        levels.push(Level { ps, share, count, total });
    }
    if counted == 0 {
        return Err(place.whole("holds no recorded values"));
    }
    let buckets = between(&levels, counted);
    let notes = notes(&buckets, counted, unit, mean);
    Ok(Histograms { classes: vec![("all".to_owned(), buckets)], notes })
}

/// A row of a listing.
struct Level {
    ps: u64,
    /// Its percentile, as a share.
    share: f64,
    /// Values above those of the row before, and up to this one's.
    count: u64,
    /// Values up to this one's.
    total: u64,
}

/// The values of the rows, `counted` in all.
fn between(levels: &[Level], counted: u64) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for &Level { ps, share, count, total } in levels.iter().filter(|level| level.count > 0) {
        // Shares are printed with 12 digits.
        let needed = (share * counted as f64 - 1e-6).ceil() as u64;
        let alike = total.saturating_sub(needed).min(count);
        let spread = count - alike;
        let low_ps = match buckets.last_mut() {
            Some(last) if last.high_ps == ps => {
                last.count += count;
                continue;
            }
            Some(last) => last.high_ps + 1,
            None => ps,
        };
        if alike == 0 || low_ps == ps {
            buckets.push(Bucket { low_ps, high_ps: ps, count });
        } else if spread <= alike {
            buckets.push(Bucket { low_ps: ps, high_ps: ps, count });
        } else {
            buckets.push(Bucket { low_ps, high_ps: ps - 1, count: spread });
            buckets.push(Bucket { low_ps: ps, high_ps: ps, count: alike });
        }
    }
    buckets
}

/// `#[Mean = 1.2, StdDeviation = 3.4]`
fn footer_mean(footer: &str) -> Option<f64> {
    let value = footer.trim().strip_prefix("[Mean")?.trim_start().strip_prefix('=')?;
    value.split([',', ']']).next()?.trim().parse().ok().filter(|mean: &f64| *mean > 0.0 && mean.is_finite())
}

/// What a percentile listing hides: where its values lie between two rows.
fn notes(buckets: &[Bucket], counted: u64, unit: Unit, mean: Option<f64>) -> Vec<String> {
    let sum: f64 = buckets.iter().map(|b| b.count as f64 * (b.low_ps as f64 + b.high_ps as f64) / 2.0).sum();
    let ours = sum / counted as f64;
    let mut notes = vec![format!(
        "a percentile listing says nothing about the values between its rows; in {} gaps they are taken as even",
        buckets.iter().filter(|bucket| bucket.low_ps < bucket.high_ps).count()
    )];
    if let Some(mean) = mean.map(|mean| mean * unit.ps() as f64)
        && (ours / mean - 1.0).abs() > 0.01
    {
        notes.push(format!(
            "the listing says that its mean is {}, its rows give {}; a listing with more rows would be closer",
            crate::show::time(mean),
            crate::show::time(ours),
        ));
    }
    notes
}
