//! The simple shapes that every workload is made of, with their exact moments, distribution and draws. A service is a weighted choice
//! between them; its sampler calls the shape's draws for each request. Pure.

use std::sync::Arc;

use rand_core::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::gamma_lr;

use super::smallest;
use super::table::{Buckets, Values};
use crate::LONGEST_DRAW_PS;
use crate::rng::{Stream, unit};

/// One simple part of a workload.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Index of the class it belongs to; several leaves may share one.
    pub(crate) class: u8,
    /// Share of all requests.
    pub(crate) weight: f64,
    pub(crate) shape: Shape,
}

/// The shape of a leaf. Times in ps; everything was checked by whoever built it.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Constant(u64),
    Exponential { mean_ps: f64 },
    LogNormal(LogNormal),
    BoundedPareto(BoundedPareto),
    Gamma(Gamma),
    Values(Arc<Values>),
    Buckets(Arc<Buckets>),
}

/// exp of a normal variable: `mu` and `sigma` of the logarithm of the time in ps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogNormal {
    pub(super) mu: f64,
    pub(super) sigma: f64,
}

/// A power law between two bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedPareto {
    pub(super) alpha: f64,
    pub(super) min_ps: f64,
    pub(super) max_ps: f64,
    /// 1 − (min/max)^α, the share of the unbounded law that lies between the bounds.
    pub(super) kept: f64,
}

/// Gamma with its ready sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gamma {
    pub(super) shape: f64,
    pub(super) scale_ps: f64,
    sampler: rand_distr::Gamma<f64>,
}

/// Something that draws service times.
pub(crate) trait Draw {
    /// One service time in ps, at least 1.
    fn draw(&self, rng: &mut Stream) -> u64;
}

/// To whole picoseconds, nearest; 0 becomes 1 ps, because a request without work is none, and the
/// heaviest tails end at [`LONGEST_DRAW_PS`].
#[inline]
pub(crate) fn to_ps(time_ps: f64) -> u64 {
    // Through i64, which is one instruction on x86-64 where u64 is many.
    ((time_ps.min(LONGEST_DRAW_PS as f64) + 0.5) as i64 as u64).max(1)
}

impl Shape {
    pub(crate) fn mean_ps(&self) -> f64 {
        match self {
            Shape::Constant(ps) => *ps as f64,
            Shape::Exponential { mean_ps } => *mean_ps,
            Shape::LogNormal(d) => (d.mu + d.sigma * d.sigma / 2.0).exp(),
            Shape::BoundedPareto(d) => d.moment(1.0),
            Shape::Gamma(d) => d.shape * d.scale_ps,
            Shape::Values(table) => table.mean_ps(),
            Shape::Buckets(table) => table.mean_ps(),
        }
    }

    /// Is the mean of one over a time finite? It is not where the density at 0 is more than 0.
    pub(crate) fn has_inverse_mean(&self) -> bool {
        match self {
            Shape::Exponential { .. } => false,
            Shape::Gamma(gamma) => gamma.shape > 1.0,
            Shape::Constant(_)
            | Shape::LogNormal(_)
            | Shape::BoundedPareto(_)
            | Shape::Values(_)
            | Shape::Buckets(_) => true,
        }
    }

    pub(crate) fn variance_ps2(&self) -> f64 {
        match self {
            Shape::Constant(_) => 0.0,
            Shape::Exponential { mean_ps } => mean_ps * mean_ps,
            Shape::LogNormal(d) => self.mean_ps().powi(2) * (d.sigma * d.sigma).exp_m1(),
            Shape::BoundedPareto(d) => (d.moment(2.0) - d.moment(1.0).powi(2)).max(0.0),
            Shape::Gamma(d) => d.shape * d.scale_ps * d.scale_ps,
            Shape::Values(table) => table.variance_ps2(),
            Shape::Buckets(table) => table.variance_ps2(),
        }
    }

    /// P(X ≤ `ps`).
    pub(crate) fn cdf(&self, ps: u64) -> f64 {
        let x = ps as f64;
        match self {
            Shape::Constant(value) => f64::from(ps >= *value),
            Shape::Exponential { mean_ps } => -(-x / mean_ps).exp_m1(),
            Shape::LogNormal(_) | Shape::Gamma(_) if ps == 0 => 0.0,
            Shape::LogNormal(d) => 0.5 * erfc(-(x.ln() - d.mu) / (d.sigma * std::f64::consts::SQRT_2)),
            Shape::BoundedPareto(d) => d.cdf(x),
            Shape::Gamma(d) => gamma_lr(d.shape, x / d.scale_ps),
            Shape::Values(table) => table.cdf(ps),
            Shape::Buckets(table) => table.cdf(ps),
        }
    }

