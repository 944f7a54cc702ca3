//! The places of the names of curves: beside the curve's end if there is room, else in the margin on the right. `draw` asks once for each
//! plot, before it draws the curves. Pure.

/// The area between the axes, in the units of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

/// The end of a curve that wants a label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Room that the text takes.
    pub(crate) width: f64,
}

/// Where a label was put; `x` is its left edge and `y` its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// Beside the end.
    Beside { x: f64, y: f64 },
    /// In the margin, to be joined to the end by a line.
    Margin { y: f64 },
    /// Nowhere: the margin is full, the legend has to do.
    None,
}

/// Height of a line of text.
pub(crate) const LINE: f64 = 13.0;
const GAP: f64 = 8.0;
/// An end this near to the right edge is labelled in the margin, as a reader expects.
const NEAR_EDGE: f64 = 60.0;

#[derive(Clone, Copy)]
struct Box {
    x: f64,
    y: f64,
    width: f64,
}

impl Box {
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        x > self.x - 3.0 && x < self.x + self.width + 3.0 && (y - self.y).abs() < LINE * 0.55
    }

    fn meets(&self, other: &Self) -> bool {
        (self.y - other.y).abs() < LINE
            && self.x < other.x + other.width + GAP
            && other.x < self.x + self.width + GAP
    }
}

/// Places one label per end. `ink` are points of the drawn curves, which a label must not cover.
pub(crate) fn place(ends: &[End], ink: &[(f64, f64)], area: Area) -> Vec<Place> {
    let mut taken: Vec<Box> = Vec::new();
    let mut places = vec![Place::None; ends.len()];
    let mut left_over = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        match beside(end, ink, &taken, area) {
            Some(spot) => {
                taken.push(spot);
                places[at] = Place::Beside { x: spot.x, y: spot.y };
            }
            None => left_over.push(at),
        }
    }
    let rows = ((area.bottom - area.top) / LINE) as usize;
    left_over.truncate(rows);
    left_over.sort_by(|a, b| ends[*a].y.total_cmp(&ends[*b].y).then(a.cmp(b)));
    let wanted: Vec<f64> = left_over.iter().map(|at| ends[*at].y).collect();
    for (at, y) in left_over.into_iter().zip(spread(&wanted, area)) {
        places[at] = Place::Margin { y };
    }
    places
}

/// Of some spots for a text (left edge and middle), the first that covers the least ink.
pub(crate) fn quietest(
    spots: impl Iterator<Item = (f64, f64)>,
    width: f64,
    ink: &[(f64, f64)],
) -> Option<(f64, f64)> {
    let covered = |(x, y): (f64, f64)| {
        let spot = Box { x, y, width };
        ink.iter().filter(|point| spot.holds(**point)).count()
    };
    spots.min_by_key(|spot| covered(*spot))
}

fn beside(end: &End, ink: &[(f64, f64)], taken: &[Box], area: Area) -> Option<Box> {
    if end.x > area.right - NEAR_EDGE {
        return None;
    }
    let (right, left) = (end.x + GAP, end.x - GAP - end.width);
    let spots = [(right, 0.0), (right, -10.0), (right, 10.0), (left, 0.0), (left, -10.0), (left, 10.0)];
    let boxes = spots.map(|(x, up)| Box { x, y: end.y + up, width: end.width });
    boxes.into_iter().find(|spot| {
        let inside = spot.x >= area.left + 2.0
            && spot.x + spot.width <= area.right
            && spot.y - LINE / 2.0 >= area.top
            && spot.y + LINE / 2.0 <= area.bottom;
        inside && !taken.iter().any(|other| spot.meets(other)) && !ink.iter().any(|p| spot.holds(*p))
    })
}

/// Moves sorted heights apart until a line fits between each, inside of the area.
fn spread(wanted: &[f64], area: Area) -> Vec<f64> {
    let mut heights: Vec<f64> = Vec::with_capacity(wanted.len());
    for want in wanted {
        let free = heights.last().map_or(area.top + LINE / 2.0, |above| above + LINE);
        heights.push(want.max(free));
    }
    let mut free = area.bottom - LINE / 2.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(free);
        free = *height - LINE;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { left: 0.0, top: 0.0, right: 300.0, bottom: 200.0 };

    fn end(x: f64, y: f64) -> End {
        End { x, y, width: 60.0 }
    }

    #[test]
    fn ends_at_the_edge_are_spread_in_the_margin_in_their_order() {
        let places = place(&[end(300.0, 100.0), end(300.0, 99.0), end(300.0, 199.0)], &[], AREA);
        let heights: Vec<f64> = places
            .iter()
            .map(|place| match place {
                Place::Margin { y } => *y,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(heights[0] - heights[1] >= LINE);
        assert!(heights[2] <= AREA.bottom - LINE / 2.0);
    }

    #[test]
    fn a_label_avoids_curves_and_other_labels() {
        let free = place(&[end(100.0, 50.0)], &[], AREA);
        assert_eq!(free, [Place::Beside { x: 108.0, y: 50.0 }]);
        let crossed: Vec<_> = (0..200).map(|y| (120.0, f64::from(y))).collect();
        let left = place(&[end(100.0, 50.0), end(100.0, 52.0)], &crossed, AREA);
        assert_eq!(left[0], Place::Beside { x: 32.0, y: 50.0 });
        assert!(matches!(left[1], Place::Margin { .. }), "{left:?}");
    }

    #[test]
    fn a_text_on_a_line_moves_to_where_nothing_is_covered() {
        let ink: Vec<_> = (0..90).map(|x| (f64::from(x), 50.0)).collect();
        let spots = || [0.0, 40.0, 80.0, 120.0].map(|x| (x, 50.0)).into_iter();
        assert_eq!(quietest(spots(), 30.0, &ink), Some((120.0, 50.0)));
        assert_eq!(quietest(spots(), 30.0, &[]), Some((0.0, 50.0)));
    }

    #[test]
    fn too_many_labels_are_left_to_the_legend() {
        let ends: Vec<_> = (0..40).map(|_| end(300.0, 100.0)).collect();
        let places = place(&ends, &[], AREA);
        assert_eq!(places.iter().filter(|place| **place == Place::None).count(), 40 - 15);
    }
}
