//! Locks and channels between requests of one worker, of two, and threads that are no workers. Critical parts have probes, so
//! that requests are pre-empted while they hold locks.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use caudal_rt::sync::mpsc::{self, NotReceived, NotSent};
use caudal_rt::sync::{Condvar, Mutex, RwLock, Semaphore, Woken, oneshot};
use caudal_rt::{Handle, Runtime};

use crate::common::{all, probes, runtime};

/// Value that only a lock makes safe to change.
#[derive(Default)]
struct Unguarded(UnsafeCell<u64>);

// SAFETY: the tests change it under the lock that they test.
unsafe impl Sync for Unguarded {}

impl Unguarded {
    /// Adds 1 in two steps, with probes in between: a second one in here would lose an addition.
    fn add(&self) {
        // SAFETY: under the lock that is tested.
        unsafe {
            let before = self.0.get().read_volatile();
            probes(8);
            self.0.get().write_volatile(before + 1);
        }
    }

    fn get(&self) -> u64 {
        // SAFETY: nobody adds any more, or under the lock.
        unsafe { self.0.get().read_volatile() }
    }
}

/// Runtimes with one worker and with two, both kinds of dispatch, and the shortest quantum there is.
fn runtimes() -> impl Iterator<Item = Runtime> {
    [(1, true), (1, false), (2, true), (2, false)].into_iter().map(|(workers, two_level)| {
        let runtime = runtime(workers, two_level, |b| b);
        runtime.set_quantum(Duration::from_micros(1));
        runtime
    })
}

/// `requests` requests and `threads` threads each run `work` once; all have ended when it returns.
fn contend(runtime: &Runtime, requests: usize, threads: usize, work: impl Fn() + Send + Sync + 'static) {
    let (class, work) = (runtime.class("contend").unwrap(), Arc::new(work));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let work = Arc::clone(&work);
            scope.spawn(move || work());
        }
        let handles: Vec<Handle<()>> = (0..requests)
            .map(|_| {
                let work = Arc::clone(&work);
                runtime.submit(class, move || work()).unwrap()
            })
            .collect();
        all(handles);
    });
}

#[test]
fn a_mutex_lets_one_in_at_a_time() {
    for runtime in runtimes() {
        for threads in [0, 2] {
            let (mutex, count) = (Mutex::new(()), Arc::new(Unguarded::default()));
            let counted = Arc::clone(&count);
            contend(&runtime, 40, threads, move || {
                for _ in 0..200 {
                    let _guard = mutex.lock();
                    counted.add();
                }
            });
            assert_eq!(count.get(), (40 + threads as u64) * 200);
        }
    }
}

#[test]
fn a_mutex_works_without_any_runtime() {
    static MUTEX: Mutex<u64> = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..5_000 {
                    *MUTEX.lock() += 1;
                    if i % 1_000 == 0 {
                        // Longer than others look before they sleep.
                        let _guard = MUTEX.lock();
                        std::thread::sleep(Duration::from_micros(200));
                    }
                }
            });
        }
    });
    assert_eq!(*MUTEX.lock(), 20_000);
}

#[test]
fn a_mutex_is_shared_by_two_runtimes() {
    let (one, other) = (runtime(1, true, |b| b), runtime(1, false, |b| b));
    let (mutex, count) = (Arc::new(Mutex::new(())), Arc::new(Unguarded::default()));
    let handles: Vec<_> = (0..40)
        .map(|i| {
            let runtime = if i % 2 == 0 { &one } else { &other };
            let (mutex, count) = (Arc::clone(&mutex), Arc::clone(&count));
            let class = runtime.class("x").unwrap();
            let work = move || {
                (0..200).for_each(|_| {
                    let _guard = mutex.lock();
                    count.add();
                });
            };
            runtime.submit(class, work).unwrap()
        })
        .collect();
    all(handles);
    assert_eq!(count.get(), 40 * 200);
}

