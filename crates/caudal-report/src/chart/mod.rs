//! Charts as data, and their drawing as SVG. The report's views make charts of rows; `caudal-reproduce` makes those of figures. Pure:
//! data in, text out.
//!
//! A [`Chart`] has one or more [`Variant`]s (a percentile each, say) of which a reader sees one at a time;
//! a variant has [`Plot`]s side by side, one a class of requests. Everything is drawn here, as SVG: the
//! report's script adds only pointing and hiding, so a chart reads the same without it, on paper, and as a
//! file of its own in a README.

mod draw;
mod labels;
mod scale;
mod style;
mod units;

use serde::{Deserialize, Serialize};

pub use scale::Spread;
pub use units::Unit;

pub(crate) use draw::{Size, draw};
pub(crate) use style::{STYLE, escape, swatch};

/// A chart with a heading, and what it can be switched to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// A sentence on how to read it; may be empty.
    pub note: String,
    /// The variants that the reader chooses from; at least one.
    pub variants: Vec<Variant>,
    /// Index of the variant that is shown first.
    pub shown: usize,
}

/// One view of a chart: plots side by side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variant {
    /// The name on the switch, such as `p99.9`.
    pub name: String,
    /// The plots.
    pub plots: Vec<Plot>,
}

/// Two axes and what is drawn between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plot {
    /// The difference between this plot and its neighbours, such as the class.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Levels of `y` drawn across, such as a target.
    pub levels: Vec<Level>,
    /// Levels of `x` drawn upwards.
    pub uprights: Vec<Level>,
}

/// An axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity, without the unit.
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// Linear or logarithmic.
    pub spread: Spread,
    /// Fixes the low end; data beyond it are cut off.
    pub low: Option<f64>,
    /// Fixes the high end; data beyond it are cut off.
    pub high: Option<f64>,
    /// The names of 0, 1, 2, ..., where the axis has names instead of numbers; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// A dashed line with a word, such as a latency target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Level {
    /// Where, in the unit of the axis.
    pub at: f64,
    /// The word.
    pub label: String,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Points joined by a line, with the confidence interval as a band.
    Line,
    /// Points alone, with intervals as bars.
    Points,
    /// A wide faint line behind the others: the Pareto front.
    Front,
}

/// One curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Its name; the same name has the same colour in all charts of a report.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// A line to compare with, not a choice: dashed and grey.
    pub reference: bool,
    /// The one that the report is about: a thicker line.
    pub emphasis: bool,
    /// The points, in the order in which a line joins them.
    pub points: Vec<Point>,
    /// Values of `x` at which `y` has no bound: marked at the upper edge.
    pub unbounded: Vec<f64>,
}

/// A point of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// The interval of `x`.
    pub x_interval: Option<(f64, f64)>,
    /// The interval of `y`.
    pub y_interval: Option<(f64, f64)>,
    /// Further words for whoever points at it; may be empty.
    pub note: String,
    /// Whether it lies on the Pareto front, and gets a ring.
    pub ringed: bool,
}

impl Axis {
    /// An axis that fits itself around the data.
    #[must_use]
    pub fn new(label: impl Into<String>, unit: Unit, spread: Spread) -> Self {
        Self { label: label.into(), unit, spread, low: None, high: None, names: Vec::new() }
    }

    /// An axis of names: the values are their places, from 0.
    #[must_use]
    pub fn of_names(label: impl Into<String>, names: Vec<String>) -> Self {
        let high = Some(names.len() as f64 - 0.5);
        Self { low: Some(-0.5), high, names, ..Self::new(label, Unit::Count, Spread::Linear) }
    }

    /// The text at a tick.
    pub(crate) fn word(&self, tick: f64) -> String {
        match self.names.get(tick as usize) {
            Some(name) => name.clone(),
            None => self.unit.show(tick),
        }
    }

    /// The same axis with its low end fixed.
    #[must_use]
    pub fn from(self, low: f64) -> Self {
        Self { low: Some(low), ..self }
    }

    /// The same axis with its high end fixed.
    #[must_use]
    pub fn to(self, high: f64) -> Self {
        Self { high: Some(high), ..self }
    }
}

