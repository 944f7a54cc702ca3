//! Policies paper, Figure 10: load balancing with other distributions of service times. `figures` lists it; `reproduction` simulates its
//! file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::Chart;
use caudal_stats::Estimate;

use super::cell::{Cell, Stat, apart};
use super::charts;
use super::claim::{Ask, Claim, Finding, Limit, all, prefixed};
use super::compare::{LATENCIES, MEDIAN, TAIL, along_cores};
use super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::measured::Measured;
use super::tables::static_sheets;
use super::words::UNCHANGED;

/// Constant service times.
pub(crate) const FIGURE_A: Figure = Figure {
    name: "policies-figure-10a",
    title: "Policies paper, Figure 10a: load balancing with constant service times",
    shows: "Latency on 17 to 32 statically allocated cores of 32 at a load of half of all 32; every task takes 1 us.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-10a.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_A,
    charts: |measured| charts(measured, FIGURE_A.title),
    sheets: static_sheets,
};

/// Two service times.
pub(crate) const FIGURE_B: Figure = Figure {
    name: "policies-figure-10b",
    title: "Policies paper, Figure 10b: load balancing with bimodal service times",
    shows: "As Figure 10a with tasks of 0.5 us (90 %) and 5.5 us (10 %).",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-10b.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_B,
    charts: |measured| charts(measured, FIGURE_B.title),
    sheets: static_sheets,
};

const EXPONENTIAL: &str = "policies-figure-3";
/// The practical policies of the figure.
const POLICIES: [&str; 4] = ["no-balancing", "enqueue-choice", "work-shedding", "work-stealing"];

const fn outperforms(text: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    let source = "appendix A.2.2";
    Statement { text, source, reading: "p50, p99 and p99.9 on every number of cores", needs: &[], judge }
}

static STATEMENTS_A: [Statement; 5] = [
    outperforms("With constant service times, work stealing outperforms no load balancing", |study| {
        faster(study.here(), "no-balancing")
    }),
    outperforms("With constant service times, work stealing outperforms enqueue choice", |study| {
        faster(study.here(), "enqueue-choice")
    }),
    outperforms("With constant service times, work stealing outperforms work shedding", |study| {
        faster(study.here(), "work-shedding")
    }),
    Statement {
        text: "With constant service times, the choice of the load-balancing policy has less impact",
        source: "section 4.2.1 and appendix A.2.2",
        reading: "largest minus smallest p99.9 of the practical policies that carry the load is smaller than with \
                  exponential service times, on every number of cores",
        needs: &[EXPONENTIAL],
        judge: |study| less_impact(study),
    },
    ORDERING,
];

static STATEMENTS_B: [Statement; 4] = [
    outperforms("With bimodal service times, work stealing outperforms no load balancing", |study| {
        faster(study.here(), "no-balancing")
    }),
    outperforms("With bimodal service times, work stealing outperforms enqueue choice", |study| {
        faster(study.here(), "enqueue-choice")
    }),
    outperforms("With bimodal service times, work stealing outperforms work shedding", |study| {
        faster(study.here(), "work-shedding")
    }),
    ORDERING,
];

const ORDERING: Statement = Statement {
    text: "The ordering of the static curves is the same as with exponential service times",
    source: "section 4.2.1",
    reading: "p99.9: wherever two practical policies on as many cores surely differ with exponential service times, \
              the order is the same here, or they are within 2 %",
    needs: &[EXPONENTIAL],
    judge: |study| same_ordering(study),
};

fn faster(measured: &Measured, other: &str) -> Finding {
    all(&along_cores(measured, ("work-stealing", other), &LATENCIES, Limit::Below(1.0)))
}

/// Largest minus smallest p99.9 of the practical policies that carry the load both here and there.
fn impact(measured: &Measured, systems: &[&str], held: u32, confidence: f64) -> Estimate {
    let cells = systems.iter().filter_map(|system| measured.held(system, held));
    let tails: Vec<Estimate> = cells.map(|cell| TAIL.of(cell, confidence)).collect();
    let by = |a: &&Estimate, b: &&Estimate| a.estimate.total_cmp(&b.estimate);
    let (Some(most), Some(least)) = (tails.iter().max_by(by), tails.iter().min_by(by)) else {
        return Estimate::MISSING;
    };
    let (low, high) = (most.low - least.high, most.high - least.low);
    Estimate { estimate: most.estimate - least.estimate, low, high }
}

fn less_impact(study: &Study<'_>) -> Finding {
    let (here, there) = (study.here(), study.figure(EXPONENTIAL));
    let asks = here.values(|cell| cell.held).into_iter().map(|held| -> Ask<'_> {
        Box::new(move |confidence| {
            let carries = |measured: &Measured, system: &str| {
                measured.held(system, held).is_some_and(|cell| !cell.overloaded)
            };
            let both: Vec<&str> = POLICIES
                .into_iter()
                .filter(|system| carries(here, system) && carries(there, system))
                .collect();
            let each = 1.0 - (1.0 - confidence) / 4.0;
            let ratio = apart(impact(here, &both, held, each), impact(there, &both, held, each));
            let cells = both.iter().flat_map(|system| [here.held(system, held), there.held(system, held)]);
            let cells: Vec<&Cell> = cells.flatten().collect();
            Claim::new(format!("on {held} cores"), ratio, Limit::Below(1.0)).about(&cells)
        })
    });
    all(&asks.collect::<Vec<_>>())
}

fn same_ordering(study: &Study<'_>) -> Finding {
    let (here, there) = (study.here(), study.figure(EXPONENTIAL));
    let mut asks = Vec::new();
    for (at, first) in POLICIES.into_iter().enumerate() {
        for second in POLICIES.into_iter().skip(at + 1) {
            for (a, b) in there.pairs(first, second) {
                let ratio = TAIL.ratio(a, b, 0.99);
                let (first, second) = match ratio {
                    ratio if ratio.high < 1.0 => (first, second),
                    ratio if ratio.low > 1.0 => (second, first),
                    _ => continue,
                };
                let (Some(a), Some(b)) = (here.held(first, a.held), here.held(second, a.held)) else {
                    continue;
                };
                if a.overloaded && b.overloaded {
                    continue;
                }
                let place = format!("p99.9 on {} cores", a.held);
                let ask = super::compare::ratio(place, TAIL, a, b, Limit::Below(1.0 + UNCHANGED));
                asks.push(prefixed(format!("{first} before {second}: "), ask));
            }
        }
    }
    all(&asks)
}

fn charts(measured: &Measured, title: &str) -> Vec<Chart> {
    let plot = |stat: Stat| charts::along_cores(measured, &stat.label(), stat, |_| true);
    vec![Chart::single(title, "Lower and further left is better.", vec![plot(MEDIAN), plot(TAIL)])]
}
