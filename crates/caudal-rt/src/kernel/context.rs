//! Context of the running coroutine, as its worker's thread knows it. A handler's calls to the runtime, and its probes, come here.
//!
//! The worker's thread keeps one [`Context`]; the probe's thread-local block points to it (`runtime`), which is reached anew on
//! each use: a migratable coroutine goes on with another thread's.
//!
//! *Where a yield is forbidden.* In critical sections (the probe's depth; the runtime's own code is in one wherever it runs on
//! a coroutine), and while the thread unwinds or a panic hook runs: Rust counts panics per thread, so another request would
//! find itself panicking. A probe that comes due there is quiet for another quantum.

use std::arch::naked_asm;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use caudal_fiber::overflow;
use caudal_fiber::switch::go_on_at;
use caudal_probe as probe;

use crate::base::clock::now;
use crate::base::quiet::NoYield;
use crate::base::say::say;
use crate::drive::source::Due;
use crate::kernel::elision::{self, Elision};
use crate::kernel::settings::OnOverflow;
use crate::kernel::shared::{Shared, Stage};
use crate::kernel::timer::{Timer, Timers};
use crate::request::Request;
use crate::request::coroutine::{CancelPayload, Reason, Seat, suspend, suspend_at_probe};
use crate::request::exceptions;

/// Knowledge of a worker's thread about what runs there. Only that thread touches it.
pub(crate) struct Context {
    pub(crate) worker: u16,
    /// From `Arc::as_ptr`.
    shared: NonNull<Shared>,
    /// The coroutine that runs; none while the worker schedules.
    seat: Cell<Option<NonNull<Seat>>>,
    cell: Cell<Option<Request>>,
    pub(crate) task: Cell<u32>,
    pub(crate) parks: Cell<u32>,
    pub(crate) timers: RefCell<Timers>,
    /// Whether the running request may go on at the end of its quantum.
    pub(crate) elision: Elision,
    /// When the worker's own source is to be polled.
    pub(crate) source: Due,
    /// When the probe that made the coroutine yield was due, and when it noticed; in cycles.
    pub(crate) due: Cell<u64>,
    pub(crate) noticed: Cell<u64>,
}

/// The running coroutine, to which the caller belongs.
#[derive(Clone, Copy)]
pub(crate) struct Current<'a> {
    context: &'a Context,
    seat: NonNull<Seat>,
    pub(crate) cell: Request,
    /// It belongs to a thread; a migratable coroutine asks for it anew after each suspension.
    here: PhantomData<*const ()>,
}

impl Context {
    pub(crate) fn new(worker: u16, shared: &Arc<Shared>, source: Due) -> Context {
        // SAFETY: the pointer of an `Arc` is not null. Not by a reference: it is made an `Arc` again.
        let shared = unsafe { NonNull::new_unchecked(Arc::as_ptr(shared).cast_mut()) };
        Context {
            worker,
            shared,
            seat: Cell::new(None),
            cell: Cell::new(None),
            task: Cell::new(0),
            parks: Cell::new(0),
            timers: RefCell::default(),
            elision: Elision::default(),
            source,
            due: Cell::new(0),
            noticed: Cell::new(0),
        }
    }

    /// The coroutine at `seat` is about to run `cell`.
    ///
    /// # Safety
    /// The coroutine is there until [`Context::leave`], and runs on this thread alone.
    #[inline(always)]
    pub(crate) unsafe fn enter(&self, seat: NonNull<Seat>, cell: Request, task: u32, parks: u32) {
        self.seat.set(Some(seat));
        self.cell.set(Some(cell));
        self.task.set(task);
        self.parks.set(parks);
    }

    /// The worker schedules.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        self.seat.set(None);
    }

    /// Makes this context the thread's.
    ///
    /// # Safety
    /// The context stays in place until [`Context::uninstall`] is called on this thread.
    pub(crate) unsafe fn install(&self) {
        // SAFETY: the block is this thread's.
        unsafe { (*probe::block()).runtime = std::ptr::from_ref(self) as u64 };
    }

    /// The thread has no context any more.
    pub(crate) fn uninstall() {
        // SAFETY: as above.
        unsafe { (*probe::block()).runtime = 0 };
    }
}

