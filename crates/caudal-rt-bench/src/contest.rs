//! The runtime as a contestant: the dispatcher generates the load, one worker runs it.

use std::cell::UnsafeCell;
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
}

/// The gaps that the work has seen: one worker, which one coroutine after the other writes.
struct WorkerGaps(UnsafeCell<GapLog>);

// SAFETY: only coroutines of the one worker write, each between two probes; it is read when they are over.
unsafe impl Sync for WorkerGaps {}

/// Everything that requests refer to; they outlive every borrow, so it lives for ever.
struct Stage {
    setup: Setup,
    gaps: WorkerGaps,
    code: Code,
}

fn serve(stage: &'static Stage, request: usize) {
    stage.setup.recorder.start(request);
    let job = stage.setup.job_of(request);
    match stage.code {
        Code::Hand => {
            // SAFETY: see `WorkerGaps`; no probe is called while this reference is used by `chunk`.
            let gaps = unsafe { &mut *stage.gaps.0.get() };
            job.run(gaps, caudal_rt::probe);
        }
        Code::C => drop(std::hint::black_box(unedited::in_c(job.into()))),
        Code::Rust => drop(std::hint::black_box(unedited::in_rust(job.into()))),
    }
    stage.setup.recorder.complete(request);
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
        let trace = measure_code(&self.common, self.dispatch, self.discipline, self.code)?;
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
    measure_code(options, dispatch, discipline, Code::Hand)
}

fn measure_code(
    options: &Options,
    dispatch: Dispatch,
    discipline: Discipline,
    code: Code,
) -> Result<Trace, Box<dyn Error>> {
    caudal_measure::pin::pin_to(options.worker_core)?;
    let setup = options.prepare()?;
    // Before the first arrival is set: the runtime's start would measure the counter for 20 ms, and requests would wait.
    Clock::of_this_machine();
    let gaps = WorkerGaps(UnsafeCell::new(setup.gap_log()));
    let stage: &'static Stage = Box::leak(Box::new(Stage { setup, gaps, code }));
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
        return Ok(unsafe { &*stage.gaps.0.get() }.clone());
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
