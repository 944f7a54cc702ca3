//! Thresholds of classes that have targets of their own.
//!
//! The estimate is that of [`super::Pileup`]; each class has a threshold, its large requests are those with more work
//! than that, and a small request is late by the target of its class. Where the paper has the one threshold `l`, the mean
//! over the large requests of all classes stands, and the greatest of them for what a small request waits for.
//!
//! The thresholds of a number of active requests are chosen together: first the best one that all classes share, then each
//! in turn, the others held, until none changes; the same from the thresholds of one active request less. So they are no
//! worse than a common one, and no change of one of them makes them better.
//!
//! One thing is counted otherwise: the paper takes every large request for one that misses. One of a class that has time makes
//! it all the same, so here a large request is lost if what is left of it takes too long on one core, `l / m + (w − l) >
//! target`, and else late if it waits for too long before that, as a small one. Where all large ones are lost, as they are with
//! short targets, one class has the table of [`super::Pileup`].
//!
//! The paper has one class (Li et al., PPoPP 2016, section 4.1); several are ours.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{ALIKE, Bin, Demand, DemandFault, Knowledge, SHORTEST_S, are_rising};

/// Rounds of choosing each threshold in turn, at most.
const ROUNDS: usize = 12;

/// Requests of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Bins of its work; shares are those of all requests.
    pub bins: Vec<Bin>,
    /// Its target latency, in seconds.
    pub target_s: f64,
}

/// Sums over the bins of a class up to a threshold, and beyond it.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Share of all requests that are large ones of this class.
    large: f64,
    /// Of those, the share that misses its target for it; and how long the others take on one core, times their share.
    lost: f64,
    alone_s: f64,
    /// Of all requests' work, what is superfluous.
    superfluous_s: f64,
    /// `large` times the threshold.
    limits_s: f64,
    essential_s: f64,
    /// Share of all requests that are small ones of this class, their work and their spans.
    small: f64,
    small_s: f64,
    spans_s: f64,
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            large: self.large + other.large,
            lost: self.lost + other.lost,
            superfluous_s: self.superfluous_s + other.superfluous_s,
            limits_s: self.limits_s + other.limits_s,
            essential_s: self.essential_s + other.essential_s,
            ..Sums::default()
        }
    }
}

#[derive(Clone, Debug)]
struct OfClass {
    target_s: f64,
    /// The most work of its requests.
    most_s: f64,
    /// By candidate.
    sums: Box<[Sums]>,
}

/// Misses, and requests that leave more than come in a second.
#[derive(Clone, Copy, Debug)]
struct Score {
    misses: f64,
    drain: f64,
}

impl Score {
    /// Is it better by more than rounding?
    fn beats(self, other: Score) -> bool {
        match (self.misses.is_finite(), other.misses.is_finite()) {
            (true, true) => self.misses < other.misses - other.misses * ALIKE,
            (false, false) => self.drain > other.drain + other.drain.abs() * ALIKE,
            (finite, _) => finite,
        }
    }
}

/// Thresholds of a number of active requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassThresholds {
    /// Active requests.
    pub active: u32,
    /// By class: the threshold, in seconds.
    pub limits_s: Box<[f64]>,
    /// Requests that are expected to miss their targets until the pile-up is over; infinite if there is no end to it.
    pub misses: f64,
}

/// The estimate for several classes, made ready to be asked for one number of active requests after the other.
#[derive(Clone, Debug)]
pub struct ClassPileup {
    demand: Demand,
    mean_s: f64,
    per_spare: f64,
    classes: Box<[OfClass]>,
    /// Candidates, which all classes share: the most work of any bin, rising.
    limits_s: Box<[f64]>,
    /// The candidates of the last answer, by class.
    chosen: Box<[usize]>,
}

