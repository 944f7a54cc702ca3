//! For layers that put another language on top: handlers whose frames can not be unwound.
//!
//! A Rust handler that waits and has been cancelled is unwound. A C handler must not be: what waits here answers that it was
//! cancelled instead. All functions may be called on any thread; what they say of other threads than a request's is said there.

use std::time::Duration;

use crate::base::clock::now;
use crate::base::fork;
use crate::base::pause;
use crate::kernel::context::{current, until};
use crate::request::coroutine;
use crate::sync::{Mutex, MutexGuard};
use crate::task::handle::Handle;

pub use crate::base::pause::pause;
pub use crate::request::ending::why_dropped;
pub use crate::task::handle::{Heed, Waited};

/// The request in which the caller runs has been cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Does the caller run in a request?
pub fn is_in_request() -> bool {
    current().is_some()
}

/// Has the request in which the caller runs been cancelled? `false` outside of requests.
pub fn is_cancelled() -> bool {
    current().is_some_and(|me| me.is_cancelled())
}

/// Lets other requests of this worker run; on another thread, other threads.
///
/// # Errors
/// [`Cancelled`], before or after the others have run.
///
/// # Panics
/// In a critical section, and while a panic unwinds.
pub fn yield_now() -> Result<(), Cancelled> {
    let Some(me) = current() else {
        std::thread::yield_now();
        return Ok(());
    };
    if !me.is_cancelled() {
        me.yield_now();
    }
    unless_cancelled()
}

/// Waits for `span`; a request parks, its worker runs others.
///
/// # Errors
/// [`Cancelled`], as soon as that happens.
///
/// # Panics
/// In a critical section, and while a panic unwinds.
pub fn sleep(span: Duration) -> Result<(), Cancelled> {
    let Some(me) = current() else {
        pause::pause(span);
        return Ok(());
    };
    let due = until(me.shared(), span);
    loop {
        unless_cancelled()?;
        match current() {
            Some(me) if now() < due => me.park_until(due, "sleeping"),
            _ => return Ok(()),
        }
    }
}

fn unless_cancelled() -> Result<(), Cancelled> {
    if is_cancelled() { Err(Cancelled) } else { Ok(()) }
}

/// Ends the request in which the caller runs as a cancelled one, by unwinding: where no other language's frame is left.
///
/// # Panics
/// Always, with what the runtime takes for a cancellation; the panic hook is not called.
pub fn end_as_cancelled() -> ! {
    std::panic::resume_unwind(Box::new(coroutine::CancelPayload))
}

/// The word that the running request's coroutine keeps for the layer above; null outside of requests, and where nobody has set
/// it since the coroutine was made.
pub fn slot() -> *mut () {
    current().map_or(std::ptr::null_mut(), |me| me.slot().get())
}

/// Sets that word, and gives back what it was; does nothing outside of requests. A caller that sets it for a request puts the old one back
/// at that request's end: the coroutine runs others afterwards.
pub fn set_slot(word: *mut ()) -> *mut () {
    current().map_or(std::ptr::null_mut(), |me| me.slot().replace(word))
}

/// How many forks lie between this process and the one in which the first runtime started.
pub fn forks() -> u64 {
    fork::count()
}

impl<T> Handle<T> {
    /// Waits for the end, for `longest` at most, and never unwinds. The handle stays. Of several requests that
    /// wait for the same one, the first is woken, and the others check every 20 µs.
    ///
    /// # Panics
    /// In a request: in a critical section, and while a panic unwinds.
    pub fn wait_at_most(&self, longest: Option<Duration>, heed: Heed) -> Waited {
        self.wait_for(longest, heed)
    }
}

/// Takes the mutex; `heed` says whether a request that is cancelled meanwhile goes on waiting. Never unwinds.
///
/// # Errors
/// [`Cancelled`]: the caller does not have it.
///
/// # Panics
/// If it has to wait: in a critical section, and while a panic unwinds.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>, heed: Heed) -> Result<MutexGuard<'_, T>, Cancelled> {
    match heed {
        Heed::Cancellation => mutex.lock_or_cancelled("locking a mutex").map_err(|_| Cancelled),
        Heed::Nothing => Ok(mutex.lock_anyway("locking a mutex")),
    }
}

/// A guard for a mutex that the caller has taken and whose guard it has forgotten.
///
/// # Safety
/// The caller has it, on this request or thread.
pub unsafe fn adopt<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.adopt()
}
