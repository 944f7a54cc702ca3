//! The series of points that are measured for Tiny Quanta's Figures 5 to 12: which requests, under which system, judged by what. The
//! command runs them one after the other.

use std::error::Error;
use std::path::Path;

use crate::workloads::{Class, Workload, measured_with_shares};

/// A system on one worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurable {
    /// Its name in the table; `caudal` is the runtime as it is.
    pub(super) name: &'static str,
    /// Discipline of the contestant.
    pub(super) discipline: &'static str,
    pub(super) quantum_ns: u64,
    /// The part that is made worse on purpose, as the contestant's option names it.
    pub(super) variant: &'static str,
    /// Time that a preemption takes more, in ns, where the same is simulated; none: it is not simulated.
    pub(super) simulated_with: Option<f64>,
}

const fn caudal(name: &'static str, quantum_ns: u64) -> Measurable {
    Measurable {
        name,
        discipline: "processor-sharing",
        quantum_ns,
        variant: "none",
        simulated_with: Some(0.0),
    }
}

const CAUDAL: Measurable = caudal("caudal", 2_000);
const FCFS: Measurable = Measurable { name: "run to completion", discipline: "fcfs", ..CAUDAL };
const SLOW_YIELD: Measurable =
    Measurable { name: "slow yield", variant: "slow-yield", simulated_with: Some(1_000.0), ..CAUDAL };
const INEXACT: Measurable = Measurable {
    name: "inexact timing",
    quantum_ns: 1_000,
    variant: "inexact-timing",
    simulated_with: None,
    ..CAUDAL
};
const QUANTA: [Measurable; 4] = [
    caudal("caudal, 0.5 us", 500),
    caudal("caudal, 1 us", 1_000),
    caudal("caudal, 5 us", 5_000),
    caudal("caudal, 10 us", 10_000),
];

/// The number that a point is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// Figures that show it.
    pub(super) figures: &'static str,
    /// Kind of requests: the beginning of their classes' names; empty for all.
    pub(super) kind: &'static str,
    pub(super) percentile: f64,
    /// Is it the slowdown, and not the sojourn time?
    pub(super) is_slowdown: bool,
    /// The limit: in ns, or of the slowdown.
    pub(super) limit: f64,
}

const fn latency(figures: &'static str, kind: &'static str, percentile: f64, limit_us: f64) -> Judged {
    Judged { figures, kind, percentile, is_slowdown: false, limit: limit_us * 1e3 }
}

/// One workload under several systems.
pub(super) struct Series {
    pub(super) workload: Workload,
    pub(super) systems: Vec<Measurable>,
    pub(super) judged: Vec<Judged>,
}

/// All series. A run has a thousand long requests at most, so that their 99th percentile stands for the paper's 99.9th.
pub(super) fn all(rocksdb: &Path) -> Result<Vec<Series>, Box<dyn Error>> {
    let class = |name: &str, share, service_ns| Class { name: name.to_owned(), share, service_ns };
    let extreme = vec![class("short", 0.995, 500), class("long", 0.005, 500_000)];
    let high = vec![class("short", 0.5, 1_000), class("long", 0.5, 100_000)];
    let tpcc = vec![
        class("payment", 0.44, 5_700),
        class("order-status", 0.04, 6_000),
        class("new-order", 0.44, 20_000),
        class("delivery", 0.04, 88_000),
        class("stock-level", 0.04, 100_000),
    ];
    let scans = |share: f64| [("get", 1.0 - share), ("scan", share)];
    let both = vec![CAUDAL, FCFS];
    let slowdown = Judged { figures: "8", kind: "", percentile: 99.9, is_slowdown: true, limit: 10.0 };
    Ok(vec![
        Series {
            workload: Workload { name: "extreme-bimodal", classes: extreme },
            systems: [&[CAUDAL, FCFS][..], &QUANTA].concat(),
            judged: vec![latency("5, 7", "short", 99.9, 50.0), latency("6, 7", "long", 99.0, 5_000.0)],
        },
        Series {
            workload: Workload { name: "high-bimodal", classes: high },
            systems: both.clone(),
            judged: vec![latency("7", "short", 99.9, 50.0), latency("7", "long", 99.0, 1_000.0)],
        },
        Series {
            workload: Workload { name: "tpcc", classes: tpcc },
            systems: both.clone(),
            judged: vec![slowdown],
        },
        Series {
            workload: measured_with_shares("rocksdb-0.5", rocksdb, &scans(0.005))?,
            systems: vec![CAUDAL, FCFS, SLOW_YIELD, INEXACT],
            judged: vec![latency("9, 11, 12", "get", 99.9, 50.0)],
        },
        Series {
            workload: measured_with_shares("rocksdb-50", rocksdb, &scans(0.5))?,
            systems: both.clone(),
            judged: vec![latency("9", "get", 99.9, 50.0)],
        },
        Series {
            workload: Workload { name: "exp-1us", classes: exponential(1_000.0) },
            systems: both,
            judged: vec![latency("10", "", 99.9, 50.0)],
        },
    ])
}

/// Equal classes of an exponential distribution with this mean: a contestant's classes have one service time each.
fn exponential(mean_ns: f64) -> Vec<Class> {
    const PARTS: u32 = 40;
    // The mean between two quantiles of the survival function: ∫ -ln(s) ds = s - s ln s.
    let below = |survival: f64| if survival == 0.0 { 0.0 } else { survival - survival * survival.ln() };
    let class = |part: u32| {
        let [from, to] = [part, part + 1].map(|part| 1.0 - f64::from(part) / f64::from(PARTS));
        let mean = (below(from) - below(to)) * f64::from(PARTS) * mean_ns;
        Class {
            name: format!("{part}"),
            share: 1.0 / f64::from(PARTS),
            service_ns: (mean.round() as u64).max(1),
        }
    };
    (0..PARTS).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_a_mix_that_contestants_take() {
        let rocksdb = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/rocksdb-get-scan.csv");
        for series in all(&rocksdb).unwrap() {
            let mix = caudal_measure::contestant::mix(&series.workload.mix());
            assert!(mix.is_ok(), "{}: {mix:?}", series.workload.name);
            for judged in &series.judged {
                let has_kind =
                    series.workload.classes.iter().any(|class| class.name.starts_with(judged.kind));
                assert!(has_kind, "{}: {}", series.workload.name, judged.kind);
            }
        }
    }

    #[test]
    fn the_parts_of_an_exponential_distribution_have_its_mean_and_nearly_its_variance() {
        let classes = exponential(1_000.0);
        let mean: f64 = classes.iter().map(|class| class.share * class.service_ns as f64).sum();
        let square: f64 = classes.iter().map(|class| class.share * (class.service_ns as f64).powi(2)).sum();
        assert!((mean - 1_000.0).abs() < 2.0, "{mean}");
        let scv = square / (mean * mean) - 1.0;
        assert!((0.9..1.0).contains(&scv), "{scv}");
    }
}
