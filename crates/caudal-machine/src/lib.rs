//! The machine under a runtime: what its actions cost, and what spoils latency on it.
//!
//! * [`calibrate`] measures the `[costs]` that the simulator reads, with the runtime's own code.
//! * [`doctor`] reads what the system says of itself, and gives advice.
//! * [`busy`] says how far measured times can be trusted now.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "caudal-machine runs on Linux on x86-64 only: other systems lack what it reads (/proc and /sys), and other processors the runtime \
     (`caudal-rt`) that it measures"
);

pub mod busy;
pub mod calibrate;
pub mod doctor;
