//! Tiny Quanta, Figure 2: the highest rate within a slowdown of 10, with different quanta and overheads. `figures` lists it;
//! `reproduction` simulates its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::claim::{Ask, Claim, Finding, Limit, all, one};
use super::super::figure::{Figure, FigureKind, Source, Statement};
use super::super::measured::Measured;
use super::super::search::{Crossing, Highest, Within};
use super::super::sheet::Sheet;
use super::super::words::UNCHANGED;
use caudal_results::table::{digits, time};

/// Highest rates as Figure 2 shows them.
pub(crate) const FIGURE_2: Figure = Figure {
    name: "tiny-quanta-figure-2",
    title: "Tiny Quanta, Figure 2: highest rate within a slowdown of 10",
    shows: "The highest rate at which the 99.9 % slowdown of Figure 1's system stays at or below 10, for different \
            quanta and preemptions that cost 0, 100 ns and 1 us.",
    files: &[Source::alone(include_str!("../../../../experiments/tiny-quanta-figure-2.toml"))],
    kind: FigureKind::HighestLoad(|_| Within::Slowdown),
    statements: &STATEMENTS,
    charts,
    sheets,
};

static STATEMENTS: [Statement; 7] = [
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

/// The highest rate for a quantum and a cost of a preemption.
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

fn charts(measured: &Measured) -> Vec<Chart> {
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

fn sheets(measured: &Measured) -> Vec<Sheet> {
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
