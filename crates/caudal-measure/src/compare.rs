//! Medians over the rounds of a comparison, and ratios within a round. Benchmarks and the calibration of a machine call it when their rounds are
//! done. Pure.
//!
//! Contestants alternate, so that a bad minute of the machine hits all of them. A ratio is taken between two runs of the same round, and then the
//! median of these ratios, never the ratio of medians.

/// The middle of some trials, and how far they reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median; of an even number the mean of the middle two.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Number of trials.
    pub trials: usize,
}

impl Spread {
    /// The spread of some trials; `None` without any, or if one is not a number.
    pub fn of(trials: &[f64]) -> Option<Spread> {
        if trials.is_empty() || trials.iter().any(|trial| trial.is_nan()) {
            return None;
        }
        let mut sorted = trials.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Spread { median, low: sorted[0], high: sorted[sorted.len() - 1], trials: sorted.len() })
    }

    /// Largest minus smallest, in parts of the median.
    pub fn relative(self) -> f64 {
        (self.high - self.low) / self.median
    }
}

/// How many times as large `ours` is as `theirs`, round by round; `None` where a round is missing on one side.
pub fn ratio(ours: &[f64], theirs: &[f64]) -> Option<Spread> {
    if ours.len() != theirs.len() {
        return None;
    }
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    Spread::of(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_ends() {
        assert_eq!(
            Spread::of(&[3.0, 1.0, 2.0]),
            Some(Spread { median: 2.0, low: 1.0, high: 3.0, trials: 3 })
        );
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of(&[4.0, 1.0, 3.0]).unwrap().relative(), 1.0);
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // The machine was ten times slower in the last round, for both.
        let ratio = ratio(&[2.0, 2.0, 20.0], &[1.0, 1.0, 10.0]).unwrap();
        assert_eq!((ratio.median, ratio.low, ratio.high), (2.0, 2.0, 2.0));
        assert_eq!(super::ratio(&[1.0], &[]), None);
        assert_eq!(super::ratio(&[0.0], &[0.0]), None);
    }
}
