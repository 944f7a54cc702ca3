//! What load generators sum up by percentiles: the percentiles, what is stated beside them, and their unit.

use caudal_workload::{AskKey, Columns, FileSpec, Unit, WorkloadError};

use crate::reading::{in_unit, mean_us, notes, read_with, try_read};

#[test]
fn reports_of_vegeta_are_read_as_what_they_are() {
    let histogram = "Bucket           #    %       Histogram\n[0s,     1ms]    40   20.00%  ###\n\
        [1ms,    5ms]    5    2.50%   #\n[5ms,    20ms]   22   11.00%  ##\n[20ms,   100ms]  133  66.50%  ####\n\
        [100ms,  +Inf]   0    0.00%   \n";
    let service = try_read(histogram).unwrap();
    assert_eq!(service.class_samples(0), Some(200));
    assert!((30_000.0..60_000.0).contains(&mean_us(&service)), "{}", mean_us(&service));
    let plot = "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n0.500000   0.000000    0           1.000000\n\
        1.000000   0.500000    100         2.000000\n4.000000   1.000000    200         10000000.000000\n";
    let service = try_read(plot).unwrap();
    assert_eq!((service.class_samples(0), service.quantile(0.25)), (Some(200), 1_000_000_000));
    let report = "{\"latencies\": {\"total\": 9, \"mean\": 31038528, \"50th\": 44698593, \"99th\": 52906549}, \
        \"bytes_in\": {\"total\": 1}}";
    assert_eq!(try_read(report).unwrap().taken().map(|taken| taken.unit), Some(Some(Unit::Ns)));
}

#[test]
fn summaries_of_load_generators_bring_their_unit() {
    let autocannon = "{\"connections\": 2, \"requests\": {\"p50\": 3, \"p97_5\": 4}, \
        \"latency\": {\"mean\": 49.19, \"p2_5\": 41, \"p50\": 47, \"p97_5\": 67, \"p99\": 83}}";
    let bombardier = "{\"spec\": {\"numberOfConnections\": 2}, \"result\": {\"rps\": {\"percentiles\": {\"50\": 1, \"99\": 2}}, \
        \"latency\": {\"percentiles\": {\"50\": 47000, \"99\": 83000}}}}";
    for text in [autocannon, bombardier] {
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
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
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((service.class_samples(0), service.classes()[0].as_str()), (Some(3), "get"), "{text}");
        assert!(!notes(&service).contains("cut"), "{}", notes(&service));
    }
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
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!((service.mean_ps() / 31e9 - 1.0).abs() < 0.006, "{text}: {}", service.mean_ps());
        for (percentile, ps) in [(0.5, 44.7e9), (0.99, 52.9e9)] {
            assert!((service.quantile(percentile) as f64 / ps - 1.0).abs() < 1e-3, "{text}: p{percentile}");
        }
        assert!(service.max_ps().is_some_and(|ps| ps <= 54_400_000_000), "{text}: {:?}", service.max_ps());
        assert!(notes(&service).contains("the mean of 31 ms"), "{text}: {}", notes(&service));
    }
    let deviation = try_read(wrk).unwrap();
    assert!(
        (deviation.mean_ps() * deviation.scv().sqrt() / 16.4e9 - 1.0).abs() < 0.006,
        "{}",
        notes(&deviation)
    );
}

#[test]
fn a_mean_that_the_percentiles_rule_out_is_said() {
    let service =
        try_read("{\"latency_ms\": {\"mean\": 90, \"p50\": 10, \"p99\": 20, \"max\": 30}}").unwrap();
    assert!(
        notes(&service).contains("a mean of 90 ms is stated, but the fitted distribution has"),
        "{}",
        notes(&service)
    );
}

