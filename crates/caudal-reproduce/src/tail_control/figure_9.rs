//! Tail-control, Figure 9: gaps that vary more than a Poisson process's. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::Finding;
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::show::{chart, sheets};
use super::{ADMIT, STEAL, THAN_BETTER, ahead_of_both, fewer};

pub(crate) const FIGURE_9: Figure = Figure {
    name: "tail-control-figure-9",
    title: "Tail-control, Figure 9: log-normal arrivals",
    shows: "Share of requests that miss a target on 16 cores, for log-normal work of 10 ms on average at 1200 requests/s, \
            when gaps are log-normal with a standard deviation of 1.3 times their mean.",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-figure-9.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_9.title)],
    sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.2, Figure 9", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 2] = [
    statement(
        "With log-normal arrivals, steal-first is better than admit-first",
        "fewer misses at each target",
        |study| fewer(study.here(), STEAL, ADMIT),
    ),
    statement(
        "With log-normal arrivals, tail-control outperforms the better of steal-first and admit-first: by 25 % to 44 %",
        THAN_BETTER,
        |study| ahead_of_both(study.here()),
    ),
];
