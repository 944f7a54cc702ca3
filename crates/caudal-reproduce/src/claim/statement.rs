//! The statement that follows from several claims, and the points that may decide those that are open. The figures end each of their
//! statements by it; `refine` asks what an open one needs. Pure.

use caudal_report::Outcome;
use caudal_stats::Estimate;

use super::{ANALYSES, Claim, Truth, Want};

/// Confidence at which a statement as a whole is judged.
const CONFIDENCE: f64 = 0.95;

/// A question: the claim at a confidence.
pub(crate) type Ask<'a> = Box<dyn Fn(f64) -> Claim + 'a>;

/// The same question with more words before its place.
pub(crate) fn prefixed<'a>(words: String, ask: Ask<'a>) -> Ask<'a> {
    Box::new(move |confidence| {
        let claim = ask(confidence);
        Claim { place: format!("{words}{}", claim.place), ..claim }
    })
}

/// A verdict on a statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    /// The numbers that decided.
    pub(crate) numbers: String,
    /// The number that it is about, or those of its claims that lie at the two ends; none where it has parts.
    pub(crate) values: Vec<Estimate>,
    /// The replications that may decide it, if it is undecided.
    pub(crate) wants: Vec<Want>,
}

impl Finding {
    /// The same finding, of which `ask` is the number that its size is judged by.
    pub(crate) fn sized(self, ask: &Ask<'_>) -> Finding {
        Finding { values: vec![ask(CONFIDENCE).value], ..self }
    }

    /// Undecided, and no replication will change that.
    pub(crate) fn open(numbers: String) -> Finding {
        Finding { outcome: Outcome::Undecided, numbers, values: Vec::new(), wants: Vec::new() }
    }
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
        return Finding::open("no point to judge by".to_owned());
    }
    let confidence = 1.0 - (1.0 - CONFIDENCE) / (asks.len() as f64 * f64::from(ANALYSES));
    let claims: Vec<Claim> = asks.iter().map(|ask| ask(confidence)).collect();
    conclude(needs, claims)
}

/// Every claim has to be true.
pub(crate) fn all(asks: &[Ask<'_>]) -> Finding {
    judge(Needs::All, asks)
}

/// A single claim.
pub(crate) fn one<'a>(ask: impl Fn(f64) -> Claim + 'a) -> Finding {
    judge(Needs::All, &[Box::new(ask)])
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
    let wants = if outcome == Outcome::Undecided { wants(needs, &claims) } else { Vec::new() };
    let values = match &claims[..] {
        [] => Vec::new(),
        [one] => vec![one.value],
        [worst, .., best] => vec![worst.value, best.value],
    };
    Finding { outcome, numbers: numbers(needs, &claims, yes, no), values, wants }
}

/// Replications that may decide a statement. Where one claim of those that it needs can not be decided, only what
/// may speak against it is worth the while.
fn wants(needs: Needs, claims: &[Claim]) -> Vec<Want> {
    let open = || claims.iter().filter(|claim| claim.truth == Truth::Open);
    let may_hold = needs != Needs::All || open().all(Claim::may_be_decided);
    let worth = open().filter(|claim| claim.may_be_decided() && (may_hold || claim.margin < 0.0));
    worth.flat_map(Claim::wants).collect()
}

