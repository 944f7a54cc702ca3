//! The stack on which a thread's signal handlers run, for the coroutine's own is used up when it has overflowed. Threads of a scheduler
//! install it.

use std::marker::PhantomData;
use std::ptr;

use crate::stack::{PAGE, StackError};

/// Room for the handler, and for the symbols of its backtrace; touched on a fault only.
const HANDLER_BYTES: usize = 256 << 10;
const GUARD_BYTES: usize = 64 << 10;

/// This thread's alternate signal stack, with a guard; dropping it restores the one before.
///
/// ```text
///   start                                     start + bytes
///   ├── guard, 64 KiB ──┬── handlers, 256 KiB + what the kernel saves ──┤
/// ```
#[derive(Debug)]
pub struct AltStack {
    start: usize,
    bytes: usize,
    before: libc::stack_t,
    /// It is the thread's own.
    not_send: PhantomData<*mut ()>,
}

impl AltStack {
    /// Maps and installs it for the calling thread.
    ///
    /// # Errors
    /// [`StackError::System`] when the kernel refuses.
    pub fn install() -> Result<Self, StackError> {
        // SAFETY: asks for a number. With wide vector registers a signal's frame takes kilobytes.
        let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
        let bytes = GUARD_BYTES + (HANDLER_BYTES + frame).next_multiple_of(PAGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a fresh mapping, at an address of the kernel's choice, touches nothing that exists.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(StackError::system("mmap"));
        }
        let mut alt = Self { start: start as usize, bytes, before: describe(0, 0), not_send: PhantomData };
        // SAFETY: whole pages of the mapping above, which nothing uses yet.
        if unsafe { libc::mprotect(start, GUARD_BYTES, libc::PROT_NONE) } != 0 {
            alt.unmap();
            return Err(StackError::system("mprotect(PROT_NONE)"));
        }
        let mine = describe(alt.start + GUARD_BYTES, bytes - GUARD_BYTES);
        // SAFETY: the stack stays mapped until `drop`, which runs on this thread and takes it out of use first.
        if unsafe { libc::sigaltstack(&mine, &mut alt.before) } != 0 {
            let error = StackError::system("sigaltstack");
            alt.unmap();
            return Err(error);
        }
        Ok(alt)
    }

    fn unmap(&self) {
        // SAFETY: this value's own mapping, no longer in use.
        unsafe { libc::munmap(self.start as *mut libc::c_void, self.bytes) };
    }
}

fn describe(start: usize, bytes: usize) -> libc::stack_t {
    libc::stack_t { ss_sp: start as *mut libc::c_void, ss_flags: 0, ss_size: bytes }
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let mut now = describe(0, 0);
        // SAFETY: reads this thread's setting; restores the earlier one only if nobody has changed it since, and
        // whoever installed that one keeps it mapped for the thread.
        unsafe {
            libc::sigaltstack(ptr::null(), &mut now);
            if now.ss_sp as usize == self.start + GUARD_BYTES {
                libc::sigaltstack(&self.before, ptr::null_mut());
            }
        }
        self.unmap();
    }
}
