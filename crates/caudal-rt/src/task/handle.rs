//! Handles: the answer to a submission, by which the program waits for a request and takes its result. Any thread or request may have one.
//! It holds a reference to the request's cell and, once the request has ended, alone reads what that left.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use crate::base::clock::now;
use crate::base::futex;
use crate::base::primitives::Ordering;
use crate::base::quiet::NoYield;
use crate::kernel::context::{Current, current, until};
use crate::kernel::shared::Shared;
use crate::request::Request;
use crate::request::ending::{cancel, drop_left_and_let_go};
use crate::request::failure::{Ending, Failure, message};
use crate::request::new::ended_request;
use crate::request::{Join, Outcome, Reference, payload_at, payload_of, result_of};

/// Does who waits in a request that has been cancelled go on waiting?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heed {
    /// It stops waiting.
    Cancellation,
    /// It goes on: what it waits for uses memory of the caller's, say.
    Nothing,
}

/// Why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The request has ended.
    Ended,
    /// The time is over.
    TimedOut,
    /// The request in which the caller waits has been cancelled.
    Cancelled,
    /// This process was forked from the one in which the request goes on: nobody ends it here.
    Forked,
}

/// How often a thread polls for the end before it goes to sleep: some 20 µs.
const POLLS: u32 = if cfg!(loom) { 1 } else { 2_000 };
/// Name of a coroutine's wait in here, for messages.
const WAITING_FOR: &str = "waiting for a request";
/// How often a coroutine checks for the end of another runtime's request.
const CHECK_EVERY: Duration = Duration::from_micros(20);

/// A request that was submitted. Dropping the handle lets the request run, and its result go.
#[must_use = "without the handle nobody hears how the request ended; drop it on purpose to let it run"]
pub struct Handle<T> {
    cell: Request,
    shared: Arc<Shared>,
    result: PhantomData<T>,
}

