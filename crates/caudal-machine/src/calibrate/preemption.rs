//! From the end of one quantum to the begin of the next, and how late a quantum ends.
//! Called by the calibration of a machine.
//!
//! Two requests take turns on one worker. Each writes down the time before every probe; the one that comes back from a probe and finds
//! that the other one has written last has in it the cost of one preemption:
//!
//! ```text
//! A   … stamp  probe ─┐                               ┌─ read
//!                     └ cold path, scheduler, switch ─┘
//! B                                 … stamp  probe ─┐ │
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use caudal_measure::clock;
use caudal_measure::work::iterate;
use caudal_rt::{Builder, Pinning, Shutdown};

use super::{CalibrateError, CalibrationBench, Trials, one_worker, undisturbed};

/// Slices that are measured.
const SLICES: usize = 20_000;
/// The quantum of [`one_worker`], in ns.
const QUANTUM_NS: f64 = 1_000.0;

/// Readings of the time slices of two requests, which write them in turn, on one thread.
#[derive(Default)]
struct Slices {
    owner: AtomicU64,
    stamp: AtomicU64,
    count: AtomicU64,
    spans: Box<[AtomicU64]>,
    /// Lengths of slices.
    lengths: Box<[AtomicU64]>,
}

impl Slices {
    fn new() -> &'static Slices {
        let cells = || (0..SLICES).map(|_| AtomicU64::new(0)).collect();
        Box::leak(Box::new(Slices { spans: cells(), lengths: cells(), ..Slices::default() }))
    }

    /// Request `me` runs, `between` between two probes, until there have been enough slices.
    fn run(&self, me: u64, between: impl Fn()) {
        let mut slice_start = clock::now();
        self.owner.store(me, Relaxed);
        while (self.count.load(Relaxed) as usize) < SLICES {
            between();
            let before = clock::now();
            self.stamp.store(before, Relaxed);
            caudal_rt::probe();
            let after = clock::now();
            if self.owner.load(Relaxed) == me {
                continue;
            }
            let slice = self.count.load(Relaxed) as usize;
            if slice < SLICES {
                self.spans[slice].store(after.saturating_sub(self.stamp.load(Relaxed)), Relaxed);
                self.lengths[slice].store(before - slice_start, Relaxed);
                self.count.store(slice as u64 + 1, Relaxed);
            }
            self.owner.store(me, Relaxed);
            slice_start = after;
        }
    }

    /// The later half of the readings, in ticks: caches and predictors are warm by then.
    fn later(cells: &[AtomicU64]) -> Vec<f64> {
        cells[SLICES / 2..].iter().map(|cell| cell.load(Relaxed) as f64).collect()
    }
}

pub(super) fn measure(bench: &CalibrationBench, trials: &mut Trials) -> Result<(), CalibrateError> {
    let (ns, chunk) = (1e9 / bench.tsc.hz(), bench.work.job(200).iterations);
    let dense = run(bench, || ())?;
    trials.push("turn", (undisturbed(Slices::later(&dense.spans)) * ns - bench.clock_ns).max(0.0));
    let apart = run(bench, move || {
        std::hint::black_box(iterate(chunk));
    })?;
    // A stall in a slice makes it longer; the middle half of the slices has none.
    let mut lengths = Slices::later(&apart.lengths);
    lengths.sort_unstable_by(f64::total_cmp);
    let middle = &lengths[lengths.len() / 4..lengths.len() * 3 / 4];
    let mean = middle.iter().sum::<f64>() / middle.len() as f64;
    trials.push("overrun", (mean * ns - QUANTUM_NS).max(0.0));
    Ok(())
}

fn run(
    bench: &CalibrationBench,
    between: impl Fn() + Copy + Send + 'static,
) -> Result<&'static Slices, CalibrateError> {
    let slices = Slices::new();
    let builder = Builder::of(one_worker("\"random\"")?).pinning(Pinning::These(vec![bench.worker_cpu]));
    let runtime = builder.start()?;
    let class = runtime.class("turn").unwrap_or_else(|_| unreachable!("the first class"));
    let handles = [1, 2].map(|me| runtime.submit(class, move || slices.run(me, between)));
    for handle in handles {
        // It neither panics nor is it cancelled.
        let _ = handle?.wait();
    }
    runtime.shutdown(Shutdown::Drain);
    Ok(slices)
}
