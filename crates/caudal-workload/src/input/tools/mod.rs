//! Output of single tools with formats of their own, made into the table that it shows: logs of PostgreSQL, tests of Go and JUnit, samples of
//! JMeter in XML, timers of statsd, spans of Rust's `tracing`, pauses of Java, answers that dnsperf and mtr print,
//! vectors of R and arrays of NumPy.
//! Called by the recogniser.
//!
//! Each becomes a table with names, whose rows are at the lines where they were: so columns, classes, conditions and units are those of
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

/// A tool that is known by what it writes.
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
        // A log in which spans close has other lines too, of which something else may be wanted.
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

/// Whether lines are of a tool.
type Holds = fn(&[&str]) -> bool;

/// Lines that are looked at.
const LINES: usize = 400;
/// More names than this are no classes unless somebody says so.
const CLASSES_MAX: usize = 16;

/// The output of a tool, as a table.
struct Shown {
    /// As it is named to the user.
    format: &'static str,
    rows: Rows,
    /// The column of the times, if the user names none and it is one.
    column: Option<String>,
    /// The column of the classes, if the user names none.
    class: Option<String>,
    /// The column that says how often each time occurs; none of the others does, whatever it is called.
    count: Option<String>,
    notes: Vec<String>,
    /// The column's name for the user, and what says its unit, where the table's own words do not fit.
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
        // Without the unit too: `duration` is `duration_ms`.
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

    /// Adds the row that stood in this line, from 1; it keeps it as far as there is room above.
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
            // A mark at the beginning would make a comment of the row.
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

/// Different names, and how many rows have any.
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

/// Do at least two lines, and two of three, match?
fn most(lines: &[&str], matches: impl Fn(&str) -> bool) -> bool {
    let alike = lines.iter().filter(|line| matches(line)).count();
    alike >= 2 && 3 * alike >= 2 * lines.len()
}

/// The note on lines that hold no time: so many of them, and what they are like.
fn passed_over(count: usize, noun: &str, what: &str) -> Option<String> {
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("passed over: {count} {noun}{s} {what}"))
}
