//! The types of the C interface, by their names in C. The exported functions of the sibling files take and return them; cbindgen makes
//! `caudal/caudal.h` of both. Only types and constants: nothing here runs.

use std::ffi::{c_char, c_void};

/// The version of the interface that this header declares. Programs compare it with caudal_abi_version(): in a library of another version,
/// functions may mean something else, or structures may differ. The name of the shared library ends in it.
pub const CAUDAL_ABI_VERSION: u32 = 1;

/// Bytes of a message, its terminating zero included.
pub const CAUDAL_MESSAGE_BYTES: usize = 1016;

/// Stands for a time without end.
pub const CAUDAL_FOREVER: u64 = u64::MAX;

/// The result of a call. caudal_status_text() puts it in words.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_status {
    /// The call did what it says.
    CAUDAL_OK = 0,
    /// The request in which the caller runs has been cancelled: release what the handler holds, and return.
    CAUDAL_CANCELLED = 1,
    /// The time limit of the call passed first.
    CAUDAL_TIMED_OUT = 2,
    /// A null pointer, or a value out of its range.
    CAUDAL_ERROR_ARGUMENT = 3,
    /// The queue is full.
    CAUDAL_ERROR_FULL = 4,
    /// The runtime has stopped, or is about to.
    CAUDAL_ERROR_STOPPED = 5,
    /// The runtime was destroyed.
    CAUDAL_ERROR_DESTROYED = 6,
    /// This process was forked from the one that has the runtime's threads.
    CAUDAL_ERROR_FORKED = 7,
    /// A request must not wait in a critical section: end the section first.
    CAUDAL_ERROR_IN_SECTION = 8,
    /// A request must not make this call: it would wait for its own end.
    CAUDAL_ERROR_IN_REQUEST = 9,
    /// Only a request may make this call.
    CAUDAL_ERROR_NOT_IN_REQUEST = 10,
    /// Another thread or request is using the object.
    CAUDAL_ERROR_BUSY = 11,
    /// The runtime has the largest number of classes already: let several kinds of requests share one.
    CAUDAL_ERROR_CLASSES = 12,
    /// The policy's file cannot be read, or is refused; the message says where and why.
    CAUDAL_ERROR_POLICY = 13,
    /// The operating system or the machine refused something; the message says what.
    CAUDAL_ERROR_SYSTEM = 14,
    /// The caller does not have the mutex, or has it already.
    CAUDAL_ERROR_OWNER = 15,
    /// The library failed. Its message is on stderr.
    CAUDAL_ERROR_INTERNAL = 16,
}

/// How a request ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_outcome {
    /// It has not ended.
    CAUDAL_OUTCOME_NONE = 0,
    /// Its handler returned.
    CAUDAL_OUTCOME_RETURNED = 1,
    /// Its handler called caudal_fail().
    CAUDAL_OUTCOME_FAILED = 2,
    /// It was cancelled before it started, or a call answered CAUDAL_CANCELLED to its handler.
    CAUDAL_OUTCOME_CANCELLED = 3,
    /// It had not started by its deadline.
    CAUDAL_OUTCOME_EXPIRED = 4,
    /// Its stack overflowed, or it outlived the bound of a shutdown; its stack and what was on it are lost.
    CAUDAL_OUTCOME_ABANDONED = 5,
    /// The runtime stopped before the request started.
    CAUDAL_OUTCOME_STOPPED = 6,
}

/// The kind of a shutdown: the treatment of requests that have not ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_shutdown {
    /// All accepted requests run to their end.
    CAUDAL_SHUTDOWN_DRAIN = 0,
    /// Requests that have not started end at once, and the others are cancelled.
    CAUDAL_SHUTDOWN_CANCEL = 1,
}

/// Where a runtime's threads run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_pinning {
    /// Each thread has a core of its own, one of those that the process may use.
    CAUDAL_PINNING_CORES = 0,
    /// The operating system chooses the cores; more workers than cores are allowed then. For tests.
    CAUDAL_PINNING_NONE = 1,
}

/// The behaviour of a submission when its queue is full.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_on_full {
    /// It waits for room.
    CAUDAL_ON_FULL_WAIT = 0,
    /// It answers CAUDAL_ERROR_FULL.
    CAUDAL_ON_FULL_REFUSE = 1,
}

/// The reaction to an overflow of a request's stack.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_on_overflow {
    /// The process aborts, with the request's class and a backtrace.
    CAUDAL_ON_OVERFLOW_ABORT = 0,
    /// The request ends as abandoned. Its stack is leaked, and locks that it holds stay locked. While an exception unwinds it, in a
    /// critical section and in the library the process aborts all the same.
    CAUDAL_ON_OVERFLOW_ABANDON = 1,
}

