//! Statistics of latency: recording by simulations and measurements, and estimates with intervals from the recorded values. The simulator, the tuner,
//! the reproduction and benchmarks call it.
//!
//! * [`Histogram`] records in a few nanoseconds, with a bounded relative error ([`RELATIVE_ERROR`]).
//! * [`mser`] finds where the warm-up ends, from the data; [`relaxation`] says how long it has to be at least, from theory.
//! * [`Replicated`] pools independent replications and gives every mean and percentile an interval;
//!   [`StopRule`] says when there are enough of them, judged in replication order.
//! * [`percentile_ci`] is the alternative within one long run (batches), and says why it is not the default.
//! * [`Median`] is for a few trials of any quantity: its interval depends on the order of the trials alone.
//! * [`paired`] compares two systems that saw the same requests; [`Linear`] combines several estimates into one.
//! * [`Summary`] is the part of a result row about one metric; [`OverloadCheck`] decides whether a row may have it.
//! * [`theory`] holds closed forms of queueing theory: the oracles of the simulator's tests.
//!
//! Nothing here reads a clock, starts a thread or depends on hash order: the same input gives the same bits.

mod compact;
mod estimate;
mod histogram;
mod linear;
mod median;
pub mod mser;
mod overload;
pub mod paired;
pub mod percentile_ci;
mod ratio;
pub mod relaxation;
mod replicated;
mod slowdown;
mod stop;
mod summary;
pub mod t;
pub mod theory;
pub mod trend;
pub mod whole;

pub use estimate::Estimate;
pub use histogram::{Bucket, Histogram, RELATIVE_ERROR};
pub use linear::Linear;
pub use median::Median;
pub use overload::OverloadCheck;
pub use ratio::ratio_of_sums;
pub use replicated::Replicated;
pub use slowdown::{slowdown, slowdowns};
pub use stop::{Decision, InOrder, StopRule, StopRuleError};
pub use summary::{SLOWDOWN_ONE, Scale, Summary, percentile_label, slowdown_fixed};
