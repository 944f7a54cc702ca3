//! The result of parsing: a request, a refusal, or what is missing.
//! The parser and its part for storage commands make it, servers match it.

use super::answer::Line;
use super::request::{Request, StoreLine};

/// The result of [`parse`](super::parse()) at the beginning of its input. It always takes bytes, asks for more of them, or ends the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed<'a> {
    /// A whole request.
    Message {
        /// The request.
        request: Request<'a>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Part of a line.
    Incomplete {
        /// Bytes that the input must have at least before there can be another result.
        needed: usize,
    },
    /// A whole line of a storage command, without all of its data block. Who keeps the bytes and waits for `needed` of them gets
    /// the whole message; who reads large values straight to where they stay takes `line_bytes` and reads the block by itself, with
    /// two bytes behind it, which [`block_ends`](super::block_ends) looks at.
    Block {
        /// The line.
        line: StoreLine<'a>,
        /// Bytes that the line took.
        line_bytes: usize,
        /// Bytes that the input must have before the message is whole.
        needed: usize,
    },
    /// A storage command that is refused while its data block is on its way.
    Skip {
        /// The answer; none if the client wants none.
        answer: Option<Line>,
        /// The key whose old value must go, because a client that set a new one must not find the old one.
        invalidates: Option<&'a [u8]>,
        /// Bytes that the line took.
        consumed: usize,
        /// Bytes behind it that have to be dropped, whenever they come.
        skip: usize,
    },
    /// A line that is no request, or a data block that does not end where it should.
    Invalid {
        /// The answer; none if the client wants none.
        answer: Option<Line>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Nothing that can be answered: the connection ends.
    Close {
        /// The reason, for the log.
        reason: Closing,
    },
}

/// The reason for which a connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    /// A line does not end.
    #[error("a line is longer than its limit")]
    LineTooLong,
    /// A browser, or something that makes a browser attack the cache.
    #[error("a request of HTTP")]
    Http,
    /// A client that speaks memcached's binary protocol.
    #[error("a request of the binary protocol, which is not spoken here")]
    Binary,
}
