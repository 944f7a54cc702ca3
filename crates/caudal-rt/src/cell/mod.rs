//! A request as it travels: one cell of 256 bytes that holds its closure, then its result.
//!
//! ```text
//!   0  state      phase, flags, references, and the worker where it is      (the word below)
//!   8  vtable     what kind of closure and result the cell holds
//!  16  arrival    cycles
//!  24  deadline   cycles; u64::MAX: none
//!  32  next       one intrusive list at a time: woken, to be told, or free
//!  40  home       where the cell goes when it is free
//!  48  waiter     coroutine that waits for the end, if one does
//!  56  quantum    of its own (4 bytes, cycles; 0: the policy's); 60 class (2 bytes); 62 migratable (1 byte)
//!  64  waker      of a future that waits for the end
//!  88  number     of the request, for draws and logs
//!  96  task       its name on the worker where it runs
//! 100  told       futex of a thread that waits for the end: 1 when it has been told
//! 104  coroutine  of a started request that is on its way to another worker; or what to do if one that waits is given up
//! 112  storage    closure, later result; larger ones are boxed
//! ```
//!
//! # The state word
//!
//! ```text
//!  63      32 31        16 15 14 13     11 10       8 7            3 2     0
//! +----------+------------+-----+---------+----------+--------------+-------+
//! | runtime  |   worker   | e l | outcome |  refs    |    flags     | phase |    e, l: bits 15 and 14, `ENDER` and `LEAKED`, are
//! +----------+------------+-----+---------+----------+--------------+-------+    references too
//! ```
//!
//! | phase | who may move it on |
//! | --- | --- |
//! | `WAITING` | whoever wins the compare-and-swap: the worker that starts it, or who cancels it |
//! | `STARTED` | the worker that runs it |
//! | `ENDING` | who won, as soon as the closure is dropped ([`crate::handle::end_unstarted`]), or the will of a request that is given up executed |
//! | `DONE` | nobody; the outcome came with it, and the result belongs to the handle, or if that is gone to who ended it |
//!
//! Which runtime has it is in the same word, from when it is at one of its workers: a notice may come late, when the cell has become
//! a request of another one, whose workers the notifier does not know; and a shutdown finds the requests of a worker that does not
//! answer by it ([`Header::is_at`]). 0: it is at no worker yet.
//!
//! The worker's number is there too, so that who cancels a waiting request knows, from the one compare-and-swap that
//! wins, whose count of unfinished requests is one too high.
//!
//! *Why a result is never read before it is written, nor freed while it is read.* The worker writes the result, then
//! sets `DONE` with release ordering; a handle reads them only after it has seen `DONE` with acquire ordering. The cell is
//! free when all bits of `refs` are gone: [`HANDLE`] is the handle's, [`RUNTIME`] the worker's (or the queue's), [`TELLER`] the
//! helper's while it has somebody to tell. Each is cleared by its owner with release ordering, and who clears the last one
//! has acquired all that the others did.
//!
//! *Waking.* [`PARKED`] and [`NOTIFIED`] are a token: a coroutine that parks sets the first and goes on at once if it finds the
//! second; who wakes it sets the second, and only who set it while `PARKED` was there puts the cell on the worker's list of woken
//! ones. So it is on that list at most once. Cells are never unmapped: a notice that comes late, to the next request of the
//! cell, is a wake-up without a reason, which every waiting loop takes.

mod job;
#[cfg_attr(loom, path = "modelled_pool.rs")]
mod pool;

pub(crate) use job::{INLINE_BYTES, fill, payload_at, payload_of, put_payload, result_of, take_job};
#[cfg(all(test, loom))]
pub(crate) use pool::Cells;
pub(crate) use pool::{allocate, allocate_outlined, for_each, look_ahead, release, send_home};

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use atomic_waker::AtomicWaker;

use crate::primitives::{AtomicPtr, AtomicU32, AtomicU64, Ordering, UnsafeCell};
use crate::ring::stack::{Link, Node};
use crate::sync::{Estate, Leave};

