//! Whether numbers without a unit can be nanoseconds: every reader shows it the numbers that it meets, and asks it at the end
//! what to tell the user, or which question to put.

use super::number::Number;
use super::unit::{Said, Unit, words};
use super::{Place, shorten};
use crate::LONGEST_PS;
use crate::error::{Answer, Ask, AskKey, WorkloadError};
use crate::format::time;

/// Are these numbers nanoseconds? What numbers of which nothing says the unit show of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plausible {
    values: u64,
    sum: f64,
    fractions: u64,
    thousands: u64,
    /// Numbers that have a unit of their own, among which the others stand.
    with_unit: u64,
    /// Are they called latencies, or the like?
    is_latency: bool,
    first: Vec<String>,
}

/// Fewer values than this may be whole thousands by chance.
const THOUSANDS: u64 = 5;

/// A mean below so many nanoseconds is that of no request.
const SHORTEST_NS: f64 = 10.0;

/// And below so many of nothing that a tool calls a latency, a response time or a duration: these include calls and clocks.
const SHORTEST_LATENCY_NS: f64 = 1000.0;

/// May a mean be this long? Nothing takes less than a nanosecond, and nothing here more than an hour.
pub(crate) fn is_possible(mean_ps: f64) -> bool {
    mean_ps == 0.0 || (Unit::Ns.ps() as f64..=LONGEST_PS as f64).contains(&mean_ps)
}

impl Plausible {
    /// Takes a number into account.
    #[inline]
    pub(crate) fn see(&mut self, number: &Number, field: &[u8]) {
        if self.first.len() < 3 {
            self.first.push(shorten(&super::text(field)));
        }
        let value = number.value();
        self.values += 1;
        self.sum += value;
        self.fractions += u64::from(number.has_fraction());
        self.thousands += u64::from(number.is_thousands());
    }

    /// Takes into account that a number has a unit of its own.
    #[inline]
    pub(crate) fn see_unit(&mut self) {
        self.with_unit += 1;
    }

    /// The evidence of a histogram of `values` values with this sum.
    pub(crate) fn of_histogram(sum: f64, values: u64, has_fractions: bool, first: Vec<String>) -> Plausible {
        Plausible { values, sum, fractions: u64::from(has_fractions), first, ..Plausible::default() }
    }

    /// The state before any number of a column or key with this name was seen.
    pub(crate) fn called(name: &str) -> Plausible {
        const LATENCIES: [&str; 10] = [
            "latency",
            "latencies",
            "lat",
            "elapsed",
            "rtt",
            "duration",
            "durations",
            "response",
            "took",
            "taken",
        ];
        let is_latency = words(name).iter().any(|word| LATENCIES.contains(&word.as_str()));
        Plausible { is_latency, ..Plausible::default() }
    }

    /// The same numbers, which stand for so many values with this sum.
    pub(crate) fn with_mean_of(self, sum: f64, values: u64) -> Plausible {
        if self.values == 0 { self } else { Plausible { sum, values, thousands: 0, ..self } }
    }

    /// Was no number seen?
    pub(crate) fn is_untouched(&self) -> bool {
        self.values == 0
    }

