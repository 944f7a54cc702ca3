//! A row of the table: the figure that was measured and the one that was wanted. Every group of rows returns some when it has run, and
//! `caudal-bench` prints all of them in the end, as a table or as JSON lines.

use serde::Serialize;
use serde_json::{Value, json};

use crate::measure::Figure;

/// The bound of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) unit: &'static str,
    /// The figure, by CPU time where the row is about time on one core.
    pub(crate) measured: Figure,
    /// The same figure by the clock on the wall, where the row has both.
    pub(crate) wall: Option<Figure>,
    pub(crate) target: Target,
    /// The parts that the figure is made of.
    pub(crate) detail: String,
}

impl Target {
    /// The share of the target by which `measured` falls short; `None` if it meets the target. NaN meets no target.
    pub(crate) fn short_by(self, measured: f64) -> Option<f64> {
        let short = match self {
            Target::AtLeast(least) => (least - measured) / least,
            Target::AtMost(most) => (measured - most) / most,
        };
        (short > 0.0 || short.is_nan()).then_some(short)
    }

    fn text(self, unit: &str) -> String {
        match self {
            Target::AtLeast(least) => format!(">= {least} {unit}"),
            Target::AtMost(most) => format!("<= {most} {unit}"),
        }
    }
}

impl Row {
    pub(crate) fn meets(&self) -> bool {
        self.target.short_by(self.measured.value).is_none()
    }

    fn verdict(&self) -> String {
        match self.target.short_by(self.measured.value) {
            None => "meets".to_owned(),
            Some(short) => format!("falls short by {:.1} %", short * 100.0),
        }
    }

    /// The row as a JSON object.
    pub(crate) fn json(&self) -> Value {
        #[derive(Serialize)]
        struct Measured {
            #[serde(flatten)]
            figure: Figure,
            spread: f64,
        }
        let with_spread = |figure: Figure| Measured { spread: figure.spread(), figure };
        let (at_least, at_most) = match self.target {
            Target::AtLeast(least) => (Some(least), None),
            Target::AtMost(most) => (None, Some(most)),
        };
        json!({
            "work": self.work,
            "unit": self.unit,
            "measured": with_spread(self.measured),
            "by_wall_clock": self.wall.map(with_spread),
            "at_least": at_least,
            "at_most": at_most,
            "meets": self.meets(),
            "short_by": self.target.short_by(self.measured.value),
            "detail": self.detail,
        })
    }
}

const HEAD: [&str; 7] = ["work", "measured", "95 % interval", "by wall clock", "target", "verdict", ""];

/// Prints the table for people.
pub(crate) fn print(rows: &[Row]) {
    let cells = |row: &Row| -> [String; 7] {
        let figure = |figure: &Figure| format!("{} {}", short(figure.value), row.unit);
        [
            row.work.clone(),
            figure(&row.measured),
            interval(&row.measured),
            row.wall.as_ref().map_or_else(|| "-".to_owned(), figure),
            row.target.text(row.unit),
            row.verdict(),
            row.detail.clone(),
        ]
    };
    let mut lines: Vec<[String; 7]> = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    print_aligned(&lines);
}

/// The interval as `4.80 - 5.36`; a single run has none.
fn interval(figure: &Figure) -> String {
    if figure.min == figure.max {
        return "-".to_owned();
    }
    format!("{} - {}", short(figure.low), short(figure.high))
}

/// Columns as wide as their widest cell; two spaces between them.
fn print_aligned<const N: usize>(lines: &[[String; N]]) {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for line in lines {
        let padded: Vec<String> =
            line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        println!("{}", padded.join("  ").trim_end());
    }
}

/// The value with three significant digits.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(measured: f64, target: Target) -> Row {
        let measured = Figure {
            value: measured,
            low: measured - 0.2,
            high: measured + 0.2,
            min: measured - 0.5,
            max: measured + 0.5,
        };
        Row { work: "w".to_owned(), unit: "x", measured, wall: None, target, detail: String::new() }
    }

    #[test]
    fn verdicts_say_how_much_is_missing() {
        assert_eq!(row(4.5, Target::AtLeast(6.0)).verdict(), "falls short by 25.0 %");
        assert_eq!(row(6.0, Target::AtLeast(6.0)).verdict(), "meets");
        assert_eq!(row(1.8, Target::AtMost(1.5)).verdict(), "falls short by 20.0 %");
        assert_eq!(row(1.5, Target::AtMost(1.5)).verdict(), "meets");
        assert!(!row(f64::NAN, Target::AtMost(1.5)).meets());
    }

    #[test]
    fn machines_get_the_same() {
        let json = row(4.5, Target::AtLeast(6.0)).json();
        assert_eq!(json["measured"]["value"], 4.5);
        assert_eq!(json["measured"]["spread"], 1.0 / 4.5);
        assert_eq!((&json["at_least"], &json["at_most"]), (&json!(6.0), &Value::Null));
        assert_eq!((&json["meets"], &json["short_by"]), (&json!(false), &json!(0.25)));
    }

    #[test]
    fn a_single_run_has_no_interval() {
        assert_eq!(interval(&Figure::of([4.68])), "-");
        assert_eq!(interval(&Figure::of([1.0, 2.0, 3.0])), "1.00 - 3.00");
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([1.234, 12.34, 123.4].map(short), ["1.23", "12.3", "123"]);
    }
}
