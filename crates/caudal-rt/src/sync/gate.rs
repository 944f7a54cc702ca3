//! A gate that opens once: those that wait at it go on, and those that come later do not wait. Called by scopes and oneshot channels.
//!
//! `open` is set, and waiters are queued, under the list's lock; so either a waiter sees that the gate is open, or the thread that
//! opens the gate sees the waiter. Opening is Release and passing Acquire: what came before the one is over for the other.

use super::list::{Claimed, GaveUp, List, Node, Spin, Waiter};
use crate::base::primitives::{AtomicBool, Ordering};
use crate::base::quiet::NoYield;
use crate::request::CleanUp;

/// See the [module](self).
pub(crate) struct Gate<W> {
    open: AtomicBool,
    list: Spin<List<W>>,
}

impl<W: Waiter> Gate<W> {
    super::const_fn! {
        pub(crate) fn new() -> Self {
            Gate { open: AtomicBool::new(false), list: Spin::new(List::new()) }
        }
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Opens it, and tells all who wait.
    pub(crate) fn open(&self) {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.list.with(|list| {
            self.open.store(true, Ordering::Release);
            list.claim_all(None, &mut claimed);
        });
        claimed.tell();
    }

    /// Waits until it is open.
    #[inline]
    pub(crate) fn pass(&self, waiter: impl FnOnce() -> W) -> Result<(), GaveUp> {
        if self.is_open() { Ok(()) } else { self.pass_slowly(&Node::new(waiter(), 0)) }
    }

    #[cold]
    fn pass_slowly(&self, node: &Node<W>) -> Result<(), GaveUp> {
        let leave = || _ = self.list.with(|list| list.remove(node));
        let clean_up = CleanUp::by(&leave);
        // SAFETY: the guard is dropped before this function returns, also when it unwinds; waits nest.
        let _registered = unsafe { node.waiter.on_given_up(&clean_up) };
        let queued = self.list.with(|list| {
            let closed = !self.open.load(Ordering::Acquire);
            if closed {
                // SAFETY: the node stays in place until it has been taken off below, or told.
                unsafe { list.push_back(node) };
            }
            closed
        });
        if !queued {
            return Ok(());
        }
        let waited = node.waiter.wait();
        if waited.is_err() && self.list.with(|list| list.remove(node)) {
            return waited;
        }
        node.waiter.wait_to_be_told();
        match waited {
            Err(GaveUp::Cancelled) => waited,
            Err(GaveUp::TimedOut) | Ok(()) => Ok(()),
        }
    }
}
