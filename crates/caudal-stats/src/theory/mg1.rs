//! M/G/1: mean wait under first come first served, sojourn times under processor sharing.
//!
//! Source: Pollaczek 1930, Khinchine 1932, as in Kleinrock I (1975), sec. 5.6; processor sharing: Kleinrock II
//! (1976), sec. 4.4, and Harchol-Balter (2013), ch. 22 and 30.

use super::{TheoryError, not_negative, positive, stable};

/// One M/G/1 queue in its steady state, known by the first two moments of its service time.
#[derive(Clone, Copy, Debug)]
pub struct MG1 {
    arrival_rate: f64,
    mean: f64,
    second_moment: f64,
    load: f64,
}

impl MG1 {
    /// Poisson arrivals at `arrival_rate`; service times with `mean` = E\[S\] and `second_moment` = E\[S²\]
    /// (infinite is allowed: then the FCFS mean is, and processor sharing does not care).
    ///
    /// # Errors
    /// A negative rate, a mean that is not above 0, E\[S²\] < E\[S\]², or a load of 1 or more.
    pub fn new(arrival_rate: f64, mean: f64, second_moment: f64) -> Result<Self, TheoryError> {
        let arrival_rate = not_negative("arrival rate", arrival_rate)?;
        let mean = positive("mean service time", mean)?;
        // A last-digit error of a deterministic service time is no error.
        if second_moment.is_nan() || second_moment < mean * mean * (1.0 - 1e-12) {
            return Err(TheoryError::OutOfRange {
                name: "second moment",
                value: second_moment,
                expected: "at least the square of the mean",
            });
        }
        let load = stable(arrival_rate * mean)?;
        Ok(Self { arrival_rate, mean, second_moment, load })
    }

    /// Load, below 1.
    pub const fn load(&self) -> f64 {
        self.load
    }

    /// FCFS mean waiting time, λ E\[S²\] / (2 (1 − ρ)) (Pollaczek–Khinchine).
    pub fn fcfs_mean_wait(&self) -> f64 {
        if self.arrival_rate == 0.0 {
            return 0.0;
        }
        self.arrival_rate * self.second_moment / (2.0 * (1.0 - self.load))
    }

    /// FCFS mean sojourn time.
    pub fn fcfs_mean_sojourn(&self) -> f64 {
        self.fcfs_mean_wait() + self.mean
    }

    /// Mean sojourn time of a request of size `size` under fluid processor sharing, `size` / (1 − ρ): every size
    /// has the same mean slowdown.
    pub fn ps_sojourn_of(&self, size: f64) -> f64 {
        size / (1.0 - self.load)
    }

    /// Mean sojourn time under fluid processor sharing, E\[S\] / (1 − ρ), whatever the distribution.
    pub fn ps_mean_sojourn(&self) -> f64 {
        self.ps_sojourn_of(self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{close, mmk::MMk};

    #[test]
    fn exponential_is_m_m_1() {
        for load in [0.1, 0.5, 0.95] {
            let (mg1, mm1) = (MG1::new(load, 1.0, 2.0).unwrap(), MMk::new(1, load, 1.0).unwrap());
            close(mg1.fcfs_mean_wait(), mm1.mean_wait(), 1e-13);
            close(mg1.ps_mean_sojourn(), mm1.mean_sojourn(), 1e-13);
        }
    }

    #[test]
    fn deterministic_waits_half_as_long() {
        let wait = |second| MG1::new(0.8, 1.0, second).unwrap().fcfs_mean_wait();
        close(wait(1.0), wait(2.0) / 2.0, 1e-15);
        close(wait(1.0), 2.0, 1e-12);
    }

    #[test]
    fn processor_sharing_is_insensitive() {
        let sojourn = |second| MG1::new(0.7, 1.0, second).unwrap().ps_mean_sojourn();
        assert_eq!(sojourn(1.0), sojourn(1e6));
        assert_eq!(sojourn(f64::INFINITY), sojourn(2.0));
        close(MG1::new(0.75, 1.0, 1.0).unwrap().ps_sojourn_of(3.0), 12.0, 1e-15);
    }

    #[test]
    fn refuses_nonsense() {
        assert!(matches!(MG1::new(1.0, 1.0, 2.0), Err(TheoryError::Unstable { load }) if load == 1.0));
        assert!(MG1::new(0.5, 1.0, 0.9).is_err() && MG1::new(0.5, 0.0, 1.0).is_err());
        assert_eq!(MG1::new(0.0, 1.0, f64::INFINITY).unwrap().fcfs_mean_wait(), 0.0);
    }
}
