//! However a stream is cut into reads, the same messages come out of it; and parsers always go on.

use caudal_proto::spin;
use caudal_proto::text::{Limits, Parsed, ParsedReply, parse, parse_reply};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::strategies::{anything, reply};

const LIMITS: Limits = Limits { value_bytes_max: 50, get_line_bytes_max: 4_000, scan_items_max: 1_000 };

/// The results of a stream that arrives in `reads`, as text, for a server that keeps what it has read and waits for what is asked of it.
fn requests(reads: &[&[u8]]) -> Vec<String> {
    let (mut buffer, mut messages, mut skip) = (Vec::new(), Vec::new(), 0);
    for read in reads {
        let dropped = skip.min(read.len());
        skip -= dropped;
        buffer.extend_from_slice(&read[dropped..]);
        let mut at = 0;
        loop {
            let input = &buffer[at..];
            let parsed = parse(input, &LIMITS);
            match parsed {
                Parsed::Message { consumed, .. } | Parsed::Invalid { consumed, .. } => {
                    assert!(0 < consumed && consumed <= input.len());
                    messages.push(format!("{parsed:?}"));
                    at += consumed;
                }
                Parsed::Skip { consumed, skip: more, .. } => {
                    assert!(0 < consumed && consumed <= input.len());
                    messages.push(format!("{parsed:?}"));
                    let dropped = more.min(input.len() - consumed);
                    skip = more - dropped;
                    at += consumed + dropped;
                }
                Parsed::Incomplete { needed } | Parsed::Block { needed, .. } => {
                    assert!(needed > input.len());
                    break;
                }
                Parsed::Close { .. } => {
                    messages.push(format!("{parsed:?}"));
                    return messages;
                }
            }
        }
        buffer.drain(..at);
    }
    messages
}

fn replies(reads: &[&[u8]]) -> Vec<String> {
    let (mut buffer, mut messages) = (Vec::new(), Vec::new());
    for read in reads {
        buffer.extend_from_slice(read);
        let mut at = 0;
        loop {
            let input = &buffer[at..];
            let parsed = parse_reply(input, 100);
            match parsed {
                ParsedReply::Message { consumed, .. } => {
                    assert!(0 < consumed && consumed <= input.len());
                    messages.push(format!("{parsed:?}"));
                    at += consumed;
                }
                ParsedReply::Incomplete { needed } => {
                    assert!(needed > input.len());
                    break;
                }
                ParsedReply::Invalid(_) => {
                    messages.push(format!("{parsed:?}"));
                    return messages;
                }
            }
        }
        buffer.drain(..at);
    }
    messages
}

/// `stream` cut after the bytes that `cuts` say, and each byte by itself.
fn each_way<T: PartialEq + std::fmt::Debug>(
    stream: &[u8],
    cuts: &[prop::sample::Index],
    of: impl Fn(&[&[u8]]) -> T,
) {
    let whole = of(&[stream]);
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    places.sort_unstable();
    let mut reads = Vec::new();
    let mut from = 0;
    for place in places {
        reads.push(&stream[from..place]);
        from = place;
    }
    reads.push(&stream[from..]);
    assert_eq!(of(&reads), whole);
    assert_eq!(of(&stream.chunks(1).collect::<Vec<_>>()), whole);
}

#[test]
fn a_line_that_is_too_long_ends_the_connection_however_it_comes() {
    for (name, length) in [("z", 2_048), ("z", 2_049), ("get ", 4_000), ("get ", 4_001), ("gets ", 2_500)] {
        let stream =
            [name.as_bytes(), &b"k ".repeat(2_100)[..length - name.len()], b"\nversion\r\n"].concat();
        let whole = requests(&[&stream]);
        for at in [1, 3, 5, 2_000, 2_047, 2_048, 2_049, 2_050, 2_051, length - 1, length, length + 1] {
            assert_eq!(
                requests(&[&stream[..at], &stream[at..]]),
                whole,
                "{name} of {length} bytes, cut at {at}"
            );
        }
    }
}

proptest! {
    #[test]
    fn requests_are_the_same_however_the_stream_is_cut(
        pieces in vec(anything(), 0..8), cuts in vec(any::<prop::sample::Index>(), 0..6)
    ) {
        each_way(&pieces.concat(), &cuts, requests);
    }

    #[test]
    fn replies_are_the_same_however_the_stream_is_cut(
        pieces in vec(prop_oneof![5 => reply(), 1 => vec(any::<u8>(), 0..30)], 0..8),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
    ) {
        each_way(&pieces.concat(), &cuts, replies);
    }

    #[test]
    fn any_bytes_are_taken_asked_for_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        requests(&[&bytes]);
        replies(&[&bytes]);
        for parsed in [spin::Request::parse(&bytes).into_consumed(), spin::Reply::parse(&bytes).into_consumed()] {
            prop_assert!(parsed.is_none_or(|consumed| 0 < consumed && consumed <= bytes.len()));
        }
    }
}

/// The bytes that a message took, for both kinds of message.
trait Consumed {
    fn into_consumed(self) -> Option<usize>;
}

impl<T> Consumed for spin::Parsed<T> {
    fn into_consumed(self) -> Option<usize> {
        match self {
            spin::Parsed::Message { consumed, .. } => Some(consumed),
            _ => None,
        }
    }
}
