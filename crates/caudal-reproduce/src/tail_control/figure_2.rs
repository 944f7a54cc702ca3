//! Tail-control, Figure 2: two kinds of requests, short and long tails. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};

use super::super::cell::CONFIDENCE;
use super::super::claim::{Finding, Needs, all, each, judge};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::setting::{against, at, loads, targets};
use super::show::ratios;
use super::{ADMIT, FEWER, STEAL};

pub(crate) const FIGURE_2: Figure = Figure {
    name: "tail-control-figure-2",
    title: "Tail-control, Figure 2: neither steal-first nor admit-first is always best",
    shows: "Misses of admit-first over those of steal-first on 16 cores at 65 % load: 98 % of the requests have 10 ms of work, \
            2 % have 5 times (short tail) or 100 times (long tail) as much.",
    files: &[
        Source {
            workload: SHORT,
            text: include_str!("../../../../experiments/tail-control-figure-2/short-tail.toml"),
        },
        Source {
            workload: LONG,
            text: include_str!("../../../../experiments/tail-control-figure-2/long-tail.toml"),
        },
    ],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured)],
    sheets,
};

const SHORT: &str = "short-tail";
const LONG: &str = "long-tail";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 3, Figure 2", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 3] = [
    statement("With a short tail, steal-first works better", "fewer misses of every target", |study| {
        all(&at(targets(study.here(), SHORT), (STEAL, ADMIT), FEWER))
    }),
    statement(
        "With a long tail, steal-first performs poorly beside admit-first",
        "more misses of every target",
        |study| all(&at(targets(study.here(), LONG), (ADMIT, STEAL), FEWER)),
    ),
    statement(
        "Neither steal-first nor admit-first always performs best",
        "each misses fewer of some target",
        |study| {
            let some = |systems| judge(Needs::Any, &against(study.here(), systems, FEWER));
            each(&[(STEAL, some((STEAL, ADMIT))), (ADMIT, some((ADMIT, STEAL)))])
        },
    ),
];

fn chart(measured: &Measured) -> Chart {
    let plot = |load: &'static str| {
        let settings = targets(measured, load);
        let names = settings.iter().map(|setting| setting.late.to_string()).collect();
        let upwards = Axis::new(format!("misses of {ADMIT} over {STEAL}"), Unit::Times, Spread::Log);
        let point = |(place, ratio): (usize, caudal_stats::Estimate)| {
            Point::new(place as f64, ratio.estimate).within(ratio.low, ratio.high)
        };
        let ratio = settings
            .iter()
            .map(|setting| setting.ratio((ADMIT, STEAL)).map(|ratio| ratio.estimate(CONFIDENCE)));
        let known = ratio.enumerate().filter_map(|(place, ratio)| Some((place, ratio?)));
        let points = known.filter(|(_, ratio)| ratio.high.is_finite()).map(point).collect();
        Plot::new(load, Axis::of_names("target", names), upwards).with(Series::line(load, points))
    };
    let plots = loads(measured).into_iter().map(plot).collect();
    Chart::single(FIGURE_2.title, "Above 1, steal-first is better; below, admit-first.", plots)
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    loads(measured).into_iter().map(|load| ratios(measured, load, &[(ADMIT, STEAL)])).collect()
}
