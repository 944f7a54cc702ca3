//! Numbers as people read them: three significant digits and a unit. Axes, tables and points of a report write their numbers by it. Pure.

use serde::{Deserialize, Serialize};

/// The unit of the numbers of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds, shown as ns, µs, ms or s.
    Nanoseconds,
    /// A ratio such as slowdown, shown with ×.
    Times,
    /// A share from 0 to 1, shown in percent.
    Percent,
    /// Requests a second, shown as k/s or M/s.
    PerSecond,
    /// A bare number, such as load.
    Plain,
    /// A number of whole things, such as cores: ticks are whole.
    Count,
}

impl Unit {
    /// The value with its unit, such as `12.3 µs`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond if value == 0.0 => "0".into(),
            Self::Nanoseconds => scaled(value, &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")]),
            Self::PerSecond => scaled(value, &[(1.0, " /s"), (1e3, " k/s"), (1e6, " M/s"), (1e9, " G/s")]),
            Self::Times => format!("{}×", digits(value)),
            Self::Percent => format!("{} %", digits(value * 100.0)),
            Self::Plain | Self::Count => digits(value),
        }
    }
}

/// Three significant digits without trailing zeros; whole numbers are never cut.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if magnitude >= 6 {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.*}", usize::try_from(2 - magnitude).unwrap_or(0).min(9));
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // Rounding comes first, or 999.9 ns would read "1000 ns" instead of "1 µs".
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let (divisor, name) =
        units.iter().rev().find(|(divisor, _)| rounded.abs() >= *divisor).unwrap_or(&units[0]);
    format!("{}{name}", digits(rounded / divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_a_person_would_choose() {
        let shown = |ns| Unit::Nanoseconds.show(ns);
        assert_eq!(shown(500.0), "500 ns");
        assert_eq!(shown(2_000.0), "2 µs");
        assert_eq!(shown(12_345.0), "12.3 µs");
        assert_eq!(shown(999.9), "1 µs");
        assert_eq!(shown(1_500_000.0), "1.5 ms");
        assert_eq!(shown(123_456_789_000.0), "123 s");
        assert_eq!(shown(0.4), "0.4 ns");
        assert_eq!(shown(0.0), "0 ns");
    }

    #[test]
    fn other_units() {
        assert_eq!(Unit::PerSecond.show(4_500_000.0), "4.5 M/s");
        assert_eq!(Unit::Percent.show(0.7213), "72.1 %");
        assert_eq!(Unit::Times.show(10.0), "10×");
        assert_eq!(Unit::Plain.show(0.725), "0.725");
        assert_eq!(Unit::Plain.show(1024.0), "1024");
        assert_eq!(Unit::Plain.show(f64::NAN), "–");
    }
}
