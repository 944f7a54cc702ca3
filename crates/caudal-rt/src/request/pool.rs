//! The pool of cells: memory that is made once and never unmapped, a home for each thread that submits. Called by submissions, and at the
//! end of each request.
//!
//! Cells become free elsewhere, on the worker where their request ended. They go back by *magazines*: a free cell whose storage
//! holds the addresses of up to [`ROUNDS`] others.
//!
//! ```text
//!  worker                                   home of the submitter
//!  ┌ open magazine ┐   full, or idle        ┌ returned ─────────────┐  swap    ┌ its own ┐
//!  │ cell: a b c … │ ─────────────────────▶ │ magazine ─▶ magazine ─▶ … │ ────▶ │ a, b, c … │ ─▶ allocate
//!  └───────────────┘                        └───────────────────────┘          └─────────┘
//! ```
//!
//! A chain of single cells would be the plain solution. But each link of it lies in a line that the other core wrote last, and can
//! only be asked for when the one before has come: some 100 ns a cell. The addresses in a magazine are known together, and
//! their lines are fetched together.
//!
//! *Why no cell is lost or had twice.* A cell is in one place: with its request, in one open magazine, in one home's stack, or
//! in one home's own list. `returned` has many pushers and one taker who swaps all of it out, so there is no ABA; its
//! push has release ordering and the swap acquire, so what the last user of a cell did, and what the magazine says, is over
//! and seen. An open magazine belongs to a thread, which pushes it when it is full, when it turns to cells of another home,
//! when it goes idle and when it ends. Homes of threads that have ended are kept for threads that begin.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::sync::Mutex;

use super::cell::{Header, Request};
use super::storage::INLINE_BYTES;
use crate::base::quiet::NoYield;
use crate::queue::ring::stack::{TakeAll, TakeAllStack};

/// Cells that are made at a time: 64 KiB.
const SLAB: usize = 256;
/// Addresses in a magazine.
const ROUNDS: usize = INLINE_BYTES / size_of::<Request>();

/// Home of the free cells of a thread.
pub(super) struct Home {
    /// Magazines, each with its number of addresses in `rounds`.
    returned: TakeAllStack<Header>,
    own: UnsafeCell<HomeState>,
}

/// Part of a home that only its owner touches.
struct HomeState {
    magazines: TakeAll<Header>,
    /// The cell that is given out next, whose lines have been asked for.
    ready: Option<Request>,
    /// The magazine that is being emptied, and how many addresses are left.
    open: Option<(Request, usize)>,
}

// SAFETY: `own` is touched by the thread that owns the home alone, which is the one that took it out of `UNUSED` or made it.
unsafe impl Sync for Home {}
// SAFETY: as above; the mutex of `UNUSED` hands it from thread to thread.
unsafe impl Send for Home {}

/// All cells that there are.
static SLABS: Mutex<Vec<&'static [Header]>> = Mutex::new(Vec::new());

/// Homes of threads that have ended.
static UNUSED: Mutex<Vec<&'static Home>> = Mutex::new(Vec::new());

/// The calling thread's home; given back when the thread ends.
struct Owned(&'static Home);

impl Drop for Owned {
    fn drop(&mut self) {
        UNUSED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(self.0);
    }
}

/// The magazine that a thread fills with cells of one home.
struct Filling {
    magazine: Cell<Option<Request>>,
    rounds: Cell<usize>,
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.send_home();
    }
}

thread_local! {
    static HOME: RefCell<Option<Owned>> = const { RefCell::new(None) };
    static FILLING: Filling = const { Filling { magazine: Cell::new(None), rounds: Cell::new(0) } };
}

