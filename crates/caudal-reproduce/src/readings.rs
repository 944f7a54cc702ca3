//! The lists of statements that are one claim of a paper, and of those that cannot be held against it. `claims`, `record` and `size` look
//! statements up here. Constants.

/// Endings of statements that are one of several readings of a claim, or the claim at one of several places.
const READINGS: &[&str] = &[
    " (bounded Pareto)",
    " (the table's length by the paper's heuristic)",
    " (first reading)",
    " (second reading)",
    " (third reading)",
    " with the same lanes",
    ": median",
    ": tail",
    ": p99.9",
    ": 0 ns",
    ": 200 ns",
    ": tasks of 1 us",
    ": tasks of 100 us",
    ": latency over the single queue's",
    ": distance to the single queue's curve",
];

/// The first of them are readings of which figures by themselves are made.
const SECOND: usize = 2;

/// Statements that say again, with or without a number, what another one says.
const SAME: &[(&str, &str)] = &[
    ("Tail-control outperforms default-TBB by at least 31 %", "Tail-control outperforms default-TBB"),
    ("Tail-control outperforms default-TBB by at least 32 %", "Tail-control outperforms default-TBB"),
    (
        "With tail-control, the load at 20 ms is 10 % higher than with the better of its rivals",
        "With tail-control, 99.5 % of the requests meet a target at a higher load than with the better of its rivals (at 20 ms 880 requests/s against 800 and 775)",
    ),
];

/// Statements of which what was simulated is not what the paper speaks of, and why.
const NOT_COMPARABLE: &[(&str, &str, &str)] = &[
    (
        "q-zilla-figure-8b",
        "ISQD-SITA improves the tail over M/G/k by more with 4 servers than with 2",
        EQUAL_LOADS,
    ),
    (
        "q-zilla-figure-8c",
        "ISQD-SITA improves the tail over M/G/k by more with 8 servers than with 4",
        EQUAL_LOADS,
    ),
    (
        "q-zilla-figure-9b",
        "CoreZilla improves the tail over SMT by more with 4 contexts than with 2",
        EQUAL_LOADS,
    ),
    (
        "q-zilla-figure-9c",
        "CoreZilla improves the tail over SMT by more with 8 contexts than with 4",
        EQUAL_LOADS,
    ),
];
const EQUAL_LOADS: &str = "all are at a load of 0.7 here; the paper's loads rise with the servers, and at equal loads one queue \
                           gains by every server more";

/// Why a statement can not be held against the paper, if so.
pub(crate) fn not_comparable(figure: &str, statement: &str) -> Option<&'static str> {
    let found = NOT_COMPARABLE.iter().find(|(name, text, _)| *name == figure && *text == statement);
    found.map(|(_, _, why)| *why)
}

/// The claim that a statement is, in words that its other statements share.
pub(crate) fn claim(statement: &str) -> &str {
    let same = SAME.iter().find(|(text, _)| *text == statement).map_or(statement, |(_, claim)| claim);
    READINGS.iter().find_map(|reading| same.strip_suffix(reading)).unwrap_or(same)
}

/// Is a statement a second reading, of which a figure by itself is made, and which comes after the first?
pub(crate) fn is_second_reading(statement: &str) -> bool {
    READINGS[..SECOND].iter().any(|reading| statement.ends_with(reading))
}

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURES;
    use super::*;

    fn texts() -> Vec<(&'static str, &'static str)> {
        let figures = FIGURES.iter();
        figures
            .flat_map(|figure| figure.statements.iter().map(|statement| (figure.name, statement.text)))
            .collect()
    }

    #[test]
    fn what_is_taken_together_and_what_is_not_comparable_are_statements() {
        let all = texts();
        for (text, same) in SAME {
            assert!(
                all.iter().any(|(_, other)| other == text) && all.iter().any(|(_, other)| other == same),
                "{text}"
            );
        }
        for (figure, text, _) in NOT_COMPARABLE {
            assert!(all.contains(&(figure, text)), "{figure}: {text}");
        }
        for reading in READINGS {
            assert!(all.iter().any(|(_, text)| text.ends_with(reading)), "nothing ends with `{reading}`");
        }
    }

    #[test]
    fn readings_of_a_claim_are_one() {
        let text =
            "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 %";
        for reading in ["first", "second", "third"] {
            assert_eq!(claim(&format!("{text} ({reading} reading)")), text);
        }
        assert_eq!(
            claim("Tail-control outperforms default-TBB by at least 32 %"),
            "Tail-control outperforms default-TBB"
        );
    }
}
