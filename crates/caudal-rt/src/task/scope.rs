//! Scopes: requests that borrow from their submitter. Called by handlers and by other threads.
//!
//! ```text
//!  frame of the parent            cell of a child
//!  +--------------------+        +-----------------------+
//!  | data 'env ◀────────┼────────┼── closure (boxed)     |
//!  | scope ─┐           |        |     job, packet, tick │
//!  +--------┼-----------+        +---------┬-------------+
//!           ▼                              ▼
//!     ScopeState: running, ended  ◀────────┘   (shared: nobody reaches the frame through it)
//! ```
//!
//! *Why no child outlives what it borrows.* [`ScopeState::running`] counts the scope's own body and every closure that was handed in.
//! A closure is counted until it is gone: run and its captures dropped, its result too unless its handle has it, or dropped
//! without having run (cancelled, expired, refused, stopped). The request's end does not do for that, since one that is given up
//! ends with its closure in place: the last field of the closure's box counts down ([`Tick`]), after the others were dropped.
//! The scope returns, or unwinds, only after the count was 0. Nothing can unwind out of that wait: a panic there aborts the
//! process.
//!
//! *A child that is given up* (at the bound of a shutdown, or because its stack overflowed) is never counted down: its frames
//! stay where they are for ever, and requests that it has submitted to the same scope may still run. So the scope does not return
//! either. A request that waits in it stays parked, and is given up in turn when its runtime ends, with its frame, which no
//! one leaves. Any other thread has nobody to give it up; it finds out and aborts the process, since it could only hang.
//!
//! *Cancellation.* A parent that is cancelled asks all its children to end, then waits for them as before, and unwinds last.

use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::base::say::say;
use crate::kernel::context::{Current, current, end_cancelled};
use crate::kernel::shared::Shared;
use crate::request::Outcome;
use crate::request::class::ClassId;
use crate::request::coroutine::CancelPayload;
use crate::request::failure::{Failure, SubmitError};
use crate::sync::{Gate, GaveUp, Mutex, Parker, Patience, gave_up};
use crate::task::handle::Handle;
use crate::task::submit::RequestBuilder;

/// How often a thread that waits for a scope checks whether a child was given up.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// State that a scope and its requests share.
struct ScopeState {
    /// The scope's body, and closures that are not gone.
    running: AtomicUsize,
    /// Open when nothing is counted any more.
    ended: Gate<Parker>,
    /// A request has not returned, and nobody has waited for it.
    failed: AtomicBool,
    children: Mutex<Children>,
}

/// Requests that may not have ended.
struct Children {
    handles: Vec<Arc<Handle<()>>>,
    /// With so many, those that have ended are thrown out.
    sweep_at: usize,
}

/// One count of [`ScopeState::running`].
struct Tick(Arc<ScopeState>);

impl Tick {
    fn of(state: &Arc<ScopeState>) -> Tick {
        state.running.fetch_add(1, Ordering::Relaxed);
        Tick(Arc::clone(state))
    }
}

impl Drop for Tick {
    fn drop(&mut self) {
        // AcqRel: what was done under each count is over for the one that finds the last one gone.
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.open();
        }
    }
}

/// Where the result of a scoped request goes.
enum Result_<T> {
    Pending,
    Ended(Result<T, Failure>),
    Taken,
}

struct Packet<T> {
    state: Arc<ScopeState>,
    /// Open when the result does not change any more.
    done: Gate<Parker>,
    result: UnsafeCell<Result_<T>>,
}

// SAFETY: the request writes the result before `done` is open, the handle takes it afterwards.
unsafe impl<T: Send> Sync for Packet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Packet<T> {}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        if !matches!(self.result.get_mut(), Result_::Taken | Result_::Ended(Ok(_))) {
            self.state.failed.store(true, Ordering::Relaxed);
        }
    }
}

/// Opens the packet when the closure is over, run or not.
struct Opener<T>(Arc<Packet<T>>);

impl<T> Drop for Opener<T> {
    fn drop(&mut self) {
        self.0.done.open();
    }
}

