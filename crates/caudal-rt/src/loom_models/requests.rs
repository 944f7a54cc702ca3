//! One request: who starts it, cancels it, ends it, waits for it, or lets go of it.

use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::*;
use crate::Failure;
use crate::base::primitives::AtomicBool;
use crate::request::coroutine::Started;
use crate::request::ending::give_up_if;
use crate::request::{Join, Wanted};
use crate::task::handle::{Heed, Waited};

const DIRECT: &str = "random";

/// Whoever wins has the closure, and the counts say so.
#[test]
fn start_against_cancel() {
    let settings = settings(1, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let worker = worker(&shared, 0);
        let cancelled = handle.cancel();
        drop(handle);
        worker.join().unwrap();
        settle();
        tally.check(!cancelled);
        assert_eq!(shared.counts.cancelled.load(Relaxed), u64::from(cancelled));
        let left = shared.workers[0].board.left.load(Ordering::Acquire);
        assert_eq!((left, gone(&shared, 0)), (u64::from(cancelled), 1));
    });
}

/// Whoever comes second of the request's end and the handle's drops the result, and frees the cell.
#[test]
fn end_against_drop() {
    let settings = settings(1, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let worker = worker(&shared, 0);
        drop(handle);
        worker.join().unwrap();
        settle();
        tally.check(true);
    });
}

/// A request that a worker runs while the helper tells, and `wait`, on the model's first thread, waits.
fn ended_and_told(switches: usize, wait: impl Fn(Handle<Product>) + Send + Sync + 'static) {
    let settings = settings(1, DIRECT);
    model(switches, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let threads = [worker(&shared, 0), helper(&shared)];
        wait(handle);
        let [worker, helper] = threads;
        worker.join().unwrap();
        shared.helper.stop();
        helper.join().unwrap();
        settle();
        tally.check(true);
        assert_eq!(shared.helper.expected(), 0, "who was expected was told, or has gone");
    });
}

#[test]
fn a_thread_waits_for_the_end() {
    ended_and_told(3, |handle| assert!(handle.wait().is_ok()));
}

/// It has asked to be told, and goes away.
#[test]
#[ignore = "long: make test-long"]
fn a_thread_gives_up_waiting() {
    ended_and_told(3, |handle| {
        assert_ne!(handle.wait_for(Some(Duration::ZERO), Heed::Nothing), Waited::Cancelled)
    });
}

/// It gives up, and waits again.
#[test]
fn a_thread_waits_twice() {
    ended_and_told(3, |handle| {
        let waited = handle.wait_for(Some(Duration::ZERO), Heed::Nothing);
        assert!(matches!(waited, Waited::TimedOut | Waited::Ended));
        assert!(handle.wait().is_ok());
    });
}

/// Waker of a future: wakes a thread of the model.
struct Unpark(AtomicBool, thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

#[test]
fn a_future_waits_for_the_end() {
    ended_and_told(3, |handle| {
        let unpark = Arc::new(Unpark(AtomicBool::new(false), thread::current()));
        let waker = Waker::from(Arc::clone(&unpark));
        let mut handle = pin!(handle);
        while handle.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            while !unpark.0.load(Ordering::Acquire) {
                thread::park();
            }
            unpark.0.store(false, Ordering::Relaxed);
        }
    });
}

/// It is polled once, then dropped: the waker goes along.
#[test]
#[ignore = "long: make test-long"]
fn a_future_goes_away() {
    ended_and_told(3, |handle| {
        let unpark = Arc::new(Unpark(AtomicBool::new(false), thread::current()));
        let mut handle = Box::pin(handle);
        let polled = handle.as_mut().poll(&mut Context::from_waker(&Waker::from(unpark)));
        assert!(matches!(polled, Poll::Pending | Poll::Ready(Ok(_))));
    });
}

/// The worker's thread goes on as the helper's: with two threads, of which none spins, loom tries more orders of their steps.
fn told_by_one_thread(wait: impl Fn(Handle<Product>) + Send + Sync + 'static) {
    let settings = settings(1, DIRECT);
    model(4, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                work(&shared, 0);
                shared.helper.stop();
                shared.helper.run(|| false);
            })
        };
        wait(handle);
        other.join().unwrap();
        settle();
        tally.check(true);
        assert_eq!(shared.helper.expected(), 0, "who was expected was told, or has gone");
    });
}

#[test]
fn a_thread_waits_for_one_other() {
    told_by_one_thread(|handle| assert!(handle.wait().is_ok()));
}

