//! Requests and what becomes of them, line by line, after memcached's protocol description and the answers of memcached 1.6.18.

use caudal_proto::text::{Closing, Limits, Line, Parsed, parse};

/// The answers and deeds of a server for `input`, in words.
fn session(input: &[u8]) -> String {
    let limits = Limits { value_bytes_max: 100, get_line_bytes_max: 5_000, scan_items_max: 50 };
    let (mut at, mut said) = (0, String::new());
    while at < input.len() {
        let answer = |answer: Option<Line>| {
            answer.map_or("quiet".into(), |line| line.text().escape_ascii().to_string())
        };
        let words = match parse(&input[at..], &limits) {
            Parsed::Message { request, consumed } => {
                at += consumed;
                format!("{request:?}").split([' ', '(']).next().unwrap().to_owned()
            }
            Parsed::Incomplete { needed } => {
                assert!(needed > input.len() - at, "asks for what it has");
                said.push_str("more");
                return said;
            }
            Parsed::Block { line, line_bytes, needed } => {
                assert_eq!(needed, line_bytes + line.data_bytes + 2);
                said.push_str("block");
                return said;
            }
            Parsed::Skip { answer: line, invalidates, consumed, skip } => {
                at = (at + consumed + skip).min(input.len());
                let forgotten =
                    invalidates.map_or(String::new(), |key| format!(" without {}", key.escape_ascii()));
                format!("skip {skip}{forgotten} {}", answer(line))
            }
            Parsed::Invalid { answer: line, consumed } => {
                at += consumed;
                answer(line)
            }
            Parsed::Close { reason } => {
                said.push_str(&format!("close {reason:?}"));
                return said;
            }
        };
        said.push_str(&words);
        said.push('|');
    }
    said.pop();
    said
}

const FORMAT: &str = r"CLIENT_ERROR bad command line format\r\n";
const CHUNK: &str = r"CLIENT_ERROR bad data chunk\r\n";
const ERROR: &str = r"ERROR\r\n";
const EXPTIME: &str = r"CLIENT_ERROR invalid exptime argument\r\n";
const DELTA: &str = r"CLIENT_ERROR invalid numeric delta argument\r\n";
const USAGE: &str = r"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
const LARGE: &str = r"SERVER_ERROR object too large for cache\r\n";

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (input, expected) in cases {
        assert_eq!(session(input.as_bytes()), *expected, "{}", input.escape_debug());
    }
}

#[test]
fn lines_end_with_a_newline_and_may_have_a_return() {
    check(&[
        ("get a\r\n", "Get"),
        ("get a\n", "Get"),
        (" get a\r\n", "Get"),
        ("get  a  b \r\n", "Get"),
        ("\r\n", ERROR),
        ("\n", ERROR),
        (" \r\n", ERROR),
        ("\r\r\n", ERROR),
        ("get a\r", "more"),
        ("g", "more"),
        ("get a\r\nget b\r\nversion\nget", "Get|Get|Version|more"),
    ]);
}

#[test]
fn unknown_commands_and_wrong_numbers_of_words_are_errors() {
    check(&[
        ("boguscommand x\r\n", ERROR),
        ("GET a\r\n", ERROR),
        ("x\r\n", ERROR),
        ("mg a\r\n", ERROR),
        ("get\r\n", ERROR),
        ("gets \r\n", ERROR),
        ("gat\r\n", ERROR),
        ("gat 5\r\n", ERROR),
        ("set a 0 0\r\n", ERROR),
        ("set a 0 0 1 noreply x\r\nversion\r\n", &format!("{ERROR}|Version")),
        ("cas a 0 0 1\r\nx\r\n", &format!("{ERROR}|{ERROR}")),
        ("incr a\r\n", ERROR),
        ("touch a\r\n", ERROR),
        ("delete\r\n", ERROR),
        ("delete a b c d\r\n", ERROR),
        ("flush_all 0 0 noreply\r\n", ERROR),
        ("verbosity\r\n", ERROR),
        ("verbosity 0 0 0\r\n", ERROR),
        ("scan\r\n", ERROR),
        ("scan 1 at 0 0\r\n", ERROR),
    ]);
}

