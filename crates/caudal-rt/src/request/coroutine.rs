//! Coroutines: one stack each, on which one request after the other runs. A worker resumes its coroutines where it schedules; a running
//! request gives its worker back here. A coroutine belongs to one worker at a time, and only that one's thread touches it.
//!
//! The body of a [`Fiber`] never ends: it runs the request that it was given, says [`Reason::Done`], and waits for the next
//! one. So a request costs a switch to and fro ([`caudal_fiber::switch`]), and no set-up of a stack.
//!
//! *What belongs to the thread and has to go with the coroutine.* The stack of C++ exceptions in flight ([`crate::request::exceptions`]) is
//! put back after every switch, and so is what was registered for it ([`crate::request::carry`]); where a request waits, so are the rounding mode (MXCSR and the x87 control word) and `errno`. At a
//! probe the cold path does that for these two, and for the vector registers. Rust's count of panics can not be moved: whoever
//! unwinds does not yield (see [`crate::kernel::context`]).

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use caudal_fiber::coroutine::Control;
use caudal_fiber::stack::CoroutineStack;

use super::{Header, Outcome, Request, RequestPlace, put_payload};
use crate::request::carry;
use crate::request::exceptions::Exceptions;

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
pub(crate) struct CancelPayload;

/// A coroutine's knowledge of itself; its address does not change.
pub(crate) type Seat = Control<CoroutineState>;

/// The runtime's part of a coroutine's control.
pub(crate) struct CoroutineState {
    /// Why it has given its worker back.
    reason: Cell<Reason>,
    /// The request that it is to run next.
    next: Cell<Option<Started>>,
    /// A word for the layer of another language: see [`crate::api::raw::slot`].
    pub(crate) slot: Cell<*mut ()>,
}

/// Knowledge of a worker about a request that it has run, for the next worker.
#[derive(Clone, Copy, Default)]
pub(crate) struct TaskRecord {
    /// Time on workers, in cycles.
    pub(crate) attained: u64,
    pub(crate) quanta: u32,
    pub(crate) preemptions: u32,
    /// The probe's depth where it stopped: 1, for the hook is a section.
    pub(crate) depth: u32,
    pub(crate) parks: u32,
}

/// A coroutine with its stack, between two requests or in one. Dropped in the middle of one, it drops nothing of what is on the
/// stack; the stack itself stays taken.
pub(crate) struct Fiber {
    coroutine: caudal_fiber::coroutine::Coroutine<CoroutineState>,
    /// While it moves to another worker.
    pub(crate) record: TaskRecord,
    /// The worker whose stack it has.
    pub(crate) home: usize,
}

impl Fiber {
    /// A coroutine on `stack` of the worker `home`, which waits for its first request.
    pub(crate) fn new(stack: CoroutineStack, home: usize) -> Fiber {
        let own = CoroutineState {
            reason: Cell::new(Reason::Quantum),
            next: Cell::new(None),
            slot: Cell::new(ptr::null_mut()),
        };
        // SAFETY: `body` gives its thread back by its control alone, catches what unwinds, and moves only where its handler may.
        let coroutine = unsafe { caudal_fiber::coroutine::Coroutine::new(stack, body, own) };
        Fiber { coroutine, record: TaskRecord::default(), home }
    }

    /// The seat, for [`suspend`].
    #[inline(always)]
    pub(crate) fn seat(&self) -> NonNull<Seat> {
        self.coroutine.control()
    }

    /// Gives the idle coroutine a request to run from the next [`Fiber::resume`] on.
    pub(crate) fn give(&self, started: Started) {
        self.coroutine.own().next.set(Some(started));
    }

    /// Runs the coroutine until it gives the worker back.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> Reason {
        if !self.coroutine.resume() {
            carry::abandon();
            return Reason::Overflow;
        }
        self.coroutine.own().reason.get()
    }

    /// Ends the coroutine, and gives its stack back: nothing on that wants to be dropped.
    ///
    /// # Safety
    /// The coroutine is between two requests, so that its body waits for the next one.
    pub(crate) unsafe fn into_stack(self) -> CoroutineStack {
        // SAFETY: as the caller promises.
        unsafe { self.coroutine.into_stack() }
    }
}

/// A coroutine, as workers pass it on: one word.
pub(crate) type Coroutine = Box<Fiber>;

impl Header {
    /// Leaves the coroutine of the started request with it, for whoever takes the request out of an inbox.
    pub(crate) fn leave_coroutine(&self, coroutine: Coroutine) {
        // SAFETY: from a box, whose alignment is more than 1.
        unsafe { self.leave(Box::into_raw(coroutine).cast()) };
    }

    /// The coroutine that was left with the request, which the first caller gets.
    ///
    /// # Safety
    /// The caller has taken the request out of an inbox, or has not put it there: it may be another thread than the coroutine's last one.
    pub(crate) unsafe fn take_coroutine(&self) -> Option<Coroutine> {
        // SAFETY: `leave_coroutine` has left it, from a box, and `take` answers once.
        self.take().map(|left| unsafe { Box::from_raw(left.as_ptr().cast()) })
    }
}

