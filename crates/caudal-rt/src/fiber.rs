//! Coroutines: one stack each, on which one request after the other runs.
//!
//! A [`Fiber`] is a corosensei coroutine whose body never ends: it runs the request that it was given, says [`Reason::Done`], and
//! waits for the next one. So a request costs a switch to and fro, and no set-up of a stack.
//!
//! *What belongs to the thread and has to go with the coroutine.* The rounding mode (MXCSR and the x87 control word) is put back
//! after every switch; the stack of C++ exceptions in flight ([`crate::foreign`]) too. `errno` and vector registers are the
//! probe's cold path's. Rust's count of panics can not be moved: whoever unwinds does not yield (see [`crate::context`]).

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use corosensei::stack::Stack;
use corosensei::trap::{CoroutineTrapHandler, TrapHandlerRegs};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::announce::Announced;
use crate::cell::{Outcome, Request, put_payload};
use crate::foreign::Exceptions;

/// Why a coroutine gave its worker back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its request has ended.
    Done(Outcome),
    /// Its time is over.
    Quantum,
    /// It asked to be put behind others.
    Yield,
    /// It waits to be woken.
    Park,
    /// Its stack overflowed, and it was left as it was: it can not be resumed, nor its stack be used again.
    Overflow,
}

/// The payload with which a cancelled request unwinds.
pub(crate) struct Cancelled;

type Inner<S> = Coroutine<(), Reason, (), S>;

/// What a running coroutine has to know of itself; its address does not change.
pub(crate) struct Seat {
    yielder: Cell<*const Yielder<(), Reason>>,
    cell: Cell<Option<Request>>,
    /// How a handler of signals makes the coroutine return from where it is.
    trap: Cell<Option<CoroutineTrapHandler<()>>>,
    /// Lowest and highest address of the stack.
    pub(crate) low: u64,
    pub(crate) high: u64,
    /// A word for the layer of another language: see [`crate::raw::slot`].
    pub(crate) slot: Cell<*mut ()>,
    announced: Announced,
}

/// What a worker knows of a request that it has run, and the next one has to know.
#[derive(Clone, Copy, Default)]
pub(crate) struct Luggage {
    /// Time on workers, in cycles.
    pub(crate) attained: u64,
    pub(crate) quanta: u32,
    pub(crate) preemptions: u32,
    pub(crate) parks: u32,
}

/// A coroutine with its stack, between two requests or in one.
pub(crate) struct Fiber<S: Stack + 'static> {
    inner: Inner<S>,
    seat: Box<Seat>,
    /// While it is on its way to another worker.
    pub(crate) luggage: Luggage,
    /// The worker whose stack it has.
    pub(crate) home: usize,
}

impl<S: Stack + 'static> Fiber<S> {
    /// A coroutine on `stack` of the worker `home`, which waits for its first request.
    pub(crate) fn new(stack: S, home: usize) -> Fiber<S> {
        let seat = Box::new(Seat {
            yielder: Cell::new(ptr::null()),
            cell: Cell::new(None),
            trap: Cell::new(None),
            low: stack.limit().get() as u64,
            high: stack.base().get() as u64,
            slot: Cell::new(ptr::null_mut()),
            announced: Announced::new(),
        });
        let of_body = NonNull::from(&*seat);
        // SAFETY: the seat lives in its box until the fiber is dropped, which ends the body first.
        let inner =
            Coroutine::with_stack(stack, move |yielder, ()| body(unsafe { of_body.as_ref() }, yielder));
        seat.trap.set(Some(inner.trap_handler()));
        Fiber { inner, seat, luggage: Luggage::default(), home }
    }

    /// The seat, for [`Seat::suspend`].
    pub(crate) fn seat(&self) -> NonNull<Seat> {
        NonNull::from(&*self.seat)
    }

    /// Gives the idle coroutine the started request `cell` to run from the next [`Fiber::resume`] on.
    pub(crate) fn give(&self, cell: Request) {
        self.seat.cell.set(Some(cell));
    }

    /// Runs the coroutine until it gives the worker back.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> Reason {
        self.seat.announced.enter();
        match self.inner.resume(()) {
            CoroutineResult::Yield(reason) => reason,
            // The body has no end but this one.
            CoroutineResult::Return(()) => {
                self.seat.announced.leave();
                Reason::Overflow
            }
        }
    }

    /// Ends the coroutine, which is between two requests, and gives its stack back.
    pub(crate) fn into_stack(self) -> S {
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: as in `drop`, which does not come after this.
        unsafe { this.inner.force_reset() };
        // SAFETY: `this` is never dropped, so each part is taken out of it once.
        let (inner, seat) = unsafe { (ptr::read(&raw const this.inner), ptr::read(&raw const this.seat)) };
        drop(seat);
        inner.into_stack()
    }
}

