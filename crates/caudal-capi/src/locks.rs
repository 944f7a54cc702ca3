//! Mutexes and condition variables that park the request and never its worker: those of `caudal_rt::sync`, without guards. C programs call
//! these functions in requests of any runtime and on other threads, before, while and after a runtime runs.
//!
//! Each mutex notes its owner. So a second lock by the same request, or an unlock by another one, gets an error instead of a
//! deadlock or a broken section. The note is a number that only the running request, or outside of requests the thread, has
//! ([`job::identity`]).

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use caudal_rt::raw::{self, Heed};
use caudal_rt::sync::{Condvar, Mutex, MutexGuard, Woken};

use crate::abi::caudal_status;
use crate::abi::caudal_status::*;
use crate::boundary::{Answer, Out, call, may_wait, reference, span};
use crate::job;

/// A mutex that parks the request and never its worker. Requests of any runtime may use it, and other threads. Not recursive.
pub struct caudal_mutex {
    mutex: Mutex<()>,
    /// The owner; 0: nobody. A reader only asks whether it is the owner itself, so relaxed loads and stores are enough.
    owner: AtomicUsize,
}

/// A condition variable, to be used with a caudal_mutex.
pub struct caudal_condition {
    condition: Condvar,
}

impl caudal_mutex {
    /// Takes the mutex without a guard: it stays locked until [`Self::unlock`].
    fn lock(&self, heed: Heed) -> Answer {
        let me = job::identity();
        if self.owner.load(Relaxed) == me {
            return Err(CAUDAL_ERROR_OWNER);
        }
        // Not `may_wait` alone: a free mutex can be taken in a critical section, too.
        if may_wait().is_err() && self.mutex.is_locked() {
            return Err(CAUDAL_ERROR_IN_SECTION);
        }
        self.keep(raw::lock(&self.mutex, heed).map_err(|_| CAUDAL_CANCELLED)?, me);
        Ok(())
    }

    fn keep(&self, guard: MutexGuard<'_, ()>, me: usize) {
        std::mem::forget(guard);
        self.owner.store(me, Relaxed);
    }

    fn unlock(&self) -> Answer {
        self.check_owner()?;
        self.owner.store(0, Relaxed);
        // SAFETY: the caller has it, and its guard was forgotten.
        unsafe { self.mutex.force_unlock() };
        Ok(())
    }

    fn check_owner(&self) -> Answer {
        if self.owner.load(Relaxed) == job::identity() { Ok(()) } else { Err(CAUDAL_ERROR_OWNER) }
    }
}

/// Makes a free mutex.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Ownership: the caller owns it, and ends it with caudal_mutex_destroy(). Threads: any.
///
/// # Safety
/// `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_create(out: *mut *mut caudal_mutex) -> caudal_status {
    call(|| {
        let made = caudal_mutex { mutex: Mutex::new(()), owner: AtomicUsize::new(0) };
        // SAFETY: as the caller says.
        unsafe { Out::of(out)?.put(Box::into_raw(Box::new(made))) };
        Ok(())
    })
}

/// Ends a mutex that nobody has or waits for, after which it must not be used.
///
/// Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_BUSY, if somebody has it: then it stays. Threads: any.
///
/// # Safety
/// `mutex` is null or was made by caudal_mutex_create() and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_destroy(mutex: *mut caudal_mutex) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        if unsafe { reference(mutex)? }.mutex.is_locked() {
            return Err(CAUDAL_ERROR_BUSY);
        }
        // SAFETY: it came from a box, and the caller gives it back.
        drop(unsafe { Box::from_raw(mutex) });
        Ok(())
    })
}

/// Takes the mutex; waits while somebody else has it.
///
/// Errors, after which the caller does not have it: CAUDAL_CANCELLED, if its request is cancelled while it waits;
/// CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if it has it already; CAUDAL_ERROR_IN_SECTION, if it would have to wait. Threads: any.
///
/// # Safety
/// `mutex` is null or was made by caudal_mutex_create() and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_lock(mutex: *mut caudal_mutex) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { reference(mutex)? }.lock(Heed::Cancellation))
}

