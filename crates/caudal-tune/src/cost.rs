//! The cost of simulating a request, in requests of 0.33 us, in which budgets are counted. `judge` asks before a run what it will cost,
//! and corrects that by what the run has counted; `lengths` asks whether a quantum makes too many events. Pure.
//!
//! Most requests are two to four events of the engine, and a few tenths of a microsecond. More there are where something goes on
//! while a request is served: time slices that a host takes one by one, thieves that find nothing, polls of the demand for cores. How many
//! follows from the system, the service and the load ([`expected`]), about; runs count them ([`counted`]), and what was counted
//! corrects what is expected of the next run of the same system. Both follow from the question alone, never from a clock.
//!
//! Measured with `cargo run --release -p caudal-sim --example events` (exponential services of 100 ns to 1 s, loads 0.3 and 0.8, 16
//! cores, AMD Zen 4): 50 to 200 ns for the first events of a request; each further one takes 35 to 105 ns, those of
//! time slices 13 to 21 ns.

use caudal_config::System;
use caudal_policy::allocation::{Grow, Shrink, Triggers};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_sim::engine::Route;
use caudal_sim::experiment::Results;

use crate::Question;
use crate::candidate::{Candidate, Spot};

/// Events of a request that are part of what any request takes.
const USUAL_EVENTS: f64 = 4.0;
/// The cost of each further event, in requests: 80 ns.
const EVENT: f64 = 0.25;
/// The same where further events are time slices and nothing else: 20 ns.
const SLICE: f64 = 0.06;
/// Events while thieves with nothing to do poll each other's queues once, and the most of one idle core from one request
/// to the next: walks in which nothing can happen are one step.
const WALK_EVENTS: f64 = 1.7;
const IDLE_CORE_EVENTS: f64 = 5.5;
/// Events of a poll of the demand for cores; where it goes by the utilization and thieves are about, they come and go at each.
const POLL_EVENTS: f64 = 1.0;
const POLL_EVENTS_OF_THIEVES: f64 = 6.0;
/// The cost of a request in one queue without any mechanism, in requests: 70 ns.
const ONE_QUEUE: f64 = 0.25;
/// The cost of a leaf of a request that forks, in requests: 80 to 150 ns.
const LEAF: f64 = 0.3;

/// The cost of a request of `candidate` under `spot`, in requests, as far as arithmetic tells.
pub(crate) fn expected(candidate: &Candidate, question: &Question, spot: Spot) -> f64 {
    let system = &candidate.plan.system;
    let service = &question.workload.service;
    if candidate.forks() {
        let workers = spot.workers.unwrap_or(system.cores);
        return LEAF * service.dag().mean_leaves(service.mean_ps() as u64, workers);
    }
    if candidate.route() == Some(Route::Central) {
        return ONE_QUEUE;
    }
    let place = Place::new(candidate, question, spot);
    let further = place.slices(candidate, service.mean_ps()) + place.walks(candidate) + place.polls(system);
    // Of the usual events, a plain request takes two.
    1.0 + event(candidate) * (further + 2.0 - USUAL_EVENTS).max(0.0)
}

/// The cost of a request of `candidate` in the runs of `results`, in requests.
pub(crate) fn counted(candidate: &Candidate, question: &Question, spot: Spot, results: &Results) -> f64 {
    // Leaves of requests that fork are what their events are about, and are known beforehand; two engines have few events, and these are
    // cheap.
    if matches!(candidate.route(), Some(Route::Forks | Route::Central | Route::Stealing)) {
        return expected(candidate, question, spot);
    }
    let replications = results.accounts.len() as u64;
    let requests = replications * (results.warm_up + results.measured);
    let events = results.events as f64 / requests.max(1) as f64;
    1.0 + event(candidate) * (events - USUAL_EVENTS).max(0.0)
}

/// The cost of a further event of `candidate`, in requests.
fn event(candidate: &Candidate) -> f64 {
    let Candidate { plan, .. } = candidate;
    let only_slices =
        plan.system.rebalance == RebalanceConfig::None && plan.system.allocation.triggers().is_none();
    if only_slices && candidate.slices_are_events() { SLICE } else { EVENT }
}

/// A system's load, as cost goes by it.
struct Place {
    workers: f64,
    /// The share of the workers' time in which they are busy.
    busy: f64,
    gap_ps: f64,
}

impl Place {
    fn new(candidate: &Candidate, question: &Question, spot: Spot) -> Place {
        let workers = f64::from(spot.workers.unwrap_or(candidate.plan.system.cores));
        let cores = spot.load * f64::from(candidate.capacity_cores);
        let gap_ps = question.workload.service.mean_ps() / cores;
        Place { workers, busy: cores.min(workers) / workers, gap_ps }
    }

    /// Time slices of a request, where the host takes them one by one: two events each, but one where nobody else has to run.
    fn slices(&self, candidate: &Candidate, mean_ps: f64) -> f64 {
        let Candidate { plan, .. } = candidate;
        if !candidate.slices_are_events() {
            return 0.0;
        }
        let quantum = match plan.system.discipline {
            DisciplineConfig::ProcessorSharing(config) => config.quantum,
            DisciplineConfig::Las(config) => config.quantum,
            _ => return 0.0,
        };
        let slice_ps = quantum.0.saturating_add(plan.costs.overrun.0).max(1);
        mean_ps * plan.costs.probe_factor / slice_ps as f64 * (1.0 + self.busy * self.busy)
    }

    /// Events of thieves with nothing to do, from one request to the next.
    fn walks(&self, candidate: &Candidate) -> f64 {
        let (system, check_ps) = (&candidate.plan.system, candidate.plan.costs.steal_check.0);
        let spare = 1.0 - self.busy;
        let spinning = match system.allocation.triggers().map(|it| it.shrink) {
            _ if !steals(system) => 0.0,
            // That engine passes over walks that nobody hears of.
            None if candidate.route() == Some(Route::Stealing) => 0.0,
            // Who finds nothing to do is given back soon.
            Some(Shrink::FailedWalk | Shrink::DelayMean { .. }) => 0.0,
            Some(Shrink::Utilization { below }) => spare.min(1.0 - below),
            None | Some(Shrink::Never | Shrink::Completion | Shrink::Idle { .. }) => spare,
        };
        let times = spinning * self.gap_ps / check_ps.max(10_000) as f64;
        (WALK_EVENTS * times).min(IDLE_CORE_EVENTS * spinning * self.workers)
    }

    /// Events of polls of the demand for cores, from one request to the next.
    fn polls(&self, system: &System) -> f64 {
        let Some(triggers) = system.allocation.triggers().filter(polls_regularly) else { return 0.0 };
        let by_use = matches!(triggers.shrink, Shrink::Utilization { .. });
        let each = if by_use && steals(system) { POLL_EVENTS_OF_THIEVES } else { POLL_EVENTS };
        each * self.gap_ps / triggers.interval.0.max(1) as f64
    }
}

/// Is the demand for cores polled in intervals, or evaluated only when something happens?
pub(crate) fn polls_regularly(triggers: &Triggers) -> bool {
    let events = matches!(triggers.grow, Grow::Arrival | Grow::NoThief)
        && matches!(triggers.shrink, Shrink::Never | Shrink::Completion | Shrink::FailedWalk);
    !events
}

fn steals(system: &System) -> bool {
    matches!(system.rebalance, RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_))
}
