//! A runtime as programs see it: a builder with its settings, submissions of requests, and the shutdown. Programs call this from any
//! thread, handlers included; it starts and stops the threads of the floor below, and touches no request itself.

use std::any::Any;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use caudal_config::{File, Options, SystemHost, SystemPlan, write_policy};
use caudal_log::DecisionLog;
use caudal_workload::ServiceSpec;

use crate::api::beside::{Beside, StartBeside};
use crate::api::stats::{self, View};
use crate::base::pause::pause;
use crate::base::say::say;
use crate::board::Slice;
use crate::drive::{Sink, Source};
use crate::kernel::context::current;
use crate::kernel::error::StartError;
use crate::kernel::reserved::Reservation;
use crate::kernel::settings::{OnFull, OnOverflow, OnStuck, Pinning, Settings};
use crate::kernel::shared::{Shared, Stage};
use crate::kernel::start::{self, RunningThread, Started};
use crate::request::class::{ClassId, TooManyClasses};
use crate::request::failure::{Refused, SubmitError};
use crate::task::handle::Handle;
use crate::task::submit::{QUANTUM_MIN, RequestBuilder};
use crate::task::{self, Scope, Sinks};

/// Options of reading a file that a runtime is going to run. A file that also says which workload was planned for may stay as it is: a runtime
/// meets the service times that come, and reads neither `workload.service` nor the data behind it.
fn for_runtimes() -> Options {
    let spec = ServiceSpec::named("exp-1us");
    let service = spec.compile(Path::new("")).ok().map(|service| (spec, service));
    Options { host: SystemHost::Runtime, service, ..Options::default() }
}

/// Settings of a runtime before it starts. Made by [`Runtime::builder`].
pub struct Builder {
    plan: SystemPlan,
    pub(crate) settings: Settings,
    pub(crate) sources: Vec<Box<dyn Source>>,
    pub(crate) besides: Vec<StartBeside>,
}

impl Builder {
    /// The builder of a runtime for the one system of the file at `path`.
    fn read(path: &Path) -> Result<Builder, StartError> {
        Builder::of_file(File::read_with(path, &for_runtimes())?, &path.display().to_string())
    }

    /// The builder of a runtime for the one system of `text`, which is what a policy file would hold: for programs that bring their
    /// policy along (`include_str!`). Errors call it `name`.
    ///
    /// # Errors
    /// [`StartError`], if it is refused.
    pub fn parse(text: &str, name: &str) -> Result<Builder, StartError> {
        Builder::of_file(File::parse_with(text, name, &for_runtimes())?, name)
    }

    fn of_file(file: File, path: &str) -> Result<Builder, StartError> {
        let systems = file.systems.len();
        let one = file.systems.into_iter().next().filter(|_| systems == 1);
        let plan = one.ok_or_else(|| StartError::Systems { path: path.to_owned(), systems })?;
        Ok(Builder::of(plan))
    }

    /// The builder of a runtime for a system that is no file's.
    pub fn of(plan: SystemPlan) -> Builder {
        let settings = Settings::of(&plan);
        Builder { plan, settings, sources: Vec::new(), besides: Vec::new() }
    }

    /// The class of requests with this name, for sources, which are made before the runtime.
    ///
    /// # Errors
    /// [`TooManyClasses`].
    pub fn class(&self, name: &str) -> Result<ClassId, TooManyClasses> {
        self.settings.classes.class(name)
    }

    /// The workers that the runtime is going to have: the file's `cores`, or what [`Builder::workers`] has set.
    pub fn worker_count(&self) -> usize {
        self.settings.workers
    }

    /// Will the runtime have a dispatcher? It has one where its policy reads the state of workers to place a request, such as `jsq`; else workers
    /// take their requests in themselves.
    pub fn has_dispatcher(&self) -> bool {
        self.settings.two_level
    }