#[test]
fn a_mutex_says_when_the_time_is_over() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let mutex = Arc::new(Mutex::new(5));
    let guard = mutex.lock();
    assert!(mutex.try_lock().is_none() && mutex.is_locked());
    let other = Arc::clone(&mutex);
    let late = runtime.submit(class, move || other.lock_timeout(Duration::from_millis(2)).is_err()).unwrap();
    assert!(late.wait().unwrap(), "the request gave up");
    std::thread::scope(|scope| {
        let late = scope.spawn(|| mutex.lock_timeout(Duration::from_millis(2)).is_err());
        assert!(late.join().unwrap(), "the thread gave up");
        let patient = scope.spawn(|| mutex.lock_timeout(Duration::from_secs(3600)).map(|guard| *guard));
        std::thread::sleep(Duration::from_millis(5));
        drop(guard);
        assert_eq!(patient.join().unwrap(), Ok(5));
    });
    assert_eq!(mutex.try_lock().map(|guard| *guard), Some(5), "those that gave up are in no queue");
}

#[test]
fn timeouts_and_locks_at_the_same_time() {
    for runtime in runtimes() {
        let (mutex, count) = (Mutex::new(()), Arc::new(Unguarded::default()));
        let (counted, got) = (Arc::clone(&count), Arc::new(AtomicU64::new(0)));
        let gotten = Arc::clone(&got);
        contend(&runtime, 30, 2, move || {
            for i in 0..200_u64 {
                if let Ok(_guard) = mutex.lock_timeout(Duration::from_nanos(i * 200)) {
                    counted.add();
                    gotten.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        assert_eq!(count.get(), got.load(Ordering::Relaxed));
        assert!(count.get() > 0);
    }
}

#[test]
fn a_reader_writer_lock_has_readers_or_a_writer() {
    for runtime in runtimes() {
        let (lock, count) = (RwLock::new(()), Arc::new(Unguarded::default()));
        let (counted, turn) = (Arc::clone(&count), AtomicU64::new(0));
        contend(&runtime, 30, 2, move || {
            for _ in 0..100 {
                if turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(4) {
                    let _guard = lock.write();
                    counted.add();
                } else {
                    let _guard = lock.read();
                    let before = counted.get();
                    probes(4);
                    assert_eq!(counted.get(), before, "nobody writes while somebody reads");
                }
            }
        });
        assert_eq!(count.get(), 32 * 100 / 4);
    }
}

#[test]
fn a_writer_that_waits_holds_up_later_readers() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let lock = Arc::new(RwLock::new(0));
    let reader = lock.read();
    let (writer, later) = (Arc::clone(&lock), Arc::clone(&lock));
    let writer = runtime.submit(class, move || *writer.write() = 1).unwrap();
    while lock.try_read().is_some() {
        std::thread::yield_now();
    }
    let later = runtime.submit(class, move || *later.read()).unwrap();
    assert!(lock.read_timeout(Duration::from_millis(2)).is_err());
    assert!(lock.write_timeout(Duration::from_millis(2)).is_err());
    assert!(!writer.is_done() && !later.is_done());
    drop(reader);
    assert_eq!(later.wait().unwrap(), 1, "it comes after the writer");
    writer.wait().unwrap();
}

#[test]
fn a_semaphore_has_so_many_permits_and_no_more() {
    for runtime in runtimes() {
        let (semaphore, inside, most) = (Semaphore::new(3), AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&most);
        contend(&runtime, 30, 2, move || {
            for i in 0..100_u32 {
                let count = 1 + i % 3;
                let _permit = semaphore.acquire_many(count);
                let now = inside.fetch_add(u64::from(count), Ordering::Relaxed) + u64::from(count);
                seen.fetch_max(now, Ordering::Relaxed);
                probes(4);
                inside.fetch_sub(u64::from(count), Ordering::Relaxed);
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::Relaxed)), "{most:?} permits in use of 3");
    }
}

#[test]
fn who_wants_many_permits_is_not_overtaken() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let semaphore = Arc::new(Semaphore::new(2));
    let held = semaphore.acquire();
    let many = Arc::clone(&semaphore);
    let many = runtime.submit(class, move || drop(many.acquire_many(2))).unwrap();
    while semaphore.try_acquire(1).is_some() {
        std::thread::yield_now();
    }
    assert_eq!(semaphore.available(), 1, "one is free, and kept for who wants two");
    assert!(semaphore.acquire_timeout(1, Duration::from_millis(2)).is_err());
    drop(held);
    many.wait().unwrap();
    semaphore.add(1);
    assert_eq!(semaphore.available(), 3);
    semaphore.acquire_many(2).forget();
    assert_eq!(semaphore.available(), 1);
}

/// A waiter for many that gives up lets those behind it through.
#[test]
fn giving_up_lets_others_through() {
    let semaphore = Semaphore::new(2);
    let held = semaphore.acquire();
    // On a busy machine the waiter for two may have given up before anybody has seen that it waits: then it waits again.
    let is_seen_to_wait = || {
        std::thread::scope(|scope| {
            let many = scope.spawn(|| semaphore.acquire_timeout(2, Duration::from_millis(20)).is_err());
            let waits = loop {
                if semaphore.try_acquire(1).is_none() {
                    break true;
                }
                if many.is_finished() {
                    break false;
                }
                std::thread::yield_now();
            };
            let one = scope.spawn(|| drop(semaphore.acquire()));
            assert!(many.join().unwrap());
            one.join().unwrap();
            waits
        })
    };
    while !is_seen_to_wait() {}
    drop(held);
}

#[test]
fn a_condition_variable_loses_no_notification() {
    for runtime in runtimes() {
        let class = runtime.class("x").unwrap();
        let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let taken = Arc::new(AtomicU64::new(0));
        const EACH: u64 = 300;
        let handles: Vec<_> = (0..20)
            .map(|i| {
                let (shared, taken) = (Arc::clone(&shared), Arc::clone(&taken));
                let work = move || {
                    for value in 0..EACH {
                        let (queue, changed) = &*shared;
                        if i % 2 == 0 {
                            queue.lock().push(value);
                            probes(2);
                            changed.notify_one();
                        } else {
                            let mut queue = changed.wait_while(queue.lock(), |queue| queue.is_empty());
                            taken.fetch_add(queue.pop().unwrap(), Ordering::Relaxed);
                        }
                    }
                };
                runtime.submit(class, work).unwrap()
            })
            .collect();
        all(handles);
        assert_eq!(taken.load(Ordering::Relaxed), 10 * EACH * (EACH - 1) / 2);
    }
}

#[test]
fn a_wait_for_a_condition_ends_with_its_time() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let wait = || {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let begun = Instant::now();
        let (guard, woken) = condvar.wait_timeout(mutex.lock(), Duration::from_millis(3));
        drop(guard);
        assert_eq!(woken, Woken::TimedOut);
        assert!(begun.elapsed() >= Duration::from_millis(2));
        condvar.notify_all();
    };
    wait();
    runtime.submit(class, wait).unwrap().wait().unwrap();
}

#[test]
fn all_that_wait_are_notified() {
    let runtime = runtime(2, true, |b| b);
    let class = runtime.class("x").unwrap();
    let shared = Arc::new((Mutex::new((0, false)), Condvar::new()));
    let handles: Vec<_> = (0..50)
        .map(|_| {
            let shared = Arc::clone(&shared);
            let work = move || {
                let mut guard = shared.0.lock();
                guard.0 += 1;
                drop(shared.1.wait_while(guard, |(_, go)| !*go));
            };
            runtime.submit(class, work).unwrap()
        })
        .collect();
    while shared.0.lock().0 < 50 {
        std::thread::yield_now();
    }
    shared.0.lock().1 = true;
    shared.1.notify_all();
    all(handles);
}

#[test]
fn a_channel_brings_every_value_once_and_in_order() {
    for runtime in runtimes() {
        for receiver_is_a_request in [true, false] {
            let class = runtime.class("x").unwrap();
            let (sender, mut receiver) = mpsc::channel::<(usize, u64)>(3);
            let receive = move || {
                let mut next = [0_u64; 12];
                while let Ok((from, value)) = receiver.recv() {
                    assert_eq!(value, next[from], "values of one sender come in its order");
                    next[from] += 1;
                    probes(2);
                }
                next
            };
            let send = |from, sender: mpsc::Sender<_>| {
                move || (0..300).for_each(|value| sender.send((from, value)).unwrap())
            };
            let received = std::thread::scope(|scope| {
                let handles: Vec<_> =
                    (0..10).map(|from| runtime.submit(class, send(from, sender.clone())).unwrap()).collect();
                (10..12).for_each(|from| drop(scope.spawn(send(from, sender.clone()))));
                drop(sender);
                let received = match receiver_is_a_request {
                    true => runtime.submit(class, receive).unwrap().wait().unwrap(),
                    false => scope.spawn(receive).join().unwrap(),
                };
                all(handles);
                received
            });
            assert_eq!(received, [300; 12]);
        }
    }
}

#[test]
fn a_channel_says_who_is_gone() {
    let (sender, mut receiver) = mpsc::channel(2);
    assert_eq!(receiver.try_recv(), Err(NotReceived::Empty));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(NotReceived::TimedOut));
    let value = Arc::new(());
    (0..2).for_each(|_| sender.send(Arc::clone(&value)).unwrap());
    assert_eq!(sender.try_send(Arc::clone(&value)).unwrap_err().why, NotSent::Full);
    let late = sender.send_timeout(Arc::clone(&value), Duration::from_millis(1)).unwrap_err();
    assert_eq!(late.why, NotSent::TimedOut);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| sender.send(Arc::clone(&value)).unwrap_err().why);
        std::thread::sleep(Duration::from_millis(5));
        drop(receiver);
        assert_eq!(waits.join().unwrap(), NotSent::Closed);
    });
    assert!(sender.is_closed());
    assert_eq!(Arc::strong_count(&value), 2, "what was in the channel is gone, {late:?} is not");
    let (sender, mut receiver) = mpsc::channel::<u8>(1);
    std::thread::scope(|scope| {
        let waits = scope.spawn(move || receiver.recv());
        std::thread::sleep(Duration::from_millis(5));
        drop(sender);
        assert_eq!(waits.join().unwrap(), Err(NotReceived::Closed));
    });
}

