//! The board: what the threads of a runtime publish about themselves, with plain stores to cache lines of their own. Workers write their
//! numbers where they schedule; the dispatcher, thieves, the watchdog and statistics read them at any time, as they were a moment ago. Each
//! part names its writer.

pub mod histogram;
pub(crate) mod log;
pub(crate) mod measured;
pub(crate) mod pressure;
pub(crate) mod timeline;

use std::sync::atomic;

use crossbeam_utils::CachePadded;

use self::pressure::Pressure;
use crate::base::primitives::{AtomicU32, AtomicU64, Ordering};
use crate::queue::end_owner::EndOwner;
use crate::queue::flag::RemoteFlag;
use crate::queue::ring::Ring;
use crate::queue::ring::stack::TakeAllStack;
use crate::request::{Header, Reference, Request, RequestPlace};

/// Numbers of a worker: one cache line that it alone writes, but for `left`. Whoever reads it, dispatcher, thieves,
/// watchdog, reads what was true a moment ago.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Board {
    /// Requests that have ended here. Wraps.
    pub(crate) finished: AtomicU64,
    /// Quanta that its unfinished requests have received.
    pub(crate) quanta: AtomicU64,
    /// Requests that it has taken from others. Wraps.
    pub(crate) received: AtomicU64,
    /// Requests that were taken away from its inbox, or cancelled there: added to by the thread that did it. Wraps.
    pub(crate) left: AtomicU64,
    /// When the present slice began, in cycles; 0 between slices.
    pub(crate) slice_start: AtomicU64,
    /// Since when it has had nothing to do, in cycles; 0 if it has.
    pub(crate) idle_since: AtomicU64,
    /// Tasks that it has taken in and that have not ended.
    pub(crate) inside: AtomicU32,
    /// The present slice: a [`Slice`].
    pub(crate) slice: AtomicU32,
    /// Its slice has been too long; any other worker may take its unstarted requests.
    pub(crate) stuck: AtomicU64,
}

const _: () = assert!(cfg!(loom) || size_of::<Board>() == 64);

/// The slice that a worker runs, in one word: the request's class below, the bits of its quantum in cycles above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice(pub(crate) u32);

impl Slice {
    #[inline(always)]
    pub(crate) fn new(class: u16, quantum: u64) -> Slice {
        Slice(u32::from(class) | (u64::BITS - quantum.leading_zeros()) << 16)
    }

    pub(crate) fn class(self) -> u16 {
        self.0 as u16
    }

    /// Time when the quantum is over for certain, in cycles from the slice's beginning: at most twice its length. None: it never is.
    pub(crate) fn over_after(self) -> Option<u64> {
        1_u64.checked_shl(self.0 >> 16)
    }
}

/// News from others for a worker.
#[derive(Debug)]
pub(crate) struct Mail {
    /// Coroutines of it that can go on.
    pub(crate) woken: TakeAllStack<Header>,
    /// The worker that asks it to take tasks (work shedding): worker + 1; 0: nobody.
    pub(crate) flagged_by: AtomicU32,
    /// Started requests in its inbox, on their way to whoever takes them. For a moment there may be fewer.
    pub(crate) started: AtomicU32,
    /// Its thread's probe flag, while the thread runs.
    pub(crate) probe_flag: RemoteFlag<atomic::AtomicU8>,
    /// The thread's number in the kernel; 0 until it runs.
    pub(crate) thread: AtomicU32,
}

/// One worker as others see it.
#[derive(Debug)]
pub(crate) struct SharedWorker {
    pub(crate) board: CachePadded<Board>,
    pub(crate) mail: CachePadded<Mail>,
    pub(crate) inbox: Ring<Request>,
    pub(crate) spent: CachePadded<Spent>,
    pub(crate) pressure: Pressure,
}

impl SharedWorker {
    /// A request that was taken out of this worker's inbox is going to be at `place`. `false`: it has ended,
    /// and was counted by whoever ended it; the queue's reference is gone.
    ///
    /// # Safety
    /// The caller has taken the request, with its reference, out of this worker's inbox.
    #[inline]
    pub(crate) unsafe fn give_away(&self, cell: Request, place: RequestPlace) -> bool {
        if cell.state.load().is_started() {
            self.mail.started.fetch_sub(1, Ordering::Relaxed);
        }
        let moved = cell.state.move_to(place);
        if moved {
            self.board.left.fetch_add(1, Ordering::Relaxed);
        } else {
            // SAFETY: that of the inbox, from which the caller has taken the request.
            unsafe { cell.drop_ref(Reference::Runtime) };
        }
        moved
    }
}

/// Time of a worker, in cycles: one line that it alone writes, after every slice. The part of the time up to
/// `accounted` that was neither busy nor idle went on scheduling.
#[derive(Debug)]
pub(crate) struct Spent {
    /// When the worker began; 0 before.
    pub(crate) started: atomic::AtomicU64,
    /// Up to when its time is accounted for.
    pub(crate) accounted: atomic::AtomicU64,
    /// Time on requests.
    pub(crate) busy: atomic::AtomicU64,
    /// Time with nothing to do.
    pub(crate) idle: atomic::AtomicU64,
    /// When the present quantum ends, in cycles; `u64::MAX`: never, or there is none. Kept where flags are raised only.
    pub(crate) due: atomic::AtomicU64,
    /// The worker schedules no more.
    pub(crate) ended: atomic::AtomicBool,
    /// The request of the present slice, or of the last one.
    pub(crate) running: atomic::AtomicPtr<Header>,
    /// Owner of the end of the worker's requests at the bound of a shutdown.
    pub(crate) end_owner: EndOwner,
}

impl Spent {
    pub(crate) fn new() -> Spent {
        let zero = || atomic::AtomicU64::new(0);
        let (due, ended) = (atomic::AtomicU64::new(u64::MAX), atomic::AtomicBool::new(false));
        let (running, end_owner) = Default::default();
        Spent {
            started: zero(),
            accounted: zero(),
            busy: zero(),
            idle: zero(),
            due,
            ended,
            running,
            end_owner,
        }
    }
}

/// Requests that ended otherwise than by returning, and other events that are counted. Sums, by which nothing is ordered:
/// so not from [`crate::base::primitives`], as each of them would have models try more orders.
#[derive(Debug, Default)]
pub(crate) struct EventCounts {
    pub(crate) panicked: atomic::AtomicU64,
    pub(crate) cancelled: atomic::AtomicU64,
    pub(crate) expired: atomic::AtomicU64,
    pub(crate) abandoned: atomic::AtomicU64,
    pub(crate) stopped: atomic::AtomicU64,
    pub(crate) refused: atomic::AtomicU64,
    /// Requests that ended inside of critical sections.
    pub(crate) unbalanced: atomic::AtomicU64,
    /// Times that a worker was found stuck.
    pub(crate) stuck: atomic::AtomicU64,
    /// Replies that sinks could not send before their workers ended.
    pub(crate) unsent: atomic::AtomicU64,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slice_says_its_class_and_when_its_quantum_is_over() {
        for quantum in [1, 1_000, u64::from(u32::MAX), 1 << 62] {
            let slice = Slice::new(u16::MAX, quantum);
            assert_eq!(slice.class(), u16::MAX);
            assert!(slice.over_after().is_some_and(|over| (quantum..=2 * quantum).contains(&over)));
        }
        let endless = Slice::new(3, u64::MAX);
        assert_eq!((endless.class(), endless.over_after()), (3, None));
    }
}
