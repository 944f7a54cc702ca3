//! The bands of a plot, drawn between the ends of the intervals of a curve's points. [`super::draw`] draws them first, so that curves lie
//! above them. It adds SVG to a text.

use std::fmt::Write as _;

use super::super::{Point, Series};
use super::Drawing;
use super::path::lines;

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

impl Drawing<'_> {
    /// Fills between the ends of the intervals. Where one has no upper end, the band has none: it ends at the
    /// estimates, from the point before to the point after.
    pub(super) fn band(&mut self, series: &Series) {
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

    /// The part that the band covers at a point; nothing if there is no interval, or none of its ends is known.
    fn span(&self, point: &Point) -> Option<Span> {
        let (low, high) = point.y_interval?;
        let bounded = self.y.can_show(high);
        let is_shown = self.x.can_show(point.x) && (bounded || low.is_finite() && self.y.can_show(point.y));
        let low = if self.y.can_show(low) { low } else { self.y.low };
        is_shown.then_some(Span { x: point.x, low, middle: point.y, high, bounded })
    }
}
