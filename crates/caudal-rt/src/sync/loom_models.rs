//! Every interleaving of a few threads at a lock, permits and a gate, up to a number of switches that nobody asked for. What
//! waits is a thread of the model; some give up after one poll.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p caudal-rt --profile loom --target-dir target/loom --lib loom
//! ```

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread::{self, JoinHandle, Thread};

use super::gate::Gate;
use super::list::{GaveUp, Node, Waiter};
use super::lock::RawLock;
use super::permits::{NoPermits, Permits};
use crate::request::{CleanUp, CleanUpChain, CleanUpGuard};

/// A thread of the model.
struct Modelled {
    told: AtomicBool,
    thread: Thread,
    /// Why it gives up when it was not told at once; `None`: it does not.
    gives_up: Option<GaveUp>,
    /// It is given up when it waits: then its clean-up is run, and it unwinds, as nothing else does out of a wait.
    doomed: bool,
    clean_ups: Cell<*const CleanUp<'static>>,
}

fn patient() -> Modelled {
    let clean_ups = Cell::new(std::ptr::null());
    Modelled {
        told: AtomicBool::new(false),
        thread: thread::current(),
        gives_up: None,
        doomed: false,
        clean_ups,
    }
}

/// On a node that stays for ever, as that of a request which is given up does.
fn doomed(note: u32) -> &'static Node<Modelled> {
    Box::leak(Box::new(Node::new(Modelled { doomed: true, ..patient() }, note)))
}

/// Waits by `wait`, in which it may be given up; the answer if it was not.
fn or_given_up<T>(wait: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(wait)).ok()
}

impl CleanUpChain for Modelled {
    fn innermost(&self) -> *const CleanUp<'static> {
        self.clean_ups.get()
    }

    unsafe fn set_innermost(&self, clean_up: *const CleanUp<'static>) {
        self.clean_ups.set(clean_up);
    }
}

fn impatient(why: GaveUp) -> Modelled {
    Modelled { gives_up: Some(why), ..patient() }
}

impl Waiter for Modelled {
    unsafe fn on_given_up<'a>(&'a self, clean_up: &'a CleanUp<'a>) -> CleanUpGuard<'a> {
        // SAFETY: as the caller promises.
        unsafe { CleanUpGuard::new(self.doomed.then_some(self as &dyn CleanUpChain), clean_up) }
    }

    fn wait(&self) -> Result<(), GaveUp> {
        if self.doomed {
            // SAFETY: nobody else gives the waiter up, which ends its thread below.
            unsafe { self.run_all() };
            resume_unwind(Box::new("given up"));
        }
        match self.gives_up {
            Some(why) if !self.told.load(Ordering::Acquire) => Err(why),
            _ => {
                self.wait_to_be_told();
                Ok(())
            }
        }
    }

    fn wait_to_be_told(&self) {
        while !self.told.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn reset(&self) {
        self.told.store(false, Ordering::Relaxed);
    }

    unsafe fn tell(this: NonNull<Modelled>) {
        // SAFETY: it is valid until it is told.
        let modelled = unsafe { this.as_ref() };
        let thread = modelled.thread.clone();
        modelled.told.store(true, Ordering::Release);
        thread.unpark();
    }
}

/// All orders with up to `switches` switches between threads that could go on.
fn model(switches: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 5_000;
    builder.check(run);
}

struct Counted {
    lock: RawLock<Modelled>,
    /// loom fails the model if two threads are in here unordered.
    count: UnsafeCell<u64>,
}

// SAFETY: the lock that is tested orders the accesses, and loom checks that it does.
unsafe impl Sync for Counted {}
// SAFETY: as above.
unsafe impl Send for Counted {}

impl Counted {
    fn new() -> Arc<Counted> {
        Arc::new(Counted { lock: RawLock::new(), count: UnsafeCell::new(0) })
    }

