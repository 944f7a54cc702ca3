//! A second simulator, as plain as it can be, to hold the engine against.
//!
//! Nothing here is fast and nothing is skipped: every check of a walk and every quantum is an event, the
//! next event is found by looking at all of them, queues are vectors, tasks are never forgotten, books are
//! kept by adding up after each event. It drives the same pure policies and draws from the same samplers,
//! so that the results must be equal to the bit.
//!
//! | file | what |
//! | --- | --- |
//! | `machine` | workers, tasks, lanes; the host's side of a pool for a discipline |
//! | `host` | the event loop, arrivals, dispatch |
//! | `moves` | walks, steals, flags, sheds |
//! | `cores` | allocation |
//! | `books` | the measured window and its statistics |

mod books;
mod cores;
mod host;
mod machine;
mod moves;

use caudal_policy::discipline::{
    DisciplineConfig, Fcfs, IsqdSita, Las, PreemptiveSita, ProcessorSharing, SqdSita, Srpt,
};
use caudal_sim::engine::Run;

pub(crate) use books::{ClassTotals, Record};

/// Simulates `run` step by step.
pub(crate) fn simulate(run: &Run<'_>) -> Record {
    match run.system.discipline {
        DisciplineConfig::Fcfs => host::Host::new(run, || Fcfs).run(),
        DisciplineConfig::Srpt => host::Host::new(run, || Srpt).run(),
        DisciplineConfig::Las(config) => host::Host::new(run, || Las::new(config)).run(),
        DisciplineConfig::ProcessorSharing(config) => {
            host::Host::new(run, || ProcessorSharing::new(config)).run()
        }
        DisciplineConfig::PreemptiveSita(config) => {
            host::Host::new(run, || PreemptiveSita::new(config)).run()
        }
        DisciplineConfig::SqdSita(config) => host::Host::new(run, || SqdSita::new(config)).run(),
        DisciplineConfig::IsqdSita(config) => host::Host::new(run, || IsqdSita::new(config)).run(),
    }
}
