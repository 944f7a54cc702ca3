//! What requests say, and that a request that was encoded is parsed as itself.

use caudal_proto::text::{
    Keys, Limits, Parsed, Request, Scan, ScanStart, Store, StoreLine, StoreMode, Writer, block_ends, parse,
};
use proptest::prelude::*;

use crate::strategies::{encoded, request};

#[track_caller]
fn only(input: &[u8]) -> Request<'_> {
    match parse(input, &Limits::default()) {
        Parsed::Message { request, consumed } if consumed == input.len() => request,
        other => panic!("{}: {other:?}", input.escape_ascii()),
    }
}

#[test]
fn a_storage_command_says_what_is_stored_and_how() {
    let line =
        StoreLine { mode: StoreMode::Cas(7), key: b"k", flags: 5, exptime: -1, data_bytes: 4, noreply: true };
    assert_eq!(
        only(b"cas k 5 -1 4 7 noreply\r\n\r\n\r\n\r\n"),
        Request::Store(Store { line, data: b"\r\n\r\n" })
    );
    let Parsed::Block { line, line_bytes, needed } = parse(b"set k 1 2 3\r\nab", &Limits::default()) else {
        panic!()
    };
    assert_eq!(
        (line.mode, line.key, line.flags, line.exptime, line.data_bytes),
        (StoreMode::Set, &b"k"[..], 1, 2, 3)
    );
    assert_eq!((line_bytes, needed), (13, 18));
    assert!(block_ends(*b"\r\n") && !block_ends(*b"\n\r"));
}

#[test]
fn a_retrieval_has_its_keys_in_order() {
    let Request::Get { keys, with_cas: true } = only(b"gets a  bb ccc \r\n") else { panic!() };
    assert_eq!(keys.iter().collect::<Vec<_>>(), [&b"a"[..], b"bb", b"ccc"]);
    let Request::GetAndTouch { exptime: 3, keys, with_cas: false } = only(b"gat 3 z\r\n") else { panic!() };
    assert_eq!((keys.first(), keys.iter().count()), (&b"z"[..], 1));
}

/// Both ways through the parser give the same: that of most requests, and that of all others.
#[test]
fn a_get_of_one_key_is_the_same_however_it_is_written() {
    let key = |keys: Keys<'_>| keys.iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
    for length in 1..=250 {
        let name = "k".repeat(length);
        for end in ["\r\n", "\n", " \r\n"] {
            let line = format!("get {name}{end}");
            let Request::Get { keys, with_cas: false } = only(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(key(keys), [name.as_bytes()]);
        }
    }
}

#[test]
fn a_scan_asks_for_no_more_than_the_limit() {
    let scan = |start| Request::Scan(Scan { limit: 10_000, start });
    assert_eq!(only(b"scan 99999999999999\r\n"), scan(ScanStart::First));
    assert_eq!(only(b"scan 10000 from k\r\n"), scan(ScanStart::Key(b"k")));
    assert_eq!(only(b"scan 10000 at 18446744073709551615\r\n"), scan(ScanStart::Cursor(u64::MAX)));
}

#[test]
fn a_request_that_does_not_fit_is_not_written() {
    let data = [b'x'; 100];
    let line =
        StoreLine { mode: StoreMode::Set, key: b"k", flags: 0, exptime: 0, data_bytes: 100, noreply: false };
    let request = Request::Store(Store { line, data: &data });
    let whole = encoded(&request);
    for size in 0..whole.len() {
        let mut buffer = vec![0; size];
        let mut writer = Writer::new(&mut buffer);
        assert!(writer.request(&request).is_err());
        assert!(writer.written().is_empty());
    }
}

#[test]
fn a_thousand_requests_come_from_one_buffer() {
    let mut input = Vec::new();
    for index in 0..500 {
        input.extend(format!("set key-{index} 0 0 3\r\nabc\r\nget key-{index}\r\n").into_bytes());
    }
    let (mut at, mut requests) = (0, 0);
    while at < input.len() {
        let Parsed::Message { consumed, .. } = parse(&input[at..], &Limits::default()) else {
            panic!("at {at}")
        };
        at += consumed;
        requests += 1;
    }
    assert_eq!(requests, 1_000);
}

proptest! {
    #[test]
    fn an_encoded_request_is_parsed_as_itself(bytes in request()) {
        let limits = Limits { scan_items_max: 1_000, ..Limits::default() };
        let Parsed::Message { request, consumed } = parse(&bytes, &limits) else {
            panic!("{}", bytes.escape_ascii());
        };
        prop_assert_eq!(consumed, bytes.len());
        let again = encoded(&request);
        let Parsed::Message { request: same, .. } = parse(&again, &limits) else { panic!() };
        prop_assert_eq!(same, request);
    }
}
