//! Start of a runtime: settings are checked, threads are pinned and come up in their order. Called by the builder.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use caudal_config::Pools;
use caudal_fiber::overflow::{self, AltStack};
use caudal_fiber::stack::{Refusal, StackBudget, StackConfig, StackError, StackPool};
use caudal_log::Watched;
use caudal_policy::discipline::{Discipline, Fcfs, Las, ProcessorSharing, Runnable};
use caudal_policy::dispatch::{AnyDispatch, DispatchConfig};
use caudal_policy::rebalance::AnyRebalance;
use caudal_probe as probe;

use crate::base::bell::Bell;
use crate::base::clock::Clock;
use crate::base::cores::{Prepared, allowed_cores, pin, spawn_prepared};
use crate::base::fork;
use crate::base::say::say;
use crate::base::unwinding::PANICS_UNWIND;
use crate::board::log::Writer;
use crate::drive::source::{PolledSource, Source};
use crate::kernel::context::{self, on_due, on_section, on_taken};
use crate::kernel::dispatcher::Dispatcher;
use crate::kernel::error::StartError;
use crate::kernel::helper::{self, Helper};
use crate::kernel::reserved::Reservation;
use crate::kernel::settings::{OnStuck, Pinning, Settings};
use crate::kernel::shared::Shared;
use crate::kernel::worker::{Parts, Worker};
use crate::kernel::{collectors, panic_hook, thread_words, watchdog};
use crate::request::{carry, exceptions};

/// Parts of a runtime that has started.
pub(crate) struct Started {
    pub(crate) shared: Arc<Shared>,
    /// Workers and dispatcher.
    pub(crate) threads: Vec<RunningThread>,
    /// The cores that they have.
    pub(crate) cores: Reservation,
}

/// Starts everything: the threads of workers, dispatcher and helper, then what runs beside them.
pub(crate) fn start<B>(
    settings: Settings,
    sources: Vec<Box<dyn Source>>,
    beside: impl FnOnce(&Arc<Shared>, &[usize]) -> Result<B, StartError>,
) -> Result<(Started, B), StartError> {
    if fork::is_orphaned() {
        return Err(StartError::Forked);
    }
    must_unwind(PANICS_UNWIND)?;
    let discipline = check(&settings)?;
    let (reserved, cores) = Reservation::make(|taken| cores(&settings, taken))?;
    let stacks =
        StackConfig { size: settings.stack_bytes, limit: settings.stacks_max, ..StackConfig::default() };
    let stacks = StackBudget::new(stacks)?;
    watch_overflows()?;
    if settings.on_stuck == OnStuck::Dump {
        watchdog::dump::install()?;
    }
    fork::watch();
    panic_hook::install();
    exceptions::find_cxx();
    collectors::warn();
    // It needs a thread, so it comes before the workers, which could hold that up.
    thread_words::prepare();
    probe::set_hook(on_due);
    probe::set_critical_hook(Some(on_section));
    probe::set_wait_hook(on_taken);
    carry::with_probes();
    carry::parkers::prepare();
    let shared = Arc::new(Shared::new(settings, Clock::of_this_machine(), Arc::new(Helper::default())));
    // The classes that sources know already.
    (0..shared.settings.classes.all().len()).for_each(|class| shared.classes.prepare(class as u16));
    let _ = shared.stacks.set(Arc::clone(&stacks));
    let mut threads = Threads {
        discipline,
        shared: Arc::clone(&shared),
        gate: Arc::default(),
        running: Vec::new(),
        complete: false,
    };
    if let Some(_sink) = shared.sinks.iter().find(|sink| !sink.claim(shared.id, shared.workers.len())) {
        return Err(StartError::Setting {
            name: "sinks",
            value: format!("of another runtime, or fewer than {} workers", shared.workers.len()),
            instead: "make new ones for each runtime, one for each worker (Sinks::new)",
        });
    }
    // The dispatcher's is the last one.
    let listen = !sources.is_empty() || !shared.sinks.is_empty();
    let listeners = if listen { shared.workers.len() + 1 } else { 0 };
    let bells: Result<Vec<Bell>, _> = (0..listeners).map(|_| Bell::new()).collect();
    let refused = |source| StartError::System {
        what: "an event descriptor to wait for sources and sinks with",
        source,
    };
    shared.event_count.hang(bells.map_err(refused)?);
    let mut sources = sources.into_iter();
    for number in 0..shared.workers.len() {
        let source = if shared.settings.two_level { None } else { sources.next().map(PolledSource::new) };
        threads.worker(number, cores.get(number).copied(), source, Arc::clone(&stacks))?;
    }
    if shared.settings.two_level {
        threads.dispatcher(cores.get(shared.workers.len()).copied(), sources.collect())?;
    }
    threads.helper()?;
    let beside = beside(&shared, &cores)?;
    threads.complete = true;
    Ok((Started { shared, threads: std::mem::take(&mut threads.running), cores: reserved }, beside))
}

