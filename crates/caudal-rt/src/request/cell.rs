//! A request as it travels: one cell of 256 bytes that holds its closure, then its result. Submissions make them, queues and workers pass
//! them on, and a handle reads what is left. The table below says which thread may touch which field when.
//!
//! ```text
//!   0  state      phase, flags, references, and the worker where it is      (the word of `state.rs`)
//!   8  vtable     kind of closure and result that the cell holds
//!  16  arrival    cycles
//!  24  deadline   cycles; u64::MAX: none
//!  32  next       one intrusive list at a time: woken, to be told, or free
//!  40  home       where the cell goes when it is free; never changes
//!  48  waiter     coroutine that waits for the end, if one does
//!  56  quantum    of its own (4 bytes, cycles; 0: the policy's); 60 class (2 bytes); 62 migratable (1 byte); 63 rounds (1 byte)
//!  64  waker      of a future that waits for the end
//!  88  number     of the request, for draws and logs
//!  96  task       its name on the worker where it runs
//! 100  told       futex of a thread that waits for the end: 1 when it has been told
//! 104  parked     coroutine of a started request on its way to another worker, or the clean-up of one that waits
//! 112  storage    closure, later result; larger ones are boxed
//! ```
//!
//! # Who may touch which field when
//!
//! The phases are those of the [state word](super::state); every change of owner goes through that word or through a queue, both of which
//! release what was written and acquire it for the next owner.
//!
//! | field | written by | read by |
//! | --- | --- | --- |
//! | `state` | everybody, by its transitions | everybody |
//! | `vtable` | the submitter before the request is queued; its worker when the result is gone | whoever may take closure or result |
//! | `arrival`, `deadline`, `quantum`, `class`, `migratable` | the submitter before the request is queued | queues, its worker, whoever ends it |
//! | `number` | the submitter, or the dispatcher before it places the request | its worker, logs |
//! | `task` | its worker | the same |
//! | `rounds` | the thread that fills the free cell as a magazine | the home that it goes to |
//! | `next` | whoever pushes the cell to a list, which only the bearer of a notice or of a reference does | the list's taker |
//! | `home` | nobody, after the cell was made | everybody |
//! | `waiter` | the coroutine that waits, by compare-and-swap | whoever ends the request |
//! | `waker`, `told` | the handle; the helper | the helper; the handle |
//! | `parked` | its worker, or its coroutine | its worker, a thief that has popped it, whoever has given it up |
//! | `storage` | its submitter, then the worker that has started it | the handle in phase `Done`; see `job.rs` |
//!
//! *Why safe code can not race here.* Each field but the storage is an atomic or never changes, so a thread that touches a field that is not its own
//! reads an old value, and no more: [`Field`] is a relaxed load or store, which is a plain move of this processor. The storage is reached
//! through a raw pointer, so that reading or writing it is unsafe and says who owns it; in models loom's cell fails at two threads out of order.
//! References are dropped, and requests finished, by unsafe functions whose contract names the owner.

use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicPtr as PlainPtr, AtomicU8, AtomicU16, AtomicU32 as PlainU32, AtomicU64 as PlainU64,
};

use atomic_waker::AtomicWaker;

use super::clean_up::{CleanUp, CleanUpChain};
use super::state::{State, Wanted};
use super::storage::{INLINE_BYTES, Storage};
use crate::base::primitives::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::queue::ring::stack::{Link, Node, TakeAllStack};

/// Tag in `parked`: the address is that of a clean-up, on the stack of a request that waits.
const CLEAN_UP: usize = 1;

/// A request, by its cell, which is never unmapped. See the [module](self) for what may be read of it, and when.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Request(&'static Header);

impl PartialEq for Request {
    #[inline(always)]
    fn eq(&self, other: &Request) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Request {}

impl Request {
    #[cfg_attr(loom, allow(dead_code))]
    #[inline(always)]
    pub(crate) fn new(cell: &'static Header) -> Request {
        Request(cell)
    }

    /// The request at the address of a cell.
    ///
    /// # Safety
    /// The address came from [`Request::address`].
    #[inline(always)]
    pub(crate) unsafe fn of(address: NonNull<Header>) -> Request {
        // SAFETY: as the caller promises; cells live for ever.
        Request(unsafe { address.as_ref() })
    }

