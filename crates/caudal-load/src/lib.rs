//! An open-loop load generator. A run sends the very requests that a simulation of the same workload, rate and seed has simulated.
//!
//! * [`schedule`]: the requests and their intended send times. [`traffic`]: the commands that they become.
//! * [`generator`]: the loop that sends them and reads answers, over any [`transport`], by any [`clock`].
//! * [`ring`]: a transport that answers at once.
//! * [`udp`] and [`tcp`]: transports over sockets, which speak a [`protocol`]. [`open`] finds a service and makes its store ready.
//! * [`session`]: from what is asked for to a run.
//! * [`record`] and [`latencies`]: counts and times. [`run`]: a whole run, and how several become one.
//! * [`trust`]: which percentiles the generator stands for, and what speaks against a run.
//! * [`search`]: the highest rate within a target. [`export`]: the formats of HdrHistogram.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("caudal-load reads the time stamp counter of x86-64 and calls Linux's sockets");

pub mod clock;
pub mod export;
mod flight;
pub mod generator;
pub mod latencies;
mod memcached;
mod mmsg;
pub mod open;
pub mod protocol;
pub mod record;
pub mod ring;
pub mod run;
pub mod schedule;
pub mod search;
pub mod session;
pub mod tcp;
pub mod traffic;
pub mod transport;
pub mod trust;
pub mod udp;

pub use caudal_measure::pin::{PinError, pin_to};
