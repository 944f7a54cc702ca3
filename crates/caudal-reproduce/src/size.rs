//! The size of an effect: how large the paper reports it, and whether ours is as large. `record` compares each number of a judged
//! statement by it; pages and the overview show what came out. Pure.
//!
//! A sign is soon right: of two systems one is ahead. So a size is judged by itself, against the paper's effect: how far its
//! number lies from *no difference*, on a logarithmic scale for ratios. Ours agrees if it is within a quarter of that (three quarters
//! to four thirds of the paper's effect) with its whole interval, or if its interval holds the paper's number and does not
//! reach beyond on both sides.

use caudal_stats::Estimate;
use serde::{Deserialize, Serialize};

use super::claim::interval;
use caudal_results::table::digits;

/// The least and the most part of the paper's effect that agrees with it.
const AGREES: (f64, f64) = (0.75, 4.0 / 3.0);

/// A number of a paper, in the terms of what the statement measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Paper {
    /// A ratio of two systems: 1 is no difference.
    Ratio(f64),
    /// Ratios from one to another, over several settings.
    Ratios(f64, f64),
    /// An amount: 0 is nothing.
    Amount(f64),
    /// Amounts from one to another.
    Amounts(f64, f64),
}

/// The verdict on a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Size {
    /// As large as the paper's, within a quarter.
    Agrees,
    /// Surely larger.
    Larger,
    /// Surely smaller, or the other way round.
    Smaller,
    /// The interval is too wide to say.
    Open,
}

impl Size {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Size::Agrees => "agrees",
            Size::Larger => "larger",
            Size::Smaller => "smaller",
            Size::Open => "undecided",
        }
    }
}

/// A size beside the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compared {
    pub(crate) size: Size,
    /// Our effect over the paper's; negative if it has the other direction. Missing for ranges.
    pub(crate) share: Option<f64>,
}

impl Paper {
    /// `values`: one number, or the two ends of several.
    pub(crate) fn compare(self, values: &[Estimate]) -> Option<Compared> {
        let known = values.iter().all(|value| value.estimate.is_finite());
        match (self, values) {
            (Paper::Ratio(paper), [ours]) if known => Some(compare(*ours, f64::ln, paper)),
            (Paper::Amount(paper), [ours]) if known => Some(compare(*ours, |amount| amount, paper)),
            (Paper::Ratios(from, to), ours) if known && !ours.is_empty() => {
                let middle = ours.iter().map(|value| value.estimate.ln()).sum::<f64>() / ours.len() as f64;
                Some(within(middle, from.ln(), to.ln()))
            }
            (Paper::Amounts(from, to), ours) if known && !ours.is_empty() => {
                let middle = ours.iter().map(|value| value.estimate).sum::<f64>() / ours.len() as f64;
                Some(within(middle, from, to))
            }
            _ => None,
        }
    }

    /// The paper's number, as it is shown beside ours.
    pub(crate) fn shown(self) -> String {
        match self {
            Paper::Ratio(one) | Paper::Amount(one) => digits(one),
            Paper::Ratios(from, to) | Paper::Amounts(from, to) => {
                format!("{} … {}", digits(from), digits(to))
            }
        }
    }
}

/// `0.41 [0.39, 0.43]`, or the two ends of several.
pub(crate) fn ours(values: &[Estimate]) -> String {
    match values {
        [] => "–".to_owned(),
        [one] => interval(*one),
        several => {
            let ends: Vec<String> = several.iter().map(|value| digits(value.estimate)).collect();
            ends.join(" … ")
        }
    }
}

/// The middle of ours against the ends of the paper's range, of which the one further from no difference is the larger effect.
fn within(middle: f64, from: f64, to: f64) -> Compared {
    let (least, most) = (from.min(to), from.max(to));
    let upwards = least.abs() <= most.abs();
    let size = match (middle < least, middle > most) {
        (false, false) => Size::Agrees,
        (below, _) if below == upwards => Size::Smaller,
        _ => Size::Larger,
    };
    Compared { size, share: None }
}

fn compare(ours: Estimate, scale: fn(f64) -> f64, paper: f64) -> Compared {
    let share = |value: f64| scale(value) / scale(paper);
    let (one, other) = (share(ours.low), share(ours.high));
    let (low, high) = if one <= other { (one, other) } else { (other, one) };
    let beyond = (low < AGREES.0, high > AGREES.1);
    let size = match beyond {
        _ if high < AGREES.0 => Size::Smaller,
        _ if low > AGREES.1 => Size::Larger,
        (false, false) => Size::Agrees,
        (true, true) => Size::Open,
        _ if low <= 1.0 && high >= 1.0 => Size::Agrees,
        _ => Size::Open,
    };
    let share = share(ours.estimate);
    Compared { size, share: share.is_finite().then_some(share) }
}

