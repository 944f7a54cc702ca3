//! What single tools write in a way of their own: the right values, or a refusal that says what it is and what to do.

use caudal_workload::{AskKey, Columns, Service, Unit, WorkloadError};

use crate::reading::{in_unit, mean_us, notes, only, read, read_with, refusal, try_read};

fn of(text: &str, filter: &str) -> Service {
    read_with(text, only(filter)).unwrap_or_else(|error| panic!("{filter}: {error}"))
}

fn ask(text: &str) -> caudal_workload::Ask {
    match try_read(text) {
        Err(WorkloadError::Ask(ask)) => *ask,
        other => panic!("{text}: {other:?}"),
    }
}

fn values(service: &Service) -> u64 {
    service.taken().map_or(0, |taken| taken.values)
}

fn format(service: &Service) -> String {
    service.taken().map(ToString::to_string).unwrap_or_default()
}

/// A log of PostgreSQL in its three forms: two statements, and one by the extended protocol.
fn logs_of_postgres() -> [String; 3] {
    const MESSAGES: [(&str, &str); 6] = [
        ("", "database system is ready to accept connections"),
        ("SELECT", "duration: 0.400 ms  statement: select 'a, \"b\"'\n\tfrom c"),
        ("UPDATE", "duration: 0.600 ms  statement: update c set d = 1"),
        ("PARSE", "duration: 0.010 ms  parse P_1: select $1"),
        ("BIND", "duration: 0.020 ms  bind P_1: select $1"),
        ("SELECT", "duration: 0.100 ms  execute P_1: select $1"),
    ];
    let text = |(_, message): &(&str, &str)| format!("2026-11-30 15:33:52.839 UTC [14587] LOG:  {message}\n");
    let csv = |(command, message): &(&str, &str)| {
        let message = message.replace('"', "\"\"");
        format!(
            "2026-11-30 15:33:52.923 UTC,\"u\",\"base\",14596,\"[local]\",6b0d9760.3904,1,\"{command}\",2026-11-30 15:33:52 UTC,3/0,0,LOG,\
             00000,\"{message}\",,,,,,,,,\"app\",\"client backend\",,0\n"
        )
    };
    let json = |(command, message): &(&str, &str)| {
        let entry = serde_json::json!({"timestamp": "2026-11-30 15:33:52.839 UTC", "pid": 14587, "ps": command, "dbname": "base",
            "error_severity": "LOG", "message": message});
        format!("{entry}\n")
    };
    [
        MESSAGES.iter().map(text).collect(),
        MESSAGES.iter().map(csv).collect(),
        MESSAGES.iter().map(json).collect(),
    ]
}

#[test]
fn logs_of_postgres_are_told_by_what_took_so_long() {
    for log in logs_of_postgres() {
        let service = read(&log);
        assert_eq!(values(&service), 5, "{}", format(&service));
        assert_eq!(service.classes(), ["statement", "parse", "bind", "execute"], "{}", format(&service));
        assert_eq!(mean_us(&of(&log, "kind=statement")), 500.0);
        assert_eq!(mean_us(&of(&log, "kind=execute")), 100.0);
        assert_eq!(mean_us(&of(&log, "command=UPDATE")), 600.0);
        assert!(notes(&service).contains("is parsed, bound and executed"), "{}", notes(&service));
    }
    let [log, csv, json] = logs_of_postgres();
    let by_name = Columns { column: Some("duration".to_owned()), ..Columns::default() };
    assert_eq!(values(&read_with(&log, by_name).unwrap()), 5);
    for log in [csv, json] {
        assert_eq!(values(&of(&log, "database=base")), 5);
    }
    // `log_duration` says nothing but the duration.
    let bare = "2026 UTC [1] LOG:  duration: 0.5 ms\n2026 UTC [1] LOG:  duration: 1.5 ms\n";
    assert!(
        notes(&read(bare)).contains("nothing says what took 2 of the durations"),
        "{}",
        notes(&read(bare))
    );
}

