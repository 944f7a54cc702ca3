//! Classes by size, for services that do not tell short and long requests apart. The search for lanes asks for a service with such
//! classes; its sampler then assigns each request to one. Pure.

use std::sync::Arc;

use caudal_policy::Picos;

use super::excess::Excess;
use super::{P_TOLERANCE, Service};

/// Ends of classes by size.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// The longest of each class but the last, increasing.
    ends_ps: Arc<[u64]>,
}

impl Service {
    /// The same requests, in classes by service time: up to the first of `ends_ps`, from there up to the second, ...,
    /// and what is longer than the last. At most 255 of them, increasing.
    ///
    /// ```
    /// let service = caudal_workload::ServiceSpec::named("exp-1us").compile(".".as_ref())?.by_size(&[2_000_000]);
    /// assert_eq!(service.classes(), ["up to 2us", "over 2us"]);
    /// assert!((service.class_weight(1) - (-2.0_f64).exp()).abs() < 1e-12);
    /// assert!((service.class_mean_ps(1) - 3e6).abs() < 1.0, "without memory");
    /// # Ok::<(), caudal_workload::WorkloadError>(())
    /// ```
    ///
    /// # Panics
    /// If there are more, or they do not increase.
    #[must_use]
    pub fn by_size(&self, ends_ps: &[u64]) -> Service {
        assert!(
            ends_ps.len() < 256 && ends_ps.is_sorted_by(|a, b| a < b),
            "ends of classes increase: {ends_ps:?}"
        );
        let mut classes: Vec<String> = Vec::new();
        for (index, &end) in ends_ps.iter().enumerate() {
            let end = Picos(end);
            classes.push(match index.checked_sub(1) {
                None => format!("up to {end}"),
                Some(before) => format!("{} to {end}", Picos(ends_ps[before])),
            });
        }
        classes.push(ends_ps.last().map_or("all".to_owned(), |&end| format!("over {}", Picos(end))));
        let old = &self.inner;
        Service {
            inner: Arc::new(super::Inner {
                classes,
                leaves: old.leaves.clone(),
                replay: old.replay.clone(),
                dispersion: old.dispersion,
                sizes: Some(Sizes { ends_ps: ends_ps.into() }),
                findings: old.findings.clone(),
                taken: old.taken.clone(),
            }),
            dag: Arc::new(self.dag.of_any_class()),
            first_row: self.first_row,
        }
    }
}

impl Sizes {
    /// The class of a request of `service_ps`.
    #[inline]
    pub(super) fn of(&self, service_ps: u64) -> u8 {
        self.ends_ps.partition_point(|&end| end < service_ps) as u8
    }

    /// The class holds requests that are longer than the first, and not longer than the second.
    fn range_ps(&self, class: usize) -> (u64, u64) {
        let start = class.checked_sub(1).map_or(0, |before| self.ends_ps[before]);
        (start, self.ends_ps.get(class).copied().unwrap_or(u64::MAX))
    }

    /// Sums over the requests of `class`: their share, E\[S\] and E\[S²\].
    fn moments(&self, service: &Service, class: usize) -> [f64; 3] {
        let (start, end) = self.range_ps(class);
        // E[S^k; S > t] from what is left after t.
        let beyond = |ps: u64| {
            let (Excess { share, mean_ps, square_ps2 }, t) = (service.excess(ps), ps as f64);
            [share, mean_ps + t * share, square_ps2 + 2.0 * t * mean_ps + t * t * share]
        };
        let above = if end == u64::MAX { [0.0; 3] } else { beyond(end) };
        let from = beyond(start);
        std::array::from_fn(|k| (from[k] - above[k]).max(0.0))
    }

    pub(super) fn weight(&self, service: &Service, class: usize) -> f64 {
        self.moments(service, class)[0]
    }

    pub(super) fn mean_ps(&self, service: &Service, class: usize) -> f64 {
        let [share, sum, _] = self.moments(service, class);
        if share > 0.0 { sum / share } else { f64::NAN }
    }

