//! JSON documents, texts with parts and logs with columns: what is asked for is given, and what is said of rows is looked at.

use caudal_workload::{AskKey, Columns, Unit};

use crate::reading::{asked, column, mean_us, notes, only, read_file, read_with, refused};

#[test]
fn conditions_hold_in_documents() {
    let records = r#"[{"op": "get", "http": {"status": 200}, "latency_us": 10}, {"op": "set", "http": {"status": 200}, "latency_us": 30},
            {"op": "get", "http": {"status": 500}, "latency_us": 50}]"#;
    let split = r#"{"columns": ["op", "latency_us"], "data": [["get", 10], ["set", 30], ["get", 50]]}"#;
    let columns =
        r#"{"op": {"0": "get", "1": "set", "2": "get"}, "latency_us": {"0": 10, "1": 30, "2": 50}}"#;
    for document in [records, split, columns, &format!(r#"{{"runs": {records}}}"#)] {
        let service = read_with(document, only("op=get")).unwrap();
        assert_eq!(mean_us(&service), 30.0, "{document}");
        assert_eq!(service.taken().unwrap().left_out, 1, "{document}");
        assert!(refused(read_with(document, only("op=put"))).contains("no row is left"), "{document}");
        let error = refused(read_with(document, only("type=nosuch")));
        assert!(error.contains("nothing in it has `type`") && error.contains("`op`"), "{error}");
    }
    assert_eq!(mean_us(&read_with(records, only("http.status=200")).unwrap()), 20.0);
    assert_eq!(mean_us(&read_with(records, only("http.status!=200")).unwrap()), 50.0);
    // Also of what is around them.
    let around = r#"{"benchmarks": [{"alias": "a", "latency_us": {"samples": [1, 3]}}, {"alias": "b", "latency_us": {"samples": [5, 7]}}]}"#;
    let unit = Columns { unit: Some(Unit::Us), ..only("alias=b") };
    assert_eq!(mean_us(&read_with(around, unit).unwrap()), 6.0);
    assert!(refused(read_with(around, only("alias=c"))).contains("no row is left"));
}

#[test]
fn conditions_pick_classes_of_known_writers() {
    let two =
        r#"{"results": [{"command": "a", "times": [0.1, 0.3]}, {"command": "b", "times": [0.5, 0.7]}]}"#;
    let service = read_with(two, only("command=b")).unwrap();
    assert_eq!((mean_us(&service), service.classes()), (600_000.0, &["b".to_owned()][..]));
    assert_eq!(service.taken().unwrap().left_out, 2);
    assert!(refused(read_with(two, only("command=c"))).contains("no row is left"));
    assert!(refused(read_with(two, only("type=nosuch"))).contains("only its classes can be picked"));
    let fio = r#"{"fio version": "3", "jobs": [{"read": {"clat_ns": {"bins": {"1000": 5}}}, "write": {"clat_ns": {"bins": {"3000": 7}}}}]}"#;
    assert_eq!(read_with(fio, only("class=write")).unwrap().classes(), ["write"]);
    let k6 = r#"{"metrics": {"http_req_duration": {"p(90)": 2, "p(95)": 3, "avg": 1}}}"#;
    assert!(refused(read_with(k6, only("status=200"))).contains("cannot be looked at"));
}

#[test]
fn lines_without_what_a_condition_names_are_none() {
    let lines = "{\"took\": 13, \"timed_out\": false}\n{\"took\": 26, \"timed_out\": false}\n";
    let error = refused(read_with(lines, only("timed_out=true")));
    assert!(error.contains("no row is left: `timed_out=true` holds for none of its 2"), "{error}");
    let error = refused(read_with(lines, only("nosuch=1")));
    assert!(error.contains("nothing in it has `nosuch`"), "{error}");
}

#[test]
fn each_family_of_percentiles_is_one_answer() {
    let families = ["e2el", "itl", "tpot", "ttft"].map(str::to_owned).to_vec();
    assert_eq!(asked(read_file("vllm_summary.json", Columns::default())), (AskKey::Column, families));
    let service = read_file("vllm_summary.json", column("e2el")).unwrap();
    assert!((service.quantile(0.99) as f64 / 11_012.8e9 - 1.0).abs() < 1e-3, "{}", service.quantile(0.99));
    assert!((mean_us(&service) / 3_351_780.0 - 1.0).abs() < 0.01, "{}", mean_us(&service));
    assert_eq!(mean_us(&read_file("vllm_summary.json", column("p99_e2el_ms")).unwrap()), mean_us(&service));
    assert!(refused(read_file("vllm_summary.json", column(""))).contains("there is `e2el`"));
    let units = r#"{"request_latency": {"unit": "ms", "avg": 3, "p50": 2, "p99": 9}, "time_to_first_token": {"unit": "ms", "p50": 1, "p99": 2}}"#;
    assert_eq!(asked(read_with(units, Columns::default())).1, ["request_latency", "time_to_first_token"]);
    assert_eq!(read_with(units, column("request_latency")).unwrap().taken().unwrap().unit, Some(Unit::Ms));
}

