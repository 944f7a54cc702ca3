//! Arrays and objects of JSON, and rows of other texts: which of them are the values.

use caudal_workload::{Columns, Unit, WorkloadError};

use crate::reading::{in_unit, mean_us, notes, read_with, try_read};

#[test]
fn columns_of_the_same_name_are_offered_by_number() {
    match try_read("service_us,service_us\n1,2\n3,4\n") {
        Err(WorkloadError::Ask(ask)) => {
            let values: Vec<&str> = ask.answers.iter().map(|answer| answer.value.as_str()).collect();
            assert_eq!(values, ["1", "2"]);
        }
        other => panic!("{other:?}"),
    }
}

/// Tables that are printed for people, and what shells print of each statement.
#[test]
fn what_is_printed_for_people_is_read() {
    let row = |at: usize| format!("{}.5", at % 7 + 1);
    let rows = |line: &dyn Fn(usize) -> String| (0..40).map(line).collect::<String>();
    let psql =
        format!(" op  | ms  \n-----+-----\n{}(40 rows)\n\n", rows(&|at| format!(" get | {} \n", row(at))));
    let mysql = format!(
        "+-----+-----+\n| op  | ms  |\n+-----+-----+\n{}+-----+-----+\n40 rows in set (0.00 sec)\n",
        rows(&|at| format!("| get | {} |\n", row(at)))
    );
    let sqlite = format!("op   ms \n---  ---\n{}", rows(&|at| format!("get  {}\n", row(at))));
    let expanded = rows(&|at| format!("-[ RECORD {} ]\nop | get\nms | {}\n", at + 1, row(at)));
    let vertical = rows(&|at| format!("***** {}. row *****\nop: get\nms: {}\n", at + 1, row(at)));
    let line_mode = rows(&|at| format!("op = get\nms = {}\n\n", row(at)));
    for text in [psql, mysql, sqlite, expanded, vertical, line_mode] {
        let service = in_unit(&text, Unit::Ms);
        let expected = (0..40).map(|at| f64::from(at % 7 + 1) + 0.5).sum::<f64>() / 40.0;
        assert!((mean_us(&service) / 1e3 - expected).abs() < 1e-6, "{text}: {}", mean_us(&service));
    }
    let timers = "Timing is on.\n count \n-------\n 100\n(1 row)\n\nTime: 10.5 ms\n count \n-------\n 0\n(1 row)\n\nTime: 5.5 ms\n";
    let service = try_read(timers).unwrap();
    assert_eq!(mean_us(&service), 8000.0);
    assert!(service.taken().unwrap().format.contains("times of SQL statements"));
    // A mistake is pointed at where it is.
    let wrong = " ms  \n-----\n 1.5 \n abc \n 2.5 \n(3 rows)\n";
    let error =
        read_with(wrong, Columns { unit: Some(Unit::Ms), ..Columns::default() }).unwrap_err().to_string();
    assert!(error.contains(":4:") && error.contains("abc"), "{error}");
}

/// Values one behind the other are an array; what has a name of its own is a class.
#[test]
fn values_behind_each_other_are_an_array() {
    let span = |name: &str, ms: u32| {
        format!(
            "{{\n \"name\": \"{name}\",\n \"context\": {{\"trace_id\": \"0x2f\"}},\n \"kind\": \"SpanKind.INTERNAL\", \"parent_id\": null,\n \
             \"start_time\": \"2026-11-30T11:00:54.500000Z\", \"end_time\": \"2026-11-30T11:00:54.50{ms}000Z\"\n}}\n"
        )
    };
    let pretty = [span("GET", 2), span("GET", 4), span("PUT", 6)].concat();
    let lines = pretty.replace("\n ", "").replace("\n}", "}");
    for text in [&pretty, &lines] {
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(mean_us(&service), 4000.0, "{text}");
        assert_eq!(service.classes(), ["GET", "PUT"], "{text}");
    }
    let jq = "{\n \"latency_us\": 5\n}\n{\n \"latency_us\": 7\n}\n{\n \"latency_us\": 9\n}\n{\n \"late";
    let service = try_read(jq).unwrap();
    assert_eq!(mean_us(&service), 7.0);
    assert!(notes(&service).contains("cut off"), "{}", notes(&service));
}

