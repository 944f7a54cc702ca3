//! The rows about `caudal threshold`: how long the table of large-request thresholds takes, by CPU time.
//! `caudal-bench` calls [`tables`] when its table has this group. It runs on the calling thread.

use caudal_policy::parallelism::thresholds::{Bin, Demand, Knowledge, Pileup};

use crate::machine::thread_cpu_s;
use crate::measure::Figure;
use crate::row::{Row, Target};

/// Bins, active requests, and what a table of them may take, in ms: made once, and again and again while a service runs.
const TABLES: [(u32, u32, f64); 2] = [(20_000, 400, 100.0), (1_000, 200, 5.0)];
/// Tables that are made, at least.
const TIMES: u32 = 8;

/// One row a size.
pub(crate) fn tables(rounds: u32) -> Vec<Row> {
    TABLES.map(|size| row(size, rounds * TIMES)).into()
}

fn row((count, active, most_ms): (u32, u32, f64), times: u32) -> Row {
    let bins = bins(count);
    let demand = Demand { target_s: 25e-3, rps: 1_200.0, cores: 16.0, knowledge: Knowledge::Processed };
    let mut thresholds = 0;
    let taken = (0..times).map(|_| {
        let before_s = thread_cpu_s();
        let table = Pileup::new(&bins, demand).expect("12 of 16 cores are busy").table(active);
        let taken_ms = (thread_cpu_s() - before_s) * 1e3;
        let mut different: Vec<u32> = table.iter().map(|of| of.bin).collect();
        different.dedup();
        thresholds = different.len();
        taken_ms
    });
    Row {
        work: format!("thresholds, {count} bins, up to {active} active requests"),
        unit: "ms",
        measured: Figure::of(taken.collect::<Vec<f64>>()),
        wall: None,
        target: Target::AtMost(most_ms),
        detail: format!("sums included; {thresholds} different thresholds"),
    }
}

/// Work of 10 ms on average that falls off as a power law, from 1 ms on; bins equal on a logarithmic scale.
fn bins(count: u32) -> Vec<Bin> {
    let (low_s, high_s) = (1e-3_f64, 1.0_f64);
    let edge = |at: u32| low_s * (high_s / low_s).powf(f64::from(at) / f64::from(count));
    let weight = |at: u32| edge(at).powf(-1.1) - edge(at + 1).powf(-1.1);
    let all: f64 = (0..count).map(weight).sum();
    let mut bins: Vec<Bin> = (0..count)
        .map(|at| Bin {
            share: weight(at) / all,
            mean_s: (edge(at) * edge(at + 1)).sqrt(),
            most_s: edge(at + 1),
            span_s: 0.0,
        })
        .collect();
    let mean_s: f64 = bins.iter().map(|bin| bin.share * bin.mean_s).sum();
    for bin in &mut bins {
        (bin.mean_s, bin.most_s) = (bin.mean_s * 10e-3 / mean_s, bin.most_s * 10e-3 / mean_s);
    }
    bins
}
