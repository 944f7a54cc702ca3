//! Errors of writing timelines and histograms. `timeline` and `hdr` return them to `caudal-results` and `caudal-observe`, which say for
//! which file.

use thiserror::Error;

/// A timeline that makes no sense, or a file that could not be written.
#[derive(Debug, Error)]
pub enum TimelineError {
    /// An event lies before an earlier one of the same track.
    #[error(
        "{track}: an event at {at_ps} ps comes after one at {last_ps} ps; events of a track go forward in time"
    )]
    OutOfOrder {
        /// The core or counter.
        track: String,
        /// When the event is.
        at_ps: u64,
        /// When the track's last event was.
        last_ps: u64,
    },
    /// A slice ended on a core where none had begun.
    #[error("core {core}: a slice ends at {at_ps} ps, but none is open there")]
    NothingOpen {
        /// The core.
        core: u32,
        /// When the end is.
        at_ps: u64,
    },
    /// The file could not be written.
    #[error("the timeline could not be written: {0}")]
    Io(#[from] std::io::Error),
}

/// A histogram that could not be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A value does not fit an HdrHistogram.
    #[error("a latency of {value_ns} ns does not fit the histogram: {reason}")]
    Value {
        /// The value.
        value_ns: u64,
        /// Why the library refused it.
        reason: String,
    },
    /// The histogram could not be encoded or written.
    #[error("the histogram could not be written: {0}")]
    Write(String),
}
