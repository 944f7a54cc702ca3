//! Models of sleepers: the runtime's threads, outside threads, and the helper. A wake-up that is lost is a deadlock, which loom reports.

use std::ptr::NonNull;
use std::sync::Arc as StdArc;

use super::*;
use crate::base::bell::Bell;
use crate::base::futex;
use crate::base::primitives::{AtomicBool, AtomicU32, UnsafeCell};
use crate::kernel::helper;
use crate::kernel::shared::Stage;
use crate::kernel::sleep::EventCount;
use crate::kernel::watchdog::Watchdog;
use crate::sync::{Parker, Patience};

/// `sleepers` threads go to sleep while something comes.
fn sleepers(count: usize, switches: usize) {
    model(switches, move || {
        let event_count = StdArc::new((EventCount::default(), AtomicBool::new(false)));
        let threads: Vec<_> = (0..count)
            .map(|_| {
                let event_count = StdArc::clone(&event_count);
                thread::spawn(move || {
                    let (event_count, here) = &*event_count;
                    while !here.load(Ordering::Relaxed) {
                        event_count.sleep_unless(None, || here.load(Ordering::Relaxed));
                    }
                })
            })
            .collect();
        let (event_count, here) = &*event_count;
        here.store(true, Ordering::Relaxed);
        event_count.wake_if_asleep();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(event_count.sleepers(), 0);
    });
}

#[test]
fn nobody_sleeps_through_a_push() {
    sleepers(1, 5);
}

#[test]
fn two_sleep_and_both_are_woken() {
    sleepers(2, 2);
}

/// Two things come, one after the other, to one that sleeps twice.
#[test]
fn it_sleeps_again() {
    model(3, || {
        let event_count = StdArc::new((EventCount::default(), AtomicU32::new(0)));
        let pusher = {
            let event_count = StdArc::clone(&event_count);
            thread::spawn(move || {
                for _ in 0..2 {
                    event_count.1.fetch_add(1, Ordering::Relaxed);
                    event_count.0.wake_if_asleep();
                }
            })
        };
        let (event_count, pushed) = &*event_count;
        for wanted in 1..=2 {
            while pushed.load(Ordering::Relaxed) < wanted {
                event_count.sleep_unless(None, || pushed.load(Ordering::Relaxed) >= wanted);
            }
        }
        pusher.join().unwrap();
    });
}

/// A worker that goes to sleep while the runtime moves on to another stage.
#[test]
fn nobody_sleeps_through_the_end() {
    let settings = settings(1, "random");
    model(5, move || {
        let shared = shared(&settings);
        let sleeper = {
            let shared = StdArc::clone(&shared);
            thread::spawn(move || {
                while shared.stage() == Stage::Running {
                    shared.event_count.sleep_unless(None, || shared.stage() != Stage::Running);
                }
            })
        };
        shared.enter(Stage::Draining);
        sleeper.join().unwrap();
    });
}

/// A thread waits for a source's descriptor, or for the runtime: `comes` is what a source and a submitter bring.
fn waits_for_a_source(switches: usize, comes: usize) {
    model(switches, move || {
        let event_count = EventCount::default();
        event_count.hang(vec![Bell::new().unwrap()]);
        let shared = StdArc::new((event_count, AtomicU32::new(0), AtomicU32::new(0)));
        // The source: what has arrived there is not checked before the sleep, for its descriptor tells.
        let source = {
            let shared = StdArc::clone(&shared);
            thread::spawn(move || {
                let (event_count, arrived, _) = &*shared;
                arrived.store(1, Ordering::Relaxed);
                event_count.is_readable(0);
            })
        };
        let submitter = (comes > 1).then(|| {
            let shared = StdArc::clone(&shared);
            thread::spawn(move || {
                let (event_count, _, pushed) = &*shared;
                pushed.store(1, Ordering::Relaxed);
                event_count.wake_if_asleep();
            })
        });
        let (event_count, arrived, pushed) = &*shared;
        let wanted = |word: &AtomicU32| word.load(Ordering::Relaxed) != 0;
        loop {
            // One check of each: what it has not seen by now, the sleep below has to find.
            let (has_arrived, had) = (wanted(arrived), wanted(pushed));
            if has_arrived && (comes == 1 || had) {
                break;
            }
            event_count.sleep_for_unless(0, &[], None, || wanted(pushed) != had);
        }
        source.join().unwrap();
        submitter.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(event_count.sleepers(), 0);
    });
}

#[test]
fn nobody_sleeps_through_what_a_source_brings() {
    waits_for_a_source(5, 1);
}

#[test]
fn who_waits_for_a_source_is_woken_by_a_push_too() {
    waits_for_a_source(3, 2);
}

struct Counted {
    lock: crate::sync::RawLock<Parker>,
    /// loom fails the model if two threads are in here unordered.
    count: UnsafeCell<u64>,
}

// SAFETY: the lock that is tested orders the accesses, and loom checks that it does.
unsafe impl Sync for Counted {}
// SAFETY: as above.
unsafe impl Send for Counted {}

impl Counted {
    fn add(&self, patience: Patience) -> u64 {
        if self.lock.lock(|| Parker::here("locking", patience)).is_err() {
            return 0;
        }
        // SAFETY: under the lock.
        self.count.with_mut(|count| unsafe { *count += 1 });
        self.lock.unlock();
        1
    }
}

