//! Clean-up for a request that is given up while it waits: it leaves the queues in which it is, or passes on what it was given.
//!
//! Waits of [`crate::sync`] set a will up before they park, and drop it afterwards. Whoever gives the request up executes it.

use std::ptr;

/// Clean-up that is done in the place of a waiter that is given up. It stays in place while a [`Will`] refers to it.
pub(crate) struct Leave<'a> {
    leave: &'a dyn Fn(),
    /// Clean-up of the wait in which this one is.
    outer: std::cell::Cell<*const Leave<'static>>,
}

impl<'a> Leave<'a> {
    pub(crate) fn by(leave: &'a dyn Fn()) -> Leave<'a> {
        Leave { leave, outer: std::cell::Cell::new(ptr::null()) }
    }
}

/// The chain of `leave`s of a request, or of what stands for one in a model; the innermost first.
pub(crate) trait Estate {
    fn innermost(&self) -> *const Leave<'static>;
    fn set_innermost(&self, leave: *const Leave<'static>);

    /// Does all that is to be done.
    ///
    /// # Safety
    /// The owner has been given up, so its stack stays as it is for ever, and nobody else executes its wills.
    unsafe fn execute(&self) {
        let mut at = self.innermost();
        self.set_innermost(ptr::null());
        // SAFETY: on the owner's stack, which is leaked as it is: the owner revokes a will before what that refers to goes.
        while let Some(leave) = unsafe { at.as_ref() } {
            at = leave.outer.get();
            (leave.leave)();
        }
    }
}

/// While this lives, a waiter that is given up does what its [`Leave`] says.
#[must_use = "it holds while it lives"]
pub(crate) struct Will<'a> {
    estate: Option<&'a dyn Estate>,
    leave: &'a Leave<'a>,
}

impl<'a> Will<'a> {
    /// In `estate`; none: of who is never given up.
    pub(crate) fn new(estate: Option<&'a dyn Estate>, leave: &'a Leave<'a>) -> Will<'a> {
        if let Some(estate) = estate {
            leave.outer.set(estate.innermost());
            // Only the lifetime changes: it is revoked before that is over.
            estate.set_innermost(ptr::from_ref(leave).cast());
        }
        Will { estate, leave }
    }
}

impl Drop for Will<'_> {
    fn drop(&mut self) {
        if let Some(estate) = self.estate {
            estate.set_innermost(self.leave.outer.get());
        }
    }
}