#[test]
fn percentiles_are_counted_as_such() {
    let taken = try_read("{\"latency_ms\": {\"p50\": 10, \"p90\": 15, \"p99\": 20, \"p99.9\": 30}}").unwrap();
    assert!(taken.taken().unwrap().to_string().ends_with(": 4 percentiles"), "{}", taken.taken().unwrap());
    let taken = try_read("name,p50_us,p99_us\nget,3,9\nput,3,9\n").unwrap();
    assert!(taken.taken().unwrap().to_string().ends_with(": 4 percentiles"), "{}", taken.taken().unwrap());
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

/// The smallest time is rounded up beside percentiles that are rounded down; the largest is the end of the tail.
#[test]
fn ends_beside_percentiles_are_the_tools() {
    let latency = r#"{"average": 2.75, "mean": 2.75, "stddev": 2.46, "min": 1, "max": 38, "p0_001": 0, "p1": 0, "p2_5": 1, "p10": 1,
        "p50": 2, "p75": 3, "p90": 5, "p99": 12, "p99_9": 29, "totalCount": 3680}"#;
    let service = in_unit(&format!(r#"{{"latency": {latency}}}"#), Unit::Ms);
    assert!((mean_us(&service) / 2750.0 - 1.0).abs() < 0.01, "{}", mean_us(&service));
    assert_eq!(service.max_ps().map(|ps| ps / 1_000_000), Some(38_000));
}

/// Times of several kinds, a line each, are no distribution of one.
#[test]
fn several_kinds_of_times_are_asked_about() {
    let curl =
        "time_connect:  0.000197s\ntime_starttransfer:  0.006521s\ntime_total:  0.006606s\n----------\n"
            .repeat(20);
    match try_read(&curl) {
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
    assert_eq!(mean_us(&try_read(&log).unwrap()), 3500.0);
}

/// `redis-cli INFO latencystats` has percentiles, and `INFO all` how often each command was called.
#[test]
fn latency_stats_of_redis_are_percentiles_of_classes() {
    let stats = "# Latencystats\nlatency_percentiles_usec_get:p50=1.003,p99=2.007,p99.9=6.015\n\
                 latency_percentiles_usec_config|get:p50=3.007,p99=7.007,p99.9=7.007\n";
    let service = try_read(stats).unwrap();
    assert_eq!(service.classes(), ["get", "config|get"]);
    assert!(notes(&service).contains("all count alike"), "{}", notes(&service));
    let all = format!(
        "# Commandstats\ncmdstat_get:calls=900,usec=1200,usec_per_call=1.33,rejected_calls=0\n\
         cmdstat_config|get:calls=100,usec=400,usec_per_call=4.00,rejected_calls=0\n{stats}"
    );
    let service = try_read(&all).unwrap();
    assert!(!notes(&service).contains("all count alike"));
    assert!((mean_us(&service) - 1.6).abs() < 0.1, "{}", mean_us(&service));
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
fn ioping_and_artillery_are_known() {
    let request = |ns: u32, ignored: bool| {
        format!(
            r#"{{"timestamp": 1796036091.5, "target": {{"path": "."}}, "io": {{"request": 1, "operation": "read", "size": 4096, "time": {ns}, "ignored": {ignored}}}}}"#
        )
    };
    let service = try_read(&format!(
        "[{}]",
        [request(900_000, true), request(150_000, false), request(170_000, false)].join(",")
    ))
    .unwrap();
    assert_eq!(mean_us(&service), 160.0);
    let text = "4 KiB <<< . (ext4): request=1 time=98.7 us (warmup)\n4 KiB <<< . (ext4): request=2 time=10.0 us\n\
                4 KiB <<< . (ext4): request=3 time=12.0 us\n4 KiB <<< . (ext4): request=4 time=14.0 us\n";
    assert_eq!(mean_us(&try_read(text).unwrap()), 12.0);
    let summary = r#"{"min": 1, "max": 20, "mean": 3.5, "p50": 3, "median": 3, "p75": 4, "p90": 5, "p95": 6, "p99": 12, "p999": 18}"#;
    let artillery = format!(
        r#"{{"aggregate": {{"summaries": {{"http.response_time": {summary}, "vusers.session_length": {summary}}}}}, "intermediate": [{{"summaries": {{"http.response_time": {summary}}}}}]}}"#
    );
    let service = try_read(&artillery).unwrap();
    assert!(service.quantile(0.99).abs_diff(12_000_000_000) < 10_000_000, "{}", service.quantile(0.99));
    assert!(service.taken().unwrap().format.contains("artillery"));
}
