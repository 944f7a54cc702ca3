//! The notes on the statements of the tail-control paper. [`super::note`] looks up the one of a statement when the page of its figure is
//! made. Constants.

use caudal_results::table::digits;

use super::Note;
use super::explanation::{Explanation, Numbers};
use super::kept::{Kept, Missing, Results, in_words, least, most};

/// The figure of the finance server's work, with tables of thresholds in full.
const FINANCE: &str = "tail-control-figure-7";
/// The row of a table of misses that has tail-control's over steal-first's.
const OVER_STEAL_FIRST: &str = "tail-control over steal-first";

const OF_FINANCE: Explanation = Explanation::new(
    "tail-control is ahead of steal-first by {ahead} % at heavy load and the shortest target, level with it at medium load, and behind by \
     {behind from} to {behind to} % at light load. The table takes it that the request that begins a pile-up has the threshold's work ahead \
     of everybody: at light load and {given: 4.02} ms it gives up requests of more than {given: 44.8} ms of work as soon as there are two, \
     which on all cores would be in time. Thresholds {given: 1.5} and {given: 2} times as large have {once: 2.35 % ± 3.9} % and \
     {once: 2.40 % ± 3.4} % misses there instead of {once: 2.90 % ± 2.9} %, steal-first has {once: 2.51 % ± 3.6} % ({given: 10} replications \
     of {given: 50,000} requests): `caudal threshold --refine` is for that. How many rows the paper's tables have is not said. By its \
     heuristic, twice the requests that are active on average, ours end at {given: 2}, {given: 3} and {given: 6} active requests, and all \
     but one give nobody up: that is the second reading, a figure by itself. The finance server's histogram is not published; \
     `finance-like` has its range.",
)
.looked_up(|kept| {
    let figure = kept.figure(FINANCE)?;
    let light = more_misses(&figure, "Misses, light")?;
    let heavy = more_misses(&figure, "Misses, heavy")?;
    Ok(vec![
        ("ahead", format!("{:.0}", -heavy[0])),
        ("behind from", format!("{:.0}", least(&light))),
        ("behind to", format!("{:.0}", most(&light))),
    ])
})
.once("2026-11-22", "the file of Figure 7 about light load, with such thresholds");

const OF_LOOKS: Explanation = Explanation::new(
    "no request is given up, and the schedule is steal-first's but for what looking costs: a worker that runs out of work looks at the \
     processing time of all that run, as in the paper's Figure 5a. That alone brings {little from} to {little to} % more misses at light and \
     medium load and {heavy from} to {heavy to} % at heavy load, instead of {full from} to {full to} % more at light load with the full \
     table.",
)
.looked_up(|kept| {
    let here = kept.here();
    let little = [more_misses(&here, "Misses, light")?, more_misses(&here, "Misses, medium")?].concat();
    let heavy = more_misses(&here, "Misses, heavy")?;
    let full = more_misses(&kept.figure(FINANCE)?, "Misses, light")?;
    Ok(vec![
        ("little from", format!("{:.0}", least(&little))),
        ("little to", format!("{:.0}", most(&little))),
        ("heavy from", format!("{:.0}", least(&heavy))),
        ("heavy to", format!("{:.0}", most(&heavy))),
        ("full from", format!("{:.0}", least(&full))),
        ("full to", format!("{:.0}", most(&full))),
    ])
});

const OF_KNOWN_WORK: Explanation = Explanation::new(
    "the one that knows the work has {bing} of the misses for Bing's work and {normal} for log-normal work, at the longest target, too. A \
     request that never gets more than one core holds nobody up; tail-control does the threshold's work of it on all cores before it finds \
     out.",
)
.looked_up(|kept| {
    let share = |figure: &str| -> Result<String, Missing> {
        let over = kept.figure(figure)?.row("Misses", &["tail-control over tc-clairvoyant"])?;
        Ok(digits(1.0 / over[over.len() - 1]))
    };
    Ok(vec![("bing", share("tail-control-figure-13")?), ("normal", share("tail-control-figure-14")?)])
});

pub(super) const NOTES: &[Note] = &[
    (
        "tail-control-figure-6",
        "For Bing's work, admit-first performs better than steal-first in most cases",
        Explanation::new(
            "it is ahead at the {ahead} shortest targets of each load, and behind at the {behind} longest. Which targets the paper has is \
             known by their ranks alone.",
        )
        .looked_up(admit_first_ahead),
    ),
    (
        "tail-control-figure-7",
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Even for the finance server's work, tail-control significantly improves the miss ratio in some cases",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 %",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7-short-table",
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    (
        "tail-control-figure-7-short-table",
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    (
        "tail-control-figure-7-short-table",
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 % (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    (
        "tail-control-figure-8",
        "With log-normal work, steal-first performs slightly worse than admit-first when the target is short",
        Explanation::new(
            "they are within {apart} % of each other. It depends on what helping costs: {given: 25} ns a fork, {given: 100} ns an attempt and \
             nothing for a steal here. With {given: 1} us, {given: 1} us and {given: 5} us, steal-first has {once: 6.3 % ± 15} % misses of \
             {given: 13.9} ms at heavy load against {once: 3.5 % ± 9} % for admit-first ({given: 10} replications of {given: 50,000} requests).",
        )
        .looked_up(|kept| {
            let apart = |table: &str| -> Result<f64, Missing> {
                let first = |system: &str| kept.here().row(table, &[system]).map(|misses| misses[0]);
                Ok(100.0 * (first("steal-first")? / first("admit-first")? - 1.0).abs())
            };
            let all = [apart("Misses, light")?, apart("Misses, medium")?, apart("Misses, heavy")?];
            Ok(vec![("apart", format!("{:.0}", most(&all).ceil()))])
        })
        .once("2026-11-22", "the file of Figure 8 about heavy load, with these costs"),
    ),
    (
        "tail-control-figure-13",
        "Tail-control is comparable to the one that knows the work when the target is long",
        OF_KNOWN_WORK,
    ),
    (
        "tail-control-figure-14",
        "Tail-control is comparable to the one that knows the work when the target is long",
        OF_KNOWN_WORK,
    ),
];

/// How many per cent more requests miss each target under tail-control than under steal-first.
fn more_misses(figure: &Results<'_>, table: &str) -> Result<Vec<f64>, Missing> {
    let over = figure.row(table, &[OVER_STEAL_FIRST])?;
    Ok(over.into_iter().map(|over| 100.0 * (over - 1.0)).collect())
}

/// The number of shortest targets at which admit-first has fewer misses than steal-first at each load, and of longest ones at which it has
/// more.
fn admit_first_ahead(kept: &Kept<'_>) -> Numbers {
    let here = kept.here();
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for table in ["Misses, light", "Misses, medium", "Misses, heavy"] {
        let (steal, admit) = (here.row(table, &["steal-first"])?, here.row(table, &["admit-first"])?);
        let pairs = || steal.iter().zip(&admit);
        ahead.push(pairs().take_while(|(steal, admit)| admit < steal).count() as f64);
        behind.push(pairs().rev().take_while(|(steal, admit)| admit > steal).count() as f64);
    }
    Ok(vec![("ahead", in_words(least(&ahead))), ("behind", in_words(least(&behind)))])
}
