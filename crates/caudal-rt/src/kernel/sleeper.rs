//! A thread that waits to be told, by one word: the half of [`Parker`](crate::sync) that the helper knows. The word lies on the stack of
//! the waiting thread; whoever wakes it, or the helper in its place, must not touch it after having told it.
//!
//! ```text
//!            who waits                       who wakes
//!  POLLS ───────────────▶ ASLEEP       POLLS ──────────▶ TOLD     nobody sleeps: that is all
//!    │  a thread, after 20 µs            ASLEEP ─────────▶ TOLD     then the call that wakes the thread
//! ```
//!
//! *Why it may vanish after `TOLD`*: the waiter leaves when it reads `TOLD`, and whoever stores that stores it last. The call to wake
//! a thread comes after it and uses the word's address as a number alone; if another futex lives there by then, that
//! returns once for no reason, as futexes may.

use std::ptr::NonNull;
use std::time::Duration;

use crate::base::futex;
use crate::base::primitives::{AtomicU32, Ordering};
use crate::queue::ring::stack::{Link, Node};

const POLLS: u32 = 0;
const ASLEEP: u32 = 1;
const TOLD: u32 = 2;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Sleeper {
    word: AtomicU32,
    /// For the helper's stack.
    link: Link<Sleeper>,
}

// SAFETY: the link is a field.
unsafe impl Node for Sleeper {
    fn link(&self) -> &Link<Sleeper> {
        &self.link
    }
}

impl Sleeper {
    /// One that polls, and has not been told.
    pub(crate) fn new() -> Sleeper {
        Sleeper { word: AtomicU32::new(POLLS), link: Link::new() }
    }

    pub(crate) fn is_told(&self) -> bool {
        self.word.load(Ordering::Acquire) == TOLD
    }

    /// It has been told, and is going to wait once more.
    pub(crate) fn reset(&self) {
        self.word.store(POLLS, Ordering::Relaxed);
    }

    /// Tells it, where no thread sleeps by it. From now on it may be gone.
    pub(crate) fn tell(&self) {
        self.word.store(TOLD, Ordering::Release);
    }

    /// From now on whoever tells it has to make a system call. `false`: it has been told.
    #[must_use = "who has been told does not sleep"]
    pub(crate) fn fall_asleep(&self) -> bool {
        self.word.compare_exchange(POLLS, ASLEEP, Ordering::Acquire, Ordering::Acquire) != Err(TOLD)
    }

    /// Sleeps until it is told, at most for `longest`; may return for no reason.
    pub(crate) fn sleep(&self, longest: Option<Duration>) {
        futex::wait(&self.word, ASLEEP, longest);
    }

    /// Tells it if its thread has not fallen asleep; `false`: it has, and a system call is needed.
    ///
    /// # Safety
    /// It is valid until it is told, and this is the caller's last access if the answer is `true`.
    #[must_use = "a thread that sleeps has to be woken"]
    pub(crate) unsafe fn tell_if_awake(this: NonNull<Sleeper>) -> bool {
        // SAFETY: as the caller promises.
        let word = unsafe { &this.as_ref().word };
        word.compare_exchange(POLLS, TOLD, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Tells it, and wakes its thread by a system call.
    ///
    /// # Safety
    /// It is valid until it is told, and this is the caller's last access to it.
    pub(crate) unsafe fn wake(this: NonNull<Sleeper>) {
        // SAFETY: it is valid until the store.
        let word = unsafe { &raw const (*this.as_ptr()).word };
        // SAFETY: as above.
        unsafe { (*word).store(TOLD, Ordering::Release) };
        futex::wake_at(word, 1);
    }
}
