//! The word and the waiters of a mutex. Called by [`Mutex`](crate::sync::Mutex), and by models.
//!
//! # States
//!
//! | bit | meaning | set by | cleared by |
//! | --- | --- | --- | --- |
//! | `LOCKED` | somebody has it | the one that takes it, by compare-and-swap; a hand-off leaves it set | its owner |
//! | `QUEUED` | the list is not empty | a waiter that queues, under the list's lock | the one that empties the list, under its lock |
//! | `WOKEN` | one waiter was woken to try, and has not tried yet | the unlocker, under the list's lock | that waiter |
//!
//! # Protocol
//!
//! *Lock*: one compare-and-swap if it is free, waiters or not (barging). Else, under the list's lock: set `QUEUED` if it is still
//! taken, and queue. *Unlock*: one compare-and-swap if nobody waits, or one is on its way (`WOKEN`). Else, under the list's lock:
//! claim the first waiter, free the mutex with `WOKEN` set, and tell that waiter, which tries. If it comes too late it queues as
//! the first, asking for a hand-off: the next unlock leaves `LOCKED` set and gives the mutex to it.
//!
//! *Why barging*: under a strict hand-off every request that comes while one waits has to park, and each section then takes a
//! pass through the worker's queue: the convoy never dissolves. A section takes less than a quantum, so most requests that run
//! take the lock, leave it, and never wait. *Why nobody starves*: a waiter that was woken and came too late once is given the mutex by
//! its next owner. At most one waiter is on its way at a time, so those who came too late do not overtake one another.
//!
//! *Why no wake-up is lost*: `QUEUED` is set by a compare-and-swap that finds `LOCKED`, with the list's lock held until the node is
//! there. The owner of the mutex then cannot leave by the fast path, and waits for that lock before it reads the queue. With `WOKEN` set
//! it need not read the queue: the woken waiter takes the mutex or, in the same way, sets `QUEUED` anew as it clears `WOKEN`; if it gives
//! up instead and the mutex is free, it wakes the next one itself.
//!
//! Under the list's lock, whoever has the mutex knows the word: barging needs `LOCKED` clear, and everything else needs the lock.
//!
//! **Orderings.** Taking is Acquire and freeing Release, so sections are ordered; a hand-off is ordered by telling.

use super::list::{Claimed, GaveUp, List, Node, Spin, Waiter};
use crate::base::primitives::{AtomicU32, Ordering};
use crate::base::quiet::NoYield;
use crate::request::CleanUp;

const LOCKED: u32 = 1;
const QUEUED: u32 = 2;
const WOKEN: u32 = 4;

/// Notes of nodes. Before: what the waiter wants.
const TRIES: u32 = 0;
const WANTS_IT: u32 = 1;
/// After: what it got.
const MAY_TRY: u32 = 2;
const HAS_IT: u32 = 3;

/// A mutex around nothing. See the [module](self).
pub(crate) struct RawLock<W> {
    word: AtomicU32,
    list: Spin<List<W>>,
}

impl<W: Waiter> RawLock<W> {
    super::const_fn! {
        pub(crate) fn new() -> Self {
            RawLock { word: AtomicU32::new(0), list: Spin::new(List::new()) }
        }
    }

