//! Calls of requests about themselves and others: spawning, critical sections, scopes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::sync::{Mutex, oneshot};
use caudal_rt::{Failure, LeftBehind, Runtime, no_preempt, scope, sleep, spawn, yield_now};

use crate::common::{self, left_behind, probes, runtime};

fn one_worker() -> Runtime {
    let runtime = runtime(1, true, |b| b);
    runtime.set_quantum(Duration::from_micros(1));
    runtime
}

fn message(failure: Failure) -> String {
    let Failure::Panicked(payload) = failure else { panic!("{failure}") };
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap()
}

#[test]
fn a_request_spawns_others_and_waits_for_them() {
    for (workers, two_level) in [(1, true), (1, false), (2, true), (2, false)] {
        let runtime = runtime(workers, two_level, |b| b);
        let class = runtime.class("x").unwrap();
        let sum = move || {
            let parts: Vec<_> = (0..50_u64).map(|i| spawn(class, move || i * i).unwrap()).collect();
            parts.into_iter().map(|part| part.wait().unwrap()).sum::<u64>()
        };
        assert_eq!(runtime.submit(class, sum).unwrap().wait().unwrap(), 40_425);
    }
}

#[test]
fn a_request_waits_for_one_of_another_runtime() {
    let (one, other) = (runtime(1, true, |b| b), runtime(2, false, |b| b));
    let (here, there) = (one.class("here").unwrap(), other.class("there").unwrap());
    for _ in 0..20 {
        let handle = other.submit(there, || sleep(Duration::from_micros(100))).unwrap();
        one.submit(here, move || handle.wait().unwrap()).unwrap().wait().unwrap();
    }
}

#[test]
fn spawning_wants_a_request() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    assert!(std::panic::catch_unwind(|| drop(spawn(class, || ()))).is_err());
    assert!(std::panic::catch_unwind(|| scope(|_| ())).is_err());
    yield_now();
    caudal_rt::check_cancelled();
}

#[test]
fn requests_that_yield_take_turns() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    let turn = Arc::new(AtomicU64::new(0));
    let handles: Vec<_> = (0..2)
        .map(|own| {
            let turn = Arc::clone(&turn);
            let work = move || {
                for round in 0..100 {
                    while turn.load(Ordering::Relaxed) != 2 * round + own {
                        yield_now();
                    }
                    turn.fetch_add(1, Ordering::Relaxed);
                }
            };
            runtime.submit(class, work).unwrap()
        })
        .collect();
    common::all(handles);
}

/// A request that counts for as long as it runs, on a runtime whose other requests see whether they were pre-empted.
fn counting(runtime: &Runtime) -> (Arc<AtomicU64>, impl FnOnce()) {
    let class = runtime.class("counts").unwrap();
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, stopped) = (Arc::clone(&count), Arc::clone(&stop));
    let work = move || {
        while !stopped.load(Ordering::Relaxed) {
            counted.fetch_add(1, Ordering::Relaxed);
            caudal_rt::probe();
        }
    };
    let handle = runtime.submit(class, work).unwrap();
    (count, move || {
        stop.store(true, Ordering::Relaxed);
        handle.wait().unwrap();
    })
}

#[test]
fn a_critical_section_is_not_preempted_and_its_yield_comes_at_the_end() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    let (count, stop) = counting(&runtime);
    let work = move || {
        for _ in 0..200 {
            let (inside, at_end) = no_preempt(|| {
                let before = count.load(Ordering::Relaxed);
                no_preempt(|| probes(40));
                probes(40);
                (before, count.load(Ordering::Relaxed))
            });
            assert_eq!(inside, at_end, "the other request has not run meanwhile");
            assert!(
                count.load(Ordering::Relaxed) > at_end,
                "it has run where the section ended, before any probe"
            );
        }
    };
    runtime.submit(class, work).unwrap().wait().unwrap();
    stop();
}

type Wait = Box<dyn Fn() + Send>;

