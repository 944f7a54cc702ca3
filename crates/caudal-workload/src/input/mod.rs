//! Files with measured times: CSV, HdrHistogram logs and percentile listings; and with measured graphs.

mod graphs;
mod hdr;
mod text;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{RowProblem, WorkloadError};
use crate::{LONGEST_PS, service::Bucket};

pub(crate) use graphs::{GraphFile, holds_graphs, read_graphs};
pub(crate) use hdr::{read_hgrm, read_hlog};
pub(crate) use text::{Columns, read_service_csv, read_timestamps};

/// Unit of the bare numbers in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Picoseconds.
    Ps,
    /// Nanoseconds; what numbers without any hint are taken for.
    #[default]
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    /// Picoseconds in one of it.
    pub fn ps(self) -> u64 {
        match self {
            Unit::Ps => 1,
            Unit::Ns => 1_000,
            Unit::Us => 1_000_000,
            Unit::Ms => 1_000_000_000,
            Unit::S => 1_000_000_000_000,
        }
    }

    /// How files write it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ps => "ps",
            Unit::Ns => "ns",
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::S => "s",
        }
    }

    /// The unit at the end of a column's name: `service_us`.
    fn of_column(name: &str) -> Option<Unit> {
        let (_, end) = name.rsplit_once('_')?;
        [Unit::Ps, Unit::Ns, Unit::Us, Unit::Ms, Unit::S].into_iter().find(|unit| unit.name() == end)
    }
}

/// One measured value and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// From 1.
    pub(crate) line: u64,
    pub(crate) ps: u64,
}

/// Measured values in the order of their file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Trace {
    pub(crate) classes: Vec<String>,
    /// With the index of the class.
    pub(crate) rows: Vec<(u8, Row)>,
    /// How often the value of each row occurs, if it is a histogram; else empty.
    pub(crate) weights: Vec<f64>,
}

/// A histogram a class.
#[derive(Debug, PartialEq)]
pub(crate) struct Histograms {
    pub(crate) classes: Vec<(String, Vec<Bucket>)>,
    /// What the reader should know about how the file was understood.
    pub(crate) notes: Vec<String>,
}

/// The bytes of a text file.
pub(crate) fn load(path: &Path) -> Result<Vec<u8>, WorkloadError> {
    let bytes = std::fs::read(path).map_err(|source| WorkloadError::Io { path: path.to_owned(), source })?;
    match utf_16(&bytes) {
        Some(encoding) => Err(Place(path).whole(format!(
            "is {encoding} text; convert it to UTF-8, as in `iconv -f {encoding} -t UTF-8 FILE > NEW`, or save it as \
             \"CSV UTF-8\""
        ))),
        None => Ok(bytes),
    }
}

/// The name of the encoding if these bytes are UTF-16: by the mark at the beginning, or by a first character of which
/// one byte is 0, which no other text has.
fn utf_16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        [first, 0, ..] if *first != 0 => Some("UTF-16LE"),
        [0, second, ..] if *second != 0 => Some("UTF-16BE"),
        _ => None,
    }
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

/// Reads one field as a time in `unit`; `zero` says whether 0 is allowed (of timestamps it is).
///
/// Whole numbers are exact, others go through an `f64` and are rounded to the nearest picosecond.
pub(crate) fn parse_time(field: &str, unit: Unit, longest_ps: u64, zero: bool) -> Result<u64, RowProblem> {
    let text = || shorten(field);
    if field.is_empty() {
        return Err(RowProblem::Empty);
    }
    let ps = match field.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit.ps()).filter(|&ps| ps <= longest_ps),
        Err(_) => {
            let value: f64 = field.parse().map_err(|_| RowProblem::NotANumber(text()))?;
            if !value.is_finite() {
                return Err(RowProblem::NotFinite(text()));
            }
            if value < 0.0 {
                return Err(RowProblem::Negative(text()));
            }
            let ps = (value * unit.ps() as f64).round();
            (ps <= longest_ps as f64).then_some(ps as u64)
        }
    };
    match ps {
        None if longest_ps == LONGEST_PS => Err(RowProblem::TooLong(text())),
        None => Err(RowProblem::Format(format!("`{}` is beyond 213 days, the end of time here", text()))),
        Some(0) if !zero => Err(RowProblem::Zero(text())),
        Some(ps) => Ok(ps),
    }
}

/// A field as an error may show it: printable, not longer than a line.
fn shorten(field: &str) -> String {
    let mut shown: String = field.chars().take(40).flat_map(char::escape_debug).collect();
    if field.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}
