//! Tiny Quanta, Figure 1: slowdown with different quanta. `figures` lists it; `reproduction` simulates its file of `experiments/`, and
//! then asks here for statements, charts and tables.

use caudal_report::Outcome;
use caudal_report::chart::{Chart, Level};
use caudal_stats::Estimate;

use super::super::cell::{Cell, typical};
use super::super::charts::{Axes, curves};
use super::super::claim::{Ask, Claim, Finding, Limit, Needs, all, each, judge, one};
use super::super::compare::ratio;
use super::super::figure::{Figure, FigureKind, Source, Statement};
use super::super::measured::Measured;
use super::super::search::SLOWDOWN_MAX;
use super::super::sheet::Sheet;
use super::super::tables::pivot;
use super::super::words::UNCHANGED;
use super::{ACROSS, SLOWDOWN, rate_column};
use caudal_results::table::{digits, time};

/// Slowdowns as Figure 1 shows them.
pub(crate) const FIGURE_1: Figure = Figure {
    name: "tiny-quanta-figure-1",
    title: "Tiny Quanta, Figure 1: slowdown with different quanta",
    shows: "99.9 % slowdown of the extreme bimodal workload on 16 workers under centralised processor sharing whose \
            preemptions cost nothing, with different quanta.",
    files: &[Source::alone(include_str!("../../../../experiments/tiny-quanta-figure-1.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

static STATEMENTS: [Statement; 3] = [
    Statement {
        text: "Smaller quanta lead to less slowdown",
        source: "section 2, Figure 1",
        reading: "p99.9 at every rate, each quantum against the next longer one: nowhere more than 2 % higher, and \
                  surely lower at some rate for every pair",
        needs: &[],
        judge: |study| smaller_is_better(study.here()),
    },
    Statement {
        text: "Quanta of 5 us lead to larger slowdowns at higher loads",
        source: "section 2, Figure 1",
        reading: "p99.9 with 5 us is surely more than twice that with 0.5 us at 4 M requests/s and above",
        needs: &[],
        judge: |study| five_is_worse(study.here()),
    },
    Statement {
        text: "With quanta of 5 us the slowdown passes 10 at a rate at which it is below 10 with 0.5 us",
        source: "section 2, Figures 1 and 2",
        reading: "at some simulated rate, surely; median over the replications",
        needs: &[],
        judge: |study| passes_ten(study.here()),
    },
];

/// Points with this quantum, by rate.
fn with_quantum(measured: &Measured, quantum_ns: f64) -> Vec<&Cell> {
    measured.cells.iter().filter(|cell| cell.quantum_ns == Some(quantum_ns)).collect()
}

fn quanta(measured: &Measured) -> Vec<f64> {
    let mut quanta: Vec<f64> = measured.values(|cell| cell.quantum_ns).into_iter().flatten().collect();
    quanta.sort_by(f64::total_cmp);
    quanta
}

/// Slowdown with one quantum over that with another, at every rate that at least one of them carries.
fn quantum_against(measured: &Measured, (own, other): (f64, f64), limit: Limit) -> Vec<Ask<'_>> {
    let others = with_quantum(measured, other);
    let same = |a: &Cell| others.iter().find(|b| b.rate_per_s == a.rate_per_s).copied();
    let pairs = with_quantum(measured, own).into_iter().filter_map(|a| Some((a, same(a)?)));
    pairs
        .filter(|(a, b)| !(a.overloaded && b.overloaded))
        .map(|(a, b)| {
            let place = format!("{} over {} at {} M/s", time(own), time(other), digits(a.rate_per_s / 1e6));
            ratio(place, SLOWDOWN, a, b, limit)
        })
        .collect()
}

fn smaller_is_better(measured: &Measured) -> Finding {
    let quanta = quanta(measured);
    let mut nowhere_worse = Vec::new();
    let mut somewhere_better = Vec::new();
    for pair in quanta.windows(2) {
        let asks = |limit| quantum_against(measured, (pair[0], pair[1]), limit);
        nowhere_worse.extend(asks(Limit::Below(1.0 + UNCHANGED)));
        let name = format!("{} against {}", time(pair[0]), time(pair[1]));
        somewhere_better.push((name, judge(Needs::Any, &asks(Limit::Below(1.0)))));
    }
    let mut parts = vec![("nowhere higher", all(&nowhere_worse))];
    parts.extend(somewhere_better.iter().map(|(name, finding)| (name.as_str(), finding.clone())));
    each(&parts)
}

fn five_is_worse(measured: &Measured) -> Finding {
    let (five, half) = (with_quantum(measured, 5_000.0), with_quantum(measured, 500.0));
    let asks = five.into_iter().filter(|cell| cell.rate_per_s >= 3.99e6).filter_map(|a| -> Option<Ask<'_>> {
        let b = half.iter().find(|b| b.rate_per_s == a.rate_per_s)?;
        Some(ratio(format!("at {} M/s", digits(a.rate_per_s / 1e6)), SLOWDOWN, a, b, Limit::Above(2.0)))
    });
    all(&asks.collect::<Vec<_>>())
}

fn passes_ten(measured: &Measured) -> Finding {
    let of = |cell: &Cell, confidence: f64| match cell.overloaded {
        true => Estimate::exact(f64::INFINITY),
        false => typical(SLOWDOWN.each(cell), confidence),
    };
    let five = with_quantum(measured, 5_000.0);
    let rates = with_quantum(measured, 500.0).into_iter().filter_map(|small| {
        let large = *five.iter().find(|large| large.rate_per_s == small.rate_per_s)?;
        let rate = digits(small.rate_per_s / 1e6);
        let claim = |place: &str, cell: &Cell, limit: Limit, confidence: f64| {
            Claim::new(place, of(cell, confidence), limit).about(&[cell])
        };
        let kept = one(|c| claim("with 0.5 us", small, Limit::Below(SLOWDOWN_MAX), c));
        let broken = one(|c| claim("with 5 us", large, Limit::Above(SLOWDOWN_MAX), c));
        Some(each(&[(&format!("at {rate} M/s"), kept), ("and", broken)]))
    });
    let found: Vec<Finding> = rates.collect();
    let holds = found.iter().find(|finding| finding.outcome == Outcome::Holds);
    holds.cloned().unwrap_or_else(|| Finding::open("at no simulated rate surely".to_owned()))
}

fn quantum_name(cell: &Cell) -> Option<String> {
    cell.quantum_ns.map(time)
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ACROSS, stat: SLOWDOWN, most: Some(100.0) };
    let mut plot = curves(&measured.cells, "", axes, quantum_name);
    plot.levels.push(Level { at: SLOWDOWN_MAX, label: "10".to_owned() });
    vec![Chart::single(FIGURE_1.title, "A curve for each quantum.", vec![plot])]
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    let name = |cell: &Cell| quantum_name(cell).unwrap_or_default();
    vec![pivot(&measured.cells, SLOWDOWN, "slowdown", name, ("quantum", rate_column))]
}
