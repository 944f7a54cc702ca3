//! How long a queue remembers: what decides how much of a run to leave out, and how long it has to be.
//!
//! Under load, the work in a system of `c` servers is close to a Brownian motion that is reflected at 0 (Kingman; for
//! planning simulations: Whitt, *Planning queueing simulations*, Management Science 35, 1989). It drifts down by
//! θ = c (1 − ρ) and spreads by σ² = λ E\[S\]² (Cₐ² + Cₛ²) a unit of time, and forgets within a *relaxation time* of
//! 2 σ²/θ². Counted in requests that is
//!
//! > 2 ρ² (Cₐ² + Cₛ²) / (1 − ρ)²,
//!
//! whatever the number of servers and the mean service time: (1 − ρ)² makes it long near saturation, and Cₛ², which
//! the rarest and longest class rules, multiplies it. Nothing of that shows in the requests of a short class over a
//! short run, whose series looks steady while the work of the long class still piles up. Where servers idle, what
//! is remembered is the rest of the services that are running; its time constant is E\[S²\]/E\[S\], in which
//! ρ c (1 + Cₛ²) requests arrive.
//!
//! **Warm-up.** From an empty start the chance that the work exceeds x after t is
//! Φ((−x − θt)/(σ√t)) + e^(−2θx/σ²) Φ((θt − x)/(σ√t)) (Harrison, *Brownian Motion and Stochastic Flow Systems*,
//! sec. 1.8). After 2.5 relaxation times the mean has 99 % of its final value, and the chance to be above the 99.9th
//! percentile has 83 %; over the 5 that follow that chance is 97 % on average, far nearer than any interval is
//! narrow.
//!
//! **Length.** Replications of five relaxation times each have means that are nearly independent of where they began,
//! and twelve of them nearly normal ones. What is not known after that shows in the interval: see
//! [`Replicated`](crate::Replicated).

/// Relaxation times that are left out at the start of a replication.
pub const WARM_UP: f64 = 2.5;
/// Relaxation times that a replication measures, at least, where there are [`REPLICATIONS`] of them.
pub const MEASURED: f64 = 5.0;
/// See [`MEASURED`].
pub const REPLICATIONS: u32 = 12;

/// What decides how long a queue remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Share of the servers' time that is taken, overheads included, from 0 on; there is no steady state from 1 on.
    pub busy: f64,
    /// How arrivals spread: variance over mean of their number in a long time; 1 for a Poisson process.
    pub arrivals: f64,
    /// Squared coefficient of variation of service times.
    pub services: f64,
    /// Servers that share the work.
    pub servers: f64,
}

impl Queue {
    /// Requests that arrive in a relaxation time; infinite where there is no steady state.
    ///
    /// ```
    /// let queue = |busy| caudal_stats::relaxation::Queue { busy, arrivals: 1.0, services: 1.0, servers: 1.0 };
    /// // M/M/1 has relaxation times of 1/(1 − √ρ)² services exactly: 379 requests arrive in one at load 0.9.
    /// assert!((queue(0.9).relaxation() / (0.9 / (1.0 - 0.9f64.sqrt()).powi(2)) - 1.0).abs() < 0.15);
    /// assert!(queue(1.0).relaxation().is_infinite());
    /// ```
    pub fn relaxation(&self) -> f64 {
        let Queue { busy, arrivals, services, servers } = *self;
        if busy >= 1.0 {
            return f64::INFINITY;
        }
        let queueing = 2.0 * (arrivals + services) * (busy / (1.0 - busy)).powi(2);
        queueing + busy * servers * (1.0 + services)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Waiting time of request number `at` of M/M/1 from an empty start, in mean service times, averaged.
    fn waiting(load: f64, at: u64, replications: u32) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut exponential = |mean: f64| {
            let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            -mean * uniform.ln()
        };
        let mut sum = 0.0;
        for _ in 0..replications {
            let mut wait = 0f64;
            for _ in 0..at {
                wait = (wait + exponential(1.0) - exponential(1.0 / load)).max(0.0);
            }
            sum += wait;
        }
        sum / f64::from(replications)
    }

    #[test]
    fn after_the_warm_up_a_queue_has_forgotten_that_it_began_empty() {
        let load = 0.9;
        let relaxation = Queue { busy: load, arrivals: 1.0, services: 1.0, servers: 1.0 }.relaxation();
        let settled = load / (1.0 - load);
        let after = |relaxations: f64| waiting(load, (relaxations * relaxation) as u64, 2000) / settled;
        // The Brownian motion has 54 % and 99 %. Averages of 2000 are known to 2.5 %.
        assert!(after(0.1) < 0.65, "it takes that long: {}", after(0.1));
        assert!((0.93..1.07).contains(&after(WARM_UP)), "and no longer: {}", after(WARM_UP));
    }

    #[test]
    fn rare_long_requests_and_little_time_to_spare_make_the_memory_long() {
        let queue = |busy, services| Queue { busy, arrivals: 1.0, services, servers: 16.0 }.relaxation();
        // 0.46 % scans of 834 us among gets of 1.6 us have a squared coefficient of variation of 107.
        assert!(queue(0.98, 107.0) > 500_000.0 && queue(0.5, 107.0) < 2_000.0);
        assert!((queue(0.98, 107.0) / queue(0.98, 1.0) - 54.0).abs() < 1.0);
        // Half idle: what is remembered is the long request that runs.
        assert!(queue(0.1, 107.0) > 0.1 * 16.0 * 107.0);
    }
}
