//! Where requests go: from batches of submissions, and from sources.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use caudal_rt::sync::Semaphore;
use caudal_rt::{Builder, ClassId, Intake, Pinning, Polled, Runtime, Source};

use crate::common::{all, builder, runtime};

/// The worker that runs the caller.
fn here() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

/// How many of `count` requests, submitted at once by one thread, are on each worker while none has ended.
fn spread(runtime: &Runtime, count: usize) -> BTreeMap<String, usize> {
    let class = runtime.class("batch").unwrap();
    let (go_on, (told, tell)) = (Arc::new(Semaphore::new(0)), mpsc::channel());
    let batch = (0..count).map(|_| {
        let (go_on, told) = (Arc::clone(&go_on), told.clone());
        let waits = move || {
            told.send(here()).unwrap();
            drop(go_on.acquire());
        };
        runtime.submit(class, waits).unwrap()
    });
    let batch: Vec<_> = batch.collect();
    let mut on = BTreeMap::new();
    tell.iter().take(count).for_each(|worker| *on.entry(worker).or_insert(0) += 1);
    go_on.add(count as u32);
    all(batch);
    on
}

#[test]
fn a_batch_does_not_pile_up_on_one_worker() {
    const WORKERS: usize = 4;
    for two_level in [true, false] {
        let runtime = runtime(WORKERS, two_level, |b| b);
        let on = spread(&runtime, 400);
        assert_eq!(on.len(), WORKERS, "{on:?}");
        // A dispatcher counts what it has placed before any worker says so; draws at random are further apart.
        let even = if two_level { 100..=100 } else { 50..=150 };
        assert!(on.values().all(|count| even.contains(count)), "two-level: {two_level}: {on:?}");
    }
}

/// Hands in one request at a time; panics after some, with one handed in.
struct Panics {
    class: ClassId,
    left: u32,
    ran: Arc<AtomicU64>,
}

impl Source for Panics {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        let ran = Arc::clone(&self.ran);
        intake.submit(self.class, caudal_rt::clock::now(), move || {
            ran.fetch_add(1, Ordering::Relaxed);
        });
        self.left -= 1;
        assert!(self.left > 0, "a fault in the source");
        Polled::Worked
    }
}

/// As a source that panics may do when it goes.
impl Drop for Panics {
    fn drop(&mut self) {
        if self.left == 0 {
            panic!("a fault in the source's destructor");
        }
    }
}

#[test]
fn a_source_that_panics_is_not_asked_any_more_and_nothing_of_it_is_lost() {
    const REQUESTS: u32 = 10;
    for two_level in [true, false] {
        let builder: Builder = builder(1, two_level).pinning(Pinning::None);
        let (class, ran) = (builder.class("source").unwrap(), Arc::new(AtomicU64::new(0)));
        let source = Panics { class, left: REQUESTS, ran: Arc::clone(&ran) };
        let runtime = builder.source(source).start().unwrap();
        while ran.load(Ordering::Relaxed) < u64::from(REQUESTS) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(runtime.submit(class, || 7).unwrap().wait().unwrap(), 7, "the thread goes on");
        drop(runtime);
        assert_eq!(ran.load(Ordering::Relaxed), u64::from(REQUESTS));
    }
}

#[test]
#[should_panic(expected = "a class of another runtime")]
fn a_class_of_another_runtime_is_an_error() {
    let [first, second] = [(); 2].map(|()| runtime(1, false, |b| b));
    let foreign = first.class("get").unwrap();
    second.class("get").unwrap();
    let _ = second.submit(foreign, || ());
}

#[test]
fn a_log_that_no_memory_holds_is_refused() {
    let refused = builder(1, false).pinning(Pinning::None).log(usize::MAX).start();
    let error = refused.err().expect("it is refused").to_string();
    assert!(error.contains("log") && error.contains("268,435,456"), "{error}");
}
