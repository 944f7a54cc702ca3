//! The result of a call that carries out requests of a connection, for services that speak any protocol over a stream of bytes: how much of the input
//! is done with, and what comes next. Services answer it from their sessions, and whoever has the connection's socket does as it says.

/// The result of a call that was given the input of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Bytes of the input that are done with, at most all. The next call begins with the byte after them.
    pub consumed: usize,
    /// The next thing to do with the connection.
    pub then: Then,
}

/// The next thing to do with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Send the answer, read, and call again when the input has at least `needed` bytes, those included that were not consumed.
    Read {
        /// Bytes, at least 1.
        needed: usize,
    },
    /// Send the answer, and call again with the input that is left when the answer is gone, whether or not more has come: the answer has become
    /// long.
    Send,
    /// Call again with the input that is left, as another request of the runtime: a request begins there that is to be scheduled by itself, or one
    /// such has ended.
    Again,
    /// Send the answer and end the connection.
    Close,
}
