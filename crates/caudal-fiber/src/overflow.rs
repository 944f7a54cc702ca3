//! Stack overflow: a coroutine that runs into its guard is told from every other fault, and named. The kernel calls the handler.
//!
//! ```text
//!   SIGSEGV or SIGBUS, on the thread's alternate stack (`AltStack`)
//!     │
//!     ├─ the address lies in the guard of the stack that this thread runs on (`Hooks::running`)
//!     │     └─▶ `Hooks::on_overflow`: by default says what happened, and aborts
//!     └─ any other fault
//!           └─▶ the handler that was there before, or the system's default action
//! ```
//!
//! An overflow can not unwind: the stack below the fault does not exist, and the code above it may be in the middle
//! of anything. The process is therefore ended, unless the hook edits the interrupted registers so that the thread
//! goes on elsewhere, which abandons the coroutine: what was on its stack is never dropped, locks that it held stay
//! held.
//!
//! All of this runs in a signal handler. Up to the hook nothing locks, allocates, or touches a thread-local of this
//! crate; hooks must keep to that (see `signal-safety(7)`), but for the default, which ends the process and tries to
//! name the functions after it has said what matters.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::stack::{StackError, StackInfo, contains_guard};
use crate::switch::interrupted;

mod alt;
mod report;

pub use alt::AltStack;
pub use report::report_and_abort;

/// The coroutine that a thread runs.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// The top of its stack: [`CoroutineStack::top`](crate::stack::CoroutineStack::top).
    pub top: usize,
    /// Its name: the class of its request, say.
    pub name: &'static str,
}

/// A stack overflow, as a hook is told of it.
#[derive(Debug)]
pub struct Overflow {
    /// The address that could not be touched, in the guard.
    pub address: usize,
    /// The stack that was used up.
    pub stack: StackInfo,
    /// The coroutine's name.
    pub name: &'static str,
    /// Words of the report.
    pub words: &'static Words,
    /// The instruction that faulted.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// The interrupted registers: they take effect when the hook returns.
    pub context: *mut libc::ucontext_t,
}

/// Words of a report, by which a scheduler speaks to its own users.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Kind of thing that has overflowed, before its name: "a coroutine".
    pub kind: &'static str,
    /// Advice, which follows the size of the stack.
    pub advice: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            kind: "a coroutine",
            advice: "configure larger stacks (StackConfig::size), or recurse less and keep large arrays on the heap",
        }
    }
}

/// The system's call `sigaction`, or a function that does the same.
pub type SetAction =
    unsafe extern "C" fn(libc::c_int, *const libc::sigaction, *mut libc::sigaction) -> libc::c_int;

/// Functions of the process that decide about overflows. Both run in a signal handler.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// The coroutine of the calling thread; `None` on a thread that runs no coroutine now.
    pub running: fn() -> Option<Running>,
    /// Ends the process, or edits the registers in [`Overflow::context`] and returns. If it returns with the same
    /// instruction and stack pointer, which would fault again, [`report_and_abort`] follows.
    pub on_overflow: fn(&Overflow),
    /// Words of the report.
    pub words: Words,
    /// Sets the handler of a signal: [`libc::sigaction()`], unless the program wraps that.
    pub set_action: SetAction,
}

impl Hooks {
    /// Overflows are reported and end the process.
    pub fn aborting(running: fn() -> Option<Running>) -> Self {
        Self::new(running, |overflow| report_and_abort(overflow))
    }

    /// Overflows go to `on_overflow`; the rest is as by default.
    pub fn new(running: fn() -> Option<Running>, on_overflow: fn(&Overflow)) -> Self {
        Self { running, on_overflow, words: Words::default(), set_action: libc::sigaction }
    }
}

