//! Tables that stand in experiments are those that `caudal threshold` writes for what their headers say.

use caudal_config::File;
use caudal_policy::Picos;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_tune::thresholds::{Binning, ThresholdQuestion, thresholds};

const ROWS: u32 = 400;

/// The tables of the systems of a file: name, and pairs of active requests and a threshold.
fn tables(text: &str) -> Vec<(String, Vec<(u32, Picos)>)> {
    let file = File::parse(text, "figure.toml").expect("a file");
    let points = file.points().expect("points");
    let table = |point: &caudal_config::Point| match &point.system.parallelism {
        ParallelismConfig::TailControl(config) if !config.thresholds.is_empty() => {
            Some((point.system.name.clone(), config.thresholds.clone()))
        }
        _ => None,
    };
    points.iter().filter_map(table).collect()
}

/// Is the table of `system` the one for `service` at this rate, to the microsecond?
fn same(text: &str, system: &str, service: &str, (rate_per_s, target_ms): (u32, u64)) {
    let file = format!("[workload]\nrate = \"{rate_per_s}/s\"\nservice = {service}\n[system]\ncores = 16\n");
    let file = File::parse(&file, "service.toml").expect("a workload");
    let workload = file.workload.expect("a workload");
    let question = ThresholdQuestion {
        service: &workload.service,
        target: Picos::from_micros(1_000 * target_ms),
        class_targets: Vec::new(),
        rate_per_s: f64::from(rate_per_s),
        cores: 16,
        binning: Binning::Log(1_000),
        most_active: ROWS,
        serial: 0.0,
        knowledge: Knowledge::Processed,
    };
    let found = thresholds(&question).expect("a table").rows;
    let written = tables(text).into_iter().find(|(name, _)| name == system).expect(system).1;
    assert_eq!(found.len(), ROWS as usize);
    for row in found {
        let (_, own) = written.iter().rfind(|(from, _)| *from <= row.active).expect("from 1 on");
        let apart_us = (own.as_nanos_f64() - row.threshold_ns).abs() / 1e3;
        assert!(apart_us <= 0.501, "{system}, {} active: {own}, and {} ns", row.active, row.threshold_ns);
    }
}

#[test]
fn those_of_figure_11() {
    let text = include_str!("../../../../experiments/tail-control-figure-11.toml");
    let service = |mean: f64, sd: f64| {
        format!("{{ distribution = \"log-normal\", mean = \"{mean}ms\", sd = \"{sd}ms\" }}")
    };
    for sd in [5.0, 10.0, 17.0, 25.0] {
        same(text, &format!("sd {sd} ms"), &service(10.0, sd), (1_200, 28));
    }
    for (mean, rate_per_s) in [(0.5, 1_200), (2.0, 1_200), (13.0, 1_200), (20.0, 700)] {
        same(text, &format!("mean {mean} ms"), &service(mean, 1.3 * mean), (rate_per_s, 28));
    }
    assert_eq!(tables(text).len(), 8);
}

#[test]
fn those_of_the_drift() {
    let text = include_str!("../../../../experiments/tail-control-drift.toml");
    let class = |name: &str, parts: u32, mean: &str| {
        let weight = f64::from(parts) / 11.0;
        let service = format!("{{ distribution = \"log-normal\", mean = \"{mean}\", scv = 1.69 }}");
        format!("{{ name = \"{name}\", weight = {weight}, service = {service} }}")
    };
    let classes = format!("{}, {}", class("slow", 1, "30ms"), class("fast", 10, "3ms"));
    let mixture = format!("{{ distribution = \"mixture\", classes = [{classes}] }}");
    for target_ms in [20, 28] {
        same(text, &format!("mixture, {target_ms}ms"), &mixture, (2_200, target_ms));
    }
    assert_eq!(tables(text).len(), 2);
}
