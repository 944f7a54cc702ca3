//! Requests from submission to result, on both kinds of dispatch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::{Builder, Failure, Pinning, Runtime, Shutdown};

mod common;
use common::runtime;

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
            let mut turns = 0_u64;
            while seen.load(Ordering::Relaxed) == 0 {
                caudal_rt::probe();
                turns += 1;
            }
            turns
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
