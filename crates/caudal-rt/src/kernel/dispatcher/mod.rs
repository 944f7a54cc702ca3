//! The dispatcher: one thread that takes requests from submitters and sources and places each at a worker, where the dispatch policy has to
//! see the workers. The start of a runtime makes it and runs it on a thread of its own. It owns the requests between the entrance and a
//! worker's inbox.
//!
//! It sees workers by their [`Board`](crate::board::Board)s, one cache line each, which it reads before every batch and whenever
//! nothing arrives; in between it counts what it places itself. Unfinished requests of a worker are
//! placed + received − finished − left: all four only grow, and wrap.
//!
//! A request whose worker's inbox is full is kept, and nothing else is taken in until it is placed: back-pressure.

mod log;
#[cfg(all(test, loom))]
mod loom_models;
mod timekeeper;
mod view;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use caudal_policy::dispatch::{AnyDispatch, Dispatch, Placement};
use caudal_policy::random::{Draw, hash};

use self::log::DispatchLog;
use self::timekeeper::{Timekeeper, all_have_ended};
use self::view::WorkersView;
use crate::base::bell::Awaited;
use crate::base::clock::now;
use crate::base::pause::pause;
use crate::board::log::Writer;
use crate::drive::source::{BATCH, Intake, Polled, PolledSource, Readiness, Seen, Source};
use crate::kernel::shared::{Shared, Stage};
use crate::queue::ring::SingleProducer;
use crate::request::Request;
use crate::request::ending::end_unstarted;
use crate::request::{NOWHERE, Outcome, Reference, RequestPhase, StateSnapshot};

/// Sleep of a thread whose source nothing can tell of: it has to look.
const NAP: Duration = Duration::from_micros(50);
/// Requests that a policy may hold before nothing more is taken in.
const HELD_MAX: usize = 4 * BATCH;

/// See the [module](self).
pub(crate) struct Dispatcher<'a> {
    shared: &'a Arc<Shared>,
    policy: AnyDispatch,
    view: WorkersView,
    seed: u64,
    inboxes: Vec<Inbox<'a>>,
    sources: Vec<PolledSource>,
    /// Requests that were taken in and are not placed: of the last batch, held by the policy, or refused by a full inbox.
    held: VecDeque<Request>,
    batch: Vec<Request>,
    next_number: u64,
    idle_since: u64,
    /// Present where workers' flags are to be raised.
    timekeeper: Option<Timekeeper>,
    log: Option<DispatchLog>,
}

/// An inbox, as the dispatcher fills it.
enum Inbox<'a> {
    /// By its only producer.
    Alone(SingleProducer<'a, Request>),
    /// Beside thieves.
    Shared(&'a crate::queue::ring::Ring<Request>),
}

impl Inbox<'_> {
    /// Prefetches the slot that is next to be filled, to which its worker has written last.
    #[inline(always)]
    fn fetch(&self) {
        if let Inbox::Alone(producer) = self {
            producer.fetch();
        }
    }

    #[inline(always)]
    fn push(&mut self, cell: Request, stamp: u64) -> bool {
        match self {
            Inbox::Alone(producer) => producer.push(cell, stamp).is_ok(),
            Inbox::Shared(ring) => ring.push(cell, stamp).is_ok(),
        }
    }
}

fn log_of(shared: &Shared) -> Option<DispatchLog> {
    let buffer = shared.logs.as_ref()?.dispatcher.as_ref()?;
    Some(DispatchLog::new(Writer::new(Arc::clone(buffer)), shared.workers.len()))
}