    /// Asks for the lines of the cell that a submission writes, before they are needed.
    #[inline]
    #[cfg_attr(loom, allow(dead_code))]
    pub(crate) fn fetch_to_write(self) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let start = std::ptr::from_ref(self.0).cast::<i8>();
        for line in [0, 64, 128] {
            // SAFETY: a prefetch changes nothing and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(line)) };
        }
    }

    /// Asks for the lines of the cell that a start reads; for the first one to write, since the start changes the state.
    #[inline]
    pub(crate) fn fetch_to_start(self) {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(self.0).cast::<i8>();
        // SAFETY: a prefetch changes nothing and never faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_ET0>(start);
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(64));
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(128));
        }
    }

    #[inline(always)]
    pub(crate) fn address(self) -> NonNull<Header> {
        NonNull::from(self.0)
    }
}

impl std::ops::Deref for Request {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        self.0
    }
}

/// Stack to which a free cell goes back; cells of models have none.
pub(super) type Home = TakeAllStack<Header>;

/// Functions for the closure and the result that a cell holds.
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

/// Functions of a cell that holds nothing.
static EMPTY: VTable = VTable { run: |_| (), drop_job: |_| (), drop_result: |_| (), has_destructor: false };

/// A field that one thread at a time owns; see the [module](self).
///
/// The atomics come from `std` in models too: these fields order nothing, and each of loom's would have models try more orders.
#[derive(Debug)]
pub(crate) struct Field<A>(A);

macro_rules! field {
    ($($atomic:ident: $value:ty),+) => {$(
        impl Field<$atomic> {
            #[inline(always)]
            pub(crate) fn get(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }

            #[inline(always)]
            pub(crate) fn set(&self, value: $value) {
                self.0.store(value, Ordering::Relaxed);
            }
        }
    )+};
}

field!(AtomicBool: bool, AtomicU8: u8, AtomicU16: u16, PlainU32: u32, PlainU64: u64);

/// The vtable of a cell.
#[derive(Debug)]
pub(crate) struct Holds(PlainPtr<VTable>);

impl Holds {
    #[inline(always)]
    pub(crate) fn get(&self) -> &'static VTable {
        // SAFETY: only addresses of such are stored.
        unsafe { &*self.0.load(Ordering::Relaxed) }
    }

    /// Notes what the storage holds.
    ///
    /// # Safety
    /// The storage is the caller's, and what it holds is of this kind.
    #[inline(always)]
    pub(super) unsafe fn set(&self, vtable: &'static VTable) {
        self.0.store(std::ptr::from_ref(vtable).cast_mut(), Ordering::Relaxed);
    }
}

/// The cell. See the [module](self).
#[repr(C, align(64))]
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) vtable: Holds,
    pub(crate) arrival: AtomicU64,
    pub(crate) deadline: Field<PlainU64>,
    next: Link<Header>,
    pub(super) home: Option<&'static Home>,
    waiter: AtomicPtr<Header>,
    pub(crate) quantum: Field<PlainU32>,
    pub(crate) class: Field<AtomicU16>,
    /// Its handler has promised that it may go on on another thread.
    pub(crate) migratable: Field<AtomicBool>,
    /// Number of addresses that its storage holds, while it is a magazine of the pool. The pool alone writes it.
    pub(super) rounds: Field<AtomicU8>,
    pub(crate) waker: AtomicWaker,
    pub(crate) number: Field<PlainU64>,
    pub(crate) task: Field<PlainU32>,
    pub(crate) told: AtomicU32,
    /// Its coroutine, while it waits started in an inbox: from `Box::into_raw`. Else, while it waits for something, its clean-up: the
    /// address of a [`CleanUp`], with [`CLEAN_UP`] set.
    parked: PlainPtr<()>,
    storage: Storage,
}

const _: () =
    assert!(cfg!(loom) || size_of::<Header>() == 256 && std::mem::offset_of!(Header, storage) == 112);
const _: () = assert!(
    cfg!(loom) || std::mem::offset_of!(Header, quantum) == 56 && std::mem::offset_of!(Header, waker) == 64
);

/// Beginning of a coroutine's wait for the end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// It is going to be woken.
    Waits,
    /// There is nothing to wait for.
    Ended,
    /// Another coroutine waits, and only one is woken.
    Taken,
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Header").field("state", &self.state.load()).finish_non_exhaustive()
    }
}

// SAFETY: the link is a field of the cell.
unsafe impl Node for Header {
    fn link(&self) -> &Link<Header> {
        &self.next
    }
}

