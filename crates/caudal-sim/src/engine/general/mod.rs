//! The general loop of the engine, for any discipline, dispatch, rebalance and allocation policy of `caudal-policy`, or of a user's own
//! crate. The engine starts it once a run, unless `route` names a faster loop; some short cuts are pools of this loop.
//!
//! | file | what |
//! | --- | --- |
//! | `host` | the event loop, arrivals and dispatch |
//! | `core` | the clock, the workers and the tasks; `open`: the pools that have a core; `audit`: the accounting at the marks of a run |
//! | `scheduling` | what the host asks of its pools; `step`: any discipline, an event a slice; `fluid`: the limit of small quanta |
//! | `balance`, `allocate`, `cores`, `stalls` | tasks that move between pools, cores that come and go, cores that the machine takes away |
//! | `replay` | the same pools and views, driven by the log of a runtime |

mod allocate;
mod audit;
mod balance;
pub(in crate::engine) mod core;
mod cores;
mod fluid;
mod host;
mod open;
pub(crate) mod replay;
pub(in crate::engine) mod scheduling;
mod stalls;
pub(in crate::engine) mod step;

use caudal_policy::allocation::{Allocation, Triggered};
use caudal_policy::discipline::{AnyDiscipline, Discipline, DisciplineConfig, Fcfs, has_ties};
use caudal_policy::dispatch::{AnyDispatch, Dispatch};
use caudal_policy::rebalance::{AnyRebalance, Rebalance};

pub(in crate::engine) use self::balance::walk_draw;
use self::core::Core;
use self::fluid::{Fluid, Sharing};
use self::host::{GeneralHost, HostParts};
use self::scheduling::Scheduling;
use self::step::Step;
use super::kernel::observe::Sink;
use super::kernel::run::{Outcome, Run, outcome};
use super::kernel::window::Measured;

/// Workers of each pool that can ever have a core. If cores stay, those that are held: the first of all.
pub(in crate::engine) fn workers_with_core(run: &Run<'_>) -> Vec<u32> {
    let stay = run.system.allocation.triggers().is_none();
    let mut left = if stay { run.system.cores_allocated } else { run.system.cores };
    let held = |size: u32| {
        let held = size.min(left);
        left -= held;
        held
    };
    run.pool_sizes().into_iter().map(held).collect()
}

/// Pools under the discipline that `make` makes, an event for each slice.
pub(in crate::engine) fn step<D: Discipline>(run: &Run<'_>, make: impl Fn() -> D) -> Step<D> {
    Step::new(&workers_with_core(run), make, run.costs)
}

/// Runs pools of any discipline, an event for each slice, under the other policies of the run's system.
pub(in crate::engine) fn run_steps<O: Sink>(run: &Run<'_>, observer: O) -> Outcome {
    let rebalance = AnyRebalance::from(run.system.rebalance);
    match run.system.discipline {
        DisciplineConfig::Fcfs => {
            let classes = run.service.classes().len();
            let steps = Step::<_, true>::accounting(&workers_with_core(run), || Fcfs, run.costs, classes);
            run_built_in(run, steps, rebalance, observer)
        }
        config if has_ties(config) => {
            run_built_in(run, step(run, || AnyDiscipline::<true>::new(config)), rebalance, observer)
        }
        config => run_built_in(run, step(run, || AnyDiscipline::<false>::new(config)), rebalance, observer),
    }
}

/// Runs pools in the limit of small quanta: processor sharing, or least attained service.
pub(in crate::engine) fn run_fluid<O: Sink>(run: &Run<'_>, observer: O) -> Outcome {
    let sharing = match run.system.discipline {
        DisciplineConfig::Las(_) => Sharing::Least,
        _ => Sharing::Equal,
    };
    let fluid = Fluid::new(&workers_with_core(run), sharing, run.costs.probe_factor);
    run_built_in(run, fluid, AnyRebalance::from(run.system.rebalance), observer)
}

/// Runs pools with the dispatch and allocation policies of the run's system.
pub(in crate::engine) fn run_built_in<S: Scheduling, R: Rebalance, O: Sink>(
    run: &Run<'_>,
    sched: S,
    rebalance: R,
    observer: O,
) -> Outcome {
    let allocation = run.system.allocation.triggers().map(Triggered::new);
    run_pools(run, sched, AnyDispatch::from(run.system.dispatch), rebalance, allocation, observer)
}

/// Runs pools under any policies.
pub(in crate::engine) fn run_pools<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink>(
    run: &Run<'_>,
    sched: S,
    dispatch: D,
    rebalance: R,
    allocation: Option<A>,
    observer: O,
) -> Outcome {
    let counted = (run.recorder(), Measured::new(run.length));
    let core = Core::new(&run.pool_sizes(), *run.costs, dispatch.asks(), counted, observer);
    let mut host = GeneralHost::new(HostParts { core, sched, rebalance, dispatch, allocation }, run);
    host.run();
    host.into_outcome()
}

impl<S: Scheduling, R: Rebalance, D: Dispatch, A: Allocation, O: Sink> GeneralHost<'_, S, R, D, A, O> {
    fn into_outcome(self) -> Outcome {
        // Workers that wait for a dispatcher after every quantum do not show how busy it is.
        let waits = self.core.costs.dispatcher_quantum.0 > 0;
        let ended = (self.core.now_ps, self.core.events);
        let found = outcome(self.core.recorder, self.intake.window, self.core.measured.left(), ended);
        Outcome { no_time_to_spare: found.no_time_to_spare || waits, ..found }
    }
}
