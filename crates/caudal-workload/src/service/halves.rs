//! Measured values in two halves, so that what was fitted on one can be judged on the other.
//! The search for lanes asks.

use std::sync::Arc;

use rand_core::Rng;
use rand_distr::{Binomial, Distribution};

use super::Service;
use super::shape::{Leaf, Shape};
use super::table::{Buckets, Values};
use crate::input::Bucket;
use crate::rng::{Purpose, Stream, stream};

/// Fewer values of a class than this are not shared out: both halves get all of them.
const FEWEST: u64 = 50;

impl Service {
    /// Each measured value in one of two services, by chance; classes keep their weights. Nothing if no class was measured,
    /// or rows are replayed in their order. Classes with fewer than 50 values are in both.
    ///
    /// ```
    /// let service = caudal_workload::ServiceSpec::named("rocksdb-0.5").compile(".".as_ref())?;
    /// let [fit, judge] = service.halves(1).expect("it was measured");
    /// assert_eq!(fit.class_samples(0).unwrap() + judge.class_samples(0).unwrap(), 39_818);
    /// assert_ne!(fit.class_mean_ps(0), judge.class_mean_ps(0));
    /// # Ok::<(), caudal_workload::WorkloadError>(())
    /// ```
    pub fn halves(&self, seed: u64) -> Option<[Service; 2]> {
        let shared_out = |leaf: &Leaf| leaf.shape.samples().is_some_and(|count| count >= FEWEST);
        if self.is_replay() || !self.leaves().iter().any(shared_out) {
            return None;
        }
        let mut rng = stream(seed, Purpose::Halves);
        let mut halves: [Vec<Leaf>; 2] = [Vec::new(), Vec::new()];
        for leaf in self.leaves() {
            let shapes = if shared_out(leaf) {
                leaf.shape.halves(&mut rng)
            } else {
                [leaf.shape.clone(), leaf.shape.clone()]
            };
            for (half, shape) in halves.iter_mut().zip(shapes) {
                half.push(Leaf { shape, ..leaf.clone() });
            }
        }
        Some(halves.map(|leaves| Service::new(self.classes().to_vec(), leaves)))
    }
}

impl Shape {
    fn halves(&self, rng: &mut Stream) -> [Shape; 2] {
        match self {
            Shape::Values(table) => table.halves(rng).map(|half| Shape::Values(Arc::new(half))),
            Shape::Buckets(table) => table.halves(rng).map(|half| Shape::Buckets(Arc::new(half))),
            other => [other.clone(), other.clone()],
        }
    }
}

impl Values {
    fn halves(&self, rng: &mut Stream) -> [Values; 2] {
        let mut halves = [Vec::new(), Vec::new()];
        for &value in self.sorted_ps() {
            halves[(rng.next_u64() >> 63) as usize].push(value);
        }
        // So many values fall on one side by chance once in 2^50 times.
        halves.map(|half| Values::new(if half.is_empty() { self.sorted_ps().to_vec() } else { half }))
    }
}

impl Buckets {
    fn halves(&self, rng: &mut Stream) -> [Buckets; 2] {
        let mut halves = [Vec::new(), Vec::new()];
        for bucket in self.parts() {
            let first = Binomial::new(bucket.count, 0.5).map_or(0, |coins| coins.sample(rng));
            halves[0].push(Bucket { count: first, ..*bucket });
            halves[1].push(Bucket { count: bucket.count - first, ..*bucket });
        }
        let whole = || self.parts().copied().collect();
        halves.map(|half| {
            // Their edges matter to nobody who fits.
            Buckets::new(if half.iter().all(|bucket| bucket.count == 0) { whole() } else { half })
        })
    }
}
