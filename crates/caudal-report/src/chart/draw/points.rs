//! The points of a plot with what belongs to each: bars for its intervals, a ring, and the words that a reader sees who points at it.
//! [`super::draw`] draws them last. It adds SVG to a text.

use std::fmt::Write as _;

use super::super::labels::Area;
use super::super::scale::Scale;
use super::super::style::escape;
use super::super::{Axis, Ink, Mark, Point, Series};
use super::Drawing;

/// Length of the arrow at a point whose interval has no upper end.
const ARROW: f64 = 13.0;

impl Drawing<'_> {
    pub(super) fn points(&mut self, series: &Series, ink: Ink) {
        let Area { left, top, right, bottom } = self.area;
        for point in series.points.iter().filter(|p| self.x.can_show(p.x) && self.y.can_show(p.y)) {
            let (x, y) = self.at(point.x, point.y);
            if x < left - 1.0 || x > right + 1.0 || y < top - 1.0 || y > bottom + 1.0 {
                continue;
            }
            let (bars, arrow) = (self.bars(point, series.mark), self.arrow(point, series.mark));
            let ring = if point.ringed {
                format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")
            } else {
                String::new()
            };
            let _ = write!(
                self.svg,
                "{bars}{arrow}{ring}<path class=\"pt\" transform=\"translate({x:.1},{y:.1})\" d=\"{}\"><title>{}</title></path>",
                ink.marker(),
                escape(&self.words(series, point)),
            );
        }
    }

    /// Bars for the intervals that no band shows.
    fn bars(&self, point: &Point, mark: Mark) -> String {
        let mut bars = String::new();
        // An end that is not known, or can not be drawn, is as far as the chart.
        let ends = |scale: &Scale, (low, high): (f64, f64)| {
            let or = |end: f64, far: f64| if scale.can_show(end) { end } else { far };
            (or(low, scale.low).max(scale.low), or(high, scale.high))
        };
        if let Some((low, high)) = point.x_interval {
            let (low, high) = ends(&self.x, (low, high));
            let ((from, y), (to, _)) = (self.at(low, point.y), self.at(high, point.y));
            let _ = write!(bars, "M{from:.1} {y:.1}H{to:.1}");
        }
        if let Some((low, high)) = point.y_interval.filter(|_| mark == Mark::Points) {
            let (low, high) = ends(&self.y, (low, high));
            let ((x, from), (_, to)) = (self.at(point.x, low), self.at(point.x, high));
            let _ = write!(bars, "M{x:.1} {from:.1}V{to:.1}");
        }
        if bars.is_empty() { bars } else { format!("<path class=\"bar\" d=\"{bars}\"/>") }
    }

    /// An arrow upwards, where a band has no upper end.
    fn arrow(&self, point: &Point, mark: Mark) -> String {
        let is_open = |(low, high): (f64, f64)| low.is_finite() && !self.y.can_show(high);
        if mark != Mark::Line || !point.y_interval.is_some_and(is_open) {
            return String::new();
        }
        let (x, y) = self.at(point.x, point.y);
        format!("<path class=\"up\" d=\"M{x:.1} {y:.1}v-{ARROW}m-2.5 3.5l2.5-3.5l2.5 3.5\"/>")
    }

    /// The text for a reader who points at a point: the name, then both values with their intervals.
    fn words(&self, series: &Series, point: &Point) -> String {
        let value = |axis: &Axis, value: f64, interval: Option<(f64, f64)>| {
            let shown = axis.unit.show(value);
            let between = match interval {
                None => String::new(),
                Some((low, high)) if !high.is_finite() => match low.is_finite() {
                    true => format!(" ({} or more)", axis.unit.show(low)),
                    false => " (of unknown precision)".to_owned(),
                },
                Some((low, high)) => format!(" ({} to {})", axis.unit.show(low), axis.unit.show(high)),
            };
            format!("{} {shown}{between}", axis.label)
        };
        let x = value(&self.plot.x, point.x, point.x_interval);
        let y = value(&self.plot.y, point.y, point.y_interval);
        let mut words = format!("{}\n{x}\n{y}", series.name);
        if !point.note.is_empty() {
            let _ = write!(words, "\n{}", point.note);
        }
        words
    }
}