/// Installs the handler of stack overflows, once: each installation keeps what it was told for ever.
fn watch_overflows() -> Result<(), StartError> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*done {
        overflow::install(context::overflow_hooks())?;
        *done = true;
    }
    Ok(())
}

/// Ends the helper, after it has told all waiters.
pub(crate) fn stop_helper(shared: &Shared) {
    shared.helper.stop();
}

/// Requests that panic have to end alone.
fn must_unwind(panics_unwind: bool) -> Result<(), StartError> {
    if panics_unwind { Ok(()) } else { Err(StartError::PanicAbort) }
}

/// The discipline of `settings`, all of which a runtime can run; else the first fault.
fn check(settings: &Settings) -> Result<Runnable, StartError> {
    let wrong = |name, value: &dyn std::fmt::Display, instead| {
        Err(StartError::Setting { name, value: value.to_string(), instead })
    };
    if settings.workers == 0 || settings.workers > WORKERS_MAX {
        return wrong("workers", &settings.workers, "write a number from 1 to 4096");
    }
    if let Some(entries) = settings.log.filter(|&entries| entries > LOG_MAX) {
        return wrong("log", &entries, "write at most 268,435,456 entries: 8 GiB on each thread");
    }
    for (name, value) in [("queues (worker)", settings.inbox), ("queues (dispatcher)", settings.entry)] {
        if !value.is_power_of_two() || !(2..=1 << 24).contains(&value) {
            return wrong(name, &value, "write a power of two from 2 to 16,777,216");
        }
    }
    if let Some(stacks) = settings.stacks_max.filter(|&stacks| stacks < settings.workers) {
        return wrong(
            "stacks_max",
            &stacks,
            "write at least as many as there are workers: one without a stack could start no request",
        );
    }
    if settings.raise_flags && !settings.two_level {
        return wrong(
            "raise_flags",
            &true,
            "flags are raised by a dispatcher: take a policy that has one, such as `dispatch = \"jsq\"`, or probes that read the clock",
        );
    }
    // A plan that was read for the simulator may have any policy, this one and the discipline below.
    if knows_service_times(settings.system.dispatch) {
        return wrong(
            "system.dispatch",
            &format!("{:?}", settings.system.dispatch),
            "it asks for service times, which no runtime knows in advance: take another policy, such as `dispatch = \"jsq\"`",
        );
    }
    debug_assert!(settings.system.pools == Pools::PerCore || settings.system.cores == 1);
    steady_counter()?;
    let discipline = settings.system.discipline;
    Runnable::of(discipline).ok_or_else(|| StartError::Setting {
        name: "system.discipline",
        value: format!("{discipline:?}"),
        instead: Runnable::ADVICE,
    })
}

/// Does the dispatch policy ask for service times of requests that have not run?
fn knows_service_times(dispatch: DispatchConfig) -> bool {
    match dispatch {
        DispatchConfig::LeastWork | DispatchConfig::Sita(_) => true,
        DispatchConfig::Random
        | DispatchConfig::RoundRobin
        | DispatchConfig::PowerOfK(_)
        | DispatchConfig::Jsq(_)
        | DispatchConfig::Jbsq(_) => false,
    }
}

/// Most entries of a thread's log.
const LOG_MAX: usize = 1 << 28;
/// Most workers of a runtime.
const WORKERS_MAX: usize = 4096;

/// The counter has to run at one rate whatever the processor does.
fn steady_counter() -> Result<(), StartError> {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let Some(flags) = about.lines().find(|line| line.starts_with("flags")) else { return Ok(()) };
    match ["constant_tsc", "nonstop_tsc"].into_iter().find(|flag| !flags.contains(flag)) {
        Some(missing) => Err(StartError::Clock { missing }),
        None => Ok(()),
    }
}

