//! Work on many items on several threads, with results in the order of the items. `run`, `search` and `refine` simulate their points by
//! it. It starts threads and waits for them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use caudal_sim::experiment::ExperimentError;

/// Why a figure could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("{point}: {source}")]
pub(crate) struct RunError {
    pub(crate) point: String,
    pub(crate) source: ExperimentError,
}

/// `work` on all `items`, one at a time on each thread; the results are in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R, RunError>)>> = Mutex::new(Vec::new());
    let one_by_one = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            if result.is_err() {
                next.store(usize::MAX / 2, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(one_by_one);
        }
        one_by_one();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
