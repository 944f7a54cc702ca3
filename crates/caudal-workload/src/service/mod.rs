//! Compiled service times: a weighted choice between simple shapes, or a sequence to replay. Specs compile into a [`Service`];
//! simulations, searches and reports share it between threads. Immutable.

mod excess;
mod findings;
mod fitted;
mod halves;
mod order;
mod sampler;
mod shape;
mod sizes;
mod table;

use std::sync::Arc;

pub use excess::Excess;
pub use findings::Finding;
pub(crate) use findings::{are_sorted, correlation, examine};
pub(crate) use fitted::{Fit, fitted};
pub use sampler::{Replay, ServiceSampler};
pub(crate) use shape::{BoundedPareto, Gamma, Leaf, LogNormal, Shape};
use sizes::Sizes;
pub(crate) use table::{Buckets, Sequence, Values};

use crate::dag::Graphs;
use crate::input::Taken;

/// How far a sum of probabilities may be off before a quantile moves to the next value.
const P_TOLERANCE: f64 = 1e-12;

/// Compiled service times: immutable, shared between threads, cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    inner: Arc<Inner>,
    dag: Arc<Graphs>,
    /// The row that a replay begins with, instead of the one that it would.
    first_row: Option<usize>,
}

#[derive(Debug)]
struct Inner {
    classes: Vec<String>,
    /// Every one has a positive weight; the weights sum to 1.
    leaves: Vec<Leaf>,
    replay: Option<(Replay, Sequence)>,
    /// See [`Service::dispersion`]; 0 where rows are not replayed.
    dispersion: f64,
    /// Where classes are made of sizes rather than of leaves.
    sizes: Option<Sizes>,
    findings: Vec<Finding>,
    taken: Option<Taken>,
}

impl Service {
    /// `leaves` of weight 0 are dropped, the others scaled to sum to 1 exactly (they do within 1e-9).
    pub(crate) fn new(classes: Vec<String>, mut leaves: Vec<Leaf>) -> Service {
        leaves.retain(|leaf| leaf.weight > 0.0);
        let total: f64 = leaves.iter().map(|leaf| leaf.weight).sum();
        debug_assert!(!leaves.is_empty() && !classes.is_empty() && classes.len() <= 256);
        if total != 1.0 {
            leaves.iter_mut().for_each(|leaf| leaf.weight /= total);
        }
        let inner = Inner {
            classes,
            leaves,
            replay: None,
            dispersion: 0.0,
            sizes: None,
            findings: Vec::new(),
            taken: None,
        };
        Service { inner: Arc::new(inner), dag: Arc::default(), first_row: None }
    }

    /// The same service times of requests of which other parts can be done in parallel.
    #[must_use]
    pub fn with_dag(self, dag: impl Into<Graphs>) -> Service {
        Service { dag: Arc::new(dag.into()), ..self }
    }

    /// The parts of a request that can be done in parallel: nothing, unless something else was said.
    pub fn dag(&self) -> &Arc<Graphs> {
        &self.dag
    }

    pub(crate) fn with_findings(self, findings: Vec<Finding>) -> Service {
        self.change(|inner| inner.findings = findings)
    }

    pub(crate) fn with_taken(self, taken: Taken) -> Service {
        self.change(|inner| inner.taken = Some(taken))
    }

    pub(crate) fn with_replay(self, replay: Replay, sequence: Sequence) -> Service {
        if replay == Replay::Off {
            return self;
        }
        self.change(|inner| {
            inner.dispersion = sequence.dispersion();
            inner.replay = Some((replay, sequence));
        })
    }

    fn change(self, change: impl FnOnce(&mut Inner)) -> Service {
        let Service { inner, dag, first_row } = self;
        let mut inner = Arc::into_inner(inner).expect("still owned by the function that builds it");
        change(&mut inner);
        Service { inner: Arc::new(inner), dag, first_row }
    }