/// The reaction to a handler that keeps its worker for longer than `stuck_after_ns`; it is counted in any case.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum caudal_on_stuck {
    /// A line on stderr names its class; one a second at most.
    CAUDAL_ON_STUCK_REPORT = 0,
    /// The line, and the functions that the handler is in. To find these, its thread gets a signal, the highest real-time signal without a
    /// handler: system calls that never restart, such as poll(), then answer EINTR.
    CAUDAL_ON_STUCK_DUMP = 1,
}

/// A class of requests of one runtime. See caudal_runtime_class().
pub type caudal_class = u32;

/// Runs a request, with the argument of its submission, on the stack of a coroutine (256 KiB unless the options say otherwise).
/// It must not be left by an exception or by longjmp: the first aborts the process, the second breaks it.
pub type caudal_handler = Option<unsafe extern "C-unwind" fn(argument: *mut c_void)>;

/// Hears how a request ended, once.
///
/// For a request that ran, it is called on the request's coroutine, after the handler has returned and before caudal_wait() returns; it may
/// do what a handler may. For a request that ended before it started, it is called on the thread that ended the request (in caudal_cancel(),
/// in a shutdown, or a worker), and must neither wait nor take long; caudal_wait() returns afterwards, unless another request has cancelled
/// this one: then before. For an abandoned request it is not called, because the stack is lost.
pub type caudal_completion =
    Option<unsafe extern "C-unwind" fn(argument: *mut c_void, outcome: caudal_outcome)>;

/// An error in words. The caller owns it: the library keeps no error for each thread, because many requests share a thread.
#[repr(C)]
pub struct caudal_error {
    /// The result of the call.
    pub status: caudal_status,
    /// The text, UTF-8, cut where it does not fit; empty if there is nothing to add.
    pub message: [c_char; CAUDAL_MESSAGE_BYTES],
}

/// Options of a runtime, besides the file with its policy. Fill them with caudal_options_init(), then change what should be otherwise;
/// every 0 means the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct caudal_options {
    /// Bytes of this structure as the program knows it.
    pub size: usize,
    /// Workers; default: the file's `cores`.
    pub workers: u32,
    /// A caudal_pinning.
    pub pinning: u32,
    /// A caudal_on_full.
    pub on_full: u32,
    /// A caudal_on_overflow.
    pub on_overflow: u32,
    /// Bytes of each coroutine's stack, of address space that takes memory where it is touched; default 256 KiB.
    pub stack_bytes: u64,
    /// Most stacks on all workers; further requests wait. Default: as many as memory allows.
    pub stacks_max: u64,
    /// Requests that wait at a worker at most, a power of two; default 1,024.
    pub queue_of_worker: u64,
    /// Requests that wait for the dispatcher at most, a power of two; default 16,384.
    pub queue_of_dispatcher: u64,
    /// Nanoseconds for which all threads have to have been idle before they sleep; default 1 ms; CAUDAL_FOREVER: they never
    /// sleep.
    pub spin_ns: u64,
    /// A handler that keeps its worker for so many nanoseconds after its quantum is reported as stuck; default 10 ms.
    pub stuck_after_ns: u64,
    /// Nanoseconds that a shutdown waits for requests before it cancels them, and then again before it gives them up; default 10 s.
    pub shutdown_bound_ns: u64,
    /// Seed of the policies' random draws; default 1.
    pub seed: u64,
    /// A caudal_on_stuck.
    pub on_stuck: u32,
    /// 1: the dispatcher raises a worker's flag when the quantum there is over and others wait, for probes in flag mode
    /// (CAUDAL_PROBE_FLAG()), which read no clock. Needs a policy with a dispatcher.
    pub raise_flags: u32,
    /// Called with `worker_context` and the worker's number on each worker's thread, before its first request; may be null.
    pub worker_starts: caudal_worker_hook,
    /// The same, after its last request; may be null.
    pub worker_stops: caudal_worker_hook,
    /// The argument of both functions.
    pub worker_context: *mut c_void,
}

/// Called on a worker's thread when the thread begins or ends. It must neither wait nor unwind.
pub type caudal_worker_hook = Option<unsafe extern "C" fn(context: *mut c_void, worker: u32)>;

