//! Text for people.

/// A time with three significant digits and the unit that suits it.
pub(crate) fn time(ps: f64) -> String {
    format!("{ps} ps")
}
