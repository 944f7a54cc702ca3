//! Replications on several threads, or on the caller's alone where there are no threads (without the feature `host`).
//! Experiments call it.

/// `work` on each of `items`, by as many threads as there are; the results are in the order of the items.
///
/// # Errors
/// The error of the first item that has one.
#[cfg(feature = "host")]
pub(crate) fn in_order<T: Sync, R: Send, E: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    if threads <= 1 || items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let parts: Vec<_> = items
            .chunks(items.len().div_ceil(threads))
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Result<Vec<_>, _>>()))
            .collect();
        let mut results = Vec::with_capacity(items.len());
        for part in parts {
            match part.join() {
                Ok(part) => results.extend(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(results)
    })
}

/// `work` on each of `items`; the results are in the order of the items.
///
/// # Errors
/// The error of the first item that has one.
#[cfg(not(feature = "host"))]
pub(crate) fn in_order<T, R, E>(
    _threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, E>,
) -> Result<Vec<R>, E> {
    items.iter().map(work).collect()
}
