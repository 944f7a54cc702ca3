//! The drawing of figures: curves along cores, loads and rates, and points among curves. The files of the figures call it when all points
//! are simulated. It returns charts.

use caudal_report::chart::{Axis, Chart, Mark, Plot, Point, Series, Spread, Unit, Variant};
use caudal_stats::Estimate;

use super::cell::CONFIDENCE;
use super::cell::{Cell, Stat};
use super::measured::Measured;

/// Systems that nobody can build: drawn as lines to compare with.
const REFERENCES: [&str; 4] = ["single-queue", "jbsq-3", "no-balancing", "CT"];

/// The axes of a figure.
#[derive(Clone, Copy)]
pub(crate) struct Axes {
    /// Across: label, unit, and its value.
    pub(crate) across: (&'static str, Unit, fn(&Cell) -> f64),
    /// Upwards.
    pub(crate) stat: Stat,
    /// Data above this are cut off.
    pub(crate) most: Option<f64>,
}

impl Axes {
    fn plot(&self, title: &str) -> Plot {
        let (label, unit, _) = self.across;
        let (name, up) = match self.stat {
            Stat::Latency(_) => ("latency", Unit::Nanoseconds),
            Stat::Slowdown(_) => ("slowdown", Unit::Times),
            Stat::LongSlowdown(_) => ("slowdown of long jobs", Unit::Times),
            Stat::OfClass(..) => ("latency", Unit::Nanoseconds),
        };
        let upwards = Axis::new(format!("{} {name}", self.stat.label()), up, Spread::Log);
        let upwards = match self.most {
            Some(most) => upwards.to(most),
            None => upwards,
        };
        Plot::new(title, Axis::new(label, unit, Spread::Linear), upwards)
    }

    fn point(&self, cell: &Cell) -> Point {
        let value = self.stat.of(cell, CONFIDENCE);
        Point { note: cell.key.clone(), ..at((self.across.2)(cell), value) }
    }

    /// A curve through `cells`, in the order of the axis.
    fn curve(&self, name: &str, cells: &[&Cell]) -> Series {
        let across = self.across.2;
        let mut carried: Vec<&Cell> = cells.iter().copied().filter(|cell| !cell.overloaded).collect();
        carried.sort_by(|a, b| across(a).total_cmp(&across(b)));
        let mut series = Series::line(name, carried.into_iter().map(|cell| self.point(cell)).collect());
        // A curve along the cores that are held falls behind on its left, where nothing is drawn.
        let end = series.points.last().map_or(f64::NEG_INFINITY, |point| point.x);
        let beyond = cells.iter().filter(|cell| cell.overloaded).map(|cell| across(cell));
        series.unbounded = beyond.filter(|&x| x > end).collect();
        series.reference = REFERENCES.contains(&name);
        series
    }
}

fn at(x: f64, y: Estimate) -> Point {
    let point = Point::new(x, y.estimate);
    if y.low.is_finite() && y.high.is_finite() { point.within(y.low, y.high) } else { point }
}

/// A chart with a variant for each statistic, the first one shown.
pub(crate) fn variants(title: &str, note: &str, variants: Vec<(String, Vec<Plot>)>) -> Chart {
    let variants = variants.into_iter().map(|(name, plots)| Variant { name, plots }).collect();
    Chart { title: title.to_owned(), note: note.to_owned(), variants, shown: 0 }
}

/// A plot of one curve for every name that `series` gives; cells without a name are left out.
pub(crate) fn curves(
    cells: &[Cell],
    title: &str,
    axes: Axes,
    series: impl Fn(&Cell) -> Option<String>,
) -> Plot {
    let mut groups: Vec<(String, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let Some(name) = series(cell) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((name, vec![cell])),
        }
    }
    groups.iter().fold(axes.plot(title), |plot, (name, cells)| plot.with(axes.curve(name, cells)))
}

/// Latency along the number of cores held all the time, for all static systems that `shown` lets pass.
pub(crate) fn along_cores(
    measured: &Measured,
    title: &str,
    stat: Stat,
    shown: impl Fn(&str) -> bool,
) -> Plot {
    let axes = Axes { across: ("cores held", Unit::Plain, |cell| f64::from(cell.held)), stat, most: None };
    let name = |cell: &Cell| (!cell.is_dynamic() && shown(&cell.system)).then(|| cell.system.clone());
    curves(&measured.cells, title, axes, name)
}

/// Points whose cores come and go, among the curves of static allocation; a plot for each load-balancing
/// policy that has points, so that they can be told apart.
pub(crate) fn among_curves(measured: &Measured, title: &str, note: &str, stats: &[Stat]) -> Chart {
    let plots = |&stat: &Stat| {
        let balancers = measured.values(|cell| cell.is_dynamic().then(|| cell.system.clone()));
        let drawn = balancers.into_iter().flatten().filter(|name| !measured.curve(name).is_empty());
        let plots = drawn.map(|balancing| {
            let shown = |name: &str| name == balancing || name == "single-queue";
            let curves = along_cores(measured, &balancing, stat, shown);
            let points = measured.cells.iter().filter(|cell| cell.is_dynamic() && !cell.overloaded);
            points
                .filter(|cell| cell.system == balancing)
                .fold(curves, |plot, cell| plot.with(alone(cell, stat)))
        });
        (stat.label(), plots.collect())
    };
    variants(title, note, stats.iter().map(plots).collect())
}

fn alone(cell: &Cell, stat: Stat) -> Series {
    let cores = cell.cores_mean(CONFIDENCE);
    let mut point = at(cores.estimate, stat.of(cell, CONFIDENCE));
    point.x_interval = Some((cores.low, cores.high));
    point.note.clone_from(&cell.key);
    Series { mark: Mark::Points, ..Series::line(cell.allocation, vec![point]) }
}
