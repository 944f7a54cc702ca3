//! What a session promises: answers depend on the bytes and not on their pieces, output is bounded, and scans stand alone.

use caudal_kv::service::{Config, Service};
use caudal_kv::session::{Served, Session, Then};
use caudal_kv::store;
use caudal_proto::text::Line;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::NOW;
use crate::connection::{Connection, service, small_service};

/// Limits so small that streams of a few requests come to them.
fn narrow() -> Service {
    let config = Config { output_bytes_mark: 40, scan_bytes_max: 60, ..Config::default() };
    let store = store::Config { value_bytes_max: 50, ..config.store };
    service(Config { store, ..config })
}

/// Requests, such that look like some, and their pieces.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let value = vec(any::<u8>(), 0..60);
    let mode = prop_oneof!["set", "add", "replace", "append", "prepend"];
    let store =
        (mode, 0..5_u8, value, prop_oneof!["", " noreply"]).prop_map(|(mode, key, value, noreply)| {
            let line = format!("{mode} key-{key} {key} 0 {}{noreply}\r\n", value.len());
            [line.as_bytes(), &value, b"\r\n"].concat()
        });
    let text = "(get|gets|gat 0|gats 9) key-[0-5]( key-[0-5]){0,6}\r\n\
                |(incr|decr) key-[0-5] [0-9]{1,3}( noreply|)\r\n|(delete|touch) key-[0-5]( 0| noreply|)\r\n\
                |scan [1-9]( at [0-9]{1,2}| from key-[0-5]|)\r\n|stats settings\r\n|(version|verbosity 1|flush_all)\r\n\
                |(set|cas) key-[0-5] 0 0 [0-9]{1,2}\r\nabc\r\n|[a-z ]{0,9}\r\n";
    prop_oneof![2 => store, 4 => text.prop_map(String::into_bytes)]
}

/// The answers to a stream that comes in pieces of these lengths, over and over.
fn answers(service: &Service, stream: &[u8], lengths: &[usize]) -> (Vec<u8>, usize) {
    let mut connection = Connection::new(service);
    let (mut answers, mut rest) = (Vec::new(), stream);
    for length in lengths.iter().cycle() {
        let (piece, behind) = rest.split_at(rest.len().min(*length));
        answers.append(&mut connection.send(piece));
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    (answers, connection.output_bytes_max)
}

proptest! {
    #[test]
    fn answers_depend_on_the_bytes_and_not_on_their_pieces(
        requests in vec(request(), 1..12), lengths in vec(1..80_usize, 1..5)
    ) {
        let stream = requests.concat();
        let (whole, most) = answers(&narrow(), &stream, &[usize::MAX]);
        let (pieces, _) = answers(&narrow(), &stream, &lengths);
        prop_assert_eq!(pieces.escape_ascii().to_string(), whole.escape_ascii().to_string());
        // Limits of output do not show either.
        let wide = service(Config {
            store: *narrow().store().config(), scan_bytes_max: 60, ..Config::default()
        });
        let settings = |answers: &[u8]| answers.windows(25).any(|bytes| bytes == b"STAT output_bytes_mark 40");
        if !settings(&whole) {
            prop_assert_eq!(&answers(&wide, &stream, &[usize::MAX]).0, &whole);
            // The mark, and one value or one scan beyond it.
            prop_assert!(most < 40 + 60 + 80, "{}", most);
        }
    }
}

#[test]
fn a_get_of_many_keys_stops_at_the_mark_and_goes_on() {
    let service = service(Config { output_bytes_mark: 10_000, ..Config::default() });
    let mut connection = Connection::new(&service);
    let value = "v".repeat(6_000);
    let mut expected = String::new();
    for index in 0..100 {
        connection.ask(&format!("set k{index} 0 0 6000 noreply\r\n{value}\r\n"));
        expected.push_str(&format!("VALUE k{index} 0 6000\r\n{value}\r\n"));
    }
    let keys: Vec<_> = (0..100).map(|index| format!("k{index}")).collect();
    let answer = connection.ask(&format!("get {}\r\nversion\r\n", keys.join(" ")));
    assert_eq!(answer, format!("{expected}END\r\nVERSION 1.6.18-caudal-0.1.0\r\n"));
    assert!((10_000..16_100).contains(&connection.output_bytes_max), "{}", connection.output_bytes_max);
}

#[test]
fn an_output_that_nobody_sends_makes_a_session_wait() {
    let service = service(Config { output_bytes_mark: 10, ..Config::default() });
    let (mut session, mut output) = (Session::new(), vec![b'x'; 10]);
    for _ in 0..2 {
        let served = session.serve(&service, b"version\r\n", NOW, &mut output);
        assert_eq!(served, Served { consumed: 0, then: Then::Send });
    }
    output.clear();
    let served = session.serve(&service, b"version\r\n", NOW, &mut output);
    assert_eq!(served, Served { consumed: 9, then: Then::Send });
    output.clear();
    let served = session.serve(&service, b"", NOW, &mut output);
    assert_eq!(served, Served { consumed: 0, then: Then::Read { needed: 1 } });
}

#[test]
fn a_thousand_pipelined_requests_are_answered_in_order() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    let (mut input, mut expected) = (String::new(), String::new());
    for index in 0..1_000 {
        input.push_str(&format!("set k 0 0 4\r\n{index:04}\r\nget k\r\n"));
        expected.push_str(&format!("STORED\r\nVALUE k 0 4\r\n{index:04}\r\nEND\r\n"));
    }
    assert_eq!(connection.ask(&input), expected);
}

