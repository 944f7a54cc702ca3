//! A table whose columns are to be found: their names, and what the fields of a column look like. `columns`, `units` and `asking` decide
//! by it which column holds the times. Pure; it sees the sample at the beginning of the table only.

use super::fields::interval;
use super::layout::Role;
use super::names::{is_arrival, is_sum, listed};
use super::sample::Sample;
use super::separator::Separator;
use crate::error::{RowProblem, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::unit::{Unit, words};
use crate::input::{Columns, Place, shorten};

/// A table that is being looked at.
pub(super) struct Finder<'a> {
    pub(super) sample: &'a Sample,
    pub(super) wanted: &'a Columns,
    pub(super) role: Role,
    pub(super) place: &'a Place<'a>,
}

/// More names than this in the first rows are no classes.
const CLASSES_MAX: usize = 16;

/// As many times nothing was counted: an epoch in seconds is more.
const COUNT_MAX: u64 = 900_000_000;

impl Finder<'_> {
    pub(super) fn header(&self) -> Option<&Vec<String>> {
        self.sample.header.as_ref()
    }

    /// The name of a column, if it has one.
    pub(super) fn name(&self, index: usize) -> Option<String> {
        self.header().and_then(|header| header.get(index)).filter(|name| !name.is_empty()).cloned()
    }

    /// The name of a column, or its number.
    pub(super) fn title(&self, index: usize) -> String {
        self.name(index).unwrap_or_else(|| (index + 1).to_string())
    }

    /// The column with this name or number.
    pub(super) fn column(&self, wanted: &str) -> Result<usize, WorkloadError> {
        let named = self.header().and_then(|header| {
            header.iter().position(|name| name == wanted).or_else(|| {
                let mut alike =
                    header.iter().enumerate().filter(|(_, name)| name.eq_ignore_ascii_case(wanted));
                alike.next().map(|(index, _)| index).filter(|_| alike.next().is_none())
            })
        });
        let numbered =
            wanted.parse::<usize>().ok().filter(|number| (1..=self.sample.width()).contains(number));
        named.or(numbered.map(|number| number - 1)).ok_or_else(|| {
            let wanted = shorten(wanted);
            let problem = match self.header() {
                Some(header) => format!("there is no column `{wanted}`; the columns are {}", listed(header)),
                None => {
                    let width = self.sample.width();
                    format!("has no header, so no column `{wanted}`; write its number, 1 to {width}, or add a first line")
                }
            };
            match self.header() {
                Some(_) => self.place.row(self.sample.first_line, 1, RowProblem::Format(problem)),
                None => self.place.whole(problem),
            }
        })
    }

    /// Does a column hold names, and the same ones again and again?
    pub(super) fn has_few_names(&self, index: usize) -> bool {
        let is_own = |field: &&[u8]| !is_sum(&crate::input::text(field));
        let mut names: Vec<&[u8]> = self.sample.column(index).filter(is_own).collect();
        let rows = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() <= CLASSES_MAX && 2 * names.len() <= rows.max(2) && !self.sample.is_numeric(index)
    }

    /// Does a column count 0, 1, 2, … or 1, 2, 3, …?
    pub(super) fn numbers_rows(&self, at: usize) -> bool {
        let numbers: Option<Vec<u64>> =
            self.sample.column(at).map(|field| crate::input::text(field).parse().ok()).collect();
        numbers.is_some_and(|numbers| {
            numbers.first().is_some_and(|&first| first <= 1)
                && numbers.windows(2).all(|two| two[1] == two[0] + 1)
        })
    }

    pub(super) fn is_mostly_numbers(&self, at: usize) -> bool {
        let (mut all, mut numbers) = (0, 0);
        for field in self.sample.column(at) {
            all += 1;
            let is_number =
                crate::input::number::looks_like_one(field) && field.iter().any(u8::is_ascii_digit);
            numbers += usize::from(is_number);
        }
        all > 0 && 2 * numbers >= all
    }

    /// Does a column without a name say when something was: the time of day behind a date, or one that goes on from row to row?
    pub(super) fn is_clock(&self, at: usize) -> bool {
        const FEW: usize = 5;
        let is_date = |field: &[u8]| {
            let is_digit = |at: usize| field.get(at).is_some_and(u8::is_ascii_digit);
            field.len() == 10
                && (0..4).all(is_digit)
                && [4, 7].iter().all(|&at| matches!(field[at], b'-' | b'/'))
        };
        let is_time_of_day = |field: &[u8]| field.iter().filter(|&&byte| byte == b':').count() == 2;
        if !self.sample.column(at).all(is_time_of_day) {
            return false;
        }
        if at > 0 && self.sample.column(at - 1).all(is_date) {
            return true;
        }
        let ps = |field: &[u8]| Number::parse(field, Style::POINT).ok()?.ps(Unit::S);
        let times: Vec<u128> = self.sample.column(at).filter_map(ps).collect();
        times.len() >= FEW && times.windows(2).all(|two| two[0] <= two[1]) && times.first() < times.last()
    }

    /// Does one of two columns perhaps say how often each value of the other one occurs, as `uniq -c` writes it? Whole numbers from 1
    /// on, and of the others none comes twice.
    pub(super) fn may_count(&self) -> bool {
        let is_pair = self.sample.width() == 2 || self.sample.width() == 3 && self.unit_behind(1).is_some();
        self.sample.separator == Separator::Blanks && is_pair && (0..2).any(|at| self.counts(at))
    }

    /// The unit that stands behind each number of a column, as a column of its own.
    pub(super) fn unit_behind(&self, at: usize) -> Option<Unit> {
        if self.header().is_some() || self.sample.separator != Separator::Blanks {
            return None;
        }
        let mut words = self.sample.column(at + 1).map(|word| Unit::of_word(&crate::input::text(word)));
        let first = words.next()??;
        words.all(|unit| unit == Some(first)).then_some(first)
    }

    pub(super) fn counts(&self, at: usize) -> bool {
        let counts = |field: &[u8]| {
            crate::input::text(field).parse::<u64>().is_ok_and(|count| (1..COUNT_MAX).contains(&count))
        };
        let mut others: Vec<&[u8]> = self.sample.column(1 - at).collect();
        let rows = others.len();
        others.sort_unstable();
        others.dedup();
        rows > 1 && others.len() == rows && self.sample.column(at).all(counts) && !self.numbers_rows(at)
    }

    /// Does a column hold something other than when something was?
    pub(super) fn is_no_when(&self, at: usize) -> bool {
        let is_date = |field: &[u8]| {
            let field = crate::input::text(field);
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            field.get(..4).is_some_and(digits) && field.get(4..5).is_some_and(|mark| "-/".contains(mark))
                || field.contains(['/', ':']) && field.split(['/', ':', ' ']).take(2).all(digits)
        };
        let mut fields = self.sample.column(at).peekable();
        let are_dates = fields.peek().is_some() && fields.all(is_date);
        !are_dates && !self.header().is_some_and(|header| is_arrival(&header[at]))
    }

    /// The column whose fields are intervals: `(0.5, 1.0]`.
    pub(super) fn interval_column(&self) -> Option<usize> {
        let are = |&at: &usize| {
            let mut fields = self.sample.column(at).peekable();
            fields.peek().is_some() && fields.all(|field| interval(field).is_some())
        };
        (0..self.sample.width()).find(are)
    }

    /// The columns of the bounds of a histogram.
    pub(super) fn range_of(&self, weight: Option<usize>) -> Option<(usize, usize)> {
        const LOW: [&str; 9] = ["low", "lower", "lo", "min", "from", "start", "begin", "left", "ge"];
        const HIGH: [&str; 9] = ["high", "upper", "hi", "max", "to", "end", "until", "right", "lt"];
        let weight = weight?;
        let header = self.header()?;
        let find = |known: &[&str]| {
            header.iter().enumerate().position(|(at, name)| {
                at != weight && words(name).iter().any(|word| known.contains(&word.as_str()))
            })
        };
        Some((find(&LOW)?, find(&HIGH)?)).filter(|(low, high)| low != high)
    }
}
