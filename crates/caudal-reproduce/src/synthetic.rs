//! Points with made-up latencies. Unit tests of the comparisons, statements and figures make them, to judge what they know; nothing else
//! is compiled with this file. Pure.

use caudal_stats::{Estimate, Histogram, Replicated};
use serde_json::Value;

use super::cell::{Cell, CellId, STATIC};
use super::measured::Measured;

/// A point under static allocation, whose latencies are spread evenly from half to one and a half times `median_ns`, in 16 replications. All
/// latencies of a replication are longer by the share `noise`, and those of the next one shorter by it.
pub(super) fn point(system: &str, held: u32, median_ns: f64, noise: f64) -> Cell {
    let mut latency_ps = Replicated::new();
    for replication in 0..16_u32 {
        // Alternating signs: the noise is the same in all systems, as common random numbers make it.
        let shift = 1.0 + if replication % 2 == 0 { noise } else { -noise };
        let mut histogram = Histogram::new();
        for i in 0..20_000_u32 {
            let ns = median_ns * (0.5 + f64::from(i) / 20_000.0) * shift;
            histogram.record((ns * 1e3) as u64);
        }
        latency_ps.push(&histogram);
    }
    Cell {
        id: CellId { figure: "made up", at: 0 },
        workload: "",
        key: format!("{system}/{held}"),
        system: system.to_owned(),
        is_one_queue: false,
        allocation: STATIC,
        cores: 32,
        held,
        load: 0.5,
        rate_per_s: 16e6,
        quantum_ns: None,
        late: Vec::new(),
        target: None,
        load_is_exact: true,
        overloaded: false,
        slowdown: latency_ps.clone(),
        latency_ps,
        class_slowdown: Vec::new(),
        class_latency_ps: Vec::new(),
        preemptions: vec![(0.0, 1.0); 16],
        held_ps: vec![(f64::from(held), 1.0); 16],
        busy_ps: vec![(16.0, f64::from(held)); 16],
        refused: Estimate::exact(0.0),
        row: Value::Null,
    }
}

/// The same point under an allocation policy. It holds `cores` on average: `spread` more in half of the replications, and `spread` fewer
/// in the others.
pub(super) fn dynamic(cell: Cell, allocation: &'static str, cores: f64, spread: f64) -> Cell {
    // Pairs of replications: independent of the noise of [`point`].
    let held = |replication: usize| if replication % 4 < 2 { cores + spread } else { cores - spread };
    let held_ps = (0..16).map(|i| (held(i), 1.0)).collect();
    let busy_ps = (0..16).map(|i| (16.0, held(i))).collect();
    Cell { allocation, held_ps, busy_ps, held: 32, ..cell }
}

/// The same point, which does not carry its load.
pub(super) fn overloaded(cell: Cell) -> Cell {
    Cell { overloaded: true, ..cell }
}

/// A figure of these points.
pub(super) fn figure(cells: Vec<Cell>) -> Measured {
    Measured { cells, ..Measured::default() }
}
