//! The journal of a search: results so far, kept so that a search that was broken off goes on where it stopped. Plans, searches for lanes
//! and profiles of contexts read and write it after each part. This file has the trait only; `caudal_results` keeps a journal in a file.
//!
//! A plan is a fixed order of *steps* (screening, tuning, refining, ...), each of which works on some systems, one
//! by one. After a system's part of a step, all that is known of it goes into the journal; when the same plan is
//! started again, that part is taken from there. As every part depends on nothing but what came before, the rest
//! of the plan, and its answer, are the same to the last bit.

/// Where a plan keeps what it has computed.
///
/// Entries are JSON objects. They have at least `step` and `entry`, which together say what part of the plan they
/// are about, `phase` and `system`, which say the same to people, and `requests`, what the part took of the budget.
pub trait Journal: Sync {
    /// The entry of this `step` and `entry`, if there is one.
    fn recall(&self, step: usize, entry: usize) -> Option<serde_json::Value>;

    /// Keeps an entry. Called from any thread, as soon as the part is done.
    fn keep(&self, entry: serde_json::Value);
}

/// A journal that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn recall(&self, _step: usize, _entry: usize) -> Option<serde_json::Value> {
        None
    }

    fn keep(&self, _entry: serde_json::Value) {}
}
