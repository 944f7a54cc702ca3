//! Tail-control, Figure 7: the work of option pricing at three loads. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Finding, Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Statement, Study};
use super::super::measured::Measured;
use super::super::words::{MUCH, UNCHANGED};
use super::setting::{Setting, against, at, longest, targets};
use super::show::{chart, sheets};
use super::{ADMIT, CONTROL, EVERYWHERE, FEWER, STEAL, fewer};

pub(crate) const FIGURE_7: Figure = Figure {
    name: "tail-control-figure-7",
    title: "Tail-control, Figure 7: work like a finance server's",
    shows: "Share of requests that miss a target on 16 cores, for requests whose largest has 13 times the work of the \
            smallest, that are four parallel loops, one after another: at the loads of Figures 6 and 8 (0.5, 0.625 and 0.75), five targets each.",
    files: sources!("7"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_7.title)],
    sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.1, Figure 7", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "For the finance server's work, steal-first performs better than admit-first",
        EVERYWHERE,
        |study| fewer(study.here(), STEAL, ADMIT),
    ),
    statement(
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first",
        "misses within 2 % of steal-first's",
        |study| {
            let same = Limit::Within(1.0 - UNCHANGED, 1.0 + UNCHANGED);
            all(&at(two_longest(study.here(), "heavy"), (CONTROL, STEAL), same))
        },
    ),
    statement(
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily",
        "nowhere more than 2 % above those of steal-first",
        |study| all(&against(study.here(), (CONTROL, STEAL), Limit::Below(1.0 + UNCHANGED))),
    ),
    statement(
        "Even for the finance server's work, tail-control significantly improves the miss ratio in some cases",
        "more than a third below steal-first's in some setting (a load and a target)",
        |study| judge(Needs::Any, &against(study.here(), (CONTROL, STEAL), Limit::Below(1.0 - MUCH))),
    ),
    statement(
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 %",
        "fewer misses",
        |study| {
            let medium = longest(study.here()).into_iter().filter(|setting| setting.load == "medium");
            all(&at(medium.collect::<Vec<_>>(), (CONTROL, STEAL), FEWER))
        },
    ),
];

fn two_longest<'a>(measured: &'a Measured, load: &'static str) -> Vec<Setting<'a>> {
    let settings = targets(measured, load);
    settings[settings.len().saturating_sub(2)..].to_vec()
}
