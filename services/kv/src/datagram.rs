//! Requests that come by UDP: the payload of a datagram in, the bytes of an answer out.
//! A worker that has read a datagram calls [`answer`] with what is behind memcached's frame, and cuts the answer into datagrams by
//! [`caudal_proto::datagram::split`].
//!
//! A datagram is a connection of its own that ends with it: all requests in it are carried out in order, and their answers are one reply. A request
//! that is not whole by the end of the datagram gets an error and does nothing. memcached answers such a request with silence, so that its
//! client waits for a time-out.

use caudal_proto::text::Line;

use crate::service::Service;
use crate::session::{Session, Then};

/// The answer to a datagram whose answer is beyond
/// [`Config::datagram_answer_bytes_max`](crate::service::Config::datagram_answer_bytes_max).
pub const TOO_LONG: &[u8] = b"SERVER_ERROR the answer is too long for datagrams, ask by TCP\r\n";

/// Carries out the requests in `payload`, which is a datagram without its frame, and appends the answer to `output`, which has no other
/// bytes. No answer is wanted if it stays empty. `now` is in seconds since 1970.
///
/// An answer beyond the limit is [`TOO_LONG`] instead; requests before the one that has passed the limit have been carried out then.
///
/// # Panics
/// If the output is not empty.
pub fn answer(service: &Service, payload: &[u8], now: u32, output: &mut Vec<u8>) {
    assert!(output.is_empty(), "the output has {} bytes of another answer", output.len());
    let most = service.config().datagram_answer_bytes_max;
    let mut session = Session::new();
    let mut input = payload;
    loop {
        // The mark is one byte behind the limit, so that an answer that just fits is none that has come to it.
        let served = session.serve_up_to(most + 1, service, input, now, output);
        input = &input[served.consumed..];
        match served.then {
            Then::Again => {}
            Then::Read { .. } => {
                unfinished(&session, input, output);
                break;
            }
            Then::Send | Then::Close => break,
        }
    }
    if output.len() > most {
        output.clear();
        output.extend_from_slice(TOO_LONG);
    }
}

/// Answers what is left of a datagram when its last whole request is done.
fn unfinished(session: &Session, left: &[u8], output: &mut Vec<u8>) {
    let answer = match session.misses() {
        _ if !left.is_empty() => Line::Error,
        Some(answer) => answer,
        None => return,
    };
    output.extend_from_slice(answer.text());
}
