//! What a result row says about one metric.

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

/// From recorded integers to what users see: divide by this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// As recorded.
    pub const NONE: Self = Self(1.0);
    /// Picoseconds to nanoseconds.
    pub const PS_TO_NS: Self = Self(1000.0);
    /// Fixed point ([`SLOWDOWN_ONE`]) to slowdown.
    pub const SLOWDOWN: Self = Self(SLOWDOWN_ONE as f64);

    /// Divides by `divisor`.
    ///
    /// # Panics
    /// If `divisor` is not finite and above 0.
    pub fn per(divisor: f64) -> Self {
        assert!(divisor.is_finite() && divisor > 0.0, "cannot divide by {divisor}");
        Self(divisor)
    }

    /// A recorded value as users see it.
    pub fn value(self, recorded: u64) -> f64 {
        recorded as f64 / self.0
    }

    /// An estimate over recorded values as users see it.
    pub fn estimate(self, recorded: Estimate) -> Estimate {
        recorded.divided_by(self.0)
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

    /// What an overloaded system has: the same keys, every value `null`.
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
