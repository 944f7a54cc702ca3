//! Sinks, which send replies from the worker that did the work. Requests put replies in ([`crate::task::Sinks`]), workers flush them.
//!
//! ```text
//!  Outboxes   ┌ worker 0: Sink, pending ┐ ┌ worker 1: Sink, pending ┐ …      a slot each, on a line of its own
//!             └──────────▲──────────────┘ └─────────────────────────┘
//!                        │ put: a request of worker 0, in a section      flush: worker 0 where it schedules
//! ```
//!
//! *Who may touch what.* A slot is its worker's thread's. A request of that worker reaches it in a section without yields, so no other request
//! of the worker comes in between; the worker itself reaches it outside of requests. [`Slot::is_open`] catches a sink that comes back to its
//! own slot from within.

use std::cell::{Cell, UnsafeCell};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crossbeam_utils::CachePadded;

use crate::base::say::say;

/// Replies that a worker gathers at most before its sink is flushed.
pub const REPLIES_MAX: usize = 32;

/// Sink of one worker: takes the replies of requests that ran there, and sends them. All of it is called on that worker's thread, within
/// sections in which nothing else of the worker runs: it must neither wait nor take long.
pub trait Sink: Send {
    /// A reply, with all that is needed to send it.
    type Reply;

    /// Takes a reply.
    fn put(&mut self, reply: Self::Reply);

    /// Sends the replies so far, as many as can be sent without waiting. Called when [`REPLIES_MAX`] have been taken, when the worker has
    /// nothing to run that has not started, after a pre-emption, and at its end; only if there were any since the last call, or the last one
    /// did not send all. Answers whether all of them have been sent.
    ///
    /// While it answers `false`, the worker calls again: when [`Sink::descriptor`] is writable, without one every millisecond or so. What is
    /// left at the worker's end is tried for a tenth of a second, then counted ([`Counters::unsent`](crate::stats::Counters::unsent)) and said
    /// on stderr.
    fn flush(&mut self) -> bool;

    /// Has it no room for more? Then the worker does not ask its source. `false` unless this says otherwise. A sink that panics here is not asked
    /// any more, and counts as one with room.
    fn is_full(&self) -> bool {
        false
    }

    /// A descriptor that is writable when a flush that could not send all can send more. An idle worker waits for it. None, unless this says
    /// otherwise. A sink that panics here counts as one without.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Sinks of all workers, to the workers.
pub(crate) trait Flush: Send + Sync {
    /// Gives them to the runtime with this number and so many workers, for good. `false`: another one has them, or there are too few.
    fn claim(&self, runtime: u64, workers: usize) -> bool;

    /// Flushes the sink of `worker`, if it has anything to send.
    ///
    /// # Safety
    /// The caller is that worker, where it schedules.
    unsafe fn flush(&self, worker: usize);

    /// Has the sink of `worker` no room?
    ///
    /// # Safety
    /// As [`Flush::flush`].
    unsafe fn is_full(&self, worker: usize) -> bool;

    /// Replies in the sink of `worker` that may not have been sent.
    ///
    /// # Safety
    /// The caller is on that worker's thread, in a section in which nothing yields.
    unsafe fn pending(&self, worker: usize) -> usize;

    /// A descriptor that is writable when the sink of `worker` can send more.
    ///
    /// # Safety
    /// As [`Flush::flush`].
    unsafe fn descriptor(&self, worker: usize) -> Option<RawFd>;
}

struct Slot<S> {
    sink: UnsafeCell<S>,
    /// Replies that were taken and may not have been sent.
    pending: Cell<usize>,
    is_open: Cell<bool>,
    /// It has panicked when it was asked whether it is full.
    panics: Cell<bool>,
}

/// A sink for each worker.
pub(crate) struct Outboxes<S> {
    slots: Box<[CachePadded<Slot<S>>]>,
    /// Number of the runtime that has them.
    runtime: OnceLock<u64>,
}

// SAFETY: a slot is touched by its worker's thread alone, as the callers of the unsafe functions promise; sinks are `Send`.
unsafe impl<S: Send> Sync for Outboxes<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Outboxes<S> {}

impl<S: Sink> Outboxes<S> {
    /// A sink for each of `workers`, by `make`.
    pub(crate) fn new(workers: usize, make: impl FnMut(usize) -> S) -> Outboxes<S> {
        let slot = |sink| {
            let (pending, is_open, panics) = (Cell::new(0), Cell::new(false), Cell::new(false));
            CachePadded::new(Slot { sink: UnsafeCell::new(sink), pending, is_open, panics })
        };
        Outboxes { slots: (0..workers).map(make).map(slot).collect(), runtime: OnceLock::new() }
    }

