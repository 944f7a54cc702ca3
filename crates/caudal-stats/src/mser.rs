//! The end of a warm-up, by MSER-5. An experiment adds the latencies of its pilot runs, and asks for the end of the warm-up before it measures.
//!
//! A simulation starts empty, so its first requests are faster than the later ones. MSER (marginal standard error
//! rule) cuts off as many observations as minimise the standard error of the mean of the rest: a later cut
//! loses data, an earlier cut keeps bias. MSER-5 applies the rule to means of batches of five.
//!
//! Source: White, Cobb, Spratt, *A comparison of five steady-state truncation heuristics for simulation* (WSC
//! 2000); Hoad, Robinson, Davies, *Automating warm-up length estimation* (JORS 61, 2010), who found it the best of
//! 44 methods. Our additions: batches double when there are too many, so that memory is bounded, and cuts in the last
//! tenth are not considered, because a few similar values at the end have a small error by chance.
//!
//! **Lay replications over one another** ([`Mser5::superpose`]), twenty or more, before asking for the cut. In one
//! run of a loaded queue the quiet stretches have both the smallest variance and the smallest values, so the rule
//! cuts off the busy ones and makes the bias larger. Bias of the mean sojourn time of M/M/1 from an empty start:
//!
//! | load, requests | no cut | cut from 1 run | no cut | cut from 20 runs |
//! | --- | --- | --- | --- | --- |
//! | 0.8, 4000 | −1.5 % | −4.9 % | −0.6 % | −0.5 % |
//! | 0.95, 4000 | −19 % | −22 % (27 % refused) | −12 % | −8 % (27 % refused) |
//! | 0.95, 40,000 | −2.2 % | −7.0 % (9 % refused) | −1.0 % | −0.5 % (2 % refused) |
//!
//! (Experiments that found a cut; which are these differs, and so does "no cut".) Where the run is much shorter
//! than the queue's memory, no rule on its own data helps: a longer run does.

/// Observations of a batch in the beginning; the 5 of MSER-5.
pub const FIRST_BATCH: u64 = 5;
/// Batches kept at most; a power of two. The cut is found to within 1/1024 of the run.
pub const MAX_BATCHES: usize = 2048;
/// Batches without which there is no statement.
pub const MIN_BATCHES: usize = 20;

/// Collects a series in its order (for example, sojourn times by arrival) and finds the end of its warm-up.
///
/// Memory: [`MAX_BATCHES`] means (16 KiB), whatever the length of the series.
///
/// ```
/// let mut series = caudal_stats::mser::Mser5::new();
/// for i in 0..10_000u64 {
///     let start_up = if i < 1000 { 50.0 } else { 0.0 };
///     series.push(start_up + (i % 7) as f64);
/// }
/// assert!(series.truncation().is_some_and(|cut| (1000..1100).contains(&cut)));
/// ```
#[derive(Clone, Debug)]
pub struct Mser5 {
    /// Sums of complete batches.
    sums: Vec<f64>,
    batch: u64,
    open_sum: f64,
    open_count: u64,
}

impl Default for Mser5 {
    fn default() -> Self {
        Self::new()
    }
}

impl Mser5 {
    /// An empty series.
    pub const fn new() -> Self {
        Self { sums: Vec::new(), batch: FIRST_BATCH, open_sum: 0.0, open_count: 0 }
    }

    /// The series of these observations.
    pub fn of(observations: &[f64]) -> Self {
        let mut series = Self::new();
        observations.iter().for_each(|&observation| series.push(observation));
        series
    }

    /// Adds the next observation.
    #[inline]
    pub fn push(&mut self, observation: f64) {
        self.open_sum += observation;
        self.open_count += 1;
        if self.open_count == self.batch {
            self.close_batch();
        }
    }

    fn close_batch(&mut self) {
        self.sums.push(self.open_sum);
        (self.open_sum, self.open_count) = (0.0, 0);
        if self.sums.len() == MAX_BATCHES {
            self.coarsen();
        }
    }

    /// Doubles the batches: each with its right neighbour, a last one without opens the next batch.
    fn coarsen(&mut self) {
        let pairs = self.sums.len() / 2;
        if self.sums.len() % 2 == 1 {
            self.open_sum += self.sums[2 * pairs];
            self.open_count += self.batch;
        }
        for i in 0..pairs {
            self.sums[i] = self.sums[2 * i] + self.sums[2 * i + 1];
        }
        self.sums.truncate(pairs);
        self.batch *= 2;
    }

