//! Settings of a runtime: the policy's system, and all that no policy says. The builder makes them, every thread reads them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use caudal_config::{System, SystemPlan};
use caudal_policy::dispatch::AnyBlind;

use crate::drive::sink::Flush;
use crate::request::class::ClassNames;

/// Choice of what [`Runtime::submit`](crate::Runtime::submit) does when the queue to which a request would go is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// It waits until there is room: back-pressure.
    #[default]
    Wait,
    /// It refuses the request, and counts that.
    Refuse,
}

/// On which processors threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Each thread has one of those that the process may use and that no other runtime of it has: workers the last ones, the
    /// dispatcher the one before them.
    #[default]
    Cores,
    /// These, in this order: one for each worker, then one for the dispatcher, if there is one. Whether another runtime has them, is
    /// the caller's affair.
    These(Vec<usize>),
    /// Threads go where the operating system puts them. More workers than cores are allowed then: for tests, and where latency
    /// does not matter.
    None,
}

/// Choice of what happens when a request's stack overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnOverflow {
    /// The process aborts, with the request's class, the size of its stack and a backtrace.
    #[default]
    Abort,
    /// The request ends as abandoned, its stack and all that lives on it are leaked, and that is counted. Locks that it holds
    /// stay locked, the allocator's too if it was in there. The process aborts all the same where others would be harmed: while
    /// a panic or an exception unwinds the request, in a critical section, and in the runtime's own code.
    Abandon,
}

/// Choice of what the watchdog does about a request that keeps its worker for too long ([`Builder::stuck_after`](crate::Builder::stuck_after)),
/// besides counting it and letting others take what waits there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnStuck {
    /// It writes a line to stderr that names the class; one a second at most.
    #[default]
    Report,
    /// As well, where the request is: its functions, from the innermost outwards. For that the worker's thread gets a signal, the
    /// highest real-time signal for which nobody has a handler at the start of the first such runtime. System calls go on after
    /// it (`SA_RESTART`), but for those that never do, such as `poll`, `epoll_wait` and C's `sleep`: they answer `EINTR`, as
    /// after any signal. Functions without debugging information are addresses.
    Dump,
}

/// Called on a worker's thread with the worker's number.
pub(crate) type OnWorker = Arc<dyn Fn(usize) + Send + Sync>;

/// Functions of the program that are called on workers' threads, before their first request and after their last.
#[derive(Clone, Default)]
pub(crate) struct ThreadHooks {
    pub(crate) start: Option<OnWorker>,
    pub(crate) stop: Option<OnWorker>,
}

impl fmt::Debug for ThreadHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadHooks {{ start: {}, stop: {} }}", self.start.is_some(), self.stop.is_some())
    }
}

/// Everything that the threads of a runtime have to know before they start.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) system: System,
    pub(crate) workers: usize,
    /// There is a dispatcher.
    pub(crate) two_level: bool,
    pub(crate) pinning: Pinning,
    /// Requests that a worker's inbox holds; a power of two.
    pub(crate) inbox: usize,
    /// Requests that wait for the dispatcher; a power of two.
    pub(crate) entry: usize,
    /// How long everybody has to have been idle before anybody sleeps.
    pub(crate) spin: Duration,
    pub(crate) stack_bytes: usize,
    pub(crate) stacks_max: Option<usize>,
    pub(crate) on_full: OnFull,
    pub(crate) on_overflow: OnOverflow,
    /// A slice that takes so much longer than a quantum is a worker that is stuck.
    pub(crate) stuck_after: Duration,
    pub(crate) on_stuck: OnStuck,
    /// The dispatcher raises the flags of workers whose quantum is over.
    pub(crate) raise_flags: bool,
    /// How long a shutdown waits for requests that have started.
    pub(crate) shutdown_bound: Duration,
    pub(crate) seed: u64,
    /// So many entries of each thread's decisions are logged, if any.
    pub(crate) log: Option<usize>,
    /// The system as a file, for the head of the log.
    pub(crate) policy: String,
    pub(crate) classes: Arc<ClassNames>,
    /// Workers measure requests.
    pub(crate) measuring: bool,
    /// The runtime's name; none: that of the program's file.
    pub(crate) name: Option<String>,
    pub(crate) threads: ThreadHooks,
    /// Sinks of replies.
    pub(crate) sinks: Vec<Arc<dyn Flush>>,
}

impl Settings {
    /// Settings for the system of `plan`, as they are unless a builder changes them.
    pub(crate) fn of(plan: &SystemPlan) -> Settings {
        Settings {
            workers: plan.system.cores_allocated as usize,
            two_level: is_two_level(&plan.system),
            system: plan.system.clone(),
            pinning: Pinning::default(),
            inbox: 1 << 10,
            entry: 1 << 14,
            spin: Duration::from_millis(1),
            stack_bytes: 256 << 10,
            stacks_max: None,
            on_full: OnFull::default(),
            on_overflow: OnOverflow::default(),
            stuck_after: Duration::from_millis(10),
            on_stuck: OnStuck::default(),
            raise_flags: false,
            shutdown_bound: Duration::from_secs(10),
            seed: 1,
            log: None,
            policy: String::new(),
            classes: Arc::default(),
            measuring: true,
            name: None,
            threads: ThreadHooks::default(),
            sinks: Vec::new(),
        }
    }
}

/// Has a system a dispatcher? A dispatch policy that reads the state of workers needs a thread that does so.
fn is_two_level(system: &System) -> bool {
    AnyBlind::of(system.dispatch).is_none()
}
