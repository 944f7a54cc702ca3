//! New requests: a free cell, filled with a closure. Called by submissions and sources.

use std::sync::atomic::Ordering;

use super::class::ClassId;
use super::{Header, Request, Wanted, allocate, fill};

/// A cell with a request that nobody else knows of yet.
#[inline]
pub(crate) fn new_request<F, T>(class: ClassId, arrival: u64, job: F, wanted: Wanted) -> Request
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    make(allocate(), class, arrival, job, wanted)
}

/// As [`new_request`], in a cell that is free.
#[inline]
pub(crate) fn make<F, T>(cell: Request, class: ClassId, arrival: u64, job: F, wanted: Wanted) -> Request
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: the cell is fresh, and what the closure and its result borrow lives for ever.
    unsafe {
        fill(cell, job);
        prepare(&cell, class, arrival, wanted);
    }
    cell
}

/// Makes a cell that holds a closure a request.
///
/// # Safety
/// The cell is free, and the caller's alone.
#[inline]
pub(crate) unsafe fn prepare(header: &Header, class: ClassId, arrival: u64, wanted: Wanted) {
    header.class.set(class.number);
    header.arrival.store(arrival, Ordering::Relaxed);
    header.deadline.set(u64::MAX);
    header.quantum.set(0);
    header.migratable.set(false);
    header.told.store(0, Ordering::Relaxed);
    // SAFETY: as the caller promises.
    unsafe { header.reset(wanted) };
}
