//! The moments and percentiles of a workload, in all and by class. `caudal workload show` and the pages of the docs print them. Pure.

use crate::service::Service;

/// The percentiles that a summary holds, 0 to 100.
pub const PERCENTILES: [f64; 7] = [1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0];

/// The numbers of `caudal workload show`. All of them are exact, none is sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// All requests together; its name is `all`.
    pub all: Part,
    /// Every class, in the order of [`Service::classes`].
    pub classes: Vec<Part>,
}

/// The numbers of one class, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of the class.
    pub name: String,
    /// Share of the requests, 0 to 1.
    pub weight: f64,
    /// Share of the work, 0 to 1: weight × mean / mean of all.
    pub work: f64,
    /// How many measured values stand behind it, if it was measured.
    pub samples: Option<u64>,
    /// Mean; NaN for a class of weight 0.
    pub mean_ps: f64,
    /// Standard deviation.
    pub sd_ps: f64,
    /// Squared coefficient of variation.
    pub scv: f64,
    /// The values at [`PERCENTILES`]; the last one is the longest time, `None` where there is no such.
    pub percentiles_ps: [Option<u64>; PERCENTILES.len()],
    /// Between which times each of them lies, as far as the buckets of a histogram tell; twice the same where it is known.
    pub bounds_ps: [(u64, u64); PERCENTILES.len()],
}

impl Service {
    /// Moments and percentiles.
    pub fn summary(&self) -> Summary {
        let all = Part {
            name: "all".to_owned(),
            weight: 1.0,
            work: 1.0,
            samples: (0..self.classes().len()).map(|class| self.class_samples(class)).sum(),
            mean_ps: self.mean_ps(),
            sd_ps: self.mean_ps() * self.scv().sqrt(),
            scv: self.scv(),
            percentiles_ps: percentiles(|p| self.quantile(p), self.max_ps()),
            bounds_ps: PERCENTILES.map(|p| self.quantile_bounds(p / 100.0)),
        };
        let classes = (0..self.classes().len()).map(|class| self.part(class)).collect();
        Summary { all, classes }
    }

    fn part(&self, class: usize) -> Part {
        let (weight, mean_ps, scv) =
            (self.class_weight(class), self.class_mean_ps(class), self.class_scv(class));
        let percentiles_ps = match weight > 0.0 {
            true => percentiles(|p| self.class_quantile(class, p), self.class_max_ps(class)),
            false => [None; PERCENTILES.len()],
        };
        Part {
            name: self.classes()[class].clone(),
            weight,
            work: if weight > 0.0 { weight * mean_ps / self.mean_ps() } else { 0.0 },
            samples: self.class_samples(class),
            mean_ps,
            sd_ps: mean_ps * scv.sqrt(),
            scv,
            percentiles_ps,
            bounds_ps: match weight > 0.0 {
                true => PERCENTILES.map(|p| self.class_quantile_bounds(class, p / 100.0)),
                false => [(0, 0); PERCENTILES.len()],
            },
        }
    }
}

fn percentiles(quantile: impl Fn(f64) -> u64, max: Option<u64>) -> [Option<u64>; PERCENTILES.len()] {
    PERCENTILES.map(|p| if p == 100.0 { max } else { Some(quantile(p / 100.0)) })
}
