//! Counts of tools within bounds: what a bucket holds, and what lies beyond the last.

use crate::reading::{mean_us, notes, try_read};

#[test]
fn values_beyond_the_last_bucket_are_said() {
    let text = "# Histogram\n000000 000000\n000001 000000\n000002 000007\n000003 000003\n# Total: 000000010\n\
        # Histogram Overflows: 00004\n";
    let service = try_read(text).unwrap();
    assert!(notes(&service).contains("4 values lie beyond the last bucket"), "{}", notes(&service));
    assert!(!notes(&service).contains("times are 0"), "{}", notes(&service));
}

#[test]
fn samples_of_jmh_are_read_as_a_histogram() {
    let text = "[{\"jmhVersion\": \"1.37\", \"benchmark\": \"a.Store.get\", \"mode\": \"sample\", \"primaryMetric\": {\"score\": 1.2, \
        \"scorePercentiles\": {\"50.0\": 1.0, \"99.0\": 2.0}, \"scoreUnit\": \"us/op\", \
        \"rawDataHistogram\": [[[[1.0, 60], [2.0, 20]], [[1.0, 20]]]]}}]";
    let service = try_read(text).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (1.2, Some(100)));
    assert_eq!(service.classes(), ["a.Store.get"]);
}

#[test]
fn samples_of_cyclictest_and_packets_of_sockperf_are_read() {
    let verbose = "Max CPUs = 2\nOnline CPUs = 2\nThread 0 Interval: 1500\n       0:       0:      71\n       0:       1:      67\n       0:       2:      72\n       1:       0:      70\n";
    assert_eq!(mean_us(&try_read(verbose).unwrap()), 70.0);
    let report = "sockperf: == version #3.7-no.git ==\nsockperf: \u{1b}[2;35m====> avg-latency=11.852 (std-dev=128.502)\u{1b}[0m\n\
        sockperf: Summary: Latency is 11.852 usec\nsockperf: ---> <MAX> observation = 24673.856\n\
        sockperf: ---> percentile 99.999 = 4853.483\nsockperf: ---> percentile 99.900 = 1701.884\nsockperf: ---> percentile 99.000 =   15.347\n\
        sockperf: ---> percentile 50.000 =    7.120\nsockperf: ---> percentile 25.000 =    6.735\nsockperf: ---> <MIN> observation =    6.629\n";
    let service = try_read(report).unwrap();
    assert!((service.mean_ps() / 11.852e6 - 1.0).abs() < 0.006, "{}", service.mean_ps());
    assert!((service.quantile(0.99) as f64 / 15.347e6 - 1.0).abs() < 1e-3);
    assert_eq!((service.min_ps(), service.max_ps() <= Some(24_673_856_000)), (6_629_000, true));
    let full = "sockperf: ====> avg-latency=2554.849 (std-dev=2045.808)\nsockperf: ---> percentile 99.000 = 4907.681\n\
        sockperf: ---> percentile 50.000 = 2913.763\n------------------------------\npacket, txTime(sec), rxTime(sec), latency(usec)\n\
        0, 2.806177636, 2.807981652, 902.008\n1, 3.006177516, 3.012005042, 2913.992\n------------------------------\n";
    let service = try_read(full).unwrap();
    assert_eq!((mean_us(&service), service.class_samples(0)), (1908.0, Some(2)));
}

/// Buckets of fio are as wide as the power of two that they are above says, and named by their middle.
#[test]
fn neighbouring_buckets_of_fio_touch() {
    let bins = r#""clat_ns": {"N": 60, "bins": {"100": 1, "101": 1, "46848": 20, "47360": 10, "65280": 8, "66048": 20}}"#;
    let service =
        try_read(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{{"read": {{{bins}}}}}]}}"#)).unwrap();
    let mean = (100.0 + 101.0 + 46848.0 * 20.0 + 47360.0 * 10.0 + 65280.0 * 8.0 + 66048.0 * 20.0) / 60.0;
    assert!((service.mean_ps() / 1e3 / mean - 1.0).abs() < 1e-3, "{}", service.mean_ps());
}
