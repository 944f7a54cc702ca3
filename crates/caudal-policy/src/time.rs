//! Time as policies see it: integer picoseconds.
//!
//! Picoseconds, because a simulator that rounds to whole nanoseconds shifts the load by tenths of a
//! percent and makes ties common. A span of 2^64 ps is 213 days; an [`Instant`] wraps after that and
//! its ages stay right, so a long-running host needs no care.

use alloc::string::{String, ToString};
use core::fmt;

/// A span of time in picoseconds.
///
/// Written in files and on the command line as a number and a unit: `"2us"`, `"0.5us"`, `"25ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picos(pub u64);

/// A point in time, in picoseconds since an epoch that the host chose. Wraps; compare by [`Instant::since`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instant(pub u64);

impl Picos {
    /// No time at all.
    pub const ZERO: Picos = Picos(0);
    /// The longest span; stands for "never" where a limit is optional.
    pub const MAX: Picos = Picos(u64::MAX);

    /// `ns` nanoseconds. Panics on overflow (above 213 days) in constants and debug builds.
    pub const fn from_nanos(ns: u64) -> Picos {
        Picos(ns * 1_000)
    }

    /// `us` microseconds. Panics on overflow (above 213 days) in constants and debug builds.
    pub const fn from_micros(us: u64) -> Picos {
        Picos(us * 1_000_000)
    }

    /// In nanoseconds, rounded to the nearest `f64`.
    #[allow(clippy::cast_precision_loss)]
    pub fn as_nanos_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Reads `"2us"`, `"0.5 us"`, `"500ns"`, `"25ms"`, `"1s"`, `"750ps"`, or `"0"`.
    ///
    /// The value is exact: it is read digit by digit, never through a float.
    ///
    /// # Errors
    /// [`ParseTimeError`] says what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Picos, ParseTimeError> {
        let text = text.trim();
        if text.strip_prefix('-').is_some_and(|rest| Picos::parse(rest).is_ok()) {
            return Err(ParseTimeError::Negative(text.to_string()));
        }
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim());
        if number.is_empty() {
            return Err(ParseTimeError::NoNumber(text.to_string()));
        }
        let unit_ps: u128 = match unit {
            "ps" => 1,
            "ns" => 1_000,
            "us" | "µs" | "μs" => 1_000_000,
            "ms" => 1_000_000_000,
            "s" => 1_000_000_000_000,
            "" if number.bytes().all(|b| b == b'0') => 1,
            "" => return Err(ParseTimeError::NoUnit(text.to_string())),
            _ => return Err(ParseTimeError::Unit(unit.to_string())),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(ParseTimeError::NoNumber(text.to_string()));
        }
        let mut value: u128 = 0;
        for digit in whole.bytes().filter(|&b| b != b'_') {
            value = value * 10 + u128::from(digit - b'0');
            if value > u128::from(u64::MAX) {
                return Err(ParseTimeError::TooLong(text.to_string()));
            }
        }
        let mut total = value * unit_ps;
        let mut scale = unit_ps;
        for digit in fraction.bytes().filter(|&b| b != b'_') {
            let digit = u128::from(digit - b'0');
            if !scale.is_multiple_of(10) && digit != 0 {
                return Err(ParseTimeError::TooFine(text.to_string()));
            }
            scale /= 10;
            total += digit * scale;
        }
        u64::try_from(total).map(Picos).map_err(|_| ParseTimeError::TooLong(text.to_string()))
    }
}

impl Instant {
    /// The span from `earlier` to this instant.
    #[inline]
    pub const fn since(self, earlier: Instant) -> Picos {
        Picos(self.0.wrapping_sub(earlier.0))
    }
}

impl core::ops::Add<Picos> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Picos) -> Instant {
        Instant(self.0.wrapping_add(span.0))
    }
}

impl core::ops::Add for Picos {
    type Output = Picos;
    #[inline]
    fn add(self, other: Picos) -> Picos {
        Picos(self.0 + other.0)
    }
}