#[test]
fn a_scan_is_carried_out_alone() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    let answer = connection.ask("set a 0 0 1\r\nx\r\nget a\r\nscan 5\r\nscan 5\r\nget a\r\n");
    let item = "VALUE a 0 1\r\nx\r\nEND\r\n";
    assert_eq!(answer, format!("STORED\r\n{}", item.repeat(4)));
    assert_eq!(connection.again, 3, "before the first, between them, and behind the last");
    // Alone in a burst, it needs no further call.
    assert_eq!(connection.ask("scan 5\r\n"), item);
    assert_eq!(connection.again, 3);
}

#[test]
fn a_scan_ends_before_it_is_too_long_and_gives_one_item_at_least() {
    let service = service(Config { scan_bytes_max: 10_000, ..Config::default() });
    let mut connection = Connection::new(&service);
    for index in 0..50 {
        let bytes = if index % 10 == 0 { 20_000 } else { 900 };
        connection.ask(&format!("set k{index} 0 0 {bytes} noreply\r\n{}\r\n", "v".repeat(bytes)));
    }
    let (mut cursor, mut items) = ("0".to_owned(), 0);
    for calls in 0.. {
        assert!(calls < 100, "it ends");
        let answer = connection.ask(&format!("scan 1000 at {cursor}\r\n"));
        let here = answer.matches("VALUE ").count();
        assert!(answer.len() < 10_100 || here == 1, "{} bytes", answer.len());
        items += here;
        let Some((_, rest)) = answer.split_once("CURSOR ") else { break };
        assert!(here > 0);
        cursor = rest.strip_suffix("\r\nEND\r\n").expect("it is last").to_owned();
    }
    assert_eq!(items, 50);
}

#[test]
fn a_connection_that_ends_within_a_value_has_changed_nothing() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    connection.ask("set a 0 0 3\r\nold\r\n");
    let used = service.store().used_bytes();
    assert_eq!(connection.ask("set a 0 0 1000\r\nnew"), "");
    assert!(service.store().used_bytes() > used, "memory is taken when the line has come");
    drop(connection);
    assert_eq!(service.store().used_bytes(), used);
    assert_eq!(Connection::new(&service).ask("get a\r\n"), "VALUE a 0 3\r\nold\r\nEND\r\n");
}

#[test]
fn a_value_is_taken_off_the_input_as_it_comes() {
    let service = small_service();
    let (mut session, mut output) = (Session::new(), Vec::new());
    let line = b"set a 0 0 500000\r\n";
    let read = Then::Read { needed: 1 };
    let mut serve = |input: &[u8]| session.serve(&service, input, NOW, &mut output);
    assert_eq!(serve(line), Served { consumed: line.len(), then: read });
    for _ in 0..500 {
        assert_eq!(serve(&[b'v'; 1_000]), Served { consumed: 1_000, then: read });
    }
    assert_eq!(serve(b"\r"), Served { consumed: 1, then: read });
    assert_eq!(serve(b"\nget"), Served { consumed: 1, then: Then::Read { needed: 4 } });
    assert_eq!(output, Line::Stored.text());
    assert_eq!(service.store().get(b"a", NOW).unwrap().data(), vec![b'v'; 500_000]);
}

