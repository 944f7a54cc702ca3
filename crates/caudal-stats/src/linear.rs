//! Estimates that are computed from several others over the same replications: a point over a curve, the crossing of two curves, the ratio of
//! two ratios. `replicated` makes estimates of means, percentiles and shares; the figures of the papers combine these when they are judged. Pure.
//!
//! Every estimate here has, for each replication, its contribution to the error, to first order. The contributions of
//! a function are those of its arguments times its derivatives, replication by replication (the delta method on
//! clusters, or infinitesimal jackknife). So one interval at the end includes every error, and errors that two systems share because of
//! common random numbers cancel, however the estimates were combined.

use crate::estimate::Estimate;
use crate::t;

/// An estimate, with the contribution of each replication to its error.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    value: f64,
    /// The contributions. Their mean is 0; the variance of the estimate is the variance of a mean of as many independent values.
    errors: Vec<f64>,
}

impl Linear {
    pub(crate) fn new(value: f64, errors: Vec<f64>) -> Self {
        Self { value, errors }
    }

    /// Σ numerator / Σ denominator over replications (Cochran, *Sampling Techniques*, 3rd ed., eq. 6.13).
    pub fn ratio_of_sums(parts: &[(f64, f64)]) -> Self {
        let sum = |of: fn(&(f64, f64)) -> f64| parts.iter().map(of).sum::<f64>();
        let (numerator, denominator) = (sum(|part| part.0), sum(|part| part.1));
        let (ratio, average) = (numerator / denominator, denominator / parts.len() as f64);
        let errors = parts.iter().map(|(numerator, denominator)| (numerator - ratio * denominator) / average);
        Self { value: ratio, errors: errors.collect() }
    }

    /// The estimate.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// Number of replications.
    pub const fn replications(&self) -> usize {
        self.errors.len()
    }

    /// This plus `factor` times another one of the same replications.
    ///
    /// # Panics
    /// If their numbers of replications differ.
    #[must_use]
    pub fn plus(&self, factor: f64, other: &Self) -> Self {
        assert_eq!(self.errors.len(), other.errors.len(), "estimates over different replications");
        let errors = self.errors.iter().zip(&other.errors).map(|(own, theirs)| own + factor * theirs);
        Self { value: self.value + factor * other.value, errors: errors.collect() }
    }

    /// This, without the error that it shares with `control`, whose long-run value is `known` (control variate, by
    /// least squares over the replications; Law, *Simulation Modeling and Analysis*, section 11.4). If the two share no
    /// error, it stays as it is.
    ///
    /// # Panics
    /// If their numbers of replications differ.
    #[must_use]
    pub fn controlled(&self, control: &Self, known: f64) -> Self {
        let product = |other: &Self| -> f64 {
            other.errors.iter().zip(&control.errors).map(|(other, control)| other * control).sum()
        };
        let spread = product(control);
        let slope = if spread > 0.0 { product(self) / spread } else { 0.0 };
        let known = Self { value: known, errors: vec![0.0; control.errors.len()] };
        self.plus(-slope, control).plus(slope, &known)
    }

    /// A function of this whose value and derivative here are `value` and `slope`.
    #[must_use]
    pub fn mapped(&self, value: f64, slope: f64) -> Self {
        Self { value, errors: self.errors.iter().map(|error| slope * error).collect() }
    }

    /// The natural logarithm; the value is positive.
    #[must_use]
    pub fn ln(&self) -> Self {
        self.mapped(self.value.ln(), 1.0 / self.value)
    }