    /// Sets the number of workers, instead of the file's `cores`.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Builder {
        self.settings.workers = workers;
        self
    }

    /// Sets where the threads run.
    #[must_use]
    pub fn pinning(mut self, pinning: Pinning) -> Builder {
        self.settings.pinning = pinning;
        self
    }

    /// How long everybody has to have been idle before the threads sleep; 1 ms unless this says otherwise. The first request
    /// after that pays for waking them: 16 to 36 µs. [`Duration::MAX`]: they never sleep.
    #[must_use]
    pub fn spin(mut self, spin: Duration) -> Builder {
        self.settings.spin = spin;
        self
    }

    /// Size of each coroutine's stack, in bytes, of address space that takes memory where it is touched; 256 KiB unless this
    /// says otherwise. A program that locks all memory it is going to map (`mlockall(MCL_FUTURE)`) locks no stacks by that: they may be
    /// swapped out.
    #[must_use]
    pub fn stack_bytes(mut self, bytes: usize) -> Builder {
        self.settings.stack_bytes = bytes;
        self
    }

    /// At most so many stacks on all workers; without it as many as memory allows. Further requests wait. Each worker has one at
    /// least, and gives idle ones away when another has none.
    #[must_use]
    pub fn stacks_max(mut self, stacks: usize) -> Builder {
        self.settings.stacks_max = Some(stacks);
        self
    }

    /// Requests that wait at a worker, and at the dispatcher, at most; powers of two. 1,024 and 16,384 unless this says otherwise.
    #[must_use]
    pub fn queues(mut self, worker: usize, dispatcher: usize) -> Builder {
        (self.settings.inbox, self.settings.entry) = (worker, dispatcher);
        self
    }

    /// Sets what a submission does when its queue is full.
    #[must_use]
    pub fn on_full(mut self, on_full: OnFull) -> Builder {
        self.settings.on_full = on_full;
        self
    }

    /// Sets what happens when a stack overflows.
    #[must_use]
    pub fn on_overflow(mut self, on_overflow: OnOverflow) -> Builder {
        self.settings.on_overflow = on_overflow;
        self
    }

    /// A request that keeps its worker for so long after its quantum is over means that the worker is stuck in a handler; 10 ms
    /// unless this says otherwise. Under a policy that never pre-empts (first come, first served), one that does and whose thread
    /// sleeps in the kernel all the while.
    #[must_use]
    pub fn stuck_after(mut self, span: Duration) -> Builder {
        self.settings.stuck_after = span;
        self
    }

    /// Sets what the watchdog writes about a worker that is stuck.
    #[must_use]
    pub fn on_stuck(mut self, on_stuck: OnStuck) -> Builder {
        self.settings.on_stuck = on_stuck;
        self
    }

    /// For handlers whose probes are in flag mode (`caudal_probe::probe_flag`), which read no clock: the dispatcher reads it, and
    /// raises a worker's flag when the quantum there is over and others wait. Such a probe is the cheapest, and the yield comes later
    /// by the time that the dispatcher takes to notice it, some 0.1 to 1 µs. Probes in other modes work as ever. Default: no.
    ///
    /// Needs a policy with a dispatcher.
    pub fn raise_flags(mut self, raise_flags: bool) -> Builder {
        self.settings.raise_flags = raise_flags;
        self
    }

    /// How long each step of a shutdown takes at most: until requests that have started are cancelled, until they are given up,
    /// and until threads are left behind that are still in a handler.
    #[must_use]
    pub fn shutdown_bound(mut self, bound: Duration) -> Builder {
        self.settings.shutdown_bound = bound;
        self
    }

    /// Seed of all random draws of policies; 1 unless this says otherwise.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Builder {
        self.settings.seed = seed;
        self
    }

    /// Logs what policies see and decide: up to so many entries on each worker, on the dispatcher, and of what submitters place.
    /// A request takes some five to ten entries of 32 bytes, which are set aside at the start; at most 2²⁸. [`Runtime::take_log`]
    /// gives them.
    #[must_use]
    pub fn log(mut self, entries: usize) -> Builder {
        self.settings.log = Some(entries);
        self
    }

    /// Calls `start` with each worker's number, on its thread, before that runs any request: for what has to know the threads that
    /// run a program's code, such as a garbage collector. A panic in it ends the process.
    #[must_use]
    pub fn on_worker_start(mut self, start: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.settings.threads.start = Some(Arc::new(start));
        self
    }

    /// Calls `stop` with each worker's number, on its thread, when that has run its last request.
    #[must_use]
    pub fn on_worker_stop(mut self, stop: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.settings.threads.stop = Some(Arc::new(stop));
        self
    }

    /// The name under which `caudal top` lists and finds the runtime; without it that of the program's file.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.settings.name = Some(name.into());
        self
    }

    /// Whether workers measure requests; they do unless this says otherwise. It is there to measure what measuring costs: without it
    /// all histograms are empty.
    #[must_use]
    pub fn measuring(mut self, measuring: bool) -> Builder {
        self.settings.measuring = measuring;
        self
    }

    /// Adds a source of requests. With a dispatcher, that polls all of them; without one, the first source is the first
    /// worker's and so on.
    #[must_use]
    pub fn source(mut self, source: impl Source + 'static) -> Builder {
        self.sources.push(Box::new(source));
        self
    }

    /// Lets requests leave their replies with these sinks: see [`Sinks`]. One for each worker at least.
    #[must_use]
    pub fn sinks<S: Sink + 'static>(mut self, sinks: &Sinks<S>) -> Builder {
        self.settings.sinks.push(sinks.erased());
        self
    }

    /// Starts the threads; returns when all of them run.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(self) -> Result<Runtime, StartError> {
        let Builder { plan, mut settings, sources, besides } = self;
        if settings.log.is_some() {
            settings.policy = write_policy(&plan.system, &plan.costs, "");
        }
        let (Started { shared, threads, cores }, besides) =
            start::start(settings, sources, |shared, cores| {
                let beside = Beside { view: View(Arc::clone(shared)), cores };
                besides.into_iter().map(|start| start(&beside)).collect::<Result<Vec<_>, _>>()
            })?;
        Ok(Runtime {
            shared,
            threads: Mutex::new(threads),
            cores: Mutex::new(Some(cores)),
            besides: Mutex::new(besides),
        })
    }
}

