//! One system under one load, held against the targets.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use caudal_config::{LatencyTarget, Limit, Measure, Point, Statistic, WarmUp};
use caudal_policy::allocation::AllocationConfig;
use caudal_sim::engine::Account;
use caudal_sim::experiment::{Crew, ExperimentError, Judged, Quantity, Results};
use caudal_sim::row::Row;
use caudal_sim::sweep::experiment;
use caudal_stats::Estimate;

use crate::candidate::{Candidate, Spot};
use crate::{Host, Phase, Progress, Question, TuneError};

/// Replications of a stage.
const REPLICATIONS: u32 = 12;
/// Of the requests of a replication, the part that is simulated before the measured ones.
const WARM_UP_PART: u64 = 4;
/// The share of the core time beyond which a system can not keep up: its backlog grows too slowly to be seen.
const FULL: f64 = 0.995;

/// A target, resolved for a workload.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) target: LatencyTarget,
    pub(crate) quantity: Quantity,
    /// In ns, or as a ratio.
    pub(crate) limit: f64,
}

/// What a load came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Undecided,
}

/// How long replications are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// Measured requests of a replication in the first stage.
    pub(crate) first: u64,
    /// The most; a stage that leaves the verdict open is followed by one four times as long, up to this.
    pub(crate) most: u64,
    /// Find the warm-up from the data, instead of taking a quarter of the replication.
    pub(crate) own_warm_up: bool,
}

/// A judged load.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) spot: Spot,
    pub(crate) verdict: Verdict,
    /// The statistic of each target, in ns or as a ratio; missing in overload.
    pub(crate) estimates: Vec<Estimate>,
    /// The worst estimate over its limit; infinite in overload.
    pub(crate) score: f64,
    pub(crate) row: Row,
    /// Requests that it took.
    pub(crate) simulated: u64,
    /// What it took of the budget.
    pub(crate) charged: u64,
    /// Measured requests of each replication.
    pub(crate) length: u64,
    /// Was its warm-up found from the data?
    pub(crate) own_warm_up: bool,
}

/// Why a probe gave nothing.
#[derive(Debug)]
pub(crate) enum Stopped {
    Interrupted,
    Failed(TuneError),
}

/// A question with all that every probe of it needs.
pub(crate) struct Bench<'a> {
    pub(crate) question: &'a Question,
    pub(crate) aims: Vec<Aim>,
    pub(crate) stop: &'a AtomicBool,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Bench<'a> {
    pub(crate) fn new(question: &'a Question, host: &Host<'a>) -> Result<Bench<'a>, TuneError> {
        let aims = question.targets.iter().map(|target| aim(question, target)).collect::<Result<_, _>>()?;
        Ok(Bench { question, aims, stop: host.stop, progress: host.progress })
    }

    pub(crate) fn confidence(&self) -> f64 {
        self.question.measure.stop.confidence
    }

    /// The shortest replications whose percentiles have both ends: thirty values beyond the rarest target.
    pub(crate) fn shortest(&self) -> u64 {
        let service = &self.question.workload.service;
        let needed = self.aims.iter().map(|aim| {
            let weight = aim.quantity.class.map_or(1.0, |class| service.class_weight(class));
            let beyond = aim.quantity.percentile.map_or(0.1, |percentile| 1.0 - percentile / 100.0);
            30.0 / (weight * beyond) / f64::from(REPLICATIONS)
        });
        let needed = needed.fold(0.0, f64::max) as u64;
        needed.clamp(if self.question.quick { 4_000 } else { 8_000 }, 200_000)
    }

    /// What a stage takes of the budget.
    pub(crate) fn stage_cost(&self, candidate: &Candidate, spot: Spot, length: u64) -> u64 {
        let requests = u64::from(REPLICATIONS) * (length + length / WARM_UP_PART);
        (requests as f64 * candidate.weight(self.question, spot)) as u64
    }

    /// Simulates `candidate` under `spot`, as precisely as it takes to decide, within `quota` requests; `None`
    /// if not even the first stage fits.
    pub(crate) fn probe(
        &self,
        candidate: &Candidate,
        spot: Spot,
        precision: Precision,
        quota: u64,
        (phase, threads): (Phase, usize),
    ) -> Result<Option<Probe>, Stopped> {
        let (mut length, mut last) = (precision.first, None);
        let (mut simulated, mut charged) = (0, 0);
        while charged + self.stage_cost(candidate, spot, length) <= quota {
            let mut probe = self.stage(candidate, spot, length, precision.own_warm_up, (phase, threads))?;
            simulated += probe.simulated;
            charged += probe.charged;
            (probe.simulated, probe.charged) = (simulated, charged);
            let longer = (length * 4).min(precision.most);
            let decided = probe.verdict != Verdict::Undecided;
            last = Some(probe);
            if decided || longer <= length {
                break;
            }
            length = longer;
        }
        Ok(last)
    }

    fn stage(
        &self,
        candidate: &Candidate,
        spot: Spot,
        length: u64,
        own_warm_up: bool,
        (phase, threads): (Phase, usize),
    ) -> Result<Probe, Stopped> {
        let warm_up = if own_warm_up { WarmUp::Auto } else { WarmUp::Requests(length / WARM_UP_PART) };
        let measure = Measure {
            percentiles: self.question.percentiles(),
            warm_up,
            requests: Some(length),
            replications: Some(REPLICATIONS),
            ..self.question.measure.clone()
        };
        let point = candidate.point(self.question, &Arc::new(measure), spot);
        let started = Instant::now();
        let weight = candidate.weight(self.question, spot);
        let progress =
            |requests: u64| (self.progress)(Progress { phase, requests: (requests as f64 * weight) as u64 });
        let crew = Crew { threads, stop: self.stop, progress: &progress };
        let mut results =
            experiment(&point, false, Judged::Reported).run(&crew).map_err(|error| match error {
                ExperimentError::Interrupted(_) => Stopped::Interrupted,
                ExperimentError::Variant(message) => {
                    Stopped::Failed(TuneError::Simulator { system: point.key.clone(), message })
                }
            })?;
        results.overloaded |= saturated(&point, &results);
        let row = self.row(candidate, &point, spot, &results, started.elapsed().as_secs_f64());
        let charged = (results.simulated as f64 * weight) as u64;
        Ok(Probe { charged, own_warm_up, ..self.judged(spot, &results, row, length) })
    }

    /// A row whose load and cores are those of the machine, dedicated cores included.
    fn row(&self, candidate: &Candidate, point: &Point, spot: Spot, results: &Results, wall_s: f64) -> Row {
        let mut row = Row::new(point, results, wall_s);
        row.load = spot.load;
        row.cores = candidate.capacity_cores;
        row.cores_dedicated = candidate.dedicated;
        row
    }

    fn judged(&self, spot: Spot, results: &Results, row: Row, length: u64) -> Probe {
        let estimate = |aim: &Aim| match results.overloaded {
            true => Estimate::MISSING,
            false => results.estimate(&aim.quantity, self.confidence()),
        };
        let estimates: Vec<Estimate> = self.aims.iter().map(estimate).collect();
        let ratio = |(aim, estimate): (&Aim, &Estimate)| match estimate.is_missing() {
            true => f64::INFINITY,
            false => estimate.estimate / aim.limit,
        };
        let score = self.aims.iter().zip(&estimates).map(ratio).fold(0.0, f64::max);
        let verdict = if results.overloaded {
            Verdict::Fail
        } else {
            verdict(&self.aims, &estimates, results.unfinished > 0)
        };
        Probe {
            spot,
            verdict,
            estimates,
            score,
            row,
            simulated: results.simulated,
            charged: 0,
            length,
            own_warm_up: false,
        }
    }
}