/// The paper's sizes: figure, statement, number.
const SIZES: &[(&str, &str, Paper)] = &[
    (
        "policies-figure-3",
        "JBSQ improves tail latency over work stealing by up to 10 us",
        Paper::Amount(10.0),
    ),
    (
        "policies-figure-6",
        "Per-task uses more than 80 % of 64 cores for a workload that requires 50 %",
        Paper::Amounts(0.8, 1.0),
    ),
    (
        "policies-figure-6",
        "Caladan uses more than 80 % of 64 cores for a workload that requires 50 %",
        Paper::Amounts(0.8, 1.0),
    ),
    (
        "policies-figure-7",
        "Delay range and utilization range save up to 15 cores for similar tail latency across loads",
        Paper::Amount(15.0),
    ),
    (
        "policies-figure-8",
        "They leave up to 22 % of all throughput more than Shenango: 7 hyperthreads",
        Paper::Amount(7.0),
    ),
    (
        "policies-figure-8",
        "They leave up to 13 % of all throughput more than Caladan: 4 hyperthreads",
        Paper::Amount(4.0),
    ),
    (
        "policies-figure-8",
        "Delay range with 1-4 us leaves more than with 0.5-1 us: about 2 hyperthreads",
        Paper::Amount(2.0),
    ),
    (
        "policies-figure-8",
        "Delay range with 1-4 us has a longer tail than with 0.5-1 us: by 10-15 us",
        Paper::Amounts(10.0, 15.0),
    ),
    (
        "tiny-quanta-figure-2",
        "At no overhead, small quanta carry about 40 % more than quanta of 5 us",
        Paper::Ratio(1.4),
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal: TQ keeps short requests within 50 us up to 4.5 M/s",
        Paper::Amount(4.5),
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, short requests: TQ carries 2.6 times the rate of Shinjuku",
        Paper::Ratio(2.6),
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, short requests: TQ carries 2.1 times the rate of Caladan",
        Paper::Ratio(2.1),
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, long requests: TQ carries 1.8 times the rate of Shinjuku",
        Paper::Ratio(1.8),
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, long requests: TQ carries 1.2 times the rate of Caladan",
        Paper::Ratio(1.2),
    ),
    (
        "tiny-quanta-figure-7",
        "High bimodal, short requests: TQ carries 1.65 times the rate of Caladan",
        Paper::Ratio(1.65),
    ),
    (
        "tiny-quanta-figure-7",
        "High bimodal, short requests: TQ carries 1.33 times the rate of Shinjuku",
        Paper::Ratio(1.33),
    ),
    (
        "tiny-quanta-figure-8",
        "TPC-C: TQ carries 1.29 times the rate of Caladan within a slowdown of 10",
        Paper::Ratio(1.29),
    ),
    (
        "tiny-quanta-figure-8",
        "TPC-C: TQ carries 1.18 times the rate of Shinjuku within a slowdown of 10",
        Paper::Ratio(1.18),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 0.5 % scans, gets: TQ carries 1.93 times the rate of Shinjuku",
        Paper::Ratio(1.93),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 0.5 % scans, gets: TQ carries 2.07 times the rate of Caladan",
        Paper::Ratio(2.07),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 50 % scans, gets: TQ carries 1.28 times the rate of Shinjuku",
        Paper::Ratio(1.28),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 50 % scans, gets: TQ carries 2.21 times the rate of Caladan",
        Paper::Ratio(2.21),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 0.5 % scans, scans: TQ carries 1.63 times the rate of Shinjuku",
        Paper::Ratio(1.63),
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 50 % scans, scans: TQ carries 1.13 times the rate of Shinjuku",
        Paper::Ratio(1.13),
    ),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 11 M/s within 50 us", Paper::Amount(11.0)),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 6.85 times the rate of Shinjuku", Paper::Ratio(6.85)),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 1.21 times the rate of Caladan", Paper::Ratio(1.21)),
    ("tiny-quanta-figure-11", "TQ-IC carries 62 % of TQ's rate", Paper::Ratio(0.62)),
    ("tiny-quanta-figure-11", "TQ-SLOW-YIELD carries 81 % of TQ's rate", Paper::Ratio(0.81)),
    ("tiny-quanta-figure-12", "TQ-RAND carries 53 % of TQ's rate", Paper::Ratio(0.53)),
    ("tiny-quanta-figure-12", "TQ-FCFS carries 34 % of TQ's rate", Paper::Ratio(0.34)),
    (
        "q-zilla-figure-1",
        "An ideal scale-up organization has a lower tail than a scale-out organization: 8.3 times, on average",
        Paper::Ratio(8.3),
    ),
    (
        "q-zilla-figure-1",
        "In practice, synchronisation leaves scale-up only a part of that: 1.93 times",
        Paper::Ratio(1.93),
    ),
    (
        "q-zilla-figure-1",
        "A hierarchical organization has a slightly higher tail than practical scale-up: 16 %",
        Paper::Ratio(1.16),
    ),
    (
        "q-zilla-figure-1",
        "Between the hierarchical organization and ideal scale-up there is a gap: about 4 times",
        Paper::Ratio(4.0),
    ),
    (
        "q-zilla-figure-8a",
        "ISQD-SITA improves the tail over M/G/k: 2.28 times with 2 servers, on average",
        Paper::Ratio(2.28),
    ),
    (
        "q-zilla-figure-8a",
        "With 2 servers, processor sharing outperforms ISQD-SITA: by 6 %, on average",
        Paper::Ratio(1.0 / 1.06),
    ),
    (
        "q-zilla-figure-8a",
        "With 2 servers, SRPT outperforms ISQD-SITA: by 11 %, on average",
        Paper::Ratio(1.0 / 1.11),
    ),
    (
        "q-zilla-figure-8b",
        "ISQD-SITA improves the tail over M/G/k: 3.39 times with 4 servers, on average",
        Paper::Ratio(3.39),
    ),
    (
        "q-zilla-figure-8b",
        "With 4 servers, ISQD-SITA consistently outperforms processor sharing: by 16 %, on average",
        Paper::Ratio(1.16),
    ),
    (
        "q-zilla-figure-8b",
        "With 4 servers, ISQD-SITA outperforms SRPT: by 24 %, on average",
        Paper::Ratio(1.24),
    ),
    (
        "q-zilla-figure-8c",
        "With 8 servers, ISQD-SITA outperforms SRPT: 2.13 times, on average",
        Paper::Ratio(2.13),
    ),
    (
        "q-zilla-figure-8c",
        "ISQD-SITA improves the tail over M/G/k: 4.76 times with 8 servers, on average",
        Paper::Ratio(4.76),
    ),
    (
        "q-zilla-figure-8c",
        "With 8 servers, ISQD-SITA outperforms processor sharing: by 49 %, on average",
        Paper::Ratio(1.49),
    ),
    (
        "q-zilla-figure-9a",
        "CoreZilla improves the tail over SMT: 2.25 times with 2 contexts, on average",
        Paper::Ratio(2.25),
    ),
    (
        "q-zilla-figure-9a",
        "CoreZilla improves the tail over ESMT: by 38 % with 2 contexts, on average",
        Paper::Ratio(1.38),
    ),
    (
        "q-zilla-figure-9b",
        "CoreZilla improves the tail over SMT: 3.23 times with 4 contexts, on average",
        Paper::Ratio(3.23),
    ),
    (
        "q-zilla-figure-9b",
        "CoreZilla improves the tail over ESMT: 2.83 times with 4 contexts, on average",
        Paper::Ratio(2.83),
    ),
    (
        "q-zilla-figure-9c",
        "CoreZilla improves the tail over SMT: 4.38 times with 8 contexts, on average",
        Paper::Ratio(4.38),
    ),
    (
        "q-zilla-figure-9c",
        "CoreZilla improves the tail over ESMT: 3.07 times with 8 contexts, on average",
        Paper::Ratio(3.07),
    ),
    (
        "q-zilla-figure-10",
        "For RSC, ISQD-SITA has more preemptions than preemptive SITA: 0.84 of a request against 0.63",
        Paper::Ratio(0.84 / 0.63),
    ),
    (
        "tail-control-figure-6",
        "For Bing's work, tail-control misses fewer targets in all settings: by 35 % to 58 % than steal-first, by 24 % to 65 % than admit-first",
        Paper::Ratios(0.76, 0.35),
    ),
    (
        "tail-control-figure-7",
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 %",
        Paper::Ratio(0.64),
    ),
    (
        "tail-control-figure-8",
        "With log-normal work, tail-control consistently outperforms steal-first and admit-first: by 17 % to 66 %",
        Paper::Ratios(0.83, 0.34),
    ),
    (
        "tail-control-figure-9",
        "With log-normal arrivals, tail-control outperforms the better of steal-first and admit-first: by 25 % to 44 %",
        Paper::Ratios(0.75, 0.56),
    ),
    (
        "tail-control-figure-10",
        "With serial parts, tail-control still improves over steal-first and admit-first: by 17 % to 46 %",
        Paper::Ratios(0.83, 0.54),
    ),
    (
        "tail-control-figure-12",
        "With tail-control, the load at 20 ms is 10 % higher than with the better of its rivals",
        Paper::Ratio(1.1),
    ),
    (
        "tail-control-figure-12",
        "At 20 ms, steal-first sustains a higher load than admit-first (800 against 775 requests/s)",
        Paper::Ratio(800.0 / 775.0),
    ),
    (
        "tail-control-figure-15",
        "In a window of 0.8 s, far fewer requests miss the target under tail-control than under steal-first: 42 against 183",
        Paper::Ratio(42.0 / 183.0),
    ),
];

