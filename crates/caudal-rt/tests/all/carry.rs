//! State that goes with requests: each has its own, however often its worker goes from one to another.
//!
//! What is registered stays so for the process, the others of this binary's tests included: they have to bear it.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use caudal_rt::{Runtime, carry, stack, sync, yield_now};
use tracing::{info, info_span};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::common::{all, probes, runtime};

const TIMES: u64 = 300;

fn one_worker() -> Runtime {
    runtime(1, false, |b| b)
}

/// Runs two requests that yield to each other; each is told its number, 1 or 2.
fn two(body: impl Fn(u64) + Send + Sync + 'static) {
    let runtime = one_worker();
    let class = runtime.class("carried").unwrap();
    let body = Arc::new(body);
    let handles = [1, 2].map(|number| {
        let body = Arc::clone(&body);
        runtime.submit(class, move || body(number)).unwrap()
    });
    all(handles.into());
}

thread_local! {
    static TENANT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    static WORD: Cell<u64> = const { Cell::new(0) };
    static LATE: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn a_cell_has_a_value_for_each_request() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| carry::cell(&TENANT, (7, 7)).unwrap());
    two(|number| {
        assert_eq!(TENANT.get(), (7, 7), "nobody's value is left");
        for iteration in 0..TIMES {
            TENANT.set((number, iteration));
            yield_now();
            probes(20);
            assert_eq!(TENANT.get(), (number, iteration));
        }
    });
}

#[test]
fn a_word_has_a_value_for_each_request() {
    unsafe extern "C" fn address() -> *mut u64 {
        WORD.with(Cell::as_ptr)
    }
    // SAFETY: the thread-local is this thread's, and only this test's.
    unsafe { carry::word(address, 9) }.unwrap();
    two(|number| {
        assert_eq!(WORD.get(), 9, "nobody's value is left");
        for iteration in 0..TIMES {
            WORD.set(number << 32 | iteration);
            yield_now();
            assert_eq!(WORD.get(), number << 32 | iteration);
        }
    });
}

/// A request that was set aside before the place was registered had nothing in it.
/// Two libraries may register the same place.
#[test]
fn a_place_that_is_registered_twice_has_a_value_for_each_request() {
    thread_local!(static TWICE: Cell<u64> = const { Cell::new(0) });
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| (0..2).for_each(|_| carry::cell(&TWICE, 0).unwrap()));
    two(|number| {
        for _ in 0..TIMES {
            TWICE.set(number);
            yield_now();
            assert_eq!(TWICE.get(), number);
        }
    });
}

/// The functions that run when a request begins are not interrupted either.
#[test]
fn hooks_are_called_in_a_critical_section() {
    static OUTSIDE: AtomicU64 = AtomicU64::new(0);
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    fn look() {
        OUTSIDE.fetch_add(u64::from(caudal_probe::critical_depth() == 0), Ordering::Relaxed);
    }
    unsafe extern "C" fn moves(_: *mut std::ffi::c_void, _: *mut std::ffi::c_void) {
        look();
    }
    unsafe extern "C" fn begins(_: *mut std::ffi::c_void) {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        look();
    }
    static ONCE: OnceLock<()> = OnceLock::new();
    let hooks = carry::Hooks { leave: moves, enter: moves, begin: begins, context: std::ptr::null_mut() };
    // SAFETY: the functions touch atomics.
    ONCE.get_or_init(|| unsafe { carry::hooks(hooks) }.unwrap());
    two(|_| (0..TIMES).for_each(|_| yield_now()));
    assert!(BEGUN.load(Ordering::Relaxed) > 1);
    assert_eq!(OUTSIDE.load(Ordering::Relaxed), 0);
}

#[test]
fn places_can_be_registered_while_requests_are_set_aside() {
    let runtime = one_worker();
    let class = runtime.class("carried").unwrap();
    let (registered, is_registered) = sync::oneshot::channel();
    let waits = runtime
        .submit(class, move || {
            is_registered.recv().unwrap();
            LATE.get()
        })
        .unwrap();
    // There is one worker: when this one has run, the first one waits.
    all(vec![runtime.submit(class, || ()).unwrap()]);
    carry::cell(&LATE, 5).unwrap();
    let other = runtime.submit(class, || {
        LATE.set(6);
        yield_now();
        LATE.get()
    });
    assert_eq!(other.unwrap().wait().unwrap(), 6);
    registered.send(()).unwrap();
    assert_eq!(waits.wait().unwrap(), 5, "not another request's");
    assert_eq!(runtime.submit(class, || LATE.get()).unwrap().wait().unwrap(), 5);
}

