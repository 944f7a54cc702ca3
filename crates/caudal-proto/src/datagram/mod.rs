//! memcached's UDP frame: eight bytes in front of the text protocol in every datagram.
//! Servers take requests apart and split replies with it, clients put replies together again.
//!
//! ```text
//!  0         2         4         6         8
//!  +---------+---------+---------+---------+------------------------
//!  | request | number  | how many|    0    | text protocol …
//!  +---------+---------+---------+---------+------------------------
//!   the       of the    there are reserved
//!   client's  datagram, of this
//!             from 0    message             all numbers of 16 bits, the high byte first
//! ```
//!
//! A request is one datagram; a reply may be several, which can be lost, doubled and reordered. [`Assembler`] puts them together.

mod assemble;
mod split;

pub use assemble::{Added, Assembler};
pub use split::{Piece, Pieces, TooLong, split};

/// Bytes of the frame.
pub const HEADER_BYTES: usize = 8;

/// The frame's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The client's number of the request, which the reply repeats.
    pub request: u16,
    /// The number of the datagram in its message, from 0.
    pub sequence: u16,
    /// How many datagrams the message has.
    pub total: u16,
}

impl Header {
    /// The header of a message that is one datagram, as all requests are.
    pub const fn single(request: u16) -> Header {
        Header { request, sequence: 0, total: 1 }
    }

    /// The bytes of the frame.
    #[inline]
    pub const fn encode(self) -> [u8; HEADER_BYTES] {
        let ([r0, r1], [s0, s1], [t0, t1]) =
            (self.request.to_be_bytes(), self.sequence.to_be_bytes(), self.total.to_be_bytes());
        [r0, r1, s0, s1, t0, t1, 0, 0]
    }

    /// The frame of a datagram and what is behind it. The reserved bytes may be anything, as in memcached.
    ///
    /// # Errors
    /// [`Dropped::Short`], [`Dropped::Numbers`].
    #[inline]
    pub fn decode(datagram: &[u8]) -> Result<(Header, &[u8]), Dropped> {
        let (&[r0, r1, s0, s1, t0, t1, _, _], payload) =
            datagram.split_first_chunk().ok_or(Dropped::Short)?;
        let header = Header {
            request: u16::from_be_bytes([r0, r1]),
            sequence: u16::from_be_bytes([s0, s1]),
            total: u16::from_be_bytes([t0, t1]),
        };
        if payload.is_empty() {
            return Err(Dropped::Short);
        }
        if header.sequence >= header.total { Err(Dropped::Numbers) } else { Ok((header, payload)) }
    }
}

/// The reason for which a datagram is dropped without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// There is no frame, or nothing behind it.
    #[error("the datagram has no frame, or nothing behind it")]
    Short,
    /// It is not one of so many datagrams as it says.
    #[error("the datagram's number is not below the number of datagrams")]
    Numbers,
    /// The request has several datagrams.
    #[error("the request has several datagrams")]
    Several,
}

/// The number of a request and its text. Like memcached, which looks at nothing but the number of datagrams, this drops requests of
/// several datagrams.
///
/// # Errors
/// [`Dropped`]: memcached answers nothing then, and so should a server.
#[inline]
pub fn request(datagram: &[u8]) -> Result<(u16, &[u8]), Dropped> {
    match Header::decode(datagram)? {
        (Header { request, total: 1, .. }, payload) => Ok((request, payload)),
        _ => Err(Dropped::Several),
    }
}
