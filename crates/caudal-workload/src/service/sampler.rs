//! The stream of demands of one seed. The simulator and the schedules of measured runs draw a batch at a time. It owns its random stream
//! and touches nothing else.

use std::sync::Arc;

use rand_core::Rng;

use super::shape::{BoundedPareto, Constant, Draw, Exponential, Gamma, Leaf, LogNormal, Shape};
use super::sizes::Sizes;
use super::table::{Buckets, Sequence, Values};
use crate::demand::Demand;
use crate::rng::{Alias, Purpose, Stream, below, stream};

/// A stream of demands.
#[derive(Clone, Debug)]
pub struct ServiceSampler {
    rng: Stream,
    kernel: Kernel,
    /// The ends of the classes, where classes are sizes.
    sizes: Option<Sizes>,
}

/// The distribution that is drawn from. A mixture of one shape (bimodal: two constants; a trace: a table a class) has a
/// loop of its own, without a branch on the shape; mixtures of several shapes branch at every draw.
#[derive(Clone, Debug)]
enum Kernel {
    Constant(Mix<Constant>),
    Exponential(Mix<Exponential>),
    LogNormal(Mix<LogNormal>),
    BoundedPareto(Mix<BoundedPareto>),
    Gamma(Mix<Gamma>),
    Values(Mix<Arc<Values>>),
    Buckets(Mix<Arc<Buckets>>),
    Any(Mix<Shape>),
    Replay { rows: Sequence, next: usize },
}

#[derive(Clone, Debug)]
struct Mix<D> {
    leaves: Box<[(D, u8)]>,
    /// The choice among the leaves; none for one leaf.
    choice: Option<Alias>,
}

impl ServiceSampler {
    pub(super) fn new(leaves: &[Leaf], replay: Option<(Replay, &Sequence)>, seed: u64) -> ServiceSampler {
        let mut rng = stream(seed, Purpose::Service);
        let kernel = match replay {
            Some((how, rows)) => {
                let next = if how == Replay::Rotate { below(rng.next_u64(), rows.0.len()) } else { 0 };
                Kernel::Replay { rows: rows.clone(), next }
            }
            None => Kernel::new(leaves),
        };
        ServiceSampler { rng, kernel, sizes: None }
    }

    /// The same, from this row on where rows are replayed.
    pub(super) fn beginning_with(mut self, row: usize) -> ServiceSampler {
        if let Kernel::Replay { next, .. } = &mut self.kernel {
            *next = row;
        }
        self
    }

    /// The same, with classes by size.
    pub(super) fn by_size(self, sizes: &Sizes) -> ServiceSampler {
        ServiceSampler { sizes: Some(sizes.clone()), ..self }
    }

    /// Fills all of `out` with the next demands.
    pub fn fill(&mut self, out: &mut [Demand]) {
        let rng = &mut self.rng;
        match &mut self.kernel {
            Kernel::Constant(mix) => mix.fill(rng, out),
            Kernel::Exponential(mix) => mix.fill(rng, out),
            Kernel::LogNormal(mix) => mix.fill(rng, out),
            Kernel::BoundedPareto(mix) => mix.fill(rng, out),
            Kernel::Gamma(mix) => mix.fill(rng, out),
            Kernel::Values(mix) => mix.fill(rng, out),
            Kernel::Buckets(mix) => mix.fill(rng, out),
            Kernel::Any(mix) => mix.fill(rng, out),
            Kernel::Replay { rows, next } => replay(&rows.0, next, out),
        }
        if let Some(sizes) = &self.sizes {
            out.iter_mut().for_each(|demand| demand.class = sizes.of(demand.service_ps));
        }
    }
}

fn replay(rows: &[Demand], next: &mut usize, mut out: &mut [Demand]) {
    while !out.is_empty() {
        let run = out.len().min(rows.len() - *next);
        out[..run].copy_from_slice(&rows[*next..*next + run]);
        *next = (*next + run) % rows.len();
        out = &mut out[run..];
    }
}

impl<D: Draw> Mix<D> {
    fn fill(&self, rng: &mut Stream, out: &mut [Demand]) {
        // A local copy lives in registers; through the reference every draw would go to memory.
        let mut local = rng.clone();
        match &self.choice {
            None => {
                let (shape, class) = &self.leaves[0];
                for demand in out {
                    *demand = Demand { service_ps: shape.draw(&mut local), class: *class };
                }
            }
            Some(choice) => {
                for demand in out {
                    let (shape, class) = &self.leaves[choice.pick(local.next_u64())];
                    *demand = Demand { service_ps: shape.draw(&mut local), class: *class };
                }
            }
        }
        *rng = local;
    }
}

/// The mix over all leaves if every one of them is of the shape that `of` recognises.
fn uniform<D>(leaves: &[Leaf], of: impl Fn(&Shape) -> Option<D>) -> Option<Mix<D>> {
    let parts: Option<Box<[(D, u8)]>> =
        leaves.iter().map(|leaf| Some((of(&leaf.shape)?, leaf.class))).collect();
    let weights: Vec<f64> = leaves.iter().map(|leaf| leaf.weight).collect();
    Some(Mix { leaves: parts?, choice: (weights.len() > 1).then(|| Alias::new(&weights)) })
}

impl Kernel {
    fn new(leaves: &[Leaf]) -> Kernel {
        macro_rules! try_shape {
            ($kernel:ident, $pattern:pat => $part:expr) => {
                if let Some(mix) = uniform(leaves, |shape| match shape {
                    $pattern => Some($part),
                    _ => None,
                }) {
                    return Kernel::$kernel(mix);
                }
            };
        }
        try_shape!(Constant, Shape::Constant(ps) => Constant(*ps));
        try_shape!(Exponential, Shape::Exponential { mean_ps } => Exponential(*mean_ps));
        try_shape!(LogNormal, Shape::LogNormal(d) => *d);
        try_shape!(BoundedPareto, Shape::BoundedPareto(d) => *d);
        try_shape!(Gamma, Shape::Gamma(d) => *d);
        try_shape!(Values, Shape::Values(table) => Arc::clone(table));
        try_shape!(Buckets, Shape::Buckets(table) => Arc::clone(table));
        let parts = leaves.iter().map(|leaf| (leaf.shape.clone(), leaf.class)).collect();
        let weights: Vec<f64> = leaves.iter().map(|leaf| leaf.weight).collect();
        Kernel::Any(Mix { leaves: parts, choice: Some(Alias::new(&weights)) })
    }
}

/// Whether and how a file's order is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// `false`: every request draws a class by its share and then one of the class's values, independently.
    #[default]
    Off,
    /// `true`: the rows one after the other from the first, and from the first again at the end; the seed
    /// does not matter.
    FromStart,
    /// `"rotate"`: as `true`, but from a row that the seed chooses, so that replications differ.
    Rotate,
}

impl Replay {
    pub(crate) fn is_off(&self) -> bool {
        *self == Replay::Off
    }
}
