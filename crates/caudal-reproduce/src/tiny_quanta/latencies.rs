//! Tiny Quanta, Figures 5 to 12: what the paper says of latencies where no rate is named. `figures` lists it as a figure of its own,
//! which `reproduction` runs.

use caudal_report::chart::{Axis, Chart, Mark, Plot, Point, Series, Spread, Unit};

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, Stat};
use super::super::claim::{Ask, Finding, Limit, all};
use super::super::compare::ratio;
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::tables::pivot;
use super::super::words::SIMILAR;
use super::rate_column;
use super::rates::{CALADAN, SHINJUKU, TQ};
use caudal_results::table::{digits, time};

macro_rules! file {
    ($workload:literal) => {
        Source {
            workload: $workload,
            text: include_str!(concat!("../../../../experiments/tiny-quanta-latencies/", $workload, ".toml")),
        }
    };
}

/// Latencies at medium rates.
pub(crate) const LATENCIES: Figure = Figure {
    name: "tiny-quanta-latencies",
    title: "Tiny Quanta, Figures 5 to 12: latencies at medium rates",
    shows: "p99.9 of the requests of a class on 16 workers, at a fifth to a half of what the workers could do: what the paper says \
            of latencies without naming a rate.",
    files: &[file!("extreme"), file!("high"), file!("rocksdb")],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

const TAIL: f64 = 99.9;
const MEDIUM: &str = "p99.9 at both simulated rates";

const fn statement(text: &'static str, source: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source, reading: MEDIUM, needs: &[], judge }
}

static STATEMENTS: [Statement; 7] = [
    statement(
        "Extreme bimodal, short requests: smaller quanta have a lower latency",
        "section 5.2, Figure 5",
        |study| all(&smaller_quanta(study.here())),
    ),
    statement(
        "Extreme bimodal, long requests: Caladan's latency is lower than TQ's at medium load",
        "section 5.3, Extreme Bimodal, Figure 7",
        |study| all(&against(study.here(), ("extreme", "long"), (CALADAN, TQ), Limit::Below(1.0))),
    ),
    statement(
        "High bimodal, long requests: TQ's latency is similar to Shinjuku's",
        "section 5.3, High Bimodal, Figure 7",
        |study| {
            let similar = Limit::Within(1.0 / (1.0 + SIMILAR), 1.0 + SIMILAR);
            all(&against(study.here(), ("high", "long"), (TQ, SHINJUKU), similar))
        },
    ),
    statement(
        "High bimodal, long requests: Caladan's latency is lower than TQ's",
        "section 5.3, High Bimodal, Figure 7",
        |study| all(&against(study.here(), ("high", "long"), (CALADAN, TQ), Limit::Below(1.0))),
    ),
    statement(
        "RocksDB, scans: TQ's latency is higher than Shinjuku's at medium load",
        "section 5.3, RocksDB, Figure 9",
        |study| all(&against(study.here(), ("rocksdb", "scan"), (TQ, SHINJUKU), Limit::Above(1.0))),
    ),
    statement(
        "RocksDB, gets: TQ-POWER-TWO has a higher latency than TQ",
        "section 5.4, Figure 12",
        |study| all(&against(study.here(), ("rocksdb", "get"), ("TQ-POWER-TWO", TQ), Limit::Above(1.0))),
    ),
    statement("RocksDB, scans: TQ-FCFS has a lower latency than TQ", "section 5.4, Figure 12", |study| {
        all(&against(study.here(), ("rocksdb", "scan"), ("TQ-FCFS", TQ), Limit::Below(1.0)))
    }),
];

/// The quantum of TQ where nothing else is said.
const QUANTUM_NS: f64 = 2_000.0;

/// The points of a system under a workload: of TQ, those with its usual quantum.
fn points<'a>(measured: &'a Measured, workload: &str, system: &str) -> Vec<&'a Cell> {
    let here = measured.cells.iter().filter(|cell| cell.workload == workload && cell.system == system);
    here.filter(|cell| system != TQ || cell.quantum_ns == Some(QUANTUM_NS)).collect()
}