/// The claims that matter most, in words; `claims` come worst first.
fn numbers(needs: Needs, claims: &[Claim], yes: usize, no: usize) -> String {
    let n = claims.len();
    if n == 1 {
        return claims[0].show();
    }
    let count = counted(needs, n, yes, no);
    let few = |shown: Vec<&Claim>| shown.iter().map(|claim| claim.show()).collect::<Vec<_>>().join("; ");
    let best = claims.last().map(Claim::show).unwrap_or_default();
    match needs {
        Needs::All if no > 0 => {
            let against = claims.iter().filter(|claim| claim.truth == Truth::No).take(3).collect();
            format!("{count}; false: {}", few(against))
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

/// `true in 3 of 9 comparisons, false in 5, undecided in 1`; and what that has to do with the verdict where one true
/// one is enough, so that nobody reads the rest as objections.
fn counted(needs: Needs, n: usize, yes: usize, no: usize) -> String {
    let mut text = match (needs, yes) {
        (Needs::Any, 0) => format!("one is enough, and true in none of {n} comparisons"),
        (Needs::Any, yes) => format!("one is enough, and true in {yes} of {n} comparisons"),
        (_, yes) if yes == n => format!("true in all {n} comparisons"),
        (_, 0) => format!("true in none of {n} comparisons"),
        (_, yes) => format!("true in {yes} of {n} comparisons"),
    };
    for (number, word) in [(no, "false"), (n - yes - no, "undecided")] {
        if number > 0 {
            text += &format!(", {word} in {number}");
        }
    }
    text
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
    let open = parts.iter().filter(|(_, part)| outcome == Outcome::Undecided && part.outcome == outcome);
    let wants = open.flat_map(|(_, part)| part.wants.iter().copied()).collect();
    Finding { outcome, numbers: numbers.join(". "), values: Vec::new(), wants }
}

#[cfg(test)]
mod tests {
    use super::super::Limit;
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
        assert!(
            falls.numbers.contains("true in 1 of 3 comparisons, false in 1, undecided in 1"),
            "{}",
            falls.numbers
        );
        assert!(falls.numbers.contains("1.20 [1.10, 1.30]"), "{}", falls.numbers);
    }

    #[test]
    fn what_is_false_does_not_speak_against_a_statement_that_needs_one_place() {
        let found = judge(Needs::Any, &asks(&[BELOW, ABOVE, OPEN]));
        assert_eq!(found.outcome, Outcome::Holds);
        let said = "one is enough, and true in 1 of 3 comparisons, false in 1, undecided in 1";
        assert!(found.numbers.starts_with(said), "{}", found.numbers);
        let none = judge(Needs::Any, &asks(&[ABOVE, OPEN]));
        assert!(
            none.numbers.contains("true in none of 2 comparisons, false in 1, undecided in 1"),
            "{}",
            none.numbers
        );
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
        assert_eq!(all(&[ask()]).outcome, Outcome::DoesNotHold, "0.9875");
        assert_eq!(all(&[ask(), ask(), ask(), ask(), ask()]).outcome, Outcome::Holds, "0.9975");
    }

    /// An open claim about one point of 16 replications.
    fn open(estimate: f64, half: f64) -> Claim {
        let cell = super::super::super::synthetic::point("a", 17, 900.0, 0.1);
        Claim::new("x", Estimate::symmetric(estimate, half), Limit::Below(1.0)).about(&[&cell])
    }

    #[test]
    fn an_open_claim_wants_the_replications_that_it_takes() {
        let wanted = |claims: Vec<Claim>| {
            let wants = conclude(Needs::All, claims).wants;
            wants.into_iter().map(|want| want.replications).collect::<Vec<_>>()
        };
        assert_eq!(wanted(vec![open(0.9, 0.15)]), [46], "(0.15/0.1)^2 times as many, and some more");
        assert_eq!(wanted(vec![open(0.99, 0.15)]), [64], "not more than four times as many at once");
        assert!(wanted(vec![open(0.9, 0.05)]).is_empty(), "it is decided");
        assert!(wanted(vec![open(0.9, 0.15), open(1.2, 0.1)]).is_empty(), "the statement has fallen");
    }

    #[test]
    fn where_one_claim_can_not_be_decided_only_the_contrary_is_worth_the_while() {
        let tie = || Claim { replications: 400, ..open(1.0, 0.001) };
        let wanted = |claims: Vec<Claim>| conclude(Needs::All, claims).wants.len();
        assert_eq!(wanted(vec![tie()]), 0);
        assert_eq!(wanted(vec![tie(), open(0.9, 0.15)]), 0);
        assert_eq!(wanted(vec![tie(), open(1.1, 0.15)]), 1);
    }

    #[test]
    fn a_statement_of_parts_is_as_good_as_its_worst_part() {
        let part = |outcome| Finding { outcome, ..Finding::open("n".to_owned()) };
        let of = |a, b| each(&[("a", part(a)), ("b", part(b))]).outcome;
        assert_eq!(of(Outcome::Holds, Outcome::Holds), Outcome::Holds);
        assert_eq!(of(Outcome::Holds, Outcome::Undecided), Outcome::Undecided);
        assert_eq!(of(Outcome::DoesNotHold, Outcome::Undecided), Outcome::DoesNotHold);
    }
}