    /// Adds the series of another replication, observation by observation, up to the end of the shorter one.
    pub fn superpose(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.batch < other.batch {
            self.coarsen();
        }
        while other.batch < self.batch {
            other.coarsen();
        }
        self.sums.truncate(other.sums.len());
        self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| *mine += theirs);
        // What is open no longer belongs to the same observations.
        (self.open_sum, self.open_count) = (0.0, 0);
    }

    /// Number of observations so far.
    pub const fn observations(&self) -> u64 {
        self.sums.len() as u64 * self.batch + self.open_count
    }

    /// Observations of a batch by now: the resolution of [`Self::truncation`].
    pub const fn batch_size(&self) -> u64 {
        self.batch
    }

    /// Number of observations to drop from the start, or `None` if the data do not say so: fewer than
    /// [`MIN_BATCHES`] batches, or the best cut in the second half (a run that is too short, or no steady state at
    /// all). Run longer then.
    pub fn truncation(&self) -> Option<u64> {
        let means: Vec<f64> = self.sums.iter().map(|sum| sum / self.batch as f64).collect();
        truncation(&means).map(|batches| batches as u64 * self.batch)
    }
}

/// MSER on a series of batch means: how many to drop, under the same conditions as [`Mser5::truncation`].
pub fn truncation(means: &[f64]) -> Option<usize> {
    let n = means.len();
    if n < MIN_BATCHES || !means.iter().all(|mean| mean.is_finite()) {
        return None;
    }
    let last = n - n / 10;
    // From the back, by Welford's update: sums of squares of large times would cancel.
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut best, mut best_at) = (f64::INFINITY, n);
    for (at, &value) in means.iter().enumerate().rev() {
        let kept = (n - at) as f64;
        let delta = value - mean;
        mean += delta / kept;
        squares += delta * (value - mean);
        let statistic = squares / (kept * kept);
        // `<=`: of equally good cuts the one that keeps most.
        if at <= last && statistic <= best {
            (best, best_at) = (statistic, at);
        }
    }
    (best_at <= n / 2).then_some(best_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The definition, word by word.
    fn naive(means: &[f64]) -> usize {
        let n = means.len();
        let statistic = |d: usize| {
            let kept = &means[d..];
            let mean = kept.iter().sum::<f64>() / kept.len() as f64;
            kept.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (kept.len() as f64).powi(2)
        };
        (0..=n - n / 10).min_by(|&a, &b| statistic(a).total_cmp(&statistic(b))).unwrap()
    }

    fn noise(rng: &mut Xoshiro256PlusPlus) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    #[test]
    fn agrees_with_the_definition() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for length in [20, 37, 200] {
            for decay in [0.0, 0.5, 0.9, 0.99] {
                let means: Vec<f64> =
                    (0..length).map(|i| 1e6 - 10.0 * f64::powi(decay, i) + noise(&mut rng)).collect();
                let expected = naive(&means);
                let expected = (expected <= means.len() / 2).then_some(expected);
                assert_eq!(truncation(&means), expected, "{length} batches, decay {decay}");
            }
        }
    }

    #[test]
    fn finds_an_exponential_start_up() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut series = Mser5::new();
        for i in 0..200_000 {
            series.push(100.0 - 100.0 * (-f64::from(i) / 2000.0).exp() + 20.0 * noise(&mut rng));
        }
        let cut = series.truncation().expect("a steady series");
        assert!((6000..30_000).contains(&cut), "between three and fifteen time constants: {cut}");
    }

    #[test]
    fn steady_from_the_start_drops_little() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut series = Mser5::new();
        (0..100_000).for_each(|_| series.push(noise(&mut rng)));
        assert!(series.truncation().is_some_and(|cut| cut < 20_000));
    }

    #[test]
    fn refuses_what_never_settles() {
        let mut series = Mser5::new();
        (0..100_000).for_each(|i| series.push(f64::from(i)));
        assert_eq!(series.truncation(), None, "a backlog that grows has no steady state");
        let mut short = Mser5::new();
        (0..99).for_each(|_| short.push(1.0));
        assert_eq!(short.truncation(), None, "99 observations are 19 batches");
        short.push(1.0);
        assert_eq!(short.truncation(), Some(0));
        assert_eq!(truncation(&[f64::NAN; 30]), None);
    }

    #[test]
    fn superposing_is_adding_observation_by_observation() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let (long, short): (Vec<f64>, Vec<f64>) =
            (0..50_003).map(|_| (noise(&mut rng), noise(&mut rng))).unzip();
        let short = &short[..9_001];
        let both: Vec<f64> = long.iter().zip(short).map(|(a, b)| a + b).collect();
        for (first, second) in [(&long[..], short), (short, &long[..])] {
            let mut sum = Mser5::of(first);
            sum.superpose(&Mser5::of(second));
            let batch = sum.batch_size() as usize;
            assert_eq!(sum.observations(), 9_001 / sum.batch_size() * sum.batch_size());
            assert_eq!(sum.sums.len(), 9_001 / batch);
            for (chunk, got) in both.chunks_exact(batch).zip(&sum.sums) {
                assert!((chunk.iter().sum::<f64>() - got).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let mut series = Mser5::new();
        (0..1_000_003).for_each(|_| series.push(1.0));
        assert_eq!(series.observations(), 1_000_003);
        assert!(series.sums.len() < MAX_BATCHES);
        assert_eq!(series.sums.iter().sum::<f64>() + series.open_sum, 1_000_003.0);
        assert_eq!(series.batch_size(), FIRST_BATCH << 7);
    }
}