/// Mask of the phase.
pub(crate) const PHASE: u64 = 0b111;
/// Nobody has started it.
pub(crate) const WAITING: u64 = 1;
/// It has a coroutine.
pub(crate) const STARTED: u64 = 2;
/// It has an outcome.
pub(crate) const DONE: u64 = 3;
/// It will never start, and its closure is being dropped; or it will never go on. It has its outcome.
pub(crate) const ENDING: u64 = 4;
/// Somebody wants it to end.
pub(crate) const CANCEL: u64 = 1 << 3;
/// Its coroutine waits to be woken.
pub(crate) const PARKED: u64 = 1 << 4;
/// It has been woken.
pub(crate) const NOTIFIED: u64 = 1 << 5;
/// Somebody waits for its end and has to be told by the helper: a sleeping thread, or a future.
pub(crate) const TELL: u64 = 1 << 6;
/// A coroutine waits for its end: `waiter`.
pub(crate) const JOINED: u64 = 1 << 7;
/// The handle's reference.
pub(crate) const HANDLE: u64 = 1 << 8;
/// The reference of who has to run it.
pub(crate) const RUNTIME: u64 = 1 << 9;
/// The helper's reference.
pub(crate) const TELLER: u64 = 1 << 10;
/// Nobody's reference: the cell of a request that was given up is never free. A late notice may find it parked, and put it on a list.
const LEAKED: u64 = 1 << 14;
/// The reference of who ends it before it has started: a destructor that it calls may let go of the others.
pub(crate) const ENDER: u64 = 1 << 15;
/// In the word for a started request's coroutine: the address is that of a will, on the stack of a request that waits.
const WILL: usize = 1;
const OUTCOME_SHIFT: u32 = 11;
const OUTCOME: u64 = 0b111 << OUTCOME_SHIFT;
const REFS: u64 = HANDLE | RUNTIME | TELLER | LEAKED | ENDER;
const WORKER_SHIFT: u32 = 16;
const WORKER: u64 = 0xFFFF << WORKER_SHIFT;
const RUNTIME_SHIFT: u32 = 32;
/// Mask of where a request is: runtime and worker.
const PLACE: u64 = !0 << WORKER_SHIFT;
/// Stands for no worker: the request is at the dispatcher.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Outcome {
    /// It returned.
    Returned,
    /// It panicked; the payload is in the storage.
    Panicked,
    /// It was cancelled.
    Cancelled,
    /// It had not started by its deadline.
    Expired,
    /// Its stack overflowed, or it did not end within the bound of a shutdown: its coroutine was given up.
    Abandoned,
    /// The runtime stopped before it started.
    Stopped,
}

/// A request, by the address of its cell. Cells are never unmapped: what may be read of one, and when, is said in the
/// [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Request(NonNull<Header>);

// SAFETY: the address of something that is `Sync`, and lives for ever.
unsafe impl Send for Request {}
// SAFETY: as above.
unsafe impl Sync for Request {}

impl Request {
    pub(crate) fn new(header: NonNull<Header>) -> Request {
        Request(header)
    }

    /// The request at an address that was stored somewhere; none if that is null.
    pub(crate) fn at(address: *mut Header) -> Option<Request> {
        NonNull::new(address).map(Request)
    }

    /// Asks for the lines of the cell that a submission writes, before they are needed.
    #[inline]
    #[cfg_attr(loom, allow(dead_code))]
    pub(crate) fn fetch_to_write(self) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let start = self.0.as_ptr().cast::<i8>();
        for line in [0, 64, 128] {
            // SAFETY: a prefetch changes nothing and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(line)) };
        }
    }

    /// Asks for the lines of the cell that a start reads; for the first one to write, since the start changes the state.
    #[inline]
    pub(crate) fn fetch_to_start(self) {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let start = self.0.as_ptr().cast::<i8>();
        // SAFETY: a prefetch changes nothing and never faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_ET0>(start);
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(64));
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(128));
        }
    }

    pub(crate) fn address(self) -> NonNull<Header> {
        self.0
    }
}

impl std::ops::Deref for Request {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        // SAFETY: cells are never unmapped, and all that is not atomic in them has one user at a time (`Sync` of `Header`).
        unsafe { self.0.as_ref() }
    }
}

/// What a cell holds.
pub(crate) struct VTable {
    /// Takes the closure out, calls it and leaves its result. May unwind: then there is neither.
    pub(crate) run: unsafe fn(Request),
    /// Drops the closure of a request that is not going to run.
    pub(crate) drop_job: unsafe fn(Request),
    /// Drops the result.
    pub(crate) drop_result: unsafe fn(Request),
    /// Does that run a destructor?
    pub(crate) has_destructor: bool,
}

