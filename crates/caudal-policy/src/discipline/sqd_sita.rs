//! Server-queue decoupled SITA (SQD-SITA): lanes for short and long tasks, with servers that go where they may.
//!
//! ## What it does
//! Every task starts in lane 0 and moves to the tail of the next lane when it has run for as long as the lane's cutoff.
//! A lane is entitled to its reservations. A server that is free joins the highest lane with waiting tasks, unless that
//! lane and all higher ones would then have more servers than reservations: short tasks always find those that are
//! reserved for them. So a server may rest while tasks wait in high lanes, and its task is pre-empted at cutoffs only;
//! where the server would take the same task again, it goes on.
//! ## When it helps
//! Service times that differ a lot, unknown beforehand: short tasks never wait behind long ones, in order of arrival,
//! with at most one preemption a cutoff. No task is later than under ganged lanes with servers of their own.
//! ## When it hurts
//! Long tasks wait while servers rest. Bad cutoffs overload a lane long before the pool is.
//! ## Parameters
//! * `cutoffs`: where lanes end, in time that a task has run, such as `["2us", "40us"]`.
//! * `reservations`: servers of each lane; their sum is the number of workers of a pool.
//! ## Source
//! Mirhosseini et al., HPCA 2020, section 3.2, Algorithm 1.
//! ## Example
//! `discipline = { policy = "sqd-sita", cutoffs = ["2us", "40us"], reservations = [13, 2, 1] }`

use super::decoupled::Decoupled;

/// The state machine. See the [module](self); its steps are those of [`Decoupled`].
pub type SqdSita = Decoupled<false>;
