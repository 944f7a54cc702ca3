//! What goes wrong when code that was written for threads is pre-empted, and that what `docs/guides/locks-and-preemption.md`
//! advises does not.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::{Failure, Runtime, no_preempt, sync};

use crate::common::{self, LibrarysLock, probes, runtime};

fn one_worker() -> Runtime {
    let runtime = runtime(1, true, |b| b.stuck_after(Duration::from_millis(20)));
    runtime.set_quantum(Duration::from_micros(1));
    runtime
}

/// How far two requests of one worker are.
#[derive(Default)]
struct Turns {
    begun: AtomicBool,
    submitted: AtomicBool,
    second_has_run: AtomicBool,
}

impl Turns {
    /// The first one, where it wants to be disturbed: until the second one has run.
    fn until_the_second_has_run(&self) {
        self.begun.store(true, Ordering::Relaxed);
        while !self.second_has_run.load(Ordering::Relaxed) {
            probes(1);
        }
    }

    /// The first one, where it wants not to be: for many quanta after the second one was submitted.
    fn for_long(&self) {
        self.begun.store(true, Ordering::Relaxed);
        while !self.submitted.load(Ordering::Relaxed) {
            probes(1);
        }
        probes(20_000);
    }
}

/// Submits `first`, and `second` once that has begun; what they return.
fn one_after_the_other<A: Send + 'static, B: Send + 'static>(
    runtime: &Runtime,
    first: impl FnOnce(&Turns) -> A + Send + 'static,
    second: impl FnOnce(&Turns) -> B + Send + 'static,
) -> (Result<A, Failure>, Result<B, Failure>) {
    let classes = [runtime.class("first").unwrap(), runtime.class("second").unwrap()];
    let turns = Arc::new(Turns::default());
    let (of_first, of_second) = (Arc::clone(&turns), Arc::clone(&turns));
    let first = runtime.submit(classes[0], move || first(&of_first)).unwrap();
    while !turns.begun.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let ran = move || {
        let result = second(&of_second);
        of_second.second_has_run.store(true, Ordering::Relaxed);
        result
    };
    let second = runtime.submit(classes[1], ran).unwrap();
    turns.submitted.store(true, Ordering::Relaxed);
    (first.wait(), second.wait())
}

const CHILD: &str = "CAUDAL_TEST_HAZARD";

/// Not a test by itself: the child process of the next one. Its worker never comes back.
#[test]
fn child_that_shares_a_lock_of_a_library() {
    static LOCK: LibrarysLock = LibrarysLock::new();
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = one_worker();
    let first = |turns: &Turns| {
        LOCK.lock();
        turns.until_the_second_has_run();
        LOCK.unlock();
    };
    let second = |turns: &Turns| {
        // The first one goes on if this one can wait for the lock.
        turns.second_has_run.store(true, Ordering::Relaxed);
        LOCK.lock();
        LOCK.unlock();
    };
    let _ = one_after_the_other(&runtime, first, second);
    eprintln!("both have ended");
}

#[test]
fn a_lock_of_a_library_that_nobody_instrumented_stops_the_worker_and_the_watchdog_says_so() {
    let mut child = crate::child(module_path!(), "child_that_shares_a_lock_of_a_library")
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let said: Vec<String> = lines
        .inspect(|line| assert_ne!(line, "both have ended", "the hazard is gone: change the guide"))
        .take_while(|line| !line.contains("worker 0 has been in one request of class `second`"))
        .collect();
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(running, "it said {said:?}, and not that its worker is stuck");
}

#[test]
fn a_lock_of_this_crate_lets_the_first_one_go_on() {
    let runtime = one_worker();
    let mutex = Arc::new(sync::Mutex::new(0));
    let other = Arc::clone(&mutex);
    let first = move |turns: &Turns| {
        let mut guard = mutex.lock();
        turns.until_the_second_has_run();
        *guard += 1;
    };
    let second = move |turns: &Turns| {
        turns.second_has_run.store(true, Ordering::Relaxed);
        *other.lock()
    };
    let (first, second) = one_after_the_other(&runtime, first, second);
    first.unwrap();
    assert_eq!(second.unwrap(), 1, "the second one has waited");
}

