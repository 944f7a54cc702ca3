//! The summary of one metric in a row of results. The simulator makes one for each metric and class when a point is done. Pure.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::estimate::Estimate;
use crate::replicated::Replicated;

/// Slowdown 1.0 as it is recorded: fixed point with ten fractional bits, off by at most 0.05 % at slowdown 1.
pub const SLOWDOWN_ONE: u64 = 1024;

/// The slowdown `sojourn / service` in units of 1/[`SLOWDOWN_ONE`], rounded to the nearest; both in the same unit.
///
/// A service time of 0 counts as 1. Saturates at `u64::MAX`.
#[inline]
pub fn slowdown_fixed(sojourn: u64, service: u64) -> u64 {
    let service = service.max(1);
    let rounding = service / 2;
    match sojourn.checked_mul(SLOWDOWN_ONE).and_then(|scaled| scaled.checked_add(rounding)) {
        Some(scaled) => scaled / service,
        None => {
            let wide = u128::from(sojourn) * u128::from(SLOWDOWN_ONE) + u128::from(rounding);
            u64::try_from(wide / u128::from(service)).unwrap_or(u64::MAX)
        }
    }
}

/// The divisor from recorded integers to what users see, and the least value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    divisor: f64,
    floor: f64,
}

impl Scale {
    /// As recorded.
    pub const NONE: Self = Self { divisor: 1.0, floor: 0.0 };
    /// Picoseconds to nanoseconds.
    pub const PS_TO_NS: Self = Self { divisor: 1000.0, floor: 0.0 };
    /// Fixed point ([`SLOWDOWN_ONE`]) to slowdown, which is at least 1.
    pub const SLOWDOWN: Self = Self { divisor: SLOWDOWN_ONE as f64, floor: 1.0 };

    /// Divides by `divisor`.
    ///
    /// # Panics
    /// If `divisor` is not finite and above 0.
    pub fn per(divisor: f64) -> Self {
        assert!(divisor.is_finite() && divisor > 0.0, "cannot divide by {divisor}");
        Self { divisor, floor: 0.0 }
    }

    /// A recorded value as users see it.
    pub fn value(self, recorded: u64) -> f64 {
        recorded as f64 / self.divisor
    }

    /// An estimate over recorded values as users see it.
    pub fn estimate(self, recorded: Estimate) -> Estimate {
        recorded.divided_by(self.divisor).at_least(self.floor)
    }

    /// The difference of two recorded values as users see it; it may be negative.
    pub fn difference(self, recorded: Estimate) -> Estimate {
        recorded.divided_by(self.divisor)
    }
}

/// `p50`, `p99`, `p99.9`: the name of a percentile in results.
pub fn percentile_label(p: f64) -> String {
    format!("p{p}")
}

/// Mean, percentiles and maximum of one metric; serialises as an ordered map
/// `{"mean": {…}, "p50": {…}, "p99": {…}, "p99.9": {…}, "max": …}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: Estimate,
    /// Percentile (0 ..= 100) and its estimate, in the order in which they were asked for.
    pub percentiles: Vec<(f64, Estimate)>,
    /// The largest value; it has no interval. `None` in overload or when nothing was recorded.
    pub max: Option<f64>,
}

impl Summary {
    /// The summary of a metric, in the unit that `scale` makes of what was recorded.
    ///
    /// # Panics
    /// If a percentile is outside 0 ..= 100 or `confidence` is not between 0 and 1.
    pub fn of(metric: &Replicated, percentiles: &[f64], confidence: f64, scale: Scale) -> Self {
        let pooled = metric.pooled();
        Self {
            mean: scale.estimate(metric.mean(confidence)),
            percentiles: percentiles
                .iter()
                .map(|&p| (p, scale.estimate(metric.percentile(p, confidence))))
                .collect(),
            max: (!pooled.is_empty()).then(|| scale.value(pooled.max())),
        }
    }

