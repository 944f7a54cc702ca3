//! What the contestants in Rust share: preparation, the thread-local log of their worker, and the end of a run.

use std::cell::RefCell;
use std::error::Error;

use caudal_measure::contestant::{Options, Setup};
use caudal_measure::gaps::GapLog;
use caudal_measure::generator::Arrivals;
use caudal_measure::pin::pin_to;

/// Requests that a ring to the worker holds: more than half a second of the fastest workload.
pub const RING: usize = 1 << 18;

thread_local! {
    /// The log of this worker; taken out while a request works, so that a yield never leaves it borrowed.
    static GAPS: RefCell<Option<GapLog>> = const { RefCell::new(None) };
}

/// Prepares a run on the worker's core and leaves the calling thread on the generator's. What is prepared lives as long as the
/// process, so that tasks may refer to it.
///
/// A worker that is started now begins on the generator's core, and moves: wait for it before you spin.
///
/// # Errors
/// If there is no such core, or no clock.
pub fn prepare(options: &Options) -> Result<&'static Setup, Box<dyn Error>> {
    pin_to(options.worker_core)?;
    let setup = Box::leak(Box::new(options.prepare()?));
    pin_to(options.generator_core)?;
    Ok(setup)
}

/// What a worker's thread does first.
///
/// # Panics
/// If there is no such core.
pub fn begin_worker(setup: &Setup, core: usize) {
    pin_to(core).expect("the worker's core was tried before");
    GAPS.set(Some(setup.gap_log()));
}

/// A copy of the log of the worker that calls this, which may go on.
///
/// # Panics
/// If this thread is no worker.
pub fn end_worker() -> GapLog {
    with_gaps(|gaps| gaps.clone())
}

/// Runs chunks of a request with this worker's log.
///
/// # Panics
/// If this thread is no worker.
#[inline(always)]
pub fn with_gaps<T>(run: impl FnOnce(&mut GapLog) -> T) -> T {
    GAPS.with_borrow_mut(|gaps| run(gaps.as_mut().expect("a worker's thread has a log")))
}

/// A request from its start to its completion without a pause.
#[inline(always)]
pub fn serve(setup: &Setup, request: usize) {
    setup.recorder.start(request);
    with_gaps(|gaps| setup.job_of(request).run(gaps, || {}));
    setup.recorder.complete(request);
}

/// Releases all requests to `submit` and waits for them; then takes the worker's log by `end`
/// and writes the trace. The worker has to be on its core already.
///
/// # Errors
/// If the trace cannot be written.
pub fn run(
    options: &Options,
    setup: &Setup,
    contestant: &str,
    submit: impl FnMut(usize),
    end: impl FnOnce() -> Option<GapLog>,
) -> Result<(), Box<dyn Error>> {
    let mut generator_gaps = setup.gap_log();
    let arrivals = Arrivals::soon(&setup.schedule, setup.tsc);
    let epoch = arrivals.epoch();
    arrivals.release(&mut generator_gaps, submit);
    if !setup.recorder.wait_for_all(setup.deadline(epoch)) {
        eprintln!("{contestant}: not all requests were done 2 s after the last arrival");
    }
    // A worker that cannot be reached any more (it still has a backlog) keeps its log.
    let gaps = end().unwrap_or_else(|| setup.gap_log());
    setup.write(options, contestant, epoch, &[&gaps], Some(&generator_gaps))?;
    Ok(())
}
