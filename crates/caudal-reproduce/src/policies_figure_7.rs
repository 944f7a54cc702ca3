//! Policies paper, Figure 7: core allocation with work stealing across loads, on 64 cores. `figures` lists it; `reproduction` simulates
//! its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::cell::CONFIDENCE;
use super::cell::{Cell, apart, common_replications};
use super::charts::{Axes, curves};
use super::claim::{Ask, Claim, Finding, Limit, all, each, one};
use super::compare::{TAIL, spread};
use super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::measured::Measured;
use super::policies_dynamic::efficiency_bound;
use super::sheet::Sheet;
use super::tables::dynamic_sheet;
use super::words::SIMILAR;

pub(crate) const FIGURE: Figure = Figure {
    name: "policies-figure-7",
    title: "Policies paper, Figure 7: core allocation with work stealing across loads",
    shows: "Excess cores over the ideal single queue, and tail latency, of each core-allocation policy with work \
            stealing on 64 cores at loads from 0.05 to 0.9.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-7.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

const STEALING: &str = "work-stealing";
/// Policies that keep a metric in a range.
const RANGES: [&str; 2] = ["delay-range", "utilization-range"];
/// Policies that yield cores only when no work is found.
const OTHERS: [&str; 3] = ["shenango", "caladan", "per-task"];
/// The loads for statements that say "across loads": about those of the paper's figure. At lower loads, the result depends on a core or two.
const LOADS: std::ops::RangeInclusive<f64> = 0.2..=0.8;

static STATEMENTS: [Statement; 7] = [
    Statement {
        text: "Delay range and utilization range save up to 15 cores for similar tail latency across loads",
        source: "section 4.3, Finding 6, Figure 7",
        reading: "the most cores saved against Shenango, Caladan or per-task at any load, where p99.9 is at most a \
                  quarter above theirs, is 10 to 20",
        needs: &[],
        judge: |study| savings(study.here()),
    },
    Statement {
        text: "Delay range keeps tail latency more constant across loads than Shenango and Caladan",
        source: "section 4.3, Finding 5, Figure 7b",
        reading: "largest over smallest p99.9 at loads 0.2 to 0.8",
        needs: &[],
        judge: |study| steadier(study.here(), "delay-range", &OTHERS[..2], |cell, c| TAIL.of(cell, c)),
    },
    Statement {
        text: "Delay range keeps tail latency more constant across loads than per-task",
        source: "section 4.3, Finding 5, Figure 7b",
        reading: "largest over smallest p99.9 at loads 0.2 to 0.8",
        needs: &[],
        judge: |study| steadier(study.here(), "delay-range", &OTHERS[2..], |cell, c| TAIL.of(cell, c)),
    },
    Statement {
        text: "Utilization range keeps efficiency more constant across loads than Caladan, Shenango and per-task",
        source: "section 4.3, Finding 5, Figure 7a",
        reading: "largest over smallest share of core time spent on tasks at loads 0.2 to 0.8",
        needs: &[],
        judge: |study| steadier(study.here(), "utilization-range", &OTHERS, Cell::efficiency),
    },
    Statement {
        text: "Caladan, Shenango and per-task have inconsistent efficiency across loads",
        source: "section 4.3, Finding 5, Figure 7a",
        reading: "their most excess cores at loads 0.2 to 0.8 are at least 1.5 times their fewest",
        needs: &[],
        judge: |study| inconsistent(study.here()),
    },
    Statement {
        text: "Per-task efficiency is at most T/(T+R) before all cores are allocated: tasks of 1 us",
        source: "section 4.3",
        reading: "judged where fewer than 1 % of the arrivals find no free core; R = 5 us",
        needs: &[],
        judge: |study: &Study<'_>| efficiency_bound(study, 1.0),
    },
    Statement {
        text: "Both ranges use fewer cores than per-task allocation at every load",
        source: "section 4.3, Figure 7a",
        reading: "cores held on average",
        needs: &[],
        judge: |study| fewer_cores(study.here(), "per-task"),
    },
];

/// Points of two allocation policies at the same loads.
fn same_load<'a>(measured: &'a Measured, first: &str, second: &str) -> Vec<(&'a Cell, &'a Cell)> {
    let second = measured.under(STEALING, second);
    let of = |a: &'a Cell| second.iter().find(|b| b.load == a.load).map(|&b| (a, b));
    measured.under(STEALING, first).into_iter().filter_map(of).collect()
}

