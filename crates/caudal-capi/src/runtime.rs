//! Runtimes: created, stopped and destroyed. C programs call these functions, on any thread but a request's where a function says so.
//! The functions for requests and statistics call [`Inside::enter`] first, to get from C's pointer to the runtime.
//!
//! A program may call into a runtime while, or after, another thread of it destroys it. So what C holds is a [`caudal_runtime`]
//! that is never freed (2 KiB each), and the runtime is inside of it:
//!
//! ```text
//!  caller                                 caudal_runtime_destroy
//!  users += 1        (SeqCst)             alive := false        (SeqCst)
//!  alive?            (SeqCst)             shut down: nobody stays in a call for long
//!    no: users -= 1, "destroyed"          wait until users = 0
//!    yes: use the runtime, users -= 1     drop the runtime
//! ```
//!
//! Either the caller sees that the runtime is not alive, or the destroyer sees the caller among the users.

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use caudal_observe::Observe as _;
use caudal_rt::{
    Builder, CLASSES_MAX, ClassId, LeftBehind, OnFull, OnOverflow, OnStuck, Pinning, QUANTUM_MIN, Runtime,
    Shutdown, StartError, raw,
};

use crate::abi::caudal_status::*;
use crate::abi::*;
use crate::boundary::{Answer, Opaque, Out, SizeFirst, call, explain, read_sized, reference, span, text};

/// A running system of workers. Any thread may use it.
pub struct caudal_runtime {
    alive: AtomicBool,
    users: AtomicU64,
    /// By the number that C has: its number in the runtime, and its name.
    classes: [OnceLock<(ClassId, &'static str)>; CLASSES_MAX],
    registration: Mutex<()>,
    runtime: UnsafeCell<Option<Runtime>>,
}

// SAFETY: the runtime inside is shared by reference while there are users, and taken out by one destroyer when there are none.
unsafe impl Sync for caudal_runtime {}

/// All runtimes that were ever made, so that leak checkers find them reachable.
static ALL: Mutex<Vec<&'static caudal_runtime>> = Mutex::new(Vec::new());

// SAFETY: its first field is its size; of the others, integers and pointers, none is ever invalid as zeros.
unsafe impl SizeFirst for caudal_options {}

/// A caller inside of a runtime.
pub(crate) struct Inside<'a>(&'a caudal_runtime);

impl<'a> Inside<'a> {
    /// # Safety
    /// `runtime` is null or from [`caudal_runtime_create`].
    pub(crate) unsafe fn enter(runtime: *const caudal_runtime) -> Result<Inside<'a>, caudal_status> {
        // SAFETY: as the caller says; these are never freed.
        let this: &caudal_runtime = unsafe { reference(runtime)? };
        this.users.fetch_add(1, SeqCst);
        let inside = Inside(this);
        if this.alive.load(SeqCst) { Ok(inside) } else { Err(CAUDAL_ERROR_DESTROYED) }
    }

    pub(crate) fn runtime(&self) -> Result<&Runtime, caudal_status> {
        // SAFETY: while this user is counted nobody takes the runtime out.
        unsafe { &*self.0.runtime.get() }.as_ref().ok_or(CAUDAL_ERROR_DESTROYED)
    }

    /// The class that C knows by this number, and its name.
    pub(crate) fn class(&self, number: caudal_class) -> Result<(ClassId, &'static str), caudal_status> {
        let known = self.0.classes.get(number as usize).and_then(OnceLock::get);
        known.copied().ok_or(CAUDAL_ERROR_ARGUMENT)
    }

    fn register(&self, name: &str) -> Result<caudal_class, caudal_status> {
        let class = self.runtime()?.class(name).map_err(|_| CAUDAL_ERROR_CLASSES)?;
        let _one_at_a_time = self.0.registration.lock().unwrap_or_else(PoisonError::into_inner);
        let free = |slot: &OnceLock<(ClassId, _)>| slot.get().is_none_or(|known| known.0 == class);
        let number = self.0.classes.iter().position(free).ok_or(CAUDAL_ERROR_CLASSES)?;
        self.0.classes[number].get_or_init(|| (class, String::from(name).leak()));
        Ok(number as caudal_class)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Release);
    }
}

/// The version of the library that runs: a CAUDAL_ABI_VERSION. Any thread, any time.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_abi_version() -> u32 {
    CAUDAL_ABI_VERSION
}

/// The meaning of a status, in a sentence; for a value that is no status, that it is unknown. Any thread; the text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn caudal_status_text(status: u32) -> *const c_char {
    crate::abi::text_of(status).as_ptr()
}

