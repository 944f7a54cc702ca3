//! Percentile listings: `Value Percentile TotalCount 1/(1-Percentile)`, of HdrHistogram (`.hgrm`), aeron, wrk2.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.
//!
//! A row has the first value up to which there are enough values for its percentile. Values that its count has beyond that are
//! equal to it. The other values between this row and the one before are taken as spread evenly, or as equal to it if these are
//! fewer, because values repeat then. So the mean is near the mean that the file states, with which it is compared.

use std::path::Path;

use crate::error::{RowProblem, WorkloadError};
use crate::input::Bucket;
use crate::input::number::Style;
use crate::input::plausible::Plausible;
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Histogram, Number, Place, Read, Taken, text, time_ps};

/// Does this hold a listing? Its heading tells, or, in a file that is called `.hgrm`, its first row.
pub(in crate::input) fn holds_listing<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(400).any(is_heading)
}

fn is_heading(line: &[u8]) -> bool {
    let line = spaced(&text(line));
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_value = |word: &str| word == "Value" || word.starts_with("Value(");
    words.len() >= 3 && is_value(words[0]) && words[1] == "Percentile" && words[2] == "TotalCount"
}

/// The unit that a heading says, as vegeta's does: `Value(ms)  Percentile  TotalCount`.
fn heading_unit(text: &str) -> Option<Unit> {
    let heading = text.lines().find(|line| is_heading(line.as_bytes()))?;
    let (_, unit) = heading.split_once("Value(")?;
    Unit::of_word(unit.split(')').next()?)
}

/// A line of a listing that was written as CSV as it would be without.
fn spaced(line: &str) -> String {
    line.replace([',', '"'], " ")
}

/// Reads a listing, wherever in the text it is.
pub(in crate::input) fn read_listing(
    bytes: &[u8],
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    if let Some(column) = &wanted.column {
        return Err(place.whole(format!("a histogram has no columns; drop `column = \"{column}\"`")));
    }
    let text = text(bytes);
    // wrk2 prints its listing in ms, behind other lines.
    let is_wrk2 = text.contains("Detailed Percentile spectrum");
    let (unit, unit_by) = match wanted.unit {
        Some(unit) => (Some(unit), "as you said"),
        None if heading_unit(&text).is_some() => (heading_unit(&text), "says its heading"),
        None if is_wrk2 => (Some(Unit::Ms), "as the writer has it"),
        None => (None, "nothing says another one"),
    };
    let mut listing = Listing { unit, ..Listing::default() };
    listing.read(&text, &place)?;
    if listing.counted == 0 {
        return Err(place.whole("holds no recorded values"));
    }
    let buckets = between(&listing.levels, listing.counted);
    let sum_ns = mean_ps(&buckets, listing.counted) / Unit::Ns.ps() as f64 * listing.counted as f64;
    let unsaid = listing.plausible.with_mean_of(sum_ns, listing.counted).check(&place)?;
    let unit = unit.unwrap_or(Unit::Ns);
    let more = notes(&buckets, listing.counted, listing.mean.map(|mean| mean * unit.ps() as f64));
    let notes = unsaid.into_iter().chain(more).collect();
    let format = if is_wrk2 { "wrk2's percentile spectrum" } else { "a percentile listing of HdrHistogram" };
    let taken = Taken {
        format: format.to_owned(),
        unit: Some(unit),
        unit_by,
        values: listing.counted,
        ..Taken::default()
    };
    let edges = buckets.iter().map(|bucket| (bucket.low_ps, bucket.high_ps)).collect();
    let histogram = Histogram { class: "all".to_owned(), buckets, edges, sum_ps: None };
    Ok(Read { taken, data: Data::Histograms(vec![histogram]), notes })
}

/// A listing that is being read.
#[derive(Default)]
struct Listing {
    unit: Option<Unit>,
    levels: Vec<Level>,
    counted: u64,
    mean: Option<f64>,
    plausible: Plausible,
}

impl Listing {
    fn read(&mut self, text: &str, place: &Place<'_>) -> Result<(), WorkloadError> {
        // What stands before the heading is of somebody else, and so is what stands behind the footer.
        let headed = text.lines().any(|line| is_heading(line.as_bytes()));
        let mut inside = !headed;
        for (index, line) in text.lines().enumerate() {
            if is_heading(line.as_bytes()) {
                inside = self.levels.is_empty();
                continue;
            }
            if !inside || line.trim().is_empty() {
                continue;
            }
            if let Some(footer) = line.trim().strip_prefix('#') {
                self.mean = self.mean.or_else(|| footer_mean(footer));
                continue;
            }
            if headed && self.mean.is_some() {
                break;
            }
            let column = line.len() - line.trim_start().len() + 1;
            self.row(&spaced(line)).map_err(|problem| place.row(index as u64 + 1, column, problem))?;
        }
        Ok(())
    }

    fn row(&mut self, line: &str) -> Result<(), RowProblem> {
        let format = |text: &str| RowProblem::Format(text.to_owned());
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [value, percentile, total, ..] = fields[..] else {
            return Err(format("rows are `Value Percentile TotalCount 1/(1-Percentile)`"));
        };
        let number = Number::parse(value.as_bytes(), Style::POINT)?;
        if self.unit.is_none() {
            self.plausible.see(&number, value.as_bytes());
        }
        let ps = match time_ps(&number, value.as_bytes(), self.unit.unwrap_or(Unit::Ns)) {
            // Its unit will be asked for: it has fractions.
            Err(RowProblem::TooShort(_)) if self.unit.is_none() => 1,
            ps => ps?.max(1),
        };
        let share = percentile.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let Some(share) = share else {
            return Err(format("the second field is a percentile between 0 and 1"));
        };
        let total: u64 = total.parse().map_err(|_| format("the third field is a count"))?;
        let count = total.checked_sub(self.counted).ok_or_else(|| format("the counts must not decrease"))?;
        if self.levels.last().is_some_and(|last| ps < last.ps) {
            return Err(format("the values must not decrease"));
        }
        self.counted = total;
        self.levels.push(Level { ps, share, count, total });
        Ok(())
    }
}

/// A row of a listing.
struct Level {
    ps: u64,
    /// Its percentile, as a share.
    share: f64,
    /// Values above those of the row before, and up to this one's.
    count: u64,
    /// The number of values up to this one.
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

fn mean_ps(buckets: &[Bucket], counted: u64) -> f64 {
    let sum: f64 = buckets.iter().map(|b| b.count as f64 * (b.low_ps as f64 + b.high_ps as f64) / 2.0).sum();
    sum / counted as f64
}

/// Notes on what a percentile listing hides: its rows may give another mean than its values.
fn notes(buckets: &[Bucket], counted: u64, said_ps: Option<f64>) -> Vec<String> {
    let ours = mean_ps(buckets, counted);
    let mut notes = Vec::new();
    if let Some(mean) = said_ps
        && (ours / mean - 1.0).abs() > 0.01
    {
        notes.push(format!(
            "the listing says that its mean is {}, its rows give {}; a listing with more rows would be closer",
            crate::format::time(mean),
            crate::format::time(ours),
        ));
    }
    notes
}
