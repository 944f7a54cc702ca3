//! Parkers: a waiter in this crate is a coroutine, which is parked, or any other thread, which sleeps on a futex. Locks, channels and
//! scopes make one for each wait, on the waiter's own stack.
//!
//! The word by which a waiter is told is a [`Sleeper`].
//!
//! * A *coroutine* never sleeps by it. It is told by the word, then [`Shared::wake`], whose token makes its park return. The parker holds
//!   a reference to its runtime, which the waker takes over before it tells: so it wakes through the right runtime,
//!   also from another one or none, and after that one has gone.
//! * A *thread* polls the word for some 20 µs, then sleeps. Whoever tells it while it polls has nothing more to do. To wake it from
//!   sleep takes a call of 10 to 22 µs: an ordinary thread makes it; a worker gives the parker to its runtime's helper instead, which
//!   tells the waiter within some 50 µs ([`Helper::wake_thread`]).

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::list::{GaveUp, Waiter};
use crate::base::clock::now;
use crate::kernel::Sleeper;
use crate::kernel::context::{Current, current, of_worker, until};
use crate::kernel::helper::{Asleep, Helper};
use crate::kernel::shared::Shared;
use crate::request::{CleanUp, CleanUpChain, CleanUpGuard, Request};

/// How often a thread polls its word before it goes to sleep: some 20 µs.
const POLLS_MAX: u32 = if cfg!(loom) { 1 } else { 2_000 };

/// See the [module](self).
pub(crate) struct Parker {
    sleeper: Sleeper,
    who: Who,
    what: &'static str,
    patience: Patience,
    here: PhantomData<*const ()>,
}

enum Who {
    Coroutine { cell: Request, shared: Arc<Shared> },
    Thread,
}

/// Limit of a wait.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    /// Until it is told, or its request cancelled.
    Cancellable,
    /// Until it is told, or its request cancelled, or so much time has passed.
    For(Duration),
    /// Until it is told: it can not leave before.
    Endless,
}

// SAFETY: others touch of a parker its word and its link, which are atomic, and `who`, which never changes.
unsafe impl Send for Parker {}
// SAFETY: as above.
unsafe impl Sync for Parker {}

impl std::fmt::Debug for Parker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parker").field("sleeper", &self.sleeper).finish_non_exhaustive()
    }
}

impl Parker {
    /// A parker for the caller, which is about to wait in `what`.
    ///
    /// # Panics
    /// Where a coroutine may not park: in a critical section, and while a panic unwinds; and on a worker that schedules.
    #[cold]
    pub(crate) fn here(what: &'static str, patience: Patience) -> Parker {
        let who = match current() {
            Some(me) => {
                Current::must_be_free(what);
                Who::Coroutine { cell: me.cell, shared: me.share() }
            }
            None => {
                // The worker would wait for something that only it can do.
                assert!(
                    of_worker().is_none(),
                    "{what} on a worker outside of a request, in the destructor of what a request captured that never started: let \
                     such a destructor neither wait nor take long"
                );
                Who::Thread
            }
        };
        Parker { sleeper: Sleeper::new(), who, what, patience, here: PhantomData }
    }

    fn is_told(&self) -> bool {
        self.sleeper.is_told()
    }

    fn wait_with(&self, patience: Patience) -> Result<(), GaveUp> {
        match &self.who {
            Who::Coroutine { cell, shared } => self.park(*cell, shared, patience),
            Who::Thread => self.sleep(patience),
        }
    }

    fn park(&self, cell: Request, shared: &Shared, patience: Patience) -> Result<(), GaveUp> {
        let due = match patience {
            Patience::For(span) => until(shared, span),
            Patience::Cancellable | Patience::Endless => u64::MAX,
        };
        loop {
            if self.is_told() {
                return Ok(());
            }
            // Asked anew each time: a migratable coroutine may go on elsewhere.
            let Some(me) = current() else { unreachable!("a coroutine waits on its worker") };
            debug_assert_eq!(me.cell, cell);
            if !matches!(patience, Patience::Endless) && me.is_cancelled() {
                return Err(GaveUp::Cancelled);
            }
            match due {
                u64::MAX => me.park(self.what),
                _ if now() >= due => return Err(GaveUp::TimedOut),
                _ => me.park_until(due, self.what),
            }
        }
    }

    fn sleep(&self, patience: Patience) -> Result<(), GaveUp> {
        let until = match patience {
            Patience::For(span) => Instant::now().checked_add(span),
            Patience::Cancellable | Patience::Endless => None,
        };
        for _ in 0..POLLS_MAX {
            if self.is_told() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        if !self.sleeper.fall_asleep() {
            return Ok(());
        }
        let _asleep = Asleep::begin();
        while !self.is_told() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(GaveUp::TimedOut);
            }
            self.sleeper.sleep(left);
        }
        Ok(())
    }

    /// Tells the thread that waits on this parker; a worker lets its `helper` do it where that takes a system call.
    ///
    /// # Safety
    /// The parker is a thread's, and this is the caller's last access to it.
    pub(crate) unsafe fn tell_thread(this: NonNull<Parker>, helper: Option<&Helper>) {
        // SAFETY: it is valid until it is told.
        let sleeper = NonNull::from(unsafe { &this.as_ref().sleeper });
        // SAFETY: as the caller says.
        if unsafe { Sleeper::tell_if_awake(sleeper) } {
            return;
        }
        match helper {
            // SAFETY: as the caller says.
            Some(helper) => unsafe { helper.wake_thread(sleeper) },
            // SAFETY: as the caller says.
            None => unsafe { Sleeper::wake(sleeper) },
        }
    }
}

impl Waiter for Parker {
    unsafe fn on_given_up<'a>(&'a self, clean_up: &'a CleanUp<'a>) -> CleanUpGuard<'a> {
        let chain: Option<&dyn CleanUpChain> = match &self.who {
            Who::Coroutine { cell, .. } => Some(&**cell),
            Who::Thread => None,
        };
        // SAFETY: as the caller promises.
        unsafe { CleanUpGuard::new(chain, clean_up) }
    }

    fn wait(&self) -> Result<(), GaveUp> {
        self.wait_with(self.patience)
    }

    fn wait_to_be_told(&self) {
        if !self.is_told() {
            let _ = self.wait_with(Patience::Endless);
        }
    }

    fn reset(&self) {
        self.sleeper.reset();
    }

    unsafe fn tell(this: NonNull<Parker>) {
        // SAFETY: the caller has claimed it: it is valid until it is told, which comes last on each path.
        let parker = unsafe { this.as_ref() };
        if let Who::Coroutine { cell, shared } = &parker.who {
            let (cell, shared) = (*cell, Arc::clone(shared));
            parker.sleeper.tell();
            return shared.wake(cell);
        }
        // SAFETY: as above, and it is a thread's.
        unsafe { Parker::tell_thread(this, of_worker().map(|(shared, _)| &*shared.helper)) }
    }
}
