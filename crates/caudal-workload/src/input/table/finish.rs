//! The end of reading a table, from the content of its rows to what the file is taken for: sums and totals are left out, points and edges become buckets,
//! and what remains unclear is asked. Called once a table, behind its last row.

use super::content::Content;
use super::layout::{Layout, Shape, Status, texts};
use super::names::is_sum;
use super::shares::{self, Points};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::buckets::Edges;
use crate::input::percentiles::Percentiles;
use crate::input::unit::Unit;
use crate::input::{Counted, Data, Place, Read, Taken};

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

impl Content {
    pub(super) fn finish(
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

    /// # Errors
    /// The question of which row is meant, if they are of runs, intervals or metrics.
    pub(super) fn ask_for_row(&self, layout: &Layout, place: &Place<'_>) -> Result<(), WorkloadError> {
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
    pub(super) fn of_points(
        &mut self,
        points: Points,
        place: &Place<'_>,
    ) -> Result<Option<String>, WorkloadError> {
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
    pub(super) fn of_edges(&mut self, is_low: bool, place: &Place<'_>) -> Result<(), WorkloadError> {
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
    pub(super) fn without_sums(
        &mut self,
        layout: &Layout,
        place: &Place<'_>,
    ) -> Result<Option<String>, WorkloadError> {
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

    /// The note on requests that failed.
    pub(super) fn failed(&self, column: usize, status: Status, values: u64, layout: &Layout) -> String {
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
