//! Bytes in, bytes out: requests of the binary protocol and their replies.
//! A worker that has read a datagram calls [`datagram`]; a worker that has read from a connection calls [`serve`] until no whole request is left.
//! Both append to the caller's output and touch nothing else.
//!
//! A connection has no state, because messages have a fixed size and replies may come in any order. So the owner of a connection's bytes may give
//! each request to the runtime by itself.

use caudal_proto::spin::{Parsed, Request, Strange, only};

use crate::service::Service;

/// The result of [`serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Bytes of the input that have been consumed. The next call begins with the byte behind them.
    pub consumed: usize,
    /// The next thing to do.
    pub then: Then,
}

/// The next thing that the caller of [`serve`] has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Read, and call again when the input has at least `needed` bytes, including bytes that were not consumed.
    Read {
        /// Bytes, at least 1.
        needed: usize,
    },
    /// Call again with the input that is left, as another request of the runtime: another message begins there.
    Again,
    /// Send the output and end the connection, which speaks another protocol.
    Close(Strange),
}

/// The request that `input` begins with, if it is whole, without serving it: the caller needs its class.
#[inline]
pub fn peek(input: &[u8]) -> Option<Request> {
    match Request::parse(input) {
        Parsed::Message { message, .. } => Some(message),
        Parsed::Incomplete { .. } | Parsed::Invalid(_) => None,
    }
}

/// Carries out the first request of `input`, which has arrived when the time stamp counter was `arrival`, and appends the reply to `output`.
pub fn serve(service: &Service, input: &[u8], arrival: u64, output: &mut Vec<u8>) -> Served {
    let (message, consumed) = match Request::parse(input) {
        Parsed::Message { message, consumed } => (message, consumed),
        Parsed::Incomplete { needed } => return Served { consumed: 0, then: Then::Read { needed } },
        Parsed::Invalid(strange) => return Served { consumed: 0, then: Then::Close(strange) },
    };
    output.extend_from_slice(&service.carry_out(&message, arrival).encode());
    let then = if input.len() > consumed { Then::Again } else { Then::Read { needed: 1 } };
    Served { consumed, then }
}

/// Carries out the request in a datagram, and appends the reply to `output`. A datagram that is no request gets no reply, because anybody may
/// have sent it.
pub fn datagram(service: &Service, payload: &[u8], arrival: u64, output: &mut Vec<u8>) {
    if let Some(request) = only(Request::parse(payload), payload) {
        output.extend_from_slice(&service.carry_out(&request, arrival).encode());
    }
}
