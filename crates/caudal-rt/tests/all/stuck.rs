//! The watchdog says where a stuck worker is, and what it has asked goes on as if nobody had.
//!
//! Stuck handlers run in a child: this binary again, with the name of one of its tests. The parent lets them go on when it has
//! read where they are.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use caudal_rt::{OnStuck, Pinning, Runtime};

use crate::common::{LibrarysLock, Policy, builder_of, runtime};

const CHILD: &str = "CAUDAL_TEST_STUCK";

/// How a handler blocks its thread.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cause {
    Lock,
    Read,
    Sleep,
    Spin,
}

const CAUSES: [Cause; 4] = [Cause::Lock, Cause::Read, Cause::Sleep, Cause::Spin];

static LOCK: LibrarysLock = LibrarysLock::new();

#[inline(never)]
fn stuck_in_a_lock() -> u64 {
    LOCK.lock();
    LOCK.unlock();
    1
}

/// The system call itself: `std` would repeat one that a signal has interrupted.
#[inline(never)]
fn stuck_in_a_read() -> u64 {
    let mut byte = 0_u8;
    // SAFETY: a byte is read into a byte.
    let read = unsafe { libc::read(libc::STDIN_FILENO, (&raw mut byte).cast(), 1) };
    assert_eq!(read, 1, "{}", std::io::Error::last_os_error());
    u64::from(byte == b'g')
}

#[inline(never)]
fn stuck_in_a_sleep(over: &AtomicBool) -> u64 {
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(30));
    }
    1
}

#[inline(never)]
fn stuck_in_a_loop(over: &AtomicBool) -> u64 {
    let mut iterations = 0_u64;
    while !over.load(Ordering::Relaxed) {
        iterations += 1;
    }
    iterations.min(1)
}

fn in_words(cause: Cause) -> &'static str {
    match cause {
        Cause::Lock => "stuck_in_a_lock",
        Cause::Read => "stuck_in_a_read",
        Cause::Sleep => "stuck_in_a_sleep",
        Cause::Spin => "stuck_in_a_loop",
    }
}

/// Text of the first line about it.
fn call_of(cause: Cause) -> &'static str {
    match cause {
        Cause::Lock => "sleeps in `futex`",
        Cause::Read => "sleeps in `read`",
        Cause::Sleep => "sleeps in `clock_nanosleep`",
        Cause::Spin => "a loop without a probe?",
    }
}

fn one_worker(on_stuck: OnStuck) -> Runtime {
    runtime(1, true, |b| b.stuck_after(Duration::from_millis(20)).on_stuck(on_stuck))
}

/// Not a test by itself: the child process of the next one.
#[test]
fn child_with_a_stuck_worker() {
    let asked = std::env::var(CHILD).unwrap_or_default();
    let Some(cause) = CAUSES.into_iter().find(|cause| format!("{cause:?}") == asked) else { return };
    let runtime = one_worker(OnStuck::Dump);
    let class = runtime.class("waits").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    LOCK.lock();
    let over_of_handler = Arc::clone(&over);
    let handler = move || match cause {
        Cause::Lock => stuck_in_a_lock(),
        Cause::Read => stuck_in_a_read(),
        Cause::Sleep => stuck_in_a_sleep(&over_of_handler),
        Cause::Spin => stuck_in_a_loop(&over_of_handler),
    };
    let handle = runtime.submit(class, handler).unwrap();
    if cause != Cause::Read {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
    }
    LOCK.unlock();
    over.store(true, Ordering::Relaxed);
    println!("went on: {}", handle.wait().unwrap());
    // The worker serves the next one.
    println!("and on: {}", runtime.submit(class, || 7).unwrap().wait().unwrap());
}

