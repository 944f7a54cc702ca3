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

/// The mean and the deviation that a report states are those of the distribution, and its percentiles still hold.
#[test]
fn a_stated_mean_is_that_of_the_distribution() {
    let vegeta_text = "Requests      [total, rate, throughput]         200, 102.29, 102.22\n\
        Latencies     [min, mean, 50, 90, 95, 99, max]  869.643µs, 31.0ms, 44.7ms, 48ms, 50ms, 52.9ms, 54.306ms\n\
        Bytes In      [total, mean]                     600, 3.00\n";
    let vegeta_json = "{\"latencies\": {\"total\": 9, \"mean\": 31000000, \"50th\": 44700000, \"90th\": 48000000, \
        \"99th\": 52900000, \"max\": 54306310, \"min\": 869643}, \"bytes_in\": {\"total\": 1}}";
    let bombardier = "{\"spec\": {\"numberOfConnections\": 2}, \"result\": {\"latency\": {\"mean\": 31000, \"max\": 54306, \
        \"percentiles\": {\"50\": 44700, \"90\": 48000, \"99\": 52900}}}}";
    let k6 = "{\"metrics\": {\"http_req_blocked\": {\"avg\": 1, \"med\": 2, \"p(90)\": 3, \"p(95)\": 4}, \"http_req_duration\": \
        {\"avg\": 31, \"min\": 0.9, \"med\": 44.7, \"max\": 54.3, \"p(90)\": 48, \"p(95)\": 50, \"p(99)\": 52.9}}}";
    let any = "{\"op\": {\"mean_us\": 31000, \"max_us\": 54306, \"p50_us\": 44700, \"p99_us\": 52900}}";
    let table = "name,count,mean_ms,min_ms,p50_ms,p99_ms,max_ms\nget,50,31,0.9,44.7,52.9,54.3\n";
    let locust = "Type,Name,Request Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,50%,99%\n\
        GET,/,50,44.7,31,0.9,54.3,44.7,52.9\n";
    let wrk = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    31.00ms   16.40ms  54.30ms   87.08%\n\
        \u{20}   Req/Sec   745.33    360.07     1.54k    73.33%\n  Latency Distribution\n     50%   44.70ms\n     99%   52.90ms\n";
    let hey = "Summary:\n  Slowest:\t0.0543 secs\n  Fastest:\t0.0009 secs\n  Average:\t0.0310 secs\n\n\
        Latency distribution:\n  50% in 0.0447 secs\n  99% in 0.0529 secs\n\nStatus code distribution:\n  [200] 200 responses\n";
    let autocannon = "Running 1s test @ http://127.0.0.1/\n2 connections\n\n┌─────────┬───────┐\n│ Stat    │ 2.5%  │ 50%     │ 97.5% │ 99%     │ Avg      │ Stdev    │ Max     │\n\
        ├─────────┼───────┤\n│ Latency │ 2 ms  │ 44.7 ms │ 50 ms │ 52.9 ms │ 31.00 ms │ 17.75 ms │ 54.3 ms │\n└─────────┴───────┘\n";
    let k6_text = "  HTTP\n    http_req_blocked...............: avg=9ms min=1ms med=2ms max=9ms p(90)=3ms p(95)=4ms\n    \
        http_req_duration..............: avg=31ms min=900µs med=44.7ms max=54.3ms p(90)=48ms p(99)=52.9ms\n      \
        { expected_response:true }...: avg=31ms min=900µs med=44.7ms max=54.3ms p(90)=48ms p(99)=52.9ms\n";
    for text in [vegeta_text, vegeta_json, bombardier, k6, k6_text, any, table, locust, wrk, hey, autocannon]
    {
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!((service.mean_ps() / 31e9 - 1.0).abs() < 0.006, "{text}: {}", service.mean_ps());
        for (percentile, ps) in [(0.5, 44.7e9), (0.99, 52.9e9)] {
            assert!((service.quantile(percentile) as f64 / ps - 1.0).abs() < 1e-3, "{text}: p{percentile}");
        }
        assert!(service.max_ps().is_some_and(|ps| ps <= 54_400_000_000), "{text}: {:?}", service.max_ps());
        assert!(notes(&service).contains("the mean of 31 ms"), "{text}: {}", notes(&service));
    }
    let deviation = read(wrk).unwrap();
    assert!(
        (deviation.mean_ps() * deviation.scv().sqrt() / 16.4e9 - 1.0).abs() < 0.006,
        "{}",
        notes(&deviation)
    );
}

#[test]
fn a_mean_that_the_percentiles_rule_out_is_said() {
    let service = read("{\"latency_ms\": {\"mean\": 90, \"p50\": 10, \"p99\": 20, \"max\": 30}}").unwrap();
    assert!(
        notes(&service).contains("a mean of 90 ms is stated, but the fitted distribution has"),
        "{}",
        notes(&service)
    );
}

#[test]
fn percentiles_are_counted_as_such() {
    let taken = read("{\"latency_ms\": {\"p50\": 10, \"p90\": 15, \"p99\": 20, \"p99.9\": 30}}").unwrap();
    assert!(taken.taken().unwrap().to_string().ends_with(": 4 percentiles"), "{}", taken.taken().unwrap());
    let taken = read("name,p50_us,p99_us\nget,3,9\nput,3,9\n").unwrap();
    assert!(taken.taken().unwrap().to_string().ends_with(": 4 percentiles"), "{}", taken.taken().unwrap());
}

