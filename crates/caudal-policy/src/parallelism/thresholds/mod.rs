//! The large-request threshold of tail-control: from how much work on is a request given up? `caudal threshold`, the tuner and
//! [`super::tuner`] work out tables with it; it is a pure function of the distribution of work.
//!
//! A *pile-up* begins when a request is found to be large while `q_t` requests are active. [`Pileup`] estimates, for each
//! threshold `l`, how many requests miss the target until it is over: the large ones, all of which are serialized and
//! counted as missed, and the small ones that wait too long behind the others. The threshold of `q_t` is the one with
//! the least.
//!
//! Source: Li et al., PPoPP 2016, section 4.1, Figure 3 and Table 1, whose names the code has:
//!
//! | name | what |
//! | --- | --- |
//! | `target` | target latency |
//! | `rps` | requests per second |
//! | `m` | cores |
//! | `p_i`, `w_i` | share of a bin, and the most work of a request in it ([`Bin`]) |
//! | `q_t` | active requests |
//! | `l` | large-request threshold, one of the `w_i` |
//! | `w` (w̄) | mean work of a request |
//! | `p_l` | share of large requests |
//! | `w_s` (w̄_s) | mean work of a small request |
//! | `w_f` (w̄_f) | mean superfluous work of a large request: what is left of it when it is found to be large |
//! | `w_e` (w̄_e) | mean essential work of a request: all of a small one's, and the first `l` of a large one's |
//! | `m_s` | cores that superfluous work leaves |
//! | `x` | requests that a small one can have before it and still meet the target |
//!
//! Where the paper leaves something open: bins carry their own mean for all sums, and their maximum as a candidate (the
//! maximum for both, as the paper writes, overstates the work); where large requests are known beforehand, what a small one
//! waits for is still `l`, the most that any request that is not given up has: without it, giving up nobody would cost
//! nothing; of thresholds that are equally good the largest is taken;
//! where each threshold ends in overload (both footnotes), the one that drains fastest.

pub mod classes;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Requests of similar work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Share of all requests, `p_i`.
    pub share: f64,
    /// Their mean work, in seconds.
    pub mean_s: f64,
    /// The most work of any of them, `w_i`, in seconds.
    pub most_s: f64,
    /// Their mean span, the longest chain of work that one core has to do after the other, in seconds; 0 if requests run on
    /// any number of cores at a time.
    pub span_s: f64,
}

/// When a request is known to be large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// When it has been processed for as long as the threshold.
    #[default]
    Processed,
    /// From the start, so that none of its work is ever done in parallel (section 5.6, TC-Clairvoyant).
    Clairvoyant,
}

/// The load that requests make, and the cores that serve it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Target latency, in seconds.
    pub target_s: f64,
    /// Requests per second.
    pub rps: f64,
    /// Cores, `m`.
    pub cores: f64,
    /// When requests are known to be large.
    pub knowledge: Knowledge,
}

/// Why there is no threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DemandFault {
    /// No bins, or shares that are no shares, or works that do not rise from bin to bin.
    Bins,
    /// A target, rate or number of cores that is not above 0.
    NotPositive,
    /// The work that arrives takes all cores and more; how many it takes.
    Overload(f64),
}

/// A threshold, and what is expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Active requests, `q_t`.
    pub active: u32,
    /// Number of the bin whose most work it is.
    pub bin: u32,
    /// The threshold `l`, in seconds.
    pub limit_s: f64,
    /// Requests that are expected to miss the target until the pile-up is over. Infinite if there is no end to it.
    pub misses: f64,
}

/// Two estimates within this part of each other are equal: sums in another order differ by less.
const ALIKE: f64 = 1e-9;
/// In place of a pile-up's length of 0.
const SHORTEST_S: f64 = 1e-30;

