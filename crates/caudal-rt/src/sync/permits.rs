//! A number of permits and their waiters, of which semaphores, reader-writer locks and the room of channels are made. Requests and threads
//! take permits, and wait for them in the order in which they came.
//!
//! # The word
//!
//! ```text
//!  63                               2      1        0
//! +----------------------------------+--------+--------+
//! |        permits that are free     | CLOSED | QUEUED |
//! +----------------------------------+--------+--------+
//! ```
//!
//! # Protocol
//!
//! First come, first served: while anybody waits (`QUEUED`), nobody takes permits past the queue, and permits that come back are
//! handed to the first waiters whose wishes they fulfil. Nobody waits: taking and giving back is one compare-and-swap.
//!
//! *Why no wake-up is lost*: `QUEUED` is set by a compare-and-swap that finds too few permits, with the list's lock held until the
//! node is there. From then on a thread that gives back permits finds `QUEUED`, and waits for that lock before it reads the list. While
//! `QUEUED` is set only the thread that holds the lock changes the number. A waiter that gives up may have been the one that held up
//! others, so it checks whom the free permits satisfy now.
//!
//! **Orderings.** Taking is Acquire and giving back Release; what is handed over is ordered by telling.

use super::list::{Claimed, GaveUp, List, Node, Spin, Waiter};
use crate::base::primitives::{AtomicU64, Ordering};
use crate::base::quiet::NoYield;
use crate::request::CleanUp;

const QUEUED: u64 = 1;
const CLOSED: u64 = 2;
const SHIFT: u32 = 2;

/// Most permits.
pub(crate) const PERMITS_MAX: u64 = u32::MAX as u64 >> 1;

/// Added to the note of a node that was told because of [`Permits::close`]; else the note is the number wanted.
const REFUSED: u32 = 1 << 31;

/// Reason why a caller has no permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPermits {
    /// There are not enough now, or others wait for them.
    TooFew,
    /// There are never going to be any.
    Closed,
    /// The waiter gave up.
    GaveUp(GaveUp),
}

/// See the [module](self).
pub(crate) struct Permits<W> {
    word: AtomicU64,
    list: Spin<List<W>>,
}

impl<W: Waiter> Permits<W> {
    super::const_fn! {
        pub(crate) fn new(count: u64) -> Self {
            Permits { word: AtomicU64::new(count << SHIFT), list: Spin::new(List::new()) }
        }
    }

    /// Permits that are free.
    pub(crate) fn available(&self) -> u64 {
        self.word.load(Ordering::Relaxed) >> SHIFT
    }