    fn add(&self) {
        // SAFETY: under the lock.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }

    /// Adds under the lock, if `waiter` gets it.
    fn add_locked(&self, waiter: fn() -> Modelled) -> u64 {
        if self.lock.lock(waiter).is_err() {
            return 0;
        }
        self.add();
        self.lock.unlock();
        1
    }

    /// Nobody has it and nobody waits: `added` were added.
    fn check(&self, added: u64) {
        assert!(self.lock.try_lock(), "who gave up has left nothing behind");
        // SAFETY: under the lock.
        assert_eq!(self.count.with(|count| unsafe { *count }), added);
        self.lock.unlock();
    }
}

fn adder(counted: &Arc<Counted>, waiter: fn() -> Modelled) -> JoinHandle<u64> {
    let counted = counted.clone();
    thread::spawn(move || counted.add_locked(waiter))
}

fn times_out() -> Modelled {
    impatient(GaveUp::TimedOut)
}

fn is_cancelled() -> Modelled {
    impatient(GaveUp::Cancelled)
}

#[test]
fn two_at_a_lock() {
    model(4, || {
        let counted = Counted::new();
        let other = adder(&counted, patient);
        let mut added = counted.add_locked(patient);
        added += counted.add_locked(patient);
        added += other.join().unwrap();
        assert_eq!(added, 3);
        counted.check(3);
    });
}

/// One is given up while it waits, at any time of the other's and of the unlock.
#[test]
fn one_that_is_given_up_leaves_a_lock() {
    model(2, || {
        let counted = Counted::new();
        assert!(counted.lock.try_lock());
        let given_up = {
            let counted = counted.clone();
            thread::spawn(move || {
                if let Some(Ok(())) = or_given_up(|| counted.lock.lock_by(doomed(0))) {
                    counted.lock.unlock();
                }
            })
        };
        let other = adder(&counted, patient);
        counted.add();
        counted.lock.unlock();
        assert_eq!(other.join().unwrap(), 1);
        given_up.join().unwrap();
        counted.check(2);
    });
}

/// Two queue behind one that comes back: hand-off and barging meet.
#[test]
fn three_at_a_lock() {
    model(2, || {
        let counted = Counted::new();
        let others = [adder(&counted, patient), adder(&counted, patient)];
        let mut added = counted.add_locked(patient);
        added += counted.add_locked(patient);
        added += others.map(|other| other.join().unwrap()).iter().sum::<u64>();
        assert_eq!(added, 4);
        counted.check(4);
    });
}

/// Whoever is woken or handed the lock while it gives up passes that on.
fn one_gives_up_at_a_lock(waiter: fn() -> Modelled) {
    model(2, move || {
        let counted = Counted::new();
        let others = [adder(&counted, waiter), adder(&counted, patient)];
        let mut added = counted.add_locked(patient);
        added += others.map(|other| other.join().unwrap()).iter().sum::<u64>();
        assert!(added >= 2, "those that do not give up get it");
        counted.check(added);
    });
}

#[test]
fn one_times_out_at_a_lock() {
    one_gives_up_at_a_lock(times_out);
}

#[test]
fn one_is_cancelled_at_a_lock() {
    one_gives_up_at_a_lock(is_cancelled);
}

fn taker(permits: &Arc<Permits<Modelled>>, count: u32, waiter: fn() -> Modelled) -> JoinHandle<bool> {
    let permits = permits.clone();
    thread::spawn(move || {
        let taken = permits.take(count, waiter).is_ok();
        if taken {
            permits.give(count);
        }
        taken
    })
}

#[test]
fn permits_that_come_back_wake_who_waits() {
    model(2, || {
        let permits = Arc::new(Permits::new(2));
        let takers = [taker(&permits, 2, patient), taker(&permits, 1, patient)];
        permits.take(1, patient).unwrap();
        permits.give(1);
        assert!(takers.map(|taker| taker.join().unwrap()).iter().all(|&taken| taken));
        assert_eq!((permits.available(), permits.try_take(2)), (2, Ok(())));
    });
}

/// The first in the queue wants all, and gives up; the one behind it must not be left.
fn one_gives_up_at_permits(waiter: fn() -> Modelled) {
    model(2, move || {
        let permits = Arc::new(Permits::new(2));
        let takers = [taker(&permits, 2, waiter), taker(&permits, 1, patient)];
        permits.take(1, patient).unwrap();
        permits.give(1);
        assert!(takers.map(|taker| taker.join().unwrap())[1]);
        assert_eq!((permits.available(), permits.try_take(2)), (2, Ok(())));
    });
}

#[test]
fn one_times_out_at_permits() {
    one_gives_up_at_permits(times_out);
}

#[test]
fn one_is_cancelled_at_permits() {
    one_gives_up_at_permits(is_cancelled);
}

/// The first in the queue is given up while permits come; the one behind it gets what it had, or was waiting for.
#[test]
fn one_that_is_given_up_leaves_permits() {
    model(2, || {
        let permits = Arc::new(Permits::new(0));
        let given_up = {
            let permits = permits.clone();
            thread::spawn(move || {
                if let Some(Ok(())) = or_given_up(|| permits.take_by(doomed(1))) {
                    permits.give(1);
                }
            })
        };
        let other = taker(&permits, 1, patient);
        permits.give(1);
        assert!(other.join().unwrap());
        given_up.join().unwrap();
        assert_eq!((permits.available(), permits.try_take(1)), (1, Ok(())));
    });
}

#[test]
fn permits_are_closed_while_one_waits() {
    model(3, || {
        let permits = Arc::new(Permits::new(0));
        let waits = {
            let permits = permits.clone();
            thread::spawn(move || permits.take(1, patient))
        };
        permits.give(1);
        permits.close();
        let taken = waits.join().unwrap();
        assert_eq!(permits.available(), u64::from(taken.is_err()), "it has the permit, or is refused");
        assert_eq!(permits.try_take(1), Err(NoPermits::Closed));
    });
}

/// Somebody comes to a gate that is being opened.
fn one_at_a_gate(waiter: fn() -> Modelled) {
    model(3, move || {
        let gate = Arc::new(Gate::new());
        let passes = {
            let gate = gate.clone();
            thread::spawn(move || gate.pass(waiter))
        };
        gate.open();
        let passed = passes.join().unwrap();
        assert!(passed.is_ok() || waiter().gives_up.is_some(), "who is patient passes");
        assert!(gate.is_open());
    });
}

#[test]
fn nobody_stays_at_an_open_gate() {
    one_at_a_gate(patient);
}

#[test]
fn one_gives_up_at_a_gate() {
    one_at_a_gate(times_out);
}
