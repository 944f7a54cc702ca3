//! The interface between the measurement and a service, and the requests of a service. Each service of this program implements
//! [`Service`]; `measure.rs` calls it, on one thread: `reset` at the begin of a pass, then `serve` and `settle` for each request.

use anyhow::Result;

use crate::units::Units;

/// A microservice that answers one request after the other.
pub(crate) trait Service {
    /// Names of the kinds of requests; empty where they are all of one kind.
    const CLASSES: &'static [&'static str];

    /// The clock by which its requests are timed.
    const CLOCK: Clock = Clock::Wall;

    /// Goes back to the state before the first request, so that each pass begins with the same state.
    fn reset(&mut self) -> Result<()>;

    /// Answers `request` into `reply`, which is empty. This is what is timed.
    fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served>;

    /// Does the work that remains when the reply has left; not timed. Also checks the reply, where that is cheap.
    fn settle(&mut self, request: &[u8], reply: &[u8]) -> Result<()>;

    /// The clock readings within a request, if its requests repeat the same work many times; else none.
    fn units(&mut self) -> Option<&mut Units> {
        None
    }

    /// How many words, keys … a request has.
    fn items(_request: &[u8]) -> usize {
        1
    }
}

/// The clock that times requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The time from beginning to end, in stretches without a disturbance.
    Wall,
    /// The time that the thread had its core. It is for requests that take longer than the time between two interrupts by the timer,
    /// because none of these would ever be undisturbed.
    Thread,
}

/// How a request was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// Index into [`Service::CLASSES`].
    pub(crate) class: u8,
    /// Time to be added to what was measured, because a model stands for a part of the service.
    pub(crate) modelled_ns: u64,
}

/// Requests back to back in memory, as a connection's buffer would hold them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    pub(crate) fn push(&mut self, request: &[u8]) {
        self.bytes.extend_from_slice(request);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[begin..self.ends[index]]
    }
}
