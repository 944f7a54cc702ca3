//! Sources of requests besides submissions: a network, a load generator, a file of arrivals. The dispatcher and workers ask them.

use std::cell::Cell;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::base::say::say;
use crate::drive::doorbell::Doorbell;
use crate::request::Request;
use crate::request::Wanted;
use crate::request::class::ClassId;
use crate::request::new::new_request;

/// The result of a poll of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The source has handed in requests, or has done other work, such as an answer without a request. Its thread does not count as idle.
    Worked,
    /// Nothing was there.
    Nothing,
    /// Nothing is ever going to come again: the source is not polled any more, and dropped.
    Over,
}

/// A source of requests. The dispatcher polls it in turn with submissions, at most [`BATCH`] requests a time; without a
/// dispatcher each worker has one of its own.
///
/// A worker that has nothing to run polls its source all the time. A worker that runs requests polls it
///
/// * not while requests have not started that it has taken in before, but after [`BATCH`] slices at the latest;
/// * else between two slices, and when the quantum of a lone request is over: if its [doorbell](Source::doorbell) has rung; without a doorbell
///   every 10 µs if it has a [descriptor](Source::descriptor), and each time if it has none of both. [`Intake::poll_again_at`] sets
///   another time.
///
/// A source must not wait: it keeps the thread that polls from its work, and without a dispatcher a shutdown from the requests of that worker.
///
/// While nothing comes the runtime sleeps. A source with a descriptor is waited for. The thread of a source without one looks at it every
/// 50 µs or so, because nothing could wake the thread.
pub trait Source: Send {
    /// Hands in what has arrived, through [`Intake::submit`], for as long as [`Intake::has_room`]. A source that answers [`Polled::Over`] is not
    /// asked any more. Nor is one that has panicked, which is said on stderr; what it has handed in before is served.
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled;

    /// A descriptor by which the source can be waited for: an event descriptor, an epoll instance, a socket. It has to be readable for as long
    /// as [`Source::poll`] would hand something in, or would answer [`Polled::Over`]. With it the runtime sleeps while nothing comes; the first
    /// request then pays for waking its threads. None, unless this says otherwise. A source that panics here is not asked any more.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// A word in memory that tells of arrivals, so that a worker need not poll to learn that nothing has come. Asked once, at the start. None,
    /// unless this says otherwise.
    fn doorbell(&self) -> Option<Doorbell> {
        None
    }
}

/// Span between two polls of a source with a descriptor and without a doorbell, while requests run.
const POLL_EVERY: Duration = Duration::from_micros(10);

/// How the arrivals of a source become known while requests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cadence {
    Doorbell,
    /// In cycles.
    Every(u64),
    Always,
}

/// How a source can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Descriptor(RawFd),
    /// It has to be polled.
    Unknown,
    /// It has panicked: nobody waits for it.
    Gone,
}

/// A source that a thread of the runtime polls. A panic of the source does not end that thread.
pub(crate) struct PolledSource {
    source: Option<Box<dyn Source>>,
    cadence: Cadence,
}

impl PolledSource {
    pub(crate) fn new(source: Box<dyn Source>) -> PolledSource {
        PolledSource { source: Some(source), cadence: Cadence::Always }
    }

    /// When it is due while requests run; for a worker, which tells by `cycles_of` how long spans are.
    pub(crate) fn due(&mut self, cycles_of: impl Fn(Duration) -> u64) -> Due {
        let bell = self.ask(|source| source.doorbell()).flatten();
        self.cadence = match (&bell, self.descriptor()) {
            (Some(_), _) => Cadence::Doorbell,
            (None, Readiness::Descriptor(_)) => Cadence::Every(cycles_of(POLL_EVERY)),
            (None, _) => Cadence::Always,
        };
        Due { bell, listens: Cell::new(true), ..Due::default() }
    }

    /// Is it polled at the end of every quantum?
    pub(crate) fn is_always_polled(&self) -> bool {
        self.cadence == Cadence::Always
    }

    /// A question to the source; none: it has panicked, now or before.
    fn ask<R>(&mut self, question: impl FnOnce(&mut dyn Source) -> R) -> Option<R> {
        let source = self.source.as_mut()?;
        let answer = catch_unwind(AssertUnwindSafe(|| question(&mut **source)));
        if answer.is_err() {
            say!("a source of requests has panicked, and is not asked any more");
            self.forget();
        }
        answer.ok()
    }

    fn forget(&mut self) {
        let source = self.source.take();
        // The panic hook has reported a panic of its destructor.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(source)));
    }

    /// Polls it.
    #[inline]
    pub(crate) fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        self.ask(|source| source.poll(intake)).unwrap_or(Polled::Over)
    }

    /// Polls it at `time`, and notes in `due` when it is due again.
    pub(crate) fn poll_when_due(&mut self, intake: &mut Intake<'_>, due: &Due, time: u64) -> Polled {
        due.look();
        let polled = self.poll(intake);
        let usual = match self.cadence {
            Cadence::Doorbell => u64::MAX,
            Cadence::Every(span) => time.saturating_add(span),
            Cadence::Always => 0,
        };
        match polled {
            Polled::Over => due.never(),
            Polled::Worked | Polled::Nothing => {
                due.at.set(intake.again_at.map_or(usual, |at| at.min(usual)));
                due.asked.set(intake.again_at);
            }
        }
        polled
    }

    /// How it can be waited for. A source that panics is gone.
    pub(crate) fn descriptor(&mut self) -> Readiness {
        match self.ask(|source| source.descriptor().map(|descriptor| descriptor.as_raw_fd())) {
            Some(Some(descriptor)) => Readiness::Descriptor(descriptor),
            Some(None) => Readiness::Unknown,
            None => Readiness::Gone,
        }
    }
}

