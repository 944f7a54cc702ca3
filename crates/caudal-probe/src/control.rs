//! Arming, the hooks and the clock: the functions that a runtime calls.

use core::{arch::x86_64::_rdtsc, ffi::c_void, sync::atomic::Ordering};

use crate::sys;

/// The time-stamp counter, in TSC cycles. Not ordered with the instructions around it.
#[inline(always)]
pub fn rdtsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux leaves it to programs.
    unsafe { _rdtsc() }
}

/// Starts a quantum on this thread: modes clock and budget are due `quantum` TSC cycles after the TSC value `now`, and a
/// pending yield is forgotten. `u64::MAX`: never due. The flag stays as it is.
#[inline]
pub fn arm(now: u64, quantum: u64) {
    sys::caudal_probe_arm_v1(now, quantum);
}

/// No probe of this thread is due, in any mode, until it is armed. Clears the flag and forgets a pending yield.
#[inline]
pub fn disarm() {
    sys::caudal_probe_disarm_v1();
}

/// The deadline that this thread's last yield was due at, for its hook (the block's own is `u64::MAX` by then). Later
/// than the hook's `now` where it was nearly there, or the flag asked for the yield.
#[inline]
pub fn due_deadline() -> u64 {
    sys::caudal_probe_due_v1()
}

/// How often this thread came into the cold path, readings of the clock that found no yield due not counted.
#[inline]
pub fn cold_visits() -> u64 {
    sys::caudal_probe_cold_visits_v1()
}

/// Sets the function that is called where a yield is to happen, with the TSC value of the decision, on the request's stack. Set it before
/// any thread is armed.
///
/// When it is called, all modes of this thread are quiet and the flag is cleared. Before it returns, it has armed the
/// next quantum. It may switch stacks, and return on another thread. It does not unwind: a panic that leaves it aborts.
pub fn set_hook(hook: extern "C" fn(u64)) {
    sys::caudal_probe_hook_v1.store(hook as *mut (), Ordering::Relaxed);
}

/// Sets the function that is given the TSC cycles of each outermost critical section that was entered by the measuring functions (`C`'s
/// `caudal_critical_enter`, Rust's [`measured`](crate::measured)). Called inside of the section. `None`: nothing.
pub fn set_critical_hook(hook: Option<extern "C" fn(u64)>) {
    let hook = hook.map_or(core::ptr::null_mut(), |hook| hook as *mut ());
    sys::caudal_probe_critical_hook_v1.store(hook, Ordering::Relaxed);
}

/// The round of a wait in which the wait hook says what it would answer, and does no more.
pub const ASKS_ONLY: u32 = u32::MAX;

/// Sets the function that the wrappers of locks (`docs/background/preemption-safety.md`) call while somebody else has the lock: once more for
/// each round, from 0 on. It lets other requests of this worker run and answers 1. It answers 0 if the caller is no request, or may not be
/// set aside. In the round [`ASKS_ONLY`] it only answers. It does not unwind. Set it before any thread is armed.
pub fn set_wait_hook(hook: extern "C" fn(u32) -> i32) {
    // What interposes `syscall` and `vfork` becomes part of the program: nothing else asks for it by names that are the library's alone.
    core::hint::black_box([
        sys::caudal_around_syscall_v1 as *const (),
        sys::caudal_around_vfork_v1 as *const (),
    ]);
    sys::caudal_probe_wait_hook_v1.store(hook as *mut (), Ordering::Relaxed);
}

/// Sets the function that code of the probe pass calls at every call of `uselocale` that sets a locale. It is called at once if there was
/// such a call already. It may be called by several threads at a time, and does not unwind.
pub fn set_locale_hook(hook: extern "C" fn()) {
    sys::caudal_locale_hook_v1(hook);
}

/// The C library's `sigaction`, also from code that the probe pass has instrumented, where that would have the handler run in a section.
/// For a runtime whose handler looks at the section that it interrupts.
///
/// # Safety
/// As `sigaction`; both pointers are null or point to a `struct sigaction`.
pub unsafe fn plain_sigaction(signal: i32, action: *const c_void, before: *mut c_void) -> i32 {
    // SAFETY: as the caller says.
    unsafe { sys::caudal_plain_sigaction_v1(signal, action, before) }
}

/// Whether whatever arms a quantum, on any thread, makes all modes due at once, so that every probe yields. For tests.
pub fn set_every(every: bool) {
    sys::caudal_probe_every_v1.store(u8::from(every), Ordering::Relaxed);
}