#[test]
fn a_thread_gives_up_on_one_other() {
    told_by_one_thread(|handle| {
        assert_ne!(handle.wait_for(Some(Duration::ZERO), Heed::Nothing), Waited::Cancelled);
    });
}

/// One waits while another cancels, and the worker starts it or throws it away.
#[test]
fn cancelled_while_a_thread_waits() {
    let settings = settings(1, DIRECT);
    model(1, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let handle = Arc::new(handle);
        let canceller = {
            let handle = Arc::clone(&handle);
            thread::spawn(move || handle.cancel())
        };
        let threads = [worker(&shared, 0), helper(&shared)];
        assert_eq!(handle.wait_for(None, Heed::Nothing), Waited::Ended);
        assert_eq!(tally.freed.load(Relaxed), 1, "the closure is gone when the handle hears of the end");
        let cancelled = canceller.join().unwrap();
        let [worker, helper] = threads;
        worker.join().unwrap();
        shared.helper.stop();
        helper.join().unwrap();
        let result = Arc::into_inner(handle).unwrap().wait();
        assert!(if cancelled { matches!(result, Err(Failure::Cancelled)) } else { result.is_ok() });
        drop(result);
        tally.check(!cancelled);
        assert_eq!((shared.helper.expected(), gone(&shared, 0)), (0, 1));
    });
}

/// A request that `worker` has started, whose coroutine the calling thread stands for; and the right to run it.
fn started_to_run(shared: &Shared, worker: u16, wanted: Wanted) -> (Request, Started) {
    let cell = new_request(ClassId::first(&shared.settings.classes), 0, || (), wanted);
    // SAFETY: nobody else has the request.
    (cell, unsafe { cell.start(shared.place(worker)) }.unwrap())
}

/// As [`started_to_run`], of a request that does not come to its end.
fn started(shared: &Shared, worker: u16) -> Request {
    let (cell, _) = started_to_run(shared, worker, Wanted::ByHandle);
    cell
}

/// The handle of a request that [`started_to_run`] has made with one.
fn handle_of(shared: &Arc<Shared>, cell: Request) -> Handle<()> {
    // SAFETY: nobody else has the handle's reference.
    unsafe { Handle::new(cell, Arc::clone(shared)) }
}

/// The coroutine of `me` parks, and its worker sleeps until that is woken.
fn park(shared: &Shared, me: Request, worker: usize) {
    // SAFETY: the calling thread stands for the coroutine.
    if !unsafe { me.state.park() } {
        return;
    }
    let woken = &shared.workers[worker].mail.woken;
    loop {
        let cells: Vec<_> = woken.take_all().collect();
        if let [cell] = cells[..] {
            assert_eq!(cell, me.address());
            // SAFETY: it has been taken off the list.
            return unsafe { me.state.unpark() };
        }
        assert!(cells.is_empty(), "it is on the list once at most");
        shared.event_count.sleep_unless(None, || !woken.is_empty());
    }
}

/// The coroutine of `me` comes to its end.
fn end(shared: &Shared, me: Request, started: Started, outcome: Outcome) {
    coroutine::run(started);
    // SAFETY: the request has just run.
    unsafe { hand_over(me, outcome, shared) };
}

fn given_up_later(shared: &Arc<Shared>, cell: Request, by_the_shutdown: bool) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        // SAFETY: the request has no coroutine.
        unsafe {
            if by_the_shutdown {
                return shared.end_all_at(0, std::ptr::null_mut());
            }
            give_up_if(cell, &*shared, |_| true);
        }
    })
}

/// A started request that its worker and a shutdown give up, while its handle cancels it and goes.
#[test]
#[ignore = "long: make test-long"]
fn given_up_by_two_while_the_handle_goes() {
    let settings = settings(1, DIRECT);
    model(3, move || {
        let shared = shared(&settings);
        let cell = started(&shared, 0);
        let handle = handle_of(&shared, cell);
        let threads = [false, true].map(|shutdown| given_up_later(&shared, cell, shutdown));
        let _ = handle.cancel();
        drop(handle);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.counts.abandoned.load(Relaxed), 1);
    });
}

#[test]
fn given_up_while_a_thread_waits() {
    let settings = settings(1, DIRECT);
    model(1, move || {
        let shared = shared(&settings);
        let cell = started(&shared, 0);
        let handle = handle_of(&shared, cell);
        let threads = [given_up_later(&shared, cell, true), helper(&shared)];
        assert!(matches!(handle.wait(), Err(Failure::Abandoned)));
        shared.helper.stop();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((shared.helper.expected(), shared.counts.abandoned.load(Relaxed)), (0, 1));
    });
}

