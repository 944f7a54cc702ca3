//! M/D/1, first come first served: distribution of the waiting time.
//!
//! The classical form (Erlang 1909; Crommelin 1932) is an alternating sum that loses all digits beyond some thirty
//! service times. Here: Franx, *A simple solution for the M/D/c waiting time distribution* (Operations Research
//! Letters 29, 2001), whose terms are all positive, on the queue lengths from Ramaswami's recursion (Stochastic
//! Models 4, 1988), whose terms are all positive as well.

use super::{TheoryError, invert_tail, not_negative, positive, share_above, stable};

/// Poisson probabilities beyond this are below 1e-60 for any mean below 1.
const POISSON_TERMS: usize = 48;
/// Queue lengths kept at most: enough up to a load of about 0.9999; beyond, the rest is a geometric tail.
const MAX_LENGTH: usize = 200_000;

/// One M/D/1 queue in its steady state.
#[derive(Clone, Debug)]
pub struct MD1 {
    arrival_rate: f64,
    service: f64,
    load: f64,
    /// `queue_above[m]` = P(more than `m` wait, the one in service not counted).
    queue_above: Vec<f64>,
}

impl MD1 {
    /// Poisson arrivals at `arrival_rate`; every service takes `service`.
    ///
    /// # Errors
    /// A negative rate, a service time that is not above 0, or a load of 1 or more.
    pub fn new(arrival_rate: f64, service: f64) -> Result<Self, TheoryError> {
        let arrival_rate = not_negative("arrival rate", arrival_rate)?;
        let service = positive("service time", service)?;
        let load = stable(arrival_rate * service)?;
        Ok(Self { arrival_rate, service, load, queue_above: queue_above(load) })
    }

    /// Load, below 1.
    pub const fn load(&self) -> f64 {
        self.load
    }

    /// Mean waiting time, ρ D / (2 (1 − ρ)).
    pub fn mean_wait(&self) -> f64 {
        self.load * self.service / (2.0 * (1.0 - self.load))
    }

    /// P(waiting time > t), absolute error below 1e-12.
    pub fn wait_tail(&self, t: f64) -> f64 {
        if t < 0.0 {
            return 1.0;
        }
        // With (k−1)·D ≤ t < k·D, W ≤ t exactly if at most k−1 wait at a time k·D − t later (Franx, eq. 6).
        let slots = (t / self.service).floor();
        let mean = self.arrival_rate * ((slots + 1.0) * self.service - t);
        let mut poisson = (-mean).exp();
        let (mut above, mut unused) = (0.0, 1.0);
        for arrivals in 0..POISSON_TERMS.min(slots as usize + 1) {
            above += poisson * self.queue_above(slots as usize - arrivals);
            unused -= poisson;
            poisson *= mean / (arrivals + 1) as f64;
        }
        // More arrivals than slots: certainly above.
        (above + unused.max(0.0)).min(1.0)
    }

    /// P(waiting time ≤ t).
    pub fn wait_cdf(&self, t: f64) -> f64 {
        1.0 - self.wait_tail(t)
    }

    /// Percentile of the waiting time, infinite at 100; reliable up to 100 − 1e-8.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100.
    pub fn wait_percentile(&self, p: f64) -> f64 {
        invert_tail(|t| self.wait_tail(t), share_above(p), self.service)
    }

    /// Percentile of the sojourn time: that of the wait plus the service.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100.
    pub fn sojourn_percentile(&self, p: f64) -> f64 {
        self.wait_percentile(p) + self.service
    }

    fn queue_above(&self, length: usize) -> f64 {
        self.queue_above.get(length).copied().unwrap_or(0.0)
    }
}

