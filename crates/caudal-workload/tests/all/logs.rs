//! Logs with a line a request: the time is found in its field, and what is no time is left alone.

use caudal_workload::{AskKey, Columns, Service, Unit, WorkloadError};

use crate::reading::{in_unit, mean_us, notes, read_with, try_read};

fn of_column(text: &str, column: &str, unit: Option<Unit>) -> Service {
    read_with(text, Columns { column: Some(column.to_owned()), unit, ..Columns::default() })
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn logs_with_keys_have_times_under_them() {
    let logfmt = "ts=2026-01-01T00:00:00Z level=info msg=\"GET /?dt=7\" status=200 latency_ms=3 bytes=12\n\
        ts=2026-01-01T00:00:01Z level=info msg=\"GET /\" status=500 latency_ms=5 bytes=12\n\
        ts=2026-01-01T00:00:02Z level=warn msg=slow\n";
    let service = try_read(logfmt).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (4000.0, Some(2)));
    assert!(notes(&service).contains("1 of 3 lines have no `latency_ms`"), "{}", notes(&service));
    let units = "method=GET dur=12ms\nmethod=GET dur=1.5s\nmethod=PUT dur=800us\n";
    assert_eq!(mean_us(&try_read(units).unwrap()), 504_266.667);
    let columns = Columns { filter: vec!["status=200".to_owned()], ..Columns::default() };
    assert_eq!(mean_us(&read_with(logfmt, columns).unwrap()), 3000.0);
    let two = "op=get dns=1ms total=12ms\nop=get dns=2ms total=14ms\nop=put dns=1ms total=16ms\n";
    match try_read(two) {
        Err(WorkloadError::Ask(ask)) => {
            let keys: Vec<&str> = ask.answers.iter().map(|answer| answer.value.as_str()).collect();
            assert_eq!((ask.key, &keys[..]), (AskKey::Column, &["dns", "total"][..]));
        }
        other => panic!("{other:?}"),
    }
    let total = of_column(&two.repeat(2), "total", None);
    assert_eq!((mean_us(&total), total.classes().len()), (14_000.0, 2));
    let error = read_with(two, Columns { column: Some("x".to_owned()), ..Columns::default() })
        .unwrap_err()
        .to_string();
    assert!(error.contains("no key `x`; those with numbers are `dns`, `total`"), "{error}");
    // The unit of bare numbers is asked for as everywhere.
    match try_read("GET / rt=0.006\nGET / rt=0.008\nGET / rt=0.007\n") {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&in_unit("GET / rt=0.006\nGET / rt=0.008\nGET / rt=-\n", Unit::S)), 7000.0);
}

#[test]
fn addresses_with_parameters_make_no_log_of_a_table() {
    let row = |us: u32| format!("{us},http://127.0.0.1/?duration=5&latency=7\n");
    assert_eq!(
        mean_us(&try_read(&format!("latency_us,url\n{}{}{}", row(10), row(20), row(30))).unwrap()),
        20.0
    );
}

#[test]
fn access_logs_have_times_behind_their_fields() {
    let line = |behind: &str| {
        format!(
            "127.0.0.1 - - [10/Oct/2025:13:55:36 +0000] \"GET /?a=1&rt=5 HTTP/1.1\" 200 2326 \"-\" \"curl/8.5 (x; y)\"{behind}\n"
        )
    };
    let plain = line("").repeat(3);
    let error = try_read(&plain).unwrap_err().to_string();
    assert!(
        error.contains("is an access log without times") && error.contains("rt=$request_time"),
        "{error}"
    );
    let nginx =
        [line(" rt=0.006 urt=\"0.005\""), line(" rt=0.008 urt=\"-\""), line(" rt=0.007 urt=\"0.006\"")]
            .concat();
    match try_read(&nginx) {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Column),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&of_column(&nginx, "rt", Some(Unit::S))), 7000.0);
    // Apache's %D has no name, and no unit.
    let apache = [line(" 6012"), line(" 8034"), line(" 7030")].concat();
    match try_read(&apache) {
        Err(WorkloadError::Ask(ask)) => {
            assert!(ask.key == AskKey::Unit && ask.to_string().contains("%D"), "{ask}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&in_unit(&apache, Unit::Us)), 7025.333);
}

#[test]
fn logs_of_haproxy_have_the_time_of_the_server() {
    let line = |timers: &str| {
        format!(
            "Feb  6 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 {timers} 200 2750 - - \
             ---- 1/1/1/1/0 0/0 {{1wt.eu}} {{}} \"GET /index.html HTTP/1.1\"\n"
        )
    };
    let log = [line("10/0/30/69/109"), line("0/5/1/71/77"), line("0/0/-1/-1/+5")].concat();
    let service = try_read(&log).unwrap();
    assert_eq!((mean_us(&service), service.taken().unwrap().column.as_deref()), (70_000.0, Some("Tr")));
    assert!(
        notes(&service).contains("1 of 3 lines have no time under `Tr` (line 3 has `-1`)"),
        "{}",
        notes(&service)
    );
    assert_eq!(mean_us(&of_column(&log, "Ta", None)), 63_666.667);
}

/// Lines that begin with a time between brackets are no JSON.
#[test]
fn logs_that_begin_with_a_time_between_brackets_are_read() {
    let line = |at: usize| {
        format!("[1796036093.{at}] 127.0.0.1 : [{at}], 64 bytes, 0.03{at} ms (0.031 avg, 0% loss)\n")
    };
    let service = try_read(&(1..=5).map(line).collect::<String>()).unwrap();
    assert_eq!(mean_us(&service), 33.0);
}

/// Colours of a terminal are no part of a text; and what begins with a bracket need not be JSON.
#[test]
fn colours_and_brackets_do_not_hide_a_log() {
    let line = |at: u32| {
        format!(
            "\u{1b}[2m2026-11-30T13:30:4{at}Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m request done took=\u{1b}[1m{at}ms\u{1b}[0m\n"
        )
    };
    assert_eq!(mean_us(&try_read(&(1..6).map(line).collect::<String>()).unwrap()), 3000.0);
    for line in [
        "[30/Nov/2026:13:30:41 +0000] GET /get 200 took 6ms\n",
        "[2026-11-30 13:30:41: INFO/MainProcess] Task succeeded in 0.006s: None\n",
    ] {
        let text = line.repeat(20);
        assert_eq!(
            mean_us(&try_read(&text).unwrap_or_else(|error| panic!("{line}: {error}"))),
            6000.0,
            "{line}"
        );
    }
}

/// The status of an answer stands before its time, and is no name of it.
#[test]
fn a_status_is_no_name_of_a_time() {
    let line =
        |at: u32| format!("  --> GET /get {} {}ms 110b\n", if at.is_multiple_of(4) { 404 } else { 200 }, at);
    let service = try_read(&(1..13).map(line).collect::<String>()).unwrap();
    assert_eq!((service.taken().unwrap().values, mean_us(&service)), (12, 6500.0));
}
