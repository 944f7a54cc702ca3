//! Rings of events: what workers do in a chosen window, for a timeline. A worker writes to its own ring after each slice while a recording
//! goes on; `api/stats/recording.rs` begins and ends recordings, and reads the rings.
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

use std::sync::atomic::Ordering as O;
use std::sync::{Mutex, OnceLock, PoisonError};

use crossbeam_utils::CachePadded;

use crate::base::primitives::{AtomicU32, AtomicU64};

/// No recording goes on.
pub(crate) const OFF: u32 = 0;
/// Events of a worker in a recording: 2 MiB, 130 ms of quanta of 2 µs.
const EVENTS: usize = 1 << 16;
const WORDS: usize = 4;

/// Reason why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// Its request ended.
    Ended,
    /// Its quantum was over.
    Preempted,
    /// Its request let others run.
    Yielded,
    /// Its request waits.
    Parked,
    /// It had not, when the window ended.
    Running,
}

/// Something that a worker did; times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request was on the worker.
    Slice {
        /// Beginning.
        begin: u64,
        /// End.
        end: u64,
        /// Number of its class.
        class: u16,
        /// Number of the request.
        number: u64,
        /// Reason of the end.
        stop: Stop,
    },
    /// There was nothing to do.
    Idle {
        /// Beginning.
        begin: u64,
        /// End.
        end: u64,
    },
    /// The thread slept.
    Asleep {
        /// Beginning.
        begin: u64,
        /// End.
        end: u64,
    },
    /// Requests came from the inbox of another worker.
    Moved {
        /// Time.
        at: u64,
        /// Number of the other worker.
        from: u16,
        /// How many.
        requests: u32,
    },
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

    /// Its end, or its time.
    pub fn end(self) -> u64 {
        match self {
            Event::Slice { end, .. } | Event::Idle { end, .. } | Event::Asleep { end, .. } => end,
            Event::Moved { at, .. } => at,
        }
    }
}

/// See the [module](self).
struct EventRing {
    session: AtomicU32,
    written: AtomicU64,
    lost: AtomicU64,
    words: Box<[AtomicU64]>,
}

impl EventRing {
    fn new(events: usize) -> EventRing {
        let words = (0..events * WORDS).map(|_| AtomicU64::new(0)).collect();
        EventRing { session: AtomicU32::new(OFF), written: AtomicU64::new(0), lost: AtomicU64::new(0), words }
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
    rings: Box<[OnceLock<EventRing>]>,
    /// Held by the recorder; the number of its session.
    recorder: Mutex<u32>,
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
            recorder: Mutex::default(),
        }
    }

    /// The recording that goes on, or [`OFF`].
    #[inline(always)]
    pub(crate) fn session(&self) -> u32 {
        self.session.load(O::Relaxed)
    }

    /// Begins a recording; its session. None: another one goes on.
    pub(crate) fn begin(&self) -> Option<u32> {
        for ring in &self.rings {
            ring.get_or_init(|| EventRing::new(EVENTS));
        }
        let mut last = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        if self.session() != OFF {
            return None;
        }
        *last = last.wrapping_add(2) | 1;
        self.session.store(*last, O::Release);
        Some(*last)
    }

    /// Ends the recording; events and lost ones by worker.
    pub(crate) fn end(&self, session: u32) -> Vec<(Vec<Event>, u64)> {
        // The next recording begins only after the copy.
        let _one = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        self.session.store(OFF, O::Release);
        let copies = self.rings.iter().map(|ring| ring.get().map(|ring| ring.copy(session)));
        copies.map(Option::unwrap_or_default).collect()
    }

    /// Ends the recording, if it goes on, without its events.
    pub(crate) fn cancel(&self, session: u32) {
        let _ = self.session.compare_exchange(session, OFF, O::AcqRel, O::Relaxed);
    }

    /// Adds an event to what `worker`, who calls, has done in `session`, which it has read before.
    pub(crate) fn append(&self, worker: usize, session: u32, event: Event) {
        // The relaxed load of the session does not order the rings' making, `get` does.
        if let Some(ring) = self.rings[worker].get() {
            ring.append(session, event);
        }
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
        let ring = EventRing::new(2);
        let idle = |begin| Event::Idle { begin, end: begin + 1 };
        (0..5).for_each(|begin| ring.append(1, idle(begin)));
        assert_eq!(ring.copy(1), (vec![idle(0), idle(1)], 3));
        assert_eq!(ring.copy(3), (vec![], 0), "nothing was recorded in the next session");
        ring.append(3, idle(7));
        assert_eq!(ring.copy(3), (vec![idle(7)], 0));
    }
}
