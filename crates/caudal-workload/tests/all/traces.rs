//! Spans and events of tracing: what a request takes lies between their ends.

use caudal_workload::Columns;

use crate::reading::{mean_us, notes, read_with, try_read};

#[test]
fn spans_of_jaeger_are_in_microseconds() {
    let spans = "{\"data\": [{\"traceID\": \"a\", \"spans\": [{\"operationName\": \"get\", \"startTime\": 1, \
        \"duration\": 6673}]}, {\"traceID\": \"b\", \"spans\": [{\"operationName\": \"scan\", \"startTime\": 2, \
        \"duration\": 10673}]}]}";
    let service = try_read(spans).unwrap();
    assert_eq!((mean_us(&service), service.classes().len()), (8673.0, 2));
}

#[test]
fn spans_take_what_lies_between_their_ends() {
    let span = |name: &str, kind: u32, parent: &str, from: u64, to: u64| {
        format!(
            "{{\"traceId\": \"a\", \"spanId\": \"b\", \"parentSpanId\": \"{parent}\", \"name\": \"{name}\", \"kind\": {kind}, \
             \"startTimeUnixNano\": \"{from}\", \"endTimeUnixNano\": \"{to}\"}}"
        )
    };
    let object = |spans: &str| {
        format!(
            "{{\"resourceSpans\": [{{\"resource\": {{\"attributes\": [{{\"key\": \"service.name\", \"value\": {{\"stringValue\": \"shop\"}}}}]}}, \
             \"scopeSpans\": [{{\"scope\": {{}}, \"spans\": [{spans}]}}]}}]}}"
        )
    };
    let start = 1_544_712_660_000_000_000;
    let first = object(
        &[span("GET /", 2, "", start, start + 30_000), span("query", 3, "b", start + 5_000, start + 15_000)]
            .join(", "),
    );
    let second = object(&span("GET /", 2, "", start, start + 50_000));
    for text in [format!("{first}\n{second}\n"), format!("{first}{second}")] {
        let service = try_read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((mean_us(&service), service.classes()), (40.0, &["GET /".to_owned()][..]));
        assert_eq!(service.taken().unwrap().filter, ["kind=server"]);
        let columns = Columns { filter: vec!["name=query".to_owned()], ..Columns::default() };
        assert_eq!(mean_us(&read_with(&text, columns).unwrap()), 10.0);
        let columns = Columns { filter: vec!["service=shop".to_owned()], ..Columns::default() };
        let all = read_with(&text, columns).unwrap();
        assert!(
            all.classes().len() == 2 && notes(&all).contains("1 of 3 spans are parts of others"),
            "{}",
            notes(&all)
        );
    }
    let zipkin = "[{\"traceId\": \"a\", \"id\": \"b\", \"name\": \"get\", \"kind\": \"SERVER\", \"timestamp\": 1544712660000000, \"duration\": 30}, \
        {\"traceId\": \"a\", \"id\": \"c\", \"name\": \"get\", \"kind\": \"SERVER\", \"timestamp\": 1544712660000000, \"duration\": 50}]";
    assert_eq!(mean_us(&try_read(zipkin).unwrap()), 40.0);
}

#[test]
fn chrome_traces_fortio_and_locust_are_known() {
    let event = |us: u32| {
        format!(
            r#"{{"pid": 1, "ts": 54813613284, "ph": "X", "name": "run", "dur": {us}}}, {{"pid": 1, "ts": 54813613285, "ph": "M", "name": "meta", "dur": 0}}"#
        )
    };
    for text in [
        format!(r#"{{"traceEvents": [{}, {}]}}"#, event(1500), event(500)),
        format!("[{}, {}]", event(1500), event(500)),
    ] {
        let service = try_read(&text).unwrap();
        assert_eq!((mean_us(&service), service.taken().unwrap().values), (1000.0, 2), "{text}");
    }
    let fortio = r#"{"RunType": "HTTP", "DurationHistogram": {"Count": 10, "Min": 0.001, "Max": 0.004, "Sum": 0.0195, "Avg": 0.00195,
        "Data": [{"Start": 0.001, "End": 0.002, "Percent": 70, "Count": 7}, {"Start": 0.003, "End": 0.004, "Percent": 100, "Count": 3}],
        "Percentiles": [{"Percentile": 50, "Value": 0.0017}, {"Percentile": 90, "Value": 0.0037}]}}"#;
    let service = try_read(fortio).unwrap();
    assert_eq!(service.taken().unwrap().values, 10);
    assert!((1_950.0..=2_100.0).contains(&mean_us(&service)), "{}", mean_us(&service));
    let locust = r#"[{"name": "/get", "num_requests": 5, "total_response_time": 245, "response_times": {"38": 1, "47": 4}},
        {"name": "/put", "num_requests": 5, "total_response_time": 245, "response_times": {"90": 5}}]"#;
    let service = try_read(locust).unwrap();
    assert_eq!(
        (service.taken().unwrap().values, service.classes()),
        (10, &["/get".to_owned(), "/put".to_owned()][..])
    );
    assert_eq!(mean_us(&service), 67_600.0);
}
