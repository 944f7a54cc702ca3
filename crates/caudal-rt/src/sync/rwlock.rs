//! A reader-writer lock that parks coroutines. Handlers and other threads call it; its protocol is in `permits.rs`.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::permits::{NoPermits, Permits};
use super::{GaveUp, Parker, Patience, TimedOut, gave_up};

/// Permits of a writer: all that there are. A reader takes one.
const WRITER: u32 = 1 << 30;
const READER: u32 = 1;

/// A lock that many readers or one writer have at a time. First come, first served: a writer that waits holds up readers that
/// come later, so readers do not starve it; and no request overtakes another.
///
/// A request that holds it as a reader and asks again waits for ever if a writer has asked in between.
///
/// The order has a price: under contention the lock goes from one request to the next at the pace of the workers' queues. For
/// short sections a [`Mutex`](super::Mutex) is faster.
///
/// ```
/// use caudal_rt::sync::RwLock;
/// let lock = RwLock::new(vec![1]);
/// lock.write().push(2);
/// let (one, other) = (lock.read(), lock.read());
/// assert_eq!((one.len(), other.len()), (2, 2));
/// ```
pub struct RwLock<T: ?Sized> {
    permits: Permits<Parker>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through guards: one that writes, or many that read, on any thread.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}

/// Shared access to what a [`RwLock`] protects. It stays on the request, or thread, that has taken it.
#[must_use = "the lock is freed when the guard is dropped"]
pub struct ReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    here: PhantomData<*const ()>,
}

/// Access to what a [`RwLock`] protects. It stays on the request, or thread, that has taken it.
#[must_use = "the lock is freed when the guard is dropped"]
pub struct WriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    here: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives out shared references to the value only.
unsafe impl<T: ?Sized + Sync> Sync for ReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for WriteGuard<'_, T> {}

impl<T> RwLock<T> {
    super::const_fn! {
        /// A free lock around `value`.
        pub fn new(value: T) -> RwLock<T> {
            RwLock { permits: Permits::new(WRITER as u64), value: UnsafeCell::new(value) }
        }
    }

    /// Takes the value that it protected.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    fn take(&self, count: u32, what: &'static str, patience: Patience) -> Result<(), GaveUp> {
        self.permits.take(count, || Parker::here(what, patience)).map_err(|why| match why {
            NoPermits::GaveUp(why) => why,
            NoPermits::TooFew | NoPermits::Closed => unreachable!("a lock is never closed"),
        })
    }

    fn take_always(&self, count: u32, what: &'static str) {
        if let Err(why) = self.take(count, what, Patience::Cancellable) {
            unreachable!("{:?}", gave_up(why))
        }
    }

    fn reader(&self) -> ReadGuard<'_, T> {
        ReadGuard { lock: self, here: PhantomData }
    }

    fn writer(&self) -> WriteGuard<'_, T> {
        WriteGuard { lock: self, here: PhantomData }
    }

    /// Takes it to read; waits while a writer has it, or has asked for it earlier.
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    #[inline]
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.take_always(READER, "RwLock::read");
        self.reader()
    }

    /// Takes it to write; waits while anybody has it, or has asked for it earlier.
    ///
    /// # Panics
    /// As [`RwLock::read`].
    #[inline]
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.take_always(WRITER, "RwLock::write");
        self.writer()
    }

    /// Takes it to read, if that is possible at once.
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.permits.try_take(READER).ok().map(|()| self.reader())
    }

    /// Takes it to write, if that is possible at once.
    pub fn try_write(&self) -> Option<WriteGuard<'_, T>> {
        self.permits.try_take(WRITER).ok().map(|()| self.writer())
    }

    /// As [`RwLock::read`], for so long at most.
    ///
    /// # Errors
    /// [`TimedOut`].
    ///
    /// # Panics
    /// As [`RwLock::read`].
    pub fn read_timeout(&self, timeout: Duration) -> Result<ReadGuard<'_, T>, TimedOut> {
        let taken = self.take(READER, "RwLock::read_timeout", Patience::For(timeout));
        taken.map(|()| self.reader()).map_err(gave_up)
    }

    /// As [`RwLock::write`], for so long at most.
    ///
    /// # Errors
    /// [`TimedOut`].
    ///
    /// # Panics
    /// As [`RwLock::read`].
    pub fn write_timeout(&self, timeout: Duration) -> Result<WriteGuard<'_, T>, TimedOut> {
        let taken = self.take(WRITER, "RwLock::write_timeout", Patience::For(timeout));
        taken.map(|()| self.writer()).map_err(gave_up)
    }

    /// The value: an owner by `&mut` shares the lock with nobody.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while this guard lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is this guard's.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is this guard's.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.permits.give(READER);
    }
}

impl<T: ?Sized> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.permits.give(WRITER);
    }
}

#[cfg(not(loom))]
impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Some(guard) => shown.field("value", &&*guard),
            None => shown.field("value", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
