//! Measured files: what is read, and where errors point.

use std::path::Path;

use base64::Engine as _;
use caudal_workload::{ArrivalSpec, Finding, Service, ServiceSpec, WorkloadError};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer, V2Serializer};
use proptest::prelude::*;

use crate::{draws, service, spec};

/// Compiles `{ file = <name>, <more> }` over a file with these bytes.
fn compiled(name: &str, bytes: &[u8], more: &str) -> Result<Service, WorkloadError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(name), bytes).unwrap();
    spec(&format!("{{ file = \"{name}\"{more} }}")).compile(dir.path())
}

fn csv(text: &str, more: &str) -> Result<Service, WorkloadError> {
    compiled("x.csv", text.as_bytes(), more)
}

#[test]
fn reads_a_value_a_line_and_columns_in_any_unit() {
    for (text, more, mean_ps) in [
        ("1000\n3000\n", "", 2_000_000.0),
        ("\u{feff}1000\r\n3000\r\n\r\n", "", 2_000_000.0),
        ("# measured today\n1000\n3000", "", 2_000_000.0),
        ("0.5\n1.5\n", ", unit = \"us\"", 1_000_000.0),
        ("1e3\n", "", 1_000_000.0),
        ("1000\n\n3000\n  \n", "", 2_000_000.0),
        ("latency\n7\n", ", unit = \"ns\"", 7_000.0),
        ("service_time\n70\n", "", 70_000.0),
        ("latency (us)\n7\n", "", 7_000_000.0),
        ("latency (us)\n7\n", ", unit = \"us\"", 7_000_000.0),
        ("service_usec\n7\n", "", 7_000_000.0),
        ("class;service_us\nget;1,5\nget;2,5\n", "", 2_000_000.0),
        ("class\tservice_ns\nget\t1000\n", "", 1_000_000.0),
        ("\"service_ns\"\n\"1,234.5\"\n\"2,234.5\"\n", "", 1_734_500.0),
        ("1.5us\n2.5 us\n", "", 2_000_000.0),
        ("service_us\n7\n", "", 7_000_000.0),
        ("class,service_ns\nget,1000\nscan,3000\n", "", 2_000_000.0),
        ("service_ns,class\n1000,get\n3000,scan\n", "", 2_000_000.0),
        ("get,1000\nscan,3000\n", "", 2_000_000.0),
        ("id,class,\"cpu_us\",wall_us\n1,a, 2 ,9\n2,a,4,9\n", ", column = \"cpu_us\"", 3_000_000.0),
    ] {
        let service = csv(text, more).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(service.mean_ps(), mean_ps, "{text:?}");
    }
}

#[test]
fn reads_a_histogram_in_columns() {
    let service = csv("work_ms,share\n5,0.5\n10,0.4\n55,0.1\n", "").expect("a histogram");
    assert!((service.mean_ps() / 12e9 - 1.0).abs() < 1e-9, "{}", service.mean_ps());
    assert_eq!(service.quantile(0.5), 5_000_000_000);
    assert_eq!(service.quantile(0.95), 55_000_000_000);
    let drawn: Vec<u64> = draws(&service, 1, 1_000).iter().map(|demand| demand.service_ps).collect();
    assert!(drawn.iter().all(|ps| [5, 10, 55].contains(&(ps / 1_000_000_000)) && ps % 1_000_000_000 == 0));
    assert!(drawn.contains(&55_000_000_000));

    let service = csv("class,count,service_us\nget,98,1\nget,1,3\nscan,1,50\nscan,0,70\n", "").expect("two");
    assert_eq!(service.classes(), ["get", "scan"]);
    assert!((service.class_weight(0) - 0.99).abs() < 1e-12);
    assert!((service.mean_ps() / 1.51e6 - 1.0).abs() < 1e-9);
    let doubled =
        csv("service_us,count\n1,1\n1,1\n", ", scale = { all = 2.0 }").expect("the same value twice");
    assert_eq!((doubled.mean_ps(), doubled.quantile(1.0)), (2e6, 2_000_000));

    for (text, says) in [
        ("work_ms,share\n5,lots\n", "x.csv:2:3: `lots` is not how often a value occurs"),
        ("work_ms,share\n5,-1\n", "`-1` is not how often"),
        ("class,work_ms,share\na,5,1\nb,5,0\n", "no value of `b` occurs"),
    ] {
        let error = csv(text, "").expect_err("refused").to_string();
        assert!(error.contains(says), "{error}");
    }
    let replayed = csv("work_ms,share\n5,1\n", ", replay = true");
    assert!(replayed.is_err(), "no order to keep");
}