    /// The leaves, which a mixture takes from the service of one of its classes.
    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.inner.leaves
    }

    /// Whether rows are replayed in order rather than drawn.
    pub fn is_replay(&self) -> bool {
        self.inner.replay.is_some()
    }

    /// How many rows there are, where they are replayed in order.
    pub fn replayed_rows(&self) -> Option<u64> {
        self.inner.replay.as_ref().map(|(_, rows)| rows.0.len() as u64)
    }

    /// The same, replayed from this row on, counted from 0 and over and over again. Nothing changes where nothing is
    /// replayed.
    #[must_use]
    pub fn from_row(&self, row: u64) -> Service {
        let first_row = self.replayed_rows().map(|rows| (row % rows) as usize);
        Service { first_row, ..self.clone() }
    }

    /// Names of the classes; [`crate::Demand::class`] is an index into them. 1 to 256 of them, in the order of the
    /// definition (of first appearance, in a file).
    pub fn classes(&self) -> &[String] {
        &self.inner.classes
    }

    /// Share of the requests that belong to class `class`, 0 to 1. Panics if there is no such class.
    pub fn class_weight(&self, class: usize) -> f64 {
        assert!(class < self.inner.classes.len(), "class {class} of {}", self.inner.classes.len());
        if let Some(sizes) = &self.inner.sizes {
            return sizes.weight(self, class);
        }
        self.of_class(class).map(|leaf| leaf.weight).sum()
    }

    /// Mean service time, exact: from the parameters, or of the values in the table.
    pub fn mean_ps(&self) -> f64 {
        moment(self.inner.leaves.iter(), Shape::mean_ps)
    }

    /// Mean service time of one class; NaN if its weight is 0.
    pub fn class_mean_ps(&self, class: usize) -> f64 {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.mean_ps(self, class);
        }
        moment(self.of_class(class), Shape::mean_ps)
    }

    /// Is the mean of one over the service time of `class` finite? If not, neither is the mean slowdown of requests that
    /// have to wait whatever their service time is: exponential and hyper-exponential times, gamma times of shape 1 or
    /// less.
    pub fn class_has_inverse_mean(&self, class: usize) -> bool {
        if let Some(sizes) = &self.inner.sizes {
            return class > 0 || sizes.starts_with_inverse_mean(self);
        }
        let of = |leaf: &&Leaf| usize::from(leaf.class) == class && leaf.weight > 0.0;
        self.leaves().iter().filter(of).all(|leaf| leaf.shape.has_inverse_mean())
    }

    /// Squared coefficient of variation, (standard deviation / mean)², exact.
    pub fn scv(&self) -> f64 {
        scv(self.inner.leaves.iter())
    }

    /// How the work of many requests spreads: variance over mean² of their sum, a request. The squared coefficient of
    /// variation where they are drawn independently; more where rows in their order have bursts.
    pub fn dispersion(&self) -> f64 {
        self.scv().max(self.inner.dispersion)
    }

    /// Squared coefficient of variation of one class; NaN if its weight is 0.
    pub fn class_scv(&self, class: usize) -> f64 {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.scv(self, class);
        }
        scv(self.of_class(class))
    }

    /// The shortest time t with P(service ≤ t) ≥ `p`, in ps; `p` is taken into 0 to 1. Tables: nearest
    /// rank; continuous distributions: the nearest ps. Where a tail has no end, `quantile(1.0)` is
    /// [`crate::LONGEST_DRAW_PS`].
    pub fn quantile(&self, p: f64) -> u64 {
        quantile(self.inner.leaves.iter(), p)
    }

    /// [`Service::quantile`] of one class; 0 if its weight is 0.
    pub fn class_quantile(&self, class: usize, p: f64) -> u64 {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.quantile(self, class, p);
        }
        quantile(self.of_class(class), p)
    }

    /// P(service ≤ `ps`), of continuous distributions before their draws are rounded to whole ps.
    pub fn cdf(&self, ps: u64) -> f64 {
        moment(self.inner.leaves.iter(), |shape| shape.cdf(ps))
    }

    /// P(service ≤ `ps`) of one class; NaN if its weight is 0.
    pub fn class_cdf(&self, class: usize, ps: u64) -> f64 {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.cdf(self, class, ps);
        }
        moment(self.of_class(class), |shape| shape.cdf(ps))
    }

    /// The shortest possible time in ps.
    pub fn min_ps(&self) -> u64 {
        self.inner.leaves.iter().map(|leaf| leaf.shape.min_ps()).min().unwrap_or(1)
    }

    /// The longest possible time in ps, or `None` where the tail has no end.
    pub fn max_ps(&self) -> Option<u64> {
        self.inner.leaves.iter().map(|leaf| leaf.shape.max_ps()).try_fold(0, |max, leaf| Some(max.max(leaf?)))
    }

    /// The longest possible time of one class in ps, or `None` where the tail has no end.
    pub fn class_max_ps(&self, class: usize) -> Option<u64> {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.max_ps(self, class);
        }
        self.of_class(class).map(|leaf| leaf.shape.max_ps()).try_fold(0, |max, leaf| Some(max.max(leaf?)))
    }

    /// How many measured values stand behind the class, if it was measured.
    pub fn class_samples(&self, class: usize) -> Option<u64> {
        if let Some(sizes) = &self.inner.sizes {
            return sizes.samples(self, class);
        }
        self.of_class(class)
            .map(|leaf| leaf.shape.samples())
            .try_fold(None, |sum: Option<u64>, leaf| Some(Some(sum.unwrap_or(0) + leaf?)))
            .flatten()
    }

    /// Findings that look suspicious about measured data. Nothing was dropped or changed because of it.
    pub fn findings(&self) -> &[Finding] {
        &self.inner.findings
    }

    /// The format that the file was taken for, if the service is of a file.
    pub fn taken(&self) -> Option<&Taken> {
        self.inner.taken.as_ref()
    }

    /// Is it made of percentiles alone: fitted to a few numbers, not measured? Two percentiles are those of a log-normal
    /// distribution. More are joined on the same scale, the logarithm of the time over the standard normal quantile, and the
    /// tail goes on as steeply as between the last two.
    pub fn is_fitted(&self) -> bool {
        self.findings().iter().any(|finding| matches!(finding, Finding::Fitted { .. }))
    }

    /// Between which times quantile `p` of all requests lies, as far as the buckets of a histogram tell; twice the same time
    /// where it is known.
    pub fn quantile_bounds(&self, p: f64) -> (u64, u64) {
        bounds(self.inner.leaves.iter(), p)
    }

    /// [`Service::quantile_bounds`] of one class.
    pub fn class_quantile_bounds(&self, class: usize, p: f64) -> (u64, u64) {
        if self.inner.sizes.is_some() {
            let ps = self.class_quantile(class, p);
            return (ps, ps);
        }
        bounds(self.of_class(class), p)
    }

    /// A stream of demands; the same seed gives the same demands.
    pub fn sampler(&self, seed: u64) -> ServiceSampler {
        let replay = self.inner.replay.as_ref();
        let sampler = ServiceSampler::new(&self.inner.leaves, replay.map(|(how, rows)| (*how, rows)), seed);
        let sampler = self.first_row.into_iter().fold(sampler, ServiceSampler::beginning_with);
        match &self.inner.sizes {
            Some(sizes) => sampler.by_size(sizes),
            None => sampler,
        }
    }

    fn of_class(&self, class: usize) -> impl Iterator<Item = &Leaf> + Clone {
        self.inner.leaves.iter().filter(move |leaf| usize::from(leaf.class) == class)
    }
}

