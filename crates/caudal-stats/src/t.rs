//! Quantiles of Student's t and of the normal distribution. `replicated`, `paired`, `ratio` and `linear` ask for one when they make an
//! interval. Pure.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Beyond this many degrees, the first term of the expansion in 1/degrees (Abramowitz & Stegun 26.7.5) is closer
/// than the inverse of the incomplete beta function, which loses digits there.
const LARGE: u64 = 10_000;

/// The factor of a two-sided interval of mean ± factor · standard error: the (1 + confidence)/2 quantile of
/// Student's t with `degrees` degrees of freedom. Infinite for 0 degrees: one value has no interval.
///
/// ```
/// assert!((caudal_stats::t::two_sided(0.95, 9) - 2.262).abs() < 5e-4);
/// ```
///
/// # Panics
/// If `confidence` is not between 0 and 1 (both excluded).
pub fn two_sided(confidence: f64, degrees: u64) -> f64 {
    assert!(confidence > 0.0 && confidence < 1.0, "confidence {confidence} is not between 0 and 1");
    student(f64::midpoint(1.0, confidence), degrees)
}

/// The `probability` quantile (0 … 1) of Student's t with `degrees` degrees of freedom; ±∞ for 0 degrees and for
/// the probabilities 0 and 1.
///
/// # Panics
/// If `probability` is outside 0 ..= 1.
pub fn student(probability: f64, degrees: u64) -> f64 {
    assert!((0.0..=1.0).contains(&probability), "probability {probability} is outside 0 ..= 1");
    if probability == 0.5 {
        return 0.0;
    }
    if degrees > LARGE {
        let z = normal(probability);
        return z + z * (z * z + 1.0) / (4.0 * degrees as f64);
    }
    match StudentsT::new(0.0, 1.0, degrees as f64) {
        Ok(distribution) => distribution.inverse_cdf(probability),
        Err(_) => f64::INFINITY.copysign(probability - 0.5),
    }
}

/// The `probability` quantile (0 … 1) of the standard normal distribution.
///
/// # Panics
/// If `probability` is outside 0 ..= 1.
pub fn normal(probability: f64) -> f64 {
    assert!((0.0..=1.0).contains(&probability), "probability {probability} is outside 0 ..= 1");
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of every statistics textbook, three or four decimals.
    #[test]
    fn table_values() {
        for (probability, degrees, expected) in [
            (0.975, 1, 12.7062),
            (0.975, 2, 4.3027),
            (0.975, 4, 2.7764),
            (0.975, 9, 2.2622),
            (0.975, 29, 2.0452),
            (0.995, 9, 3.2498),
            (0.95, 19, 1.7291),
            (0.9, 5, 1.4759),
            (0.975, 1_000_000, 1.9600),
        ] {
            let got = student(probability, degrees);
            assert!((got - expected).abs() < 1e-4, "t({probability}, {degrees}) = {got}");
            assert!((student(1.0 - probability, degrees) + got).abs() < 1e-6);
        }
        assert!((normal(0.975) - 1.959_964).abs() < 1e-6);
        assert_eq!(student(0.5, 3), 0.0);
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(two_sided(0.95, 0), f64::INFINITY);
        assert_eq!(student(0.025, 0), f64::NEG_INFINITY);
    }
}