/// Starts the system that the policy file at `path` describes (see docs/reference/file-format.md), and stores it in `*out`.
/// `options` may be null. On failure `*out` is null, and `*error`, which may be null, says what is wrong and what would be right.
///
/// Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_POLICY, if the file cannot be read or is refused; CAUDAL_ERROR_SYSTEM, if the
/// machine has too few cores or refuses threads or memory; CAUDAL_ERROR_FORKED.
/// Ownership: the caller owns the runtime, and ends it with caudal_runtime_destroy(). Path and options may go when the call returns.
/// Threads: any but a request's (CAUDAL_ERROR_IN_REQUEST).
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_create(
    path: *const c_char,
    options: *const caudal_options,
    out: *mut *mut caudal_runtime,
    error: *mut caudal_error,
) -> caudal_status {
    let body = || {
        let out = Out::of(out).map_err(|status| (status, "out is null".to_owned()))?;
        // SAFETY: as the caller says.
        unsafe { out.put(std::ptr::null_mut()) };
        // SAFETY: as the caller says.
        let made = unsafe { create(path, options) }?;
        // SAFETY: as above.
        unsafe { out.put(std::ptr::from_ref(made).cast_mut()) };
        Ok(())
    };
    call(|| {
        body().map_err(|(status, message): (caudal_status, String)| {
            // SAFETY: as the caller says.
            unsafe { explain(error, status, &message) };
            status
        })
    })
}

/// # Safety
/// As for [`caudal_runtime_create`].
unsafe fn create(
    path: *const c_char,
    options: *const caudal_options,
) -> Result<&'static caudal_runtime, (caudal_status, String)> {
    if raw::is_in_request() {
        return Err((CAUDAL_ERROR_IN_REQUEST, "a request cannot start a runtime".to_owned()));
    }
    // SAFETY: as the caller says.
    let path = unsafe { text(path) }.map_err(|status| (status, "path is null, or not UTF-8".to_owned()))?;
    let mut builder = Runtime::builder(path).map_err(|error| explained(&error))?.observed();
    if !options.is_null() {
        // SAFETY: as the caller says.
        let options = unsafe { read_sized(options) }.map_err(|status| (status, BAD_SIZE.to_owned()))?;
        builder = apply(builder, &options).map_err(|what| (CAUDAL_ERROR_ARGUMENT, what.to_owned()))?;
    }
    let runtime = builder.start().map_err(|error| explained(&error))?;
    let made: &'static caudal_runtime = Box::leak(Box::new(caudal_runtime {
        alive: AtomicBool::new(true),
        users: AtomicU64::new(0),
        classes: [const { OnceLock::new() }; CLASSES_MAX],
        registration: Mutex::new(()),
        runtime: UnsafeCell::new(Some(runtime)),
    }));
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(made);
    Ok(made)
}

const BAD_SIZE: &str = "options: fill the structure with caudal_options_init() first; fields that this library does not know must be 0";

fn explained(error: &StartError) -> (caudal_status, String) {
    let status = match error {
        StartError::Config(_) | StartError::Systems { .. } => CAUDAL_ERROR_POLICY,
        StartError::Setting { .. } => CAUDAL_ERROR_ARGUMENT,
        StartError::Forked => CAUDAL_ERROR_FORKED,
        _ => CAUDAL_ERROR_SYSTEM,
    };
    // A message may hide its causes.
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !message.contains(&inner_text) {
            message.push_str(": ");
            message.push_str(&inner_text);
        }
        cause = inner.source();
    }
    (status, message)
}

/// The builder with what the options say.
fn apply(mut builder: Builder, options: &caudal_options) -> Result<Builder, &'static str> {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    if options.workers != 0 {
        builder = builder.workers(options.workers as usize);
    }
    builder = builder.pinning(match options.pinning {
        0 => Pinning::Cores,
        1 => Pinning::None,
        _ => return Err("options.pinning: write a caudal_pinning"),
    });
    builder = builder.on_full(match options.on_full {
        0 => OnFull::Wait,
        1 => OnFull::Refuse,
        _ => return Err("options.on_full: write a caudal_on_full"),
    });
    builder = builder.on_overflow(match options.on_overflow {
        0 => OnOverflow::Abort,
        1 => OnOverflow::Abandon,
        _ => return Err("options.on_overflow: write a caudal_on_overflow"),
    });
    if options.stack_bytes != 0 {
        builder = builder.stack_bytes(number(options.stack_bytes));
    }
    if options.stacks_max != 0 {
        builder = builder.stacks_max(number(options.stacks_max));
    }
    if (options.queue_of_worker, options.queue_of_dispatcher) != (0, 0) {
        let or = |value: u64, default| if value == 0 { default } else { number(value) };
        builder =
            builder.queues(or(options.queue_of_worker, 1 << 10), or(options.queue_of_dispatcher, 1 << 14));
    }
    type Set = fn(Builder, Duration) -> Builder;
    let times: [(u64, Set); 3] = [
        (options.spin_ns, Builder::spin),
        (options.stuck_after_ns, Builder::stuck_after),
        (options.shutdown_bound_ns, Builder::shutdown_bound),
    ];
    for (ns, set) in times {
        if ns != 0 {
            builder = set(builder, span(ns).unwrap_or(Duration::MAX));
        }
    }
    builder = builder.on_stuck(match options.on_stuck {
        0 => OnStuck::Report,
        1 => OnStuck::Dump,
        _ => return Err("options.on_stuck: write a caudal_on_stuck"),
    });
    builder = builder.raise_flags(match options.raise_flags {
        0 => false,
        1 => true,
        _ => return Err("options.raise_flags: write 0 or 1"),
    });
    if options.seed != 0 {
        builder = builder.seed(options.seed);
    }
    let context = Opaque(options.worker_context);
    if let Some(starts) = options.worker_starts {
        // SAFETY: the program's function, with what the program gave for it.
        builder = builder.on_worker_start(move |worker| unsafe { starts(context.get(), worker as u32) });
    }
    if let Some(stops) = options.worker_stops {
        // SAFETY: as above.
        builder = builder.on_worker_stop(move |worker| unsafe { stops(context.get(), worker as u32) });
    }
    Ok(builder)
}

