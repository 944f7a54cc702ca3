//! A runtime as others see it: what [`caudal_rt::stats`] reads of it, as text, files and at a socket.
//!
//! ```text
//!  Runtime::stats ────────────▶ Snapshot ──▶ JSON · Prometheus text · HdrHistogram log ─┐
//!  Runtime::record_timeline ──▶ Recording ─▶ Perfetto trace ────────────────────────────┼──▶ socket ◀── caudal top
//! ```
//!
//! A program that wants to be seen by `caudal top` says so when it builds its runtime:
//!
//! ```no_run
//! use caudal_observe::{Observe as _, Observed as _};
//!
//! let runtime = caudal_rt::Runtime::builder("policy.toml")?.observed().start()?;
//! println!("{}", runtime.socket_path().map_or_else(|why| why.to_string(), |path| path.display().to_string()));
//! # Ok::<(), caudal_rt::StartError>(())
//! ```
//!
//! The runtime itself knows nothing of this crate, nor of the formats here. The crate's traits add methods to its types.

mod export;
mod hlog;
mod perfetto;
mod prometheus;
pub mod socket;
mod text;

use std::io::Write;
use std::path::PathBuf;

use caudal_report::TimelineError;
use caudal_rt::stats::{Recording, Snapshot};
use caudal_rt::{Builder, Runtime};

pub use export::to_hdr;
pub use hlog::{HlogError, Metric};

use self::socket::{SocketError, State, Wanted};

/// Formats of a snapshot.
pub trait Export {
    /// The snapshot in Prometheus' text format.
    fn to_prometheus(&self) -> String;

    /// Writes an HdrHistogram interval log: one interval for each class that has values, from the beginning of the snapshot's interval to its
    /// end, in seconds since the start of the runtime. Commas and white space in names of classes become `_`, as tags can not hold them.
    ///
    /// # Errors
    /// [`HlogError`], when the writer fails.
    fn write_hlog(&self, metric: Metric, out: impl Write) -> Result<(), HlogError>;
}

impl Export for Snapshot {
    fn to_prometheus(&self) -> String {
        prometheus::text(self)
    }

    fn write_hlog(&self, metric: Metric, out: impl Write) -> Result<(), HlogError> {
        hlog::write(self, metric, out)
    }
}

/// Formats of a recording.
pub trait Draw {
    /// Writes it as a Perfetto trace, which opens in <https://ui.perfetto.dev>: a track a worker, a slice for each time slice of a request
    /// on it, named by class and number, with arrows from each to the next; `idle`, and within it `asleep`; arrows where
    /// requests moved from one inbox to another. Times are from the beginning of the window. Where events were lost, the last mark of
    /// the track says how many.
    ///
    /// # Errors
    /// [`TimelineError::Io`] when the writer fails.
    fn write_perfetto<W: Write>(&self, out: W) -> Result<W, TimelineError>;
}

impl Draw for Recording {
    fn write_perfetto<W: Write>(&self, out: W) -> Result<W, TimelineError> {
        perfetto::write(self, out)
    }
}

/// Settings of a [`Builder`] for whoever wants the runtime to be seen.
pub trait Observe {
    /// A unix socket shows the runtime to `caudal top`, for the user under whom it runs and nobody else, if the socket can be had:
    /// [`Observed::socket_path`] says where it is, or why it is not.
    #[must_use]
    fn observed(self) -> Self;

    /// As [`Observe::observed`], but a runtime that can not have the socket does not start.
    #[must_use]
    fn observed_or_refused(self) -> Self;
}

impl Observe for Builder {
    fn observed(self) -> Builder {
        self.beside(|beside| socket::open(beside, Wanted::IfPossible))
    }

    fn observed_or_refused(self) -> Builder {
        self.beside(|beside| socket::open(beside, Wanted::Required))
    }
}

/// Questions to a [`Runtime`] that is seen.
pub trait Observed {
    /// Where the socket is, or why there is none.
    ///
    /// # Errors
    /// [`SocketError`].
    fn socket_path(&self) -> Result<PathBuf, SocketError>;
}

impl Observed for Runtime {
    fn socket_path(&self) -> Result<PathBuf, SocketError> {
        self.with_beside(State::path).unwrap_or(Err(SocketError::Closed))
    }
}
