//! Numbers as sentences say them, and the facts that answers on one screen are made of. Every sentence of a plan and of lanes writes its
//! times, shares and rates by these functions. Pure.

use caudal_stats::Estimate;
use serde::Serialize;

/// `43.1 µs`, from ns.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns.abs() < 1e3 => format!("{} ns", digits(ns)),
        ns if ns.abs() < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns if ns.abs() < 1e9 => format!("{} ms", digits(ns / 1e6)),
        ns => format!("{} s", digits(ns / 1e9)),
    }
}

/// Three digits.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `4.2 %`, from a share.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent.abs() >= 9.95 => format!("{percent:.0} %"),
        percent if percent.abs() >= 0.995 => format!("{percent:.1} %"),
        percent => format!("{percent:.2} %"),
    }
}

/// `2.19 M requests/s`, from requests a second.
pub(crate) fn rate(per_s: f64) -> String {
    match per_s {
        rate if rate >= 1e6 => format!("{} M requests/s", digits(rate / 1e6)),
        rate if rate >= 1e3 => format!("{} k requests/s", digits(rate / 1e3)),
        rate => format!("{} requests/s", digits(rate)),
    }
}

/// The typed text with its times as sentences spell them: `get p99.9 < 50 µs` for `get p99.9 < 50us`. Files and the command
/// line take `us`, which every keyboard has; what people read has `µs`.
pub fn spelled(typed: &str) -> String {
    let is_number =
        |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let mut after_number = false;
    let mut word = |word: &str| {
        let (time, rest) = word.split_at(word.trim_end_matches([',', ';', '.', ':', ')', '`']).len());
        let (number, unit) = time.split_at(time.trim_end_matches(char::is_alphabetic).len());
        let stands_alone = number.is_empty() && after_number;
        after_number = unit.is_empty() && rest.is_empty() && is_number(number);
        match unit {
            "us" | "µs" | "\u{3bc}s" if stands_alone => format!("µs{rest}"),
            "us" | "µs" | "\u{3bc}s" if is_number(number) => format!("{number} µs{rest}"),
            "ps" | "ns" | "ms" | "s" if is_number(number) => format!("{number} {unit}{rest}"),
            _ => format!("{time}{rest}"),
        }
    };
    typed.split(' ').map(&mut word).collect::<Vec<_>>().join(" ")
}

/// An estimate and what is known of where the quantity truly lies, as `show` writes numbers; no interval where that is as
/// narrow as what is written.
pub(crate) fn within(estimate: &Estimate, show: impl Fn(f64) -> String) -> String {
    let shown = show(estimate.estimate);
    match (estimate.low.is_finite(), estimate.high.is_finite()) {
        (true, true) if show(estimate.low) == shown && show(estimate.high) == shown => shown,
        (true, true) => format!("{shown} ({} to {})", show(estimate.low), show(estimate.high)),
        (true, false) => format!("{shown} (at least {})", show(estimate.low)),
        _ => format!("{shown} (of unknown precision)"),
    }
}

/// A fact about the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The subject of the fact, in two or three words: `It carries`.
    pub about: &'static str,
    /// The fact, in one or two sentences.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_nobody_knows_is_no_end() {
        let show = |low, high| within(&Estimate { estimate: 2_500.0, low, high }, time);
        assert_eq!(show(1_940.0, 3_000.0), "2.50 µs (1.94 µs to 3.00 µs)");
        assert_eq!(show(1_940.0, f64::INFINITY), "2.50 µs (at least 1.94 µs)");
        assert_eq!(show(f64::NEG_INFINITY, f64::INFINITY), "2.50 µs (of unknown precision)");
        assert_eq!(show(2_499.0, 2_501.0), "2.50 µs");
    }

    #[test]
    fn what_was_typed_is_spelled_as_sentences_do() {
        for (typed, read) in [
            ("get p99.9 < 50us", "get p99.9 < 50 µs"),
            ("miss 25ms < 1%", "miss 25 ms < 1%"),
            ("7/1 at 6.94us", "7/1 at 6.94 µs"),
            ("2 up to 1.5us, 40us, 1 beyond", "2 up to 1.5 µs, 40 µs, 1 beyond"),
            ("in 5 us quanta", "in 5 µs quanta"),
            ("`p99 < 10ms` can not be met", "`p99 < 10 ms` can not be met"),
            ("p99 slowdown < 10", "p99 slowdown < 10"),
            ("10 requests of class 2s1s", "10 requests of class 2s1s"),
        ] {
            assert_eq!(spelled(typed), read);
        }
    }

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!([time(999.0), time(43_120.0), time(1_500_000.0)], ["999 ns", "43.1 µs", "1.50 ms"]);
        assert_eq!([percent(0.0421), percent(0.8), percent(0.00012)], ["4.2 %", "80 %", "0.01 %"]);
        assert_eq!(
            [rate(2.19e6), rate(14_000.0), rate(3.0)],
            ["2.19 M requests/s", "14.0 k requests/s", "3.00 requests/s"]
        );
    }
}
