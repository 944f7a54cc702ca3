//! HdrHistogram: interval logs and percentile listings, a file each, which the recogniser of formats calls.

mod decode;
mod listing;
mod log;

pub(super) use listing::{holds_listing, read_listing};
pub use log::LATENCY_TAG;
pub(super) use log::{holds_intervals, read_log};
