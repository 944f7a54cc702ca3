//! Readers of files with measured times, in the formats of the tools that measure.
//! Specs of services and of arrivals read through them, and `caudal workload convert`.
//! Used by `arrivals`, `convert`, `service` and others.
//!
//! * [`source`]: the bytes, of a file, a pipe or standard input, gzip, zstd or plain.
//! * [`recognise`]: what they are, by their content.
//! * [`table`]: CSV and its relatives: a value a row, with a class, with how often it occurs, within which bounds.
//! * [`hdr`]: HdrHistogram logs and percentile listings.
//! * [`buckets`]: histograms of bpftrace, bcc, Prometheus, YCSB, sysbench, redis.
//! * [`reports`]: percentiles alone, as load generators print them; their names and moments: [`percentiles`].
//! * [`json`]: what tools write as JSON. [`lines`]: a time in each line of a text.
//! * [`logs`]: logs with keys and values, of HAProxy, of web servers.
//! * [`printed`]: tables and records that programs print for people.
//! * [`texts`] and [`pandas`]: what is known by the way it was printed, also if it cannot be used. [`spans`]: traces.
//! * [`tools`]: what single tools write in a way of their own, made into tables.
//! * [`between`]: what lies between a beginning and an end. [`dates`]: dates and epochs.
//! * [`number`], [`mod@unit`] and [`plausible`]: numbers, their units, and whether numbers without a unit can be nanoseconds.
//! * [`graphs`]: recorded fork/join graphs.
//!
//! Every reader says what it took the file for ([`Taken`]). What a file does not say and its values do not show is asked
//! ([`Ask`](crate::Ask)): nothing is assumed in silence.

mod ahead;
mod between;
mod buckets;
mod dates;
mod graphs;
mod hdr;
mod json;
mod lines;
mod logs;
mod number;
mod pandas;
mod percentiles;
mod plausible;
mod printed;
mod recognise;
mod reports;
mod source;
mod spans;
mod stop;
mod table;
mod texts;
mod tools;
mod unit;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::LONGEST_PS;
use crate::error::{AskKey, RowProblem, WorkloadError};

pub(crate) use ahead::is_there;
pub(crate) use graphs::GraphFile;
pub use hdr::LATENCY_TAG;
pub(crate) use number::Number;
pub(crate) use percentiles::{Moments, Percentiles, Statistic, parse_percentiles};
pub(crate) use recognise::read_service;
pub(crate) use source::Source;
pub(crate) use stop::check_stop;
pub use stop::stop_reading_when;
pub(crate) use table::{Timestamps, read_timestamps};
pub use unit::Unit;

/// The parts of a file that are read, and how. All of it is optional: formats that are known bring it along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// The column of the times: its name in the header, or its number, from 1. Of a file with several histograms, the
    /// name of one. Default: the only one, or the one whose name says so (`service_us`, `latency`, …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The column of the classes: its name, or its number, from 1. Default: `class`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_column: Option<String>,
    /// The column that says how often each time occurs: its name, or its number, from 1. Default: one that is called `count` or the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count_column: Option<String>,
    /// Unit of the times. Default: what the name of the column (`latency_us`, `latencyMs`) or the format says; whole
    /// numbers of which neither says anything are nanoseconds, others are asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Only rows of which this holds, each a column, `=` or `!=`, and a value: `metric_name=http_req_duration`.
    #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// The mark before the decimals, `.` or `,`. Default: what the file shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
}

/// The format, columns and unit that a file was taken for: the first thing that a user wants to know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The format, in words: `CSV of k6`.
    pub format: String,
    /// The column or the histogram that was read, where there is a choice.
    pub column: Option<String>,
    /// The column of the classes.
    pub class_column: Option<String>,
    /// The column that says when requests arrived, if there is one.
    pub arrival_column: Option<String>,
    /// The unit of the times, where all of them have one.
    pub unit: Option<Unit>,
    /// Where the unit was found.
    pub unit_by: &'static str,
    /// How many there are of what it holds.
    pub values: u64,
    /// The things that are counted.
    pub counted: Counted,
    /// Rows that the condition left out.
    pub left_out: u64,
    /// The condition.
    pub filter: Vec<String>,
}

/// The things that a file holds a number of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Measured times.
    #[default]
    Values,
    /// Percentiles, of nobody knows how many times.
    Percentiles,
}

impl Counted {
    /// The plural in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Counted::Values => "values",
            Counted::Percentiles => "percentiles",
        }
    }

    /// A number of these things in words: `4 percentiles`.
    pub fn of(self, count: u64) -> String {
        let s = if count == 1 { "" } else { "s" };
        match self {
            Counted::Values => format!("{count} value{s}"),
            Counted::Percentiles => format!("{count} percentile{s}"),
        }
    }
}