/// The quantities that depend on the threshold alone.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// Share of large requests, `p_l`.
    large: f64,
    /// Superfluous work of a large request, `w_f`.
    superfluous_s: f64,
    /// Of all work that a first large request brings: `w_f + l`.
    first_s: f64,
    /// The least time in which the first large request is done: `l / m + w_f`.
    alone_s: f64,
    /// The most work that is done in parallel before a small request: `l`, of the first large one before it is found to be, or
    /// of the largest that is not given up.
    ahead_s: f64,
    /// One over the essential work of a request, `1 / w_e`.
    per_essential: f64,
    /// The longest chain of a small request's work.
    span_s: f64,
    /// Work of a small request, `w_s`.
    small_s: f64,
}

/// The estimate of the [module](self) for one setting, made ready to be asked for any number of active requests.
#[derive(Clone, Debug)]
pub struct Pileup {
    demand: Demand,
    /// Mean work of a request, `w`.
    mean_s: f64,
    /// One over the cores that are left for what has piled up, `m - U`.
    per_spare: f64,
    limits_s: Box<[f64]>,
    candidates: Box<[Candidate]>,
    misses: Vec<f64>,
}

impl Pileup {
    /// Makes the sums over `bins`, which are in the order of their work.
    ///
    /// # Errors
    /// [`DemandFault`].
    pub fn new(bins: &[Bin], demand: Demand) -> Result<Pileup, DemandFault> {
        if !are_sound(bins) {
            return Err(DemandFault::Bins);
        }
        let Demand { target_s, rps, cores, .. } = demand;
        if !(target_s > 0.0 && rps > 0.0 && cores > 0.0) {
            return Err(DemandFault::NotPositive);
        }
        let mean_s: f64 = bins.iter().map(|bin| bin.share * bin.mean_s).sum();
        let busy = mean_s * rps;
        if busy >= cores {
            return Err(DemandFault::Overload(busy));
        }
        Ok(Pileup {
            demand,
            mean_s,
            per_spare: 1.0 / (cores - busy),
            limits_s: bins.iter().map(|bin| bin.most_s).collect(),
            candidates: candidates(bins, demand),
            misses: vec![0.0; bins.len()],
        })
    }

    /// The threshold that lets the fewest requests miss the target when `active` of them are there, one of which has been
    /// found to be large.
    pub fn threshold(&mut self, active: u32) -> Threshold {
        let others = f64::from(active.max(1) - 1);
        let mut least = f64::INFINITY;
        for (misses, candidate) in self.misses.iter_mut().zip(&self.candidates) {
            *misses = estimate(&self.demand, (self.mean_s, self.per_spare), candidate, others).misses;
            least = least.min(*misses);
        }
        let bin = if least.is_finite() {
            let most = least + least * ALIKE;
            self.misses.iter().rposition(|&misses| misses <= most).unwrap_or(0)
        } else {
            self.fastest(others)
        };
        Threshold { active, bin: bin as u32, limit_s: self.limits_s[bin], misses: least }
    }

    /// The thresholds of 1 to `most_active` active requests.
    pub fn table(&mut self, most_active: u32) -> Vec<Threshold> {
        (1..=most_active).map(|active| self.threshold(active)).collect()
    }

    /// Requests that are expected to miss under each threshold, in the order of the bins.
    pub fn misses(&mut self, active: u32) -> &[f64] {
        self.threshold(active);
        &self.misses
    }

    /// Where nothing keeps up: the threshold under which most requests more leave than come, `m_s / w_e - rps`.
    #[cold]
    fn fastest(&self, others: f64) -> usize {
        let drain = |of: &Candidate| estimate(&self.demand, (self.mean_s, self.per_spare), of, others).drain;
        let most = self.candidates.iter().map(drain).fold(f64::NEG_INFINITY, f64::max);
        self.candidates.iter().rposition(|of| drain(of) >= most - self.demand.rps * ALIKE).unwrap_or(0)
    }
}

