//! What clients read: every reply that servers write, and what no server writes.

use caudal_proto::text::{Failure, Line, ParsedReply, Reply, Strange, Writer, parse_reply, value_bytes};
use proptest::prelude::*;

use crate::strategies::{data, key, reply};

const LIMIT: usize = 1_000;

fn parsed(input: &[u8]) -> Option<(Reply<'_>, usize)> {
    match parse_reply(input, LIMIT) {
        ParsedReply::Message { reply, consumed } => Some((reply, consumed)),
        _ => None,
    }
}

#[test]
fn every_line_is_read_as_what_it_is() {
    for line in Line::ALL {
        let text = line.text();
        let (reply, consumed) = parsed(text).expect("a reply");
        assert_eq!(consumed, text.len());
        assert!(reply.is_last());
        let whole = text.strip_suffix(b"\r\n").unwrap();
        let failed = |failure| Reply::Failed { failure, text: whole };
        let expected = match line {
            Line::Error => failed(Failure::Unknown),
            Line::Overloaded => failed(Failure::Overloaded),
            _ if text.starts_with(b"CLIENT_ERROR ") => failed(Failure::Client),
            _ if text.starts_with(b"SERVER_ERROR ") => failed(Failure::Server),
            line => Reply::Line(line),
        };
        assert_eq!(reply, expected);
    }
}

#[test]
fn the_other_replies_are_read_as_what_they_are() {
    let cases: [(&[u8], Reply<'_>); 9] = [
        (b"VALUE k 7 3\r\na\r\n\r\n", Reply::Value { key: b"k", flags: 7, cas: None, data: b"a\r\n" }),
        (b"VALUE k 0 0 42\r\n\r\n", Reply::Value { key: b"k", flags: 0, cas: Some(42), data: b"" }),
        (b"17\r\n", Reply::Number(17)),
        (b"9 \r\n", Reply::Number(9)),
        (b"VERSION 1.6.18\r\n", Reply::Version(b"1.6.18")),
        (b"CURSOR 18446744073709551615\r\n", Reply::Cursor(u64::MAX)),
        (b"STAT version 1.6.18 (x)\r\n", Reply::Stat { name: b"version", value: b"1.6.18 (x)" }),
        (b"STAT empty \r\n", Reply::Stat { name: b"empty", value: b"" }),
        (
            b"ERROR: shutdown not enabled\r\n",
            Reply::Failed { failure: Failure::Unknown, text: b"ERROR: shutdown not enabled" },
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(parsed(input), Some((expected, input.len())), "{}", input.escape_ascii());
    }
    assert!(!Reply::Cursor(0).is_last() && !parsed(b"STAT a b\r\n").unwrap().0.is_last());
}

#[test]
fn what_is_no_reply_is_refused_with_the_reason() {
    let long = [b'S'; 2_049];
    let cases: [(&[u8], Strange); 14] = [
        (b"VALUE k 0 3\r\nabcd\r\n", Strange::Block),
        (b"VALUE k 0 3\r\nabc\n\n", Strange::Block),
        (b"VALUE k 0 1001\r\n", Strange::Value),
        (b"VALUE k 0 99999999999999999999999\r\n", Strange::Value),
        (b"VALUE k 4294967296 1\r\n", Strange::Value),
        (b"VALUE k x 1\r\n", Strange::Value),
        (b"VALUE k 0\r\n", Strange::Value),
        (b"VALUE  0 1\r\n", Strange::Value),
        (b"VALUE k 0 1 \r\n", Strange::Value),
        (b"STORED x\r\n", Strange::Line),
        (b"HELLO\r\n", Strange::Line),
        (b"\r\n", Strange::Line),
        (b"12x\r\n", Strange::Line),
        (&long, Strange::LineTooLong),
    ];
    for (input, expected) in cases {
        assert_eq!(parse_reply(input, LIMIT), ParsedReply::Invalid(expected), "{}", input.escape_ascii());
    }
}

#[test]
fn an_item_that_does_not_fit_is_not_written() {
    let mut buffer = [0; 20];
    let mut writer = Writer::new(&mut buffer);
    writer.line(Line::Ok).unwrap();
    let full = writer.value(b"key", 0, None, b"value").unwrap_err();
    assert_eq!((full.needed, full.free), (22, 16));
    assert_eq!(writer.written(), b"OK\r\n");
    writer.truncate(0);
    assert!(writer.value_line(b"key", 0, None, 5).is_ok());
    assert_eq!(writer.written(), b"VALUE key 0 5\r\n");
}

proptest! {
    #[test]
    fn an_item_takes_as_many_bytes_as_was_said(key in key(), flags: u32, cas: Option<u64>, data in data()) {
        let mut buffer = vec![0; value_bytes(&key, flags, cas, data.len())];
        let mut writer = Writer::new(&mut buffer);
        writer.value(&key, flags, cas, &data).unwrap();
        prop_assert_eq!(writer.free(), 0);
        let expected = Reply::Value { key: &key, flags, cas, data: &data };
        prop_assert_eq!(parsed(writer.written()), Some((expected, writer.written().len())));
        let mut parts = vec![0; writer.written().len()];
        let mut in_parts = Writer::new(&mut parts);
        in_parts.value_line(&key, flags, cas, data.len()).unwrap();
        in_parts.raw(&data).unwrap();
        in_parts.raw(b"\r\n").unwrap();
        prop_assert_eq!(in_parts.written(), writer.written());
    }

    #[test]
    fn what_servers_write_is_read(bytes in reply()) {
        let (_, consumed) = parsed(&bytes).expect("a reply");
        prop_assert_eq!(consumed, bytes.len());
    }
}
