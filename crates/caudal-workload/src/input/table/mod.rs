//! Tables: CSV, TSV and their relatives, a value a row.
//!
//! Lines that begin with `#` are comments, blank lines are passed over, fields may be quoted, rows may end in separators. A
//! first row of names is a header. What is in which column follows from the names ([`columns`]), from the writer if it is known
//! ([`presets`]), or from what the user says; where none of them tells, the user is asked.
//!
//! Rows are read one after the other and only their times, classes and lines that jump are kept: 9 bytes a row.

mod columns;
mod presets;
mod records;
mod sample;
mod times;

use std::path::Path;

pub(in crate::input) use columns::is_arrival;
use columns::{Filter, Finder, Layout, Role, Shape, interval, is_no_time};
pub(in crate::input) use records::{Record, Records, column_of};
pub(crate) use sample::{Sample, Separator};
pub(in crate::input) use times::date_ps;

use super::buckets::{Bins, Edges};
use super::number::Number;
use super::percentiles::{Moments, Percentiles, Statistic};
use super::source::{self, Source};
use super::unit::{Plausible, Unit};
use super::{Columns, Counted, Data, Place, Read, Taken, Trace, shorten, text, time_ps};
use crate::error::{RowProblem, WorkloadError};

/// Reads service times: a value a row, with a class, or with how often it occurs.
pub(crate) fn read_service_table(
    source: Source,
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let sample = Sample::of(&source, wanted.decimal).ok_or_else(|| nothing(&place))?;
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
    let mut content = Content { plausible: Plausible::called(&name), ..Content::default() };
    while let Some(record) = table.next()? {
        content.add(record, &layout).map_err(|(index, problem)| table.error(index, problem))?;
    }
    let Table { left_out, cut, .. } = table;
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
    content.finish(&layout, &place, left_out, notes)
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

/// The rows of a table that are wanted.
struct Table<'a> {
    records: Records<Box<dyn std::io::Read>>,
    record: Record,
    layout: &'a Layout,
    place: &'a Place<'a>,
    /// Rows that a condition left out.
    left_out: u64,
    rows: u64,
    /// The line that is cut off.
    cut: Option<u64>,
}