#[test]
fn waiting_in_a_critical_section_is_an_error() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock();
    let wanted = Arc::clone(&mutex);
    let waits: [(&str, Wait); 5] = [
        ("Mutex::lock", Box::new(move || *wanted.lock() += 1)),
        ("sleep", Box::new(|| sleep(Duration::from_millis(1)))),
        ("yield_now", Box::new(yield_now)),
        ("scope", Box::new(|| scope(|_| ()))),
        (
            "Receiver::recv",
            Box::new(|| {
                let (_sender, receiver) = oneshot::channel::<()>();
                let _ = receiver.recv();
            }),
        ),
    ];
    for (what, wait) in waits {
        let failure = runtime.submit(class, move || no_preempt(wait)).unwrap().wait().unwrap_err();
        let said = message(failure);
        assert!(said.contains(what) && said.contains("inside of a critical section"), "{said}");
    }
    drop(guard);
    assert_eq!(*mutex.lock(), 0, "and who panicked is in no queue");
    let free = runtime.submit(class, move || no_preempt(|| *mutex.lock() += 1)).unwrap();
    free.wait().expect("a free lock can be taken anywhere");
}

#[test]
fn a_panic_leaves_critical_sections() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    let work = || {
        for _ in 0..3 {
            let caught = std::panic::catch_unwind(|| {
                no_preempt(|| {
                    caudal_probe::critical_enter();
                    std::panic::resume_unwind(Box::new(()));
                })
            });
            assert!(caught.is_err());
            assert_eq!(caudal_probe::critical_depth(), 0);
        }
        sleep(Duration::from_micros(10));
        no_preempt(|| assert_eq!(caudal_probe::critical_depth(), 1));
    };
    runtime.submit(class, work).unwrap().wait().unwrap();
}

#[test]
fn scoped_requests_borrow() {
    for (workers, two_level) in [(1, true), (1, false), (2, true), (2, false)] {
        let runtime = runtime(workers, two_level, |b| b);
        let class = runtime.class("x").unwrap();
        let work = move || {
            let numbers: Vec<u64> = (0..1_000).collect();
            let total = AtomicU64::new(0);
            let first = scope(|s| {
                let parts: Vec<_> = numbers
                    .chunks(100)
                    .map(|part| {
                        let total = &total;
                        s.spawn(class, move || {
                            // Children submit to the same scope.
                            s.spawn(class, || total.fetch_add(1, Ordering::Relaxed)).unwrap().wait().unwrap();
                            probes(5);
                            let sum = part.iter().sum::<u64>();
                            total.fetch_add(sum, Ordering::Relaxed);
                            &part[0]
                        })
                        .unwrap()
                    })
                    .collect();
                parts.into_iter().map(|part| *part.wait().unwrap()).max().unwrap()
            });
            assert_eq!(first, 900);
            total.into_inner()
        };
        assert_eq!(runtime.submit(class, work).unwrap().wait().unwrap(), 499_500 + 10, "on a request");
        let count = Mutex::new(0);
        runtime.scope(|s| {
            for _ in 0..100 {
                drop(s.spawn(class, || *count.lock() += 1).unwrap());
            }
        });
        assert_eq!(count.into_inner(), 100, "on a thread; all have ended though nobody waited for them");
    }
}

#[test]
fn a_scope_tells_of_panics_that_nobody_has_seen() {
    let runtime = one_worker();
    let class = runtime.class("x").unwrap();
    let quiet = || std::panic::resume_unwind(Box::new("as told"));
    runtime.scope(|s| {
        let failure = s.spawn(class, quiet).unwrap().wait().unwrap_err();
        assert_eq!(message(failure), "as told", "seen: the scope says nothing");
    });
    let unseen = runtime.submit(class, move || scope(|s| drop(s.spawn(class, quiet).unwrap()))).unwrap();
    assert!(message(unseen.wait().unwrap_err()).contains("a request of the scope panicked"));
    let ended = AtomicU64::new(0);
    let body = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.scope(|s| {
            for _ in 0..10 {
                let work = || {
                    sleep(Duration::from_millis(2));
                    ended.fetch_add(1, Ordering::Relaxed);
                };
                drop(s.spawn(class, work).unwrap());
            }
            std::panic::resume_unwind(Box::new(()));
        })
    }));
    assert!(body.is_err());
    assert_eq!(ended.load(Ordering::Relaxed), 10, "the panic left the scope after its requests had ended");
}

