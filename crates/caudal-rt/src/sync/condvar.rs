//! A condition variable that parks coroutines. Handlers and other threads call it; it is public.

use std::time::Duration;

use super::list::{Claimed, GaveUp, List, Node, Spin, Waiter as _};
use super::{Mutex, MutexGuard, Parker, Patience, gave_up};
use crate::base::primitives::{AtomicBool, Ordering};
use crate::base::quiet::NoYield;
use crate::request::CleanUp;

/// End of a wait at a [`Condvar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody notified it.
    Notified,
    /// Its time was over.
    TimedOut,
}

/// Waits for a condition on what a [`Mutex`] protects.
///
/// No notification gets lost that was sent after the wait had freed the mutex; waits do not end without one, but the condition
/// may have changed again when a wait returns: look at it in a loop, or use [`Condvar::wait_while`]. A request that is cancelled
/// after it was notified passes the notification on.
///
/// ```
/// use caudal_rt::sync::{Condvar, Mutex};
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *ready.lock() = true;
///         changed.notify_one();
///     });
///     let ready = changed.wait_while(ready.lock(), |ready| !*ready);
///     assert!(*ready);
/// });
/// ```
pub struct Condvar {
    /// The list is not empty; changed under its lock.
    ///
    /// A notifier reads it without the lock. That is enough: a waiter queues while it has the mutex, so a notifier that has changed the
    /// condition since, under the mutex, sees this set.
    waited_for: AtomicBool,
    list: Spin<List<Parker>>,
}

impl Condvar {
    super::const_fn! {
        /// A condition variable at which nobody waits.
        pub fn new() -> Condvar {
            Condvar { waited_for: AtomicBool::new(false), list: Spin::new(List::new()) }
        }
    }

    /// Frees the mutex, waits to be notified, and takes the mutex again.
    ///
    /// # Panics
    /// Where a request must not wait: in a critical section, and while a panic unwinds.
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.wait_for(guard, "Condvar::wait", Patience::Cancellable).0
    }

    /// Waits for as long as `condition` holds.
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// As [`Condvar::wait`], for so long at most; the mutex is then taken again, which may take longer.
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, Woken) {
        self.wait_for(guard, "Condvar::wait_timeout", Patience::For(timeout))
    }

    /// Wakes the one that has waited longest, if anybody waits.
    pub fn notify_one(&self) {
        self.notify(|list, claimed| {
            list.claim_first(None, claimed);
        });
    }

    /// Wakes all that wait.
    pub fn notify_all(&self) {
        self.notify(|list, claimed| list.claim_all(None, claimed));
    }

    fn notify(&self, claim: impl FnOnce(&mut List<Parker>, &mut Claimed<Parker>)) {
        if !self.waited_for.load(Ordering::Relaxed) {
            return;
        }
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.list.with(|list| {
            claim(list, &mut claimed);
            self.waited_for.store(!list.is_empty(), Ordering::Relaxed);
        });
        claimed.tell();
    }

    fn wait_for<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        what: &'static str,
        patience: Patience,
    ) -> (MutexGuard<'a, T>, Woken) {
        let mutex: &Mutex<T> = MutexGuard::mutex(&guard);
        let node = Node::new(Parker::here(what, patience), 0);
        let leave = || {
            if !self.unqueue(&node) && self.list.with(|list| list.has_claimed(&node)) {
                self.notify_one();
            }
        };
        let clean_up = CleanUp::by(&leave);
        // Until it has the mutex again: a notification that it has got by then is for another one, if it is given up.
        // SAFETY: the guard is dropped before this function returns, also when it unwinds; waits nest.
        let registered = unsafe { node.waiter.on_given_up(&clean_up) };
        self.list.with(|list| {
            // SAFETY: nothing below unwinds before the node was taken off the list, or told.
            unsafe { list.push_back(&node) };
            self.waited_for.store(true, Ordering::Relaxed);
        });
        drop(guard);
        let waited = node.waiter.wait();
        let notified = waited.is_ok() || !self.unqueue(&node);
        if notified {
            node.waiter.wait_to_be_told();
        }
        let again = match waited {
            Err(GaveUp::Cancelled) => Err(GaveUp::Cancelled),
            _ => mutex.lock_or_cancelled(what),
        };
        let quiet = NoYield::enter();
        drop(registered);
        match again {
            Ok(guard) => (guard, if notified { Woken::Notified } else { Woken::TimedOut }),
            Err(why) => {
                if notified {
                    self.notify_one();
                }
                drop(quiet);
                unreachable!("{:?}", gave_up(why))
            }
        }
    }

    /// Takes the node of a waiter that gives up off the list; `false`: it has been claimed.
    fn unqueue(&self, node: &Node<Parker>) -> bool {
        self.list.with(|list| {
            let removed = list.remove(node);
            self.waited_for.store(!list.is_empty(), Ordering::Relaxed);
            removed
        })
    }
}

#[cfg(not(loom))]
impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl std::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
