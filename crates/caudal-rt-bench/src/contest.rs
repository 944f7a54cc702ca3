//! The runtime as a contestant: the dispatcher generates the load, one worker runs it.

use std::cell::{Cell, UnsafeCell};
use std::error::Error;
use std::sync::mpsc::{Receiver, Sender, channel};

use caudal_measure::clock;
use caudal_measure::contestant::{Options, Setup};
use caudal_measure::gaps::{GAP_NS, GapLog};
use caudal_measure::generator::Arrivals;
use caudal_measure::trace::{Run, Trace};
use caudal_rt::clock::Clock;
use caudal_rt::{Builder, ClassId, Intake, Pinning, Polled, Runtime, Shutdown, Source};
use clap::{Args, ValueEnum};

use crate::system::{processor_sharing, system};
use crate::unedited;

/// The thread that generates the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dispatch {
    /// The dispatcher's thread, on the generator's core
    TwoLevel,
    /// The worker itself reads the schedule
    Direct,
}

/// The discipline of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Discipline {
    /// A quantum each, fresh ones first
    ProcessorSharing,
    /// The least attained service first
    Las,
    /// Run to completion
    Fcfs,
}

/// The code that requests run, and where it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Code {
    /// A probe by hand between two chunks
    Hand,
    /// C as anybody writes it: yields where the compiler puts probes
    C,
    /// Rust as anybody writes it
    Rust,
}

/// A part of pre-emption that is made worse on purpose, as in section 5.4 of Tiny Quanta (ASPLOS 2024), to show what it is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Variant {
    /// Nothing: the runtime as it is
    #[default]
    None,
    /// Every yield takes 1 us more: TQ-SLOW-YIELD
    SlowYield,
    /// Requests of more than 10 us yield after 3 us instead of after a quantum: TQ-TIMING, which has quanta of 1 us
    InexactTiming,
}

/// The command.
#[derive(Args)]
pub struct Contest {
    #[command(flatten)]
    common: Options,
    /// The thread that generates the load
    #[arg(long, value_enum, default_value = "two-level")]
    dispatch: Dispatch,
    /// The discipline by which requests run
    #[arg(long, value_enum, default_value = "processor-sharing")]
    discipline: Discipline,
    /// The code that requests run; C and Rust have to be built with the probe pass
    #[arg(long, value_enum, default_value = "hand")]
    code: Code,
    /// A part of pre-emption to make worse on purpose; with `--code hand` alone
    #[arg(long, value_enum, default_value = "none")]
    variant: Variant,
}

/// Data that the requests of the one worker write, one coroutine after the other.
struct OfWorker {
    /// The gaps that the work has seen.
    gaps: UnsafeCell<GapLog>,
    /// The request that ran last, for the variants.
    ran_last: Cell<usize>,
}

// SAFETY: only coroutines of the one worker write, each between two probes; it is read when they are over.
unsafe impl Sync for OfWorker {}

impl OfWorker {
    /// Calls a probe for `request`; has another request run before it returned?
    fn probe(&self, request: usize) -> bool {
        self.ran_last.set(request);
        caudal_rt::probe();
        self.ran_last.get() != request
    }
}

/// The time that a slow yield takes more, in ns.
const SLOW_YIELD_NS: u64 = 1_000;
/// The quantum of long requests where timing is inexact, in ns.
const LATE_NS: u64 = 3_000;
/// Requests with a longer service time are long, in ns.
const LONG_NS: u64 = 10_000;

/// Everything that requests refer to; they outlive every borrow, so it lives for ever.
struct Stage {
    setup: Setup,
    worker: OfWorker,
    code: Code,
    variant: Variant,
    /// [`SLOW_YIELD_NS`] and [`LATE_NS`] in ticks.
    slow_yield: u64,
    late: u64,
}