#[test]
fn whole_numbers_without_a_unit_say_what_they_were_taken_for() {
    for text in ["latency\n8432\n9120\n7001\n", "8432\n9120\n7001\n", "time,class\n8432,a\n9120,a\n7001,b\n"]
    {
        let service = read(text).unwrap();
        let notes = notes(&service);
        assert!(
            notes.starts_with("the times (8432, 9120, 7001, …) were read as ns, since nothing says"),
            "{notes}"
        );
        assert!(notes.contains("a mean of 8.18 ms), say `--unit us`"), "{notes}");
        assert!(!self::notes(&in_unit(text, Unit::Us)).contains("were read as ns"));
    }
    // What is called a latency is no few hundred nanoseconds.
    for text in
        ["latency\n312\n420\n387\n", "[{\"duration\": 312}, {\"duration\": 420}]", "op,elapsed\na,90\nb,80\n"]
    {
        match read(text) {
            Err(WorkloadError::Ask(ask)) => {
                assert!(ask.key == AskKey::Unit && ask.to_string().contains("microsecond"), "{ask}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(read("312\n420\n387\n").is_ok() && read("latency_ns\n312\n420\n").is_ok());
}

#[test]
fn times_below_a_picosecond_are_refused() {
    for text in [
        "latency\n3.09e-05\n3.92e-05\n",
        "[{\"took\": 0.00003}, {\"took\": 0.00004}]",
        "duration=0.00003\nduration=0.00004\n",
    ] {
        let columns = Columns { unit: Some(Unit::Ns), ..Columns::default() };
        let error = read_with(text, columns).unwrap_err().to_string();
        assert!(
            error.contains("is less than a picosecond, which nothing takes; is the unit right?"),
            "{text}: {error}"
        );
    }
    // Nor is such a reading offered.
    let ask = read("latency\n0.0004\n0.0005\n").unwrap_err().to_string();
    assert!(ask.contains("--unit s ") && ask.contains("--unit ms ") && !ask.contains("--unit us"), "{ask}");
    // A standard deviation of 0 is one, whatever rounding leaves.
    let calls = "execve(\"/bin/ls\") = 0 <0.000434>\nbrk(0) = 0 <0.000042>\nbrk(0) = 0 <0.000103>\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("strace.txt");
    std::fs::write(&path, calls).unwrap();
    let shown = caudal_workload::show::Shown::open(&path).unwrap().text(100);
    assert!(!shown.contains("0.000"), "{shown}");
}

fn of_column(text: &str, column: &str, unit: Option<Unit>) -> Service {
    read_with(text, Columns { column: Some(column.to_owned()), unit, ..Columns::default() })
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn logs_with_keys_have_times_under_them() {
    let logfmt = "ts=2026-01-01T00:00:00Z level=info msg=\"GET /?dt=7\" status=200 latency_ms=3 bytes=12\n\
        ts=2026-01-01T00:00:01Z level=info msg=\"GET /\" status=500 latency_ms=5 bytes=12\n\
        ts=2026-01-01T00:00:02Z level=warn msg=slow\n";
    let service = read(logfmt).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (4000.0, Some(2)));
    assert!(notes(&service).contains("1 of 3 lines have no `latency_ms`"), "{}", notes(&service));
    let units = "method=GET dur=12ms\nmethod=GET dur=1.5s\nmethod=PUT dur=800us\n";
    assert_eq!(mean_us(&read(units).unwrap()), 504_266.667);
    let columns = Columns { filter: vec!["status=200".to_owned()], ..Columns::default() };
    assert_eq!(mean_us(&read_with(logfmt, columns).unwrap()), 3000.0);
    let two = "op=get dns=1ms total=12ms\nop=get dns=2ms total=14ms\nop=put dns=1ms total=16ms\n";
    match read(two) {
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
    match read("GET / rt=0.006\nGET / rt=0.008\nGET / rt=0.007\n") {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&in_unit("GET / rt=0.006\nGET / rt=0.008\nGET / rt=-\n", Unit::S)), 7000.0);
}

#[test]
fn addresses_with_parameters_make_no_log_of_a_table() {
    let row = |us: u32| format!("{us},http://127.0.0.1/?duration=5&latency=7\n");
    assert_eq!(mean_us(&read(&format!("latency_us,url\n{}{}{}", row(10), row(20), row(30))).unwrap()), 20.0);
}

#[test]
fn access_logs_have_times_behind_their_fields() {
    let line = |behind: &str| {
        format!(
            "127.0.0.1 - - [10/Oct/2025:13:55:36 +0000] \"GET /?a=1&rt=5 HTTP/1.1\" 200 2326 \"-\" \"curl/8.5 (x; y)\"{behind}\n"
        )
    };
    let plain = line("").repeat(3);
    let error = read(&plain).unwrap_err().to_string();
    assert!(
        error.contains("is an access log without times") && error.contains("rt=$request_time"),
        "{error}"
    );
    let nginx =
        [line(" rt=0.006 urt=\"0.005\""), line(" rt=0.008 urt=\"-\""), line(" rt=0.007 urt=\"0.006\"")]
            .concat();
    match read(&nginx) {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Column),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&of_column(&nginx, "rt", Some(Unit::S))), 7000.0);
    // Apache's %D has no name, and no unit.
    let apache = [line(" 6012"), line(" 8034"), line(" 7030")].concat();
    match read(&apache) {
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
    let service = read(&log).unwrap();
    assert_eq!((mean_us(&service), service.taken().unwrap().column.as_deref()), (70_000.0, Some("Tr")));
    assert!(
        notes(&service).contains("1 of 3 lines have no time under `Tr` (line 3 has `-1`)"),
        "{}",
        notes(&service)
    );
    assert_eq!(mean_us(&of_column(&log, "Ta", None)), 63_666.667);
}

#[test]
fn what_pandas_writes_of_a_column_is_read() {
    let stated = |service: &Service| {
        assert!((service.mean_ps() / 27.608e6 - 1.0).abs() < 0.006, "{}", service.mean_ps());
        assert!((service.mean_ps() * service.scv().sqrt() / 27.27e6 - 1.0).abs() < 0.006);
        assert!((service.quantile(0.5) as f64 / 19.858e6 - 1.0).abs() < 1e-3);
    };
    let csv = ",latency_us\ncount,4000.0\nmean,27.608\nstd,27.27\nmin,1.175\n25%,11.639\n50%,19.858\n75%,34.277\nmax,403.957\n";
    stated(&read(csv).unwrap());
    let printed = "count    4000.000000\nmean       27.608113\nstd        27.272632\nmin         1.175000\n25%        11.639250\n\
        50%        19.858500\n75%        34.276750\nmax       403.957000\nName: latency_us, dtype: float64\n";
    stated(&read(printed).unwrap());
    let frame = "        latency_us\ncount  4000.000000\nmean     27.608113\nstd      27.272632\nmin       1.175000\n25%      11.639250\n\
        50%      19.858500\n75%      34.276750\nmax     403.957000\n";
    stated(&read(frame).unwrap());
    let durations = "count                         4000\nmean     0 days 00:00:00.000027608\nstd      0 days 00:00:00.000027272\n\
        min      0 days 00:00:00.000001175\n25%      0 days 00:00:00.000011639\n50%      0 days 00:00:00.000019858\n\
        75%      0 days 00:00:00.000034276\nmax      0 days 00:00:00.000403957\nName: latency, dtype: object\n";
    stated(&read(durations).unwrap());
    let groups = "op,count,mean,std,min,25%,50%,75%,max\nget,3580.0,27.608,27.27,1.175,11.639,19.858,34.277,403.957\n\
        put,420.0,27.608,27.27,1.175,11.639,19.858,34.277,403.957\n";
    let groups = in_unit(groups, Unit::Us);
    stated(&groups);
    assert!((groups.class_weight(0) - 0.895).abs() < 1e-9, "{}", groups.class_weight(0));
}

#[test]
fn quantiles_of_pandas_are_percentiles() {
    for text in [
        ",latency_us\n0.5,19.8585\n0.9,55.5877\n0.99,131.3\n",
        "0.50     19.858500\n0.90     55.587700\n0.99    131.300000\nName: latency_us, dtype: float64\n",
        "op,,latency_us\nget,0.5,19.8585\nget,0.9,55.5877\nget,0.99,131.3\nput,0.5,19.8585\nput,0.9,55.5877\nput,0.99,131.3\n",
    ] {
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(service.is_fitted(), "{text}");
        for (share, us) in [(0.5, 19.8585), (0.9, 55.5877), (0.99, 131.3)] {
            let found = service.quantile(share) as f64 / 1e6;
            assert!((found / us - 1.0).abs() < 1e-3, "{text}: {share} {found}");
        }
    }
    // An index is none.
    assert!(!read(",latency_us\n0,19.8585\n1,55.5877\n2,131.3\n").unwrap().is_fitted());
}

#[test]
fn intervals_of_pandas_are_buckets() {
    for text in [
        "latency_us,count\n\"(20, 50]\",1490\n\"(10, 20]\",1254\n\"(0, 10]\",761\n\"(50, 100]\",495\n",
        ",latency_us\n\"(20.0, 50.0]\",1490\n\"(10.0, 20.0]\",1254\n\"(-0.001, 10.0]\",761\n\"(50.0, 100.0]\",495\n",
        "latency_us\n(20, 50]     1490\n(10, 20]     1254\n(0, 10]       761\n(50, 100]     495\nName: count, dtype: int64\n",
        "latency_us;count\n[20, 50);1490\n[10, 20);1254\n[0, 10);761\n[50, 100);495\n",
    ] {
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(service.class_samples(0), Some(4000), "{text}");
        let (low, high) = service.quantile_bounds(0.6);
        assert!(low.abs_diff(20_000_000) <= 1 && high.abs_diff(50_000_000) <= 1, "{text}: {low} {high}");
    }
    let cut = "0       26.482\n1       38.756\n         ...  \n3998    10.358\n3999     4.929\nName: latency_us, Length: 4000, dtype: float64\n";
    let error = read(cut).unwrap_err().to_string();
    assert!(error.contains("rows left out in the middle of its 4000") && error.contains("to_csv"), "{error}");
    assert_eq!(mean_us(&read("0    26.0\n1    38.0\nName: latency_us, dtype: float64\n").unwrap()), 32.0);
}

#[test]
fn summaries_of_tools_are_named_with_what_to_do() {
    for (text, what, instead) in [
        (
            "Benchmark 1: ls /usr\n  Time (mean ± σ):       8.7 ms ±  42.5 ms    [User: 1.1 ms, System: 0.2 ms]\n\
             \u{20} Range (min … max):     1.0 ms … 588.0 ms    307 runs\n \n",
            "what hyperfine prints",
            "--export-json",
        ),
        (
            "| Command | Mean [ms] | Min [ms] |\n|:---|---:|---:|\n| `ls` | 3.7 ± 10.9 | 1.0 |\n",
            "hyperfine's summary",
            "--export-json",
        ),
        (
            "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------\n \
             31.48    0.000210           6        34        13 openat\n 24.44    0.000163           5        30           mmap\n",
            "strace's summary",
            "strace -T",
        ),
        (
            "# /dev/cpu_dma_latency set to 0us\nT: 0 (27872) P: 0 I:1000 C:    300 Min:     24 Act:   86 Avg:  194 Max:    6294\n",
            "cyclictest's summary",
            "-h 400",
        ),
        (
            "Running 1s test @ http://127.0.0.1/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     9.26ms   21.88ms 132.16ms   89.01%\n\
             \u{20}   Req/Sec     1.02k   337.00     1.48k    70.00%\n",
            "wrk's report without percentiles",
            "--latency",
        ),
        (
            "{\"context\": {\"date\": \"x\"}, \"benchmarks\": [{\"name\": \"BM_A\", \"iterations\": 9, \"real_time\": 2.5, \"cpu_time\": 2.4, \"time_unit\": \"ns\"}, \
             {\"name\": \"BM_B\", \"iterations\": 9, \"real_time\": 3.5, \"cpu_time\": 2.4, \"time_unit\": \"ns\"}]}",
            "output of Google Benchmark",
            "a time a line",
        ),
        (
            "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message\n\
             \"BM_A\",1000,2.5,2.4,ns,,,,,\n\"BM_B\",1000,2.5,2.4,ns,,,,,\n",
            "output of Google Benchmark",
            "a time a line",
        ),
        (
            "-----------------------------------------------------\nBenchmark           Time             CPU   Iterations\n\
             -----------------------------------------------------\nBM_A             2.50 ns         2.40 ns    280000000\nBM_B             9.10 ns         9.00 ns     70000000\n",
            "output of Google Benchmark",
            "a time a line",
        ),
        (
            "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\"\n\"a.B.c\",\"avgt\",1,5,21.5,0.9,\"ns/op\"\n",
            "JMH's summary",
            "-bm sample",
        ),
        (
            "Benchmark  Mode  Cnt   Score   Error  Units\nB.get      avgt    5  21.5 ±  0.9  ns/op\nB.put      avgt    5  31.5 ±  0.9  ns/op\n",
            "JMH's summary",
            "-bm sample",
        ),
        (
            "[{\"jmhVersion\": \"1.37\", \"benchmark\": \"a.B.c\", \"mode\": \"avgt\", \"primaryMetric\": {\"score\": 21.5, \"scorePercentiles\": {\"50.0\": 21.4, \"99.0\": 22}, \
             \"scoreUnit\": \"ns/op\", \"rawData\": [[21.4, 21.6]]}}]",
            "output of JMH",
            "-bm sample",
        ),
        (
            "     0.000000 execve(\"/usr/bin/ls\", [\"ls\"], 0x7ff) = 0\n     0.000383 brk(NULL)  = 0x5611\n     0.000279 mmap(NULL, 8192) = 0x7f\n",
            "the time since the call before",
            "strace -T",
        ),
        (
            "=== RUN   TestReq/r1\n--- PASS: TestReq (1.75s)\n    --- PASS: TestReq/r58 (0.02s)\nok  \ta\t1.758s\n",
            "go test -v",
            "a time a line",
        ),
        (
            "0.02s call     test_a.py::a\n0.00s teardown test_a.py::a\n0.01s setup    test_a.py::a\n",
            "pytest --durations",
            "' call '",
        ),
        (
            "  The decimal point is 1 digit(s) to the right of the |\n\n  0 | 1111\n  1 | 22\n",
            "stem plot",
            "write.csv",
        ),
        (
            "import time: self [us] | cumulative | imported package\nimport time:       140 |        140 |   _io\n",
            "importtime",
            "as CSV",
        ),
        (
            "13:29:40 Pub Server RTT : 129\u{b5}s\n13:29:43 50:       110\u{b5}s\n13:29:43 99:       292\u{b5}s\n",
            "nats latency",
            "--histogram",
        ),
        ("200 loops, best of 5: 41.9 usec per loop\n", "timeit", "timeit.repeat"),
        (
            "raw times: 13.2 msec, 9.09 msec, 13.1 msec\n\n200 loops, best of 5: 41.9 usec per loop\n",
            "mean of many loops",
            "timeit.repeat",
        ),
        (
            "\tCommand being timed: \"ls -R /etc\"\n\tUser time (seconds): 0.00\n\tSystem time (seconds): 0.00\n\tExit status: 0\n",
            "time -v",
            "hyperfine",
        ),
        (
            "Test run id: tgr8r\nPhase started: unnamed (index: 0, duration: 3s) 11:00:30(+0000)\n\nhttp.response_time:\n  min: ......... 0\n",
            "artillery prints",
            "--output",
        ),
        (
            "1203\n1796036231\n12\nGET\nkey:1\n127.0.0.1:41328\n\n1202\n1796036231\n10\nGET\nkey:2\n127.0.0.1:41326\n\n",
            "SLOWLOG",
            "LATENCY HISTOGRAM",
        ),
        (
            "1204,1796036231,113,\"SET\",\"k\",\"v\",\"127.0.0.1:1\",\"\",1203,1796036231,11,\"GET\",\"k\",\"127.0.0.1:1\",\"\"\n",
            "SLOWLOG",
            "LATENCY HISTOGRAM",
        ),
        ("0 0 0.00 1\n0 0 0.00 2\n0 1 0.33 3\n0 1 0.25 4\n", "redis-cli --latency", "LATENCY HISTOGRAM"),
        (
            "1796036076 5150 717491 453793489 41 8973 0 0 0\n1796036077 9809 1972043 1737190719 39 16626 0 0 0\n",
            "--aggregate-interval",
            "-l",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(instead), "{text}: {error}");
    }
}

#[test]
fn samples_of_jmh_are_read_as_a_histogram() {
    let text = "[{\"jmhVersion\": \"1.37\", \"benchmark\": \"a.Store.get\", \"mode\": \"sample\", \"primaryMetric\": {\"score\": 1.2, \
        \"scorePercentiles\": {\"50.0\": 1.0, \"99.0\": 2.0}, \"scoreUnit\": \"us/op\", \
        \"rawDataHistogram\": [[[[1.0, 60], [2.0, 20]], [[1.0, 20]]]]}}]";
    let service = read(text).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (1.2, Some(100)));
    assert_eq!(service.classes(), ["a.Store.get"]);
}

#[test]
fn samples_of_cyclictest_and_packets_of_sockperf_are_read() {
    let verbose = "Max CPUs = 2\nOnline CPUs = 2\nThread 0 Interval: 1500\n       0:       0:      71\n       0:       1:      67\n       0:       2:      72\n       1:       0:      70\n";
    assert_eq!(mean_us(&read(verbose).unwrap()), 70.0);
    let report = "sockperf: == version #3.7-no.git ==\nsockperf: \u{1b}[2;35m====> avg-latency=11.852 (std-dev=128.502)\u{1b}[0m\n\
        sockperf: Summary: Latency is 11.852 usec\nsockperf: ---> <MAX> observation = 24673.856\n\
        sockperf: ---> percentile 99.999 = 4853.483\nsockperf: ---> percentile 99.900 = 1701.884\nsockperf: ---> percentile 99.000 =   15.347\n\
        sockperf: ---> percentile 50.000 =    7.120\nsockperf: ---> percentile 25.000 =    6.735\nsockperf: ---> <MIN> observation =    6.629\n";
    let service = read(report).unwrap();
    assert!((service.mean_ps() / 11.852e6 - 1.0).abs() < 0.006, "{}", service.mean_ps());
    assert!((service.quantile(0.99) as f64 / 15.347e6 - 1.0).abs() < 1e-3);
    assert_eq!((service.min_ps(), service.max_ps() <= Some(24_673_856_000)), (6_629_000, true));
    let full = "sockperf: ====> avg-latency=2554.849 (std-dev=2045.808)\nsockperf: ---> percentile 99.000 = 4907.681\n\
        sockperf: ---> percentile 50.000 = 2913.763\n------------------------------\npacket, txTime(sec), rxTime(sec), latency(usec)\n\
        0, 2.806177636, 2.807981652, 902.008\n1, 3.006177516, 3.012005042, 2913.992\n------------------------------\n";
    let service = read(full).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (1908.0, Some(2)));
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
        let service = read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
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
    assert_eq!(mean_us(&read(zipkin).unwrap()), 40.0);
}

#[test]
fn converted_percentiles_keep_what_is_stated_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.json");
    std::fs::write(&path, "{\"latency_ms\": {\"mean\": 12, \"stddev\": 3, \"p50\": 11, \"p99\": 20}}")
        .unwrap();
    let toml = caudal_workload::convert::Converted::read(&FileSpec::new(path), None).unwrap().toml().unwrap();
    assert!(toml.contains("mean = \"12000000000ps\", sd = \"3000000000ps\""), "{toml}");
}

