//! Findings of the watchdog on each worker. The watchdog writes them every few milliseconds, and statistics read them.

use std::sync::atomic::AtomicU64;

/// Findings on one worker. The watchdog alone writes.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// For how long its thread was ready to run and had no core, in ns.
    pub(crate) waited_ns: AtomicU64,
    /// 1: that is a tenth of its time or more now.
    pub(crate) starved: AtomicU64,
}