#[test]
fn runs_of_tests_are_read_as_such() {
    let event = |test: &str, action: &str, elapsed: f64| {
        format!(
            "{{\"Time\":\"2026-11-30T15:33:57Z\",\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\",\"Elapsed\":{elapsed}}}\n"
        )
    };
    let go = [
        "{\"Action\":\"start\",\"Package\":\"p\"}\n".to_owned(),
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n".to_owned(),
        event("TestA/x", "pass", 0.01),
        event("TestA/y", "fail", 0.02),
        event("TestA", "fail", 0.03),
        event("TestB", "skip", 0.0),
        "{\"Action\":\"pass\",\"Package\":\"p\",\"Elapsed\":0.05}\n".to_owned(),
    ];
    let service = read(&go.concat());
    assert_eq!((values(&service), mean_us(&service)), (2, 15_000.0), "{}", format(&service));
    assert!(format(&service).contains("go test -json"), "{}", format(&service));
    assert!(notes(&service).contains("a run of a whole test"), "{}", notes(&service));
    let error = refusal(
        "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"BenchmarkX\",\"Output\":\"9 ns/op\\n\"}\n",
    );
    assert!(error.contains("Go's benchmarks"), "{error}");
    let junit = "<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" time=\"0.06\"><testcase classname=\"a\" name=\"b[<0>]\" \
        time=\"0.012\" /><testcase classname=\"a\" name=\"c\" time=\"0.018\"><failure message=\"time='9'\">x</failure></testcase>\
        </testsuite></testsuites>";
    let service = read(junit);
    assert_eq!((values(&service), mean_us(&service)), (2, 15_000.0), "{}", format(&service));
    assert!(format(&service).contains("JUnit"), "{}", format(&service));
}

#[test]
fn samples_of_jmeter_in_xml_are_those_of_its_csv() {
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n\
        <httpSample t=\"12\" lt=\"11\" ts=\"1700000000000\" s=\"true\" lb=\"home\" rc=\"200\"/>\n\
        <sample t=\"30\" ts=\"1700000000100\" s=\"false\" lb=\"buy &amp; pay\" rc=\"500\">\n\
        <httpSample t=\"15\" ts=\"1700000000100\" s=\"true\" lb=\"inner\" rc=\"200\"/>\n</sample>\n</testResults>\n";
    let service = read(xml);
    assert_eq!(service.classes(), ["home", "buy & pay"], "{}", format(&service));
    assert_eq!(mean_us(&service), 21_000.0);
    assert!(notes(&service).contains("1 request failed"), "{}", notes(&service));
    let error = refusal("<?xml version=\"1.0\"?>\n<catalog><a t=\"1\"/></catalog>\n");
    assert!(error.contains("first element is `catalog`") && error.contains("JUnit"), "{error}");
}

#[test]
fn timers_of_statsd_have_a_type_and_a_rate() {
    let timers = "a:10|ms\na:20|ms\nb:1|c\n";
    assert_eq!((values(&read(timers)), mean_us(&read(timers))), (2, 15_000.0));
    assert!(notes(&read(timers)).contains("1 line of other metrics"), "{}", notes(&read(timers)));
    // What was sampled at a tenth counts ten times, and was measured once.
    let sampled = "a:10|ms|@0.1\na:21|ms\n";
    assert_eq!((values(&read(sampled)), mean_us(&read(sampled))), (2, 11_000.0));
    let alike = "a:10|ms|@0.1\na:20|ms|@0.1\n";
    assert_eq!(mean_us(&read(alike)), 15_000.0);
    assert!(notes(&read(alike)).contains("was sent 0.1 of the values"), "{}", notes(&read(alike)));
    let two = ask("a:10|ms\nb:20|ms\na:10|ms\n");
    assert_eq!((two.key, two.answers.len()), (AskKey::Column, 2));
    let classes = Columns { class_column: Some("metric".to_owned()), ..Columns::default() };
    let service = read_with("a:10|ms\nb:20|ms\na:10|ms\n", classes).unwrap();
    assert_eq!(service.classes(), ["a", "b"]);
    // A tag that is called as counts are is none.
    assert_eq!(values(&read("a:10|ms|#count:5\na:30|ms|#count:7\n")), 2);
    let histogram = "a:10:20|h|#op:get\na:30|h|#op:put\n";
    assert_eq!(ask(histogram).key, AskKey::Unit);
    assert_eq!(mean_us(&in_unit(histogram, Unit::Us)), 20.0);
    assert_eq!(mean_us(&of("a.us:10|d|#op:get\na.us:30|d|#op:put\n", "op=put")), 30.0);
    assert!(refusal("a:1|c\nb:2|g\n").contains("no timer"));
}

