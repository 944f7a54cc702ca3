//! The times of arrivals in a table: numbers in a unit, epochs, or dates with a time of day (ISO 8601). The reader of timestamps calls it
//! for a file of arrivals, once the column is known. Pure.

use super::Timestamps;
use super::layout::Layout;
use super::sample::Sample;
use crate::error::{RowProblem, WorkloadError};
use crate::input::dates::{date_ps, epoch_unit, is_date};
use crate::input::number::{Number, Style};
use crate::input::plausible::Plausible;
use crate::input::unit::Unit;
use crate::input::{Counted, Place, Taken, shorten, text};

/// If at least this share of the gaps between arrivals is 0, the cause is taken to be a coarse clock, not the arrivals.
const TIED: f64 = 0.2;

/// How the times of a file are written.
pub(super) struct Reader {
    written: Written,
    unit_by: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    /// A number in this unit.
    Number { unit: Unit, style: Style, is_said: bool },
    /// A date and a time of day.
    Date,
}

impl Reader {
    pub(super) fn new(sample: &Sample, layout: &Layout) -> Reader {
        let first: Vec<String> = sample.column(layout.value).take(20).map(text).collect();
        if first.iter().any(|field| is_date(field)) {
            return Reader { written: Written::Date, unit_by: "" };
        }
        let epoch = first.iter().map(|field| epoch_unit(field)).collect::<Option<Vec<_>>>();
        let epoch =
            epoch.and_then(|units| units.first().copied().filter(|unit| units.iter().all(|u| u == unit)));
        let (unit, unit_by, is_said) = match (layout.unit, epoch) {
            (Some((unit, by)), _) => (unit, by, true),
            (None, Some(unit)) => (unit, "these are epochs", true),
            (None, None) => (Unit::Ns, "nothing says another one", false),
        };
        Reader { written: Written::Number { unit, style: layout.style, is_said }, unit_by }
    }

    /// The time in a field, in ps since whatever the file counts from.
    #[inline]
    fn time(&self, field: &[u8], plausible: &mut Plausible) -> Result<i128, RowProblem> {
        match self.written {
            Written::Number { unit, style, is_said } => {
                let number = Number::parse(field, style)?;
                if !is_said && number.unit.is_none() {
                    plausible.see(&number, field);
                }
                let ps = number.ps(unit).and_then(|ps| i128::try_from(ps).ok());
                ps.ok_or_else(|| too_late(field))
            }
            Written::Date => date_ps(&text(field)).ok_or_else(|| {
                RowProblem::Format(format!(
                    "`{}` is no date with a time of day, such as 2026-03-14T15:09:26.535Z",
                    shorten(&text(field))
                ))
            }),
        }
    }
}

fn too_late(field: &[u8]) -> RowProblem {
    RowProblem::Format(format!("`{}` is beyond 213 days, the end of time here", shorten(&text(field))))
}

/// The times of arrivals that have been read so far.
#[derive(Default)]
pub(super) struct Times {
    first: Option<i128>,
    times_ps: Vec<u64>,
    plausible: Plausible,
}

impl Times {
    #[inline]
    pub(super) fn add(&mut self, reader: &Reader, field: &[u8]) -> Result<(), RowProblem> {
        let time = reader.time(field, &mut self.plausible)?;
        let since = time - *self.first.get_or_insert(time);
        if since < i128::from(self.times_ps.last().copied().unwrap_or(0)) {
            return Err(RowProblem::BackInTime(shorten(&text(field))));
        }
        self.times_ps.push(u64::try_from(since).map_err(|_| too_late(field))?);
        Ok(())
    }

    pub(super) fn finish(
        self,
        reader: &Reader,
        layout: &Layout,
        place: &Place<'_>,
        left_out: u64,
        filter: Vec<String>,
    ) -> Result<Timestamps, WorkloadError> {
        self.plausible.check_arrivals(place)?;
        let unit = match reader.written {
            Written::Number { unit, .. } => Some(unit),
            Written::Date => None,
        };
        let format = match reader.written {
            Written::Number { .. } => format!("times of arrivals in {}", layout.format),
            Written::Date => format!("dates of arrivals in {}", layout.format),
        };
        let taken = Taken {
            format,
            column: layout.value_name.clone(),
            class_column: None,
            arrival_column: None,
            unit,
            unit_by: reader.unit_by,
            values: self.times_ps.len() as u64,
            counted: Counted::default(),
            left_out,
            filter,
        };
        let notes = ties(&self.times_ps).into_iter().collect();
        Ok(Timestamps { times_ps: self.times_ps, taken, notes })
    }
}

/// A note about arrivals at the same time, if they are so many ([`TIED`]) that the clock must have been coarse.
fn ties(times_ps: &[u64]) -> Option<String> {
    let mut gaps: Vec<u64> = times_ps.windows(2).map(|two| two[1] - two[0]).collect();
    let tied = gaps.iter().filter(|&&gap| gap == 0).count();
    if gaps.is_empty() || (tied as f64) < TIED * gaps.len() as f64 {
        return None;
    }
    gaps.retain(|&gap| gap > 0);
    let step = gaps.iter().min()?;
    Some(format!(
        "{tied} of {} arrivals come at the same time as the one before, and the others {} or more later: a coarse clock \
         probably caused this, and the requests will arrive in bursts that did not exist; record times with more digits",
        times_ps.len(),
        crate::format::time(*step as f64)
    ))
}
