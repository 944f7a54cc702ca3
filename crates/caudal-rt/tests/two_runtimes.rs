//! Several runtimes in one process do not share cores unless they are told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use caudal_rt::{Pinning, Runtime, Shutdown, StartError};

mod common;
use common::builder;

/// The cores on which the calling thread may run.
fn cores() -> Vec<usize> {
    // SAFETY: an all-zero set is an empty one, the call fills it, and the numbers are below its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect()
    }
}

/// Where a worker of `runtime` runs.
fn of_worker(runtime: &Runtime) -> Vec<usize> {
    runtime.submit(runtime.class("where").unwrap(), cores).unwrap().wait().unwrap()
}

fn pinned(workers: usize, pinning: Pinning) -> Result<Runtime, StartError> {
    builder(workers, false).pinning(pinning).start()
}

#[test]
fn a_second_runtime_has_other_cores_or_is_refused() {
    let all = cores();
    // All cores but one, if there are several, so that the next one finds a single core.
    let first = pinned(all.len().saturating_sub(1).max(1), Pinning::Cores).unwrap();
    let second = (all.len() > 1).then(|| pinned(1, Pinning::Cores).unwrap());
    if let Some(second) = &second {
        let (one, other) = (of_worker(&first), of_worker(second));
        assert!(one.len() == 1 && other.len() == 1 && one != other, "{one:?}, {other:?}");
    }
    let said = pinned(1, Pinning::Cores).err().expect("there is no core left").to_string();
    assert!(said.contains("other runtimes of this process") && said.contains("Pinning::These"), "{said}");
    // A program that names cores may share them.
    let told = pinned(1, Pinning::These(vec![all[0]])).unwrap();
    assert_eq!(of_worker(&told), [all[0]]);
    drop(told);
    drop(pinned(1, Pinning::None).unwrap());
    // Those of a runtime that has ended are free again, whoever still has a handle, or part of it.
    let first = Arc::new(first);
    let handle = first.submit(first.class("x").unwrap(), || ()).unwrap();
    drop(first);
    let third = pinned(1, Pinning::Cores).unwrap();
    assert_eq!(of_worker(&third).len(), 1);
    drop((handle, second, third));
    // Those of one that a shutdown could not end are not, until it has ended.
    let stop = Arc::new(AtomicBool::new(false));
    let stubborn = builder(all.len(), false).shutdown_bound(Duration::from_millis(5)).start().unwrap();
    let stays = {
        let stop = Arc::clone(&stop);
        let stay = move || while !stop.load(SeqCst) {};
        stubborn.submit(stubborn.class("stubborn").unwrap(), stay).unwrap()
    };
    while stubborn.stats().workers.iter().all(|worker| worker.running.is_none()) {
        std::thread::yield_now();
    }
    for _ in 0..2 {
        // Another thread may be late.
        assert!(stubborn.shutdown(Shutdown::Cancel).threads >= 1);
        assert!(matches!(pinned(all.len(), Pinning::Cores).err(), Some(StartError::CoresTaken { .. })));
    }
    stop.store(true, SeqCst);
    while stubborn.shutdown(Shutdown::Cancel).threads > 0 {
        std::thread::yield_now();
    }
    drop(pinned(all.len(), Pinning::Cores).unwrap());
    drop(stays);
}