impl Header {
    pub(super) fn free(home: Option<&'static Home>) -> Header {
        Header {
            state: State::free(),
            vtable: Holds(PlainPtr::new(std::ptr::from_ref(&EMPTY).cast_mut())),
            arrival: AtomicU64::new(0),
            deadline: Field(PlainU64::new(u64::MAX)),
            next: Link::new(),
            home,
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            quantum: Field(PlainU32::new(0)),
            class: Field(AtomicU16::new(0)),
            migratable: Field(AtomicBool::new(false)),
            rounds: Field(AtomicU8::new(0)),
            waker: AtomicWaker::new(),
            number: Field(PlainU64::new(0)),
            task: Field(PlainU32::new(0)),
            told: AtomicU32::new(0),
            parked: PlainPtr::new(std::ptr::null_mut()),
            storage: Storage::empty(),
        }
    }

    /// Where the closure or the result is: [`INLINE_BYTES`], aligned to 16.
    #[inline(always)]
    pub(crate) fn storage(&self) -> *mut u8 {
        const { assert!(size_of::<Storage>() >= INLINE_BYTES || cfg!(loom)) };
        self.storage.get()
    }

    /// The result has been dropped: there is nothing to take or to drop any more.
    ///
    /// # Safety
    /// The storage is the caller's, which has run the request and dropped its result.
    pub(super) unsafe fn set_empty(&self) {
        // SAFETY: as the caller promises; the functions of an empty cell read nothing.
        unsafe { self.vtable.set(&EMPTY) };
    }

    /// Makes it a request that waits, at no worker yet.
    ///
    /// # Safety
    /// The cell is free, and the caller's alone.
    #[inline]
    pub(crate) unsafe fn reset(&self, wanted: Wanted) {
        // The coroutine that waited for the last request here may have been given up.
        self.waiter.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { self.state.reset(wanted) };
    }

    /// Says that the coroutine of `waiter` waits for the end, until [`Header::unjoin`].
    pub(crate) fn join(&self, waiter: Request) -> Join {
        let me = waiter.address().as_ptr();
        let none = std::ptr::null_mut();
        match self.waiter.compare_exchange(none, me, Ordering::AcqRel, Ordering::Acquire) {
            Err(other) if other != me => return Join::Taken,
            _ => {}
        }
        if self.state.join() { Join::Waits } else { Join::Ended }
    }

    /// The coroutine of `waiter` waits no longer for the end, if it has.
    pub(crate) fn unjoin(&self, waiter: Request) {
        let (me, none) = (waiter.address().as_ptr(), std::ptr::null_mut());
        let _ = self.waiter.compare_exchange(me, none, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The request whose coroutine waits for the end.
    pub(crate) fn waiter(&self) -> Option<Request> {
        let waiter = NonNull::new(self.waiter.load(Ordering::Acquire))?;
        // SAFETY: `join` alone stores there.
        Some(unsafe { Request::of(waiter) })
    }

    /// Is nothing left with the request: neither a coroutine nor a clean-up?
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.parked.load(Ordering::Relaxed).is_null()
    }

    /// Leaves a coroutine with the request, for whoever takes it out of an inbox.
    ///
    /// # Safety
    /// The address is from `Box::into_raw` of what [`Header::take`]'s caller takes it for, and is even.
    pub(super) unsafe fn leave(&self, coroutine: *mut ()) {
        self.parked.store(coroutine, Ordering::Relaxed);
    }

    /// Takes the coroutine that was left, at most once; none: there is none, or a clean-up. A compare-and-swap, on the rare path of a move.
    pub(super) fn take(&self) -> Option<NonNull<()>> {
        let taken = self.parked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |parked| {
            (!parked.is_null() && parked.addr() & CLEAN_UP == 0).then_some(std::ptr::null_mut())
        });
        taken.ok().and_then(NonNull::new)
    }
}

/// Clean-ups of a request, while it waits.
impl CleanUpChain for Header {
    fn innermost(&self) -> *const CleanUp<'static> {
        let parked = self.parked.load(Ordering::Relaxed);
        if parked.addr() & CLEAN_UP == 0 {
            std::ptr::null()
        } else {
            parked.map_addr(|address| address & !CLEAN_UP).cast()
        }
    }

    unsafe fn set_innermost(&self, clean_up: *const CleanUp<'static>) {
        let tagged = clean_up.map_addr(|address| if address == 0 { 0 } else { address | CLEAN_UP });
        self.parked.store(tagged.cast_mut().cast(), Ordering::Relaxed);
    }
}
