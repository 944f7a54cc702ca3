//! Output of single tools with formats of their own, made into the table that it shows: logs of PostgreSQL, tests of Go and JUnit, samples of
//! JMeter in XML, timers of statsd, spans of Rust's `tracing`, pauses of Java, answers that dnsperf and mtr print,
//! vectors of R and arrays of NumPy. The recogniser of formats calls [`Tool::of`] for a text that fits no earlier format, and [`Tool::read`]
//! if it is of one of these tools. Pure.
//!
//! The output becomes a table with names, in which each row keeps the number of its line. So columns, classes, conditions and units work as in
//! every other table.

mod answers;
mod java;
mod postgres;
mod rtla;
mod statsd;
mod tests;
mod tracing;
mod vectors;
mod xml;

use std::path::Path;

pub(super) use rtla::{holds_rtla, read_rtla};

use super::source::Source;
use super::{Columns, Place, Read, source, table, text};
use crate::error::WorkloadError;

/// A tool whose output is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// Durations in a log of PostgreSQL, in any of its three forms.
    Postgres(postgres::Form),
    GoTest,
    Statsd,
    /// Spans of Rust's `tracing` that were closed.
    Tracing,
    /// The log of Java's garbage collector.
    Java,
    Dnsperf,
    Mtr,
    /// A vector that R printed.
    Vector,
    /// An array that NumPy printed.
    Array,
    /// Anything in XML.
    Xml,
}

impl Tool {
    /// The tool that wrote this, if it is one of these.
    pub(super) fn of(source: &Source, wanted: &Columns) -> Option<Tool> {
        if xml::holds_xml(source.head()) {
            return Some(Tool::Xml);
        }
        if let Some(form) = postgres::form(source) {
            return Some(Tool::Postgres(form));
        }
        let lines: Vec<String> = source.head_lines().take(LINES).map(text).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        let known: [(Tool, Holds); 8] = [
            (Tool::GoTest, tests::holds_go),
            (Tool::Statsd, statsd::holds),
            (Tool::Tracing, tracing::holds),
            (Tool::Java, java::holds),
            (Tool::Dnsperf, answers::holds_dnsperf),
            (Tool::Mtr, answers::holds_mtr),
            (Tool::Vector, vectors::holds_r),
            (Tool::Array, vectors::holds_numpy),
        ];
        let (tool, _) = known.into_iter().find(|(_, holds)| holds(&lines))?;
        // A log in which spans close has other lines, too, and the user may want a column of these.
        let is_other = wanted.column.as_deref().is_some_and(|column| !column.starts_with("time."));
        Some(tool).filter(|tool| *tool != Tool::Tracing || !is_other)
    }

    /// Reads the output of the tool.
    pub(super) fn read(self, bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
        let place = Place(path);
        let shown = match self {
            Tool::Postgres(form) => postgres::table(form, bytes, &place)?,
            Tool::GoTest => tests::of_go(bytes, &place)?,
            Tool::Statsd => statsd::table(bytes, &place, wanted)?,
            Tool::Tracing => tracing::table(bytes, &place)?,
            Tool::Java => java::table(bytes, &place)?,
            Tool::Dnsperf => answers::of_dnsperf(bytes, &place)?,
            Tool::Mtr => answers::of_mtr(bytes, &place)?,
            Tool::Vector => vectors::from_r(bytes, &place)?,
            Tool::Array => vectors::from_numpy(bytes, &place)?,
            Tool::Xml => xml::table(bytes, &place)?,
        };
        shown.read(path, wanted)
    }
}

/// Says whether these lines are the output of a tool.
type Holds = fn(&[&str]) -> bool;

/// Lines at the beginning of a text by which its tool is recognised.
const LINES: usize = 400;
/// Most names of a column that is taken for classes without being asked for.
const CLASSES_MAX: usize = 16;

