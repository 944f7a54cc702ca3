//! Service times and arrivals: what a service has to do, and when it is asked to.
//!
//! * [`ServiceSpec`] and [`ArrivalSpec`] are what a file says (`[workload] service = …, arrivals = …`).
//! * `compile` checks them, reads their files and gives [`Service`] and [`Arrivals`]: immutable, cheap to
//!   clone, shared between threads, with exact moments.
//! * [`ServiceSampler`] and [`ArrivalSampler`] fill batches of [`Demand`]s and of arrival times. Which
//!   distribution it is is asked once a batch; the loops inside are monomorphised.
//! * [`named()`] lists the workloads that have a name, each with its source.
//!
//! Samplers of one seed draw from streams of their own, so a policy that is swapped for another one meets
//! the same requests. Same seed, same bits, whatever the sizes of the batches.
//!
//! ```
//! use caudal_workload::{Demand, ServiceSpec};
//! let service = ServiceSpec::named("extreme-bimodal").compile(".".as_ref())?;
//! assert_eq!(service.classes(), ["short", "long"]);
//! assert!((service.mean_ps() - 2_997_500.0).abs() < 1e-6);
//! let mut batch = [Demand::default(); 64];
//! service.sampler(1).fill(&mut batch);
//! assert!(batch.iter().all(|d| d.service_ps == 500_000 || d.service_ps == 500_000_000));
//! # Ok::<(), caudal_workload::WorkloadError>(())
//! ```

mod arrivals;
pub mod convert;
pub mod dag;
mod demand;
mod error;
mod format;
mod input;
mod nearest;
pub mod plot;
mod rng;
mod service;
pub mod show;
mod spec;
mod summary;

pub use arrivals::{
    ArrivalSampler, ArrivalSpec, Arrivals, GapPhase, GapPhases, GapSpread, OfferedAt, RampPoint, Step,
    TimestampColumns, TimestampFile,
};
pub use dag::{Dag, DagSpec, Grain, Graphs, StepSpec};
pub use demand::Demand;
pub use error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
pub use input::{Columns, Counted, LATENCY_TAG, Taken, Unit, stop_reading_when};
pub use service::{Excess, Finding, Replay, Service, ServiceSampler};
pub use spec::{
    ClassSpec, DistributionSpec, FileSpec, HyperPhases, LogSpread, NamedWorkload, PercentileSpec, Phase,
    ServiceSpec, Spread, find_named, named,
};
pub use summary::{PERCENTILES, Part, Summary};

/// The longest time that a workload may name: one hour, in picoseconds.
///
/// Everything here is about microseconds; an hour keeps every time exact in an `f64` and every sum of
/// times far from the end of a `u64`.
pub const LONGEST_PS: u64 = 3_600_000_000_000_000;

/// No draw is longer than this (2^60 ps, 13 days), however heavy the tail of its distribution.
pub const LONGEST_DRAW_PS: u64 = 1 << 60;