    /// Has the runtime with this number got them?
    pub(crate) fn are_of(&self, runtime: u64) -> bool {
        self.runtime.get() == Some(&runtime)
    }

    /// Leaves `reply` with the sink of `worker`.
    ///
    /// # Safety
    /// The caller is on that worker's thread, in a section in which nothing yields.
    ///
    /// # Panics
    /// From within the sink.
    pub(crate) unsafe fn put(&self, worker: usize, reply: S::Reply) {
        let slot = &self.slots[worker];
        // SAFETY: as the caller promises.
        unsafe { slot.with(|sink| sink.put(reply)) };
        slot.pending.set(slot.pending.get() + 1);
        if slot.pending.get() >= REPLIES_MAX {
            // SAFETY: as the caller promises.
            unsafe { slot.flush() };
        }
    }
}

impl<S: Sink> Slot<S> {
    /// # Safety
    /// The caller has the slot to itself, but for the sink's own calls.
    unsafe fn with<R>(&self, then: impl FnOnce(&mut S) -> R) -> R {
        struct Shut<'a>(&'a Cell<bool>);
        impl Drop for Shut<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        assert!(
            !self.is_open.replace(true),
            "a sink must not put replies into the sinks to which it belongs"
        );
        let _shut = Shut(&self.is_open);
        // SAFETY: as the caller promises, and nobody is in here: `is_open`.
        then(unsafe { &mut *self.sink.get() })
    }

    /// # Safety
    /// As [`Slot::with`].
    unsafe fn flush(&self) {
        if self.pending.get() == 0 {
            return;
        }
        // SAFETY: as the caller promises.
        let flush = || unsafe { self.with(Sink::flush) };
        // A panic of the sink must end neither the worker nor a request of the worker.
        let has_sent_all = catch_unwind(AssertUnwindSafe(flush)).unwrap_or_else(|_| {
            say!("a sink of replies has panicked: replies may be lost");
            true
        });
        if has_sent_all {
            self.pending.set(0);
        }
    }
}

impl<S: Sink> Flush for Outboxes<S> {
    fn claim(&self, runtime: u64, workers: usize) -> bool {
        *self.runtime.get_or_init(|| runtime) == runtime && self.slots.len() >= workers
    }

    unsafe fn flush(&self, worker: usize) {
        // SAFETY: as the caller promises.
        unsafe { self.slots[worker].flush() };
    }

    unsafe fn is_full(&self, worker: usize) -> bool {
        let slot = &self.slots[worker];
        if slot.panics.get() {
            return false;
        }
        // SAFETY: as the caller promises.
        let is_full = || unsafe { slot.with(|sink| sink.is_full()) };
        catch_unwind(AssertUnwindSafe(is_full)).unwrap_or_else(|_| {
            say!("a sink of replies has panicked when it was asked whether it is full: it is taken to have room from now on");
            slot.panics.set(true);
            false
        })
    }

    unsafe fn pending(&self, worker: usize) -> usize {
        self.slots[worker].pending.get()
    }

    unsafe fn descriptor(&self, worker: usize) -> Option<RawFd> {
        // SAFETY: as the caller promises.
        let descriptor =
            || unsafe { self.slots[worker].with(|sink| sink.descriptor().map(|fd| fd.as_raw_fd())) };
        // The panic hook has reported a panic.
        catch_unwind(AssertUnwindSafe(descriptor)).ok().flatten()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counts {
        taken: usize,
        sent: usize,
        /// Replies that can be sent at a time.
        at_once: usize,
    }

    impl Sink for Counts {
        type Reply = ();

        fn put(&mut self, (): ()) {
            self.taken += 1;
        }

        fn flush(&mut self) -> bool {
            self.sent = self.taken.min(self.sent + self.at_once);
            self.sent == self.taken
        }
    }

    #[test]
    fn replies_leave_in_batches_and_what_could_not_leave_is_tried_again() {
        let boxes = Outboxes::new(1, |_| Counts { at_once: 20, ..Counts::default() });
        let sent = |boxes: &Outboxes<Counts>| {
            // SAFETY: one thread.
            unsafe { boxes.slots[0].with(|sink| sink.sent) }
        };
        // SAFETY: one thread has them.
        unsafe {
            (1..REPLIES_MAX).for_each(|_| boxes.put(0, ()));
            assert_eq!(sent(&boxes), 0);
            boxes.put(0, ());
            assert_eq!(sent(&boxes), 20);
            boxes.flush(0);
            assert_eq!(sent(&boxes), REPLIES_MAX);
            boxes.slots[0].with(|sink| sink.sent = 0);
            boxes.flush(0);
            assert_eq!(sent(&boxes), 0, "nothing is pending");
        }
    }
}
