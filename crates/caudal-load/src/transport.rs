//! The way to a service and back: commands go out, answers come in, and nothing waits.
//! The generator's loop calls it in each turn, on one thread. The sockets, the ring and the tests' simulated services implement it.

use crate::traffic::Command;

/// Requests that every transport has room for, whatever capacity is asked for: making a service ready takes so many.
pub const ROOM_MIN: u32 = 64;

/// The outcome of a request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The service has done what was asked.
    Done,
    /// There is no such key.
    Missing,
    /// The service is overloaded and has not begun.
    Refused,
    /// The service answered with an error.
    Failed,
    /// The value is not that of the key.
    Wrong,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number that the request was sent with.
    pub id: u32,
    /// Its outcome.
    pub outcome: Outcome,
}

/// A way to a service.
pub trait Transport {
    /// Takes a command, which leaves with the next [`flush`](Transport::flush) at the latest. `id` is below the capacity that the
    /// generator was made with, and no other request of the same number waits.
    ///
    /// # Errors
    /// [`Broken`]: nothing can be sent any more.
    fn send(&mut self, id: u32, command: Command) -> Result<(), Broken>;

    /// Sends what was taken.
    ///
    /// # Errors
    /// As [`send`](Transport::send).
    fn flush(&mut self) -> Result<(), Broken>;

    /// Appends the answers that have come, and does not wait for any.
    ///
    /// # Errors
    /// As [`send`](Transport::send).
    fn poll(&mut self, answers: &mut Vec<Answer>) -> Result<(), Broken>;

    /// Hears that the generator has given a request up.
    fn forget(&mut self, id: u32);

    /// Datagrams that had arrived at this process and found no room, so far.
    fn lost_datagrams(&self) -> u64 {
        0
    }

    /// Datagrams that belong to no request that waits, so far, other than those that are given as answers.
    fn stray(&self) -> u64 {
        0
    }

    /// The first error that the service answered with, if any.
    fn first_failure(&self) -> Option<&str> {
        None
    }
}

/// The reason for which the way to a service is of no more use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);
