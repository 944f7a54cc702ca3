//! Tiny Quanta, Figure 4: long jobs under centralised and two-level scheduling. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::Chart;

use super::super::cell::Stat;
use super::super::charts::{Axes, curves};
use super::super::claim::{Ask, Limit, Needs, all, judge};
use super::super::compare::ratio;
use super::super::figure::{Figure, FigureKind, Source, Statement};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::tables::pivot;
use super::super::words::{COMPETITIVE, MUCH, UNCHANGED};
use super::{ACROSS, LONG, SLOWDOWN, rate_column};
use caudal_results::table::digits;

/// Slowdowns of long jobs as Figure 4 shows them.
pub(crate) const FIGURE_4: Figure = Figure {
    name: "tiny-quanta-figure-4",
    title: "Tiny Quanta, Figure 4: long jobs under centralised and two-level scheduling",
    shows: "99.9 % slowdown of the long jobs of the extreme bimodal workload on 16 workers: one central queue (CT), \
            or a dispatcher that joins the shortest queue with MSQ or random ties (TLS); quantum 2 us, no overhead.",
    files: &[Source::alone(include_str!("../../../../experiments/tiny-quanta-figure-4.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

static STATEMENTS: [Statement; 5] = [
    Statement {
        text: "MSQ tie breaking gives long jobs a much lower tail slowdown than random tie breaking",
        source: "section 3.2, Figure 4",
        reading: "p99.9 of the long jobs is more than a third lower at some rate from 2 to 4.5 M/s",
        needs: &[],
        judge: |study| {
            let asks = against(study.here(), "TLS, random ties", Limit::Below(1.0 - MUCH), medium);
            judge(Needs::Any, &asks)
        },
    },
    Statement {
        text: "MSQ tie breaking is better than random tie breaking for long jobs at every medium and high rate",
        source: "section 3.2, Figure 4",
        reading: "p99.9 of the long jobs is surely lower at every rate from 2 to 4.5 M/s",
        needs: &[],
        judge: |study| all(&against(study.here(), "TLS, random ties", Limit::Below(1.0), medium)),
    },
    Statement {
        text: "MSQ tie breaking is nowhere worse than random tie breaking for long jobs",
        source: "section 3.2, Figure 4",
        reading: "p99.9 of the long jobs is nowhere more than 2 % higher",
        needs: &[],
        judge: |study| {
            all(&against(study.here(), "TLS, random ties", Limit::Below(1.0 + UNCHANGED), |_| true))
        },
    },
    Statement {
        text: "MSQ tie breaking is competitive with centralised scheduling",
        source: "section 3.2, Figure 4",
        reading: "p99.9 of the long jobs is at most 1.5 times that of CT at every rate up to 4.5 M/s",
        needs: &[],
        judge: |study| {
            all(&against(study.here(), "CT", Limit::Below(1.0 + COMPETITIVE), |rate| rate <= 4.5e6))
        },
    },
    Statement {
        text: "Centralised scheduling performs better in simulation without overhead",
        source: "section 3.2, Figure 4",
        reading: "p99.9 of the long jobs under MSQ is surely above that of CT at every rate from 2 M/s",
        needs: &[],
        judge: |study| all(&against(study.here(), "CT", Limit::Above(1.0), |rate| rate >= 2e6)),
    },
];

/// Long jobs under MSQ against another system, at the rates that `at` lets pass.
fn against<'a>(measured: &'a Measured, other: &str, limit: Limit, at: impl Fn(f64) -> bool) -> Vec<Ask<'a>> {
    let pairs = measured.curve("TLS, MSQ ties").into_iter();
    let others = measured.curve(other);
    pairs
        .filter(|a| at((a.rate_per_s / 1e3).round() * 1e3))
        .filter_map(|a| others.iter().find(|b| b.rate_per_s == a.rate_per_s).map(|&b| (a, b)))
        .filter(|(a, b)| !(a.overloaded && b.overloaded))
        .map(|(a, b)| ratio(format!("at {} M/s", digits(a.rate_per_s / 1e6)), LONG, a, b, limit))
        .collect()
}

/// Rates at which the workers mostly have a long job, and are not all but full.
fn medium(rate: f64) -> bool {
    (2e6..=4.5e6).contains(&rate)
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ACROSS, stat: LONG, most: None };
    let plot = curves(&measured.cells, "", axes, |cell| Some(cell.system.clone()));
    vec![Chart::single(FIGURE_4.title, "Lower is better.", vec![plot])]
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    let sheet = |stat: Stat, what: &str| {
        pivot(&measured.cells, stat, what, |cell| cell.system.clone(), ("system", rate_column))
    };
    vec![sheet(LONG, "slowdown of long jobs"), sheet(SLOWDOWN, "slowdown of all jobs")]
}
