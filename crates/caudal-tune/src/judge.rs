//! A probe of a plan: one system simulated under one load, and held against the targets. The searches for the highest load ask for
//! probes, one at a time; each goes to the simulator and is charged to the budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use caudal_config::{Measure, Metric, Point, WarmUp};
use caudal_policy::random::hash;
use caudal_sim::experiment::{Experiment, ExperimentError, Results, StopOn};
use caudal_sim::row::{Row, row_counting};
use caudal_sim::steady::{Lengths, Overheads};
use caudal_sim::sweep::experiment;
use caudal_stats::{Estimate, relaxation};

use crate::aims::{Aim, aims};
use crate::candidate::{Candidate, Spot};
use crate::{Control, Phase, Progress, Question, TuneError, cost};

/// Replications of a stage.
const REPLICATIONS: u32 = relaxation::REPLICATIONS;
/// The same of recorded arrivals, each of which is all of them: at least to tell which systems are clearly behind, at least to know
/// anything for certain, and so many that little is left open.
const PLAYS: (u64, u64, u64) = (2, 4, 96);
/// Most plays of a short file.
const SHORT_PLAYS: u64 = 1_000;
/// Of the requests of a replication, the part that is simulated before the measured ones, at least.
const WARM_UP_PART: u64 = 4;
/// The part of a quota that one hardness may take for a lack of requests.
const PATIENCE: u64 = 2;
/// Stirs the seed of a confirmation: a winner is chosen among several because its requests were kind to it, others say
/// how good it is. Seeds are numbers that JSON readers keep exactly.
const FRESH: u64 = 0xC0F1;
const SEED_SHIFT: u32 = 12;

/// The verdict on a system under a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadVerdict {
    Pass,
    Fail,
    Undecided,
}

/// How much of what theory asks for a probe gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// A quarter, and at most so many requests a replication: enough to tell which systems are clearly behind. Near saturation,
    /// systems look better than they are.
    Coarse(u64),
    /// All of it. Only then can anything pass that has to be certain.
    Full,
}

/// The part of [`Depth::Coarse`].
const COARSE: f64 = 0.25;

/// How long replications are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// Measured requests of a replication in the first stage.
    pub(crate) first: u64,
    /// The most; a stage that leaves the verdict open is followed by one four times as long, up to this.
    pub(crate) most: u64,
    /// How much of what the system's relaxation time asks for replications have to be, whatever `most` says.
    pub(crate) depth: Depth,
    /// Where nothing but a lack of requests leaves the verdict open, go on beyond `most`, at [`Depth::Full`].
    pub(crate) persists: bool,
    /// Look for the end of the warm-up in the data too, and simulate requests that no search has seen.
    pub(crate) confirming: bool,
}

/// A judged load.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) spot: Spot,
    pub(crate) verdict: LoadVerdict,
    /// The statistic of each target, in ns or as a ratio; missing in overload.
    pub(crate) estimates: Vec<Estimate>,
    /// The worst estimate over its limit; infinite in overload.
    pub(crate) score: f64,
    pub(crate) row: Row,
    /// Requests that it took.
    pub(crate) simulated: u64,
    /// The requests that it took of the budget.
    pub(crate) charged: u64,
    /// Measured requests of each replication.
    pub(crate) length: u64,
    /// The scheduler's overheads there.
    pub(crate) overheads: Overheads,
    /// Did it see requests that no search had seen, and was the warm-up looked for in the data too?
    pub(crate) confirming: bool,
    /// Did the budget end before it was decided?
    pub(crate) cut_short: bool,
}

/// Why a probe gave nothing.
#[derive(Debug)]
pub(crate) enum Stopped {
    Interrupted,
    Failed(TuneError),
}

/// A question with all that every probe of it needs.
pub(crate) struct ProbeContext<'a> {
    pub(crate) question: &'a Question,
    pub(crate) aims: Vec<Aim>,
    pub(crate) stop: &'a AtomicBool,
    progress: &'a (dyn Fn(Progress) + Sync),
    /// Of the engine, in all probes.
    pub(crate) events: AtomicU64,
}