#[test]
fn a_request_that_unwinds_keeps_its_worker() {
    static DROPPING: AtomicBool = AtomicBool::new(false);
    struct Slow<'a>(&'a Turns);
    impl Drop for Slow<'_> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            DROPPING.store(true, Ordering::Relaxed);
            self.0.for_long();
            DROPPING.store(false, Ordering::Relaxed);
        }
    }
    let runtime = one_worker();
    let first = |turns: &Turns| -> () {
        let _slow = Slow(turns);
        std::panic::resume_unwind(Box::new(()))
    };
    let second = |_: &Turns| (DROPPING.load(Ordering::Relaxed), std::thread::panicking());
    let (first, second) = one_after_the_other(&runtime, first, second);
    assert!(first.is_err());
    assert_eq!(
        second.unwrap(),
        (false, false),
        "it has run after the Drop, and does not find itself panicking"
    );
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn a_thread_local_that_is_borrowed_over_a_yield_is_borrowed_for_others() {
    let runtime = one_worker();
    let first = |turns: &Turns| BUFFER.with_borrow_mut(|_| turns.until_the_second_has_run());
    let second = |_: &Turns| BUFFER.with(|buffer| buffer.try_borrow_mut().is_err());
    let (first, second) = one_after_the_other(&runtime, first, second);
    first.unwrap();
    assert!(second.unwrap(), "the hazard is gone: change the guide");
    let first = |turns: &Turns| no_preempt(|| BUFFER.with_borrow_mut(|_| turns.for_long()));
    let second = |_: &Turns| BUFFER.with(|buffer| buffer.try_borrow_mut().is_ok());
    let (first, second) = one_after_the_other(&runtime, first, second);
    first.unwrap();
    assert!(second.unwrap(), "a critical section keeps others out");
}

#[test]
fn a_lock_that_a_thread_may_take_twice_lets_two_requests_in() {
    static INSIDE: AtomicU64 = AtomicU64::new(0);
    fn locked(work: impl FnOnce()) -> u64 {
        let _lock = std::io::stdout().lock();
        let inside = INSIDE.fetch_add(1, Ordering::Relaxed) + 1;
        work();
        INSIDE.fetch_sub(1, Ordering::Relaxed);
        inside
    }
    let runtime = one_worker();
    let first = |turns: &Turns| locked(|| turns.until_the_second_has_run());
    let (first, second) = one_after_the_other(&runtime, first, |_| locked(|| ()));
    assert_eq!((first.unwrap(), second.unwrap()), (1, 2), "the hazard is gone: change the guide");
    let first = |turns: &Turns| no_preempt(|| locked(|| turns.for_long()));
    let (first, second) = one_after_the_other(&runtime, first, |_| no_preempt(|| locked(|| ())));
    assert_eq!((first.unwrap(), second.unwrap()), (1, 1), "a critical section keeps others out");
}

/// The rounding mode belongs to the request, at waits as at probes, and the next one begins with the default.
#[test]
fn the_rounding_mode_goes_with_its_request() {
    /// 1/3 as it comes out, in SSE registers. Not inlined: a division could move past the change of the mode.
    #[inline(never)]
    fn third() -> f64 {
        std::hint::black_box(1.0) / std::hint::black_box(3.0)
    }

    /// # Safety
    /// Of the bits of MXCSR, 13 and 14 may be set besides those of the default.
    unsafe fn set_rounding(mode: u32) {
        let mxcsr = 0x1F80_u32 | mode << 13;
        // SAFETY: as the caller says, no exception is unmasked.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, readonly)) };
    }

    let runtime = one_worker();
    let class = runtime.class("rounds").unwrap();
    let nearest = third();
    // Down, up: one of them differs from the nearest.
    let handles = [1, 2, 1, 2].map(|mode| {
        let rounds = move || {
            let first = third();
            // SAFETY: one of the four modes.
            unsafe { set_rounding(mode) };
            let own = third();
            for iteration in 0..2_000 {
                match iteration % 3 {
                    0 => caudal_rt::yield_now(),
                    1 => common::probes(40),
                    _ => drop(caudal_rt::sync::Semaphore::new(0).acquire_timeout(1, Duration::from_nanos(1))),
                }
                assert_eq!(third().to_bits(), own.to_bits(), "mode {mode}, iteration {iteration}");
            }
            (mode, first, own)
        };
        runtime.submit(class, rounds).unwrap()
    });
    for (mode, first, own) in handles.map(|handle| handle.wait().unwrap()) {
        assert_eq!(first.to_bits(), nearest.to_bits(), "a request begins with the default");
        let expected = if mode == 1 { nearest.min(own) } else { nearest.max(own) };
        assert_eq!(own.to_bits(), expected.to_bits());
    }
    let differs = runtime.submit(class, || {
        // SAFETY: upwards.
        unsafe { set_rounding(2) };
        third()
    });
    assert_ne!(differs.unwrap().wait().unwrap().to_bits(), nearest.to_bits(), "the mode changes something");
    assert_eq!(runtime.submit(class, third).unwrap().wait().unwrap().to_bits(), nearest.to_bits());
}
