//! How to measure microsecond scheduling on a noisy machine.
//!
//! A hypervisor takes a core away a thousand times a second, for longer than most requests last. What is measured
//! there says little unless everybody who is compared does the same work, on the same requests, and the moments at
//! which the machine itself stood still are known. This crate is what all contestants of a comparison share:
//!
//! * [`clock`]: the time stamp counter, its frequency, ticks ↔ nanoseconds. [`pin`]: one thread, one CPU.
//! * [`work`]: synthetic work of a number of iterations that is calibrated once. Never "until the clock says so": such
//!   work finishes for free while it is preempted. Its own loop notices when the machine stalls ([`gaps`]).
//! * [`schedule`]: which requests arrive when, drawn before the run: open loop, Poisson, repeatable. [`generator`] releases them.
//! * [`contestant`]: the command line that all contestants have, and what they prepare from it.
//! * [`trace`]: what a contestant writes: arrival, start and completion of every request, and the gaps.
//! * [`filter`]: percentiles, raw and without the requests that a stall touched. [`stalls`]: the stalls themselves.
//! * [`compare`]: medians and ratios over the rounds of a comparison.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("caudal-measure reads the time stamp counter of x86-64 and pins threads as Linux does");

pub mod clock;
pub mod compare;
pub mod contestant;
pub mod filter;
pub mod gaps;
pub mod generator;
pub mod pin;
pub mod schedule;
pub mod stalls;
pub mod trace;
pub mod work;
