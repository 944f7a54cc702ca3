//! The search for the highest rate at which a system keeps a limit ([`Within`]). Figures that show such rates make one [`Search`] for each
//! system of their files, and `run` of the reproduction runs them on its threads. A search simulates on the calling thread until the crossing lies
//! between two loads, and returns what it measured there.
//!
//! Short runs find the neighbourhood. Then long runs of many replications are simulated a step below and a step
//! above, and the crossing is found on the straight line through the logarithms (inverse prediction). The line is not of
//! the percentile but of the share of requests that break the limit, which is 0.1 % at the same rate: a share is counted, while
//! the error of a percentile depends on a density; and the share grows steeply where the percentile stays at a quantum's length.
//! All runs of all systems see the same requests, so some of what is uncertain about two crossings cancels in their
//! ratio: see [`caudal_stats::Linear`].
//!
//! Near the limit a system may be near saturation. It forgets its empty start slowly there, and
//! a short run looks better than the truth. So requests are left out for some relaxation times of the queue, which
//! grow as 1/(idle share)² ([`relaxation`]), up to as many as are measured. Counting completions would not do: under
//! processor sharing an overloaded system goes on completing its short requests.

mod bracket;
mod crossing;
mod within;

use std::sync::Arc;

use caudal_config::{File, Measure, Offered, Point, SystemPlan, WarmUp, Workload};
use caudal_policy::discipline::DisciplineConfig;
use caudal_sim::engine::Account;
use caudal_sim::experiment::{Results, StopOn};
use caudal_sim::sweep::experiment;
use caudal_stats::relaxation::{self, Queue};
use caudal_stats::{Estimate, Replicated};

use self::bracket::{TriedLoad, bracket};
pub(crate) use self::crossing::{Crossing, Highest, crossing};
pub(crate) use self::within::Within;
use super::cell::CONFIDENCE;
use super::parallel::RunError;
use caudal_results::{Control, Progress};

/// The percentile that is to be kept: slowdown p99.9 at most 10 (Luo et al., ASPLOS 2024, section 2).
pub(crate) const PERCENTILE: f64 = 99.9;
/// See [`PERCENTILE`].
pub(crate) const SLOWDOWN_MAX: f64 = 10.0;

/// Where the search starts, and the steps of its stages, as shares of the load.
const START: f64 = 0.5;
const STEPS_OF_STAGES: [f64; 3] = [0.3, 0.06, 0.02];
/// The stages before the last have so many times fewer requests.
const SHORTER: [u64; 3] = [8, 4, 1];
/// Requests of a replication, unless the file says so, and at least.
const REQUESTS: u64 = 200_000;
/// Most times that the lower end of the last step is moved down, because it turns out to be overloaded.
const STEPS_DOWN: u32 = 5;
/// See [`REQUESTS`].
const REQUESTS_MIN: u64 = 10_000;
/// Replications at the two ends of the last step, as a multiple of the file's. All systems get as many, because only
/// replications that two systems have in common tell about their ratio.
const MORE: u32 = 6;
/// The fewest requests of a warm-up.
const WARM_UP_MIN: u64 = 10_000;
/// Near saturation the logarithm of the share that breaks the limit is bent, and a step in which it grows by more than
/// this is halved to be nearer to a straight line. Elsewhere, a longer step has the better slope.
const BENT: f64 = 1.5;

/// The search for one system.
pub(crate) struct Search {
    /// The workload of the file, where a figure has several; else empty.
    about: &'static str,
    within: Within,
    workload: Arc<Workload>,
    measure: Arc<Measure>,
    plan: Arc<SystemPlan>,
    quick: bool,
}

impl Search {
    /// Steps of progress of a search, which tries about as many loads.
    pub(crate) const STEPS: usize = 8;

