//! The judgement of a layout of lanes and of its rivals, on requests that no search has seen. The search calls it for each of them when the
//! climb has ended, and `drift` for each other workload. It simulates and writes the results into the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use caudal_config::{
    LatencyStatistic, Measure, Metric, Offered, Point, Statistic, System, SystemPlan, Workload,
};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, LasConfig, ProcessorSharingConfig};
use caudal_policy::random::hash;
use caudal_sim::experiment::{Control, ExperimentError, Quantity, StopOn};
use caudal_sim::lanes::LaneLoad;
use caudal_sim::row::{Row, row_of};
use caudal_sim::sweep::experiment;
use caudal_stats::Estimate;
use caudal_workload::Service;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::question::{LanesMachine, LanesQuestion};
use crate::compare::{Compared, Contest, compare};
use crate::{Journal, TuneError};

/// Is mixed into the seed, so that the judgement has other requests than the search.
const FRESH: u64 = 0x1A9E5;
/// Bits by which a seed is shifted to the right, so that JSON readers keep it exactly.
const SEED_SHIFT: u32 = 12;
/// Most requests that are simulated for a system that is only shown beside the answer.
const RIVAL_REQUESTS: u64 = 4_000_000;
const RIVAL_REQUESTS_MIN: u64 = 100_000;
/// About the most time slices of a rival for a request of mean length.
const SLICES_MAX: f64 = 500.0;
/// Requests of a replication in the comparison of the answer with a single queue.
const PAIRED: u64 = 40_000;

/// A system beside the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgedSystem {
    /// Its name.
    pub system: String,
    /// Its lanes, if it has any.
    pub layout: Option<Layout>,
    /// The target's statistic, in ns or as a ratio.
    pub target: Estimate,
    /// The p99.9 of the slowdown of all requests.
    pub slowdown: Estimate,
    /// Interruptions of a request.
    pub preemptions_per_request: Estimate,
    /// Interruptions of all requests in a second.
    pub preemptions_per_s: Estimate,
    /// The statistic of each further limit, in ns or as a ratio.
    pub limits: Vec<Estimate>,
    /// Lanes with servers of their own.
    pub lanes: Vec<LaneLoad>,
    /// The row of the results, with everything else.
    pub row: Row,
}

impl JudgedSystem {
    /// Is its target certainly shorter, because the two intervals do not overlap? A paired ratio may be undecided where rare bursts
    /// dominate one of the two.
    pub(crate) fn is_certainly_shorter(&self, than: &JudgedSystem) -> bool {
        let is_sound = |of: &JudgedSystem| of.row.holds() && !of.row.overloaded;
        is_sound(self) && is_sound(than) && self.target.high < than.target.low
    }
}

/// The workload, the machine and the limits under which systems are judged.
pub(crate) struct Court<'a> {
    pub(crate) question: &'a LanesQuestion,
    /// The workload, with classes by size if it has no classes of its own.
    pub(crate) workload: Arc<Workload>,
    pub(crate) load: f64,
    pub(crate) target: Quantity,
    /// Further limits.
    pub(crate) limits: Vec<(Quantity, f64)>,
    pub(crate) control: Control<'a>,
    pub(crate) simulated: AtomicU64,
}

/// A system that is to be judged.
pub(crate) struct Case {
    pub(crate) system: System,
    pub(crate) layout: Option<Layout>,
    /// Whether it is simulated until it is as precise as the question asks, however many requests that takes.
    pub(crate) precisely: bool,
}

impl Case {
    pub(crate) fn of(machine: &LanesMachine, layout: &Layout, name: &str) -> Case {
        let system = System { name: name.to_owned(), ..machine.system(layout) };
        Case { system, layout: Some(layout.clone()), precisely: true }
    }

    /// The rivals: other policies for such services, on one queue with as many servers.
    pub(crate) fn rivals(machine: &LanesMachine, cores: u32, service: &Service) -> Vec<Case> {
        let quantum = rival_quantum(service);
        let las = DisciplineConfig::Las(LasConfig { quantum, ..LasConfig::default() });
        let sharing = ProcessorSharingConfig { quantum, ..ProcessorSharingConfig::default() };
        let one = |name: &str, discipline| Case {
            system: machine.on(System { name: name.to_owned(), discipline, ..System::single_queue(cores) }),
            layout: None,
            precisely: false,
        };
        vec![
            one(&format!("LAS, {quantum}"), las),
            one(&format!("processor sharing, {quantum}"), DisciplineConfig::ProcessorSharing(sharing)),
            one("SRPT, sizes known", DisciplineConfig::Srpt),
        ]
    }
}

/// The quantum of rivals: 2 us, or longer, so that a mean service time has at most some [`SLICES_MAX`] slices. More slices take long to
/// simulate and hardly change anything.
fn rival_quantum(service: &Service) -> Picos {
    let long = service.mean_ps() / SLICES_MAX;
    // Rounded to 1, 2 or 5 times a power of ten.
    let ten = 10_f64.powf(long.max(1.0).log10().floor());
    let round =
        [1.0, 2.0, 5.0].map(|step| step * ten).into_iter().rfind(|&step| step <= long).unwrap_or(long);
    Picos(round as u64).max(Picos::from_nanos(2_000))
}

