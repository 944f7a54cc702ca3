//! Requests from submission to result, on both kinds of dispatch.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::{Builder, Failure, Pinning, Runtime, Shutdown};

use crate::common::{self, runtime};

#[test]
fn a_request_gives_back_what_its_handler_returns() {
    for two_level in [true, false] {
        let runtime = runtime(1, two_level, |b| b);
        let get = runtime.class("get").unwrap();
        assert_eq!(runtime.submit(get, || 6 * 7).unwrap().wait().unwrap(), 42);
        let text = "a string that is longer than a word".to_owned();
        let handle = runtime.submit(get, move || text.len()).unwrap();
        assert_eq!(handle.wait().unwrap(), 35);
        let large = [7_u8; 1000];
        assert_eq!(runtime.submit(get, move || large).unwrap().wait().unwrap(), large, "boxed both ways");
    }
}

/// Text that a program prints whose `main` returns the error.
fn printed_by_main(error: impl std::error::Error + 'static) -> String {
    format!("{:?}", Box::<dyn std::error::Error>::from(error))
}

#[test]
fn errors_that_main_returns_say_what_to_do() {
    let broken = "[system]\ncores = 1\npols = \"per-core\"\n";
    let said = printed_by_main(Builder::parse(broken, "policy.toml").err().expect("a misspelt key"));
    assert!(
        said.starts_with("policy.toml:3:1") && said.contains("pools") && !said.contains("Invalid("),
        "{said}"
    );
    let runtime = runtime(1, true, |b| b);
    runtime.shutdown(Shutdown::Drain);
    let class = runtime.class("late").unwrap();
    let said = printed_by_main(runtime.submit(class, || ()).err().expect("it has stopped"));
    assert_eq!(said, "the runtime has stopped, or is about to");
    let said = printed_by_main(Builder::parse("", "empty.toml").err().expect("no system"));
    assert!(said.contains("empty.toml") && said.contains("[system]"), "{said}");
}

#[test]
fn a_panic_is_the_requests_own() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("bad").unwrap();
    let handle = runtime.submit(class, || -> u32 { panic!("as told") }).unwrap();
    match handle.wait() {
        Err(Failure::Panicked(payload)) => assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "as told"),
        other => panic!("{other:?}"),
    }
    assert_eq!(runtime.submit(class, || 1).unwrap().wait().unwrap(), 1, "the worker goes on");
}

