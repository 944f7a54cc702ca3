//! The calibration of a machine: it measures `[costs]` with the runtime's own code. `caudal calibrate` and fidelity runs call
//! [`calibrate()`] once. It occupies the processors for some seconds and writes no files. Each step of a round runs on a new thread, while
//! the caller waits; some steps start and stop runtimes, and leak the memory of their readings.
//!
//! Every number is a median within a round, over some hundreds or thousands of trials; stalls of the machine hit few of these trials and
//! hardly change the median. Each round measures all numbers, so that a bad minute hits all of them; the statement has the median of
//! the rounds, with the lowest and the highest.
//!
//! | file | what |
//! | --- | --- |
//! | `probes` | probes that are not taken, the cold path, a switch pair |
//! | `served` | from arrival to run, from one request to the next, the dispatcher |
//! | `preemption` | from one quantum to the next, and how late a quantum ends |
//! | `rings` | from core to core: hop, steal check, steal |
//! | `wake` | a worker that sleeps |
//! | `stalls` | when and for how long the machine takes cores away |
//! | `statement` | the results, as `[costs]` and as JSON |

mod preemption;
mod probes;
mod rings;
mod served;
mod stalls;
mod statement;
mod wake;

use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::{ConfigError, File, SystemHost, SystemPlan};
use caudal_measure::clock::{ClockError, Tsc};
use caudal_measure::pin::{PinError, RealTime, allowed_cpus, pin_to};
use caudal_measure::work::Work;

pub use self::stalls::StallProcess;
pub use self::statement::{Calibration, Item, Refused};
use crate::busy::{Busy, Moment};

/// Pause between the steps of a round and the watch for stalls, under real-time priority.
const REST: std::time::Duration = std::time::Duration::from_millis(500);

/// The measurements that are wanted: on which processors, and how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// The processor of the worker; the last one that the process may use if none is given.
    pub worker_cpu: Option<usize>,
    /// The processor of the dispatcher, or of the thread that submits requests; the last other one if none is given.
    pub other_cpu: Option<usize>,
    /// Rounds, at least 1.
    pub rounds: u32,
    /// Seconds for which stalls are watched in each round, at most 0.8 under real-time priority.
    pub stall_s: f64,
    /// Whether all threads run under SCHED_FIFO, in bursts that are shorter than the time after which the kernel gives the core to others.
    pub real_time: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { worker_cpu: None, other_cpu: None, rounds: 5, stall_s: 0.6, real_time: false }
    }
}

