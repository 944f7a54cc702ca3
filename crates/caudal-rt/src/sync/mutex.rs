//! A mutex that parks coroutines. Handlers and other threads call it; its protocol is in `lock.rs`.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::lock::RawLock;
use super::{GaveUp, Parker, Patience, TimedOut, gave_up};

/// A mutex that parks the request and never its worker. A request may be pre-empted while it holds the guard: others that want
/// it wait, and the worker runs whoever can run.
///
/// Taking it is one compare-and-swap when it is free. A request that finds it taken queues; the first of the queue is woken when it becomes
/// free, competes with requests that run, and is handed the mutex the next time if it came too late. So nobody starves, and a
/// queue does not make everybody wait for its turn. It is not poisoned by panics; see [`crate::sync`].
///
/// ```
/// use caudal_rt::sync::Mutex;
/// static TOTAL: Mutex<u64> = Mutex::new(0);
/// *TOTAL.lock() += 1;
/// assert_eq!(*TOTAL.lock(), 1);
/// ```
pub struct Mutex<T: ?Sized> {
    lock: RawLock<Parker>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through guards, of which there is one at a time, on one thread after the other.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

/// Access to what a [`Mutex`] protects; dropping it frees the mutex. It stays on the request, or thread, that has taken it.
#[must_use = "the mutex is freed when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    here: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives out shared references to the value only.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    super::const_fn! {
        /// A free mutex around `value`.
        pub fn new(value: T) -> Mutex<T> {
            Mutex { lock: RawLock::new(), value: UnsafeCell::new(value) }
        }
    }

    /// Takes the value that it protected.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes it; waits while somebody else has it. A request that already has it waits for ever.
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.lock_or_cancelled("Mutex::lock") {
            Ok(guard) => guard,
            Err(why) => unreachable!("{:?}", gave_up(why)),
        }
    }

    /// As [`Mutex::lock`], but a cancelled request comes back to tidy up.
    #[inline]
    pub(crate) fn lock_or_cancelled(&self, what: &'static str) -> Result<MutexGuard<'_, T>, GaveUp> {
        self.lock.lock(|| Parker::here(what, Patience::Cancellable)).map(|()| self.guard())
    }

    /// As [`Mutex::lock`], whether or not the request is cancelled.
    pub(crate) fn lock_anyway(&self, what: &'static str) -> MutexGuard<'_, T> {
        match self.lock.lock(|| Parker::here(what, Patience::Endless)) {
            Ok(()) => self.guard(),
            Err(why) => unreachable!("{why:?}"),
        }
    }

    /// Takes it if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.lock.try_lock().then(|| self.guard())
    }

    /// As [`Mutex::lock`], for so long at most.
    ///
    /// # Errors
    /// [`TimedOut`].
    ///
    /// # Panics
    /// As [`Mutex::lock`].
    pub fn lock_timeout(&self, timeout: Duration) -> Result<MutexGuard<'_, T>, TimedOut> {
        let parker = || Parker::here("Mutex::lock_timeout", Patience::For(timeout));
        self.lock.lock(parker).map(|()| self.guard()).map_err(gave_up)
    }

    /// Has somebody taken it?
    pub fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }

    /// The value: an owner by `&mut` shares the mutex with nobody.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Frees it without a guard, for interfaces that have none, such as C's.
    ///
    /// # Safety
    /// The caller has taken it on this request or thread, and has forgotten the guard (`std::mem::forget`).
    pub unsafe fn force_unlock(&self) {
        self.lock.unlock();
    }

    /// A guard again, for an owner that has forgotten its guard.
    pub(crate) fn adopt(&self) -> MutexGuard<'_, T> {
        debug_assert!(self.is_locked());
        self.guard()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, here: PhantomData }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex of a guard.
    pub(super) fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mutex is this guard's.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the mutex is this guard's.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.lock.unlock();
    }
}

#[cfg(not(loom))]
impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => shown.field("value", &&*guard),
            None => shown.field("value", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