fn serve(stage: &'static Stage, request: usize) {
    stage.setup.recorder.start(request);
    let job = stage.setup.job_of(request);
    match stage.code {
        Code::Hand => {
            // SAFETY: see `OfWorker`; no probe is called while this reference is used by `chunk`.
            let gaps = unsafe { &mut *stage.worker.gaps.get() };
            match stage.variant {
                Variant::None => job.run(gaps, caudal_rt::probe),
                Variant::SlowYield => job.run(gaps, stage.probe_of_slow_yields(request)),
                Variant::InexactTiming => job.run(gaps, stage.probe_of_inexact_timing(request)),
            }
        }
        Code::C => drop(std::hint::black_box(unedited::in_c(job.into()))),
        Code::Rust => drop(std::hint::black_box(unedited::in_rust(job.into()))),
    }
    stage.setup.recorder.complete(request);
}

impl Stage {
    /// A probe that, where another request has run before it returned, takes as long as a slow yield does more.
    fn probe_of_slow_yields(&self, request: usize) -> impl FnMut() {
        self.worker.ran_last.set(request);
        move || {
            if self.worker.probe(request) {
                let until = clock::now() + self.slow_yield;
                while clock::now() < until {
                    std::hint::spin_loop();
                }
            }
        }
    }

    /// A probe that in long requests does nothing for the first microseconds of a slice.
    fn probe_of_inexact_timing(&self, request: usize) -> impl FnMut() {
        self.worker.ran_last.set(request);
        let class = self.setup.schedule.arrivals[request].class as usize;
        let is_long = self.setup.schedule.mix.classes()[class].service_ns > LONG_NS;
        let mut slice_began = clock::now();
        move || {
            if is_long && clock::now() < slice_began + self.late {
                return;
            }
            self.worker.probe(request);
            slice_began = clock::now();
        }
    }
}

/// Hands in every request when its time has come.
struct Generator {
    stage: &'static Stage,
    arrivals: Arrivals,
    ticks: Vec<u64>,
    classes: Vec<ClassId>,
    gaps: GapLog,
    before: u64,
    over: Option<Sender<GapLog>>,
}

impl Generator {
    fn new(
        stage: &'static Stage,
        classes: Vec<ClassId>,
        arrivals: Arrivals,
    ) -> (Generator, Receiver<GapLog>) {
        let (over, gaps) = channel();
        let (setup, epoch) = (&stage.setup, arrivals.epoch());
        let ticks = setup.schedule.arrivals.iter().map(|a| epoch + setup.tsc.to_ticks(a.at_ns)).collect();
        let generator = Generator {
            stage,
            arrivals,
            ticks,
            classes,
            gaps: setup.gap_log(),
            before: clock::now(),
            over: Some(over),
        };
        (generator, gaps)
    }
}

impl Source for Generator {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        let mut polled = Polled::Nothing;
        let now = clock::now();
        if !intake.is_between_slices() {
            self.gaps.check(self.before, now);
        }
        while intake.has_room()
            && let Some(request) = self.arrivals.due(now)
        {
            let class = self.classes[self.stage.setup.schedule.arrivals[request].class as usize];
            let stage = self.stage;
            intake.submit(class, self.ticks[request], move || serve(stage, request));
            polled = Polled::Worked;
        }
        self.before = clock::now();
        if !self.arrivals.is_done() {
            return polled;
        }
        if let Some(over) = self.over.take() {
            let _ = over.send(std::mem::replace(&mut self.gaps, GapLog::new(u64::MAX, 0)));
        }
        Polled::Over
    }
}

impl Contest {
    /// Runs the contest and writes its trace.
    ///
    /// # Errors
    /// If a thread can not be pinned, the runtime can not start, or the file can not be written.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let trace = measure_code(&self.common, self.dispatch, self.discipline, self.code, self.variant)?;
        Ok(trace.write(&self.common.out)?)
    }
}

/// Runs the requests of `options` on a runtime of one worker, and says when each of them started and was complete.
///
/// # Errors
/// If a thread can not be pinned, or the runtime can not start.
pub fn measure(
    options: &Options,
    dispatch: Dispatch,
    discipline: Discipline,
) -> Result<Trace, Box<dyn Error>> {
    measure_code(options, dispatch, discipline, Code::Hand, Variant::None)
}

