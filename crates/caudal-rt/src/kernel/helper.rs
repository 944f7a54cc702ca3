//! The helper: a thread off the request path that wakes outside waiters, and checks whether workers are stuck.
//! The start of a runtime makes it, and workers and handles call it from their threads; it touches a request only after that has ended.
//!
//! A worker never makes a system call to wake anybody: that takes 10 to 22 µs. It pushes the finished request to
//! [`Helper::to_tell`], and the helper, which polls that stack every 50 µs while anybody waits, makes the call. A thread that is about to
//! wait says so first ([`Helper::expect`]): it pays for waking the helper, if that sleeps.
//!
//! *Why nobody waits in vain.* `expected` counts the threads that have said so and have not been told. A thread adds itself before it sets
//! the flag by which the request's end knows of the waiter, so before the request can be pushed here; and the helper sleeps without a
//! limit only while `expected` is 0.
//!
//! *Threads that wait in [`crate::sync`]* do not know which runtime's worker is going to wake them, and may wait before there is any
//! runtime. So [`Asleep`] counts them for the whole process, and rings every helper there is when the first one goes to
//! sleep. A helper is registered before it reads that number first, and a thread adds itself before it reads the list of
//! helpers; so one of them sees the other. A worker gives the thread's parker to its own runtime's helper.
//!
//! *After the helper's end* (`ended`) workers that a shutdown had to leave in a handler may still have somebody to tell. A worker
//! reads `ended` after its push, and the helper takes from the stacks after it has set `ended`; on both sides a full fence is between, so
//! one of them sees what the other did. If the worker does, it makes the call itself: no request waits for that worker any more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use crate::base::futex;
use crate::base::primitives::{AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering, fence, shared_static};
use crate::base::quiet::NoYield;
use crate::kernel::Sleeper;
use crate::queue::ring::stack::TakeAllStack;
use crate::request::{Header, Reference, Request};

/// How often the helper checks for waiters to be told, while anybody waits.
const POLL_EVERY: Duration = Duration::from_micros(50);
/// How often it checks the workers.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(5);

/// State that the helper and the others share.
#[derive(Debug, Default)]
pub(crate) struct Helper {
    /// Requests that have ended and whose waiters have to be told; each with the reference [`Reference::Teller`].
    to_tell: TakeAllStack<Header>,
    /// Waiters that have not been told.
    expected: AtomicU64,
    /// Futex: counts reasons to wake the helper.
    bell: AtomicU32,
    stop: AtomicBool,
    /// Threads that workers have to wake; each node is told by the helper.
    to_wake: TakeAllStack<Sleeper>,
    ended: AtomicBool,
}

shared_static! {
    /// Threads of the process that sleep in [`crate::sync`].
    static ASLEEP: AtomicU64 = AtomicU64::new(0);
}
shared_static! {
    /// The helpers of this process's runtimes. Workers never come here.
    static HELPERS: Mutex<Vec<Weak<Helper>>> = Mutex::new(Vec::new());
}

/// The calling thread, which is no worker's, goes to sleep, and counts as asleep while this lives.
pub(crate) struct Asleep(());

