//! Miss ratios of a row: a list of target latencies and the shares that exceed them.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::row::{RawStat, Stat, Stats};

/// Shares of requests by the latency that they exceed, as [`miss_name`] calls it.
#[derive(Clone, Debug, Default)]
pub struct Misses {
    /// By name.
    pub by_late: Stats,
    /// As they were read: what a report embeds.
    raw: Value,
}

/// What the statistics of a target latency are called: `25 ms`.
#[must_use]
pub fn miss_name(late_ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| late_ns >= *unit).unwrap_or((1.0, "ns"));
    // Without what the division leaves behind.
    format!("{} {name}", (late_ns / unit * 1e9).round() / 1e9)
}

#[derive(Deserialize)]
struct Miss {
    late_ns: f64,
    ratio: Option<RawStat>,
}

impl<'de> Deserialize<'de> for Misses {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Value::deserialize(from)?;
        let read: Option<Vec<Miss>> = Deserialize::deserialize(&raw).map_err(serde::de::Error::custom)?;
        let stat = |miss: Miss| -> Option<(String, Stat)> {
            Some((miss_name(miss.late_ns), miss.ratio?.into_stat()?))
        };
        let by_late: IndexMap<_, _> = read.into_iter().flatten().filter_map(stat).collect();
        Ok(Self { by_late, raw })
    }
}

impl Serialize for Misses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl Misses {
    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_are_statistics_and_are_written_as_they_came() {
        let text = r#"[{"late_ns":25000000.0,"ratio":{"estimate":0.01,"low":0.008,"high":null}},{"late_ns":4020.0,"ratio":null}]"#;
        let misses: Misses = serde_json::from_str(text).unwrap();
        let late = Stat { estimate: 0.01, interval: Some((0.008, f64::INFINITY)) };
        assert_eq!(misses.by_late.iter().collect::<Vec<_>>(), [(&"25 ms".to_owned(), &late)]);
        assert_eq!(serde_json::to_string(&misses).unwrap(), text);
        assert_eq!(
            [21_090_000.0, 4_020.0, 3e9, 0.5].map(miss_name),
            ["21.09 ms", "4.02 µs", "3 s", "0.5 ns"]
        );
    }
}
