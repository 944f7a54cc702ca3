//! From core to core, through the runtime's own rings: a hop, a poll of another's queue, a steal. The calibration calls [`measure`] as a step
//! of every round, on a thread of its own. That thread pins itself to the other processor and measures, while a second thread, on the
//! worker's processor, works at the other end of the queue; both end with the step. No runtime is started. A machine of one processor skips the
//! step.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_measure::clock;
use caudal_measure::pin::pin_to;
use caudal_measure::work::iterate;
use caudal_rt::ring::Ring;

use super::{CalibrateError, CalibrationBench, Trials, median, undisturbed};

const CAPACITY: usize = 1024;
const HOPS: usize = 20_000;
const ROUNDS: usize = 200;
const POLLS_EACH: u64 = 200;
const STEALS: usize = 5_000;
/// Iterations between two polls, and between two changes of the other's ring: some 100 ns.
const PAUSE: u32 = 100;

/// Adds the trials "hop", "steal check" and "steal", in ns.
pub(super) fn measure(bench: &CalibrationBench, trials: &mut Trials) -> Result<(), CalibrateError> {
    let Some(other_cpu) = bench.other_cpu else { return Ok(()) };
    // This thread is on the other processor; its counterpart is on the worker's.
    pin_to(other_cpu)?;
    trials.push("hop", hop_ns(bench)?);
    trials.push("steal check", poll_ns(bench)?);
    trials.push("steal", steal_ns(bench)?);
    Ok(())
}

/// States that the thread on the worker's processor reports.
const RUNS: u64 = 1;
const FAILED: u64 = 2;

/// Ends the loop of the thread on the worker's processor when it is dropped, also by a panic.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `other` again and again on the worker's processor while `here` runs.
fn beside<T>(
    bench: &CalibrationBench,
    mut other: impl FnMut() + Send,
    here: impl FnOnce() -> T,
) -> Result<T, CalibrateError> {
    let (over, cpu) = (Arc::new(AtomicBool::new(false)), bench.worker_cpu);
    std::thread::scope(|scope| {
        let (ready, ended) = (Arc::new(AtomicU64::new(0)), Arc::clone(&over));
        let told = Arc::clone(&ready);
        let thread = scope.spawn(move || {
            let pinned = pin_to(cpu);
            told.store(if pinned.is_ok() { RUNS } else { FAILED }, Ordering::Release);
            pinned?;
            while !ended.load(Ordering::Relaxed) {
                other();
            }
            Ok(())
        });
        let ending = Ending(over);
        // The new thread begins on this thread's processor; under real-time priority, it gets there only if this thread yields.
        while ready.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let found = (ready.load(Ordering::Acquire) == RUNS).then(here);
        drop(ending);
        let pinned: Result<(), CalibrateError> =
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        pinned?;
        Ok(found.unwrap_or_else(|| unreachable!("the thread ends when it is told, or with an error")))
    })
}

/// Nanoseconds of a hop from core to core: half of a round trip.
fn hop_ns(bench: &CalibrationBench) -> Result<f64, CalibrateError> {
    // The way there is a ring as from the dispatcher to a worker; the way back is a ring of any kind.
    let (there, back) = (Ring::<u64>::with_one_producer(CAPACITY), Ring::<u64>::new(CAPACITY));
    let mut dispatcher = there.producer().unwrap_or_else(|| unreachable!("it is the first handle"));
    let answer = || {
        if let Some((value, stamp)) = there.pop() {
            let _ = back.push(value, stamp);
        }
    };
    beside(bench, answer, || {
        let mut spans = Vec::with_capacity(HOPS);
        for hop in 0..HOPS as u64 {
            let start = clock::now();
            let _ = dispatcher.push(hop, start);
            while back.pop().is_none() {
                std::hint::spin_loop();
            }
            spans.push((clock::now() - start) as f64);
        }
        undisturbed(spans) / 2.0 * 1e9 / bench.tsc.hz()
    })
}

/// Nanoseconds that it takes to read the length of a ring that its owner keeps changing.
fn poll_ns(bench: &CalibrationBench) -> Result<f64, CalibrateError> {
    let ring = Ring::<u64>::new(CAPACITY);
    let change = || {
        let _ = ring.push(1, 1);
        black_box(iterate(PAUSE));
        ring.pop();
        black_box(iterate(PAUSE));
    };
    let each_takes = |poll: &dyn Fn()| {
        let start = clock::now();
        for _ in 0..POLLS_EACH {
            black_box(iterate(PAUSE));
            poll();
        }
        (clock::now() - start) as f64 / POLLS_EACH as f64
    };
    beside(bench, change, || {
        let with = || {
            each_takes(&|| {
                black_box(ring.len());
            })
        };
        let differences = (0..ROUNDS).map(|_| with() - each_takes(&|| ())).collect();
        median(differences).max(0.0) * 1e9 / bench.tsc.hz()
    })
}

/// Nanoseconds that it takes to take a request out of a ring into which another core has put it.
fn steal_ns(bench: &CalibrationBench) -> Result<f64, CalibrateError> {
    let (ring, put, taken) = (Ring::<u64>::new(CAPACITY), AtomicU64::new(0), AtomicU64::new(0));
    let fill = || {
        let so_far = taken.load(Ordering::Acquire);
        if put.load(Ordering::Relaxed) == so_far {
            let _ = ring.push(so_far, so_far);
            put.store(so_far + 1, Ordering::Release);
        }
    };
    beside(bench, fill, || {
        let mut spans = Vec::with_capacity(STEALS);
        for steal in 0..STEALS as u64 {
            while put.load(Ordering::Acquire) == steal {
                std::hint::spin_loop();
            }
            let start = clock::now_after_all();
            black_box(ring.pop());
            spans.push((clock::now_after_all() - start) as f64);
            taken.store(steal + 1, Ordering::Release);
        }
        (undisturbed(spans) * 1e9 / bench.tsc.hz() - bench.clock_ns).max(0.0)
    })
}
