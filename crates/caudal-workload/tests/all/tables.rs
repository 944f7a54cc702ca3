//! Tables whose rows are no requests: distributions, intervals, runs, sums; and columns that cannot be read.

use caudal_workload::{AskKey, Columns, Unit};

use crate::reading::{asked, mean_ms, notes, only, read_file, read_with, refused, try_read};

fn in_ms() -> Columns {
    Columns { unit: Some(Unit::Ms), ..Columns::default() }
}

#[test]
fn a_column_that_is_called_so_is_read_or_refused() {
    let service = try_read("i,elapsed\n0,PT0.034S\n1,PT0.016S\n2,PT0.1S\n").unwrap();
    assert_eq!((mean_ms(&service), service.taken().unwrap().column.as_deref()), (50.0, Some("elapsed")));
    let error = refused(try_read("i,elapsed\n0,quick\n1,slow\n2,quick\n"));
    assert!(error.contains("`elapsed`") && error.contains("`quick`"), "{error}");
    let error = refused(try_read("size,latency\n10,4 apples\n20,5 apples\n30,\n"));
    assert!(error.contains("apples"), "{error}");
}

#[test]
fn points_of_distributions_are_no_samples() {
    for name in ["cdf.csv", "ccdf.csv"] {
        let service = read_file(name, Columns::default()).unwrap();
        assert!((mean_ms(&service) / 41.6367 - 1.0).abs() < 1e-3, "{name}: {}", mean_ms(&service));
        assert_eq!(
            (service.quantile(0.5), service.quantile(1.0)),
            (35_000_000_000, 291_000_000_000),
            "{name}"
        );
        assert!(service.taken().unwrap().format.contains("distribution"), "{name}");
    }
    for points in [
        "latency_ms,cdf\n1,0.25\n2,0.75\n4,1\n",
        "latency_ms,cdf\n1,25\n2,75\n4,100\n",
        "latency_ms,cdf\n1,25%\n2,75%\n4,100%\n",
        "latency_ms;cdf\n1,0;0,25\n2,0;0,75\n4,0;1,00\n",
        "latency_ms,ccdf\n1,0.75\n2,0.25\n4,0\n",
        "latency_ms,fraction\n1,0.25\n2,0.5\n4,0.25\n",
        "latency_ms,percent\n1,25\n2,50\n4,25\n",
        "latency_ms,probability\n1,0.25\n2,0.5\n4,0.25\n",
        "latency_ms,fraction\n1,0.25\n2,0.75\n4,1.0\n",
    ] {
        assert_eq!(
            try_read(points).map(|service| mean_ms(&service)).map_err(|e| e.to_string()),
            Ok(2.25),
            "{points}"
        );
    }
    let plain = "1 0.1\n2 0.3\n3 0.6\n4 0.8\n6 1.0\n";
    assert_eq!(mean_ms(&read_with(plain, in_ms()).unwrap()), 3.4);
    let by_number = Columns { column: Some("1".to_owned()), ..in_ms() };
    assert_eq!(mean_ms(&read_with(plain, by_number).unwrap()), 3.4);
    // Two classes, one after the other, each by itself.
    let two = "class,latency_ms,cdf\nget,1,0.25\nget,2,0.75\nget,4,1\nscan,10,0.5\nscan,30,1\n";
    let service = try_read(two).unwrap();
    assert_eq!((mean_ms(&service), service.classes().len()), (11.125, 2));
    assert!(refused(try_read("latency_ms,cdf\n4,1\n2,0.75\n1,0.25\n")).contains("from row to row"));
    let error = refused(try_read("latency_ms,cdf\n1,0.25\n4,0.5\n3,1\n"));
    assert!(error.contains("must rise"), "{error}");
    let error = refused(try_read("latency_ms,cdf\n1,0.25\n4,0.5\n5,0.6\n"));
    assert!(error.contains("are missing"), "{error}");
}

#[test]
fn bounds_on_one_side_make_buckets() {
    let left = "bin_left,count\n0,2\n10,6\n20,2\n";
    let (key, _) = asked(try_read(left));
    assert_eq!(key, AskKey::Unit);
    let service = read_with(left, in_ms()).unwrap();
    assert_eq!((service.taken().unwrap().values, mean_ms(&service).round()), (10, 15.0));
    let right = try_read("bucket_upper_ms,count\n10,2\n20,6\n30,2\n").unwrap();
    assert_eq!(mean_ms(&right).round(), 15.0);
}