#[test]
fn many_requests_from_many_threads_each_end_once() {
    for two_level in [true, false] {
        let runtime = Arc::new(runtime(2, two_level, |b| b.pinning(Pinning::None).queues(64, 64)));
        let class = runtime.class("count").unwrap();
        let ended = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (runtime, ended) = (Arc::clone(&runtime), Arc::clone(&ended));
                std::thread::spawn(move || {
                    for i in 0..5_000_u64 {
                        let ended = Arc::clone(&ended);
                        let handle = runtime
                            .submit(class, move || {
                                ended.fetch_add(1, Ordering::Relaxed);
                                i
                            })
                            .unwrap();
                        if i % 7 == 0 {
                            assert_eq!(handle.wait().unwrap(), i);
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        runtime.shutdown(Shutdown::Drain);
        assert_eq!(ended.load(Ordering::Relaxed), 20_000);
    }
}

#[test]
fn a_long_request_is_overtaken() {
    let runtime = runtime(1, true, |b| b);
    let (long, short) = (runtime.class("long").unwrap(), runtime.class("short").unwrap());
    let stop = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&stop);
    let long = runtime
        .submit(long, move || {
            let mut iterations = 0_u64;
            while seen.load(Ordering::Relaxed) == 0 {
                caudal_rt::probe();
                iterations += 1;
            }
            iterations
        })
        .unwrap();
    for i in 0..100 {
        assert_eq!(runtime.submit(short, move || i).unwrap().wait().unwrap(), i);
    }
    assert!(!long.is_done());
    stop.store(1, Ordering::Relaxed);
    assert!(long.wait().unwrap() > 0);
}

#[test]
fn a_stopped_runtime_says_so() {
    let runtime: Runtime = runtime(1, false, |b: Builder| b.shutdown_bound(Duration::from_secs(5)));
    let class = runtime.class("x").unwrap();
    runtime.shutdown(Shutdown::Drain);
    assert!(runtime.submit(class, || ()).is_err());
}

#[test]
fn a_worker_stuck_in_a_handler_loses_what_waits_there() {
    for two_level in [true, false] {
        let runtime = runtime(2, two_level, |b| b.stuck_after(Duration::from_millis(2)));
        let class = runtime.class("blocking").unwrap();
        let (mut told, mut tell) = std::io::pipe().unwrap();
        let stuck = runtime.submit(class, move || told.read_exact(&mut [0]).is_ok()).unwrap();
        // Some of these wait behind the one that blocks its thread.
        let others: Vec<_> = (0..50).map(|i| runtime.submit(class, move || i).unwrap()).collect();
        for (i, other) in others.into_iter().enumerate() {
            assert_eq!(other.wait().unwrap(), i);
        }
        assert!(!stuck.is_done());
        tell.write_all(&[0]).unwrap();
        assert!(stuck.wait().unwrap());
    }
}

/// It would wait for the end of the very request that waits.
#[test]
fn a_request_can_not_shut_its_own_runtime_down() {
    for (two_level, how) in [(false, Shutdown::Drain), (true, Shutdown::Cancel)] {
        let runtime = Arc::new(runtime(1, two_level, |b| b.shutdown_bound(Duration::from_millis(50))));
        let class = runtime.class("x").unwrap();
        let own = Arc::clone(&runtime);
        let handle = runtime.submit(class, move || own.shutdown(how)).unwrap();
        let Err(Failure::Panicked(payload)) = handle.wait() else { panic!("it is refused") };
        let said =
            payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        assert!(said.is_some_and(|said| said.contains("a request of the runtime")), "{said:?}");
        assert_eq!(runtime.submit(class, || 7).unwrap().wait().unwrap(), 7, "nothing has been stopped");
    }
}

#[test]
fn a_runtime_may_be_dropped_by_its_own_request() {
    let runtime = Arc::new(runtime(1, false, |b| b));
    let class = runtime.class("last").unwrap();
    let own = Arc::clone(&runtime);
    let (go, told) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (seen, done) = (Arc::clone(&go), Arc::clone(&told));
    let handle = runtime
        .submit(class, move || {
            while seen.load(Ordering::Acquire) == 0 {
                caudal_rt::probe();
            }
            drop(own);
            done.store(1, Ordering::Release);
        })
        .unwrap();
    drop(runtime);
    go.store(1, Ordering::Release);
    handle.wait().unwrap();
    assert_eq!(told.load(Ordering::Acquire), 1);
}

#[test]
fn a_result_that_nobody_wants_is_dropped_and_may_panic() {
    struct Loud(Arc<AtomicU64>);
    impl Drop for Loud {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("in a destructor");
        }
    }
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("loud").unwrap();
    let drops = Arc::new(AtomicU64::new(0));
    for _ in 0..100 {
        let counted = Arc::clone(&drops);
        let handle = runtime.submit(class, move || Loud(counted)).unwrap();
        // Of a request that has ended already, the result is dropped here.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
    assert_eq!(runtime.submit(class, || 1).unwrap().wait().unwrap(), 1);
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(drops.load(Ordering::Relaxed), 100);
}

#[test]
fn cancelled_requests_do_not_run_and_their_closures_go() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let stop = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&stop);
    // Nothing starts while this one runs to its end without a probe.
    let first = runtime
        .submit(class, move || {
            while seen.load(Ordering::Relaxed) == 0 {
                std::hint::spin_loop();
            }
        })
        .unwrap();
    let held = Arc::new(());
    let waiting: Vec<_> = (0..100)
        .map(|i| {
            let held = Arc::clone(&held);
            runtime.submit(class, move || (drop(held), i)).unwrap()
        })
        .collect();
    for handle in waiting.iter().step_by(2) {
        assert!(handle.cancel());
    }
    assert_eq!(Arc::strong_count(&held), 51, "the closures of the cancelled are gone");
    stop.store(1, Ordering::Relaxed);
    for (i, handle) in waiting.into_iter().enumerate() {
        match handle.wait() {
            Ok(((), result)) => assert_eq!((i % 2, result), (1, i)),
            Err(failure) => assert!(i % 2 == 0 && matches!(failure, Failure::Cancelled)),
        }
    }
    first.wait().unwrap();
}

#[test]
fn a_handle_is_a_future() {
    let runtime = runtime(1, false, |b| b);
    let class = runtime.class("async").unwrap();
    let sum = futures_executor::block_on(async {
        let mut sum = 0;
        for i in 0..100 {
            sum += runtime.submit(class, move || i).unwrap().await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 4950);
}

#[test]
fn what_waits_too_long_expires() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("late").unwrap();
    let late_enough = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&late_enough);
    let blocker = runtime.submit(class, move || while !seen.load(Ordering::Relaxed) {}).unwrap();
    let late = runtime.request(class).deadline(Duration::from_millis(1)).submit(|| 1).unwrap();
    let patient = runtime.request(class).deadline(Duration::from_secs(100)).submit(|| 2).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    late_enough.store(true, Ordering::Relaxed);
    assert!(matches!(late.wait(), Err(Failure::Expired)));
    assert_eq!(patient.wait().unwrap(), 2);
    blocker.wait().unwrap();
}

#[test]
fn an_idle_runtime_sleeps_and_wakes() {
    for two_level in [true, false] {
        let runtime = runtime(2, two_level, |b| b.spin(Duration::from_micros(100)));
        let class = runtime.class("rare").unwrap();
        for i in 0..20 {
            std::thread::sleep(Duration::from_millis(3));
            assert_eq!(runtime.submit(class, move || i).unwrap().wait().unwrap(), i);
        }
    }
}

#[test]
fn a_request_that_is_alone_has_its_quanta_counted_and_lets_others_in() {
    for two_level in [true, false] {
        let runtime = runtime(1, two_level, |b| b);
        let (long, short) = (runtime.class("long").unwrap(), runtime.class("short").unwrap());
        let (probed, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, until) = (Arc::clone(&probed), Arc::clone(&stop));
        let body = move || {
            while !until.load(Ordering::Relaxed) {
                common::probes(100);
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        let alone = runtime.submit(long, body).unwrap();
        // Some milliseconds of work, a quantum of 2 us after the other.
        while probed.load(Ordering::Relaxed) < 500 {
            std::thread::yield_now();
        }
        // Each of them comes in at the end of a quantum of the long one, which is not alone any more then.
        (0..50).for_each(|_| runtime.submit(short, || ()).unwrap().wait().unwrap());
        stop.store(true, Ordering::Relaxed);
        alone.wait().unwrap();
        runtime.shutdown(Shutdown::Drain);
        let stats = runtime.stats();
        let of_long = &stats.classes[0];
        assert!(of_long.quanta.max() >= 100.0, "{} quanta", of_long.quanta.max());
        assert!(of_long.preemptions.max() <= of_long.quanta.max());
        assert_eq!(of_long.lateness.count() as f64, of_long.quanta.max(), "each ends late by something");
        assert_eq!(stats.workers[0].finished, 51);
    }
}

/// Explicit waits are as a preemption is: what a handler finds in `errno` afterwards is its own.
#[test]
fn errno_goes_with_the_request_that_waits() {
    fn errno() -> *mut i32 {
        // SAFETY: takes nothing, and gives the address of this thread's.
        unsafe { libc::__errno_location() }
    }
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("get").unwrap();
    let request = |own: i32| {
        move || {
            (0..20).all(|i| {
                // SAFETY: this thread's.
                unsafe { errno().write(own) };
                if i % 2 == 0 {
                    caudal_rt::yield_now();
                } else {
                    caudal_rt::sleep(Duration::from_micros(200));
                }
                // SAFETY: that of the thread that runs the request now.
                unsafe { errno().read() == own }
            })
        }
    };
    let handles = [7, 77, 777].map(|own| runtime.submit(class, request(own)).unwrap());
    for handle in handles {
        assert!(handle.wait().unwrap(), "another request's errno");
    }
}

/// Wakers are other people's code: one that panics is no reason for others to wait for ever.
#[test]
fn a_waker_that_panics_keeps_nobody_else_waiting() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's own fault");
        }
    }
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("get").unwrap();
    let go = Arc::new(AtomicBool::new(false));
    let held = Arc::clone(&go);
    let mut polled = runtime
        .submit(class, move || {
            while !held.load(Ordering::Acquire) {
                caudal_rt::sleep(Duration::from_micros(100));
            }
        })
        .unwrap();
    let waker = std::task::Waker::from(Arc::new(Panics));
    let mut context = std::task::Context::from_waker(&waker);
    assert!(std::future::Future::poll(std::pin::Pin::new(&mut polled), &mut context).is_pending());
    go.store(true, Ordering::Release);
    let (tell, told) = std::sync::mpsc::channel();
    let later = runtime.submit(class, || caudal_rt::sleep(Duration::from_millis(100))).unwrap();
    std::thread::spawn(move || tell.send(later.wait().is_ok()));
    assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(true), "nobody tells");
}