/// The coroutine that runs here; none on threads that are no workers.
#[inline]
pub(crate) fn current<'a>() -> Option<Current<'a>> {
    // SAFETY: the block is this thread's; what it points to is the context of this thread's worker, which lives for as long as
    // any coroutine runs here.
    let context = unsafe { ((*probe::block()).runtime as *const Context).as_ref() }?;
    let (seat, cell) = (context.seat.get()?, context.cell.get()?);
    Some(Current { context, seat, cell, here: PhantomData })
}

/// The runtime of this thread's worker, and the worker's number; none on threads that are no workers. Other than [`current`] it answers also
/// where a worker schedules.
pub(crate) fn of_worker<'a>() -> Option<(&'a Shared, u16)> {
    // SAFETY: as in `current`; a context's shared part outlives it.
    unsafe {
        let context = ((*probe::block()).runtime as *const Context).as_ref()?;
        Some((context.shared.as_ref(), context.worker))
    }
}

/// The probe's hook: the running coroutine's time is over.
///
/// The runtime may have been compiled with probes, as everything is that `cargo caudal` links: in a section, so that none of its own
/// yields between the arming of the next quantum and the return to the request. Neither does the section's end: what came due meanwhile
/// is left to the request's next probe. In assembly, for nothing that a compiler adds may come behind that.
#[unsafe(naked)]
pub(crate) extern "C" fn on_due(noticed: u64) {
    naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rax, qword ptr [rip + caudal_probe_v1@GOTTPOFF]",
        "inc dword ptr fs:[rax + {depth}]",
        "call {due}",
        // It may be another thread by now.
        "mov rax, qword ptr [rip + caudal_probe_v1@GOTTPOFF]",
        "dec dword ptr fs:[rax + {depth}]",
        "cmp dword ptr fs:[rax + {pending}], 0",
        "jne 2f",
        "add rsp, 8",
        ".cfi_remember_state",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        "2:",
        ".cfi_restore_state",
        "xor edi, edi",
        "call qword ptr [rip + caudal_allocator_called_v1@GOTPCREL]",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        depth = const std::mem::offset_of!(probe::Block, depth),
        pending = const std::mem::offset_of!(probe::Block, pending),
        due = sym due,
    )
}

extern "C" fn due(noticed: u64) {
    let Some(current) = current() else { return probe::disarm() };
    if std::thread::panicking() {
        // SAFETY: the block is this thread's.
        return probe::arm(noticed, unsafe { (*probe::block()).quantum });
    }
    let context = current.context;
    let shared = current.shared();
    let due = due_of(shared, context.worker);
    context.due.set(due);
    let first_due = context.timers.borrow().first_due();
    let source_is_due = context.source.is_over(noticed);
    let running = elision::RunningSlice {
        shared,
        worker: context.worker,
        cell: current.cell,
        due,
        first_due,
        source_is_due,
    };
    if context.elision.goes_on(running, noticed) {
        return;
    }
    current.context.noticed.set(noticed);
    // SAFETY: a hook is called on the coroutine that runs, in no critical section but its own.
    unsafe { suspend_at_probe(current.seat.as_ref(), Reason::Quantum) };
}

/// Time since when the running request should have yielded: the end of its quantum, or when another thread has asked it to.
#[inline]
fn due_of(shared: &Shared, worker: u16) -> u64 {
    match (probe::due_deadline(), shared.settings.raise_flags) {
        (due, false) | (due @ 0, true) => due,
        (_, true) => shared.workers[usize::from(worker)].mail.probe_flag.raised_at(),
    }
}

/// The wait hook: another has the lock that the caller wants. 1: others have run meanwhile; 0: the thread has to wait.
///
/// The request is parked with a timer, not put behind others: no discipline lets it run then. One that only yielded
/// would go on at once under first come first served, and before a longer request that has the lock under LAS. It parks for as long as
/// it has waited, so a wait takes at most twice as long as it must, up to 64 µs.
pub(crate) extern "C" fn on_taken(round: u32) -> i32 {
    /// Span of the first wait.
    const SHORTEST: Duration = Duration::from_micros(1);
    /// Exponent of the longest span, over the shortest one.
    const LONGEST: u32 = 6;
    let Some(me) = current().filter(Current::may_be_set_aside) else { return 0 };
    if round != probe::ASKS_ONLY {
        let span = SHORTEST * (1 << round.min(LONGEST));
        me.park_until(until(me.shared(), span), "a lock");
    }
    1
}

