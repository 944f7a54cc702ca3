//! Tail-control, Figure 12: how much load is within a target at the 99.5th percentile. `figures` lists it; `reproduction` simulates its
//! file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_policy::Picos;
use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, common_replications};
use super::super::claim::{Ask, Claim, Finding, Limit, all, interval};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::search::{Crossing, crossing};
use super::super::sheet::Sheet;
use super::miss::Aim;
use super::{ADMIT, CONTROL, STEAL};
use caudal_results::table::digits;

pub(crate) const FIGURE_12: Figure = Figure {
    name: "tail-control-figure-12",
    title: "Tail-control, Figure 12: capacity within a target",
    shows: "The highest rate at which 99.5 % of the requests meet a target on 16 cores, for Figure 6's work and four targets: \
            where the share that misses, between two simulated rates, crosses 0.5 %.",
    files: &[
        Source {
            workload: "rivals",
            text: include_str!("../../../../experiments/tail-control-figure-12/rivals.toml"),
        },
        Source {
            workload: "16ms",
            text: include_str!("../../../../experiments/tail-control-figure-12/16ms.toml"),
        },
        Source {
            workload: "20ms",
            text: include_str!("../../../../experiments/tail-control-figure-12/20ms.toml"),
        },
        Source {
            workload: "24ms",
            text: include_str!("../../../../experiments/tail-control-figure-12/24ms.toml"),
        },
        Source {
            workload: "28ms",
            text: include_str!("../../../../experiments/tail-control-figure-12/28ms.toml"),
        },
    ],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured)],
    sheets: |measured| vec![sheet(measured)],
};

/// The share of requests that may miss.
const MAY_MISS: f64 = 0.005;
const SYSTEMS: [&str; 3] = [STEAL, ADMIT, CONTROL];
/// The target of the paper's example.
const EXAMPLE: Picos = Picos::from_micros(20_000);

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.5, Figure 12", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 3] = [
    statement(
        "With tail-control, 99.5 % of the requests meet a target at a higher load than with the better of its rivals (at 20 ms \
         880 requests/s against 800 and 775)",
        "a higher rate at each of four targets than the rival with the higher one",
        |study| {
            all(&targets(study.here())
                .into_iter()
                .map(|late| ahead(study.here(), late, 1.0))
                .collect::<Vec<_>>())
        },
    ),
    statement(
        "With tail-control, the load at 20 ms is 10 % higher than with the better of its rivals",
        "at least 10 %",
        |study| all(&[ahead(study.here(), EXAMPLE, 1.1)]),
    ),
    statement(
        "At 20 ms, steal-first sustains a higher load than admit-first (800 against 775 requests/s)",
        "",
        |study| all(&[higher(study.here(), EXAMPLE, (STEAL, ADMIT), 1.0)]),
    ),
];

/// The points of a system for a target, by increasing rate.
fn points<'a>(measured: &'a Measured, system: &str, late: Picos) -> Vec<&'a Cell> {
    let here = |cell: &&Cell| {
        cell.system == system && cell.late.contains(&late) && cell.target.is_none_or(|target| target == late)
    };
    let mut cells: Vec<&Cell> = measured.cells.iter().filter(here).collect();
    cells.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    cells
}

/// The last point of a system that keeps the target and the first that does not.
fn ends<'a>(measured: &'a Measured, system: &str, late: Picos) -> Option<[&'a Cell; 2]> {
    let cells = points(measured, system, late);
    let keeps = |cell: &Cell| Aim { cell, late }.share(CONFIDENCE).estimate <= MAY_MISS;
    let above = cells.iter().position(|cell| !keeps(cell))?;
    Some([*cells.get(above.checked_sub(1)?)?, cells[above]])
}

/// Where the line between them crosses the share that may miss, over the first replications.
fn capacity(ends: [&Cell; 2], late: Picos, replications: usize) -> Crossing {
    let end = |cell: &Cell| {
        let log = Aim { cell, late }.log(replications);
        (cell.rate_per_s, log.map(|log| log.mapped(log.value() - MAY_MISS.ln(), 1.0)))
    };
    crossing(end(ends[0]), end(ends[1]))
}

/// The highest rate; missing where no simulated rate is above it, or none below.
fn highest(measured: &Measured, system: &str, late: Picos) -> Estimate {
    let known = ends(measured, system, late);
    known.map_or(Estimate::MISSING, |ends| {
        capacity(ends, late, common_replications(&ends)).interval(CONFIDENCE)
    })
}

/// The highest rate of the first over that of the second, with the points that it was found from.
fn over<'a>(
    measured: &'a Measured,
    late: Picos,
    (first, second): (&str, &str),
    confidence: f64,
) -> (Estimate, Vec<&'a Cell>) {
    let both = ends(measured, first, late).zip(ends(measured, second, late));
    let Some((own, theirs)) = both else { return (Estimate::MISSING, Vec::new()) };
    let cells = [own, theirs].concat();
    let replications = common_replications(&cells);
    let ratio = capacity(own, late, replications).over(&capacity(theirs, late, replications));
    (ratio.interval(confidence), cells)
}