impl<'a> Table<'a> {
    fn new(
        source: Source,
        sample: &Sample,
        layout: &'a Layout,
        place: &'a Place<'a>,
    ) -> Result<Table<'a>, WorkloadError> {
        let records = Records::new(Box::new(source.stream()) as Box<dyn std::io::Read>, sample.separator);
        let record = Record::default();
        let mut table = Table { records, record, layout, place, left_out: 0, rows: 0, cut: None };
        for _ in 0..usize::from(sample.header.is_some()) + usize::from(sample.has_types) {
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
    fn next(&mut self) -> Result<Option<&Record>, WorkloadError> {
        loop {
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

    fn error(&self, index: usize, problem: RowProblem) -> WorkloadError {
        self.place.row(self.record.line, self.records.column_of(&self.record, index), problem)
    }
}

impl Filter {
    #[inline]
    fn holds(&self, record: &Record) -> bool {
        (record.get(self.column) == self.value.as_bytes()) == self.equal
    }
}

/// What the rows held.
#[derive(Default)]
struct Content {
    trace: Trace,
    weights: Vec<f64>,
    bins: Bins,
    percentiles: Vec<Percentiles>,
    plausible: Plausible,
    /// Times of 0, of which there is none.
    zeros: u64,
    /// The most decimals of a time.
    decimals: u32,
    failures: u64,
    runs: f64,
}

/// A problem of the field with this index.
type FieldProblem = (usize, RowProblem);

impl Content {
    #[inline]
    fn add(&mut self, record: &Record, layout: &Layout) -> Result<(), FieldProblem> {
        let class = layout.class.map_or(&b"all"[..], |class| named(record.get(class), layout));
        if let Some((column, good)) = layout.success
            && !good.iter().any(|good| good.as_bytes() == record.get(column))
        {
            self.failures += 1;
        }
        match &layout.shape {
            Shape::Value => self.add_value(record, layout, class),
            Shape::Weighted { weight } => {
                let share = share(record.get(*weight)).map_err(|problem| (*weight, problem))?;
                let zeros = self.zeros;
                self.add_value(record, layout, class)?;
                self.weights.push(share);
                // A bucket at 0 that is empty holds no time of 0.
                if share == 0.0 {
                    self.zeros = zeros;
                }
                Ok(())
            }
            Shape::Range { high, weight } => self.add_range(record, layout, class, *high, *weight),
            Shape::Cumulative { weight } => self.add_cumulative(record, layout, class, *weight),
            Shape::PercentileRow { percentile } => self.add_percentile(record, layout, class, *percentile),
            Shape::Percentiles { columns, count } => self.add_percentiles(record, layout, columns, *count),
            Shape::Interval { weight } => self.add_interval(record, layout, class, *weight),
        }
    }

    #[inline]
    fn add_value(&mut self, record: &Record, layout: &Layout, class: &[u8]) -> Result<(), FieldProblem> {
        let field = record.get(layout.value);
        let (number, mut ps) = self.time(field, layout).map_err(|problem| (layout.value, problem))?;
        if let Some(runs) = layout.runs {
            let divisor =
                Number::parse(record.get(runs), layout.style).map_err(|problem| (runs, problem))?.value();
            if divisor < 1.0 {
                return Err((runs, RowProblem::Zero(text(record.get(runs)))));
            }
            self.runs = self.runs.max(divisor);
            ps = (ps as f64 / divisor).round().max(1.0) as u64;
        }
        self.zeros += u64::from(ps == 0);
        self.decimals = self.decimals.max(number.decimals());
        self.trace
            .push(class, record.line, ps)
            .map_err(|problem| (layout.class.unwrap_or(layout.value), problem))
    }

    /// The time in a field, and what it says of the unit.
    #[inline]
    fn time(&mut self, field: &[u8], layout: &Layout) -> Result<(Number, u64), RowProblem> {
        let number = Number::parse(field, layout.style)?;
        let unit = layout.unit.map_or(Unit::Ns, |(unit, _)| unit);
        if number.unit.is_some() {
            self.plausible.see_unit();
        } else if layout.unit.is_none() {
            self.plausible.see(&number, field);
        }
        let ps = match time_ps(&number, field, unit) {
            // Its unit will be asked for: it has fractions.
            Err(RowProblem::TooShort(_)) if layout.unit.is_none() && number.unit.is_none() => 1,
            ps => ps?,
        };
        Ok((number, ps))
    }

    fn add_range(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
        high: usize,
        weight: usize,
    ) -> Result<(), FieldProblem> {
        let (_, low_ps) =
            self.time(record.get(layout.value), layout).map_err(|problem| (layout.value, problem))?;
        let high_ps = match is_endless(record.get(high)) {
            true => None,
            false => Some(self.time(record.get(high), layout).map_err(|problem| (high, problem))?.1),
        };
        let count = count(record.get(weight)).map_err(|problem| (weight, problem))?;
        let edges = Edges { low_ps, high_ps };
        self.bins.add(&text(class), edges, count).map_err(|problem| (layout.value, problem))
    }

    fn add_cumulative(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
        weight: usize,
    ) -> Result<(), FieldProblem> {
        let upper_ps = match is_endless(record.get(layout.value)) {
            true => None,
            false => Some(
                self.time(record.get(layout.value), layout).map_err(|problem| (layout.value, problem))?.1,
            ),
        };
        let up_to = count(record.get(weight)).map_err(|problem| (weight, problem))?;
        self.bins.add_up_to(&text(class), upper_ps, up_to).map_err(|problem| (weight, problem))
    }

    fn add_percentile(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
        column: usize,
    ) -> Result<(), FieldProblem> {
        let field = text(record.get(column));
        if is_no_time(&field) {
            return Ok(());
        }
        let number =
            Number::parse(field.as_bytes(), layout.style).ok().filter(|number| number.unit.is_none());
        let number =
            number.map(|number| number.value()).filter(|percentile| (0.0..=100.0).contains(percentile));
        let statistic =
            number.map(Statistic::Percentile).or_else(|| Statistic::of(&field)).ok_or_else(|| {
                let problem = format!("`{}` is no percentile, such as 99.9 or p99.9", shorten(&field));
                (column, RowProblem::Format(problem))
            })?;
        let (_, ps) =
            self.time(record.get(layout.value), layout).map_err(|problem| (layout.value, problem))?;
        let class = text(class);
        if !self.percentiles.iter().any(|known| known.class == class) {
            let (points, stated) = (Vec::new(), Moments::default());
            self.percentiles.push(Percentiles { class: class.clone(), points, weight: 1.0, stated });
        }
        let known = self.percentiles.iter_mut().find(|known| known.class == class).expect("it was added");
        match statistic {
            Statistic::Percentile(percentile) => known.points.push((percentile, ps)),
            moment => known.stated.set(moment, ps),
        }
        Ok(())
    }

    /// Values in an interval such as `(0.5, 1.0]`.
    fn add_interval(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
        weight: usize,
    ) -> Result<(), FieldProblem> {
        let field = record.get(layout.value);
        let of_value = |problem| (layout.value, problem);
        let [low, high] = interval(field).ok_or_else(|| {
            of_value(RowProblem::Format(format!(
                "`{}` is no interval such as (0.5, 1.0]",
                shorten(&text(field))
            )))
        })?;
        let count = count(record.get(weight)).map_err(|problem| (weight, problem))?;
        // pandas lowers the first bound a little, so that the least value is within: that may be below 0.
        let low_ps = match low.field.starts_with(b"-") {
            true => 0,
            false => self.time(low.field, layout).map_err(of_value)?.1 + u64::from(!low.belongs),
        };
        let high_ps = match is_endless(high.field) {
            true => None,
            false => Some(self.time(high.field, layout).map_err(of_value)?.1 + u64::from(high.belongs)),
        };
        let edges = Edges { low_ps, high_ps };
        self.bins.add(&text(class), edges, count).map_err(of_value)
    }

    fn add_percentiles(
        &mut self,
        record: &Record,
        layout: &Layout,
        columns: &[(usize, Statistic)],
        count_column: Option<usize>,
    ) -> Result<(), FieldProblem> {
        let class = layout.class.map_or_else(|| "all".to_owned(), |class| text(record.get(class)));
        let (mut points, mut stated) = (Vec::new(), Moments::default());
        for &(column, statistic) in columns {
            let field = record.get(column);
            if field.is_empty() || field.eq_ignore_ascii_case(b"n/a") {
                continue;
            }
            let (_, ps) = self.time(field, layout).map_err(|problem| (column, problem))?;
            match statistic {
                Statistic::Percentile(percentile) => points.push((percentile, ps)),
                moment => stated.set(moment, ps),
            }
        }
        let weight = match count_column {
            Some(column) => count(record.get(column)).map_err(|problem| (column, problem))? as f64,
            None => 1.0,
        };
        if !points.is_empty() && weight > 0.0 {
            self.percentiles.push(Percentiles { class, points, weight, stated });
        }
        Ok(())
    }

    fn finish(
        mut self,
        layout: &Layout,
        place: &Place<'_>,
        left_out: u64,
        mut notes: Vec<String>,
    ) -> Result<Read, WorkloadError> {
        let values = self.trace.ps.len() as u64;
        let unit = layout.unit.map_or(Unit::Ns, |(unit, _)| unit);
        let step_ps = unit.ps() / 10u64.checked_pow(self.decimals).unwrap_or(u64::MAX);
        if self.zeros == values {
            self.trace.replace_zeros(step_ps, place)?;
        }
        let unsaid = self.plausible.check(place)?;
        if values == 0 && self.bins.is_empty() && self.percentiles.is_empty() {
            return Err(place.whole(match left_out {
                0 => "has a header but no values; write one row a request".to_owned(),
                _ => format!(
                    "no row is left: `{}` holds for none of its {left_out} rows",
                    texts(&layout.filters).join("` and `")
                ),
            }));
        }
        notes.splice(0..0, unsaid);
        let zeros = self.trace.replace_zeros(step_ps, place)?;
        notes.extend(zeros.filter(|_| self.zeros > 0));
        if self.failures > 0 {
            let (column, good) = layout.success.expect("what failures are counted by");
            notes.push(failures(self.failures, column, good, &layout.format));
        }
        if self.runs > 1.0 {
            notes.push(format!(
                "each value is the mean of up to {:.0} runs: what single runs take beyond it is not in the file, so its tail \
                 is too short",
                self.runs
            ));
        }
        let values = match self.weights.iter().all(|weight| weight.fract() == 0.0) {
            true if !self.weights.is_empty() => self.weights.iter().sum::<f64>() as u64,
            _ => values,
        };
        let all = values.max(self.bins.count());
        let (said, by) = match layout.unit {
            Some((unit, by)) => (Some(unit), by),
            None if self.plausible.is_untouched() => (None, ""),
            None => (Some(Unit::Ns), "nothing says another one"),
        };
        let taken = Taken {
            format: layout.format.clone(),
            column: layout.value_name.clone(),
            class_column: layout.class_name.clone(),
            arrival_column: layout.has_arrivals.clone(),
            unit: said,
            unit_by: by,
            values: all,
            counted: Counted::default(),
            left_out,
            filter: texts(&layout.filters),
        };
        let data = match layout.shape {
            Shape::Value => Data::Trace(self.trace),
            Shape::Weighted { .. } => Data::Weighted(self.trace, self.weights),
            Shape::Range { .. } | Shape::Cumulative { .. } | Shape::Interval { .. } => {
                Data::Histograms(self.bins.finish(place, &mut notes)?)
            }
            Shape::PercentileRow { .. } => Data::Percentiles(of_shares(self.percentiles)),
            Shape::Percentiles { .. } => Data::Percentiles(without_totals(self.percentiles)),
        };
        Ok(Read { taken, data, notes })
    }
}

fn failures(count: u64, column: usize, good: &[&str], format: &str) -> String {
    let good = good.first().copied().unwrap_or_default();
    let s = if count == 1 { "request" } else { "requests" };
    format!(
        "{count} {s} failed ({format}, column {}); their times are among the others: `--where {}={good}` leaves them out",
        column + 1,
        column + 1
    )
}

/// Percentiles that were written as shares, 0 to 1, as percentiles.
fn of_shares(mut classes: Vec<Percentiles>) -> Vec<Percentiles> {
    let points = || classes.iter().flat_map(|class| &class.points);
    if points().all(|(percentile, _)| *percentile <= 1.0) {
        classes
            .iter_mut()
            .flat_map(|class| &mut class.points)
            .for_each(|(percentile, _)| *percentile *= 100.0);
    }
    classes
}

/// Rows that sum up the others are none of their own.
fn without_totals(mut classes: Vec<Percentiles>) -> Vec<Percentiles> {
    let is_total = |class: &Percentiles| {
        ["aggregated", "total", "totals", "all"].contains(&class.class.to_lowercase().as_str())
    };
    if classes.iter().any(|class| !is_total(class)) {
        classes.retain(|class| !is_total(class));
    }
    classes
}

fn texts(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(|filter| filter.text.clone()).collect()
}

/// What a class is called whose column holds `field`.
fn named<'a>(field: &'a [u8], layout: &Layout) -> &'a [u8] {
    let known = layout.class_names.iter().find(|(code, _)| code.as_bytes() == field);
    known.map_or(field, |(_, name)| name.as_bytes())
}

fn is_endless(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"+").unwrap_or(field);
    field.is_empty()
        || [&b"inf"[..], b"infinity", b"...", b"max"].iter().any(|end| field.eq_ignore_ascii_case(end))
}

/// A whole number of values.
fn count(field: &[u8]) -> Result<u64, RowProblem> {
    let shown = || shorten(&text(field));
    let number = share(field)?;
    if number.fract() != 0.0 || number > 1e15 {
        return Err(RowProblem::Format(format!(
            "`{}` is no number of values; write a whole number",
            shown()
        )));
    }
    Ok(number as u64)
}

/// How often a value occurs, as a number from 0 on.
fn share(field: &[u8]) -> Result<f64, RowProblem> {
    let shown = text(field);
    let found = shown.trim().parse::<f64>().ok().filter(|share| (0.0..=1e15).contains(share));
    found.ok_or_else(|| {
        RowProblem::Format(format!(
            "`{}` is not how often a value occurs: write a count or a share, from 0 on",
            shorten(&shown)
        ))
    })
}

/// When requests arrived.
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
