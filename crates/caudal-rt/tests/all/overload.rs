//! More work than the workers can do, and cores that others have: what is bounded, what is said, and that it passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use caudal_measure::pin::{allowed_cpus, pin_to};
use caudal_rt::stats::Snapshot;
use caudal_rt::{Builder, OnFull, Pinning, Runtime, Shutdown, SubmitError};

/// One worker under `discipline`.
fn one_worker(discipline: &str, with: impl FnOnce(Builder) -> Builder) -> Runtime {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {{ policy = \"random\" }}\ndiscipline = {discipline}\n"
    );
    with(Builder::parse(&text, "overload.toml").unwrap().pinning(Pinning::None)).start().unwrap()
}

/// Disciplines that let new requests overtake started ones, and one in which they queue; three may start.
const BOUNDED: [&str; 3] = [
    "{ policy = \"processor-sharing\", quantum = \"1us\", started_max = 3 }",
    "{ policy = \"processor-sharing\", quantum = \"1us\", fresh = \"tail\", started_max = 3 }",
    "{ policy = \"las\", quantum = \"1us\", started_max = 3 }",
];

/// Looks again and again until `wanted`.
fn until(runtime: &Runtime, wanted: impl Fn(&Snapshot) -> bool) -> Snapshot {
    loop {
        let snapshot = runtime.stats();
        if wanted(&snapshot) {
            return snapshot;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_more_requests_are_under_way_than_may_be() {
    for discipline in BOUNDED {
        let runtime = one_worker(discipline, |b| b);
        let class = runtime.class("turns").unwrap();
        let (under_way, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let handles: Vec<_> = (0..200)
            .map(|_| {
                let (under_way, most) = (Arc::clone(&under_way), Arc::clone(&most));
                let body = move || {
                    most.fetch_max(under_way.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    // Long enough for all that have come meanwhile to get turns, if they may.
                    (0..2_000).for_each(|_| caudal_rt::yield_now());
                    under_way.fetch_sub(1, Ordering::Relaxed);
                };
                runtime.submit(class, body).unwrap()
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.wait().unwrap());
        assert_eq!(most.load(Ordering::Relaxed), 3, "{discipline}");
    }
}

#[test]
fn a_request_that_all_started_ones_wait_for_starts() {
    for discipline in BOUNDED {
        let runtime = one_worker(discipline, |b| b);
        let class = runtime.class("waits").unwrap();
        let all: Vec<_> = (0..20).map(|_| caudal_rt::sync::oneshot::channel::<u32>()).collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let waiting: Vec<_> = receivers
            .into_iter()
            .map(|wait| runtime.submit(class, move || wait.recv().unwrap()).unwrap())
            .collect();
        let tells = move || senders.into_iter().zip(0..).for_each(|(sender, i)| sender.send(i).unwrap());
        runtime.submit(class, tells).unwrap().wait().unwrap();
        let heard: Vec<u32> = waiting.into_iter().map(|handle| handle.wait().unwrap()).collect();
        assert_eq!(heard, (0..20).collect::<Vec<_>>(), "{discipline}");
    }
}

#[test]
fn overload_is_said_and_passes() {
    let runtime = one_worker(BOUNDED[0], |b| b.queues(8, 8).on_full(OnFull::Refuse));
    // Each of them takes a millisecond: a submitter that gets no core for some time does not leave the worker idle.
    let (class, stop) = (runtime.class("much").unwrap(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                match runtime.submit(class, || (0..1_000_000).for_each(|_| caudal_rt::probe())) {
                    Ok(_) | Err(SubmitError::Full) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        });
        let snapshot = until(&runtime, |snapshot| snapshot.overloaded);
        assert!(snapshot.counters.refused > 0 || snapshot.workers[0].inbox >= 4);
        stop.store(true, Ordering::Relaxed);
    });
    until(&runtime, |snapshot| !snapshot.overloaded);
    assert_eq!(runtime.shutdown(Shutdown::Drain).abandoned, 0);
}

#[test]
fn a_worker_whose_core_others_want_is_called_starved_until_they_stop() {
    let cpu = allowed_cpus().unwrap().0[0];
    let runtime = one_worker(BOUNDED[0], |b| b.pinning(Pinning::These(vec![cpu])).spin(Duration::MAX));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                pin_to(cpu).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let snapshot = until(&runtime, |snapshot| snapshot.workers[0].starved);
        assert!(snapshot.workers[0].waited_ns > 0);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Runs requests of a class with `body` until its snapshot shows `unprobed`, or so many have ended.
fn is_found_unprobed(body: fn(), most: u32) -> bool {
    let runtime = one_worker("{ policy = \"processor-sharing\", quantum = \"1us\" }", |b| b);
    let class = runtime.class("long").unwrap();
    (0..most).any(|_| {
        let handles: Vec<_> = (0..100).map(|_| runtime.submit(class, body).unwrap()).collect();
        handles.into_iter().for_each(|handle| handle.wait().unwrap());
        runtime.stats().classes[0].unprobed
    })
}

fn work(probe: impl Fn()) {
    for i in 0..100_000_u64 {
        std::hint::black_box(i);
        if i % 100 == 0 {
            probe();
        }
    }
}

#[test]
fn a_class_whose_code_has_no_probes_is_named() {
    assert!(is_found_unprobed(|| work(|| ()), u32::MAX));
    assert!(!is_found_unprobed(|| work(caudal_rt::probe), 100));
}

#[test]
fn who_waits_at_a_full_queue_is_let_in() {
    // The bound keeps requests at the door, and the door is small: submissions wait, and none is lost.
    let runtime = one_worker(BOUNDED[0], |b| b.queues(2, 2));
    let (class, (sender, receiver)) = (runtime.class("many").unwrap(), channel());
    for i in 0..500_u32 {
        let sender = sender.clone();
        drop(runtime.submit(class, move || {
            (0..50).for_each(|_| caudal_rt::yield_now());
            sender.send(i).unwrap();
        }));
    }
    drop(sender);
    let mut heard: Vec<u32> = receiver.iter().collect();
    heard.sort_unstable();
    assert_eq!(heard, (0..500).collect::<Vec<_>>());
}
