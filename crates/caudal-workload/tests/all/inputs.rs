//! What tools wrote, as it is: each file gives the right values, or the right question.

use std::path::Path;

use caudal_workload::{
    ArrivalSpec, AskKey, Columns, FileSpec, Finding, Replay, Service, ServiceSpec, TimestampColumns,
    TimestampFile, Unit, WorkloadError,
};

use crate::reading::{notes, path_of, read_file};

fn read(name: &str) -> Service {
    read_file(name, Columns::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn in_unit(name: &str, unit: Unit) -> Service {
    read_file(name, Columns { unit: Some(unit), ..Columns::default() })
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The question that a file leaves.
fn asked(name: &str) -> (AskKey, String) {
    match read_file(name, Columns::default()) {
        Err(WorkloadError::Ask(ask)) => (ask.key, ask.to_string()),
        other => panic!("{name}: {other:?}"),
    }
}

fn count(service: &Service) -> u64 {
    (0..service.classes().len()).map(|class| service.class_samples(class).expect("measured")).sum()
}

/// Is the mean so many microseconds, to the digits that are given?
fn has_mean_us(service: &Service, mean_us: f64) -> bool {
    (service.mean_ps() / 1e6 / mean_us - 1.0).abs() < 5e-4
}

#[test]
fn logs_of_every_version_under_any_name() {
    for (name, values, bounds) in [
        (
            "log-v0.hlog",
            61_256,
            [
                (0.5, 376_832, 393_215),
                (0.999, 1_509_949_440, 1_518_338_047),
                (1.0, 1_568_669_696, 1_577_058_303),
            ],
        ),
        (
            "jh.hdr",
            48_761,
            [
                (0.5, 327_680, 344_063),
                (0.999, 1_744_830_464, 1_753_219_071),
                (1.0, 1_795_162_112, 1_803_550_719),
            ],
        ),
        (
            "jh.log",
            48_761,
            [
                (0.5, 327_680, 344_063),
                (0.999, 1_744_830_464, 1_753_219_071),
                (1.0, 1_795_162_112, 1_803_550_719),
            ],
        ),
    ] {
        let service = read(name);
        assert_eq!(count(&service), values, "{name}");
        for (p, low_ns, high_ns) in bounds {
            let found = service.quantile_bounds(p);
            assert_eq!(found, (low_ns * 1000, high_ns * 1000), "{name} at {p}");
        }
    }
    let v2 = read("log-v2.hlog");
    assert_eq!((count(&v2), v2.quantile(0.5), v2.quantile_bounds(1.0).0), (100, 100_000, 2_000_000));
    let tagged = read("bom.hlog");
    assert_eq!((count(&tagged), tagged.classes()), (32_290, &["all".to_owned(), "A".to_owned()][..]));
    assert_eq!(tagged.class_samples(1), Some(16_145));
    assert_eq!(asked("double.hlog").0, AskKey::Unit);
    let double = in_unit("double.hlog", Unit::Us);
    assert_eq!(count(&double), 1_000);
    assert!((double.quantile(0.9) as f64 / 12.5e6 - 1.0).abs() < 0.01, "{}", double.quantile(0.9));
    assert!((double.quantile(0.91) as f64 / 480e6 - 1.0).abs() < 0.01);
}

#[test]
fn a_log_that_is_cut_off_gives_what_it_has() {
    let whole = std::fs::read(path_of("jh.log")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let cut = dir.path().join("cut");
    std::fs::write(&cut, &whole[..whole.len() - 40]).unwrap();
    let service = ServiceSpec::File(FileSpec::new(&cut)).compile(Path::new("")).unwrap();
    assert!((40_000..48_761).contains(&count(&service)), "{}", count(&service));
    assert!(notes(&service).contains("is cut off, and was left out"), "{}", notes(&service));
}

#[test]
fn percentile_listings_say_their_unit_or_are_asked() {
    let (key, question) = asked("listing_ms.hgrm");
    assert!(key == AskKey::Unit && question.contains("--unit ms  the mean is 27.5 µs"), "{question}");
    for service in [in_unit("listing_ms.hgrm", Unit::Ms), read("wrk2.hgrm")] {
        assert_eq!(count(&service), 3_000);
        assert!((service.mean_ps() / 27e6 - 1.0).abs() < 0.03, "{}", service.mean_ps());
        assert!((service.quantile(0.99) as f64 / 126e6 - 1.0).abs() < 0.03, "{}", service.quantile(0.99));
    }
    assert_eq!(read("wrk2.hgrm").quantile(1.0), 358_000_000);
}

#[test]
fn load_generators_are_known_by_their_columns() {
    let k6 = read("k6.csv");
    assert!(count(&k6) == 29 && has_mean_us(&k6, 21.86));
    assert!((k6.quantile(0.5) as f64 / 18.25e6 - 1.0).abs() < 1e-3);
    assert_eq!(k6.taken().unwrap().filter, ["metric_name=http_req_duration"]);
    let oha = read("oha.csv");
    assert!(count(&oha) == 39 && has_mean_us(&oha, 19.90));
    let hey = read("hey.csv");
    assert!(count(&hey) == 39 && has_mean_us(&hey, 19_890.0));
    let vegeta = read("vegeta.csv");
    assert!(count(&vegeta) == 40 && has_mean_us(&vegeta, 19.68));
    assert!((vegeta.quantile(1.0) as f64 / 76.55e6 - 1.0).abs() < 1e-3);
    let jmeter = read("jmeter.jtl");
    assert!(count(&jmeter) == 59 && has_mean_us(&jmeter, 18_220.0));
    assert_eq!(jmeter.classes(), ["search", "get"]);
    assert_eq!([0, 1].map(|class| jmeter.class_samples(class).unwrap()), [6, 53]);
    assert_eq!([0, 1].map(|class| (jmeter.class_mean_ps(class) / 1e7).round()), [1233.0, 1889.0]);
    let hyperfine = read("hyperfine.json");
    assert!(count(&hyperfine) == 30 && has_mean_us(&hyperfine, 20.79) && hyperfine.classes() == ["a"]);
}

#[test]
fn other_metrics_of_k6_are_those_that_were_asked_for() {
    let columns = Columns { filter: vec!["metric_name=http_reqs".to_owned()], ..Columns::default() };
    let requests = read_file("k6.csv", columns).unwrap();
    assert_eq!((count(&requests), requests.mean_ps()), (30, 1e9), "each is 1, in the writer's unit");
    let columns = Columns { filter: vec!["metric_name=nothing".to_owned()], ..Columns::default() };
    let error = read_file("k6.csv", columns).unwrap_err().to_string();
    assert!(error.contains("no row is left") && error.contains("metric_name=nothing"), "{error}");
}

#[test]
fn buckets_say_what_they_hide() {
    let ycsb = read("ycsb_hist.txt");
    assert_eq!((count(&ycsb), ycsb.classes()), (1_000, &["READ".to_owned()][..]));
    assert!((ycsb.cdf(1_000_000_000) - 0.62).abs() < 1e-9);
    assert!(has_mean_us(&ycsb, 1_102.0), "by the average that YCSB prints");
    for name in ["biolatency.txt", "bpftrace.txt"] {
        let service = read(name);
        assert_eq!(count(&service), 3_000, "{name}");
        let coarse = service.findings().iter().find_map(|finding| match finding {
            Finding::Coarse { low_ps, high_ps, mean_ps: None, .. } => Some((*low_ps, *high_ps)),
            _ => None,
        });
        let (low_ps, high_ps) = coarse.expect("an interval");
        assert!(
            (low_ps / 1e6 - 19.6).abs() < 0.05 && (high_ps / 1e6 - 39.1).abs() < 0.05,
            "{low_ps} {high_ps}"
        );
        assert!(low_ps <= service.mean_ps() && service.mean_ps() <= high_ps);
        let (low_ps, high_ps) = service.quantile_bounds(0.5);
        assert_eq!((low_ps, high_ps), (16_000_000, 31_999_999), "{name}");
    }
    let prometheus = read("prom.txt");
    assert!(count(&prometheus) == 3_000 && has_mean_us(&prometheus, 27.077), "{}", prometheus.mean_ps());
    let bounds = read("prom_le.csv");
    assert!(count(&bounds) == 3_000 && (18.8e6..40.9e6).contains(&bounds.mean_ps()));
    assert!(notes(&bounds).contains("leave the mean between 18.8 µs and 40.9 µs"), "{}", notes(&bounds));
    let tokio = read("tokio.txt");
    assert_eq!((count(&tokio), tokio.quantile_bounds(0.9)), (125, (1_310_720_000, 1_572_863_999)));
    let redis = read("redis_lat.txt");
    assert!(count(&redis) == 99_583 && notes(&redis).contains("called 100000 times"));
}

#[test]
fn what_shells_of_sql_print_is_read() {
    let table = read("psql.txt");
    assert!(
        count(&table) == 200 && table.classes() == ["get"] && has_mean_us(&table, 5056.92),
        "{}",
        table.mean_ps()
    );
    let timers = read("psql_timing.txt");
    assert!(count(&timers) == 9 && has_mean_us(&timers, 6224.0), "{} {}", count(&timers), timers.mean_ps());
}

#[test]
fn counts_of_a_histogram_are_those_that_were_measured() {
    let few = read("hist8.csv");
    assert_eq!((count(&few), few.taken().unwrap().values), (8, 8));
    assert!(few.findings().iter().any(|finding| matches!(finding, Finding::FewValues { values: 8, .. })));
}

#[test]
fn columns_that_only_number_the_rows_are_passed_over() {
    let index = read("pandas_index.csv");
    assert!(count(&index) == 500 && has_mean_us(&index, 26.49));
    let unnamed = read("pandas_index_unnamed.csv");
    assert_eq!(unnamed.classes(), ["scan", "get"]);
    assert_eq!([0, 1].map(|class| unnamed.class_samples(class).unwrap()), [50, 450]);
    assert_eq!([0, 1].map(|class| (unnamed.class_mean_ps(class) / 1e4).round()), [2899.0, 2621.0]);
}

#[test]
fn decimal_commas_are_recognised_or_asked() {
    let semicolons = read("semi.csv");
    assert!(count(&semicolons) == 500 && has_mean_us(&semicolons, 26.49) && semicolons.classes() == ["get"]);
    let both = read_file("semi2.csv", Columns::default()).unwrap_err().to_string();
    assert!(both.contains("`15,044` is either one number") && both.contains("or two columns"), "{both}");
    let (key, question) = asked("deccomma_silent.csv");
    assert_eq!(key, AskKey::Decimal);
    assert!(question.contains("38.682") && question.contains("two columns"), "{question}");
    let columns = Columns { decimal: Some(','), unit: Some(Unit::Us), ..Columns::default() };
    let answered = read_file("deccomma_silent.csv", columns).unwrap();
    assert!(count(&answered) == 1_998 && has_mean_us(&answered, 34.82), "{}", answered.mean_ps());
}

#[test]
fn units_come_from_the_header_or_are_asked() {
    let camel = read("hdr_latencyUs_38.csv");
    assert!(count(&camel) == 300 && has_mean_us(&camel, 25.78), "{}", camel.mean_ps());
    for name in ["hdr_elapsed_18.csv", "hdr_response_time_77.csv"] {
        let (key, question) = asked(name);
        assert!(key == AskKey::Unit && question.contains("--unit us  the mean is 25.8 µs"), "{question}");
    }
    for name in ["tb2.csv", "tb4.csv"] {
        assert_eq!(count(&read(name)), 2, "a last line of blanks in {name}");
    }
}

#[test]
fn bursts_in_the_order_of_rows_are_pointed_out() {
    let burst = read("burst.csv");
    let lag_1 = burst.findings().iter().find_map(|finding| match finding {
        Finding::Correlated { lag_1 } => Some(*lag_1),
        _ => None,
    });
    assert!(lag_1.is_some_and(|lag_1| lag_1 > 0.9), "{lag_1:?}");
    let spec = FileSpec { replay: Replay::FromStart, ..FileSpec::new(path_of("burst.csv")) };
    let replayed = ServiceSpec::File(spec).compile(Path::new("")).unwrap();
    assert!(replayed.is_replay() && !notes(&replayed).contains("correlation"));
}

fn arrivals(name: &str) -> caudal_workload::Arrivals {
    let file = TimestampFile { file: path_of(name), columns: TimestampColumns::default(), scale: false };
    ArrivalSpec::File(file).compile(Path::new("")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn arrivals_are_epochs_dates_or_plain_times() {
    for name in ["arr_epoch_s.csv", "arr_epoch_ns.csv"] {
        let arrivals = arrivals(name);
        let mut times = [u64::MAX; 400];
        assert_eq!(arrivals.sampler(1, 1.0).fill(&mut times), 400, "{name}");
        assert!(times.iter().enumerate().all(|(index, &ps)| ps == index as u64 * 10_000_000_000), "{name}");
    }
    let ties = arrivals("arr_ties_s.csv");
    assert!(
        ties.notes().iter().any(|note| note.contains("a coarse clock probably caused this")),
        "{:?}",
        ties.notes()
    );
    let dates = arrivals("azure_llm.csv");
    assert_eq!(dates.taken().unwrap().column.as_deref(), Some("TIMESTAMP"));
    let mut times = [0; 2];
    dates.sampler(1, 1.0).fill(&mut times);
    assert_eq!(times, [0, 390_248_000_000]);
}

#[test]
fn sizes_are_no_times_unless_the_user_says_what_one_takes() {
    let columns = Columns { column: Some("GeneratedTokens".to_owned()), ..Columns::default() };
    match read_file("azure_llm.csv", columns.clone()) {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
    let each = read_file("azure_llm.csv", Columns { unit: Some(Unit::Us), ..columns }).unwrap();
    assert!(each.mean_ps() > 1e8);
}

#[test]
fn packed_files_are_unpacked() {
    let plain = std::fs::read(path_of("semi.csv")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let (first, second) = plain.split_at(2_001);
    let frame = |part: &[u8]| ruzstd::encoding::compress_to_vec(part, level);
    // Two frames with something to skip between them, as parallel writers make them.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..]].concat();
    let zstd = [frame(first), skipped, frame(second)].concat();
    for (name, bytes) in [("a.gz", gzip.clone()), ("b", gzip), ("c.zst", zstd)] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let service = ServiceSpec::File(FileSpec::new(dir.path().join(name))).compile(Path::new("")).unwrap();
        assert!(count(&service) == 500 && has_mean_us(&service, 26.49), "{name}");
    }
}

/// What an input says that is packed and cut off, or wrong within: in words, and where.
#[test]
fn damaged_packings_say_in_words_where_they_end() {
    let plain = std::fs::read(path_of("semi.csv")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    let dir = tempfile::tempdir().unwrap();
    let said = |bytes: &[u8]| {
        let file = dir.path().join("x");
        std::fs::write(&file, bytes).unwrap();
        ServiceSpec::File(FileSpec::new(&file)).compile(Path::new("")).map_err(|error| error.to_string())
    };
    let plain_words =
        |error: &str| !error.contains(['{', '(']) || error.contains("`gzip") || error.contains("`zstd");
    for (name, packed) in [("gzip", &gzip), ("zstd", &zstd)] {
        for end in (5..packed.len()).step_by(7).chain([packed.len() - 1]) {
            let error = said(&packed[..end]).unwrap_err();
            let words = format!("is packed by {name}, and ends too early, after {end} bytes");
            assert!(error.contains(&words) && error.contains(&format!("`{name} -dc FILE")), "{end}: {error}");
            assert!(!error.contains("Error") && plain_words(&error), "{error}");
        }
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].fill(0xff);
        let error = said(&damaged).unwrap_err();
        assert!(error.contains(&format!("is packed by {name}, and is damaged at byte ")), "{error}");
    }
    let followed = [&gzip[..], b"and more, which was never packed by anybody"].concat();
    assert!(said(&followed).unwrap_err().contains("is damaged at byte"), "what follows is no gzip");
}

#[test]
fn formats_that_are_not_read_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for (bytes, says) in [
        (&b"PAR1\x15\x04"[..], "is a Parquet file"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (b"\x7fELF\x02\x01", "is a program"),
        (b"\xfd7zXZ\0", "packed by xz"),
        (b"<?xml version=\"1.0\"?><testResults>", "is JMeter's XML, and holds no sample"),
        (b"\x01\x02\x03\0\0\0\0binary", "binary data"),
        (b"command,mean,stddev,median,user,system,min,max\nls,0.1,0.2,0.3,0,0,0.1,0.2\n", "--export-json"),
    ] {
        std::fs::write(dir.path().join("x"), bytes).unwrap();
        let error =
            ServiceSpec::File(FileSpec::new(dir.path().join("x"))).compile(Path::new("")).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn percentiles_alone_are_a_guess_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let texts = [
        "  Latency Distribution\n     50%    1.20ms\n     75%    2.00ms\n     99%    9.00ms\n",
        "{\"latency\": {\"p50_ms\": 1.2, \"p99_ms\": 9.0, \"mean_ms\": 2}}",
        "   clat percentiles (usec):\n     |  1.00th=[   20], 50.00th=[ 1200],\n     | 99.00th=[ 9000]\n",
        "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p99_latency_ms\"\n\"GET\",\"9\",\"3\",\"0.01\",\"1.2\",\"9\"\n",
        "percentile,latency_ms\n50,1.2\n99,9\n",
        "quantile;latency_ms\n0,5;1,2\n0,99;9,0\n",
        "p50,1.2ms\np99,9ms\n",
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,50%,99%\nGET,/,10,0,1.2,3,1.2,9\n,Aggregated,10,0,1.2,3,1.2,9\n",
    ];
    for text in texts {
        std::fs::write(dir.path().join("x.txt"), text).unwrap();
        let service = ServiceSpec::File(FileSpec::new(dir.path().join("x.txt"))).compile(Path::new(""));
        let service = service.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(
            service.is_fitted() && notes(&service).contains("Beyond p99 nothing is known"),
            "{}",
            notes(&service)
        );
        for (p, ps) in [(0.5, 1.2e9), (0.99, 9e9)] {
            assert!(
                (service.quantile(p) as f64 / ps - 1.0).abs() < 1e-3,
                "{text} at {p}: {}",
                service.quantile(p)
            );
        }
    }
    let spec = crate::spec("{ percentiles = { p50 = \"1.2ms\", p99 = \"9ms\" } }");
    let service = spec.compile(Path::new("")).unwrap();
    assert!(service.is_fitted() && (service.quantile(0.99) as f64 / 9e9 - 1.0).abs() < 1e-6);
}

#[test]
fn histograms_of_cyclictest_are_no_numbered_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        ServiceSpec::File(FileSpec::new(&path)).compile(Path::new(""))
    };
    let service =
        read("# Histogram\n000000 000000\n000001 000000\n000002 000007\n000003 000003\n# Total: 000000010\n");
    let service = service.unwrap();
    assert_eq!((count(&service), service.mean_ps()), (10, 2.3e6));
    // Is it a number and a time, or a time and how often?
    let rows: String = (0..20).map(|n| format!("{n} {}\n", 100 + n)).collect();
    assert!(matches!(read(&rows), Err(WorkloadError::Ask(ask)) if ask.key == AskKey::CountColumn));
}

#[test]
fn texts_with_a_time_in_each_line_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let ping = "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.\n\
        64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.045 ms\n\
        64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=0.055 ms\n\
        64 bytes from 127.0.0.1: icmp_seq=3 ttl=64 time=0.065 ms\n\n\
        --- 127.0.0.1 ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time 2031ms\n";
    std::fs::write(dir.path().join("ping"), ping).unwrap();
    let service = ServiceSpec::File(FileSpec::new(dir.path().join("ping"))).compile(Path::new("")).unwrap();
    assert!((count(&service), service.quantile(0.5)) == (3, 55_000_000), "{:?}", service.taken());
}