impl Point {
    /// A point without an interval.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, x_interval: None, y_interval: None, note: String::new(), ringed: false }
    }

    /// The same point with the interval of `y`.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Self { y_interval: Some((low, high)), ..self }
    }
}

impl Series {
    /// A line through points.
    #[must_use]
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        let (mark, unbounded) = (Mark::Line, Vec::new());
        Self { name: name.into(), mark, reference: false, emphasis: false, points, unbounded }
    }

    /// The same series as a line of reference.
    #[must_use]
    pub fn as_reference(self) -> Self {
        Self { reference: true, ..self }
    }
}

impl Plot {
    /// An empty plot.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (series, levels, uprights) = (Vec::new(), Vec::new(), Vec::new());
        Self { title: title.into(), x, y, series, levels, uprights }
    }

    /// The same plot with one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

impl Chart {
    /// A chart with nothing to choose.
    #[must_use]
    pub fn single(title: impl Into<String>, note: impl Into<String>, plots: Vec<Plot>) -> Self {
        let variants = vec![Variant { name: String::new(), plots }];
        Self { title: title.into(), note: note.into(), variants, shown: 0 }
    }

    /// The shown variant as an SVG file of its own, for a README or the docs: readable on light and dark
    /// ground, without scripts or outside fonts.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let inks = Inks::of(std::slice::from_ref(self));
        let empty = Variant { name: String::new(), plots: Vec::new() };
        draw::file(self, self.variants.get(self.shown).unwrap_or(&empty), &inks)
    }
}

/// The colour, marker and dash of each name, the same in all charts of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inks {
    names: Vec<(String, bool)>,
    /// Names of the curves that are not drawn until a reader wants them.
    off: Vec<String>,
}

/// The style of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Colour and marker number of a series that may be chosen.
    Colour(usize),
    /// Dash number of a line of reference.
    Grey(usize),
    /// The Pareto front.
    Front,
}

/// Does a curve belong to a system: is it called so, maybe with what was varied?
pub(crate) fn is_curve_of(name: &str, system: &str) -> bool {
    name.strip_prefix(system).is_some_and(|rest| rest.is_empty() || rest.starts_with(" · "))
}

impl Inks {
    /// Hands out colours in the order in which names first appear.
    pub(crate) fn of(charts: &[Chart]) -> Self {
        let mut names: Vec<(String, bool)> = Vec::new();
        let plots = charts.iter().flat_map(|chart| &chart.variants).flat_map(|variant| &variant.plots);
        for series in plots.flat_map(|plot| &plot.series).filter(|series| series.mark != Mark::Front) {
            if !names.iter().any(|(name, _)| *name == series.name) {
                names.push((series.name.clone(), series.reference));
            }
        }
        Self { names, off: Vec::new() }
    }

    /// The same where only the curves of `systems` are drawn at first, and have the first colours; all where none of the names
    /// is there.
    pub(crate) fn showing(charts: &[Chart], systems: &[String]) -> Self {
        let Self { mut names, .. } = Self::of(charts);
        let place = |name: &str| systems.iter().position(|system| is_curve_of(name, system));
        if names.iter().all(|(name, _)| place(name).is_none()) {
            return Self { names, off: Vec::new() };
        }
        // Stable: the others keep their order.
        names.sort_by_key(|(name, _)| place(name).unwrap_or(systems.len()));
        let off =
            names.iter().filter(|(name, _)| place(name).is_none()).map(|(name, _)| name.clone()).collect();
        Self { names, off }
    }

    /// Are all curves drawn at first?
    pub(crate) fn all_on(&self) -> bool {
        self.off.is_empty()
    }

    /// Is this curve left out until a reader wants it?
    pub(crate) fn is_off(&self, name: &str) -> bool {
        self.off.iter().any(|off| off == name)
    }

    /// The style of a series, and the number by which the script hides and shows it.
    pub(crate) fn of_series(&self, series: &Series) -> (Ink, usize) {
        if series.mark == Mark::Front {
            return (Ink::Front, self.names.len());
        }
        let at = self.names.iter().position(|(name, _)| *name == series.name).unwrap_or(0);
        let same_kind = self.names[..at].iter().filter(|(_, grey)| *grey == series.reference).count();
        (if series.reference { Ink::Grey(same_kind) } else { Ink::Colour(same_kind) }, at)
    }
}