#[test]
fn keys_have_up_to_250_bytes_and_no_control_characters() {
    let (longest, too_long) = ("k".repeat(250), "k".repeat(251));
    let many = "a ".repeat(50);
    check(&[
        (&format!("get {longest}\r\n"), "Get"),
        (&format!("get {longest}\n"), "Get"),
        (&format!("get {too_long}\r\n"), FORMAT),
        (&format!("get a {too_long}\r\nget a\r\n"), &format!("{FORMAT}|Get")),
        (&format!("get {many}{too_long}\r\n"), FORMAT),
        (&format!("gat 5 {too_long}\r\n"), FORMAT),
        (&format!("incr {too_long} 1\r\n"), FORMAT),
        (&format!("touch {too_long} 1\r\n"), FORMAT),
        (&format!("delete {too_long}\r\n"), FORMAT),
        (&format!("scan 1 from {too_long}\r\n"), FORMAT),
        (&format!("set {too_long} 0 0 1\r\nx\r\nversion\r\n"), &format!("skip 3 {FORMAT}|Version")),
        ("get a\tb\r\n", FORMAT),
        ("get a\0b\r\n", FORMAT),
        ("get a\r\r\n", FORMAT),
        ("get a\u{7f}\r\n", FORMAT),
        ("get schlüssel\r\n", "Get"),
        ("set a\rb 0 0 1\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
    ]);
}

#[test]
fn data_blocks_have_the_length_that_their_line_says() {
    check(&[
        ("set a 0 0 1\r\nx\r\n", "Store"),
        ("set a 0 0 1\nx\r\n", "Store"),
        ("set a 0 0 0\r\n\r\n", "Store"),
        ("set a 0 0 1\r\nx", "block"),
        ("set a 0 0 1\r\nx\r", "block"),
        ("set a 0 0 1\r\nxy\r\n", &format!("{CHUNK}|{ERROR}")),
        ("set a 0 0 1\nx\n\nget a\r\n", &format!("{CHUNK}|Get")),
        ("set a 0 0 5\r\nab\r\nc\r\n", "Store"),
        ("set a 0 0 1 noreply\r\nxyz\r", "quiet|more"),
        ("set a 0 0 -1\r\n", FORMAT),
        ("set a 0 0 1x\r\nversion\r\n", &format!("{FORMAT}|Version")),
        ("set a 0 0 2147483646\r\nversion\r\n", &format!("{FORMAT}|Version")),
        ("set a 0 0 4294967295\r\nversion\r\n", &format!("{FORMAT}|Version")),
        ("set a 0 0 99999999999999999999999\r\n", FORMAT),
        ("set a 0 0 noreply\r\n", "quiet"),
        (
            "append a 0 0 1\r\nx\r\nprepend a 0 0 1\r\nx\r\nadd a 0 0 1\r\nx\r\nreplace a 0 0 1\r\nx\r\n",
            "Store|Store|Store|Store",
        ),
        ("set a 0 0 1 bogus\r\nx\r\n", "Store"),
    ]);
}

#[test]
fn a_refused_storage_command_takes_its_data_block_with_it() {
    let large = "x".repeat(101);
    check(&[
        (&format!("set a 0 0 100\r\n{}\r\n", &large[1..]), "Store"),
        (&format!("set a 0 0 101\r\n{large}\r\nversion\r\n"), &format!("skip 103 without a {LARGE}|Version")),
        (&format!("add a 0 0 101\r\n{large}\r\nversion\r\n"), &format!("skip 103 {LARGE}|Version")),
        (&format!("set a 0 0 101 noreply\r\n{large}\r\nversion\r\n"), "skip 103 without a quiet|Version"),
        ("set a 0 0 101\r\n", &format!("skip 103 without a {LARGE}")),
        ("set a 0 0 2147483645\r\n", &format!("skip 2147483647 without a {LARGE}")),
        ("set a b 0 1\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
        ("set a -1 0 1\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
        ("set a 4294967296 0 1\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
        ("set a 4294967295 0 1\r\nx\r\nversion\r\n", "Store|Version"),
        ("set a 0 x 1\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
        ("cas a 0 0 1 x\r\nx\r\nversion\r\n", &format!("skip 3 {FORMAT}|Version")),
        ("cas a 0 0 1 18446744073709551616\r\nx\r\n", &format!("skip 3 {FORMAT}")),
        ("cas a 0 0 1 -5 noreply\r\nx\r\n", "skip 3 quiet"),
        ("cas a 0 0 1 5 noreply\r\nx\r\n", "Store"),
    ]);
}

#[test]
fn numbers_are_checked_and_noreply_silences_what_is_wrong() {
    check(&[
        ("incr a 1\r\ndecr a 1 noreply\r\n", "Arithmetic|Arithmetic"),
        ("incr a 18446744073709551615\r\n", "Arithmetic"),
        ("incr a 18446744073709551616\r\n", DELTA),
        ("incr a -1\r\n", DELTA),
        ("incr a x noreply\r\n", "quiet"),
        ("touch a 0\r\ntouch a -1\r\ntouch a 5 noreply\r\n", "Touch|Touch|Touch"),
        ("touch a x\r\n", EXPTIME),
        ("touch a x noreply\r\n", "quiet"),
        ("gat x a\r\n", EXPTIME),
        ("gat -1 a\r\ngats 0 a b\r\n", "GetAndTouch|GetAndTouch"),
        (
            "delete a\r\ndelete a 0\r\ndelete a noreply\r\ndelete a 0 noreply\r\n",
            "Delete|Delete|Delete|Delete",
        ),
        ("delete a 5\r\n", USAGE),
        ("delete a 5 noreply\r\n", "quiet"),
        ("delete a noreply 0\r\n", USAGE),
        ("delete noreply\r\n", "Delete"),
        (
            "flush_all\r\nflush_all 10\r\nflush_all -1\r\nflush_all noreply\r\nflush_all 0 noreply\r\nflush_all 0 x\r\n",
            "FlushAll|FlushAll|FlushAll|FlushAll|FlushAll|FlushAll",
        ),
        ("flush_all x\r\n", EXPTIME),
        ("flush_all noreply 0\r\n", EXPTIME),
        ("flush_all x noreply\r\n", "quiet"),
        ("verbosity 0\r\nverbosity 9 noreply\r\n", "Verbosity|Verbosity"),
        ("verbosity x\r\n", FORMAT),
        ("verbosity noreply\r\n", "quiet"),
        ("version x\r\nquit now\r\nstats\r\nstats slabs x\r\n", "Version|Quit|Stats|Stats"),
    ]);
}

#[test]
fn scans_have_a_limit_and_a_beginning() {
    check(&[
        ("scan 10\r\nscan 10 from k\r\nscan 10 at 0\r\n", "Scan|Scan|Scan"),
        ("scan 0\r\n", FORMAT),
        ("scan x\r\n", FORMAT),
        ("scan 10 from\r\n", FORMAT),
        ("scan 10 at x\r\n", FORMAT),
        ("scan 10 to k\r\n", FORMAT),
    ]);
}

#[test]
fn lines_that_do_not_end_close_the_connection() {
    let close = format!("close {:?}", Closing::LineTooLong);
    let gets = format!("gets {}\r\n", "k ".repeat(1_300));
    assert_eq!(session(gets.as_bytes()), "Get");
    assert_eq!(session(&gets.as_bytes()[..2_600]), "more");
    let spaced = |spaces: usize| format!("{}{gets}", " ".repeat(spaces));
    check(&[
        (&"z".repeat(2_048), "more"),
        (&"z".repeat(2_049), &close),
        (&format!("{}\n", "z".repeat(2_048)), ERROR),
        (&format!("{}\n", "z".repeat(2_049)), &close),
        (&spaced(100), "Get"),
        (&spaced(101), &close),
        (&format!("get {}", "k ".repeat(2_498)), "more"),
        (&format!("get {}\n", "k ".repeat(2_498)), "Get"),
        (&format!("get {}k\n", "k ".repeat(2_498)), &close),
        (&format!("set {} 0 0 1", "k".repeat(2_048)), &close),
    ]);
}

#[test]
fn what_speaks_another_protocol_is_closed() {
    let (http, binary) = (format!("close {:?}", Closing::Http), format!("close {:?}", Closing::Binary));
    check(&[
        ("GET / HTTP/1.0\r\n", &http),
        ("DELETE HTTP/1.1\r\n", &http),
        ("HTTP/1.1\r\n", &http),
        ("version HTTP/1.1\r\n", "Version"),
    ]);
    assert_eq!(session(b"\x80\x01\0\0"), binary);
    assert_eq!(session(b"get a\r\n\x80"), format!("Get|{binary}"));
}
