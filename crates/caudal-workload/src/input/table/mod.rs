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
mod separator;
mod shares;
mod times;

use std::path::Path;

pub(in crate::input) use columns::is_arrival;
use columns::{Filter, Finder, Layout, Role, Shape, Status, interval, is_no_time, is_sum, row_unit};
pub(in crate::input) use records::{Record, Records, column_of};
pub(crate) use sample::Sample;
pub(crate) use separator::Separator;
use shares::Points;

use super::buckets::{Bins, Edges};
use super::number::{Number, Style};
use super::percentiles::{Moments, Percentiles, Statistic};
use super::plausible::Plausible;
use super::source::{self, Source};
use super::unit::{Said, Unit};
use super::{Columns, Counted, Data, Place, Read, Taken, Trace, shorten, text, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

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
    /// The line of the row before.
    before: u64,
    /// The line where another table begins.
    another: Option<u64>,
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
    fn next(&mut self) -> Result<Option<&Record>, WorkloadError> {
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
    /// What the first request has as its status that failed.
    first_failure: Option<String>,
    /// Points of distributions: a class, the value and its share.
    points: Vec<(String, u64, u64, f64)>,
    /// Bounds of buckets: a class, the bound and how many.
    edges: Vec<(String, u64, u64)>,
    /// Rows of percentiles, by what tells them apart.
    rows: Vec<String>,
    /// Rows of percentiles that are of no times.
    no_times: u64,
    /// Values of rows that are called totals or the like, and how.
    sums: Vec<(usize, String)>,
    weighted_sum: f64,
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
        if let Some((column, status)) = layout.status
            && status.is_failure(record.get(column))
        {
            self.failures += 1;
            self.first_failure.get_or_insert_with(|| text(record.get(column)));
        }
        match &layout.shape {
            Shape::Value => {
                if let Some(label) = layout.label.map(|at| record.get(at)).filter(|label| label.len() < 13)
                    && std::str::from_utf8(label).is_ok_and(is_sum)
                {
                    self.sums.push((self.trace.ps.len(), text(label)));
                }
                self.add_value(record, layout, class)
            }
            Shape::Weighted { weight } => {
                let share = share(record.get(*weight)).map_err(|problem| (*weight, problem))?;
                let zeros = self.zeros;
                self.add_value(record, layout, class)?;
                self.weighted_sum += share
                    * Number::parse(record.get(layout.value), layout.style)
                        .map_or(0.0, |number| number.value());
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
            Shape::Edges { weight, .. } => {
                let ps =
                    self.time(record.get(layout.value), layout).map_err(|problem| (layout.value, problem))?.1;
                let count = count(record.get(*weight)).map_err(|problem| (*weight, problem))?;
                self.edges.push((text(class), ps, count));
                Ok(())
            }
            Shape::Points { share: column, .. } => {
                let ps =
                    self.time(record.get(layout.value), layout).map_err(|problem| (layout.value, problem))?.1;
                let field = record.get(*column);
                let shown = text(field.strip_suffix(b"%").unwrap_or(field)).replacen(',', ".", 1);
                let share = share(shown.as_bytes()).map_err(|problem| (*column, problem))?;
                self.points.push((text(class), record.line, ps, share));
                Ok(())
            }
            Shape::Between { end } => {
                let number =
                    super::between::between(record.get(layout.value), record.get(*end), layout.style)
                        .map_err(|problem| (*end, problem))?;
                let shown = text(record.get(*end));
                let ps = self.time_of(number, shown.as_bytes(), layout).map_err(|problem| (*end, problem))?;
                self.zeros += u64::from(ps == 0);
                self.decimals = self.decimals.max(number.decimals());
                self.trace
                    .push(class, record.line, ps)
                    .map_err(|problem| (layout.class.unwrap_or(layout.value), problem))
            }
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
        Ok((number, self.time_of(number, field, layout)?))
    }

    /// The time that a number is, and what it says of the unit.
    #[inline]
    fn time_of(&mut self, number: Number, field: &[u8], layout: &Layout) -> Result<u64, RowProblem> {
        let unit = layout.unit.map_or(Unit::Ns, |(unit, _)| unit);
        if number.unit.is_some() {
            self.plausible.see_unit();
        } else if layout.unit.is_none() {
            self.plausible.see(&number, field);
        }
        match time_ps(&number, field, unit) {
            // Its unit will be asked for: it has fractions.
            Err(RowProblem::TooShort(_)) if layout.unit.is_none() && number.unit.is_none() => Ok(1),
            ps => ps,
        }
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
        // The name of a row may say its unit: that of tokens has none of time.
        let of_row = layout.rows_by.and_then(|at| row_unit(record.get(at)));
        if of_row == Some(Said::Unknown) {
            self.no_times += 1;
            return Ok(());
        }
        let (mut points, mut stated) = (Vec::new(), Moments::default());
        for &(column, statistic) in columns {
            let field = record.get(column);
            if field.is_empty() || field.eq_ignore_ascii_case(b"n/a") {
                continue;
            }
            // Each cell may have separators of thousands.
            let number =
                Number::parse(field, layout.style).or_else(|_| Number::parse(field, Style::POINT_GROUPED));
            let number = number.map_err(|problem| (column, problem))?;
            let number = match of_row {
                Some(Said::Unit(unit)) => number.in_unit(unit),
                _ => number,
            };
            let ps = self.time_of(number, field, layout).map_err(|problem| (column, problem))?;
            match statistic {
                Statistic::Percentile(percentile) => points.push((percentile, ps)),
                moment => stated.set(moment, ps),
            }
        }
        self.rows.extend(layout.rows_by.or(layout.when).map(|at| text(record.get(at))));
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
        self.ask_for_row(layout, place)?;
        if let Shape::Points { points, .. } = layout.shape {
            notes.extend(self.of_points(points, place)?);
        }
        if let Shape::Edges { is_low, .. } = layout.shape {
            self.of_edges(is_low, place)?;
        }
        notes.extend(self.without_sums(layout, place)?);
        let values = self.trace.ps.len() as u64;
        let unit = layout.unit.map_or(Unit::Ns, |(unit, _)| unit);
        let step_ps = unit.ps() / 10u64.checked_pow(self.decimals).unwrap_or(u64::MAX);
        if self.zeros == values {
            self.trace.replace_zeros(step_ps, place)?;
        }
        let counted: f64 = self.weights.iter().sum();
        if matches!(layout.shape, Shape::Weighted { .. }) && counted >= 1.0 {
            self.plausible = self.plausible.with_mean_of(self.weighted_sum, counted.round() as u64);
        }
        let shares: f64 = self.weights.iter().sum();
        if matches!(layout.shape, Shape::Points { .. }) && shares > 0.0 {
            let sum: f64 =
                self.trace.ps.iter().zip(&self.weights).map(|(ps, share)| *ps as f64 * share).sum();
            self.plausible = self.plausible.with_mean_of(sum / shares / unit.ps() as f64, 1);
        }
        if let Shape::Edges { .. } = layout.shape {
            let sum = self.bins.middle_sum_ps() / unit.ps() as f64;
            self.plausible = self.plausible.with_mean_of(sum, self.bins.count());
        }
        if layout.means_of.is_some() {
            self.weights.iter_mut().for_each(|weight| *weight /= counted);
        }
        let is_summed = matches!(layout.shape, Shape::Percentiles { .. } | Shape::PercentileRow { .. });
        if is_summed && layout.unit.is_none() && !self.plausible.is_untouched() {
            return Err(self.plausible.ask(place, "are percentiles, which may be in any"));
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
        if let Some((column, status)) = layout.status.filter(|_| self.failures > 0) {
            notes.push(self.failed(column, status, values, layout));
        } else if self.failures > 0 {
            let (column, good) = layout.success.expect("what failures are counted by");
            notes.push(failures(self.failures, column, good, &layout.format));
        }
        if let Some(counts) = &layout.means_of {
            notes.push(format!(
                "a row seems to be an interval with `{counts}` requests and one time, their mean or a percentile: each counts as often, and \
                 what single requests take beyond it is not in the file, so its tail is too short"
            ));
        }
        if self.no_times > 0 {
            notes.push(format!(
                "{} rows are of no times, by the unit in their names, and were passed over",
                self.no_times
            ));
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
            format: match layout.shape {
                Shape::Points { points: Points::UpTo, .. } => {
                    format!("{} of a distribution, the share up to each value", layout.format)
                }
                Shape::Points { points: Points::Beyond, .. } => {
                    format!("{} of a distribution, the share beyond each value", layout.format)
                }
                Shape::Points { points: Points::Of, .. } => {
                    format!("{} of a distribution, the share of each value", layout.format)
                }
                _ => layout.format.clone(),
            },
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
            Shape::Value | Shape::Between { .. } => Data::Trace(self.trace),
            Shape::Weighted { .. } | Shape::Points { .. } => Data::Weighted(self.trace, self.weights),
            Shape::Range { .. } | Shape::Cumulative { .. } | Shape::Interval { .. } | Shape::Edges { .. } => {
                Data::Histograms(self.bins.finish(place, &mut notes)?)
            }
            Shape::PercentileRow { .. } => Data::Percentiles(of_shares(self.percentiles)),
            Shape::Percentiles { .. } => Data::Percentiles(without_totals(self.percentiles)),
        };
        Ok(Read { taken, data, notes })
    }
}

impl Content {
    /// # Errors
    /// The question of which row is meant, if they are of runs, intervals or metrics.
    fn ask_for_row(&self, layout: &Layout, place: &Place<'_>) -> Result<(), WorkloadError> {
        let mut names: Vec<&str> = self.percentiles.iter().map(|class| class.class.as_str()).collect();
        names.sort_unstable();
        // Classes that come again and again are those of intervals.
        let is_again = names.windows(2).any(|two| two[0] == two[1]);
        let column = layout.rows_by.or(layout.when.filter(|_| is_again));
        let Some(column) = column.filter(|_| self.percentiles.len() > 1) else { return Ok(()) };
        let name = layout.names.get(column).cloned().unwrap_or_else(|| (column + 1).to_string());
        let means = |percentiles: &Percentiles| {
            let point = |(percentile, ps): &(f64, u64)| {
                format!("p{percentile} = {}", crate::format::time(*ps as f64))
            };
            match layout.unit.is_some() || self.plausible.is_untouched() {
                true => percentiles.points.iter().take(3).map(point).collect::<Vec<_>>().join(", "),
                false => String::new(),
            }
        };
        let answer = |(row, percentiles): (&String, &Percentiles)| Answer {
            key: AskKey::Where,
            value: format!("{name}={row}"),
            means: means(percentiles),
        };
        let mut answers: Vec<Answer> = Vec::new();
        for row in self.rows.iter().zip(&self.percentiles).map(answer) {
            if answers.iter().all(|known| known.value != row.value) {
                answers.push(row);
            }
        }
        // Of many, the first ones and the last.
        let last = answers.len().saturating_sub(1);
        let mut at = 0;
        answers.retain(|_| {
            at += 1;
            at <= 8 || at > last
        });
        Err(WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!(
                "has percentiles of {} runs, intervals or metrics, a row each by `{name}`, which have no common distribution",
                self.percentiles.len()
            ),
            key: AskKey::Where,
            answers,
        })))
    }

    /// Makes points of distributions into values, each with its own share.
    fn of_points(&mut self, points: Points, place: &Place<'_>) -> Result<Option<String>, WorkloadError> {
        let shares: Vec<f64> = self.points.iter().map(|(.., share)| *share).collect();
        let scale = shares::scale(&shares);
        let mut rest = 0.0_f64;
        let all = std::mem::take(&mut self.points);
        let mut classes: Vec<&str> = Vec::new();
        for (class, ..) in &all {
            if !classes.contains(&class.as_str()) {
                classes.push(class);
            }
        }
        for class in classes {
            let of_class: Vec<&(String, u64, u64, f64)> = all.iter().filter(|one| one.0 == class).collect();
            let mut before = 0.0;
            for (index, (_, line, ps, share)) in of_class.iter().enumerate() {
                let wrong = |problem: &str| place.row(*line, 1, RowProblem::Format(problem.to_owned()));
                if points != Points::Of && index > 0 && of_class[index - 1].2 >= *ps {
                    return Err(wrong("the values of a distribution must rise from row to row"));
                }
                let share = share / scale;
                let up_to = match points {
                    Points::UpTo => share,
                    Points::Beyond => 1.0 - share,
                    Points::Of => before + share,
                };
                if !(-1e-6..=1.05).contains(&up_to) || up_to < before - 1e-6 {
                    return Err(wrong(
                        "the shares of a distribution must go from 0 to 1, or to 100, all in one direction",
                    ));
                }
                self.trace
                    .push(class.as_bytes(), *line, *ps)
                    .map_err(|problem| place.row(*line, 1, problem))?;
                self.weights.push((up_to - before).max(0.0));
                before = before.max(up_to);
            }
            rest = rest.max(1.0 - before);
        }
        if points != Points::Of && rest > 0.2 {
            return Err(place.whole(format!(
                "its shares end at {:.3}, so that {:.0} % of the requests are missing; give the distribution up to 1",
                1.0 - rest,
                100.0 * rest
            )));
        }
        Ok((points != Points::Of && rest > 1e-4).then(|| {
            format!(
                "the distribution ends at {:.5}: what takes longer than its last point is not in the file",
                1.0 - rest
            )
        }))
    }

    /// Makes bounds of buckets into those.
    fn of_edges(&mut self, is_low: bool, place: &Place<'_>) -> Result<(), WorkloadError> {
        let all = std::mem::take(&mut self.edges);
        let mut classes: Vec<&str> = Vec::new();
        for (class, ..) in &all {
            if !classes.contains(&class.as_str()) {
                classes.push(class);
            }
        }
        for class in classes {
            let mut bounds: Vec<(u64, u64)> =
                all.iter().filter(|one| one.0 == class).map(|(_, ps, count)| (*ps, *count)).collect();
            bounds.sort_unstable();
            let width = |at: usize| bounds[at].0.saturating_sub(bounds[at - 1].0);
            if bounds.len() < 2 || (1..bounds.len()).any(|at| width(at) == 0) {
                return Err(place.whole("a histogram needs two bounds or more, all of them different"));
            }
            for (at, &(ps, count)) in bounds.iter().enumerate() {
                let (low_ps, high_ps) = match is_low {
                    true if at + 1 < bounds.len() => (ps, bounds[at + 1].0),
                    true => (ps, ps + width(at)),
                    false if at > 0 => (bounds[at - 1].0, ps),
                    false => (ps.saturating_sub(width(1)), ps),
                };
                if high_ps > low_ps {
                    let edges = Edges { low_ps, high_ps: Some(high_ps) };
                    self.bins.add(class, edges, count).map_err(|problem| place.whole(problem.to_string()))?;
                }
            }
        }
        Ok(())
    }

    /// Leaves out rows that sum up the others, by the name that stands once where the others have their class.
    fn without_sums(&mut self, layout: &Layout, place: &Place<'_>) -> Result<Option<String>, WorkloadError> {
        if !matches!(layout.shape, Shape::Value | Shape::Between { .. }) {
            return Ok(None);
        }
        let counts = self.trace.counts();
        let classes = self.trace.classes.iter().zip(&counts);
        let of_class = classes.filter(|(name, count)| layout.class.is_some() && **count == 1 && is_sum(name));
        let of_class: Vec<String> = of_class.map(|(name, _)| name.clone()).collect();
        let of_class = if of_class.len() == counts.len() { Vec::new() } else { of_class };
        // Each has its name for itself, or it is that of something else.
        let rows = std::mem::take(&mut self.sums);
        let is_once = |name: &str| rows.iter().filter(|(_, other)| other == name).count() == 1;
        let rows: Vec<&(usize, String)> = rows.iter().filter(|(_, name)| is_once(name)).collect();
        let rows = if rows.len() == self.trace.ps.len() { Vec::new() } else { rows };
        let sums: Vec<String> =
            of_class.iter().cloned().chain(rows.iter().map(|(_, name)| name.clone())).collect();
        if sums.is_empty() {
            return Ok(None);
        }
        let retained = self.trace.retain(|trace, at| {
            let class = &trace.classes[usize::from(trace.class_of(at))];
            !of_class.contains(class) && rows.iter().all(|(row, _)| *row != at)
        });
        retained.map_err(|problem| place.whole(problem.to_string()))?;
        let named: Vec<String> = sums.iter().map(|sum| format!("`{sum}`")).collect();
        let named = named.join(" and ");
        Ok(Some(match sums.len() {
            1 => format!("the row {named} sums up the others, by its name, and was left out"),
            _ => format!("the rows {named} sum up the others, by their names, and were left out"),
        }))
    }

    /// What to say of requests that failed.
    fn failed(&self, column: usize, status: Status, values: u64, layout: &Layout) -> String {
        let name = layout.names.get(column).cloned().unwrap_or_else(|| (column + 1).to_string());
        let first = self.first_failure.as_deref().unwrap_or_default();
        let how = match status {
            Status::Http => format!("with `{name}` {first} or the like"),
            Status::Success => format!("with `{name}` {first}"),
        };
        format!(
            "{} of {values} requests failed, {how}; their times are among the others: `--where '{name}!={first}'` leaves these out",
            self.failures
        )
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
        ["", "aggregated", "total", "totals", "all"].contains(&class.class.to_lowercase().as_str())
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