#[test]
fn lines_of_influxdb_have_whole_numbers_and_tags() {
    let line = |at: u64, ns: u64| {
        format!("requests,host=a,op=get latency_ns={ns}i,status=200i 17000000000000000{at}\n")
    };
    let service = read(&[line(10, 11_000), line(11, 12_000), line(12, 13_000)].concat());
    assert_eq!((values(&service), mean_us(&service)), (3, 12.0), "{}", format(&service));
    assert!(format(&service).contains("InfluxDB's line protocol"), "{}", format(&service));
    // A field that is called `value` is what is measured.
    let bare = "latency_us,host=a value=10i 1700000000000000001\nlatency_us,host=b value=20i 1700000000000000002\n\
        hits,host=b value=7i 1700000000000000002\n";
    assert_eq!((values(&read(bare)), mean_us(&read(bare))), (2, 15.0), "{}", format(&read(bare)));
}

#[test]
fn of_closed_spans_of_tracing_the_busy_time_is_taken() {
    let line = |ms: u32| {
        format!(
            "2026-11-30T15:00:00Z  INFO outer:handle{{id={ms}}}: app::server: close time.busy={ms}.00ms time.idle=90.1µs\n"
        )
    };
    let pretty = |ms: u32| {
        format!(
            "  2026-11-30T15:00:00Z  INFO app: close, time.busy: {ms}.00ms, time.idle: 90.1µs\n    at src/main.rs:12\n    in \
             app::handle with id: {ms}\n\n"
        )
    };
    let json = |ms: u32| {
        format!(
            "{{\"level\":\"INFO\",\"fields\":{{\"message\":\"close\",\"time.busy\":\"{ms}.00ms\",\"time.idle\":\"90.1µs\"}},\"target\":\"app\",\
             \"span\":{{\"name\":\"handle\"}}}}\n"
        )
    };
    for text in [line(1) + &line(3), pretty(1) + &pretty(3), json(1) + &json(3)] {
        let service = read(&text);
        assert_eq!((values(&service), mean_us(&service)), (2, 2_000.0), "{}", format(&service));
        assert!(notes(&service).contains("the busy one is taken"), "{}", notes(&service));
        let idle = Columns { column: Some("time.idle".to_owned()), ..Columns::default() };
        assert_eq!(mean_us(&read_with(&text, idle).unwrap()), 90.1);
    }
}

#[test]
fn json_within_lines_and_lines_within_json_are_read() {
    let within = "2026-11-30 15:00:11 INFO {\"latency_ms\": 1.5, \"path\": \"/{x}\"}\n2026-11-30 15:00:12 INFO started\n\
        2026-11-30 15:00:12 INFO {\"latency_ms\": 2.5, \"path\": \"/\"} done\n2026-11-30 15:00:13 INFO {\"latency_ms\": 3.5}\n";
    let service = read(within);
    assert_eq!((values(&service), mean_us(&service)), (3, 2_500.0), "{}", format(&service));
    assert!(notes(&service).contains("1 line without an object"), "{}", notes(&service));
    // What stands before the object may be what has the time.
    let before =
        "GET /x took 1ms {\"user\": 1}\nGET /x took 3ms {\"user\": 2}\nGET /x took 5ms {\"user\": 1}\n";
    assert_eq!((values(&read(before)), mean_us(&read(before))), (3, 3_000.0));
    // A key may have points of its own.
    let dotted = "{\"http\": {\"took.ms\": 1.5}}\n{\"http\": {\"took.ms\": 2.5}}\n";
    assert_eq!(mean_us(&read(dotted)), 2_000.0);
    let line = |ms: u32| {
        format!(
            "{{\"log\":\"GET /x took={ms}.5ms\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T15:00:00Z\"}}\n"
        )
    };
    let service = read(&(line(1) + &line(2) + &line(3)));
    assert_eq!((values(&service), mean_us(&service)), (3, 2_500.0), "{}", format(&service));
    assert!(format(&service).contains("of which `log` holds"), "{}", format(&service));
}