    /// Student's interval; unbounded with fewer than two replications.
    ///
    /// # Panics
    /// If `confidence` is not between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Estimate {
        let n = self.errors.len() as f64;
        let factor = t::two_sided(confidence, (self.errors.len() as u64).saturating_sub(1));
        let squares: f64 = self.errors.iter().map(|error| error * error).sum();
        match factor * (squares / (n * (n - 1.0))).sqrt() {
            half if half.is_finite() => Estimate::symmetric(self.value, half),
            _ => Estimate::unbounded(self.value),
        }
    }

    /// The interval of e to the power of this, which is a ratio if this is a difference of logarithms.
    ///
    /// # Panics
    /// If `confidence` is not between 0 and 1.
    pub fn exp_interval(&self, confidence: f64) -> Estimate {
        let Estimate { estimate, low, high } = self.interval(confidence);
        Estimate { estimate: estimate.exp(), low: low.exp(), high: high.exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, Replicated, ratio_of_sums};

    #[test]
    fn a_ratio_of_sums_is_the_ratio_of_totals() {
        let parts = [(3.0, 4.0), (5.0, 8.0), (4.0, 4.0), (7.0, 9.0)];
        let (linear, plain) = (Linear::ratio_of_sums(&parts).interval(0.9), ratio_of_sums(&parts, 0.9));
        assert!((linear.estimate - plain.estimate).abs() < 1e-12);
        let (half, log) = (linear.half_width() / linear.estimate, (plain.high / plain.estimate).ln());
        assert!((half - log).abs() < 1e-12, "{linear:?} {plain:?}");
    }

    #[test]
    fn a_control_takes_away_the_chance_that_is_shared() {
        let work = Linear::ratio_of_sums(&[(9.0, 10.0), (10.0, 10.0), (11.0, 10.0), (12.0, 10.0)]);
        let follows = Linear::ratio_of_sums(&[(14.0, 10.0), (15.0, 10.0), (16.0, 10.0), (17.0, 10.0)]);
        let freed = follows.controlled(&work, 1.0);
        assert!((freed.value() - 1.5).abs() < 1e-12 && freed.interval(0.95).half_width() < 1e-9);
        let stays = Linear::ratio_of_sums(&[(20.0, 10.0); 4]);
        assert_eq!(stays.controlled(&work, 1.0).interval(0.95), Estimate::exact(2.0));
    }

    #[test]
    fn what_two_estimates_share_cancels_in_their_difference() {
        let parts = [(3.0, 1.0), (5.0, 1.0), (4.0, 1.0)];
        let a = Linear::ratio_of_sums(&parts);
        let doubled = a.plus(1.0, &a);
        assert_eq!(
            (doubled.value(), doubled.interval(0.95).half_width()),
            (8.0, 2.0 * a.interval(0.95).half_width())
        );
        assert_eq!(doubled.plus(-2.0, &a).interval(0.95), Estimate::exact(0.0));
        assert_eq!(Linear::ratio_of_sums(&parts[..1]).interval(0.95), Estimate::unbounded(3.0));
    }

    /// Replications of exponential values, scaled by a factor that they share: percentiles vary with it, their ratio
    /// does not.
    fn replicated(scale: f64, factors: &[f64]) -> Replicated {
        let mut all = Replicated::new();
        for factor in factors {
            let mut histogram = Histogram::new();
            for i in 0..4_000 {
                let value = -(1.0 - (f64::from(i) + 0.5) / 4_000.0).ln();
                histogram.record((1e6 * scale * factor * value) as u64);
            }
            all.push(&histogram);
        }
        all
    }

    #[test]
    fn the_ratio_of_paired_percentiles_is_known_better_than_either() {
        let factors: Vec<f64> = (0..16).map(|i| 0.8 + 0.4 * f64::from(i * 7 % 16) / 15.0).collect();
        let (a, b) = (replicated(1.5, &factors), replicated(1.0, &factors));
        let log = |all: &Replicated| all.log_percentile(99.0, 16).unwrap();
        let alone = log(&a).exp_interval(0.95);
        let ratio = log(&a).plus(-1.0, &log(&b)).exp_interval(0.95);
        assert!(ratio.contains(1.5) && ratio.relative_half_width() < 0.01, "{ratio:?}");
        // The mean of 16 factors that are spread by 12 %.
        assert!((0.04..0.1).contains(&alone.relative_half_width()), "{alone:?}");
    }

    #[test]
    fn the_share_above_a_value_is_counted() {
        let all = replicated(1.0, &[1.0, 2.0]);
        // e^(−2) of the values lie above 2, or e^(−1).
        let share = all.share_above(2_000_000, 2).value();
        assert!((share / ((-2f64).exp() + (-1f64).exp()) * 2.0 - 1.0).abs() < 0.01, "{share}");
        assert_eq!(all.share_above(u64::MAX, 1), Linear::new(0.0, vec![0.0]));
    }

    #[test]
    fn the_first_replications_are_those_alone() {
        let factors: Vec<f64> = (0..12).map(|i| 1.0 + 0.05 * f64::from(i)).collect();
        let (all, few) = (replicated(1.0, &factors), replicated(1.0, &factors[..5]));
        assert_eq!(all.log_percentile(90.0, 5), few.log_percentile(90.0, 5));
        assert_eq!(all.log_percentile(90.0, 12).unwrap().replications(), 12);
    }
}