#[test]
fn how_long_a_run_took_is_no_time_of_a_request() {
    let (key, answers) = asked(read_file("sglang.jsonl", Columns::default()));
    assert_eq!((key, answers.contains(&"e2e".to_owned())), (AskKey::Column, true));
    assert!(!answers.iter().any(|answer| answer.contains("duration")), "{answers:?}");
    let (key, answers) = asked(read_file("sglang.jsonl", column("e2e")));
    assert_eq!((key, answers.len()), (AskKey::Where, 3), "{answers:?}");
    let service =
        read_file("sglang.jsonl", Columns { filter: vec![answers[1].clone()], ..column("e2e") }).unwrap();
    assert!((mean_us(&service) / 1_400_000.0 - 1.0).abs() < 0.01, "{}", mean_us(&service));
    let (key, answers) = asked(read_file("bench_sweep.json", Columns::default()));
    assert_eq!((key, answers[0].as_str()), (AskKey::Where, "threads=1"));
    let times = "{\"time\": \"10:00\", \"p50_ms\": 1, \"p99_ms\": 9}\n{\"time\": \"10:01\", \"p50_ms\": 2, \"p99_ms\": 8}\n";
    assert_eq!(
        asked(read_with(times, Columns::default())),
        (AskKey::Where, vec!["time=10:00".to_owned(), "time=10:01".to_owned()])
    );
    let series = r#"[{"ts": 1, "p99_ms": 9}, {"ts": 2, "p99_ms": 8}]"#;
    assert!(refused(read_with(series, Columns::default())).contains("no array of times"));
    let runs = r#"[{"duration": 60, "requests": 1000}, {"duration": 60, "requests": 900}]"#;
    assert!(refused(read_with(runs, Columns::default())).contains("no array of times"));
}

#[test]
fn statistics_of_intervals_are_not_offered() {
    let text_of = r#"{"publishLatency99pct": [8.4, 8.5, 8.6], "publishLatencyAvg": [2.4, 2.5, 2.6],
        "aggregatedPublishLatencyAvg": 2.3, "aggregatedPublishLatency50pct": 1.9, "aggregatedPublishLatency99pct": 8.4}"#;
    let service = read_with(text_of, Columns { unit: Some(Unit::Ms), ..Columns::default() }).unwrap();
    assert!((service.quantile(0.5) as f64 / 1.9e9 - 1.0).abs() < 1e-3, "{}", service.quantile(0.5));
    let all = Columns { unit: Some(Unit::Ms), ..column("publishLatency99pct") };
    assert!(notes(&read_with(text_of, all).unwrap()).contains("seems to sum up"));
}

#[test]
fn spans_without_a_parent_are_the_requests() {
    let service = read_file("datadog_apm.json", Columns::default()).unwrap();
    assert_eq!((service.class_samples(0), service.classes()), (Some(3), &["web.request".to_owned()][..]));
    assert_eq!(service.taken().unwrap().filter, ["root=true"]);
    let jaeger = r#"{"data": [{"traceID": "a", "spans": [{"operationName": "get", "duration": 100, "references": []},
        {"operationName": "query", "duration": 40, "references": [{"refType": "CHILD_OF", "spanID": "b"}]}]}]}"#;
    assert_eq!(mean_us(&read_with(jaeger, Columns::default()).unwrap()), 100.0);
    assert_eq!(mean_us(&read_with(jaeger, only("name=query")).unwrap()), 40.0);
    let children = read_file("datadog_apm.json", only("name=redis.command")).unwrap();
    assert_eq!(children.class_samples(0), Some(3));
}