impl<'a> Dispatcher<'a> {
    pub(crate) fn new(
        shared: &'a Arc<Shared>,
        policy: AnyDispatch,
        sources: Vec<Box<dyn Source>>,
    ) -> Dispatcher<'a> {
        let inbox = |worker: &'a crate::board::SharedWorker| match worker.inbox.producer() {
            Some(alone) => Inbox::Alone(alone),
            None => Inbox::Shared(&worker.inbox),
        };
        Dispatcher {
            policy,
            view: WorkersView::new(shared.workers.len()),
            seed: hash(shared.settings.seed, 1),
            inboxes: shared.workers.iter().map(inbox).collect(),
            sources: sources.into_iter().map(PolledSource::new).collect(),
            held: VecDeque::with_capacity(2 * BATCH),
            batch: Vec::with_capacity(BATCH),
            next_number: 0,
            idle_since: 0,
            timekeeper: shared.settings.raise_flags.then(|| Timekeeper::new(shared)),
            log: log_of(shared),
            shared,
        }
    }

    /// Runs the dispatcher until the runtime drains and every request that was handed in has been placed.
    pub(crate) fn run(mut self) {
        loop {
            if self.round() {
                self.be_busy();
            } else if !self.rest() {
                break;
            }
        }
        self.shared.dispatcher_idle_since.store(now(), Relaxed);
        self.shared.dispatcher_done.store(true, std::sync::atomic::Ordering::Release);
        self.shared.event_count.wake_all();
        // Workers may end now. Until all have, this thread goes on to raise their flags.
        while self.timekeeper.is_some()
            && self.shared.stage() < Stage::Stopping
            && !all_have_ended(self.shared)
        {
            self.refresh();
            self.keep_time();
            std::hint::spin_loop();
        }
        self.keep_time();
        self.shared.end_queued_if_stopping();
    }

    /// One round: takes requests in and places them. Was there any?
    #[inline(always)]
    fn round(&mut self) -> bool {
        self.refresh();
        self.keep_time();
        let taken = self.take_in();
        let placed = self.place_held();
        taken || placed
    }

    /// Raises the flags of requests whose quantum is over, where flags are used.
    #[inline]
    fn keep_time(&mut self) {
        if let Some(timekeeper) = &mut self.timekeeper {
            let view = &self.view;
            timekeeper.check_some(self.shared, now(), |worker| view.counts(worker).0);
        }
    }

    /// Reads every worker's board.
    #[inline]
    fn refresh(&mut self) {
        for (worker, other) in self.shared.workers.iter().enumerate() {
            let board = &other.board;
            let gone = board.finished.load(Acquire).wrapping_add(board.left.load(Relaxed));
            let gone = gone.wrapping_sub(board.received.load(Relaxed));
            self.view.update(worker, gone, board.quanta.load(Relaxed));
        }
        self.inboxes.iter().for_each(Inbox::fetch);
    }

    /// Takes a batch from submitters and sources, unless requests are held that found no room. Did any come?
    #[inline]
    fn take_in(&mut self) -> bool {
        let room = if self.policy.holds() { HELD_MAX } else { 0 };
        if self.held.len() > room {
            return false;
        }
        let before = self.held.len();
        if let Some(entry) = self.shared.entrance.queue() {
            while self.held.len() < before + BATCH {
                let Some((cell, _)) = entry.pop() else { break };
                cell.number.set(self.next_number);
                self.next_number += 1;
                self.held.push_back(cell);
            }
        }
        let worked = !self.sources.is_empty() && self.poll_sources();
        self.held.len() > before || worked
    }

    /// Polls all sources. Did any work?
    fn poll_sources(&mut self) -> bool {
        let (batch, number) = (&mut self.batch, &mut self.next_number);
        let (running, of) = (self.shared.stage() == Stage::Running, self.shared.of);
        let mut worked = false;
        self.sources.retain_mut(|source| {
            if !running {
                return false;
            }
            let seen = Seen { unstarted: self.held.len(), ..Seen::default() };
            let polled = source.poll(&mut Intake::new(batch, number, of, BATCH, seen));
            self.held.extend(batch.drain(..));
            worked |= polled == Polled::Worked;
            polled != Polled::Over
        });
        worked
    }

    /// Places the held requests, in order, for as long as there is room. Was any placed?
    #[inline]
    fn place_held(&mut self) -> bool {
        let mut placed = false;
        while let Some(&cell) = self.held.front() {
            if !self.is_to_be_placed(cell) {
                self.held.pop_front();
                continue;
            }
            let draw = Draw::new(self.seed, cell.number.get());
            self.view.settle();
            let pool = match self.policy.on_arrival(draw, &mut self.view) {
                Placement::Pool(pool) | Placement::Moved { pool, .. } => Some(pool),
                Placement::Hold => None,
            };
            if let Some(log) = &mut self.log {
                log.decided(&self.view, cell.number.get(), pool.map(|pool| pool.0));
            }
            let Some(pool) = pool else { break };
            let worker = pool.index();
            if !self.put(worker, cell) {
                break;
            }
            self.held.pop_front();
            self.view.placed(worker);
            placed = true;
        }
        if placed {
            self.shared.wake_sleepers();
        }
        placed
    }

    /// Else it has ended, here or before, and the queue's reference is gone.
    #[inline]
    fn is_to_be_placed(&self, cell: Request) -> bool {
        match cell.state.load().phase() {
            RequestPhase::Waiting if !self.has_to_end(cell) => true,
            RequestPhase::Started => self.goes_on(cell),
            _ => {
                // SAFETY: that of the queue, from which the request came.
                unsafe { cell.drop_ref(Reference::Runtime) };
                false
            }
        }
    }

    /// A started request, which was on its way from a worker that is stuck now: it goes to another one, unless there is none any more.
    #[cold]
    fn goes_on(&self, cell: Request) -> bool {
        let stops = self.shared.stage() == Stage::Stopping;
        if stops {
            // SAFETY: the dispatcher has taken the request out of a queue.
            unsafe { self.shared.give_up(cell) };
        }
        !stops
    }

    /// `false`: the inbox is full.
    #[inline]
    fn put(&mut self, worker: usize, cell: Request) -> bool {
        let state = cell.state.load();
        if state.is_started() {
            self.shared.workers[worker].mail.started.fetch_add(1, Relaxed);
        }
        let place = self.shared.place(worker as u16);
        if state.waits_without_handle() {
            // SAFETY: nobody can cancel it, and nobody else has it.
            unsafe { cell.state.place_unshared(place) };
        } else if !cell.state.move_to(place) {
            // It was cancelled at this moment: it is placed all the same, and its worker drops it.
            self.shared.workers[worker].board.left.fetch_add(1, Relaxed);
        }
        let put = self.inboxes[worker].push(cell, cell.arrival.load(Relaxed));
        if !put {
            self.keep(worker, cell, state);
        }
        put
    }

    /// The inbox of `worker` was full: the request stays here, and its place says so to a canceller.
    #[cold]
    fn keep(&mut self, worker: usize, cell: Request, state: StateSnapshot) {
        if state.is_started() {
            self.shared.workers[worker].mail.started.fetch_sub(1, Relaxed);
        }
        if !cell.state.move_to(self.shared.place(NOWHERE)) {
            // It was cancelled while its place was that worker, and was counted there as one that has left: so it counts as placed, too.
            self.view.placed(worker);
        }
    }

    /// Ends the request if its deadline is over or the runtime cancels.
    #[inline]
    fn has_to_end(&self, cell: Request) -> bool {
        let deadline = cell.deadline.get();
        let outcome = if deadline != u64::MAX && deadline < now() {
            Outcome::Expired
        } else if self.shared.stage() >= Stage::Cancelling {
            Outcome::Stopped
        } else {
            return false;
        };
        // SAFETY: the dispatcher has the reference of the queue from which the request came.
        unsafe { end_unstarted(cell, outcome, &**self.shared) };
        true
    }

    #[inline]
    fn be_busy(&mut self) {
        if self.idle_since != 0 {
            self.idle_since = 0;
            self.shared.dispatcher_idle_since.store(0, Relaxed);
        }
    }

    /// Called when nothing came and nothing could be placed: spins or sleeps. `false` ends the thread.
    fn rest(&mut self) -> bool {
        let time = now();
        if !self.held.is_empty() {
            self.rescue();
            std::hint::spin_loop();
            return true;
        }
        if self.shared.stage() != Stage::Running && self.shared.entry_is_empty() {
            return false;
        }
        if self.shared.any_stuck() {
            self.rescue();
        }
        if self.idle_since == 0 {
            self.idle_since = time;
            self.shared.dispatcher_idle_since.store(time, Relaxed);
        }
        let spin = self.shared.settings_spin();
        if time - self.idle_since > spin && self.shared.all_idle_for(spin, time) {
            self.sleep();
        } else {
            std::hint::spin_loop();
        }
        true
    }

    /// Sleeps, for all threads have been idle for long enough; with a source that can not be waited for, not for long.
    fn sleep(&mut self) {
        let readiness = self.sources.iter_mut().map(PolledSource::descriptor);
        let mut awaited = Vec::new();
        for readiness in readiness {
            match readiness {
                Readiness::Descriptor(descriptor) => awaited.push(Awaited::Readable(descriptor)),
                // The next poll drops it.
                Readiness::Gone => return,
                Readiness::Unknown => return pause(NAP),
            }
        }
        let has_work = || {
            self.shared.entrance.queue().is_none_or(|entry| !entry.is_empty())
                || self.shared.stage() != Stage::Running
        };
        match awaited.is_empty() {
            true => self.shared.sleep_unless(None, has_work),
            false => self.shared.sleep_for_unless(self.shared.workers.len(), &awaited, None, has_work),
        }
    }

    /// Takes the requests of workers that are stuck in a handler back, to place them anew.
    #[cold]
    fn rescue(&mut self) {
        for worker in 0..self.shared.workers.len() {
            let other = &self.shared.workers[worker];
            if other.board.stuck.load(Relaxed) == 0 || self.shared.workers.len() == 1 {
                continue;
            }
            while let Some((cell, _)) = other.inbox.pop() {
                // SAFETY: the request has come out of that inbox.
                if unsafe { other.give_away(cell, self.shared.place(NOWHERE)) } {
                    self.held.push_back(cell);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::base::clock::Clock;
    use crate::task::submit::RequestBuilder;

    /// Workers that do not run, with room for so many requests in the inbox of each.
    fn shared(workers: usize, inbox: usize) -> Arc<Shared> {
        let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"jsq\" }\n\
            discipline = { policy = \"fcfs\" }\n";
        let settings = Builder::parse(text, "test.toml").unwrap().workers(workers).queues(inbox, 64).settings;
        Arc::new(Shared::new(settings, Clock::new(1e9), Arc::default()))
    }

    /// Work that was done while nothing arrived counts for the first request that does.
    #[test]
    fn counts_are_fresh_when_nothing_has_arrived() {
        let shared = shared(2, 64);
        let class = shared.settings.classes.class("x").unwrap();
        let policy = AnyDispatch::from(shared.settings.system.dispatch);
        let mut dispatcher = Dispatcher::new(&shared, policy, Vec::new());
        let submit = || drop(RequestBuilder::of(&shared, class).submit(|| ()).unwrap());
        (0..8).for_each(|_| submit());
        assert!(dispatcher.round());
        let lengths = || [0, 1].map(|worker: usize| shared.workers[worker].inbox.len());
        assert_eq!(lengths(), [4, 4]);
        for ended in [1, 0, 1, 0, 0, 1] {
            assert!(!dispatcher.round(), "nothing arrives");
            // It ends two, of which the next two take the places.
            let board = &shared.workers[ended].board;
            board.finished.store(board.finished.load(Relaxed) + 2, Relaxed);
            let before = lengths();
            for _ in 0..2 {
                submit();
                assert!(dispatcher.round());
            }
            let mut expected = before;
            expected[ended] += 2;
            assert_eq!(lengths(), expected);
        }
    }

    #[test]
    fn who_is_cancelled_before_a_full_inbox_was_never_in_it() {
        let shared = shared(1, 2);
        let class = shared.settings.classes.class("x").unwrap();
        let policy = AnyDispatch::from(shared.settings.system.dispatch);
        let mut dispatcher = Dispatcher::new(&shared, policy, Vec::new());
        let handles: Vec<_> =
            (0..4).map(|_| RequestBuilder::of(&shared, class).submit(|| ()).unwrap()).collect();
        dispatcher.take_in();
        dispatcher.place_held();
        dispatcher.refresh();
        assert_eq!((dispatcher.view.counts(0).0, dispatcher.held.len()), (2, 2));
        // The next one has been tried, and is cancelled while it is held; the last one at the very moment at which it is put.
        handles[2].cancel();
        dispatcher.place_held();
        dispatcher.refresh();
        assert_eq!((dispatcher.view.counts(0).0, dispatcher.held.len()), (2, 1));
        handles[3].cancel();
        let last = dispatcher.held[0];
        assert!(!dispatcher.put(0, last));
        dispatcher.place_held();
        dispatcher.refresh();
        assert_eq!((dispatcher.view.counts(0).0, dispatcher.held.len()), (2, 0));
    }
}
