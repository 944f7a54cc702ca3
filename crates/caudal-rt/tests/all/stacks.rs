//! Stacks go back: to the system when a runtime sleeps, to another worker that has none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::Runtime;

use crate::common::{self, runtime};

/// Waits until `there`, in polls of 5 ms; a minute of them is never.
fn wait_until(what: &str, there: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("never: {what}");
}

/// So many requests that are there together.
fn together(runtime: &Runtime, count: u64) {
    let class = runtime.class("waits").unwrap();
    let (there, go) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let handles: Vec<_> = (0..count)
        .map(|_| {
            let (there, go) = (Arc::clone(&there), Arc::clone(&go));
            let body = move || {
                there.fetch_add(1, Ordering::Relaxed);
                while !go.load(Ordering::Relaxed) {
                    caudal_rt::sleep(Duration::from_millis(1));
                }
            };
            runtime.submit(class, body).unwrap()
        })
        .collect();
    wait_until("all have started", || there.load(Ordering::Relaxed) == count);
    go.store(true, Ordering::Relaxed);
    common::all(handles);
}

#[test]
fn a_runtime_that_sleeps_gives_stacks_back() {
    for two_level in [false, true] {
        let runtime = runtime(2, two_level, |b| b);
        for _ in 0..2 {
            together(&runtime, 1000);
            // Some stay, of which each keeps its slab of 32.
            wait_until("few stacks are left", || runtime.stats().stacks.mapped < 600);
            let class = runtime.class("next").unwrap();
            assert_eq!(runtime.submit(class, || 7).unwrap().wait().unwrap(), 7, "it goes on");
        }
    }
}

/// As many requests on the worker of this name as wait for each other.
fn meet_on(runtime: &Arc<Runtime>, worker: &'static str, count: u64) {
    let class = runtime.class("meets").unwrap();
    let here = Arc::new(AtomicU64::new(0));
    let met = Arc::new(AtomicBool::new(false));
    for attempt in 0..10_000 {
        let (count_here, all_met) = (Arc::clone(&here), Arc::clone(&met));
        let body = move || {
            if std::thread::current().name() != Some(worker) {
                return;
            }
            count_here.fetch_add(1, Ordering::Relaxed);
            while count_here.load(Ordering::Relaxed) < count && !all_met.load(Ordering::Relaxed) {
                caudal_rt::sleep(Duration::from_millis(1));
            }
            all_met.store(true, Ordering::Relaxed);
        };
        drop(runtime.submit(class, body).unwrap());
        std::thread::sleep(Duration::from_millis(1));
        if met.load(Ordering::Relaxed) {
            return;
        }
        assert!(attempt < 9_999, "never: {count} requests together on {worker}");
    }
}

/// With few stacks in all, those that one worker has kept would be missing on the other for ever.
#[test]
fn idle_stacks_of_one_worker_serve_another() {
    const STACKS: usize = 6;
    let runtime = runtime(2, false, |b| b.stacks_max(STACKS).shutdown_bound(Duration::from_millis(100)));
    let runtime = Arc::new(runtime);
    for _ in 0..3 {
        for worker in ["caudal-0", "caudal-1"] {
            meet_on(&runtime, worker, STACKS as u64 - 1);
        }
    }
}

/// The one that has kept stacks never rests, and never starts anything.
#[test]
fn a_worker_that_is_busy_gives_idle_stacks_away_too() {
    const STACKS: usize = 6;
    let runtime = runtime(2, false, |b| b.stacks_max(STACKS).shutdown_bound(Duration::from_millis(100)));
    let runtime = Arc::new(runtime);
    meet_on(&runtime, "caudal-0", STACKS as u64 - 1);
    let class = runtime.class("busy").unwrap();
    let (busy, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    while !busy.load(Ordering::Relaxed) {
        let (busy, over) = (Arc::clone(&busy), Arc::clone(&over));
        let body = move || {
            if std::thread::current().name() != Some("caudal-0") || busy.swap(true, Ordering::Relaxed) {
                return;
            }
            while !over.load(Ordering::Relaxed) {
                caudal_rt::probe();
            }
        };
        drop(runtime.submit(class, body).unwrap());
        std::thread::sleep(Duration::from_millis(1));
    }
    meet_on(&runtime, "caudal-1", STACKS as u64 - 1);
    over.store(true, Ordering::Relaxed);
}

/// The largest resident size of this process, in KiB.
fn most_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel says it");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// In a process of its own: what is locked is locked for all of it.
#[test]
fn stacks_are_not_touched_by_locking_all_memory() {
    const CHILD: &str = "CAUDAL_TEST_LOCKS_ALL_MEMORY";
    if std::env::var_os(CHILD).is_none() {
        let test = "stacks_are_not_touched_by_locking_all_memory";
        return crate::passes(crate::child(module_path!(), test).env(CHILD, "1"));
    }
    // SAFETY: the call has no precondition.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } != 0 {
        // Not everybody may.
        return;
    }
    let runtime = crate::common::runtime(1, false, |b| b.stack_bytes(1 << 20));
    let class = runtime.class("sleeps").unwrap();
    let before = most_resident_kib();
    let sleeping: Vec<_> = (0..300)
        .map(|_| runtime.submit(class, || caudal_rt::sleep(std::time::Duration::from_millis(50))).unwrap())
        .collect();
    sleeping.into_iter().for_each(|handle| handle.wait().unwrap());
    let more = most_resident_kib() - before;
    assert!(more < 100 << 10, "300 stacks of 1 MiB took {more} KiB");
}
