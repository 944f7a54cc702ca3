//! From a plot to SVG.
//!
//! What the report's script relies on: `svg.plot[data-plot]` is a plot; in it `g.series[data-series]` is a
//! curve with its label, and a shape with a `<title>` is a point with its words.

use std::fmt::Write as _;

use super::labels::{Area, End, Place, place, quietest};
use super::scale::Scale;
use super::style::{STYLE, escape, shorten};
use super::{Axis, Chart, Ink, Inks, Level, Mark, Plot, Point, Series, Unit, Variant};

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
/// Length of the arrow at a point whose interval has no upper end.
const ARROW: f64 = 13.0;

/// A band at one point.
#[derive(Clone, Copy)]
struct Span {
    x: f64,
    low: f64,
    middle: f64,
    high: f64,
    /// Is the upper end known?
    bounded: bool,
}

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
        if axis.unit == Unit::Count {
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

    fn axes(&mut self) {
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
                plot.x.unit.show(*tick)
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
    fn ink(&self) -> Vec<(f64, f64)> {
        let tops = self.upper_marks();
        let paths = self.plot.series.iter().zip(tops).map(|(series, top)| {
            let mut path = self.path(series);
            path.extend(top);
            path
        });
        paths.flat_map(|path| samples(&path)).collect()
    }

    /// Draws the dashed lines with their words, and adds the words to the ink.
    fn levels(&mut self, ink: &mut Vec<(f64, f64)>) {
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

    fn all_series(&mut self, clip: &str, ink: &[(f64, f64)]) {
        let plot = self.plot;
        let tops = self.upper_marks();
        let ends: Vec<_> =
            plot.series.iter().zip(&tops).map(|(series, top)| self.end(series, *top)).collect();
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
    fn upper_marks(&self) -> Vec<Option<(f64, f64)>> {
        let mut used: Vec<f64> = Vec::new();
        self.plot
            .series
            .iter()
            .map(|series| {
                let first =
                    series.unbounded.iter().copied().filter(|x| self.x.can_show(*x)).reduce(f64::min)?;
                let (x, _) = self.at(first, self.y.low);
                let above = used.iter().filter(|other| (*other - x).abs() < 7.0).count();
                used.push(x);
                Some((x, self.area.top + 5.0 + 9.0 * above as f64))
            })
            .collect()
    }

    /// Positions of the points that can be shown, in their order.
    fn path(&self, series: &Series) -> Vec<(f64, f64)> {
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
        let _ = write!(
            self.svg,
            "<g class=\"series {}{strong}\" data-series=\"{number}\" data-name=\"{}\"><g clip-path=\"url(#{clip})\">",
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

    /// Fills between the ends of the intervals. Where one has no upper end, the band has none: it ends at the estimates,
    /// from the point before to the point after.
    fn band(&mut self, series: &Series) {
        let spans: Vec<_> = series.points.iter().map(|point| self.span(point)).collect();
        let mut at = 0;
        while at + 1 < spans.len() {
            let kind = |at: usize| Some(spans[at]?.bounded && spans.get(at + 1).copied()??.bounded);
            let Some(bounded) = kind(at) else {
                at += 1;
                continue;
            };
            let end = (at..spans.len()).find(|&next| kind(next) != Some(bounded)).unwrap_or(at + 1);
            let part: Vec<Span> = spans[at..=end].iter().flatten().copied().collect();
            let upper =
                part.iter().map(|span| self.at(span.x, if bounded { span.high } else { span.middle }));
            let lower = part.iter().rev().map(|span| self.at(span.x, span.low));
            let outline = lines(upper.chain(lower));
            let open = if bounded { "" } else { " open" };
            let _ = write!(self.svg, "<path class=\"band{open}\" d=\"{outline}z\"/>");
            at = end;
        }
    }

    /// What the band covers at a point; nothing if there is no interval, or none of its ends is known.
    fn span(&self, point: &Point) -> Option<Span> {
        let (low, high) = point.y_interval?;
        let bounded = high.is_finite();
        let is_shown = self.x.can_show(point.x)
            && if bounded { self.y.can_show(high) } else { low.is_finite() && self.y.can_show(point.y) };
        let low = if self.y.can_show(low) { low } else { self.y.low };
        is_shown.then_some(Span { x: point.x, low, middle: point.y, high, bounded })
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

    fn points(&mut self, series: &Series, ink: Ink) {
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
        // What has no end goes as far as the chart.
        let ends = |scale: &Scale, (low, high): (f64, f64)| {
            (low.max(scale.low), if high.is_finite() { high } else { scale.high })
        };
        let shown = |scale: &Scale, (low, high): &(f64, f64)| scale.can_show(*low) || !high.is_finite();
        if let Some((low, high)) = point.x_interval.filter(|it| shown(&self.x, it)) {
            let (low, high) = ends(&self.x, (low, high));
            let ((from, y), (to, _)) = (self.at(low, point.y), self.at(high, point.y));
            let _ = write!(bars, "M{from:.1} {y:.1}H{to:.1}");
        }
        if let Some((low, high)) = point.y_interval.filter(|it| mark == Mark::Points && shown(&self.y, it)) {
            let (low, high) = ends(&self.y, (low, high));
            let ((x, from), (_, to)) = (self.at(point.x, low), self.at(point.x, high));
            let _ = write!(bars, "M{x:.1} {from:.1}V{to:.1}");
        }
        if bars.is_empty() { bars } else { format!("<path class=\"bar\" d=\"{bars}\"/>") }
    }

    /// An arrow upwards, where a band has no upper end.
    fn arrow(&self, point: &Point, mark: Mark) -> String {
        let is_open = |(low, high): (f64, f64)| low.is_finite() && !high.is_finite();
        if mark != Mark::Line || !point.y_interval.is_some_and(is_open) {
            return String::new();
        }
        let (x, y) = self.at(point.x, point.y);
        format!("<path class=\"up\" d=\"M{x:.1} {y:.1}v-{ARROW}m-2.5 3.5l2.5-3.5l2.5 3.5\"/>")
    }

    /// What a reader sees who points at a point: the name, then both values with their intervals.
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

/// Whether a level lies between the ends of its axis.
fn shown(scale: &Scale, level: &Level) -> bool {
    scale.can_show(level.at) && (-1e-9..=1.0 + 1e-9).contains(&scale.position(level.at))
}

/// Room that bold words take.
fn text_width(words: &str) -> f64 {
    words.chars().count() as f64 * LETTER * 1.1
}

fn axis_label(axis: &Axis) -> String {
    let scale = if axis.spread == super::Spread::Log { " (log scale)" } else { "" };
    format!("↑ {}{scale}", escape(&axis.label))
}

fn lines(path: impl Iterator<Item = (f64, f64)>) -> String {
    let mut outline = String::new();
    for (x, y) in path {
        let _ = write!(outline, "{}{x:.1} {y:.1}", if outline.is_empty() { 'M' } else { 'L' });
    }
    outline
}

/// A front is a staircase: between two of its points nothing better than the left one is known.
fn steps(path: &[(f64, f64)]) -> String {
    let mut outline = String::new();
    for (x, y) in path {
        let _ = if outline.is_empty() {
            write!(outline, "M{x:.1} {y:.1}")
        } else {
            write!(outline, "H{x:.1}V{y:.1}")
        };
    }
    outline
}

/// Points along a path, near enough to each other that a label between them would be seen to touch.
fn samples(path: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut samples: Vec<(f64, f64)> = path.first().copied().into_iter().collect();
    for pair in path.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let parts = ((x1 - x0).hypot(y1 - y0) / 5.0).ceil().clamp(1.0, 500.0);
        samples.extend((1..=parts as usize).map(|i| {
            let share = i as f64 / parts;
            (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share)
        }));
    }
    samples
}

/// A variant as a file: heading, plots in two columns, style inside.
pub(crate) fn file(chart: &Chart, variant: &Variant, inks: &Inks) -> String {
    let head = if chart.title.is_empty() { 8.0 } else { 40.0 };
    let (mut x, mut y, mut plots) = (GUTTER, head, String::new());
    for (at, plot) in variant.plots.iter().enumerate() {
        let size = Size::of(at, variant.plots.len());
        let drawn = draw(plot, size, inks, &format!("p{at}"));
        let Size { width, height } = size;
        let placed = format!("<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" ");
        plots.push_str(&drawn.replacen("<svg ", &placed, 1));
        x += width + GUTTER;
        if x + GUTTER > WIDE || at + 1 == variant.plots.len() {
            (x, y) = (GUTTER, y + height + GUTTER);
        }
    }
    let (width, height, title) = (WIDE + 2.0 * GUTTER, y, escape(&chart.title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot file\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\"><style>{STYLE}</style>\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\
         <text class=\"title\" x=\"{GUTTER}\" y=\"27\">{title}</text>{plots}</svg>\n"
    )
}