    pub(super) fn scv(&self, service: &Service, class: usize) -> f64 {
        let [share, sum, squares] = self.moments(service, class);
        if share > 0.0 { (squares * share / (sum * sum) - 1.0).max(0.0) } else { f64::NAN }
    }

    pub(super) fn quantile(&self, service: &Service, class: usize, p: f64) -> u64 {
        let (start, end) = self.range_ps(class);
        let (low, high) = (service.cdf(start), if end == u64::MAX { 1.0 } else { service.cdf(end) });
        if high <= low + P_TOLERANCE {
            return 0;
        }
        let found = service.quantile(low + p.clamp(0.0, 1.0) * (high - low));
        found.clamp(start.saturating_add(1), end)
    }

    pub(super) fn cdf(&self, service: &Service, class: usize, ps: u64) -> f64 {
        let (start, end) = self.range_ps(class);
        let below = service.cdf(start);
        let within = service.cdf(ps.clamp(start, end)) - below;
        within / self.weight(service, class)
    }

    pub(super) fn max_ps(&self, service: &Service, class: usize) -> Option<u64> {
        let (_, end) = self.range_ps(class);
        match service.max_ps() {
            Some(max) => Some(max.min(end)),
            None => (end < u64::MAX).then_some(end),
        }
    }

    /// Measured values of the class, if all were measured.
    pub(super) fn samples(&self, service: &Service, class: usize) -> Option<u64> {
        let (start, end) = self.range_ps(class);
        let of = |shape: &super::Shape| {
            let above = if end == u64::MAX { 1.0 } else { shape.cdf(end) };
            Some(((above - shape.cdf(start)) * shape.samples()? as f64).round() as u64)
        };
        service.leaves().iter().map(|leaf| of(&leaf.shape)).sum()
    }

    /// Is the mean of one over the shortest requests' service time finite?
    pub(super) fn starts_with_inverse_mean(&self, service: &Service) -> bool {
        service.leaves().iter().all(|leaf| leaf.shape.has_inverse_mean())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Demand, ServiceSpec};

    #[test]
    fn classes_by_size_are_what_is_drawn() {
        let service = ServiceSpec::named("rocksdb-0.5").compile(".".as_ref()).unwrap();
        let sized = service.by_size(&[1_600_000, 100_000_000]);
        assert_eq!(sized.classes(), ["up to 1.6us", "1.6us to 100us", "over 100us"]);
        let mut demands = [Demand::default(); 4096];
        let mut counts = [0.0; 3];
        let mut sampler = sized.sampler(3);
        for _ in 0..50 {
            sampler.fill(&mut demands);
            for demand in demands {
                counts[usize::from(demand.class)] += 1.0 / (50.0 * 4096.0);
                let (start, end) = [(0, 1_600_000), (1_600_000, 100_000_000), (100_000_000, u64::MAX)]
                    [usize::from(demand.class)];
                assert!(start < demand.service_ps && demand.service_ps <= end);
            }
        }
        let weights: Vec<f64> = (0..3).map(|class| sized.class_weight(class)).collect();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (class, (count, weight)) in counts.iter().zip(&weights).enumerate() {
            assert!((count - weight).abs() < 4.0 * (weight / (50.0 * 4096.0)).sqrt() + 1e-6, "{class}");
        }
        let mean: f64 = (0..3).map(|class| weights[class] * sized.class_mean_ps(class)).sum();
        assert!((mean / service.mean_ps() - 1.0).abs() < 1e-9);
        assert_eq!(
            sized.class_samples(0).unwrap() + sized.class_samples(1).unwrap(),
            39_817,
            "one get took 445 us"
        );
        assert!(sized.class_quantile(1, 0.0) > 1_600_000 && sized.class_quantile(0, 1.0) <= 1_600_000);
        assert_eq!(sized.class_max_ps(0), Some(1_600_000));
    }
}
