//! A chart as a file of its own, with the style that a report would give it. `Chart::to_svg` calls it, for READMEs and the pages of
//! figures. It returns text.

use super::super::style::{STYLE, escape};
use super::super::{Chart, Inks, Variant};
use super::{GUTTER, Size, WIDE, draw};

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
