//! From the end of one quantum to the begin of the next (`costs.preemption`), and how late a quantum ends (`costs.overrun`). The calibration
//! calls it as a step of every round, on a thread of its own that is not pinned.
//!
//! It starts a runtime with one worker pinned to the worker's processor, waits until two requests have run there, and shuts it down; twice,
//! because the two numbers need different work between probes. It leaks the readings, some 640 kB a step: requests have to be
//! `'static`.
//!
//! The two requests alternate on the worker, a quantum each. Each stamps the time before every probe. A request that comes back from a probe
//! and finds that the other one has run reads the clock: since the other's last stamp, one preemption has passed.
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

/// Readings of the time slices of two requests, which write them alternately, on one thread. Times are in ticks of the clock.
#[derive(Default)]
struct Slices {
    /// The request that has run last, 1 or 2.
    owner: AtomicU64,
    /// The time before the last probe of either request.
    stamp: AtomicU64,
    /// Switches from one request to the other that have been measured so far.
    count: AtomicU64,
    /// For each switch, the time from the last stamp of the request that ran before it to the return of the other one: one preemption.
    spans: Box<[AtomicU64]>,
    /// For each switch, the length of the slice that the returning request had before, from its begin to the probe that ended it.
    lengths: Box<[AtomicU64]>,
}

impl Slices {
    fn new() -> &'static Slices {
        let cells = || (0..SLICES).map(|_| AtomicU64::new(0)).collect();
        Box::leak(Box::new(Slices { spans: cells(), lengths: cells(), ..Slices::default() }))
    }

    /// The code of request `me`: `between`, a stamp and a probe, again and again, until enough slices have been measured.
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

/// Adds the trials "turn" and "overrun", in ns.
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

/// The slices of two requests that each do `between` between two probes, on a runtime that is started for them.
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