    /// The smallest whole t with P(X ≤ t) ≥ `p` for discrete shapes, the nearest to it for others.
    pub(crate) fn quantile(&self, p: f64) -> u64 {
        match self {
            Shape::Constant(ps) => *ps,
            Shape::Exponential { mean_ps } => to_ps(-mean_ps * (-p).ln_1p()),
            Shape::LogNormal(d) => {
                let normal = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p);
                to_ps((d.mu + d.sigma * normal).exp())
            }
            Shape::BoundedPareto(d) => to_ps(d.inverse(1.0 - p)),
            Shape::Gamma(_) => smallest(1, LONGEST_DRAW_PS, |t| p < 1.0 && self.cdf(t) >= p),
            Shape::Values(table) => table.quantile(p),
            Shape::Buckets(table) => table.quantile(p),
        }
    }

    pub(crate) fn min_ps(&self) -> u64 {
        match self {
            Shape::Exponential { .. } | Shape::LogNormal(_) | Shape::Gamma(_) => 1,
            Shape::Constant(_) | Shape::BoundedPareto(_) | Shape::Values(_) | Shape::Buckets(_) => {
                self.quantile(0.0)
            }
        }
    }

    /// Between which times quantile `p` lies, as far as it is known.
    pub(crate) fn quantile_bounds(&self, p: f64) -> (u64, u64) {
        match self {
            Shape::Buckets(table) => table.quantile_bounds(p),
            other => {
                let ps = other.quantile(p);
                (ps, ps)
            }
        }
    }

    /// `None`: the tail has no end.
    pub(crate) fn max_ps(&self) -> Option<u64> {
        match self {
            Shape::Exponential { .. } | Shape::LogNormal(_) | Shape::Gamma(_) => None,
            Shape::Constant(_) | Shape::BoundedPareto(_) | Shape::Values(_) | Shape::Buckets(_) => {
                Some(self.quantile(1.0))
            }
        }
    }

    /// How many measured values it rests on.
    pub(crate) fn samples(&self) -> Option<u64> {
        match self {
            Shape::Values(table) => Some(table.len() as u64),
            Shape::Buckets(table) => table.samples(),
            _ => None,
        }
    }
}

impl LogNormal {
    /// By the mean of the variable itself and `sigma` of its logarithm.
    pub(crate) fn from_mean(mean_ps: f64, sigma: f64) -> LogNormal {
        LogNormal { mu: mean_ps.ln() - sigma * sigma / 2.0, sigma }
    }
}

impl Gamma {
    /// By mean and squared coefficient of variation, both positive; `None` if they are not.
    pub(crate) fn from_mean(mean_ps: f64, scv: f64) -> Option<Gamma> {
        let (shape, scale_ps) = (1.0 / scv, mean_ps * scv);
        Some(Gamma { shape, scale_ps, sampler: rand_distr::Gamma::new(shape, scale_ps).ok()? })
    }
}

impl BoundedPareto {
    /// `alpha` > 0, 0 < `min_ps` < `max_ps`.
    pub(crate) fn new(alpha: f64, min_ps: f64, max_ps: f64) -> BoundedPareto {
        BoundedPareto { alpha, min_ps, max_ps, kept: -(alpha * (min_ps / max_ps).ln()).exp_m1() }
    }

    /// E[X^k] = α·min^k·∫₁^r y^(k−α−1) dy / kept with r = max/min; the integral by `exp_m1`, so that it
    /// holds its digits around k = α.
    fn moment(&self, k: f64) -> f64 {
        let ln_ratio = (self.max_ps / self.min_ps).ln();
        let exponent = k - self.alpha;
        let integral = if exponent == 0.0 { ln_ratio } else { (exponent * ln_ratio).exp_m1() / exponent };
        self.alpha * self.min_ps.powf(k) * integral / self.kept
    }

    fn cdf(&self, x: f64) -> f64 {
        let ln_x = (x.clamp(self.min_ps, self.max_ps) / self.min_ps).ln();
        -(-self.alpha * ln_x).exp_m1() / self.kept
    }

    /// The x with P(X > x) = `q`.
    #[inline]
    fn inverse(&self, q: f64) -> f64 {
        let survival = 1.0 - (1.0 - q) * self.kept;
        (self.min_ps * survival.powf(-1.0 / self.alpha)).clamp(self.min_ps, self.max_ps)
    }
}

/// Draws of a shape that needs no further state; what a homogeneous mixture is monomorphised over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant(pub(crate) u64);
/// See [`Constant`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exponential(pub(crate) f64);

impl Draw for Constant {
    #[inline]
    fn draw(&self, _: &mut Stream) -> u64 {
        self.0
    }
}

impl Draw for Exponential {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        let unit: f64 = Exp1.sample(rng);
        to_ps(self.0 * unit)
    }
}

impl Draw for LogNormal {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        let normal: f64 = StandardNormal.sample(rng);
        to_ps((self.mu + self.sigma * normal).exp())
    }
}

impl Draw for BoundedPareto {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        to_ps(self.inverse(unit(rng.next_u64())))
    }
}

impl Draw for Gamma {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        to_ps(self.sampler.sample(rng))
    }
}

impl Draw for Arc<Values> {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        self.pick(rng.next_u64())
    }
}

impl Draw for Arc<Buckets> {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        self.pick(rng.next_u64(), rng.next_u64())
    }
}

impl Draw for Shape {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u64 {
        match self {
            Shape::Constant(ps) => *ps,
            Shape::Exponential { mean_ps } => Exponential(*mean_ps).draw(rng),
            Shape::LogNormal(d) => d.draw(rng),
            Shape::BoundedPareto(d) => d.draw(rng),
            Shape::Gamma(d) => d.draw(rng),
            Shape::Values(table) => table.draw(rng),
            Shape::Buckets(table) => table.draw(rng),
        }
    }
}
