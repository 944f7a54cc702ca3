//! The collection of times and percentiles while JSON is read, and the decision about their unit and their classes in the end. `lines`,
//! `choosing` and `writers` add each time that they find, and finish the collection once for each file. It keeps the times in memory.

use serde_json::Value;

use super::conditions::lookup;
use super::values::{Known, SaidUnit};
use crate::error::{RowProblem, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles, Statistic, unit_of_name};
use crate::input::plausible::{Plausible, unit_of};
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Place, Read, Taken, Trace, time_ps};

/// Values that are being collected, and what is known about their unit so far.
#[derive(Default)]
pub(super) struct Collect {
    pub(super) trace: Trace,
    pub(super) unit: Option<(Unit, &'static str)>,
    pub(super) plausible: Plausible,
    pub(super) line: Option<u64>,
    /// The value of the last digit of the time with the most digits.
    pub(super) step_ps: Option<u64>,
}

impl Collect {
    pub(super) fn add(&mut self, class: &str, value: &Value, place: &Place<'_>) -> Result<(), WorkloadError> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let line = self.line.unwrap_or(self.trace.ps.len() as u64 + 1);
        let add = || -> Result<(), RowProblem> {
            let number = Number::parse(text.as_bytes(), Style::POINT)?;
            if number.unit.is_some() {
                self.plausible.see_unit();
            } else if self.unit.is_none() {
                self.plausible.see(&number, text.as_bytes());
            }
            let ps = match time_ps(&number, text.as_bytes(), self.unit.map_or(Unit::Ns, |(unit, _)| unit)) {
                // A time with fractions and without a unit: in the end an error asks for the unit.
                Err(RowProblem::TooShort(_)) if self.unit.is_none() && number.unit.is_none() => 1,
                ps => ps?,
            };
            let step_ps = number.step_ps(self.unit.map_or(Unit::Ns, |(unit, _)| unit));
            self.step_ps = Some(self.step_ps.map_or(step_ps, |step| step.min(step_ps)));
            self.trace.push(class.as_bytes(), line, ps)
        };
        let mut add = add;
        add().map_err(|problem| match self.line {
            Some(line) => place.row(line, 1, problem),
            None => place.whole(format!("value {line}: {problem}")),
        })
    }

    pub(super) fn finish(
        mut self,
        format: &str,
        column: Option<String>,
        place: &Place<'_>,
    ) -> Result<Read, WorkloadError> {
        if self.trace.ps.is_empty() {
            return Err(place.whole("holds no times"));
        }
        let zeros = self.trace.replace_zeros(self.step_ps.unwrap_or(1), place)?;
        let unsaid = self.plausible.check(place)?;
        let (unit, unit_by) = match self.unit {
            Some((unit, by)) => (Some(unit), by),
            None if self.plausible.is_untouched() => (None, ""),
            None => (Some(Unit::Ns), "nothing says another one"),
        };
        let taken = Taken {
            format: format.to_owned(),
            column: column.filter(|column| !column.is_empty()),
            class_column: (self.trace.classes.len() > 1).then(|| "class".to_owned()),
            unit,
            unit_by,
            values: self.trace.ps.len() as u64,
            ..Taken::default()
        };
        Ok(Read { taken, data: Data::Trace(self.trace), notes: unsaid.into_iter().chain(zeros).collect() })
    }
}

/// The key that holds the class of each object: the one that the user names, or one with few different values.
///
/// # Errors
/// If none of them has the key that is wanted.
pub(super) fn class_key(
    items: &[&Value],
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<Option<String>, WorkloadError> {
    if let Some(key) = &wanted.class_column {
        if !key.is_empty() && items.iter().all(|item| lookup(item, key).is_none()) {
            return Err(place.whole(format!("no object in it has `{key}`, which is to be its class")));
        }
        return Ok(Some(key.clone()).filter(|key| !key.is_empty()));
    }
    let known = ["class", "type", "op", "operation", "kind", "label"];
    let names_of = |key: &str| -> Option<Vec<&str>> {
        let mut names: Vec<&str> = items.iter().map(|item| item[key].as_str()).collect::<Option<_>>()?;
        names.sort_unstable();
        names.dedup();
        Some(names).filter(|names| (1..=16).contains(&names.len()))
    };
    Ok(known.into_iter().find(|key| names_of(key).is_some()).map(str::to_owned))
}

/// Percentiles of classes, each with its name.
pub(super) fn percentiles(
    path: &str,
    classes: &[(&str, &[Known<'_>])],
    said: Option<SaidUnit>,
    place: &Place<'_>,
) -> Result<Read, WorkloadError> {
    let mut taken = Taken {
        format: "percentiles in JSON".to_owned(),
        column: Some(path.to_owned()).filter(|path| !path.is_empty()),
        class_column: (classes.len() > 1).then(|| "name".to_owned()),
        ..Taken::default()
    };
    let mut read = Vec::new();
    for (class, known) in classes {
        let (percentiles, unit) = percentiles_of(path, class, known, said, place)?;
        read.push(percentiles);
        (taken.unit, taken.unit_by) = unit.map_or((None, ""), |(unit, by)| (Some(unit), by));
    }
    let equal = "the percentiles do not say how many requests each class has: they count alike; `--weights` says their shares";
    let notes = (classes.len() > 1).then(|| equal.to_owned()).into_iter().collect();
    Ok(Read { taken, data: Data::Percentiles(read), notes })
}

/// The percentiles of one class, and their unit.
fn percentiles_of(
    path: &str,
    class: &str,
    known: &[Known<'_>],
    said: Option<SaidUnit>,
    place: &Place<'_>,
) -> Result<(Percentiles, Option<SaidUnit>), WorkloadError> {
    let is_share =
        |statistic: &Statistic| !matches!(statistic, Statistic::Percentile(p) if *p > 1.0 && *p < 100.0);
    let scale = if known.iter().all(|(statistic, ..)| is_share(statistic)) { 100.0 } else { 1.0 };
    let mut numbers = Vec::new();
    for (statistic, value, key) in known {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parsed = Number::parse(text.as_bytes(), Style::POINT);
        numbers.push((
            *statistic,
            parsed.map_err(|problem| place.whole(format!("`{key}`: {problem}")))?,
            key,
        ));
    }
    let said = said.or_else(|| unit_of_name(numbers[0].2).map(|unit| (unit, "says its name")));
    let bare = numbers.iter().any(|(_, number, _)| number.unit.is_none());
    let unit = match said {
        None if bare => {
            let middle = numbers[numbers.len() / 2].1.value();
            Some(unit_of(path, None, middle, place)?)
        }
        said => said,
    };
    let (mut points, mut stated) = (Vec::new(), Moments::default());
    for (statistic, number, key) in numbers {
        let in_unit = unit.map(|(unit, _)| unit).unwrap_or_default();
        let ps = number.ps(in_unit).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        let ps = ps.ok_or_else(|| place.whole(format!("`{key}` is longer than an hour")))? as u64;
        match statistic {
            // Percentiles as shares, 0 to 1; `min` and `max` are none.
            Statistic::Percentile(percentile) if percentile <= 1.0 => points.push((percentile * scale, ps)),
            Statistic::Percentile(percentile) => points.push((percentile, ps)),
            moment => stated.set(moment, ps),
        }
    }
    Ok((Percentiles { class: class.to_owned(), points, weight: 1.0, stated }, unit))
}
