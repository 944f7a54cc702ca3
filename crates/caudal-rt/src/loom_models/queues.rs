//! Inboxes: stealing, cancelling, and the runtime's end, in which every request ends once.

use super::*;
use crate::Failure;
use crate::kernel::shared::Stage;
use crate::request::failure::SubmitError;
use crate::task::submit::RequestBuilder;

const DIRECT: &str = "random";

/// A thief takes the oldest request of worker 0 over to its own inbox.
fn steal(shared: &Shared, thief: u16) {
    let (victim, me) = (&shared.workers[0], &shared.workers[usize::from(thief)]);
    if let Some((cell, stamp)) = victim.inbox.pop()
        // SAFETY: the request has come out of that inbox.
        && unsafe { victim.give_away(cell, shared.place(thief)) }
    {
        me.inbox.push(cell, stamp).unwrap();
        me.board.received.store(1, Ordering::Relaxed);
    }
}

/// A worker that steals, then runs what it has.
fn thief(shared: &Arc<Shared>, number: u16) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        steal(&shared, number);
        work(&shared, number);
    })
}

/// How a request ended that nobody waits for any more.
fn ended(handle: Handle<Product>, tally: &Tally) -> Option<Failure> {
    let result = handle.wait();
    let failure = result.as_ref().err().map(|failure| match failure {
        Failure::Cancelled => Failure::Cancelled,
        Failure::Stopped => Failure::Stopped,
        other => panic!("{other}"),
    });
    drop(result);
    tally.check(failure.is_none());
    failure
}

#[test]
fn an_owner_a_thief_and_a_canceller() {
    let settings = settings(2, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let threads = [worker(&shared, 0), thief(&shared, 1)];
        let cancelled = handle.cancel();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(matches!(ended(handle, &tally), Some(Failure::Cancelled)), cancelled);
        assert_eq!([0, 1].map(|worker| gone(&shared, worker)), [1, 0], "what came there, and nothing else");
    });
}

#[test]
fn two_thieves_of_two_and_a_canceller() {
    let settings = settings(3, DIRECT);
    model(2, move || {
        let (shared, tallies) = (shared(&settings), [(); 2].map(|()| Arc::default()));
        let handles = [0, 1].map(|request| placed(&shared, 0, &tallies[request]).1);
        let threads = [thief(&shared, 1), thief(&shared, 2)];
        let cancelled = handles[1].cancel();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        work(&shared, 0);
        let [first, second] = handles;
        assert!(ended(first, &tallies[0]).is_none());
        assert_eq!(ended(second, &tallies[1]).is_some(), cancelled);
        assert_eq!([0, 1, 2].map(|worker| gone(&shared, worker)), [2, 0, 0]);
    });
}

/// A thread that the shutdown has given up on takes a request at that moment.
#[test]
fn a_thief_at_the_end() {
    let settings = settings(2, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let (_, handle) = placed(&shared, 0, &tally);
        let thief = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                steal(&shared, 1);
                shared.end_queued_if_stopping();
            })
        };
        shared.enter(Stage::Stopping);
        shared.end_queued();
        thief.join().unwrap();
        assert!(handle.is_done(), "nobody is going to end it");
        assert!(matches!(ended(handle, &tally), Some(Failure::Stopped)));
        assert_eq!([0, 1].map(|worker| gone(&shared, worker)), [1, 0]);
    });
}

/// It seems to be at a worker, whose requests the shutdown ends, and finds out that there was no room for it.
#[test]
fn a_submission_without_room_while_all_at_its_worker_are_ended() {
    let settings = settings(1, DIRECT);
    model(3, move || {
        let (shared, tallies) = (shared(&settings), [(); 3].map(|()| Arc::<Tally>::default()));
        let held = [0, 1].map(|request| placed(&shared, 0, &tallies[request]).1);
        let shutdown = {
            let shared = Arc::clone(&shared);
            // SAFETY: no request has started.
            thread::spawn(move || unsafe { shared.end_all_at(0, std::ptr::null_mut()) })
        };
        // Here, as loom tries the orders of accesses that it has seen both make: the cell has to be there when the others are searched.
        let class = ClassId::first(&shared.settings.classes);
        let submitted = RequestBuilder::of(&shared, class).try_submit(tallies[2].job()).ok();
        shutdown.join().unwrap();
        if let Some(handle) = submitted {
            assert!(matches!(ended(handle, &tallies[2]), Some(Failure::Stopped)));
        }
        tallies[2].check(false);
        shared.end_queued();
        for (handle, tally) in held.into_iter().zip(&tallies) {
            assert!(matches!(ended(handle, tally), Some(Failure::Stopped)));
        }
    });
}