fn measure_code(
    options: &Options,
    dispatch: Dispatch,
    discipline: Discipline,
    code: Code,
    variant: Variant,
) -> Result<Trace, Box<dyn Error>> {
    if code != Code::Hand && variant != Variant::None {
        return Err("--variant changes where handlers yield: it takes --code hand".into());
    }
    caudal_measure::pin::pin_to(options.worker_core)?;
    let setup = options.prepare()?;
    // Before the first arrival is set: the runtime's start would measure the counter for 20 ms, and requests would wait.
    Clock::of_this_machine();
    let worker = OfWorker { gaps: UnsafeCell::new(setup.gap_log()), ran_last: Cell::new(usize::MAX) };
    let [slow_yield, late] = [SLOW_YIELD_NS, LATE_NS].map(|ns| setup.tsc.to_ticks(ns));
    let stage: &'static Stage = Box::leak(Box::new(Stage { setup, worker, code, variant, slow_yield, late }));
    caudal_measure::pin::pin_to(options.generator_core)?;

    let policy = match dispatch {
        // Maximum serviced quanta says something where there are quanta.
        Dispatch::TwoLevel if discipline == Discipline::ProcessorSharing => {
            "{ policy = \"jsq\", ties = \"msq\" }"
        }
        Dispatch::TwoLevel => "{ policy = \"jsq\", ties = \"random\" }",
        Dispatch::Direct => "\"random\"",
    };
    let cores = vec![options.worker_core, options.generator_core];
    let system = system(1, policy, &discipline.written(options.quantum))?;
    let builder = Builder::of(system).pinning(Pinning::These(cores));
    let mix = stage.setup.schedule.mix.classes();
    let classes =
        (0..mix.len()).map(|class| builder.class(&format!("class {class}"))).collect::<Result<_, _>>()?;
    let arrivals = Arrivals::soon(&stage.setup.schedule, stage.setup.tsc);
    let epoch = arrivals.epoch();
    let (generator, generator_gaps) = Generator::new(stage, classes, arrivals);
    if code != Code::Hand {
        unedited::watch_worker(stage.setup.gap_log(), stage.setup.tsc.to_ticks(GAP_NS));
    }
    let runtime = builder.source(generator).start()?;
    if code != Code::Hand {
        // The first requests may have come by now; they are of the tenth that is left out.
        unedited::watch_yields();
    }
    wait(stage, epoch, &runtime);
    let generator_gaps = generator_gaps.recv()?;
    let gaps = gaps_of(stage)?;
    let (tsc, schedule) = (stage.setup.tsc, &stage.setup.schedule);
    Ok(stage.setup.recorder.trace(&Run {
        contestant: "caudal",
        tsc,
        epoch,
        schedule,
        gaps: &[&gaps],
        generator_gaps: Some(&generator_gaps),
    }))
}

/// The gaps that the worker has seen, once the runtime has ended.
///
/// # Errors
/// If no request has ever yielded that only the compiler could have made yield.
fn gaps_of(stage: &Stage) -> Result<GapLog, Box<dyn Error>> {
    if stage.code == Code::Hand {
        // SAFETY: the runtime has ended, and with it every request.
        return Ok(unsafe { &*stage.worker.gaps.get() }.clone());
    }
    let (gaps, yields) = unedited::seen();
    if yields == 0 {
        return Err(
            "no request has yielded: build this program with the probe pass (scripts/bench-rt-pass)".into()
        );
    }
    Ok(gaps)
}

impl Discipline {
    /// As a policy's file has it.
    fn written(self, quantum_ns: u64) -> String {
        match self {
            Discipline::ProcessorSharing => processor_sharing(quantum_ns),
            Discipline::Las => format!("{{ policy = \"las\", quantum = \"{quantum_ns}ns\" }}"),
            Discipline::Fcfs => "\"fcfs\"".to_owned(),
        }
    }
}

/// Sleeps until the last request should have come, then stops the runtime, which lets all of them end. This thread must not
/// take a core from the others meanwhile.
fn wait(stage: &Stage, epoch: u64, runtime: &Runtime) {
    let setup = &stage.setup;
    let end = epoch + setup.tsc.to_ticks(setup.schedule.duration_ns());
    loop {
        let now = clock::now();
        if now >= end {
            break;
        }
        std::thread::sleep(std::time::Duration::from_nanos(setup.tsc.to_ns(end - now)));
    }
    while !setup.recorder.wait_for_all(0) {
        if clock::now() > setup.deadline(epoch) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    runtime.shutdown(Shutdown::Drain);
}