    /// Takes it if it is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.take(0)
    }

    /// Is it taken?
    pub(crate) fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// Takes it, after a wait by `waiter` if it must be.
    #[inline]
    pub(crate) fn lock(&self, waiter: impl FnOnce() -> W) -> Result<(), GaveUp> {
        match self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) if self.try_lock() => Ok(()),
            Err(_) => self.lock_slowly(&Node::new(waiter(), TRIES)),
        }
    }

    /// As [`RawLock::lock`], with a node that stays for ever: its waiter may be given up.
    #[cfg(all(test, loom))]
    pub(crate) fn lock_by(&self, node: &'static Node<W>) -> Result<(), GaveUp> {
        self.lock_slowly(node)
    }

    /// Frees it, or hands it on.
    #[inline]
    pub(crate) fn unlock(&self) {
        if self.word.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slowly();
        }
    }

    /// Sets `LOCKED` and clears `clear`, if it is free.
    #[inline]
    fn take(&self, clear: u32) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & LOCKED == 0 {
            let wanted = (word & !clear) | LOCKED;
            match self.word.compare_exchange_weak(word, wanted, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
        false
    }

    #[cold]
    fn lock_slowly(&self, node: &Node<W>) -> Result<(), GaveUp> {
        let leave = || self.leave(node);
        let clean_up = CleanUp::by(&leave);
        loop {
            // SAFETY: the guard is dropped before this function returns, also when it unwinds; waits nest.
            let registered = unsafe { node.waiter.on_given_up(&clean_up) };
            if self.take_or_queue(node) {
                return Ok(());
            }
            let waited = node.waiter.wait();
            if waited.is_err() && self.unqueue(node) {
                return waited;
            }
            node.waiter.wait_to_be_told();
            let _quiet = NoYield::enter();
            drop(registered);
            if node.note() == HAS_IT || self.take(WOKEN) {
                return match waited {
                    // It is cancelled, and has it: the next one gets it.
                    Err(GaveUp::Cancelled) => {
                        self.unlock();
                        waited
                    }
                    Err(GaveUp::TimedOut) | Ok(()) => Ok(()),
                };
            }
            if waited.is_err() {
                self.pass_on();
                return waited;
            }
            node.waiter.reset();
            node.set_note(WANTS_IT);
        }
    }

    /// In the place of a waiter that is given up: it does not queue, is not on its way, and does not have what it was handed.
    #[cold]
    fn leave(&self, node: &Node<W>) {
        if self.unqueue(node) || !self.list.with(|list| list.has_claimed(node)) {
            return;
        }
        if node.note() == HAS_IT { self.unlock() } else { self.pass_on() }
    }

    /// Takes the lock if it has become free, else queues; `true`: it has it.
    fn take_or_queue(&self, node: &Node<W>) -> bool {
        let late = node.note() == WANTS_IT;
        let clear = if late { WOKEN } else { 0 };
        self.list.with(|list| {
            let mut word = self.word.load(Ordering::Relaxed);
            loop {
                let wanted = (word & !clear) | if word & LOCKED == 0 { LOCKED } else { QUEUED };
                match self.word.compare_exchange_weak(word, wanted, Ordering::Acquire, Ordering::Relaxed) {
                    Ok(before) if before & LOCKED == 0 => return true,
                    Ok(_) => break,
                    Err(other) => word = other,
                }
            }
            // SAFETY: the node stays in place until `lock_slowly` has taken it off or has been told.
            unsafe { if late { list.push_front(node) } else { list.push_back(node) } };
            false
        })
    }

    /// Takes the node of a waiter that gives up off the list; `false`: it has been claimed.
    fn unqueue(&self, node: &Node<W>) -> bool {
        self.list.with(|list| {
            let removed = list.remove(node);
            self.note_if_empty(list);
            removed
        })
    }

    fn note_if_empty(&self, list: &List<W>) {
        if list.is_empty() {
            self.word.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }

    #[cold]
    fn unlock_slowly(&self) {
        let _quiet = NoYield::enter();
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 || word & WOKEN != 0 {
            let wanted = word & !LOCKED;
            match self.word.compare_exchange_weak(word, wanted, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => word = other,
            }
        }
        let mut claimed = Claimed::none();
        self.list.with(|list| self.wake_first(list, &mut claimed));
        claimed.tell();
    }

    /// By who has it, under the list's lock: frees it and wakes the first waiter, or gives it to that.
    fn wake_first(&self, list: &mut List<W>, claimed: &mut Claimed<W>) {
        debug_assert_eq!(self.word.load(Ordering::Relaxed) & (LOCKED | WOKEN), LOCKED);
        let left = match list.first().map(|node| node.note() == WANTS_IT) {
            // All have given up.
            None => 0,
            Some(true) => {
                list.claim_first(Some(HAS_IT), claimed);
                LOCKED
            }
            Some(false) => {
                list.claim_first(Some(MAY_TRY), claimed);
                WOKEN
            }
        };
        let queued = if list.is_empty() { 0 } else { QUEUED };
        self.word.store(left | queued, Ordering::Release);
    }

    /// The woken waiter gives up, and the mutex was taken when it tried: if that is free by now, nobody else would wake the next.
    #[cold]
    fn pass_on(&self) {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.list.with(|list| {
            let mut word = self.word.load(Ordering::Relaxed);
            loop {
                // Somebody has it, and is going to see that nobody is on the way; or there is nobody to wake.
                if word & LOCKED != 0 || list.is_empty() {
                    let wanted = word & !WOKEN;
                    match self.word.compare_exchange(word, wanted, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => return,
                        Err(other) => word = other,
                    }
                } else if self.take(WOKEN) {
                    return self.wake_first(list, &mut claimed);
                } else {
                    word = self.word.load(Ordering::Relaxed);
                }
            }
        });
        claimed.tell();
    }
}