#[test]
fn counts_beside_values_are_asked_about() {
    let counted = "    600 10\n    300 20\n    100 30\n";
    let asked = ask(counted);
    assert_eq!(asked.key, AskKey::CountColumn);
    let options = asked.to_string();
    assert!(
        options.contains("--count-column 1  the times are 10, 20, 30, … and occur 600, 300, 100, … times"),
        "{options}"
    );
    let by = |count: &str, unit| Columns { count_column: Some(count.to_owned()), unit, ..Columns::default() };
    let service = read_with(counted, by("1", Some(Unit::Us))).unwrap();
    assert_eq!((values(&service), mean_us(&service)), (1000, 15.0));
    let with_unit = "    600 1.0 ms\n    400 2.0 ms\n";
    assert_eq!(ask(with_unit).key, AskKey::CountColumn);
    let service = read_with(with_unit, by("1", None)).unwrap();
    assert_eq!((values(&service), mean_us(&service)), (1000, 1_400.0), "{}", format(&service));
    // Counts of names are no times.
    let names = ask("    600 get\n    400 put\n");
    assert!(names.to_string().contains("there are no times in it"), "{names}");
    // By its name too, where it is called otherwise; and nothing is counted where there are no columns.
    let service = read_with("n,service_us\n3,10\n1,50\n", by("n", None)).unwrap();
    assert_eq!((values(&service), mean_us(&service)), (4, 20.0));
    let error = read_with("took 5 ms\ntook 6 ms\ntook 7 ms\n", by("1", None)).unwrap_err().to_string();
    assert!(error.contains("count_column = \"1\"` means nothing"), "{error}");
}

#[test]
fn answers_to_dnsperf_and_mtr_are_times() {
    let dnsperf = "DNS Performance Testing Tool\nVersion 2.10.0\n\n[Status] Sending queries\n> NOERROR a.example A 0.000500\n\
        > NOERROR b.example AAAA 0.001500\n> T c.example A\n\nStatistics:\n\n  Average Latency (s):  0.001 (min 0.0005, max 0.0015)\n";
    let service = read(dnsperf);
    assert_eq!((values(&service), mean_us(&service)), (2, 1_000.0), "{}", format(&service));
    assert!(notes(&service).contains("1 of the queries had no answer"), "{}", notes(&service));
    let summary = "DNS Performance Testing Tool\n\nStatistics:\n\n  Average Latency (s):  0.001 (min 0.0005, max 0.0015)\n";
    assert!(refusal(summary).contains("with `-v`"), "{}", refusal(summary));
    let raw = "x 0 1\nh 0 10.0.0.1\np 0 100 1\nx 1 2\nh 1 10.0.0.2\np 1 300 2\nx 1 3\np 1 500 3\nx 1 4\n";
    let service = read(raw);
    assert_eq!((values(&service), service.classes()), (3, &["0".to_owned(), "1".to_owned()][..]));
    assert_eq!(mean_us(&of(raw, "hop=1")), 400.0);
    assert_eq!(mean_us(&of(raw, "host=10.0.0.1")), 100.0);
    assert!(notes(&service).contains("1 packet without an answer"), "{}", notes(&service));
    for report in [
        "Start: 2026-11-30T15:34:48+0000\nHOST: vm    Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- a  0.0%  20  0.1  0.1  0.1  0.1  0.0\n",
        "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\nMTR.0.95,1,OK,a,1,b,0.00,20,0,0.06,0.06,0.05,0.10,0.01\n",
        "{\"report\": {\"mtr\": {\"src\": \"a\"}, \"hubs\": [{\"count\": 1, \"Avg\": 0.055, \"Best\": 0.052}]}}",
    ] {
        assert!(refusal(report).contains("`mtr --raw HOST`"), "{report}: {}", refusal(report));
    }
}

