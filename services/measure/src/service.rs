//! What a service is to the measurement, and its requests.

use anyhow::Result;

use crate::units::Units;

/// A microservice that answers one request after the other.
pub(crate) trait Service {
    /// Names of the kinds of requests; empty where they are all of one kind.
    const CLASSES: &'static [&'static str];

    /// What its requests are timed by.
    const CLOCK: Clock = Clock::Wall;

    /// Back to the state before the first request, so that a second pass meets what the first one met.
    fn reset(&mut self) -> Result<()>;

    /// Answers `request` into `reply`, which is empty. This is what is timed.
    fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served>;

    /// What remains to be done when the reply has left; not timed. Also checks the reply, where that is cheap.
    fn settle(&mut self, request: &[u8], reply: &[u8]) -> Result<()>;

    /// Where it says how far it is with a request, if its requests are the same work many times over.
    fn units(&mut self) -> Option<&mut Units> {
        None
    }

    /// How many words, keys … a request has.
    fn items(_request: &[u8]) -> usize {
        1
    }
}

/// What a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// From the beginning to the end, in stretches that nothing disturbed.
    Wall,
    /// What the thread got of its core: for requests that take longer than from one interrupt by the timer to the next,
    /// none of which would ever be undisturbed.
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