fn decimal_point() -> char {
    // SAFETY: the structure is the C library's, and read before anybody changes the locale.
    let point = unsafe { CStr::from_ptr((*libc::localeconv()).decimal_point) };
    char::from(point.to_bytes()[0])
}

/// The second request sets the process's locale, so that each would see what the other has set.
#[test]
fn a_locale_is_the_requests() {
    carry::locale().unwrap();
    carry::locale().unwrap();
    two(|number| {
        // SAFETY: 0 asks.
        let global = unsafe { libc::uselocale(std::ptr::null_mut()) };
        let name = CString::new("C").unwrap();
        // SAFETY: the name is a C string.
        let own = unsafe { libc::newlocale(libc::LC_ALL_MASK, name.as_ptr(), std::ptr::null_mut()) };
        assert!(!own.is_null());
        let set = if number == 1 { own } else { global };
        // SAFETY: the locale lives until the end of this request.
        unsafe { libc::uselocale(set) };
        for _ in 0..TIMES {
            yield_now();
            // SAFETY: 0 asks.
            assert_eq!(unsafe { libc::uselocale(std::ptr::null_mut()) }, set);
            assert_eq!(decimal_point(), '.');
        }
        // SAFETY: nobody uses it any more.
        unsafe {
            libc::uselocale(global);
            libc::freelocale(own);
        }
    });
}

static IN_THEIR_OWN: AtomicU64 = AtomicU64::new(0);
static IN_ANOTHER: Mutex<Vec<(u64, Vec<String>)>> = Mutex::new(Vec::new());

/// Looks whether each event is in the spans of its own request.
struct Check;

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Check {
    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        struct Who(Option<u64>);
        impl tracing::field::Visit for Who {
            fn record_u64(&mut self, _: &tracing::field::Field, value: u64) {
                self.0 = Some(value);
            }

            fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn std::fmt::Debug) {}
        }
        let mut who = Who(None);
        event.record(&mut who);
        let Some(who) = who.0 else { return };
        let spans: Vec<String> = context
            .event_scope(event)
            .map(|scope| scope.map(|span| span.name().to_owned()).collect())
            .unwrap_or_default();
        let expected: &[&str] = match who {
            0 => &[],
            1 => &["inner", "first"],
            2 => &["inner", "second"],
            _ => &["second"],
        };
        if spans == expected {
            IN_THEIR_OWN.fetch_add(1, Ordering::Relaxed);
        } else {
            IN_ANOTHER.lock().unwrap().push((who, spans));
        }
    }
}

#[test]
fn spans_are_the_requests() {
    let subscriber = tracing_subscriber::registry().with(Check);
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let before = IN_THEIR_OWN.load(Ordering::Relaxed);
    two(|number| {
        for _ in 0..TIMES {
            info!(who = 0_u64);
            let span = if number == 1 { info_span!("first") } else { info_span!("second") };
            let entered = span.enter();
            yield_now();
            {
                let _inner = info_span!("inner").entered();
                // Again, as a recursive function does.
                let _again = span.enter();
                yield_now();
            }
            let inner = info_span!("inner").entered();
            yield_now();
            info!(who = number);
            drop(inner);
            if number == 2 {
                info!(who = 3_u64);
            }
            drop(entered);
        }
    });
    // One that is never left is not the next request's.
    let runtime = one_worker();
    let class = runtime.class("carried").unwrap();
    let forgets = || std::mem::forget(info_span!("forgotten").entered());
    all(vec![runtime.submit(class, forgets).unwrap()]);
    all(vec![runtime.submit(class, || info!(who = 0_u64)).unwrap()]);
    assert_eq!(*IN_ANOTHER.lock().unwrap(), []);
    assert_eq!(IN_THEIR_OWN.load(Ordering::Relaxed) - before, TIMES * 5 + 1);
}

