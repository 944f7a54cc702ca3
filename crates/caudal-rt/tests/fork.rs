//! Children of a process with a runtime: they have its memory, and none of its threads.
//!
//! A program of its own, whose main thread alone forks: under the test harness other tests' threads would hold locks at the fork.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

use caudal_rt::{Handle, LeftBehind, Runtime, Shutdown, StartError, SubmitError};

mod common;
use common::{builder, runtime};

/// Runs `body` in a child; how that ended, as `waitpid` says. A child that hangs is ended by the alarm clock.
fn fork(body: impl FnOnce()) -> i32 {
    // SAFETY: the child runs `body`, which is what is tested here, and ends.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "{}", std::io::Error::last_os_error());
        if child == 0 {
            libc::alarm(20);
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            libc::_exit(i32::from(ended.is_err()));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        status
    }
}

fn fork_well(body: impl FnOnce()) {
    let status = fork(body);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child ended with {status:#x}");
}

/// A request that has started and goes on until `over`.
fn running(runtime: &Runtime, over: &Arc<AtomicBool>) -> Handle<()> {
    let (over, (begun, begin)) = (Arc::clone(over), mpsc::channel());
    let body = move || {
        begun.send(()).unwrap();
        while !over.load(Ordering::Relaxed) {
            caudal_rt::probe();
        }
    };
    let handle = runtime.submit(runtime.class("x").unwrap(), body).unwrap();
    begin.recv().unwrap();
    handle
}

/// Use by a child of a runtime, and with requests that it will hear no more of.
fn everything_answers_in_a_child(two_level: bool) {
    let runtime = runtime(1, two_level, |b| b);
    let class = runtime.class("x").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let (waited, polled, dropped) =
        (running(&runtime, &over), running(&runtime, &over), running(&runtime, &over));
    let ended = runtime.submit(class, || 7).unwrap();
    while !ended.is_done() {
        std::thread::yield_now();
    }
    let mut of_child = Some((runtime, waited, polled, dropped, ended));
    fork_well(|| {
        let (runtime, waited, polled, dropped, ended) = of_child.take().unwrap();
        assert!(matches!(runtime.submit(class, || ()), Err(SubmitError::Forked)));
        assert_eq!(runtime.try_submit(class, || ()).err().unwrap().why, SubmitError::Forked);
        assert_eq!(ended.wait().unwrap(), 7, "what had ended can be taken");
        let failure = waited.wait().unwrap_err().to_string();
        assert!(failure.contains("forked"), "{failure}");
        let polled = pin!(polled).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(Err(failure)) if failure.to_string().contains("forked")));
        drop(dropped);
        assert!(matches!(builder(1, two_level).start(), Err(StartError::Forked)));
        assert_eq!(runtime.shutdown(Shutdown::Drain), LeftBehind::default());
        // The system may give a thread of the child's the number of one that is not there.
        let thread = std::thread::spawn(|| 8);
        drop(runtime);
        assert_eq!(thread.join().unwrap(), 8);
    });
    // The parent's go on.
    let (runtime, waited, polled, dropped, _) = of_child.unwrap();
    over.store(true, Ordering::Relaxed);
    for handle in [waited, polled, dropped] {
        handle.wait().unwrap();
    }
    assert!(runtime.submit(class, || ()).unwrap().wait().is_ok());
}

/// A runtime that has ended leaves nothing behind that a child could miss.
fn a_child_may_start_a_runtime_after_the_parents_has_ended() {
    drop(runtime(2, true, |b| b));
    fork_well(|| {
        let runtime = runtime(2, true, |b| b);
        let class = runtime.class("x").unwrap();
        assert_eq!(runtime.submit(class, || 9).unwrap().wait().unwrap(), 9);
    });
}

/// A number that children share with their parent.
fn shared_number() -> &'static AtomicU64 {
    // SAFETY: a fresh page of zeros, which is never unmapped.
    unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        &*page.cast()
    }
}

fn forks() -> libc::pid_t {
    // SAFETY: the child returns from the handler, which is what is tested.
    caudal_rt::no_preempt(|| unsafe { libc::fork() })
}

/// As where an exception was caught, or a signal's handler returns: the depth is what it was before.
fn forks_and_leaves_all_sections() -> libc::pid_t {
    let before = caudal_probe::critical_depth();
    // SAFETY: as above.
    let child = unsafe { libc::fork() };
    caudal_probe::critical_restore(before);
    child
}

/// `_Fork` calls no handlers of `pthread_atfork`.
fn forks_without_handlers() -> libc::pid_t {
    unsafe extern "C" {
        /// The function that code with probes calls for it.
        safe fn caudal_around__Fork_v1() -> libc::pid_t;
    }
    caudal_around__Fork_v1()
}

/// The child of a handler is a worker's thread without its runtime: no other request may go on there, for it goes on in the parent.
fn a_handler_that_forks_takes_no_other_along() {
    let runtime = runtime(1, false, |b| b);
    let class = runtime.class("x").unwrap();
    let (strangers, over) = (shared_number(), Arc::new(AtomicBool::new(false)));
    let (parent, until) = (std::process::id(), Arc::clone(&over));
    let other = runtime.submit(class, move || {
        while !until.load(Ordering::Relaxed) {
            if std::process::id() != parent {
                strangers.fetch_add(1, Ordering::Relaxed);
            }
            caudal_rt::probe();
        }
    });
    // One child ends by itself, after a time of many quanta.
    let ends = runtime.submit(class, || {
        caudal_rt::no_preempt(|| {
            fork(|| {
                // The section is not what keeps it.
                caudal_probe::critical_exit();
                (0..1_000_000).for_each(|_| caudal_rt::probe());
            })
        })
    });
    let by_itself = ends.unwrap().wait().unwrap();
    assert!(libc::WIFEXITED(by_itself) && libc::WEXITSTATUS(by_itself) == 0, "{by_itself:#x}");
    assert_eq!(strangers.load(Ordering::Relaxed), 0, "another request ran in the child");
    // The others return from the handler, whatever the depth is by then, and however they were forked.
    for way in [forks as fn() -> libc::pid_t, forks_and_leaves_all_sections, forks_without_handlers] {
        let returns = runtime.submit(class, move || {
            let child = way();
            if child == 0 {
                // SAFETY: should it hang.
                unsafe { libc::alarm(20) };
            }
            child
        });
        let child = returns.unwrap().wait().unwrap();
        let mut status = 0;
        // SAFETY: waits for a child of this process.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT, "{status:#x}");
        assert_eq!(strangers.load(Ordering::Relaxed), 0, "another request ran in the child");
    }
    over.store(true, Ordering::Relaxed);
    other.unwrap().wait().unwrap();
}

fn main() {
    // What `cargo test NAME` and tools that list tests pass.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    a_child_may_start_a_runtime_after_the_parents_has_ended();
    for two_level in [false, true] {
        everything_answers_in_a_child(two_level);
    }
    a_handler_that_forks_takes_no_other_along();
    println!("children are told");
}
