//! The functions and variables that the library without Rust exports. The other files of this crate call them; see `include/caudal/probe.h`.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU8};

// SAFETY: the declarations are the header's. The functions touch the calling thread's own lines only, and call nothing
// but the hooks, which are safe functions; the variables are read atomically by the library.
unsafe extern "C" {
    pub(crate) safe fn caudal_probe_call_clock_v1();
    pub(crate) safe fn caudal_probe_call_budget_v1();
    pub(crate) safe fn caudal_probe_call_flag_v1();
    pub(crate) safe fn caudal_probe_call_exit_v1();
    pub(crate) safe fn caudal_probe_arm_v1(now: u64, quantum: u64);
    pub(crate) safe fn caudal_probe_disarm_v1();
    pub(crate) safe fn caudal_probe_due_v1() -> u64;
    pub(crate) safe fn caudal_probe_cold_visits_v1() -> u64;
    pub(crate) safe fn caudal_critical_enter_v1();
    pub(crate) safe fn caudal_critical_exit_v1();
    pub(crate) safe fn caudal_critical_depth_v1() -> u32;
    pub(crate) safe fn caudal_critical_restore_v1(depth: u32);
    pub(crate) fn caudal_plain_sigaction_v1(signal: i32, action: *const c_void, before: *mut c_void) -> i32;
    pub(crate) safe fn caudal_forget_handlers_v1();
    pub(crate) safe fn caudal_request_ended_v1(stack_high: u64);
    pub(crate) safe fn caudal_learn_futex_v1();
    pub(crate) safe fn caudal_learnt_futex_v1() -> *const u32;
    pub(crate) fn caudal_parker_is_v1(word: *const u32);
    pub(crate) safe fn caudal_thread_locals_v1(bounds: &mut [usize; 2]);
    pub(crate) safe fn caudal_locale_hook_v1(hook: extern "C" fn());
    /// The C library's `syscall`, as this library has it.
    pub(crate) fn caudal_around_syscall_v1();
    /// The C library's `vfork`, as this library has it.
    pub(crate) fn caudal_around_vfork_v1();

    pub(crate) safe static caudal_probe_hook_v1: AtomicPtr<()>;
    pub(crate) safe static caudal_probe_critical_hook_v1: AtomicPtr<()>;
    pub(crate) safe static caudal_probe_wait_hook_v1: AtomicPtr<()>;
    pub(crate) safe static caudal_probe_every_v1: AtomicU8;
}