/// For the handler of stack overflows: what this thread runs. Safe in a signal handler: it reads memory of this thread.
pub(crate) fn running() -> Option<overflow::Running> {
    let current = current()?;
    // SAFETY: the seat of the coroutine that runs.
    let top = unsafe { current.seat.as_ref() }.high as usize;
    let name = current.shared().settings.classes.name(current.cell.class.get());
    Some(overflow::Running { top, name })
}

/// Why the interrupted coroutine can not be left as it is: something of it would stay behind on the worker's thread, and harm
/// the next request. Safe in a signal handler.
fn bound_to_thread() -> Option<&'static str> {
    // SAFETY: the block is this thread's.
    let block = unsafe { &*probe::block() };
    // Probes are quiet from where the cold path has decided on a yield until the next quantum is armed.
    let in_hook = block.deadline == u64::MAX && block.quantum != u64::MAX;
    match () {
        () if std::thread::panicking() || exceptions::is_unwinding() => {
            Some("a panic or an exception unwinds it")
        }
        () if block.depth > 0 => Some("it is in a critical section, or in the runtime"),
        () if in_hook => Some("it is in the runtime, where a probe was about to yield"),
        () => None,
    }
}

/// A stack has overflowed: ends the process, or leaves the coroutine as it is and goes back to the worker.
pub(crate) fn on_overflow(fault: &overflow::Overflow) {
    let abandoned = current().filter(|current| current.shared().settings.on_overflow == OnOverflow::Abandon);
    if abandoned.is_some()
        && let Some(why) = bound_to_thread()
    {
        say!(
            "a request whose stack overflowed is not abandoned, as it would harm other requests of its worker: {why}"
        );
        overflow::report_and_abort(fault)
    }
    let Some(current) = abandoned else { overflow::report_and_abort(fault) };
    // SAFETY: the seat of the coroutine that runs, and the context of the signal handler that called.
    unsafe { go_on_at(fault.context, current.seat.as_ref().abandon()) };
}

/// Hooks for stack overflows in this process.
pub(crate) fn overflow_hooks() -> overflow::Hooks {
    let words = overflow::Words {
        kind: "a request of class",
        advice: "configure larger stacks (Builder::stack_bytes, in C stack_bytes), or let the handler recurse less and keep large \
                 arrays on the heap",
    };
    overflow::Hooks { running, on_overflow, words, set_action }
}