#[test]
fn rows_of_intervals_and_runs_have_no_common_distribution() {
    for (name, first) in [
        ("grafana_panel.csv", "Time=2026-11-29 10:00:00"),
        ("perf_analyzer.csv", "Concurrency=1"),
        ("benchbase_results.csv", "Time (seconds)=0"),
        ("dropwizard.csv", "t=1764410400"),
        ("genai_perf.csv", "Metric=Time To First Token (ms)"),
    ] {
        let (key, answers) = asked(read_file(name, Columns::default()));
        assert_eq!((key, answers[0].as_str()), (AskKey::Where, first), "{name}");
        let service = read_file(name, only(&answers[1])).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(service.classes().len(), 1, "{name}");
    }
    let request = read_file("genai_perf.csv", only("Metric=Request Latency (ms)")).unwrap();
    assert!((mean_ms(&request) / 3351.78 - 1.0).abs() < 0.01, "{}", mean_ms(&request));
    let four = read_file("perf_analyzer.csv", only("Concurrency=4")).unwrap();
    assert!((four.quantile(0.99) as f64 / 2_988e6 - 1.0).abs() < 1e-3, "{}", four.quantile(0.99));
    let panel = read_file("grafana_panel.csv", only("Time=2026-11-29 10:00:00")).unwrap();
    assert!((panel.quantile(0.99) as f64 / 100.02e9 - 1.0).abs() < 1e-3, "{}", panel.quantile(0.99));
    let runs = "op,threads,avg_us,p50_us,p99_us\nget,1,10,9,30\nget,2,11,10,33\nput,1,13,12,39\n";
    assert_eq!(asked(try_read(runs)), (AskKey::Where, vec!["threads=1".to_owned(), "threads=2".to_owned()]));
    assert_eq!(read_with(runs, only("threads=1")).unwrap().classes(), ["get", "put"]);
    let history = "Timestamp,Name,50%,99%\n1764410400,/,10,20\n1764410401,/,11,21\n1764410402,/,12,22\n";
    let (key, answers) = asked(read_with(history, in_ms()));
    assert_eq!((key, answers[2].as_str()), (AskKey::Where, "Timestamp=1764410402"));
    // A deviation that nothing has does not take the longest time away.
    let row = "name,p50_ms,p90_ms,p99_ms,p99.9_ms,max_ms,mean_ms,sd_ms\na,37.8,75.6,163.8,252,294,42,25.2\n";
    let longest_ps = try_read(row).unwrap().quantile(1.0) as f64;
    assert!((longest_ps / 294e9 - 1.0).abs() < 0.01, "{longest_ps}");
    // Names are classes, and the row without one is all of them.
    let taurus = read_file("taurus_final_stats.csv", Columns::default()).unwrap();
    assert_eq!(
        (taurus.classes(), taurus.taken().unwrap().unit),
        (&["/cart".to_owned(), "/items".to_owned()][..], Some(Unit::S))
    );
}

#[test]
fn statistics_and_sums_are_refused() {
    for series in [
        "timestamp,latency_p99_ms\n2026-11-29T10:00:00Z,85.6\n2026-11-29T10:00:37Z,99.0\n",
        "\"Time\",\"http_request_duration p99\"\n2026-11-29 10:00:00,46.65 ms\n2026-11-29 10:00:30,103.58 ms\n",
    ] {
        assert!(refused(try_read(series)).contains("is a percentile of each interval or run"), "{series}");
    }
    for (name, says) in [
        ("nsys_kern_sum.csv", "sum up many calls"),
        ("typeperf.csv", "Windows' performance counters"),
        ("benchmarkdotnet.csv", "BenchmarkDotNet's summary"),
        ("rally.csv", "report of Elastic's Rally"),
        ("dotnet_counters.csv", "counters of .NET"),
        ("grafana_heatmap.csv", "bounds of buckets"),
    ] {
        let error = refused(read_file(name, Columns::default()));
        assert!(error.contains(says), "{name}: {error}");
    }
    assert!(
        refused(try_read("function,calls,total_ms,avg_ms,min_ms,max_ms\na,9,90,10,1,50\nb,5,10,2,1,9\n"))
            .contains("sum up many calls")
    );
    let statements = "query,calls,total_exec_time,min_exec_time,max_exec_time,mean_exec_time,stddev_exec_time\na,5,50.5,1.2,20.1,10.1,2.5\nb,6,60.6,1.3,20.2,10.1,2.6\n";
    assert!(refused(try_read(statements)).contains("sum up many calls"));
    let mean = Columns { column: Some("Mean".to_owned()), ..Columns::default() };
    assert!(refused(read_file("benchmarkdotnet.csv", mean)).contains("BenchmarkDotNet's summary"));
}