unsafe extern "C" fn body(seat: *const Seat) -> ! {
    // SAFETY: from `Fiber::new`; the seat lives as long as the coroutine runs.
    let seat = unsafe { &*seat };
    seat.begin();
    loop {
        FloatMode::DEFAULT.set();
        if carry::is_any() {
            carry::begin();
        }
        let outcome = match seat.own.next.take() {
            Some(started) => run(started),
            None => Outcome::Returned,
        };
        // SAFETY: this is the coroutine.
        unsafe { give_back(seat, Reason::Done(outcome)) };
    }
}

/// A request that has started, and whose closure has not been called. The bearer alone may call it, once.
#[must_use = "nobody else runs the request"]
pub(crate) struct Started(Request);

impl Request {
    /// Starts the request at `place`; none: it was cancelled, or has ended otherwise.
    ///
    /// # Safety
    /// The caller has [`Reference::Runtime`](super::Reference::Runtime), which it has taken out of a queue. It keeps the reference until the
    /// request has run.
    #[inline(always)]
    pub(crate) unsafe fn start(self, place: RequestPlace) -> Option<Started> {
        // SAFETY: as the caller promises.
        unsafe { self.state.start(place) }.then_some(Started(self))
    }
}

/// Runs the closure of a request and leaves its result, or the payload of its panic, in the cell.
pub(crate) fn run(started: Started) -> Outcome {
    let Started(cell) = started;
    // SAFETY: the request has started, so its closure is there, and only the bearer of `Started` takes it.
    let job = || unsafe { (cell.vtable.get().run)(cell) };
    match catch_unwind(AssertUnwindSafe(job)) {
        Ok(()) if cell.state.load().has_handle() => Outcome::Returned,
        Ok(()) => forget_result(cell),
        Err(payload) => ended_by(payload, cell),
    }
}

/// Nobody wants the result: it is dropped here, where its destructor may wait, and may panic.
fn forget_result(cell: Request) -> Outcome {
    // SAFETY: the handle is gone, so this is the only one that takes the result; `set_empty` says that it is not there any more.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { (cell.vtable.get().drop_result)(cell) }));
    // SAFETY: as above.
    unsafe { cell.set_empty() };
    match dropped {
        Ok(()) => Outcome::Returned,
        Err(payload) => ended_by(payload, cell),
    }
}

#[cold]
fn ended_by(payload: Box<dyn Any + Send>, cell: Request) -> Outcome {
    if payload.is::<CancelPayload>() {
        return Outcome::Cancelled;
    }
    // SAFETY: the request has panicked, so its closure is gone and there is no result.
    unsafe { put_payload(cell, payload) };
    Outcome::Panicked
}

/// The switch to the worker, and back some time.
///
/// # Safety
/// Called on this very coroutine.
#[inline(always)]
unsafe fn give_back(seat: &Seat, reason: Reason) {
    seat.own.reason.set(reason);
    // SAFETY: as the caller promises.
    unsafe { seat.give_back() };
}

/// Gives the worker back; returns when the coroutine of `seat` is resumed.
///
/// # Safety
/// Called on this very coroutine, outside of critical sections.
#[inline]
pub(crate) unsafe fn suspend(seat: &Seat, reason: Reason) {
    let (float, errno) = (FloatMode::get(), errno());
    // The worker's own code does not run with a handler's rounding and traps.
    FloatMode::DEFAULT.set();
    // SAFETY: as the caller promises.
    unsafe { suspend_at_probe(seat, reason) };
    float.set();
    set_errno(errno);
}

/// As [`suspend`], called by a probe: the cold path puts the rounding mode back, and has set the default one before.
///
/// # Safety
/// As [`suspend`].
#[inline]
pub(crate) unsafe fn suspend_at_probe(seat: &Seat, reason: Reason) {
    let exceptions = Exceptions::take();
    if carry::is_any() {
        // SAFETY: as the caller promises.
        carry::around(|| unsafe { give_back(seat, reason) });
    } else {
        // SAFETY: as the caller promises.
        unsafe { give_back(seat, reason) };
        if carry::is_registered() {
            // Registered meanwhile.
            carry::begin();
        }
    }
    exceptions.put_back();
}

/// This thread's; asked for anew each time, since a coroutine may go on on another.
fn errno() -> i32 {
    // SAFETY: the address is this thread's own variable.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: as in `errno`.
    unsafe { *libc::__errno_location() = value };
}

/// Rounding, exception masks, denormals, and the exceptions seen: MXCSR and the x87 control word.
#[derive(Clone, Copy)]
struct FloatMode {
    mxcsr: u32,
    x87: u16,
}

impl FloatMode {
    /// The mode with which a thread starts.
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

    /// Loads it. MXCSR without a check: a load of what is there already takes a fifth of the time. The x87 control word
    /// only if it differs: for that one the check is cheaper.
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
