//! Judging: a statement is made of claims about numbers with intervals, and claims are true, false or open.
//!
//! A statement about many places ("at every number of cores") asks many questions at once. Its intervals hold
//! jointly: each is computed at 1 − 5 %/n, so that the whole statement is judged at 95 % (Bonferroni).

use caudal_report::Outcome;
use caudal_stats::Estimate;

use crate::table::digits;

/// Confidence at which a statement as a whole is judged.
const CONFIDENCE: f64 = 0.95;

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
    /// How far the estimate is on the right side of the limit; negative on the wrong one.
    margin: f64,
}

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
        let (surely, surely_not, margin) = match limit {
            Limit::Below(most) => (high < most, low > most, most - estimate),
            Limit::Above(least) => (low > least, high < least, estimate - least),
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
        Claim {
            place: place.into(),
            value,
            truth,
            margin: if margin.is_nan() { f64::NEG_INFINITY } else { margin },
        }
    }

    fn show(&self) -> String {
        format!("{} {}", self.place, interval(self.value))
    }
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

/// A question: the claim at a confidence.
pub(crate) type Ask<'a> = Box<dyn Fn(f64) -> Claim + 'a>;

/// The same question with more words before its place.
pub(crate) fn prefixed<'a>(words: String, ask: Ask<'a>) -> Ask<'a> {
    Box::new(move |confidence| {
        let claim = ask(confidence);
        Claim { place: format!("{words}{}", claim.place), ..claim }
    })
}

/// What was found about a statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    /// The numbers that decided.
    pub(crate) numbers: String,
}

/// How many of the claims a statement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    All,
    /// More than half.
    Most,
    /// At least one.
    Any,
}

