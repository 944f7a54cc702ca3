//! Texts with a time in their lines: which of them are of requests, and how long they are.

use caudal_workload::{AskKey, Service, WorkloadError};

use crate::reading::{column, mean_ms, notes, read, read_with, refusal, try_read};

/// The columns that are offered.
fn asked(text: &str) -> Vec<String> {
    match try_read(text) {
        Err(WorkloadError::Ask(ask)) if ask.key == AskKey::Column => {
            ask.answers.into_iter().map(|answer| answer.value).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// Minutes and seconds are one time, however they are written; a minute alone as well, where others stand beside seconds.
#[test]
fn durations_of_two_parts_are_whole() {
    for text in [
        "1min 0.5s a.service\n 1.5s b.service\n 10ms c.service\n",
        "job-0: 1min 0.500s\njob-1: 0min 1.500s\njob-2: 0min 0.010s\n",
        "req: 1:00.500 (m:ss.mmm)\nreq: 1.5s\nreq: 10ms\n",
        "build 0 has finished in 1m 0.5s\nbuild 1 has finished in 1.5s\nbuild 2 has finished in 10ms\n",
        "id,duration\n1,1m 0.5s\n2,1.5s\n3,10ms\n",
    ] {
        assert_eq!(mean_ms(&read(text)), (60_510.0f64 + 1_500.0) / 3.0, "{text}");
    }
    assert_eq!(
        mean_ms(&read("build done in 2m 10s\nbuild done in 2m\nbuild done in 50s\nbuild done in 20s\n")),
        80_000.0
    );
}

/// What a service waits before it tries again is not what a request takes.
#[test]
fn lines_that_say_something_else_of_their_time_are_asked_about() {
    let tasks = |at: u32| {
        let retry = if at.is_multiple_of(10) { "Task add[7] retry: Retry in 180s\n" } else { "" };
        format!("[10:00:0{}: INFO] Task add[{at}] succeeded in 0.040s: 4\n{retry}", at % 10)
    };
    let celery: String = (0..40).map(tasks).collect();
    assert_eq!(asked(&celery), ["Retry in", "succeeded in", "in"]);
    assert_eq!(mean_ms(&read_with(&celery, column("succeeded in")).unwrap()), 40.0);
    assert_eq!(mean_ms(&read_with(&celery, column("in")).unwrap()), (40.0 * 40.0 + 4.0 * 180_000.0) / 44.0);

    let session =
        "  100 nanoseconds spent acquiring 1 connection;\n  900 nanoseconds spent executing 5 statements;\n";
    assert_eq!(asked(&session.repeat(5)), ["spent acquiring connection", "spent executing statements"]);
    let executing = read_with(&session.repeat(5), column("spent executing statements")).unwrap();
    assert_eq!(executing.mean_ps(), 900_000.0);

    // What is said once beside two kinds hides neither.
    let once =
        format!("{}{}gave up in 9 s\n", "parsed in 5 ms\n".repeat(10), "sent out in 50 ms\n".repeat(10));
    assert_eq!(asked(&once)[..2], ["out in", "parsed in"]);

    // One line among many is passed over, and told.
    let finished = format!("{}Job 5 finished in 2.2 s\n", "task 3 done in 20 ms\n".repeat(20));
    let service = read(&finished);
    assert_eq!(mean_ms(&service), 20.0);
    assert!(
        notes(&service).contains("1 line says something else")
            && notes(&service).contains("Job 5 finished in 2.2 s")
    );
}

/// Times of all tests together are no times of tests.
#[test]
fn totals_below_the_times_are_passed_over() {
    let gtest = "[----------] 2 tests from A\n[       OK ] A.T1 (4 ms)\n[       OK ] A.T2 (8 ms)\n\
                 [----------] 2 tests from A (12 ms total)\n\n";
    let mocha =
        "  suite\n    ✔ parses (4ms)\n    ✔ writes (8ms)\n    ✔ sends (6ms)\n\n\n  3 passing (598ms)\n";
    let node = "▶ a\n  ✔ parses (4ms)\n  ✔ writes (8ms)\n  ✖ sends (6ms)\n▶ a (173.5ms)\n";
    let nextest = "    Finished `test` profile [unoptimized] target(s) in 2.31s\n        PASS [   0.004s] a t0\n        \
                   PASS [   0.008s] a t1\n        PASS [   0.006s] a t2\n     Summary [   1.755s] 3 tests run: 3 passed\n";
    for text in [gtest, mocha, node, nextest] {
        let service = read(text);
        assert_eq!(mean_ms(&service), 6.0, "{text}");
        assert!(notes(&service).contains("passed over"), "{text}");
    }
    let fping = "127.0.0.1 : [0], 84 bytes, 5 ms (5.0 avg, 0% loss)\n127.0.0.1 : [1], 84 bytes, 7 ms (6.0 avg, 0% loss)\n\n 5 ms (min round trip time)\n 7 \
                 ms (max round trip time)\n        0.091 sec (elapsed real time)\n";
    let pytest = "0.004s call test_a.py::a\n0.008s call test_a.py::b\n0.006s call test_a.py::c\n==== 3 passed in 0.23s ====\n";
    for text in [fping, pytest] {
        assert_eq!(mean_ms(&read(text)), 6.0, "{text}");
    }
    // A name that says what it is may be a total of its own.
    assert_eq!(mean_ms(&read(&"GET /a total time: 6 ms\n".repeat(4))), 6.0);
}

/// A program that says every second how far it has come has no times of requests in its lines.
#[test]
fn clocks_are_no_durations() {
    let cockroach = |second: u32| {
        let seed = "I261129 10:00:00.123456 1 workload/cli/run.go:623  [-] 1  random seed: 8137\n";
        let title = "_elapsed___errors__ops/sec(inst)___ops/sec(cum)__p50(ms)__p95(ms)\n";
        let before = if second == 1 { format!("{seed}{title}") } else { String::new() };
        format!("{before}    {second}.0s        0          812.9          813.1      6.8     14.2 read\n")
    };
    let rabbit = |second: u32| {
        format!(
            "id: 1, time {second}.00{second} s, sent: 2059{second} msg/s, received: 20102 msg/s, median/99th: 393/1967 µs\n"
        )
    };
    for text in [(1..=5).map(cockroach).collect::<String>(), (1..=9).map(rabbit).collect()] {
        assert!(refusal(&text).contains("in even steps"), "{}", refusal(&text));
    }
}

#[test]
fn traces_of_a_kernel_hold_no_times_of_requests() {
    let graph = "# tracer: function_graph\n 0)               |  vfs_read() {\n 0)   0.408 us    |    rw_verify_area();\n \
                 0)   4.229 us    |  }\n";
    assert!(refusal(&graph.repeat(3)).contains("hold the times of those within"));
    let sched =
        "  perf 23845 [000] 62217.852811: sched:sched_stat_runtime: comm=perf pid=23845 runtime=77420 [ns]\n";
    assert!(refusal(&sched.repeat(4)).contains("scheduler's events"));
    // Three probes of a hop.
    let hops = " 1  r0.net (10.0.0.1)  2.762 ms  2.918 ms  2.957 ms\n 2  r1.net (10.0.1.1)  4.448 ms  3.781 ms  3.854 ms\n";
    assert!(refusal(&hops.repeat(3)).contains("several times"));
}

/// RocksDB's and LevelDB's histograms, with what is stated beside them: the mean, and where the last bucket ends.
#[test]
fn histograms_of_db_bench_are_read() {
    let histogram = "Microseconds per read:\nCount: 10 Average: 4.0000  StdDev: 3.1\nMin: 0  Median: 1.6  Max: 19\n\
                     Percentiles: P50: 1.66 P99: 19.00\n------------------------\n";
    let rocksdb = "[       0,       1 ]  4  40.000%  40.000% ####\n(       1,       4 ]  4  40.000%  80.000% ####\n\
                   (      10,      22 ]  2  20.000% 100.000% ##\n";
    let leveldb = rocksdb.replace('(', "[").replace(" ]", " )");
    for rows in [rocksdb, &leveldb] {
        let service = read(&format!("{histogram}{rows}"));
        assert!((service.mean_ps() - 4e6).abs() < 1.0, "{}", service.mean_ps());
        assert!(service.quantile(1.0) < 20_000_001, "{}", service.quantile(1.0));
    }
    // Each benchmark is a class; reads and writes are two questions.
    let bench = |name: &str| {
        format!("{name}   :       6.471 micros/op 154506 ops/sec 0.324 seconds\n{histogram}{rocksdb}\n")
    };
    let service = read(&format!("{}{}", bench("readrandom"), bench("readseq")));
    assert_eq!(service.classes(), ["readrandom", "readseq"]);
    let writes = bench("fillseq").replace("per read", "per write");
    assert_eq!(
        asked(&format!("{writes}{}", bench("readseq"))),
        ["Microseconds per write", "Microseconds per read"]
    );
    match try_read(rocksdb) {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
}

/// Percentiles as tools print them below a run, with what is of each; where they are of several things, it is asked which is meant.
#[test]
fn percentiles_of_several_things_are_asked_about() {
    let p99_us = |service: &Service| service.quantile(0.99) as f64 / 1e6;
    let ycsb = "READ   - Takes(s): 9.9, Count: 4930, Avg(us): 1034, Min(us): 301, Max(us): 35903, 50th(us): 812, 99th(us): 5223\n\
                UPDATE - Takes(s): 9.9, Count: 5070, Avg(us): 2034, Min(us): 601, Max(us): 45903, 50th(us): 1612, 99th(us): 9223\n";
    let vllm = "-----Time to First Token-----\nMean TTFT (ms):      54.17\nMedian TTFT (ms):    49.63\nP99 TTFT (ms):      128.90\n\
                -----End-to-end Latency-----\nMean E2EL (ms):    3351.78\nMedian E2EL (ms):  2894.37\nP99 E2EL (ms):    11012.80\n";
    let trtexec = "[I] Latency: min = 1.96 ms, max = 2.14 ms, mean = 1.97 ms, median = 1.97 ms, percentile(99%) = 2.0 ms\n\
                   [I] Enqueue Time: min = 0.006 ms, max = 0.07 ms, mean = 0.008 ms, median = 0.008 ms, percentile(99%) = 0.02 ms\n";
    let nodetool = "t histograms\nPercentile      SSTables     Write Latency      Read Latency\n                              (micros)          \
                    (micros)\n50%                 1.00             88.15            315.85\n99%                 3.00            776.05           \
                    1258.93\n";
    for (text, kinds, one, expected_us) in [
        (ycsb, ["READ", "UPDATE"], "UPDATE", 9_223.0),
        (vllm, ["TTFT", "E2EL"], "E2EL", 11_012_800.0),
        (trtexec, ["Latency", "Enqueue Time"], "enqueue time", 20.0),
        (nodetool, ["Write Latency", "Read Latency"], "Read Latency", 1_258.93),
    ] {
        assert_eq!(asked(text), kinds);
        let service = read_with(text, column(one)).unwrap();
        assert!((p99_us(&service) / expected_us - 1.0).abs() < 1e-5, "{text}: {}", p99_us(&service));
        assert!(read_with(text, column("other")).unwrap_err().to_string().contains(kinds[0]));
    }
}

#[test]
fn percentiles_of_one_thing_are_read_in_their_unit() {
    let p99_us = |service: &Service| service.quantile(0.99) as f64 / 1e6;
    // Progress first, the whole run last.
    let pulsar = |p99: &str| {
        format!(
            "x [main] - Aggregated --- Latency: mean:   3.757 ms - med:   2.900 - 95pct:   4.900 - 99pct:   {p99} - Max:  71.200\n"
        )
    };
    let kafka = "50054 records sent, 9998.6 records/sec (9.73 MB/sec), 3.0 ms avg latency, 276.2 ms max latency.\n\
                 1000000 records sent, 9998.8 records/sec (9.76 MB/sec), 2.43 ms avg latency, 331.00 ms max latency, 1 ms 50th, 6 ms 95th, 27 \
                 ms 99th, 118 ms 99.9th.\n";
    let mlperf = "90th percentile latency (ns) : 14230511\nMin latency (ns)                : 10231120\n\
                  50.00 percentile latency (ns)   : 12110233\n90.00 percentile latency (ns)   : 14230511\n\
                  99.00 percentile latency (ns)   : 21934431\n";
    let perftest = "  RDMA_Read Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    \
                    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n 2       1000          1.62           6.71         1.65       \
                    1.66   0.13    1.78    6.71\n";
    let netperf = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 port 0\nMinimum Latency Microseconds,Mean Latency Microseconds,50th \
                   Percentile Latency Microseconds,99th Percentile Latency Microseconds\n14,18.21,17,41\n";
    let plow = "Summary:\n  Count 969657\n\nLatency Percentile:\n  P50     P75    P90    P95    P99   P99.9\n  173µs  198µs  222µs  238µs  274µs  \
                352µs\n";
    let etcd = "Latency distribution:\n  50% in 0.0123 secs.\n  90% in 0.0207 secs.\n  99% in 0.0343 secs.\n";
    for (text, expected_us) in [
        (format!("{}{}", pulsar("8.700"), pulsar("8.712")).as_str(), 8_712.0),
        (kafka, 27_000.0),
        (mlperf, 21_934.431),
        (perftest, 1.78),
        (netperf, 41.0),
        (plow, 274.0),
        (etcd, 34_300.0),
    ] {
        let service = read(text);
        assert!((p99_us(&service) / expected_us - 1.0).abs() < 1e-5, "{text}: {}", p99_us(&service));
    }
    // Rows of runs below a title are several things.
    let runs = "load test\nrun,p50 (ms),p99 (ms)\na,1,5\nb,2,9\n";
    assert_eq!(asked(runs), ["a", "b"]);
    // cassandra-stress says no unit.
    let cassandra = "latency mean              : 4.3 [WRITE:4.3]\nlatency median            : 1.3 [WRITE:1.3]\n\
                     latency 99th percentile   : 60.5 [WRITE:60.5]\n";
    match try_read(cassandra) {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
}

/// When a row was written is not how long something took: the time of day behind a date, and the time since a program has begun.
#[test]
fn clocks_in_columns_are_no_durations() {
    let tomcat = |at: u32| format!("2026-12-01 00:51:4{at}.500 GET /get 200 {} {}\n", at % 3 + 5, 5482 + at);
    let columns = asked(&(0..9).map(tomcat).collect::<String>());
    assert!(!columns.contains(&"2".to_owned()) && columns.contains(&"6".to_owned()), "{columns:?}");
    let loguru = |at: u32| {
        format!("2026-11-30T17:47:19.26{at}+0000 | 0:00:00.02{at}518 | INFO | handled /get in 1.0{at} ms\n")
    };
    assert!(refusal(&(0..9).map(loguru).collect::<String>()).contains("as a clock does"));
}

/// Tests of redis-benchmark have percentiles in common, to the digit.
#[test]
fn each_test_of_redis_benchmark_is_asked_about() {
    let test = |name: &str, p99: &str| {
        format!(
            "====== {name} ======\n  5000 requests completed in 0.10 seconds\n\nLatency by percentile distribution:\n\
                 0.000% <= 0.031 milliseconds (cumulative count 66)\n50.000% <= 0.063 milliseconds (cumulative count 2757)\n\
                 99.000% <= {p99} milliseconds (cumulative count 4950)\n100.000% <= 1.015 milliseconds (cumulative count 5000)\n\n"
        )
    };
    let text = format!("{}{}", test("SET", "0.143"), test("GET", "0.151"));
    assert_eq!(asked(&text), ["SET", "GET"]);
    let service = read_with(&text, column("GET")).unwrap();
    assert!((service.quantile(0.5) as f64 / 63e6 - 1.0).abs() < 0.01, "{}", service.quantile(0.5));
    assert!((service.quantile(0.99) as f64 / 151e6 - 1.0).abs() < 0.01, "{}", service.quantile(0.99));
}

#[test]
fn rates_and_shares_are_no_times() {
    let iostat = r#"{"disk": [{"r/s": 53.4, "w/s": 3.1}, {"r/s": 50.1, "w/s": 3.0}]}"#;
    match read_with(iostat, column("disk.r/s")) {
        Err(error) => assert!(!error.to_string().contains("says its name"), "{error}"),
        Ok(service) => panic!("{:?}", service.taken()),
    }
    let pprof = "Showing nodes accounting for 180ms, 100% of 180ms total\n      flat  flat%   sum%        cum   cum%\n      10ms  5.56%  5.56%      \
                 10ms  5.56%  main.a\n      20ms 11.11% 16.67%      30ms 16.67%  main.b\n";
    assert!(refusal(pprof).contains("profiler"), "{}", refusal(pprof));
    let sched = "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    |\n  perf:1 |      1.2 ms |       3 | avg:   0.1 ms | \
                 max:   0.2 ms |\n";
    assert!(refusal(sched).contains("sums and the longest delay"));
}