/// Functions that take and put back a place of the thread when the thread goes from one request to another. See caudal_carry().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct caudal_carry_hooks {
    /// Called when the request gives its worker back: moves the request's value from the place to `state`, 64 bytes of the request's own,
    /// aligned to 16, and puts into the place the value that a new request is to find.
    pub leave: Option<unsafe extern "C" fn(context: *mut c_void, state: *mut c_void)>,
    /// Called when the request goes on, maybe on another thread if it is migratable: puts the value back that `leave` has moved to `state`.
    pub enter: Option<unsafe extern "C" fn(context: *mut c_void, state: *mut c_void)>,
    /// Called before a request begins: puts the value into the place that a new request is to find.
    pub begin: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// The functions' first argument.
    pub context: *mut c_void,
}

/// Hears on which stack the calling thread is about to be. See caudal_on_stack_enter().
pub type caudal_stack_entering =
    Option<unsafe extern "C" fn(context: *mut c_void, low: *mut c_void, high: *mut c_void)>;

/// Called with a coroutine's stack: `low`, the lowest address that is in use, and `high`, the end of the stack. If the coroutine `runs`, `low`
/// is from the time when it last went on. Then either its thread is on this stack, and the thread's stack pointer says what is in use now; or
/// the thread is on its own stack, about to switch to the coroutine or just back from it, and `low` is still right. So a collector scans
/// the addresses from `low` to `high` of each coroutine, and every thread from its stack pointer.
pub type caudal_stack_visitor =
    Option<unsafe extern "C" fn(context: *mut c_void, low: *mut c_void, high: *mut c_void, runs: i32)>;

/// A request to be submitted. Fill it with caudal_submission_init(), then set at least `handler`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct caudal_submission {
    /// Bytes of this structure as the program knows it.
    pub size: usize,
    /// Runs the request.
    pub handler: caudal_handler,
    /// The argument of the handler; it has to live until the request has ended.
    pub argument: *mut c_void,
    /// Hears how the request ended; may be null.
    pub completion: caudal_completion,
    /// The argument of the completion.
    pub completion_argument: *mut c_void,
    /// The request ends as expired if it has not started so many nanoseconds after its submission; 0: it has no deadline.
    pub deadline_ns: u64,
    /// Length of its quanta in nanoseconds, 500 to 1,000,000,000; 0: as the policy says.
    pub quantum_ns: u64,
    /// 1: never wait for room in the queue, whatever the runtime's options say.
    pub refuse_if_full: u32,
    /// 1: once started it may go on on another worker's thread, where the policy steals. A promise: wherever a probe of the handler,
    /// or of what it calls, can yield, nothing is in use that belongs to a thread, such as a thread-local or a pthread mutex.
    pub migratable: u32,
}

/// Times of a class's requests on all workers, in nanoseconds; percentiles are off by at most 1/64.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct caudal_times {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: f64,
    /// 90th percentile.
    pub p90_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// 99.9th percentile.
    pub p999_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

/// Measurements of a class since the runtime started. They are raw: stalls of the machine are not filtered out.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct caudal_class_stats {
    /// Bytes of this structure as the program knows it.
    pub size: usize,
    /// Requests that have ended after they had started.
    pub finished: u64,
    /// From arrival to start.
    pub queueing: caudal_times,
    /// On the worker.
    pub service: caudal_times,
    /// From arrival to end.
    pub sojourn: caudal_times,
}

/// Requests and threads that a shutdown could not end.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct caudal_left_behind {
    /// Requests that had started and were given up.
    pub abandoned: u64,
    /// Threads that were still in a handler, and go on until it returns.
    pub threads: u64,
}

/// A sentence for each status.
pub(crate) fn text_of(status: u32) -> &'static std::ffi::CStr {
    const TEXTS: [&std::ffi::CStr; 17] = [
        c"done",
        c"the request in which the caller runs has been cancelled",
        c"the time was over first",
        c"a null pointer, or a value out of its range",
        c"the queue is full",
        c"the runtime has stopped, or is about to",
        c"the runtime was destroyed",
        c"this process was forked from the one that has the runtime's threads",
        c"a request must not wait inside of a critical section",
        c"a request must not make this call",
        c"only a request may make this call",
        c"another thread or request is using the object",
        c"the runtime has as many classes as it can have",
        c"the policy's file cannot be read, or is refused",
        c"the operating system or the machine refused something",
        c"the caller does not have the mutex, or has it already",
        c"the library failed",
    ];
    const { assert!(TEXTS.len() == caudal_status::CAUDAL_ERROR_INTERNAL as usize + 1) };
    TEXTS.get(status as usize).copied().unwrap_or(c"an unknown status")
}
