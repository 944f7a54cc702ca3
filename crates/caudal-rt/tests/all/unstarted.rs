//! Requests that have been taken in and never start: how they end, and that nobody behind them is left.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

use caudal_rt::{Builder, Failure, Handle, Pinning, Runtime, Shutdown};

/// One worker whose new requests queue behind the others: it takes in all that come.
fn tail(with: impl FnOnce(Builder) -> Builder) -> Runtime {
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\", fresh = \"tail\" }\n";
    with(Builder::parse(text, "tail.toml").unwrap().pinning(Pinning::None)).start().unwrap()
}

/// A request that keeps the worker, with probes or without, until `stop`.
fn keeper(runtime: &Runtime, stop: &Arc<AtomicBool>, probes: bool) -> Handle<()> {
    let (class, until) = (runtime.class("keeper").unwrap(), Arc::clone(stop));
    let (begun, begin) = std::sync::mpsc::channel();
    let body = move || {
        begun.send(()).unwrap();
        while !until.load(Ordering::Relaxed) {
            if probes {
                caudal_rt::probe();
            }
        }
    };
    let handle = runtime.submit(class, body).unwrap();
    begin.recv().unwrap();
    handle
}

#[test]
fn a_shutdown_that_cancels_starts_nothing() {
    let runtime = tail(|b| b.shutdown_bound(Duration::from_secs(30)));
    let class = runtime.class("late").unwrap();
    let (stop, ran) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let keeper = keeper(&runtime, &stop, false);
    let handles: Vec<_> = (0..50)
        .map(|_| {
            let ran = Arc::clone(&ran);
            runtime.submit(class, move || ran.fetch_add(1, Ordering::Relaxed)).unwrap()
        })
        .collect();
    let (shared, free) = (&runtime, Arc::clone(&stop));
    std::thread::scope(|scope| {
        let ends = scope.spawn(move || shared.shutdown(Shutdown::Cancel));
        // Until the stage is seen by submitters the shutdown has not begun.
        while shared.submit(class, || ()).is_ok() {}
        free.store(true, Ordering::Relaxed);
        assert_eq!(ends.join().unwrap().abandoned, 0);
    });
    assert!(keeper.wait().is_ok());
    assert_eq!(ran.load(Ordering::Relaxed), 0, "they had not started");
    handles.into_iter().for_each(|handle| assert!(matches!(handle.wait(), Err(Failure::Stopped))));
}

#[test]
fn who_is_cancelled_without_a_stack_leaves_its_place_to_the_next() {
    let runtime = tail(|b| b.stacks_max(1));
    let class = runtime.class("x").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let keeper = keeper(&runtime, &stop, true);
    let handles: Vec<_> = (0..6).map(|number| runtime.submit(class, move || number).unwrap()).collect();
    handles[0].cancel();
    handles[3].cancel();
    stop.store(true, Ordering::Relaxed);
    keeper.wait().unwrap();
    let ends: Vec<Option<i32>> = handles.into_iter().map(|handle| handle.wait().ok()).collect();
    assert_eq!(ends, [None, Some(1), Some(2), None, Some(4), Some(5)]);
}

/// Takes its time, counts, and panics when it is dropped.
struct Bad(Arc<AtomicU64>);

impl Drop for Bad {
    fn drop(&mut self) {
        std::thread::sleep(Duration::from_millis(20));
        self.0.fetch_add(1, Ordering::Relaxed);
        if !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}

#[test]
fn a_destructor_of_a_request_that_expires_may_panic() {
    let runtime = tail(|b| b);
    let class = runtime.class("x").unwrap();
    let (stop, dropped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let keeper = keeper(&runtime, &stop, false);
    let bad = Bad(Arc::clone(&dropped));
    let expires = runtime.request(class).deadline(Duration::from_nanos(1)).submit(move || drop(bad)).unwrap();
    stop.store(true, Ordering::Relaxed);
    keeper.wait().unwrap();
    assert!(matches!(expires.wait(), Err(Failure::Expired)));
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the captures are gone when the handle hears of the end");
    assert_eq!(runtime.submit(class, || 7).unwrap().wait().unwrap(), 7, "the worker goes on");
}

struct Nothing;

impl Wake for Nothing {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_handle_that_was_polled_leaves_no_waker_behind() {
    let runtime = tail(|b| b);
    let class = runtime.class("x").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let keeper = keeper(&runtime, &stop, false);
    let woken = Arc::new(Nothing);
    for _ in 0..10 {
        let mut handle = runtime.submit(class, || ()).unwrap();
        let waker = Arc::clone(&woken).into();
        let polled = std::pin::Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
        assert!(matches!(polled, Poll::Pending));
        drop(handle);
    }
    assert_eq!(Arc::strong_count(&woken), 1);
    stop.store(true, Ordering::Relaxed);
    keeper.wait().unwrap();
}
