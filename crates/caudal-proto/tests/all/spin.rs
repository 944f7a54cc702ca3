//! The protocol of synthetic work.

use caudal_proto::spin::{Parsed, REPLY_BYTES, REQUEST_BYTES, Reply, Request, Status, Strange, Times, only};
use proptest::prelude::*;

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![Just(Status::Done), Just(Status::Overloaded), Just(Status::Invalid)]
}

/// The layout is what other programs rely on: these bytes must not change within a version.
#[test]
fn messages_have_the_bytes_that_are_documented() {
    let request = Request { number: 0x0102_0304_0506_0708, class: 0x0a0b, work_ns: 500 };
    assert_eq!(
        request.encode(),
        [0xca, 0x5d, 1, 1, 0x0a, 0x0b, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 1, 0xf4]
    );
    let times = Some(Times { sojourn_ns: 3, service_ns: 2 });
    let reply = Reply { number: 9, class: 1, status: Status::Overloaded, times };
    let expected = [
        0xca, 0x5d, 1, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9, //
        0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2,
    ];
    assert_eq!(reply.encode(), expected);
}

#[test]
fn what_is_no_message_is_refused_with_the_reason() {
    let good = Request { number: 1, class: 0, work_ns: 1 }.encode();
    let with = |at: usize, byte: u8| {
        let mut bytes = good;
        bytes[at] = byte;
        Request::parse(&bytes)
    };
    assert_eq!(with(0, 0), Parsed::Invalid(Strange::Magic));
    assert_eq!(with(2, 2), Parsed::Invalid(Strange::Version(2)));
    assert_eq!(with(3, 2), Parsed::Invalid(Strange::Kind(2)));
    assert_eq!(with(7, 1), Parsed::Invalid(Strange::Field));
    assert_eq!(Reply::parse(&good), Parsed::Invalid(Strange::Kind(1)));
    let reply = Reply { number: 1, class: 0, status: Status::Done, times: None }.encode();
    for (at, byte) in [(6, 3), (7, 2), (31, 1)] {
        let mut bytes = reply;
        bytes[at] = byte;
        assert_eq!(Reply::parse(&bytes), Parsed::Invalid(Strange::Field), "byte {at}");
    }
    let two = [good, good].concat();
    assert_eq!(only(Request::parse(&two), &two), None);
    assert!(only(Request::parse(&good), &good).is_some());
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written(number: u64, class: u16, work_ns: u64, behind: Vec<u8>) {
        let request = Request { number, class, work_ns };
        let bytes = request.encode();
        for length in 0..bytes.len() {
            prop_assert_eq!(Request::parse(&bytes[..length]), Parsed::Incomplete { needed: REQUEST_BYTES });
        }
        let stream = [&bytes[..], &behind].concat();
        prop_assert_eq!(Request::parse(&stream), Parsed::Message { message: request, consumed: REQUEST_BYTES });
    }

    #[test]
    fn replies_are_read_as_they_were_written(number: u64, class: u16, status in status(), times: Option<(u64, u64)>) {
        let times = times.map(|(sojourn_ns, service_ns)| Times { sojourn_ns, service_ns });
        let reply = Reply { number, class, status, times };
        let bytes = reply.encode();
        for length in 0..bytes.len() {
            prop_assert_eq!(Reply::parse(&bytes[..length]), Parsed::Incomplete { needed: REPLY_BYTES });
        }
        prop_assert_eq!(Reply::parse(&bytes), Parsed::Message { message: reply, consumed: REPLY_BYTES });
    }
}