impl<S: Stack + 'static> Drop for Fiber<S> {
    fn drop(&mut self) {
        // SAFETY: between two requests there is nothing on the stack that wants to be dropped; who drops a fiber in the middle
        // of a request leaks it instead (`mem::forget`).
        unsafe { self.inner.force_reset() }
    }
}

fn body(seat: &Seat, yielder: &Yielder<(), Reason>) {
    seat.yielder.set(yielder);
    loop {
        FloatMode::DEFAULT.set();
        let outcome = match seat.cell.take() {
            Some(cell) => run(cell),
            None => Outcome::Returned,
        };
        seat.announced.leave();
        yielder.suspend(Reason::Done(outcome));
    }
}

/// Runs the closure of `cell` and leaves its result, or the payload of its panic, there.
pub(crate) fn run(cell: Request) -> Outcome {
    // SAFETY: the worker has started the request, so its closure is there, and nobody else takes it.
    let job = || unsafe { (cell.vtable.get().run)(cell) };
    match catch_unwind(AssertUnwindSafe(job)) {
        Ok(()) if cell.is_awaited() => Outcome::Returned,
        Ok(()) => forget_result(cell),
        Err(payload) => ended_by(payload, cell),
    }
}

/// Nobody wants the result: it is dropped here, where its destructor may wait, and may panic.
fn forget_result(cell: Request) -> Outcome {
    // SAFETY: the handle is gone, so this is the only one that takes the result; `Emptied` says that it is not there any more.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { (cell.vtable.get().drop_result)(cell) }));
    cell.set_empty();
    match dropped {
        Ok(()) => Outcome::Returned,
        Err(payload) => ended_by(payload, cell),
    }
}

#[cold]
fn ended_by(payload: Box<dyn Any + Send>, cell: Request) -> Outcome {
    if payload.is::<Cancelled>() {
        return Outcome::Cancelled;
    }
    // SAFETY: the request has panicked, so its closure is gone and there is no result.
    unsafe { put_payload(cell, payload) };
    Outcome::Panicked
}

impl Seat {
    /// Registers with which the interrupted coroutine returns to its worker, as [`Reason::Overflow`]; none if it is not the one
    /// that runs at `sp`.
    pub(crate) fn escape(&self) -> Option<TrapHandlerRegs> {
        let trap = self.trap.take()?;
        // SAFETY: the coroutine has faulted and is not going on: its worker leaks it with all that is on its stack.
        Some(unsafe { trap.setup_trap_handler(|| ()) })
    }

    /// Gives the worker back; returns when the coroutine is resumed.
    ///
    /// # Safety
    /// Called on this very coroutine, outside of critical sections.
    #[inline]
    pub(crate) unsafe fn suspend(&self, reason: Reason) {
        let float = FloatMode::get();
        // SAFETY: as the caller promises.
        unsafe { self.suspend_at_probe(reason) };
        float.set();
    }

    /// As [`Seat::suspend`], called by a probe: the cold path puts the rounding mode back, and has set the default one before.
    ///
    /// # Safety
    /// As [`Seat::suspend`].
    #[inline]
    pub(crate) unsafe fn suspend_at_probe(&self, reason: Reason) {
        let exceptions = Exceptions::take();
        self.announced.leave();
        // SAFETY: the body has set the yielder before the request began, and it stays where it is.
        unsafe { &*self.yielder.get() }.suspend(reason);
        exceptions.put_back();
    }
}

/// Rounding, exception masks, denormals, and the exceptions seen: MXCSR and the x87 control word.
#[derive(Clone, Copy)]
struct FloatMode {
    mxcsr: u32,
    x87: u16,
}

impl FloatMode {
    /// What a thread starts with.
    const DEFAULT: FloatMode = FloatMode { mxcsr: 0x1F80, x87: 0x037F };

    #[inline]
    fn get() -> FloatMode {
        let (mut mxcsr, mut x87) = (0_u32, 0_u16);
        // SAFETY: both store to the variables given, and nothing else.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut mxcsr, in(reg) &raw mut x87,
                options(nostack, preserves_flags));
        }
        FloatMode { mxcsr, x87 }
    }

    /// Loads it. MXCSR without a look: a load of what is there already takes a fifth of the time. The x87 control word
    /// only if it differs: there it is the other way round.
    #[inline]
    fn set(self) {
        let mut x87 = 0_u16;
        // SAFETY: the value came from `stmxcsr` or is the default one; the store goes to the variable given.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", "fnstcw [{}]", in(reg) &raw const self.mxcsr, in(reg) &raw mut x87,
                options(nostack, preserves_flags));
        }
        if x87 != self.x87 {
            // SAFETY: the value came from `fnstcw` or is the default one.
            unsafe { std::arch::asm!("fldcw [{}]", in(reg) &raw const self.x87, options(nostack, readonly)) }
        }
    }
}