#[test]
fn apostrophes_separate_thousands() {
    for text in [
        "service_us\n1'234.5\n2'234.5\n",
        "service_us\n1\u{2019}234.5\n2\u{2019}234.5\n",
        "a;service_us\nx;1'234,5\ny;2'234,5\n",
    ] {
        assert_eq!(mean_us(&read(text)), 1_734.5, "{text}");
    }
}

#[test]
fn types_below_the_names_are_no_row() {
    for text in [
        "\"class\",\"latency_us\"\n\"LowCardinality(String)\",\"Float64\"\n\"get\",10.5\n\"put\",11.5\n",
        "class\tlatency_us\nString\tNullable(UInt32)\nget\t10\nput\t12\n",
    ] {
        let service = read(text);
        assert_eq!((values(&service), mean_us(&service)), (2, 11.0), "{}", format(&service));
        assert_eq!(service.classes(), ["get", "put"]);
    }
    let error = refusal("class,latency_us\nString,Float64\nget,1\nget,x\n");
    assert!(error.contains("`x`") && error.contains(":4:5:"), "{error}");
}

#[test]
fn what_r_and_numpy_print_is_read_if_it_is_whole() {
    for text in [
        " [1] 10.5 20.5\n [3] 30.5\n",
        "[1] 10.5\n[1] 20.5\n[1] 30.5\n",
        "[10.5  20.5\n 30.5 ]\n",
        "array([10.5, 20.5,\n       30.5], dtype=float32)\n",
    ] {
        assert_eq!(ask(text).key, AskKey::Unit, "{text}");
        let service = in_unit(text, Unit::Us);
        assert_eq!((values(&service), mean_us(&service)), (3, 20.5), "{text}");
    }
    assert_eq!(values(&in_unit("[[10.5]\n [20.5]]\n", Unit::Us)), 2);
    assert_eq!(mean_us(&read("array([10, 20], dtype='timedelta64[ms]')\n")), 15_000.0);
    for summary in [
        "   Min. 1st Qu.  Median    Mean 3rd Qu.    Max. \n   1.00    5.00   10.00   12.00   15.00   60.00 \n",
        "   0%   25%   50%   75%  100% \n 1.00  5.00 10.00 15.00 60.00 \n",
    ] {
        let service = in_unit(summary, Unit::Us);
        let [low, middle] = [0.25, 0.5].map(|p| (service.quantile(p) as f64 / 1e4).round() / 100.0);
        assert_eq!((low, middle), (5.0, 10.0), "{summary}: {}", format(&service));
    }
    assert_eq!(mean_us(&read("Time differences in secs\n[1] 0.001 0.003\n")), 2_000.0);
    for (text, why) in [
        ("[10.5  20.5 ... 30.5  40.5]\n", "left out"),
        ("array([10.5, 20.5, ..., 30.5], shape=(5000,))\n", "left out"),
        (" [1] 1.5 2.5\n [7] 3.5\n", "missing before the one with the number 7"),
        ("[1] 1.5 2.5\n [ reached getOption(\"max.print\") -- omitted 9000 entries ]\n", "left out"),
        ("[1] 1.5 2.5\n[1] 1.5 2.5\n", "2 vectors"),
        ("[[1.5 2.5]\n [3.5 4.5]]\n", "several columns"),
        ("[10.5  20.5\n", "end is missing"),
    ] {
        assert!(refusal(text).contains(why), "{text}: {}", refusal(text));
    }
    let error = refusal("[1] 10.5 -3\n");
    assert!(error.contains(":1:10:"), "{error}");
}