/// Contents of a scoped request's cell, in a box. Fields are dropped in this order.
struct ScopedJob<F, T> {
    job: Option<F>,
    packet: Opener<T>,
    /// Last: see the module's head.
    _tick: Tick,
}

impl<F: FnOnce() -> T, T> ScopedJob<F, T> {
    fn run(mut self) {
        let Some(job) = self.job.take() else { unreachable!("a request runs once") };
        let (result, unwinds) = match catch_unwind(AssertUnwindSafe(job)) {
            Ok(value) => (Ok(value), None),
            Err(payload) if payload.is::<CancelPayload>() => (Err(Failure::Cancelled), Some(payload)),
            Err(payload) => {
                let told: Box<dyn Any + Send> = Box::new("a scoped request panicked");
                (Err(Failure::Panicked(payload)), Some(told))
            }
        };
        // SAFETY: `done` is not open, so nobody else touches the result.
        unsafe { *self.packet.0.result.get() = Result_::Ended(result) };
        drop(self);
        // Nothing borrowed is left; the request's cell hears how it ended, for the counts.
        if let Some(payload) = unwinds {
            resume_unwind(payload);
        }
    }
}

/// Where requests can be submitted that borrow. See [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    state: Arc<ScopeState>,
    shared: Arc<Shared>,
    /// Invariant, as in the standard library: `'scope` is this scope's, neither longer nor shorter.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A request of a scope. Dropping it lets the request run; the scope waits for it.
#[must_use = "drop it on purpose to let the request run: the scope waits for it"]
pub struct ScopedHandle<'scope, T> {
    packet: Arc<Packet<T>>,
    request: Arc<Handle<()>>,
    scope: PhantomData<&'scope ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Submits a request that may borrow whatever lives as long as the scope. Its closure is boxed.
    ///
    /// # Errors
    /// [`SubmitError`]; the closure is dropped.
    pub fn spawn<F, T>(&'scope self, class: ClassId, job: F) -> Result<ScopedHandle<'scope, T>, SubmitError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let packet = Arc::new(Packet {
            state: Arc::clone(&self.state),
            done: Gate::new(),
            result: UnsafeCell::new(Result_::Pending),
        });
        let job =
            ScopedJob { job: Some(job), packet: Opener(Arc::clone(&packet)), _tick: Tick::of(&self.state) };
        let job: Box<dyn FnOnce() + Send + 'scope> = Box::new(move || job.run());
        // SAFETY: only the lifetime changes. The scope does not end before the box and what is in it are gone (module's head).
        let job: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(job) };
        match RequestBuilder::of(&self.shared, class).submit(job) {
            Ok(request) => {
                let request = Arc::new(request);
                self.state.remember(&request);
                Ok(ScopedHandle { packet, request, scope: PhantomData })
            }
            Err(why) => {
                // SAFETY: the closure is gone, so this is the only reference.
                unsafe { *packet.result.get() = Result_::Taken };
                Err(why)
            }
        }
    }
}

impl<T> ScopedHandle<'_, T> {
    /// Waits for the request's end, as [`Handle::wait`] does.
    ///
    /// # Errors
    /// [`Failure`] says why there is no result.
    ///
    /// # Panics
    /// Where a request must not wait: in a critical section, and while a panic unwinds.
    pub fn wait(self) -> Result<T, Failure> {
        let parker = || Parker::here("ScopedHandle::wait", Patience::Cancellable);
        if let Err(why) = self.packet.done.pass(parker) {
            unreachable!("{:?}", gave_up(why));
        }
        // SAFETY: `done` is open, and this handle is the only one that takes the result.
        match unsafe { std::mem::replace(&mut *self.packet.result.get(), Result_::Taken) } {
            Result_::Ended(result) => result,
            // It was dropped without having run.
            _ => Err(match self.request.outcome() {
                Some(Outcome::Cancelled) => Failure::Cancelled,
                Some(Outcome::Expired) => Failure::Expired,
                _ => Failure::Stopped,
            }),
        }
    }

    /// Has the request ended?
    pub fn is_done(&self) -> bool {
        self.packet.done.is_open()
    }

    /// Asks for the request's end, as [`Handle::cancel`] does.
    pub fn cancel(&self) -> bool {
        self.request.cancel()
    }
}

