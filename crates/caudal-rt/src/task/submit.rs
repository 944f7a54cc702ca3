//! Submissions: a request is made, placed, and answered with a handle; or refused, with its closure. They run on the thread or the request
//! that submits, which owns the cell until a queue has taken it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::handle::Handle;
use crate::base::clock::now;
use crate::base::pause::pause;
use crate::base::quiet::NoYield;
use crate::kernel::context::{current, until};
use crate::kernel::settings::OnFull;
use crate::kernel::shared::{Shared, Stage};
use crate::request::class::ClassId;
use crate::request::failure::{Refused, SubmitError};
use crate::request::new::make;
use crate::request::{self, NOWHERE, Reference, Request, Wanted};

/// The shortest quantum of a runtime.
pub const QUANTUM_MIN: Duration = Duration::from_nanos(500);

/// A request that is being made. See [`Runtime::request`](crate::Runtime::request).
#[must_use = "a request that is not submitted does not run"]
pub struct RequestBuilder<'a> {
    shared: &'a Arc<Shared>,
    class: ClassId,
    deadline: Option<Duration>,
    quantum: Option<Duration>,
    migratable: bool,
}

impl<'a> RequestBuilder<'a> {
    #[inline]
    pub(crate) fn of(shared: &'a Arc<Shared>, class: ClassId) -> RequestBuilder<'a> {
        class.must_be(shared.of);
        RequestBuilder { shared, class, deadline: None, quantum: None, migratable: false }
    }

    /// The request ends as expired if it has not started within `deadline` of its submission. What it captured is dropped by a thread of the
    /// runtime then: its destructors must neither wait (on a lock of this crate they panic) nor take long. That happens when it would
    /// start, and not before: behind a handler without probes its handle hears of it late.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the length of its quanta, whatever the policy says, for disciplines that have quanta; at least 0.5 µs, at most a second.
    ///
    /// # Panics
    /// If `quantum` is out of that range.
    pub fn quantum(mut self, quantum: Duration) -> Self {
        let range = QUANTUM_MIN..=Duration::from_secs(1);
        assert!(range.contains(&quantum), "a quantum of {quantum:?}: write from 0.5 us to 1 s");
        self.quantum = Some(quantum);
        self
    }

    /// Once started it may go on on another worker's thread: where the policy steals, a worker with nothing to do may take
    /// it after a quantum, together with what it has received. Others stay where they have started.
    ///
    /// # Safety
    /// A preemption, which may be at any probe of the handler and of what it calls, must be able to change the thread. So where
    /// one can happen, outside of critical sections, nothing may be alive that belongs to a thread: a reference or pointer
    /// to a thread-local (also one that the compiler has kept: functions that use thread-locals both before and after a
    /// probe must not be inlined into each other), a guard of a lock that has to be released by the thread that took it
    /// (`std::sync::MutexGuard`), an `Rc` or a `RefCell` borrow that other requests of the worker share, a thread's identity.
    pub unsafe fn migratable(mut self) -> Self {
        self.migratable = true;
        self
    }

    /// Hands it in; where a queue is full, waits or refuses, as the runtime was told.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub fn submit<F, T>(self, job: F) -> Result<Handle<T>, SubmitError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let wait = self.shared.settings.on_full == OnFull::Wait;
        self.hand_in(job, wait).map_err(|refused| refused.why)
    }

    /// Hands it in, or gives the closure back.
    ///
    /// # Errors
    /// [`Refused`], with the closure.
    pub fn try_submit<F, T>(self, job: F) -> Result<Handle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.hand_in(job, false)
    }

    fn hand_in<F, T>(self, job: F, wait: bool) -> Result<Handle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let shared = self.shared;
        let why = match () {
            () if shared.is_forked() => Some(SubmitError::Forked),
            () if shared.stage() != Stage::Running => Some(SubmitError::Stopped),
            () => None,
        };
        if let Some(why) = why {
            return Err(Refused { job, why });
        }
        let arrival = now();
        let cell = {
            let _quiet = NoYield::enter();
            // SAFETY: the cell is fresh.
            unsafe { make(request::allocate_outlined(), self.class, arrival, job, Wanted::ByHandle) }
        };
        self.prepare(cell, arrival);
        let unsubmitted = Unsubmitted(cell);
        loop {
            let pushed = {
                let _quiet = NoYield::enter();
                // SAFETY: no queue has taken the request before.
                unsafe { shared.push_new(cell, arrival) }
            };
            if pushed {
                break;
            }
            if !cell.state.move_to(shared.place(NOWHERE)) {
                // It seemed to be at a worker, whose requests a shutdown has ended: it was accepted, and has ended like those.
                std::mem::forget(unsubmitted);
                // SAFETY: no queue has taken it, and the closure of type `F` returns a `T`: both references are this call's.
                return Ok(unsafe {
                    cell.drop_ref(Reference::Runtime);
                    Handle::new(cell, Arc::clone(shared))
                });
            }
            let refused = if shared.stage() != Stage::Running {
                Some(SubmitError::Stopped)
            } else {
                (!wait).then_some(SubmitError::Full)
            };
            if let Some(why) = refused {
                if why == SubmitError::Full {
                    shared.counts.refused.fetch_add(1, Relaxed);
                }
                std::mem::forget(unsubmitted);
                // SAFETY: nobody else has seen the cell, whose closure is an `F`: both references are this call's.
                let job = unsafe {
                    let job = request::take_job::<F>(cell);
                    cell.drop_ref(Reference::Runtime);
                    cell.drop_ref(Reference::Handle);
                    job
                };
                return Err(Refused { job, why });
            }
            wait_a_little();
        }
        std::mem::forget(unsubmitted);
        shared.wake_sleepers();
        if shared.stage() == Stage::Stopping {
            shared.end_queued();
        }
        let _quiet = NoYield::enter();
        request::prepare_next();
        // SAFETY: the handle's reference is this call's, and the closure of type `F` returns a `T`.
        Ok(unsafe { Handle::new(cell, Arc::clone(shared)) })
    }

    fn prepare(&self, cell: Request, arrival: u64) {
        let (clock, header) = (self.shared.clock, cell);
        header.migratable.set(self.migratable);
        if let Some(deadline) = self.deadline {
            header.deadline.set(arrival.saturating_add(clock.cycles_of(deadline)));
        }
        if let Some(quantum) = self.quantum {
            header.quantum.set(u32::try_from(clock.cycles_of(quantum)).unwrap_or(u32::MAX));
        }
    }
}

/// A request that nobody knows of yet; dropped where its submission unwinds.
struct Unsubmitted(Request);

impl Drop for Unsubmitted {
    fn drop(&mut self) {
        // SAFETY: nobody else has seen the cell, and its closure is still there: both references are this call's.
        unsafe {
            (self.0.vtable.get().drop_job)(self.0);
            self.0.drop_ref(Reference::Runtime);
            self.0.drop_ref(Reference::Handle);
        }
    }
}

/// Time for which a submission to a full queue waits before it tries again.
const FULL_FOR: Duration = Duration::from_micros(20);

/// A full queue: lets others go on for a moment. A coroutine parks: were it put among those that can run, a discipline that runs
/// to completion would run it again, and never what fills the queue.
fn wait_a_little() {
    match current() {
        Some(me) => {
            me.end_if_cancelled();
            me.park_until(until(me.shared(), FULL_FOR), "a submission to a full queue");
        }
        None => pause(FULL_FOR),
    }
}
