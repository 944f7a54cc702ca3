//! Where cells come from: memory that is made once and never unmapped, a list for each thread that submits.
//!
//! Each thread has a [`Home`] with a list of free cells that only it touches. A cell that becomes free elsewhere, which is
//! where requests end, is pushed to its home's `returned`, which the owner takes whole when its own list is empty. Homes
//! of threads that have ended are kept for threads that begin: a cell's home is always valid.
//!
//! *Why that is right*: `returned` has many pushers and one taker who swaps the whole list out, so there is no ABA. A push has
//! release ordering and the swap acquire, so that what the last user of a cell did is over when it is used again.

use std::cell::{RefCell, UnsafeCell};
use std::ptr::NonNull;
use std::sync::Mutex;

use super::{Header, Request};
use crate::ring::stack::{TakeAll, TakeAllStack};

/// Cells that are made at a time: 64 KiB.
const SLAB: usize = 256;

/// Where the free cells of a thread come back to.
pub(super) struct Home {
    returned: TakeAllStack<Header>,
    /// The owner's own list.
    free: UnsafeCell<TakeAll<Header>>,
}

// SAFETY: `free` is touched by the thread that owns the home alone, which is the one that took it out of `UNUSED` or made it.
unsafe impl Sync for Home {}
// SAFETY: as above; the mutex of `UNUSED` hands it from thread to thread.
unsafe impl Send for Home {}

/// Homes of threads that have ended.
static UNUSED: Mutex<Vec<&'static Home>> = Mutex::new(Vec::new());

/// The calling thread's home; given back when the thread ends.
struct Owned(&'static Home);

impl Drop for Owned {
    fn drop(&mut self) {
        UNUSED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(self.0);
    }
}

thread_local! {
    static HOME: RefCell<Option<Owned>> = const { RefCell::new(None) };
}

fn with_home<R>(then: impl FnOnce(&'static Home) -> R) -> R {
    HOME.with(|home| {
        let mut home = home.borrow_mut();
        let owned = home.get_or_insert_with(|| {
            let unused = UNUSED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
            Owned(unused.unwrap_or_else(|| {
                let returned = TakeAllStack::new();
                let free = UnsafeCell::new(returned.take_all());
                Box::leak(Box::new(Home { returned, free }))
            }))
        });
        then(owned.0)
    })
}

/// A free cell with nothing in it.
///
/// On a worker, call it where no probe can yield.
#[inline]
pub(crate) fn allocate() -> Request {
    with_home(|home| {
        // SAFETY: the home is this thread's, and nothing below comes back here.
        let free = unsafe { &mut *home.free.get() };
        loop {
            if let Some(cell) = free.next() {
                return Request::new(cell);
            }
            if home.returned.is_empty() {
                make_slab(home);
            }
            *free = home.returned.take_all();
        }
    })
}

#[cold]
fn make_slab(home: &'static Home) {
    let slab: Vec<Header> = (0..SLAB).map(|_| Header::free(NonNull::from(home))).collect();
    Vec::leak(slab).iter().for_each(|cell| release(Request::new(NonNull::from(cell))));
}

/// Gives a cell that nobody refers to any more back to its home.
#[inline]
pub(crate) fn release(cell: Request) {
    // SAFETY: cells are never unmapped, homes live for ever, and the cell is the caller's alone until it is pushed.
    unsafe { cell.home.get().as_ref().returned.push(cell.address()) };
}
