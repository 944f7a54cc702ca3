//! An open-loop load generator. A run sends the very requests that a simulation of the same workload, rate and seed has simulated.
//!
//! * [`schedule`]: the requests and their intended send times. [`traffic`]: the commands that they become.
//! * [`generator`]: the loop that sends them and reads answers, over any [`transport`], by any [`clock`].
//! * [`ring`]: a transport that answers at once.
//! * [`record`] and [`latencies`]: counts and times.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("caudal-load reads the time stamp counter of x86-64 and calls Linux's sockets");

pub mod clock;
mod flight;
pub mod generator;
pub mod latencies;
pub mod record;
pub mod ring;
pub mod schedule;
pub mod traffic;
pub mod transport;