#[test]
fn errors_point_at_line_and_column() {
    for (text, place, says) in [
        ("class,service_ns\nget,\n", "x.csv:2:5:", "empty"),
        ("class,service_ns\nget,12\nget, abc\n", "x.csv:3:6:", "`abc` is not a number"),
        ("1000\n-5\n", "x.csv:2:1:", "negative"),
        ("class,service_minutes\nget,7\n", "x.csv:1:7:", "`service_minutes` names no unit"),
        ("# c\n# d\nservice_hours\n7\n", "x.csv:3:1:", "end it in"),
        ("1000\n# c\n-5\n", "x.csv:3:1:", "negative"),
        ("1000\n-0.001\n", "x.csv:2:1:", "negative"),
        ("1000\nNaN\n", "x.csv:2:1:", "not finite"),
        ("1000\n-inf\n", "x.csv:2:1:", "not finite"),
        ("1000\n4000000000000\n", "x.csv:2:1:", "longer than an hour"),
        ("1000\n99999999999999999999999999\n", "x.csv:2:1:", "longer than an hour"),
        ("class,service_ns\nget,1\nget,1,x\n", "x.csv:3:7:", "3 columns, but the first row has 2"),
        (
            "class,service_ns\nget,1\nget,1,2\n",
            "x.csv:3:7:",
            "`1,2` is either one number with a decimal comma",
        ),
        ("class,service_ns\nget,1\nget\n", "x.csv:3:4:", "1 column,"),
        ("class,service_ns\n,5\n", "x.csv:2:1:", "cannot name a class"),
        ("\"a,b\",service_ns\nget,1\n\"g,t\", x\n", "x.csv:3:8:", "`x` is not a number"),
        ("timestamp_ns\n10\n20\n", "x.csv:1:1:", "these are times of arrivals"),
        ("a b\n1000\nx\n", "x.csv:3:1:", "`x` is not a number"),
        ("# c\n\"quoted\"\"class\",1\n\"quoted\"\"class\",nope\n", "x.csv:3:17:", "`nope`"),
    ] {
        let error = csv(text, "").unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(says), "{text:?}: {error}");
    }
}

