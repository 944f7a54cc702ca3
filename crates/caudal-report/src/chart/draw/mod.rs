//! The drawing of a plot as SVG. The report draws each plot of a chart by it, and `file` those of a chart that is a file of its own. It
//! returns text.
//!
//! What the report's script relies on: `svg.plot[data-plot]` is a plot; in it `g.series[data-series]` is a
//! curve with its label, and a shape with a `<title>` is a point with its words.

mod band;
mod file;
mod frame;
mod path;
mod points;
mod series;

use std::fmt::Write as _;

use super::labels::Area;
use super::scale::Scale;
use super::style::escape;
use super::{Inks, Mark, Plot, Unit};

pub(super) use file::file;

/// Of a picture, in units of about a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Size {
    /// Of one of several plots: two beside each other; an odd one goes first and has the width for itself.
    pub(crate) fn of(plot: usize, plots: usize) -> Self {
        match (plot, plots) {
            (0, 1) => Self { width: WIDE, height: 430.0 },
            (0, plots) if plots % 2 == 1 => Self { width: WIDE, height: 400.0 },
            _ => Self { width: (WIDE - GUTTER) / 2.0, height: 350.0 },
        }
    }
}

const WIDE: f64 = 1136.0;
const GUTTER: f64 = 16.0;
/// Width of a letter at the size of labels.
const LETTER: f64 = 6.3;
const LABEL_LETTERS: usize = 26;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 40.0;

struct Drawing<'a> {
    plot: &'a Plot,
    inks: &'a Inks,
    area: Area,
    x: Scale,
    y: Scale,
    svg: String,
}

/// Draws a plot; `id` must be unique in the page.
pub(crate) fn draw(plot: &Plot, size: Size, inks: &Inks, id: &str) -> String {
    let (x, y) = scales(plot, size);
    let tick_letters = y.ticks.iter().map(|t| plot.y.unit.show(*t).chars().count()).max().unwrap_or(0);
    let area = Area {
        left: 14.0 + tick_letters as f64 * LETTER,
        top: TOP,
        right: size.width - margin(plot),
        bottom: size.height - BOTTOM,
    };
    let mut drawing = Drawing { plot, inks, area, x, y, svg: String::new() };
    drawing.open(size, id);
    drawing.axes();
    let mut ink = drawing.ink();
    drawing.levels(&mut ink);
    drawing.all_series(id, &ink);
    drawing.svg.push_str("</svg>");
    drawing.svg
}

fn scales(plot: &Plot, size: Size) -> (Scale, Scale) {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let across = points().flat_map(|p| [Some(p.x), p.x_interval.map(|i| i.0), p.x_interval.map(|i| i.1)]);
    let beyond = plot.series.iter().flat_map(|series| series.unbounded.iter().copied());
    let across = across.flatten().chain(beyond).chain(plot.uprights.iter().map(|level| level.at));
    let up = points().flat_map(|p| [Some(p.y), p.y_interval.map(|i| i.0), p.y_interval.map(|i| i.1)]);
    let up = up.flatten().chain(plot.levels.iter().map(|level| level.at));
    let mut x = Scale::fit(plot.x.spread, across, (plot.x.low, plot.x.high), (size.width / 75.0) as usize);
    let mut y = Scale::fit(plot.y.spread, up, (plot.y.low, plot.y.high), (size.height / 55.0) as usize);
    for (scale, axis) in [(&mut x, &plot.x), (&mut y, &plot.y)] {
        if !axis.names.is_empty() {
            scale.ticks = (0..axis.names.len()).map(|place| place as f64).collect();
        } else if axis.unit == Unit::Count {
            scale.ticks.retain(|tick| tick.fract().abs() < 1e-9);
        }
    }
    (x, y)
}

/// Room on the right for the names of the curves.
fn margin(plot: &Plot) -> f64 {
    let named = plot.series.iter().filter(|series| series.mark != Mark::Front);
    let letters = named.map(|s| s.name.chars().count().min(LABEL_LETTERS)).max().unwrap_or(0);
    30.0 + letters as f64 * LETTER
}

impl Drawing<'_> {
    fn open(&mut self, size: Size, id: &str) {
        let Size { width, height } = size;
        let (plot, area) = (self.plot, self.area);
        let names: Vec<_> = plot.series.iter().map(|series| series.name.as_str()).collect();
        let about =
            format!("{}: {} against {}; {}", plot.title, plot.y.label, plot.x.label, names.join(", "));
        let _ = write!(
            self.svg,
            "<svg class=\"plot\" data-plot=\"{id}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{about}\" xmlns=\"http://www.w3.org/2000/svg\">\
             <clipPath id=\"{id}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>",
            area.left,
            area.top,
            area.right - area.left,
            area.bottom - area.top,
            about = escape(&about),
        );
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let Area { left, top, right, bottom } = self.area;
        (left + self.x.position(x) * (right - left), bottom - self.y.position(y) * (bottom - top))
    }
}
