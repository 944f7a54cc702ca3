//! New requests: a free cell, filled with a closure. Called by submissions and sources.

use std::sync::atomic::Ordering;

use super::class::ClassId;
use super::{Header, Outcome, Reference, Request, Wanted, allocate, fill};

/// A cell with a request that nobody else knows of yet.
#[inline]
pub(crate) fn new_request<F, T>(class: ClassId, arrival: u64, job: F, wanted: Wanted) -> Request
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: the cell is fresh.
    unsafe { make(allocate(), class, arrival, job, wanted) }
}

/// As [`new_request`], in the cell `cell`.
///
/// # Safety
/// The cell is fresh from [`allocate`], and nobody else knows of it.
#[inline]
pub(crate) unsafe fn make<F, T>(
    cell: Request,
    class: ClassId,
    arrival: u64,
    job: F,
    wanted: Wanted,
) -> Request
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: the cell is fresh, as the caller promises, and what the closure and its result borrow lives for ever.
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

/// A request that has ended and left nothing, with the handle's reference.
pub(crate) fn ended_request() -> Request {
    let cell = allocate();
    // SAFETY: the cell is fresh, so its request has only the references of `reset`, which are this call's. There is no closure to drop.
    unsafe {
        cell.reset(Wanted::ByHandle);
        if cell.state.end_waiting_if(Outcome::Stopped, |_| true).is_some() {
            let _ = cell.state.end();
            cell.drop_ref(Reference::Ender);
        }
        cell.drop_ref(Reference::Runtime);
    }
    cell
}
