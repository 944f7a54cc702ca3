//! What tools wrote that nobody thought of: the right values, or a refusal that says what it is and what to do.

use caudal_workload::Columns;

use crate::reading::{mean_us, notes, only, read_with, try_read};

#[test]
fn texts_that_are_no_tables_are_refused_as_such() {
    for text in [
        "Running 5s test @ http://127.0.0.1:8080/\n2 connections\n\nStat 2.5% 50%\nLatency 41 47\n",
        "tcp_lat:\n    latency  =  7.12 us\n",
        "stress-ng: info:  [1] dispatching hogs: 1 cpu\nstress-ng: metrc: [1] stressor bogo\nstress-ng: info: [1] done\n",
    ] {
        let error = try_read(text).unwrap_err().to_string();
        assert!(error.contains("is a text of a kind that is not known here"), "{text}: {error}");
    }
    let error =
        try_read("goos: linux\ngoarch: amd64\nBenchmarkA-2 \t 200\t 362.9 ns/op\n").unwrap_err().to_string();
    assert!(error.contains("is output of Go's benchmarks"), "{error}");
    // A row with a mistake is still pointed at.
    let error = try_read("12\n13\nabc\n15\n").unwrap_err().to_string();
    assert!(error.contains(":3:1: `abc` is not a number"), "{error}");
}

#[test]
fn times_that_sum_up_others_are_no_requests() {
    let text = "Benchmark\n\tAverage number of seconds to run all queries: 0.032 seconds\n\
        \tMinimum number of seconds to run all queries: 0.026 seconds\n\
        \tMaximum number of seconds to run all queries: 0.040 seconds\n";
    let error = try_read(text).unwrap_err().to_string();
    assert!(error.contains("sum up many requests"), "{error}");
    let text = "a 1ms b 3ms\nc 2ms and d 4ms\nthe e 1ms or else f 2ms\n";
    let error = try_read(text).unwrap_err().to_string();
    assert!(error.contains("several times"), "{error}");
    let text = "LOG: duration: 0.2 ms  statement: select max(a)\nLOG: duration: 0.2 ms  statement: select max(a) from b;\n".repeat(4);
    assert_eq!(mean_us(&try_read(&text).unwrap()), 200.0);
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
        let error = try_read(text).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(instead), "{text}: {error}");
    }
}

/// A condition that cannot be looked at is no condition that holds.
#[test]
fn conditions_are_refused_where_there_are_no_columns() {
    let columns = Columns { filter: vec!["call=read".to_owned()], ..Columns::default() };
    let calls =
        "1.0 try_read(3, \"\", 10) = 0 <0.000012>\n1.1 write(3, \"\", 10) = 0 <0.000014>\n".repeat(20);
    let refused = read_with(&calls, columns).unwrap_err().to_string();
    assert!(refused.contains("--where call=read"), "{refused}");
}

/// Blank lines are no rows: they are neither left over by a condition, nor counted as lines without a time.
#[test]
fn blank_lines_of_json_are_no_rows() {
    let rows = "{\"status\": 500, \"latency_us\": 3}\n\n".repeat(3)
        + &"{\"status\": 404, \"latency_us\": 4}\n\n".repeat(2);
    let refused = read_with(&rows, only("status=200")).unwrap_err().to_string();
    assert!(refused.contains("`status=200` holds for none of its 5"), "{refused}");
    let service = read_with(&(rows + "\n{\"status\": 500}\n"), only("status=500")).unwrap();
    let notes = notes(&service);
    assert!(notes.contains("1 of 6 lines have no `latency_us`"), "{notes}");
}

#[test]
fn a_few_times_that_mean_something_else_each_sum_up() {
    for text in [
        "19 requests completed in 3.96 ms, 76 KiB read\ngenerated 20 requests in 380.3 ms, 80 KiB\nmin/avg/max/mdev = 187.4 us / 208.6 us / 252.1 us / 13.1 us\n",
        "Time to generate 10000 test keys: 0.027 seconds.\nTime to start 1 threads: 0.000 seconds.\nTime to set 10000 keys by 1 threads: 0.329 seconds.\nTime total: 0.356 seconds.\n",
    ] {
        let refused = try_read(text).unwrap_err().to_string();
        assert!(refused.contains("sum up"), "{refused}");
    }
}

/// What is said of a file is looked at or refused, whatever the format.
#[test]
fn columns_that_there_are_not_are_refused_in_every_format() {
    let calls = "1.0 try_read(3, \"\", 10) = 0 <0.000012>\n".repeat(20);
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

/// A reply in which no command has been called, and reports of nothing.
#[test]
fn what_holds_no_times_is_refused() {
    for text in [
        "# Latencystats\nlatency_percentiles_usec_\n",
        r#"[{"name": "/get", "num_requests": 0, "response_times": {}}]"#,
        r#"{"DurationHistogram": {"Count": 0, "Data": []}}"#,
        r#"{"traceEvents": [{"ph": "M", "ts": 0, "name": "process_name"}]}"#,
    ] {
        let error = try_read(text).unwrap_err().to_string();
        assert!(error.contains("holds no"), "{text}: {error}");
    }
}
