//! Times of many requests as an HdrHistogram: recorded in some nanoseconds, added up, and written so that nothing of it is lost.
//! The counts of a run own one for each class and kind of time. The generator records there while it runs; joined runs are added up at the end,
//! and what is printed or exported is read from it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Significant digits: a time is off by at most 0.1 %.
const DIGITS: u8 = 3;
/// The longest time that is told from longer ones: an hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// Times in ns. In JSON it is HdrHistogram's own encoding (version 2, deflated, in base64).
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are in order"))
    }
}

impl Latencies {
    /// Adds a time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds a time `count` times.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        self.0.saturating_record_n(ns, count);
    }

    /// Adds all times of another.
    pub fn add(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// A percentile, above 0 and at most 100, in ns; 0 if there are no times.
    pub fn percentile(&self, percentile: f64) -> u64 {
        self.0.value_at_percentile(percentile)
    }

    /// The mean, in ns; 0 if there are no times.
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The sum of all times, in ns.
    pub fn sum(&self) -> f64 {
        self.0.mean() * self.0.len() as f64
    }

    /// The histogram, for writers of its formats.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(|error| serde::ser::Error::custom(format!("{error:?}")))?;
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Latencies, D::Error> {
        let no_histogram =
            |why: &dyn std::fmt::Display| serde::de::Error::custom(format!("no HdrHistogram: {why}"));
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(|error| no_histogram(&error))?;
        let read: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| no_histogram(&error))?;
        let mut latencies = Latencies::default();
        latencies.0.add(&read).map_err(|error| no_histogram(&error))?;
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_in_json() {
        let mut latencies = Latencies::default();
        for ns in [0, 1, 999, 123_456, 1_000_000_000, LONGEST_NS * 2] {
            latencies.record(ns);
        }
        latencies.record_n(77_000, 5);
        let json = serde_json::to_string(&latencies).unwrap();
        let read: Latencies = serde_json::from_str(&json).unwrap();
        assert_eq!(read, latencies);
        assert_eq!((read.count(), read.percentile(50.0) / 1_000), (11, 77));
        let error = serde_json::from_str::<Latencies>("\"abcd\"").unwrap_err();
        assert!(error.to_string().contains("no HdrHistogram"), "{error}");
    }
}