/// Treatment of requests that have not ended, by a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// It lets all that were accepted end.
    Drain,
    /// It ends those that have not started, and asks the others to end.
    Cancel,
}

/// Requests and threads that a shutdown could not end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Requests that had started and were given up: their coroutines are leaked, and their handles answer
    /// [`Failure::Abandoned`](crate::Failure::Abandoned). Those that a thread in a handler holds up are among them.
    pub abandoned: u64,
    /// Threads that had not come back from a handler (or from a source that waits), and go on until it returns. A wait for that
    /// request takes as long.
    pub threads: usize,
}

/// A running system of workers. Dropping it drains it, within its bound.
pub struct Runtime {
    shared: Arc<Shared>,
    threads: Mutex<Vec<RunningThread>>,
    /// Until its threads have ended.
    cores: Mutex<Option<Reservation>>,
    pub(crate) besides: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Runtime {
    /// Starts the system that the policy file at `path` describes, with one thread a core.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn from_policy(path: impl AsRef<Path>) -> Result<Runtime, StartError> {
        Runtime::builder(path)?.start()
    }

    /// A builder for the system that the policy file at `path` describes.
    ///
    /// # Errors
    /// [`StartError`], if the file can not be read or is refused.
    pub fn builder(path: impl AsRef<Path>) -> Result<Builder, StartError> {
        Builder::read(path.as_ref())
    }

    /// The class of requests with this name; the first call for a name makes it.
    ///
    /// # Errors
    /// [`TooManyClasses`].
    pub fn class(&self, name: &str) -> Result<ClassId, TooManyClasses> {
        let class = self.shared.settings.classes.class(name)?;
        self.shared.classes.prepare(class.number);
        Ok(class)
    }

