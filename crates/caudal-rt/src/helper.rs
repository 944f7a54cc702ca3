//! The helper: a thread off the request path that wakes outside waiters, and looks whether workers are stuck.
//!
//! A worker never makes a system call to wake anybody: that takes 10 to 22 µs. It pushes the finished request to
//! [`Helper::to_tell`], and the helper, which looks there every 50 µs while anybody waits, makes the call. Who is about to
//! wait says so first ([`Helper::expect`]): it pays for waking the helper, if that sleeps.
//!
//! Why nobody waits in vain: `expected` counts who has said so and has not been told. It is added to before the flag
//! [`TELL`](crate::cell::TELL) is set, so before the request can be pushed here; the helper sleeps without a limit only
//! while it is 0.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::cell::{Header, Request, TELLER};
use crate::ring::stack::TakeAllStack;
use crate::sleep::futex;

/// How often the helper looks for who is to be told while anybody waits.
const LOOK_EVERY: Duration = Duration::from_micros(50);
/// How often it looks at workers.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(5);

/// What the helper and the others share.
#[derive(Debug, Default)]
pub(crate) struct Helper {
    /// Requests that have ended and whose waiters have to be told; each with the reference `TELLER`.
    to_tell: TakeAllStack<Header>,
    /// Waiters that have not been told.
    expected: AtomicU64,
    /// Futex: counts reasons to look.
    bell: AtomicU32,
    stop: AtomicBool,
}

impl Helper {
    /// Somebody is about to wait to be told.
    pub(crate) fn expect(&self) {
        if self.expected.fetch_add(1, Ordering::SeqCst) == 0 {
            self.ring();
        }
    }

    /// It was in vain: the request had ended.
    pub(crate) fn forget_one(&self) {
        self.expected.fetch_sub(1, Ordering::SeqCst);
    }

    /// Hands over a request that has ended, with its reference `TELLER`.
    #[inline]
    pub(crate) fn tell(&self, cell: Request) {
        // SAFETY: cells stay where they are, and who ends a request pushes it once.
        unsafe { self.to_tell.push(cell.address()) };
    }

    fn ring(&self) {
        self.bell.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.bell, 1);
    }

    /// Ends the thread, after it has told everybody.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// The thread: until [`Helper::stop`]. `watch` looks at the workers; it answers whether it wants to go on looking.
    pub(crate) fn run(&self, mut watch: impl FnMut() -> bool) {
        let mut since_watch = WATCH_EVERY;
        loop {
            let bell = self.bell.load(Ordering::SeqCst);
            self.tell_all();
            let stop = self.stop.load(Ordering::SeqCst);
            if stop {
                return self.tell_all();
            }
            let waited_for = self.expected.load(Ordering::SeqCst) != 0;
            if since_watch >= WATCH_EVERY {
                since_watch = Duration::ZERO;
                if !watch() && !waited_for {
                    futex::wait(&self.bell, bell, None);
                    continue;
                }
            }
            let nap = if waited_for { LOOK_EVERY } else { WATCH_EVERY };
            futex::wait(&self.bell, bell, Some(nap));
            since_watch += nap;
        }
    }

    /// Work has come to a runtime that slept: look at its workers again.
    pub(crate) fn wake_up(&self) {
        self.ring();
    }

    fn tell_all(&self) {
        for cell in self.to_tell.take_all().map(Request::new) {
            // SAFETY: this thread has the reference `TELLER`.
            let header = cell;
            header.waker.wake();
            header.told.store(1, Ordering::Release);
            futex::wake(&header.told, i32::MAX);
            self.forget_one();
            Header::drop_ref(cell, TELLER);
        }
    }
}
