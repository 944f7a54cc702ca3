//! Control blocks of coroutines: what a coroutine knows of itself, and how it gives its thread back. [`crate::coroutine`] makes them,
//! [`crate::census`] finds them.

use std::cell::Cell;
use std::ops::Range;

use crate::announce::Announced;
use crate::switch::{Point, switch};

/// The part of a control that is the same for all schedulers.
#[derive(Debug)]
pub struct Base {
    /// Place where the coroutine goes on, while it does not run.
    pub(crate) own: Point,
    /// Place where its thread goes on, while it runs.
    pub(crate) caller: Point,
    /// It runs, is about to, or has just given its thread back; or it was abandoned.
    pub(crate) runs: Cell<bool>,
    /// It was left as it was, and can not be resumed.
    pub(crate) abandoned: Cell<bool>,
    /// Lowest and highest address of the stack.
    pub low: u64,
    /// See `low`.
    pub high: u64,
    pub(crate) announced: Announced,
}

/// A coroutine's knowledge of itself; its address does not change while the coroutine lives.
#[derive(Debug)]
#[repr(C)]
pub struct Control<S> {
    pub(crate) base: Base,
    /// The scheduler's part.
    pub own: S,
}

impl<S> std::ops::Deref for Control<S> {
    type Target = Base;

    #[inline(always)]
    fn deref(&self) -> &Base {
        &self.base
    }
}

/// A coroutine's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// From the lowest address on which it has something, to its top; of one that runs, when it last went on: what it has had below that since
    /// then, its thread's stack pointer says.
    pub addresses: Range<usize>,
    /// A worker is on it, is about to be, or has just left it. In the last two cases the thread is on its own stack, and the addresses are all
    /// that the coroutine has: a scanner of stacks scans both, the thread's from its stack pointer on and these.
    pub runs: bool,
}

impl Base {
    /// Tells the sanitizers that the coroutine is here for the first time; the first thing that a body does.
    #[inline(always)]
    pub fn begin(&self) {
        self.announced.entered();
    }

    /// Gives the thread back; returns when the coroutine is resumed, on whichever thread that is.
    ///
    /// # Safety
    /// Called on this very coroutine, while it does not unwind.
    #[inline(always)]
    pub unsafe fn give_back(&self) {
        self.announced.leave();
        // SAFETY: whoever has resumed this coroutine, which runs here, has left its own stack there.
        unsafe { switch(&self.own, &self.caller) };
        self.announced.entered();
    }

    /// Leaves the coroutine for ever, as it is: instruction and stack pointer with which its thread goes on where it has resumed it. For
    /// signal handlers, which pass them to [`go_on_at`](crate::switch::go_on_at).
    ///
    /// # Safety
    /// The coroutine runs on this thread, and the thread does go on there.
    pub unsafe fn abandon(&self) -> [usize; 2] {
        self.abandoned.set(true);
        // SAFETY: the thread has left its own stack when it resumed this coroutine.
        unsafe { self.caller.registers() }
    }

    /// The part of its stack that has something on it.
    pub fn in_use(&self) -> InUse {
        InUse { addresses: self.own.address()..self.high as usize, runs: self.runs.get() }
    }
}