    /// The summary of an overloaded system: the same keys, every value `null`.
    pub fn missing(percentiles: &[f64]) -> Self {
        Self {
            mean: Estimate::MISSING,
            percentiles: percentiles.iter().map(|&p| (p, Estimate::MISSING)).collect(),
            max: None,
        }
    }

    /// The estimate of a percentile, if it was asked for.
    pub fn percentile(&self, p: f64) -> Option<Estimate> {
        self.percentiles.iter().find(|(asked, _)| *asked == p).map(|&(_, estimate)| estimate)
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.percentiles.len() + 2))?;
        map.serialize_entry("mean", &self.mean)?;
        for (p, estimate) in &self.percentiles {
            map.serialize_entry(&percentile_label(*p), estimate)?;
        }
        map.serialize_entry("max", &self.max)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;

    fn metric() -> Replicated {
        let mut metric = Replicated::new();
        for replication in 0..4u64 {
            let mut h = Histogram::new();
            (0..5000).for_each(|i| h.record(1000 * (100 + (i * 7 + replication * 13) % 400)));
            metric.push(&h);
        }
        metric
    }

    #[test]
    fn labels() {
        let labels: Vec<String> = [50.0, 99.0, 99.9, 99.99, 97.5].map(percentile_label).into();
        assert_eq!(labels, ["p50", "p99", "p99.9", "p99.99", "p97.5"]);
    }

    #[test]
    fn keys_come_in_order_and_values_in_the_unit_of_the_scale() {
        let summary = Summary::of(&metric(), &[50.0, 99.0, 99.9], 0.95, Scale::PS_TO_NS);
        let json = serde_json::to_value(&summary).unwrap();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["mean", "p50", "p99", "p99.9", "max"]);
        assert_eq!(json["max"], 499.0);
        let median = summary.percentile(50.0).unwrap();
        assert!((median.estimate - 299.0).abs() < 2.0 && median.low <= 299.0 && 299.0 <= median.high);
        assert!((summary.mean.estimate - 299.5).abs() < 1.0);
        assert_eq!(summary.percentile(75.0), None);
    }

    #[test]
    fn overload_has_the_same_keys_and_no_values() {
        let json = serde_json::to_string(&Summary::missing(&[50.0, 99.9])).unwrap();
        assert_eq!(json, r#"{"mean":null,"p50":null,"p99.9":null,"max":null}"#);
        let empty = Summary::of(&Replicated::new(), &[50.0, 99.9], 0.95, Scale::NONE);
        assert_eq!(serde_json::to_string(&empty).unwrap(), json);
    }

    #[test]
    fn no_interval_of_a_slowdown_ends_below_1() {
        let mut metric = Replicated::new();
        for long in [1, 1, 1, 100] {
            let mut h = Histogram::new();
            (0..10).for_each(|_| h.record(SLOWDOWN_ONE));
            h.record(long * SLOWDOWN_ONE);
            metric.push(&h);
        }
        let summary = Summary::of(&metric, &[1.0, 99.0], 0.95, Scale::SLOWDOWN);
        assert_eq!((summary.mean.low, summary.percentile(1.0).unwrap().low), (1.0, 1.0));
        assert_eq!(Scale::SLOWDOWN.difference(Estimate::exact(-2048.0)).low, -2.0);
    }

    #[test]
    fn slowdown_is_rounded_to_the_nearest() {
        assert_eq!(slowdown_fixed(1000, 1000), SLOWDOWN_ONE);
        assert_eq!(slowdown_fixed(5000, 2000), 2560);
        assert_eq!(slowdown_fixed(2003, 2000), 1026, "1.0015 · 1024 = 1025.54");
        assert_eq!(slowdown_fixed(3, 0), 3 * SLOWDOWN_ONE);
        assert_eq!(slowdown_fixed(u64::MAX, u64::MAX), SLOWDOWN_ONE);
        assert_eq!(slowdown_fixed(u64::MAX, 1), u64::MAX);
        assert_eq!(Scale::SLOWDOWN.value(slowdown_fixed(7, 2)), 3.5);
    }
}
