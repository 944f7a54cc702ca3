//! The progress of work that takes long, as its listener is told it. `sweep`, `timeline` and `bounds` tell it after each point; the
//! command shows it as a bar. Data only.

/// News of the progress of a run; the listener is called from all of its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many requests have been simulated since the last call.
    Requests(u64),
    /// A step is done.
    Step,
    /// There are so many steps more than was known.
    MoreSteps(u64),
    /// So many steps are done in all.
    Done(u64),
}