// SAFETY: the handle is a reference to a cell that any thread may read, and gives out its `T` once.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: a shared handle gives out nothing of its `T`.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// The handle of a request of `shared`.
    ///
    /// # Safety
    /// The caller has [`Reference::Handle`], which is the handle's from here on, and the request's closure returns a `T`.
    pub(crate) unsafe fn new(cell: Request, shared: Arc<Shared>) -> Handle<T> {
        Handle { cell, shared, result: PhantomData }
    }

    /// Waits for the end. On a coroutine it parks that, and the worker runs others; on any other thread it spins for some
    /// 20 µs, then sleeps.
    ///
    /// # Errors
    /// [`Failure`] says why there is no result.
    pub fn wait(self) -> Result<T, Failure> {
        loop {
            match self.wait_for(None, Heed::Cancellation) {
                Waited::Ended => return self.into_result(),
                Waited::Forked => return Err(Failure::Forked),
                Waited::TimedOut | Waited::Cancelled => {}
            }
            if let Some(me) = current() {
                me.end_if_cancelled();
            }
        }
    }

    /// How the request ended, without its result, which stays; none while it has not.
    pub fn ending(&self) -> Option<Ending> {
        let state = self.cell.state.load();
        state.outcome().filter(|_| state.is_done()).map(Ending::from)
    }

    /// Text with which the handler panicked, if it was text.
    pub fn panic_message(&self) -> Option<&str> {
        let panicked = self.ending() == Some(Ending::Panicked);
        // SAFETY: the request has panicked, and only this handle's owner, of whom it is borrowed here, takes the payload.
        panicked.then(|| message(unsafe { payload_at(self.cell) }))
    }

    /// Has the request ended?
    pub fn is_done(&self) -> bool {
        self.cell.state.load().is_done()
    }

    #[cfg(all(test, loom))]
    pub(crate) fn state(&self) -> crate::request::StateSnapshot {
        self.cell.state.load()
    }

    /// How it has ended, or is about to once its closure is dropped.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.cell.state.load().outcome()
    }

    /// Asks for the request's end. One that waits ends at once, and `true` is the answer. One that has started ends when it
    /// next calls something of this crate that waits ([`check_cancelled`](crate::check_cancelled), a lock, a channel, a sleep).
    pub fn cancel(&self) -> bool {
        // A destructor in the request's closure may be what frees a handle that C holds: nothing of `self` is used afterwards.
        let (cell, shared) = (self.cell, Arc::clone(&self.shared));
        // SAFETY: the handle has its reference, or the closure that is dropped here is kept by the reference of whoever ends the request.
        unsafe { cancel(cell, &*shared) }
    }

    /// Waits for the end, for `longest` at most, without unwinding: for callers whose frames can not be unwound.
    pub(crate) fn wait_for(&self, longest: Option<Duration>, heed: Heed) -> Waited {
        if self.is_done() {
            return Waited::Ended;
        }
        if self.shared.is_forked() {
            return Waited::Forked;
        }
        match current() {
            Some(_) => self.join(longest.map(|span| until(&self.shared, span)), heed),
            None => self.sleep(longest.and_then(|span| Instant::now().checked_add(span))),
        }
    }

    /// On a coroutine, until the counter shows `due`.
    fn join(&self, due: Option<u64>, heed: Heed) -> Waited {
        let waited = self.join_until(due, heed);
        if let Some(me) = current() {
            self.cell.unjoin(me.cell);
        }
        waited
    }

    fn join_until(&self, due: Option<u64>, heed: Heed) -> Waited {
        while !self.is_done() {
            let Some(me) = current() else { return Waited::Ended };
            if heed == Heed::Cancellation && me.is_cancelled() && !std::thread::panicking() {
                return Waited::Cancelled;
            }
            if due.is_some_and(|due| now() >= due) {
                return Waited::TimedOut;
            }
            if !std::ptr::eq(me.shared(), &raw const *self.shared) {
                // Another runtime's coroutine: that one's workers can not be told from here.
                self.park_until_check(&me, due);
                continue;
            }
            Current::must_be_free(WAITING_FOR);
            match self.cell.join(me.cell) {
                Join::Ended => {}
                Join::Taken => self.park_until_check(&me, due),
                Join::Waits => match due {
                    Some(due) => me.park_until(due, WAITING_FOR),
                    None => me.park(WAITING_FOR),
                },
            }
        }
        Waited::Ended
    }

    /// Parks a coroutine that nobody is going to wake (it is another runtime's, or one of several that wait for the same request) until its
    /// next check for the end.
    #[cold]
    fn park_until_check(&self, me: &Current<'_>, due: Option<u64>) {
        let check = until(me.shared(), CHECK_EVERY);
        me.park_until(due.map_or(check, |due| due.min(check)), WAITING_FOR);
    }

    /// On another thread, until `due`.
    fn sleep(&self, due: Option<Instant>) -> Waited {
        for _ in 0..POLLS {
            if self.is_done() {
                return Waited::Ended;
            }
            std::hint::spin_loop();
        }
        self.ask_to_be_told();
        let cell = self.cell;
        while !self.is_done() {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Waited::TimedOut;
            }
            futex::wait(&cell.told, 0, left);
            // The system call orders nothing. Whoever tells has seen the end, and releases that with this word.
            let _ = cell.told.load(Ordering::Acquire);
        }
        Waited::Ended
    }

    /// From now on the helper tells when the request ends, unless it has ended.
    fn ask_to_be_told(&self) {
        let (cell, helper) = (self.cell, &self.shared.helper);
        if cell.state.load().is_to_be_told() {
            return;
        }
        helper.expect();
        if !cell.state.ask_to_be_told() {
            helper.forget_one();
        }
    }

    fn into_result(self) -> Result<T, Failure> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, so the runtime's part is taken out of it once.
        let shared = unsafe { std::ptr::read(&raw const this.shared) };
        let state = this.cell.state.load();
        debug_assert!(state.is_done());
        let result = match state.outcome() {
            // SAFETY: the request has ended, and this handle is the only one to take what it left.
            Some(Outcome::Returned) => Ok(unsafe { result_of::<T>(this.cell) }),
            // SAFETY: as above.
            Some(Outcome::Panicked) => Err(Failure::Panicked(unsafe { payload_of(this.cell) })),
            Some(Outcome::Cancelled) => Err(Failure::Cancelled),
            Some(Outcome::Expired) => Err(Failure::Expired),
            Some(Outcome::Abandoned) => Err(Failure::Abandoned),
            Some(Outcome::Stopped) | None => Err(Failure::Stopped),
        };
        // SAFETY: the handle's own, which is never dropped otherwise.
        unsafe { this.cell.drop_ref(Reference::Handle) };
        drop(shared);
        result
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let before = self.cell.state.stop_telling();
        let told = before.is_to_be_told();
        if told {
            // Nobody is to be woken any more, and the task may hold much.
            drop(self.cell.waker.take());
        }
        if !before.is_done() {
            if told {
                self.shared.helper.forget_one();
            }
            return self.leave();
        }
        // SAFETY: the request had ended by then, and this is its handle, which is being dropped.
        unsafe { drop_left_and_let_go(self.cell, before) };
    }
}

impl<T> Handle<T> {
    /// Lets go of a request that had not ended a moment ago: whoever comes second of this and its end drops what it left.
    fn leave(&mut self) {
        // SAFETY: this is the handle, which is being dropped.
        if unsafe { self.cell.state.drop_handle_unless_done() } {
            return;
        }
        // Read anew, with acquire ordering: the word that said no was not, and what the request left is about to be read.
        // SAFETY: the request has ended, and this is its handle, which is being dropped.
        unsafe { drop_left_and_let_go(self.cell, self.cell.state.load()) };
    }
}

/// For tokio and others: a handle is a future of the result. Waking goes through the runtime's helper, so that no worker makes
/// a system call; it takes some 50 µs.
impl<T: Send> Future for Handle<T> {
    type Output = Result<T, Failure>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let cell = self.cell;
        if !self.is_done() && self.shared.is_forked() {
            return Poll::Ready(Err(Failure::Forked));
        }
        if !self.is_done() {
            let _quiet = NoYield::enter();
            cell.waker.register(task.waker());
            self.ask_to_be_told();
        }
        if !self.is_done() {
            return Poll::Pending;
        }
        // An earlier poll's, if the end came before the helper's word.
        drop(cell.waker.take());
        let this = self.get_mut();
        let taken = Handle::<T> { cell: this.cell, shared: Arc::clone(&this.shared), result: PhantomData };
        this.cell = ended_request();
        Poll::Ready(taken.into_result())
    }
}

impl<T> Unpin for Handle<T> {}
