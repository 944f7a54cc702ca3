//! Simulation of a formulas' table: does it do what they promise, and would other thresholds do better?
//! `caudal threshold` calls it.
//!
//! 1. The table is simulated with its thresholds times factors from a quarter to four, on the same requests: what is
//!    certainly worse than the best is dropped, the others get more replications, and the factors between the best and its
//!    neighbours are tried as well.
//! 2. The best factor, the table itself, steal-first and admit-first are simulated on requests that the search has not
//!    seen. Only if the factor is certainly better there is it chosen.
//!
//! All comparisons are of the shares of requests that are late, paired by replication (common random numbers).

use std::sync::Arc;

use caudal_config::{Costs, Measure, Stop, System, WarmUp, find_preset};
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_sim::experiment::{Experiment, ExperimentError, Results, StopOn};
use caudal_stats::{Estimate, Linear};
use caudal_workload::{Arrivals, Graphs, Service};
use serde::Serialize;

use super::{ThresholdAnswer, ThresholdQuestion};
use crate::{Control, Phase, Progress, TuneError};

/// Factors that are tried first.
const FACTORS: [f64; 9] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0];
/// Replications of the first interim analysis, and of what is left after it.
const STAGES: [u32; 2] = [8, 24];
/// Replications on requests that the search has not seen.
const JUDGED: u32 = 40;

/// A question to [`refine()`].
#[derive(Clone, Debug)]
pub struct RefineQuestion<'a> {
    /// The question that the table answers.
    pub question: &'a ThresholdQuestion<'a>,
    /// When requests arrive.
    pub arrivals: &'a Arrivals,
    /// The graphs of the requests: how much of each can be done in parallel.
    pub dag: Arc<Graphs>,
    /// Seed, and confidence of intervals.
    pub measure: &'a Measure,
    /// Requests of a replication.
    pub requests: u64,
}

impl RefineQuestion<'_> {
    /// About how many requests it takes.
    pub fn expected(&self) -> u64 {
        let replications =
            FACTORS.len() as u64 / 2 * u64::from(STAGES[0] + STAGES[1]) + 4 * u64::from(JUDGED);
        replications * (self.requests + self.requests / 5)
    }
}

/// The simulated result of the thresholds times a factor.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scaled {
    /// The factor.
    pub scale: f64,
    /// Share of the requests that are late.
    pub late: Estimate,
    /// The share over that under the table itself.
    pub over_table: Estimate,
    /// Replications.
    pub replications: usize,
}

/// A policy on requests that the search has not seen.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedPolicy {
    /// The name of the policy.
    pub policy: String,
    /// Share of the requests that are late.
    pub late: Estimate,
    /// The chosen thresholds' share over this one's; missing for those themselves.
    pub chosen_over: Option<Estimate>,
}

/// The result of simulating a table.
#[derive(Clone, Debug, Serialize)]
pub struct Refined {
    /// The factor of the thresholds: 1 unless another factor is certainly better.
    pub scale: f64,
    /// All factors that were tried, rising.
    pub tried: Vec<Scaled>,
    /// The chosen thresholds, the table, the best factor of the search, steal-first and admit-first on fresh requests.
    pub judged: Vec<JudgedPolicy>,
    /// Requests that were simulated.
    pub requests: u64,
}

/// Simulates `found` and thresholds that are multiples of its.
///
/// # Errors
/// If it is interrupted, or the requests do not fork.
pub fn refine(
    asked: &RefineQuestion<'_>,
    found: &ThresholdAnswer,
    control: &Control<'_, Progress>,
) -> Result<Refined, TuneError> {
    if asked.dag.is_serial() {
        return Err(TuneError::Thresholds(
            "a request that is done on one core is large or not, it is all the same".to_owned(),
        ));
    }
    let context = RefineRuns {
        asked,
        found,
        control,
        service: asked.question.service.clone().with_dag(Graphs::clone(&asked.dag)),
    };
    let tried = context.search()?;
    let best = best(&tried, asked.question).scale();
    context.judge(tried, best)
}