/// Of one threshold.
struct Estimate {
    misses: f64,
    /// Requests that leave more than come in a second: `m_s / w_e - rps`.
    drain: f64,
}

/// Beside `others` active requests, `q_t - 1`. Without a branch, so that several thresholds are worked on at a time.
#[inline(always)]
fn estimate(demand: &Demand, (mean_s, per_spare): (f64, f64), of: &Candidate, others: f64) -> Estimate {
    // Length of the pile-up, T.
    let length_s = ((of.first_s + others * mean_s) * per_spare).max(of.alone_s);
    let large = of.large * (demand.rps * length_s + others) + 1.0;
    // Cores, and what follows from them, times the length: one division in all. A pile-up of no length has nothing superfluous.
    let length_s = length_s.max(SHORTEST_S);
    let cores = demand.cores * length_s - large * of.superfluous_s;
    let leave = cores * of.per_essential;
    let drain = leave - demand.rps * length_s;
    // What these cores can do before a small request has to begin: it runs on all of them, or as long as its span.
    let patience_s =
        (demand.target_s * cores - of.small_s * length_s).min((demand.target_s - of.span_s) * cores);
    let before = (patience_s - of.ahead_s * length_s) * of.per_essential;
    let late = (others * length_s - before).max(0.0);
    let small = late * leave / (drain * length_s) * (1.0 - of.large);
    // A rate that is 0 but for rounding is 0: of what all cores can do, which it is a difference of.
    let ends = (cores > 0.0) & (drain > demand.cores * length_s * of.per_essential * ALIKE);
    Estimate { misses: if ends { large + small } else { f64::INFINITY }, drain: drain / length_s }
}

fn are_sound(bins: &[Bin]) -> bool {
    let shares: f64 = bins.iter().map(|bin| bin.share).sum();
    are_rising(bins) && (shares - 1.0).abs() < 1e-6
}

fn are_rising(bins: &[Bin]) -> bool {
    let each = |bin: &Bin| {
        bin.share >= 0.0 && bin.mean_s > 0.0 && bin.mean_s <= bin.most_s * (1.0 + ALIKE) && bin.span_s >= 0.0
    };
    let rising = bins.windows(2).all(|pair| pair[0].most_s < pair[1].most_s);
    !bins.is_empty() && rising && bins.iter().all(each)
}

/// Sums over the bins up to each threshold, and beyond it.
fn candidates(bins: &[Bin], demand: Demand) -> Box<[Candidate]> {
    let mut made = vec![Candidate::default(); bins.len()].into_boxed_slice();
    // From the last one down: of the few that are large, sums of few are exact.
    let (mut large, mut large_s) = (0.0, 0.0);
    for (at, bin) in bins.iter().enumerate().rev() {
        let limit_s = bin.most_s;
        made[at].large = large;
        made[at].superfluous_s = match demand.knowledge {
            _ if large <= 0.0 => 0.0,
            Knowledge::Processed => large_s / large - limit_s,
            Knowledge::Clairvoyant => large_s / large,
        };
        large += bin.share;
        large_s += bin.share * bin.mean_s;
    }
    let (mut small, mut small_s, mut spans_s) = (0.0, 0.0, 0.0);
    for (bin, of) in bins.iter().zip(&mut made) {
        small += bin.share;
        small_s += bin.share * bin.mean_s;
        spans_s += bin.share * bin.span_s;
        let parallel_s = match demand.knowledge {
            Knowledge::Processed => bin.most_s,
            Knowledge::Clairvoyant => 0.0,
        };
        let essential_s = small_s + of.large * parallel_s;
        (of.small_s, of.span_s) = if small > 0.0 { (small_s / small, spans_s / small) } else { (0.0, 0.0) };
        of.per_essential = 1.0 / essential_s;
        of.first_s = of.superfluous_s + parallel_s;
        of.alone_s = parallel_s / demand.cores + of.superfluous_s;
        of.ahead_s = bin.most_s;
    }
    made
}