impl Columns {
    /// Is nothing said: is all that is to be known in the file?
    pub fn is_empty(&self) -> bool {
        *self == Columns::default()
    }

    /// Takes the answer to a question.
    ///
    /// # Errors
    /// The answer, if it is none.
    pub fn answer(&mut self, key: AskKey, value: &str) -> Result<(), String> {
        match key {
            AskKey::Unit => self.unit = Some(Unit::of_word(value).ok_or_else(|| value.to_owned())?),
            AskKey::Column => self.column = Some(value.to_owned()),
            AskKey::CountColumn => self.count_column = Some(value.to_owned()),
            AskKey::Decimal => self.decimal = Some(value.chars().next().ok_or_else(|| value.to_owned())?),
            AskKey::Where => self.filter.push(value.to_owned()),
        }
        Ok(())
    }
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.format)?;
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        if let Some(unit) = self.unit {
            write!(f, ", in {} ({})", unit.name(), self.unit_by)?;
        }
        if let Some(column) = &self.class_column {
            write!(f, ", classes by `{column}`")?;
        }
        if !self.filter.is_empty() {
            write!(f, ", {} other rows left out by `{}`", self.left_out, self.filter.join("`, `"))?;
        }
        write!(f, ": {}", self.counted.of(self.values))
    }
}

/// The result of a reader.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) taken: Taken,
    pub(crate) data: Data,
    /// Notes for the user on how the file was understood, with what to do about it.
    pub(crate) notes: Vec<String>,
}

/// The content of a file of times.
#[derive(Debug)]
pub(crate) enum Data {
    /// Values one by one, in the order of the file.
    Trace(Trace),
    /// Values, and how often each occurs.
    Weighted(Trace, Vec<f64>),
    /// Counts of values within bounds.
    Histograms(Vec<Histogram>),
    /// Percentiles alone.
    Percentiles(Vec<Percentiles>),
    /// Recorded fork/join graphs.
    Graphs(GraphFile),
}

/// One measured value and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of the line, from 1.
    pub(crate) line: u64,
    pub(crate) ps: u64,
}

/// Measured values in the order of their file.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) classes: Vec<String>,
    /// The class of each value; empty if all are of the only one.
    pub(crate) class: Vec<u8>,
    pub(crate) ps: Vec<u64>,
    lines: Lines,
    names: std::collections::HashMap<Vec<u8>, u8>,
    last: Option<(Vec<u8>, u8)>,
}

/// The lines of values: nearly always one after the other, so that only where they jump is kept.
#[derive(Debug, Default)]
struct Lines {
    /// The first value of each run, and its line.
    runs: Vec<(usize, u64)>,
    next: u64,
}

impl Trace {
    /// Adds a value in `line` of the class with this name.
    ///
    /// # Errors
    /// If it cannot be the name of a class, or is the 257th.
    #[inline]
    pub(crate) fn push(&mut self, class: &[u8], line: u64, ps: u64) -> Result<(), RowProblem> {
        let number = match &self.last {
            Some((name, number)) if name == class => *number,
            _ => self.number(class)?,
        };
        if number > 0 && self.class.len() < self.ps.len() {
            self.class.resize(self.ps.len(), 0);
        }
        if number > 0 || !self.class.is_empty() {
            self.class.push(number);
        }
        self.lines.push(self.ps.len(), line);
        self.ps.push(ps);
        Ok(())
    }

    #[cold]
    fn number(&mut self, class: &[u8]) -> Result<u8, RowProblem> {
        let number = match self.names.get(class) {
            Some(&number) => number,
            None => {
                let name = text(class);
                let number = new_class(&name, self.classes.len())?;
                self.classes.push(name);
                self.names.insert(class.to_vec(), number);
                number
            }
        };
        self.last = Some((class.to_vec(), number));
        Ok(number)
    }

    /// Leaves out the classes of which this does not hold.
    pub(crate) fn retain_classes(
        &mut self,
        mut is_meant: impl FnMut(&str) -> bool,
    ) -> Result<(), RowProblem> {
        let meant: Vec<bool> = self.classes.iter().map(|name| is_meant(name)).collect();
        self.retain(|trace, at| meant[usize::from(trace.class_of(at))])
    }

    /// Leaves out the values of which this does not hold.
    pub(crate) fn retain(&mut self, is_meant: impl Fn(&Trace, usize) -> bool) -> Result<(), RowProblem> {
        let mut kept = Trace::default();
        for at in (0..self.ps.len()).filter(|&at| is_meant(self, at)) {
            let Row { line, ps } = self.row(at);
            kept.push(self.classes[usize::from(self.class_of(at))].as_bytes(), line, ps)?;
        }
        *self = kept;
        Ok(())
    }

