//! What tools wrote that nobody thought of: the right values, or a refusal that says what it is and what to do.

use std::path::Path;

use caudal_workload::{AskKey, Columns, FileSpec, Service, ServiceSpec, Unit, WorkloadError};

fn read_with(text: &str, columns: Columns) -> Result<Service, WorkloadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.txt");
    std::fs::write(&path, text).unwrap();
    ServiceSpec::File(FileSpec { columns, ..FileSpec::new(path) }).compile(Path::new(""))
}

fn read(text: &str) -> Result<Service, WorkloadError> {
    read_with(text, Columns::default())
}

fn in_unit(text: &str, unit: Unit) -> Service {
    read_with(text, Columns { unit: Some(unit), ..Columns::default() })
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn mean_us(service: &Service) -> f64 {
    (service.mean_ps() / 1e3).round() / 1e3
}

fn notes(service: &Service) -> String {
    service.findings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn small_seconds_are_asked_for_their_unit() {
    for text in [
        "3.090409298069241451e-05\n3.920897245533751626e-05\n3.067092311915370454e-05\n",
        "\"\",\"op\",\"elapsed\"\n\"1\",\"get\",3.25e-05\n\"2\",\"put\",2.57e-05\n",
        "[{\"op\": \"get\", \"elapsed\": 0.00003}, {\"op\": \"get\", \"elapsed\": 0.00004}]",
    ] {
        match read(text) {
            Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
        assert!(mean_us(&in_unit(text, Unit::S)) > 20.0, "{text}");
    }
}

#[test]
fn times_of_zero_are_the_same_in_every_format() {
    let rows = [("0.004", 3), ("0.000", 5)];
    let lines = |line: &dyn Fn(&str) -> String| -> String {
        rows.iter().flat_map(|(time, times)| std::iter::repeat_n(line(time), *times)).collect()
    };
    for text in [
        format!("request_time\n{}", lines(&|time| format!("{time}\n"))),
        lines(&|time| format!("{{\"request_time\": {time}, \"status\": 200}}\n")).replace("0.000", "0"),
        lines(&|time| format!("GET / took={time}s\n")),
    ] {
        let service = in_unit(&text, Unit::S);
        assert!(notes(&service).contains("5 of 8 times are 0"), "{text}: {}", notes(&service));
        assert!(service.quantile(0.1) >= 500_000_000, "{text}: {}", service.quantile(0.1));
    }
    let error = read("[{\"latency\": 0}, {\"latency\": 0}]").unwrap_err();
    assert!(error.to_string().contains("all its times are 0"), "{error}");
}

#[test]
fn texts_that_are_no_tables_are_refused_as_such() {
    for text in [
        "Running 5s test @ http://127.0.0.1:8080/\n2 connections\n\nStat 2.5% 50%\nLatency 41 47\n",
        "tcp_lat:\n    latency  =  7.12 us\n",
        "stress-ng: info:  [1] dispatching hogs: 1 cpu\nstress-ng: metrc: [1] stressor bogo\nstress-ng: info: [1] done\n",
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("is a text of a kind that is not known here"), "{text}: {error}");
    }
    let error =
        read("goos: linux\ngoarch: amd64\nBenchmarkA-2 \t 200\t 362.9 ns/op\n").unwrap_err().to_string();
    assert!(error.contains("is output of Go's benchmarks"), "{error}");
    // A row with a mistake is still pointed at.
    let error = read("12\n13\nabc\n15\n").unwrap_err().to_string();
    assert!(error.contains(":3:1: `abc` is not a number"), "{error}");
}

#[test]
fn times_that_sum_up_others_are_no_requests() {
    let text = "Benchmark\n\tAverage number of seconds to run all queries: 0.032 seconds\n\
        \tMinimum number of seconds to run all queries: 0.026 seconds\n\
        \tMaximum number of seconds to run all queries: 0.040 seconds\n";
    let error = read(text).unwrap_err().to_string();
    assert!(error.contains("sum up many requests"), "{error}");
    let text = "a 1ms b 3ms\nc 2ms and d 4ms\nthe e 1ms or else f 2ms\n";
    let error = read(text).unwrap_err().to_string();
    assert!(error.contains("several times"), "{error}");
    let text = "LOG: duration: 0.2 ms  statement: select max(a)\nLOG: duration: 0.2 ms  statement: select max(a) from b;\n".repeat(4);
    assert_eq!(mean_us(&read(&text).unwrap()), 200.0);
}

#[test]
fn reports_of_vegeta_are_read_as_what_they_are() {
    let histogram = "Bucket           #    %       Histogram\n[0s,     1ms]    40   20.00%  ###\n\
        [1ms,    5ms]    5    2.50%   #\n[5ms,    20ms]   22   11.00%  ##\n[20ms,   100ms]  133  66.50%  ####\n\
        [100ms,  +Inf]   0    0.00%   \n";
    let service = read(histogram).unwrap();
    assert_eq!(service.class_samples(0), Some(200));
    assert!((30_000.0..60_000.0).contains(&mean_us(&service)), "{}", mean_us(&service));
    let plot = "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n0.500000   0.000000    0           1.000000\n\
        1.000000   0.500000    100         2.000000\n4.000000   1.000000    200         10000000.000000\n";
    let service = read(plot).unwrap();
    assert_eq!((service.class_samples(0), service.quantile(0.25)), (Some(200), 1_000_000_000));
    let report = "{\"latencies\": {\"total\": 9, \"mean\": 31038528, \"50th\": 44698593, \"99th\": 52906549}, \
        \"bytes_in\": {\"total\": 1}}";
    assert_eq!(read(report).unwrap().taken().map(|taken| taken.unit), Some(Some(Unit::Ns)));
}

#[test]
fn summaries_of_load_generators_bring_their_unit() {
    let autocannon = "{\"connections\": 2, \"requests\": {\"p50\": 3, \"p97_5\": 4}, \
        \"latency\": {\"mean\": 49.19, \"p2_5\": 41, \"p50\": 47, \"p97_5\": 67, \"p99\": 83}}";
    let bombardier = "{\"spec\": {\"numberOfConnections\": 2}, \"result\": {\"rps\": {\"percentiles\": {\"50\": 1, \"99\": 2}}, \
        \"latency\": {\"percentiles\": {\"50\": 47000, \"99\": 83000}}}}";
    for text in [autocannon, bombardier] {
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!((service.quantile(0.5) as f64 / 47e9 - 1.0).abs() < 1e-3, "{}", service.quantile(0.5));
        assert!((service.quantile(0.99) as f64 / 83e9 - 1.0).abs() < 1e-3, "{}", service.quantile(0.99));
    }
}

#[test]
fn replies_of_redis_in_every_protocol() {
    let plain = "get\ncalls\n3\nhistogram_usec\n1\n1\n2\n3\n";
    let third = "get calls 3\nhistogram_usec 1 1\n2 3\n";
    let json = "{\"get\":{\"calls\":3,\"histogram_usec\":{\"1\":1,\"2\":3}}}";
    for text in [plain, third, json] {
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((service.class_samples(0), service.classes()[0].as_str()), (Some(3), "get"), "{text}");
        assert!(!notes(&service).contains("cut"), "{}", notes(&service));
    }
}

#[test]
fn durations_are_times_in_seconds() {
    for rows in [
        "0 days 00:00:00.000030000\n0 days 00:00:00.000050000\n",
        "00:00:00.000030\n00:00:00.000050\n",
        "PT0.00003S\nPT0.00005S\n",
    ] {
        assert_eq!(mean_us(&read(&format!("latency\n{rows}")).unwrap()), 40.0, "{rows}");
    }
    let lines = "{\"op\":\"get\",\"latency\":\"PT0.00003S\"}\n{\"op\":\"get\",\"latency\":\"PT0.00005S\"}\n";
    assert_eq!(mean_us(&read(lines).unwrap()), 40.0);
}

#[test]
fn tables_of_r_have_a_column_without_a_name() {
    let table = "\"op\" \"elapsed_s\"\n\"1\" \"get\" 3e-05\n\"2\" \"put\" 5e-05\n\"3\" \"get\" 3e-05\n\"4\" \"put\" 5e-05\n";
    let service = read(table).unwrap();
    assert_eq!((mean_us(&service), service.classes().len()), (40.0, 2));
}

#[test]
fn bare_numbers_among_times_with_units_are_asked_about() {
    match read("latency\n1.2ms\n850\n900\n") {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&read("latency\n1.2ms\n800us\n").unwrap()), 1000.0);
}

#[test]
fn columns_of_the_same_name_are_offered_by_number() {
    match read("service_us,service_us\n1,2\n3,4\n") {
        Err(WorkloadError::Ask(ask)) => {
            let values: Vec<&str> = ask.answers.iter().map(|answer| answer.value.as_str()).collect();
            assert_eq!(values, ["1", "2"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_beyond_the_last_bucket_are_said() {
    let text = "# Histogram\n000000 000000\n000001 000000\n000002 000007\n000003 000003\n# Total: 000000010\n\
        # Histogram Overflows: 00004\n";
    let service = read(text).unwrap();
    assert!(notes(&service).contains("4 values lie beyond the last bucket"), "{}", notes(&service));
    assert!(!notes(&service).contains("times are 0"), "{}", notes(&service));
}

#[test]
fn spans_of_jaeger_are_in_microseconds() {
    let spans = "{\"data\": [{\"traceID\": \"a\", \"spans\": [{\"operationName\": \"get\", \"startTime\": 1, \
        \"duration\": 6673}]}, {\"traceID\": \"b\", \"spans\": [{\"operationName\": \"scan\", \"startTime\": 2, \
        \"duration\": 10673}]}]}";
    let service = read(spans).unwrap();
    assert_eq!((mean_us(&service), service.classes().len()), (8673.0, 2));
}
