//! A semaphore that parks coroutines. Handlers and other threads call it; its protocol is in `permits.rs`.

use std::time::Duration;

use super::permits::{NoPermits, PERMITS_MAX, Permits};
use super::{GaveUp, Parker, Patience, TimedOut, gave_up};

/// A number of permits. First come, first served: a request that wants many is not overtaken by those that want few.
///
/// ```
/// use caudal_rt::sync::Semaphore;
/// let connections = Semaphore::new(2);
/// let (one, other) = (connections.acquire(), connections.acquire());
/// assert!(connections.try_acquire(1).is_none());
/// drop(one);
/// assert!(connections.try_acquire(1).is_some());
/// # drop(other);
/// ```
pub struct Semaphore {
    permits: Permits<Parker>,
}

/// Permits of a [`Semaphore`], which go back when this is dropped.
#[must_use = "the permits go back when this is dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    count: u32,
}

impl Semaphore {
    super::const_fn! {
        /// A semaphore with so many permits.
        ///
        /// # Panics
        /// With more than [`Semaphore::PERMITS_MAX`].
        pub fn new(permits: u32) -> Semaphore {
            assert!(permits <= Self::PERMITS_MAX, "a semaphore has 2^31 - 1 permits at most");
            Semaphore { permits: Permits::new(permits as u64) }
        }
    }

    /// Most permits of a semaphore.
    pub const PERMITS_MAX: u32 = PERMITS_MAX as u32;

    fn take(&self, count: u32, what: &'static str, patience: Patience) -> Result<Permit<'_>, GaveUp> {
        assert!(count <= Self::PERMITS_MAX, "a semaphore has 2^31 - 1 permits at most");
        match self.permits.take(count, || Parker::here(what, patience)) {
            Ok(()) => Ok(Permit { semaphore: self, count }),
            Err(NoPermits::GaveUp(why)) => Err(why),
            Err(NoPermits::TooFew | NoPermits::Closed) => unreachable!("a semaphore is never closed"),
        }
    }

    /// Takes one permit; waits until it is its turn.
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    #[inline]
    pub fn acquire(&self) -> Permit<'_> {
        self.acquire_many(1)
    }

    /// Takes `count` permits at once; waits until it is its turn and so many are free. If there are never so many, it waits for ever,
    /// and so do all that come later.
    ///
    /// # Panics
    /// As [`Semaphore::acquire`], and if `count` is above [`Semaphore::PERMITS_MAX`].
    pub fn acquire_many(&self, count: u32) -> Permit<'_> {
        match self.take(count, "Semaphore::acquire", Patience::Cancellable) {
            Ok(permit) => permit,
            Err(why) => unreachable!("{:?}", gave_up(why)),
        }
    }

    /// Takes `count` permits if so many are free and nobody waits.
    pub fn try_acquire(&self, count: u32) -> Option<Permit<'_>> {
        self.permits.try_take(count).ok().map(|()| Permit { semaphore: self, count })
    }

    /// As [`Semaphore::acquire_many`], for so long at most.
    ///
    /// # Errors
    /// [`TimedOut`].
    ///
    /// # Panics
    /// As [`Semaphore::acquire_many`].
    pub fn acquire_timeout(&self, count: u32, timeout: Duration) -> Result<Permit<'_>, TimedOut> {
        self.take(count, "Semaphore::acquire_timeout", Patience::For(timeout)).map_err(gave_up)
    }

    /// Adds permits.
    ///
    /// # Panics
    /// If there were more than [`Semaphore::PERMITS_MAX`] free ones then; permits that are taken do not count.
    pub fn add(&self, count: u32) {
        assert!(
            self.permits.available() + u64::from(count) <= PERMITS_MAX,
            "a semaphore has 2^31 - 1 permits at most"
        );
        self.permits.give(count);
    }

    /// Permits that were free a moment ago.
    pub fn available(&self) -> u64 {
        self.permits.available()
    }
}

impl Permit<'_> {
    /// Keeps the permits for good: the semaphore has so many fewer from now on.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.permits.give(self.count);
    }
}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}
