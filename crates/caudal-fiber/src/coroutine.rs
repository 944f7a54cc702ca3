//! Coroutines: a stack each, with a body that gives its thread back and is resumed.
//!
//! The body of a [`Coroutine`] never ends. It gives its thread back by its [`Control`], whose part `own` is the scheduler's: both sides talk
//! through it. So a scheduler that runs one piece of work after the other on a coroutine pays two switches for each, and no set-up of a stack.
//!
//! ```text
//!  scheduler                           coroutine
//!  resume ──▶ switch(caller → own) ──▶ body … give_back
//!         ◀── switch(own → caller) ◀──
//! ```
//!
//! *What belongs to the thread* and has to go with the coroutine is the scheduler's affair: the rounding mode, `errno`, exceptions in flight,
//! other libraries' thread-locals. Rust's count of panics can not be moved: a coroutine must not give its thread back while it unwinds.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use crate::announce::Announced;
use crate::census;
use crate::control::Base;
use crate::stack::CoroutineStack;
use crate::switch::{Point, switch};

pub use crate::control::Control;

/// A body. It gives its thread back by [`Base::give_back`], and neither returns nor unwinds.
pub type Body<S> = unsafe extern "C" fn(*const Control<S>) -> !;

/// A coroutine with its stack. Dropping it in the middle of its body drops nothing of what is on the stack; the stack itself stays taken.
#[derive(Debug)]
pub struct Coroutine<S> {
    stack: CoroutineStack,
    /// Dropped before the control.
    _entered: census::Entered,
    control: Box<Control<S>>,
}

impl<S> Coroutine<S> {
    /// A coroutine on `stack`, which begins `body` when it is first resumed.
    ///
    /// # Safety
    /// The body keeps to [`Body`]. What it does is sound on every thread that resumes the coroutine.
    pub unsafe fn new(stack: CoroutineStack, body: Body<S>, own: S) -> Coroutine<S> {
        let (low, high) = (stack.usable().start, stack.top());
        let base = Base {
            own: Point::none(),
            caller: Point::none(),
            runs: Cell::new(false),
            abandoned: Cell::new(false),
            low: low as u64,
            high: high as u64,
            announced: Announced::new(low, high),
        };
        let control = Box::new(Control { base, own });
        let Some(top) = NonZeroUsize::new(high) else { unreachable!("a stack at address 0") };
        // SAFETY: both are functions of one thin pointer.
        let body = unsafe { std::mem::transmute::<Body<S>, unsafe extern "C" fn(*const ()) -> !>(body) };
        // SAFETY: the stack is this coroutine's, and its top a multiple of 64; the control lives in its box for as long.
        unsafe { control.base.own.set_new(top, body, ptr::from_ref(&*control).cast()) };
        Coroutine { stack, _entered: census::Entered::new(&control.base), control }
    }

    /// The control, for as long as the coroutine lives.
    #[inline(always)]
    pub fn control(&self) -> NonNull<Control<S>> {
        NonNull::from(&*self.control)
    }

    /// The scheduler's part of the control.
    #[inline(always)]
    pub fn own(&self) -> &S {
        &self.control.own
    }

    /// Runs the coroutine until it gives its thread back. `false`: its thread has left it instead ([`Base::abandon`]); it must neither be
    /// resumed nor its stack be used again.
    ///
    /// # Panics
    /// If it was abandoned.
    #[inline(always)]
    pub fn resume(&mut self) -> bool {
        let base = &self.control.base;
        debug_assert!(!base.abandoned.get(), "an abandoned coroutine can not be resumed");
        census::entering(base);
        base.announced.enter();
        base.runs.set(true);
        // SAFETY: the coroutine is new or was suspended, and this is the only one to resume it.
        unsafe { switch(&base.caller, &base.own) };
        let abandoned = base.abandoned.get();
        base.runs.set(abandoned);
        if abandoned {
            base.announced.leave();
        }
        base.announced.left();
        !abandoned
    }

    /// Ends the coroutine, and gives its stack back. Nothing that is on the stack is dropped.
    ///
    /// # Safety
    /// The body is at a place where nothing on its stack has to be dropped, and nobody refers to anything there.
    pub unsafe fn into_stack(self) -> CoroutineStack {
        self.stack
    }
}