/// Threads at a lock that sleep on their parkers' words, one of them with `patience`.
fn threads_at_a_lock(switches: usize, patience: Patience) {
    model(switches, move || {
        let counted = StdArc::new(Counted { lock: crate::sync::RawLock::new(), count: UnsafeCell::new(0) });
        let other = {
            let counted = StdArc::clone(&counted);
            thread::spawn(move || counted.add(patience))
        };
        let mut added = counted.add(Patience::Endless) + counted.add(Patience::Endless);
        assert_eq!(added, 2);
        added += other.join().unwrap();
        // SAFETY: nobody else is left.
        assert_eq!(counted.count.with(|count| unsafe { *count }), added);
        assert!(!counted.lock.is_locked());
    });
}

#[test]
fn threads_sleep_at_a_lock() {
    threads_at_a_lock(3, Patience::Endless);
}

#[test]
fn a_thread_times_out_at_a_lock() {
    threads_at_a_lock(3, Patience::For(std::time::Duration::ZERO));
}

/// A worker tells a thread through the helper, which may itself have just begun, or be about to end.
fn told_by_a_worker(switches: usize, stop_first: bool) {
    use crate::sync::Waiter;
    let settings = settings(1, "random");
    model(switches, move || {
        let shared = shared(&settings);
        let helper = {
            let helper = StdArc::clone(&shared.helper);
            thread::spawn(move || {
                helper::register(&helper);
                helper.run(|| false);
            })
        };
        let parker = Parker::here("waiting", Patience::Endless);
        // As who wakes has it: a pointer to what stays until it is told.
        let told = SendParker(NonNull::from(&parker));
        let worker = {
            let shared = StdArc::clone(&shared);
            thread::spawn(move || {
                let SendParker(parker) = { told };
                // SAFETY: it waits until it is told.
                unsafe { Parker::tell_thread(parker, Some(&shared.helper)) };
            })
        };
        if stop_first {
            shared.helper.stop();
        }
        parker.wait_to_be_told();
        worker.join().unwrap();
        shared.helper.stop();
        helper.join().unwrap();
    });
}

struct SendParker(NonNull<Parker>);
// SAFETY: parkers are `Sync`.
unsafe impl Send for SendParker {}

#[test]
fn a_worker_tells_through_the_helper() {
    told_by_a_worker(2, false);
}

#[test]
fn a_worker_tells_through_a_helper_that_ends() {
    told_by_a_worker(2, true);
}

/// The helper with its watchdog, which wakes who sleeps on `seen` when it finds worker 0 in a slice.
fn watched(shared: &StdArc<Shared>, seen: &StdArc<AtomicU32>) -> thread::JoinHandle<()> {
    let (shared, seen) = (StdArc::clone(shared), StdArc::clone(seen));
    thread::spawn(move || {
        let mut watchdog = Watchdog::new(&shared);
        shared.helper.run(|| {
            let busy = watchdog.check();
            if shared.workers[0].board.slice_start.load(Ordering::Relaxed) != 0 {
                seen.store(1, Ordering::Relaxed);
                futex::wake(&seen, 1);
            }
            busy
        });
    })
}

/// Worker 0 has something to do: a handler that blocks the thread until the watchdog has seen it.
fn get_stuck(shared: &Shared, seen: &AtomicU32) {
    let board = &shared.workers[0].board;
    board.idle_since.store(0, Ordering::Relaxed);
    board.slice_start.store(u64::MAX, Ordering::Relaxed);
    futex::wait(seen, 0, None);
    board.slice_start.store(0, Ordering::Release);
}

fn idle(settings: &Settings) -> (StdArc<Shared>, StdArc<AtomicU32>) {
    let shared = shared(settings);
    shared.workers.iter().for_each(|worker| worker.board.idle_since.store(1, Ordering::Relaxed));
    (shared, StdArc::new(AtomicU32::new(0)))
}

/// A worker is woken by a submission and gets stuck: the watchdog, which slept as everybody did, has to check it.
#[test]
fn the_watchdog_sees_who_is_woken() {
    let settings = settings(1, "random");
    model(2, move || {
        let (shared, seen) = idle(&settings);
        let here = StdArc::new(AtomicBool::new(false));
        let watched = watched(&shared, &seen);
        let worker = {
            let (shared, here, seen) = (StdArc::clone(&shared), StdArc::clone(&here), StdArc::clone(&seen));
            thread::spawn(move || {
                while !here.load(Ordering::Relaxed) {
                    shared.sleep_unless(None, || here.load(Ordering::Relaxed));
                }
                get_stuck(&shared, &seen);
            })
        };
        here.store(true, Ordering::Relaxed);
        shared.wake_sleepers();
        worker.join().unwrap();
        shared.helper.stop();
        watched.join().unwrap();
    });
}

/// A timer wakes one of two: nobody rings but itself.
#[test]
#[ignore = "long: make test-long"]
fn the_watchdog_sees_whom_a_timer_wakes() {
    let settings = settings(2, "random");
    model(2, move || {
        let (shared, seen) = idle(&settings);
        let watched = watched(&shared, &seen);
        let other = {
            let shared = StdArc::clone(&shared);
            thread::spawn(move || {
                while shared.stage() == Stage::Running {
                    shared.sleep_unless(None, || shared.stage() != Stage::Running);
                }
            })
        };
        shared.sleep_unless(Some(std::time::Duration::ZERO), || false);
        get_stuck(&shared, &seen);
        shared.enter(Stage::Draining);
        other.join().unwrap();
        shared.helper.stop();
        watched.join().unwrap();
    });
}
