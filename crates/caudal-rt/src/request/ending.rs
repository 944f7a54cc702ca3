//! Ends of requests: the thread that ends one drops its closure or hands its result over, corrects the counts, and tells the waiters.
//!
//! Called by workers, cancellers, the dispatcher and shutdowns. A runtime is an [`Owner`] to this file.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::failure::Ending;
use super::{Finished, Outcome, Reference, Request, StateSnapshot, Unended, payload_at, payload_of};
use crate::base::primitives::thread;
use crate::base::quiet::is_on_coroutine;
use crate::base::say::say;

/// A runtime, as far as the end of one of its requests needs it.
pub(crate) trait Owner {
    /// Wakes the coroutine of a request, which waits for the one that ends.
    fn wake(&self, coroutine: Request);
    /// Has the helper tell a thread or a future; it has [`Reference::Teller`] from here on.
    fn tell(&self, request: Request);
    /// Tells a thread or a future on the calling thread, and drops [`Reference::Teller`].
    fn tell_directly(&self, request: Request);
    /// Counts a request that ended otherwise than by returning.
    fn count(&self, outcome: Outcome);
    /// A request has left `worker` without having started there.
    fn left(&self, worker: u16);
}

/// Ends a waiting request, or asks a started one to end. `true`: it waited.
pub(crate) fn cancel(cell: Request, owner: &impl Owner) -> bool {
    if !cell.state.cancel() {
        return false;
    }
    if end_unstarted(cell, Outcome::Cancelled, owner) {
        return true;
    }
    owner.wake(cell);
    false
}

/// Ends a request that waits, with `outcome`: drops its closure, corrects the counts, tells the waiter. `false`: it does not wait
/// any more. The queue that holds the cell keeps its reference.
///
/// The waiter is told when what the closure has captured is gone. A coroutine that ends a request tells first instead: it may be given
/// up in a destructor, and never come to the next line.
#[cold]
pub(crate) fn end_unstarted(cell: Request, outcome: Outcome, owner: &impl Owner) -> bool {
    end_unstarted_if(cell, outcome, owner, |_| true)
}

/// As [`end_unstarted`], if the request is `wanted` by its state.
#[cold]
pub(crate) fn end_unstarted_if(
    cell: Request,
    outcome: Outcome,
    owner: &impl Owner,
    wanted: impl Fn(StateSnapshot) -> bool,
) -> bool {
    let Some(unended) = cell.state.end_waiting_if(outcome, wanted) else { return false };
    owner.count(outcome);
    owner.left(unended.worker());
    if is_on_coroutine() {
        tell_of_unstarted(cell, unended, owner);
        drop_unstarted(cell, outcome);
    } else {
        drop_unstarted(cell, outcome);
        tell_of_unstarted(cell, unended, owner);
    }
    // SAFETY: from `end_waiting_if`, which has made this call the request's ender.
    unsafe { cell.drop_ref(Reference::Ender) };
    true
}

/// Drops the closure of a request that never ran.
fn drop_unstarted(cell: Request, outcome: Outcome) {
    let drop_job = || {
        while_dropping(outcome, || {
            // SAFETY: the request has not started and never will, and the thread that ended it drops its closure.
            unsafe { (cell.vtable.get().drop_job)(cell) };
        });
    };
    // A destructor that panics must take neither a thread of the runtime along, nor what is left to do afterwards.
    let _ = catch_unwind(AssertUnwindSafe(drop_job));
}

/// Tells whoever waits for the end of a request that never ran.
fn tell_of_unstarted(cell: Request, unended: Unended, owner: &impl Owner) {
    let before = cell.state.end(unended);
    wake_joined(cell, before, owner);
    if before.is_to_be_told() {
        owner.tell(cell);
    }
}

/// Ends a request that was given up: tells whoever waits for it.
///
/// Not through the helper's list: the request may be on its worker's list of woken ones, and its cell has one link.
#[cold]
pub(crate) fn end_given_up(cell: Request, unended: Unended, owner: &impl Owner) {
    let before = cell.state.end(unended);
    wake_joined(cell, before, owner);
    if before.is_to_be_told() {
        owner.tell_directly(cell);
    }
}

/// Wakes the coroutine that waits for the end of the request, which had the word `before` when it ended.
fn wake_joined(cell: Request, before: StateSnapshot, owner: &impl Owner) {
    if before.is_joined()
        && let Some(waiter) = cell.waiter()
    {
        owner.wake(waiter);
    }
}

/// The started request, whose result is in its cell, has ended with `outcome`: its result goes to its waiter, or is dropped.
#[inline(always)]
pub(crate) fn hand_over(cell: Request, outcome: Outcome, owner: &impl Owner) {
    // SAFETY: the caller is the worker that has run the request.
    let finished = unsafe { cell.state.finish(outcome) };
    see_to(cell, finished, owner);
}

/// Does all that is left to do for a started request that has ended.
#[inline(always)]
pub(crate) fn see_to(cell: Request, finished: Finished, owner: &impl Owner) {
    match finished {
        Finished::Done => {}
        // The handle was dropped in the last moment, after the coroutine has checked whether anybody wants the result.
        Finished::Forgotten => drop_off_worker(cell),
        Finished::Tell => owner.tell(cell),
        Finished::Joined { tell } => {
            if let Some(waiter) = cell.waiter() {
                owner.wake(waiter);
            }
            if tell {
                owner.tell(cell);
            }
            // SAFETY: `Finished::Joined` has left it to the caller.
            unsafe { cell.drop_ref(Reference::Runtime) };
        }
    }
}

