//! Tiny Quanta, Figures 1, 2 and 4: why small quanta, why cheap ones, and why two levels do.

use caudal_report::Outcome;
use caudal_report::chart::{Axis, Chart, Level, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::cell::{Cell, Stat, typical};
use super::charts::{Axes, curves};
use super::claim::{Ask, Claim, Finding, Limit, Needs, all, each, judge, one};
use super::compare::ratio;
use super::figure::{Figure, Kind, Measured, Statement};
use super::search::{Crossing, Highest, SLOWDOWN_MAX};
use super::tables::{CONFIDENCE, Sheet, pivot};
use super::words::{COMPETITIVE, MUCH, UNCHANGED};
use crate::table::{digits, time};

/// Slowdowns as Figure 1 shows them.
pub(crate) const FIGURE_1: Figure = Figure {
    name: "tiny-quanta-figure-1",
    title: "Tiny Quanta, Figure 1: slowdown with different quanta",
    shows: "99.9 % slowdown of the extreme bimodal workload on 16 workers under centralised processor sharing whose \
            preemptions cost nothing, with different quanta.",
    file: include_str!("../../../../experiments/tiny-quanta-figure-1.toml"),
    kind: Kind::Points,
    statements: &STATEMENTS_1,
    charts: charts_1,
    sheets: sheets_1,
};

/// Highest rates as Figure 2 shows them.
pub(crate) const FIGURE_2: Figure = Figure {
    name: "tiny-quanta-figure-2",
    title: "Tiny Quanta, Figure 2: highest rate within a slowdown of 10",
    shows: "The highest rate at which the 99.9 % slowdown of Figure 1's system stays at or below 10, for different \
            quanta and preemptions that cost 0, 100 ns and 1 us.",
    file: include_str!("../../../../experiments/tiny-quanta-figure-2.toml"),
    kind: Kind::HighestLoad,
    statements: &STATEMENTS_2,
    charts: charts_2,
    sheets: sheets_2,
};

/// Slowdowns of long jobs as Figure 4 shows them.
pub(crate) const FIGURE_4: Figure = Figure {
    name: "tiny-quanta-figure-4",
    title: "Tiny Quanta, Figure 4: long jobs under centralised and two-level scheduling",
    shows: "99.9 % slowdown of the long jobs of the extreme bimodal workload on 16 workers: one central queue (CT), \
            or a dispatcher that joins the shortest queue with MSQ or random ties (TLS); quantum 2 us, no overhead.",
    file: include_str!("../../../../experiments/tiny-quanta-figure-4.toml"),
    kind: Kind::Points,
    statements: &STATEMENTS_4,
    charts: charts_4,
    sheets: sheets_4,
};

const SLOWDOWN: Stat = Stat::Slowdown(99.9);
const LONG: Stat = Stat::LongSlowdown(99.9);

static STATEMENTS_1: [Statement; 3] = [
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

static STATEMENTS_2: [Statement; 7] = [
    Statement {
        text: "At no overhead, smaller quanta enable the system to run at higher loads",
        source: "section 2, Figure 2",
        reading: "the highest rate with each quantum is nowhere more than 2 % below that with the next longer one",
        needs: &[],
        judge: |study| falling(study.here(), 0.0, &[500.0, 1_000.0, 2_000.0, 3_000.0, 5_000.0]),
    },
    Statement {
        text: "At no overhead, small quanta carry about 40 % more than quanta of 5 us",
        source: "section 2, Figure 2",
        reading: "highest rate with 0.5 us over that with 5 us between 1.3 and 1.5",
        needs: &[],
        judge: |study| rate_ratio(study.here(), (500.0, 0.0), (5_000.0, 0.0), Limit::Within(1.3, 1.5)),
    },
    Statement {
        text: "With an overhead of 100 ns this benefit is reduced",
        source: "section 2, Figure 2",
        reading: "the highest rate of any quantum over that with 5 us, against the same at no overhead",
        needs: &[],
        judge: |study| reduced(study.here()),
    },
    Statement {
        text: "With an overhead of 100 ns, decreasing the quantum below 1 us reduces the capacity",
        source: "section 2, Figure 2",
        reading: "highest rate with 0.5 us over that with 1 us",
        needs: &[],
        judge: |study| rate_ratio(study.here(), (500.0, 100.0), (1_000.0, 100.0), Limit::Below(1.0)),
    },
    Statement {
        text: "With an overhead of 100 ns, the best quantum is 1 us",
        source: "section 2, Figure 2",
        reading: "no other simulated quantum carries more than 2 % more",
        needs: &[],
        judge: |study| best(study.here(), 100.0, 1_000.0),
    },
    Statement {
        text: "With an overhead of 1 us, any reduction below 3 us reduces the capacity",
        source: "section 2, Figure 2",
        reading: "highest rates with 2, 1 and 0.5 us, each over that with the next longer quantum, from 3 us down",
        needs: &[],
        judge: |study| any_reduction(study.here()),
    },
    Statement {
        text: "With an overhead of 1 us, the best quantum is 3 us",
        source: "section 2, Figure 2",
        reading: "no other simulated quantum carries more than 2 % more",
        needs: &[],
        judge: |study| best(study.here(), 1_000.0, 3_000.0),
    },
];

static STATEMENTS_4: [Statement; 5] = [
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

/// What was found for a quantum and a cost of a preemption.
fn highest(measured: &Measured, (quantum_ns, preemption_ns): (f64, f64)) -> Option<&Highest> {
    measured
        .highest
        .iter()
        .find(|found| found.quantum_ns == quantum_ns && found.preemption_ns == preemption_ns)
}

/// The highest rate of one over that of another.
fn over(measured: &Measured, own: (f64, f64), other: (f64, f64)) -> Option<Crossing> {
    Some(highest(measured, own)?.over(highest(measured, other)?))
}

fn rate_ratio(measured: &Measured, own: (f64, f64), other: (f64, f64), limit: Limit) -> Finding {
    all(&[rate_ask(measured, own, other, limit)])
}

fn rate_ask(measured: &Measured, own: (f64, f64), other: (f64, f64), limit: Limit) -> Ask<'_> {
    let place = format!("{} over {}:", time(own.0), time(other.0));
    Box::new(move |confidence| {
        let ratio = over(measured, own, other).map_or(Estimate::MISSING, |ratio| ratio.interval(confidence));
        Claim::new(place.clone(), ratio, limit)
    })
}

/// The highest rate nowhere rises from one quantum to the next longer one.
fn falling(measured: &Measured, preemption_ns: f64, quanta: &[f64]) -> Finding {
    let asks = quanta.windows(2).map(|pair| {
        let systems = ((pair[0], preemption_ns), (pair[1], preemption_ns));
        rate_ask(measured, systems.0, systems.1, Limit::Above(1.0 - UNCHANGED))
    });
    all(&asks.collect::<Vec<_>>())
}

fn best(measured: &Measured, preemption_ns: f64, quantum_ns: f64) -> Finding {
    let others = measured.highest.iter().filter(|found| found.preemption_ns == preemption_ns);
    let others = others.map(|found| found.quantum_ns).filter(|&other| other != quantum_ns);
    let asks = others.map(|other| {
        let systems = ((other, preemption_ns), (quantum_ns, preemption_ns));
        rate_ask(measured, systems.0, systems.1, Limit::Below(1.0 + UNCHANGED))
    });
    all(&asks.collect::<Vec<_>>())
}

fn any_reduction(measured: &Measured) -> Finding {
    let asks = [(2_000.0, 3_000.0), (1_000.0, 2_000.0), (500.0, 1_000.0)]
        .map(|(own, other)| rate_ask(measured, (own, 1_000.0), (other, 1_000.0), Limit::Below(1.0)));
    all(&asks)
}

/// Best rate over that with 5 us at 100 ns, over the same at no overhead.
fn reduced(measured: &Measured) -> Finding {
    let estimate = |found: &Highest| found.rate_per_s(CONFIDENCE).estimate;
    let best = |preemption_ns: f64| {
        let rates = measured.highest.iter().filter(|found| found.preemption_ns == preemption_ns);
        rates.max_by(|a, b| estimate(a).total_cmp(&estimate(b))).map(|found| found.quantum_ns)
    };
    let gain =
        |preemption_ns: f64| over(measured, (best(preemption_ns)?, preemption_ns), (5_000.0, preemption_ns));
    let (Some(free), Some(costly)) = (gain(0.0), gain(100.0)) else { return all(&[]) };
    one(|confidence| {
        let shown = |ratio: &Crossing| digits(ratio.interval(confidence).estimate);
        let (at_none, at_some) = (shown(&free), shown(&costly));
        let place = format!("gain over 5 us: {at_none} at no overhead, {at_some} at 100 ns; ratio");
        Claim::new(place, costly.over(&free).interval(confidence), Limit::Below(1.0))
    })
}

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

const ACROSS: (&str, Unit, fn(&Cell) -> f64) = ("rate", Unit::PerSecond, |cell| cell.rate_per_s);

fn quantum_name(cell: &Cell) -> Option<String> {
    cell.quantum_ns.map(time)
}

fn charts_1(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ACROSS, stat: SLOWDOWN, most: Some(100.0) };
    let mut plot = curves(&measured.cells, "", axes, quantum_name);
    plot.levels.push(Level { at: SLOWDOWN_MAX, label: "10".to_owned() });
    vec![Chart::single(FIGURE_1.title, "A curve for each quantum.", vec![plot])]
}

fn charts_2(measured: &Measured) -> Vec<Chart> {
    let across = Axis::new("quantum", Unit::Nanoseconds, Spread::Log);
    let upwards = Axis::new("highest rate", Unit::PerSecond, Spread::Linear).from(0.0);
    let mut plot = Plot::new("", across, upwards);
    let mut costs: Vec<f64> = measured.highest.iter().map(|found| found.preemption_ns).collect();
    costs.dedup();
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    for cost in costs {
        let mut found: Vec<&Highest> =
            measured.highest.iter().filter(|found| found.preemption_ns == cost).collect();
        found.sort_by(|a, b| a.quantum_ns.total_cmp(&b.quantum_ns));
        let points = found.iter().map(|found| {
            let rate = found.rate_per_s(CONFIDENCE);
            Point::new(found.quantum_ns, rate.estimate).within(rate.low, rate.high)
        });
        plot = plot.with(Series::line(format!("{} a preemption", time(cost)), points.collect()));
    }
    vec![Chart::single(FIGURE_2.title, "Bands: 95 % intervals.", vec![plot])]
}

fn charts_4(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ACROSS, stat: LONG, most: None };
    let plot = curves(&measured.cells, "", axes, |cell| Some(cell.system.clone()));
    vec![Chart::single(FIGURE_4.title, "Lower is better.", vec![plot])]
}

