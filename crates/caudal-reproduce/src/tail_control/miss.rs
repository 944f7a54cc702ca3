//! Shares of requests that miss a target, and ratios of them between systems that saw the same requests. The figures' settings compute
//! them from simulated replications. Pure.
//!
//! Misses come in bursts, one pile-up after the other, so a run of 100,000 requests tells a share of 1 % to a quarter of
//! itself. Two systems that see the same requests have the same pile-ups: the ratio of their misses is known far better,
//! and is what statements are about.

use caudal_policy::Picos;
use caudal_stats::{Estimate, Linear};

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, common_replications};
use super::super::claim::{Ask, Claim, Limit};

/// A ratio whose interval is wider leaves its claim open, unless it is far from the limit.
const KNOWN_TO: f64 = 0.1;

/// A system and the target that it is judged by.
#[derive(Clone, Copy)]
pub(super) struct Aim<'a> {
    pub(super) cell: &'a Cell,
    pub(super) late: Picos,
}

impl Aim<'_> {
    /// The share of requests that take longer; missing in overload.
    pub(super) fn share(self, confidence: f64) -> Estimate {
        match self.cell.overloaded {
            true => Estimate::MISSING,
            false => self.cell.latency_ps.miss_ratio(self.late.0, confidence),
        }
    }

    /// Its logarithm over the first replications; none in overload, or where no request missed.
    pub(super) fn log(self, replications: usize) -> Option<Linear> {
        let share = self.cell.latency_ps.share_above(self.late.0, replications);
        (!self.cell.overloaded && share.value() > 0.0).then(|| share.ln())
    }
}

/// A product of powers of miss ratios: `[(1.0, a), (-1.0, b)]` is a's over b's.
pub(super) struct Product<'a>(pub(super) Vec<(f64, Aim<'a>)>);

impl<'a> Product<'a> {
    /// `a` over `b`.
    pub(super) fn ratio(a: Aim<'a>, b: Aim<'a>) -> Product<'a> {
        Product(vec![(1.0, a), (-1.0, b)])
    }

    /// This over another one.
    #[must_use]
    pub(super) fn over(mut self, other: Product<'a>) -> Product<'a> {
        self.0.extend(other.0.into_iter().map(|(power, aim)| (-power, aim)));
        self
    }

    fn cells(&self) -> Vec<&'a Cell> {
        self.0.iter().map(|(_, aim)| aim.cell).collect()
    }

    /// Missing where one of the shares is 0: its logarithm is not known. In overload every request is late in the end.
    pub(super) fn estimate(&self, confidence: f64) -> Estimate {
        if let [(_, a), (_, b)] = self.0[..] {
            match (a.cell.overloaded, b.cell.overloaded) {
                (true, false) => return Estimate::exact(f64::INFINITY),
                (false, true) => return Estimate::exact(0.0),
                _ => {}
            }
        }
        let replications = common_replications(&self.cells());
        let logs = self.0.iter().map(|(power, aim)| Some(aim.log(replications)?.mapped_by(*power)));
        let sum = logs.reduce(|sum, log| Some(sum?.plus(1.0, &log?))).flatten();
        sum.map_or(Estimate::MISSING, |sum| sum.exp_interval(confidence))
    }

    /// Is it where `limit` says?
    pub(super) fn ask(self, place: String, limit: Limit) -> Ask<'a> {
        Box::new(move |confidence| {
            let claim = Claim::new(place.clone(), self.estimate(confidence), limit).about(&self.cells());
            claim.known_to(self.estimate(CONFIDENCE), KNOWN_TO)
        })
    }
}

/// A logarithm times a power.
trait Power {
    fn mapped_by(&self, power: f64) -> Linear;
}

impl Power for Linear {
    fn mapped_by(&self, power: f64) -> Linear {
        self.mapped(power * self.value(), power)
    }
}

#[cfg(test)]
mod tests {
    use caudal_report::Outcome;

    use super::super::super::claim::all;
    use super::super::super::synthetic::{overloaded, point};
    use super::*;

    fn aim(cell: &Cell, us: u64) -> Aim<'_> {
        Aim { cell, late: Picos::from_micros(us) }
    }

    fn fewer(a: Aim<'_>, b: Aim<'_>) -> Outcome {
        all(&[Product::ratio(a, b).ask("x".to_owned(), Limit::Below(1.0))]).outcome
    }

    /// Latencies are spread evenly from half to one and a half times the median.
    #[test]
    fn the_ratio_of_misses_is_that_of_the_tails() {
        let (a, b) = (point("a", 16, 1e6, 0.0), point("b", 16, 1.25e6, 0.0));
        let ratio = Product::ratio(aim(&a, 1_250), aim(&b, 1_250));
        assert!((ratio.estimate(0.95).estimate - 0.25 / 0.5).abs() < 0.01, "{:?}", ratio.estimate(0.95));
        assert_eq!(fewer(aim(&a, 1_250), aim(&b, 1_250)), Outcome::Holds);
        assert_eq!(fewer(aim(&b, 1_250), aim(&a, 1_250)), Outcome::DoesNotHold);
        let squared = Product::ratio(aim(&a, 1_250), aim(&b, 1_250))
            .over(Product::ratio(aim(&b, 1_250), aim(&a, 1_250)));
        assert!((squared.estimate(0.95).estimate - 0.25).abs() < 0.01);
    }

    #[test]
    fn pile_ups_that_both_have_cancel_and_others_leave_it_open() {
        let [a, b, other] =
            [(1e6, 0.08), (1.05e6, 0.08), (1.05e6, -0.08)].map(|(ns, noise)| point("x", 16, ns, noise));
        assert_eq!(fewer(aim(&a, 1_100), aim(&b, 1_100)), Outcome::Holds);
        assert_eq!(fewer(aim(&a, 1_100), aim(&other, 1_100)), Outcome::Undecided);
    }

    #[test]
    fn no_miss_at_all_decides_nothing_and_overload_loses() {
        let (a, b) = (point("a", 16, 1e6, 0.0), point("b", 16, 1.25e6, 0.0));
        assert_eq!(fewer(aim(&a, 1_600), aim(&b, 1_600)), Outcome::Undecided);
        let falls_behind = overloaded(b);
        assert_eq!(fewer(aim(&a, 1_600), aim(&falls_behind, 1_600)), Outcome::Holds);
        assert_eq!(fewer(aim(&falls_behind, 1_600), aim(&a, 1_600)), Outcome::DoesNotHold);
    }
}
