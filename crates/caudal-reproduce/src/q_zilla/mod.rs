//! Q-Zilla, Figures 1 and 7 to 10: organizations of queues, of servers, and of hardware contexts. Each figure has a file below, which `figures`
//! lists and `reproduction` calls once its points are simulated; these files call the functions for sheets, charts and comparisons here. Pure.
//!
//! Each figure has a file for each service, with cutoffs that `scripts/q-zilla` found. The paper publishes neither its
//! service times nor its cutoffs nor its loads, so sizes of effects are shown beside the paper's, and signs and orders are
//! judged.

mod average;
mod figure_1;
mod figure_10;
mod figure_7;
mod figure_8;
mod figure_9;
mod pareto;

use caudal_report::chart::{Axis, Chart, Mark, Plot, Point, Series, Spread, Unit};

pub(crate) use self::figure_1::FIGURE_1;
pub(crate) use self::figure_7::FIGURE_7;
pub(crate) use self::figure_8::{FIGURE_8A, FIGURE_8B, FIGURE_8C};
pub(crate) use self::figure_9::{FIGURE_9A, FIGURE_9B, FIGURE_9C};
pub(crate) use self::figure_10::FIGURE_10;
pub(crate) use self::pareto::{FIGURE_8_PARETO, FIGURE_9_PARETO};
use super::cell::CONFIDENCE;
use super::cell::{Cell, Stat};
use super::claim::{Ask, Limit};
use super::compare::ratio;
use super::measured::Measured;
use super::sheet::Sheet;
use super::tables::pivot;

/// The percentile of all figures.
const P99: Stat = Stat::Latency(99.0);
/// The percentile beyond it, for tables.
const P999: Stat = Stat::Latency(99.9);
/// The service with exceptionally long and exceptionally short requests: RSC in the paper.
const RSC: &str = "block-cache";
/// A service that the paper does not have: its p99 is the latency of a short request, while for most services here it is that of a long one. It is
/// shown, and no statement counts it.
pub(crate) const SHOWN_ONLY: &str = "rocksdb-0.5";
/// Word stemming, and McRouter.
const STEMMING: &str = "stemming";
const ROUTING: &str = "routing";

/// The files of a figure, one for each service.
macro_rules! sources {
    ($figure:literal) => {
        &[
            sources!($figure, "nearest-20"),
            sources!($figure, "nearest-12"),
            sources!($figure, "rocksdb-10"),
            sources!($figure, "rocksdb-10-short"),
            sources!($figure, "rocksdb-1"),
            sources!($figure, "rocksdb-1-short"),
            sources!($figure, "rocksdb-0.5"),
            sources!($figure, "stemming"),
            sources!($figure, "block-cache"),
            sources!($figure, "routing"),
        ]
    };
    ($figure:literal, $workload:literal) => {
        $crate::figure::Source {
            workload: $workload,
            text: include_str!(concat!(
                "../../../../experiments/q-zilla-figure-",
                $figure,
                "/",
                $workload,
                ".toml"
            )),
        }
    };
}
use sources;

/// The points of two systems under each service, of which at least one carries the load.
fn pairs<'a>(measured: &'a Measured, first: &str, second: &str) -> Vec<(&'a Cell, &'a Cell)> {
    let pair = |workload: &str| Some((measured.of(workload, first)?, measured.of(workload, second)?));
    let there = judged(measured).into_iter().filter_map(pair);
    there.filter(|(a, b)| !(a.overloaded && b.overloaded)).collect()
}

/// The services that statements are about.
fn judged(measured: &Measured) -> Vec<&'static str> {
    let mut workloads = measured.values(|cell| cell.workload);
    workloads.retain(|&workload| workload != SHOWN_ONLY);
    workloads
}

/// Is the p99 of `first` over that of `second` where `limit` says, under each service? A service is left out if both systems are a single
/// queue, because no lanes were found for either: they are the same system then.
fn everywhere<'a>(measured: &'a Measured, (first, second): (&str, &str), limit: Limit) -> Vec<Ask<'a>> {
    let ask = |(a, b): (&'a Cell, &'a Cell)| ratio(a.workload.to_owned(), P99, a, b, limit);
    let differ = |(a, b): &(&Cell, &Cell)| !(a.is_one_queue && b.is_one_queue);
    pairs(measured, first, second).into_iter().filter(differ).map(ask).collect()
}

/// A table of a percentile: systems by services.
fn sheet(measured: &Measured, stat: Stat) -> Sheet {
    let column = |cell: &Cell| cell.workload.to_owned();
    pivot(&measured.cells, stat, "latency", |cell| cell.system.clone(), ("system", column))
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    vec![sheet(measured, P99), sheet(measured, P999)]
}

/// The p99 of all systems but `base` over that of `base`, service by service.
fn chart(measured: &Measured, title: &str, base: &str) -> Chart {
    let workloads = measured.values(|cell| cell.workload);
    let names = workloads.iter().map(|&name| name.to_owned()).collect();
    let upwards = Axis::new(format!("p99 over that of {base}"), Unit::Times, Spread::Log);
    let mut plot = Plot::new("", Axis::of_names("service", names), upwards);
    let mut systems = measured.values(|cell| cell.system.clone());
    // Systems with the lanes of another system are for the statements alone.
    systems.retain(|system| system != base && !system.ends_with(SAME_LANES));
    for (index, system) in systems.iter().enumerate() {
        // The points of a service stand side by side, so that none hides another.
        let aside = BESIDE * (index as f64 - (systems.len() - 1) as f64 / 2.0) / systems.len() as f64;
        let point = |(place, workload): (usize, &&str)| {
            let (cell, base) = (measured.of(workload, system)?, measured.of(workload, base)?);
            let ratio = P99.ratio(cell, base, CONFIDENCE);
            let shown = ratio.estimate.is_finite() && ratio.estimate > 0.0;
            shown.then(|| Point { note: cell.key.clone(), ..interval(place as f64 + aside, ratio) })
        };
        let points = workloads.iter().enumerate().filter_map(point).collect();
        plot.series.push(Series { mark: Mark::Points, ..Series::line(system, points) });
    }
    Chart::single(title, "Lower is better. Who falls behind is not drawn.", vec![plot])
}

fn interval(x: f64, y: caudal_stats::Estimate) -> Point {
    let point = Point::new(x, y.estimate);
    if y.low.is_finite() && y.high.is_finite() { point.within(y.low, y.high) } else { point }
}

/// The part of the distance between two services in a chart over which the points of one are spread.
const BESIDE: f64 = 0.7;
/// The ending of the names of systems that have the lanes that were found for another one.
const SAME_LANES: &str = ", same lanes";