#[test]
fn times_lie_deep_or_between_two_keys() {
    let took = read_file("es_slowlog.json", column("elasticsearch.slowlog.took")).unwrap();
    assert_eq!(took.class_samples(0), Some(3));
    let kibana = read_file("kibana_apm.ndjson", Columns::default()).unwrap();
    assert_eq!(kibana.taken().unwrap().column.as_deref(), Some("_source.transaction.duration.us"));
    let tests = read_file("playwright.json", Columns::default()).unwrap();
    assert_eq!(tests.taken().unwrap().unit, Some(Unit::Ms));
    let har = r#"{"log": {"version": "1.2", "entries": [{"time": 50.5}, {"time": 49.5}]}}"#;
    assert_eq!(mean_us(&read_with(har, Columns::default()).unwrap()), 50_000.0);
    assert_eq!((0..tests.classes().len()).map(|at| tests.class_samples(at).unwrap()).sum::<u64>(), 4);
    let sentry = r#"[{"start_timestamp": 1764410400.0, "timestamp": 1764410400.013441}, {"start_timestamp": 1764410401.0, "timestamp": 1764410401.025}]"#;
    assert_eq!(mean_us(&read_with(sentry, Columns::default()).unwrap()), 19_220.5);
    let dates = r#"[{"startedAt": "2026-11-29T10:00:00.000Z", "finishedAt": "2026-11-29T10:00:00.060Z"},
        {"startedAt": "2026-11-29T10:00:01.000Z", "finishedAt": "2026-11-29T10:00:01.040Z"}]"#;
    assert_eq!(mean_us(&read_with(dates, Columns::default()).unwrap()), 50_000.0);
    let lines = dates.trim_matches(['[', ']']).replace("},", "}");
    assert_eq!(mean_us(&read_with(&lines, Columns::default()).unwrap()), 50_000.0);
}

#[test]
fn iterations_of_many_operations_are_divided() {
    let service = read_file("benchmarkdotnet_full.json", Columns::default()).unwrap();
    assert_eq!(service.classes(), ["Sha256 N=1000", "Md5 N=1000"]);
    assert!((2.0..5.0).contains(&mean_us(&service)), "{}", mean_us(&service));
    assert!(notes(&service).contains("mean of up to 131072 runs"), "{}", notes(&service));
    let suite = read_file("libtest.json", Columns::default()).unwrap();
    assert_eq!((suite.class_samples(0), suite.taken().unwrap().unit), (Some(4), Some(Unit::S)));
}

#[test]
fn parts_of_a_text_with_percentiles_are_asked_for() {
    let parts = ["Wakeup Latencies", "Request Latencies"].map(str::to_owned).to_vec();
    assert_eq!(asked(read_file("schbench.txt", Columns::default())), (AskKey::Column, parts));
    let wakeup = read_file("schbench.txt", column("Wakeup Latencies")).unwrap();
    assert_eq!(wakeup.taken().unwrap().unit, Some(Unit::Us));
    assert!((wakeup.quantile(1.0) as f64 / 8_018e6 - 1.0).abs() < 0.01, "{}", wakeup.quantile(1.0));
    let request = read_file("schbench.txt", column("request latencies")).unwrap();
    assert!((request.quantile(0.5) as f64 / 6_824e6 - 1.0).abs() < 1e-3, "{}", request.quantile(0.5));
    let (key, answers) = asked(read_file("rtla_timerlat_hist.txt", Columns::default()));
    assert_eq!((key, answers.len()), (AskKey::Column, 4));
    let thread = read_file("rtla_timerlat_hist.txt", column("Thr-000")).unwrap();
    assert_eq!((thread.taken().unwrap().values, mean_us(&thread)), (30_000, 5.145));
}

#[test]
fn w3c_logs_have_their_names_in_a_comment() {
    let iis = read_file("iis_w3c.log", Columns::default()).unwrap();
    assert_eq!((iis.class_samples(0), iis.taken().unwrap().unit), (Some(5), Some(Unit::Ms)));
    let front = read_file("cloudfront.log", only("sc-status=200")).unwrap();
    assert_eq!((front.taken().unwrap().unit, front.class_samples(0).is_some()), (Some(Unit::S), true));
    let (key, answers) = asked(read_with(
        "#Version: 1.0\n#Fields: date time-taken bytes\n2026-11-29 25 900\n2026-11-30 30 901\n",
        column("time-taken"),
    ));
    assert_eq!((key, answers.len()), (AskKey::Unit, 4));
}

#[test]
fn rows_of_data_are_no_header() {
    let safepoints = read_file("safepoint.log", Columns::default()).unwrap();
    let taken = safepoints.taken().unwrap();
    assert_eq!((taken.format.as_str(), taken.values), ("safepoints in a log of Java", 5));
    assert!(refused(read_file("babeltrace.txt", Columns::default())).contains("not known here"));
    assert!(refused(read_file("uftrace_replay.txt", Columns::default())).contains("uftrace"));
    let progress: String = (1..20)
        .map(|at| format!("[{:4}s] processed {} records, rate 1001.{at}/s\n", 10 * at, 10_012 * at))
        .collect();
    assert!(refused(read_with(&progress, Columns::default())).contains("in even steps"));
}
