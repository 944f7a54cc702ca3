//! Tables for people: columns aligned, numbers with their units. The command prints its tables by it, and `answers` those of its texts.
//! It returns text.

use caudal_stats::Estimate;

/// A table; the first column is aligned left, the others right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    left: bool,
}

impl Table {
    /// An empty table with these heads.
    #[must_use]
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new(), left: false }
    }

    /// All columns are text: aligned left.
    #[must_use]
    pub fn left(self) -> Table {
        Table { left: true, ..self }
    }

    /// Adds a row, as wide as the head.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.head.len());
        self.rows.push(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.head]).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| {
                    if column == 0 || self.left {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                })
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A time in ns with the unit that suits it: `987 ns`, `12.3 µs`, `4.56 ms`.
pub fn time(ns: f64) -> String {
    match ns {
        ns if !ns.is_finite() => "–".to_owned(),
        ns if ns >= 999.5e6 => format!("{} s", digits(ns / 1e9)),
        ns if ns >= 999.5e3 => format!("{} ms", digits(ns / 1e6)),
        ns if ns >= 999.5 => format!("{} µs", digits(ns / 1e3)),
        ns => format!("{} ns", digits(ns)),
    }
}

/// Three significant digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// An estimate with the half-width of its interval in percent, `12.3 µs ±2%`; where that is more than the estimate itself,
/// with the upper end, `0.02 % ≤0.12 %`.
pub fn estimate(estimate: &Estimate, show: impl Fn(f64) -> String) -> String {
    if estimate.is_missing() {
        return "–".to_owned();
    }
    let half = 100.0 * estimate.relative_half_width();
    let error = match half {
        _ if !estimate.high.is_finite() => "±?".to_owned(),
        half if half >= 99.5 => format!("≤{}", show(estimate.high)),
        half if half < 0.05 => String::new(),
        half if half < 9.95 => format!("±{half:.1}%"),
        half => format!("±{half:.0}%"),
    };
    format!("{} {error:<5}", show(estimate.estimate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, shown) in [
            (0.5, "0.50 ns"),
            (987.0, "987 ns"),
            (999.9, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (4_560_000.0, "4.56 ms"),
            (2e9, "2.00 s"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(time(ns), shown);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["system", "p99"]);
        table.row(vec!["a".into(), "1 µs".into()]);
        table.row(vec!["long-name".into(), "100 µs".into()]);
        assert_eq!(table.to_string(), "system        p99\na            1 µs\nlong-name  100 µs\n");
    }
}
