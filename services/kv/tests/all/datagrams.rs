//! Requests that come in datagrams.

use caudal_kv::datagram::{DATAGRAM_BYTES, TOO_LONG, answer, kind, serve};
use caudal_kv::kind::Kind;
use caudal_kv::service::{Config, Service};

use caudal_proto::datagram::{Added, Assembler, Header};

use crate::NOW;
use crate::connection::{service, small_service};

fn ask(service: &Service, payload: &[u8]) -> String {
    let mut output = Vec::new();
    answer(service, payload, NOW, &mut output);
    String::from_utf8(output).expect("a test's values are text")
}

#[test]
fn all_requests_of_a_datagram_are_one_answer() {
    let service = small_service();
    assert_eq!(
        ask(&service, b"set a 0 0 1\r\nx\r\nscan 5\r\nget a\r\n"),
        "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\nVALUE a 0 1\r\nx\r\nEND\r\n"
    );
    assert_eq!(ask(&service, b"set a 0 0 1 noreply\r\ny\r\n"), "");
    assert_eq!(ask(&service, b"get a\r\nquit\r\nversion\r\n"), "VALUE a 0 1\r\ny\r\nEND\r\n");
    assert_eq!(ask(&service, b""), "");
}

#[test]
fn a_request_that_is_not_whole_is_an_error_and_does_nothing() {
    let service = small_service();
    assert_eq!(ask(&service, b"get a"), "ERROR\r\n");
    assert_eq!(ask(&service, b"set a 0 0 5\r\nabc"), "CLIENT_ERROR bad data chunk\r\n");
    assert_eq!(ask(&service, b"set a 0 0 5\r\nabcde\r"), "CLIENT_ERROR bad data chunk\r\n");
    assert_eq!(ask(&service, b"set a 0 0 5 noreply\r\nabc"), "");
    assert_eq!(ask(&service, b"set a 0 0 2000000\r\nabc"), "SERVER_ERROR object too large for cache\r\n");
    assert_eq!(ask(&service, b"\x80\x00\x00"), "ERROR\r\n");
    assert_eq!(ask(&service, b"get a\r\n"), "END\r\n");
    assert_eq!(service.store().used_bytes(), 0);
}

#[test]
fn an_answer_beyond_the_limit_is_an_error() {
    let service = service(Config { datagram_answer_bytes_max: 5_000, ..Config::default() });
    let value = "v".repeat(2_000);
    for key in ["a", "b", "c"] {
        assert_eq!(ask(&service, format!("set {key} 0 0 2000\r\n{value}\r\n").as_bytes()), "STORED\r\n");
    }
    assert!(ask(&service, b"get a b\r\n").len() > 4_000);
    assert_eq!(ask(&service, b"get a b c\r\n").as_bytes(), TOO_LONG);
    assert_eq!(ask(&service, b"get a b c a b c\r\n").as_bytes(), TOO_LONG);
    // An answer that just fits is one: its line, its value, and the two ends.
    let value = "v".repeat(5_000 - "VALUE d 0 4975\r\n\r\nEND\r\n".len());
    ask(&service, format!("set d 0 0 {}\r\n{value}\r\n", value.len()).as_bytes());
    assert_eq!(ask(&service, b"get d\r\n").len(), 5_000);
}

/// The answer to a datagram of this request, put together from its datagrams as a client does, and how many there were.
fn ask_framed(service: &Service, number: u16, text: &[u8], datagram_bytes: usize) -> (Vec<u8>, usize) {
    let mut output = b"of an earlier one".to_vec();
    let begin = output.len();
    let datagram = [&Header::single(number).encode()[..], text].concat();
    serve(service, &datagram, NOW, datagram_bytes, &mut output);
    let mut assembler = Assembler::new(1, 1 << 20, 1_000);
    let datagrams: Vec<_> = output[begin..].chunks(datagram_bytes).collect();
    // The last one first: the order of datagrams is the network's.
    for (left, datagram) in datagrams.iter().enumerate().rev() {
        let (header, payload) = Header::decode(datagram).expect("a frame and a text");
        assert_eq!((header.request, usize::from(header.sequence)), (number, left));
        match assembler.add(0, header, payload) {
            Added::Whole(answer) => return (answer.to_vec(), datagrams.len()),
            added => assert_eq!((added, left > 0), (Added::Waits, true)),
        }
    }
    (Vec::new(), 0)
}

#[test]
fn an_answer_is_cut_into_datagrams_with_frames() {
    let service = small_service();
    assert_eq!(ask_framed(&service, 7, b"set a 0 0 1\r\nx\r\n", DATAGRAM_BYTES), (b"STORED\r\n".to_vec(), 1));
    assert_eq!(ask_framed(&service, 7, b"delete a noreply\r\n", DATAGRAM_BYTES), (Vec::new(), 0));
    let value: String = (0..50_000).map(|index| char::from(b'a' + (index % 23) as u8)).collect();
    ask(&service, format!("set a 0 0 50000\r\n{value}\r\n").as_bytes());
    let expected = format!("VALUE a 0 50000\r\n{value}\r\nEND\r\n");
    for datagram_bytes in [100, 1_000, DATAGRAM_BYTES, 50_031, 50_032, 50_033, 60_000] {
        let (answer, datagrams) = ask_framed(&service, 65_535, b"get a\r\n", datagram_bytes);
        assert!(answer == expected.as_bytes(), "{datagram_bytes}");
        assert_eq!(datagrams, expected.len().div_ceil(datagram_bytes - 8), "{datagram_bytes}");
    }
}

#[test]
fn datagrams_that_are_no_request_get_no_answer() {
    let service = small_service();
    let second = Header { request: 1, sequence: 1, total: 2 };
    for datagram in
        [&b""[..], b"get a", &Header::single(1).encode(), &[&second.encode()[..], b"get a\r\n"].concat()]
    {
        let mut output = Vec::new();
        serve(&service, datagram, NOW, DATAGRAM_BYTES, &mut output);
        assert_eq!(output, b"");
    }
}

#[test]
fn the_kind_of_a_datagram_is_that_of_its_first_request() {
    let framed = |text: &[u8]| kind(&[&Header::single(1).encode()[..], text].concat());
    assert_eq!(framed(b"get a\r\nscan 5\r\n"), Kind::Get);
    assert_eq!(framed(b"scan 5\r\n"), Kind::Scan);
    assert_eq!(kind(b"get a"), Kind::Other);
}