fn savings(measured: &Measured) -> Finding {
    let saved = |a: &Cell, b: &Cell| {
        let n = common_replications(&[a, b]);
        b.cores(n).plus(-1.0, &a.cores(n))
    };
    let mut similar: Vec<(&str, &str, &Cell, &Cell)> = Vec::new();
    for range in RANGES {
        for other in OTHERS {
            let pairs = same_load(measured, range, other).into_iter();
            let carried = pairs.filter(|(a, b)| !a.overloaded && !b.overloaded);
            let alike = carried.filter(|(a, b)| TAIL.ratio(a, b, CONFIDENCE).high <= 1.0 + SIMILAR);
            similar.extend(alike.map(|(a, b)| (range, other, a, b)));
        }
    }
    let value = |&(_, _, a, b): &(&str, &str, &Cell, &Cell)| saved(a, b).value();
    let most = similar.into_iter().max_by(|a, b| value(a).total_cmp(&value(b)));
    let Some((range, other, a, b)) = most else { return all(&[]) };
    one(move |confidence| {
        let place = format!("cores that {range} saves against {other} at load {}:", a.load);
        Claim::new(place, saved(a, b).interval(confidence), Limit::Within(10.0, 20.0)).about(&[a, b])
    })
}

/// The points of an allocation policy at the loads [`LOADS`].
fn across_loads<'a>(measured: &'a Measured, allocation: &str) -> Vec<&'a Cell> {
    let points = measured.under(STEALING, allocation).into_iter();
    points.filter(|cell| LOADS.contains(&cell.load)).collect()
}

fn spread_across_loads(cells: &[&Cell], of: impl Fn(&Cell) -> Estimate) -> Estimate {
    spread(&cells.iter().map(|cell| of(cell)).collect::<Vec<_>>())
}

fn steadier(
    measured: &Measured,
    range: &'static str,
    others: &[&'static str],
    metric: fn(&Cell, f64) -> Estimate,
) -> Finding {
    let asks = others.iter().map(|&other| -> Ask<'_> {
        Box::new(move |confidence| {
            let each = 1.0 - (1.0 - confidence) / 2.0;
            let cells = [across_loads(measured, range), across_loads(measured, other)];
            let [own, theirs] = [0, 1].map(|at| spread_across_loads(&cells[at], |cell| metric(cell, each)));
            let place = format!(
                "{} for {range}, {} for {other}; ratio",
                caudal_results::table::digits(own.estimate),
                caudal_results::table::digits(theirs.estimate)
            );
            Claim::new(place, apart(own, theirs), Limit::Below(1.0)).about(&cells.concat())
        })
    });
    all(&asks.collect::<Vec<_>>())
}

fn excess(cell: &Cell, confidence: f64) -> Estimate {
    let ideal = cell.load * f64::from(cell.cores);
    let Estimate { estimate, low, high } = cell.cores_mean(confidence);
    Estimate { estimate: estimate - ideal, low: low - ideal, high: high - ideal }
}

fn inconsistent(measured: &Measured) -> Finding {
    let of = |allocation: &'static str| {
        let ask: Ask<'_> = Box::new(move |confidence| {
            let cells = across_loads(measured, allocation);
            let value = spread_across_loads(&cells, |cell| excess(cell, confidence));
            Claim::new("most over fewest excess cores", value, Limit::Above(1.5)).about(&cells)
        });
        all(&[ask])
    };
    each(&OTHERS.map(|allocation| (allocation, of(allocation))))
}

fn fewer_cores(measured: &Measured, other: &str) -> Finding {
    let mut asks: Vec<Ask<'_>> = Vec::new();
    for range in RANGES {
        for (a, b) in same_load(measured, range, other) {
            asks.push(Box::new(move |confidence| {
                let n = common_replications(&[a, b]);
                let log = a.cores(n).ln().plus(-1.0, &b.cores(n).ln());
                let place = format!("{range} at load {}", a.load);
                Claim::new(place, log.exp_interval(confidence), Limit::Below(1.0)).about(&[a, b])
            }));
        }
    }
    all(&asks)
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ("load", Unit::Plain, |cell| cell.load), stat: TAIL, most: None };
    let name = |cell: &Cell| match cell.system.as_str() {
        STEALING => cell.allocation.to_owned(),
        other => other.to_owned(),
    };
    let tail = curves(&measured.cells, "p99.9 latency", axes, |cell| Some(name(cell)));
    let axis = |label: &str| Axis::new(label, Unit::Plain, Spread::Linear);
    let mut cores = Plot::new("Excess cores over the ideal single queue", axis("load"), axis("excess cores"));
    for allocation in OTHERS.into_iter().chain(RANGES) {
        let points = measured.under(STEALING, allocation).into_iter().map(|cell| {
            let excess = excess(cell, CONFIDENCE);
            Point::new(cell.load, excess.estimate).within(excess.low, excess.high)
        });
        cores = cores.with(Series::line(allocation, points.collect()));
    }
    vec![Chart::single(FIGURE.title, "Flat curves are predictable.", vec![cores, tail])]
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    vec![dynamic_sheet(measured)]
}
