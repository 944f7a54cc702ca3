//! Dump of where a stuck worker is: its thread is asked by a signal, and walks its own stack.
//!
//! Nobody can walk the stack of a thread that runs but that thread itself. So a thread that was started for it sends the worker's a
//! signal; the handler, on the thread's alternate stack, walks the frames of the coroutine into [`EXCHANGE`] and returns, and
//! what it has interrupted goes on. The handler takes no lock and allocates nothing: it may have interrupted an allocation. The
//! asking thread finds the names, which does both.
//!
//! ```text
//!            asker           the worker's handler              handler          asker
//!   FREE ──▶ ASKED ─────────▶ WALKING ───────────────────────▶ TOLD ───────────▶ FREE
//!              └── asker: nobody has answered in time ─────────────────────────▶ FREE
//! ```
//!
//! * *One asker at a time*: it holds [`ASKER`]. A second one leaves: a line is written anyway.
//! * [`Exchange::state`] has the number of the asked thread beside the state. Handler and asker leave ASKED by compare-and-swap of
//!   the whole word, so that a signal that comes late finds another state or another thread's number, and does nothing.
//! * `slice` is written by the asker before ASKED (released), read by the handler in WALKING (acquired). `frames` is the handler's
//!   in WALKING, and the asker's from TOLD (released, acquired) on, until the next ASKED.
//! * A handler that finds itself in another slice, or not on the coroutine's stack, tells no frames: the worker has gone on.
//! * A walk that does not end, on a damaged stack, keeps WALKING: nobody is asked any more in this process.

use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use caudal_fiber::frames::{Frames, write_names};
use caudal_fiber::switch::interrupted;
use caudal_probe as probe;

use crate::base::pause::pause;
use crate::base::say::say;
use crate::kernel::context::of_worker;
use crate::kernel::error::StartError;

/// How long an answer may take: the thread has to come to a processor first.
const PATIENCE: Duration = Duration::from_secs(5);

const FREE: u64 = 0;
const ASKED: u64 = 1 << 32;
const WALKING: u64 = 2 << 32;
const TOLD: u64 = 3 << 32;

/// See the [module](self).
struct Exchange {
    /// One of the states above; but for `FREE` with the asked thread's number in the lower half.
    state: AtomicU64,
    /// When the slice began that is asked for.
    slice: AtomicU64,
    frames: UnsafeCell<Frames>,
}

// SAFETY: `frames` belongs to one thread at a time, as the states say.
unsafe impl Sync for Exchange {}

static EXCHANGE: Exchange =
    Exchange { state: AtomicU64::new(FREE), slice: AtomicU64::new(0), frames: UnsafeCell::new(Frames::NONE) };
static ASKER: Mutex<()> = Mutex::new(());
/// The signal that asks, once it is handled.
static SIGNAL: OnceLock<libc::c_int> = OnceLock::new();

/// A worker that is stuck.
pub(super) struct Stuck {
    pub(super) number: usize,
    /// The thread's number in the kernel.
    pub(super) thread: u32,
    /// When its slice began, in cycles.
    pub(super) slice: u64,
    pub(super) class: &'static str,
    pub(super) span: Duration,
}

/// Handles the signal that asks: the highest real-time signal for which nobody has a handler. Once per process.
///
/// # Errors
/// [`StartError::System`], if all of them have handlers.
pub(crate) fn install() -> Result<(), StartError> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if SIGNAL.get().is_some() {
        return Ok(());
    }
    // What walking needs is loaded now: in the handler it would be an allocation.
    backtrace::trace(|_| false);
    let free = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(|&signal| is_free(signal));
    let refused = |source| StartError::System { what: "a signal for the stacks of stuck workers", source };
    let signal = free.ok_or_else(|| refused(io::Error::from_raw_os_error(libc::EBUSY)))?;
    // SAFETY: all zeros is an action, to which a handler of the signature that SA_SIGINFO asks for is given.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    if failed != 0 {
        return Err(refused(io::Error::last_os_error()));
    }
    let _ = SIGNAL.set(signal);
    Ok(())
}

fn is_free(signal: libc::c_int) -> bool {
    // SAFETY: all zeros is an action, which the call overwrites.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_DFL
    }
}

