//! The event engine: loops that drive the policies of `caudal-policy` in virtual time. An experiment calls [`simulate`] for each
//! replication, and a program with policies of its own calls [`simulate_with`]. Pure: no threads, files or clocks.
//!
//! | module | what |
//! | --- | --- |
//! | `kernel` | what all loops are made of: time, randomness, requests in, statistics out |
//! | `general` | the loop for any combination of policies on cores |
//! | `contexts` | the loop for cores with hardware contexts |
//! | `forks` | the loop for requests that fork, a deque a worker |
//! | `short_cuts` | faster loops for what is simulated most, none of which changes an answer |
//! | `route` | which of these runs a system |
//!
//! Modules import downwards: `kernel` from none of the others, loops from `kernel`, short cuts from `general` and `kernel`.

mod contexts;
mod forks;
mod general;
mod kernel;
mod route;
mod short_cuts;

use caudal_policy::allocation::Allocation;
use caudal_policy::discipline::{
    Discipline, DisciplineConfig, IsqdSita, Las, PreemptiveSita, ProcessorSharing, SqdSita, Srpt,
};
use caudal_policy::dispatch::Dispatch;
use caudal_policy::parallelism::Parallelism;
use caudal_policy::rebalance::{AnyRebalance, NoRebalance, Rebalance, RebalanceConfig, WorkStealing};

use self::forks::built_in::{forks, forks_under};
use self::general::{run_built_in, run_fluid, run_pools, run_steps, step};
use self::kernel::observe::Sink;
use self::short_cuts::lines::Lines;
use self::short_cuts::rings::Rings;
use self::short_cuts::{central, stealing};

pub(crate) use self::general::replay;
pub(crate) use self::kernel::{bits, tree};

pub use self::kernel::account::Account;
pub use self::kernel::observe::{Event, Observer, Unwatched};
pub use self::kernel::record::{ClassStats, SLOWDOWN_ONE};
pub use self::kernel::run::{Events, Outcome, Run};
pub use self::kernel::short_cuts::{ShortCut, ShortCuts};
pub use self::kernel::window::{BACKLOG_SAMPLES, Backlog, Length};
pub use self::route::{Queues, Route};

/// Simulates `run` and shows `observer` what happens.
pub fn simulate<O: Observer>(run: &Run<'_>, mut observer: O) -> Outcome {
    if observer.watches() { watched(run, &mut observer) } else { unwatched(run) }
}

fn watched(run: &Run<'_>, observer: &mut dyn Observer) -> Outcome {
    match Route::of_watched_run(run) {
        Route::Contexts => contexts::run(run, observer),
        Route::Forks => forks(run, observer),
        Route::General(queues) => by_queues(run, queues, observer),
        Route::Authors | Route::Central | Route::Stealing | Route::Lanes => {
            unreachable!("nobody can watch these")
        }
    }
}

fn unwatched(run: &Run<'_>) -> Outcome {
    match Route::of_run(run) {
        Route::Contexts => contexts::run(run, Unwatched),
        Route::Forks => forks(run, Unwatched),
        Route::Central => central::run(run),
        Route::Stealing => stealing::run(run),
        Route::Lanes => lanes(run),
        Route::General(queues) if run.short_cuts.allow(ShortCut::OwnCode) => by_own_code(run, queues),
        Route::General(queues) => by_queues(run, queues, Unwatched),
        Route::Authors => unreachable!("they have a simulator of their own"),
    }
}

/// Runs lanes of whole cores.
fn lanes(run: &Run<'_>) -> Outcome {
    match run.system.discipline {
        DisciplineConfig::SqdSita(config) => contexts::run_cores(run, || SqdSita::new(config)),
        DisciplineConfig::IsqdSita(config) => contexts::run_cores(run, || IsqdSita::new(config)),
        _ => unreachable!("no other discipline takes this route"),
    }
}

