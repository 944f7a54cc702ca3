//! Discrete-event simulation of scheduling policies: what a service's latency and efficiency would be
//! under any combination of the policies of `caudal-policy`, on up to 4096 cores.
//!
//! * [`engine`]: one run. Same seed, same bits; memory follows the backlog, not the number of requests.
//! * [`experiment`]: replications of a run until its statistics are precise enough, on any number of threads.
//! * [`sweep`]: the experiments of many points (feature `host`).
//! * [`recorded`]: arrivals as they were recorded, from the first to the last.
//! * [`steady`]: how long runs have to be, and whether they were.
//! * [`lanes`]: how busy lanes with cores of their own are, by arithmetic.
//! * [`thresholds`]: tail-control's table for a service and a load.
//! * [`replay`]: whether a runtime decided as the simulator does.
//! * [`row`]: what comes out, as JSON.
//!
//! The feature `host`, which is on by default, has everything that needs threads or a clock. Without it all else builds and gives the
//! same results, on the thread of the caller.
//!
//! Time is in whole picoseconds. The order of events is total: by time, then arrivals, tasks handed over,
//! workers by id, ticks.

pub mod authors;
pub mod engine;
pub mod experiment;
pub mod lanes;
pub mod replay;
pub mod row;
pub mod sweep;
mod threads;
pub mod thresholds;

pub use self::experiment::{recorded, steady};

/// One run of the policies paper's own simulator's rules.
fn authors_outcome(run: &engine::Run<'_>) -> Result<engine::Outcome, String> {
    authors::simulate(run, &authors::Rules::default()).map_err(|unsupported| unsupported.to_string())
}
