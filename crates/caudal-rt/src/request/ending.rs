//! Ends of requests: the thread that ends one drops its closure or hands its result over, corrects the counts, and tells the waiters.
//!
//! Called by workers, cancellers, the dispatcher and shutdowns. A runtime is an [`Owner`] to this file.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::failure::Ending;
use super::state::Finished;
use super::{CleanUpChain, Outcome, Reference, Request, StateSnapshot, payload_at, payload_of};
use crate::base::primitives::thread;
use crate::base::quiet::is_on_coroutine;
use crate::base::say::say;

/// A runtime, as far as the end of one of its requests needs it.
pub(crate) trait Owner {
    /// Wakes the coroutine of a request, which waits for the one that ends.
    fn wake(&self, coroutine: Request);
    /// Has the helper tell a thread or a future.
    ///
    /// # Safety
    /// The request is on no list, and the caller has [`Reference::Teller`], which is the helper's from here on.
    unsafe fn tell(&self, request: Request);
    /// Tells a thread or a future on the calling thread.
    ///
    /// # Safety
    /// The caller has [`Reference::Teller`], which this drops.
    unsafe fn tell_directly(&self, request: Request);
    /// Counts a started request that is given up.
    fn given_up(&self, request: Request);
    /// Counts a request that ended otherwise than by returning.
    fn count(&self, outcome: Outcome);
    /// A request has left `worker` without having started there.
    fn left(&self, worker: u16);
}

/// Closure of a request that never runs. The bearer alone drops it, once.
struct Closure(Request, Outcome);

/// Duty to end a request that waited: it is in phase `Ending`, and nobody hears of its end before [`Unended::tell`].
#[must_use = "nobody hears of the request's end otherwise"]
struct Unended(Request);

/// Duty to end a request that was given up: it is in phase `Ending`, and nobody hears of its end before [`GivenUp::tell`].
#[must_use = "nobody hears of the request's end otherwise"]
struct GivenUp(Request);