/// A processor for each worker, then one for the dispatcher, none of those that are `taken`; empty: threads are not pinned.
fn cores(settings: &Settings, taken: &[usize]) -> Result<Vec<usize>, StartError> {
    let threads = settings.workers + usize::from(settings.two_level);
    let (allowed, mut free) = match &settings.pinning {
        Pinning::None => return Ok(Vec::new()),
        // A program that names them may mean to share them.
        Pinning::These(cores) => (cores.len(), cores.clone()),
        Pinning::Cores => {
            let allowed = allowed_cores();
            (allowed.len(), allowed.into_iter().filter(|core| !taken.contains(core)).collect())
        }
    };
    let and_dispatcher = if settings.two_level { " and a dispatcher" } else { "" };
    if allowed < threads {
        return Err(StartError::Cores {
            workers: settings.workers,
            and_dispatcher,
            available: allowed,
            fits: allowed.saturating_sub(usize::from(settings.two_level)).max(1),
        });
    }
    if free.len() < threads {
        let (workers, taken) = (settings.workers, allowed - free.len());
        return Err(StartError::CoresTaken { workers, and_dispatcher, available: allowed, taken });
    }
    if settings.pinning == Pinning::Cores {
        free = last_of(&free, settings.workers, settings.two_level);
    }
    free.truncate(threads);
    Ok(free)
}

/// The last processors for the workers and the one before them for the dispatcher: the first ones take most interrupts.
fn last_of(allowed: &[usize], workers: usize, dispatcher: bool) -> Vec<usize> {
    let Some(first) = allowed.len().checked_sub(workers) else { return Vec::new() };
    let mut chosen = allowed[first..].to_vec();
    if dispatcher {
        chosen.extend(first.checked_sub(1).map(|before| allowed[before]));
    }
    chosen
}

/// How a thread of the runtime has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Whole,
    /// It has a coroutine that will never go on. Others may hold references that came from there, such as a request of a scope to a
    /// thread-local. So the thread's destructors may never run.
    MustStay,
}

/// A thread of the runtime.
pub(crate) struct RunningThread {
    thread: JoinHandle<()>,
    stays: Arc<AtomicBool>,
}

impl RunningThread {
    /// Has it done all that it had to do?
    pub(crate) fn has_ended(&self) -> bool {
        self.stays.load(Acquire) || self.thread.is_finished()
    }

    /// Waits for its end, if it ever ends.
    pub(crate) fn join(self) {
        if !self.stays.load(Acquire) {
            let _ = self.thread.join();
        }
    }
}

fn or_abort(body: impl FnOnce() -> Ended) -> Ended {
    std::panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        // Handlers' panics never come here. Requests that this thread has taken would never end.
        say!("a thread of the runtime itself has panicked, which is a fault of the runtime's");
        std::process::abort()
    })
}

/// Parks the thread for as long as the process lives.
fn stay() -> ! {
    loop {
        std::thread::park();
    }
}

struct Threads {
    discipline: Runnable,
    shared: Arc<Shared>,
    gate: Arc<StartGate>,
    running: Vec<RunningThread>,
    complete: bool,
}

/// Gate at which threads wait until all are there: one that spins already could keep the thread that starts the others from its core.
#[derive(Default)]
struct StartGate {
    open: Mutex<Option<bool>>,
    opened: Condvar,
}

impl StartGate {
    /// Sleeps until it is open; should the thread go on?
    fn pass(&self) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open =
            self.opened.wait_while(open, |open| open.is_none()).unwrap_or_else(PoisonError::into_inner);
        *open == Some(true)
    }

    fn open(&self, go_on: bool) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(go_on);
        self.opened.notify_all();
    }
}

