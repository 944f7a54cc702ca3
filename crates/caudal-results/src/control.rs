//! How something that takes long is run: on how many threads, how it is stopped, and who is told how far it is.

use std::fmt;
use std::sync::atomic::AtomicBool;

/// Threads, haste, the flag that stops, and the progress of something that takes long.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Threads to simulate on, at least 1.
    pub threads: usize,
    /// Settle for less precision.
    pub quick: bool,
    /// Set by whoever wants it to end; what is done by then is kept.
    pub stop: &'a AtomicBool,
    /// Told how far it is.
    pub progress: &'a dyn Progress,
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Control { threads, quick, stop, .. } = self;
        f.debug_struct("Control").field("threads", threads).field("quick", quick).field("stop", stop).finish()
    }
}

/// A listener to the progress of a run; called from all of its threads.
pub trait Progress: Sync {
    /// `more` requests have been simulated since the last call.
    fn requests(&self, _more: u64) {}
    /// A step is done.
    fn step(&self) {}
    /// There are `more` steps than was known.
    fn more_steps(&self, _more: u64) {}
    /// `done` steps are done.
    fn set_done(&self, _done: u64) {}
}

/// Nobody listens.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {}