#[test]
fn pauses_of_java_are_told_as_such() {
    let unified = "[0.027s][info][gc] Using G1\n[1.042s][info][gc,start] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n\
        [1.042s][info][gc,phases   ] GC(0)   Other: 0.2ms\n\
        [1.042s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(64M) 6.000ms\n\
        [1.142s][info][gc] GC(1) Concurrent Mark Cycle 50.000ms\n[1.242s][info][gc] GC(1) Pause Remark 7M->4M(64M) 2.000ms\n";
    let old = "0.523: [GC (Allocation Failure) [PSYoungGen: 6K->1K(7K)] 6K->1K(2K), 0.0060000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]\n\
        1.5: [Full GC (Ergonomics)  6K->1K(2K), 0.002 secs]\n";
    for text in [unified, old] {
        let service = read(text);
        assert_eq!((values(&service), mean_us(&service)), (2, 4_000.0), "{}", format(&service));
        assert_eq!(service.classes().len(), 2);
        assert!(notes(&service).contains("none of a request"), "{}", notes(&service));
    }
    let safepoint = |ns: u32| {
        format!(
            "[0.8s][info][safepoint] Safepoint \"Cleanup\", Time since last: 9 ns, At safepoint: 4 ns, Total: {ns} ns\n"
        )
    };
    assert_eq!(mean_us(&read(&(safepoint(4_000) + &safepoint(6_000)))), 5.0);
}

#[test]
fn sums_and_profiles_are_named_with_what_to_do() {
    for (text, advice) in [
        (
            "RegExp#test x 51,207,667 ops/sec ±5.74% (77 runs sampled)\nFastest is RegExp#test\n",
            "retainSamples",
        ),
        (
            " ✓ a.bench.mjs > sort\n     name               hz     min     max    mean     p75     p99    p995    p999     rme  samples\n   \
             · normal   2,561,633.90  0.0002  0.7900  0.0004  0.0003  0.0024  0.0029  0.0051  ±6.31%   128082\n",
            "--outputJson FILE",
        ),
        ("main;a;b 12\nmain;a 30\nmain;c;d 4\n", "a profiler"),
        (
            "File: x\nType: cpu\n      flat  flat%   sum%        cum   cum%\n     1.20s 61.54% 61.54%      1.20s 61.54%  main.work\n",
            "a profiler",
        ),
        (
            "   2 function calls in 0.5 seconds\n\n   ncalls  tottime  percall  cumtime  percall filename\n   1  0.4  0.4  0.5  0.5 a.py:3(f)\n",
            "a profiler",
        ),
        (
            "# Overhead  Command  Shared Object  Symbol\n    61.54%  x   x  [.] work\n    25.64%  x   x  [.] handle\n",
            "a profiler",
        ),
        (
            "{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"a\"}}], \"samples\": [1, 1], \"timeDeltas\": [0, 7246]}",
            "a profiler",
        ),
        (
            "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"profiles\": [{\"samples\": [[0], [0, 1]], \
             \"weights\": [0.01, 0.02]}]}",
            "a profiler",
        ),
    ] {
        assert!(refusal(text).contains(advice), "{text}: {}", refusal(text));
    }
}

#[test]
fn benchmarks_of_vitest_are_in_milliseconds() {
    let one = |name: &str, p99: f64| {
        format!(
            "{{\"name\": \"{name}\", \"samples\": [], \"min\": 0.001, \"max\": 0.9, \"hz\": 9, \"mean\": 0.02, \"median\": 0.01, \
             \"p75\": 0.03, \"p99\": {p99}, \"p995\": 0.2, \"p999\": 0.3, \"sampleCount\": 2}}"
        )
    };
    let text = format!(
        "{{\"files\": [{{\"filepath\": \"a\", \"groups\": [{{\"fullName\": \"g\", \"benchmarks\": [{}, {}]}}]}}]}}",
        one("normal", 0.1),
        one("reverse", 0.1)
    );
    let service = read(&text);
    assert_eq!(service.classes(), ["normal", "reverse"]);
    assert!((service.quantile(0.995) as f64 / 200e6 - 1.0).abs() < 0.01, "{}", service.quantile(0.995));
    assert!(notes(&service).contains("retainSamples"), "{}", notes(&service));
}