#[test]
fn intervals_with_a_number_of_requests_are_weighed() {
    let service = try_read("minute,requests,latency_ms\n0,30,10\n1,10,20\n2,20,40\n").unwrap();
    assert_eq!(mean_ms(&service), 21.667);
    assert!(notes(&service).contains("an interval with `requests` requests"), "{}", notes(&service));
}

#[test]
fn totals_and_failures_are_told_from_requests() {
    let rows = "/a,10\n/b,20\n/a,30\n/b,40\n";
    let service = try_read(&format!("endpoint,latency_ms\n{rows}TOTAL,100\nAverage,25\n")).unwrap();
    assert_eq!((mean_ms(&service), service.taken().unwrap().values), (25.0, 4));
    assert!(notes(&service).contains("`TOTAL` and `Average` sum up the others"), "{}", notes(&service));
    let names = try_read("name,latency_ms\na,10\nb,20\nc,30\nTotal:,60\n").unwrap();
    assert_eq!((mean_ms(&names), names.taken().unwrap().values), (20.0, 3));
    let failed = "op,latency_ms,status\nget,0,503\nget,20,200\nget,40,200\nget,60,200\n";
    let service = try_read(failed).unwrap();
    assert!(notes(&service).contains("`--where 'status!=503'`"), "{}", notes(&service));
    assert_eq!(mean_ms(&read_with(failed, only("status=200")).unwrap()), 40.0);
}

#[test]
fn small_whole_numbers_are_asked_for_their_unit_everywhere() {
    let log = "a 200 25 \"-\"\nb 200 12 \"-\"\nc 200 29 \"-\"\n";
    let third = Columns { column: Some("3".to_owned()), ..Columns::default() };
    assert_eq!(asked(read_with(log, third)).0, AskKey::Unit);
    assert_eq!(asked(try_read("p50,p90,p99\n867,1023,1389\n")).0, AskKey::Unit);
    assert_eq!(asked(try_read("value,count\n10,4\n20,5\n30,1\n")).0, AskKey::Unit);
    let events = read_file("sqlserver_xe.csv", Columns::default()).unwrap();
    assert_eq!(events.taken().unwrap().unit, Some(Unit::Us));
}

#[test]
fn what_lies_between_beginning_and_end_is_the_time() {
    for (table, column) in [
        (
            "id,op,start_ms,end_ms\n0,get,1764410400022,1764410400038\n1,get,1764410400059,1764410400103\n",
            "end_ms - start_ms",
        ),
        (
            "id,start,end\n0,2026-11-29T10:00:00.000Z,2026-11-29T10:00:00.016Z\n1,2026-11-29T10:00:00.037Z,2026-11-29T10:00:00.081Z\n",
            "end - start",
        ),
        ("id,start,end\n0,1764410400.022,1764410400.038\n1,1764410400.059,1764410400.103\n", "end - start"),
    ] {
        let service = try_read(table).unwrap_or_else(|error| panic!("{table}: {error}"));
        assert_eq!(
            (mean_ms(&service), service.taken().unwrap().column.as_deref()),
            (30.0, Some(column)),
            "{table}"
        );
    }
    let early = refused(try_read("start_ms,end_ms\n5,9\n7,6\n"));
    assert!(early.contains("ends before it begins"), "{early}");
    let ninja = read_file("ninja_log.txt", Columns::default()).unwrap();
    assert_eq!((ninja.taken().unwrap().unit, ninja.taken().unwrap().values), (Some(Unit::Ms), 5));
}
