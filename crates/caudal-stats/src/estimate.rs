//! An estimate with its interval. Every statistic of this crate returns one when it is asked with a confidence, and rows of results keep it.
//! Data only.

use serde::de::Deserializer;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// One estimate with its confidence interval, `low ≤ estimate ≤ high`.
///
/// Serialises as `{"estimate": …, "low": …, "high": …}`, and as `null` when it does not exist ([`Self::MISSING`]:
/// overload, nothing recorded). A bound that the data cannot give (one replication, too few values in the tail)
/// is infinite, and `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The point estimate; NaN when there is none.
    pub estimate: f64,
    /// Lower end of the interval, −∞ when unknown.
    pub low: f64,
    /// Upper end of the interval, +∞ when unknown.
    pub high: f64,
}

impl Estimate {
    /// No estimate at all.
    pub const MISSING: Self = Self { estimate: f64::NAN, low: f64::NAN, high: f64::NAN };

    /// A number whose interval the data cannot give.
    pub const fn unbounded(estimate: f64) -> Self {
        Self { estimate, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    /// A number that is known without error.
    pub const fn exact(value: f64) -> Self {
        Self { estimate: value, low: value, high: value }
    }

    /// An interval that is as wide to the left as to the right.
    pub fn symmetric(estimate: f64, half_width: f64) -> Self {
        Self { estimate, low: estimate - half_width, high: estimate + half_width }
    }

    /// The interval of a number that can not be negative: as wide to both sides on a logarithmic scale, so that it ends above 0. By the delta
    /// method, the standard error of the logarithm is the standard error of the number, divided by the number.
    ///
    /// The interval has no upper end where `half_width` is more than the number itself: the data do not even tell its order of
    /// magnitude, as with means of values whose second moment does not settle.
    pub fn positive(estimate: f64, half_width: f64) -> Self {
        let ratio = half_width / estimate;
        if half_width == 0.0 {
            Self::exact(estimate)
        } else if !half_width.is_finite() {
            Self::unbounded(estimate)
        } else if ratio > 1.0 {
            Self { estimate, low: estimate * (-ratio).exp(), high: f64::INFINITY }
        } else {
            Self { estimate, low: estimate * (-ratio).exp(), high: estimate * ratio.exp() }
        }
    }

    /// The same estimate of a number that is known to be at least `floor`: the interval is cut there. An end that is not known
    /// stays unknown.
    #[must_use]
    pub fn at_least(self, floor: f64) -> Self {
        let low = if self.low.is_finite() { self.low.max(floor).min(self.estimate) } else { self.low };
        Self { low, ..self }
    }

    /// The same estimate of a number that is known to be at most `ceiling`.
    #[must_use]
    pub fn at_most(self, ceiling: f64) -> Self {
        let high = if self.high.is_finite() { self.high.min(ceiling).max(self.estimate) } else { self.high };
        Self { high, ..self }
    }

    /// True if there is no estimate.
    pub const fn is_missing(&self) -> bool {
        self.estimate.is_nan()
    }

    /// The longer arm of the interval; infinite when unbounded.
    pub fn half_width(&self) -> f64 {
        (self.high - self.estimate).max(self.estimate - self.low)
    }

    /// The longer arm of the interval over the estimate; infinite when unbounded or missing, 0 for an exact 0.
    pub fn relative_half_width(&self) -> f64 {
        let half = self.half_width();
        if half == 0.0 {
            return 0.0;
        }
        let ratio = half / self.estimate.abs();
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }

    /// True if the interval holds `value`.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same in another unit: everything divided by `divisor`, which is positive.
    #[must_use]
    pub fn divided_by(self, divisor: f64) -> Self {
        Self { estimate: self.estimate / divisor, low: self.low / divisor, high: self.high / divisor }
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_missing() {
            return serializer.serialize_none();
        }
        // Formats other than JSON have infinities; `None` keeps all of them alike.
        let known = |bound: f64| bound.is_finite().then_some(bound);
        let mut fields = serializer.serialize_struct("Estimate", 3)?;
        fields.serialize_field("estimate", &self.estimate)?;
        fields.serialize_field("low", &known(self.low))?;
        fields.serialize_field("high", &known(self.high))?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Estimate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            estimate: f64,
            low: Option<f64>,
            high: Option<f64>,
        }
        Ok(Option::<Fields>::deserialize(deserializer)?.map_or(Self::MISSING, |fields| Self {
            estimate: fields.estimate,
            low: fields.low.unwrap_or(f64::NEG_INFINITY),
            high: fields.high.unwrap_or(f64::INFINITY),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_forms() {
        let json = |e: Estimate| serde_json::to_string(&e).unwrap();
        let whole = Estimate { estimate: 2.5, low: 2.0, high: 3.5 };
        assert_eq!(json(whole), r#"{"estimate":2.5,"low":2.0,"high":3.5}"#);
        assert_eq!(json(Estimate::unbounded(1.0)), r#"{"estimate":1.0,"low":null,"high":null}"#);
        assert_eq!(json(Estimate::MISSING), "null");
        for e in [whole, Estimate::unbounded(1.0), Estimate::exact(4.0)] {
            assert_eq!(serde_json::from_str::<Estimate>(&json(e)).unwrap(), e);
        }
        assert!(serde_json::from_str::<Estimate>("null").unwrap().is_missing());
    }

    #[test]
    fn what_can_not_be_negative_has_no_interval_below_0() {
        let mean = Estimate::positive(100.0, 50.0);
        assert!(
            (mean.low - 100.0 * (-0.5f64).exp()).abs() < 1e-9
                && (mean.high - 100.0 * 0.5f64.exp()).abs() < 1e-9
        );
        let wild = Estimate::positive(10.0, 27.0);
        assert!(wild.low > 0.0 && wild.high == f64::INFINITY, "{wild:?}");
        assert_eq!(Estimate::positive(0.0, 0.0), Estimate::exact(0.0));
        assert_eq!(Estimate::positive(3.0, f64::INFINITY), Estimate::unbounded(3.0));
        assert_eq!(Estimate::symmetric(1.5, 1.0).at_least(1.0).low, 1.0);
        assert_eq!(
            Estimate::symmetric(0.9, 0.3).at_most(1.0),
            Estimate { estimate: 0.9, low: 0.6000000000000001, high: 1.0 }
        );
        assert_eq!(Estimate::unbounded(2.0).at_least(1.0), Estimate::unbounded(2.0));
    }

    #[test]
    fn widths() {
        let e = Estimate { estimate: 10.0, low: 9.0, high: 12.0 };
        assert_eq!((e.half_width(), e.relative_half_width()), (2.0, 0.2));
        assert!(e.contains(9.0) && e.contains(12.0) && !e.contains(12.1));
        assert_eq!(Estimate::MISSING.relative_half_width(), f64::INFINITY);
        assert_eq!(Estimate::unbounded(1.0).relative_half_width(), f64::INFINITY);
        assert_eq!(Estimate::exact(0.0).relative_half_width(), 0.0);
        assert_eq!(e.divided_by(2.0), Estimate { estimate: 5.0, low: 4.5, high: 6.0 });
    }
}