#[test]
fn files_that_do_not_fit_what_is_said_are_refused() {
    for (text, more, says) in [
        ("", "", "holds no values"),
        ("# only a comment\n", "", "holds no values"),
        ("service_ns\n", "", "a header but no values"),
        ("1,2,3\n", "", "3 columns and no header"),
        ("1000\n", ", column = \"x\"", "no column `x`"),
        ("0\n0\n", "", "all its times are 0"),
        ("service_us\n1\n", ", unit = \"ns\"", "`unit` says ns"),
        (
            "a,100\nb,200\n",
            ", weights = { a = 0.5, c = 0.5 }",
            "a class `c` that is not in the file; its classes are `a`, `b`",
        ),
        ("a,100\nb,200\n", ", weights = { a = 1.0 }", "nothing about class `b`"),
        ("a,100\nb,200\n", ", weights = { a = 0.5, b = 0.4 }", "sum to 0.9"),
        ("a,100\nb,200\n", ", weights = { a = 1.5, b = -0.5 }", "between 0 and 1"),
    ] {
        let error = csv(text, more).unwrap_err().to_string();
        assert!(error.contains("x.csv") || error.contains("weights"), "{error}");
        assert!(error.contains(says), "{text:?}{more}: {error}");
    }
    let missing = spec(r#"{ file = "absent.csv" }"#).compile(Path::new("nowhere")).unwrap_err().to_string();
    assert!(missing.contains("nowhere") && missing.contains("absent.csv"), "{missing}");
    let many: String = (0..257).map(|class| format!("c{class},100\n")).collect();
    assert!(csv(&many, "").unwrap_err().to_string().contains("x.csv:257:1: `c256` is the 257th class"));
}

#[test]
fn text_in_other_encodings_is_read() {
    let text = "class,service_µs\nmüsli,1000\n";
    let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    for bytes in [
        [vec![0xFF, 0xFE], wide(u16::to_le_bytes)].concat(),
        [vec![0xFE, 0xFF], wide(u16::to_be_bytes)].concat(),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
        latin,
        text.as_bytes().to_vec(),
    ] {
        let service = compiled("x.csv", &bytes, "").unwrap();
        assert_eq!((service.classes()[0].as_str(), service.mean_ps()), ("müsli", 1e9));
    }
}

#[test]
fn timestamps_must_not_decrease() {
    let dir = tempfile::tempdir().unwrap();
    let compile = |text: &str| {
        std::fs::write(dir.path().join("t.csv"), text).unwrap();
        let arrivals: ArrivalSpec = toml::from_str("file = \"t.csv\"").unwrap();
        arrivals.compile(dir.path())
    };
    assert!(compile("5\n7\n6\n").unwrap_err().to_string().contains("t.csv:3:1: `6` is earlier"));
    assert!(compile("5\n5\n").unwrap_err().to_string().contains("two different"));
    assert!(compile("5\n1e30\n").unwrap_err().to_string().contains("213 days"));
    assert_eq!(compile("0\n5\n").unwrap().natural_rate(), Some(2e8));
}

#[test]
fn draws_of_a_class_are_its_values_and_weights_change_shares_only() {
    let text = "class,service_ns\na,1\nb,100\na,2\na,3\nb,200\na,4\n";
    let own = csv(text, "").unwrap();
    assert_eq!((own.class_weight(0), own.class_weight(1)), (4.0 / 6.0, 2.0 / 6.0));
    let weighted = csv(text, ", weights = { a = 0.9, b = 0.1 }").unwrap();
    assert_eq!(weighted.class_mean_ps(0), 2500.0);
    assert_eq!(weighted.class_mean_ps(1), 150_000.0);
    assert!((weighted.mean_ps() - (0.9 * 2500.0 + 15_000.0)).abs() < 1e-9);
    assert_eq!(weighted.class_quantile(0, 0.5), 2000);
    assert_eq!(weighted.class_quantile(0, 0.51), 3000);
    let drawn = draws(&weighted, 5, 200_000);
    let rare = drawn.iter().filter(|d| d.class == 1).count() as f64 / 200_000.0;
    assert!((rare - 0.1).abs() < 5.0 * (0.09f64 / 200_000.0).sqrt());
    for value in [1000, 2000, 3000, 4000] {
        let share = drawn.iter().filter(|d| d.service_ps == value).count() as f64 / 200_000.0;
        assert!((share - 0.225).abs() < 5.0 * (0.175f64 / 200_000.0).sqrt(), "{value}: {share}");
    }
    assert!(drawn.iter().all(|d| (d.class == 1) == (d.service_ps > 4000)));
}

#[test]
fn replay_keeps_the_order_and_starts_over() {
    let text = "a,1\nb,100\na,2\n";
    let whole = csv(text, ", replay = true").unwrap();
    assert!(whole.is_replay());
    let times = |service: &Service, seed| {
        draws(service, seed, 7).iter().map(|d| d.service_ps / 1000).collect::<Vec<_>>()
    };
    assert_eq!(times(&whole, 1), [1, 100, 2, 1, 100, 2, 1]);
    assert_eq!(times(&whole, 2), times(&whole, 1));
    let rotated = csv(text, ", replay = \"rotate\"").unwrap();
    let starts: std::collections::BTreeSet<u64> = (0..50).map(|seed| times(&rotated, seed)[0]).collect();
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [1, 2, 100]);
    assert_eq!(whole.mean_ps(), rotated.mean_ps());
    for replayed in [&whole, &rotated] {
        assert_eq!((replayed.replayed_rows(), replayed.dispersion()), (Some(3), replayed.scv()));
        assert_eq!(times(&replayed.from_row(2), 1), [2, 1, 100, 2, 1, 100, 2]);
        assert_eq!(times(&replayed.from_row(4), 2), [100, 2, 1, 100, 2, 1, 100], "over and over again");
    }
    let drawn = csv(text, "").unwrap();
    assert_eq!((drawn.replayed_rows(), drawn.dispersion()), (None, drawn.scv()));
    assert_eq!(times(&drawn.from_row(2), 1), times(&drawn, 1), "nothing is in order");
}

