//! What a runtime shows of itself: numbers, timelines, and a socket at which others ask for them.
//!
//! ```text
//!  workers ──▶ measured (histograms) ─┐
//!          ──▶ boards, time spent ────┼──▶ Snapshot ──▶ JSON · Prometheus text · HdrHistogram log ─┐
//!  counts, stacks ────────────────────┘                                                           ├──▶ socket ◀── caudal top
//!  workers ──▶ timeline (rings) ────────▶ Recording ──▶ Perfetto trace ───────────────────────────┘
//! ```
//!
//! Everything that workers write here they write with plain stores to lines of their own; all the rest is done by who reads.
//! All histograms are *raw*: what the machine took away from the workers is in them ([`Stalls`]).

mod hlog;
pub(crate) mod measured;
mod prometheus;
mod snapshot;
pub mod socket;
pub(crate) mod timeline;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use caudal_fiber::stack::StackBudget;

pub use hlog::{HlogError, Metric};
pub use snapshot::{ClassStats, Counters, Identity, Snapshot, StackStats, Stalls, WorkerStats};
pub use timeline::{RecordError, Recording, WINDOW_MAX};

use crate::clock::now;
use crate::config::Settings;
use crate::pause::pause;
use crate::{Builder, Runtime};

/// What a [`Builder`] is told of all this.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Workers measure.
    pub(crate) measuring: bool,
    pub(crate) socket: socket::Wanted,
    pub(crate) name: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { measuring: true, socket: socket::Wanted::default(), name: None }
    }
}

/// What a runtime keeps to be seen by.
#[derive(Debug)]
pub(crate) struct Observer {
    pub(crate) timeline: timeline::Timelines,
    pub(crate) identity: Identity,
    /// When it started: by the counter, and by the system's clock.
    started: u64,
    started_at: SystemTime,
    /// The stacks of all workers, once they are known.
    pub(crate) stacks: OnceLock<Arc<StackBudget>>,
    socket: Mutex<socket::State>,
}

impl Observer {
    pub(crate) fn new(settings: &Settings) -> Observer {
        let name = settings.observe.name.clone().unwrap_or_else(own_name);
        Observer {
            timeline: timeline::Timelines::new(settings.workers),
            identity: Identity {
                name,
                pid: std::process::id(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            started: now(),
            started_at: SystemTime::now(),
            stacks: OnceLock::new(),
            socket: Mutex::default(),
        }
    }

    /// Ends the socket's thread and removes the socket.
    pub(crate) fn close(&self) {
        let state = std::mem::take(&mut *self.socket.lock().unwrap_or_else(PoisonError::into_inner));
        drop(state);
    }
}

/// The name of this program's file.
fn own_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "?".to_owned(), |name| name.to_string_lossy().into_owned())
}

impl Builder {
    /// The name under which `caudal top` lists and finds the runtime; without it that of the program's file.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.settings.observe.name = Some(name.into());
        self
    }

    /// Whether there is a unix socket that shows the runtime to `caudal top`, for the user under whom it runs and nobody else.
    /// Unless this says otherwise there is one if it can be had; with `true` a runtime that can not have it does not start.
    #[must_use]
    pub fn socket(mut self, socket: bool) -> Builder {
        self.settings.observe.socket = if socket { socket::Wanted::Required } else { socket::Wanted::No };
        self
    }

    /// Whether workers measure requests; they do unless this says otherwise. It is there to measure what measuring costs: without it
    /// all histograms are empty.
    #[must_use]
    pub fn measuring(mut self, measuring: bool) -> Builder {
        self.settings.observe.measuring = measuring;
        self
    }
}

impl Runtime {
    /// What has been measured so far, and what the workers do now. Reads what they write and stops nobody: some 10 µs for each
    /// class and worker.
    pub fn stats(&self) -> Snapshot {
        snapshot::take(self.shared())
    }

    /// Records what the workers do from now on for `window`, at most [`WINDOW_MAX`], and returns when that is over.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record_timeline(&self, window: Duration) -> Result<Recording, RecordError> {
        let running = timeline::Running::begin(self.shared(), window)?;
        pause(window);
        Ok(running.end())
    }

    /// Where the socket is, or why there is none.
    ///
    /// # Errors
    /// [`socket::SocketError`].
    pub fn socket_path(&self) -> Result<PathBuf, socket::SocketError> {
        let state = self.shared().observer.socket.lock().unwrap_or_else(PoisonError::into_inner);
        state.path()
    }
}