impl ClassPileup {
    /// Makes the sums. The target of `demand` does not count.
    ///
    /// # Errors
    /// [`DemandFault`].
    pub fn new(classes: &[Class], demand: Demand) -> Result<ClassPileup, DemandFault> {
        let shares: f64 = classes.iter().flat_map(|class| &class.bins).map(|bin| bin.share).sum();
        // A class of which there is no request has no say.
        let sound = |class: &Class| class.bins.is_empty() || are_rising(&class.bins);
        if !classes.iter().all(sound) || (shares - 1.0).abs() >= 1e-6 {
            return Err(DemandFault::Bins);
        }
        let positive = |class: &Class| class.target_s > 0.0;
        if !(classes.iter().all(positive) && demand.rps > 0.0 && demand.cores > 0.0) {
            return Err(DemandFault::NotPositive);
        }
        let all = classes.iter().flat_map(|class| &class.bins);
        let mean_s: f64 = all.map(|bin| bin.share * bin.mean_s).sum();
        let busy = mean_s * demand.rps;
        if busy >= demand.cores {
            return Err(DemandFault::Overload(busy));
        }
        let mut limits_s: Vec<f64> =
            classes.iter().flat_map(|class| &class.bins).map(|bin| bin.most_s).collect();
        limits_s.sort_by(f64::total_cmp);
        limits_s.dedup();
        let of_class = |class| of_class(class, &limits_s, demand);
        let classes: Box<[OfClass]> = classes.iter().map(of_class).collect();
        let chosen = vec![limits_s.len() - 1; classes.len()].into();
        let per_spare = 1.0 / (demand.cores - busy);
        Ok(ClassPileup { demand, mean_s, per_spare, classes, limits_s: limits_s.into(), chosen })
    }

    /// The thresholds of 1 to `most_active` active requests.
    pub fn table(&mut self, most_active: u32) -> Vec<ClassThresholds> {
        (1..=most_active).map(|active| self.thresholds(active)).collect()
    }

    /// The thresholds for `active` requests, one of which has been found to be large.
    pub fn thresholds(&mut self, active: u32) -> ClassThresholds {
        let others = f64::from(active.max(1) - 1);
        let common = self.descend(self.common(others), others);
        let before = self.descend(self.chosen.clone(), others);
        // Of equally good ones those that were found first.
        let (chosen, score) = if before.1.beats(common.1) { before } else { common };
        let limits_s = chosen.iter().map(|&at| self.limits_s[at]).collect();
        self.chosen = chosen;
        ClassThresholds { active, limits_s, misses: score.misses }
    }

    /// The best threshold that all classes share.
    fn common(&self, others: f64) -> Box<[usize]> {
        let mut chosen = self.chosen.clone();
        self.best(&mut chosen, others, <[usize]>::fill);
        chosen
    }

    /// Leaves the best of all candidates in `chosen`; of equally good ones the largest.
    fn best(&self, chosen: &mut [usize], others: f64, set: impl Fn(&mut [usize], usize)) -> Score {
        let last = self.limits_s.len() - 1;
        set(chosen, last);
        let mut best = (self.score(chosen, others), last);
        for at in (0..last).rev() {
            set(chosen, at);
            let score = self.score(chosen, others);
            if score.beats(best.0) {
                best = (score, at);
            }
        }
        set(chosen, best.1);
        best.0
    }

    /// Chooses each threshold in turn until none changes.
    fn descend(&self, mut chosen: Box<[usize]>, others: f64) -> (Box<[usize]>, Score) {
        let mut score = self.score(&chosen, others);
        for _ in 0..ROUNDS {
            let before = chosen.clone();
            for class in 0..chosen.len() {
                score = self.best(&mut chosen, others, |chosen, at| chosen[class] = at);
            }
            if chosen == before {
                break;
            }
        }
        (chosen, score)
    }

