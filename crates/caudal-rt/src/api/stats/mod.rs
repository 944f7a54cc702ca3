//! Statistics of a runtime: numbers as snapshots, and recordings of what its workers do. Programs ask by [`Runtime::stats`](crate::Runtime::stats) and
//! [`Runtime::record_timeline`](crate::Runtime::record_timeline), services beside the runtime by a [`View`]; `caudal-observe` makes texts and files of the answers.
//!
//! ```text
//!  workers ──▶ measured (histograms) ─┐
//!          ──▶ boards, time spent ────┼──▶ Snapshot
//!  counts, stacks ────────────────────┘
//!  workers ──▶ timeline (rings) ────────▶ Recording
//! ```
//!
//! Everything that workers write here they write with plain stores to lines of their own; the reader does all the rest.
//! All histograms are *raw*: what the machine took away from the workers is in them ([`Stalls`]).

mod recording;
mod snapshot;

use std::sync::Arc;
use std::time::Duration;

pub use crate::board::timeline::{Event, Stop};
pub use recording::{RecordError, Recording, Running, WINDOW_MAX};
pub use snapshot::{ClassStats, Counters, Identity, Snapshot, StackStats, Stalls, WorkerStats};

use crate::kernel::shared::Shared;

/// A runtime as services beside it see it; it stays when the runtime has ended.
#[derive(Clone, Debug)]
pub struct View(pub(crate) Arc<Shared>);

impl View {
    /// As [`Runtime::stats`](crate::Runtime::stats).
    pub fn stats(&self) -> Snapshot {
        snapshot::take(&self.0)
    }

    /// Name, process and version of the runtime.
    pub fn identity(&self) -> Identity {
        snapshot::identity(&self.0)
    }

    /// Begins a recording, which goes on until [`Running::end`]; its window is of at most [`WINDOW_MAX`].
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn begin_recording(&self, window: Duration) -> Result<Running, RecordError> {
        Running::begin(&self.0, window)
    }
}