/// What is in the objects of an array under one path are classes, and not one after the other left out.
#[test]
fn parts_of_an_array_are_classes() {
    let task = |name: &str, ms: [f64; 2]| {
        format!(
            r#"{{"name": "{name}", "result": {{"latency": {{"p50": 1, "p99": 2, "p995": 2, "samples": {ms:?}}}, "throughput": {{"p50": 1, "p99": 9, "samples": [7, 8]}}}}}}"#
        )
    };
    let tinybench = format!("[{}, {}]", task("sort", [1.5, 2.5]), task("map", [0.5, 1.5]));
    let service = try_read(&tinybench).unwrap();
    assert_eq!(service.classes(), ["sort", "map"]);
    assert_eq!(mean_us(&service), 1500.0);
    assert!(service.taken().unwrap().format.contains("tinybench"));

    // What a part of the path is called says nothing of what is measured in it.
    let limited = r#"{"rate_limiter": {"latency_us": [5, 7]}, "throughput": {"samples": [900, 800]}}"#;
    assert_eq!(mean_us(&try_read(limited).unwrap()), 6.0);
    let either = r#"{"rate_limiter": {"latency_us": [5, 7]}, "cache": {"latency_us": [1, 2]}}"#;
    assert!(matches!(try_read(either), Err(WorkloadError::Ask(_))));

    let many: Vec<String> =
        (0..100).map(|at| format!(r#"{{"run": {at}, "latencies_us": [5, {}]}}"#, 5 + at % 3)).collect();
    let service = try_read(&format!("[{}]", many.join(", "))).unwrap();
    assert_eq!(service.taken().unwrap().values, 200);

    let percentiles = r#"[{"name": "get", "latency_us": {"p50": 5, "p99": 9}}, {"name": "put", "latency_us": {"p50": 50, "p99": 90}}]"#;
    let service = try_read(percentiles).unwrap();
    assert_eq!(service.classes(), ["get", "put"]);
    assert!(notes(&service).contains("--weights"), "{}", notes(&service));
    let error = try_read(&percentiles.replace("\"name\"", "\"period\"")).unwrap_err().to_string();
    assert!(error.contains("of several runs"), "{error}");
}

/// Rows in the order of their times were sorted: their order says nothing of bursts.
#[test]
fn rows_that_somebody_sorted_are_told() {
    let sorted: String = (0..400).map(|at| format!("{}\n", 1000 + at / 3)).collect();
    let found = notes(&try_read(&sorted).unwrap());
    assert!(found.contains("in the order of their times") && !found.contains("correlation"), "{found}");
}

/// Lines of a log in JSON are of several kinds; when each was written is no duration.
#[test]
fn of_lines_of_json_the_duration_is_taken_and_not_the_date() {
    let fastify = |at: u32| {
        format!(
            "{{\"level\": 30, \"time\": {}, \"pid\": 18393, \"reqId\": \"r\"}}\n{{\"level\": 30, \"time\": {}, \"res\": {{\"statusCode\": 200}}, \"responseTime\": {}.25}}\n",
            1_796_045_618_920_u64 + u64::from(at),
            1_796_045_618_921_u64 + u64::from(at),
            1 + at % 3
        )
    };
    let service = in_unit(&(0..9).map(fastify).collect::<String>(), Unit::Ms);
    assert_eq!(mean_us(&service), 2250.0);
    assert_eq!(service.taken().unwrap().values, 9);
    assert!(notes(&service).contains("9 of 18 lines have no `responseTime`"), "{}", notes(&service));
    let nginx = |at: u32| {
        format!(
            "{{\"time\": \"2026-11-30T13:30:4{at}+00:00\", \"msec\": 1796045848.72{at}, \"status\": 200, \"request_time\": \"0.00{at}\"}}\n"
        )
    };
    let service = in_unit(&(1..6).map(nginx).collect::<String>(), Unit::S);
    assert_eq!(mean_us(&service), 3000.0);
}

/// A shell's `time` says three things of each run; the elapsed one is what a request takes.
#[test]
fn of_a_shells_time_the_elapsed_one_is_taken() {
    for (run, mean) in [
        ("\nreal\t0m0.011s\nuser\t0m0.005s\nsys\t0m0.000s\n", 11_000.0),
        ("\nreal 1.50\nuser 0.20\nsys 0.00\n", 1_500_000.0),
        ("real\t1m2,500s\nuser\t0m0,000s\nsys\t0m0,000s\n", 62_500_000.0),
    ] {
        let service = try_read(&run.repeat(12)).unwrap();
        assert!((mean_us(&service) / mean - 1.0).abs() < 1e-6, "{run}: {}", mean_us(&service));
        assert!(notes(&service).contains("`real`"), "{}", notes(&service));
    }
}