impl ScopeState {
    fn remember(&self, request: &Arc<Handle<()>>) {
        let mut children = self.children.lock_anyway("Scope::spawn");
        if children.handles.len() >= children.sweep_at {
            children.handles.retain(|request| !request.is_done());
            children.sweep_at = (2 * children.handles.len()).max(64);
        }
        children.handles.push(Arc::clone(request));
    }

    fn cancel_children(&self) {
        let children = std::mem::take(&mut self.children.lock_anyway("scope").handles);
        for request in &children {
            // A closure that is dropped here may panic in its captures' `Drop`: the others have to be asked all the same.
            let _ = catch_unwind(AssertUnwindSafe(|| request.cancel()));
        }
        // Those of others that this one was waiting for may submit more: they are asked when they wait themselves.
        self.children.lock_anyway("scope").handles.extend(children);
    }

    fn any_given_up(&self) -> bool {
        let children = self.children.lock_anyway("scope");
        children.handles.iter().any(|request| request.outcome() == Some(Outcome::Abandoned))
    }

    /// Waits until every closure is gone; was the waiting request cancelled?
    fn wait(&self) -> bool {
        let patience = match current() {
            Some(_) => Patience::Cancellable,
            None => Patience::For(CHECK_EVERY),
        };
        loop {
            match self.ended.pass(|| Parker::here("scope", patience)) {
                Ok(()) => return false,
                Err(GaveUp::Cancelled) => break,
                Err(GaveUp::TimedOut) if self.any_given_up() => {
                    say!(
                        "a request that borrows from this thread's frame was given up, so the frame can never be left"
                    );
                    std::process::abort();
                }
                Err(GaveUp::TimedOut) => {}
            }
        }
        self.cancel_children();
        let _ = self.ended.pass(|| Parker::here("scope", Patience::Endless));
        true
    }
}

/// Aborts the process if it is dropped by unwinding.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        say!("a panic while a scope waited for requests that borrow from its frame");
        std::process::abort();
    }
}

/// Runs `body`, in which requests can be submitted that borrow, to the runtime of the calling request. Returns when all of
/// them have ended; [`Runtime::scope`](crate::Runtime::scope) does the same from any thread.
///
/// If a request panics, or ends without having run, and nobody has waited for its handle, the scope panics at its end. If the
/// calling request is cancelled while it waits here, all requests of the scope are, and it unwinds when they have ended. The
/// bound of a shutdown gives up a request of the scope together with the one that waits for it.
///
/// Where [`Builder::stacks_max`](crate::Builder::stacks_max) limits stacks, requests that wait for their children keep theirs: leave room.
///
/// # Panics
/// As above, with whatever `body` panics; where a request must not wait; and if the caller is no request.
pub fn scope<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let me = current().expect("scope outside of a request: there is no runtime to take; use Runtime::scope");
    scope_in(me.share(), body)
}

/// As [`scope`], in a runtime.
pub(crate) fn scope_in<'env, R>(
    shared: Arc<Shared>,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    if current().is_some() {
        // Now, while nobody borrows yet.
        Current::must_be_free("scope");
    }
    let children = Mutex::new(Children { handles: Vec::new(), sweep_at: 64 });
    let state = Arc::new(ScopeState {
        running: AtomicUsize::new(0),
        ended: Gate::new(),
        failed: AtomicBool::new(false),
        children,
    });
    let own = Tick::of(&state);
    let scope = Scope { state: Arc::clone(&state), shared, scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let abort_on_unwind = AbortOnUnwind;
    if result.as_ref().is_err_and(|payload| payload.is::<CancelPayload>()) {
        state.cancel_children();
    }
    drop(own);
    let cancelled = state.wait();
    std::mem::forget(abort_on_unwind);
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if cancelled => end_cancelled(),
        Ok(_) if state.failed.load(Ordering::Relaxed) => {
            panic!("a request of the scope panicked or did not run, and nobody waited for it")
        }
        Ok(value) => value,
    }
}
