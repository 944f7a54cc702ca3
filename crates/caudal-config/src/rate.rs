//! Rates as files and the command line write them: `"4.5M/s"`, `"3k/s"`, `"1200/s"`. `workload` parses the key `rate` by it, the command
//! its `--rate`; `stalls` has its rate in the same form. Pure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Requests per second; above 0 and finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// Why a rate could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a rate; write requests a second with their unit, as in \"4.5M/s\", \"3k/s\" or \"1200/s\""
)]
pub struct RateError(String);

impl Rate {
    /// The rate of `per_s` requests a second, if that is above 0 and finite.
    pub fn per_second(per_s: f64) -> Option<Rate> {
        (per_s > 0.0 && per_s.is_finite()).then_some(Rate(per_s))
    }

    /// Requests per second.
    pub fn per_s(self) -> f64 {
        self.0
    }

    /// Reads `"4.5M/s"`; the prefixes are `k`, `M` and `G`.
    ///
    /// # Errors
    /// [`RateError`] for everything else.
    pub fn parse(text: &str) -> Result<Rate, RateError> {
        let error = || RateError(text.to_owned());
        let number = text.trim().strip_suffix("/s").ok_or_else(error)?.trim_end();
        let (digits, scale) = match number.chars().last() {
            Some('k') => (&number[..number.len() - 1], 1e3),
            Some('M') => (&number[..number.len() - 1], 1e6),
            Some('G') => (&number[..number.len() - 1], 1e9),
            _ => (number, 1.0),
        };
        let digits = digits.trim_end();
        // Rust's own parser takes "inf", "1e300" and "+1", which nobody means here.
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_') {
            return Err(error());
        }
        let value: f64 = digits.replace('_', "").parse().map_err(|_| error())?;
        Rate::per_second(value * scale).ok_or_else(error)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if rate >= 1e6 => write!(f, "{}M/s", rate / 1e6),
            rate if rate >= 1e3 => write!(f, "{}k/s", rate / 1e3),
            rate => write!(f, "{rate}/s"),
        }
    }
}

/// Without a prefix: reading it gives the same number back, to the bit.
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/s", self.0))
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A rate with its unit, as in \"4.5M/s\"",
            "type": "string",
            "pattern": r"^[0-9._]+ ?[kMG]?/s$",
        })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        struct RateVisitor;
        impl serde::de::Visitor<'_> for RateVisitor {
            type Value = Rate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate with its unit in quotes, as in \"4.5M/s\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Rate, E> {
                Rate::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(RateVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_prefixes_and_refuses_everything_else() {
        for (text, per_s) in
            [("4.5M/s", 4.5e6), ("1200/s", 1200.0), ("3k/s", 3e3), (" 2 G/s", 2e9), ("1_000/s", 1e3)]
        {
            assert_eq!(Rate::parse(text).map(Rate::per_s), Ok(per_s), "{text}");
        }
        for text in
            ["4.5M", "4.5m/s", "-1/s", "0/s", "inf/s", "NaN/s", "1e9/s", "/s", "k/s", "1.2.3/s", "", "µ/s"]
        {
            let error = Rate::parse(text).expect_err(text).to_string();
            assert!(error.contains("\"4.5M/s\""), "{error}");
        }
        assert_eq!(Rate(4.5e6).to_string(), "4.5M/s");
    }
}
