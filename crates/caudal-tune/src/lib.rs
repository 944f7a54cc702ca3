//! From a workload and latency targets to the system that carries the most load, or needs the fewest cores.
//!
//! * [`plan()`] asks every preset how far it gets ([`Goal`]) within all targets: a coarse screening first, then
//!   tuning and full precision for those that may win, and for the reference lines. A load *passes* when the
//!   interval of each target's statistic lies below its limit, *fails* when one lies above; where neither is so,
//!   longer replications are simulated up to a limit, and what is undecided then counts as failed. Nothing passes
//!   on replications that are shorter than the system's relaxation time asks for (`caudal_sim::steady`): where the
//!   budget does not reach that far, the highest load is the highest that it reaches. The winner has to pass once
//!   more on requests that no search has seen; reference lines, which can not be deployed, are not held to that.
//! * [`Plan`] is what comes out: the winner, a table of all systems with what is certain of each, the rows behind
//!   it, sentences that say why, and the `policy.toml`.
//! * A [`Journal`] keeps what a plan has computed as it goes; the same plan, started again with it, goes on there.
//! * [`lanes`] finds lanes for a service: cutoffs and reservations of the SITA family.
//! * [`break_even`] profiles a core with hardware contexts: how many of them are best at which rate.
//! * [`thresholds`] makes tail-control's table for requests that run in parallel.
//! * [`compare`] holds two systems against each other under common random numbers.
//! * [`bisect`] is the search, over any noisy oracle.
//!
//! All systems see the same requests (common random numbers). Effort is counted in simulated requests
//! ([`Budget`]), never in seconds: same question, same seed, same bits, on any number of threads.

mod aims;
pub mod bisect;
pub mod break_even;
mod budget;
mod candidate;
mod candidates;
mod check;
pub mod compare;
mod cost;
mod error;
mod evidence;
mod explain;
mod journal;
mod judge;
mod lane_tuning;
pub mod lanes;
mod lengths;
mod parallel;
mod plan;
mod planning;
mod question;
mod run;
mod search;
mod setting;
mod show;
pub mod thresholds;
mod tune;

pub use caudal_sim::experiment::Control;

pub use budget::{Budget, REQUESTS_PER_S};
pub use candidate::LeftOut;
pub use error::TuneError;
pub use journal::{Journal, NoJournal};
pub use plan::{Plan, PlanSummary, Reach, Role, Shown, SystemResult, TargetResult, Winner};
pub use planning::{plan, plan_on_enough_cores, plan_with};
pub use question::{Goal, Machine, Phase, Progress, Question};
pub use setting::{Tried, Tuning};
pub use show::{Fact, spelled};
