//! The change of base of time in a tree of events: keys are counted from a later time when they grow too large. Every loop with a tree of
//! events calls it before the next event would lie too far ahead.

use super::keys::Keys;
use super::tree::{NEVER, WinnerTree};

/// A worker that remembers when its event comes, in ps, because keys of far events do not tell.
pub(in crate::engine) trait Due {
    /// When its event comes, in ps; worth nothing where it has none.
    fn due_ps(&self) -> u64;
}

/// Workers that have an event, by number.
fn with_event(tree: &WinnerTree, workers: usize) -> impl Iterator<Item = usize> {
    (0..workers).filter(|&worker| tree.get(worker) != NEVER)
}

/// Counts `keys` from `base_ps`, which is not later than any event, and renews those in `tree`.
pub(in crate::engine) fn rebase(keys: &mut Keys, tree: &mut WinnerTree, workers: &[impl Due], base_ps: u64) {
    keys.rebase(base_ps);
    for (worker, entry) in workers.iter().enumerate() {
        if tree.get(worker) != NEVER {
            tree.set(worker, keys.of(worker, entry.due_ps()));
        }
    }
}

/// When the first event of a worker comes, in ps; none if no worker has one.
pub(in crate::engine) fn first_due_ps(tree: &WinnerTree, workers: &[impl Due]) -> Option<u64> {
    with_event(tree, workers.len()).map(|worker| workers[worker].due_ps()).min()
}
