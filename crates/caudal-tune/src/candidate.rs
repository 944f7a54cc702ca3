//! The systems that a plan considers.

use std::sync::Arc;

use caudal_config::{
    Measure, Offered, Point, Preset, SystemPlan, coherence, find_preset, nearest_preset, presets,
};
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::rebalance::RebalanceConfig;
use serde::Serialize;

use crate::{Goal, Machine, Question, TuneError};

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
    /// Why.
    pub reason: String,
}

/// How hard a system is to be tried.
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

    /// Does it stop requests in the middle?
    pub(crate) fn preempts(&self) -> bool {
        self.plan.system.discipline != DisciplineConfig::Fcfs
    }

    /// How much longer the simulation of a request takes under `spot` than of most systems: thieves that look
    /// for work all the time are an event a look, about a hundredth of a request each.
    pub(crate) fn weight(&self, question: &Question, spot: Spot) -> f64 {
        let system = &self.plan.system;
        let steals =
            matches!(system.rebalance, RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_));
        if !steals || system.allocation != AllocationConfig::Static {
            return 1.0;
        }
        let workers = f64::from(spot.workers.unwrap_or(system.cores));
        let busy = (spot.load * f64::from(self.capacity_cores)).min(workers);
        let gap_ps = question.workload.service.mean_ps() / (spot.load * f64::from(self.capacity_cores));
        let looks = (workers - busy) * gap_ps / (self.plan.costs.steal_check.0.max(10_000)) as f64;
        1.0 + looks / 100.0
    }

    /// The simulation of this system under `spot`.
    pub(crate) fn point(&self, question: &Question, measure: &Arc<Measure>, spot: Spot) -> Point {
        let mut system = self.plan.system.clone();
        if let Some(workers) = spot.workers {
            system.cores_allocated = workers;
        }
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

/// All systems that the question allows, and those that are left out.
pub(crate) fn candidates(question: &Question) -> Result<(Vec<Candidate>, Vec<LeftOut>), TuneError> {
    let asked: Vec<&'static Preset> = if question.systems.is_empty() {
        presets().collect()
    } else {
        question.systems.iter().map(|name| by_name(name)).collect::<Result<_, _>>()?
    };
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for preset in asked {
        match candidate(preset, question) {
            Ok(candidate) => taken.push(candidate),
            Err(reason) => left_out.push(LeftOut { system: preset.name.to_owned(), reason }),
        }
    }
    if !taken.iter().any(Candidate::deployable) {
        let mut reasons: Vec<String> =
            left_out.iter().map(|out| format!("{}: {}", out.system, out.reason)).collect();
        let why = |candidate: &Candidate| {
            Some(format!("{}: {}", candidate.name(), candidate.plan.reference_only()?))
        };
        reasons.extend(taken.iter().filter_map(why));
        return Err(TuneError::NoCandidate { reasons: reasons.join("; ") });
    }
    Ok((taken, left_out))
}

fn by_name(name: &str) -> Result<&'static Preset, TuneError> {
    let error = || TuneError::UnknownSystem { name: name.to_owned(), hint: nearest_preset(name) };
    find_preset(name).ok_or_else(error)
}

/// The preset on the question's machine, or why it can not take part.
fn candidate(preset: &'static Preset, question: &Question) -> Result<Candidate, String> {
    let dedicated = preset.dedicated_cores;
    let (workers, runtime) = match question.machine {
        Machine::Cores(cores) => (cores.saturating_sub(dedicated), false),
        Machine::Runtime { workers } => (workers, true),
    };
    if workers == 0 {
        return Err("its dedicated core would leave none for requests".to_owned());
    }
    let plan = SystemPlan::of_preset(preset, workers);
    let host = if runtime { coherence::Host::Runtime } else { coherence::Host::Simulator };
    if let Some(incoherence) = coherence::check(&plan.system, &plan.costs, host).first() {
        return Err(format!("{}: {}", incoherence.rule.refused, incoherence.rule.why));
    }
    if let (true, Some(reason)) = (runtime, plan.reference_only()) {
        return Err(reason.to_owned());
    }
    if question.goal != Goal::HighestLoad && plan.system.allocation != AllocationConfig::Static {
        return Err("it holds as many cores as it finds right, the question is for a fixed number".to_owned());
    }
    let capacity_cores = question.machine.capacity_cores();
    Ok(Candidate { plan: Arc::new(plan), capacity_cores, dedicated, tuned: Vec::new() })
}