impl<'a> ProbeContext<'a> {
    pub(crate) fn new(
        question: &'a Question,
        control: &Control<'a, Progress>,
    ) -> Result<ProbeContext<'a>, TuneError> {
        let aims = aims(question)?;
        let events = AtomicU64::new(0);
        Ok(ProbeContext { question, aims, stop: control.stop, progress: control.progress, events })
    }

    /// Tells of requests that were simulated.
    pub(crate) fn tell(&self, phase: Phase, requests: u64) {
        (self.progress)(Progress { phase, requests });
    }

    pub(crate) fn confidence(&self) -> f64 {
        self.question.measure.stop.confidence
    }

    /// The shortest replications whose percentiles have both ends: thirty values beyond the rarest target.
    pub(crate) fn shortest(&self) -> u64 {
        let service = &self.question.workload.service;
        let needed = self.aims.iter().map(|aim| {
            let weight = aim.quantity.class.map_or(1.0, |class| service.class_weight(class));
            let beyond = match (aim.quantity.above_ps, aim.quantity.percentile) {
                (Some(_), _) => aim.limit,
                (None, percentile) => percentile.map_or(0.1, |percentile| 1.0 - percentile / 100.0),
            };
            30.0 / (weight * beyond) / f64::from(REPLICATIONS)
        });
        let needed = needed.fold(0.0, f64::max) as u64;
        needed.clamp(if self.question.quick { 4_000 } else { 8_000 }, 200_000)
    }

    /// The requests that a stage takes of the budget.
    pub(crate) fn stage_cost(&self, candidate: &Candidate, spot: Spot, wanted: Wanted) -> u64 {
        let point = candidate.point(self.question, &Arc::new(self.question.measure.clone()), spot);
        let Stage { warm_up, measured, replications } =
            wanted.stage(&experiment(&point, false, StopOn::Reported));
        let requests = u64::from(replications).saturating_mul(warm_up.saturating_add(measured));
        (requests as f64 * cost::expected(candidate, self.question, spot) * wanted.correction) as u64
    }

    /// Simulates `candidate` under `spot`, as precisely as it takes to decide, within `quota` requests; `None`
    /// if not even the first stage fits. The scheduler's overheads are what is known of them so far.
    pub(crate) fn probe(
        &self,
        candidate: &Candidate,
        spot: Spot,
        (precision, known): (Precision, Experience),
        quota: u64,
        (phase, threads): (Phase, usize),
    ) -> Result<Option<Probe>, Stopped> {
        let mut wanted = Wanted::new(precision, known);
        let (mut simulated, mut charged, mut last) = (0, 0, None);
        let mut most = quota;
        while self.stage_cost(candidate, spot, wanted).saturating_add(charged) <= most {
            let mut probe = self.stage(candidate, spot, wanted, precision.confirming, (phase, threads))?;
            simulated += probe.simulated;
            charged += probe.charged;
            (probe.simulated, probe.charged) = (simulated, charged);
            let decided = probe.verdict != LoadVerdict::Undecided;
            // Overheads that are higher than was thought ask for more.
            let lengthened = self.lengthened(candidate, spot, wanted, probe.overheads);
            let mut longer = (probe.length * 4).min(precision.most.max(self.many_plays(precision.depth)));
            most = quota;
            let persists = precision.persists && precision.depth == Depth::Full;
            if persists && longer <= probe.length && probe.lacks_requests() {
                // What is easier has to be asked, too, if this can not be decided.
                most = quota / PATIENCE;
                let cost = |length| self.stage_cost(candidate, spot, Wanted { length, ..wanted });
                let fits = |times: &u64| cost(probe.length * times).saturating_add(charged) <= most;
                longer = probe.length * [4, 2].into_iter().find(fits).unwrap_or(2);
            }
            if decided || longer <= probe.length && !lengthened {
                return Ok(Some(probe));
            }
            let Experience { overheads, correction } = self.experience(candidate, &probe);
            wanted = Wanted { length: longer.max(probe.length), overheads, correction, ..wanted };
            last = Some(Probe { cut_short: true, ..probe });
        }
        Ok(last)
    }

    /// The experience that `probe` of `candidate` gives for the next one.
    pub(crate) fn experience(&self, candidate: &Candidate, probe: &Probe) -> Experience {
        let expected = cost::expected(candidate, self.question, probe.spot) * probe.simulated as f64;
        let correction = if expected > 0.0 { probe.charged as f64 / expected } else { 1.0 };
        Experience { overheads: probe.overheads, correction }
    }

    /// Requests of a replication that make [`PLAYS`] of recorded arrivals, where something is to be known for certain.
    fn many_plays(&self, depth: Depth) -> u64 {
        let count = self.question.workload.arrivals.count().filter(|_| depth == Depth::Full);
        count.map_or(0, |count| count.saturating_mul(PLAYS.2) / u64::from(REPLICATIONS))
    }

    /// Do these overheads ask for replications that are much longer than `wanted`?
    fn lengthened(&self, candidate: &Candidate, spot: Spot, wanted: Wanted, overheads: Overheads) -> bool {
        let more = self.stage_cost(candidate, spot, Wanted { overheads, ..wanted });
        more > self.stage_cost(candidate, spot, wanted) / 4 * 5
    }

    fn stage(
        &self,
        candidate: &Candidate,
        spot: Spot,
        wanted: Wanted,
        confirming: bool,
        (phase, threads): (Phase, usize),
    ) -> Result<Probe, Stopped> {
        let asked = &self.question.measure;
        let mut measure = Measure {
            percentiles: self.question.percentiles(),
            miss: self.question.late(),
            wait: asked.wait || self.aims.iter().any(|aim| aim.quantity.metric == Metric::Wait),
            seed: if confirming { hash(asked.seed, FRESH) >> SEED_SHIFT } else { asked.seed },
            ..asked.clone()
        };
        let point = candidate.point(self.question, &Arc::new(measure.clone()), spot);
        let started = Instant::now();
        let weight = cost::expected(candidate, self.question, spot) * wanted.correction;
        let progress =
            |requests: u64| (self.progress)(Progress { phase, requests: (requests as f64 * weight) as u64 });
        let control = Control { threads, stop: self.stop, progress: &progress };
        let failed = |error| match error {
            ExperimentError::Interrupted(_) => Stopped::Interrupted,
            ExperimentError::Variant(message) => {
                Stopped::Failed(TuneError::Simulator { system: point.key.clone(), message })
            }
        };
        let blank = experiment(&point, false, StopOn::Reported);
        let Stage { mut warm_up, measured, replications } = wanted.stage(&blank);
        let mut pilots = 0;
        if confirming {
            warm_up = warm_up.max(blank.find_warm_up(&control, &mut pilots).map_err(failed)?);
        }
        (measure.warm_up, measure.requests) = (WarmUp::Requests(warm_up), Some(measured));
        measure.replications = Some(replications);
        let timed = Experiment { measure: &measure, ..blank };
        let mut results = timed.run(&control).map_err(failed)?;
        results.simulated += pilots;
        let overheads = timed.overheads(&results);
        // Where a discipline serves short requests first, a rare class of long ones may pile up for ever while nearly
        // all requests complete in time: counting requests does not show that, adding up work does.
        results.overloaded |= timed.is_full(overheads);
        let row = self.row(candidate, &point, spot, &results, started.elapsed().as_secs_f64());
        self.events.fetch_add(results.events, Ordering::Relaxed);
        let counted = cost::counted(candidate, self.question, spot, &results);
        let charged = (results.simulated as f64 * counted) as u64;
        let probe = self.judged(spot, &results, row);
        // Of recorded arrivals, which are played whole, more is played more often.
        let length = if results.recorded.is_some() { wanted.length } else { measured };
        Ok(Probe { charged, confirming, overheads, length, ..probe })
    }

    /// A row whose load, cores and core time are those of the machine, dedicated cores included.
    fn row(&self, candidate: &Candidate, point: &Point, spot: Spot, results: &Results, wall_s: f64) -> Row {
        let mut row = row_counting(point, results, wall_s, candidate.dedicated);
        row.load = spot.load;
        row.cores = candidate.capacity_cores;
        row.cores_dedicated = candidate.dedicated;
        row
    }

    fn judged(&self, spot: Spot, results: &Results, row: Row) -> Probe {
        let estimate = |aim: &Aim| match results.overloaded {
            true => Estimate::MISSING,
            false => settled(results.estimate(&aim.quantity, self.confidence()), results.holds()),
        };
        let estimates: Vec<Estimate> = self.aims.iter().map(estimate).collect();
        let ratio = |(aim, estimate): (&Aim, &Estimate)| match estimate.is_missing() {
            true => f64::INFINITY,
            false => estimate.estimate / aim.limit,
        };
        let score = self.aims.iter().zip(&estimates).map(ratio).fold(0.0, f64::max);
        let verdict = if results.overloaded {
            LoadVerdict::Fail
        } else {
            verdict(&self.aims, &estimates, results.unfinished == 0)
        };
        Probe {
            spot,
            verdict,
            estimates,
            score,
            row,
            simulated: results.simulated,
            charged: 0,
            length: 0,
            overheads: Overheads::default(),
            confirming: false,
            cut_short: false,
        }
    }
}