/// The cell. See the [module](self).
#[repr(C, align(64))]
pub(crate) struct Header {
    pub(crate) state: AtomicU64,
    pub(crate) vtable: Cell<&'static VTable>,
    pub(crate) arrival: AtomicU64,
    pub(crate) deadline: Cell<u64>,
    next: Link<Header>,
    home: Cell<NonNull<pool::Home>>,
    pub(crate) waiter: AtomicPtr<Header>,
    pub(crate) class: Cell<u16>,
    /// Its handler has promised that it may go on on another thread.
    pub(crate) migratable: Cell<bool>,
    pub(crate) quantum: Cell<u32>,
    pub(crate) waker: AtomicWaker,
    pub(crate) number: Cell<u64>,
    pub(crate) task: Cell<u32>,
    pub(crate) told: AtomicU32,
    /// Its coroutine, while it waits started in an inbox: from `Box::into_raw`. Else, while it waits for something, its will: the address
    /// of a [`Leave`], with [`WILL`] set.
    pub(crate) coroutine: Cell<*mut ()>,
    storage: UnsafeCell<MaybeUninit<Storage>>,
}

#[repr(C, align(16))]
struct Storage([u8; INLINE_BYTES]);

const _: () =
    assert!(cfg!(loom) || size_of::<Header>() == 256 && std::mem::offset_of!(Header, storage) == 112);

// SAFETY: every field that is not atomic is written by one owner at a time, which follows from the phase: the submitter before
// the cell is queued, the worker that started it, the handle when it is done; each hands over by the state word.
unsafe impl Sync for Header {}

/// What a cell holds that holds nothing.
static EMPTY: VTable = VTable { run: |_| (), drop_job: |_| (), drop_result: |_| (), has_destructor: false };

/// How a coroutine's wait for the end of a request begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// It is going to be woken.
    Waits,
    /// There is nothing to wait for.
    Ended,
    /// Another coroutine waits, and only one is woken.
    Taken,
}

/// What is left to do for a request that has ended.
#[derive(Debug)]
pub(crate) enum Finished {
    /// Its handle is gone: the caller drops the result, then [`RUNTIME`].
    Forgotten,
    /// Nothing: the cell is the handle's.
    Done,
    /// The helper has to tell somebody; the cell goes to it with [`TELLER`].
    Tell,
    /// The coroutine in `waiter` waits for it: the caller wakes it, then drops [`RUNTIME`].
    Joined {
        /// The helper has to tell somebody as well.
        tell: bool,
    },
}

// SAFETY: every field that is not atomic is written by one owner at a time: see `Sync`.
unsafe impl Send for Header {}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Header").field("state", &self.state).finish_non_exhaustive()
    }
}

// SAFETY: the link is a field of the cell.
unsafe impl Node for Header {
    fn link(&self) -> &Link<Header> {
        &self.next
    }
}

impl Header {
    fn free(home: NonNull<pool::Home>) -> Header {
        Header {
            state: AtomicU64::new(0),
            vtable: Cell::new(&EMPTY),
            arrival: AtomicU64::new(0),
            deadline: Cell::new(u64::MAX),
            next: Link::new(),
            home: Cell::new(home),
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            quantum: Cell::new(0),
            class: Cell::new(0),
            migratable: Cell::new(false),
            waker: AtomicWaker::new(),
            number: Cell::new(0),
            task: Cell::new(0),
            told: AtomicU32::new(0),
            coroutine: Cell::new(std::ptr::null_mut()),
            storage: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Where the closure or the result is.
    #[cfg(not(loom))]
    pub(crate) fn storage(&self) -> *mut u8 {
        self.storage.get().cast()
    }

    /// loom's cell fails the model when two threads ask for it unordered.
    #[cfg(loom)]
    pub(crate) fn storage(&self) -> *mut u8 {
        self.storage.with_mut(<*mut _>::cast)
    }

    /// Does anybody hold the handle?
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.load() & HANDLE != 0
    }

    /// The result has been dropped: there is nothing to take or to drop any more. Called by the worker that runs the request.
    pub(crate) fn set_empty(&self) {
        self.vtable.set(&EMPTY);
    }

    /// The state word, with acquire ordering.
    #[inline]
    pub(crate) fn load(&self) -> u64 {
        self.state.load(Ordering::Acquire)
    }

    /// The worker at which it waits or runs.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn worker_of(state: u64) -> u16 {
        ((state & WORKER) >> WORKER_SHIFT) as u16
    }

    /// Waiting, at no worker yet, with these references.
    pub(crate) fn reset(&self, refs: u64) {
        // Who has waited for the last request here may have been given up.
        self.waiter.store(std::ptr::null_mut(), Ordering::Relaxed);
        // Not a plain store: a late notice to the cell's last request may set a flag at any time. It may get lost, or stay.
        self.state.store(WAITING | refs | (u64::from(NOWHERE) << WORKER_SHIFT), Ordering::Relaxed);
    }

