//! Codecs of the protocols that Caudal's services speak: bytes become messages, and messages become bytes.
//! The services and `caudal-net` call the server's sides, `caudal-load` calls the client's sides.
//!
//! Nothing here opens a socket, reads a clock, starts a thread or allocates while it parses or encodes. Whoever reads from a socket calls a
//! parser with all bytes that it has; the parser says what the first message is and how many bytes it took, or how many bytes it needs.
//! So one buffer may hold a thousand pipelined requests, and a message may arrive in any number of pieces.
//!
//! * [`text`]: memcached's text protocol, both sides, with an extension, `scan`.
//! * [`datagram`]: the frame that memcached puts in front of the text protocol in UDP datagrams.
//! * [`spin`]: a binary protocol of fixed size for synthetic work.
//!
//! ```
//! use caudal_proto::text::{Limits, Line, Parsed, Request, Writer, parse};
//!
//! let input = b"set greeting 0 0 5\r\nhello\r\nget greeting\r\nget gre";
//! let (mut at, mut seen) = (0, Vec::new());
//! while let Parsed::Message { request, consumed } = parse(&input[at..], &Limits::default()) {
//!     seen.push(matches!(request, Request::Store(_)));
//!     at += consumed;
//! }
//! assert_eq!((seen, &input[at..]), (vec![true, false], &b"get gre"[..]));
//!
//! let mut buffer = [0; 64];
//! let mut answers = Writer::new(&mut buffer);
//! answers.line(Line::Stored)?;
//! answers.value(b"greeting", 0, None, b"hello")?;
//! answers.line(Line::End)?;
//! assert_eq!(answers.written(), b"STORED\r\nVALUE greeting 0 5\r\nhello\r\nEND\r\n");
//! # Ok::<(), caudal_proto::Full>(())
//! ```
#![forbid(unsafe_code)]

mod bytes;
pub mod datagram;
pub mod spin;
pub mod stream;
pub mod text;

/// Error of an encoder whose buffer is too small for what it should write. Nothing of it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the buffer has {free} bytes left, and {needed} are needed")]
pub struct Full {
    /// Bytes that would have been written.
    pub needed: usize,
    /// Bytes that the buffer had left.
    pub free: usize,
}
