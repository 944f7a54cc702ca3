//! The unit and the style of the numbers in a column: from its name, the program that wrote the table, another column, or the user's choice. The
//! finder of columns asks once for a table, before its rows are read. Pure.

use super::finder::Finder;
use super::names::SIZES;
use super::presets::Preset;
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::dates::epoch_unit;
use crate::input::number::Style;
use crate::input::shorten;
use crate::input::unit::{Said, Unit, words};

impl Finder<'_> {
    pub(super) fn unit(
        &self,
        value: usize,
        preset: Option<&Preset>,
        name: Option<&str>,
    ) -> Result<Option<(Unit, &'static str)>, WorkloadError> {
        let said = name.map_or(Said::Nothing, Unit::of_name);
        let by_name = "says the column's name";
        match (said, self.wanted.unit) {
            (Said::Unit(named), Some(wanted)) if named != wanted => {
                let (name, wanted, named) = (name.unwrap_or_default(), wanted.name(), named.name());
                Err(self
                    .place
                    .whole(format!("column `{name}` is in {named}, but `unit` says {wanted}; keep one")))
            }
            (_, Some(wanted)) => Ok(Some((wanted, "as you said"))),
            (Said::Unit(named), None) => Ok(Some((named, by_name))),
            (Said::Unknown, None) => {
                let name = shorten(name.unwrap_or_default());
                let problem = format!(
                    "`{name}` names no unit that is known here, or two: end it in _ps, _ns, _us, _ms or _s, or say `--unit` \
                     (`unit = …` in a file)"
                );
                let before: usize =
                    self.header().map_or(0, |names| names[..value].iter().map(|name| name.len() + 1).sum());
                Err(self.place.row(self.sample.first_line, before + 1, RowProblem::Format(problem)))
            }
            (Said::Nothing, None) => {
                Ok(self.unit_of_format(value, preset, name).or_else(|| self.unit_of_column()))
            }
        }
    }

    /// The unit that a column such as `duration_unit` says in every row.
    pub(super) fn unit_of_column(&self) -> Option<(Unit, &'static str)> {
        let of = |at: usize| {
            let mut units = self.sample.column(at).map(|field| Unit::of_word(&crate::input::text(field)));
            let first = units.next()??;
            units.all(|unit| unit == Some(first)).then_some(first)
        };
        let names = self.header()?.iter().enumerate();
        let mut said = names
            .filter(|(_, name)| words(name).iter().any(|word| word == "unit"))
            .filter_map(|(at, _)| of(at));
        let unit = said.next().filter(|_| said.next().is_none())?;
        Some((unit, "says a column of it"))
    }

    pub(super) fn unit_of_format(
        &self,
        value: usize,
        preset: Option<&Preset>,
        name: Option<&str>,
    ) -> Option<(Unit, &'static str)> {
        if let Some(preset) = preset {
            let of_arrivals = preset.arrival.filter(|(column, _)| column.index(self.header()) == Some(value));
            return match of_arrivals {
                Some((_, unit)) => unit.map(|unit| (unit, "as the writer has it")),
                None => Some((preset.unit, "as the writer has it")),
            };
        }
        if let Some(unit) = self.unit_behind(value) {
            return Some((unit, "stands behind each of them"));
        }
        // Prometheus's bounds are in seconds, by its own convention.
        let is_le = name.is_some_and(|name| name.eq_ignore_ascii_case("le"));
        is_le.then_some((Unit::S, "Prometheus's convention for `le`"))
    }

    /// The unit of beginnings that are times since 1970.
    pub(super) fn unit_of_epochs(
        &self,
        value: usize,
        between: Option<(usize, usize)>,
    ) -> Option<(Unit, &'static str)> {
        between?;
        let mut units = self.sample.column(value).map(|field| epoch_unit(&crate::input::text(field)));
        let first = units.next()??;
        units.all(|unit| unit == Some(first)).then_some((first, "these are epochs"))
    }

    /// The name of a column that counts something instead of holding times: `ContextTokens`.
    pub(super) fn counts_something(&self, value: usize) -> Option<String> {
        let name = self.name(value)?;
        words(&name).iter().any(|word| SIZES.contains(&word.as_str())).then_some(name)
    }

    pub(super) fn style(&self, value: usize) -> Result<Style, WorkloadError> {
        match self.wanted.decimal {
            Some(',') => return Ok(Style::COMMA),
            Some('.') => return Ok(Style::POINT_GROUPED),
            Some(other) => {
                return Err(WorkloadError::value(
                    "decimal",
                    format!("{other:?}"),
                    "decimals stand behind `.` or `,`",
                ));
            }
            None => {}
        }
        self.sample.style(value).map_err(|field| {
            let (decimal, thousands) = (field.replace(',', "."), field.replace(',', ""));
            let answer =
                |value: &str, means: String| Answer { key: AskKey::Decimal, value: value.to_owned(), means };
            WorkloadError::Ask(Box::new(Ask {
                path: self.place.0.to_owned(),
                problem: format!("`{field}` has a decimal comma, or a comma between thousands"),
                key: AskKey::Decimal,
                answers: vec![
                    answer(",", format!("it is {decimal}")),
                    answer(".", format!("it is {thousands}")),
                ],
            }))
        })
    }
}