fn with_home<R>(then: impl FnOnce(&'static Home) -> R) -> R {
    HOME.with(|home| {
        let mut home = home.borrow_mut();
        let owned = home.get_or_insert_with(|| {
            let unused = UNUSED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
            Owned(unused.unwrap_or_else(|| {
                let returned = TakeAllStack::new();
                let own =
                    UnsafeCell::new(HomeState { magazines: returned.take_all(), ready: None, open: None });
                Box::leak(Box::new(Home { returned, own }))
            }))
        });
        then(owned.0)
    })
}

/// A free cell with nothing in it.
#[inline]
pub(crate) fn allocate() -> Request {
    let _quiet = NoYield::enter();
    with_home(|home| {
        // SAFETY: the home is this thread's, and nothing below comes back here.
        let own = unsafe { &mut *home.own.get() };
        if let Some(ready) = own.ready.take() {
            return ready;
        }
        match own.open.take() {
            Some((magazine, 0)) => magazine,
            Some((magazine, left)) => {
                own.open = Some((magazine, left - 1));
                // SAFETY: the magazine has been taken, and holds so many addresses of free cells.
                unsafe { *magazine.storage().cast::<Request>().add(left - 1) }
            }
            None => open_magazine(home, own),
        }
    })
}

/// As [`allocate`], for a caller that may be a request: see [`prepare_next`].
#[inline(never)]
pub(crate) fn allocate_outlined() -> Request {
    allocate()
}

/// Has the next cell ready, if it would take time to find it: between two submissions rather than in one.
///
/// Not inlined: a request that calls it may change its thread at the end of a section of the runtime's, and the code around must not
/// keep the address of the first thread's pool.
#[inline(never)]
pub(crate) fn prepare_next() {
    with_home(|home| {
        // SAFETY: as in `allocate`.
        let own = unsafe { &mut *home.own.get() };
        if own.ready.is_none() && own.open.is_none() {
            own.ready = Some(open_magazine(home, own));
        }
    });
}

/// Opens the next magazine, and takes a cell out of it.
#[inline(never)]
fn open_magazine(home: &'static Home, own: &mut HomeState) -> Request {
    let magazine = loop {
        if let Some(magazine) = own.magazines.next() {
            // SAFETY: addresses of cells are pushed there.
            break unsafe { Request::of(magazine) };
        }
        if home.returned.is_empty() {
            make_slab(home);
        }
        own.magazines = home.returned.take_all();
    };
    let rounds = usize::from(magazine.rounds.get());
    magazine.fetch_to_write();
    for round in 0..rounds {
        // SAFETY: the magazine has been taken, and holds so many addresses.
        unsafe { *magazine.storage().cast::<Request>().add(round) }.fetch_to_write();
    }
    if rounds == 0 {
        return magazine;
    }
    own.open = Some((magazine, rounds - 1));
    // SAFETY: as above.
    unsafe { *magazine.storage().cast::<Request>().add(rounds - 1) }
}

#[cold]
fn make_slab(home: &'static Home) {
    let slab: Vec<Header> = (0..SLAB).map(|_| Header::free(Some(&home.returned))).collect();
    let slab: &'static [Header] = Vec::leak(slab);
    SLABS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(slab);
    // SAFETY: nobody else knows of the cells.
    slab.iter().for_each(|cell| unsafe { release(Request::new(cell)) });
    send_home();
}

/// Shows every cell of the process, whatever is in it: only its state word may be read.
#[cold]
pub(crate) fn for_each(mut then: impl FnMut(Request)) {
    // A copy: the end of a request runs its destructors, which may submit, and need another slab.
    let slabs = SLABS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    slabs.into_iter().flatten().for_each(|cell| then(Request::new(cell)));
}

/// Gives a cell that nobody refers to any more back to its home, with others.
///
/// Not inlined, for the reason that [`prepare_next`] gives.
///
/// # Safety
/// The cell is free: the caller has dropped the last reference, or has made the cell.
#[inline(never)]
pub(super) unsafe fn release(cell: Request) {
    // It may be called from a handler, into which this is inlined: no other request may come in between.
    let _quiet = NoYield::enter();
    // SAFETY: as the caller promises.
    let filled = FILLING.try_with(|filling| unsafe { filling.add(cell) });
    if filled.is_err() {
        // The thread is ending: its magazine has gone.
        // SAFETY: as the caller promises.
        unsafe { push(cell, 0) };
    }
}

/// Sends the cells home that the thread has gathered. Workers do so when they go idle.
pub(crate) fn send_home() {
    let _ = FILLING.try_with(Filling::send_home);
}

/// Sends a free cell home, whose storage holds the addresses of so many others.
///
/// # Safety
/// All of these cells are free, and the caller's.
unsafe fn push(magazine: Request, rounds: usize) {
    const { assert!(ROUNDS <= u8::MAX as usize) };
    magazine.rounds.set(rounds as u8);
    let Some(home) = magazine.home else { unreachable!("a cell of this pool has a home") };
    // SAFETY: homes live for ever; the cell is free, so it is nobody's but the caller's until it is pushed.
    unsafe { home.push(magazine.address()) };
}

/// Do both go back to the same stack?
#[inline]
fn has_same_home(one: Request, other: Request) -> bool {
    one.home.map(std::ptr::from_ref) == other.home.map(std::ptr::from_ref)
}

impl Filling {
    /// Puts a cell into the magazine, or begins another one with it.
    ///
    /// # Safety
    /// The cell is free, and the caller's.
    #[inline]
    unsafe fn add(&self, cell: Request) {
        let rounds = self.rounds.get();
        match self.magazine.get() {
            Some(magazine) if has_same_home(magazine, cell) && rounds < ROUNDS => {
                // SAFETY: the magazine is a free cell of this thread's, with room for `ROUNDS` addresses.
                unsafe { magazine.storage().cast::<Request>().add(rounds).write(cell) };
                self.rounds.set(rounds + 1);
            }
            _ => {
                self.send_home();
                self.magazine.set(Some(cell));
            }
        }
    }

    fn send_home(&self) {
        if let Some(magazine) = self.magazine.take() {
            // SAFETY: `add` alone puts cells there, which are free.
            unsafe { push(magazine, self.rounds.replace(0)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::mpsc::channel;

    #[test]
    fn every_cell_comes_back_once() {
        let (send, receive) = channel::<Vec<Request>>();
        let releaser = std::thread::spawn(move || {
            for cells in receive {
                // SAFETY: nobody has made a request of the cells.
                cells.into_iter().for_each(|cell| unsafe { release(cell) });
                send_home();
            }
        });
        let mut known = HashSet::new();
        for round in 0..50 {
            let cells: Vec<Request> = (0..300 + round).map(|_| allocate()).collect();
            let distinct: HashSet<usize> =
                cells.iter().map(|cell| cell.address().as_ptr() as usize).collect();
            assert_eq!(distinct.len(), cells.len(), "a cell was given out twice");
            known.extend(distinct);
            send.send(cells).unwrap();
        }
        drop(send);
        releaser.join().unwrap();
        // All that were given out are there again, and few others: the rest of the last slab.
        let again: HashSet<usize> =
            (0..known.len() + SLAB).map(|_| allocate().address().as_ptr() as usize).collect();
        assert!(
            again.is_superset(&known),
            "{} of {} came back",
            again.intersection(&known).count(),
            known.len()
        );
    }

    #[test]
    fn a_home_outlives_its_thread() {
        let cell = std::thread::spawn(allocate).join().unwrap();
        // SAFETY: nobody has made a request of the cell.
        unsafe { release(cell) };
        send_home();
        // Some later thread takes that home over, and its cell.
        let cells: Vec<Request> =
            std::thread::spawn(|| (0..10_000).map(|_| allocate()).collect()).join().unwrap();
        assert_eq!(cells.len(), 10_000);
    }
}
