//! One system of a plan, with the parameters that it has been given so far. `candidates` makes all of them when a plan begins, the tuning steps
//! change a copy, `judge` simulates one at a load, and explanations describe it. Data, and the experiment made of it.

use std::sync::Arc;

use caudal_config::{Measure, Offered, Point, System, SystemPlan};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_sim::engine::Route;
use serde::Serialize;

use crate::Question;

/// A system of a plan, with the parameters that it has been given so far.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) plan: Arc<SystemPlan>,
    /// Cores that a load of 1 would fill.
    pub(crate) capacity_cores: u32,
    /// Cores that serve no requests.
    pub(crate) dedicated: u32,
    /// Keys that were tuned, with their values.
    pub(crate) tuned: Vec<(String, serde_json::Value)>,
}

/// A system that was not simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub system: String,
    /// The reason for leaving it out.
    pub reason: String,
}

/// The load and the cores under which a system is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    /// Offered work over the capacity of the machine.
    pub(crate) load: f64,
    /// Workers that are held; all if none.
    pub(crate) workers: Option<u32>,
}

impl Candidate {
    pub(crate) fn name(&self) -> &str {
        &self.plan.system.name
    }

    pub(crate) fn deployable(&self) -> bool {
        self.plan.reference_only().is_none()
    }

    /// Does it let requests fork?
    pub(crate) fn forks(&self) -> bool {
        self.plan.system.parallelism.forks()
    }

    /// The loop of the engine that simulates it with all its cores; none if no loop can.
    pub(crate) fn route(&self) -> Option<Route> {
        Route::of(&self.plan.system, &self.plan.costs).ok()
    }

    /// Does the engine simulate each of its slices, so that a request costs as many events as it has slices?
    pub(crate) fn slices_are_events(&self) -> bool {
        self.route().is_some_and(|route| route.simulates_each_slice(&self.plan.system))
    }

    /// Does it stop requests in the middle?
    pub(crate) fn preempts(&self) -> bool {
        self.plan.system.discipline != DisciplineConfig::Fcfs
    }

    /// The number of its mechanisms beyond a queue, or beyond queues that requests get into at random. Of systems that
    /// reach equally far, the one with the fewest is taken.
    pub(crate) fn mechanisms(&self) -> u32 {
        let system = &self.plan.system;
        let chooses = !matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin);
        let moves = match system.rebalance {
            RebalanceConfig::None => 0,
            RebalanceConfig::WorkStealing(_) | RebalanceConfig::WorkShedding(_) => 1,
            RebalanceConfig::StealAndShed(_) => 2,
        };
        let counts = [self.preempts(), self.dedicated > 0, system.allocation.triggers().is_some(), chooses];
        let forks = match system.parallelism {
            ParallelismConfig::Serial => 0,
            ParallelismConfig::TailControl(_) | ParallelismConfig::Clairvoyant(_) => 2,
            _ => 1,
        };
        moves + forks + counts.map(u32::from).iter().sum::<u32>()
    }

    /// The system on this number of workers. Requests that fork have all cores of their machine, so the machine becomes smaller for them.
    pub(crate) fn holding(&self, workers: u32) -> System {
        let system = self.plan.system.clone();
        let cores = if self.forks() { workers } else { system.cores };
        System { cores, cores_allocated: workers, ..system }
    }

    /// The simulation of this system under `spot`.
    pub(crate) fn point(&self, question: &Question, measure: &Arc<Measure>, spot: Spot) -> Point {
        let system = self.holding(spot.workers.unwrap_or(self.plan.system.cores_allocated));
        let load = spot.load * f64::from(self.capacity_cores) / f64::from(system.cores);
        let mut varied = self.tuned.clone();
        let mut key = system.name.clone();
        for (name, value) in &varied {
            key += &format!("/{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        match spot.workers {
            Some(workers) => {
                key += &format!("/allocation.cores={workers}");
                varied.push(("allocation.cores".to_owned(), workers.into()));
            }
            None => {
                key += &format!("/load={}", spot.load);
                varied.push(("load".to_owned(), spot.load.into()));
            }
        }
        Point {
            key,
            workload: Arc::clone(&question.workload),
            offered: Offered::Load(load),
            load,
            costs: self.plan.costs,
            system,
            measure: Arc::clone(measure),
            plan: Arc::clone(&self.plan),
            varied,
        }
    }
}
