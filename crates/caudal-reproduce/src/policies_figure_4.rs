//! Policies paper, Figure 4: the gains of the other load-balancing policies over work stealing. `figures` lists it; `reproduction` simulates
//! its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::Chart;
use caudal_stats::Estimate;

use super::cell::Stat;
use super::charts;
use super::claim::{Claim, Finding, Limit, Needs, all, judge, one};
use super::compare::{LATENCIES, MEDIAN, TAIL, along_cores};
use super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::measured::Measured;
use super::tables::static_sheets;
use super::words::{MARGINAL, UNCHANGED};

pub(crate) const FIGURE: Figure = Figure {
    name: "policies-figure-4",
    title: "Policies paper, Figure 4: work stealing combined with other load-balancing policies",
    shows: "Latency on 17 to 32 statically allocated cores of 32 at a load of half of all 32, when work shedding or \
            enqueue choice is added to work stealing.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-4.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets: static_sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 4.2.1, Finding 2", reading, needs: &[], judge }
}

const BOTH: (&str, &str) = ("stealing-and-shedding", "work-stealing");
const CHOICE: (&str, &str) = ("stealing-and-choice", "work-stealing");

static STATEMENTS: [Statement; 6] = [
    statement(
        "Adding shedding to work stealing provides some latency benefit at the tail",
        "p99.9 is surely lower, by more than 2 %, on some number of cores",
        |study| judge(Needs::Any, &along_cores(study.here(), BOTH, &[TAIL], Limit::Below(1.0 - UNCHANGED))),
    ),
    statement(
        "That benefit is primarily at the tail",
        "the largest relative gain at p99.9 is larger than that at the median",
        |study| primarily(study.here()),
    ),
    statement(
        "That benefit is limited to certain efficiencies",
        "on some number of cores p99.9 is surely not more than 2 % lower",
        |study| judge(Needs::Any, &along_cores(study.here(), BOTH, &[TAIL], Limit::Above(1.0 - UNCHANGED))),
    ),
    statement(
        "Adding enqueue choice to work stealing makes performance unchanged or worse",
        "p50, p99 and p99.9 are nowhere more than 2 % lower",
        |study| all(&along_cores(study.here(), CHOICE, &LATENCIES, Limit::Above(1.0 - UNCHANGED))),
    ),
    statement(
        "With few cores the overhead of enqueue choice degrades throughput",
        "on the fewest cores p99.9 is surely higher with it than without",
        |study| {
            let mut asks = along_cores(study.here(), CHOICE, &[TAIL], Limit::Above(1.0));
            asks.truncate(1);
            all(&asks)
        },
    ),
    statement(
        "With many cores there is little room for improvement between work stealing and the single queue",
        "on all 32 cores p99.9 of work stealing is at most a tenth above that of the single queue",
        |study| {
            let systems = ("work-stealing", "single-queue");
            let asks = along_cores(study.here(), systems, &[TAIL], Limit::Below(1.0 + MARGINAL));
            all(&asks[asks.len().saturating_sub(1)..])
        },
    ),
];

/// The largest gain at the tail over the largest gain at the median, as a ratio of ratios.
fn primarily(measured: &Measured) -> Finding {
    let least = |stat: Stat, confidence: f64| {
        let pairs = measured.pairs(BOTH.0, BOTH.1).into_iter();
        let ratios = pairs.map(|(a, b)| (stat.ratio(a, b, confidence), [a, b]));
        ratios.min_by(|(a, _), (b, _)| a.estimate.total_cmp(&b.estimate))
    };
    one(|confidence| {
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let place = "smallest ratio at p99.9 over smallest ratio at p50:";
        let limit = Limit::Below(1.0);
        match (least(TAIL, each), least(MEDIAN, each)) {
            (Some((tail, a)), Some((median, b))) => {
                Claim::new(place, super::cell::apart(tail, median), limit).about(&[a[0], a[1], b[0], b[1]])
            }
            _ => Claim::new(place, Estimate::MISSING, limit),
        }
    })
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let plot = |stat: Stat| charts::along_cores(measured, &stat.label(), stat, |_| true);
    vec![Chart::single(FIGURE.title, "Lower and further left is better.", vec![plot(MEDIAN), plot(TAIL)])]
}