impl Threads {
    fn worker(
        &mut self,
        number: usize,
        core: Option<usize>,
        source: Option<PolledSource>,
        stacks: Arc<StackBudget>,
    ) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        let discipline = self.discipline;
        let rebalance = AnyRebalance::from(shared.settings.system.rebalance);
        let mut stacks = StackPool::sharing(&stacks);
        if shared.settings.stacks_max.is_some() {
            // Before any other worker takes them all.
            stacks.prepare().map_err(refused_stack)?;
        }
        let body = move || {
            // Without it the kernel could not even say that a stack has overflowed: then a plain fault ends the process.
            let _alternative = AltStack::install();
            thread_words::learn();
            let threads = shared.settings.threads.clone();
            if let Some(start) = &threads.start {
                start(number);
            }
            if shared.settings.on_stuck == OnStuck::Dump {
                watchdog::dump::let_in();
            }
            let log = shared.logs.as_ref().map(|logs| Writer::new(Arc::clone(&logs.workers[number])));
            macro_rules! run {
                ($discipline:expr) => {
                    match log {
                        None => run_worker(Parts {
                            number,
                            shared,
                            discipline: $discipline,
                            rebalance,
                            stacks,
                            source,
                            log: None,
                        }),
                        Some(log) => run_worker(Parts {
                            number,
                            shared,
                            discipline: Watched::new($discipline, log.clone()),
                            rebalance,
                            stacks,
                            source,
                            log: Some(log),
                        }),
                    }
                };
            }
            let ended = match discipline {
                Runnable::Fcfs => run!(Fcfs),
                Runnable::ProcessorSharing(config) => run!(ProcessorSharing::new(config)),
                Runnable::Las(config) => run!(Las::new(config)),
            };
            if let Some(stop) = &threads.stop {
                stop(number);
            }
            ended
        };
        self.spawn(format!("caudal-{number}"), core, body)
    }

    fn dispatcher(&mut self, core: Option<usize>, sources: Vec<Box<dyn Source>>) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        let policy = AnyDispatch::from(shared.settings.system.dispatch);
        self.spawn("caudal-dispatch".to_owned(), core, move || {
            Dispatcher::new(&shared, policy, sources).run();
            Ended::Whole
        })
    }

    fn helper(&mut self) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        helper::register(&shared.helper);
        let body = move |prepared: Prepared| {
            let mut watchdog = watchdog::Watchdog::new(&shared);
            prepared.tell();
            shared.helper.run(|| watchdog.check());
        };
        let thread = spawn_prepared("caudal-helper", body);
        // It is not waited for: it ends after everybody has been told.
        thread.map(drop).map_err(|source| StartError::System { what: "a thread for the helper", source })
    }

    /// A thread on `core`; returns when it is there.
    fn spawn(
        &mut self,
        name: String,
        core: Option<usize>,
        body: impl FnOnce() -> Ended + Send + 'static,
    ) -> Result<(), StartError> {
        let (told, tell) = mpsc::channel();
        let stays = Arc::new(AtomicBool::new(false));
        let it_stays = Arc::clone(&stays);
        let gate = Arc::clone(&self.gate);
        let there = fork::RuntimeThread::begin();
        let body = move || {
            let _ = told.send(pin(core));
            drop(told);
            let ended = if gate.pass() { or_abort(body) } else { Ended::Whole };
            drop(there);
            if ended == Ended::MustStay {
                it_stays.store(true, Release);
                stay();
            }
        };
        let refused = |what| move |source| StartError::System { what, source };
        let thread = std::thread::Builder::new().name(name).spawn(body).map_err(refused("a thread"))?;
        self.running.push(RunningThread { thread, stays });
        tell.recv().unwrap_or(Ok(())).map_err(refused("pinning a thread to its core"))
    }
}

impl Drop for Threads {
    /// Lets the threads go: to work if all are there, else to their end.
    fn drop(&mut self) {
        if !self.complete {
            self.shared.helper.stop();
        }
        self.gate.open(self.complete);
    }
}

fn refused_stack(refusal: Refusal) -> StartError {
    StartError::Stacks(match refusal {
        Refusal::Limit(limit) => StackError::None(limit),
        Refusal::Kernel(error) => error,
    })
}

fn run_worker<D: Discipline>(parts: Parts<D>) -> Ended {
    if Worker::new(parts).run() { Ended::Whole } else { Ended::MustStay }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn settings(discipline: &str) -> Settings {
        dispatched("\"random\"", discipline)
    }

    fn dispatched(dispatch: &str, discipline: &str) -> Settings {
        let text = format!(
            "[system]\ncores = 2\npools = \"per-core\"\ndispatch = {dispatch}\ndiscipline = {discipline}\n"
        );
        // Read for the simulator, which runs all of them.
        Settings::of(&caudal_config::File::parse(&text, "test.toml").unwrap().systems[0])
    }

    #[test]
    fn a_discipline_that_no_runtime_runs_is_refused_with_the_names_of_the_others() {
        let refused = check(&settings("{ policy = \"srpt\" }")).expect_err("it is refused").to_string();
        for name in Runnable::NAMES {
            assert!(refused.contains(&format!("\"{name}\"")), "{refused}");
            let quantum = if *name == "fcfs" { "" } else { ", quantum = \"2us\"" };
            assert!(check(&settings(&format!("{{ policy = \"{name}\"{quantum} }}"))).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_dispatch_that_no_runtime_can_ask_is_refused_before_any_thread_starts() {
        for dispatch in ["\"least-work\"", "{ policy = \"sita\", cutoffs = [\"1us\"] }"] {
            let refused = check(&dispatched(dispatch, "\"fcfs\"")).expect_err("it is refused").to_string();
            assert!(
                refused.starts_with("system.dispatch = ") && refused.contains("service times"),
                "{refused}"
            );
        }
        assert!(check(&dispatched("\"jsq\"", "\"fcfs\"")).is_ok());
    }

    /// Whether they do is told in a file of its own, which `tests/all/panic_abort.rs` compiles both ways.
    #[test]
    fn a_program_whose_panics_abort_is_refused() {
        assert!(must_unwind(true).is_ok());
        let refused = must_unwind(false).expect_err("it is refused").to_string();
        assert!(refused.contains("panic = \"abort\"") && refused.contains("Cargo profile"), "{refused}");
    }
}