/// Two parked requests with waiters are given up by a shutdown, while one of them is woken and their worker comes back out of a handler.
#[test]
fn given_up_while_they_are_woken() {
    let settings = settings(1, DIRECT);
    model(2, move || {
        let shared = shared(&settings);
        let cells = [(); 2].map(|()| {
            let cell = started(&shared, 0);
            // SAFETY: the calling thread stands for the coroutine.
            assert!(unsafe { cell.state.park() });
            shared.helper.expect();
            assert!(cell.state.ask_to_be_told());
            cell
        });
        let waker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || cells.map(|cell| shared.wake(cell)))
        };
        let shutdown = given_up_later(&shared, cells[0], true);
        let take_in_woken = || {
            for cell in shared.workers[0].mail.woken.take_all().reversed() {
                // SAFETY: addresses of cells are pushed there, and it has been taken off the list.
                unsafe { Request::of(cell).state.unpark() };
            }
        };
        take_in_woken();
        waker.join().unwrap();
        shutdown.join().unwrap();
        take_in_woken();
        shared.helper.stop();
        shared.helper.run(|| false);
        assert_eq!(cells.map(|cell| cell.told.load(Ordering::Acquire)), [1, 1], "each waiter is told");
        assert_eq!((shared.helper.expected(), shared.counts.abandoned.load(Relaxed)), (0, 2));
    });
}

/// A coroutine waits for a request that another worker runs.
#[test]
fn a_coroutine_joins() {
    let settings = settings(2, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (cell, handle) = placed(&shared, 0, &tally);
        let (me, run) = started_to_run(&shared, 1, Wanted::ByNobody);
        let worker = worker(&shared, 0);
        while !handle.is_done() {
            if cell.join(me) == Join::Waits {
                park(&shared, me, 1);
            }
        }
        cell.unjoin(me);
        assert!(handle.wait().is_ok());
        end(&shared, me, run, Outcome::Returned);
        worker.join().unwrap();
        tally.check(true);
    });
}

/// A coroutine goes away from a wait for a request that another worker runs; afterwards another coroutine of its worker waits.
#[test]
fn a_coroutine_joins_after_another_one() {
    let settings = settings(2, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (cell, handle) = placed(&shared, 0, &tally);
        let [(first, run_first), (second, run_second)] =
            [(); 2].map(|()| started_to_run(&shared, 1, Wanted::ByNobody));
        let worker = worker(&shared, 0);
        let joined = cell.join(first);
        cell.unjoin(first);
        while !handle.is_done() {
            if cell.join(second) == Join::Waits {
                park(&shared, second, 1);
            }
        }
        cell.unjoin(second);
        assert_ne!(joined, Join::Taken);
        assert!(handle.wait().is_ok());
        end(&shared, second, run_second, Outcome::Returned);
        worker.join().unwrap();
        end(&shared, first, run_first, Outcome::Returned);
        tally.check(true);
    });
}

/// A coroutine waits for a request that is cancelled, and is woken by another as well.
#[test]
fn a_coroutine_joins_who_is_cancelled() {
    let settings = settings(2, DIRECT);
    model(2, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (cell, handle) = placed(&shared, 0, &tally);
        let handle = Arc::new(handle);
        let (me, run) = started_to_run(&shared, 1, Wanted::ByNobody);
        let canceller = {
            let handle = Arc::clone(&handle);
            thread::spawn(move || handle.cancel())
        };
        let worker = worker(&shared, 0);
        while !handle.is_done() {
            if cell.join(me) == Join::Waits {
                park(&shared, me, 1);
            }
        }
        cell.unjoin(me);
        let cancelled = canceller.join().unwrap();
        worker.join().unwrap();
        drop(Arc::into_inner(handle));
        end(&shared, me, run, Outcome::Returned);
        tally.check(!cancelled);
    });
}

/// A coroutine parks while one cancels it and another wakes it.
#[test]
fn a_parked_coroutine_is_cancelled() {
    let settings = settings(1, DIRECT);
    model(2, move || {
        let shared = shared(&settings);
        let (me, run) = started_to_run(&shared, 0, Wanted::ByHandle);
        let handle = handle_of(&shared, me);
        let waker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.wake(me))
        };
        let canceller = thread::spawn(move || assert!(!handle.cancel(), "it has started"));
        while !me.state.load().is_cancelled() {
            park(&shared, me, 0);
        }
        end(&shared, me, run, Outcome::Cancelled);
        canceller.join().unwrap();
        waker.join().unwrap();
        assert!(me.state.load().is_done());
    });
}
