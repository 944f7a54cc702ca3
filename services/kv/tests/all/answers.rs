//! Requests in, answers out: the answers are those that memcached 1.6.18 gave when it was asked the same on a fresh server. Those that it has
//! no such request for, or that differ on purpose, are in the last tests.

use caudal_kv::service::{Config, Service};
use caudal_kv::store;

use crate::connection::{Connection, service, small_service};

/// The answers of a fresh server, whose cas numbers begin at 1 whatever the key.
fn fresh(input: &str) -> String {
    let store = store::Config { shards: 1, ..store::Config::default() };
    Connection::new(&Service::new(Config { store, ..Config::default() }, crate::NOW)).ask(input)
}

#[test]
fn answers_are_those_of_memcached() {
    let format = "CLIENT_ERROR bad command line format\r\n";
    let long = "k".repeat(251);
    let cases = [
        ("set a 0 0 1\r\nx\r\nget a\r\n", "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"),
        ("set a 5 0 1\r\nx\r\ngets a b\r\n", "STORED\r\nVALUE a 5 1 1\r\nx\r\nEND\r\n"),
        ("set a 0 0 1\r\nxy\r\nget a\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\nEND\r\n"),
        ("set a 0 -1 1\r\nx\r\nget a\r\n", "STORED\r\nEND\r\n"),
        ("set a 0 0 1 noreply\r\nx\r\nget a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n"),
        ("set a 0 0 0\r\n\r\nget a\r\n", "STORED\r\nVALUE a 0 0\r\n\r\nEND\r\n"),
        (
            "add a 0 0 1\r\nx\r\nadd a 0 0 1\r\ny\r\nreplace a 0 0 1\r\nz\r\nget a\r\n",
            "STORED\r\nNOT_STORED\r\nSTORED\r\nVALUE a 0 1\r\nz\r\nEND\r\n",
        ),
        (
            "append a 0 0 1\r\nx\r\nreplace a 0 0 1\r\nx\r\nprepend a 0 0 1\r\nx\r\n",
            "NOT_STORED\r\nNOT_STORED\r\nNOT_STORED\r\n",
        ),
        (
            "set a 3 0 1\r\nx\r\nappend a 7 0 1\r\ny\r\nprepend a 0 0 1\r\nw\r\nget a\r\n",
            "STORED\r\nSTORED\r\nSTORED\r\nVALUE a 3 3\r\nwxy\r\nEND\r\n",
        ),
        ("cas a 0 0 1 5\r\nx\r\n", "NOT_FOUND\r\n"),
        (
            "set a 0 0 1\r\nx\r\ncas a 0 0 1 999\r\ny\r\nget a\r\n",
            "STORED\r\nEXISTS\r\nVALUE a 0 1\r\nx\r\nEND\r\n",
        ),
        (
            "set n 0 0 20\r\n18446744073709551615\r\nincr n 2\r\nget n\r\ndecr n 5\r\n",
            "STORED\r\n1\r\nVALUE n 0 20\r\n1                   \r\nEND\r\n0\r\n",
        ),
        (
            "set n 0 0 2\r\n10\r\ndecr n 1\r\nget n\r\nincr n 100\r\nget n\r\n",
            "STORED\r\n9\r\nVALUE n 0 2\r\n9 \r\nEND\r\n109\r\nVALUE n 0 3\r\n109\r\nEND\r\n",
        ),
        ("set n 0 0 3\r\n 10\r\nincr n 1\r\nget n\r\n", "STORED\r\n11\r\nVALUE n 0 3\r\n11 \r\nEND\r\n"),
        (
            "set n 0 0 0\r\n\r\nincr n 1\r\n",
            "STORED\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
        ),
        (
            "set n 0 0 2\r\n-1\r\nincr n 1\r\n",
            "STORED\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
        ),
        (
            "incr n 1\r\nincr n x\r\ntouch n 5\r\ntouch n x\r\ndelete n\r\ngat 5 n\r\n",
            "NOT_FOUND\r\nCLIENT_ERROR invalid numeric delta argument\r\nNOT_FOUND\r\nCLIENT_ERROR invalid exptime argument\r\nNOT_FOUND\r\nEND\r\n",
        ),
        (
            "set a 0 0 1\r\nx\r\ntouch a 5\r\ngats 5 a\r\ndelete a 0\r\nget a\r\n",
            "STORED\r\nTOUCHED\r\nVALUE a 0 1 1\r\nx\r\nEND\r\nDELETED\r\nEND\r\n",
        ),
        (
            "set a 0 0 1\r\nx\r\nflush_all\r\nget a\r\nflush_all noreply\r\nverbosity 1\r\nversion\r\nquit\r\nversion\r\n",
            "STORED\r\nOK\r\nEND\r\nOK\r\nVERSION 1.6.18-caudal-0.1.0\r\n",
        ),
        (
            &format!("set a 1 0 1\r\na\r\nget a {long}\r\nget {long}\r\n"),
            &format!("STORED\r\n{format}{format}"),
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(fresh(input), expected, "{}", input.escape_debug());
    }
}

#[test]
fn a_value_that_is_too_large_is_swallowed_and_leaves_no_stale_one() {
    let large = "x".repeat((1 << 20) + 1);
    let bytes = large.len();
    let input = format!("set a 0 0 3\r\nold\r\nset a 0 0 {bytes}\r\n{large}\r\nget a\r\n");
    assert_eq!(fresh(&input), "STORED\r\nSERVER_ERROR object too large for cache\r\nEND\r\n");
    // Another storage command leaves the old one, and a client that wants no answer gets none.
    let input = format!("set a 0 0 3\r\nold\r\nadd a 0 0 {bytes} noreply\r\n{large}\r\nget a\r\n");
    assert_eq!(fresh(&input), "STORED\r\nVALUE a 0 3\r\nold\r\nEND\r\n");
}

#[test]
fn a_key_that_is_too_long_is_refused_and_its_value_swallowed() {
    let key = "k".repeat(251);
    let error = "CLIENT_ERROR bad command line format\r\n";
    let input =
        format!("set {key} 0 0 7\r\nget a\r\n\r\nset {key} 0 0 1 noreply\r\nx\r\nget {key}\r\nget a\r\n");
    assert_eq!(fresh(&input), format!("{error}{error}END\r\n"));
}

#[test]
fn a_value_for_which_there_is_no_memory_is_swallowed_and_leaves_no_stale_one() {
    let store = store::Config { memory_bytes: 1_000, ..store::Config::default() };
    let service = service(Config { store, ..Config::default() });
    let mut connection = Connection::new(&service);
    let value = "x".repeat(5_000);
    let input = format!("set a 0 0 3\r\nold\r\nset a 0 0 5000\r\n{value}\r\nget a\r\n");
    let answers = "STORED\r\nSERVER_ERROR out of memory storing object\r\nEND\r\n";
    assert_eq!(connection.ask(&input), answers);
    // The same when the line comes before its block.
    assert_eq!(connection.ask("set a 0 0 3\r\nold\r\nset a 0 0 5000\r\n"), &answers[..answers.len() - 5]);
    assert_eq!(connection.ask(&format!("{value}\r\nget a\r\n")), "END\r\n");
    assert_eq!(service.store().used_bytes(), 0);
}

#[test]
fn expiries_are_distances_moments_and_the_past() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    let later = crate::NOW + 10;
    let values = "VALUE b 0 1\r\nx\r\nVALUE c 0 1\r\nx\r\nVALUE d 0 1\r\nx\r\nEND\r\n";
    connection.ask(&format!(
        "set a 0 -1 1\r\nx\r\nset b 0 10 1\r\nx\r\nset c 0 {later} 1\r\nx\r\nset d 0 0 1\r\nx\r\n"
    ));
    connection.now += 9;
    assert_eq!(connection.ask("get a b c d\r\n"), values);
    connection.now += 1;
    assert_eq!(connection.ask("get a b c d\r\n"), "VALUE d 0 1\r\nx\r\nEND\r\n");
    assert_eq!(connection.ask("gat 5 d\r\ntouch d 3\r\n"), "VALUE d 0 1\r\nx\r\nEND\r\nTOUCHED\r\n");
    connection.now += 3;
    assert_eq!(connection.ask("get d\r\n"), "END\r\n");
}