/// Buckets of fio are as wide as the power of two that they are above says, and named by their middle.
#[test]
fn neighbouring_buckets_of_fio_touch() {
    let bins = r#""clat_ns": {"N": 60, "bins": {"100": 1, "101": 1, "46848": 20, "47360": 10, "65280": 8, "66048": 20}}"#;
    let service =
        read(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{{"read": {{{bins}}}}}]}}"#)).unwrap();
    let mean = (100.0 + 101.0 + 46848.0 * 20.0 + 47360.0 * 10.0 + 65280.0 * 8.0 + 66048.0 * 20.0) / 60.0;
    assert!((service.mean_ps() / 1e3 / mean - 1.0).abs() < 1e-3, "{}", service.mean_ps());
}

/// A condition that cannot be looked at is no condition that holds.
#[test]
fn conditions_are_refused_where_there_are_no_columns() {
    let columns = Columns { filter: vec!["call=read".to_owned()], ..Columns::default() };
    let calls = "1.0 read(3, \"\", 10) = 0 <0.000012>\n1.1 write(3, \"\", 10) = 0 <0.000014>\n".repeat(20);
    let refused = read_with(&calls, columns).unwrap_err().to_string();
    assert!(refused.contains("--where call=read"), "{refused}");
}

/// The smallest time is rounded up beside percentiles that are rounded down; the largest is the end of the tail.
#[test]
fn ends_beside_percentiles_are_the_tools() {
    let latency = r#"{"average": 2.75, "mean": 2.75, "stddev": 2.46, "min": 1, "max": 38, "p0_001": 0, "p1": 0, "p2_5": 1, "p10": 1,
        "p50": 2, "p75": 3, "p90": 5, "p99": 12, "p99_9": 29, "totalCount": 3680}"#;
    let service = in_unit(&format!(r#"{{"latency": {latency}}}"#), Unit::Ms);
    assert!((mean_us(&service) / 2750.0 - 1.0).abs() < 0.01, "{}", mean_us(&service));
    assert_eq!(service.max_ps().map(|ps| ps / 1_000_000), Some(38_000));
}

/// A shell's `time` says three things of each run; the elapsed one is what a request takes.
#[test]
fn of_a_shells_time_the_elapsed_one_is_taken() {
    for (run, mean) in [
        ("\nreal\t0m0.011s\nuser\t0m0.005s\nsys\t0m0.000s\n", 11_000.0),
        ("\nreal 1.50\nuser 0.20\nsys 0.00\n", 1_500_000.0),
        ("real\t1m2,500s\nuser\t0m0,000s\nsys\t0m0,000s\n", 62_500_000.0),
    ] {
        let service = read(&run.repeat(12)).unwrap();
        assert!((mean_us(&service) / mean - 1.0).abs() < 1e-6, "{run}: {}", mean_us(&service));
        assert!(notes(&service).contains("`real`"), "{}", notes(&service));
    }
}

/// Times of several kinds, a line each, are no distribution of one.
#[test]
fn several_kinds_of_times_are_asked_about() {
    let curl =
        "time_connect:  0.000197s\ntime_starttransfer:  0.006521s\ntime_total:  0.006606s\n----------\n"
            .repeat(20);
    match read(&curl) {
        Err(WorkloadError::Ask(ask)) => {
            assert_eq!((ask.key, ask.answers.len()), (AskKey::Column, 3));
            assert!(ask.answers.iter().any(|answer| answer.value == "time_total"));
        }
        other => panic!("{other:?}"),
    }
    let total = Columns { column: Some("time_total".to_owned()), ..Columns::default() };
    assert_eq!(mean_us(&read_with(&curl, total).unwrap()), 6606.0);
    // One kind in other words is one.
    let line =
        |request: usize| format!("{}answered in {} ms\n", "again ".repeat(request % 3), 3 + request % 2);
    let log: String = (0..60).map(line).collect();
    assert_eq!(mean_us(&read(&log).unwrap()), 3500.0);
}

#[test]
fn a_few_times_that_mean_something_else_each_sum_up() {
    for text in [
        "19 requests completed in 3.96 ms, 76 KiB read\ngenerated 20 requests in 380.3 ms, 80 KiB\nmin/avg/max/mdev = 187.4 us / 208.6 us / 252.1 us / 13.1 us\n",
        "Time to generate 10000 test keys: 0.027 seconds.\nTime to start 1 threads: 0.000 seconds.\nTime to set 10000 keys by 1 threads: 0.329 seconds.\nTime total: 0.356 seconds.\n",
    ] {
        let refused = read(text).unwrap_err().to_string();
        assert!(refused.contains("sum up"), "{refused}");
    }
}

/// `to_json(orient="split")` has the rows' numbers in a list of their own.
#[test]
fn rows_of_pandas_that_are_split_are_rows() {
    let split = r#"{"columns": ["op", "elapsed_us"], "index": [0, 1, 2, 3], "data": [["get", 5.5], ["get", 6.5], ["get", 7.5], ["get", 8.5]]}"#;
    assert_eq!(mean_us(&read(split).unwrap()), 7.0);
}

/// What is said of a file is looked at or refused, whatever the format.
#[test]
fn columns_that_there_are_not_are_refused_in_every_format() {
    let calls = "1.0 read(3, \"\", 10) = 0 <0.000012>\n".repeat(20);
    let percentiles = "p50 = 1.2 ms\np99 = 9 ms\n";
    let hyperfine = r#"{"results": [{"command": "a", "times": [0.5, 0.6, 0.7]}]}"#;
    let named = |name: &str| Some(name.to_owned());
    for text in [calls.as_str(), percentiles, hyperfine] {
        let column = read_with(text, Columns { column: named("nosuch"), ..Columns::default() });
        let refused = column.map(|_| text).unwrap_err().to_string();
        assert!(refused.contains("nosuch"), "{refused}");
    }
    let objects = r#"[{"op": "get", "latency_us": 5}, {"op": "put", "latency_us": 6}]"#;
    let lines = "{\"op\": \"get\", \"latency_us\": 5}\n{\"op\": \"put\", \"latency_us\": 6}\n";
    for text in [calls.as_str(), percentiles, hyperfine, objects, lines] {
        let class = read_with(text, Columns { class_column: named("nosuch"), ..Columns::default() });
        let refused = class.map(|_| text).unwrap_err().to_string();
        assert!(refused.contains("nosuch"), "{refused}");
    }
    for text in [objects, lines] {
        let class = read_with(text, Columns { class_column: named("op"), ..Columns::default() }).unwrap();
        assert_eq!(class.classes(), ["get", "put"], "{text}");
    }
    assert!(read_with(percentiles, Columns { class_column: named(""), ..Columns::default() }).is_ok());
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
    let service = read(timers).unwrap();
    assert_eq!(mean_us(&service), 8000.0);
    assert!(service.taken().unwrap().format.contains("times of SQL statements"));
    // A mistake is pointed at where it is.
    let wrong = " ms  \n-----\n 1.5 \n abc \n 2.5 \n(3 rows)\n";
    let error =
        read_with(wrong, Columns { unit: Some(Unit::Ms), ..Columns::default() }).unwrap_err().to_string();
    assert!(error.contains(":4:") && error.contains("abc"), "{error}");
}

/// pandas' own way to write JSON has a column a key, and the rows below them.
#[test]
fn columns_and_rows_of_pandas_are_rows() {
    let columns =
        r#"{"op": {"0": "get", "1": "get", "2": "put"}, "elapsed_us": {"0": 5.5, "1": 6.5, "2": 9}}"#;
    let index = r#"{"0": {"op": "get", "elapsed_us": 5.5}, "1": {"op": "get", "elapsed_us": 6.5}, "2": {"op": "put", "elapsed_us": 9}}"#;
    for text in [columns, index] {
        let service = read(text).unwrap();
        assert_eq!(mean_us(&service), 7.0, "{text}");
        assert_eq!(service.classes(), ["get", "put"], "{text}");
    }
    // Percentiles have numbers as keys, too.
    let percentiles = r#"{"percentiles_us": {"50": 5, "90": 8, "99": 12}}"#;
    assert!(read(percentiles).unwrap().quantile(0.5).abs_diff(5_000_000) < 10);
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
        let service = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(mean_us(&service), 4000.0, "{text}");
        assert_eq!(service.classes(), ["GET", "PUT"], "{text}");
    }
    let jq = "{\n \"latency_us\": 5\n}\n{\n \"latency_us\": 7\n}\n{\n \"latency_us\": 9\n}\n{\n \"late";
    let service = read(jq).unwrap();
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
    let service = read(&tinybench).unwrap();
    assert_eq!(service.classes(), ["sort", "map"]);
    assert_eq!(mean_us(&service), 1500.0);
    assert!(service.taken().unwrap().format.contains("tinybench"));

    // What a part of the path is called says nothing of what is measured in it.
    let limited = r#"{"rate_limiter": {"latency_us": [5, 7]}, "throughput": {"samples": [900, 800]}}"#;
    assert_eq!(mean_us(&read(limited).unwrap()), 6.0);
    let either = r#"{"rate_limiter": {"latency_us": [5, 7]}, "cache": {"latency_us": [1, 2]}}"#;
    assert!(matches!(read(either), Err(WorkloadError::Ask(_))));

    let many: Vec<String> =
        (0..100).map(|at| format!(r#"{{"run": {at}, "latencies_us": [5, {}]}}"#, 5 + at % 3)).collect();
    let service = read(&format!("[{}]", many.join(", "))).unwrap();
    assert_eq!(service.taken().unwrap().values, 200);

    let percentiles = r#"[{"name": "get", "latency_us": {"p50": 5, "p99": 9}}, {"name": "put", "latency_us": {"p50": 50, "p99": 90}}]"#;
    let service = read(percentiles).unwrap();
    assert_eq!(service.classes(), ["get", "put"]);
    assert!(notes(&service).contains("--weights"), "{}", notes(&service));
    let error = read(&percentiles.replace("\"name\"", "\"period\"")).unwrap_err().to_string();
    assert!(error.contains("of several runs"), "{error}");
}

#[test]
fn ioping_and_artillery_are_known() {
    let request = |ns: u32, ignored: bool| {
        format!(
            r#"{{"timestamp": 1796036091.5, "target": {{"path": "."}}, "io": {{"request": 1, "operation": "read", "size": 4096, "time": {ns}, "ignored": {ignored}}}}}"#
        )
    };
    let service = read(&format!(
        "[{}]",
        [request(900_000, true), request(150_000, false), request(170_000, false)].join(",")
    ))
    .unwrap();
    assert_eq!(mean_us(&service), 160.0);
    let text = "4 KiB <<< . (ext4): request=1 time=98.7 us (warmup)\n4 KiB <<< . (ext4): request=2 time=10.0 us\n\
                4 KiB <<< . (ext4): request=3 time=12.0 us\n4 KiB <<< . (ext4): request=4 time=14.0 us\n";
    assert_eq!(mean_us(&read(text).unwrap()), 12.0);
    let summary = r#"{"min": 1, "max": 20, "mean": 3.5, "p50": 3, "median": 3, "p75": 4, "p90": 5, "p95": 6, "p99": 12, "p999": 18}"#;
    let artillery = format!(
        r#"{{"aggregate": {{"summaries": {{"http.response_time": {summary}, "vusers.session_length": {summary}}}}}, "intermediate": [{{"summaries": {{"http.response_time": {summary}}}}}]}}"#
    );
    let service = read(&artillery).unwrap();
    assert!(service.quantile(0.99).abs_diff(12_000_000_000) < 10_000_000, "{}", service.quantile(0.99));
    assert!(service.taken().unwrap().format.contains("artillery"));
}

/// `redis-cli INFO latencystats` has percentiles, and `INFO all` how often each command was called.
#[test]
fn latency_stats_of_redis_are_percentiles_of_classes() {
    let stats = "# Latencystats\nlatency_percentiles_usec_get:p50=1.003,p99=2.007,p99.9=6.015\n\
                 latency_percentiles_usec_config|get:p50=3.007,p99=7.007,p99.9=7.007\n";
    let service = read(stats).unwrap();
    assert_eq!(service.classes(), ["get", "config|get"]);
    assert!(notes(&service).contains("all count alike"), "{}", notes(&service));
    let all = format!(
        "# Commandstats\ncmdstat_get:calls=900,usec=1200,usec_per_call=1.33,rejected_calls=0\n\
         cmdstat_config|get:calls=100,usec=400,usec_per_call=4.00,rejected_calls=0\n{stats}"
    );
    let service = read(&all).unwrap();
    assert!(!notes(&service).contains("all count alike"));
    assert!((mean_us(&service) - 1.6).abs() < 0.1, "{}", mean_us(&service));
}

/// A reply in which no command has been called, and reports of nothing.
#[test]
fn what_holds_no_times_is_refused() {
    for text in [
        "# Latencystats\nlatency_percentiles_usec_\n",
        r#"[{"name": "/get", "num_requests": 0, "response_times": {}}]"#,
        r#"{"DurationHistogram": {"Count": 0, "Data": []}}"#,
        r#"{"traceEvents": [{"ph": "M", "ts": 0, "name": "process_name"}]}"#,
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("holds no"), "{text}: {error}");
    }
}

/// Lines that begin with a time between brackets are no JSON.
#[test]
fn logs_that_begin_with_a_time_between_brackets_are_read() {
    let line = |at: usize| {
        format!("[1796036093.{at}] 127.0.0.1 : [{at}], 64 bytes, 0.03{at} ms (0.031 avg, 0% loss)\n")
    };
    let service = read(&(1..=5).map(line).collect::<String>()).unwrap();
    assert_eq!(mean_us(&service), 33.0);
}

/// Rows in the order of their times were sorted: their order says nothing of bursts.
#[test]
fn rows_that_somebody_sorted_are_told() {
    let sorted: String = (0..400).map(|at| format!("{}\n", 1000 + at / 3)).collect();
    let found = notes(&read(&sorted).unwrap());
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

/// What sums up in JSON is not taken for the time of a request.
#[test]
fn percentiles_win_over_the_sums_beside_them() {
    let task = |name: &str| {
        format!(
            r#"{{"name": "{name}", "totalTime": 300.5, "mean": 0.5, "p75": 0.6, "p99": 9, "p995": 9.5, "sampleCount": 1253}}"#
        )
    };
    let vitest =
        format!(r#"{{"files": [{{"groups": [{{"benchmarks": [{}, {}]}}]}}]}}"#, task("sort"), task("map"));
    let service = in_unit(&vitest, Unit::Ms);
    assert_eq!(service.classes(), ["sort", "map"]);
    assert!((mean_us(&service) - 500.0).abs() < 5.0, "{}", mean_us(&service));
    let column = Columns { column: Some("mean_us".to_owned()), ..Columns::default() };
    let means = read_with("op,mean_us,count\nget,12.5,10\nput,22.5,20\n", column).unwrap();
    assert!(notes(&means).contains("seems to sum up"), "{}", notes(&means));
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
        let service = read(&text).unwrap();
        assert_eq!((mean_us(&service), service.taken().unwrap().values), (1000.0, 2), "{text}");
    }
    let fortio = r#"{"RunType": "HTTP", "DurationHistogram": {"Count": 10, "Min": 0.001, "Max": 0.004, "Sum": 0.0195, "Avg": 0.00195,
        "Data": [{"Start": 0.001, "End": 0.002, "Percent": 70, "Count": 7}, {"Start": 0.003, "End": 0.004, "Percent": 100, "Count": 3}],
        "Percentiles": [{"Percentile": 50, "Value": 0.0017}, {"Percentile": 90, "Value": 0.0037}]}}"#;
    let service = read(fortio).unwrap();
    assert_eq!(service.taken().unwrap().values, 10);
    assert!((1_950.0..=2_100.0).contains(&mean_us(&service)), "{}", mean_us(&service));
    let locust = r#"[{"name": "/get", "num_requests": 5, "total_response_time": 245, "response_times": {"38": 1, "47": 4}},
        {"name": "/put", "num_requests": 5, "total_response_time": 245, "response_times": {"90": 5}}]"#;
    let service = read(locust).unwrap();
    assert_eq!(
        (service.taken().unwrap().values, service.classes()),
        (10, &["/get".to_owned(), "/put".to_owned()][..])
    );
    assert_eq!(mean_us(&service), 67_600.0);
}

