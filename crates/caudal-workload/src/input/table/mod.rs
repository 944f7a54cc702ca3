//! Tables: CSV, TSV and their relatives, a value a row.
//! Called by the recogniser, and by other readers that have made a table of their input.
//!
//! Lines that begin with `#` are comments, blank lines are passed over, fields may be quoted, rows may end in separators. A
//! first row of names is a header. What is in which column follows from the names ([`columns`]), from the writer if it is known
//! ([`presets`]), or from what the user says; where none of them tells, the user is asked.
//!
//! Rows are read one after the other and only their times, classes and lines that jump are kept: 9 bytes a row.

mod asking;
mod columns;
mod content;
mod fields;
mod finder;
mod finish;
mod layout;
mod names;
mod percentile_columns;
mod presets;
mod records;
mod rows;
mod sample;
mod separator;
mod shares;
mod times;
mod units;

use std::path::Path;

use content::Content;
use finder::Finder;
use layout::{Role, Shape, texts};
pub(in crate::input) use names::is_arrival;
pub(in crate::input) use records::{Record, Records, column_of};
use rows::Table;
pub(crate) use sample::Sample;
pub(crate) use separator::Separator;

use super::plausible::Plausible;
use super::source::Source;
use super::{Columns, Place, Read, Taken, shorten, text};
use crate::error::WorkloadError;

/// Reads service times: a value a row, with a class, or with how often it occurs.
pub(crate) fn read_service_table(
    source: Source,
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let sample = Sample::of(&source, wanted.decimal).ok_or_else(|| nothing(&place))?;
    refuse_heatmap(&sample, &place)?;
    let finder = Finder { sample: &sample, wanted, role: Role::Service, place: &place };
    let layout = finder.layout()?;
    if let Some(name) = finder.counts_something(layout.value)
        && layout.unit.is_none()
        && matches!(layout.shape, Shape::Value | Shape::Weighted { .. })
    {
        return Err(Plausible::ask_of_size(&place, &name));
    }
    let beyond = overflows(source.head());
    let mut table = Table::new(source, &sample, &layout, &place)?;
    let name = finder.name(layout.value).unwrap_or_default();
    // What stands without a name among other columns is hardly a few nanoseconds, as no latency is.
    let called = if sample.header.is_none() && sample.width() > 2 { "latency" } else { &name };
    let called =
        if matches!(layout.shape, Shape::Value | Shape::Between { .. }) { called } else { "latency" };
    let mut content = Content { plausible: Plausible::called(called), ..Content::default() };
    while let Some(record) = table.next()? {
        content.add(record, &layout).map_err(|(index, problem)| table.error(index, problem))?;
    }
    let Table { left_out, cut, another, .. } = table;
    let mut notes: Vec<String> = layout.note.map(str::to_owned).into_iter().collect();
    if matches!(layout.shape, Shape::Weighted { .. }) && beyond > 0 {
        notes.push(format!(
            "{beyond} values lie beyond the last bucket and are missing here, the longest of all: measure with more buckets"
        ));
    }
    if let Some(line) = cut {
        notes.push(format!(
            "line {line}, the last one, is cut off, and was left out; was the writer still at work?"
        ));
    }
    if let Some(line) = another {
        notes.push(format!("another table begins in line {line}, and was passed over"));
    }
    content.finish(&layout, &place, left_out, notes)
}

/// # Errors
/// If the header has bounds of buckets, and the rows counts of intervals, as Grafana writes a heatmap.
fn refuse_heatmap(sample: &Sample, place: &Place<'_>) -> Result<(), WorkloadError> {
    let names: Vec<String> = match &sample.header {
        Some(header) => header.clone(),
        None => sample.rows[0].iter().map(text).collect(),
    };
    let is_name = names
        .first()
        .is_some_and(|first| !first.is_empty() && !super::number::looks_like_one(first.as_bytes()));
    let bounds: Option<Vec<f64>> = names.iter().skip(1).map(|name| name.trim().parse::<f64>().ok()).collect();
    let rise = bounds.is_some_and(|bounds| bounds.len() > 2 && bounds.windows(2).all(|two| two[0] < two[1]));
    if is_name && rise {
        return Err(place.whole(format!(
            "its header has bounds of buckets ({}, …) and its rows how many there were in an interval, as a heatmap of Grafana; give the \
             histogram of all of it, as the JSON of the query `sum by (le) (increase(NAME_bucket[1h]))`, or as rows `le,count`",
            names[1..].iter().take(3).map(|name| shorten(name)).collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

/// Values that a histogram had no bucket for, as cyclictest says below it: `# Histogram Overflows: 00004 00000`.
fn overflows(head: &[u8]) -> u64 {
    let text = text(head);
    let line = text.lines().find_map(|line| line.strip_prefix("# Histogram Overflows:"));
    line.map_or(0, |line| line.split_whitespace().filter_map(|count| count.parse::<u64>().ok()).sum())
}

fn nothing(place: &Place<'_>) -> WorkloadError {
    place.whole("holds no values; write one time a line, or columns such as `class,service_ns`")
}

/// The arrivals that a file records.
#[derive(Debug)]
pub(crate) struct Timestamps {
    /// In ps since the first of them, ascending.
    pub(crate) times_ps: Vec<u64>,
    pub(crate) taken: Taken,
    pub(crate) notes: Vec<String>,
}

/// Reads timestamps, which must not decrease.
pub(crate) fn read_timestamps(path: &Path, wanted: &Columns) -> Result<Timestamps, WorkloadError> {
    let place = Place(path);
    let source = Source::open(path)?;
    let sample = Sample::of(&source, wanted.decimal).ok_or_else(|| nothing(&place))?;
    let finder = Finder { sample: &sample, wanted, role: Role::Arrival, place: &place };
    let layout = finder.layout()?;
    let reader = times::Reader::new(&sample, &layout);
    let mut table = Table::new(source, &sample, &layout, &place)?;
    let mut found = times::Times::default();
    while let Some(record) = table.next()? {
        let field = record.get(layout.value);
        found.add(&reader, field).map_err(|problem| table.error(layout.value, problem))?;
    }
    let left_out = table.left_out;
    found.finish(&reader, &layout, &place, left_out, texts(&layout.filters))
}