/// The shortest exact spelling: `2us`, `0.5us`, `1.25ms`, `40ns`, `0`.
impl fmt::Display for Picos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
        if self.0 == 0 {
            return f.write_str("0");
        }
        // The largest unit that needs at most three decimals: 1.25ms, but 1250.5us.
        let (unit, name) = UNITS
            .into_iter()
            .find(|&(unit, _)| self.0 >= unit && (unit == 1 || self.0.is_multiple_of(unit / 1000)))
            .or_else(|| UNITS.into_iter().find(|&(unit, _)| unit == 1 || self.0.is_multiple_of(unit / 1000)))
            .unwrap_or((1, "ps"));
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        if rest == 0 {
            return write!(f, "{whole}{name}");
        }
        let mut fraction: String = alloc::format!("{:03}", rest / (unit / 1000));
        while fraction.ends_with('0') {
            fraction.pop();
        }
        write!(f, "{whole}.{fraction}{name}")
    }
}

/// Why a span of time could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseTimeError {
    /// Nothing that looks like a number.
    NoNumber(String),
    /// Below zero.
    Negative(String),
    /// A number without a unit.
    NoUnit(String),
    /// A unit that is none.
    Unit(String),
    /// Finer than a picosecond.
    TooFine(String),
    /// More than 213 days.
    TooLong(String),
}

impl fmt::Display for ParseTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(text) => {
                write!(f, "`{text}` is not a time; write a number and a unit, as in \"2us\"")
            }
            Self::Negative(text) => write!(f, "`{text}` is negative; write a time from 0 on, as in \"2us\""),
            Self::NoUnit(text) => {
                write!(
                    f,
                    "`{text}` has no unit; write \"{text}ns\", \"{text}us\", \"{text}ms\" or \"{text}s\""
                )
            }
            Self::Unit(unit) => write!(f, "`{unit}` is not a unit of time; use ps, ns, us, ms or s"),
            Self::TooFine(text) => write!(f, "`{text}` is finer than 1ps, the resolution of all times here"),
            Self::TooLong(text) => write!(f, "`{text}` is longer than 213 days, the longest span there is"),
        }
    }
}

impl core::error::Error for ParseTimeError {}

#[cfg(feature = "serde")]
impl serde::Serialize for Picos {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Picos {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Picos;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time with its unit in quotes, as in \"2us\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Picos, E> {
                Picos::parse(text).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Picos, E> {
                if value == 0 {
                    return Ok(Picos::ZERO);
                }
                let text = value.to_string();
                Err(E::custom(if value < 0 {
                    ParseTimeError::Negative(text)
                } else {
                    ParseTimeError::NoUnit(text)
                }))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Picos, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Picos, E> {
                Err(E::custom(ParseTimeError::NoUnit(value.to_string())))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Picos {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^[0-9._]+ ?(ps|ns|us|µs|ms|s)$|^0$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_exactly_and_writes_the_shortest_spelling() {
        for (text, ps, shown) in [
            ("2us", 2_000_000, "2us"),
            ("0.5us", 500_000, "500ns"),
            ("500 ns", 500_000, "500ns"),
            ("1.25ms", 1_250_000_000, "1.25ms"),
            ("1_000ns", 1_000_000, "1us"),
            ("0.1ns", 100, "100ps"),
            ("0", 0, "0"),
            ("5.5µs", 5_500_000, "5.5us"),
        ] {
            assert_eq!(Picos::parse(text), Ok(Picos(ps)), "{text}");
            assert_eq!(Picos(ps).to_string(), shown);
            assert_eq!(Picos::parse(shown), Ok(Picos(ps)));
        }
    }

    #[test]
    fn every_span_survives_being_written() {
        for ps in [1, 999, 1_001, 1_234_567, 12_345_678_901, u64::MAX, 1_000_000_000_001] {
            assert_eq!(Picos::parse(&Picos(ps).to_string()), Ok(Picos(ps)), "{ps}");
        }
    }

    #[test]
    fn says_what_would_be_right() {
        assert!(Picos::parse("2").unwrap_err().to_string().contains("\"2us\""));
        assert!(Picos::parse("2 fortnights").unwrap_err().to_string().contains("ps, ns, us, ms or s"));
        assert!(Picos::parse("-2us").is_err());
        assert!(Picos::parse("0.0001ns").unwrap_err().to_string().contains("1ps"));
        assert!(Picos::parse("99999999999s").is_err());
        assert!(Picos::parse("1.2.3us").is_err());
    }

    #[test]
    fn ages_survive_the_wrap() {
        assert_eq!(Instant(5).since(Instant(u64::MAX - 4)), Picos(10));
    }
}