#[test]
fn a_cancelled_scope_ends_its_requests_first() {
    for workers in [1, 2] {
        let runtime = runtime(workers, true, |b| b);
        let class = runtime.class("x").unwrap();
        let ended = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let seen = Arc::clone(&ended);
        let work = move || {
            struct Counts<'a>(&'a AtomicU64);
            impl Drop for Counts<'_> {
                fn drop(&mut self) {
                    self.0.fetch_add(1, Ordering::Relaxed);
                }
            }
            let frame = AtomicU64::new(0);
            struct Checks<'a>(&'a AtomicU64, Arc<(AtomicU64, AtomicU64)>);
            impl Drop for Checks<'_> {
                fn drop(&mut self) {
                    self.1.1.store(self.0.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            let _checks = Checks(&frame, Arc::clone(&seen));
            scope(|s| {
                for _ in 0..20 {
                    let counts = Counts(&frame);
                    let seen = &seen;
                    let work = move || {
                        let _counts = counts;
                        seen.0.fetch_add(1, Ordering::Relaxed);
                        sleep(Duration::from_secs(3600));
                    };
                    drop(s.spawn(class, work).unwrap());
                }
            });
        };
        let handle = runtime.submit(class, work).unwrap();
        while ended.0.load(Ordering::Relaxed) < 5 {
            std::thread::yield_now();
        }
        handle.cancel();
        assert!(matches!(handle.wait(), Err(Failure::Cancelled)));
        assert_eq!(ended.1.load(Ordering::Relaxed), 20, "when the frame was left no child had it any more");
    }
}

/// A child that never ends is given up at the bound of the shutdown, and so is the parent whose frame it borrows.
#[test]
fn a_scope_is_given_up_with_its_requests() {
    static LEFT: AtomicBool = AtomicBool::new(false);
    struct Frame(AtomicU64);
    impl Drop for Frame {
        fn drop(&mut self) {
            LEFT.store(true, Ordering::Relaxed);
        }
    }
    let runtime = runtime(2, true, |b| b.shutdown_bound(Duration::from_millis(50)));
    let class = runtime.class("x").unwrap();
    let started = Arc::new(AtomicBool::new(false));
    let says = Arc::clone(&started);
    let work = move || {
        let frame = Frame(AtomicU64::new(0));
        scope(|s| {
            let endless = || loop {
                frame.0.fetch_add(1, Ordering::Relaxed);
                says.store(true, Ordering::Relaxed);
                caudal_rt::probe();
            };
            let _: Result<(), _> = s.spawn(class, endless).unwrap().wait();
        });
    };
    let parent = runtime.submit(class, work).unwrap();
    while !started.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    assert_eq!(left_behind(&runtime, 0), LeftBehind { abandoned: 2, threads: 0 });
    assert!(matches!(parent.wait(), Err(Failure::Abandoned)));
    assert!(!LEFT.load(Ordering::Relaxed), "nobody has left the frame");
}

/// A handler that neither waits nor has probes outlives the runtime's threads; who waits for it hears of its end all the same.
#[test]
fn what_outlives_the_shutdown_is_told_too() {
    let runtime = runtime(1, true, |b| b.shutdown_bound(Duration::from_millis(20)));
    let class = runtime.class("x").unwrap();
    let (started, go) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (says, waits) = (Arc::clone(&started), Arc::clone(&go));
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        says.store(true, Ordering::Relaxed);
        while !waits.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        sender.send(1).unwrap();
        2
    };
    let handle = runtime.submit(class, work).unwrap();
    while !started.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let threads = [
        std::thread::spawn(move || handle.wait().unwrap()),
        std::thread::spawn(move || receiver.recv().unwrap()),
    ];
    // Both sleep by then.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(left_behind(&runtime, 1), LeftBehind { abandoned: 0, threads: 1 });
    go.store(true, Ordering::Relaxed);
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [2, 1]);
}