impl Court<'_> {
    fn measure(&self) -> Measure {
        let asked = &self.question.measure;
        let seed = hash(asked.seed, FRESH) >> SEED_SHIFT;
        let limits = self.limits.iter().map(|(quantity, _)| quantity);
        let wait = asked.wait || limits.chain([&self.target]).any(|of| of.metric == Metric::Wait);
        Measure { percentiles: self.question.percentiles(), seed, wait, ..asked.clone() }
    }

    fn point(&self, case: &Case, measure: Measure) -> Point {
        let plan = SystemPlan {
            system: case.system.clone(),
            costs: self.question.costs,
            preset: None,
            varied: Vec::new(),
        };
        Point {
            key: case.system.name.clone(),
            workload: Arc::clone(&self.workload),
            offered: Offered::Load(self.load),
            load: self.load,
            system: case.system.clone(),
            costs: self.question.costs,
            measure: Arc::new(measure),
            plan: Arc::new(plan),
            varied: vec![("load".to_owned(), self.load.into())],
        }
    }

    /// Judges `case`; the result is kept in `journal` under `place`.
    pub(crate) fn judge(
        &self,
        case: &Case,
        journal: &dyn Journal,
        place: (usize, usize),
    ) -> Result<JudgedSystem, TuneError> {
        let known = journal.recall(place.0, place.1).map(|entry| entry["judged"].clone());
        if let Some(known) = known.and_then(|known| serde_json::from_value(known).ok()) {
            return Ok(known);
        }
        let before = self.simulated.load(Ordering::Relaxed);
        let judged = self.simulate(case)?;
        journal.keep(serde_json::json!({
            "step": place.0,
            "entry": place.1,
            "phase": "judging",
            "system": case.system.name,
            "requests": self.simulated.load(Ordering::Relaxed) - before,
            "judged": judged,
        }));
        Ok(judged)
    }

    /// Requests for a system that is only shown beside the answer. On contexts, which slow each other down, each
    /// slice has to be simulated; on cores, only the slices for which other requests wait.
    fn rival_requests(&self, case: &Case) -> u64 {
        let quantum = match case.system.discipline {
            DisciplineConfig::ProcessorSharing(sharing) => sharing.quantum,
            DisciplineConfig::Las(las) => las.quantum,
            _ => return RIVAL_REQUESTS,
        };
        let slices = 1 + self.workload.service.mean_ps() as u64 / quantum.0.max(1);
        let slices = if case.system.contexts.is_some() { slices } else { (slices / 16).max(1) };
        (RIVAL_REQUESTS / slices).max(RIVAL_REQUESTS_MIN)
    }

    fn simulate(&self, case: &Case) -> Result<JudgedSystem, TuneError> {
        let mut measure = self.measure();
        if !case.precisely {
            measure.stop.max_requests = measure.stop.max_requests.min(self.rival_requests(case));
        }
        let point = self.point(case, measure);
        let started = Instant::now();
        let experiment = experiment(&point, self.question.quick, StopOn::Only(self.target.clone()));
        let results = experiment.run(&self.control).map_err(|error| match error {
            ExperimentError::Interrupted(_) => TuneError::Interrupted,
            ExperimentError::Variant(message) => {
                TuneError::Simulator { system: case.system.name.clone(), message }
            }
        })?;
        self.simulated.fetch_add(results.simulated, Ordering::Relaxed);
        let confidence = point.measure.stop.confidence;
        let row = row_of(&point, &results, started.elapsed().as_secs_f64());
        let estimate = |quantity: &Quantity| match results.overloaded {
            true => Estimate::MISSING,
            false => results.estimate(quantity, confidence),
        };
        let per_s =
            results.ratio(confidence, |account, span_ps| (account.preemptions as f64, span_ps as f64 / 1e12));
        Ok(JudgedSystem {
            system: case.system.name.clone(),
            layout: case.layout.clone(),
            target: estimate(&self.target),
            slowdown: estimate(&super::objective::slowdown()),
            preemptions_per_request: row.preemptions_per_request,
            preemptions_per_s: per_s,
            limits: self.limits.iter().map(|(quantity, _)| estimate(quantity)).collect(),
            lanes: results.lane_loads,
            row,
        })
    }

    /// `first` against `second` on the same fresh requests.
    pub(crate) fn contest(&self, first: &Case, second: &Case) -> Result<Compared, TuneError> {
        let measure = Measure { requests: None, replications: None, ..self.measure() };
        let plans = [first, second].map(|case| SystemPlan {
            system: case.system.clone(),
            costs: self.question.costs,
            preset: None,
            varied: Vec::new(),
        });
        let contest = Contest {
            systems: [&plans[0], &plans[1]],
            workload: &self.workload,
            rate_per_s: self.load * self.question.capacity() / (self.workload.service.mean_ps() / 1e12),
            measure: &Measure {
                stop: caudal_config::Stop { max_requests: 20 * 16 * PAIRED, ..measure.stop },
                ..measure
            },
            quick: self.question.quick,
        };
        let compared = compare(&contest, &self.control)?;
        self.simulated.fetch_add(2 * compared.requests, Ordering::Relaxed);
        Ok(compared)
    }
}

/// The name of the statistic in a [`Compared`].
pub(crate) fn label(statistic: &LatencyStatistic) -> (String, &'static str) {
    let name = match statistic.statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Percentile(percentile) => caudal_stats::percentile_label(percentile),
        Statistic::Miss(late) => format!("miss {late}"),
    };
    let metric = match statistic.metric {
        Metric::Latency => "latency_ns",
        Metric::Slowdown => "slowdown",
        Metric::Wait => "waiting_ns",
    };
    (name, metric)
}
