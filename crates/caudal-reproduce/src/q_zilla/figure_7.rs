//! Q-Zilla, Figure 7: how many contexts are best at which load. `figures` lists it; `reproduction` simulates its file of `experiments/`,
//! and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, apart};
use super::super::claim::{Ask, Claim, Finding, Limit, all, one};
use super::super::figure::{Figure, FigureKind, Statement};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::tables::pivot;
use super::super::words::MUCH;
use super::{P99, ROUTING, STEMMING, interval, judged, ratio, sources};
use caudal_results::table::digits;

/// Active contexts along the load.
pub(crate) const FIGURE_7: Figure = Figure {
    name: "q-zilla-figure-7",
    title: "Q-Zilla, Figure 7: how many contexts are best at which load",
    shows: "p99 of measured services on a core of which 1, 2, 4 or 8 contexts are active, with lanes of ISQD-SITA, along the \
            load (over what it carries with 8). The paper shows word stemming (a) and McRouter (b).",
    files: sources!("7"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

const FEWEST: &str = "1 context";
const MOST: &str = "8 contexts";
/// Numbers of contexts, and the next ones up.
const STEPS: [(&str, &str); 3] =
    [("1 context", "2 contexts"), ("2 contexts", "4 contexts"), ("4 contexts", "8 contexts")];

static STATEMENTS: [Statement; 3] = [
    Statement {
        text: "At low load, fewer contexts yield a lower tail",
        source: "section 4.2, Figure 7",
        reading: "at the lowest load (1 %) 1 context has a lower p99 than 8, for each service",
        needs: &[],
        judge: |study| {
            let limit = Limit::Below(1.0);
            all(&at_loads(study.here(), limit, |cells| cells.iter().min_by(by_load).copied()))
        },
    },
    Statement {
        text: "As the load increases, more contexts have a substantially lower tail",
        source: "section 4.2, Figure 7",
        reading: "at the highest load that 1 context carries, the p99 of 8 is more than a third lower, for each service",
        needs: &[],
        judge: |study| {
            let limit = Limit::Above(1.0 / (1.0 - MUCH));
            all(&at_loads(study.here(), limit, |cells| {
                cells.iter().filter(|cell| !cell.overloaded).max_by(by_load).copied()
            }))
        },
    },
    Statement {
        text: "The break-even points of McRouter lie at higher loads than those of word stemming, whose tail is heavier",
        source: "section 4.2, Figure 7",
        reading: "where 8 contexts become better than 4; the interval reaches from the last load at which 4 are certainly \
                  better to the first at which 8 are",
        needs: &[],
        judge: |study| later(study.here(), ROUTING, STEMMING),
    },
];

fn by_load(a: &&&Cell, b: &&&Cell) -> std::cmp::Ordering {
    a.load.total_cmp(&b.load)
}

/// The points of a system under a service.
fn curve<'a>(measured: &'a Measured, workload: &str, system: &str) -> Vec<&'a Cell> {
    let own = |cell: &&Cell| cell.workload == workload && cell.system == system;
    measured.cells.iter().filter(own).collect()
}

/// 1 context against 8 at one load of each service, which `choose` takes of the points with 1.
fn at_loads<'a>(
    measured: &'a Measured,
    limit: Limit,
    choose: impl Fn(&[&'a Cell]) -> Option<&'a Cell>,
) -> Vec<Ask<'a>> {
    let ask = |workload: &str| -> Option<Ask<'a>> {
        let few = choose(&curve(measured, workload, FEWEST))?;
        let many = curve(measured, workload, MOST).into_iter().find(|cell| cell.load == few.load)?;
        let place = format!("{workload} at load {}", digits(few.load));
        Some(ratio(place, P99, few, many, limit))
    };
    judged(measured).into_iter().filter_map(ask).collect()
}

/// From which load on `more` has a lower p99 than `fewer`: on a straight line between the loads around. None if it has at
/// all loads, or at none.
fn break_even(
    measured: &Measured,
    workload: &str,
    (fewer, more): (&str, &str),
    confidence: f64,
) -> Option<Estimate> {
    let (few, many) = (curve(measured, workload, fewer), curve(measured, workload, more));
    let both = few.into_iter().zip(many).filter(|(a, b)| !(a.overloaded && b.overloaded));
    let ratios: Vec<(f64, Estimate)> = both.map(|(a, b)| (a.load, P99.ratio(b, a, confidence))).collect();
    let last = ratios.iter().rposition(|(_, ratio)| ratio.estimate >= 1.0)?;
    let (&(from, above), &(to, below)) = (&ratios[last], ratios.get(last + 1)?);
    let share = if above.estimate.is_finite() && below.estimate > 0.0 {
        above.estimate.ln() / (above.estimate / below.estimate).ln()
    } else {
        0.5
    };
    let worse = ratios[..=last].iter().filter(|(_, ratio)| ratio.low > 1.0).map(|(load, _)| *load);
    let better = ratios[last + 1..].iter().filter(|(_, ratio)| ratio.high < 1.0).map(|(load, _)| *load);
    let (low, high) = (worse.fold(0.0, f64::max), better.fold(f64::INFINITY, f64::min));
    Some(Estimate { estimate: from + share * (to - from), low, high })
}

