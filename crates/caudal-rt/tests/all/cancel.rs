//! Requests that are cancelled while they wait: they end as cancelled, leave every queue, and what was on its way to them goes to
//! others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::sync::{Condvar, Mutex, RwLock, Semaphore, mpsc, oneshot};
use caudal_rt::{Failure, Runtime, check_cancelled, sleep, yield_now};

use crate::common::{self, probes, runtime};

/// Counts that the frame that owns it was left.
struct Left(Arc<AtomicU64>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// A request that runs `wait` is cancelled once it has started; it ends so, and its frame is unwound.
fn cancelled(runtime: &Runtime, wait: impl FnOnce() + Send + 'static) {
    let class = runtime.class("waits").unwrap();
    let (started, left) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (says, frame) = (Arc::clone(&started), Left(Arc::clone(&left)));
    let handle = runtime
        .submit(class, move || {
            let _frame = frame;
            says.store(true, Ordering::Relaxed);
            wait();
        })
        .unwrap();
    while !started.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    // Every second one has parked by then, the others are about to.
    if CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!handle.cancel(), "it has started");
    assert!(matches!(handle.wait(), Err(Failure::Cancelled)));
    assert_eq!(left.load(Ordering::Relaxed), 1);
}

fn runtimes() -> [Runtime; 2] {
    [runtime(1, true, |b| b), runtime(2, false, |b| b)]
}

#[test]
fn at_a_mutex() {
    for runtime in runtimes() {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock();
        for _ in 0..10 {
            let (one, other) = (Arc::clone(&mutex), Arc::clone(&mutex));
            cancelled(&runtime, move || *one.lock() += 1);
            cancelled(&runtime, move || drop(other.lock_timeout(Duration::from_secs(3600))));
        }
        drop(guard);
        assert_eq!(mutex.try_lock().as_deref(), Some(&0));
    }
}

#[test]
fn at_a_reader_writer_lock() {
    for runtime in runtimes() {
        let lock = Arc::new(RwLock::new(0));
        let guard = lock.read();
        let (one, other) = (Arc::clone(&lock), Arc::clone(&lock));
        cancelled(&runtime, move || *one.write() += 1);
        assert_eq!(lock.try_read().as_deref(), Some(&0), "the writer holds up nobody any more");
        drop(guard);
        let guard = lock.write();
        cancelled(&runtime, move || drop(other.read()));
        drop(guard);
        assert!(lock.try_write().is_some());
    }
}

#[test]
fn at_a_semaphore() {
    for runtime in runtimes() {
        let semaphore = Arc::new(Semaphore::new(3));
        let held = semaphore.acquire_many(2);
        let waits = Arc::clone(&semaphore);
        cancelled(&runtime, move || drop(waits.acquire_many(3)));
        drop(held);
        assert_eq!(semaphore.available(), 3);
        assert!(semaphore.try_acquire(3).is_some());
    }
}

#[test]
fn at_a_condition_variable() {
    for runtime in runtimes() {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let waits = Arc::clone(&shared);
        cancelled(&runtime, move || {
            loop {
                drop(waits.1.wait(waits.0.lock()));
            }
        });
        assert!(shared.0.try_lock().is_some(), "it has not kept the mutex");
        shared.1.notify_all();
    }
}

#[test]
fn at_a_channel() {
    for runtime in runtimes() {
        let (sender, receiver) = mpsc::channel(1);
        let receiver = Arc::new(Mutex::new(receiver));
        let waits = Arc::clone(&receiver);
        cancelled(&runtime, move || assert!(waits.lock().recv().is_ok()));
        sender.send(1).unwrap();
        let full = sender.clone();
        cancelled(&runtime, move || full.send(2).unwrap());
        assert_eq!(receiver.lock().recv(), Ok(1));
        assert!(receiver.lock().try_recv().is_err(), "what was not sent has not come");
        sender.send(3).unwrap();
        assert_eq!(receiver.lock().recv(), Ok(3));
    }
}

#[test]
fn at_a_oneshot() {
    for runtime in runtimes() {
        let (sender, receiver) = oneshot::channel();
        cancelled(&runtime, move || assert!(receiver.recv().is_ok()));
        assert!(sender.send(1).is_err(), "the receiver went with the request");
    }
}

#[test]
fn asleep_yielding_and_asking() {
    for runtime in runtimes() {
        cancelled(&runtime, || sleep(Duration::from_secs(3600)));
        cancelled(&runtime, || {
            loop {
                yield_now();
            }
        });
        cancelled(&runtime, || {
            loop {
                check_cancelled();
                probes(1);
            }
        });
    }
}

#[test]
fn while_it_waits_for_another_request() {
    for runtime in runtimes() {
        let class = runtime.class("slow").unwrap();
        let (go, gate) = oneshot::channel::<()>();
        let slow = runtime.submit(class, move || gate.recv().unwrap()).unwrap();
        cancelled(&runtime, move || drop(slow.wait()));
        go.send(()).unwrap();
    }
}

