//! The content of a table's rows: values, buckets, percentiles or points. The reader of tables adds each row as it reads it, and `finish.rs` takes
//! the content after the last row. It keeps the values in memory.

use super::fields::{count, interval, is_endless, share};
use super::layout::{Layout, Shape, named};
use super::names::{is_no_time, is_sum, row_unit};
use super::records::Record;
use crate::error::RowProblem;
use crate::input::between::between;
use crate::input::buckets::{Bins, Edges};
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles, Statistic};
use crate::input::plausible::Plausible;
use crate::input::unit::{Said, Unit};
use crate::input::{Trace, shorten, text, time_ps};

/// The content of all rows so far.
#[derive(Default)]
pub(super) struct Content {
    pub(super) trace: Trace,
    pub(super) weights: Vec<f64>,
    pub(super) bins: Bins,
    pub(super) percentiles: Vec<Percentiles>,
    pub(super) plausible: Plausible,
    /// The number of times of 0, which are left out because no request takes no time.
    pub(super) zeros: u64,
    /// The most decimals of a time.
    pub(super) decimals: u32,
    pub(super) failures: u64,
    pub(super) runs: f64,
    /// The status of the first request that failed.
    pub(super) first_failure: Option<String>,
    /// Points of distributions: the class, the value and its share.
    pub(super) points: Vec<(String, u64, u64, f64)>,
    /// Bounds of buckets: the class, the bound and the count.
    pub(super) edges: Vec<(String, u64, u64)>,
    /// The names of rows of percentiles, by which rows are told apart.
    pub(super) rows: Vec<String>,
    /// The number of rows with percentiles of something else than times.
    pub(super) no_times: u64,
    /// Rows that are called totals or the like: the value's number, and the name.
    pub(super) sums: Vec<(usize, String)>,
    pub(super) weighted_sum: f64,
}

/// A problem of the field with this index.
pub(super) type FieldProblem = (usize, RowProblem);

impl Content {
    #[inline]
    pub(super) fn add(&mut self, record: &Record, layout: &Layout) -> Result<(), FieldProblem> {
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
                // An empty bucket at 0 does not mean that there is a time of 0.
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
                let number = between(record.get(layout.value), record.get(*end), layout.style)
                    .map_err(|problem| (*end, problem))?;
                let shown = text(record.get(*end));
                let ps = self.time_of(number, shown.as_bytes(), layout).map_err(|problem| (*end, problem))?;
                self.keep(record, layout, class, (number, ps))
            }
        }
    }

    #[inline]
    pub(super) fn add_value(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
    ) -> Result<(), FieldProblem> {
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
        self.keep(record, layout, class, (number, ps))
    }

    /// Keeps a value with its class and its line.
    #[inline]
    fn keep(
        &mut self,
        record: &Record,
        layout: &Layout,
        class: &[u8],
        (number, ps): (Number, u64),
    ) -> Result<(), FieldProblem> {
        self.zeros += u64::from(ps == 0);
        self.decimals = self.decimals.max(number.decimals());
        self.trace
            .push(class, record.line, ps)
            .map_err(|problem| (layout.class.unwrap_or(layout.value), problem))
    }

    /// The time in a field; keeps what the field shows about the unit.
    #[inline]
    pub(super) fn time(&mut self, field: &[u8], layout: &Layout) -> Result<(Number, u64), RowProblem> {
        let number = Number::parse(field, layout.style)?;
        Ok((number, self.time_of(number, field, layout)?))
    }

    /// The time that a number stands for; keeps what the number shows about the unit.
    #[inline]
    pub(super) fn time_of(
        &mut self,
        number: Number,
        field: &[u8],
        layout: &Layout,
    ) -> Result<u64, RowProblem> {
        let unit = layout.unit.map_or(Unit::Ns, |(unit, _)| unit);
        if number.unit.is_some() {
            self.plausible.see_unit();
        } else if layout.unit.is_none() {
            self.plausible.see(&number, field);
        }
        match time_ps(&number, field, unit) {
            // A time with fractions and without a unit: in the end an error asks for the unit.
            Err(RowProblem::TooShort(_)) if layout.unit.is_none() && number.unit.is_none() => Ok(1),
            ps => ps,
        }
    }

    pub(super) fn add_range(
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

    pub(super) fn add_cumulative(
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

    pub(super) fn add_percentile(
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
    pub(super) fn add_interval(
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
        // pandas lowers the first bound a little, so that the smallest value lies within; the bound may be below 0.
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

    pub(super) fn add_percentiles(
        &mut self,
        record: &Record,
        layout: &Layout,
        columns: &[(usize, Statistic)],
        count_column: Option<usize>,
    ) -> Result<(), FieldProblem> {
        let class = layout.class.map_or_else(|| "all".to_owned(), |class| text(record.get(class)));
        // The name of a row may say its unit; a row of tokens, for example, has no unit of time.
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
}