impl Probe {
    /// By its estimates it passes, and only intervals with unknown upper ends speak against that: the
    /// run was too short to see enough of the tail. That says nothing of the system.
    fn lacks_requests(&self) -> bool {
        let open = |estimate: &Estimate| estimate.high.is_infinite();
        self.verdict == LoadVerdict::Undecided && self.score < 1.0 && self.estimates.iter().any(open)
    }
}

/// The estimate without its upper end where it is a lower bound only: of a system that is still filling up, and of a part of what was
/// recorded.
fn settled(estimate: Estimate, holds: bool) -> Estimate {
    if holds { estimate } else { Estimate { high: f64::INFINITY, ..estimate } }
}

/// How long replications are to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Measured requests, at least.
    pub(crate) length: u64,
    /// See [`Precision::depth`].
    pub(crate) depth: Depth,
    /// The scheduler's overheads, as far as they are known.
    pub(crate) overheads: Overheads,
    /// See [`Experience::correction`].
    pub(crate) correction: f64,
}

/// The experience from earlier runs of a system, which the next one is planned by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Experience {
    /// The scheduler's overheads.
    pub(crate) overheads: Overheads,
    /// The counted cost of requests over their expected cost.
    pub(crate) correction: f64,
}

impl Default for Experience {
    fn default() -> Experience {
        Experience { overheads: Overheads::default(), correction: 1.0 }
    }
}

