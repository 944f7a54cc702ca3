//! M/M/k, first come first served: distributions of waiting and sojourn time; M/M/1 is k = 1.
//!
//! Source: Kleinrock, *Queueing Systems* I (1975), sec. 3.5; Harchol-Balter (2013), ch. 14; Gross & Harris,
//! *Fundamentals of Queueing Theory*, sec. 2.3 (sojourn time). Mean sojourn and number in system hold for every
//! work-conserving policy that does not look at sizes, the distributions for FCFS only.

use super::erlang::erlang_c;
use super::{TheoryError, invert_tail, not_negative, positive, share_above};

/// One M/M/k queue in its steady state.
///
/// ```
/// let queue = caudal_stats::theory::mmk::MMk::new(1, 0.5, 1.0).unwrap();
/// assert!((queue.sojourn_percentile(99.0) - 100f64.ln() / 0.5).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MMk {
    arrival_rate: f64,
    service_rate: f64,
    servers: f64,
    waits: f64,
}

impl MMk {
    /// `servers` of `service_rate` each; Poisson arrivals at `arrival_rate`.
    ///
    /// # Errors
    /// No servers, `service_rate` not above 0, `arrival_rate` negative, or a load of 1 or more.
    pub fn new(servers: u32, arrival_rate: f64, service_rate: f64) -> Result<Self, TheoryError> {
        let service_rate = positive("service rate", service_rate)?;
        let arrival_rate = not_negative("arrival rate", arrival_rate)?;
        positive("number of servers", f64::from(servers))?;
        let waits = erlang_c(servers, arrival_rate / service_rate)?;
        Ok(Self { arrival_rate, service_rate, servers: f64::from(servers), waits })
    }

    /// Load per server, below 1.
    pub fn load(&self) -> f64 {
        self.arrival_rate / (self.servers * self.service_rate)
    }

    /// Probability that a request waits at all (Erlang C).
    pub const fn waiting_probability(&self) -> f64 {
        self.waits
    }

    /// Rate at which a backlog is worked off, kμ − λ.
    fn drain_rate(&self) -> f64 {
        self.servers * self.service_rate - self.arrival_rate
    }

    /// Mean waiting time.
    pub fn mean_wait(&self) -> f64 {
        self.waits / self.drain_rate()
    }

    /// Mean sojourn time.
    pub fn mean_sojourn(&self) -> f64 {
        self.mean_wait() + 1.0 / self.service_rate
    }

    /// P(waiting time > t).
    pub fn wait_tail(&self, t: f64) -> f64 {
        if t < 0.0 { 1.0 } else { self.waits * (-self.drain_rate() * t).exp() }
    }

    /// P(waiting time ≤ t).
    pub fn wait_cdf(&self, t: f64) -> f64 {
        1.0 - self.wait_tail(t)
    }

    /// Percentile of the waiting time; 0 up to the share that does not wait, infinite at 100.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100.
    pub fn wait_percentile(&self, p: f64) -> f64 {
        let share = share_above(p);
        if share >= self.waits { 0.0 } else { (self.waits / share).ln() / self.drain_rate() }
    }

    /// P(sojourn time > t): either no wait and a service longer than t, or an exponential wait plus a service.
    pub fn sojourn_tail(&self, t: f64) -> f64 {
        if t <= 0.0 {
            return 1.0;
        }
        let gap = self.drain_rate() - self.service_rate;
        // P(Exp(δ) + Exp(μ) > t) = e^−μt (1 + μ (1 − e^−(δ−μ)t)/(δ−μ)); the quotient tends to t for δ → μ.
        let quotient = if (gap * t).abs() < 1e-12 { t } else { -(-gap * t).exp_m1() / gap };
        let served = (-self.service_rate * t).exp();
        if gap * t < -600.0 {
            // The exponential above would overflow; here the wait alone decides.
            return (self.waits * self.service_rate / -gap * (-self.drain_rate() * t).exp() + served)
                .min(1.0);
        }
        served * (1.0 + self.waits * self.service_rate * quotient)
    }

