//! The remaining work of requests that have been served for a while, from which the load of lanes follows. The search for lanes asks for
//! each cutoff. Pure.

use statrs::function::erf::erfc;
use statrs::function::gamma::gamma_ur;

use super::shape::{BoundedPareto, Gamma, LogNormal, Shape};
use super::table::{Buckets, Values};
use super::{Service, moment};

/// The rest of a request after a time t of service, in the mean over all requests: those that are shorter have nothing left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// Share of the requests that are longer than t, 0 to 1.
    pub share: f64,
    /// E\[(S − t)⁺\], in ps.
    pub mean_ps: f64,
    /// E\[((S − t)⁺)²\], in ps².
    pub square_ps2: f64,
}

impl Excess {
    /// Squared coefficient of variation of what is left of those that have something left; 0 if there are none.
    pub fn scv(&self) -> f64 {
        let (mean, square) = (self.mean_ps / self.share, self.square_ps2 / self.share);
        if self.share > 0.0 { (square / (mean * mean) - 1.0).max(0.0) } else { 0.0 }
    }
}

impl Service {
    /// The rest of a request after `ps` picoseconds of service; exact, but for rounding.
    ///
    /// ```
    /// let service = caudal_workload::ServiceSpec::named("extreme-bimodal").compile(".".as_ref())?;
    /// let left = service.excess(100_000_000);
    /// assert!((left.share - 0.005).abs() < 1e-12 && (left.mean_ps - 0.005 * 400e6).abs() < 1e-3);
    /// # Ok::<(), caudal_workload::WorkloadError>(())
    /// ```
    pub fn excess(&self, ps: u64) -> Excess {
        let of = |k: usize| moment(self.leaves().iter(), |shape| shape.left_after(ps)[k]);
        Excess { share: of(0), mean_ps: of(1), square_ps2: of(2) }
    }

    /// [`Service::excess`] of one class; NaN if its weight is 0.
    ///
    /// # Panics
    /// If classes were made of sizes.
    pub fn class_excess(&self, class: usize, ps: u64) -> Excess {
        assert!(self.inner.sizes.is_none(), "what is left of a size is what is left of all that are longer");
        let of = |k: usize| moment(self.of_class(class), |shape| shape.left_after(ps)[k]);
        Excess { share: of(0), mean_ps: of(1), square_ps2: of(2) }
    }
}

impl Shape {
    /// E\[((X − t)⁺)^k\] for k of 0, 1 and 2, with 0⁰ = 0.
    fn left_after(&self, ps: u64) -> [f64; 3] {
        let t = ps as f64;
        match self {
            Shape::Constant(value) if *value <= ps => [0.0; 3],
            Shape::Constant(value) => {
                let left = *value as f64 - t;
                [1.0, left, left * left]
            }
            Shape::Exponential { mean_ps } => {
                let share = (-t / mean_ps).exp();
                [share, mean_ps * share, 2.0 * mean_ps * mean_ps * share]
            }
            Shape::LogNormal(d) => shifted(d.beyond(t), t),
            Shape::BoundedPareto(d) => shifted(d.beyond(t), t),
            Shape::Gamma(d) => shifted(d.beyond(t), t),
            Shape::Values(table) => table.left_after(ps),
            Shape::Buckets(table) => table.left_after(ps),
        }
    }
}

/// From E\[X^k; X > t\] to the moments of what is left.
fn shifted([m0, m1, m2]: [f64; 3], t: f64) -> [f64; 3] {
    [m0, (m1 - t * m0).max(0.0), (m2 - 2.0 * t * m1 + t * t * m0).max(0.0)]
}

impl LogNormal {
    fn beyond(&self, t: f64) -> [f64; 3] {
        let of = |k: f64| {
            let shift = self.mu + k * self.sigma * self.sigma;
            let normal = (t.ln() - shift) / (self.sigma * std::f64::consts::SQRT_2);
            (k * self.mu + k * k * self.sigma * self.sigma / 2.0).exp() * 0.5 * erfc(normal)
        };
        [of(0.0), of(1.0), of(2.0)]
    }
}