/// Asks all questions and judges.
pub(crate) fn judge(needs: Needs, asks: &[Ask<'_>]) -> Finding {
    if asks.is_empty() {
        return Finding { outcome: Outcome::Undecided, numbers: "no point to judge by".to_owned() };
    }
    let confidence = 1.0 - (1.0 - CONFIDENCE) / asks.len() as f64;
    let claims: Vec<Claim> = asks.iter().map(|ask| ask(confidence)).collect();
    conclude(needs, claims)
}

/// Every claim has to be true.
pub(crate) fn all(asks: &[Ask<'_>]) -> Finding {
    judge(Needs::All, asks)
}

/// A single number against a limit.
pub(crate) fn one(place: &str, value: impl Fn(f64) -> Estimate, limit: Limit) -> Finding {
    conclude(Needs::All, vec![Claim::new(place, value(CONFIDENCE), limit)])
}

fn conclude(needs: Needs, mut claims: Vec<Claim>) -> Finding {
    let count = |truth: Truth| claims.iter().filter(|claim| claim.truth == truth).count();
    let (yes, no, n) = (count(Truth::Yes), count(Truth::No), claims.len());
    let outcome = match needs {
        Needs::All if no > 0 => Outcome::DoesNotHold,
        Needs::All if yes == n => Outcome::Holds,
        Needs::Most if 2 * yes > n => Outcome::Holds,
        Needs::Most if 2 * no >= n => Outcome::DoesNotHold,
        Needs::Any if yes > 0 => Outcome::Holds,
        Needs::Any if no == n => Outcome::DoesNotHold,
        _ => Outcome::Undecided,
    };
    claims.sort_by(|a, b| a.margin.total_cmp(&b.margin));
    Finding { outcome, numbers: numbers(needs, &claims, yes, no) }
}

/// The claims that matter most, in words; `claims` come worst first.
fn numbers(needs: Needs, claims: &[Claim], yes: usize, no: usize) -> String {
    let n = claims.len();
    if n == 1 {
        return claims[0].show();
    }
    let count = match (yes, no) {
        (yes, 0) if yes == n => format!("{n} of {n} comparisons"),
        (yes, no) => format!("{yes} of {n} comparisons for it, {no} against it"),
    };
    let few = |shown: Vec<&Claim>| shown.iter().map(|claim| claim.show()).collect::<Vec<_>>().join("; ");
    let best = claims.last().map(Claim::show).unwrap_or_default();
    match needs {
        Needs::All if no > 0 => {
            let against = claims.iter().filter(|claim| claim.truth == Truth::No).take(3).collect();
            format!("{count}; against it: {}", few(against))
        }
        Needs::All if yes == n => format!("{count}; closest: {}; clearest: {best}", claims[0].show()),
        Needs::All => {
            let open = claims.iter().filter(|claim| claim.truth == Truth::Open).take(3).collect();
            format!("{count}; open: {}", few(open))
        }
        Needs::Most => format!("{count}; from {} to {best}", claims[0].show()),
        Needs::Any => format!("{count}; clearest: {best}"),
    }
}

/// A statement with several parts, each of which it needs.
pub(crate) fn each(parts: &[(&str, Finding)]) -> Finding {
    let any = |outcome: Outcome| parts.iter().any(|(_, part)| part.outcome == outcome);
    let outcome = match () {
        () if any(Outcome::DoesNotHold) => Outcome::DoesNotHold,
        () if any(Outcome::Undecided) => Outcome::Undecided,
        () => Outcome::Holds,
    };
    let numbers: Vec<String> = parts.iter().map(|(name, part)| format!("{name}: {}", part.numbers)).collect();
    Finding { outcome, numbers: numbers.join(". ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(values: &'static [(f64, f64, f64)]) -> Vec<Ask<'static>> {
        let ask = |&(low, estimate, high): &(f64, f64, f64)| -> Ask<'static> {
            Box::new(move |_| Claim::new("x", Estimate { estimate, low, high }, Limit::Below(1.0)))
        };
        values.iter().map(ask).collect()
    }

    const BELOW: (f64, f64, f64) = (0.5, 0.6, 0.7);
    const ABOVE: (f64, f64, f64) = (1.1, 1.2, 1.3);
    const OPEN: (f64, f64, f64) = (0.9, 0.98, 1.1);

    #[test]
    fn a_statement_about_all_places_falls_with_one() {
        assert_eq!(all(&asks(&[BELOW, BELOW])).outcome, Outcome::Holds);
        assert_eq!(all(&asks(&[BELOW, OPEN])).outcome, Outcome::Undecided);
        let falls = all(&asks(&[BELOW, OPEN, ABOVE]));
        assert_eq!(falls.outcome, Outcome::DoesNotHold);
        assert!(falls.numbers.contains("1 of 3 comparisons for it, 1 against it"), "{}", falls.numbers);
        assert!(falls.numbers.contains("1.20 [1.10, 1.30]"), "{}", falls.numbers);
    }

    #[test]
    fn most_is_more_than_half() {
        assert_eq!(judge(Needs::Most, &asks(&[BELOW, BELOW, ABOVE])).outcome, Outcome::Holds);
        assert_eq!(judge(Needs::Most, &asks(&[BELOW, ABOVE])).outcome, Outcome::DoesNotHold);
        assert_eq!(judge(Needs::Most, &asks(&[BELOW, OPEN, ABOVE])).outcome, Outcome::Undecided);
    }

    #[test]
    fn any_needs_one_and_falls_when_all_are_false() {
        assert_eq!(judge(Needs::Any, &asks(&[ABOVE, BELOW])).outcome, Outcome::Holds);
        assert_eq!(judge(Needs::Any, &asks(&[ABOVE, OPEN])).outcome, Outcome::Undecided);
        assert_eq!(judge(Needs::Any, &asks(&[ABOVE, ABOVE])).outcome, Outcome::DoesNotHold);
    }

    #[test]
    fn nothing_to_judge_by_is_undecided_whatever_is_needed() {
        for needs in [Needs::All, Needs::Most, Needs::Any] {
            assert_eq!(judge(needs, &[]).outcome, Outcome::Undecided);
        }
    }

    #[test]
    fn more_questions_are_asked_at_a_higher_confidence() {
        let ask = || -> Ask<'static> {
            Box::new(|confidence| Claim::new("c", Estimate::exact(confidence), Limit::Above(0.989)))
        };
        assert_eq!(all(&[ask()]).outcome, Outcome::DoesNotHold, "0.95");
        assert_eq!(all(&[ask(), ask(), ask(), ask(), ask()]).outcome, Outcome::Holds, "0.99");
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

    #[test]
    fn a_statement_of_parts_is_as_good_as_its_worst_part() {
        let part = |outcome| Finding { outcome, numbers: "n".to_owned() };
        let of = |a, b| each(&[("a", part(a)), ("b", part(b))]).outcome;
        assert_eq!(of(Outcome::Holds, Outcome::Holds), Outcome::Holds);
        assert_eq!(of(Outcome::Holds, Outcome::Undecided), Outcome::Undecided);
        assert_eq!(of(Outcome::DoesNotHold, Outcome::Undecided), Outcome::DoesNotHold);
    }
}