/// Reason why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The machine has no clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// A thread can not be pinned to its processor, or does not get its priority.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The runtime did not start.
    #[error("the runtime does not start: {0}")]
    Start(#[from] caudal_rt::StartError),
    /// The runtime did not take a request.
    #[error("the runtime refuses a request: {0}")]
    Submit(#[from] caudal_rt::SubmitError),
    /// A system that is measured is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No round, or no time.
    #[error("{0}")]
    Options(&'static str),
}

/// The processors, the clock and the work that all steps share.
#[derive(Clone, Copy, Debug)]
struct CalibrationBench {
    tsc: Tsc,
    work: Work,
    worker_cpu: usize,
    /// The other processor; none on a machine of one processor.
    other_cpu: Option<usize>,
    /// The time that reading the clock adds to a span between two readings, in ns.
    clock_ns: f64,
}

/// One step of a round: a name for the progress, and what it adds to the trials.
type Step = (&'static str, fn(&CalibrationBench, &mut Trials) -> Result<(), CalibrateError>);

const STEPS: [Step; 6] = [
    ("probes", probes::measure),
    ("preemption", preemption::measure),
    ("requests", served::measure),
    ("rings", rings::measure),
    ("dispatcher", served::measure_dispatcher),
    ("wake-up", wake::measure),
];

/// The median of each round, by the name of the number.
#[derive(Clone, Debug, Default)]
struct Trials(Vec<(&'static str, Vec<f64>)>);

impl Trials {
    fn push(&mut self, name: &'static str, median: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(median),
            None => self.0.push((name, vec![median])),
        }
    }

    fn of(&self, name: &str) -> &[f64] {
        self.0.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }
}

/// Measures the machine. Before each step it calls `progress` with the steps done, all steps, and the name of the step. When `stop` is set,
/// it ends after the current step, and the statement has what was measured until then.
///
/// # Errors
/// [`CalibrateError`], if nothing can be measured here.
pub fn calibrate(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u32, u32, &str),
) -> Result<Calibration, CalibrateError> {
    if options.rounds == 0 || options.stall_s <= 0.0 || options.real_time && options.stall_s > 0.8 {
        return Err(CalibrateError::Options(
            "take at least a round, and more than 0 and at most 0.8 s for stalls",
        ));
    }
    let cpus = allowed_cpus()?.0;
    let worker_cpu = options.worker_cpu.or(cpus.last().copied()).unwrap_or(0);
    let other_cpu = options.other_cpu.or_else(|| cpus.iter().rev().copied().find(|&cpu| cpu != worker_cpu));
    let bench = on_cpu(Some(worker_cpu), options.real_time, move || {
        let tsc = Tsc::calibrate()?;
        Ok(CalibrationBench {
            tsc,
            work: Work::calibrate(tsc),
            worker_cpu,
            other_cpu,
            clock_ns: probes::clock_ns(tsc),
        })
    })?;
    let steps = options.rounds * (STEPS.len() as u32 + 1);
    let (mut trials, mut stalls, mut done) = (Trials::default(), StallProcess::default(), 0);
    let (before, mut others) = (Moment::now(), 0);
    'rounds: for _ in 0..options.rounds {
        for (name, step) in STEPS {
            if stop.load(Ordering::Relaxed) {
                break 'rounds;
            }
            progress(done, steps, name);
            others = others.max(Moment::now().runnable.saturating_sub(1));
            let mut found = trials.clone();
            // Not pinned: the threads of a runtime inherit that, and its helper has to be able to run beside a spinning one.
            trials = on_cpu(None, options.real_time, move || {
                step(&bench, &mut found)?;
                Ok(found)
            })?;
            done += 1;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        progress(done, steps, "stalls");
        if options.real_time {
            // Without a pause the kernel would give the core to others, for the time that the steps before have used up.
            std::thread::sleep(REST);
        }
        stalls.watch(bench.tsc, &cpus, options.stall_s, options.real_time)?;
        done += 1;
    }
    progress(done, steps, "");
    let mut busy = Busy::between(before, Moment::now(), 1);
    busy.others = busy.others.max(others);
    let stall_process = (stalls.count() > 0).then_some(stalls);
    Ok(Calibration::new(&trials, stall_process, busy, done == steps, bench.tsc.hz()))
}

/// Runs `what` on a thread of its own, on `cpu` if one is given; threads that it starts have its priority.
fn on_cpu<T: Send + 'static>(
    cpu: Option<usize>,
    real_time: bool,
    what: impl FnOnce() -> Result<T, CalibrateError> + Send + 'static,
) -> Result<T, CalibrateError> {
    let thread = std::thread::spawn(move || {
        cpu.map(pin_to).transpose()?;
        let _priority = if real_time { Some(RealTime::enter(1)?) } else { None };
        what()
    });
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The time of an action that is not disturbed: the median of the values up to eight times the 5th percentile.
/// On a quiet machine these are nearly all. Where other programs use the same cores, most trials of an action that takes two threads
/// may be some milliseconds longer, and their median would be the kernel's time slice.
fn undisturbed(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(&short) = values.get(values.len() / 20) else { return 0.0 };
    values.truncate(values.partition_point(|&value| value <= 8.0 * short));
    median(values)
}

/// The median of `values`; 0 if there are none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The plan of a system of one worker for the runtime: processor sharing with a quantum of 1 us, and this dispatch policy, in TOML.
fn one_worker(dispatch: &str) -> Result<SystemPlan, CalibrateError> {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {dispatch}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"1us\" }}\n"
    );
    let options = caudal_config::Options { host: SystemHost::Runtime, ..caudal_config::Options::default() };
    let file = File::parse_with(&text, "calibrate.toml", &options)?;
    Ok(file.systems.into_iter().next().unwrap_or_else(|| unreachable!("the file has one system")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_took_is_left_out() {
        let quiet: Vec<f64> = (0..101).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(undisturbed(quiet.clone()), 150.0);
        let disturbed = (0..404).map(|i| 2e6 + f64::from(i));
        assert_eq!(undisturbed(quiet.into_iter().chain(disturbed).collect()), 150.0, "four of five trials");
        assert_eq!(undisturbed(Vec::new()), 0.0);
    }

    #[test]
    fn medians_and_trials() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
        let mut trials = Trials::default();
        trials.push("a", 1.0);
        trials.push("b", 5.0);
        trials.push("a", 2.0);
        assert_eq!((trials.of("a"), trials.of("b"), trials.of("c")), (&[1.0, 2.0][..], &[5.0][..], &[][..]));
    }

    #[test]
    fn a_short_calibration_measures_everything_that_it_states() {
        let options = Options { rounds: 1, stall_s: 0.05, ..Options::default() };
        let mut said = Vec::new();
        let found =
            calibrate(&options, &AtomicBool::new(false), &mut |_, _, what| said.push(what.to_owned()))
                .unwrap();
        assert!(found.complete);
        assert_eq!(said.last().map(String::as_str), Some(""));
        let wanted = |name: &str| {
            let item = found.items.iter().find(|item| item.name == name);
            assert!(item.is_some_and(|item| item.median > 0.0), "{name}: {:?}", found.items);
        };
        ["switch pair", "turn"].into_iter().for_each(wanted);
        let stated = |name: &str| {
            assert!(found.items.iter().any(|item| item.name == name && item.median >= 0.0), "{name}");
        };
        // What a probe adds may be nothing: a processor hides it behind the work.
        stated("probe, clock");
        if allowed_cpus().unwrap().0.len() > 1 {
            ["arrival to run", "request to request", "hop", "steal"].into_iter().for_each(wanted);
            // A difference of two medians: on a busy machine it may be nothing.
            stated("dispatcher");
        }
        let costs = caudal_config::costs_as_overrides_of_text(&found.to_toml()).unwrap();
        assert!(costs.iter().any(|line| line.starts_with("costs.preemption=")), "{costs:?}");
    }

    #[test]
    fn what_is_interrupted_states_what_it_has() {
        let stop = AtomicBool::new(true);
        let found = calibrate(&Options::default(), &stop, &mut |_, _, _| ()).unwrap();
        assert!(!found.complete && found.items.is_empty());
        caudal_config::costs_as_overrides_of_text(&found.to_toml()).unwrap();
    }
}