/// Runs the general loop, in code that is compiled for the combination of policies alone where there is some. An arm makes the compiler
/// build an engine for that combination: its runs then take a tenth less time, and the build takes two seconds more. So only what is
/// simulated often has one.
fn by_own_code(run: &Run<'_>, queues: Queues) -> Outcome {
    match (queues, run.system.rebalance, run.system.discipline) {
        (Queues::Lines, RebalanceConfig::None, _) => {
            run_built_in(run, Lines::of(run), NoRebalance, Unwatched)
        }
        (Queues::Lines, RebalanceConfig::WorkStealing(config), _) => {
            run_built_in(run, Lines::of(run), WorkStealing::new(config), Unwatched)
        }
        (Queues::Leaps, RebalanceConfig::None, DisciplineConfig::ProcessorSharing(config)) => {
            run_built_in(run, Rings::of(run, &config), NoRebalance, Unwatched)
        }
        (Queues::Steps, RebalanceConfig::None, DisciplineConfig::Srpt) => {
            run_built_in(run, step(run, || Srpt), NoRebalance, Unwatched)
        }
        (Queues::Steps, RebalanceConfig::None, DisciplineConfig::Las(config)) => {
            run_built_in(run, step(run, || Las::new(config)), NoRebalance, Unwatched)
        }
        (Queues::Steps, RebalanceConfig::None, DisciplineConfig::PreemptiveSita(config)) => {
            run_built_in(run, step(run, || PreemptiveSita::new(config)), NoRebalance, Unwatched)
        }
        (Queues::Steps, RebalanceConfig::None, DisciplineConfig::ProcessorSharing(config)) => {
            run_built_in(run, step(run, || ProcessorSharing::new(config)), NoRebalance, Unwatched)
        }
        (Queues::Steps, rebalance, DisciplineConfig::ProcessorSharing(config)) => {
            let rebalance = AnyRebalance::from(rebalance);
            run_built_in(run, step(run, || ProcessorSharing::new(config)), rebalance, Unwatched)
        }
        _ => by_queues(run, queues, Unwatched),
    }
}

/// Runs the general loop with queues of this kind.
fn by_queues<O: Sink>(run: &Run<'_>, queues: Queues, observer: O) -> Outcome {
    let rebalance = AnyRebalance::from(run.system.rebalance);
    match (queues, run.system.discipline) {
        (Queues::Lines, _) => run_built_in(run, Lines::of(run), rebalance, observer),
        (Queues::Leaps, DisciplineConfig::ProcessorSharing(config)) => {
            run_built_in(run, Rings::of(run, &config), rebalance, observer)
        }
        (Queues::Fluid, _) => run_fluid(run, observer),
        (Queues::Leaps | Queues::Steps, _) => run_steps(run, observer),
    }
}

/// Simulates requests that fork under a policy that is not in `caudal-policy`, or not in a [`System`](caudal_config::System): any type that
/// implements [`Parallelism`].
pub fn simulate_forks<P: Parallelism, O: Observer>(run: &Run<'_>, policy: P, mut observer: O) -> Outcome {
    let observer: &mut dyn Observer = &mut observer;
    forks_under(run, policy, observer)
}

/// Policies that are not in `caudal-policy`, or not in a [`System`](caudal_config::System): any types that implement its traits.
#[derive(Clone, Debug)]
pub struct Policies<M, D, R, A> {
    /// Makes the discipline of a pool.
    pub discipline: M,
    /// Places new requests.
    pub dispatch: D,
    /// Moves tasks between pools.
    pub rebalance: R,
    /// Asks for cores and gives them back; the same cores all the time if none.
    pub allocation: Option<A>,
}

/// Simulates `run` under `policies` instead of those of its system, of which only the cores and the pools
/// count.
///
/// # Panics
/// If `policies` break the contracts of their traits, such as running a task on a busy worker.
pub fn simulate_with<Di, M, D, R, A, O>(
    run: &Run<'_>,
    policies: Policies<M, D, R, A>,
    mut observer: O,
) -> Outcome
where
    Di: Discipline,
    M: Fn() -> Di,
    D: Dispatch,
    R: Rebalance,
    A: Allocation,
    O: Observer,
{
    let Policies { discipline, dispatch, rebalance, allocation } = policies;
    let observer: &mut dyn Observer = &mut observer;
    run_pools(run, step(run, discipline), dispatch, rebalance, allocation, observer)
}