    fn score(&self, chosen: &[usize], others: f64) -> Score {
        let Demand { rps, cores, knowledge, .. } = self.demand;
        let of = || self.classes.iter().zip(chosen).map(|(class, &at)| (class, class.sums[at]));
        let total = of().fold(Sums::default(), |total, (_, sums)| total.plus(sums));
        // The most of any request that is done in parallel before a small one.
        let most = |(class, at): (&OfClass, &usize)| self.limits_s[*at].min(class.most_s);
        let ahead_s = self.classes.iter().zip(chosen).map(most).fold(0.0, f64::max);
        let (superfluous_s, limit_s) = match total.large > 0.0 {
            true => (total.superfluous_s / total.large, total.limits_s / total.large),
            false => (0.0, ahead_s),
        };
        let parallel_s = if knowledge == Knowledge::Processed { limit_s } else { 0.0 };
        let length_s = ((superfluous_s + parallel_s + others * self.mean_s) * self.per_spare)
            .max(parallel_s / cores + superfluous_s)
            .max(SHORTEST_S);
        let large = total.large * (rps * length_s + others) + 1.0;
        // Where nobody is given up, the one that began it has run on all cores.
        let lost = match total.large > 0.0 {
            true => large * total.lost / total.large,
            false => f64::from(self.classes.iter().any(|class| class.most_s / cores > class.target_s)),
        };
        let left = cores - large * superfluous_s / length_s;
        let leave = left / total.essential_s;
        let drain = leave - rps;
        if left <= 0.0 || drain <= cores / total.essential_s * ALIKE {
            return Score { misses: f64::INFINITY, drain };
        }
        let late = |class: &OfClass, share: f64, run_s: f64| {
            let before = ((class.target_s - run_s) * left - ahead_s) / total.essential_s;
            (others - before).max(0.0) * share
        };
        let late = |(class, sums): (&OfClass, Sums)| {
            let (mut sum, kept) = (0.0, sums.large - sums.lost);
            if sums.small > 0.0 {
                let run_s = (sums.small_s / sums.small / left).max(sums.spans_s / sums.small);
                sum += late(class, sums.small, run_s);
            }
            if kept > 0.0 {
                sum += late(class, kept, sums.alone_s / kept);
            }
            sum
        };
        Score { misses: lost + of().map(late).sum::<f64>() * leave / drain, drain }
    }
}

fn of_class(class: &Class, limits_s: &[f64], demand: Demand) -> OfClass {
    let mut sums = vec![Sums::default(); limits_s.len()].into_boxed_slice();
    // From the last one down: of the few that are large, sums of few are exact.
    let (mut large, mut large_s, mut bins) = (0.0, 0.0, class.bins.iter().rev().peekable());
    for (sums, &limit_s) in sums.iter_mut().zip(limits_s).rev() {
        while let Some(bin) = bins.next_if(|bin| bin.most_s > limit_s) {
            large += bin.share;
            large_s += bin.share * bin.mean_s;
        }
        let parallel_s = if demand.knowledge == Knowledge::Processed { limit_s } else { 0.0 };
        // The least work that does not make it: all but what was done by all cores takes one of them.
        let least_s = class.target_s + parallel_s * (1.0 - 1.0 / demand.cores);
        let made_it = class.bins.partition_point(|bin| bin.most_s <= limit_s || bin.mean_s <= least_s);
        sums.lost = class.bins[made_it..].iter().map(|bin| bin.share).sum();
        let kept = class.bins[..made_it].iter().filter(|bin| bin.most_s > limit_s);
        let alone_s = |bin: &Bin| bin.share * (parallel_s / demand.cores + bin.mean_s - parallel_s);
        sums.alone_s = kept.map(alone_s).sum();
        (sums.large, sums.limits_s) = (large, large * limit_s);
        sums.superfluous_s = (large_s - large * parallel_s).max(0.0);
        sums.essential_s = large * parallel_s;
    }
    let (mut before, mut bins) = (Sums::default(), class.bins.iter().peekable());
    for (sums, &limit_s) in sums.iter_mut().zip(limits_s) {
        while let Some(bin) = bins.next_if(|bin| bin.most_s <= limit_s) {
            before.small += bin.share;
            before.small_s += bin.share * bin.mean_s;
            before.spans_s += bin.share * bin.span_s;
        }
        (sums.small, sums.small_s, sums.spans_s) = (before.small, before.small_s, before.spans_s);
        sums.essential_s += before.small_s;
    }
    let most_s = class.bins.last().map_or(0.0, |bin| bin.most_s);
    OfClass { target_s: class.target_s, most_s, sums }
}
