//! The loop of the simulator that a system needs, and what that loop lacks. The rules of coherence ask here while a file is read, and so
//! does `Route` of the simulator, which adds the short cuts; it is in this crate because reading a file takes no simulator. Pure
//! functions.

use caudal_policy::Picos;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;

use crate::{Costs, System, Variant};

/// A loop of the simulator, with what only this loop can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineLoop {
    /// Cores, each request a task: any combination of policies.
    General,
    /// Hardware contexts, which slow each other down.
    Contexts,
    /// Requests that fork.
    Forks,
    /// The simulator of the policies paper's authors.
    Authors,
}

/// Why the loop that a system needs can not run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoopLacks {
    /// The system has hardware contexts, and also something that their loop can not run: see the rule `contexts-alone`.
    #[error("the loop for hardware contexts lacks a policy of the system")]
    PolicyOfContexts,
    /// The system has requests that fork, and also something that their loop can not run: see the rule `forks-alone`.
    #[error("the loop for requests that fork lacks a policy of the system")]
    PolicyOfForks,
    /// Costs of measured runs, which only the general loop accounts for.
    #[error("only the general loop accounts for costs of measured runs")]
    MeasuredCosts,
}

impl std::fmt::Display for EngineLoop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            EngineLoop::General => "the general loop",
            EngineLoop::Contexts => "the loop for hardware contexts",
            EngineLoop::Forks => "the loop for requests that fork",
            EngineLoop::Authors => "the simulator of the policies paper's authors",
        })
    }
}

impl EngineLoop {
    /// The loop that `system` needs.
    pub fn of(system: &System) -> EngineLoop {
        match system.variant {
            _ if system.contexts.is_some() => EngineLoop::Contexts,
            _ if system.parallelism.forks() => EngineLoop::Forks,
            Variant::AuthorsSimulator => EngineLoop::Authors,
            Variant::Paper => EngineLoop::General,
        }
    }

    /// The first thing that `system` and its costs need and that this loop lacks.
    pub fn lacks(self, system: &System, costs: &Costs) -> Option<LoopLacks> {
        let policy = match self {
            EngineLoop::General | EngineLoop::Authors => None,
            EngineLoop::Contexts => (!contexts_can(system, costs)).then_some(LoopLacks::PolicyOfContexts),
            EngineLoop::Forks => (!forks_can(system, costs)).then_some(LoopLacks::PolicyOfForks),
        };
        policy.or_else(|| (!self.accounts_for(system, costs)).then_some(LoopLacks::MeasuredCosts))
    }

    /// Does the loop account for all of `costs`? Costs of measured runs are paid at the begin and the end of slices. The fluid limit of processor
    /// sharing has no slices.
    pub fn accounts_for(self, system: &System, costs: &Costs) -> bool {
        costs.is_plain() || self == EngineLoop::General && system.discipline.quantum() != Some(Picos::ZERO)
    }
}

/// Can the loop of contexts run all of `system` but its contexts?
fn contexts_can(system: &System, costs: &Costs) -> bool {
    let is_sliced = system.discipline.quantum() != Some(Picos::ZERO);
    let blind = matches!(
        system.dispatch,
        DispatchConfig::Random | DispatchConfig::RoundRobin | DispatchConfig::Sita(_)
    );
    let stay = system.allocation.triggers().is_none() && system.cores_allocated == system.cores;
    let papers = system.variant == Variant::Paper && costs.dispatcher_quantum == Picos::ZERO;
    let adapts = system.contexts.as_ref().is_some_and(|contexts| contexts.adaptation.is_some());
    let moves = match system.rebalance {
        RebalanceConfig::None => true,
        RebalanceConfig::WorkStealing(_) => !adapts && costs.steal_check > Picos::ZERO,
        RebalanceConfig::WorkShedding(_) | RebalanceConfig::StealAndShed(_) => false,
    };
    is_sliced && blind && stay && papers && moves
}

/// Can the loop of requests that fork run all of `system` but their tasks?
fn forks_can(system: &System, costs: &Costs) -> bool {
    let one_queue = system.pools.count(system.cores) == 1
        && system.dispatch == DispatchConfig::Random
        && system.rebalance == RebalanceConfig::None
        && costs.dispatcher == Picos::ZERO;
    let shared = match system.allocation.triggers() {
        Some(_) => has_queue_of_all(system),
        None => system.cores_allocated == system.cores,
    };
    let served = match system.discipline {
        DisciplineConfig::Fcfs => true,
        DisciplineConfig::ProcessorSharing(config) => {
            let is_sliced = config.quantum > Picos::ZERO && costs.dispatcher_quantum == Picos::ZERO;
            is_sliced && has_queue_of_all(system) && !keeps_workers(system)
        }
        DisciplineConfig::Las(_)
        | DisciplineConfig::Srpt
        | DisciplineConfig::PreemptiveSita(_)
        | DisciplineConfig::SqdSita(_)
        | DisciplineConfig::IsqdSita(_) => false,
    };
    system.contexts.is_none() && one_queue && shared && served && system.variant == Variant::Paper
}

/// Do all workers take from one queue of requests?
fn has_queue_of_all(system: &System) -> bool {
    !matches!(system.parallelism, ParallelismConfig::DefaultTbb(_))
}

/// Are some workers kept for small requests?
fn keeps_workers(system: &System) -> bool {
    match &system.parallelism {
        ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config) => {
            config.lane.is_some()
        }
        ParallelismConfig::Serial
        | ParallelismConfig::StealFirst
        | ParallelismConfig::AdmitFirst
        | ParallelismConfig::DefaultTbb(_) => false,
    }
}
