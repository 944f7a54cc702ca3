//! List of every coroutine of this process. Called by garbage collectors and by dumps of all requests, which scan stacks.
//!
//! ```text
//!   HEAD ──▶ 256 slots ──▶ 256 slots ──▶ … ──▶ null       never freed; a slot is a coroutine's control, or null
//! ```
//!
//! A coroutine takes a slot when it is made, under [`FREE`], and clears it before its control is gone. A reader takes no lock, and
//! allocates nothing, for the threads that it has stopped may have the lock. It must have stopped them: nothing here keeps a control
//! from being freed, or a stack from changing, while the reader visits it. As no other thread runs meanwhile, `scripts/loom` has no
//! model of it; the one thing that a stopped thread may have been about to do, a switch, is in [`InUse`].

use std::ops::Range;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};

use crate::control::Base;

pub use crate::control::InUse;

const SLOTS: usize = 256;

type Slot = AtomicPtr<Base>;

/// Complete before it can be seen, and never changed but in its slots.
struct Chunk {
    slots: [Slot; SLOTS],
    next: *const Chunk,
}

static HEAD: AtomicPtr<Chunk> = AtomicPtr::new(ptr::null_mut());
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// A coroutine's place here.
#[derive(Debug)]
pub(crate) struct Entered(&'static Slot);

impl Entered {
    /// The base stays where it is until this is dropped.
    pub(crate) fn new(base: &Base) -> Entered {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            free.extend(grow());
        }
        let Some(slot) = free.pop() else { unreachable!("there are some free slots now") };
        slot.store(ptr::from_ref(base).cast_mut(), Release);
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

/// Has anybody asked to be told?
pub fn is_anybody_told() -> bool {
    !ENTERING.load(Acquire).is_null()
}

/// The coroutine of `base` is about to go on.
#[inline(always)]
pub(crate) fn entering(base: &Base) {
    // SAFETY: leaked, and complete where it can be seen.
    if let Some(entering) = unsafe { ENTERING.load(Acquire).as_ref() } {
        entering(base.low as usize..base.high as usize);
    }
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
            // SAFETY: the thread that frees a control clears its slot first, on a thread of a runtime, and the caller has stopped all of these.
            if let Some(base) = unsafe { slot.load(Acquire).as_ref() } {
                one(base.in_use());
            }
        }
        next = chunk.next;
    }
}