/// The output of a tool, as a table.
struct Shown {
    /// The name of the format for the user.
    format: &'static str,
    rows: Rows,
    /// The column of the times, if the output has one, for users who name none.
    column: Option<String>,
    /// The column of the classes, if the user names none.
    class: Option<String>,
    /// The column with the count of each time. No other column is taken for counts, whatever its name is.
    count: Option<String>,
    notes: Vec<String>,
    /// The name of the times' column for the user, and the reason for its unit, where those of the table would confuse.
    called: Option<(String, &'static str)>,
}

impl Shown {
    fn new(format: &'static str, names: &[&str]) -> Shown {
        let column = Some(names[0].to_owned());
        Shown {
            format,
            rows: Rows::new(names),
            column,
            class: None,
            count: None,
            notes: Vec::new(),
            called: None,
        }
    }

    fn read(self, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
        let mut columns = wanted.clone();
        // The user may leave out the unit: `duration` means `duration_ms`.
        let name = self.column.as_deref().and_then(|column| column.rsplit_once('_')).map(|(name, _)| name);
        if self.called.is_some() || columns.column.is_none() || columns.column.as_deref() == name {
            columns.column.clone_from(&self.column);
        }
        columns.class_column = columns.class_column.or(self.class);
        columns.count_column = columns.count_column.or(self.count).or_else(|| Some(String::new()));
        let mut read = table::read_service_table(Source::of_bytes(&self.rows.csv), path, &columns)?;
        self.format.clone_into(&mut read.taken.format);
        if let Some((name, unit_by)) = self.called {
            read.taken.column = Some(name);
            if !unit_by.is_empty() {
                read.taken.unit_by = unit_by;
            }
        }
        read.notes.extend(self.notes);
        Ok(read)
    }
}

/// Rows that become a table.
struct Rows {
    csv: Vec<u8>,
    /// Lines that were written.
    lines: usize,
    /// Rows, without their names.
    count: usize,
}

impl Rows {
    fn new(names: &[&str]) -> Rows {
        let mut rows = Rows { csv: Vec::new(), lines: 0, count: 0 };
        rows.write(names);
        rows
    }

    /// Adds the row that stood in `line`, from 1. Empty lines are put before it so that it keeps its number.
    fn add(&mut self, line: usize, fields: &[&str]) -> Result<(), WorkloadError> {
        if self.count.is_multiple_of(4096) {
            source::check_stop()?;
        }
        while self.lines + 1 < line {
            self.csv.push(b'\n');
            self.lines += 1;
        }
        self.write(fields);
        self.count += 1;
        Ok(())
    }

    fn write(&mut self, fields: &[&str]) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.csv.push(b',');
            }
            // A row that begins with a comment mark would become a comment.
            let is_plain =
                !field.is_empty() && field.bytes().all(|byte| byte > b' ' && !b"\",#".contains(&byte));
            if is_plain {
                self.csv.extend_from_slice(field.as_bytes());
                continue;
            }
            self.csv.push(b'"');
            for byte in field.bytes() {
                match byte {
                    b'"' => self.csv.extend_from_slice(b"\"\""),
                    b'\n' | b'\r' => self.csv.push(b' '),
                    byte => self.csv.push(byte),
                }
            }
            self.csv.push(b'"');
        }
        self.csv.push(b'\n');
        self.lines += 1;
    }
}

/// The different names in a column, and the number of rows that have one.
#[derive(Default)]
struct Names {
    names: std::collections::HashSet<String>,
    rows: usize,
}

impl Names {
    fn see(&mut self, name: &str) {
        self.rows += 1;
        if self.names.len() <= 256 && !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// Are there several, few enough to be classes, and does each come again?
    fn are_classes(&self) -> bool {
        (2..=CLASSES_MAX).contains(&self.names.len()) && 2 * self.names.len() <= self.rows
    }
}

/// Whether at least two lines match, and at least two of three lines.
fn most(lines: &[&str], matches: impl Fn(&str) -> bool) -> bool {
    let alike = lines.iter().filter(|line| matches(line)).count();
    alike >= 2 && 3 * alike >= 2 * lines.len()
}

/// The note on lines without a time: their number and a description.
fn passed_over(count: usize, noun: &str, what: &str) -> Option<String> {
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("passed over: {count} {noun}{s} {what}"))
}