fn later(measured: &Measured, first: &str, second: &str) -> Finding {
    let step = STEPS[2];
    let cells: Vec<&Cell> = [first, second]
        .iter()
        .flat_map(|workload| [curve(measured, workload, step.0), curve(measured, workload, step.1)].concat())
        .collect();
    one(|confidence| {
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let at = |workload: &str| break_even(measured, workload, step, each).unwrap_or(Estimate::MISSING);
        let (own, other) = (at(first), at(second));
        let place =
            format!("{first} at {} over {second} at {}:", digits(own.estimate), digits(other.estimate));
        Claim::new(place, apart(own, other), Limit::Above(1.0)).about(&cells)
    })
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let plot = |workload: &str| {
        let across = Axis::new("load", Unit::Percent, Spread::Linear);
        let mut plot = Plot::new(workload, across, Axis::new("p99", Unit::Nanoseconds, Spread::Log));
        for system in measured.values(|cell| cell.system.clone()) {
            let cells = curve(measured, workload, &system);
            let carried = cells.iter().filter(|cell| !cell.overloaded);
            let points: Vec<Point> =
                carried.map(|cell| interval(cell.load, P99.of(cell, CONFIDENCE))).collect();
            plot.series.push(Series::line(&system, points));
        }
        plot
    };
    vec![Chart::single(FIGURE_7.title, "Lower is better.", vec![plot(STEMMING), plot(ROUTING)])]
}

/// The break-even points, and the curves of the paper's two services.
fn sheets(measured: &Measured) -> Vec<Sheet> {
    let row = |workload: &&str| {
        let shown = |step: &(&str, &str)| match break_even(measured, workload, *step, CONFIDENCE) {
            None => "none".to_owned(),
            Some(load) if load.high.is_finite() => {
                format!("{} ({} to {})", digits(load.estimate), digits(load.low), digits(load.high))
            }
            Some(load) => format!("{} ({} or more)", digits(load.estimate), digits(load.low)),
        };
        let mut row = vec![(*workload).to_owned()];
        row.extend(STEPS.iter().map(shown));
        row
    };
    let mut sheets = vec![Sheet {
        title: "Loads from which on the next number of contexts has the lower p99 (with the loads between which that is \
                not certain)"
            .to_owned(),
        head: ["service", "1 to 2", "2 to 4", "4 to 8"].map(str::to_owned).to_vec(),
        rows: measured.values(|cell| cell.workload).iter().map(row).collect(),
    }];
    for workload in [STEMMING, ROUTING] {
        let cells: Vec<Cell> =
            measured.cells.iter().filter(|cell| cell.workload == workload).cloned().collect();
        let load = |cell: &Cell| digits(cell.load);
        let what = format!("latency of `{workload}`");
        sheets.push(pivot(&cells, P99, &what, |cell| cell.system.clone(), ("load", load)));
    }
    sheets
}

#[cfg(test)]
mod tests {
    use super::super::super::synthetic::{figure, overloaded, point};
    use super::*;

    fn at(system: &str, load: f64, ns: f64) -> Cell {
        Cell { workload: "x", load, ..point(system, 8, ns, 0.01) }
    }

    /// 4 contexts are better at loads 0.1 and 0.3, as good where a line between 0.3 and 0.5 says so, and then fall behind.
    #[test]
    fn curves_cross_between_two_loads() {
        let step = STEPS[2];
        let few = [at(step.0, 0.1, 1000.0), at(step.0, 0.3, 1000.0), at(step.0, 0.5, 2000.0)];
        let many = [at(step.1, 0.1, 1100.0), at(step.1, 0.3, 2000.0), at(step.1, 0.5, 1000.0)];
        let last = [overloaded(at(step.0, 0.7, 1.0)), at(step.1, 0.7, 3000.0)];
        let measured = figure([&few[..], &many[..], &last[..]].concat());
        let found = break_even(&measured, "x", step, 0.95).expect("they cross");
        assert!((found.estimate - 0.4).abs() < 0.01, "{found:?}");
        assert_eq!((found.low, found.high), (0.3, 0.5));
        let never = figure([&many[..1], &few[..1]].concat());
        assert!(break_even(&never, "x", step, 0.95).is_none(), "8 are worse at all loads");
        let always = figure(vec![at(step.0, 0.1, 2.0), at(step.1, 0.1, 1.0)]);
        assert!(break_even(&always, "x", step, 0.95).is_none(), "8 are better at all loads");
    }
}
