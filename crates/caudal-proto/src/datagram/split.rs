//! How a server cuts a reply into datagrams.
//! It calls [`split`] for every reply that goes out by UDP.

use std::ops::Range;

use super::{HEADER_BYTES, Header};

/// One datagram of a reply: send the frame, and this part of the reply behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The frame.
    pub header: Header,
    /// Bytes of the reply.
    pub bytes: Range<usize>,
}

/// The datagrams of a reply, in order.
#[derive(Clone, Debug)]
pub struct Pieces {
    next: Header,
    reply_bytes: usize,
    payload_bytes: usize,
}

/// Error of a reply with more datagrams than the frame can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply of {reply_bytes} bytes has more than 65,535 datagrams")]
pub struct TooLong {
    /// Bytes of the reply.
    pub reply_bytes: usize,
}

/// Cuts a reply of `reply_bytes` bytes into datagrams of at most `datagram_bytes` bytes with their frames. memcached's have 1,400.
///
/// # Errors
/// [`TooLong`].
///
/// # Panics
/// If a datagram has no room behind its frame, or the reply is empty.
pub fn split(request: u16, reply_bytes: usize, datagram_bytes: usize) -> Result<Pieces, TooLong> {
    assert!(
        datagram_bytes > HEADER_BYTES,
        "a datagram of {datagram_bytes} bytes has no room behind its frame"
    );
    assert!(reply_bytes > 0, "an empty reply is no datagram");
    let payload_bytes = datagram_bytes - HEADER_BYTES;
    let total = u16::try_from(reply_bytes.div_ceil(payload_bytes)).map_err(|_| TooLong { reply_bytes })?;
    Ok(Pieces { next: Header { request, sequence: 0, total }, reply_bytes, payload_bytes })
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let header = self.next;
        if header.sequence == header.total {
            return None;
        }
        let start = usize::from(header.sequence) * self.payload_bytes;
        let bytes = start..(start + self.payload_bytes).min(self.reply_bytes);
        self.next.sequence += 1;
        Some(Piece { header, bytes })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.next.total - self.next.sequence);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Pieces {}
