//! A second simulator, as plain as it can be, to hold the engine against.
//!
//! Nothing here is fast and nothing is skipped: every check of a walk and every quantum is an event, the
//! next event is found by looking at all of them, queues are vectors, tasks are never forgotten, accounts are
//! kept by adding up after each event. It drives the same pure policies and draws from the same samplers,
//! so that the results must be equal to the bit.
//!
//! | file | what |
//! | --- | --- |
//! | `machine` | workers, tasks, lanes; the host's side of a pool for a discipline |
//! | `host` | the event loop, arrivals, dispatch |
//! | `moves` | walks, steals, flags, sheds |
//! | `cores` | allocation |
//! | `accounts` | the measured window and its statistics |

mod accounts;
mod cores;
mod host;
mod machine;
mod moves;

use caudal_sim::engine::Run;

pub(crate) use accounts::{ClassTotals, Record};

/// Simulates `run` step by step.
pub(crate) fn simulate(run: &Run<'_>) -> Record {
    caudal_policy::with_discipline!(run.system.discipline, |make: Type| host::OracleHost::new(run, make)
        .run())
}
