//! The counters that a dispatcher reads, while requests are started, ended, cancelled and taken back: in the end none is lost and
//! none is counted twice.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p caudal-rt --profile loom --target-dir target/loom --lib loom
//! ```

use super::*;
use crate::base::primitives::thread;
use crate::board::Board;
use crate::kernel::worker::WorkerCounts;
use crate::loom_models::{
    Product, Tally, counts_of, gone, model, run_one, settings, settle, shared, work, worker,
};
use crate::request::class::ClassId;
use crate::task::handle::Handle;
use crate::task::submit::RequestBuilder;

fn dispatcher(shared: &Arc<Shared>) -> Dispatcher<'_> {
    Dispatcher::new(shared, AnyDispatch::from(shared.settings.system.dispatch), Vec::new())
}

fn submit(shared: &Arc<Shared>, tally: &Arc<Tally>) -> Handle<Product> {
    RequestBuilder::of(shared, ClassId::first(&shared.settings.classes)).submit(tally.job()).unwrap()
}

fn canceller(handle: Handle<Product>) -> thread::JoinHandle<bool> {
    thread::spawn(move || handle.cancel())
}

/// All that is left is placed and run: then there is nothing anywhere, and every board says so.
fn finish(dispatcher: &mut Dispatcher<'_>) {
    let shared = dispatcher.shared;
    while !dispatcher.held.is_empty() {
        dispatcher.place_held();
        (0..shared.workers.len()).for_each(|number| work(shared, number as u16));
    }
    (0..shared.workers.len()).for_each(|number| work(shared, number as u16));
    dispatcher.refresh();
    for number in 0..shared.workers.len() {
        assert_eq!(dispatcher.view.counts(number), (0, 0), "what it counts as unfinished where nothing is");
        assert_eq!(
            dispatcher.view.placed_at(number),
            gone(shared, number),
            "as many have gone as were placed"
        );
    }
    settle();
}

/// Placing, running and cancelling one request.
#[test]
fn placed_run_and_cancelled() {
    let settings = settings(1, "jsq");
    model(3, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let handle = submit(&shared, &tally);
        let mut dispatcher = dispatcher(&shared);
        let (canceller, worker) = (canceller(handle), worker(&shared, 0));
        dispatcher.take_in();
        dispatcher.place_held();
        dispatcher.refresh();
        assert!(dispatcher.view.counts(0).0 <= 1, "never more than were placed");
        let cancelled = canceller.join().unwrap();
        worker.join().unwrap();
        finish(&mut dispatcher);
        tally.check(!cancelled);
    });
}

/// The inbox is full: the request is held, while it is cancelled and another one leaves the inbox.
#[test]
fn cancelled_before_a_full_inbox() {
    let settings = crate::kernel::settings::Settings { entry: 4, ..settings(1, "jsq") };
    model(2, move || {
        let (shared, tallies) = (shared(&settings), [(); 3].map(|()| Arc::default()));
        let [first, second, third] = [0, 1, 2].map(|request| submit(&shared, &tallies[request]));
        drop((first, second));
        let mut dispatcher = dispatcher(&shared);
        dispatcher.take_in();
        dispatcher.place_held();
        assert_eq!((dispatcher.view.counts(0).0, dispatcher.held.len()), (2, 1));
        let canceller = canceller(third);
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (cell, _) = shared.workers[0].inbox.pop().unwrap();
                run_one(&shared, 0, cell, &mut counts_of(&shared, 0));
            })
        };
        dispatcher.place_held();
        dispatcher.refresh();
        assert!(dispatcher.view.counts(0).0 <= 3, "never more than were placed");
        let cancelled = canceller.join().unwrap();
        worker.join().unwrap();
        finish(&mut dispatcher);
        [true, true, !cancelled].iter().zip(&tallies).for_each(|(&ran, tally)| tally.check(ran));
    });
}

/// A worker is stuck: its request is taken back, while it is cancelled, and while the worker goes on after all.
#[test]
fn taken_back_from_who_is_stuck() {
    let settings = settings(2, "jsq");
    model(2, move || {
        let (shared, tally) = (shared(&settings), Arc::default());
        let handle = submit(&shared, &tally);
        let mut dispatcher = dispatcher(&shared);
        dispatcher.take_in();
        dispatcher.place_held();
        let stuck = usize::from(handle.state().worker());
        shared.workers[stuck].board.stuck.store(1, Relaxed);
        let (canceller, worker) = (canceller(handle), worker(&shared, stuck as u16));
        dispatcher.rescue();
        dispatcher.place_held();
        dispatcher.refresh();
        let cancelled = canceller.join().unwrap();
        worker.join().unwrap();
        finish(&mut dispatcher);
        tally.check(!cancelled);
    });
}

/// A reading that counts a request as gone has no quanta of it any more.
#[test]
fn quanta_go_before_their_request() {
    let settings = settings(1, "jsq");
    model(3, move || {
        let shared = shared(&settings);
        let mut dispatcher = dispatcher(&shared);
        (0..2).for_each(|_| dispatcher.view.placed(0));
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let board: &Board = &shared.workers[0].board;
                let mut counts = WorkerCounts { inside: 2, ..WorkerCounts::default() };
                for quanta in [1, 2] {
                    counts.quanta += u64::from(quanta);
                    board.quanta.store(counts.quanta, Relaxed);
                    counts.end(quanta, board);
                }
            })
        };
        dispatcher.refresh();
        match dispatcher.view.counts(0) {
            (2, quanta) => assert!(quanta <= 2),
            (1, quanta) => assert!(quanta == 0 || quanta == 2),
            (gone, quanta) => assert_eq!((gone, quanta), (0, 0)),
        }
        worker.join().unwrap();
    });
}
