//! Interruptible SQD-SITA (ISQD-SITA): no server rests while tasks wait; a new task can interrupt a long one.
//!
//! ## What it does
//! As SQD-SITA, but a server that would rest takes the head of the lowest lane with waiting tasks, although
//! that lane then has more servers than its bound. When a task arrives and no server is idle, the youngest running task of the highest lane that
//! breaks its bound is pre-empted and goes back to the head of its lane; its server goes on to lane 0.
//! ## When it helps
//! Where SQD-SITA does, with all servers at work: never later than SQD-SITA, if preemptions cost nothing.
//! ## When it hurts
//! Preemptions are not bounded by the number of cutoffs any more: a long task may be interrupted again and again where
//! short ones arrive fast. Bad cutoffs still overload a lane.
//! ## Parameters
//! * `cutoffs`: where lanes end, in time that a task has run, such as `["2us", "40us"]`.
//! * `reservations`: servers of each lane; their sum is the number of workers of a pool.
//! ## Source
//! Mirhosseini et al., HPCA 2020, section 3.3, Algorithm 1.
//! ## Example
//! `discipline = { policy = "isqd-sita", cutoffs = ["2us", "40us"], reservations = [13, 2, 1] }`

use super::decoupled::Decoupled;

/// The state machine. See the [module](self); its steps are those of [`Decoupled`].
pub type IsqdSita = Decoupled<true>;
