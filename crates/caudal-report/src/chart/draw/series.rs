//! The curves of a plot: their lines, their names, and the order in which they lie above each other. [`super::draw`] draws them between
//! the frame and the points. It adds SVG to a text.

use std::fmt::Write as _;

use super::super::labels::{End, Place, place};
use super::super::style::{escape, shorten};
use super::super::{Ink, Mark, Series};
use super::path::{lines, steps};
use super::{Drawing, LABEL_LETTERS, LETTER};

impl Drawing<'_> {
    pub(super) fn all_series(&mut self, clip: &str, ink: &[(f64, f64)]) {
        let plot = self.plot;
        let tops = self.upper_marks();
        // Names stand beside the curves that are there at first; the others have theirs in the legend.
        let named = |series: &Series| !self.inks.is_off(&series.name);
        let ends: Vec<_> = plot
            .series
            .iter()
            .zip(&tops)
            .map(|(series, top)| self.end(series, *top).filter(|_| named(series)))
            .collect();
        let wanted: Vec<End> = ends.iter().flatten().copied().collect();
        let mut places = place(&wanted, ink, self.area).into_iter();
        // The one that matters and the lines of reference: on top and at the bottom of the pile.
        let mut pile: Vec<_> = plot
            .series
            .iter()
            .zip(&tops)
            .zip(&ends)
            .map(|((series, top), end)| {
                (series, *top, end.map(|end| (end, places.next().unwrap_or(Place::None))))
            })
            .collect();
        pile.sort_by_key(|(series, ..)| (series.mark != Mark::Front, series.emphasis, !series.reference));
        for (series, top, label) in pile {
            self.series(series, top, label, clip);
        }
    }

    /// Where each series is marked as unbounded; marks at the same `x` stand below each other.
    pub(super) fn upper_marks(&self) -> Vec<Option<(f64, f64)>> {
        let mut used: Vec<f64> = Vec::new();
        self.plot
            .series
            .iter()
            .map(|series| {
                let first =
                    series.unbounded.iter().copied().filter(|x| self.x.can_show(*x)).reduce(f64::min)?;
                let (x, _) = self.at(first, self.y.low);
                let above = used.iter().filter(|other| (*other - x).abs() < 7.0).count();
                if !self.inks.is_off(&series.name) {
                    used.push(x);
                }
                Some((x, self.area.top + 5.0 + 9.0 * above as f64))
            })
            .collect()
    }

    /// Positions of the points that can be shown, in their order.
    pub(super) fn path(&self, series: &Series) -> Vec<(f64, f64)> {
        let points = series.points.iter().filter(|p| self.x.can_show(p.x) && self.y.can_show(p.y));
        points.map(|p| self.at(p.x, p.y)).collect()
    }

    fn end(&self, series: &Series, top: Option<(f64, f64)>) -> Option<End> {
        if series.mark == Mark::Front {
            return None;
        }
        let inside = |(x, y): &(f64, f64)| *x <= self.area.right + 1.0 && *y >= self.area.top - 1.0;
        let path = self.path(series);
        let (first, last) = (path.iter().copied().find(inside), path.iter().copied().rfind(inside));
        // A curve may run to the left, and its name belongs where a reader looks for it.
        let (x, y) = last.zip(first).map(|(a, b)| if b.0 > a.0 { b } else { a }).or(top)?;
        let letters = series.name.chars().count().min(LABEL_LETTERS);
        Some(End { x, y, width: letters as f64 * LETTER })
    }

    fn series(&mut self, series: &Series, top: Option<(f64, f64)>, label: Option<(End, Place)>, clip: &str) {
        let (ink, number) = self.inks.of_series(series);
        let strong = if series.emphasis { " strong" } else { "" };
        let off = if self.inks.is_off(&series.name) { " off" } else { "" };
        let _ = write!(
            self.svg,
            "<g class=\"series {}{strong}{off}\" data-series=\"{number}\" data-name=\"{}\"><g clip-path=\"url(#{clip})\">",
            ink.classes(),
            escape(&series.name),
        );
        if series.mark == Mark::Line {
            self.band(series);
        }
        self.curve(series, ink);
        self.svg.push_str("</g>");
        if let Some(top) = top {
            self.unbounded(series, top);
        }
        if series.mark != Mark::Front {
            self.points(series, ink);
        }
        if let Some((end, place)) = label {
            self.label(series, ink, end, place);
        }
        self.svg.push_str("</g>");
    }

    fn curve(&mut self, series: &Series, ink: Ink) {
        let path = self.path(series);
        let outline = match series.mark {
            Mark::Points => return,
            Mark::Line => lines(path.into_iter()),
            Mark::Front => steps(&path),
        };
        let _ = write!(self.svg, "<path class=\"curve\"{} d=\"{outline}\"/>", ink.dash());
    }

    fn unbounded(&mut self, series: &Series, (x, y): (f64, f64)) {
        let from = self.path(series).last().map_or(String::new(), |(x0, y0)| {
            format!("<path class=\"rising\" d=\"M{x0:.1} {y0:.1}L{x:.1} {y:.1}\"/>")
        });
        let first = series.unbounded.iter().copied().fold(f64::INFINITY, f64::min);
        let words =
            format!("{}\n{} {}: overloaded", series.name, self.plot.x.label, self.plot.x.unit.show(first));
        let _ = write!(
            self.svg,
            "{from}<path class=\"over\" transform=\"translate({x:.1},{y:.1})\" \
             d=\"M-3-3L3 3M-3 3L3-3\"><title>{}</title></path>",
            escape(&words),
        );
    }

    fn label(&mut self, series: &Series, ink: Ink, end: End, place: Place) {
        let name = escape(&shorten(&series.name, LABEL_LETTERS));
        let _ = match place {
            Place::None => Ok(()),
            Place::Beside { x, y } => {
                write!(self.svg, "<text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{name}</text>", y + 4.0)
            }
            Place::Margin { y } => {
                let edge = self.area.right;
                write!(
                    self.svg,
                    "<path class=\"leader\" d=\"M{:.1} {:.1}L{:.1} {y:.1}\"/>\
                     <path class=\"pt\" transform=\"translate({:.1},{y:.1})\" d=\"{}\"/>\
                     <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                    end.x,
                    end.y,
                    edge + 8.0,
                    edge + 13.0,
                    ink.marker(),
                    edge + 20.0,
                    y + 4.0,
                )
            }
        };
    }
}