    /// Why they are no nanoseconds, if so.
    fn doubt(&self) -> Option<&'static str> {
        let mean = self.sum / self.values.max(1) as f64;
        if self.values == 0 {
            None
        } else if self.with_unit > 0 {
            Some("stand among others that have one")
        } else if self.fractions > 0 {
            Some("have fractions, which nanoseconds have not")
        } else if mean < SHORTEST_NS {
            Some("would be a few nanoseconds, which no request takes")
        } else if self.is_latency && mean < SHORTEST_LATENCY_NS {
            Some("would be less than a microsecond, which hardly any latency is")
        } else if self.values >= THOUSANDS && self.thousands == self.values {
            Some("are all whole thousands")
        } else {
            None
        }
    }

    /// As [`Plausible::check`], of times of arrivals, which may be as small and as round as they like.
    ///
    /// # Errors
    /// The question for the unit, if the numbers have fractions.
    pub(crate) fn check_arrivals(&self, place: &Place<'_>) -> Result<(), WorkloadError> {
        if self.fractions > 0 { self.check(place).map(|_| ()) } else { Ok(()) }
    }

    /// The note on numbers that were taken as nanoseconds because nothing says their unit; none, if there are no such numbers.
    ///
    /// # Errors
    /// The question for the unit, if the numbers are hardly nanoseconds.
    pub(crate) fn check(&self, place: &Place<'_>) -> Result<Option<String>, WorkloadError> {
        let Some(doubt) = self.doubt() else {
            let mean = self.sum / self.values.max(1) as f64;
            let in_unit = |unit: Unit| time(mean * unit.ps() as f64);
            return Ok((self.values > 0).then(|| {
                format!(
                    "the times ({}, …) were read as ns, since nothing says their unit and they are whole numbers: then the mean is \
                     {}. If they are microseconds (a mean of {}), say `--unit us`",
                    self.first.join(", "),
                    in_unit(Unit::Ns),
                    in_unit(Unit::Us)
                )
            }));
        };
        Err(self.ask(place, doubt))
    }

    /// The question for the unit, and why it is asked.
    pub(crate) fn ask(&self, place: &Place<'_>, doubt: &str) -> WorkloadError {
        WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!(
                "nothing says the unit of its times, and they ({}, …) {doubt}",
                self.first.join(", ")
            ),
            key: AskKey::Unit,
            answers: self.answers(),
        }))
    }

    /// The units that are possible, the likeliest first, with what the mean is then.
    fn answers(&self) -> Vec<Answer> {
        let mean = self.sum / self.values.max(1) as f64;
        let units = [Unit::Us, Unit::Ms, Unit::S, Unit::Ns];
        let possible = units.into_iter().filter(|unit| is_possible(mean * unit.ps() as f64));
        let answer = |unit: Unit| Answer {
            key: AskKey::Unit,
            value: unit.name().to_owned(),
            means: format!("the mean is {}", time(mean * unit.ps() as f64)),
        };
        possible.map(answer).collect()
    }

    /// The question for what one of something takes.
    pub(crate) fn ask_of_size(place: &Place<'_>, name: &str) -> WorkloadError {
        let answer = |unit: Unit| Answer {
            key: AskKey::Unit,
            value: unit.name().to_owned(),
            means: format!("each takes 1 {}", unit.name()),
        };
        WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!("column `{}` counts something and is no time", shorten(name)),
            key: AskKey::Unit,
            answers: [Unit::Ns, Unit::Us, Unit::Ms].map(answer).into(),
        }))
    }
}

/// The unit of a histogram with this name, whose mean is about `mean` of it.
///
/// # Errors
/// The question for it, if neither the name nor the user says it.
pub(super) fn unit_of(
    name: &str,
    wanted: Option<Unit>,
    mean: f64,
    place: &Place<'_>,
) -> Result<(Unit, &'static str), WorkloadError> {
    if let Some(unit) = wanted {
        return Ok((unit, "as you said"));
    }
    if let Said::Unit(unit) = Unit::of_name(name) {
        return Ok((unit, "says its name"));
    }
    let answer = |unit: Unit| Answer {
        key: AskKey::Unit,
        value: unit.name().to_owned(),
        means: format!("the mean is about {}", time(mean * unit.ps() as f64)),
    };
    Err(WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: match name {
            "" => "nothing says the unit of its times".to_owned(),
            name => format!("the name of the histogram, `{name}`, does not say the unit of its times"),
        },
        key: AskKey::Unit,
        answers: [Unit::Ns, Unit::Us, Unit::Ms, Unit::S]
            .into_iter()
            .filter(|unit| is_possible(mean * unit.ps() as f64))
            .map(answer)
            .collect(),
    })))
}
