//! A histogram as JSON: what a person wants to read first, then every bucket in use.
//!
//! ```json
//! {"count": 3, "sum": 4100.0, "max": 2000.0, "p50": 1008.0, "p90": 2000.0, "p99": 2000.0, "p999": 2000.0,
//!  "scale": 0.385, "buckets": [[992.0, 1023.0, 2], [1984.0, 2047.0, 1]]}
//! ```
//!
//! A bucket is its lowest value, its highest, and its count. `scale` is the unit that was recorded, in that of the values (of
//! times: nanoseconds a cycle); the exact buckets are found again by it.

use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BUCKETS, Histogram, index_of};

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.scale.is_finite() {
            return Err(S::Error::custom("a histogram without a unit"));
        }
        let mut fields = serializer.serialize_struct("Histogram", 9)?;
        fields.serialize_field("count", &self.count())?;
        fields.serialize_field("sum", &self.sum())?;
        fields.serialize_field("max", &self.max())?;
        for (name, percentile) in [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9)] {
            fields.serialize_field(name, &self.percentile(percentile))?;
        }
        fields.serialize_field("scale", &self.scale)?;
        fields.serialize_field("buckets", &self.buckets().collect::<Vec<_>>())?;
        fields.end()
    }
}

/// Fields that are read; the rest follows from them.
#[derive(Deserialize)]
struct Read {
    sum: f64,
    max: f64,
    scale: f64,
    buckets: Vec<(f64, f64, u64)>,
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        use serde::de::Error;
        let Read { sum, max, scale, buckets } = Read::deserialize(deserializer)?;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(D::Error::custom("the `scale` of a histogram is a number above 0"));
        }
        let mut counts = vec![0_u64; BUCKETS].into_boxed_slice();
        for (low, high, count) in buckets {
            // The middle: far from both ends, so that rounding does not matter. Saturates.
            let middle = ((low / 2.0 + high / 2.0) / scale).round() as u64;
            let bucket = &mut counts[index_of(middle)];
            let sum = bucket.checked_add(count);
            *bucket = sum.ok_or_else(|| D::Error::custom("more values than can be counted"))?;
        }
        if counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).is_none() {
            return Err(D::Error::custom("more values than can be counted"));
        }
        Ok(Histogram::read(counts, (sum / scale).round() as u128, (max / scale).round() as u64, scale))
    }
}