/// A simulated policy.
struct PolicyTrial {
    policy: Policy,
    results: Results,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    Scaled(f64),
    StealFirst,
    AdmitFirst,
}

impl PolicyTrial {
    fn scale(&self) -> f64 {
        if let Policy::Scaled(scale) = self.policy { scale } else { 1.0 }
    }

    fn replications(&self) -> usize {
        self.results.accounts.len()
    }
}

struct RefineRuns<'a> {
    asked: &'a RefineQuestion<'a>,
    found: &'a ThresholdAnswer,
    control: &'a Control<'a, Progress>,
    service: Service,
}

impl RefineRuns<'_> {
    /// Every factor that is worth trying, rising.
    fn search(&self) -> Result<Vec<PolicyTrial>, TuneError> {
        let seed = self.asked.measure.seed;
        let try_out = |scale| self.simulate(Policy::Scaled(scale), seed, STAGES[0]);
        let mut trials = FACTORS.into_iter().map(try_out).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..2 {
            self.lengthen(&mut trials)?;
            for between in self.between(&trials) {
                let trial = self.simulate(Policy::Scaled(between), seed, STAGES[1])?;
                let at = trials.partition_point(|other| other.scale() < between);
                trials.insert(at, trial);
            }
        }
        Ok(trials)
    }

    /// Gives as many replications as there are to the thresholds that are not certainly worse than the best.
    fn lengthen(&self, trials: &mut [PolicyTrial]) -> Result<(), TuneError> {
        let leader = best(trials, self.asked.question).scale();
        let at = trials.iter().position(|trial| trial.scale() == leader).unwrap_or(0);
        let open: Vec<usize> = (0..trials.len())
            .filter(|&other| {
                let lost = self.ratio(&trials[other], &trials[at]).low > 1.0;
                let table = trials[other].scale() == 1.0;
                !lost || table
            })
            .collect();
        for trial in open {
            let more = STAGES[1].saturating_sub(trials[trial].replications() as u32);
            self.extend(&mut trials[trial], self.asked.measure.seed, more)?;
        }
        Ok(())
    }

    /// Factors between the best and those next to it.
    fn between(&self, trials: &[PolicyTrial]) -> Vec<f64> {
        let scale = best(trials, self.asked.question).scale();
        let below = trials.iter().map(PolicyTrial::scale).filter(|&other| other < scale).fold(0.0, f64::max);
        let above = trials
            .iter()
            .map(PolicyTrial::scale)
            .filter(|&other| other > scale)
            .fold(f64::INFINITY, f64::min);
        let middle = |other: f64| ((scale * other).sqrt() * 100.0).round() / 100.0;
        let near = [below, above].into_iter().filter(|&other| other > 0.0 && other.is_finite()).map(middle);
        near.filter(|new| trials.iter().all(|trial| (trial.scale() / new - 1.0).abs() > 0.04)).collect()
    }

    /// All that matters once more, on requests that the search has not seen.
    fn judge(&self, trials: Vec<PolicyTrial>, best: f64) -> Result<Refined, TuneError> {
        let seed = self.asked.measure.seed.wrapping_add(1);
        let simulate = |policy| {
            (self.control.progress)(Progress { phase: Phase::Confirming, requests: 0 });
            self.simulate(policy, seed, JUDGED)
        };
        let mut policies = vec![Policy::Scaled(1.0), Policy::StealFirst, Policy::AdmitFirst];
        if best != 1.0 {
            policies.insert(1, Policy::Scaled(best));
        }
        let fresh = policies.into_iter().map(simulate).collect::<Result<Vec<_>, _>>()?;
        let wins = best != 1.0 && self.ratio(&fresh[1], &fresh[0]).high < 1.0;
        let chosen = &fresh[usize::from(wins)];
        let judged = fresh
            .iter()
            .map(|trial| JudgedPolicy {
                policy: match trial.policy {
                    Policy::Scaled(1.0) => "the table".to_owned(),
                    Policy::Scaled(scale) => format!("the table times {scale}"),
                    Policy::StealFirst => "steal-first".to_owned(),
                    Policy::AdmitFirst => "admit-first".to_owned(),
                },
                late: self.late(trial),
                chosen_over: (trial.policy != chosen.policy).then(|| self.ratio(chosen, trial)),
            })
            .collect();
        let table = trials.iter().find(|trial| trial.scale() == 1.0);
        let scaled = |trial: &PolicyTrial| Scaled {
            scale: trial.scale(),
            late: self.late(trial),
            over_table: table.map_or(Estimate::MISSING, |table| self.ratio(trial, table)),
            replications: trial.replications(),
        };
        let all = trials.iter().chain(&fresh);
        Ok(Refined {
            scale: chosen.scale(),
            tried: trials.iter().map(scaled).collect(),
            judged,
            requests: all.map(|trial| trial.results.simulated).sum(),
        })
    }

    // The method by itself would be one of a single lifetime.
    #[allow(clippy::redundant_closure_for_method_calls)]
    fn simulate(&self, policy: Policy, seed: u64, replications: u32) -> Result<PolicyTrial, TuneError> {
        let results = self.with(policy, seed, replications, |experiment, control| experiment.run(control))?;
        Ok(PolicyTrial { policy, results })
    }

    fn extend(&self, trial: &mut PolicyTrial, seed: u64, more: u32) -> Result<(), TuneError> {
        if more > 0 {
            let before = trial.results.simulated;
            self.with(trial.policy, seed, more, |experiment, control| {
                experiment.extend(&mut trial.results, more, control)
            })?;
            let Results { warm_up, measured, .. } = trial.results;
            trial.results.simulated = before + u64::from(more) * (warm_up + measured);
        }
        Ok(())
    }

    fn with<T>(
        &self,
        policy: Policy,
        seed: u64,
        replications: u32,
        work: impl FnOnce(&Experiment<'_>, &Control<'_>) -> Result<T, ExperimentError>,
    ) -> Result<T, TuneError> {
        let RefineQuestion { question, arrivals, measure, requests, .. } = self.asked;
        let (system, costs) = self.system(policy);
        let measure = Measure {
            percentiles: vec![50.0],
            miss: vec![question.target],
            wait: measure.wait,
            stop: Stop { confidence: measure.stop.confidence, ..Stop::default() },
            seed,
            // The same for all: requests are paired by their numbers.
            warm_up: WarmUp::Requests(requests / 5),
            requests: Some(*requests),
            replications: Some(replications),
        };
        let experiment = Experiment {
            system: &system,
            costs: &costs,
            service: &self.service,
            arrivals,
            mean_gap_ps: 1e12 / question.rate_per_s,
            measure: &measure,
            quick: false,
            stop_on: StopOn::Reported,
        };
        let progress = |requests| (self.control.progress)(Progress { phase: Phase::Tuning, requests });
        let control = Control { threads: self.control.threads, stop: self.control.stop, progress: &progress };
        work(&experiment, &control).map_err(|error| match error {
            ExperimentError::Interrupted(_) => TuneError::Interrupted,
            ExperimentError::Variant(what) => TuneError::Thresholds(what),
        })
    }

    fn system(&self, policy: Policy) -> (System, Costs) {
        let ThresholdQuestion { cores, knowledge, .. } = *self.asked.question;
        let name = match (policy, knowledge) {
            (Policy::StealFirst, _) => "steal-first",
            (Policy::AdmitFirst, _) => "admit-first",
            (Policy::Scaled(_), Knowledge::Processed) => "tail-control",
            (Policy::Scaled(_), Knowledge::Clairvoyant) => "tc-clairvoyant",
        };
        let preset = find_preset(name).expect("a preset of this name");
        let mut system = preset.system(cores);
        if let Policy::Scaled(scale) = policy {
            let config = self.found.config(scale);
            system.parallelism = match knowledge {
                Knowledge::Processed => ParallelismConfig::TailControl(config),
                Knowledge::Clairvoyant => ParallelismConfig::Clairvoyant(config),
            };
        }
        (system, preset.costs())
    }

    /// Share of the requests that are late, each by the target of its class.
    fn late(&self, trial: &PolicyTrial) -> Estimate {
        let (question, confidence) = (self.asked.question, self.asked.measure.stop.confidence);
        match late(trial, question, trial.replications()) {
            None => Estimate::MISSING,
            Some(share) if share.value() > 0.0 => share.ln().exp_interval(confidence),
            Some(_) if question.class_targets.is_empty() => {
                trial.results.all.miss_ratio(question.target.0, confidence)
            }
            Some(_) => none_late(&trial.results, question, confidence),
        }
    }

    /// The share of late requests under `a` over that under `b`, in as many replications as both have.
    fn ratio(&self, a: &PolicyTrial, b: &PolicyTrial) -> Estimate {
        let common = a.replications().min(b.replications());
        let [first, second] = [a, b].map(|trial| late(trial, self.asked.question, common));
        match (first, second) {
            (Some(first), Some(second)) if first.value() > 0.0 && second.value() > 0.0 => {
                first.ln().plus(-1.0, &second.ln()).exp_interval(self.asked.measure.stop.confidence)
            }
            _ => Estimate::MISSING,
        }
    }
}

