//! What workers do in a chosen window, for a Perfetto timeline.
//!
//! ```text
//!  session   0: off; odd: a recording goes on, by its number            one word, which workers read once a slice
//!
//!  ring of a worker, made before the first recording:
//!  | session | written | lost |   events of four words:
//!                                 [ begin | end | kind 8, stop 8, class 16, requests 32 | number ]
//! ```
//!
//! ## Who may touch what, and the protocol
//!
//! | who | does |
//! | --- | --- |
//! | recorder, one at a time (a mutex) | makes the rings, sets `session` to the next odd number, waits, sets it to 0, copies the rings |
//! | worker, after each slice | reads `session`; if it is on, appends to its own ring |
//!
//! A worker that finds another session in its ring than the one that is on empties the ring first, then stores the session there
//! (release); it appends by writing the four words and then `written` (release). A full ring keeps what it has and counts what
//! comes after.
//!
//! *Why a copy is whole.* The recorder reads a ring only if its session (acquire) is the one that it recorded, so the ring had
//! been emptied for it; and of that only the events before `written` (acquire), which are written by then and are not touched
//! again before the next session, which can not begin while the copy is made. A worker that was late, and appends after the end,
//! appends behind what is copied.

mod draw;

use std::sync::atomic::Ordering as O;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::clock::{Clock, now};
use crate::primitives::{AtomicU32, AtomicU64};
use crate::shared::{Shared, Slice};

/// No recording goes on.
pub(crate) const OFF: u32 = 0;
/// Events of a worker in a recording: 2 MiB, 130 ms of quanta of 2 µs.
const EVENTS: usize = 1 << 16;
const WORDS: usize = 4;

/// The longest window of a recording.
pub const WINDOW_MAX: Duration = Duration::from_secs(1);

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stop {
    Ended,
    Preempted,
    Yielded,
    Parked,
    /// It had not, when the window ended.
    Running,
}

/// Something that a worker did; times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A request was on the worker.
    Slice { begin: u64, end: u64, class: u16, number: u64, stop: Stop },
    /// There was nothing to do.
    Idle { begin: u64, end: u64 },
    /// The thread slept.
    Asleep { begin: u64, end: u64 },
    /// Requests came from the inbox of another worker.
    Moved { at: u64, from: u16, requests: u32 },
}

impl Event {
    fn pack(self) -> [u64; WORDS] {
        match self {
            Event::Slice { begin, end, class, number, stop } => {
                [begin, end, (stop as u64) << 8 | u64::from(class) << 16, number]
            }
            Event::Idle { begin, end } => [begin, end, 1, 0],
            Event::Asleep { begin, end } => [begin, end, 2, 0],
            Event::Moved { at, from, requests } => {
                [at, at, 3 | u64::from(from) << 16 | u64::from(requests) << 32, 0]
            }
        }
    }

    fn unpack([begin, end, what, number]: [u64; WORDS]) -> Event {
        const STOPS: [Stop; 5] = [Stop::Ended, Stop::Preempted, Stop::Yielded, Stop::Parked, Stop::Running];
        let of_16 = (what >> 16) as u16;
        match what & 0xFF {
            0 => {
                let stop = STOPS[(what >> 8 & 0xFF) as usize % STOPS.len()];
                Event::Slice { begin, end, class: of_16, number, stop }
            }
            1 => Event::Idle { begin, end },
            2 => Event::Asleep { begin, end },
            _ => Event::Moved { at: begin, from: of_16, requests: (what >> 32) as u32 },
        }
    }

    fn end(self) -> u64 {
        match self {
            Event::Slice { end, .. } | Event::Idle { end, .. } | Event::Asleep { end, .. } => end,
            Event::Moved { at, .. } => at,
        }
    }
}

/// See the [module](self).
struct Ring {
    session: AtomicU32,
    written: AtomicU64,
    lost: AtomicU64,
    words: Box<[AtomicU64]>,
}

impl Ring {
    fn new(events: usize) -> Ring {
        let words = (0..events * WORDS).map(|_| AtomicU64::new(0)).collect();
        Ring { session: AtomicU32::new(OFF), written: AtomicU64::new(0), lost: AtomicU64::new(0), words }
    }

    /// By its worker only.
    fn append(&self, session: u32, event: Event) {
        if self.session.load(O::Relaxed) != session {
            self.written.store(0, O::Relaxed);
            self.lost.store(0, O::Relaxed);
            self.session.store(session, O::Release);
        }
        let written = self.written.load(O::Relaxed);
        let at = written as usize * WORDS;
        let Some(words) = self.words.get(at..at + WORDS) else {
            return self.lost.store(self.lost.load(O::Relaxed) + 1, O::Relaxed);
        };
        words.iter().zip(event.pack()).for_each(|(word, value)| word.store(value, O::Relaxed));
        self.written.store(written + 1, O::Release);
    }

    /// By the recorder, after `session`: its events, and how many are lost.
    fn copy(&self, session: u32) -> (Vec<Event>, u64) {
        if self.session.load(O::Acquire) != session {
            return (Vec::new(), 0);
        }
        let written = self.written.load(O::Acquire) as usize;
        let event =
            |words: &[AtomicU64; WORDS]| Event::unpack(words.each_ref().map(|word| word.load(O::Relaxed)));
        let events = self.words.as_chunks::<WORDS>().0[..written].iter().map(event).collect();
        (events, self.lost.load(O::Relaxed))
    }
}

/// The timelines of all workers.
pub(crate) struct Timelines {
    session: CachePadded<AtomicU32>,
    rings: Box<[OnceLock<Ring>]>,
    /// Who records, and the number of its session.
    recorder: Arc<Mutex<u32>>,
}

