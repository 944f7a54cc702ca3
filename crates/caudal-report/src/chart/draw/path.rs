//! The outlines of paths in SVG, and points along them. `series` and `band` draw by it; `frame` finds free places for labels by it. Pure.

use std::fmt::Write as _;

pub(super) fn lines(path: impl Iterator<Item = (f64, f64)>) -> String {
    let mut outline = String::new();
    for (x, y) in path {
        let _ = write!(outline, "{}{x:.1} {y:.1}", if outline.is_empty() { 'M' } else { 'L' });
    }
    outline
}

/// A front is a staircase: between two of its points nothing better than the left one is known.
pub(super) fn steps(path: &[(f64, f64)]) -> String {
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
pub(super) fn samples(path: &[(f64, f64)]) -> Vec<(f64, f64)> {
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