/// Rates at which the workers mostly have a long job, and are not all but full.
fn medium(rate: f64) -> bool {
    (2e6..=4.5e6).contains(&rate)
}

fn rate_column(cell: &Cell) -> String {
    format!("{} M/s", digits(cell.rate_per_s / 1e6))
}

fn sheets_1(measured: &Measured) -> Vec<Sheet> {
    let name = |cell: &Cell| quantum_name(cell).unwrap_or_default();
    vec![pivot(&measured.cells, SLOWDOWN, "slowdown", name, ("quantum", rate_column))]
}

fn sheets_2(measured: &Measured) -> Vec<Sheet> {
    let row = |found: &Highest| {
        let rate = |rate: f64| format!("{:.2} M/s", rate / 1e6);
        let Estimate { estimate, low, high } = found.rate_per_s(CONFIDENCE);
        vec![
            time(found.preemption_ns),
            time(found.quantum_ns),
            rate(estimate),
            format!("{} to {}", rate(low), rate(high)),
            found.tried.len().to_string(),
        ]
    };
    let mut found: Vec<&Highest> = measured.highest.iter().collect();
    found.sort_by(|a, b| {
        a.preemption_ns.total_cmp(&b.preemption_ns).then(a.quantum_ns.total_cmp(&b.quantum_ns))
    });
    vec![Sheet {
        title: "Highest rate with p99.9 slowdown at most 10".to_owned(),
        head: ["preemption", "quantum", "highest rate", "95 % interval", "loads tried"]
            .map(str::to_owned)
            .to_vec(),
        rows: found.into_iter().map(row).collect(),
    }]
}

fn sheets_4(measured: &Measured) -> Vec<Sheet> {
    let sheet = |stat: Stat, what: &str| {
        pivot(&measured.cells, stat, what, |cell| cell.system.clone(), ("system", rate_column))
    };
    vec![sheet(LONG, "slowdown of long jobs"), sheet(SLOWDOWN, "slowdown of all jobs")]
}