impl Drop for PolledSource {
    fn drop(&mut self) {
        self.forget();
    }
}

/// When a worker's source is to be polled while requests run. Only the worker's thread touches it.
#[derive(Default)]
pub(crate) struct Due {
    bell: Option<Doorbell>,
    listens: Cell<bool>,
    /// The doorbell's word before the last poll.
    seen: Cell<u32>,
    /// In cycles, whatever the doorbell says.
    at: Cell<u64>,
    /// When the source itself wants to be polled.
    asked: Cell<Option<u64>>,
}

impl Due {
    /// When a worker without a source has to poll it.
    pub(crate) fn without_source() -> Due {
        let due = Due::default();
        due.never();
        due
    }

    fn look(&self) {
        self.seen.set(self.bell.as_ref().map_or(0, Doorbell::look));
    }

    /// There is no source any more.
    pub(crate) fn never(&self) {
        self.listens.set(false);
        self.at.set(u64::MAX);
        self.asked.set(None);
    }

    /// Is the source to be polled at `time`?
    #[inline]
    pub(crate) fn is_over(&self, time: u64) -> bool {
        self.at.get() <= time
            || self.listens.get() && self.bell.as_ref().is_some_and(|bell| bell.has_rung(self.seen.get()))
    }

    /// The time for which the source has asked, in cycles.
    pub(crate) fn asked(&self) -> Option<u64> {
        self.asked.get()
    }
}

/// Most requests that a source hands in at a time.
pub const BATCH: usize = 32;

/// Intake of a source's requests: the source hands them in here while it is polled.
pub struct Intake<'a> {
    taken: &'a mut Vec<Request>,
    next_number: &'a mut u64,
    /// Mark of the runtime whose classes are taken.
    of: u16,
    room: usize,
    seen: Seen,
    again_at: Option<u64>,
}

/// The other work of the thread that polls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) between_slices: bool,
    pub(crate) unstarted: usize,
    pub(crate) waiting: usize,
}

impl<'a> Intake<'a> {
    /// An intake with room for `room` requests.
    pub(crate) fn new(
        taken: &'a mut Vec<Request>,
        next_number: &'a mut u64,
        of: u16,
        room: usize,
        seen: Seen,
    ) -> Intake<'a> {
        Intake { taken, next_number, of, room: room.min(BATCH), seen, again_at: None }
    }

    /// Is the source polled by a worker that may have run a request since its last poll? Else by the dispatcher, or by a worker that had
    /// nothing to do.
    #[inline]
    pub fn is_between_slices(&self) -> bool {
        self.seen.between_slices
    }

    /// Requests of the polling thread that have not started: those in the worker's inbox and lanes, or those that the dispatcher holds. Without
    /// those that have been handed in just now.
    #[inline]
    pub fn unstarted(&self) -> usize {
        self.seen.unstarted
    }

    /// Started requests of the polling worker that could run: pre-empted ones, among them the one whose quantum has just ended. While there
    /// are any, a source with a doorbell has to let it ring. Always 0 for a dispatcher.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.seen.waiting
    }

    /// May the source hand in more now? There is room for [`BATCH`] requests at most, for fewer where the worker's inbox is nearly full.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Requests that may still be handed in now.
    #[inline]
    pub fn room(&self) -> usize {
        self.room.saturating_sub(self.taken.len())
    }

    /// Has the source polled again when the time-stamp counter shows `time` at the latest, whatever its doorbell and descriptor say; 0: between
    /// the next two slices. For this once: the next poll may ask again. Where the runtime sleeps, this ends the sleep of the source's worker.
    #[inline]
    pub fn poll_again_at(&mut self, time: u64) {
        self.again_at = Some(self.again_at.map_or(time, |at| at.min(time)));
    }

    /// A request of `class` that arrived when the time-stamp counter showed `arrival`; what `job` returns is dropped. Closures of
    /// up to 144 bytes are kept in place, larger ones are boxed.
    ///
    /// # Panics
    /// Without room; if `class` is another runtime's.
    #[inline]
    pub fn submit<F: FnOnce() + Send + 'static>(&mut self, class: ClassId, arrival: u64, job: F) {
        assert!(
            self.has_room(),
            "there is room for {} requests in this poll: ask Intake::has_room before each",
            self.room
        );
        class.must_be(self.of);
        self.put(new_request(class, arrival, job, Wanted::ByNobody));
    }

    #[inline]
    pub(crate) fn put(&mut self, cell: Request) {
        cell.number.set(*self.next_number);
        *self.next_number += 1;
        self.taken.push(cell);
    }
}
