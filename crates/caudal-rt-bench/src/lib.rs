//! Benchmarks of the runtime: its costs and its gains, measured as `benches/README.md` says.

pub mod contest;
pub mod dispatcher;
pub mod fidelity;
pub mod runs;
pub mod scan;
mod system;
pub mod tiny_quanta;
pub mod unedited;
mod workloads;