fn submit(shared: &Arc<Shared>, tally: &Arc<Tally>) -> Result<Handle<Product>, SubmitError> {
    RequestBuilder::of(shared, ClassId::first(&shared.settings.classes)).submit(tally.job())
}

/// Whichever way requests come in, one that was accepted hears of the end.
fn submitted_at_the_end(dispatch: &str) {
    let settings = settings(1, dispatch);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let submitter = {
            let (shared, tally) = (Arc::clone(&shared), Arc::clone(&tally));
            thread::spawn(move || submit(&shared, &tally))
        };
        shared.enter(Stage::Stopping);
        shared.end_queued();
        match submitter.join().unwrap() {
            Ok(handle) => {
                assert!(handle.is_done(), "nobody is going to end it");
                assert!(matches!(ended(handle, &tally), Some(Failure::Stopped)));
            }
            Err(refused) => {
                assert_eq!(refused, SubmitError::Stopped);
                tally.check(false);
            }
        }
    });
}

#[test]
fn a_submission_at_the_end() {
    submitted_at_the_end(DIRECT);
}

#[test]
fn a_submission_to_a_dispatcher_at_the_end() {
    submitted_at_the_end("jsq");
}

/// A worker's life: it runs what comes, sleeps, and ends when the runtime drains and nothing is there.
fn live(shared: &Shared, number: u16) {
    let inbox = &shared.workers[usize::from(number)].inbox;
    loop {
        work(shared, number);
        let stage = shared.stage();
        if stage != Stage::Running && inbox.is_empty() {
            return shared.end_queued_if_stopping();
        }
        shared.event_count.sleep_unless(None, || !inbox.is_empty() || shared.stage() != stage);
    }
}

/// A request comes to a runtime that sleeps, or to one that drains, or to one that has ended.
#[test]
fn a_submission_to_a_runtime_that_drains() {
    let settings = settings(1, DIRECT);
    model(2, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || live(&shared, 0))
        };
        let submitter = {
            let (shared, tally) = (Arc::clone(&shared), Arc::clone(&tally));
            thread::spawn(move || submit(&shared, &tally))
        };
        shared.enter(Stage::Draining);
        worker.join().unwrap();
        shared.enter(Stage::Stopping);
        shared.end_queued();
        match submitter.join().unwrap() {
            Ok(handle) => {
                assert!(handle.is_done(), "nobody is going to end it");
                ended(handle, &tally);
                assert_eq!(gone(&shared, 0), 1);
            }
            Err(_) => tally.check(false),
        }
    });
}

/// A thief falls asleep while a request comes to a worker that does not take it out of its inbox, as one in a long handler does. The thief finds
/// the request before it sleeps, or is woken.
#[test]
fn a_thief_that_falls_asleep() {
    let settings = settings(2, DIRECT);
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let thief = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let has_run = || shared.workers[1].board.finished.load(Ordering::Relaxed) != 0;
                while !has_run() {
                    steal(&shared, 1);
                    work(&shared, 1);
                    if !has_run() {
                        shared.event_count.sleep_unless(None, || shared.any_inbox(|len| len > 0));
                    }
                }
            })
        };
        // As a submitter does, or a worker whose source has brought something.
        let (_, handle) = placed(&shared, 0, &tally);
        shared.wake_sleepers();
        thief.join().unwrap();
        assert!(ended(handle, &tally).is_none());
    });
}