/// By [`probe::plain_sigaction`]: the handler leaves an overflowed coroutine behind unless that is in a section, and must not be in one
/// itself.
unsafe extern "C" fn set_action(
    signal: libc::c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> libc::c_int {
    // SAFETY: as the caller promises.
    unsafe { probe::plain_sigaction(signal, action.cast(), before.cast()) }
}

/// Hook of measured critical sections: records how long one took, in cycles, while it is still in force.
pub(crate) extern "C" fn on_section(cycles: u64) {
    let Some(me) = current() else { return };
    let shared = me.shared();
    if shared.settings.measuring {
        // The worker's thread alone records, and does not yield in between: the section is still in force.
        let worker = usize::from(me.context.worker);
        shared.classes.of_worker(worker).class(me.cell.class.get()).left_section(cycles);
    }
}

impl Current<'_> {
    /// The runtime's shared part.
    pub(crate) fn shared(&self) -> &Shared {
        // SAFETY: it outlives its coroutines.
        unsafe { self.context.shared.as_ref() }
    }

    /// A reference of its own to the shared part, for what may outlive the coroutine's worker.
    pub(crate) fn share(&self) -> Arc<Shared> {
        let shared = self.context.shared.as_ptr();
        // SAFETY: the pointer came from `Arc::as_ptr`, and the worker holds a reference while the coroutine runs.
        unsafe {
            Arc::increment_strong_count(shared);
            Arc::from_raw(shared)
        }
    }

    /// Panics where a coroutine must not give its worker back: in a critical section, and while a panic unwinds.
    ///
    /// A caller that leaves something behind for others before it parks calls this first, so that it is not unwound out of the park.
    pub(crate) fn must_be_free(what: &str) {
        // By the library's function, which sees whether a signal handler has been left without a return.
        let depth = probe::critical_depth();
        // Under the locks of instrumented code it may park: a request that wants one of them lets others run too.
        assert!(
            depth & probe::SECTIONS == 0,
            "{what} inside of a critical section: end the section (no_preempt) first"
        );
        assert!(
            !std::thread::panicking(),
            "{what} while a panic unwinds: the worker can run nothing else meanwhile; do it before, or outside of Drop"
        );
    }

    /// May the coroutine give its worker back here? As [`Current::must_be_free`], and where the caller is on the coroutine's stack and not
    /// on one for signals.
    fn may_be_set_aside(&self) -> bool {
        // SAFETY: the block is this thread's.
        let block = unsafe { &*probe::block() };
        let stack = std::ptr::from_ref(&block) as u64;
        probe::critical_depth() & probe::SECTIONS == 0
            && (block.stack_low..block.stack_high).contains(&stack)
            && !std::thread::panicking()
    }

    /// Waits to be woken; may return for no reason. `what` is what the caller does, for the error.
    ///
    /// # Panics
    /// In a critical section, and while a panic unwinds.
    pub(crate) fn park(&self, what: &str) {
        Self::must_be_free(what);
        let _quiet = NoYield::enter();
        self.park_in_section();
    }

    /// As [`Current::park`], until the counter shows `due` at the latest.
    pub(crate) fn park_until(&self, due: u64, what: &str) {
        Self::must_be_free(what);
        let _quiet = NoYield::enter();
        let timer = Timer { due, task: self.context.task.get(), parks: self.context.parks.get() };
        self.context.timers.borrow_mut().add(timer);
        self.park_in_section();
        // Woken by somebody else it leaves nothing behind. Asked anew: a migratable coroutine may go on elsewhere.
        if let Some(me) = current() {
            me.context.timers.borrow_mut().remove(&timer);
        }
    }

    /// In a section of the runtime's own, which the coroutine takes along: a yield between the flag and the switch would put
    /// it among those that can run, where whoever wakes it would put it again.
    fn park_in_section(&self) {
        // SAFETY: this is the coroutine that runs.
        unsafe {
            if self.cell.state.park() {
                suspend(self.seat.as_ref(), Reason::Park);
            }
        }
    }

    /// Lets others run.
    pub(crate) fn yield_now(&self) {
        Self::must_be_free("yield_now");
        let _quiet = NoYield::enter();
        // SAFETY: this is the coroutine that runs.
        unsafe { suspend(self.seat.as_ref(), Reason::Yield) };
    }

    /// The word of the coroutine that is not the runtime's.
    pub(crate) fn slot(&self) -> &Cell<*mut ()> {
        // SAFETY: the seat of the coroutine that runs, which the caller belongs to.
        unsafe { &self.seat.as_ref().own.slot }
    }

    /// Has somebody asked for the request's end, or for that of all? The stage is checked as well: a worker that never gets its
    /// core back from this request can not tell it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cell.state.load().is_cancelled() || self.shared().stage() >= Stage::Cancelling
    }

    /// Unwinds if somebody has asked for the request's end. Not where that would be a panic in a panic.
    pub(crate) fn end_if_cancelled(&self) {
        if self.is_cancelled() && !std::thread::panicking() {
            end_cancelled();
        }
    }
}

/// Ends the request if it was cancelled: unwinds to its end, and its handle answers
/// [`Failure::Cancelled`](crate::Failure::Cancelled). For long handlers that never wait. Does nothing while a panic unwinds, and on
/// threads that are no workers.
#[inline]
pub fn check_cancelled() {
    if let Some(me) = current() {
        me.end_if_cancelled();
    }
}

/// Unwinds the running request, which was cancelled.
#[cold]
pub(crate) fn end_cancelled() -> ! {
    std::panic::resume_unwind(Box::new(CancelPayload))
}

/// Cycles from now on, where `span` ends.
pub(crate) fn until(shared: &Shared, span: Duration) -> u64 {
    now().saturating_add(shared.clock.cycles_of(span))
}
