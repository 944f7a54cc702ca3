//! The report of an overflow, before the process ends. The signal handler for overflows calls it, on its own stack, if the process is to abort. It
//! writes to stderr.

use std::ffi::CStr;
use std::fmt::{self, Write};

use super::Overflow;
use crate::frames::{Frames, write_names};
use crate::message::Message;

/// Time for names; symbols are looked up with locks and allocation, which the overflow may have interrupted.
const SECONDS_FOR_NAMES: libc::c_uint = 10;

/// Says which coroutine has used up which stack, where, and what to do about it; then aborts.
///
/// For signal handlers: the message and the addresses are written without locks or allocation. Their files and the functions' names
/// come after that; should looking them up wait for a lock that the overflow has interrupted, the process is aborted
/// after 10 s all the same.
pub fn report_and_abort(overflow: &Overflow) -> ! {
    let stack = &overflow.stack.usable;
    let out = &mut Message::new();
    // Writing to a message always succeeds.
    let _ = write!(
        out,
        "\nstack overflow in {} '{}': its stack is {} KiB; {}\n  \
         address {:#x}, in the guard {:#x} .. {:#x} of the stack up to {:#x}; pc {:#x}, sp {:#x}\n",
        overflow.words.kind,
        overflow.name,
        (stack.end - stack.start).div_ceil(1024),
        overflow.words.advice,
        overflow.address,
        overflow.stack.guard.start,
        overflow.stack.guard.end,
        stack.end,
        overflow.pc,
        overflow.sp,
    );
    let frames = Frames::walk(overflow.pc, stack);
    let _ = frames.write(out, |out, address, _| writeln!(out, "  {address:#x}"));
    out.say();
    abort_later();
    let _ = writeln!(out, "  by file, for addr2line -fie FILE ADDRESS:");
    let _ = frames.write(out, write_place);
    let _ = writeln!(out, "  by name:");
    let _ = frames.write(out, write_unsynchronized);
    out.say();
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Writes where an address is in the file that it came from, as `addr2line -e FILE ADDRESS` takes it; nothing for one that came from none.
fn write_place(out: &mut Message, address: usize, innermost: bool) -> fmt::Result {
    // A return address may be the first of the next function: the call is before it.
    let call = address.saturating_sub(usize::from(!innermost));
    // SAFETY: all zeros is an answer.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    out.say();
    // SAFETY: any address may be asked for.
    if unsafe { libc::dladdr(call as *const libc::c_void, &raw mut found) } == 0 || found.dli_fname.is_null()
    {
        return Ok(());
    }
    let base = found.dli_fbase as usize;
    // SAFETY: the name and the header of an object on whose code the thread is, so that it stays.
    let (file, kind) =
        unsafe { (CStr::from_ptr(found.dli_fname), (*found.dli_fbase.cast::<libc::Elf64_Ehdr>()).e_type) };
    // A program that lies where its file says has its addresses there, too.
    let offset = if kind == libc::ET_EXEC { call } else { call - base };
    match file.to_str() {
        Ok("") => writeln!(out, "  the program {offset:#x}"),
        Ok(file) => writeln!(out, "  {file} {offset:#x}"),
        Err(_) => writeln!(out, "  {offset:#x}"),
    }
}

/// The functions at an address. What was found before is said first: looking names up may wait for ever.
fn write_unsynchronized(out: &mut Message, address: usize, innermost: bool) -> fmt::Result {
    out.say();
    write_names(out, address, innermost, |address, found| {
        // SAFETY: a second overflowing thread can garble the names before both abort, and no more.
        unsafe { backtrace::resolve_unsynchronized(address, found) }
    })
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
