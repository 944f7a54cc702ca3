//! Tail-control, Figure 8: log-normal work at three loads. `figures` lists it; `reproduction` simulates its file of `experiments/`, and
//! then asks here for statements, charts and tables.

use super::super::claim::{Finding, all};
use super::super::figure::{Figure, FigureKind, Statement, Study};
use super::setting::{at, longest, shortest};
use super::show::{chart, sheets};
use super::{ADMIT, FEWER, MORE, STEAL, THAN_BETTER, ahead_of_both};

pub(crate) const FIGURE_8: Figure = Figure {
    name: "tail-control-figure-8",
    title: "Tail-control, Figure 8: log-normal work",
    shows: "Share of requests that miss a target on 16 cores, for requests of 10 ms of work on average that are four \
            parallel loops, one after another: 800, 1000 and 1200 requests/s, five targets each.",
    files: sources!("8"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_8.title)],
    sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.1, Figure 8", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 3] = [
    statement(
        "With log-normal work, tail-control consistently outperforms steal-first and admit-first: by 17 % to 66 %",
        THAN_BETTER,
        |study| ahead_of_both(study.here()),
    ),
    statement(
        "With log-normal work, steal-first performs better than admit-first when the target is long",
        "fewer misses of the longest target at each load",
        |study| all(&at(longest(study.here()), (STEAL, ADMIT), FEWER)),
    ),
    statement(
        "With log-normal work, steal-first performs slightly worse than admit-first when the target is short",
        "more misses of the shortest target at each load",
        |study| all(&at(shortest(study.here()), (STEAL, ADMIT), MORE)),
    ),
];