/// Lets the signal in on the calling thread, a worker's, should the thread that started the runtime have blocked it.
pub(crate) fn let_in() {
    let Some(&signal) = SIGNAL.get() else { return };
    // SAFETY: the set is filled here and lives during the call.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// Writes to stderr where this worker is. On a thread of its own: finding names means to read the program's debugging information,
/// and nobody who waits for a request is to wait for that.
pub(super) fn dump(stuck: Stuck) {
    let number = stuck.number;
    let asker = move || {
        let Ok(_one) = ASKER.try_lock() else { return };
        say!("{}", text(&stuck).trim_end());
    };
    if let Err(error) = std::thread::Builder::new().name("caudal-dump".to_owned()).spawn(asker) {
        say!("no thread to ask worker {number} where it is: {error}");
    }
}

fn text(stuck: &Stuck) -> String {
    let Stuck { number, class, span, .. } = stuck;
    match ask(stuck) {
        None => {
            format!("worker {number} does not say where it is: its thread has not taken the signal\n")
        }
        Some(frames) if frames.is_empty() => {
            format!("worker {number} is no longer in that request of class `{class}`\n")
        }
        Some(frames) => {
            let mut text = format!("where worker {number} is, in class `{class}` for {span:?}:\n");
            let _ = frames.write(&mut text, |out, address, innermost| {
                write_names(out, address, innermost, |address, found| backtrace::resolve(address, found))
            });
            text
        }
    }
}

/// The frames of the stuck request; empty if the worker has gone on, none if its thread does not answer.
fn ask(stuck: &Stuck) -> Option<Frames> {
    let (signal, thread) = (*SIGNAL.get()?, u64::from(stuck.thread));
    EXCHANGE.slice.store(stuck.slice, Relaxed);
    EXCHANGE.state.compare_exchange(FREE, ASKED | thread, AcqRel, Relaxed).ok()?;
    // SAFETY: a signal that is handled, to a thread of this process; the call checks that there is one.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), stuck.thread, signal) };
    if !told_within(PATIENCE, thread) {
        let withdrawn = EXCHANGE.state.compare_exchange(ASKED | thread, FREE, AcqRel, Relaxed).is_ok();
        if withdrawn || !told_within(PATIENCE, thread) {
            return None;
        }
    }
    // SAFETY: the handler has told and does not touch them any more, and this is the only asker.
    let frames = unsafe { *EXCHANGE.frames.get() };
    EXCHANGE.state.store(FREE, Release);
    Some(frames)
}

fn told_within(patience: Duration, thread: u64) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if EXCHANGE.state.load(Acquire) == TOLD | thread {
            return true;
        }
        pause(Duration::from_millis(1));
    }
    false
}

extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: errno is this thread's, and what was interrupted may be about to read it; the context is the handler's own.
    unsafe {
        let errno = *libc::__errno_location();
        answer(context.cast());
        *libc::__errno_location() = errno;
    }
}

/// # Safety
/// The context is a signal handler's own.
unsafe fn answer(context: *mut libc::ucontext_t) {
    // SAFETY: the call has no precondition.
    let thread = unsafe { libc::gettid() } as u64;
    if EXCHANGE.state.compare_exchange(ASKED | thread, WALKING | thread, Acquire, Relaxed).is_err() {
        return;
    }
    // SAFETY: by contract.
    let frames = unsafe { frames_of_slice(EXCHANGE.slice.load(Relaxed), context) };
    // SAFETY: they are this thread's in WALKING.
    unsafe { *EXCHANGE.frames.get() = frames };
    EXCHANGE.state.store(TOLD | thread, Release);
}

/// The frames of what was interrupted, if that is the coroutine of this slice.
///
/// # Safety
/// The context is a signal handler's own.
unsafe fn frames_of_slice(slice: u64, context: *mut libc::ucontext_t) -> Frames {
    let present = of_worker()
        .map(|(shared, worker)| shared.workers[usize::from(worker)].board.slice_start.load(Relaxed));
    // SAFETY: the block is this thread's; the context by contract.
    let (stack, (pc, sp)) = unsafe {
        let block = &*probe::block();
        (block.stack_low as usize..block.stack_high as usize, interrupted(context))
    };
    // Elsewhere: on the worker's own stack, between two switches.
    if present != Some(slice) || !stack.contains(&sp) {
        return Frames::NONE;
    }
    Frames::walk(pc, &stack)
}
