//! Which requests arrive when, drawn before anything runs.
//!
//! Open loop: an arrival does not wait for an answer, so that a contestant that falls behind is charged for all that
//! arrives meanwhile. The same seed gives the same requests on every machine and at every load the same classes in the
//! same order: only the distances between arrivals stretch.

use std::fmt;

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Streams of a seed; the numbers are arbitrary and must never change.
const ARRIVALS: u64 = 0xa221_7a15_0000_0011;
const CLASSES: u64 = 0xc1a5_5e50_0000_0012;

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Share of the requests, in (0, 1].
    pub share: f64,
    /// Service time on an undisturbed core, in ns.
    pub service_ns: u64,
}

/// The classes of a workload; the shares sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    classes: Vec<Class>,
}

/// What is wrong with a list of classes.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MixError {
    /// Shares are of one whole.
    #[error("the shares of the classes sum to {0}, not to 1")]
    Sum(f64),
    /// A class that never comes, or that needs no time.
    #[error("class {0} needs a share above 0 and a service time of at least 1 ns")]
    Empty(usize),
}

impl Mix {
    /// A mix of classes.
    ///
    /// # Errors
    /// If a share or a service time is not positive, or the shares do not sum to 1.
    pub fn new(classes: Vec<Class>) -> Result<Mix, MixError> {
        if let Some(empty) = classes
            .iter()
            .position(|class| class.share.is_nan() || class.share <= 0.0 || class.service_ns == 0)
        {
            return Err(MixError::Empty(empty));
        }
        let sum: f64 = classes.iter().map(|class| class.share).sum();
        if (sum - 1.0).abs() < 1e-9 { Ok(Mix { classes }) } else { Err(MixError::Sum(sum)) }
    }

    /// 99.5 % of 0.5 µs, 0.5 % of 500 µs: the extreme bimodal workload of Shinjuku (NSDI 2019) and its successors.
    pub fn extreme_bimodal() -> Mix {
        Mix {
            classes: vec![
                Class { share: 0.995, service_ns: 500 },
                Class { share: 0.005, service_ns: 500_000 },
            ],
        }
    }

    /// The classes, in the order of their numbers.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Mean service time, in ns.
    pub fn mean_service_ns(&self) -> f64 {
        self.classes.iter().map(|class| class.share * class.service_ns as f64).sum()
    }

    /// Arrivals per ns at which `workers` cores are busy `load` of the time.
    pub fn rate_per_ns(&self, load: f64, workers: u32) -> f64 {
        load * f64::from(workers) / self.mean_service_ns()
    }

    fn class_of(&self, draw: f64) -> u32 {
        let mut below = 0.0;
        for (number, class) in self.classes.iter().enumerate() {
            below += class.share;
            if draw < below {
                return number as u32;
            }
        }
        self.classes.len() as u32 - 1
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, class) in self.classes.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{}% {} us", class.share * 100.0, class.service_ns as f64 * 1e-3)?;
        }
        Ok(())
    }
}

/// One request before it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Intended arrival, in ns after the run's start.
    pub at_ns: u64,
    /// Number of the class in the mix.
    pub class: u32,
}

/// All requests of a run, by arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The mix it was drawn from.
    pub mix: Mix,
    /// Share of the time that the workers have to be busy.
    pub load: f64,
    /// The seed.
    pub seed: u64,
    /// The requests, earliest first.
    pub arrivals: Vec<Arrival>,
}

impl Schedule {
    /// Draws `requests` Poisson arrivals for `workers` cores at `load`.
    ///
    /// # Panics
    /// If the load is not positive or there is no worker.
    pub fn poisson(mix: Mix, load: f64, workers: u32, requests: usize, seed: u64) -> Schedule {
        assert!(load > 0.0 && load.is_finite() && workers > 0, "a load of {load} on {workers} workers");
        let mean_distance_ns = 1.0 / mix.rate_per_ns(load, workers);
        let (mut distances, mut classes) = (stream(seed, ARRIVALS), stream(seed, CLASSES));
        let mut at_ns = 0.0;
        let draw = |_| {
            let distance: f64 = Exp1.sample(&mut distances);
            at_ns += distance * mean_distance_ns;
            Arrival { at_ns: at_ns as u64, class: mix.class_of(unit(classes.next_u64())) }
        };
        let arrivals = (0..requests).map(draw).collect();
        Schedule { mix, load, seed, arrivals }
    }

