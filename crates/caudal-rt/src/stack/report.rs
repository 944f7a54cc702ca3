//! What the process says before an overflow ends it.

use std::fmt::{self, Write};

use super::overflow::Overflow;

/// Frames printed from the fault outwards.
const INNERMOST: usize = 24;
/// Frames printed from the coroutine's beginning.
const OUTERMOST: usize = 8;
/// Time for names; symbols are looked up with locks and allocation, which the overflow may have interrupted.
const SECONDS_FOR_NAMES: libc::c_uint = 10;

/// Standard error without a lock or a buffer.
struct Stderr;

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: writes from a slice that lives; what can not be written is lost.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// Frames of the faulting stack: both ends of what may be thousands.
struct Frames {
    inner: [usize; INNERMOST],
    /// A ring of the latest.
    outer: [usize; OUTERMOST],
    count: usize,
}

/// Says which request has used up which stack, where, and what to do about it; then aborts.
///
/// For signal handlers: the message and the addresses are written without locks or allocation. The functions' names
/// come after that; should looking them up wait for a lock that the overflow has interrupted, the process is aborted
/// after 10 s all the same.
pub fn report_and_abort(overflow: &Overflow) -> ! {
    let stack = &overflow.stack.usable;
    let out = &mut Stderr;
    // Writing to a closed descriptor is no reason not to abort.
    let _ = write!(
        out,
        "\nstack overflow in a request of class '{}': its stack is {} KiB; configure larger stacks, or let the \
         handler recurse less and keep large arrays on the heap\n  address {:#x}, in the guard {:#x} .. {:#x} of the \
         stack up to {:#x}; pc {:#x}, sp {:#x}\n",
        overflow.class,
        (stack.end - stack.start).div_ceil(1024),
        overflow.address,
        overflow.stack.guard.start,
        overflow.stack.guard.end,
        stack.end,
        overflow.pc,
        overflow.sp,
    );
    let frames = frames_of(overflow);
    let _ = frames.write(out, |out, address, _| writeln!(out, "  {address:#x}"));
    abort_later();
    let _ = writeln!(out, "  by name:");
    let _ = frames.write(out, write_names);
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Walks the faulting stack, from the instruction that faulted to the coroutine's beginning.
fn frames_of(overflow: &Overflow) -> Frames {
    let mut frames = Frames { inner: [0; INNERMOST], outer: [0; OUTERMOST], count: 0 };
    // SAFETY: unsynchronised walking is for one thread at a time; a second one that overflows meanwhile can garble
    // what is printed before both abort, and no more: walking itself keeps no state between threads.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let address = frame.ip() as usize;
            // Frames of the handler come first, those of the thread that resumed the coroutine last.
            if frames.count == 0 && address != overflow.pc {
                return true;
            }
            let inside = overflow.stack.usable.contains(&(frame.sp() as usize));
            if inside || frames.count == 0 {
                frames.add(address);
            }
            inside || frames.count == 1
        });
    }
    if frames.count == 0 {
        frames.add(overflow.pc);
    }
    frames
}

impl Frames {
    fn add(&mut self, address: usize) {
        match self.inner.get_mut(self.count) {
            Some(place) => *place = address,
            None => self.outer[self.count % OUTERMOST] = address,
        }
        self.count += 1;
    }

    /// Writes both ends, and how much is between them.
    fn write(
        &self,
        out: &mut Stderr,
        one: fn(&mut Stderr, usize, innermost: bool) -> fmt::Result,
    ) -> fmt::Result {
        for (place, &address) in self.inner.iter().take(self.count).enumerate() {
            one(out, address, place == 0)?;
        }
        let more = self.count.saturating_sub(INNERMOST);
        if more > OUTERMOST {
            writeln!(out, "  … {} frames …", more - OUTERMOST)?;
        }
        (self.count - more.min(OUTERMOST)..self.count)
            .try_for_each(|place| one(out, self.outer[place % OUTERMOST], false))
    }
}

/// The function, or the functions inlined into one another, at an address.
fn write_names(out: &mut Stderr, address: usize, innermost: bool) -> fmt::Result {
    // A return address may be the first of the next function: the call is before it.
    let call = address.saturating_sub(usize::from(!innermost));
    let mut named = false;
    // SAFETY: as in `frames_of`: a second overflowing thread can garble the names before both abort.
    unsafe {
        backtrace::resolve_unsynchronized(call as *mut std::ffi::c_void, |symbol| {
            let Some(name) = symbol.name() else { return };
            named = true;
            let _ = match (symbol.filename(), symbol.lineno()) {
                (Some(file), Some(line)) => writeln!(out, "  {name:#} ({}:{line})", file.display()),
                _ => writeln!(out, "  {name:#}"),
            };
        });
    }
    if named { Ok(()) } else { writeln!(out, "  {address:#x}") }
}

/// Aborts after some seconds, whatever happens here.
fn abort_later() {
    extern "C" fn abort_now(_: libc::c_int) {
        // SAFETY: ends the process.
        unsafe { libc::abort() }
    }
    // SAFETY: all zeros is an action, to which a handler of the right signature is given; the signal is let in on
    // this thread, should all others block it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = abort_now as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
        let mut alarm: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut alarm);
        libc::sigaddset(&mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &alarm, std::ptr::null_mut());
        libc::alarm(SECONDS_FOR_NAMES);
    }
}
