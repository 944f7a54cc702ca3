//! The path of a request: from its arrival to its run, from one request to the next, and the time that it takes of the dispatcher. The
//! calibration calls [`measure`] and [`measure_dispatcher`] as two steps of every round, each on a thread of its own. Each starts a runtime
//! with its worker and its dispatcher pinned to the two processors, waits until 4,000 batches have gone through it, and shuts it down. It
//! leaks the stamps: some 100 kB for single requests, and as many times more as a full batch is larger. A machine of one processor skips both steps.
//!
//! A source hands requests to the dispatcher; each request only writes down when it runs. The dispatcher asks the source again once it is done
//! with the requests that it was handed: the time between two questions shows how long it was busy with them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_measure::clock;
use caudal_rt::{BATCH, Builder, ClassId, Intake, Pinning, Polled, Shutdown, Source};

use super::{CalibrateError, CalibrationBench, Trials, one_worker, undisturbed};

/// Batches of a step.
const BATCHES: usize = 4_000;
/// The time from one batch to the next, in ns: everything of the batch before it is over by then.
const EVERY_NS: u64 = 20_000;

/// When each request came and ran, in ticks.
struct Stamps {
    arrived: Box<[AtomicU64]>,
    ran: Box<[AtomicU64]>,
    /// For each batch, the time from the question at which it was handed in to the next question.
    after: Box<[AtomicU64]>,
    /// Times from a question at which nothing was handed in to the next question.
    after_nothing: Box<[AtomicU64]>,
    /// All batches have been handed in.
    over: AtomicBool,
}

impl Stamps {
    fn new(batch: usize) -> Stamps {
        let cells = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Stamps {
            arrived: cells(BATCHES * batch),
            ran: cells(BATCHES * batch),
            after: cells(BATCHES),
            after_nothing: cells(BATCHES),
            over: AtomicBool::new(false),
        }
    }
}

/// Hands in `batch` requests every [`EVERY_NS`].
struct Feeder {
    /// Alive as long as any request is: leaked, so that a request holds no count.
    stamps: &'static Stamps,
    class: ClassId,
    batch: usize,
    every: u64,
    next: u64,
    batches: usize,
    /// When it was asked last, and how many it handed in then.
    asked: u64,
    handed: usize,
    asked_in_vain: usize,
}

impl Source for Feeder {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        let now = clock::now_after_all();
        let span = now - self.asked;
        if self.handed > 0 {
            self.stamps.after[self.batches - 1].store(span, Ordering::Relaxed);
        } else if self.asked != 0 {
            self.stamps.after_nothing[self.asked_in_vain % BATCHES].store(span, Ordering::Relaxed);
            self.asked_in_vain += 1;
        }
        (self.asked, self.handed) = (now, 0);
        if self.batches == BATCHES {
            self.stamps.over.store(true, Ordering::Release);
            return Polled::Over;
        }
        if now < self.next {
            return Polled::Nothing;
        }
        self.next = now + self.every;
        for number in self.batches * self.batch..(self.batches + 1) * self.batch {
            let stamps = self.stamps;
            stamps.arrived[number].store(now, Ordering::Relaxed);
            intake.submit(self.class, now, move || stamps.ran[number].store(clock::now(), Ordering::Relaxed));
        }
        self.batches += 1;
        self.handed = self.batch;
        Polled::Worked
    }
}

/// Runs `BATCHES` batches through a dispatcher and one worker.
fn run(bench: &CalibrationBench, other_cpu: usize, batch: usize) -> Result<&'static Stamps, CalibrateError> {
    // It is some hundred kilobytes, a few times in a process.
    let stamps: &'static Stamps = Box::leak(Box::new(Stamps::new(batch)));
    let plan = one_worker("{ policy = \"jsq\", ties = \"msq\" }")?;
    let builder = Builder::of(plan).pinning(Pinning::These(vec![bench.worker_cpu, other_cpu]));
    let class = builder.class("empty").unwrap_or_else(|_| unreachable!("the first class"));
    let every = bench.tsc.to_ticks(EVERY_NS);
    let feeder =
        Feeder { stamps, class, batch, every, next: 0, batches: 0, asked: 0, handed: 0, asked_in_vain: 0 };
    let runtime = builder.source(feeder).start()?;
    while !stamps.over.load(Ordering::Acquire) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    runtime.shutdown(Shutdown::Drain);
    Ok(stamps)
}

fn values(cells: &[AtomicU64]) -> Vec<u64> {
    cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect()
}

/// Measures the time from arrival to run on an idle worker, and the dispatcher's time for a request that comes alone.
pub(super) fn measure(bench: &CalibrationBench, trials: &mut Trials) -> Result<(), CalibrateError> {
    let Some(other_cpu) = bench.other_cpu else { return Ok(()) };
    let ns = 1e9 / bench.tsc.hz();
    let alone = run(bench, other_cpu, 1)?;
    let spans = values(&alone.ran).into_iter().zip(values(&alone.arrived));
    let to_run = spans.map(|(ran, arrived)| ran.saturating_sub(arrived) as f64 * ns).collect();
    trials.push("arrival to run", undisturbed(to_run));
    let (after, nothing) = (values(&alone.after), values(&alone.after_nothing));
    trials.push("dispatcher, one alone", between_questions(&after, &nothing) * ns);
    Ok(())
}

/// Measures the time from one run to the next, and the dispatcher's time for each request of a full batch.
pub(super) fn measure_dispatcher(
    bench: &CalibrationBench,
    trials: &mut Trials,
) -> Result<(), CalibrateError> {
    let Some(other_cpu) = bench.other_cpu else { return Ok(()) };
    let ns = 1e9 / bench.tsc.hz();
    let full = run(bench, other_cpu, BATCH)?;
    let ran = values(&full.ran);
    // The worker may be faster than the dispatcher at the begin of a batch; the later half of the requests waits in the inbox.
    let later = ran.chunks(BATCH).flat_map(|batch| batch[BATCH / 2..].windows(2));
    let spans = later.map(|pair| pair[1].saturating_sub(pair[0]) as f64 * ns - bench.clock_ns).collect();
    trials.push("request to request", undisturbed(spans));
    let (after, nothing) = (values(&full.after), values(&full.after_nothing));
    trials.push("dispatcher", between_questions(&after, &nothing) * ns / BATCH as f64);
    Ok(())
}

/// How much longer the dispatcher takes to ask again when it has been handed something, in ticks.
fn between_questions(after: &[u64], after_nothing: &[u64]) -> f64 {
    let middle = |values: &[u64]| {
        undisturbed(values.iter().filter(|&&value| value > 0).map(|&value| value as f64).collect())
    };
    (middle(after) - middle(after_nothing)).max(0.0)
}
