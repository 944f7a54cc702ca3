//! The requests of a measured run, drawn before anything runs: every contestant of a comparison, and the simulation that predicts it,
//! meets the same ones. A contestant makes one schedule, and its generator sends the requests at their times. Pure.
//!
//! Open loop: an arrival does not wait for an answer, so that a contestant that falls behind is charged for all that
//! arrives meanwhile. The same seed gives the same requests on every machine and at every load the same classes in the
//! same order: only the distances between arrivals stretch.
//!
//! Arrivals and classes are those of `caudal-workload`, from the streams that the simulator draws from: a simulation with the same
//! seed and the same mean distance sees these very requests, and a measured run replays what was simulated. What is particular to
//! a measured run is that a class has one service time, because a contestant has to calibrate the work of each.

use std::fmt;
use std::path::Path;

use caudal_policy::Picos;
use caudal_workload::{ArrivalSpec, ClassSpec, Demand, DistributionSpec, LONGEST_PS, Service, ServiceSpec};

/// One kind of request of a [`Mix`].
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

/// A fault of a list of classes.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MixError {
    /// Shares are of one whole.
    #[error(
        "the shares of the classes sum to {0}: give shares that sum to 1, such as 0.995:500ns,0.005:500us"
    )]
    Sum(f64),
    /// A class that never comes, or that needs no time.
    #[error("class {0} needs a share above 0 and a service time of at least 1 ns and at most an hour")]
    Empty(usize),
    /// More classes than a workload tells apart.
    #[error("{0} classes are too many: give 1 to 256")]
    Many(usize),
}

impl Mix {
    /// A mix of classes.
    ///
    /// # Errors
    /// If a share or a service time is not positive, a service time is longer than an hour, there are more than 256 classes, or the
    /// shares do not sum to 1.
    pub fn new(classes: Vec<Class>) -> Result<Mix, MixError> {
        let is_wrong = |class: &Class| {
            class.share.is_nan()
                || class.share <= 0.0
                || !(1..=LONGEST_PS / 1_000).contains(&class.service_ns)
        };
        if let Some(wrong) = classes.iter().position(is_wrong) {
            return Err(MixError::Empty(wrong));
        }
        if classes.len() > 256 {
            return Err(MixError::Many(classes.len()));
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

    /// The same as a workload: a mixture of constants, whose classes are called by their numbers.
    pub fn service(&self) -> Service {
        let class = |(number, class): (usize, &Class)| ClassSpec {
            name: number.to_string(),
            weight: class.share,
            service: ServiceSpec::Distribution(DistributionSpec::Constant {
                value: Picos::from_nanos(class.service_ns),
            }),
        };
        let classes = self.classes.iter().enumerate().map(class).collect();
        let spec = ServiceSpec::Distribution(DistributionSpec::Mixture { classes });
        spec.compile(Path::new("")).expect("`Mix::new` has checked it")
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
        let service = mix.service();
        let mean_distance_ps = service.mean_ps() / (load * f64::from(workers));
        let poisson = ArrivalSpec::Poisson.compile(Path::new("")).expect("it has no parameters");
        let (mut at_ps, mut demands) = (vec![0; requests], vec![Demand::default(); requests]);
        let drawn = poisson.sampler(seed, mean_distance_ps).fill(&mut at_ps);
        service.sampler(seed).fill(&mut demands);
        let arrival = |(&at_ps, demand): (&u64, &Demand)| Arrival {
            at_ns: at_ps / 1_000,
            class: u32::from(demand.class),
        };
        let arrivals = at_ps[..drawn].iter().zip(&demands).map(arrival).collect();
        Schedule { mix, load, seed, arrivals }
    }

    /// The time from the run's start to the last arrival, in ns.
    pub fn duration_ns(&self) -> u64 {
        self.arrivals.last().map_or(0, |last| last.at_ns)
    }
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

    /// The same streams as the simulator's: `caudal-rt-bench` tests it against the simulator itself.
    #[test]
    fn requests_are_those_of_the_workload() {
        let mix = Mix::new(vec![
            Class { share: 0.3, service_ns: 700 },
            Class { share: 0.6, service_ns: 1_500 },
            Class { share: 0.1, service_ns: 90_000 },
        ])
        .unwrap();
        let schedule = Schedule::poisson(mix.clone(), 0.6, 2, 5_000, 9);
        let (mut at_ps, mut demands) = (vec![0; 5_000], vec![Demand::default(); 5_000]);
        let arrivals = ArrivalSpec::Poisson.compile(Path::new("")).unwrap();
        let mean_gap_ps = mix.service().mean_ps() / (0.6 * 2.0);
        assert_eq!(arrivals.sampler(9, mean_gap_ps).fill(&mut at_ps), 5_000);
        mix.service().sampler(9).fill(&mut demands);
        for ((arrival, at_ps), demand) in schedule.arrivals.iter().zip(at_ps).zip(demands) {
            assert_eq!((arrival.at_ns, arrival.class), (at_ps / 1_000, u32::from(demand.class)));
            assert_eq!(mix.classes()[arrival.class as usize].service_ns * 1_000, demand.service_ps);
        }
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
        assert_eq!(Mix::new(vec![class(1.0, LONGEST_PS / 1_000 + 1)]), Err(MixError::Empty(0)));
        assert_eq!(Mix::new(vec![class(1.0 / 257.0, 1); 257]), Err(MixError::Many(257)));
        assert!(Mix::new(vec![class(0.1, 1), class(0.2, 2), class(0.7, 3)]).is_ok());
        assert_eq!(Mix::extreme_bimodal().mean_service_ns(), 2_997.5);
        assert_eq!(Mix::extreme_bimodal().to_string(), "99.5% 0.5 us, 0.5% 500 us");
    }
}