/// Share of the requests that are late in the first replications; none in overload.
fn late(trial: &PolicyTrial, question: &ThresholdQuestion<'_>, replications: usize) -> Option<Linear> {
    let Results { overloaded, all, classes, .. } = &trial.results;
    if *overloaded {
        return None;
    }
    if question.class_targets.is_empty() {
        return Some(all.latency_ps.share_above(question.target.0, replications));
    }
    let names = question.service.classes();
    let of_class = |(at, name): (usize, &String)| {
        let share = classes[at].latency_ps.share_above(question.target_of(name).0, replications);
        (question.service.class_weight(at), share)
    };
    let mut shares = names.iter().enumerate().map(of_class).filter(|(weight, _)| *weight > 0.0);
    let (weight, first) = shares.next()?;
    let scaled = |weight: f64, share: &Linear| share.mapped(weight * share.value(), weight);
    Some(shares.fold(scaled(weight, &first), |sum, (weight, share)| sum.plus(weight, &share)))
}

/// The share of late requests where not one of any class was: each class may have as many as its own interval allows.
fn none_late(results: &Results, question: &ThresholdQuestion<'_>, confidence: f64) -> Estimate {
    let most = |(at, name): (usize, &String)| {
        let weight = question.service.class_weight(at);
        let own = results.classes[at].miss_ratio(question.target_of(name).0, confidence);
        if weight > 0.0 && !own.is_missing() { weight * own.high } else { weight }
    };
    let high: f64 = question.service.classes().iter().enumerate().map(most).sum();
    Estimate { estimate: 0.0, low: 0.0, high: high.min(1.0) }
}

/// The trial with the fewest late requests, by as many replications as it has.
fn best<'a>(trials: &'a [PolicyTrial], question: &ThresholdQuestion<'_>) -> &'a PolicyTrial {
    let most = trials.iter().map(PolicyTrial::replications).max().unwrap_or(0);
    let share = |trial: &PolicyTrial| {
        late(trial, question, trial.replications()).map_or(f64::INFINITY, |share| share.value())
    };
    let open = trials.iter().filter(|trial| trial.replications() == most);
    open.min_by(|a, b| share(a).total_cmp(&share(b))).expect("something was tried")
}
