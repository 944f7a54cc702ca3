//! Requests that come by UDP: a datagram in, the datagrams of its answer out.
//! A worker that has read a datagram calls [`serve`] with all of it; [`answer`] is the same without memcached's frame.
//!
//! A datagram is a connection of its own that ends with it: all requests in it are carried out in order, and their answers are one reply. A request
//! that is not whole by the end of the datagram gets an error and does nothing. memcached answers such a request with silence, so that its
//! client waits for a time-out.

use caudal_proto::datagram::{HEADER_BYTES, Header, request, split};
use caudal_proto::text::Line;

use crate::kind::Kind;
use crate::service::Service;
use crate::session::{Session, Then};

/// Bytes of a datagram of an answer, with its frame, that pass through every network: memcached's.
pub const DATAGRAM_BYTES: usize = 1_400;

/// The answer to a datagram whose answer is beyond
/// [`Config::datagram_answer_bytes_max`](crate::service::Config::datagram_answer_bytes_max).
pub const TOO_LONG: &[u8] = b"SERVER_ERROR the answer is too long for datagrams, ask by TCP\r\n";

/// The kind of the request in a datagram, which has its frame.
#[inline]
pub fn kind(datagram: &[u8]) -> Kind {
    datagram.get(HEADER_BYTES..).map_or(Kind::Other, Kind::of)
}

/// Carries out the requests in a datagram, which has its frame, and appends the datagrams of the answer to `output`, one after the other: each
/// has `datagram_bytes` bytes, and the last one has what is left. There is no answer if `output` stays as it was: none is wanted, or the datagram is
/// no request. `now` is in seconds since 1970.
///
/// # Panics
/// If a datagram cannot hold the frame and [`TOO_LONG`].
pub fn serve(service: &Service, datagram: &[u8], now: u32, datagram_bytes: usize, output: &mut Vec<u8>) {
    assert!(
        datagram_bytes >= HEADER_BYTES + TOO_LONG.len(),
        "datagrams of {datagram_bytes} bytes cannot hold an answer; allow {} at least",
        HEADER_BYTES + TOO_LONG.len()
    );
    let Ok((number, payload)) = request(datagram) else { return };
    let start = output.len();
    output.extend_from_slice(&[0; HEADER_BYTES]);
    answer(service, payload, now, output);
    let text_start = start + HEADER_BYTES;
    if output.len() == text_start {
        return output.truncate(start);
    }
    let total = match split(number, output.len() - text_start, datagram_bytes) {
        Ok(pieces) => pieces.len(),
        Err(_) => {
            output.truncate(text_start);
            output.extend_from_slice(TOO_LONG);
            1
        }
    };
    frame(number, total, datagram_bytes, start, output);
}

/// Makes `total` datagrams of an answer, in place: the text of each moves back by the frames in front of it, the last one's first. The output has
/// from `start` on room for one frame, and the text of the answer.
///
/// ```text
///  [    ][ text 0      text 1      text 2 ]
///  [head][ text 0 ][head][ text 1 ][head][ text 2 ]
/// ```
fn frame(number: u16, total: usize, datagram_bytes: usize, start: usize, output: &mut Vec<u8>) {
    let text_bytes = datagram_bytes - HEADER_BYTES;
    let text_end = output.len();
    output.resize(text_end + (total - 1) * HEADER_BYTES, 0);
    for sequence in (0..total).rev() {
        let from = start + HEADER_BYTES + sequence * text_bytes;
        let head = start + sequence * datagram_bytes;
        if sequence > 0 {
            output.copy_within(from..(from + text_bytes).min(text_end), head + HEADER_BYTES);
            caudal_probe::probe();
        }
        let header = Header { request: number, sequence: sequence as u16, total: total as u16 };
        output[head..head + HEADER_BYTES].copy_from_slice(&header.encode());
    }
}

/// Carries out the requests in `payload`, which is a datagram without its frame, and appends the answer to `output`. No answer is wanted if that
/// stays as it was. `now` is in seconds since 1970.
///
/// An answer beyond the limit is [`TOO_LONG`] instead; requests before the one that has passed the limit have been carried out then.
pub fn answer(service: &Service, payload: &[u8], now: u32, output: &mut Vec<u8>) {
    let (start, most) = (output.len(), service.config().datagram_answer_bytes_max);
    let mut session = Session::new();
    let mut input = payload;
    loop {
        // The mark is one byte behind the limit, so that an answer that just fits is none that has come to it.
        let served = session.serve_up_to(start + most + 1, service, input, now, output);
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
    if output.len() > start + most {
        output.truncate(start);
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