/// Colours of a terminal are no part of a text; and what begins with a bracket need not be JSON.
#[test]
fn colours_and_brackets_do_not_hide_a_log() {
    let line = |at: u32| {
        format!(
            "\u{1b}[2m2026-11-30T13:30:4{at}Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m request done took=\u{1b}[1m{at}ms\u{1b}[0m\n"
        )
    };
    assert_eq!(mean_us(&read(&(1..6).map(line).collect::<String>()).unwrap()), 3000.0);
    for line in [
        "[30/Nov/2026:13:30:41 +0000] GET /get 200 took 6ms\n",
        "[2026-11-30 13:30:41: INFO/MainProcess] Task succeeded in 0.006s: None\n",
    ] {
        let text = line.repeat(20);
        assert_eq!(mean_us(&read(&text).unwrap_or_else(|error| panic!("{line}: {error}"))), 6000.0, "{line}");
    }
}

/// The status of an answer stands before its time, and is no name of it.
#[test]
fn a_status_is_no_name_of_a_time() {
    let line =
        |at: u32| format!("  --> GET /get {} {}ms 110b\n", if at.is_multiple_of(4) { 404 } else { 200 }, at);
    let service = read(&(1..13).map(line).collect::<String>()).unwrap();
    assert_eq!((service.taken().unwrap().values, mean_us(&service)), (12, 6500.0));
}