    /// P(sojourn time ≤ t).
    pub fn sojourn_cdf(&self, t: f64) -> f64 {
        1.0 - self.sojourn_tail(t)
    }

    /// Percentile of the sojourn time; infinite at 100.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100.
    pub fn sojourn_percentile(&self, p: f64) -> f64 {
        invert_tail(|t| self.sojourn_tail(t), share_above(p), self.mean_sojourn())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn one_server_is_exponential() {
        for load in [0.01, 0.5, 0.9, 0.99] {
            let queue = MMk::new(1, load, 1.0).unwrap();
            close(queue.mean_sojourn(), 1.0 / (1.0 - load), 1e-13);
            for p in [1.0, 50.0, 99.0, 99.9, 99.999] {
                close(queue.sojourn_percentile(p), -(1.0 - p / 100.0f64).ln() / (1.0 - load), 1e-10);
            }
            close(queue.wait_cdf(0.0), 1.0 - load, 1e-12);
        }
    }

    #[test]
    fn two_servers_by_hand() {
        // λ = 1, μ = 1, k = 2: C = 1/3, W = 1/3, T = 4/3, and δ = μ: P(T > t) = e^−t (1 + t/3).
        let queue = MMk::new(2, 1.0, 1.0).unwrap();
        close(queue.waiting_probability(), 1.0 / 3.0, 1e-15);
        close(queue.mean_sojourn(), 4.0 / 3.0, 1e-15);
        close(queue.sojourn_tail(3.0), 2.0 * (-3.0f64).exp(), 1e-12);
        close(queue.wait_tail(2.0), (-2.0f64).exp() / 3.0, 1e-14);
        assert_eq!(queue.wait_percentile(60.0), 0.0);
    }

    #[test]
    fn means_are_the_integrals_of_the_tails() {
        for (k, load) in [(1, 0.9), (2, 0.5), (16, 0.8), (64, 0.99), (2, 0.5 + 1e-14)] {
            let queue = MMk::new(k, load * f64::from(k), 1.0).unwrap();
            let step = queue.mean_sojourn() / 2000.0;
            let sum = |tail: &dyn Fn(f64) -> f64| {
                (0..400_000).map(|i| step * tail((f64::from(i) + 0.5) * step)).sum()
            };
            let (sojourn, wait): (f64, f64) = (sum(&|t| queue.sojourn_tail(t)), sum(&|t| queue.wait_tail(t)));
            close(sojourn, queue.mean_sojourn(), 1e-5);
            close(wait, queue.mean_wait(), 1e-4);
        }
    }

    #[test]
    fn percentiles_invert_the_tails() {
        let queue = MMk::new(16, 12.8, 1.0).unwrap();
        for p in [0.0, 10.0, 50.0, 99.0, 99.99] {
            let t = queue.sojourn_percentile(p);
            assert!((queue.sojourn_cdf(t) - p / 100.0).abs() < 1e-12);
            let w = queue.wait_percentile(p);
            assert!(w == 0.0 || (queue.wait_cdf(w) - p / 100.0).abs() < 1e-12);
            assert!(w < t || p == 0.0);
        }
        assert_eq!(queue.sojourn_percentile(100.0), f64::INFINITY);
    }

    #[test]
    fn far_tail_is_finite_and_continuous() {
        let queue = MMk::new(1, 0.999, 1.0).unwrap();
        for t in [590.0, 600.0, 601.0, 602.0, 5000.0] {
            close(queue.sojourn_tail(t), (-0.001 * t).exp(), 1e-9);
        }
    }

    #[test]
    fn refuses_nonsense() {
        assert!(matches!(MMk::new(4, 4.0, 1.0), Err(TheoryError::Unstable { load }) if load == 1.0));
        assert!(MMk::new(0, 1.0, 1.0).is_err());
        assert!(MMk::new(1, -1.0, 1.0).is_err());
        assert!(MMk::new(1, 0.5, f64::NAN).is_err());
    }
}