/// A stage: so many replications of so many requests, before and during the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stage {
    warm_up: u64,
    measured: u64,
    replications: u32,
}

impl Wanted {
    /// The first stage of a probe.
    pub(crate) fn new(precision: Precision, known: Experience) -> Wanted {
        let Experience { overheads, correction } = known;
        Wanted { length: precision.first, depth: precision.depth, overheads, correction }
    }

    /// The stage that it takes. Recorded arrivals are played whole, as often as makes as many requests.
    fn stage(&self, experiment: &Experiment<'_>) -> Stage {
        if let Some(count) = experiment.arrivals.count() {
            let least = if self.depth == Depth::Full { PLAYS.1 } else { PLAYS.0 };
            let plays = (self.length * u64::from(REPLICATIONS)).div_ceil(count.max(1));
            return Stage {
                warm_up: 0,
                measured: count,
                replications: plays.clamp(least, SHORT_PLAYS) as u32,
            };
        }
        let (warm_up, measured) = self.lengths(experiment);
        Stage { warm_up, measured, replications: REPLICATIONS }
    }

    /// Requests of a replication before and during the measurement. What is overloaded anyway needs no more than asked.
    fn lengths(&self, experiment: &Experiment<'_>) -> (u64, u64) {
        let Lengths { warm_up, measured } = experiment.lengths(self.overheads);
        if experiment.is_full(self.overheads) {
            return (self.length / WARM_UP_PART, self.length);
        }
        let depth = match self.depth {
            Depth::Coarse(most) => COARSE.min(most as f64 / (warm_up + measured)),
            Depth::Full => 1.0,
        };
        let part = |requests: f64| (depth * requests).ceil() as u64;
        let measured = self.length.max(part(measured));
        // Whole cycles of what arrives; where a coarse look has no time for one, parts of it that lie all over it.
        let whole = experiment.whole_cycles(measured as f64).round() as u64;
        let measured = match self.depth {
            Depth::Coarse(most) if whole > most.max(measured) => measured,
            _ => whole,
        };
        ((self.length / WARM_UP_PART).max(part(warm_up)), measured)
    }
}

/// All intervals below their limits, or one above. Requests that never completed are the longest ones: unless all
/// are `finished`, nothing passes.
fn verdict(aims: &[Aim], estimates: &[Estimate], finished: bool) -> LoadVerdict {
    let pairs = || aims.iter().zip(estimates);
    if pairs().any(|(aim, estimate)| estimate.low >= aim.limit) {
        LoadVerdict::Fail
    } else if finished && pairs().all(|(aim, estimate)| estimate.high < aim.limit) {
        LoadVerdict::Pass
    } else {
        LoadVerdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use caudal_config::LatencyTarget;
    use caudal_sim::experiment::Quantity;

    use super::*;

    #[test]
    fn a_target_passes_only_when_the_whole_interval_does() {
        let target: LatencyTarget = "p99 < 10ns".parse().unwrap();
        let quantity = Quantity {
            class: None,
            metric: caudal_config::Metric::Latency,
            percentile: Some(99.0),
            ..Quantity::default()
        };
        let aims = [Aim { target, quantity, limit: 10.0 }];
        let at = |low, high| [Estimate { estimate: (low + high) / 2.0, low, high }];
        assert_eq!(verdict(&aims, &at(7.0, 9.9), true), LoadVerdict::Pass);
        assert_eq!(verdict(&aims, &at(7.0, 9.9), false), LoadVerdict::Undecided, "some never completed");
        assert_eq!(verdict(&aims, &at(7.0, 10.0), true), LoadVerdict::Undecided);
        assert_eq!(verdict(&aims, &at(7.0, f64::INFINITY), true), LoadVerdict::Undecided);
        assert_eq!(verdict(&aims, &at(10.0, f64::INFINITY), false), LoadVerdict::Fail);
    }
}
