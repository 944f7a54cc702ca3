//! The judgement of statements: a statement is made of claims about numbers with intervals, and each claim is true, false or open. The
//! files of the figures make claims by it after each round of replications. Pure.
//!
//! A statement about many places ("at every number of cores") asks many questions at once, and what is open may be
//! analysed again after more replications ([`super::refine`]). All its intervals hold jointly: each is computed at
//! 1 − 5 %/(questions · analyses), so that the whole statement is judged at 95 % (Bonferroni), however often it is
//! analysed.

mod statement;

use caudal_stats::Estimate;

pub(crate) use self::statement::{Ask, Finding, Needs, all, each, judge, one, prefixed};
use super::cell::{Cell, CellId, common_replications};
use caudal_results::table::digits;

/// The number of times that a statement is analysed: once, and after every round of further replications.
pub(crate) const ANALYSES: u32 = 4;

/// Whether a claim is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Yes,
    No,
    Open,
}

/// A number that is claimed to be below or above a limit.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Where: `p99.9 at 20 cores`.
    pub(crate) place: String,
    /// The number.
    pub(crate) value: Estimate,
    /// Whether it is where it should be.
    pub(crate) truth: Truth,
    limit: Limit,
    /// How far the estimate is on the right side of the limit; negative on the wrong one.
    margin: f64,
    /// How many times as far from the limit the estimate would have to be.
    short: f64,
    /// The points that it was computed from, and how many replications of each.
    cells: Vec<CellId>,
    replications: usize,
}

/// Replications of a point that may decide an open claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Want {
    pub(crate) cell: CellId,
    pub(crate) replications: usize,
}

/// Most replications of a point.
const REPLICATIONS_MAX: f64 = 512.0;
/// A point gets at least and at most so many times as many replications in a round: how many it takes is not known
/// well before they are there.
const GROWTH: (f64, f64) = (1.5, 4.0);

/// An interval that reaches half of the distance to the limit leaves no doubt on which side the number is.
const CLEAR: f64 = 2.0;

/// Where a number is claimed to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Below(f64),
    Above(f64),
    Within(f64, f64),
}

impl Claim {
    pub(crate) fn new(place: impl Into<String>, value: Estimate, limit: Limit) -> Claim {
        let Estimate { estimate, low, high } = value;
        let above = |least: f64| (low > least, high < least, estimate - least);
        let below = |most: f64| (high < most, low > most, most - estimate);
        let (surely, surely_not, margin) = match limit {
            Limit::Below(most) => below(most),
            Limit::Above(least) => above(least),
            Limit::Within(least, most) => (
                low >= least && high <= most,
                high < least || low > most,
                (estimate - least).min(most - estimate),
            ),
        };
        let truth = match (surely, surely_not) {
            (true, _) => Truth::Yes,
            (_, true) => Truth::No,
            _ => Truth::Open,
        };
        let short = limit.short(value);
        let margin = if margin.is_nan() { f64::NEG_INFINITY } else { margin };
        Claim { place: place.into(), value, truth, limit, margin, short, cells: Vec::new(), replications: 0 }
    }

    /// Says what the number was computed from, so that it can be known better.
    pub(crate) fn about(mut self, cells: &[&Cell]) -> Claim {
        let carrying: Vec<&Cell> = cells.iter().copied().filter(|cell| !cell.overloaded).collect();
        self.replications = common_replications(&carrying);
        self.cells = carrying.into_iter().map(|cell| cell.id).collect();
        self
    }

    /// Open until the number, which is `value` at 95 %, is known to `share` of itself, or lies twice as far from the limit as
    /// its interval reaches: where few replications tell of rare events, a narrow escape is none.
    pub(crate) fn known_to(mut self, value: Estimate, share: f64) -> Claim {
        let wide = (value.relative_half_width() / share).min(CLEAR * self.limit.short(value));
        // Overload has no width.
        if wide > 1.0 && value.low != value.high {
            self.truth = Truth::Open;
            // A number that is missing stays so.
            self.short = if self.short.is_nan() { self.short } else { self.short.max(wide) };
        }
        self
    }