fn against<'a>(
    measured: &'a Measured,
    (workload, class): (&str, &'static str),
    (first, second): (&str, &str),
    limit: Limit,
) -> Vec<Ask<'a>> {
    let others = points(measured, workload, second);
    let pair = |a: &'a Cell| others.iter().find(|b| b.rate_per_s == a.rate_per_s).map(|&b| (a, b));
    let ask = |(a, b): (&'a Cell, &'a Cell)| {
        let place = format!("{class} at {}:", rate_column(a));
        ratio(place, Stat::OfClass(class, TAIL), a, b, limit)
    };
    points(measured, workload, first).into_iter().filter_map(pair).map(ask).collect()
}

/// Each quantum against the next longer one, at every rate.
fn smaller_quanta(measured: &Measured) -> Vec<Ask<'_>> {
    let mut asks = Vec::new();
    let cells: Vec<&Cell> =
        measured.cells.iter().filter(|cell| cell.workload == "extreme" && cell.system == TQ).collect();
    for own in &cells {
        let longer = cells
            .iter()
            .filter(|other| other.rate_per_s == own.rate_per_s && other.quantum_ns > own.quantum_ns);
        let next = longer
            .min_by(|a, b| a.quantum_ns.partial_cmp(&b.quantum_ns).unwrap_or(std::cmp::Ordering::Equal));
        let Some(next) = next else { continue };
        let shown = |cell: &Cell| time(cell.quantum_ns.unwrap_or(f64::NAN));
        let place = format!("{} over {} at {} M/s", shown(own), shown(next), digits(own.rate_per_s / 1e6));
        asks.push(ratio(place, Stat::OfClass("short", TAIL), own, next, Limit::Below(1.0)));
    }
    asks
}

/// The classes of a workload.
fn classes(workload: &str) -> [&'static str; 2] {
    if workload == "rocksdb" { ["get", "scan"] } else { ["short", "long"] }
}

fn name(cell: &Cell) -> String {
    match (cell.system.as_str(), cell.workload, cell.quantum_ns) {
        (TQ, "extreme", Some(quantum_ns)) => format!("{TQ}, {}", time(quantum_ns)),
        (system, ..) => system.to_owned(),
    }
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let mut plots = Vec::new();
    for workload in measured.values(|cell| cell.workload) {
        for class in classes(workload) {
            plots.push(plot(measured, workload, class));
        }
    }
    vec![Chart::single(LATENCIES.title, "Lower is better.", plots)]
}

fn plot(measured: &Measured, workload: &str, class: &'static str) -> Plot {
    let across = Axis::new("rate", Unit::PerSecond, Spread::Linear);
    let upwards = Axis::new(format!("p99.9 of {class} requests"), Unit::Nanoseconds, Spread::Log);
    let mut plot = Plot::new(format!("{workload}, {class}"), across, upwards);
    let here: Vec<&Cell> = measured.cells.iter().filter(|cell| cell.workload == workload).collect();
    let mut names: Vec<String> = here.iter().map(|cell| name(cell)).collect();
    names.dedup();
    for system in names {
        let points = here.iter().filter(|cell| name(cell) == system && !cell.overloaded).map(|cell| {
            let found = Stat::OfClass(class, TAIL).of(cell, CONFIDENCE);
            let point = Point::new(cell.rate_per_s, found.estimate);
            if found.low.is_finite() && found.high.is_finite() {
                point.within(found.low, found.high)
            } else {
                point
            }
        });
        let points: Vec<Point> = points.filter(|point| point.y.is_finite()).collect();
        plot.series.push(Series { mark: Mark::Points, ..Series::line(system, points) });
    }
    plot
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for workload in measured.values(|cell| cell.workload) {
        let cells: Vec<Cell> =
            measured.cells.iter().filter(|cell| cell.workload == workload).cloned().collect();
        for class in classes(workload) {
            let what = format!("{class} requests, {workload}");
            sheets.push(pivot(&cells, Stat::OfClass(class, TAIL), &what, name, ("system", rate_column)));
        }
    }
    sheets
}