impl std::fmt::Debug for Timelines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timelines").finish_non_exhaustive()
    }
}

impl Timelines {
    pub(crate) fn new(workers: usize) -> Timelines {
        Timelines {
            session: CachePadded::new(AtomicU32::new(OFF)),
            rings: (0..workers).map(|_| OnceLock::new()).collect(),
            recorder: Arc::default(),
        }
    }

    /// The recording that goes on, or [`OFF`].
    #[inline(always)]
    pub(crate) fn session(&self) -> u32 {
        self.session.load(O::Relaxed)
    }

    /// Adds an event to what `worker`, who calls, has done in `session`, which it has read before.
    pub(crate) fn append(&self, worker: usize, session: u32, event: Event) {
        // The relaxed load of the session does not order the rings' making, `get` does.
        if let Some(ring) = self.rings[worker].get() {
            ring.append(session, event);
        }
    }
}

/// What the workers of a runtime did in a window. Made by [`Runtime::record_timeline`](crate::Runtime::record_timeline).
#[derive(Clone, Debug)]
pub struct Recording {
    clock: Clock,
    classes: Vec<&'static str>,
    /// When the window began and ended, in cycles.
    began: u64,
    ended: u64,
    /// By worker.
    events: Vec<Vec<Event>>,
    lost: Vec<u64>,
}

crate::error::debug_is_text!(RecordError);

/// A timeline that can not be recorded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A window of no length, or one that is too long.
    #[error("a window of {0:?} can not be recorded: write more than 0 and at most {WINDOW_MAX:?}")]
    Window(Duration),
    /// There is one recording at a time.
    #[error("another timeline is being recorded; ask again when it is done")]
    Busy,
}

/// A recording that goes on; dropping it ends it.
pub(crate) struct Running {
    shared: Arc<Shared>,
    session: u32,
    began: u64,
}

impl Running {
    /// Begins a recording for `window`.
    ///
    /// # Errors
    /// [`RecordError`].
    pub(crate) fn begin(shared: &Arc<Shared>, window: Duration) -> Result<Running, RecordError> {
        if window.is_zero() || window > WINDOW_MAX {
            return Err(RecordError::Window(window));
        }
        let timelines = &shared.observer.timeline;
        for ring in &timelines.rings {
            ring.get_or_init(|| Ring::new(EVENTS));
        }
        let mut last = timelines.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        if timelines.session() != OFF {
            return Err(RecordError::Busy);
        }
        *last = last.wrapping_add(2) | 1;
        let began = now();
        timelines.session.store(*last, O::Release);
        Ok(Running { shared: Arc::clone(shared), session: *last, began })
    }

    /// Ends it.
    pub(crate) fn end(self) -> Recording {
        let shared = &self.shared;
        let timelines = &shared.observer.timeline;
        let ended = now();
        // The next recording begins only after the copy.
        let _one = timelines.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        timelines.session.store(OFF, O::Release);
        let copies = timelines.rings.iter().map(|ring| ring.get().map(|ring| ring.copy(self.session)));
        let (mut events, lost): (Vec<_>, Vec<_>) = copies.map(Option::unwrap_or_default).unzip();
        for (worker, events) in events.iter_mut().enumerate() {
            self.add_present(worker, ended, events);
        }
        let classes = shared.settings.classes.all();
        Recording { clock: shared.clock, classes, began: self.began, ended, events, lost }
    }

    /// What goes on when the window ends is not in the ring yet.
    fn add_present(&self, worker: usize, ended: u64, events: &mut Vec<Event>) {
        let board = &self.shared.workers[worker].board;
        let last = events.last().map_or(0, |event| event.end());
        let (class, slice) =
            (Slice(board.slice.load(O::Relaxed)).class(), board.slice_start.load(O::Acquire));
        let idle = board.idle_since.load(O::Relaxed);
        let goes_on = |since: u64| since != 0 && since < ended && since >= last;
        if goes_on(slice) {
            events.push(Event::Slice { begin: slice, end: ended, class, number: 0, stop: Stop::Running });
        } else if goes_on(idle) {
            events.push(Event::Idle { begin: idle, end: ended });
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let timelines = &self.shared.observer.timeline;
        let _ = timelines.session.compare_exchange(self.session, OFF, O::AcqRel, O::Relaxed);
    }
}

impl Recording {
    /// How long the window was.
    pub fn window(&self) -> Duration {
        self.clock.duration(self.ended - self.began)
    }

    /// How many slices, idle times and moves it has.
    pub fn events(&self) -> usize {
        self.events.iter().map(Vec::len).sum()
    }

    /// How many found no room: of the workers with as many as a ring holds, the window shows the beginning.
    pub fn lost(&self) -> u64 {
        self.lost.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_as_they_went_in() {
        let events = [
            Event::Slice { begin: 5, end: 9, class: 63, number: u64::MAX, stop: Stop::Parked },
            Event::Slice { begin: 9, end: u64::MAX, class: 0, number: 0, stop: Stop::Running },
            Event::Idle { begin: 1, end: 2 },
            Event::Asleep { begin: 1, end: 2 },
            Event::Moved { at: 7, from: 4095, requests: u32::MAX },
        ];
        for event in events {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }

    #[test]
    fn a_full_ring_keeps_what_it_has_and_counts_the_rest() {
        let ring = Ring::new(2);
        let idle = |begin| Event::Idle { begin, end: begin + 1 };
        (0..5).for_each(|begin| ring.append(1, idle(begin)));
        assert_eq!(ring.copy(1), (vec![idle(0), idle(1)], 3));
        assert_eq!(ring.copy(3), (vec![], 0), "nothing was recorded in the next session");
        ring.append(3, idle(7));
        assert_eq!(ring.copy(3), (vec![idle(7)], 0));
    }
}
