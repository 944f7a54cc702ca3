//! Handlers whose probes look at a flag: somebody else looks at the clock for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::common;
use caudal_probe::probe_flag;
use caudal_rt::{ClassId, Failure, Pinning, Runtime, Shutdown, StartError};

/// No handler runs for longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> (Runtime, ClassId) {
    let runtime = common::builder(1, true).pinning(Pinning::None).raise_flags(true).start().unwrap();
    let class = runtime.class("any").unwrap();
    (runtime, class)
}

/// Probes in flag mode until `done` says so; did it?
fn probe_until(done: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !done() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        probe_flag();
    }
    true
}

#[test]
fn one_that_has_the_worker_for_itself_yields_when_another_arrives() {
    let (runtime, class) = runtime();
    let (runs, released) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let long = {
        let (runs, released) = (Arc::clone(&runs), Arc::clone(&released));
        runtime.submit(class, move || {
            runs.store(true, SeqCst);
            probe_until(|| released.load(SeqCst))
        })
    };
    while !runs.load(SeqCst) {
        std::thread::yield_now();
    }
    runtime.submit(class, move || released.store(true, SeqCst)).unwrap().wait().unwrap();
    assert!(long.unwrap().wait().unwrap(), "nobody has asked it to yield");
}

#[test]
fn two_take_turns() {
    const TURNS: u64 = 200;
    let (runtime, class) = runtime();
    let turns = Arc::new([const { AtomicU64::new(0) }; 2]);
    let handles = [0, 1].map(|me| {
        let turns = Arc::clone(&turns);
        let job = move || {
            (1..=TURNS).all(|turn| {
                turns[me].store(turn, SeqCst);
                probe_until(|| turns[1 - me].load(SeqCst) >= turn)
            })
        };
        runtime.submit(class, job).unwrap()
    });
    for handle in handles {
        assert!(handle.wait().unwrap(), "the other one has not run");
    }
    let stats = runtime.stats();
    assert!(stats.class("any").unwrap().preemptions.sum() >= TURNS as f64);
}

#[test]
fn a_shutdown_reaches_one_that_looks_at_no_clock() {
    let (runtime, class) = runtime();
    let runs = Arc::new(AtomicBool::new(false));
    let long = {
        let runs = Arc::clone(&runs);
        runtime.submit(class, move || {
            runs.store(true, SeqCst);
            probe_until(|| {
                caudal_rt::check_cancelled();
                false
            })
        })
    };
    while !runs.load(SeqCst) {
        std::thread::yield_now();
    }
    assert_eq!(runtime.shutdown(Shutdown::Cancel).abandoned, 0);
    assert!(matches!(long.unwrap().wait(), Err(Failure::Cancelled)));
}

#[test]
fn turns_go_on_while_the_runtime_drains() {
    let (runtime, class) = runtime();
    let released = Arc::new(AtomicBool::new(false));
    let long = {
        let released = Arc::clone(&released);
        runtime.submit(class, move || probe_until(|| released.load(SeqCst))).unwrap()
    };
    let late = runtime.submit(class, move || {
        caudal_rt::sleep(Duration::from_millis(20));
        released.store(true, SeqCst);
    });
    assert_eq!(runtime.shutdown(Shutdown::Drain).abandoned, 0);
    late.unwrap().wait().unwrap();
    assert!(long.wait().unwrap(), "nobody has asked it to yield any more");
}

#[test]
fn without_a_dispatcher_nobody_could() {
    let error = common::builder(1, false).raise_flags(true).start().err();
    assert!(matches!(error, Some(StartError::Setting { name: "raise_flags", .. })), "{error:?}");
}

#[test]
fn who_could_not_yield_is_asked_again() {
    struct Probes;
    impl Drop for Probes {
        fn drop(&mut self) {
            let begun = Instant::now();
            // Longer than the dispatcher takes to ask.
            probe_until(|| begun.elapsed() > Duration::from_millis(5));
        }
    }
    let (runtime, class) = runtime();
    let (runs, released) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let long = {
        let (runs, released) = (Arc::clone(&runs), Arc::clone(&released));
        runtime.submit(class, move || {
            let unwinds = std::panic::catch_unwind(|| {
                let _probes = Probes;
                runs.store(true, SeqCst);
                std::panic::resume_unwind(Box::new(()));
            });
            unwinds.is_err() && probe_until(|| released.load(SeqCst))
        })
    };
    while !runs.load(SeqCst) {
        std::thread::yield_now();
    }
    runtime.submit(class, move || released.store(true, SeqCst)).unwrap().wait().unwrap();
    assert!(long.unwrap().wait().unwrap(), "nobody has asked it again");
}
