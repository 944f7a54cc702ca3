//! The rows of a table that are wanted, one after the other, with their places for errors. The reader of a table asks for the next row
//! until there is none; rows that `--where` leaves out are counted here.

use super::layout::{Layout, Shape};
use super::records::{Record, Records};
use super::sample::Sample;
use crate::error::{RowProblem, WorkloadError};
use crate::input::source::{self, Source};
use crate::input::{Place, text};

/// The rows of a table that are wanted.
pub(super) struct Table<'a> {
    records: Records<Box<dyn std::io::Read>>,
    record: Record,
    layout: &'a Layout,
    place: &'a Place<'a>,
    /// Rows that a condition left out.
    pub(super) left_out: u64,
    rows: u64,
    /// The line that is cut off.
    pub(super) cut: Option<u64>,
    /// The line of the row before.
    before: u64,
    /// The line where another table begins.
    pub(super) another: Option<u64>,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        source: Source,
        sample: &Sample,
        layout: &'a Layout,
        place: &'a Place<'a>,
    ) -> Result<Table<'a>, WorkloadError> {
        let records = Records::new(Box::new(source.stream()) as Box<dyn std::io::Read>, sample.separator);
        let record = Record::default();
        let mut table = Table {
            records,
            record,
            layout,
            place,
            left_out: 0,
            rows: 0,
            cut: None,
            before: 0,
            another: None,
        };
        let above = usize::from(sample.header.is_some() && !sample.names_are_above);
        for _ in 0..above + usize::from(sample.has_types) {
            table.advance()?;
        }
        Ok(table)
    }

    /// Reads the next row that is not blank.
    fn advance(&mut self) -> Result<bool, WorkloadError> {
        loop {
            let more =
                self.records.next(&mut self.record).map_err(|error| source::failed(self.place.0, error))?;
            if !more || self.record.width() > 0 {
                return Ok(more);
            }
        }
    }

    /// The next row that is wanted.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&Record>, WorkloadError> {
        loop {
            self.before = self.record.line;
            if !self.advance()? {
                return Ok(None);
            }
            if self.rows.is_multiple_of(4096) {
                source::check_stop()?;
            }
            self.rows += 1;
            let (expected, found) = (self.layout.width, self.record.fields.len());
            if found < expected || found > expected && self.record.width() > expected {
                return self.other_width(expected, found);
            }
            if self.layout.filters.iter().all(|filter| filter.holds(&self.record)) {
                return Ok(Some(&self.record));
            }
            self.left_out += 1;
        }
    }

    /// A row of another width is an error; but not the last one, if whoever wrote the file was stopped in it.
    #[cold]
    fn other_width(&mut self, expected: usize, found: usize) -> Result<Option<&Record>, WorkloadError> {
        let error = self.error(found.min(expected), self.width_problem(expected, found));
        let line = self.record.line;
        // Reports have several tables, with a blank line between.
        if matches!(self.layout.shape, Shape::Percentiles { .. }) && self.rows > 1 && line > self.before + 1 {
            self.another = Some(line);
            return Ok(None);
        }
        if found < expected && self.rows > 1 && !self.advance()? && self.records.ends_within_a_line() {
            self.cut = Some(line);
            return Ok(None);
        }
        Err(error)
    }

    fn width_problem(&self, expected: usize, found: usize) -> RowProblem {
        let digits = |index: usize| {
            let field = self.record.get(index);
            !field.is_empty() && field.iter().all(u8::is_ascii_digit)
        };
        if found == expected + 1 && found >= 2 && digits(found - 1) && digits(found - 2) {
            let (whole, decimals) = (text(self.record.get(found - 2)), text(self.record.get(found - 1)));
            return RowProblem::Format(format!(
                "`{whole},{decimals}` is either one number with a decimal comma, and then columns are to be separated by \
                 semicolons or the number to be quoted, or two columns, and then the first row lacks a name"
            ));
        }
        RowProblem::Columns { expected, found }
    }

    pub(super) fn error(&self, index: usize, problem: RowProblem) -> WorkloadError {
        self.place.row(self.record.line, self.records.column_of(&self.record, index), problem)
    }
}