impl Asleep {
    pub(crate) fn begin() -> Asleep {
        if ASLEEP.fetch_add(1, Ordering::SeqCst) == 0 {
            let helpers = HELPERS.lock().unwrap_or_else(PoisonError::into_inner);
            helpers.iter().filter_map(Weak::upgrade).for_each(|helper| helper.ring());
        }
        Asleep(())
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        ASLEEP.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Makes `helper`, whose thread is about to begin, known to threads that go to sleep.
pub(crate) fn register(helper: &Arc<Helper>) {
    let mut helpers = HELPERS.lock().unwrap_or_else(PoisonError::into_inner);
    helpers.retain(|other| other.strong_count() > 0);
    helpers.push(Arc::downgrade(helper));
}

impl Helper {
    /// Somebody is about to wait to be told.
    pub(crate) fn expect(&self) {
        if self.expected.fetch_add(1, Ordering::SeqCst) == 0 {
            self.ring();
        }
    }

    /// Takes [`Helper::expect`] back: the request had ended.
    pub(crate) fn forget_one(&self) {
        self.expected.fetch_sub(1, Ordering::SeqCst);
    }

    #[cfg(all(test, loom))]
    pub(crate) fn expected(&self) -> u64 {
        self.expected.load(Ordering::SeqCst)
    }

    /// Hands over a request that has ended.
    ///
    /// # Safety
    /// The caller has [`Reference::Teller`], which is the helper's from here on, and the request is on no list.
    #[inline]
    pub(crate) unsafe fn tell(&self, cell: Request) {
        // SAFETY: cells stay where they are, and the request is on no other list.
        unsafe { self.to_tell.push(cell.address()) };
        self.tell_if_ended();
    }

    /// Hands over a thread that a worker wakes.
    ///
    /// # Safety
    /// As [`Sleeper::wake`].
    pub(crate) unsafe fn wake_thread(&self, sleeper: NonNull<Sleeper>) {
        // SAFETY: it stays until it is told, which the helper does last.
        unsafe { self.to_wake.push(sleeper) };
        self.tell_if_ended();
    }

    #[inline]
    fn tell_if_ended(&self) {
        fence(Ordering::SeqCst);
        if self.ended.load(Ordering::Relaxed) {
            self.tell_all();
        }
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

    /// The thread: until [`Helper::stop`]. `watch` checks the workers, and answers whether it wants to be called again.
    pub(crate) fn run(&self, mut watch: impl FnMut() -> bool) {
        let (mut since_watch, mut awake, mut rung) = (WATCH_EVERY, true, true);
        loop {
            let bell = self.bell.load(Ordering::SeqCst);
            self.tell_all();
            let stop = self.stop.load(Ordering::SeqCst);
            if stop {
                self.ended.store(true, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                return self.tell_all();
            }
            let waited_for = self.expected.load(Ordering::SeqCst) != 0 || ASLEEP.load(Ordering::SeqCst) != 0;
            if since_watch >= WATCH_EVERY {
                since_watch = Duration::ZERO;
                awake = watch() | std::mem::take(&mut rung);
            }
            // Where everybody sleeps nobody is going to have to be told, until somebody rings, or a timer is due.
            let nap = match (awake, waited_for) {
                (true, true) => Some(POLL_EVERY),
                (true, false) | (false, true) => Some(WATCH_EVERY),
                (false, false) => None,
            };
            futex::wait(&self.bell, bell, nap);
            since_watch += nap.unwrap_or(WATCH_EVERY);
            if self.bell.load(Ordering::SeqCst) != bell {
                (awake, rung) = (true, true);
            }
        }
    }

    /// Work has come to a runtime that slept: its workers have to be checked again.
    pub(crate) fn wake_up(&self) {
        self.ring();
    }

    fn tell_all(&self) {
        for sleeper in self.to_wake.take_all() {
            // SAFETY: a worker has claimed it and handed it over.
            unsafe { Sleeper::wake(sleeper) };
        }
        for cell in self.to_tell.take_all() {
            // SAFETY: addresses of cells are pushed there, each with the reference.
            unsafe { self.tell_directly(Request::of(cell)) };
        }
    }

    /// Tells those that wait for a request that has ended, on the calling thread. That makes system calls, and calls the wakers of futures.
    ///
    /// # Safety
    /// The caller has [`Reference::Teller`], which this drops.
    pub(crate) unsafe fn tell_directly(&self, cell: Request) {
        // A coroutine that gave its worker back here might never come to the next line.
        let _quiet = NoYield::enter();
        // Somebody else's code: a panic of its own, which the hook reports, must not end the thread that tells all others.
        let _ = catch_unwind(AssertUnwindSafe(|| cell.waker.wake()));
        cell.told.store(1, Ordering::Release);
        futex::wake(&cell.told, i32::MAX);
        self.forget_one();
        // SAFETY: as the caller promises.
        unsafe { cell.drop_ref(Reference::Teller) };
    }
}
