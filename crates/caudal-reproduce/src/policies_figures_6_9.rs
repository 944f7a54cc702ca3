//! Policies paper, Figures 6 and 9: as Figure 5a on 64 cores, and at other loads. `figures` lists it; `reproduction` simulates its file
//! of `experiments/`, and then asks here for statements, charts and tables.

use super::claim::{Limit, all};
use super::figure::{Figure, FigureKind, Source, Statement};
use super::policies_dynamic as dynamic;
use super::policies_dynamic::share_of_cores;

/// Figure 6: 64 cores.
pub(crate) const FIGURE_6: Figure = Figure {
    name: "policies-figure-6",
    title: "Policies paper, Figure 6: core allocation on 64 cores",
    shows: "As Figure 5a on 64 cores.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-6.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_6,
    charts: |measured| dynamic::charts(measured, FIGURE_6.title),
    sheets: dynamic::sheets,
};

/// Figure 9a: load 0.3.
pub(crate) const FIGURE_9A: Figure = Figure {
    name: "policies-figure-9a",
    title: "Policies paper, Figure 9: core allocation at load 0.3",
    shows: "As Figure 5a at a load of 0.3.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-9a.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_9,
    charts: |measured| dynamic::charts(measured, FIGURE_9A.title),
    sheets: dynamic::sheets,
};

/// Figure 9b: load 0.7.
pub(crate) const FIGURE_9B: Figure = Figure {
    name: "policies-figure-9b",
    title: "Policies paper, Figure 9: core allocation at load 0.7",
    shows: "As Figure 5a at a load of 0.7.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-9b.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_9,
    charts: |measured| dynamic::charts(measured, FIGURE_9B.title),
    sheets: dynamic::sheets,
};

static STATEMENTS_6: [Statement; 7] = [
    dynamic::STATIC_STEALING,
    dynamic::LOWEST,
    dynamic::NEAREST,
    dynamic::NONE_BEATS_TAIL,
    more_than_80("Per-task uses more than 80 % of 64 cores for a workload that requires 50 %", |study| {
        let point = study.here().point("work-stealing", "per-task");
        all(&point
            .map(|point| share_of_cores(point, "per-task", Limit::Above(0.8)))
            .into_iter()
            .collect::<Vec<_>>())
    }),
    more_than_80("Caladan uses more than 80 % of 64 cores for a workload that requires 50 %", |study| {
        let point = study.here().point("work-stealing", "caladan");
        all(&point
            .map(|point| share_of_cores(point, "caladan", Limit::Above(0.8)))
            .into_iter()
            .collect::<Vec<_>>())
    }),
    dynamic::NEAR_BEND,
];

static STATEMENTS_9: [Statement; 4] =
    [dynamic::STATIC_STEALING, dynamic::LOWEST, dynamic::NEAREST, dynamic::NONE_BEATS_TAIL];

const fn more_than_80(
    text: &'static str,
    judge: fn(&super::figure::Study<'_>) -> super::claim::Finding,
) -> Statement {
    let (source, reading) = ("section 4.3, Finding 6", "with stealing, cores held on average");
    Statement { text, source, reading, needs: &[], judge }
}
