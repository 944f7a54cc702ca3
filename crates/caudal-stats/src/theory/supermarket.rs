//! Power of d choices with many queues, exponential service, first come first served.
//!
//! Source: Vvedenskaya, Dobrushin, Karpelevich 1996; Mitzenmacher, *The power of two choices in randomized load
//! balancing* (IEEE TPDS 12, 2001): as the number of queues grows, the share of queues with at least k tasks tends
//! to s_k = λ^((d^k − 1)/(d − 1)). At 1024 queues the difference is of the order of 1/1024.

use super::{TheoryError, not_negative, stable};

/// The limit for `choices` sampled queues an arrival and a load of `load` per queue.
#[derive(Clone, Copy, Debug)]
pub struct Supermarket {
    choices: u32,
    load: f64,
}

impl Supermarket {
    /// `choices` of 1 (random) or more; service time 1.
    ///
    /// # Errors
    /// No choices, a negative load, or a load of 1 or more.
    pub fn new(choices: u32, load: f64) -> Result<Self, TheoryError> {
        if choices == 0 {
            return Err(TheoryError::OutOfRange { name: "choices", value: 0.0, expected: "at least 1" });
        }
        Ok(Self { choices, load: stable(not_negative("load", load)?)? })
    }

    /// Share of queues with at least `tasks` tasks, the one in service counted.
    pub fn share_with_at_least(&self, tasks: u32) -> f64 {
        // (d^k − 1)/(d − 1) = 1 + d + … + d^(k−1); infinite for large k, which is right.
        let exponent = (0..tasks).fold(0.0, |sum, _| sum * f64::from(self.choices) + 1.0);
        if exponent == 0.0 { 1.0 } else { self.load.powf(exponent) }
    }

    /// Mean sojourn time in units of the mean service time: Σ s_k / λ.
    pub fn mean_sojourn(&self) -> f64 {
        if self.load == 0.0 {
            return 1.0;
        }
        let terms = (1..).map(|k| self.share_with_at_least(k)).take_while(|&share| share > 1e-18);
        terms.sum::<f64>() / self.load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn one_choice_is_m_m_1() {
        let random = Supermarket::new(1, 0.9).unwrap();
        close(random.share_with_at_least(3), 0.729, 1e-14);
        close(random.mean_sojourn(), 10.0, 1e-12);
    }

    #[test]
    fn two_choices_by_hand() {
        let two = Supermarket::new(2, 0.5).unwrap();
        for (k, exponent) in [(0, 0), (1, 1), (2, 3), (3, 7), (4, 15)] {
            close(two.share_with_at_least(k), 0.5f64.powi(exponent), 1e-14);
        }
        close(two.mean_sojourn(), 1.0 + 0.25 + 0.5f64.powi(6) + 0.5f64.powi(14), 1e-9);
    }

    /// Mitzenmacher 2001, table 1, column "prediction", two choices.
    #[test]
    fn published_values() {
        for (load, sojourn) in
            [(0.50, 1.2657), (0.70, 1.6145), (0.80, 1.9475), (0.90, 2.6141), (0.95, 3.3830), (0.99, 5.4320)]
        {
            close(Supermarket::new(2, load).unwrap().mean_sojourn(), sojourn, 1e-4);
        }
    }

    #[test]
    fn more_choices_are_better_and_overload_is_refused() {
        let sojourn = |d| Supermarket::new(d, 0.9).unwrap().mean_sojourn();
        assert!(sojourn(1) > sojourn(2) && sojourn(2) > sojourn(3) && sojourn(3) > 1.0);
        assert!(Supermarket::new(2, 1.0).is_err() && Supermarket::new(0, 0.5).is_err());
        assert_eq!(Supermarket::new(2, 0.0).unwrap().mean_sojourn(), 1.0);
    }
}