    /// The number of values of each class.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.classes.len()];
        (0..self.ps.len()).for_each(|at| counts[usize::from(self.class_of(at))] += 1);
        counts
    }

    /// Takes times of 0, which the clock could not see, as half of its step; says how many there are.
    ///
    /// # Errors
    /// If there is no other time.
    pub(crate) fn replace_zeros(
        &mut self,
        step_ps: u64,
        place: &Place<'_>,
    ) -> Result<Option<String>, WorkloadError> {
        let zeros = self.ps.iter().filter(|&&ps| ps == 0).count();
        if zeros == self.ps.len() && zeros > 0 {
            return Err(
                place.whole("all its times are 0; was the clock fine enough, and is this the right column?")
            );
        }
        let half_ps = (step_ps / 2).clamp(1, LONGEST_PS);
        self.ps.iter_mut().filter(|ps| **ps == 0).for_each(|ps| *ps = half_ps);
        Ok((zeros > 0).then(|| {
            format!(
                "{zeros} of {} times are 0, below the clock's step of {}; each is taken as half of it",
                self.ps.len(),
                crate::format::time(step_ps.max(1) as f64)
            )
        }))
    }

    /// The class of the value at `index`.
    #[inline]
    pub(crate) fn class_of(&self, index: usize) -> u8 {
        self.class.get(index).copied().unwrap_or(0)
    }

    /// The value at `index` and its line.
    pub(crate) fn row(&self, index: usize) -> Row {
        Row { line: self.lines.of(index), ps: self.ps[index] }
    }
}

impl Lines {
    #[inline]
    fn push(&mut self, index: usize, line: u64) {
        if line != self.next || self.runs.is_empty() {
            self.runs.push((index, line));
        }
        self.next = line + 1;
    }

    fn of(&self, index: usize) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= index);
        let (first, line) = self.runs[run.saturating_sub(1)];
        line + (index - first) as u64
    }
}

/// Counts of values within bounds, of one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    pub(crate) class: String,
    /// Ascending, without overlap, none empty; in each, values are spread evenly.
    pub(crate) buckets: Vec<Bucket>,
    /// Between which times the values of each bucket may lie in truth, first and last.
    pub(crate) edges: Vec<(u64, u64)>,
    /// The sum of all values, if the file says it, in ps.
    pub(crate) sum_ps: Option<f64>,
}

/// A field as text: UTF-8, or Latin-1 where it is none.
pub(crate) fn text(field: &[u8]) -> String {
    match std::str::from_utf8(field) {
        Ok(text) => text.to_owned(),
        Err(_) => field.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Writes a path as it is shown: one that is no UTF-8 cannot be written into a file of text.
pub(crate) fn lossy_path<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Makes the errors of one file.
pub(crate) struct Place<'a>(pub(crate) &'a Path);

impl Place<'_> {
    pub(crate) fn row(&self, line: u64, column: usize, problem: RowProblem) -> WorkloadError {
        WorkloadError::Row { path: self.0.to_owned(), line, column, problem }
    }

    pub(crate) fn whole(&self, problem: impl Into<String>) -> WorkloadError {
        WorkloadError::File { path: PathBuf::from(self.0), problem: problem.into() }
    }
}

/// The time that a number means in `unit`, rounded to whole picoseconds: 0 only if it is 0.
#[inline]
pub(crate) fn time_ps(number: &Number, field: &[u8], unit: Unit) -> Result<u64, RowProblem> {
    match number.ps(unit) {
        Some(0) if number.is_zero() => Ok(0),
        Some(0) => Err(RowProblem::TooShort(shorten(&text(field)))),
        Some(ps) if ps <= u128::from(LONGEST_PS) => Ok(ps as u64),
        _ => Err(RowProblem::TooLong(shorten(&text(field)))),
    }
}

/// A field as an error may show it: printable, not longer than a line.
pub(crate) fn shorten(field: &str) -> String {
    let mut shown: String = field.chars().take(40).flat_map(char::escape_debug).collect();
    if field.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

/// The number of a class that was not seen before.
pub(crate) fn new_class(name: &str, seen: usize) -> Result<u8, RowProblem> {
    if !is_class_name(name) {
        return Err(RowProblem::ClassName(shorten(name)));
    }
    u8::try_from(seen).map_err(|_| RowProblem::TooManyClasses(shorten(name)))
}

/// One bucket of a histogram: `count` values somewhere in `low_ps..=high_ps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) low_ps: u64,
    pub(crate) high_ps: u64,
    pub(crate) count: u64,
}

/// 1 to 64 printable characters.
pub(crate) fn is_class_name(name: &str) -> bool {
    (1..=64).contains(&name.chars().count()) && !name.contains(|c: char| c.is_control() || c == '\u{fffd}')
}
