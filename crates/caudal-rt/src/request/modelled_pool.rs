//! Stand-in for the pool in models: cells of one run, each of which becomes free once.
//!
//! The threads of a model are one thread of the system, which loom switches at atomic operations: a thread-local list is the
//! model's.

use std::cell::RefCell;
use std::ptr::NonNull;

use super::cell::{Header, Request};
use crate::base::primitives::{AtomicUsize, Ordering, shared_static};

/// A cell, and whether it is free.
type Made = (Box<Header>, bool);

thread_local! {
    static CELLS: RefCell<Vec<Made>> = const { RefCell::new(Vec::new()) };
}

shared_static! {
    /// Cells that have been made: whoever visits all of them sees those, as the lock of the real list has it.
    static MADE: AtomicUsize = AtomicUsize::new(0);
}

/// The request in a cell of this run.
fn of(cell: &Header) -> Request {
    // SAFETY: the model drops its cells when all of its threads, which alone have requests, are through.
    unsafe { Request::of(NonNull::from(cell)) }
}

/// The cells of a run; to be made first.
#[cfg(test)]
pub(crate) struct Cells(());

#[cfg(test)]
impl Cells {
    pub(crate) fn begin() -> Cells {
        CELLS.take();
        Cells(())
    }

    /// Has every cell become free, but for those of requests that were given up?
    pub(crate) fn are_free() -> bool {
        // The state is read outside of the borrow: loom may switch there.
        let kept = CELLS.with_borrow(|cells| {
            let kept = cells.iter().filter(|(_, free)| !free);
            kept.map(|(cell, _)| of(cell)).collect::<Vec<_>>()
        });
        kept.into_iter().all(|cell| cell.state.load().is_leaked())
    }

    /// The end of a run: asserts that every cell has become free, and drops them.
    pub(crate) fn end(self) {
        assert!(Cells::are_free(), "a reference to a cell was lost");
        CELLS.take();
    }
}

/// A cell that no request of this run has had.
pub(crate) fn allocate() -> Request {
    let cell = Box::new(Header::free(None));
    let request = of(&cell);
    CELLS.with_borrow_mut(|cells| cells.push((cell, false)));
    MADE.fetch_add(1, Ordering::Release);
    request
}

pub(crate) fn allocate_outlined() -> Request {
    allocate()
}

pub(crate) fn prepare_next() {}

/// Gives back a cell that nobody refers to any more.
///
/// # Safety
/// The cell is free: the caller has dropped the last reference.
pub(super) unsafe fn release(cell: Request) {
    // The next request's submitter writes there.
    cell.storage();
    CELLS.with_borrow_mut(|cells| {
        let made =
            cells.iter_mut().find(|(made, _)| std::ptr::eq(&raw const **made, cell.address().as_ptr()));
        let (_, free) = made.expect("a cell of this run");
        assert!(!std::mem::replace(free, true), "a cell was freed twice");
    });
}

pub(crate) fn send_home() {}

pub(crate) fn for_each(then: impl FnMut(Request)) {
    let made = MADE.load(Ordering::Acquire);
    let cells: Vec<Request> =
        CELLS.with_borrow(|cells| cells.iter().take(made).map(|(cell, _)| of(cell)).collect());
    cells.into_iter().for_each(then);
}
