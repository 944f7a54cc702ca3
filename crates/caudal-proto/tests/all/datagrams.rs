//! The UDP frame: requests of one datagram, replies of several that come in any order, twice, or not at all.

use caudal_proto::datagram::{Added, Assembler, Dropped, HEADER_BYTES, Header, request, split};
use proptest::collection::vec;
use proptest::prelude::*;

/// The datagrams of `reply`.
fn datagrams(number: u16, reply: &[u8], size: usize) -> Vec<Vec<u8>> {
    let pieces = split(number, reply.len(), size).expect("few datagrams");
    assert_eq!(pieces.len(), reply.len().div_ceil(size - HEADER_BYTES));
    pieces.map(|piece| [&piece.header.encode()[..], &reply[piece.bytes]].concat()).collect()
}

fn whole(added: Added<'_>) -> Option<Vec<u8>> {
    match added {
        Added::Whole(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}

fn add(assembler: &mut Assembler, flow: u32, datagram: &[u8]) -> Option<Vec<u8>> {
    let (header, payload) = Header::decode(datagram).expect("a datagram of ours");
    whole(assembler.add(flow, header, payload))
}

#[test]
fn the_frame_has_the_bytes_of_the_protocol() {
    let header = Header { request: 0x0102, sequence: 0x0304, total: 0x0506 };
    assert_eq!(header.encode(), [1, 2, 3, 4, 5, 6, 0, 0]);
    assert_eq!(Header::decode(b"\x01\x02\x03\x04\x05\x06\xff\xffget a\r\n"), Ok((header, &b"get a\r\n"[..])));
}

#[test]
fn requests_are_one_datagram() {
    assert_eq!(request(b"\0\x07\0\0\0\x01\0\0get a\r\n"), Ok((7, &b"get a\r\n"[..])));
    assert_eq!(request(b"\0\x07\0\0\0\x02\0\0get a\r\n"), Err(Dropped::Several));
    assert_eq!(request(b"\0\x07\0\x01\0\x01\0\0get a\r\n"), Err(Dropped::Numbers));
    assert_eq!(request(b"\0\x07\0\0\0\0\0\0get a\r\n"), Err(Dropped::Numbers));
    assert_eq!(request(b"\0\x07\0\0\0\x01\0\0"), Err(Dropped::Short));
    assert_eq!(request(b"\0\x07\0"), Err(Dropped::Short));
    assert_eq!(request(b""), Err(Dropped::Short));
}

#[test]
fn a_reply_with_too_many_datagrams_is_refused() {
    assert!(split(0, 65_535 * 10, 10 + HEADER_BYTES).is_ok());
    assert_eq!(split(0, 65_535 * 10 + 1, 10 + HEADER_BYTES).unwrap_err().reply_bytes, 655_351);
}

#[test]
fn a_reply_that_lacks_a_datagram_gives_way_when_its_room_is_needed() {
    let mut assembler = Assembler::new(2, 1_000, 10);
    let replies: Vec<_> = (0..4_u16).map(|number| datagrams(number, &[number as u8; 25], 20)).collect();
    for reply in &replies[..3] {
        assert_eq!(add(&mut assembler, 0, &reply[0]), None);
    }
    assert_eq!(assembler.given_up(), 1);
    // The first has given way: its other datagrams begin it anew, and it gives way again.
    assert_eq!(add(&mut assembler, 0, &replies[2][1]), None);
    assert_eq!(add(&mut assembler, 0, &replies[2][2]), Some(vec![2; 25]));
    assert_eq!(add(&mut assembler, 0, &replies[1][2]), None);
    assert_eq!(add(&mut assembler, 0, &replies[1][1]), Some(vec![1; 25]));
}

#[test]
fn a_forgotten_reply_is_not_completed() {
    let mut assembler = Assembler::new(2, 1_000, 10);
    let reply = datagrams(5, &[1; 20], 20);
    assert_eq!(add(&mut assembler, 3, &reply[0]), None);
    assembler.forget(4, 5);
    assembler.forget(3, 6);
    assembler.forget(3, 5);
    assert_eq!(add(&mut assembler, 3, &reply[1]), None);
    assert_eq!(assembler.given_up(), 0);
}

#[test]
fn a_reply_of_another_length_by_the_same_number_is_another_reply() {
    let mut assembler = Assembler::new(2, 1_000, 10);
    let (old, new) = (datagrams(5, &[1; 40], 20), datagrams(5, &[2; 20], 20));
    assert_eq!(add(&mut assembler, 0, &old[0]), None);
    assert_eq!(add(&mut assembler, 0, &new[0]), None);
    assert_eq!(add(&mut assembler, 0, &new[1]), Some(vec![2; 20]));
    assert_eq!(assembler.given_up(), 1);
}

#[test]
fn a_reply_beyond_the_limits_is_forgotten() {
    let mut assembler = Assembler::new(1, 30, 3);
    let long = datagrams(1, &[1; 31], 20);
    assert_eq!(add(&mut assembler, 0, &long[0]), None);
    assert_eq!(add(&mut assembler, 0, &long[1]), None);
    let (header, payload) = Header::decode(&long[2]).unwrap();
    assert_eq!(assembler.add(0, header, payload), Added::TooLong);
    let many = datagrams(2, &[1; 29], 16);
    let (header, payload) = Header::decode(&many[3]).unwrap();
    assert_eq!(assembler.add(0, header, payload), Added::TooLong);
}

/// Replies, and an order of their datagrams in which some are lost and some come twice.
fn journeys() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<(usize, usize)>)> {
    vec(vec(any::<u8>(), 1..200), 1..6).prop_flat_map(|replies| {
        let all: Vec<_> = replies
            .iter()
            .enumerate()
            .flat_map(|(reply, bytes)| (0..bytes.len().div_ceil(32)).map(move |piece| (reply, piece)))
            .collect();
        let twice: Vec<_> = all.iter().chain(&all).copied().collect();
        let most = twice.len();
        let order = Just(twice).prop_shuffle().prop_flat_map(move |order| (Just(order), 0..=most));
        (Just(replies), order.prop_map(|(order, come)| order[..come].to_vec()))
    })
}

proptest! {
    /// A reply is whole exactly when its last missing datagram comes, and is what was sent.
    #[test]
    fn replies_are_put_together_from_datagrams_in_any_order((replies, order) in journeys()) {
        let mut assembler = Assembler::new(replies.len(), 200, 10);
        let sent: Vec<_> =
            replies.iter().enumerate().map(|(number, reply)| datagrams(number as u16, reply, 40)).collect();
        let mut come = vec![std::collections::BTreeSet::new(); replies.len()];
        for (reply, piece) in order {
            let fresh = come[reply].insert(piece);
            let complete = come[reply].len() == sent[reply].len();
            let got = add(&mut assembler, 0, &sent[reply][piece]);
            if sent[reply].len() == 1 || (complete && fresh) {
                prop_assert_eq!(got.as_deref(), Some(&replies[reply][..]));
            } else if !complete {
                prop_assert_eq!(got, None);
            }
            if complete {
                // What comes later is a new reply to the assembler; the client has forgotten the request.
                come[reply].clear();
                assembler.forget(0, reply as u16);
            }
        }
        prop_assert_eq!(assembler.given_up(), 0);
    }
}