static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(ptr::null_mut());
/// The actions for [`SIGNALS`] before ours.
static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the handler, once per process; a later call replaces the hooks.
///
/// Threads that run coroutines need an [`AltStack`] too: without one the kernel can not even start
/// the handler.
///
/// # Errors
/// [`StackError::System`] when the kernel refuses.
pub fn install(hooks: Hooks) -> Result<(), StackError> {
    // The old ones are not freed: a handler may be reading them. They are a few words.
    let set_action = hooks.set_action;
    HOOKS.store(Box::into_raw(Box::new(hooks)), Ordering::Release);
    let mut result = Ok(());
    // Initialised before the handlers are in place, which read it.
    let mut first = false;
    BEFORE.get_or_init(|| {
        first = true;
        SIGNALS.map(|signal| current_action(signal, set_action))
    });
    if first {
        result = SIGNALS.into_iter().try_for_each(|signal| handle_by_us(signal, set_action));
    }
    result
}

fn current_action(signal: libc::c_int, set_action: SetAction) -> libc::sigaction {
    // SAFETY: all zeros is an action (the default one); the call writes the structure that it is given.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        set_action(signal, ptr::null(), &raw mut action);
        action
    }
}

fn handle_by_us(signal: libc::c_int, set_action: SetAction) -> Result<(), StackError> {
    // SAFETY: as above; the handler has the signature that SA_SIGINFO asks for.
    let status = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        set_action(signal, &raw const action, ptr::null_mut())
    };
    if status == 0 { Ok(()) } else { Err(StackError::system("sigaction")) }
}

/// The handler of both signals.
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes both structures, valid until the handler returns; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        match overflow_at(&*info, context.cast()) {
            Some((overflow, hooks)) => handle(&overflow, hooks),
            None => forward(signal, info, context),
        }
        *libc::__errno_location() = errno;
    }
}

/// The overflow that this fault is, if it is one.
///
/// # Safety
/// `context` is the handler's own.
unsafe fn overflow_at(
    info: &libc::siginfo_t,
    context: *mut libc::ucontext_t,
) -> Option<(Overflow, &'static Hooks)> {
    // A signal that somebody sent has no address.
    if info.si_code <= 0 {
        return None;
    }
    // SAFETY: faults carry an address.
    let address = unsafe { info.si_addr() } as usize;
    let stack = contains_guard(address)?;
    // SAFETY: set before the handler was installed, and never freed.
    let hooks = unsafe { HOOKS.load(Ordering::Acquire).as_ref() }?;
    // A wild pointer into the guard of a stack that does not run is no overflow.
    let running = (hooks.running)().filter(|running| running.top == stack.usable.end)?;
    // SAFETY: the context is valid, by contract.
    let (pc, sp) = unsafe { interrupted(context) };
    Some((Overflow { address, stack, name: running.name, words: &hooks.words, pc, sp, context }, hooks))
}

fn handle(overflow: &Overflow, hooks: &Hooks) {
    (hooks.on_overflow)(overflow);
    // SAFETY: still within the handler.
    if unsafe { interrupted(overflow.context) } == (overflow.pc, overflow.sp) {
        report_and_abort(overflow);
    }
}

/// Passes a fault that is none of ours to whoever handled it before.
///
/// # Safety
/// The arguments are the handler's own.
unsafe fn forward(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let index = SIGNALS.iter().position(|&ours| ours == signal);
    let before = index.and_then(|index| Some(&BEFORE.get()?[index]));
    // SAFETY: the earlier action was valid when it was installed, and takes the arguments that its flags say.
    unsafe {
        match before {
            Some(action) if action.sa_sigaction == libc::SIG_IGN && (*info).si_code <= 0 => {}
            Some(action) if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) => {
                if action.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                        std::mem::transmute(action.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(libc::c_int) = std::mem::transmute(action.sa_sigaction);
                    handler(signal);
                }
            }
            _ => default_action(signal, &*info),
        }
    }
}

/// The system's action, once the handler has returned: a fault happens again, a signal that was sent is sent anew.
unsafe fn default_action(signal: libc::c_int, info: &libc::siginfo_t) {
    // SAFETY: all zeros is the default action; `raise` is safe in a handler, where the signal stays pending.
    unsafe {
        let action: libc::sigaction = std::mem::zeroed();
        // SAFETY: set before the handler was installed, and never freed.
        if let Some(hooks) = HOOKS.load(Ordering::Acquire).as_ref() {
            (hooks.set_action)(signal, &raw const action, ptr::null_mut());
        }
        if info.si_code <= 0 {
            libc::raise(signal);
        }
    }
}
