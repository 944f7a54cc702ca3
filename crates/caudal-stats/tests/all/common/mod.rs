//! Random numbers and queues for the statistical tests.

#![allow(dead_code, reason = "every test file uses its own part")]

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Recorded units of one mean service time.
pub(crate) const UNIT: f64 = 1e6;

pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// In (0, 1), never an end.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -self.uniform().ln() * mean
    }
}

/// Sojourn times of M/M/1 with service time 1, by Lindley's recursion, from its steady state on.
pub(crate) struct Queue {
    load: f64,
    wait: f64,
}

impl Queue {
    pub(crate) fn new(load: f64, random: &mut Random) -> Self {
        let wait = if random.uniform() < load { random.exponential(1.0 / (1.0 - load)) } else { 0.0 };
        Self { load, wait }
    }

    /// Sojourn time of the next request; `speed` of the server, for comparisons.
    pub(crate) fn next(&mut self, speed: f64, random: &mut Random) -> f64 {
        let sojourn = self.wait + random.exponential(1.0) / speed;
        self.wait = (sojourn - random.exponential(1.0 / self.load)).max(0.0);
        sojourn
    }
}

/// As the simulator would record it.
pub(crate) fn recorded(time: f64) -> u64 {
    (time * UNIT) as u64
}
