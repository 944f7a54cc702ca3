//! The meaning of every column of a table, once it is known. `columns` makes a [`Layout`], and the reader of rows and `content` go by it
//! for each row. Data only.

use super::records::Record;
use super::shares::Points;
use crate::input::number::Style;
use crate::input::percentiles::Statistic;
use crate::input::unit::Unit;

/// The purpose for which a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Service times.
    Service,
    /// Times of arrivals.
    Arrival,
}

/// The meaning of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A value.
    Value,
    /// A value, and how often it occurs.
    Weighted { weight: usize },
    /// Values between the column of the values and this one, and how many.
    Range { high: usize, weight: usize },
    /// How many values there are up to this one.
    Cumulative { weight: usize },
    /// A percentile, which this column says.
    PercentileRow { percentile: usize },
    /// Percentiles of a class, each in a column of its own, perhaps its mean, and how many requests the class had.
    Percentiles { columns: Vec<(usize, Statistic)>, count: Option<usize> },
    /// Values between the two bounds that the column of the values has, as in `(0.5, 1.0]`, and how many.
    Interval { weight: usize },
    /// The lower (or upper) bound of each bucket, the other one being that of the next (or last), and how many.
    Edges { weight: usize, is_low: bool },
    /// A point of a distribution: the share of what is up to a value, or beyond it.
    Points { share: usize, points: Points },
    /// The beginning of a request, and the column of its end.
    Between { end: usize },
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) column: usize,
    pub(super) equal: bool,
    pub(super) value: String,
    pub(super) text: String,
}

/// The meaning of every column.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) value: usize,
    /// The name of the column of the values, where there is more than one column.
    pub(super) value_name: Option<String>,
    pub(super) class: Option<usize>,
    pub(super) class_name: Option<String>,
    /// Names of classes instead of the codes that the column holds.
    pub(super) class_names: &'static [(&'static str, &'static str)],
    pub(super) filters: Vec<Filter>,
    /// The column that says whether a request succeeded, and what it holds then.
    pub(super) success: Option<(usize, &'static [&'static str])>,
    /// The column of what a value is to be divided by.
    pub(super) runs: Option<usize>,
    /// The unit, and who says it; nothing if nobody does.
    pub(super) unit: Option<(Unit, &'static str)>,
    pub(super) style: Style,
    /// Fields of a row.
    pub(super) width: usize,
    /// The columns in words.
    pub(super) format: String,
    pub(super) has_arrivals: Option<String>,
    /// A note on what the writer's times include.
    pub(super) note: Option<&'static str>,
    /// The column that tells rows of percentiles apart which are of intervals, runs or metrics, and no classes.
    pub(super) rows_by: Option<usize>,
    /// The column that says when a row of percentiles was.
    pub(super) when: Option<usize>,
    /// The column in which rows may be called totals, where it has no classes.
    pub(super) label: Option<usize>,
    /// The column of statuses, and what they say.
    pub(super) status: Option<(usize, Status)>,
    /// The column by whose counts rows of means are weighed.
    pub(super) means_of: Option<String>,
    /// The names of the columns.
    pub(super) names: Vec<String>,
}

/// How a column says whether a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The column has a status of HTTP: 400 and above, and 0, where a request failed.
    Http,
    /// The column has a word: `false` where a request failed.
    Success,
}

impl Status {
    /// Does a field say that it failed?
    pub(super) fn is_failure(self, field: &[u8]) -> bool {
        match self {
            Status::Http => field.len() == 3 && matches!(field[0], b'4' | b'5') || field == b"0",
            Status::Success => field.eq_ignore_ascii_case(b"false") || field == b"0",
        }
    }
}

impl Filter {
    #[inline]
    pub(super) fn holds(&self, record: &Record) -> bool {
        (record.get(self.column) == self.value.as_bytes()) == self.equal
    }
}

pub(super) fn texts(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(|filter| filter.text.clone()).collect()
}

/// The name of the class whose column holds `field`.
pub(super) fn named<'a>(field: &'a [u8], layout: &Layout) -> &'a [u8] {
    let known = layout.class_names.iter().find(|(code, _)| code.as_bytes() == field);
    known.map_or(field, |(_, name)| name.as_bytes())
}