#[test]
fn the_lone_get_of_445_us_is_pointed_out_and_kept() {
    let rocksdb = service(r#""rocksdb-0.5""#);
    let outliers: Vec<_> = rocksdb
        .findings()
        .iter()
        .filter_map(|finding| match finding {
            Finding::Outlier {
                class,
                line,
                service_ps,
                median_ps,
                mean_ps,
                mean_without_ps,
                scv,
                scv_without,
            } => {
                assert!(mean_ps > mean_without_ps && *scv > 1.2 * scv_without);
                Some((class.as_str(), *line, *service_ps, *median_ps))
            }
            _ => None,
        })
        .collect();
    assert_eq!(outliers, [("get", 10_682, 444_764_000, 1_592_000)]);
    assert_eq!(rocksdb.class_max_ps(0), Some(444_764_000), "kept");
    assert!(rocksdb.findings().iter().any(|f| matches!(f, Finding::ColdStart { line: 2, .. })));
    assert!(rocksdb.findings().iter().any(|f| matches!(f, Finding::FewValues { values: 182, .. })));
    assert!((rocksdb.class_weight(1) - 0.005).abs() < 1e-15);
    assert!((rocksdb.class_mean_ps(0) - 1_634_660.229_042).abs() < 1e-3);
    assert!((rocksdb.class_mean_ps(1) - 833_761_010.989_011).abs() < 1e-3);
    let half = service(r#""rocksdb-50""#);
    assert!((half.mean_ps() - (1_634_660.229_042 + 833_761_010.989_011) / 2.0).abs() < 1e-3);
}

#[test]
fn a_long_tail_is_no_outlier_and_a_lone_value_is_on_either_side() {
    let exponential: String =
        (1..=5000).map(|i| format!("{:.0}\n", -1000.0 * (f64::from(i) / 5001.0).ln() + 1.0)).collect();
    let outliers = |text: &str| {
        let service = csv(text, "").unwrap();
        service.findings().iter().filter(|f| matches!(f, Finding::Outlier { .. })).count()
    };
    assert_eq!(outliers(&exponential), 0);
    let narrow: String = (0..3000).map(|i| format!("{}\n", 1000 + i % 7)).collect();
    assert_eq!(outliers(&narrow), 0);
    assert_eq!(outliers(&format!("{narrow}30000\n")), 1);
    assert_eq!(outliers(&format!("{narrow}9000\n")), 0);
    assert_eq!(outliers(&format!("{narrow}3\n")), 1);
}

/// An interval log as HdrHistogram writes it, with two tags.
fn hlog(deflate: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let second = std::time::Duration::from_secs(1);
    let histogram = |values: &[u64]| {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        values.iter().for_each(|&value| histogram.record(value).unwrap());
        histogram
    };
    let intervals = [
        (vec![1000; 50], None),
        (vec![1000; 30], Tag::new("get")),
        (vec![900_000; 10], Tag::new("scan")),
        (vec![1500; 10], Tag::new("get")),
    ];
    macro_rules! write_all {
        ($serializer:expr) => {{
            let mut serializer = $serializer;
            let builder = IntervalLogWriterBuilder::new();
            let mut writer = builder.begin_log_with(&mut out, &mut serializer).unwrap();
            for (values, tag) in intervals {
                writer.write_histogram(&histogram(&values), second, second, tag).unwrap();
            }
        }};
    }
    if deflate {
        write_all!(V2DeflateSerializer::new());
    } else {
        write_all!(V2Serializer::new());
    }
    out
}

#[test]
fn histogram_logs_give_a_class_a_tag() {
    for deflate in [false, true] {
        let mut bytes = b"#[Histogram log format version 1.3]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n".to_vec();
        bytes.extend(hlog(deflate));
        let service = compiled("x.hlog", &bytes, "").unwrap();
        assert_eq!(service.classes(), ["all", "get", "scan"]);
        assert_eq!(service.class_samples(1), Some(40));
        assert_eq!((service.class_weight(0), service.class_weight(2)), (0.5, 0.1));
        assert_eq!(service.class_mean_ps(0), 1_000_000.0);
        assert!((service.class_mean_ps(2) / 9e8 - 1.0).abs() < 1e-3);
        assert!(service.class_quantile(1, 0.75) <= 1_000_000 && service.class_quantile(1, 0.76) >= 1_490_000);
        let scans: Vec<_> = draws(&service, 1, 10_000).into_iter().filter(|d| d.class == 2).collect();
        assert!(
            (900..1100).contains(&scans.len())
                && scans.iter().all(|d| d.service_ps.abs_diff(900_000_000) < 1_000_000)
        );
    }
    let micros =
        compiled("x.hlog", &hlog(false), ", unit = \"us\", weights = { all = 0.0, get = 0.5, scan = 0.5 }")
            .unwrap();
    assert_eq!(micros.class_weight(0), 0.0);
    assert!((micros.class_mean_ps(2) / 9e11 - 1.0).abs() < 1e-3);
}

#[test]
fn broken_histogram_files_are_refused_at_their_line() {
    let mut bytes = hlog(false);
    bytes.extend(b"this is no interval\n");
    let error = compiled("x.hlog", &bytes, "").unwrap_err().to_string();
    assert!(error.contains("x.hlog:5:1:"), "{error}");
    let garbage = base64::engine::general_purpose::STANDARD.encode("no histogram");
    let error =
        compiled("x.hlog", format!("# c\n1.0,1.0,1.0,{garbage}\n").as_bytes(), "").unwrap_err().to_string();
    assert!(error.contains("x.hlog:2:1:"), "{error}");
    let mut empty = Vec::new();
    V2Serializer::new().serialize(&Histogram::<u64>::new(3).unwrap(), &mut empty).unwrap();
    let empty = base64::engine::general_purpose::STANDARD.encode(empty);
    let error = compiled("x.hlog", format!("1.0,1.0,1.0,{empty}\n").as_bytes(), "").unwrap_err().to_string();
    assert!(error.contains("no recorded values"), "{error}");
    for (text, says) in [
        ("1 0.0 1 1\n2 0.5 x 2\n", "x.hgrm:2:1: the third field is a count"),
        ("1 0.0 5 1\n2 0.5 4 2\n", "the counts must not decrease"),
        ("5 0.0 1 1\n2 0.5 4 2\n", "the values must not decrease"),
        ("5 7 1 1\n", "between 0 and 1"),
        ("  abc 0.0 1 1\n", "x.hgrm:1:3: `abc` is not a number"),
        ("5 0.5\n", "Value Percentile TotalCount"),
        ("#[Mean = 1]\n", "no recorded values"),
    ] {
        let error = compiled("x.hgrm", text.as_bytes(), "").unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    assert!(
        compiled("x.hgrm", b"5 0 1 1\n", ", unit = \"ns\", replay = true")
            .unwrap_err()
            .to_string()
            .contains("no order")
    );
}

#[test]
fn percentile_listings_are_read_with_their_gaps() {
    let text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n\
        1.000 0.000000000000         10           1.00\n\
        1.000 0.500000000000         50           2.00\n\
        3.000 0.900000000000         90          10.00\n\
        9.000 1.000000000000        100\n\
        #[Mean    =        1.900, StdDeviation   =        1.000]\n\
        #[Max     =        9.000, Total count    =          100]\n";
    let service = compiled("x.hgrm", text.as_bytes(), ", unit = \"us\"").unwrap();
    assert_eq!(service.class_samples(0), Some(100));
    assert!((service.mean_ps() / 1e6 - (0.5 + 0.4 * 2.0 + 0.1 * 6.0)).abs() < 1e-5);
    assert_eq!(service.quantile(0.5), 1_000_000);
    assert_eq!(service.quantile(0.7), 2_000_000);
    assert_eq!(service.quantile(1.0), 9_000_000);
    assert!((service.cdf(2_000_000) - 0.7).abs() < 1e-9);
    let drawn = draws(&service, 1, 100_000);
    let mean = drawn.iter().map(|d| d.service_ps as f64).sum::<f64>() / 1e5;
    assert!((mean / service.mean_ps() - 1.0).abs() < 0.02);
    let deviation = (drawn.iter().map(|d| (d.service_ps as f64 - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
    assert!((deviation / (service.mean_ps() * service.scv().sqrt()) - 1.0).abs() < 0.02);
    let texts: Vec<String> = service.findings().iter().map(ToString::to_string).collect();
    assert!(texts.len() == 2 && texts[1].contains("leave the mean between"), "the mean fits: {texts:?}");
}

/// Two constants: what lies between two rows are values of the upper one, not a ramp.
#[test]
fn percentile_listings_of_few_values_have_those_values() {
    let service = compiled("x.hgrm", include_bytes!("../inputs/bimodal_const.hgrm"), "").unwrap();
    assert_eq!(service.class_samples(0), Some(10_000));
    assert!((service.mean_ps() / 406_183e3 - 1.0).abs() < 1e-6, "{}", service.mean_ps());
    assert_eq!((service.quantile(0.5), service.quantile(0.6)), (10_007_000, 10_007_000));
    assert_eq!((service.quantile(0.601), service.quantile(0.9)), (1_000_447_000, 1_000_447_000));
    // Three values, of which the listing's levels meet none: 20 % of 10, 30 % of 20, 50 % of 30.
    let rows = "10 0.0 20 1\n20 0.25 50 1.33\n20 0.5 50 2\n30 0.625 100 2.67\n30 1.0 100\n";
    let service = compiled("x.hgrm", rows.as_bytes(), "").unwrap();
    assert_eq!(service.mean_ps(), 23_000.0);
    assert_eq!(
        [0.2, 0.201, 0.5, 0.501].map(|share| service.quantile(share)),
        [10_000, 20_000, 20_000, 30_000]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever the bytes, an answer or an error; and what is answered can be drawn from and shown.
    #[test]
    fn no_bytes_panic(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "[0-9a-c,.\"#\n\r eE+-]{0,60}".prop_map(String::into_bytes),
        "([a-c],[0-9]{1,12}(\\.[0-9]{1,3})?\n){0,20}".prop_map(String::into_bytes),
        "([0-9]{1,3} 0\\.[0-9] [0-9]{1,3} 1\n){0,6}".prop_map(String::into_bytes),
        "((Tag=[a-z]{1,3},)?[0-9.]{1,4},1.0,2.0,[A-Za-z0-9+/=]{1,20}\n){0,4}".prop_map(String::into_bytes),
    ], end in prop_oneof![Just("csv"), Just("hlog"), Just("hgrm")]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("x.{end}"));
        std::fs::write(&path, &bytes).unwrap();
        let service: ServiceSpec = toml::from_str::<toml::Table>(&format!("file = \"x.{end}\"")).unwrap().try_into().unwrap();
        if let Ok(service) = service.compile(dir.path()) {
            prop_assert!(draws(&service, 1, 100).iter().all(|d| d.service_ps >= 1));
            prop_assert!(service.mean_ps() > 0.0 && service.quantile(0.5) >= service.min_ps());
        }
        if let Ok(shown) = caudal_workload::show::Shown::open(path.to_str().unwrap()) {
            shown.text(80);
            shown.json();
        }
        let arrivals: ArrivalSpec = toml::from_str(&format!("file = \"x.{end}\"")).unwrap();
        if let Ok(arrivals) = arrivals.compile(dir.path()) {
            let mut out = [0; 50];
            let count = arrivals.sampler(1, 1e6).fill(&mut out);
            prop_assert!(out[..count].is_sorted());
        }
    }

    /// The table's numbers are those of its values.
    #[test]
    fn a_file_of_values_has_their_moments(values in proptest::collection::vec(1u64..3_000_000, 1..80)) {
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        let service = csv(&text, "").unwrap();
        let n = values.len() as f64;
        let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
        prop_assert!((service.mean_ps() / 1e3 - mean).abs() < 1e-9 * mean);
        prop_assert_eq!(service.max_ps(), values.iter().max().map(|max| max * 1000));
        prop_assert_eq!(Some(service.min_ps()), values.iter().min().map(|min| min * 1000));
        let mut sorted = values.clone();
        sorted.sort_unstable();
        prop_assert_eq!(service.quantile(0.5), sorted[sorted.len().div_ceil(2) - 1] * 1000);
        prop_assert!(draws(&service, 3, 100).iter().all(|d| values.contains(&(d.service_ps / 1000))));
    }
}

#[test]
fn times_of_a_class_are_scaled() {
    let short = caudal_workload::find_named("rocksdb-1-short").unwrap().compile().unwrap();
    let long = caudal_workload::find_named("rocksdb-1").unwrap().compile().unwrap();
    assert_eq!(short.class_mean_ps(0), long.class_mean_ps(0), "gets as they are");
    let gets = short.class_quantile(1, 0.5) as f64 / short.class_quantile(0, 0.5) as f64;
    assert!((49.5..50.5).contains(&gets), "scans of {gets} gets");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.csv"), "class,service_ns\na,100\nb,2000\n").unwrap();
    let compile = |spec: &str| {
        let spec: caudal_workload::ServiceSpec = serde_json::from_str(spec).unwrap();
        spec.compile(dir.path())
    };
    let halved = compile(r#"{"file": "a.csv", "scale": {"b": 0.5}}"#).unwrap();
    assert_eq!((halved.class_mean_ps(0), halved.class_mean_ps(1)), (100e3, 1e6));
    for (wrong, says) in
        [(r#"{"c": 2}"#, "no class"), (r#"{"b": 0}"#, "above 0"), (r#"{"b": 1e9}"#, "above 0")]
    {
        let error = compile(&format!(r#"{{"file": "a.csv", "scale": {wrong}}}"#)).unwrap_err().to_string();
        assert!(error.contains(says) || error.contains("names a class `c`"), "{error}");
    }
}
