//! The one file that describes a Caudal system: what arrives, which policies meet it, what they cost, what
//! is measured.
//!
//! * [`File`] reads it, checks all of it, and lists the [`Point`]s that it asks for. Every error is a
//!   [`ConfigError`] whose [`Problem`]s name line, column and key and say what would be right.
//! * [`presets()`] are the systems that have a name, each with where its numbers come from.
//! * [`coherence`] is the one table of what does not go together.
//! * [`write_policy`] writes the `policy.toml` that a plan hands to the runtime; [`schema()`] describes the
//!   file to editors.
//! * [`LatencyTarget`] and [`Rate`] are what the command line and the file say alike.
//!
//! ```
//! let file = caudal_config::File::parse(
//!     r#"
//!     [workload]
//!     service = "extreme-bimodal"
//!     load = [0.3, 0.5]
//!     [system]
//!     preset = "tiny-quanta"
//!     cores = 16
//!     discipline.quantum = ["1us", "2us"]
//!     "#,
//!     "example.toml",
//! )?;
//! let points = file.points()?;
//! assert_eq!(points.len(), 4);
//! assert_eq!(points[1].key, "tiny-quanta/discipline.quantum=1us/load=0.5");
//!
//! let error = caudal_config::File::parse("[system]\ncores = 16\nquantm = 2", "bad.toml").unwrap_err();
//! assert_eq!((error.problems()[0].line, error.problems()[0].column), (3, 1));
//! # Ok::<(), caudal_config::ConfigError>(())
//! ```

pub mod coherence;
mod contexts;
mod costs;
mod costs_file;
mod de;
mod engine_loop;
mod error;
mod file;
mod finding;
mod measure;
mod options;
mod plan;
mod presets;
mod rate;
mod schema;
mod stalls;
mod suggest;
mod sweep;
mod system;
mod target;
mod tree;
mod workload;
mod write;

pub use coherence::SystemHost;
pub use contexts::{CONTEXTS_MAX, ContextsConfig};
pub use costs::Costs;
#[cfg(feature = "host")]
pub use costs_file::costs_as_overrides;
pub use costs_file::costs_as_overrides_of_text;
pub use engine_loop::{EngineLoop, LoopLacks};
pub use error::{ConfigError, Problem};
pub use file::{File, Point};
pub use measure::{Measure, Stop, WarmUp};
pub use options::Options;
pub use plan::SystemPlan;
pub use presets::{Number, Preset, find_preset, nearest_preset, presets};
pub use rate::{Rate, RateError};
pub use schema::schema;
pub use stalls::Stalls;
pub use sweep::POINTS_MAX;
pub use system::{CORES_MAX, Pools, System, Variant};
pub use target::{LatencyStatistic, LatencyTarget, Limit, Metric, Statistic, TargetError};
pub use workload::{LOAD_MAX, Offered, Workload};
pub use write::write_policy;
