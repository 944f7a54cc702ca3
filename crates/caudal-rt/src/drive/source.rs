//! Sources of requests besides submissions: a network, a load generator, a file of arrivals. The dispatcher and workers ask them.

use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::say::say;
use crate::request::Request;
use crate::request::Wanted;
use crate::request::class::ClassId;
use crate::request::new::new_request;

/// A source of requests. The dispatcher polls it in turn with submissions, at most [`BATCH`] requests a time; without a
/// dispatcher each worker has one of its own, which it polls between slices.
///
/// A source is polled, it wakes nobody: a runtime with one that has no [descriptor](Source::descriptor) does not sleep. It must not wait
/// for anything either: it keeps the thread that polls from its work, and without a dispatcher a shutdown from the requests of that worker.
pub trait Source: Send {
    /// Hands in what has arrived, through [`Intake::submit`], for as long as [`Intake::has_room`]. Answers `false` when nothing
    /// is ever going to come again: then it is not asked any more. Nor is one that has panicked, which is said on stderr; what
    /// it has handed in before is served.
    fn poll(&mut self, intake: &mut Intake<'_>) -> bool;

    /// A descriptor by which the source can be waited for: an event descriptor, an epoll instance, a socket. It has to be readable for as long
    /// as [`Source::poll`] would hand something in, or would answer `false`. With it the runtime sleeps while nothing comes; the first request
    /// then pays for waking its threads. None, unless this says otherwise: the runtime never sleeps.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// A source that a thread of the runtime polls. A panic of the source does not end that thread.
pub(crate) struct PolledSource(Option<Box<dyn Source>>);

impl PolledSource {
    pub(crate) fn new(source: Box<dyn Source>) -> PolledSource {
        PolledSource(Some(source))
    }

    /// Polls it; `false`: it is not to be polled any more.
    #[inline]
    pub(crate) fn poll(&mut self, intake: &mut Intake<'_>) -> bool {
        let Some(source) = &mut self.0 else { return false };
        catch_unwind(AssertUnwindSafe(|| source.poll(intake))).unwrap_or_else(|_| {
            say!("a source of requests has panicked, and is not asked any more");
            false
        })
    }
}

impl PolledSource {
    /// The descriptor of the source, if it can be waited for.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let source = self.0.as_ref()?;
        // One that panics is not waited for; the panic hook has reported the panic.
        catch_unwind(AssertUnwindSafe(|| source.descriptor())).ok().flatten()
    }
}

impl Drop for PolledSource {
    fn drop(&mut self) {
        let source = self.0.take();
        // The panic hook has reported a panic of its destructor.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(source)));
    }
}

/// Most requests that a source hands in at a time.
pub const BATCH: usize = 32;

/// Intake of a source's requests: the source hands them in here while it is polled.
pub struct Intake<'a> {
    taken: &'a mut Vec<Request>,
    next_number: &'a mut u64,
    between_slices: bool,
    /// Mark of the runtime whose classes are taken.
    of: u16,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(
        taken: &'a mut Vec<Request>,
        next_number: &'a mut u64,
        between_slices: bool,
        of: u16,
    ) -> Intake<'a> {
        Intake { taken, next_number, between_slices, of }
    }

    /// Is the source polled by a worker that may have run a request since its last poll? Else by the dispatcher, or by a worker that had
    /// nothing to do.
    #[inline]
    pub fn is_between_slices(&self) -> bool {
        self.between_slices
    }

    /// May the source hand in more now?
    #[inline]
    pub fn has_room(&self) -> bool {
        self.taken.len() < BATCH
    }

    /// A request of `class` that arrived when the time-stamp counter showed `arrival`; what `job` returns is dropped. Closures of
    /// up to 144 bytes are kept in place, larger ones are boxed.
    ///
    /// # Panics
    /// Without room; if `class` is another runtime's.
    #[inline]
    pub fn submit<F: FnOnce() + Send + 'static>(&mut self, class: ClassId, arrival: u64, job: F) {
        assert!(self.has_room(), "a source hands in {BATCH} requests at a time at most");
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
