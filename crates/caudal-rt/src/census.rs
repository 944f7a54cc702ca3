//! Every coroutine of this process, for whoever scans stacks: garbage collectors, and dumps of all requests.
//!
//! ```text
//!   HEAD ──▶ 256 slots ──▶ 256 slots ──▶ … ──▶ null       never freed; a slot is a coroutine's seat, or null
//! ```
//!
//! A coroutine takes a slot when it is made, under [`FREE`], and clears it before its seat is gone. Who reads takes no lock, and
//! allocates nothing, for the threads that it has stopped may have the lock. It has to have stopped them: nothing here keeps a seat
//! from being freed, or a stack from changing, while it is being looked at. As nobody runs who could be in the way, `scripts/loom` has no
//! model of it; what a stopped thread may have been about to do, a switch, is in [`InUse`].

use std::arch::asm;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Mutex, PoisonError};

use crate::request::coroutine::Seat;
use crate::say::say;

const SLOTS: usize = 256;

type Slot = AtomicPtr<Seat>;

/// Complete before it can be seen, and never changed but in its slots.
struct Chunk {
    slots: [Slot; SLOTS],
    next: *const Chunk,
}

static HEAD: AtomicPtr<Chunk> = AtomicPtr::new(ptr::null_mut());
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// A coroutine's place here.
pub(crate) struct Entered(&'static Slot);

impl Entered {
    /// The seat stays where it is until this is dropped.
    pub(crate) fn new(seat: &Seat) -> Entered {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            free.extend(grow());
        }
        let Some(slot) = free.pop() else { unreachable!("there are some free slots now") };
        slot.store(ptr::from_ref(seat).cast_mut(), Release);
        Entered(slot)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.store(ptr::null_mut(), Release);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// More slots; only one thread at a time.
fn grow() -> &'static [Slot] {
    let slots = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
    let chunk = Box::leak(Box::new(Chunk { slots, next: HEAD.load(Relaxed) }));
    HEAD.store(chunk, Release);
    &chunk.slots
}

/// Told before a coroutine goes on.
type Entering = Box<dyn Fn(Range<usize>) + Send + Sync>;

/// Null: nobody wants to know.
static ENTERING: AtomicPtr<Entering> = AtomicPtr::new(ptr::null_mut());

/// Calls `entering` on a worker's thread, on its own stack, each time before it goes on with a coroutine, with the addresses of the
/// coroutine's stack: for what has to know at any time on which stack a thread may be. Between that call and the next one the thread is on
/// one of the two. It must neither panic nor wait; a later call of this takes the place of an earlier one.
pub fn on_enter(entering: impl Fn(Range<usize>) + Send + Sync + 'static) {
    let entering: Entering = Box::new(entering);
    // Leaked, with the one before: a worker may be calling it.
    ENTERING.store(Box::leak(Box::new(entering)), Release);
}

/// Says so, once, where a runtime starts beside Boehm's collector and nobody hears of stacks: the collector would free what only a request's
/// stack refers to, and end the process where it finds a thread on a stack that it does not know.
pub(crate) fn warn_of_collectors() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    // SAFETY: the name is a C string.
    let is_seen = || !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"GC_push_all_eager".as_ptr()) }.is_null();
    let is_there = || !collector_linked().is_null() || is_seen();
    if ENTERING.load(Acquire).is_null() && is_there() && !WARNED.swap(true, Relaxed) {
        say!(
            "this program has Boehm's garbage collector (libgc), and nothing tells it of the stacks of requests: if a request uses \
             its objects, they are freed too early, or the process ends. Before the runtime starts, call caudal_on_stack_enter, as in \
             crates/caudal-capi/examples/collector.c (in Rust: caudal_rt::stack::on_enter)"
        );
    }
}

/// Boehm's collector where the linker or the loader has put it: inside of a program no name of it can be looked up. Null if there is none.
fn collector_linked() -> *const c_void {
    let address: *const c_void;
    // SAFETY: reads a word of the global offset table, which is 0 for a weak name that there is not.
    unsafe {
        asm!(
            ".weak GC_push_all_eager",
            "mov {}, qword ptr [rip + GC_push_all_eager@GOTPCREL]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    address
}

/// The coroutine at `seat` is about to go on.
#[inline(always)]
pub(crate) fn entering(seat: &Seat) {
    // SAFETY: leaked, and complete where it can be seen.
    if let Some(entering) = unsafe { ENTERING.load(Acquire).as_ref() } {
        entering(seat.low as usize..seat.high as usize);
    }
}

/// A coroutine's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// From the lowest address on which it has something, to its top; of one that runs, when it last went on: what it has had below that since
    /// then, its thread's stack pointer says.
    pub addresses: Range<usize>,
    /// A worker is on it, is about to be, or has just left it. In the last two cases the thread is on its own stack, and the addresses are all
    /// that the coroutine has: who scans stacks scans both, the thread's from its stack pointer on and these.
    pub runs: bool,
}

/// Calls `one` for every coroutine of this process, also for those between two requests. It takes no lock, allocates nothing, and may be
/// called in a signal handler.
///
/// Registers of a coroutine that does not run are on its stack, within the addresses.
///
/// # Safety
/// No other thread of a runtime goes on meanwhile: the caller has stopped them, wherever they are.
pub unsafe fn each(mut one: impl FnMut(InUse)) {
    let mut next = HEAD.load(Acquire).cast_const();
    // SAFETY: a chunk is never freed, and it is put into the list when all of it has been written.
    while let Some(chunk) = unsafe { next.as_ref::<'static>() } {
        for slot in &chunk.slots {
            // SAFETY: who frees a seat clears its slot first, on a thread of a runtime, and the caller has stopped all of these.
            if let Some(seat) = unsafe { slot.load(Acquire).as_ref() } {
                one(seat.in_use());
            }
        }
        next = chunk.next;
    }
}
