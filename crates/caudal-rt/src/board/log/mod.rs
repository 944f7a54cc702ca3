//! The log of decisions: what policies saw on each thread, and what they decided. Each thread of a runtime writes a buffer of its own while
//! requests run, if the log is on; a program takes a copy of all of them, to replay it in the simulator.
//!
//! ```text
//!  worker 0   │ entry │ entry │ entry │ … free …        │   a buffer each, made at the start, written once, in order
//!  worker 1   │ entry │ entry │ … free …                │
//!  dispatcher │ entry │ … free …                        │
//!             '-- published ---'
//! ```
//!
//! *Who touches what.* A [`Buffer`] has one [`Writer`], on one thread. Others read the entries below
//! [`published`](Buffer::published), which only grows: entries below it are never written again. The writer stores it with
//! `Release` after it has written them, readers load it with `Acquire`.
//!
//! *What is published* is whole: an event with all its decisions. One that does not fit in whole is left out, and all after
//! it are only counted, so that a log always begins with everything that happened.
//!
//! *What it costs.* A runtime without a log runs the disciplines themselves; with one it runs them
//! [`Watched`](caudal_log::Watched), which is other code. Nothing asks whether there is a log but walks, which are idle
//! time, and the dispatcher, once a request.

mod submitted;
mod writer;

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use caudal_log::{DecisionLog, Entry, Header, Thread, ThreadLog, VERSION};

pub(crate) use self::submitted::Submitted;
pub(crate) use self::writer::Writer;
use crate::base::clock::Clock;

/// The entries of one thread. See the [module](self).
pub(crate) struct Buffer {
    entries: Box<[UnsafeCell<MaybeUninit<Entry>>]>,
    /// So many may be read.
    published: AtomicUsize,
    /// Entries that found no room.
    lost: AtomicU64,
}

// SAFETY: entries at and above `published` are touched by the only writer alone, those below it are only read; see the module.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn new(capacity: usize) -> Arc<Buffer> {
        let entries = (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        Arc::new(Buffer { entries, published: AtomicUsize::new(0), lost: AtomicU64::new(0) })
    }

    /// A copy of what has been published.
    fn copy(&self, thread: Thread) -> ThreadLog {
        let published = self.published.load(Acquire);
        let read = |entry: &UnsafeCell<MaybeUninit<Entry>>| {
            // SAFETY: it is below `published`, so it was written before the load above saw that, and is never written again.
            unsafe { (*entry.get()).assume_init_read() }
        };
        let entries = self.entries[..published].iter().map(read).collect();
        ThreadLog { thread, entries, lost: self.lost.load(Relaxed) }
    }

    /// # Safety
    /// Only the writer may call this, and `at` must not have been published.
    unsafe fn write(&self, at: usize, entry: Entry) {
        debug_assert!(at >= self.published.load(Relaxed));
        // SAFETY: nobody reads it, as the caller says.
        unsafe { (*self.entries[at].get()).write(entry) };
    }

    fn publish(&self, published: usize) {
        self.published.store(published, Release);
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("published", &self.published).field("lost", &self.lost).finish()
    }
}

/// All buffers of a runtime.
#[derive(Debug)]
pub(crate) struct Logs {
    pub(crate) workers: Box<[Arc<Buffer>]>,
    pub(crate) dispatcher: Option<Arc<Buffer>>,
    pub(crate) submitted: Option<Submitted>,
    policy: String,
}

impl Logs {
    /// Buffers of `capacity` entries for so many workers, and for the dispatcher, or else for what submitters place.
    pub(crate) fn new(capacity: usize, workers: usize, two_level: bool, policy: String) -> Logs {
        Logs {
            workers: (0..workers).map(|_| Buffer::new(capacity)).collect(),
            dispatcher: two_level.then(|| Buffer::new(capacity)),
            submitted: (!two_level).then(|| Submitted::new(capacity)),
            policy,
        }
    }

    /// A copy of what has been logged so far.
    pub(crate) fn copy(&self, seed: u64, clock: Clock) -> DecisionLog {
        let header = Header {
            version: VERSION,
            policy: self.policy.clone(),
            workers: self.workers.len() as u32,
            seed,
            hz: clock.hz(),
            ps_per_cycle: clock.ps_per_cycle(),
        };
        let workers =
            self.workers.iter().enumerate().map(|(number, log)| log.copy(Thread::Worker(number as u32)));
        let dispatcher = self.dispatcher.iter().map(|log| log.copy(Thread::Dispatcher));
        let submitted = self.submitted.iter().map(Submitted::copy);
        DecisionLog { header, threads: workers.chain(dispatcher).chain(submitted).collect() }
    }
}
