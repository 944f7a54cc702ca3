//! Means and percentiles over independent replications, with intervals. An experiment asks after each replication whether they are
//! precise enough; `paired` compares two systems by it. Pure.
//!
//! **Estimate**: that of all values pooled. The average of the replications' percentiles would be biased by how
//! short they are, and more replications do not cure that.
//!
//! **Interval of a percentile.** Replications are clusters of a sample. The share of values up to the pooled
//! percentile is a ratio of two sums over them; its standard error, times Student's t, gives an interval of ranks,
//! and the pooled histogram turns those into values (Woodruff, *Confidence intervals for medians and other
//! position measures*, JASA 47, 1952; clusters as in Cochran, *Sampling Techniques*, 3rd ed., sec. 6.3). It is
//! asymmetric, as tails are, needs no density, and *knows when it does not know*: where the interval of ranks
//! reaches beyond the last value, there is no upper end.
//!
//! Why this one: on the sojourn times of M/M/1 at load 0.8 (nominal 95 %, 400 experiments each) it covered
//!
//! | replications × requests, percentile | t over replications' percentiles | the same, centred on the pooled | jackknife of the pooled | this one |
//! | --- | --- | --- | --- | --- |
//! | 10 × 20,000, p99 | 91.5 % | 91.8 % | 92.8 % | 93.0 % |
//! | 10 × 2,000, p99 | 69 % | 82 % | 90 % | 94 % (62 % of them without upper end) |
//! | 10 × 20,000, p99.9 | 64 % | 75 % | 82 % | 90 % (62 % of them without upper end) |
//!
//! The others claim narrow intervals where a run holds too few excursions into the tail to say anything.
//! What remains: with few short replications the estimate itself is biased low, and every interval with it; that
//! is why intervals of the far tail of a loaded queue cover a few percent less than nominal.
//!
//! The bounds are ends of buckets, so the histogram's own resolution is part of the interval.
//!
//! **Gaps.** Where hardly any values lie around a percentile, it is a matter of luck on which side of the gap a run finds
//! it: the median of requests of which one half takes 1 us and the other 100 us. Ranks that are known ever better do
//! not help, and who stops when the interval is narrow stops when the luck is bad. [`Replicated::gap`] finds such
//! percentiles; their intervals are at least those of six standard errors of the rank.

use std::borrow::Cow;

use crate::compact::Compact;
use crate::estimate::Estimate;
use crate::histogram::{Histogram, bounds_of, index_of, midpoint_of, nearest_rank};
use crate::linear::Linear;
use crate::t;

/// Statistics of one metric over independent replications: all of them pooled for the estimate, one by one for
/// the interval.
///
/// Replications are pushed in their own order (see [`InOrder`](crate::InOrder)), so that the result does not
/// depend on which thread was first.
#[derive(Clone, Debug, Default)]
pub struct Replicated {
    pooled: Histogram,
    parts: Vec<Compact>,
}

/// Percentiles are looked at for a gap as far as so many standard errors of their rank.
const GAP_REACH: f64 = 6.0;
/// Ranks that are known no better than this share of those beyond the percentile say nothing of gaps.
const GAP_RANKS_MAX: f64 = 0.2;
/// Across ranks of a share w of those beyond the percentile, values of an exponential distribution change by a factor of
/// at most exp(3 w), those of heavy tails by about as much: what is beyond exp(10 w), and this, is a gap.
const GAP_SLOPE: f64 = 10.0;
const GAP_RATIO_MIN: f64 = 1.5;

/// Values above a limit from which on their share is known a little.
const FEW: f64 = 10.0;

/// A percentile's bucket and the standard error of the share of values up to it.
struct Rank {
    index: usize,
    error: f64,
}

impl Replicated {
    /// No replication yet.
    pub const fn new() -> Self {
        Self { pooled: Histogram::new(), parts: Vec::new() }
    }

    /// Adds the next replication. An empty one (a rare class that did not occur) keeps its place for paired
    /// comparison, and adds nothing to what is known.
    pub fn push(&mut self, replication: &Histogram) {
        self.pooled.merge(replication);
        self.parts.push(Compact::of(replication));
    }

