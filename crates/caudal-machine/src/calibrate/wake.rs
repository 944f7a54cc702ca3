//! The time from the submission of a request to its run, where all threads of the runtime sleep. The calibration calls [`measure`] as the last
//! step of every round, on a thread of its own. The step starts a runtime with one worker pinned to the worker's processor, pins its own
//! thread to the other one, submits 660 requests with pauses between them, and shuts the runtime down. A machine of one processor skips it.

use std::time::Duration;

use caudal_measure::clock;
use caudal_measure::pin::pin_to;
use caudal_rt::{Builder, Pinning, Runtime, Shutdown};

use super::{CalibrateError, CalibrationBench, Trials, one_worker, undisturbed};

/// How long workers poll for work before they sleep here.
const SPIN: Duration = Duration::from_micros(5);
/// How long the threads have slept, how often that is tried, and the name of the trial.
const SLEEPS: [(Duration, usize, &str); 3] = [
    (Duration::from_micros(20), 300, "wake-up after 20 µs"),
    (Duration::from_micros(200), 300, "wake-up after 200 µs"),
    (Duration::from_millis(2), 60, "wake-up after 2 ms"),
];

/// Adds a trial for each length of sleep, in ns.
pub(super) fn measure(bench: &CalibrationBench, trials: &mut Trials) -> Result<(), CalibrateError> {
    let Some(other_cpu) = bench.other_cpu else { return Ok(()) };
    let builder = Builder::of(one_worker("\"random\"")?).spin(SPIN);
    let runtime = builder.pinning(Pinning::These(vec![bench.worker_cpu])).start()?;
    pin_to(other_cpu)?;
    for (asleep, times, name) in SLEEPS {
        let spans: Result<Vec<f64>, _> = (0..times).map(|_| once(bench, &runtime, asleep)).collect();
        trials.push(name, undisturbed(spans?));
    }
    runtime.shutdown(Shutdown::Drain);
    Ok(())
}

/// Submits one request when the worker has slept for `asleep`; returns the time from its submission to its run, in ns.
fn once(bench: &CalibrationBench, runtime: &Runtime, asleep: Duration) -> Result<f64, CalibrateError> {
    let idle = bench.tsc.to_ticks((SPIN + asleep).as_nanos() as u64);
    let start = clock::now();
    while clock::now() - start < idle {
        std::hint::spin_loop();
    }
    let class = runtime.class("waking").unwrap_or_else(|_| unreachable!("the first class"));
    let submitted = clock::now();
    let ran = runtime.submit(class, clock::now)?.wait().unwrap_or(submitted);
    Ok(bench.tsc.to_ns(ran.saturating_sub(submitted)) as f64)
}