    /// Hands in a request. Closures of up to 144 bytes are kept in place, larger ones are boxed.
    ///
    /// # Errors
    /// [`SubmitError`]; the closure is dropped. [`Runtime::try_submit`] gives it back.
    pub fn submit<F, T>(&self, class: ClassId, job: F) -> Result<Handle<T>, SubmitError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.request(class).submit(job)
    }

    /// As [`Runtime::submit`], but never waits for room: gives the closure back instead.
    ///
    /// # Errors
    /// [`Refused`], with the closure.
    pub fn try_submit<F, T>(&self, class: ClassId, job: F) -> Result<Handle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.request(class).try_submit(job)
    }

    /// A request with a deadline or a quantum of its own, to be submitted.
    ///
    /// # Panics
    /// If `class` is another runtime's.
    pub fn request(&self, class: ClassId) -> RequestBuilder<'_> {
        RequestBuilder::of(&self.shared, class)
    }

    /// From now on quanta are so long, whatever the policy's file says; for disciplines that have quanta. At least 0.5 µs.
    ///
    /// # Panics
    /// If `quantum` is shorter.
    pub fn set_quantum(&self, quantum: Duration) {
        assert!(quantum >= QUANTUM_MIN, "a quantum of {quantum:?}: write 0.5 us or more");
        self.shared.quantum.store(self.shared.clock.cycles_of(quantum), Relaxed);
    }

    /// The log of what policies have seen and decided so far, complete from the start up to where a thread's room was used up; `None`
    /// without [`Builder::log`]. After [`Runtime::shutdown`] it is all of it.
    pub fn take_log(&self) -> Option<DecisionLog> {
        self.shared.logs.as_ref().map(|logs| logs.copy(self.shared.settings.seed, self.shared.clock))
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.shared.workers.len()
    }

    /// Stops: takes no more requests, lets those that there are end or ends them, and waits for the threads. In a forked child it
    /// does nothing: there are none. What could not be ended it names on stderr; a later call only says what is left by then.
    ///
    /// # Panics
    /// In a request of this runtime, whose end it would wait for. Have another thread call it; or drop the runtime there, which
    /// waits on a thread of its own.
    pub fn shutdown(&self, how: Shutdown) -> LeftBehind {
        if self.shared.is_forked() {
            return LeftBehind::default();
        }
        assert!(
            !self.is_callers(),
            "Runtime::shutdown in a request of the runtime that it stops: it would wait for the end of its caller; call it on another \
             thread"
        );
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let has_stopped = self.shared.stage() == Stage::Stopping;
        if has_stopped {
            wait_for(&mut threads, Duration::ZERO);
        } else {
            self.stop(how, &mut threads);
        }
        if threads.is_empty() {
            *self.cores.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let left = left_behind(&self.shared, threads.len());
        if !has_stopped && left != LeftBehind::default() {
            say_what_is_left(&self.shared, left);
        }
        left
    }

    fn stop(&self, how: Shutdown, threads: &mut Vec<RunningThread>) {
        let bound = self.shared.settings.shutdown_bound;
        let stages = match how {
            Shutdown::Drain => &[Stage::Draining, Stage::Cancelling, Stage::Stopping][..],
            Shutdown::Cancel => &[Stage::Cancelling, Stage::Stopping],
        };
        for &stage in stages {
            self.shared.enter(stage);
            let patience = if stage == Stage::Draining { bound } else { bound.max(LAST_BOUND) };
            if wait_for(threads, patience) {
                break;
            }
        }
        self.shared.enter(Stage::Stopping);
        self.shared.end_queued();
        if !threads.is_empty() {
            self.shared.end_held_up();
        }
        start::stop_helper(&self.shared);
        let besides = std::mem::take(&mut *self.besides.lock().unwrap_or_else(PoisonError::into_inner));
        drop(besides);
    }

    /// Is the caller a request of this runtime?
    fn is_callers(&self) -> bool {
        current().is_some_and(|me| std::ptr::eq(me.shared(), &raw const *self.shared))
    }

    /// A handler has dropped the runtime that runs it: another thread waits for the end of all.
    fn shutdown_from_inside(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let shared = Arc::clone(&self.shared);
        shared.enter(Stage::Draining);
        let cores = self.cores.lock().unwrap_or_else(PoisonError::into_inner).take();
        let besides = std::mem::take(&mut *self.besides.lock().unwrap_or_else(PoisonError::into_inner));
        let rest = Runtime {
            shared,
            threads: Mutex::new(threads),
            cores: Mutex::new(cores),
            besides: Mutex::new(besides),
        };
        if let Err(error) =
            std::thread::Builder::new().name("caudal-end".to_owned()).spawn(move || drop(rest))
        {
            say!("no thread to end a runtime with, which was dropped by one of its own requests: {error}");
        }
    }

    /// Was this process forked from the one that has the runtime's threads?
    pub fn is_forked(&self) -> bool {
        self.shared.is_forked()
    }

    /// As [`scope`](crate::scope), for this runtime's requests; from any thread. Aborts the process if the bound of a shutdown gives up
    /// a request that borrows from a thread that is no worker's.
    ///
    /// # Panics
    /// As [`scope`](crate::scope).
    pub fn scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
        task::scope_in(Arc::clone(self.shared()), body)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Runtime {
    /// Statistics so far, and what the workers do now. Reads what they write and stops nobody: some 10 µs for each
    /// class and worker.
    pub fn stats(&self) -> stats::Snapshot {
        View(Arc::clone(&self.shared)).stats()
    }

    /// Records what the workers do from now on for `window`, at most [`WINDOW_MAX`](stats::WINDOW_MAX), and returns when that is over.
    ///
    /// # Errors
    /// [`RecordError`](stats::RecordError).
    pub fn record_timeline(&self, window: Duration) -> Result<stats::Recording, stats::RecordError> {
        let running = stats::Running::begin(self.shared(), window)?;
        pause(window);
        Ok(running.end())
    }
}

impl Builder {
    /// Starts a service beside the runtime, when all of its threads are there. The answer is dropped when the runtime has stopped;
    /// [`Runtime::with_beside`] shows it until then.
    #[must_use]
    pub fn beside(
        mut self,
        start: impl FnOnce(&Beside<'_>) -> Result<Box<dyn Any + Send>, StartError> + Send + 'static,
    ) -> Builder {
        self.besides.push(Box::new(start));
        self
    }
}

impl Runtime {
    /// Shows the first service of type `S` that runs beside the runtime; none: there is none, or the runtime has stopped.
    pub fn with_beside<S: 'static, R>(&self, then: impl FnOnce(&S) -> R) -> Option<R> {
        let besides = self.besides.lock().unwrap_or_else(PoisonError::into_inner);
        besides.iter().find_map(|beside| beside.downcast_ref()).map(then)
    }
}

/// Waits until all of `threads` have ended, at most for `bound`; takes those out that have.
fn wait_for(threads: &mut Vec<RunningThread>, bound: Duration) -> bool {
    let begun = Instant::now();
    loop {
        threads.extract_if(.., |thread| thread.has_ended()).for_each(RunningThread::join);
        if threads.is_empty() {
            return true;
        }
        if begun.elapsed() >= bound {
            return false;
        }
        pause(Duration::from_micros(200));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.shared.is_forked() {
            // The child's own threads may have the numbers of those that do not exist here.
            let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
            return std::mem::forget(std::mem::take(threads));
        }
        if self.is_callers() {
            return self.shutdown_from_inside();
        }
        let _ = self.shutdown(Shutdown::Drain);
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !threads.is_empty() {
            // They are on their cores for as long as they like: no other runtime gets those.
            std::mem::forget(self.cores.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

fn left_behind(shared: &Shared, threads: usize) -> LeftBehind {
    LeftBehind { abandoned: shared.given_up.iter().map(|count| count.load(Relaxed)).sum(), threads }
}

/// Names the classes of what a shutdown could not end.
fn say_what_is_left(shared: &Shared, left: LeftBehind) {
    let names = shared.settings.classes.all();
    let given_up = names.iter().zip(&shared.given_up).map(|(name, count)| (name, count.load(Relaxed)));
    let given_up =
        given_up.filter(|&(_, count)| count > 0).map(|(name, count)| format!("{count} of class `{name}`"));
    let running = shared.workers.iter().filter(|worker| worker.board.slice_start.load(Relaxed) != 0);
    let running = running.map(|worker| {
        let class = Slice(worker.board.slice.load(Relaxed)).class();
        format!("one in class `{}`", shared.settings.classes.name(class))
    });
    let list = |items: &mut dyn Iterator<Item = String>| match items.collect::<Vec<_>>().join(", ") {
        list if list.is_empty() => list,
        list => format!(" ({list})"),
    };
    say!(
        "a runtime ended with {} requests given up{} and {} threads that have not come back{}",
        left.abandoned,
        list(&mut given_up.into_iter()),
        left.threads,
        list(&mut running.into_iter())
    );
}

/// A shutdown that has cancelled waits at least so long before it gives up.
const LAST_BOUND: Duration = Duration::from_millis(10);
