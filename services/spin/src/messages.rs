//! Bytes in, bytes out: requests of the binary protocol and their replies.
//! A worker that has read a datagram calls [`datagram`]; a worker that has read from a connection calls [`serve`] until no whole request is left.
//! Both append to the caller's output and touch nothing else.
//!
//! A connection has no state, because messages have a fixed size and replies may come in any order. So the owner of a connection's bytes may give
//! each request to the runtime by itself.

use caudal_proto::spin::{Parsed, Request, only};
pub use caudal_proto::stream::{Served, Then};

use crate::service::Service;

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
        // The peer speaks another protocol.
        Parsed::Invalid(_) => return Served { consumed: 0, then: Then::Close },
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
