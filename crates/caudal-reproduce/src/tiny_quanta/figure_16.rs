//! Tiny Quanta, Figure 16: how many cores a dispatcher keeps within a tenth of a quantum. `figures` lists it; `reproduction` simulates
//! its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::{Estimate, Linear};

use super::super::cell::CONFIDENCE;
use super::super::cell::Cell;
use super::super::claim::{Claim, Finding, Limit, all, each, one};
use super::super::figure::{Figure, FigureKind, Source, Statement};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::rates::SHINJUKU;
use caudal_results::table::time;

/// Cores that keep a quantum.
pub(crate) const FIGURE_16: Figure = Figure {
    name: "tiny-quanta-figure-16",
    title: "Tiny Quanta, Figure 16: cores that a dispatcher keeps at a quantum",
    shows: "The average quantum over the one that was asked for, with requests of 1 ms and somebody who always waits, under Shinjuku on up to \
            16 workers. Cores are kept where it is at most a tenth longer.",
    files: &[Source::alone(include_str!("../../../../experiments/tiny-quanta-figure-16.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

/// A quantum is kept if the average one is at most so many times as long.
const KEPT: f64 = 1.1;
const WHERE: &str = "section 5.6, Figure 16";
const READING: &str = "a core's time from one preemption to the next is longer than on 1 core, which has the dispatcher for itself, by at most a tenth \
     of the quantum";

static STATEMENTS: [Statement; 3] = [
    Statement {
        text: "Shinjuku keeps up with 16 cores at 5 us, and not at 3 us",
        source: WHERE,
        reading: READING,
        needs: &[],
        judge: |study| {
            each(&[
                ("5 us", keeps(study.here(), SHINJUKU, 5_000.0, 16, Limit::Below(KEPT))),
                ("3 us", keeps(study.here(), SHINJUKU, 3_000.0, 16, Limit::Above(KEPT))),
            ])
        },
    },
    Statement {
        text: "Shinjuku keeps up with 3 cores at 0.5 us",
        source: WHERE,
        reading: READING,
        needs: &[],
        judge: |study| keeps(study.here(), SHINJUKU, 500.0, 3, Limit::Below(KEPT)),
    },
    Statement {
        text: "Shinjuku does not keep up with more than 3 cores at 0.5 us",
        source: WHERE,
        reading: READING,
        needs: &[],
        judge: |study| keeps(study.here(), SHINJUKU, 500.0, 4, Limit::Above(KEPT)),
    },
];

fn cell<'a>(measured: &'a Measured, system: &str, quantum_ns: f64, cores: u32) -> Option<&'a Cell> {
    let mut cells = measured.cells.iter();
    cells.find(|cell| cell.system == system && cell.quantum_ns == Some(quantum_ns) && cell.cores == cores)
}

/// A core's time from one preemption to the next, in ns.
fn between(cell: &Cell) -> Linear {
    let times = cell.held_ps.iter().zip(&cell.preemptions);
    let each: Vec<(f64, f64)> = times.map(|((held_ps, _), (count, _))| (held_ps / 1e3, *count)).collect();
    Linear::ratio_of_sums(&each)
}

/// The average quantum over the one that was asked for: longer by what a core waits for a dispatcher that has others, too.
fn stretch(measured: &Measured, cell: &Cell) -> Option<Linear> {
    let quantum_ns = cell.quantum_ns?;
    let alone = self::cell(measured, &cell.system, quantum_ns, 1)?;
    let longer = between(cell).plus(-1.0, &between(alone));
    Some(longer.mapped(1.0 + longer.value() / quantum_ns, 1.0 / quantum_ns))
}

fn keeps(measured: &Measured, system: &str, quantum_ns: f64, cores: u32, limit: Limit) -> Finding {
    let found = cell(measured, system, quantum_ns, cores).and_then(|cell| stretch(measured, cell));
    let Some(found) = found else { return all(&[]) };
    one(|confidence| {
        let place = format!("{system} on {cores} cores: average quantum over {}:", time(quantum_ns));
        Claim::new(place, found.interval(confidence), limit)
    })
}

/// The most cores that keep a quantum, by the estimates.
fn kept(measured: &Measured, system: &str, quantum_ns: f64) -> Option<u32> {
    let cells = measured.cells.iter();
    let here = cells.filter(|cell| cell.system == system && cell.quantum_ns == Some(quantum_ns));
    let keeping = here.filter(|cell| stretch(measured, cell).is_some_and(|stretch| stretch.value() <= KEPT));
    keeping.map(|cell| cell.cores).max()
}

fn quanta(measured: &Measured) -> Vec<f64> {
    measured.values(|cell| cell.quantum_ns).into_iter().flatten().collect()
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let across = Axis::new("quantum", Unit::Nanoseconds, Spread::Log);
    let upwards = Axis::new("cores that keep it", Unit::Plain, Spread::Linear).from(0.0);
    let points = quanta(measured).into_iter().map(|quantum_ns| {
        Point::new(quantum_ns, f64::from(kept(measured, SHINJUKU, quantum_ns).unwrap_or(0)))
    });
    let plot = Plot::new("", across, upwards).with(Series::line(SHINJUKU, points.collect()));
    vec![Chart::single(FIGURE_16.title, "Of 16 cores.", vec![plot])]
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    let row = |cell: &Cell| {
        let found = stretch(measured, cell).map_or(Estimate::MISSING, |stretch| stretch.interval(CONFIDENCE));
        vec![
            cell.system.clone(),
            time(cell.quantum_ns.unwrap_or(f64::NAN)),
            cell.cores.to_string(),
            super::super::claim::interval(found),
        ]
    };
    let shown = |cell: &&Cell| [2, 3, 4, 6, 8, 9, 10, 12, 16].contains(&cell.cores);
    vec![Sheet {
        title: "Average quantum over the one that was asked for (95 % intervals)".to_owned(),
        head: ["system", "quantum", "cores", "average over asked"].map(str::to_owned).to_vec(),
        rows: measured.cells.iter().filter(shown).map(row).collect(),
    }]
}