#[test]
fn a_flush_with_a_delay_comes_when_it_is_due() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    assert_eq!(connection.ask("set a 0 0 1\r\nx\r\nflush_all 10\r\n"), "STORED\r\nOK\r\n");
    connection.now += 9;
    assert_eq!(connection.ask("set b 0 0 1\r\nx\r\nget a\r\n"), "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
    connection.now += 1;
    assert_eq!(
        connection.ask("get a b\r\nset a 0 0 1\r\ny\r\nget a\r\n"),
        "END\r\nSTORED\r\nVALUE a 0 1\r\ny\r\nEND\r\n"
    );
}

#[test]
fn a_scan_answers_as_a_get_does_and_has_a_cursor_where_one_was_sent() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    assert_eq!(connection.ask("scan 10\r\nscan 10 at 0\r\n"), "END\r\nEND\r\n");
    connection.ask("set a 1 0 1\r\nx\r\nset b 2 0 1\r\ny\r\n");
    let one = connection.ask("scan 1\r\n");
    assert!(one == "VALUE a 1 1\r\nx\r\nEND\r\n" || one == "VALUE b 2 1\r\ny\r\nEND\r\n", "{one}");
    let both = connection.ask("scan 10\r\n");
    assert_eq!(both.matches("VALUE ").count(), 2);
    let begun = connection.ask("scan 1 at 0\r\n");
    let cursor =
        begun.split("CURSOR ").nth(1).and_then(|rest| rest.strip_suffix("\r\nEND\r\n")).expect("a cursor");
    let rest = connection.ask(&format!("scan 10 at {cursor}\r\n"));
    let (first, _) = begun.split_once("CURSOR").expect("a cursor");
    assert_eq!(format!("{first}{rest}"), both);
    assert!(connection.ask("scan 1 from b\r\n").starts_with("VALUE b 2 1\r\n"));
}

#[test]
fn other_protocols_and_meta_commands_are_errors() {
    assert_eq!(fresh("mg a v\r\nms a 1\r\nversion\r\n"), "ERROR\r\nERROR\r\nVERSION 1.6.18-caudal-0.1.0\r\n");
    let service = small_service();
    let mut connection = Connection::new(&service);
    assert_eq!(connection.send(b"get a\r\n\x80\0\0\0version\r\n"), b"END\r\nERROR\r\n");
    assert!(connection.is_closed);
    for silent in
        ["GET / HTTP/1.1\r\nversion\r\n".to_owned(), "z".repeat(3_000), "quit\r\nversion\r\n".to_owned()]
    {
        let mut connection = Connection::new(&service);
        assert_eq!((connection.ask(&silent).as_str(), connection.is_closed), ("", true), "{silent}");
    }
}
