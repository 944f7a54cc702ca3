//! The one file that describes a Caudal system.

mod costs;
mod system;

pub use costs::Costs;
pub use system::{CORES_MAX, Pools, System, Variant};