/// Weighted mean of `value` over the leaves; NaN for none.
fn moment<'a>(leaves: impl Iterator<Item = &'a Leaf>, value: impl Fn(&Shape) -> f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for leaf in leaves {
        sum += leaf.weight * value(&leaf.shape);
        weights += leaf.weight;
    }
    sum / weights
}

/// Variance over mean²: of the leaves' own variances and of their means around the common mean, which
/// loses no digits where all leaves are alike.
fn scv<'a>(leaves: impl Iterator<Item = &'a Leaf> + Clone) -> f64 {
    let mean = moment(leaves.clone(), Shape::mean_ps);
    let variance = moment(leaves, |shape| shape.variance_ps2() + (shape.mean_ps() - mean).powi(2));
    variance / (mean * mean)
}

fn quantile<'a>(leaves: impl Iterator<Item = &'a Leaf> + Clone, p: f64) -> u64 {
    let p = if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
    let own = leaves.clone().map(|leaf| leaf.shape.quantile(p));
    let Some((low, high)) = own.fold(None, |range: Option<(u64, u64)>, q| {
        Some(range.map_or((q, q), |(low, high)| (low.min(q), high.max(q))))
    }) else {
        return 0;
    };
    // The quantile of a mixture lies between those of its parts.
    smallest(low, high, |t| moment(leaves.clone(), |shape| shape.cdf(t)) >= p - P_TOLERANCE)
}

/// The bounds of the bucket that quantile `p` of all leaves falls into, where each leaf has its own.
fn bounds<'a>(leaves: impl Iterator<Item = &'a Leaf> + Clone, p: f64) -> (u64, u64) {
    let ps = quantile(leaves.clone(), p);
    let around = leaves.map(|leaf| leaf.shape.quantile_bounds(leaf.shape.cdf(ps)));
    let around = around.filter(|(low, high)| (*low..=*high).contains(&ps));
    around.fold((ps, ps), |(low, high), (from, to)| (low.min(from), high.max(to)))
}

/// The smallest number in `low..=high` for which `enough` holds; `high` if there is none below it.
pub(crate) fn smallest(mut low: u64, mut high: u64, enough: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
