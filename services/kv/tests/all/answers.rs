//! Requests in, answers out, through codec and store as a session would: the answers are those that memcached 1.6.18 gave when it was
//! asked the same on a fresh server.

use std::ops::ControlFlow;

use caudal_kv::store::{Cursor, NoRoom, NotCounted, Store, Stored};
use caudal_proto::text::{Keys, Limits, Line, Parsed, Request, Scan, ScanStart, Writer, parse};

use crate::{NOW, small_store};

/// The answers to all requests of `input`.
fn session(store: &Store, input: &[u8]) -> String {
    let limits = Limits::default();
    let mut buffer = vec![0; 1 << 16];
    let mut writer = Writer::new(&mut buffer);
    let mut at = 0;
    while at < input.len() {
        let answer = match parse(&input[at..], &limits) {
            Parsed::Message { request: Request::Quit, .. } | Parsed::Close { .. } => break,
            Parsed::Message { request, consumed } => {
                at += consumed;
                answer(store, &request, &mut writer)
            }
            Parsed::Invalid { answer, consumed } => {
                at += consumed;
                answer
            }
            Parsed::Skip { answer, invalidates, consumed, skip } => {
                at += consumed + skip;
                if let Some(key) = invalidates {
                    store.delete(key, NOW);
                }
                answer
            }
            Parsed::Incomplete { .. } | Parsed::Block { .. } => break,
        };
        if let Some(line) = answer {
            writer.line(line).expect("it fits");
        }
    }
    String::from_utf8(writer.written().to_vec()).expect("a test's values are text")
}

/// Carries out a request. What is no single line is written at once.
fn answer(store: &Store, request: &Request<'_>, writer: &mut Writer<'_>) -> Option<Line> {
    let (line, noreply) = match *request {
        Request::Get { keys, with_cas } => {
            return retrieve(keys, with_cas, writer, |key| store.get(key, NOW));
        }
        Request::GetAndTouch { exptime, keys, with_cas } => {
            return retrieve(keys, with_cas, writer, |key| store.get_and_touch(key, exptime, NOW));
        }
        Request::Store(put) => {
            let line = put.line;
            let stored = match store.store(line.mode, line.key, line.flags, line.exptime, put.data, NOW) {
                Ok(Stored::Stored) => Line::Stored,
                Ok(Stored::NotStored) => Line::NotStored,
                Ok(Stored::Exists) => Line::Exists,
                Ok(Stored::NotFound) => Line::NotFound,
                Err(NoRoom::TooLarge) => Line::TooLarge,
                Err(NoRoom::OutOfMemory) => Line::OutOfMemory,
            };
            (stored, line.noreply)
        }
        Request::Arithmetic { key, direction, delta, noreply } => {
            match store.arithmetic(key, direction, delta, NOW) {
                Ok(number) if !noreply => {
                    writer.number(number).expect("it fits");
                    return None;
                }
                Ok(_) => return None,
                Err(NotCounted::NotFound) => (Line::NotFound, noreply),
                Err(NotCounted::NonNumeric) => (Line::NonNumeric, noreply),
            }
        }
        Request::Touch { key, exptime, noreply } => {
            (if store.touch(key, exptime, NOW) { Line::Touched } else { Line::NotFound }, noreply)
        }
        Request::Delete { key, noreply } => {
            (if store.delete(key, NOW) { Line::Deleted } else { Line::NotFound }, noreply)
        }
        Request::FlushAll { delay, noreply } => {
            store.flush_all(delay, NOW);
            (Line::Ok, noreply)
        }
        Request::Scan(scan) => return scanned(store, scan, writer),
        Request::Verbosity { noreply, .. } => (Line::Ok, noreply),
        Request::Stats { .. } => (Line::End, false),
        Request::Version | Request::Quit => {
            writer.version(b"1.6.18").expect("it fits");
            return None;
        }
    };
    (!noreply).then_some(line)
}

fn retrieve(
    keys: Keys<'_>,
    with_cas: bool,
    writer: &mut Writer<'_>,
    get: impl Fn(&[u8]) -> Option<caudal_kv::store::Item>,
) -> Option<Line> {
    for item in keys.iter().filter_map(get) {
        // Numbers are this store's own: a test that asks for them sees that there is one.
        let cas = with_cas.then_some(item.cas).map(|cas| cas.min(1));
        writer.value(item.key(), item.flags, cas, item.data()).expect("it fits");
    }
    Some(Line::End)
}

fn scanned(store: &Store, scan: Scan<'_>, writer: &mut Writer<'_>) -> Option<Line> {
    let (from, with_cursor) = match scan.start {
        ScanStart::First => (Cursor::START, false),
        ScanStart::Key(key) => (store.cursor_of(key, NOW), false),
        ScanStart::Cursor(cursor) => (Cursor(cursor), true),
    };
    let end = store.scan(from, scan.limit, NOW, |item| {
        match writer.value(item.key(), item.flags, None, item.data()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    if let Some(cursor) = end.next.filter(|_| with_cursor) {
        writer.cursor(cursor.0).expect("it fits");
    }
    Some(Line::End)
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
            "STORED\r\nOK\r\nEND\r\nOK\r\nVERSION 1.6.18\r\n",
        ),
        (
            &format!("set a 1 0 1\r\na\r\nget a {long}\r\nget {long}\r\n"),
            &format!("STORED\r\n{format}{format}"),
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(session(&small_store(), input.as_bytes()), expected, "{}", input.escape_debug());
    }
}

#[test]
fn a_value_that_is_too_large_leaves_no_stale_one() {
    let store = small_store();
    let large = "x".repeat((1 << 20) + 1);
    let input = format!("set a 0 0 3\r\nold\r\nset a 0 0 {}\r\n{large}\r\nget a\r\n", large.len());
    assert_eq!(
        session(&store, input.as_bytes()),
        "STORED\r\nSERVER_ERROR object too large for cache\r\nEND\r\n"
    );
}

#[test]
fn a_scan_answers_as_a_get_does_and_has_a_cursor_where_one_was_sent() {
    let store = small_store();
    assert_eq!(session(&store, b"scan 10\r\nscan 10 at 0\r\n"), "END\r\nEND\r\n");
    session(&store, b"set a 1 0 1\r\nx\r\nset b 2 0 1\r\ny\r\n");
    let one = session(&store, b"scan 1\r\n");
    assert!(one == "VALUE a 1 1\r\nx\r\nEND\r\n" || one == "VALUE b 2 1\r\ny\r\nEND\r\n", "{one}");
    let both = session(&store, b"scan 10\r\n");
    assert_eq!(both.matches("VALUE ").count(), 2);
    let begun = session(&store, b"scan 1 at 0\r\n");
    let cursor =
        begun.split("CURSOR ").nth(1).and_then(|rest| rest.strip_suffix("\r\nEND\r\n")).expect("a cursor");
    let rest = session(&store, format!("scan 10 at {cursor}\r\n").as_bytes());
    let (first, _) = begun.split_once("CURSOR").expect("a cursor");
    assert_eq!(format!("{first}{rest}"), both);
    assert!(session(&store, b"scan 1 from b\r\n").starts_with("VALUE b 2 1\r\n"));
}