/// Ends a waiting request, or asks a started one to end. `true`: it waited.
///
/// # Safety
/// The caller has a reference to the request.
pub(crate) unsafe fn cancel(cell: Request, owner: &impl Owner) -> bool {
    if !cell.state.cancel() {
        return false;
    }
    // SAFETY: as the caller promises.
    if unsafe { end_unstarted(cell, Outcome::Cancelled, owner) } {
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
///
/// # Safety
/// The caller has a reference to the request.
#[cold]
pub(crate) unsafe fn end_unstarted(cell: Request, outcome: Outcome, owner: &impl Owner) -> bool {
    // SAFETY: as the caller promises.
    unsafe { end_unstarted_if(cell, outcome, owner, |_| true) }
}

/// As [`end_unstarted`], if the request is `wanted` by its state.
///
/// # Safety
/// The caller has a reference to the request, or `wanted` takes only requests that are at a worker.
#[cold]
pub(crate) unsafe fn end_unstarted_if(
    cell: Request,
    outcome: Outcome,
    owner: &impl Owner,
    wanted: impl Fn(StateSnapshot) -> bool,
) -> bool {
    // SAFETY: as the caller promises.
    let Some(before) = (unsafe { cell.state.end_waiting_if(outcome, wanted) }) else { return false };
    let (unended, closure) = (Unended(cell), Closure(cell, outcome));
    owner.count(outcome);
    owner.left(before.worker());
    if is_on_coroutine() {
        unended.tell(owner);
        closure.drop();
    } else {
        closure.drop();
        unended.tell(owner);
    }
    // SAFETY: from `end_waiting_if`, which has made this call the request's ender.
    unsafe { cell.drop_ref(Reference::Ender) };
    true
}

impl Closure {
    fn drop(self) {
        let Closure(cell, outcome) = self;
        let drop_job = || {
            while_dropping(outcome, || {
                // SAFETY: the request has not started and never will, and only the bearer of `Closure` drops its closure.
                unsafe { (cell.vtable.get().drop_job)(cell) };
            });
        };
        // A destructor that panics must take neither a thread of the runtime along, nor what is left to do afterwards.
        let _ = catch_unwind(AssertUnwindSafe(drop_job));
    }
}

impl Unended {
    /// Ends the request, and tells whoever waits for that.
    fn tell(self, owner: &impl Owner) {
        let Unended(cell) = self;
        // SAFETY: the bearer of `Unended` has moved the phase to ending, and ends it once.
        let before = unsafe { cell.state.end() };
        wake_joined(cell, before, owner);
        if before.is_to_be_told() {
            // SAFETY: `end` has left the reference; a request that never ran was not parked, so it is on no list.
            unsafe { owner.tell(cell) };
        }
    }
}

impl GivenUp {
    /// Ends the request, and tells whoever waits for that.
    ///
    /// Not through the helper's list: the request may be on its worker's list of woken ones, and its cell has one link.
    fn tell(self, owner: &impl Owner) {
        let GivenUp(cell) = self;
        // SAFETY: the bearer of `GivenUp` has moved the phase to ending, and ends it once.
        let before = unsafe { cell.state.end() };
        wake_joined(cell, before, owner);
        if before.is_to_be_told() {
            // SAFETY: `end` has left the reference.
            unsafe { owner.tell_directly(cell) };
        }
    }
}

/// Gives up a started request, if it is `wanted` by its state and nobody has done so: runs the clean-ups of what it waits in, and tells the
/// waiters. Its coroutine stays as it is for ever.
///
/// # Safety
/// The coroutine of a request that is `wanted` does not run, and nobody resumes it from now on.
#[cold]
pub(crate) unsafe fn give_up_if(cell: Request, owner: &impl Owner, wanted: impl Fn(StateSnapshot) -> bool) {
    // SAFETY: as the caller promises.
    if !unsafe { cell.state.give_up(wanted) } {
        return;
    }
    let given_up = GivenUp(cell);
    // Before anybody hears of the end: then the objects to which the clean-ups refer, a mutex in C, for example, may be freed.
    // SAFETY: this call has given the request up.
    unsafe { cell.run_all() };
    owner.given_up(cell);
    given_up.tell(owner);
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
///
/// # Safety
/// The caller is the worker that has run the request, with this outcome, and calls this once.
#[inline(always)]
pub(crate) unsafe fn hand_over(cell: Request, outcome: Outcome, owner: &impl Owner) {
    // SAFETY: as the caller promises.
    match unsafe { cell.state.finish(outcome) } {
        Finished::Done => {}
        // The handle was dropped in the last moment, after the coroutine has checked whether anybody wants the result.
        // SAFETY: `Finished::Forgotten` has left the result and the reference to the caller.
        Finished::Forgotten => unsafe { drop_off_worker(cell) },
        // SAFETY: `Finished::Tell` has left the reference to the caller; the request has run, so it is on no list.
        Finished::Tell => unsafe { owner.tell(cell) },
        Finished::Joined { tell } => {
            if let Some(waiter) = cell.waiter() {
                owner.wake(waiter);
            }
            if tell {
                // SAFETY: as for `Finished::Tell`.
                unsafe { owner.tell(cell) };
            }
            // SAFETY: `Finished::Joined` has left it to the caller.
            unsafe { cell.drop_ref(Reference::Runtime) };
        }
    }
}

/// Drops the result of a request that has ended with `state`.
///
/// # Safety
/// `state` is the word of the request after its end, and the caller alone takes what it left, once.
unsafe fn drop_left(cell: Request, state: StateSnapshot) {
    // SAFETY: as the caller promises.
    unsafe {
        match state.outcome() {
            Some(Outcome::Returned) => (cell.vtable.get().drop_result)(cell),
            Some(Outcome::Panicked) => drop(payload_of(cell)),
            _ => {}
        }
    }
}

/// Drops what the request left, and the handle's reference to the cell, also when a destructor panics.
///
/// # Safety
/// `state` is the word of the request after its end, and the caller has [`Reference::Handle`]. It does not touch the cell afterwards.
#[inline]
pub(crate) unsafe fn drop_left_and_let_go(cell: Request, state: StateSnapshot) {
    struct LetGo(Request);
    impl Drop for LetGo {
        fn drop(&mut self) {
            // SAFETY: as the caller promises.
            unsafe { self.0.drop_ref(Reference::Handle) };
        }
    }
    let _let_go = LetGo(cell);
    // SAFETY: the handle takes what the request left.
    unsafe { drop_left(cell, state) };
}

/// Drops the result of a request that ended when its handle was just gone, and the runtime's reference to it. The caller is a
/// worker that schedules: a destructor that waits there would find no coroutine to park, and stop the worker, perhaps for the
/// very request that it waits for. So a thread runs what may wait.
///
/// # Safety
/// The request has ended without a handle, and the caller has [`Reference::Runtime`]. It does not touch the cell afterwards.
#[inline]
unsafe fn drop_off_worker(cell: Request) {
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

/// Result that nobody wants, by its cell and the state in which it ended, with the runtime's reference. [`drop_off_worker`] alone makes one.
struct Left(Request, StateSnapshot);

impl Drop for Left {
    fn drop(&mut self) {
        // SAFETY: the request has ended, and whoever has this alone takes what it left.
        let left = || unsafe { drop_left(self.0, self.1) };
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
    use crate::request::{RequestPlace, Wanted};

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
        // SAFETY: nobody else has the request.
        unsafe {
            assert!(cell.state.start(RequestPlace::new(0, 1)));
            assert!(matches!(cell.state.finish(end(cell)), Finished::Forgotten));
        }
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
        // SAFETY: the request is forgotten, and nobody else has it.
        unsafe { drop_off_worker(forgotten(move || result, run)) };
        assert_eq!(hears.recv().unwrap().as_deref(), Some("caudal-drop"));
        let panicked = |cell| {
            // SAFETY: the closure has no destructor, so the storage is as good as empty.
            unsafe { put_payload(cell, Box::new(payload)) };
            Outcome::Panicked
        };
        // SAFETY: as above.
        unsafe { drop_off_worker(forgotten(|| (), panicked)) };
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
        // SAFETY: the request is forgotten, and nobody else has it.
        unsafe { drop_off_worker(cell) };
    }
}
