//! Clean-up for a request that is given up while it waits: in its place it leaves the queues in which it is, or passes on what it was
//! given.
//!
//! Waits of [`crate::sync`] register a clean-up before they park, and drop its guard afterwards. Whoever gives the request up runs it.

use std::ptr;

/// Clean-up that is done in the place of a waiter that is given up. It stays in place while a [`CleanUpGuard`] refers to it.
pub(crate) struct CleanUp<'a> {
    run: &'a dyn Fn(),
    /// Clean-up of the wait in which this one is.
    outer: std::cell::Cell<*const CleanUp<'static>>,
}

impl<'a> CleanUp<'a> {
    pub(crate) fn by(run: &'a dyn Fn()) -> CleanUp<'a> {
        CleanUp { run, outer: std::cell::Cell::new(ptr::null()) }
    }
}

/// The chain of the clean-ups of a request, or of what stands for one in a model; the innermost first.
pub(crate) trait CleanUpChain {
    fn innermost(&self) -> *const CleanUp<'static>;
    /// Makes `clean_up` the first of the chain; null: the chain is empty.
    ///
    /// # Safety
    /// The chain that begins with `clean_up` stays in place for as long as it is this owner's.
    unsafe fn set_innermost(&self, clean_up: *const CleanUp<'static>);

    /// Runs all clean-ups of the chain, the innermost first, and empties it.
    ///
    /// # Safety
    /// The owner has been given up, so its stack stays as it is for ever, and nobody else runs its clean-ups.
    unsafe fn run_all(&self) {
        let mut at = self.innermost();
        // SAFETY: an empty chain has nothing that could go.
        unsafe { self.set_innermost(ptr::null()) };
        // SAFETY: on the owner's stack, which is leaked as it is: the owner takes a clean-up off the chain before what that refers to goes.
        while let Some(clean_up) = unsafe { at.as_ref() } {
            at = clean_up.outer.get();
            (clean_up.run)();
        }
    }
}

/// A clean-up's place in the chain of its waiter. While this lives, the clean-up is run if the waiter is given up.
#[must_use = "it holds while it lives"]
pub(crate) struct CleanUpGuard<'a> {
    chain: Option<&'a dyn CleanUpChain>,
    clean_up: &'a CleanUp<'a>,
}

impl<'a> CleanUpGuard<'a> {
    /// Puts `clean_up` first in `chain`; without a chain, for a waiter that is never given up, it does nothing.
    ///
    /// # Safety
    /// The guard is dropped before `clean_up` goes (it is not forgotten), and before any guard that was made earlier for the same chain.
    pub(crate) unsafe fn new(
        chain: Option<&'a dyn CleanUpChain>,
        clean_up: &'a CleanUp<'a>,
    ) -> CleanUpGuard<'a> {
        if let Some(chain) = chain {
            clean_up.outer.set(chain.innermost());
            // SAFETY: only the lifetime changes: the guard, which the caller drops, takes it off the chain before that is over.
            unsafe { chain.set_innermost(ptr::from_ref(clean_up).cast()) };
        }
        CleanUpGuard { chain, clean_up }
    }
}

impl Drop for CleanUpGuard<'_> {
    fn drop(&mut self) {
        if let Some(chain) = self.chain {
            // SAFETY: what was first before; its own guard is dropped later.
            unsafe { chain.set_innermost(self.clean_up.outer.get()) };
        }
    }
}