/// Half of all that compete for a lock, permits and room are cancelled at any moment; the others get what they want, and
/// nothing is left behind.
#[test]
fn at_any_moment() {
    for runtime in [runtime(1, true, |b| b), runtime(2, true, |b| b), runtime(2, false, |b| b)] {
        runtime.set_quantum(Duration::from_micros(1));
        let class = runtime.class("x").unwrap();
        let (mutex, semaphore) = (Arc::new(Mutex::new(0_u64)), Arc::new(Semaphore::new(2)));
        let (sender, mut receiver) = mpsc::channel::<u64>(2);
        let sent = Arc::new(AtomicU64::new(0));
        let handles: Vec<_> = (0..400)
            .map(|_| {
                let (mutex, semaphore) = (Arc::clone(&mutex), Arc::clone(&semaphore));
                let (sender, sent) = (sender.clone(), Arc::clone(&sent));
                let work = move || {
                    for _ in 0..5 {
                        let mut guard = mutex.lock();
                        probes(3);
                        *guard += 1;
                        drop(guard);
                        let permit = semaphore.acquire_many(2);
                        probes(3);
                        drop(permit);
                        sender.send(1).unwrap();
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                };
                runtime.submit(class, work).unwrap()
            })
            .collect();
        drop(sender);
        let received = std::thread::spawn(move || {
            let mut received = 0;
            while let Ok(one) = receiver.recv() {
                received += one;
            }
            received
        });
        let mut returned = 0;
        for (i, handle) in handles.into_iter().enumerate() {
            if i % 2 == 0 {
                handle.cancel();
            }
            match handle.wait() {
                Ok(()) => returned += 1,
                Err(Failure::Cancelled) => assert_eq!(i % 2, 0),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(returned >= 200);
        assert_eq!(received.join().unwrap(), sent.load(Ordering::Relaxed));
        assert!(mutex.try_lock().is_some_and(|count| *count >= returned * 5));
        assert_eq!(semaphore.available(), 2);
    }
}

/// A notification that meets a cancellation goes to the other one.
#[test]
fn a_notification_is_passed_on() {
    let runtime = runtime(2, true, |b| b);
    let class = runtime.class("x").unwrap();
    for round in 0..300 {
        let shared = Arc::new((Mutex::new((0, 0)), Condvar::new()));
        let waits = |shared: &Arc<(Mutex<(u32, u32)>, Condvar)>| {
            let shared = Arc::clone(shared);
            let wait = move || {
                let mut guard = shared.0.lock();
                guard.0 += 1;
                let mut guard = shared.1.wait_while(guard, |(_, tokens)| *tokens == 0);
                guard.1 -= 1;
            };
            runtime.submit(class, wait).unwrap()
        };
        let (one, other) = (waits(&shared), waits(&shared));
        while shared.0.lock().0 < 2 {
            std::thread::yield_now();
        }
        std::thread::scope(|scope| {
            scope.spawn(|| one.cancel());
            (0..round % 50).for_each(|_| std::hint::spin_loop());
            shared.0.lock().1 = 1;
            shared.1.notify_one();
        });
        if one.wait().is_ok() {
            assert!(!other.is_done() || shared.0.lock().1 == 0);
            shared.0.lock().1 = 1;
            shared.1.notify_one();
        }
        other.wait().unwrap();
    }
}

/// The first waiter is notified, and cancelled before it has the mutex again: the second one gets the notification.
#[test]
fn a_notification_is_passed_on_by_who_waits_for_the_mutex() {
    for runtime in runtimes() {
        let class = runtime.class("x").unwrap();
        let shared = Arc::new((Mutex::new((0_u32, 0_u32)), Condvar::new()));
        let mut waiters = Vec::new();
        for number in 1..=2 {
            let own = Arc::clone(&shared);
            let wait = move || {
                let mut guard = own.0.lock();
                guard.0 += 1;
                own.1.wait_while(guard, |(_, tokens)| *tokens == 0).1 -= 1;
            };
            waiters.push(runtime.submit(class, wait).unwrap());
            // A request that has counted, and has left the mutex, is in the queue.
            while shared.0.lock().0 < number {
                std::thread::yield_now();
            }
        }
        let mut guard = shared.0.lock();
        guard.1 = 1;
        shared.1.notify_one();
        waiters[0].cancel();
        let first = waiters.remove(0);
        assert!(matches!(first.wait(), Err(Failure::Cancelled)));
        drop(guard);
        waiters.remove(0).wait().unwrap();
        assert_eq!(*shared.0.lock(), (2, 0));
    }
}

/// Its worker never gets the core back, and so can not tell it: it asks, and hears of it.
#[test]
fn a_shutdown_reaches_one_that_only_asks() {
    let policy = common::Policy {
        dispatch: "{ policy = \"random\" }",
        discipline: "{ policy = \"fcfs\" }",
        rebalance: "\"none\"",
    };
    let runtime = common::builder_of(1, &policy).pinning(caudal_rt::Pinning::None).start().unwrap();
    let runs = Arc::new(AtomicBool::new(false));
    let asks = {
        let runs = Arc::clone(&runs);
        runtime.submit(runtime.class("x").unwrap(), move || {
            loop {
                runs.store(true, Ordering::SeqCst);
                check_cancelled();
            }
        })
    };
    while !runs.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    assert_eq!(runtime.shutdown(caudal_rt::Shutdown::Cancel), caudal_rt::LeftBehind::default());
    let ended: Result<(), _> = asks.unwrap().wait();
    assert!(matches!(ended, Err(Failure::Cancelled)), "{ended:?}");
}
