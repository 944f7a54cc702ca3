//! Recordings of what workers do in a chosen window of time. A program begins and ends one, from any thread, and gets the events that the
//! workers have written meanwhile into the rings of [`crate::board::timeline`].

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::base::clock::{Clock, now};
use crate::board::Slice;
use crate::board::timeline::{Event, Stop};
use crate::kernel::shared::Shared;

/// The longest window of a recording.
pub const WINDOW_MAX: Duration = Duration::from_secs(1);

/// Events of the workers of a runtime in a window. Made by [`Runtime::record_timeline`](crate::Runtime::record_timeline).
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

crate::base::text::debug_is_text!(RecordError);

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
pub struct Running {
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
        let began = now();
        let session = shared.timeline.begin().ok_or(RecordError::Busy)?;
        Ok(Running { shared: Arc::clone(shared), session, began })
    }

    /// Ends it.
    pub fn end(self) -> Recording {
        let shared = &self.shared;
        let ended = now();
        let (mut events, lost): (Vec<_>, Vec<_>) = shared.timeline.end(self.session).into_iter().unzip();
        for (worker, events) in events.iter_mut().enumerate() {
            self.add_present(worker, ended, events);
        }
        let classes = shared.settings.classes.all();
        Recording { clock: shared.clock, classes, began: self.began, ended, events, lost }
    }

    /// Adds a slice or idle time that goes on when the window ends: it is not in the ring yet.
    fn add_present(&self, worker: usize, ended: u64, events: &mut Vec<Event>) {
        let board = &self.shared.workers[worker].board;
        let last = events.last().map_or(0, |event| event.end());
        let (class, slice) =
            (Slice(board.slice.load(Ordering::Relaxed)).class(), board.slice_start.load(Ordering::Acquire));
        let idle = board.idle_since.load(Ordering::Relaxed);
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
        self.shared.timeline.cancel(self.session);
    }
}

impl Recording {
    /// How long the window was.
    pub fn window(&self) -> Duration {
        self.clock.duration(self.ended - self.began)
    }

    /// Names of classes, by their numbers.
    pub fn classes(&self) -> &[&'static str] {
        &self.classes
    }

    /// Events of each worker, in their order.
    pub fn by_worker(&self) -> &[Vec<Event>] {
        &self.events
    }

    /// Events of each worker that found no room.
    pub fn lost_by_worker(&self) -> &[u64] {
        &self.lost
    }

    /// Picoseconds from the beginning of the window to a time in cycles; what lies outside of it is moved to its nearest end.
    pub fn ps(&self, at: u64) -> u64 {
        self.clock.picos(at.clamp(self.began, self.ended) - self.began).0
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