/// P(queue > m) for m = 0, 1, …, until it is negligible.
fn queue_above(load: f64) -> Vec<f64> {
    // at_least[j] = P(Poisson(load) ≥ j), summed from the small end.
    let mut at_least = [0.0; POISSON_TERMS + 1];
    let mut term = (1..POISSON_TERMS).fold((-load).exp(), |t, j| t * load / j as f64);
    for j in (0..POISSON_TERMS).rev() {
        at_least[j] = at_least[j + 1] + term;
        term *= if j > 0 && load > 0.0 { j as f64 / load } else { 0.0 };
    }
    // Level crossing: a0 · π(n) = π(0) · at_least(n) + Σ_{j=1}^{n−1} π(j) · at_least(n+1−j).
    let none = (-load).exp();
    let mut system = vec![1.0 - load];
    while system.len() < MAX_LENGTH && (system.len() < 3 || system[system.len() - 1] > 1e-17 * (1.0 - load)) {
        let n = system.len();
        let first = if n <= POISSON_TERMS { system[0] * at_least[n] } else { 0.0 };
        let rest: f64 =
            (n.saturating_sub(POISSON_TERMS - 1).max(1)..n).map(|j| system[j] * at_least[n + 1 - j]).sum();
        system.push((first + rest) / none);
    }
    // One is in service, so the queue is above m if the system is above m + 1; from the small end again.
    let mut tails = vec![0.0; system.len()];
    for i in (1..system.len()).rev() {
        tails[i - 1] = tails[i] + system[i];
    }
    tails.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{close, mg1::MG1};

    /// Erlang's alternating form; good for a few service times.
    fn alternating(load: f64, t: f64) -> f64 {
        let mut factorial = 1.0;
        let sum: f64 = (0..=t.floor() as i32)
            .map(|n| {
                factorial *= f64::from(n.max(1));
                let u = load * (t - f64::from(n));
                (-u).powi(n) / factorial * u.exp()
            })
            .sum();
        (1.0 - load) * sum
    }

    #[test]
    fn agrees_with_erlangs_form_where_that_is_exact() {
        for load in [0.05, 0.5, 0.8, 0.95] {
            let queue = MD1::new(load, 1.0).unwrap();
            for t in [0.0, 0.3, 0.999, 1.0, 1.5, 2.0, 4.7, 8.0] {
                assert!((queue.wait_cdf(t) - alternating(load, t)).abs() < 1e-11, "load {load}, t {t}");
            }
        }
    }

    #[test]
    fn mean_is_the_integral_of_the_tail() {
        for load in [0.2, 0.7, 0.9, 0.99] {
            let queue = MD1::new(load / 2.0, 2.0).unwrap();
            let step = 0.004;
            // Whole steps to a service: the tail has its kinks at multiples of it.
            let integral: f64 =
                (0..500_000).map(|i| queue.wait_tail((f64::from(i) + 0.5) * step) * step).sum();
            close(integral, queue.mean_wait(), 1e-5);
            close(queue.mean_wait(), MG1::new(load / 2.0, 2.0, 4.0).unwrap().fcfs_mean_wait(), 1e-14);
        }
    }

    /// Far out the tail is exponential with the root of the Cramér–Lundberg equation λ (e^θ − 1) = θ.
    #[test]
    fn far_tail_decays_at_the_known_rate() {
        let load = 0.9;
        let queue = MD1::new(load, 1.0).unwrap();
        // Newton's method from the right of the root, where the function is convex.
        let theta = (0..60).fold(1.0, |x: f64, _| x - (load * x.exp_m1() - x) / (load * x.exp() - 1.0));
        close(queue.wait_tail(80.0) / queue.wait_tail(90.0), (10.0 * theta).exp(), 1e-6);
        assert!((100..1000).all(|t| queue.wait_tail(f64::from(t)) <= queue.wait_tail(f64::from(t - 1))));
    }

    #[test]
    fn percentiles() {
        let queue = MD1::new(0.5, 1.0).unwrap();
        assert_eq!(queue.wait_percentile(50.0), 0.0, "half of the requests do not wait");
        // Below one service the distribution is (1 − ρ) e^{λt}: the 75th percentile is 2 ln 1.5.
        close(queue.wait_percentile(75.0), 2.0 * 1.5f64.ln(), 1e-9);
        close(queue.sojourn_percentile(75.0), 1.0 + 2.0 * 1.5f64.ln(), 1e-9);
        assert_eq!(queue.wait_percentile(100.0), f64::INFINITY);
    }

    #[test]
    fn refuses_nonsense_and_knows_the_empty_system() {
        assert!(matches!(MD1::new(0.5, 2.0), Err(TheoryError::Unstable { load }) if load == 1.0));
        assert!(MD1::new(0.5, 0.0).is_err() && MD1::new(-0.5, 1.0).is_err());
        assert_eq!(MD1::new(0.0, 1.0).unwrap().wait_tail(0.0), 0.0);
    }
}
