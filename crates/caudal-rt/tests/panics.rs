//! Many requests that panic: each is told to its handle, and the process's hook is not asked each time. A process of its own, for
//! the hook is the process's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use caudal_rt::Failure;

mod common;
use common::runtime;

static REPORTED: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_hundred_thousand_requests_panic() {
    std::panic::set_hook(Box::new(|_| {
        REPORTED.fetch_add(1, Ordering::Relaxed);
    }));
    let begun = Instant::now();
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("bad").unwrap();
    for _ in 0..100 {
        let handles: Vec<_> = (0..1_000)
            .map(|i| runtime.submit(class, move || -> u32 { panic!("number {i}") }).unwrap())
            .collect();
        for handle in handles {
            assert!(matches!(handle.wait(), Err(Failure::Panicked(_))));
        }
    }
    assert_eq!(runtime.submit(class, || 1).unwrap().wait().unwrap(), 1);
    let (reported, seconds) = (REPORTED.load(Ordering::Relaxed), begun.elapsed().as_secs());
    assert!((1..=10 * (seconds + 2)).contains(&reported), "{reported} reports in {seconds} s");
}
