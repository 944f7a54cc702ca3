//! Requests and threads that a shutdown has to leave behind: a worker that is stuck in a handler, what that holds up, and what others wait
//! for with it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use caudal_rt::sync::{Condvar, Mutex, Semaphore};
use caudal_rt::{ClassId, Failure, Handle, LeftBehind, Runtime, Shutdown, scope, sleep};

use crate::common::{Policy, builder_of, left_behind, runtime};

const LONG: Duration = Duration::from_secs(600);
/// Long enough for whoever is going to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One worker, which a handler keeps until it is let go.
struct Kept {
    runtime: Runtime,
    class: ClassId,
    over: Arc<AtomicBool>,
}

/// Takes in all that comes.
const LAS: Policy = Policy {
    dispatch: "{ policy = \"random\" }",
    discipline: "{ policy = \"las\", quantum = \"2us\" }",
    rebalance: "\"none\"",
};

impl Kept {
    fn new() -> Kept {
        Kept::with(runtime(1, false, |b| b.shutdown_bound(Duration::from_millis(20))))
    }

    fn with(runtime: Runtime) -> Kept {
        let class = runtime.class("held up").unwrap();
        Kept { runtime, class, over: Arc::default() }
    }

    /// A request that has begun when this returns.
    fn submit<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        let (begun, begin) = mpsc::channel();
        let told = move || {
            begun.send(()).unwrap();
            job()
        };
        let handle = self.runtime.submit(self.class, told).unwrap();
        begin.recv().unwrap();
        handle
    }

    /// From now on the worker is in one handler, and comes to no other request. Those that have begun wait for something by then.
    fn keep(&self) -> Handle<u64> {
        let (class, over) = (self.runtime.class("keeps").unwrap(), Arc::clone(&self.over));
        let (begun, begin) = mpsc::channel();
        let keeps = move || {
            sleep(Duration::from_millis(5));
            begun.send(()).unwrap();
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            7
        };
        let handle = self.runtime.submit(class, keeps).unwrap();
        begin.recv().unwrap();
        handle
    }

    fn let_go(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Value that says when it is dropped.
struct Says(Arc<AtomicBool>);

impl Drop for Says {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn nobody_waits_for_what_a_stuck_worker_holds_up() {
    let kept = Kept::new();
    let turns = Arc::new(AtomicU64::new(0));
    let parked = kept.submit(|| sleep(LONG));
    let counts = Arc::clone(&turns);
    let preempted = kept.submit(move || {
        loop {
            counts.fetch_add(1, Ordering::Relaxed);
            caudal_rt::probe();
        }
    });
    let keeps = kept.keep();
    let before = turns.load(Ordering::Relaxed);
    let left = left_behind(&kept.runtime, 1);
    assert_eq!(left, LeftBehind { abandoned: 2, threads: 1 });
    assert!(parked.is_done() && preempted.is_done() && !keeps.is_done());
    assert!(matches!(parked.wait(), Err(Failure::Abandoned)));
    assert!(matches!(preempted.wait(), Err(Failure::Abandoned)));
    kept.let_go();
    assert_eq!(keeps.wait().unwrap(), 7, "it ends as if nothing had happened");
    while kept.runtime.shutdown(Shutdown::Cancel).threads > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(turns.load(Ordering::Relaxed), before, "who was told that it is given up never goes on");
    let counters = kept.runtime.stats().counters;
    assert_eq!((counters.abandoned, counters.stopped), (2, 0));
}

/// They have not begun, and the worker has taken them in: nobody can take them away.
#[test]
fn what_a_stuck_worker_has_taken_in_and_not_begun_ends_unstarted() {
    let builder = builder_of(1, &LAS).pinning(caudal_rt::Pinning::None);
    let kept = Kept::with(builder.shutdown_bound(Duration::from_millis(20)).start().unwrap());
    let (over, go_on) = (Arc::clone(&kept.over), Arc::new(AtomicBool::new(false)));
    let going_on = Arc::clone(&go_on);
    // While it runs without a probe the two below come, and are taken in together.
    let first = kept.submit(move || {
        while !going_on.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let (begun, begin) = mpsc::channel();
    let keeps = kept.runtime.submit(kept.class, move || {
        begun.send(()).unwrap();
        while !over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let dropped = Arc::new(AtomicBool::new(false));
    let says = Says(Arc::clone(&dropped));
    let behind = kept.runtime.submit(kept.class, move || drop(says)).unwrap();
    go_on.store(true, Ordering::Relaxed);
    begin.recv().unwrap();
    assert_eq!(left_behind(&kept.runtime, 1), LeftBehind { abandoned: 0, threads: 1 });
    assert!(first.is_done() && behind.is_done() && dropped.load(Ordering::SeqCst));
    assert!(matches!(behind.wait(), Err(Failure::Stopped)));
    kept.let_go();
    keeps.unwrap().wait().unwrap();
}

/// Locks may outlive the runtime: whoever comes next must not wait for a request that never goes on.
#[test]
fn who_is_given_up_leaves_the_queues_that_it_is_in() {
    let lock = Arc::new(Mutex::new(0_u64));
    let permits = Arc::new(Semaphore::new(0));
    let (condition, guarded) = (Arc::new(Condvar::new()), Arc::new(Mutex::new(false)));
    let kept = Kept::new();
    let held = lock.lock();
    let of_request = Arc::clone(&lock);
    let locks = kept.submit(move || *of_request.lock() += 1);
    let of_request = Arc::clone(&permits);
    let takes = kept.submit(move || drop(of_request.acquire()));
    let (waits_at, with) = (Arc::clone(&condition), Arc::clone(&guarded));
    let waits = kept.submit(move || drop(waits_at.wait(with.lock())));
    let keeps = kept.keep();
    assert_eq!(left_behind(&kept.runtime, 1), LeftBehind { abandoned: 3, threads: 1 });
    assert!(locks.is_done() && takes.is_done() && waits.is_done());

    let next = {
        let lock = Arc::clone(&lock);
        let (begun, begin) = mpsc::channel();
        let next = std::thread::spawn(move || {
            begun.send(()).unwrap();
            lock.lock_timeout(PATIENCE).map(|mut value| *value += 10).is_ok()
        });
        begin.recv().unwrap();
        next
    };
    let waiter = {
        let (condition, guarded) = (Arc::clone(&condition), Arc::clone(&guarded));
        let (begun, begin) = mpsc::channel();
        let waiter = std::thread::spawn(move || {
            let guard = guarded.lock();
            begun.send(()).unwrap();
            condition.wait_timeout(guard, PATIENCE).1
        });
        begin.recv().unwrap();
        waiter
    };
    // It has begun to wait once it has let go of the mutex.
    drop(guarded.lock());
    condition.notify_one();
    permits.add(1);
    drop(held);
    assert!(next.join().unwrap(), "the mutex went to the one that was given up");
    assert_eq!(waiter.join().unwrap(), caudal_rt::sync::Woken::Notified);
    assert!(permits.try_acquire(1).is_some(), "the permit went to the one that was given up");
    assert_eq!(*lock.lock(), 10);
    kept.let_go();
    keeps.wait().unwrap();
}

/// The same when they were woken before, and their worker was stuck already.
#[test]
fn who_is_given_up_passes_on_what_it_was_given() {
    let lock = Arc::new(Mutex::new(0_u64));
    let permits = Arc::new(Semaphore::new(0));
    let kept = Kept::new();
    let held = lock.lock();
    let of_request = Arc::clone(&lock);
    let locks = kept.submit(move || *of_request.lock() += 1);
    let of_request = Arc::clone(&permits);
    let takes = kept.submit(move || drop(of_request.acquire()));
    let keeps = kept.keep();
    // Both are told, and cannot come.
    drop(held);
    permits.add(1);
    let held = lock.lock();
    let next = {
        let lock = Arc::clone(&lock);
        std::thread::spawn(move || lock.lock_timeout(PATIENCE).is_ok())
    };
    // Long enough for it to queue, most of the time: where it does not, the test sees less.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(left_behind(&kept.runtime, 1), LeftBehind { abandoned: 2, threads: 1 });
    assert!(locks.is_done() && takes.is_done());
    drop(held);
    assert!(next.join().unwrap(), "the mutex waits for the one that was given up");
    assert!(permits.try_acquire(1).is_some(), "the permit is with the one that was given up");
    kept.let_go();
    keeps.wait().unwrap();
}

/// It is notified, and then waits for the mutex when it is given up.
#[test]
fn who_is_given_up_while_it_takes_the_mutex_again_passes_its_notification_on() {
    let shared = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let take = |shared: &(Mutex<u32>, Condvar)| {
        let mut count = shared.0.lock();
        while *count == 0 {
            let (again, woken) = shared.1.wait_timeout(count, PATIENCE);
            count = again;
            if woken == caudal_rt::sync::Woken::TimedOut {
                return false;
            }
        }
        *count -= 1;
        true
    };
    let kept = Kept::new();
    let of_request = Arc::clone(&shared);
    let first = kept.submit(move || take(&of_request));
    // Both wait at the condition: who has the mutex now sees that the request has left it to wait.
    std::thread::sleep(Duration::from_millis(20));
    let of_thread = Arc::clone(&shared);
    let second = std::thread::spawn(move || take(&of_thread));
    std::thread::sleep(Duration::from_millis(20));
    let mut count = shared.0.lock();
    *count += 1;
    shared.1.notify_one();
    // The request is told, and comes as far as the mutex, before the worker is kept.
    let keeps = kept.keep();
    assert_eq!(left_behind(&kept.runtime, 1), LeftBehind { abandoned: 1, threads: 1 });
    assert!(first.is_done());
    drop(count);
    assert!(second.join().unwrap(), "the notification is lost");
    kept.let_go();
    keeps.wait().unwrap();
}

/// The queue of its worker is full when the shutdown ends all that is there.
#[test]
fn what_finds_no_room_at_the_end_is_dropped_once() {
    struct Counted(Arc<AtomicU64>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for _ in 0..20 {
        let builder = builder_of(1, &LAS).pinning(caudal_rt::Pinning::None).queues(2, 2);
        let kept = Kept::with(builder.shutdown_bound(Duration::from_millis(5)).start().unwrap());
        let keeps = kept.keep();
        let (made, dropped) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let (kept, made, dropped) = (&kept, &made, &dropped);
                scope.spawn(move || {
                    loop {
                        let counted = Counted(Arc::clone(dropped));
                        made.fetch_add(1, Ordering::SeqCst);
                        match kept.runtime.try_submit(kept.class, move || drop(counted)) {
                            Err(refused) if refused.why == caudal_rt::SubmitError::Stopped => break,
                            _ => {}
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(1));
            let left = left_behind(&kept.runtime, 1);
            assert_eq!(left, LeftBehind { abandoned: 0, threads: 1 });
        });
        kept.let_go();
        keeps.wait().unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), made.load(Ordering::SeqCst));
    }
}

/// Alone on its worker, which then asks no scheduler whether it may go on.
#[test]
fn one_that_never_ends_by_itself_is_given_up_in_time() {
    for two_level in [true, false] {
        let runtime = runtime(1, two_level, |b| b.shutdown_bound(Duration::from_millis(500)));
        let class = runtime.class("alone").unwrap();
        let (begun, begin) = mpsc::channel();
        let alone = runtime.submit(class, move || {
            begun.send(()).unwrap();
            loop {
                caudal_rt::probe();
            }
        });
        begin.recv().unwrap();
        assert_eq!(left_behind(&runtime, 0), LeftBehind { abandoned: 1, threads: 0 });
        let alone: Handle<()> = alone.unwrap();
        assert!(matches!(alone.wait(), Err(Failure::Abandoned)));
    }
}

/// A worker's thread-local, which says when the thread's destructors run.
struct OfThread(AtomicU64);

static DESTROYED: AtomicBool = AtomicBool::new(false);

impl Drop for OfThread {
    fn drop(&mut self) {
        DESTROYED.store(true, Ordering::SeqCst);
    }
}

std::thread_local! {
    static OF_THREAD: OfThread = const { OfThread(AtomicU64::new(0)) };
}

/// A request of a scope borrows a thread-local of the worker on which the scope is; that worker ends before the request.
#[test]
fn what_is_lent_to_others_outlives_a_worker_that_has_given_up_the_lender() {
    let policy = Policy {
        dispatch: "{ policy = \"round-robin\" }",
        discipline: "{ policy = \"processor-sharing\", quantum = \"2us\" }",
        rebalance: "\"none\"",
    };
    let builder = builder_of(2, &policy).pinning(caudal_rt::Pinning::None);
    let runtime = builder.shutdown_bound(Duration::from_millis(500)).start().unwrap();
    let class = runtime.class("lends").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let (borrows, borrowed) = mpsc::channel();
    let of_children = Arc::clone(&over);
    let lends = runtime.submit(class, move || {
        OF_THREAD.with(|lent| {
            let here = std::thread::current().id();
            scope(|scope| {
                for _ in 0..2 {
                    let (borrows, over) = (borrows.clone(), Arc::clone(&of_children));
                    drop(scope.spawn(class, move || {
                        if std::thread::current().id() == here {
                            return;
                        }
                        borrows.send(()).unwrap();
                        while !over.load(Ordering::Relaxed) {
                            lent.0.fetch_add(1, Ordering::Relaxed);
                        }
                    }));
                }
            });
        });
    });
    borrowed.recv().unwrap();
    let left = left_behind(&runtime, 1);
    assert_eq!(left, LeftBehind { abandoned: 1, threads: 1 }, "the lender, and the borrower's thread");
    assert!(matches!(lends.unwrap().wait(), Err(Failure::Abandoned)));
    // The lender's thread, if it ended, would be through with that by now.
    std::thread::sleep(Duration::from_millis(100));
    assert!(!DESTROYED.load(Ordering::SeqCst), "destroyed while it is borrowed");
    over.store(true, Ordering::Relaxed);
    while runtime.shutdown(Shutdown::Cancel).threads > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!DESTROYED.load(Ordering::SeqCst));
}