    /// From the run's start to the last arrival, in ns.
    pub fn duration_ns(&self) -> u64 {
        self.arrivals.last().map_or(0, |last| last.at_ns)
    }
}

fn stream(seed: u64, purpose: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose)
}

/// Maps 64 random bits to [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTS: usize = 200_000;

    fn bimodal(load: f64, seed: u64) -> Schedule {
        Schedule::poisson(Mix::extreme_bimodal(), load, 1, REQUESTS, seed)
    }

    #[test]
    fn the_same_seed_gives_the_same_requests() {
        assert_eq!(bimodal(0.4, 7), bimodal(0.4, 7));
        assert_ne!(bimodal(0.4, 7).arrivals, bimodal(0.4, 8).arrivals);
    }

    #[test]
    fn a_load_stretches_time_and_leaves_the_requests() {
        let (low, high) = (bimodal(0.2, 3), bimodal(0.4, 3));
        for (low, high) in low.arrivals.iter().zip(&high.arrivals) {
            assert_eq!(low.class, high.class);
            assert!(low.at_ns.abs_diff(2 * high.at_ns) <= 2);
        }
    }

    #[test]
    fn distances_are_exponential() {
        let schedule = bimodal(0.4, 1);
        let mean = 2_997.5 / 0.4;
        let distances: Vec<f64> =
            schedule.arrivals.windows(2).map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64 / mean).collect();
        let count = distances.len() as f64;
        // Kolmogorov and Smirnov; 1.95/sqrt(n) is passed by chance once in a thousand seeds, and this seed is one.
        let mut sorted = distances.clone();
        sorted.sort_by(f64::total_cmp);
        let furthest = sorted
            .iter()
            .enumerate()
            .map(|(rank, x)| ((1.0 - (-x).exp()) - (rank as f64 + 0.5) / count).abs())
            .fold(0.0, f64::max);
        assert!(furthest < 1.95 / count.sqrt() + 0.5 / mean, "{furthest}");
        // Independent of the one before: the correlation of neighbours has a standard error of 1/sqrt(n).
        let lag1 = distances.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0)).sum::<f64>() / count;
        assert!(lag1.abs() < 4.0 / count.sqrt(), "{lag1}");
    }

    #[test]
    fn classes_have_their_shares_and_the_load_is_the_load() {
        let schedule = bimodal(0.6, 11);
        let long = schedule.arrivals.iter().filter(|arrival| arrival.class == 1).count() as f64;
        // Four standard errors of a binomial share.
        assert!((long / REQUESTS as f64 - 0.005).abs() < 4.0 * (0.005 / REQUESTS as f64).sqrt());
        let mean = schedule.duration_ns() as f64 / REQUESTS as f64;
        assert!((mean * 0.6 / 2_997.5 - 1.0).abs() < 4.0 / (REQUESTS as f64).sqrt(), "{mean}");
    }

    #[test]
    fn a_mix_is_a_whole() {
        let class = |share, service_ns| Class { share, service_ns };
        assert_eq!(Mix::new(vec![class(0.5, 1)]), Err(MixError::Sum(0.5)));
        assert_eq!(Mix::new(vec![class(1.0, 1), class(0.0, 1)]), Err(MixError::Empty(1)));
        assert_eq!(Mix::new(vec![class(1.0, 0)]), Err(MixError::Empty(0)));
        assert!(Mix::new(vec![class(0.1, 1), class(0.2, 2), class(0.7, 3)]).is_ok());
        assert_eq!(Mix::extreme_bimodal().mean_service_ns(), 2_997.5);
        assert_eq!(Mix::extreme_bimodal().to_string(), "99.5% 0.5 us, 0.5% 500 us");
    }
}