    /// How many times as many replications it would take; at best, if the estimate is off by its standard error to
    /// the wrong side.
    fn at_best(&self) -> f64 {
        // Intervals of statements are three to four standard errors wide to either side.
        let short = self.short / (1.0 + self.short / 3.0);
        if short.is_nan() { f64::INFINITY } else { short * short }
    }

    /// Is it open, and may it be decided with as many replications as there are to be had?
    fn may_be_decided(&self) -> bool {
        let reachable = self.replications as f64 * self.at_best() <= REPLICATIONS_MAX;
        self.truth == Truth::Open && !self.cells.is_empty() && reachable
    }

    fn wants(&self) -> impl Iterator<Item = Want> + '_ {
        let growth = if self.short.is_nan() { GROWTH.1 } else { 1.3 * self.short * self.short };
        let more = self.replications as f64 * growth.clamp(GROWTH.0, GROWTH.1);
        let replications = more.min(REPLICATIONS_MAX) as usize;
        self.cells.iter().map(move |&cell| Want { cell, replications })
    }

    fn show(&self) -> String {
        format!("{} {}", self.place, interval(self.value))
    }
}

impl Limit {
    /// How many times as far from the limit the estimate would have to be for its interval to end there.
    fn short(self, value: Estimate) -> f64 {
        match self {
            Limit::Below(limit) | Limit::Above(limit) => short(value, limit),
            Limit::Within(least, most) if value.estimate > least && value.estimate < most => {
                short(value, least).max(short(value, most))
            }
            Limit::Within(least, most) => short(value, if value.estimate < least { least } else { most }),
        }
    }
}

/// The arm of the interval towards the limit over the distance to it.
fn short(value: Estimate, limit: f64) -> f64 {
    let Estimate { estimate, low, high } = value;
    let arm = if estimate < limit { high - estimate } else { estimate - low };
    arm / (estimate - limit).abs()
}

/// `0.41 [0.39, 0.43]`.
pub(crate) fn interval(value: Estimate) -> String {
    let shown = |bound: f64| if bound.is_finite() { digits(bound) } else { "?".to_owned() };
    match value {
        value if value.is_missing() => "unknown".to_owned(),
        value if value.estimate == f64::INFINITY => "overloaded".to_owned(),
        value if value.low == value.high && value.estimate == 0.0 => "0 (the other is overloaded)".to_owned(),
        value if value.low == value.high => digits(value.estimate),
        Estimate { estimate, low, high } => format!("{} [{}, {}]", digits(estimate), shown(low), shown(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_well_enough_is_open_on_either_side_and_wants_more() {
        let claim = |estimate, half| {
            let value = Estimate::symmetric(estimate, half);
            Claim { replications: 20, ..Claim::new("x", value, Limit::Below(1.0)).known_to(value, 0.1) }
        };
        assert_eq!([claim(0.8, 0.07).truth, claim(1.5, 0.14).truth], [Truth::Yes, Truth::No]);
        assert_eq!([claim(0.8, 0.12).truth, claim(1.5, 0.4).truth], [Truth::Open, Truth::Open]);
        assert!((claim(0.8, 0.12).short - 1.2).abs() < 1e-12, "the interval reaches 0.6 of the distance");
        assert_eq!([claim(0.4, 0.2).truth, claim(3.0, 0.9).truth], [Truth::Yes, Truth::No], "far away");
        assert!(claim(f64::NAN, f64::NAN).short.is_nan());
        let overloaded = Estimate::exact(f64::INFINITY);
        assert_eq!(Claim::new("x", overloaded, Limit::Below(1.0)).known_to(overloaded, 0.1).truth, Truth::No);
    }

    #[test]
    fn what_is_missing_is_open_and_what_is_overloaded_is_worse_than_anything() {
        let claim = |value| Claim::new("x", value, Limit::Below(1.0)).truth;
        assert_eq!(claim(Estimate::MISSING), Truth::Open);
        assert_eq!(claim(Estimate::exact(f64::INFINITY)), Truth::No);
        assert_eq!(claim(Estimate::exact(0.0)), Truth::Yes);
        let within =
            |low, high| Claim::new("x", Estimate { estimate: low, low, high }, Limit::Within(1.0, 2.0)).truth;
        assert_eq!(
            [within(1.1, 1.9), within(1.5, 2.1), within(2.1, 2.2)],
            [Truth::Yes, Truth::Open, Truth::No]
        );
    }
}
