//! The frame around the curves of a plot: grid, axes, and dashed lines with their labels. [`super::draw`] draws it before the curves. It
//! adds SVG to a text.

use std::fmt::Write as _;

use super::super::labels::{Area, quietest};
use super::super::scale::Scale;
use super::super::style::escape;
use super::super::{Axis, Level, Spread};
use super::path::samples;
use super::{Drawing, LETTER};

impl Drawing<'_> {
    pub(super) fn axes(&mut self) {
        let Area { left, top, right, bottom } = self.area;
        let (plot, x, y) = (self.plot, self.x.clone(), self.y.clone());
        let (mut grid, mut small, mut words) = (String::new(), String::new(), String::new());
        for tick in &x.ticks {
            let (at, _) = self.at(*tick, y.low);
            let _ = write!(grid, "M{at:.1} {top:.1}V{bottom:.1}");
            let _ = write!(
                words,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                escape(&plot.x.word(*tick))
            );
        }
        for tick in &y.ticks {
            let (_, at) = self.at(x.low, *tick);
            let _ = write!(grid, "M{left:.1} {at:.1}H{right:.1}");
            let _ = write!(
                words,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                at + 4.0,
                plot.y.unit.show(*tick)
            );
        }
        for tick in &x.minor {
            let _ = write!(small, "M{:.1} {bottom:.1}v-4", self.at(*tick, y.low).0);
        }
        for tick in &y.minor {
            let _ = write!(small, "M{left:.1} {:.1}h4", self.at(x.low, *tick).1);
        }
        let _ = write!(
            self.svg,
            "<path class=\"grid\" d=\"{grid}\"/><path class=\"axis\" d=\"{small}M{left:.1} {bottom:.1}H{right:.1}\"/>\
             {words}<text class=\"head\" x=\"2\" y=\"16\">{}</text><text class=\"axis-label\" x=\"2\" y=\"34\">{}</text>\
             <text class=\"axis-label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} →</text>",
            escape(&plot.title),
            axis_label(&plot.y),
            right,
            bottom + 33.0,
            escape(&plot.x.label),
        );
    }

    /// Points along all curves, for what must not cover them.
    pub(super) fn ink(&self) -> Vec<(f64, f64)> {
        let tops = self.upper_marks();
        let paths = self.plot.series.iter().zip(tops).map(|(series, top)| {
            let mut path = self.path(series);
            path.extend(top);
            path
        });
        paths.flat_map(|path| samples(&path)).collect()
    }

    /// Draws the dashed lines with their words, and adds the words to the ink.
    pub(super) fn levels(&mut self, ink: &mut Vec<(f64, f64)>) {
        let Area { left, top, right, bottom } = self.area;
        let (plot, x_low, y_low) = (self.plot, self.x.low, self.y.low);
        for level in plot.levels.iter().filter(|level| shown(&self.y, level)).collect::<Vec<_>>() {
            let (_, y) = self.at(x_low, level.at);
            let width = text_width(&level.label);
            let places = ((right - left - width) / 15.0).max(1.0) as usize;
            let spots =
                (0..places).flat_map(|i| [-9.0, 9.0].map(|up| (left + 8.0 + 15.0 * i as f64, y + up)));
            self.level(&format!("M{left:.1} {y:.1}H{right:.1}"), &level.label, spots, ink);
        }
        for level in plot.uprights.iter().filter(|level| shown(&self.x, level)).collect::<Vec<_>>() {
            let (x, _) = self.at(level.at, y_low);
            let width = text_width(&level.label);
            let places = ((bottom - top - 16.0) / 12.0).max(1.0) as usize;
            let sides = [x + 6.0, x - 6.0 - width].map(|side| side.clamp(left, self.area.right - 10.0));
            let spots = (0..places).flat_map(|i| sides.map(|side| (side, top + 8.0 + 12.0 * i as f64)));
            self.level(&format!("M{x:.1} {top:.1}V{bottom:.1}"), &level.label, spots, ink);
        }
    }

    fn level(
        &mut self,
        line: &str,
        words: &str,
        spots: impl Iterator<Item = (f64, f64)>,
        ink: &mut Vec<(f64, f64)>,
    ) {
        let width = text_width(words);
        let Some((x, y)) = quietest(spots, width, ink) else { return };
        ink.extend(samples(&[(x, y), (x + width, y)]));
        let words = escape(words);
        let (svg, base) = (&mut self.svg, y + 4.0);
        let _ = write!(
            svg,
            "<g class=\"level\"><path d=\"{line}\"/><text x=\"{x:.1}\" y=\"{base:.1}\">{words}</text></g>"
        );
    }
}

/// Whether a level lies between the ends of its axis.
fn shown(scale: &Scale, level: &Level) -> bool {
    scale.can_show(level.at) && (-1e-9..=1.0 + 1e-9).contains(&scale.position(level.at))
}

/// Room that bold words take.
fn text_width(words: &str) -> f64 {
    words.chars().count() as f64 * LETTER * 1.1
}

fn axis_label(axis: &Axis) -> String {
    let scale = if axis.spread == Spread::Log { " (log scale)" } else { "" };
    format!("↑ {}{scale}", escape(&axis.label))
}