/// As caudal_mutex_lock(), but a request that is cancelled goes on waiting: for handlers that have to tidy up under the mutex.
///
/// # Safety
/// As for caudal_mutex_lock().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_lock_regardless(mutex: *mut caudal_mutex) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { reference(mutex)? }.lock(Heed::Nothing))
}

/// Takes the mutex if it is free; else CAUDAL_ERROR_BUSY.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// As for caudal_mutex_lock().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_try_lock(mutex: *mut caudal_mutex) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let mutex = unsafe { reference(mutex)? };
        let guard = mutex.mutex.try_lock().ok_or(CAUDAL_ERROR_BUSY)?;
        mutex.keep(guard, job::identity());
        Ok(())
    })
}

/// Frees the mutex.
///
/// Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if the caller's request (outside of requests, thread) does not have it.
/// Threads: any.
///
/// # Safety
/// As for caudal_mutex_lock().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_mutex_unlock(mutex: *mut caudal_mutex) -> caudal_status {
    // SAFETY: as the caller says.
    call(|| unsafe { reference(mutex)? }.unlock())
}

/// Makes a condition variable.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Ownership: the caller owns it, and ends it with caudal_condition_destroy(). Threads: any.
///
/// # Safety
/// `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_condition_create(out: *mut *mut caudal_condition) -> caudal_status {
    call(|| {
        let made = caudal_condition { condition: Condvar::new() };
        // SAFETY: as the caller says.
        unsafe { Out::of(out)?.put(Box::into_raw(Box::new(made))) };
        Ok(())
    })
}

/// Ends a condition variable at which nobody waits, after which it must not be used.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `condition` is null or was made by caudal_condition_create() and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_condition_destroy(condition: *mut caudal_condition) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        unsafe { reference(condition)? };
        // SAFETY: it came from a box, and the caller gives it back.
        drop(unsafe { Box::from_raw(condition) });
        Ok(())
    })
}

/// Frees the mutex, waits to be notified, for `longest_ns` at most (CAUDAL_FOREVER: without end), and takes the mutex again. The caller
/// has the mutex afterwards, whatever the answer is. Call this in a loop that checks the condition.
///
/// Errors: CAUDAL_TIMED_OUT, CAUDAL_CANCELLED, CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if the caller does not have the mutex;
/// CAUDAL_ERROR_IN_SECTION. Threads: any.
///
/// # Safety
/// The pointers are null or what their types say, and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_condition_wait(
    condition: *mut caudal_condition,
    mutex: *mut caudal_mutex,
    longest_ns: u64,
) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let (condition, mutex) = unsafe { (reference(condition)?, reference(mutex)?) };
        mutex.check_owner()?;
        may_wait()?;
        let me = job::identity();
        // Freed, and taken for a guard: the library's wait wants one.
        mutex.owner.store(0, Relaxed);
        let answer = call(|| wait(&condition.condition, &mutex.mutex, longest_ns));
        if !matches!(answer, CAUDAL_OK | CAUDAL_TIMED_OUT) {
            // It was unwound, and its guard dropped.
            std::mem::forget(raw::lock(&mutex.mutex, Heed::Nothing));
        }
        mutex.owner.store(me, Relaxed);
        if answer == CAUDAL_OK { Ok(()) } else { Err(answer) }
    })
}

/// The caller has the mutex, and has it again afterwards; not if the wait unwinds.
fn wait(condition: &Condvar, mutex: &Mutex<()>, longest_ns: u64) -> Answer {
    // SAFETY: the caller has it, and its guard was forgotten.
    let guard = unsafe { raw::adopt(mutex) };
    let (guard, woken) = match span(longest_ns) {
        Some(span) => condition.wait_timeout(guard, span),
        None => (condition.wait(guard), Woken::Notified),
    };
    std::mem::forget(guard);
    if woken == Woken::Notified { Ok(()) } else { Err(CAUDAL_TIMED_OUT) }
}

/// Wakes the request or thread that has waited longest, if any waits.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `condition` is null or was made by caudal_condition_create() and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_condition_notify_one(condition: *mut caudal_condition) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        unsafe { reference(condition)? }.condition.notify_one();
        Ok(())
    })
}

/// Wakes all that wait.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `condition` is null or was made by caudal_condition_create() and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_condition_notify_all(condition: *mut caudal_condition) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        unsafe { reference(condition)? }.condition.notify_all();
        Ok(())
    })
}