impl BoundedPareto {
    fn beyond(&self, t: f64) -> [f64; 3] {
        let from = t.clamp(self.min_ps, self.max_ps);
        let (low, high) = ((from / self.min_ps).ln(), (self.max_ps / self.min_ps).ln());
        let of = |k: f64| {
            let exponent = k - self.alpha;
            let integral = if exponent == 0.0 {
                high - low
            } else {
                (exponent * low).exp() * (exponent * (high - low)).exp_m1() / exponent
            };
            self.alpha * self.min_ps.powf(k) * integral / self.kept
        };
        [of(0.0), of(1.0), of(2.0)]
    }
}

impl Gamma {
    fn beyond(&self, t: f64) -> [f64; 3] {
        let (a, x) = (self.shape, t / self.scale_ps);
        let tail = |shape: f64| if x > 0.0 { gamma_ur(shape, x) } else { 1.0 };
        [
            tail(a),
            a * self.scale_ps * tail(a + 1.0),
            a * (a + 1.0) * self.scale_ps * self.scale_ps * tail(a + 2.0),
        ]
    }
}

impl Values {
    fn left_after(&self, ps: u64) -> [f64; 3] {
        let longer = self.longer_than(ps);
        let sum = |power: i32| longer.iter().map(|&value| ((value - ps) as f64).powi(power)).sum::<f64>();
        [sum(0), sum(1), sum(2)].map(|sum| sum / self.len() as f64)
    }
}

impl Buckets {
    fn left_after(&self, ps: u64) -> [f64; 3] {
        // Of `n` whole picoseconds from `first` on above `ps`, each of which has the same part of the count.
        let of = |low: u64, high: u64, count: u64| {
            let first = low.max(ps + 1);
            if first > high {
                return [0.0; 3];
            }
            let (n, all) = ((high - first + 1) as f64, (high - low + 1) as f64);
            let middle = (first - ps) as f64 + (n - 1.0) / 2.0;
            let weight = count as f64 * n / all;
            [weight, weight * middle, weight * (middle * middle + (n * n - 1.0) / 12.0)]
        };
        let sum = self.parts().map(|bucket| of(bucket.low_ps, bucket.high_ps, bucket.count));
        let sum = sum.fold([0.0; 3], |sum, part| std::array::from_fn(|k| sum[k] + part[k]));
        sum.map(|sum| sum / self.count() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServiceSpec;

    /// By the quantiles of so many equal parts.
    fn numerically(service: &Service, ps: u64) -> [f64; 2] {
        const PARTS: u32 = 50_000;
        let mut sums = [0.0; 2];
        for part in 0..PARTS {
            let value = service.quantile((f64::from(part) + 0.5) / f64::from(PARTS));
            let left = value.saturating_sub(ps) as f64;
            sums = [sums[0] + f64::from(u8::from(value > ps)), sums[1] + left];
        }
        sums.map(|sum| sum / f64::from(PARTS))
    }

    fn service(spec: &str) -> Service {
        let spec: ServiceSpec = serde_json::from_str(spec).expect("a spec");
        spec.compile(".".as_ref()).expect("a service")
    }

    #[test]
    fn agrees_with_quantiles_for_every_shape() {
        let specs = [
            r#""exp-1us""#,
            r#""extreme-bimodal""#,
            r#""rocksdb-0.5""#,
            r#""facebook-usr""#,
            r#"{"distribution": "log-normal", "mean": "1us", "scv": 10}"#,
            r#"{"distribution": "bounded-pareto", "alpha": 1.0, "min": "0.5us", "max": "500us"}"#,
            r#"{"distribution": "bounded-pareto", "alpha": 1.5, "min": "0.5us", "max": "500us"}"#,
            r#"{"distribution": "gamma", "mean": "1us", "scv": 4}"#,
        ];
        for spec in specs {
            let service = service(spec);
            for ps in [0, 300_000, 700_000, 2_000_000, 40_000_000] {
                let found = service.excess(ps);
                let [share, mean_ps] = numerically(&service, ps);
                assert!((found.share - share).abs() < 1e-4, "{spec} at {ps}: {} {share}", found.share);
                let off = (found.mean_ps - mean_ps).abs() / service.mean_ps();
                assert!(off < 4e-3, "{spec} at {ps}: {} {mean_ps}", found.mean_ps);
            }
            let all = service.excess(0);
            assert!((all.mean_ps / service.mean_ps() - 1.0).abs() < 1e-9, "{spec}");
            assert!((all.scv() - service.scv()).abs() < 1e-6 * (1.0 + service.scv()), "{spec}");
        }
    }
}
