//! Policies paper, Figure 5: load balancing with core allocation for tasks of 1, 10 and 100 us. `figures` lists it; `reproduction`
//! simulates its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_stats::Estimate;

use super::cell::{Cell, common_replications};
use super::claim::{Ask, Claim, Finding, Limit, Needs, all, each, judge, prefixed};
use super::compare::{MEDIAN, TAIL, curve_ratios, spread};
use super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::measured::Measured;
use super::policies_dynamic as dynamic;
use super::policies_dynamic::{any_against, beats, efficiency_bound, share_of_cores};
use super::words::{MARGINAL, MUCH};

const SHOWS_1: &str = "Every coherent pair of a load-balancing and a core-allocation policy on 32 cores at a load of \
     half of them, tasks of 1 us on average, among the curves of static allocation.";
const SHOWS_10: &str = "As Figure 5a with tasks of 10 us on average.";
const SHOWS_100: &str = "As Figure 5a with tasks of 100 us on average.";

/// Tasks of 1 us.
pub(crate) const FIGURE_A: Figure = Figure {
    name: "policies-figure-5a",
    title: "Policies paper, Figure 5a: core allocation with tasks of 1 us",
    shows: SHOWS_1,
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-5a.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_A,
    charts: |measured| dynamic::charts(measured, FIGURE_A.title),
    sheets: dynamic::sheets,
};

/// Tasks of 10 us.
pub(crate) const FIGURE_B: Figure = Figure {
    name: "policies-figure-5b",
    title: "Policies paper, Figure 5b: core allocation with tasks of 10 us",
    shows: SHOWS_10,
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-5b.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_B,
    charts: |measured| dynamic::charts(measured, FIGURE_B.title),
    sheets: dynamic::sheets,
};

/// Tasks of 100 us.
pub(crate) const FIGURE_C: Figure = Figure {
    name: "policies-figure-5c",
    title: "Policies paper, Figure 5c: core allocation with tasks of 100 us",
    shows: SHOWS_100,
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-5c.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS_C,
    charts: |measured| dynamic::charts(measured, FIGURE_C.title),
    sheets: dynamic::sheets,
};

static STATEMENTS_A: [Statement; 9] = [
    dynamic::STATIC_STEALING,
    dynamic::LOWEST,
    dynamic::NEAREST,
    dynamic::NONE_BEATS_TAIL,
    dynamic::NONE_BEATS_MEDIAN,
    Statement {
        text: "Per-task allocation achieves poor CPU efficiency with 32 cores",
        source: "section 4.3, Finding 6",
        reading: "with stealing, it holds surely more cores than any other allocation policy",
        needs: &[],
        judge: |study| poor_per_task(study.here()),
    },
    dynamic::NEAR_BEND,
    Statement {
        text: "An extremely reactive core allocation can outperform static allocation with tasks of 1 us",
        source: "section 4.3",
        reading: "stealing with delay range, decisions every 1 us and grants within 1 us: p99.9 below the static curve",
        needs: &[],
        judge: |study| reactive(study.here()),
    },
    Statement {
        text: "Keeping a buffer of idle cores performs significantly worse than the other policies",
        source: "section 4.3",
        reading: "p99.9 over the static work-stealing curve on as many cores is more than a third higher than with \
                  either range",
        needs: &[],
        judge: |study| idle_buffer(study.here()),
    },
];

static STATEMENTS_B: [Statement; 9] = [
    dynamic::STATIC_STEALING,
    dynamic::LOWEST,
    dynamic::NEAREST,
    beats!(
        "With tasks of 10 us, delay range with stealing beats static allocation: p99.9",
        "delay-range",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 10 us, utilization range with stealing beats static allocation: p99.9",
        "utilization-range",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 10 us, Caladan with stealing beats static allocation: p99.9",
        "caladan",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 10 us, per-task allocation does not beat static allocation: p99.9",
        "per-task",
        TAIL,
        dynamic::NOT_BEATEN
    ),
    Statement {
        text: "With tasks of 10 us, none of these beats static allocation for the median",
        source: "section 4.3",
        reading: "p50 of delay range, utilization range and Caladan with stealing, at as many cores",
        needs: &[],
        judge: |study| no_median(study.here()),
    },
    dynamic::ONLY_STEALING_BEATS,
];

