//! Requests that come in datagrams.

use caudal_kv::datagram::{TOO_LONG, answer};
use caudal_kv::service::{Config, Service};

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