/// The step of a clock is seen also where times have no unit of their own.
#[test]
fn zeros_of_sql_shells_are_half_a_step() {
    let text = "Query OK, 0 rows affected (0.000 sec)\nQuery OK, 1 row affected (0.013 sec)\nQuery OK, 1 row affected (0.000 sec)\n";
    let service = read(text).unwrap();
    assert!(notes(&service).contains("step of 1 ms"), "{}", notes(&service));
    assert!((mean_us(&service) - 14_000.0 / 3.0).abs() < 1.0, "{}", mean_us(&service));
}

/// `describe()` of Polars says how many there are in the same column as how long they take.
#[test]
fn describe_of_polars_is_read_as_percentiles() {
    let rows = [
        ("count", "2000.0"),
        ("null_count", "0.0"),
        ("mean", "37.5"),
        ("std", "70.1"),
        ("min", "1.5"),
        ("50%", "13.3"),
        ("90%", "49.1"),
        ("99%", "179.5"),
        ("max", "900.5"),
    ];
    let rows: String = rows.iter().map(|(name, us)| format!("│ {name:<10} ┆ {us:<10} │\n")).collect();
    let text = format!(
        "shape: (9, 2)\n┌────────────┬────────────┐\n│ statistic  ┆ latency_us │\n│ ---        ┆ ---        │\n│ str        ┆ f64        │\n╞════════════╪════════════╡\n{rows}└────────────┴────────────┘\n"
    );
    let service = read(&text).unwrap();
    assert!(
        (mean_us(&service) - 37.5).abs() < 1.0 && service.quantile(0.5).abs_diff(13_300_000) < 100_000,
        "{}",
        mean_us(&service)
    );
}
