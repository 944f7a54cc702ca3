//! Every interleaving of a few threads at protocols that go through several modules, within small bounds: what a request's
//! state word, the inboxes, the helper and the sleeping threads do together.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p caudal-rt --profile loom --target-dir target/loom --lib loom
//! ```
//!
//! | models | of |
//! | --- | --- |
//! | `requests` | one request: start, cancellation, end, handle dropped, waiting threads, futures and coroutines, the helper |
//! | `queues` | inboxes: stealing, cancellation, submission and the runtime's end |
//! | `parking` | who sleeps: the runtime's threads, outside threads, the helper with the watchdog |
//! | `dispatcher::loom_models` | the counts that a dispatcher reads |
//!
//! Sequentially consistent operations are to loom no more than acquiring and releasing ones; fences it knows. So where one thread
//! stores and then loads, and another one does the same in the opposite order, these models pass only with fences.
//!
//! The models run the runtime's own code but for coroutines, the pool of cells and the futex call, each of which has something
//! here that
//! stands for it. A thread of a model is no worker's (`context::current` is none), so it waits as outside threads do;
//! where a coroutine is meant, a thread does what that and its worker's loop would do.

mod parking;
mod queues;
mod requests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use caudal_config::{File, Options, SystemHost};

use crate::Builder;
use crate::base::clock::Clock;
use crate::base::primitives::{Ordering, thread};
use crate::kernel::settings::Settings;
use crate::kernel::shared::{Admission, Shared};
use crate::kernel::worker::WorkerCounts;
use crate::request::Request;
use crate::request::class::ClassId;
use crate::request::ending::hand_over;
use crate::request::new::new_request;
use crate::request::{Cells, Outcome, Reference, Wanted, coroutine};
use crate::task::handle::Handle;

/// All orders with up to `switches` switches between threads that could go on; afterwards every cell has to be free.
pub(crate) fn model(switches: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 5_000;
    builder.check(move || {
        let cells = Cells::begin();
        run();
        cells.end();
    });
}

/// A runtime without threads, with queues of two.
pub(crate) fn settings(workers: usize, dispatch: &str) -> Settings {
    let text = format!(
        "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {{ policy = \"{dispatch}\" }}\n\
         discipline = {{ policy = \"fcfs\" }}\n"
    );
    let options = Options { host: SystemHost::Runtime, ..Options::default() };
    let plan = File::parse_with(&text, "model.toml", &options).unwrap().systems.remove(0);
    let mut settings = Builder::of(plan).workers(workers).queues(2, 2).settings;
    settings.measuring = false;
    settings.name = Some(String::new());
    settings
}

pub(crate) fn shared(settings: &Settings) -> Arc<Shared> {
    Arc::new(Shared::new(settings.clone(), Clock::new(1e9), Arc::default()))
}

/// Fate of the closure of one request, and of its result.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    ran: AtomicU32,
    /// Times that what the closure captured was dropped.
    freed: AtomicU32,
    made: AtomicU32,
    dropped: AtomicU32,
}

struct Captured(Arc<Tally>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.freed.fetch_add(1, Relaxed);
    }
}

pub(crate) struct Product(Arc<Tally>);

impl Product {
    fn new(tally: &Arc<Tally>) -> Product {
        tally.made.fetch_add(1, Relaxed);
        Product(Arc::clone(tally))
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }
}

impl Tally {
    /// A closure that is counted, with a result that is.
    pub(crate) fn job(self: &Arc<Self>) -> impl FnOnce() -> Product + Send + 'static {
        let captured = Captured(Arc::clone(self));
        move || {
            captured.0.ran.fetch_add(1, Relaxed);
            Product::new(&captured.0)
        }
    }

    /// The request has ended: its closure was dropped once, `ran` times called, and its result dropped once.
    pub(crate) fn check(&self, ran: bool) {
        let counts = [&self.ran, &self.freed, &self.made, &self.dropped].map(|count| count.load(Relaxed));
        let ran = u32::from(ran);
        assert_eq!(counts, [ran, 1, ran, ran], "closure: called, dropped; result: made, dropped");
    }
}

/// A request in the inbox of `worker`, and its handle.
pub(crate) fn placed(shared: &Arc<Shared>, worker: u16, tally: &Arc<Tally>) -> (Request, Handle<Product>) {
    let cell = new_request(ClassId::first(&shared.settings.classes), 0, tally.job(), Wanted::ByHandle);
    // SAFETY: nobody else knows of the request.
    unsafe { cell.state.place_unshared(shared.place(worker)) };
    shared.workers[usize::from(worker)].inbox.push(cell, 0).unwrap();
    // SAFETY: nobody else has the handle's reference.
    (cell, unsafe { Handle::new(cell, Arc::clone(shared)) })
}

/// Runs a request as a worker does that has taken it out of its inbox.
pub(crate) fn run_one(shared: &Shared, worker: u16, cell: Request, counts: &mut WorkerCounts) {
    let stage = shared.stage();
    // SAFETY: the caller has taken the request out of the inbox, with its reference.
    unsafe {
        if shared.admits(cell, stage, 0) != Admission::Waits {
            return;
        }
        counts.inside += 1;
        shared.end_if_due(cell, stage, 0);
        let Some(started) = cell.start(shared.place(worker)) else {
            counts.inside -= 1;
            return cell.drop_ref(Reference::Runtime);
        };
        let outcome = coroutine::run(started);
        assert_eq!(outcome, Outcome::Returned);
        hand_over(cell, outcome, shared);
    }
    counts.end(0, &shared.workers[usize::from(worker)].board);
}

/// The counts of `worker`, as its board has them.
pub(crate) fn counts_of(shared: &Shared, worker: u16) -> WorkerCounts {
    let finished = shared.workers[usize::from(worker)].board.finished.load(Ordering::Relaxed);
    WorkerCounts { finished, ..WorkerCounts::default() }
}

/// Runs what is in the inbox of `worker`, until that is empty.
pub(crate) fn work(shared: &Shared, worker: u16) {
    let mut counts = counts_of(shared, worker);
    while let Some((cell, _)) = shared.workers[usize::from(worker)].inbox.pop() {
        run_one(shared, worker, cell, &mut counts);
    }
}

pub(crate) fn worker(shared: &Arc<Shared>, number: u16) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || work(&shared, number))
}

/// A result that nobody wanted is dropped by a thread of its own: waits until all that had requests has been given back.
pub(crate) fn settle() {
    // A reference that was lost fails the end of the run.
    let polls = (0..100).take_while(|_| !Cells::are_free());
    polls.for_each(|_| thread::yield_now());
}

/// The helper's thread, without a watchdog.
pub(crate) fn helper(shared: &Arc<Shared>) -> thread::JoinHandle<()> {
    let helper = Arc::clone(&shared.helper);
    thread::spawn(move || helper.run(|| false))
}

/// How many requests have gone from `worker` by its board, less those that came from others.
pub(crate) fn gone(shared: &Shared, worker: usize) -> u64 {
    let board = &shared.workers[worker].board;
    let gone = board.finished.load(Ordering::Acquire).wrapping_add(board.left.load(Ordering::Acquire));
    gone.wrapping_sub(board.received.load(Ordering::Acquire))
}