    /// Notes that the request, which the caller has taken out of an inbox, is at `worker` of the runtime with `mark` now; `false` if it
    /// has ended there.
    ///
    /// A started one in an inbox is on its way to whoever takes it. It is not parked, so nobody who wakes it looks at the place.
    #[inline]
    pub(crate) fn move_to(&self, worker: u16, mark: u32) -> bool {
        let may_run = |state| matches!(state & PHASE, WAITING | STARTED);
        self.change(|state| may_run(state).then_some((state & !PLACE) | place(worker, mark))).is_ok()
    }

    /// As [`Header::move_to`], by who has just made the request and shares it with nobody.
    #[inline]
    pub(crate) fn place_unshared(&self, worker: u16, mark: u32) {
        let state = self.state.load(Ordering::Relaxed);
        // Release: a shutdown that finds it there by its place ends it, which takes what is in the cell.
        self.state.store((state & !PLACE) | place(worker, mark), Ordering::Release);
    }

    /// Moves the phase from waiting to started, at `worker` of the runtime with `mark`. `false`: it was cancelled, or has ended
    /// otherwise.
    #[inline]
    pub(crate) fn start(&self, worker: u16, mark: u32) -> bool {
        let place = place(worker, mark);
        self.change(|state| {
            (state & PHASE == WAITING)
                .then_some((state & !(PHASE | PLACE | PARKED | NOTIFIED)) | STARTED | place)
        })
        .is_ok()
    }

    /// Leaves a notice for a request of the runtime with `mark`; the word before, if it is one.
    #[inline]
    pub(crate) fn notify(&self, mark: u32) -> Option<u64> {
        let is_its_own = |state: u64| state >> RUNTIME_SHIFT == u64::from(mark);
        self.change(|state| is_its_own(state).then_some(state | NOTIFIED)).ok()
    }

    /// Does `state` say that the request is at `worker` of the runtime with `mark`?
    pub(crate) fn is_at(state: u64, worker: u16, mark: u32) -> bool {
        state & PLACE == place(worker, mark)
    }

    /// The running coroutine of this request is about to wait to be woken. `false`: it has been, and goes on at once.
    #[inline]
    pub(crate) fn park(&self) -> bool {
        if self.state.fetch_or(PARKED, Ordering::AcqRel) & NOTIFIED == 0 {
            return true;
        }
        self.unpark();
        false
    }

    /// It goes on: what was to wake it has been taken.
    #[inline]
    pub(crate) fn unpark(&self) {
        self.state.fetch_and(!(PARKED | NOTIFIED), Ordering::AcqRel);
    }

    /// Says that the coroutine of `waiter` waits for the end, until [`Header::unjoin`].
    pub(crate) fn join(&self, waiter: Request) -> Join {
        let me = waiter.address().as_ptr();
        let none = std::ptr::null_mut();
        match self.waiter.compare_exchange(none, me, Ordering::AcqRel, Ordering::Acquire) {
            Err(other) if other != me => return Join::Taken,
            _ => {}
        }
        let joined = self.change(|state| (state & PHASE != DONE).then_some(state | JOINED));
        if joined.is_ok() && self.load() & PHASE != DONE { Join::Waits } else { Join::Ended }
    }