    /// One for every system of the file.
    pub(crate) fn all(file: &File, (about, within): (&'static str, Within), quick: bool) -> Vec<Search> {
        let Some(workload) = &file.workload else { return Vec::new() };
        let search = |plan: &SystemPlan| Search {
            about,
            within,
            workload: Arc::clone(workload),
            measure: Arc::clone(&file.measure),
            plan: Arc::new(plan.clone()),
            quick,
        };
        file.systems.iter().map(search).collect()
    }

    /// Searches for the highest rate.
    ///
    /// # Errors
    /// If it is interrupted.
    pub(crate) fn run(&self, control: &Control<'_, Progress>) -> Result<Highest, RunError> {
        let mut tried = Vec::new();
        let mut at = |load: f64, stage: usize, idle: f64| {
            if tried.len() < Search::STEPS {
                control.tell(Progress::Step);
            }
            let seen = self.simulate(load, stage, idle, control)?;
            tried.push((load, self.shown(&seen.what)));
            Ok(seen)
        };
        let mut idle = 1.0 - START;
        let mut found = bracket(START, STEPS_OF_STAGES[0], |load| at(load, 0, idle))?;
        for (stage, step) in STEPS_OF_STAGES.into_iter().enumerate().skip(1) {
            // All loads of a stage leave out as many requests as the busiest one needs: with different warm-ups, the two ends
            // would differ for that reason alone.
            idle = idle_share(&found.above.what);
            found = bracket(found.start(), step, |load| at(load, stage, idle))?;
        }
        for _ in 0..self.within.halvings() {
            if found.above.log - found.below.log <= BENT {
                break;
            }
            found = found.halved(|load| at(load, SHORTER.len() - 1, idle))?;
        }
        let mut ends = [found.below, found.above];
        if ends[0].log > 0.0 || ends[1].log <= 0.0 {
            (tried.len()..Search::STEPS).for_each(|_| control.tell(Progress::Step));
            return Ok(self.highest(None, tried));
        }
        self.extend(&mut ends, control)?;
        // More replications may show that the system does not carry the load of the lower end.
        for _ in 0..STEPS_DOWN {
            if !ends[0].what.overloaded {
                break;
            }
            let step = STEPS_OF_STAGES[STEPS_OF_STAGES.len() - 1];
            let lower = at(ends[0].load * (-step).exp(), SHORTER.len() - 1, idle)?;
            let [below, _] = ends;
            ends = [lower, below];
            self.extend(&mut ends, control)?;
        }
        (tried.len()..Search::STEPS).for_each(|_| control.tell(Progress::Step));
        Ok(self.highest(Some(&ends), tried))
    }

    fn highest(&self, ends: Option<&[TriedLoad<Results>; 2]>, tried: Vec<(f64, Estimate)>) -> Highest {
        let point = self.point(1.0);
        let per_load = f64::from(point.system.cores) / (point.workload.service.mean_ps() / 1e12);
        let quantum = match point.system.discipline {
            DisciplineConfig::ProcessorSharing(sharing) => sharing.quantum.0,
            _ => 0,
        };
        let end = |seen: &TriedLoad<Results>| {
            let carried = (!seen.what.overloaded).then(|| self.judged(&seen.what).clone());
            (seen.load * per_load, carried)
        };
        Highest {
            about: self.about,
            system: point.system.name.clone(),
            within: self.within,
            quantum_ns: quantum as f64 / 1e3,
            preemption_ns: point.costs.preemption.0 as f64 / 1e3,
            ends: ends.map(|[below, above]| [end(below), end(above)]),
            tried,
        }
    }

    fn simulate(
        &self,
        load: f64,
        stage: usize,
        idle: f64,
        control: &Control<'_, Progress>,
    ) -> Result<TriedLoad<Results>, RunError> {
        let mut point = self.point(load);
        let requests = self.requests(stage);
        let warm_up = self.relaxed(load, idle).clamp(WARM_UP_MIN, requests);
        let (warm_up, requests) = (WarmUp::Requests(warm_up), Some(requests));
        point.measure = Arc::new(Measure { warm_up, requests, ..Measure::clone(&self.measure) });
        let alone = Control {
            threads: 1,
            stop: control.stop,
            progress: &|more| control.tell(Progress::Requests(more)),
        };
        let results = experiment(&point, false, StopOn::Reported)
            .run(&alone)
            .map_err(|source| RunError { point: point.key.clone(), source })?;
        let judged = self.judged(&results);
        let log = match results.overloaded {
            true => f64::INFINITY,
            false => self.within.log_share(judged, judged.replications()).value(),
        };
        Ok(TriedLoad { load, log, what: results })
    }

    /// Adds replications at each end that is not overloaded.
    fn extend(
        &self,
        ends: &mut [TriedLoad<Results>; 2],
        control: &Control<'_, Progress>,
    ) -> Result<(), RunError> {
        let alone = Control {
            threads: 1,
            stop: control.stop,
            progress: &|more| control.tell(Progress::Requests(more)),
        };
        for TriedLoad { load, what, .. } in ends.iter_mut().filter(|seen| !seen.what.overloaded) {
            let (point, more) = (self.point(*load), (MORE - 1) * what.accounts.len() as u32);
            experiment(&point, false, StopOn::Reported)
                .extend(what, more, &alone)
                .map_err(|source| RunError { point: point.key.clone(), source })?;
        }
        Ok(())
    }

    /// Requests that arrive during the warm-up of a queue with the share `idle` of idle time ([`relaxation`]). The number is a power of two,
    /// so that systems at nearly the same load measure the same requests.
    fn relaxed(&self, load: f64, idle: f64) -> u64 {
        let queue = Queue {
            busy: 1.0 - idle.max(1e-3),
            arrivals: 1.0,
            services: self.workload.service.scv(),
            servers: f64::from(self.point(load).system.cores),
        };
        ((relaxation::WARM_UP * queue.relaxation()) as u64).next_power_of_two()
    }

    /// Requests that are measured in a replication.
    fn requests(&self, stage: usize) -> u64 {
        let most = self.measure.requests.unwrap_or(REQUESTS);
        let most = if self.quick { most / 8 } else { most };
        (most / SHORTER[stage]).max(REQUESTS_MIN)
    }

    /// The quantity that is to be kept within the limit.
    fn judged<'a>(&self, results: &'a Results) -> &'a Replicated {
        self.within.judged(self.workload.service.classes(), results)
    }

    /// The percentile at a load.
    fn shown(&self, results: &Results) -> Estimate {
        match results.overloaded {
            true => Estimate::MISSING,
            false => self.within.percentile(self.judged(results), CONFIDENCE),
        }
    }

    fn point(&self, load: f64) -> Point {
        Point {
            key: format!("{}/load={load}", self.plan.system.name),
            workload: Arc::clone(&self.workload),
            offered: Offered::Load(load),
            load,
            system: self.plan.system.clone(),
            costs: self.plan.costs,
            measure: Arc::clone(&self.measure),
            plan: Arc::clone(&self.plan),
            varied: self.plan.varied.clone(),
        }
    }
}

/// Share of the core time in which nothing is done.
fn idle_share(results: &Results) -> f64 {
    let total = |part: fn(&Account) -> u128| -> f64 {
        results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
    };
    1.0 - total(|account| account.busy_ps + account.switching_ps) / total(|account| account.held_ps)
}