/// Stores the class with this name in `*out`; the first call for a name makes it. Latencies are measured for each class.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_CLASSES, CAUDAL_ERROR_DESTROYED.
/// Ownership: the name may go when the call returns. Threads: any.
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_class(
    runtime: *mut caudal_runtime,
    name: *const c_char,
    out: *mut caudal_class,
) -> caudal_status {
    call(|| {
        let out = Out::of(out)?;
        // SAFETY: as the caller says.
        let (inside, name) = unsafe { (Inside::enter(runtime)?, text(name)?) };
        let class = inside.register(name)?;
        // SAFETY: as the caller says.
        unsafe { out.put(class) };
        Ok(())
    })
}

/// Stores the number of workers in `*out`.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_workers(
    runtime: *mut caudal_runtime,
    out: *mut usize,
) -> caudal_status {
    call(|| {
        let out = Out::of(out)?;
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        // SAFETY: as the caller says.
        unsafe { out.put(inside.runtime()?.workers()) };
        Ok(())
    })
}

/// From now on quanta are so many nanoseconds long, at least 500, whatever the policy's file says.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
///
/// # Safety
/// `runtime` is null or from caudal_runtime_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_set_quantum(
    runtime: *mut caudal_runtime,
    quantum_ns: u64,
) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        let quantum = Duration::from_nanos(quantum_ns);
        if quantum < QUANTUM_MIN || quantum_ns == CAUDAL_FOREVER {
            return Err(CAUDAL_ERROR_ARGUMENT);
        }
        inside.runtime()?.set_quantum(quantum);
        Ok(())
    })
}

/// Stops the runtime: it accepts no more requests, its requests run to their end or are ended (`mode`, a caudal_shutdown), and its
/// threads end. The call returns when all this has happened, or the bound of the options has passed. Requests and threads that could not be
/// ended are counted in `*left`, which may be null. The outcomes of a stopped runtime's requests can still be asked for; a second shutdown does nothing.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_FORKED, CAUDAL_ERROR_IN_REQUEST. Threads: any but a request's.
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_shutdown(
    runtime: *mut caudal_runtime,
    mode: u32,
    left: *mut caudal_left_behind,
) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        if raw::is_in_request() {
            return Err(CAUDAL_ERROR_IN_REQUEST);
        }
        if inside.runtime()?.is_forked() {
            return Err(CAUDAL_ERROR_FORKED);
        }
        let how = match mode {
            0 => Shutdown::Drain,
            1 => Shutdown::Cancel,
            _ => return Err(CAUDAL_ERROR_ARGUMENT),
        };
        let what = inside.runtime()?.shutdown(how);
        // SAFETY: as the caller says.
        unsafe { tell_left(left, what) };
        Ok(())
    })
}

/// # Safety
/// `left` is null or may be written.
unsafe fn tell_left(left: *mut caudal_left_behind, what: LeftBehind) {
    if let Ok(out) = Out::of(left) {
        // SAFETY: as the caller says.
        unsafe { out.put(caudal_left_behind { abandoned: what.abandoned, threads: what.threads as u64 }) };
    }
}

/// Stops the runtime as caudal_runtime_shutdown() with CAUDAL_SHUTDOWN_DRAIN does, and frees what it has. Calls that other threads
/// make meanwhile, or later, answer CAUDAL_ERROR_DESTROYED, or CAUDAL_ERROR_STOPPED. Requests that the program has not released
/// stay valid. In a forked child it frees nothing, and is not an error.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_IN_REQUEST. Threads: any but a request's.
///
/// # Safety
/// `runtime` is null or from caudal_runtime_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_destroy(runtime: *mut caudal_runtime) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        if raw::is_in_request() {
            return Err(CAUDAL_ERROR_IN_REQUEST);
        }
        let this = inside.0;
        if !this.alive.swap(false, SeqCst) {
            return Err(CAUDAL_ERROR_DESTROYED);
        }
        if inside.runtime()?.is_forked() {
            // Its users are threads that do not exist here; so are the locks that they may have held.
            return Ok(());
        }
        inside.runtime()?.shutdown(Shutdown::Drain);
        drop(inside);
        this.free()
    })
}

impl caudal_runtime {
    /// After the shutdown: waits for those who are in a call, then drops what is left.
    fn free(&self) -> Answer {
        while self.users.load(Acquire) != 0 {
            raw::pause(Duration::from_micros(50));
        }
        // SAFETY: not alive and without users, so nobody has a reference to it, and only one thread has ended its life.
        drop(unsafe { (*self.runtime.get()).take() });
        Ok(())
    }
}