    /// The coroutine of `waiter` waits no longer for the end, if it has.
    pub(crate) fn unjoin(&self, waiter: Request) {
        let (me, none) = (waiter.address().as_ptr(), std::ptr::null_mut());
        let _ = self.waiter.compare_exchange(me, none, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Moves the phase from waiting to ending with `outcome`; the word before, if this call did it.
    ///
    /// The closure is still there: who gets the word has [`ENDER`], drops the closure, and calls [`Header::end_unstarted`].
    /// `RUNTIME` stays with the queue that holds the cell.
    pub(crate) fn end_waiting(&self, outcome: Outcome) -> Option<u64> {
        self.end_waiting_if(outcome, |_| true)
    }

    /// As [`Header::end_waiting`], of a request that is `wanted` by its word: who has no reference may find another one in the cell.
    #[inline]
    pub(crate) fn end_waiting_if(&self, outcome: Outcome, wanted: impl Fn(u64) -> bool) -> Option<u64> {
        let ending = ENDING | ENDER | (outcome as u64) << OUTCOME_SHIFT;
        self.change(|state| (state & PHASE == WAITING && wanted(state)).then_some((state & !PHASE) | ending))
            .ok()
    }

    /// Moves the phase from ending to done; the word before, by which the caller tells who waits. With [`TELL`] the cell
    /// goes to the helper, and has its reference from here on. For requests that never started, and for those that were given up.
    pub(crate) fn end_unstarted(&self) -> u64 {
        let changed = self.change(|state| {
            let done = (state & !PHASE) | DONE;
            Some(if state & TELL == 0 { done } else { done | TELLER })
        });
        let (Ok(before) | Err(before)) = changed;
        debug_assert!(before & PHASE == ENDING);
        before
    }

    /// How it ended; meaningful when the phase is [`DONE`] or [`ENDING`].
    pub(crate) fn outcome_of(state: u64) -> Outcome {
        const ALL: [Outcome; 6] = [
            Outcome::Returned,
            Outcome::Panicked,
            Outcome::Cancelled,
            Outcome::Expired,
            Outcome::Abandoned,
            Outcome::Stopped,
        ];
        ALL[((state & OUTCOME) >> OUTCOME_SHIFT) as usize % ALL.len()]
    }

    /// The started request has ended with `outcome`, and its result is in the storage. What is left to do is in the answer.
    #[inline]
    pub(crate) fn finish(&self, outcome: Outcome) -> Finished {
        let (Ok(before) | Err(before)) = self.change(|state| Some(ended(state, outcome)));
        left_to_do(before)
    }

    /// Gives a started request up, with its coroutine, if it is `wanted` by its word; `false`: it is another one's, or has ended. The
    /// cell is never used again. Nobody hears of it before [`Header::end_given_up`].
    #[cold]
    pub(crate) fn give_up(&self, wanted: impl Fn(u64) -> bool) -> bool {
        let ending = ENDING | LEAKED | (Outcome::Abandoned as u64) << OUTCOME_SHIFT;
        let may = |state: u64| state & PHASE == STARTED && wanted(state);
        self.change(|state| may(state).then_some((state & !PHASE) | ending)).is_ok()
    }

    #[cfg(all(test, loom))]
    pub(crate) fn is_leaked(&self) -> bool {
        self.load() & LEAKED != 0
    }

    /// The request that the caller has given up has ended; what is left to do is in the answer.
    #[cold]
    pub(crate) fn end_given_up(&self) -> Finished {
        left_to_do(self.end_unstarted())
    }

    /// Changes the state word by `with` until it says no; the word before. One that said no was read without any ordering.
    #[inline]
    pub(crate) fn change(&self, mut with: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let Some(wanted) = with(state) else { return Err(state) };
            match self.state.compare_exchange_weak(state, wanted, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(before) => return Ok(before),
                Err(other) => state = other,
            }
        }
    }

    /// Clears `reference`; who clears the last one frees the cell.
    #[inline]
    pub(crate) fn drop_ref(this: Request, reference: u64) {
        let before = this.state.fetch_and(!reference, Ordering::AcqRel);
        // Those of a request that was given up do not count any more: it may have happened while a thief had it.
        debug_assert!(before & (reference | LEAKED) != 0, "a reference was dropped twice");
        if before & REFS == reference {
            release(this);
        }
    }
}

/// What a request has entrusted, while it waits: where its coroutine is when it is on its way.
impl Estate for Header {
    fn innermost(&self) -> *const Leave<'static> {
        let will = self.coroutine.get();
        if will.addr() & WILL == 0 {
            std::ptr::null()
        } else {
            will.map_addr(|address| address & !WILL).cast()
        }
    }

    fn set_innermost(&self, leave: *const Leave<'static>) {
        let tagged = leave.map_addr(|address| if address == 0 { 0 } else { address | WILL });
        self.coroutine.set(tagged.cast_mut().cast());
    }
}

/// The bits of `worker` in the runtime with `mark`.
#[inline]
fn place(worker: u16, mark: u32) -> u64 {
    u64::from(worker) << WORKER_SHIFT | u64::from(mark) << RUNTIME_SHIFT
}

/// The word of a started request with `state` that ends with `outcome`.
#[inline]
fn ended(state: u64, outcome: Outcome) -> u64 {
    let done = state + (DONE - STARTED) + ((outcome as u64) << OUTCOME_SHIFT);
    let told = if state & TELL == 0 { done } else { done + TELLER };
    match (state & HANDLE, state & JOINED) {
        (0, _) => done,
        (_, 0) => told - RUNTIME,
        // The cell is needed until it is known who waits.
        _ => told,
    }
}

/// What is left to do for a started request that had the word `before` when it ended.
#[inline]
fn left_to_do(before: u64) -> Finished {
    match (before & HANDLE != 0, before & TELL != 0, before & JOINED != 0) {
        (false, ..) => Finished::Forgotten,
        (true, tell, true) => Finished::Joined { tell },
        (true, true, false) => Finished::Tell,
        (true, false, false) => Finished::Done,
    }
}