static STATEMENTS_C: [Statement; 11] = [
    dynamic::STATIC_STEALING,
    dynamic::LOWEST,
    dynamic::NEAREST,
    beats!(
        "With tasks of 100 us, delay range with stealing beats static allocation: p99.9",
        "delay-range",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 100 us, utilization range with stealing beats static allocation: p99.9",
        "utilization-range",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 100 us, Caladan with stealing beats static allocation: p99.9",
        "caladan",
        TAIL,
        Limit::Below(1.0)
    ),
    beats!(
        "With tasks of 100 us, per-task allocation beats static allocation: p99.9",
        "per-task",
        TAIL,
        Limit::Below(1.0)
    ),
    dynamic::ONLY_STEALING_BEATS,
    Statement {
        text: "Per-task efficiency is at most T/(T+R) before all cores are allocated: tasks of 100 us",
        source: "section 4.3",
        reading: "judged where fewer than 1 % of the arrivals find no free core; R = 5 us",
        needs: &[],
        judge: |study| efficiency_bound(study, 100.0),
    },
    Statement {
        text: "The operating points of Caladan and per-task change with the service time",
        source: "section 4.3, Finding 5, Figure 5",
        reading: "with stealing, cores held or p99.9 in units of the mean service time differ surely by more than a \
                  tenth between 1, 10 and 100 us",
        needs: &FIVE,
        judge: |study| changing(study),
    },
    Statement {
        text: "Utilization range uses close to 60 % of the cores for all service times",
        source: "section 4.3, Finding 5, Figure 5",
        reading: "with each load-balancing policy, it holds 55 to 65 % of the 32 cores",
        needs: &FIVE,
        judge: |study| sixty_percent(study),
    },
];

const STEALING: &str = "work-stealing";
/// The parts of the figure.
static FIVE: [&str; 3] = ["policies-figure-5a", "policies-figure-5b", "policies-figure-5c"];

fn poor_per_task(measured: &Measured) -> Finding {
    let Some(per_task) = measured.point(STEALING, "per-task") else { return all(&[]) };
    let asks: Vec<Ask<'_>> = dynamic::ALLOCATION
        .iter()
        .filter_map(|allocation| measured.point(STEALING, allocation))
        .map(|other| more_cores(per_task, other))
        .collect();
    all(&asks)
}

/// Does `first` hold more cores than `second`?
fn more_cores<'a>(first: &'a Cell, second: &'a Cell) -> Ask<'a> {
    Box::new(move |confidence| {
        let place = format!("cores of {} over cores of {}", first.allocation, second.allocation);
        let n = common_replications(&[first, second]);
        let log = first.cores(n).ln().plus(-1.0, &second.cores(n).ln());
        Claim::new(place, log.exp_interval(confidence), Limit::Above(1.0)).about(&[first, second])
    })
}

fn reactive(measured: &Measured) -> Finding {
    any_against(measured, &[("reactive", "delay-range")], STEALING, Limit::Below(1.0))
}

fn idle_buffer(measured: &Measured) -> Finding {
    let asks = ["delay-range", "utilization-range"].into_iter().filter_map(|other| {
        let points = (measured.point("idle-buffer", "idle-buffer")?, measured.point(STEALING, other)?);
        let place = format!("its ratio to the curve over that of {other}");
        Some(curve_ratios(measured, points, STEALING, TAIL, (place, Limit::Above(1.0 + MUCH))))
    });
    all(&asks.collect::<Vec<_>>())
}

fn no_median(measured: &Measured) -> Finding {
    let asks = ["delay-range", "utilization-range", "caladan"].into_iter().filter_map(|allocation| {
        let point = (STEALING, allocation);
        super::compare::against_curve(measured, point, STEALING, MEDIAN, dynamic::NOT_BEATEN)
    });
    all(&asks.collect::<Vec<_>>())
}

/// The points of stealing under an allocation policy, for the three service times.
fn points_of<'a>(study: &Study<'a>, allocation: &str) -> Vec<&'a Cell> {
    FIVE.iter().filter_map(|name| study.figure(name).point(STEALING, allocation)).collect()
}

/// Cores held by stealing under an allocation policy, for the three service times.
fn cores(study: &Study<'_>, allocation: &str, confidence: f64) -> Vec<Estimate> {
    points_of(study, allocation).into_iter().map(|point| point.cores_mean(confidence)).collect()
}

fn changing(study: &Study<'_>) -> Finding {
    let of = |allocation: &'static str| {
        let ask: Ask<'_> = Box::new(move |confidence| {
            let values = cores(study, allocation, confidence);
            Claim::new("most over fewest cores:", spread(&values), Limit::Above(1.0 + MARGINAL))
                .about(&points_of(study, allocation))
        });
        let tail: Ask<'_> = Box::new(move |confidence| {
            let means_us = [1.0, 10.0, 100.0];
            let points = points_of(study, allocation);
            let scaled = |(point, mean_us): (&&Cell, f64)| TAIL.of(point, confidence).divided_by(mean_us);
            let values: Vec<Estimate> = points.iter().zip(means_us).map(scaled).collect();
            Claim::new("largest over smallest p99.9:", spread(&values), Limit::Above(1.0 + MARGINAL))
                .about(&points)
        });
        judge(Needs::Any, &[ask, tail])
    };
    each(&[("Caladan", of("caladan")), ("per-task", of("per-task"))])
}

fn sixty_percent(study: &Study<'_>) -> Finding {
    let mut asks = Vec::new();
    for name in FIVE {
        for balancing in dynamic::BALANCING {
            if let Some(point) = study.figure(name).point(balancing, "utilization-range") {
                let words = format!("{balancing}, {}: ", name.trim_start_matches("policies-figure-"));
                asks.push(prefixed(
                    words,
                    share_of_cores(point, "utilization-range", Limit::Within(0.55, 0.65)),
                ));
            }
        }
    }
    all(&asks)
}
