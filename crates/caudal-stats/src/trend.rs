//! The trend of a run: does what it measures still grow?
//! The simulator asks whether a run was long enough.
//!
//! Theory says how much of a run to leave out ([`crate::relaxation`]); whether that was enough, the data say. A system
//! that began empty and has not forgotten it has more to do in the second half of what is measured than in the first. In
//! its steady state, both halves have as much on average, so over independent replications the differences between their
//! halves have mean 0, whatever is correlated within a replication, and Student's t tells how far the mean may be off by
//! chance.
//!
//! **What it can see.** Where the memory is much shorter than the run, the difference of the halves is twice the bias of
//! the mean or more. Its standard error is twice that of the mean. So a mean that is known to ± 2 % (95 %, twelve
//! replications) shows a bias of 3 % or more at [`WARNED`], and one that is known to ± 5 % one of 7 % or more.
//!
//! **What it can not see.** What happens so rarely that no replication met it; that is what [`Replicated`](crate::Replicated)
//! and the accounting of the work that was done are for.

use crate::t;

/// Chance that a steady system is taken for one that grows, where what follows is a longer run.
pub const WARNED: f64 = 0.01;
/// The same where what follows is that the answer does not count.
pub const CERTAIN: f64 = 0.001;

/// The mean of a quantity over the first half of a replication and over its second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Halves {
    /// The first half's average.
    pub first: f64,
    /// The second half's.
    pub second: f64,
}

impl Halves {
    /// The halves of a series at equal distances; the one in the middle counts for neither. `None` of fewer than two values.
    pub fn of(series: &[f64]) -> Option<Halves> {
        let half = series.len() / 2;
        let mean = |part: &[f64]| part.iter().sum::<f64>() / half as f64;
        let found = Halves { first: mean(&series[..half]), second: mean(&series[series.len() - half..]) };
        (half > 0).then_some(found)
    }
}

/// Growth from the first halves to the second, as a part of the mean of both; 0 if there is nothing to grow.
pub fn growth(replications: &[Halves]) -> f64 {
    let sum = |of: fn(&Halves) -> f64| replications.iter().map(of).sum::<f64>();
    let level = sum(|halves| f64::midpoint(halves.first, halves.second));
    if level > 0.0 { sum(|halves| halves.second - halves.first) / level } else { 0.0 }
}

/// Do the second halves have more than the first ones, by more than the part `tolerance` of the mean and by more than a
/// steady system has with probability `error`? Of fewer than two replications, nothing is known.
///
/// ```
/// use caudal_stats::trend::{Halves, grows};
/// let fills = |n| Halves { first: 10.0 + n as f64 % 3.0, second: 14.0 + n as f64 % 2.0 };
/// assert!(grows(&(0..12).map(fills).collect::<Vec<_>>(), 0.01, 0.001));
/// let steady = |n| Halves { first: 10.0 + n as f64 % 3.0, second: 10.0 + n as f64 % 2.0 };
/// assert!(!grows(&(0..12).map(steady).collect::<Vec<_>>(), 0.01, 0.01));
/// ```
pub fn grows(replications: &[Halves], tolerance: f64, error: f64) -> bool {
    let count = replications.len() as f64;
    if replications.len() < 2 || growth(replications) <= tolerance {
        return false;
    }
    let differences = || replications.iter().map(|halves| halves.second - halves.first);
    let mean = differences().sum::<f64>() / count;
    let squares: f64 = differences().map(|difference| (difference - mean).powi(2)).sum();
    let error_of_mean = (squares / (count * (count - 1.0))).sqrt();
    mean > t::student(1.0 - error, replications.len() as u64 - 1) * error_of_mean
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn halves(rng: &mut Xoshiro256PlusPlus, growth: f64) -> Vec<Halves> {
        // Sums of exponential ones: as askew as a backlog is.
        let mut backlog = |mean: f64| {
            let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            (0..4).map(|_| -uniform().ln() * mean / 4.0).sum::<f64>()
        };
        (0..12).map(|_| Halves { first: backlog(10.0), second: backlog(10.0 * (1.0 + growth)) }).collect()
    }

    #[test]
    fn steady_systems_are_rarely_taken_for_growing_ones() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let alarms = (0..20_000).filter(|_| grows(&halves(&mut rng, 0.0), 0.0, WARNED)).count();
        assert!((100..300).contains(&alarms), "{alarms} of 20,000 at an error of 1 %");
        let certain = (0..20_000).filter(|_| grows(&halves(&mut rng, 0.0), 0.0, CERTAIN)).count();
        assert!(certain < 50, "{certain} of 20,000 at an error of 0.1 %");
    }

    #[test]
    fn growth_is_seen() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let seen = (0..1_000).filter(|_| grows(&halves(&mut rng, 1.5), 0.025, WARNED)).count();
        assert!(seen > 800, "{seen} of 1,000 whose backlog grows by 1.5 times as much");
        let shrinks = (0..1_000).filter(|_| grows(&halves(&mut rng, -0.5), 0.0, WARNED)).count();
        assert_eq!(shrinks, 0);
    }

    #[test]
    fn what_is_known_exactly_grows_by_no_more_than_is_tolerated() {
        let one = Halves { first: 100.0, second: 102.0 };
        assert!(grows(&[one; 3], 0.01, CERTAIN) && !grows(&[one; 3], 0.025, CERTAIN));
        assert!(!grows(&[one], 0.0, WARNED), "one replication has no spread");
        assert!(!grows(&[Halves::default(); 5], 0.0, WARNED), "nothing grows to nothing");
        assert_eq!(Halves::of(&[1.0, 9.0, 5.0]), Some(Halves { first: 1.0, second: 5.0 }));
        assert_eq!(Halves::of(&[1.0]), None);
    }
}
