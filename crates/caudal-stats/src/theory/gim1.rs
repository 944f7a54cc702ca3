//! GI/M/1: independent gaps of any distribution, exponential service times, first come first served.
//!
//! An arrival finds `n` requests with probability (1 − σ) σⁿ, where σ is the root in (0, 1) of σ = A*(μ (1 − σ)), and A* the
//! Laplace transform of the gaps.
//!
//! Source: Kendall 1953, as in Kleinrock I (1975), sec. 6.4.

use super::{TheoryError, positive, stable};

/// One GI/M/1 queue in its steady state.
#[derive(Clone, Copy, Debug)]
pub struct GIM1 {
    service_rate: f64,
    sigma: f64,
}

impl GIM1 {
    /// Gaps with the mean `mean_gap` and the Laplace transform `transform`, and services at `service_rate`.
    ///
    /// # Errors
    /// A mean or a rate that is not above 0, or a load of 1 or more.
    pub fn new(
        mean_gap: f64,
        transform: impl Fn(f64) -> f64,
        service_rate: f64,
    ) -> Result<Self, TheoryError> {
        let mean_gap = positive("mean gap", mean_gap)?;
        let service_rate = positive("service rate", service_rate)?;
        stable(1.0 / (mean_gap * service_rate))?;
        // A*(μ (1 − σ)) − σ is convex in σ, above 0 at 0, and 0 at 1 from below: one root lies between.
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > f64::EPSILON {
            let middle = f64::midpoint(low, high);
            if transform(service_rate * (1.0 - middle)) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Self { service_rate, sigma: low })
    }

    /// Probability that an arrival has to wait.
    pub const fn waits(&self) -> f64 {
        self.sigma
    }

    /// Mean waiting time.
    pub fn mean_wait(&self) -> f64 {
        self.sigma / (self.service_rate * (1.0 - self.sigma))
    }

    /// Mean sojourn time.
    pub fn mean_sojourn(&self) -> f64 {
        1.0 / (self.service_rate * (1.0 - self.sigma))
    }

    /// Percentile of the sojourn time, which is exponential.
    pub fn sojourn_percentile(&self, p: f64) -> f64 {
        -super::share_above(p).ln() * self.mean_sojourn()
    }

    /// Percentile of the waiting time.
    pub fn wait_percentile(&self, p: f64) -> f64 {
        let above = super::share_above(p);
        if above >= self.sigma { 0.0 } else { (self.sigma / above).ln() * self.mean_sojourn() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;
    use crate::theory::mmk::MMk;

    #[test]
    fn poisson_gaps_are_m_m_1() {
        for load in [0.1, 0.5, 0.95] {
            let gim1 = GIM1::new(1.0 / load, |s| load / (load + s), 1.0).unwrap();
            let mm1 = MMk::new(1, load, 1.0).unwrap();
            close(gim1.waits(), load, 1e-12);
            close(gim1.mean_wait(), mm1.mean_wait(), 1e-12);
            close(gim1.sojourn_percentile(99.0), mm1.sojourn_percentile(99.0), 1e-12);
            close(gim1.wait_percentile(99.0), mm1.wait_percentile(99.0), 1e-9);
        }
    }

    #[test]
    fn erlang_gaps_wait_as_the_root_of_their_cubic_says() {
        // E₂/M/1 at a load of 1/2, gaps of mean 2: σ = (1 / (2 − σ))², so σ³ − 4σ² + 4σ − 1 = 0, and σ = (3 − √5) / 2.
        let gim1 = GIM1::new(2.0, |s| (1.0 / (1.0 + s)).powi(2), 1.0).unwrap();
        close(gim1.waits(), (3.0 - 5.0_f64.sqrt()) / 2.0, 1e-12);
    }

    #[test]
    fn what_has_no_steady_state_is_refused() {
        assert!(GIM1::new(1.0, |s| 1.0 / (1.0 + s), 1.0).is_err());
        assert!(GIM1::new(0.0, |s| 1.0 / (1.0 + s), 1.0).is_err());
    }
}