    /// Takes `count`, if that many are free and nobody waits.
    #[inline]
    pub(crate) fn try_take(&self, count: u32) -> Result<(), NoPermits> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Err(NoPermits::Closed);
            }
            if word & QUEUED != 0 || word >> SHIFT < u64::from(count) {
                return Err(NoPermits::TooFew);
            }
            let wanted = word - (u64::from(count) << SHIFT);
            match self.word.compare_exchange_weak(word, wanted, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(other) => word = other,
            }
        }
    }

    /// Takes `count`, after a wait by `waiter` if it must be.
    #[inline]
    pub(crate) fn take(&self, count: u32, waiter: impl FnOnce() -> W) -> Result<(), NoPermits> {
        match self.try_take(count) {
            Err(NoPermits::TooFew) => self.take_slowly(&Node::new(waiter(), count)),
            other => other,
        }
    }

    /// As [`Permits::take`], with a node that stays for ever, and says how many: its waiter may be given up.
    #[cfg(all(test, loom))]
    pub(crate) fn take_by(&self, node: &'static Node<W>) -> Result<(), NoPermits> {
        self.take_slowly(node)
    }

    /// Gives `count` back, or adds so many.
    #[inline]
    pub(crate) fn give(&self, count: u32) {
        let added = u64::from(count) << SHIFT;
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 {
            match self.word.compare_exchange_weak(word, word + added, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => word = other,
            }
        }
        self.give_to_waiters(added);
    }

    /// Nobody gets permits any more; all waiters are told.
    pub(crate) fn close(&self) {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.list.with(|list| {
            self.word.fetch_or(CLOSED, Ordering::Release);
            list.claim_all(Some(REFUSED), &mut claimed);
            self.word.fetch_and(!QUEUED, Ordering::Relaxed);
        });
        claimed.tell();
    }

    /// Has it been closed?
    pub(crate) fn is_closed(&self) -> bool {
        self.word.load(Ordering::Acquire) & CLOSED != 0
    }

    #[cold]
    fn take_slowly(&self, node: &Node<W>) -> Result<(), NoPermits> {
        let count = node.note();
        let leave = || {
            let has_them = || self.list.with(|list| list.has_claimed(node)) && node.note() != REFUSED;
            if !self.unqueue(node) && has_them() {
                self.give(count);
            }
        };
        let clean_up = CleanUp::by(&leave);
        // SAFETY: the guard is dropped before this function returns, also when it unwinds; waits nest.
        let registered = unsafe { node.waiter.on_given_up(&clean_up) };
        if let Some(answer) = self.take_or_queue(node, count) {
            return answer;
        }
        let waited = node.waiter.wait();
        if waited.is_err() && self.unqueue(node) {
            return waited.map_err(NoPermits::GaveUp);
        }
        node.waiter.wait_to_be_told();
        let _quiet = NoYield::enter();
        drop(registered);
        match waited {
            _ if node.note() == REFUSED => Err(NoPermits::Closed),
            Err(GaveUp::Cancelled) => {
                self.give(count);
                waited.map_err(NoPermits::GaveUp)
            }
            Err(GaveUp::TimedOut) | Ok(()) => Ok(()),
        }
    }

    /// Answer that can be given at once; `None`: the node is queued.
    fn take_or_queue(&self, node: &Node<W>, count: u32) -> Option<Result<(), NoPermits>> {
        self.list.with(|list| {
            let mut word = self.word.load(Ordering::Relaxed);
            loop {
                if word & CLOSED != 0 {
                    return Some(Err(NoPermits::Closed));
                }
                let free = word & QUEUED == 0 && word >> SHIFT >= u64::from(count);
                let wanted = if free { word - (u64::from(count) << SHIFT) } else { word | QUEUED };
                match self.word.compare_exchange_weak(word, wanted, Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) if free => return Some(Ok(())),
                    Ok(_) => break,
                    Err(other) => word = other,
                }
            }
            // SAFETY: the node stays in place until `take_slowly` has taken it off or has been told.
            unsafe { list.push_back(node) };
            None
        })
    }

    /// Takes the node of a waiter that gives up off the list; `false`: it has been claimed.
    fn unqueue(&self, node: &Node<W>) -> bool {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        let removed = self.list.with(|list| {
            let removed = list.remove(node);
            self.hand_out(list, &mut claimed);
            removed
        });
        claimed.tell();
        removed
    }

    #[cold]
    fn give_to_waiters(&self, added: u64) {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.list.with(|list| {
            self.word.fetch_add(added, Ordering::Release);
            self.hand_out(list, &mut claimed);
        });
        claimed.tell();
    }

    /// Hands free permits to the first waiters, in their order, under the list's lock.
    fn hand_out(&self, list: &mut List<W>, claimed: &mut Claimed<W>) {
        while let Some(first) = list.first() {
            let count = u64::from(first.note());
            // Acquire: what was done under the permits until they came back is over for the one that gets them.
            if self.word.load(Ordering::Acquire) >> SHIFT < count {
                return;
            }
            self.word.fetch_sub(count << SHIFT, Ordering::Acquire);
            list.claim_first(None, claimed);
        }
        self.word.fetch_and(!QUEUED, Ordering::Relaxed);
    }
}