fn child(cause: Cause) -> std::process::Child {
    crate::child(module_path!(), "child_with_a_stuck_worker")
        .env(CHILD, format!("{cause:?}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_stuck_worker_says_where_it_is_and_goes_on() {
    for cause in CAUSES {
        let mut child = child(cause);
        let mut said = String::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            said += &format!("{}\n", line.unwrap());
            // The first two are no good, but the last word.
            let ends = ["does not say where it is", "is no longer in that request", in_words(cause)];
            if ends.into_iter().any(|end| said.contains(end)) {
                break;
            }
        }
        assert!(said.contains("worker 0 has been in one request of class `waits`"), "{cause:?}: {said}");
        // Between two sleeps it does not sleep.
        let says_call =
            said.contains(call_of(cause)) || cause == Cause::Sleep && said.contains(call_of(Cause::Spin));
        assert!(says_call, "{cause:?}: {said}");
        assert!(said.contains("where worker 0 is, in class `waits` for "), "{cause:?}: {said}");
        assert!(said.contains(in_words(cause)), "{cause:?}: {said}");
        child.stdin.take().unwrap().write_all(b"go on\n").unwrap();
        let mut printed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert!(printed.contains("went on: 1\n") && printed.contains("and on: 7\n"), "{cause:?}: {printed}");
        assert!(child.wait().unwrap().success(), "{cause:?}: {printed}");
    }
}

/// First come, first served never takes a worker back: a request that runs is no news, one that blocks its thread is.
#[test]
fn where_no_request_is_preempted_only_one_that_blocks_its_thread_is_stuck() {
    const BLOCK: u64 = 3;
    let policy = Policy {
        dispatch: "{ policy = \"jsq\" }",
        discipline: "{ policy = \"fcfs\" }",
        rebalance: "\"none\"",
    };
    let builder = builder_of(1 + BLOCK as usize, &policy).pinning(Pinning::None);
    let runtime = builder.stuck_after(Duration::from_millis(2)).start().unwrap();
    let [runs, blocks] = ["runs", "blocks"].map(|name| runtime.class(name).unwrap());
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let (begun, begin) = std::sync::mpsc::channel();
    let long = runtime.submit(runs, move || {
        begun.send(()).unwrap();
        stuck_in_a_loop(&until)
    });
    begin.recv().unwrap();
    let stuck = |class: &str| {
        let workers = runtime.stats().workers;
        workers.iter().filter(|worker| worker.stuck && worker.running.as_deref() == Some(class)).count()
    };
    let mut blocking = Vec::new();
    for number in 1..=BLOCK as usize {
        // The dispatcher gives it a worker of its own: all others are busy.
        let (mut told, tell) = std::io::pipe().unwrap();
        blocking.push((tell, runtime.submit(blocks, move || told.read_exact(&mut [0]).is_ok()).unwrap()));
        // Each time the watchdog has looked at all workers.
        while stuck("blocks") < number {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(stuck("runs"), 0);
    }
    assert_eq!(runtime.stats().counters.stuck, BLOCK);
    for (mut tell, handle) in blocking {
        tell.write_all(&[0]).unwrap();
        assert!(handle.wait().unwrap());
    }
    over.store(true, Ordering::Relaxed);
    assert_eq!(long.unwrap().wait().unwrap(), 1);
}

/// Without the option no signal of the process has a handler that was not there. In a child: other tests' runtimes take signals.
#[test]
fn without_the_option_no_signal_is_taken() {
    crate::passes(crate::child(module_path!(), "child_that_counts_its_handlers").env(CHILD, "count"));
}

/// Not a test by itself.
#[test]
fn child_that_counts_its_handlers() {
    if std::env::var_os(CHILD).is_none_or(|asked| asked != "count") {
        return;
    }
    let handled = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
        u64::from_str_radix(&caught, 16).unwrap() >> 31
    };
    drop(one_worker(OnStuck::Report));
    assert_eq!(handled(), handled() & 0b11, "but for the two of the C library");
    drop(one_worker(OnStuck::Dump));
    assert_eq!((handled() & !0b11).count_ones(), 1);
    drop(one_worker(OnStuck::Dump));
    assert_eq!((handled() & !0b11).count_ones(), 1, "a second runtime takes the same");
}
