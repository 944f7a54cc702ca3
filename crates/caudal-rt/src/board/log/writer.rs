//! The only writer of one buffer of the log. Each worker and the dispatcher own one, and append what their policies see and decide; readers
//! see the entries that it has published.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use caudal_log::{Entry, Witness};
use caudal_policy::discipline::Intake;

use super::Buffer;

/// Appends to a buffer. Its clones, all on one thread, append to the same.
#[derive(Clone)]
pub(crate) struct Writer(Rc<Inner>);

struct Inner {
    buffer: Arc<Buffer>,
    /// Number of published entries; the present event begins there.
    begun: Cell<usize>,
    /// Entries of the present event, those that found no room included.
    pending: Cell<usize>,
    /// An event did not fit in: from then on entries are only counted.
    full: Cell<bool>,
    /// The present event is that the worker is free.
    is_free: Cell<bool>,
    /// The last thing that was written is that the worker was free and found nothing.
    resting: Cell<bool>,
    /// The answer to a question for intake that was written last.
    intake: Cell<Option<Intake>>,
}

impl Writer {
    /// The only writer of `buffer`.
    pub(crate) fn new(buffer: Arc<Buffer>) -> Writer {
        Writer(Rc::new(Inner {
            buffer,
            begun: Cell::new(0),
            pending: Cell::new(0),
            full: Cell::new(false),
            is_free: Cell::new(false),
            resting: Cell::new(false),
            intake: Cell::new(None),
        }))
    }

    /// An entry that belongs to the present event.
    pub(crate) fn push(&self, entry: Entry) {
        let inner = &*self.0;
        let at = inner.begun.get() + inner.pending.get();
        inner.pending.set(inner.pending.get() + 1);
        if !inner.full.get() && at < inner.buffer.entries.len() {
            // SAFETY: writers of one buffer are clones of one, which stay on their thread, and `at` is not below what they
            // have published.
            unsafe { inner.buffer.write(at, entry) };
        }
    }

    /// The event and what it led to are complete.
    pub(crate) fn publish(&self) {
        let inner = &*self.0;
        let pending = inner.pending.take();
        let end = inner.begun.get() + pending;
        if inner.full.get() || end > inner.buffer.entries.len() {
            inner.full.set(true);
            inner.buffer.lost.fetch_add(pending as u64, Relaxed);
        } else {
            inner.begun.set(end);
            inner.buffer.publish(end);
        }
    }

    /// The event is not worth its room.
    pub(crate) fn withdraw(&self) {
        self.0.pending.set(0);
    }

    /// Entries of the present event so far.
    pub(crate) fn pending(&self) -> usize {
        self.0.pending.get()
    }
}

impl Witness for Writer {
    fn event(&self, event: Entry) {
        self.0.is_free.set(matches!(event, Entry::Free { .. }));
        self.push(event);
    }

    fn decision(&self, decision: Entry) {
        self.push(decision);
    }

    fn end(&self) {
        let found_nothing = self.0.is_free.get() && self.pending() == 1;
        if self.0.resting.replace(found_nothing) && found_nothing {
            // A worker with nothing to do asks again and again.
            self.withdraw();
        } else {
            self.publish();
        }
    }

    fn intake(&self, answer: Intake) {
        if self.0.intake.replace(Some(answer)) != Some(answer) {
            self.push(Entry::Intake { answer: answer.into() });
            self.publish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_log::{Answer, Thread};

    const FREE: Entry = Entry::Free { now_ps: 1 };
    const RUN: Entry = Entry::Run { task: 1, quantum_ps: 2 };

    #[test]
    fn a_worker_that_rests_is_written_once() {
        let buffer = Buffer::new(64);
        let writer = Writer::new(Arc::clone(&buffer));
        for _ in 0..5 {
            writer.event(FREE);
            writer.end();
            writer.intake(Intake::Next);
        }
        writer.event(Entry::Arrival { now_ps: 2, task: 1 });
        writer.decision(RUN);
        assert_eq!(buffer.copy(Thread::Dispatcher).entries.len(), 2, "an event is seen when it is complete");
        writer.end();
        writer.event(FREE);
        writer.end();
        let next = Entry::Intake { answer: Answer::Next };
        let expected = [FREE, next, Entry::Arrival { now_ps: 2, task: 1 }, RUN, FREE];
        assert_eq!(buffer.copy(Thread::Dispatcher).entries, expected);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_follows_too() {
        let buffer = Buffer::new(4);
        let writer = Writer::new(Arc::clone(&buffer));
        for _ in 0..3 {
            writer.event(FREE);
            writer.decision(RUN);
            writer.decision(RUN);
            writer.end();
        }
        writer.event(FREE);
        writer.end();
        let copy = buffer.copy(Thread::Dispatcher);
        assert_eq!((copy.entries, copy.lost), (vec![FREE, RUN, RUN], 7));
    }
}