/// Is the highest rate of the first more than `times` that of the second?
fn higher<'a>(
    measured: &'a Measured,
    late: Picos,
    systems: (&'static str, &'static str),
    times: f64,
) -> Ask<'a> {
    Box::new(move |confidence| {
        let (value, cells) = over(measured, late, systems, confidence);
        let place = format!("{late}, {} over {}:", systems.0, systems.1);
        Claim::new(place, value, Limit::Above(times)).about(&cells)
    })
}

fn targets(measured: &Measured) -> Vec<Picos> {
    measured.cells.first().map_or(Vec::new(), |cell| cell.late.clone())
}

/// The same of tail-control over the rival with the higher one.
fn ahead(measured: &Measured, late: Picos, times: f64) -> Ask<'_> {
    let [steal, admit] = [STEAL, ADMIT].map(|rival| highest(measured, rival, late).estimate);
    higher(measured, late, (CONTROL, if admit > steal { ADMIT } else { STEAL }), times)
}

fn chart(measured: &Measured) -> Chart {
    let targets = targets(measured);
    let across = Axis::of_names("target", targets.iter().map(Picos::to_string).collect());
    let mut plot = Plot::new("", across, Axis::new("highest rate", Unit::PerSecond, Spread::Linear));
    for system in SYSTEMS {
        let point = |(place, &late): (usize, &Picos)| {
            let rate = highest(measured, system, late);
            (!rate.is_missing()).then(|| Point::new(place as f64, rate.estimate).within(rate.low, rate.high))
        };
        plot.series.push(Series::line(system, targets.iter().enumerate().filter_map(point).collect()));
    }
    Chart::single(FIGURE_12.title, "Higher is better: 99.5 % of the requests meet the target.", vec![plot])
}

fn sheet(measured: &Measured) -> Sheet {
    let targets = targets(measured);
    let row = |name: String, of: &dyn Fn(Picos) -> String| {
        let mut row = vec![name];
        row.extend(targets.iter().map(|&late| of(late)));
        row
    };
    let rate = |late, system| caudal_results::table::estimate(&highest(measured, system, late), digits);
    let mut rows: Vec<Vec<String>> =
        SYSTEMS.iter().map(|system| row((*system).to_owned(), &|late| rate(late, system))).collect();
    for rival in [STEAL, ADMIT] {
        rows.push(row(format!("{CONTROL} over {rival}"), &|late| {
            interval(over(measured, late, (CONTROL, rival), CONFIDENCE).0)
        }));
    }
    let mut head = vec!["target".to_owned()];
    head.extend(targets.iter().map(Picos::to_string));
    let title = "Highest rates per second at which 99.5 % of the requests meet the target (± half-width of the 95 % interval; \
                 ratios with their 95 % intervals)";
    Sheet { title: title.to_owned(), head, rows }
}

#[cfg(test)]
mod tests {
    use caudal_stats::{Histogram, Replicated};

    use super::super::super::synthetic::{figure, point};
    use super::*;

    const LATE: Picos = Picos::from_micros(2);

    /// So many of 1000 requests miss.
    fn at(system: &str, rate_per_s: f64, misses: u64) -> Cell {
        let mut one = Histogram::new();
        (0..1_000).for_each(|i| one.record(if i < misses { 3_000_000 } else { 1_000_000 }));
        let mut latency_ps = Replicated::new();
        (0..4).for_each(|_| latency_ps.push(&one));
        Cell { rate_per_s, late: vec![LATE], latency_ps, ..point(system, 16, 1e3, 0.0) }
    }

    #[test]
    fn the_highest_rate_lies_where_half_a_percent_miss() {
        let steal = [at(STEAL, 1000.0, 2), at(STEAL, 1100.0, 8), at(STEAL, 900.0, 1)];
        let rivals =
            [at(ADMIT, 900.0, 3), at(CONTROL, 1000.0, 1), at(CONTROL, 1100.0, 2), at(CONTROL, 1200.0, 9)];
        let measured = figure([&steal[..], &rivals[..]].concat());
        let expected = 1000.0 * 1.1_f64.powf(2.5_f64.ln() / 4.0_f64.ln());
        let rate = highest(&measured, STEAL, LATE);
        assert!((rate.estimate - expected).abs() < 1e-6 * expected, "{rate:?}");
        assert!(highest(&measured, ADMIT, LATE).is_missing(), "it keeps the target at all its rates");
        assert!(over(&measured, LATE, (STEAL, ADMIT), 0.95).0.is_missing());
        assert_eq!(
            all(&[higher(&measured, LATE, (CONTROL, STEAL), 1.0)]).outcome,
            caudal_report::Outcome::Holds
        );
    }
}