/// Drops the result of a request that has ended with `state`.
pub(crate) fn drop_left(cell: Request, state: StateSnapshot) {
    // SAFETY: the request has ended, and the caller alone takes what it left.
    unsafe {
        match state.outcome() {
            Some(Outcome::Returned) => (cell.vtable.get().drop_result)(cell),
            Some(Outcome::Panicked) => drop(payload_of(cell)),
            _ => {}
        }
    }
}

/// [`drop_left`], and the handle's reference to the cell, also when a destructor panics.
#[inline]
pub(crate) fn drop_left_and_let_go(cell: Request, state: StateSnapshot) {
    struct LetGo(Request);
    impl Drop for LetGo {
        fn drop(&mut self) {
            // SAFETY: the reference of the handle that is being dropped.
            unsafe { self.0.drop_ref(Reference::Handle) };
        }
    }
    let _let_go = LetGo(cell);
    drop_left(cell, state);
}

/// Drops the result of a request that ended when its handle was just gone, and the runtime's reference to it. The caller is a
/// worker that schedules: a destructor that waits there would find no coroutine to park, and stop the worker, perhaps for the
/// very request that it waits for. So a thread runs what may wait.
#[inline]
pub(crate) fn drop_off_worker(cell: Request) {
    let state = cell.state.load();
    let may_wait = match state.outcome() {
        Some(Outcome::Returned) => cell.vtable.get().has_destructor,
        // SAFETY: the request has panicked, and only the caller takes the payload.
        Some(Outcome::Panicked) => !is_plain(unsafe { payload_at(cell) }),
        _ => false,
    };
    let left = Left(cell, state);
    if may_wait {
        drop_on_a_thread(left);
    }
}

/// Is it a payload of `panic!`?
fn is_plain(payload: &(dyn Any + Send)) -> bool {
    payload.is::<&str>() || payload.is::<String>()
}

/// Rare: the handle has to go within some nanoseconds of the end, or what a handler panics with to be no text.
#[cold]
fn drop_on_a_thread(left: Left) {
    // Without a thread the closure is dropped, here.
    if let Err(error) = thread::Builder::new().name("caudal-drop".to_owned()).spawn(move || drop(left)) {
        say!("no thread for the destructor of a result that nobody waited for: {error}");
    }
}

/// Result that nobody wants, by its cell and the state in which it ended, with the runtime's reference.
struct Left(Request, StateSnapshot);

impl Drop for Left {
    fn drop(&mut self) {
        let left = || drop_left(self.0, self.1);
        // A destructor that panics has nobody to tell, and must not take a worker along.
        let _ = catch_unwind(AssertUnwindSafe(left));
        // SAFETY: `Finished::Forgotten` has left it to whoever drops the result.
        unsafe { self.0.drop_ref(Reference::Runtime) };
    }
}

thread_local! {
    static DROPPING: Cell<Option<Ending>> = const { Cell::new(None) };
}

/// Reason, for the `Drop` of something that a closure owns, why the closure, which the runtime is dropping on this thread, is never going to run.
/// Says so once per closure; none where the runtime drops none, as when a submission is refused.
pub fn why_dropped() -> Option<Ending> {
    DROPPING.take()
}

/// Runs `drop_closure` of a request that has ended as `outcome` without having started.
fn while_dropping(outcome: Outcome, drop_closure: impl FnOnce()) {
    DROPPING.set(Some(outcome.into()));
    drop_closure();
    DROPPING.set(None);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::request::class::{ClassId, ClassNames};
    use crate::request::new::new_request;
    use crate::request::put_payload;
    use crate::request::{Place, Wanted};

    /// Says on which thread it is dropped.
    struct Says(Sender<Option<String>>);

    impl Drop for Says {
        fn drop(&mut self) {
            let _ = self.0.send(std::thread::current().name().map(str::to_owned));
        }
    }

    /// A request that ends by `end` when its handle is gone.
    fn forgotten<T: Send + 'static>(
        job: impl FnOnce() -> T + Send + 'static,
        end: impl FnOnce(Request) -> Outcome,
    ) -> Request {
        let cell = new_request(ClassId::first(&ClassNames::default()), 0, job, Wanted::ByNobody);
        assert!(cell.state.start(Place::new(0, 1)));
        // SAFETY: nobody else has the request.
        assert!(matches!(unsafe { cell.state.finish(end(cell)) }, Finished::Forgotten));
        cell
    }

    fn run(cell: Request) -> Outcome {
        // SAFETY: the request has started, and nobody else runs it.
        unsafe { (cell.vtable.get().run)(cell) };
        Outcome::Returned
    }

    #[test]
    fn a_destructor_that_may_wait_runs_off_the_worker() {
        let (told, hears) = channel();
        let (result, payload) = (Says(told.clone()), Says(told));
        drop_off_worker(forgotten(move || result, run));
        assert_eq!(hears.recv().unwrap().as_deref(), Some("caudal-drop"));
        let panicked = |cell| {
            // SAFETY: the closure has no destructor, so the storage is as good as empty.
            unsafe { put_payload(cell, Box::new(payload)) };
            Outcome::Panicked
        };
        drop_off_worker(forgotten(|| (), panicked));
        assert_eq!(hears.recv().unwrap().as_deref(), Some("caudal-drop"));
        assert!(hears.recv().is_err(), "each is dropped once");
    }

    /// Else each request that panics with nobody waiting would start a thread.
    #[test]
    fn what_a_panic_says_is_dropped_at_once() {
        assert!(is_plain(&"text") && is_plain(&"text".to_owned()));
        assert!(!is_plain(&7_u32));
        let cell = forgotten(|| [0_u64; 64], run);
        assert!(!cell.vtable.get().has_destructor);
        drop_off_worker(cell);
    }
}