/// Is there more work than the cores can do? Where a discipline serves short requests first, a rare class of
/// long ones may pile up for ever while nearly all requests complete in time: counting requests does not show
/// that, adding up work does.
fn saturated(point: &Point, results: &Results) -> bool {
    let held = f64::from(point.system.cores_allocated) / f64::from(point.system.cores);
    if point.system.allocation != AllocationConfig::Static {
        return point.load * point.costs.probe_factor >= FULL;
    }
    let overhead = |account: &Account| account.switching_ps + account.moving_ps + account.placing_ps;
    let total = |part: &dyn Fn(&Account) -> u128| -> f64 {
        results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
    };
    let overheads = total(&overhead) / total(&|account| account.held_ps).max(1.0);
    point.load * point.costs.probe_factor / held + overheads >= FULL
}

/// All intervals below their limits, or one above. Requests that never completed are the longest ones: with
/// some, nothing passes.
fn verdict(aims: &[Aim], estimates: &[Estimate], some_unfinished: bool) -> Verdict {
    let pairs = || aims.iter().zip(estimates);
    if pairs().any(|(aim, estimate)| estimate.low >= aim.limit) {
        Verdict::Fail
    } else if !some_unfinished && pairs().all(|(aim, estimate)| estimate.high < aim.limit) {
        Verdict::Pass
    } else {
        Verdict::Undecided
    }
}

fn aim(question: &Question, target: &LatencyTarget) -> Result<Aim, TuneError> {
    let service = &question.workload.service;
    let class = match &target.class {
        None => None,
        Some(name) => Some(service.classes().iter().position(|class| class == name).ok_or_else(|| {
            TuneError::UnknownClass {
                target: target.to_string(),
                class: name.clone(),
                known: service.classes().join(", "),
            }
        })?),
    };
    let percentile = match target.statistic {
        Statistic::Mean => None,
        Statistic::Percentile(percentile) => Some(percentile),
    };
    let (slowdown, limit) = match target.limit {
        Limit::Latency(limit) => (false, limit.as_nanos_f64()),
        Limit::Slowdown(limit) => (true, limit),
    };
    let service_ns = match (percentile, class) {
        (None, None) => service.mean_ps(),
        (None, Some(class)) => service.class_mean_ps(class),
        (Some(p), None) => service.quantile(p / 100.0) as f64,
        (Some(p), Some(class)) => service.class_quantile(class, p / 100.0) as f64,
    } / 1e3;
    if !slowdown && service_ns >= limit {
        let statistic = percentile.map_or("mean".to_owned(), caudal_stats::percentile_label);
        return Err(TuneError::Impossible { target: target.to_string(), statistic, service_ns });
    }
    Ok(Aim { target: target.clone(), quantity: Quantity { class, slowdown, percentile }, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_passes_only_when_the_whole_interval_does() {
        let target: LatencyTarget = "p99 < 10ns".parse().unwrap();
        let quantity = Quantity { class: None, slowdown: false, percentile: Some(99.0) };
        let aims = [Aim { target, quantity, limit: 10.0 }];
        let at = |low, high| [Estimate { estimate: (low + high) / 2.0, low, high }];
        assert_eq!(verdict(&aims, &at(7.0, 9.9), false), Verdict::Pass);
        assert_eq!(verdict(&aims, &at(7.0, 9.9), true), Verdict::Undecided, "some never completed");
        assert_eq!(verdict(&aims, &at(7.0, 10.0), false), Verdict::Undecided);
        assert_eq!(verdict(&aims, &at(7.0, f64::INFINITY), false), Verdict::Undecided);
        assert_eq!(verdict(&aims, &at(10.0, f64::INFINITY), true), Verdict::Fail);
    }
}