#[test]
fn a_oneshot_brings_its_value_or_says_who_is_gone() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    for _ in 0..200 {
        let (ask, asked) = oneshot::channel::<u64>();
        let (answer, answered) = oneshot::channel();
        let server = runtime.submit(class, move || answer.send(asked.recv().unwrap() + 1)).unwrap();
        ask.send(6).unwrap();
        assert_eq!(answered.recv(), Ok(7));
        server.wait().unwrap().unwrap();
    }
    let value = Arc::new(());
    let (sender, mut receiver) = oneshot::channel();
    assert_eq!(receiver.try_recv(), Err(NotReceived::Empty));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(NotReceived::TimedOut));
    sender.send(Arc::clone(&value)).unwrap();
    drop(receiver);
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    let back = sender.send(Arc::clone(&value)).unwrap_err();
    assert_eq!((back.why, Arc::strong_count(&value)), (NotSent::Closed, 2));
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(receiver.recv(), Err(NotReceived::Closed));
}

#[test]
fn many_requests_sleep_at_a_time() {
    for runtime in runtimes() {
        let class = runtime.class("x").unwrap();
        let (begun, asleep) = (Instant::now(), Arc::new((AtomicU64::new(0), AtomicU64::new(0))));
        let handles: Vec<_> = (0..200)
            .map(|i| {
                let asleep = Arc::clone(&asleep);
                let work = move || {
                    let (now, most) = &*asleep;
                    most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    caudal_rt::sleep(Duration::from_millis(20 + i % 5));
                    now.fetch_sub(1, Ordering::Relaxed);
                };
                runtime.submit(class, work).unwrap()
            })
            .collect();
        all(handles);
        assert!(begun.elapsed() >= Duration::from_millis(19));
        assert!(asleep.1.load(Ordering::Relaxed) > 2, "{asleep:?}: they sleep beside each other");
    }
}

#[test]
fn a_time_that_is_over_is_not_waited_for() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("x").unwrap();
    let wait = || {
        caudal_rt::sleep_until(Instant::now() - Duration::from_secs(3600));
        caudal_rt::sleep(Duration::ZERO);
        let later = Instant::now() + Duration::from_millis(3);
        caudal_rt::sleep_until(later);
        assert!(Instant::now() + Duration::from_micros(100) >= later);
    };
    wait();
    runtime.submit(class, wait).unwrap().wait().unwrap();
}
