//! Rows with the shape of a plan's: made up, but with tails that rise as queues do.

use caudal_report::{Answer, Report, Row, RowMetric, TargetLine};
use serde_json::{Value, json};

/// Name, whether it can be deployed, load at which it saturates, how long gets wait for scans (ns).
const SYSTEMS: [(&str, bool, f64, f64); 9] = [
    ("tiny-quanta", true, 0.97, 2_600.0),
    ("shinjuku", true, 0.72, 5_200.0),
    ("caladan", true, 0.93, 90_000.0),
    ("caladan-delay-range", true, 0.91, 110_000.0),
    ("shenango", true, 0.80, 180_000.0),
    ("ix", true, 0.96, 420_000.0),
    ("go", true, 0.88, 70_000.0),
    ("nanopu", false, 0.99, 60_000.0),
    ("ideal", false, 1.0, 800.0),
];

fn stat(estimate: f64, relative: f64) -> Value {
    json!({"estimate": estimate, "low": estimate * (1.0 - relative), "high": estimate * (1.0 + relative)})
}

/// Statistics of a class whose service takes `service_ns` and whose waiting has the mean `wait_ns`.
fn stats(service_ns: f64, wait_ns: f64, spread: f64, noise: f64, divisor: f64) -> Value {
    let at = |factor: f64, relative: f64| stat((service_ns + wait_ns * factor) / divisor, relative * noise);
    json!({"mean": at(1.0, 0.02), "p50": at(0.4, 0.02), "p99": at(2.0 + spread, 0.05),
           "p99.9": at(4.0 + 2.0 * spread, 0.11), "max": (service_ns + wait_ns * 14.0) / divisor})
}

fn row(system: (&str, bool, f64, f64), load: f64, n: usize) -> Value {
    let (name, deployable, limit, blocking_ns) = system;
    let used = load / limit;
    let noise = 0.7 + 0.6 * (((n * 37 + name.len() * 11) % 17) as f64 / 17.0);
    let overloaded = used >= 1.0;
    let wait_ns = blocking_ns * used.powi(3) / (1.0 - used) * (0.93 + 0.1 * noise);
    let scan_wait_ns =
        60_000.0 * used.powi(2) / (1.0 - used) + if blocking_ns < 9e3 { 400_000.0 * used } else { 0.0 };
    let class = |service: f64, wait: f64, spread: f64, divisor: f64| {
        if overloaded { Value::Null } else { stats(service, wait, spread, noise, divisor) }
    };
    let classes = json!({
        "get": {"wait_ns": {"queued": wait_ns * 0.1, "behind_long": if blocking_ns < 9e3 { 60.0 } else { wait_ns * 0.9 },
                "preempted": if blocking_ns < 9e3 { wait_ns * 0.7 } else { 0.0 }, "overhead": wait_ns * 0.02},
            "latency_ns": class(1_200.0, wait_ns, 2.0, 1.0), "slowdown": class(1_200.0, wait_ns, 2.0, 1_200.0)},
        "scan": {"latency_ns": class(675_000.0, scan_wait_ns, 1.0, 1.0),
                 "slowdown": class(675_000.0, scan_wait_ns, 1.0, 675_000.0)},
    });
    let dynamic = name.starts_with("caladan") || name == "shenango";
    let held = if dynamic { 16.0 * (load + (1.0 - load) * 0.25) } else { 16.0 };
    json!({"system": name, "point": format!("{name}/{load}"), "load": load, "cores": 16, "cores_allocated": 16,
        "requests": 1_000_000, "varied": {"system": name, "load": load}, "deployable": deployable,
        "latency_ns": class(4_500.0, wait_ns + 400.0, 4.0, 1.0),
        "slowdown": class(1_200.0, wait_ns, 2.0, 1_200.0), "classes": classes,
        "efficiency": stat(load * 16.0 / held, 0.004), "cores_mean": stat(held, 0.004),
        "preemptions_per_request": if blocking_ns < 9e3 { 3.4 * load } else { 0.0 },
        "overloaded": overloaded, "seed": 1, "wall_s": 0.5})
}

/// All systems at the loads 0.05 to 0.95.
pub(crate) fn rows() -> Vec<Row> {
    let points = SYSTEMS.iter().flat_map(|system| (1..20).map(|n| row(*system, n as f64 * 0.05, n)));
    points.map(|value| serde_json::from_value(value).expect("a row")).collect()
}

/// A report as a plan would write it.
pub(crate) fn report() -> Report {
    Report {
        title: "rocksdb-get-scan on 16 cores".into(),
        question: "Which system carries the most load on 16 cores while 99.9 % of the gets take less than 50 µs?".into(),
        answer: Some(Answer {
            headline: "Tiny Quanta carries load 0.75 on 16 cores: 4.2 M requests/s within get p99.9 < 50 µs".into(),
            sentences: vec![
                "A get waits 3.4 µs on average, of which 0.3 µs behind scans; under run to completion it would wait 420 µs, nearly all of it behind a scan of 675 µs.".into(),
                "Preempting every 2 µs costs 40 ns each time, 1.9 % of the core time; Shinjuku pays 1 µs for the same and saturates at 0.72.".into(),
            ],
            policy_toml: "[system]\ncores = 16\npools = \"per-core\"\ndispatch = { policy = \"jsq\", ties = \"msq\" }\n".into(),
            system: Some("tiny-quanta".into()),
            ..Answer::default()
        }),
        targets: vec![TargetLine {
            label: "get p99.9 < 50 µs".into(),
            class: Some("get".into()),
            metric: RowMetric::Latency,
            percentile: "p99.9".into(),
            value: 50_000.0,
        }],
        rows: rows(),
        config_toml: "[workload]\nservice = { file = \"data/rocksdb-get-scan.csv\" }\nload = [0.05, 0.95]\n".into(),
        provenance: vec![("seed".into(), "1".into()), ("caudal".into(), "0.1.0".into())],
        ..Report::default()
    }
}