/// The page's table of libraries says by which test each line is shown: there is such a test.
#[test]
fn the_tables_tests_are_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let page = read("docs/background/preemption-safety.md");
    let shown = page.split('`').filter_map(|code| code.split_once(".rs::"));
    let mut count = 0;
    for (file, test) in shown {
        let source = read(&format!("crates/{file}.rs"));
        // A function, or a row of a table of cases.
        let is_there = source.contains(&format!("fn {test}(")) || source.contains(&format!(" {test}: \""));
        assert!(is_there, "{file}.rs has no test {test}");
        count += 1;
    }
    assert!(count >= 12, "{count} tests");
}

/// In a process of its own, where no other test has coroutines.
#[test]
fn every_stack_is_found() {
    crate::passes(crate::child(module_path!(), "stacks_of_this_process").env("CAUDAL_TEST_STACKS", "1"));
}

#[test]
fn stacks_of_this_process() {
    if std::env::var_os("CAUDAL_TEST_STACKS").is_none() {
        return;
    }
    const SUSPENDED: usize = 600;
    let runtime = one_worker();
    let class = runtime.class("carried").unwrap();
    let gate = Arc::new(sync::Semaphore::new(0));
    let (told, addresses) = std::sync::mpsc::channel();
    let handles: Vec<_> = (0..SUSPENDED)
        .map(|_| {
            let (gate, told) = (Arc::clone(&gate), told.clone());
            runtime.submit(class, move || {
                let local = 0_u64;
                told.send(std::ptr::from_ref(std::hint::black_box(&local)) as usize).unwrap();
                gate.acquire().forget();
            })
        })
        .map(Result::unwrap)
        .collect();
    let locals: Vec<usize> = addresses.iter().take(SUSPENDED).collect();
    // By a request: its worker, the only one, stands still meanwhile.
    let looks = runtime.submit(class, move || {
        let here = 0_u64;
        let here = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
        let mut found = Vec::new();
        // SAFETY: the only worker runs this.
        unsafe { stack::each(|stack| found.push(stack)) };
        (here, found)
    });
    let (here, found) = looks.unwrap().wait().unwrap();
    let running: Vec<_> = found.iter().filter(|stack| stack.runs).collect();
    // What it had in use when it went on: it is below that now, on the same stack.
    let below = running[0].addresses.start.wrapping_sub(here);
    assert!(running.len() == 1 && below < 64 << 10, "{here:#x}: {running:?}");
    for local in locals {
        let of: Vec<_> = found.iter().filter(|stack| stack.addresses.contains(&local)).collect();
        assert!(of.len() == 1 && !of[0].runs, "{local:#x}: {of:?}");
        assert!(of[0].addresses.len() < 16 << 10, "only what is in use: {of:?}");
    }
    let starts: HashSet<usize> = found.iter().map(|stack| stack.addresses.start).collect();
    assert_eq!(starts.len(), found.len(), "each once");
    gate.add(SUSPENDED as u32);
    all(handles);
    drop(runtime);
    let mut left = 0;
    // SAFETY: there is no worker.
    unsafe { stack::each(|_| left += 1) };
    assert_eq!(left, 0, "they are gone with their runtime");
}

#[test]
fn workers_say_when_they_begin_and_end() {
    let begun = Arc::new(Mutex::new(Vec::new()));
    let (starts, stops) = (Arc::clone(&begun), Arc::clone(&begun));
    let runtime = runtime(2, false, move |b| {
        b.on_worker_start(move |worker| starts.lock().unwrap().push((worker, std::thread::current().id(), 1)))
            .on_worker_stop(move |worker| {
                stops.lock().unwrap().push((worker, std::thread::current().id(), -1));
            })
    });
    let class = runtime.class("carried").unwrap();
    all((0..4).map(|_| runtime.submit(class, || ()).unwrap()).collect());
    assert_eq!(begun.lock().unwrap().len(), 2);
    drop(runtime);
    let begun = begun.lock().unwrap();
    for worker in 0..2 {
        let of: Vec<_> = begun.iter().filter(|(number, ..)| *number == worker).collect();
        assert!(matches!(of[..], [(_, on, 1), (_, also_on, -1)] if on == also_on), "{of:?}");
    }
}