    /// Number of replications pushed.
    pub const fn replications(&self) -> usize {
        self.parts.len()
    }

    /// Every value of every replication.
    pub const fn pooled(&self) -> &Histogram {
        &self.pooled
    }

    /// Mean of every replication, NaN for an empty one.
    pub fn replication_means(&self) -> impl Iterator<Item = f64> + '_ {
        self.parts.iter().map(|part| part.sum as f64 / part.count as f64)
    }

    /// The nearest-rank percentile of every replication, `p` in 0 ..= 100; none for an empty one. Biased by how
    /// short replications are, so this is for comparing runs of the same length, not for estimates.
    pub fn replication_percentiles(&self, p: f64) -> impl Iterator<Item = Option<u64>> + '_ {
        let of = move |part: &Compact| part.index_at_rank(nearest_rank(p, part.count)).map(midpoint_of);
        self.parts.iter().map(of)
    }

    /// The mean of all values. The interval treats it as a ratio of two sums over replications (of values, and
    /// of their number), so that longer replications weigh more, and is one of logarithms ([`Estimate::positive`]).
    ///
    /// [`Estimate::MISSING`] if nothing was recorded; unbounded with fewer than two replications, without upper end
    /// where the second moment has not settled.
    ///
    /// # Panics
    /// If `confidence` is not between 0 and 1.
    pub fn mean(&self, confidence: f64) -> Estimate {
        if self.pooled.is_empty() {
            return Estimate::MISSING;
        }
        let mean = self.pooled.mean();
        Estimate::positive(mean, self.factor(confidence) * self.ratio_error(mean, |part| part.sum as f64))
    }

    /// The nearest-rank percentile of all values, `p` in 0 ..= 100.
    ///
    /// [`Estimate::MISSING`] if nothing was recorded; unbounded with fewer than two replications; without upper
    /// end if too few values lie beyond it. 0 and 100 (extremes of a sample say nothing of the next one) are
    /// unbounded to their side.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100 or `confidence` is not between 0 and 1.
    pub fn percentile(&self, p: f64, confidence: f64) -> Estimate {
        if self.pooled.is_empty() {
            return Estimate::MISSING;
        }
        let estimate = self.pooled.percentile(p) as f64;
        let half = 100.0 * self.factor(confidence) * self.rank(p).error;
        if !half.is_finite() {
            return Estimate::unbounded(estimate);
        }
        let reach = if self.gap(p).is_some() { half.max(self.gap_reach(p)) } else { half };
        let (low, high) = self.values_around(p, reach);
        Estimate { estimate, low: low.min(estimate), high: high.max(estimate) }
    }

    /// The values between which there is a gap, if the percentile `p`, 0 ..= 100, lies at one.
    ///
    /// # Panics
    /// If `p` is outside 0 ..= 100.
    pub fn gap(&self, p: f64) -> Option<(f64, f64)> {
        if self.pooled.is_empty() {
            return None;
        }
        let reach = self.gap_reach(p);
        let share = reach / p.min(100.0 - p);
        // Also if there is no error, or no number.
        if !(share > 0.0 && share <= GAP_RANKS_MAX) {
            return None;
        }
        let (low, high) = self.values_around(p, reach);
        (high > low * GAP_RATIO_MIN.max((GAP_SLOPE * share).exp())).then_some((low, high))
    }

    fn gap_reach(&self, p: f64) -> f64 {
        100.0 * GAP_REACH * self.rank(p).error
    }

    /// The values `half` percentiles below and above `p`; without end where there are none.
    fn values_around(&self, p: f64, half: f64) -> (f64, f64) {
        let bucket = |p: f64| bounds_of(self.pooled.index_at_rank(nearest_rank(p, self.pooled.count())));
        let low = if p - half > 0.0 { bucket(p - half).0.max(self.pooled.min()) as f64 } else { 0.0 };
        let high =
            if p + half < 100.0 { bucket(p + half).1.min(self.pooled.max()) as f64 } else { f64::INFINITY };
        (low, high)
    }

    /// Where a percentile lies, and how well its rank is known.
    fn rank(&self, p: f64) -> Rank {
        let index = self.pooled.index_at_rank(nearest_rank(p, self.pooled.count()));
        let error_up_to = |index: usize| {
            let up_to = |part: &Compact| part.count_up_to(index) as f64;
            let share = self.parts.iter().map(up_to).sum::<f64>() / self.pooled.count() as f64;
            self.ratio_error(share, up_to)
        };
        // Both ends of the bucket: where many values are equal, the error may be all on one side of them.
        let before = index.checked_sub(1).map_or(0.0, error_up_to);
        Rank { index, error: error_up_to(index).max(before) }
    }

    /// The contribution of each replication to the error of the mean: their average is 0, and the variance of the mean is
    /// that of their average.
    pub(crate) fn mean_contributions(&self) -> Vec<f64> {
        let mean = self.pooled.mean();
        let average_count = self.pooled.count() as f64 / self.parts.len() as f64;
        self.parts.iter().map(|part| (part.sum as f64 - mean * part.count as f64) / average_count).collect()
    }

    /// The same for a percentile, by Bahadur's representation: the error of a percentile is the error of its rank
    /// over the density there; the density is the one that turns the interval of ranks into [`Self::percentile`].
    ///
    /// `None` if that interval has no end.
    pub(crate) fn percentile_contributions(&self, p: f64, confidence: f64) -> Option<Vec<f64>> {
        let interval = self.percentile(p, confidence);
        let width = interval.high - interval.low;
        if !width.is_finite() {
            return None;
        }
        let rank = self.rank(p);
        let ranks = 2.0 * self.factor(confidence) * rank.error;
        // No error of the rank: every replication agrees.
        let slope = if ranks > 0.0 { width / ranks } else { 0.0 };
        let up_to: Vec<f64> = self.parts.iter().map(|part| part.count_up_to(rank.index) as f64).collect();
        let count = self.pooled.count() as f64;
        let share = up_to.iter().sum::<f64>() / count;
        let average_count = count / self.parts.len() as f64;
        let contribution =
            |(up_to, part): (&f64, &Compact)| (share * part.count as f64 - up_to) / average_count * slope;
        Some(up_to.iter().zip(&self.parts).map(contribution).collect())
    }

    /// The natural logarithm of a percentile of the first `replications`, by Bahadur's representation as well. The
    /// density is that of the 95 % interval of ranks, or of the 68 % one where that has no end, whatever confidence is
    /// asked for in the end: it is a slope at the percentile, not a bound.
    ///
    /// `None` if there is neither, or no positive value.
    pub fn log_percentile(&self, p: f64, replications: usize) -> Option<Linear> {
        let first = self.first(replications);
        let estimate = match first.pooled.is_empty() {
            true => 0.0,
            false => first.pooled.percentile(p) as f64,
        };
        if estimate <= 0.0 {
            return None;
        }
        let errors =
            [0.95, 0.68].into_iter().find_map(|confidence| first.percentile_contributions(p, confidence))?;
        Some(Linear::new(estimate, errors).ln())
    }

    /// The share of values above `value`, which counts as the end of its bucket. The interval is one of a ratio of two sums
    /// over replications, in logarithms. Where that has no upper end, as so few were above or they came in one burst, it is
    /// that of a smaller value, above which are twice as many, and at least ten: no more than that can be above this one.
    ///
    /// # Panics
    /// If `confidence` is not between 0 and 1.
    pub fn miss_ratio(&self, value: u64, confidence: f64) -> Estimate {
        if self.pooled.is_empty() {
            return Estimate::MISSING;
        }
        let index = index_of(value);
        let above = |part: &Compact| (part.count - part.count_up_to(index)) as f64;
        let count = self.pooled.count() as f64;
        let share = self.parts.iter().map(above).sum::<f64>() / count;
        let found = match share {
            0.0 => Estimate { high: f64::INFINITY, ..Estimate::exact(0.0) },
            share => Estimate::positive(share, self.factor(confidence) * self.ratio_error(share, above)),
        };
        if found.high.is_finite() {
            return found.at_most(1.0);
        }
        let more = FEW.max(2.0 * share * count);
        let smaller = index_of(self.pooled.percentile(100.0 * (1.0 - more / count).max(0.0)));
        // All of its bucket is above what lies before that.
        let before = bounds_of(smaller).0.checked_sub(1).filter(|_| smaller <= index);
        let high = before.map_or(1.0, |before| self.miss_ratio(before, confidence).high);
        Estimate { high, ..found }
    }

    /// The share of the values of the first `replications` in buckets above that of `value`. It needs no density, and
    /// so is the better question where a percentile is to be compared with a fixed value.
    pub fn share_above(&self, value: u64, replications: usize) -> Linear {
        let index = index_of(value);
        let first = &self.parts[..replications.min(self.parts.len())];
        let above = |part: &Compact| ((part.count - part.count_up_to(index)) as f64, part.count as f64);
        Linear::ratio_of_sums(&first.iter().map(above).collect::<Vec<_>>())
    }

    /// The first replications alone.
    fn first(&self, replications: usize) -> Cow<'_, Self> {
        if replications >= self.parts.len() {
            return Cow::Borrowed(self);
        }
        let parts = self.parts[..replications].to_vec();
        let mut pooled = Histogram::new();
        parts.iter().for_each(|part| part.add_to(&mut pooled));
        Cow::Owned(Self { pooled, parts })
    }

    /// Replications that recorded something: the others say nothing about the spread.
    pub(crate) fn informative(&self) -> usize {
        self.parts.iter().filter(|part| part.count > 0).count()
    }

    /// Student's factor for the replications at hand; infinite for fewer than two.
    fn factor(&self, confidence: f64) -> f64 {
        t::two_sided(confidence, (self.informative() as u64).saturating_sub(1))
    }

    /// Standard error of the ratio Σ numerator / Σ count, whose value is `ratio` (Cochran, eq. 6.13).
    fn ratio_error(&self, ratio: f64, numerator: impl Fn(&Compact) -> f64) -> f64 {
        let parts = self.informative() as f64;
        let deviation = |part: &Compact| (numerator(part) - ratio * part.count as f64).powi(2);
        let squares: f64 = self.parts.iter().map(deviation).sum();
        (parts / (parts - 1.0) * squares).sqrt() / self.pooled.count() as f64
    }

    /// Halves the number of parts: each with its right neighbour. The number is even.
    pub(crate) fn merge_neighbours(&mut self) {
        debug_assert!(self.parts.len().is_multiple_of(2));
        self.parts = self.parts.chunks_exact(2).map(|pair| pair[0].merged(&pair[1])).collect();
    }

    /// Adds values to the last part; they are the first one if there is none.
    pub(crate) fn extend_last(&mut self, more: &Histogram) {
        match self.parts.pop() {
            Some(last) => {
                self.pooled.merge(more);
                self.parts.push(last.merged(&Compact::of(more)));
            }
            None => self.push(more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicated(replications: &[Vec<u64>]) -> Replicated {
        let mut metric = Replicated::new();
        for values in replications {
            let mut h = Histogram::new();
            values.iter().for_each(|&value| h.record(value));
            metric.push(&h);
        }
        metric
    }

    /// Replications of one length: the textbook's t · s/√R over their means, over the mean.
    #[test]
    fn mean_of_equally_long_replications_by_hand() {
        // Means 100, 130, 160; s = 30; t for 2 degrees of freedom 4.3027.
        let metric = replicated(&[vec![90, 110], vec![130, 130], vec![100, 220]]);
        let mean = metric.mean(0.95);
        assert_eq!(mean.estimate, 130.0);
        let half = 4.302_653 * 30.0 / 3f64.sqrt() / 130.0;
        assert!((mean.low / 130.0 - (-half).exp()).abs() < 1e-5, "{mean:?}");
        assert!((mean.high / 130.0 - half.exp()).abs() < 1e-5, "{mean:?}");
    }

    #[test]
    fn miss_ratios_are_shares_with_an_interval() {
        // 21, 19 and 20 of 100 are above 100: a share of 0.2, whose replications are 0.01 apart.
        let one = |late: usize| [vec![50; 100 - late], vec![200; late]].concat();
        let metric = replicated(&[one(21), one(19), one(20)]);
        let found = metric.miss_ratio(100, 0.95);
        assert!((found.estimate - 0.2).abs() < 1e-12, "{found:?}");
        let half = 4.302_653 * 0.01 / 3f64.sqrt() / 0.2;
        assert!((found.low / 0.2 - (-half).exp()).abs() < 1e-5, "{found:?}");
        assert!((found.high / 0.2 - half.exp()).abs() < 1e-5, "{found:?}");
        assert_eq!(metric.miss_ratio(10, 0.95).estimate, 1.0);
        // Nothing is above 300: no more than are above 50, as the tenth greatest of all lies there.
        let none = metric.miss_ratio(300, 0.95);
        assert!(none.estimate == 0.0 && none.low == 0.0 && none.high > 0.0, "{none:?}");
        assert!(Replicated::new().miss_ratio(1, 0.95).is_missing());
    }

    #[test]
    fn what_was_never_seen_is_no_more_than_the_tenth_greatest() {
        let one: Vec<u64> = (1..=1_000).map(|value| value * 1_000).collect();
        let metric = replicated(&[one.clone(), one.clone(), one]);
        let found = metric.miss_ratio(2_000_000, 0.95);
        // Ten of 3,000, and what shares a bucket with the tenth.
        assert!((0.003..0.01).contains(&found.high) && found.estimate == 0.0, "{found:?}");
        // Ten that are all alike count, too.
        let alike = replicated(&[vec![70_000; 500], vec![70_000; 500]]);
        assert_eq!(alike.miss_ratio(100_000, 0.95).high, 1.0);
    }

    #[test]
    fn a_burst_is_bounded_by_what_is_more_common() {
        // All eight misses of one replication of four; 40 of each are above half of that.
        let one = |late: usize| [vec![1_000; 960 - late], vec![60_000; 40], vec![200_000; late]].concat();
        let metric = replicated(&[one(8), one(0), one(0), one(0)]);
        let found = metric.miss_ratio(100_000, 0.95);
        assert_eq!(found.estimate, 8.0 / 4_000.0);
        assert!(found.high == metric.miss_ratio(50_000, 0.95).high && found.high < 0.1, "{found:?}");
        // One replication tells nothing of the spread.
        assert_eq!(replicated(&[one(8)]).miss_ratio(100_000, 0.95).high, 1.0);
    }

    /// Values of 20 replications, by their quantile function, with a share below each that differs a little.
    fn sampled(quantile: impl Fn(f64) -> f64) -> Replicated {
        let value = |i: u64, shift: f64| quantile(((i as f64 + 0.5) / 20_000.0 + shift).clamp(0.0, 0.999_99));
        let one = |r: u64| (0..20_000).map(|i| value(i, (r as f64 - 9.5) / 2_000.0) as u64).collect();
        replicated(&(0..20).map(one).collect::<Vec<Vec<u64>>>())
    }

    #[test]
    fn a_percentile_between_two_halves_lies_at_a_gap() {
        // What a run finds is on either side; here it is on the left by a hair.
        let halves = sampled(|p| if p < 0.5005 { 1_000.0 + 500.0 * p } else { 100_000.0 + 500.0 * p });
        let (low, high) = halves.gap(50.0).expect("a gap");
        assert!(low < 1_300.0 && high > 100_000.0, "{low} {high}");
        let median = halves.percentile(50.0, 0.95);
        assert!(median.low < 1_300.0 && median.high > 100_000.0, "{median:?}");
        assert_eq!(halves.gap(40.0), None);
        assert_eq!(halves.gap(99.0), None);
    }

    #[test]
    fn smooth_distributions_have_no_gaps() {
        let shapes: [fn(f64) -> f64; 3] =
            [|p| 1e6 * p + 1.0, |p| -1e6 * (1.0 - p).ln() + 1.0, |p| 1e4 * (1.0 - p).powf(-0.9)];
        for (shape, quantile) in shapes.into_iter().enumerate() {
            let metric = sampled(quantile);
            for p in [1.0, 10.0, 50.0, 90.0, 99.0, 99.9] {
                assert_eq!(metric.gap(p), None, "shape {shape}, p{p}");
            }
        }
        assert_eq!(replicated(&[vec![7; 100], vec![7; 100]]).gap(50.0), None);
    }

    /// Unequal lengths, by hand: Σ values = 600 over 6, deviations 0, −40, +40 of the sums.
    #[test]
    fn mean_of_unequal_replications_by_hand() {
        let metric = replicated(&[vec![100], vec![80, 80], vec![100, 120, 120]]);
        let error = (1.5f64 * (40.0 * 40.0 + 40.0 * 40.0)).sqrt() / 6.0;
        assert_eq!(metric.mean(0.95).estimate, 100.0);
        assert!((metric.mean(0.95).high / 100.0 - (4.302_653 * error / 100.0).exp()).abs() < 1e-5);
    }

    /// 0 … 399, shifted by 0, 10 and 20 in the three replications; all values are exact.
    #[test]
    fn median_by_hand() {
        let shifted = |by: u64| (by..by + 400).collect::<Vec<_>>();
        let metric = replicated(&[shifted(0), shifted(10), shifted(20)]);
        let median = metric.percentile(50.0, 0.9);
        // 600 of 1200 values lie up to 209, of which 210, 200 and 190 per replication: s of the shares is 2.5 %.
        // t for 2 degrees of freedom at 90 % is 2.92: ranks 50 % ± 4.2146 %, the 550th and the 651st value.
        assert_eq!((median.low, median.estimate, median.high), (193.0, 209.0, 226.0));
    }

    #[test]
    fn percentiles_of_each_replication_are_those_of_its_own_histogram() {
        let values = |shift: u64| (0..3000).map(|i| shift + i * i % 1_000_003).collect::<Vec<u64>>();
        let replications = [values(7), vec![], values(500_000), vec![42]];
        let metric = replicated(&replications);
        for p in [0.0, 1.0, 50.0, 99.9, 100.0] {
            let own = replications.iter().map(|values| {
                let mut h = Histogram::new();
                values.iter().for_each(|&value| h.record(value));
                (!h.is_empty()).then(|| midpoint_of(h.index_at_rank(nearest_rank(p, h.count()))))
            });
            assert!(metric.replication_percentiles(p).eq(own), "p{p}");
        }
    }

    #[test]
    fn contributions_have_mean_zero_and_the_variance_of_the_estimate() {
        let metric = replicated(&[vec![90, 110, 95], vec![130, 130], vec![100, 220], vec![99; 5]]);
        let square = |c: &[f64]| c.iter().map(|c| c * c).sum::<f64>() / (c.len() * (c.len() - 1)) as f64;
        let contributions = metric.mean_contributions();
        assert!(contributions.iter().sum::<f64>().abs() < 1e-9);
        let half = t::two_sided(0.95, 3) * square(&contributions).sqrt();
        let mean = metric.mean(0.95);
        assert!((half / mean.estimate - (mean.high / mean.estimate).ln()).abs() < 1e-9);
    }

    /// One value that outweighs all others: no interval below 0, and none that claims to know the upper end.
    #[test]
    fn a_mean_that_has_not_settled_has_no_upper_end() {
        let metric = replicated(&[vec![10; 50], vec![11; 50], vec![9; 50], vec![10, 1_000_000]]);
        let mean = metric.mean(0.95);
        assert!(mean.low > 0.0 && mean.high == f64::INFINITY, "{mean:?}");
    }
}
