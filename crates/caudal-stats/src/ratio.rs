//! Ratios of sums over replications: efficiencies, shares, counts per request. The row of a point is filled with them when all of its replications
//! are done. Pure.

use crate::estimate::Estimate;
use crate::t;

/// The ratio of the sum of all numerators to the sum of all denominators, with an interval at `confidence`.
///
/// Each part is one replication's (numerator, denominator), neither of them negative. The interval is that of the
/// classical ratio estimator (Cochran, *Sampling Techniques*, 3rd ed., section 6.3) with Student's t, on a logarithmic
/// scale ([`Estimate::positive`]).
///
/// [`Estimate::MISSING`] if the denominators sum to 0; unbounded with fewer than two parts.
///
/// # Panics
/// If `confidence` is not between 0 and 1.
pub fn ratio_of_sums(parts: &[(f64, f64)], confidence: f64) -> Estimate {
    let (above, below) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    if below == 0.0 {
        return Estimate::MISSING;
    }
    let ratio = above / below;
    if parts.len() < 2 {
        return Estimate::unbounded(ratio);
    }
    let squares: f64 = parts.iter().map(|(above, below)| (above - ratio * below).powi(2)).sum();
    let n = parts.len() as f64;
    let error = (n / (n - 1.0) * squares).sqrt() / below;
    Estimate::positive(ratio, t::two_sided(confidence, parts.len() as u64 - 1) * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighs_parts_by_their_denominators() {
        let ratio = ratio_of_sums(&[(1.0, 1.0), (0.0, 3.0)], 0.95);
        assert_eq!(ratio.estimate, 0.25);
        // Deviations +-0.75, their error sqrt(2 * 1.125) / 4, t(0.975, 1) = 12.706: 19 times the ratio.
        let relative = 12.706 * 1.5 / 4.0 / 0.25;
        assert!((ratio.low.ln() - 0.25f64.ln() + relative).abs() < 1e-2, "{ratio:?}");
        assert_eq!(ratio.high, f64::INFINITY);
        assert_eq!(ratio_of_sums(&[(3.0, 4.0), (6.0, 8.0)], 0.95).half_width(), 0.0);
        assert!(ratio_of_sums(&[], 0.95).is_missing());
        assert_eq!(ratio_of_sums(&[(1.0, 2.0)], 0.95).high, f64::INFINITY);
    }
}