/// Readings of one number: a context's ideal queue, by the number of contexts.
const IDEAL: &[(&str, &str, f64)] = &[
    (
        "q-zilla-figure-9a",
        "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 %",
        1.31,
    ),
    (
        "q-zilla-figure-9b",
        "With 4 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 22 %",
        1.22,
    ),
    (
        "q-zilla-figure-9c",
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 %",
        0.88,
    ),
];

/// The paper's number for a statement.
pub(crate) fn of(figure: &str, statement: &str) -> Option<Paper> {
    let claim = super::readings::claim(statement);
    let exactly = SIZES.iter().find(|(name, text, _)| *name == figure && *text == statement);
    // A reading that is a figure by itself has the number of the claim.
    let same = SIZES.iter().find(|(name, text, _)| *text == claim && (*name == figure || statement != claim));
    let ideal = IDEAL.iter().find(|(name, text, _)| *name == figure && *text == claim);
    exactly.or(same).map(|given| given.2).or_else(|| ideal.map(|ideal| Paper::Ratio(ideal.2)))
}

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURES;
    use super::*;

    fn size(paper: Paper, low: f64, estimate: f64, high: f64) -> Size {
        paper.compare(&[Estimate { estimate, low, high }]).map_or(Size::Open, |compared| compared.size)
    }

    #[test]
    fn every_size_belongs_to_a_statement() {
        let texts = |figure: &str| {
            let figure = FIGURES.iter().find(|other| other.name == figure).expect("a figure");
            figure.statements.iter().map(|statement| statement.text)
        };
        for (figure, text, _) in SIZES {
            assert!(texts(figure).any(|other| other == *text), "{figure}: {text}");
        }
        for (figure, text, _) in IDEAL {
            assert_eq!(texts(figure).filter(|other| other.starts_with(text)).count(), 3, "{figure}: {text}");
        }
    }

    #[test]
    fn a_ratio_is_held_against_no_difference() {
        // Half of the throughput, where the paper has 53 %, 62 %, or 80 %.
        assert_eq!(size(Paper::Ratio(0.53), 0.5, 0.51, 0.52), Size::Agrees);
        assert_eq!(size(Paper::Ratio(0.8), 0.5, 0.51, 0.52), Size::Larger);
        assert_eq!(size(Paper::Ratio(0.34), 0.5, 0.51, 0.52), Size::Smaller);
        // The other way round: smaller, with a share below 0.
        let other = Paper::Ratio(1.3).compare(&[Estimate { estimate: 0.9, low: 0.8, high: 0.95 }]);
        let other = other.expect("it is known");
        assert!(other.size == Size::Smaller && other.share.is_some_and(|share| share < 0.0));
    }

    #[test]
    fn wide_intervals_leave_a_size_open() {
        assert_eq!(size(Paper::Amount(4.0), 1.0, 4.0, 9.0), Size::Open, "beyond on both sides");
        assert_eq!(size(Paper::Amount(4.0), 2.5, 3.5, 4.5), Size::Agrees, "it holds the paper's");
        assert_eq!(size(Paper::Amount(4.0), 2.5, 3.2, 3.9), Size::Open, "it may be as large or smaller");
        assert_eq!(Paper::Amount(4.0).compare(&[Estimate::MISSING]), None);
    }

    #[test]
    fn ranges_are_held_against_the_middle_of_ours() {
        let of = |ends: [f64; 2]| {
            let ends = ends.map(Estimate::exact);
            Paper::Ratios(0.83, 0.34).compare(&ends).map(|compared| compared.size)
        };
        assert_eq!(of([0.6, 0.4]), Some(Size::Agrees));
        assert_eq!(of([0.3, 0.2]), Some(Size::Larger));
        assert_eq!(of([1.0, 0.9]), Some(Size::Smaller));
    }
}