/// C may wait for one request in several others at a time.
#[test]
fn of_several_requests_that_wait_for_one_each_hears_of_its_end() {
    use caudal_rt::raw::{Heed, Waited};
    for two_level in [true, false] {
        let runtime = runtime(1, two_level, |b| b);
        let class = runtime.class("waits").unwrap();
        let go = Arc::new(AtomicBool::new(false));
        let held = Arc::clone(&go);
        let awaited = runtime.submit(class, move || {
            while !held.load(Ordering::Acquire) {
                caudal_rt::sleep(Duration::from_micros(100));
            }
        });
        let awaited = Arc::new(awaited.unwrap());
        let (begun, begin) = std::sync::mpsc::channel();
        // The second one's time is over before the end.
        let longest = [None, Some(Duration::from_millis(1)), None];
        let waiting = longest.map(|longest| {
            let (awaited, begun) = (Arc::clone(&awaited), begun.clone());
            runtime.submit(class, move || {
                begun.send(()).unwrap();
                awaited.wait_at_most(longest, Heed::Cancellation)
            })
        });
        longest.iter().for_each(|_| begin.recv().unwrap());
        let [first, timed_out, last] = waiting.map(Result::unwrap);
        assert_eq!(timed_out.wait().unwrap(), Waited::TimedOut);
        go.store(true, Ordering::Release);
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send([first, last].map(|waiting| waiting.wait().unwrap())));
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok([Waited::Ended; 2]), "one is never woken");
    }
}
