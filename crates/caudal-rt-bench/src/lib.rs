//! What the runtime costs and what it brings, measured as `benches/README.md` says.

pub mod contest;
pub mod dispatcher;
pub mod fidelity;
pub mod runs;
pub mod scan;
mod system;
pub mod tiny_quanta;
pub mod unedited;
mod workloads;