#[test]
#[should_panic(expected = "at the beginning of the input no longer")]
fn an_input_that_goes_on_elsewhere_is_a_fault_of_the_caller() {
    let service = service(Config { output_bytes_mark: 1, ..Config::default() });
    let mut output = Vec::new();
    let mut session = Session::new();
    session.serve(&service, b"set a 0 0 1 noreply\r\nx\r\nget a b\r\n", NOW, &mut output);
    output.clear();
    session.serve(&service, b"b\r\n", NOW, &mut output);
}

/// A scan by cursors beside requests that store, replace, evict and flush: each item that stays comes once, with a value that it had, and
/// nothing comes that was flushed before the scan began.
#[test]
fn a_scan_by_cursors_gives_what_stays_once_while_the_store_changes() {
    let store = store::Config { memory_bytes: 200 * 150, ..store::Config::default() };
    let service = service(Config { store, ..Config::default() });
    let (mut reader, mut writer) = (Connection::new(&service), Connection::new(&service));
    for index in 0..50 {
        writer.ask(&format!("set gone-{index} 0 0 3 noreply\r\nold\r\n"));
    }
    assert_eq!(writer.ask("flush_all\r\n"), "OK\r\n");
    let staying: Vec<_> = (0..50).map(|index| format!("stay-{index}")).collect();
    for key in &staying {
        writer.ask(&format!("set {key} 0 0 1 noreply\r\n0\r\n"));
    }
    let (mut cursor, mut found, mut other) = (Some("0".to_owned()), Vec::new(), 0);
    while let Some(from) = cursor {
        let answer = reader.ask(&format!("scan 3 at {from}\r\n"));
        let mut lines = answer.lines();
        cursor = None;
        while let Some(line) = lines.next() {
            let words: Vec<_> = line.split(' ').collect();
            match words[0] {
                "VALUE" => {
                    let value = lines.next().expect("a value").to_owned();
                    assert!(!words[1].starts_with("gone"), "{line}");
                    found.push((words[1].to_owned(), value));
                }
                "CURSOR" => cursor = Some(words[1].to_owned()),
                _ => assert_eq!(line, "END"),
            }
        }
        for _ in 0..20 {
            other += 1;
            writer.ask(&format!("set other-{other} 0 0 1 noreply\r\nx\r\n"));
        }
        // What is asked for is not evicted; what is replaced keeps its place.
        assert_eq!(writer.ask(&format!("get {}\r\n", staying.join(" "))).matches("VALUE").count(), 50);
        writer.ask(&format!("set {} 0 0 1 noreply\r\n1\r\n", staying[other % 50]));
    }
    assert!(service.store().stats().of("evictions") > 0);
    for key in &staying {
        let values: Vec<_> =
            found.iter().filter(|(name, _)| name == key).map(|(_, value)| &**value).collect();
        assert!(values == ["0"] || values == ["1"], "{key}: {values:?}");
    }
    // A flush ends what a scan can find, at whatever cursor it is.
    let begun = reader.ask("scan 3 at 0\r\n");
    let from = begun.split("CURSOR ").nth(1).and_then(|rest| rest.lines().next()).expect("a cursor");
    writer.ask("flush_all\r\nset new 0 0 1\r\nx\r\n");
    let mut rest = reader.ask(&format!("scan 1000 at {from}\r\n"));
    rest += &reader.ask("scan 1000 at 0\r\n");
    assert!(!rest.contains("stay") && rest.contains("VALUE new"), "{rest}");
}

#[test]
fn memory_stays_within_its_limit_and_old_items_give_way() {
    let store = store::Config { memory_bytes: 100_000, ..store::Config::default() };
    let service = service(Config { store, ..Config::default() });
    let mut connection = Connection::new(&service);
    let value = "v".repeat(1_000);
    for index in 0..1_000 {
        assert_eq!(connection.ask(&format!("set k{index} 0 0 1000\r\n{value}\r\n")), "STORED\r\n");
        assert!(service.store().used_bytes() <= 100_000);
    }
    assert!(service.store().stats().of("evictions") > 800);
    assert!(connection.ask("get k999\r\n").starts_with("VALUE"), "the newest is there");
}
