//! Beyond the paper: how much it matters how many parallel loops a request is. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Ask, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::words::{MARGINAL, UNCHANGED};
use super::setting::{Setting, at, targets};
use super::show::{chart, sheets};
use super::{CONTROL, MORE, STEAL};

/// A file of the figure.
macro_rules! file {
    ($name:literal) => {
        Source {
            workload: $name,
            text: include_str!(concat!("../../../../experiments/tail-control-loops/", $name, ".toml")),
        }
    };
}

pub(crate) const FIGURE_LOOPS: Figure = Figure {
    name: "tail-control-loops",
    title: "Tail-control, beyond the paper: how many loops a request is",
    shows: "Share of requests that miss a target on 16 cores, as in Figures 6c (bing) and 7c (finance), for requests that are \
            1, 2, 4 or 16 equal parallel loops, one after another: the paper does not say how many its requests have.",
    files: &[
        file!("bing-1"),
        file!("bing-2"),
        file!("bing-4"),
        file!("bing-16"),
        file!("finance-1"),
        file!("finance-4"),
    ],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_LOOPS.title)],
    sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "ours", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 4] = [
    statement(
        "Tail-control gains less over steal-first if requests are one loop, for Bing's work",
        "its misses over theirs are higher with one loop than with four, at each target",
        |study| all(&against(study.here(), ("bing-1", "bing-4"), (CONTROL, STEAL), &[MORE])),
    ),
    statement(
        "Tail-control gains less over steal-first if requests are one loop, for the finance server's work",
        "its misses over theirs are higher with one loop than with four, at each target",
        |study| all(&against(study.here(), ("finance-1", "finance-4"), (CONTROL, STEAL), &[MORE])),
    ),
    statement(
        "With more than four loops, what tail-control gains hardly changes",
        "its misses over steal-first's are within a tenth with 16 and with 4 loops, at each target",
        |study| all(&against(study.here(), ("bing-16", "bing-4"), (CONTROL, STEAL), &ALIKE)),
    ),
    statement(
        "To the finance server's work, tail-control with four loops does no harm",
        "at most 2 % more misses than steal-first, at each target",
        |study| all(&at(targets(study.here(), "finance-4"), (CONTROL, STEAL), Limit::Below(1.0 + UNCHANGED))),
    ),
];

/// Within a tenth.
const ALIKE: [Limit; 2] = [Limit::Below(1.0 + MARGINAL), Limit::Above(1.0 - MARGINAL)];

/// Is the ratio of two systems' misses with some number of loops, over that with another one, within `limits`, at each target?
fn against<'a>(
    measured: &'a Measured,
    (some, other): (&'static str, &'static str),
    systems: (&str, &str),
    limits: &[Limit],
) -> Vec<Ask<'a>> {
    let pairs = targets(measured, some).into_iter().zip(targets(measured, other));
    let asks = |(own, theirs): (Setting<'a>, Setting<'a>)| -> Vec<Ask<'a>> {
        let ask = |&limit: &Limit| {
            let ratio = own.ratio(systems)?.over(theirs.ratio(systems)?);
            Some(ratio.ask(format!("{some} against {other}, {}:", own.late), limit))
        };
        limits.iter().filter_map(ask).collect()
    };
    pairs.flat_map(asks).collect()
}
