//! State that the threads of one runtime, and the handles of its requests, share. All of them hold it by an `Arc` and call it at any time,
//! so everything in it is atomic, has a lock, or never changes. Requests that no worker is to run any more are ended here, too.

use std::sync::atomic;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use caudal_fiber::stack::StackBudget;
use caudal_policy::dispatch::AnyBlind;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_probe as probe;
use crossbeam_utils::CachePadded;

use crate::base::bell::Awaited;
use crate::base::clock::{Clock, now};
use crate::base::primitives::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use crate::base::say::say;
use crate::board::log::Logs;
use crate::board::measured::Classes;
use crate::board::pressure::Pressure;
use crate::board::timeline::Timelines;
use crate::board::{EventCounts, Mail, SharedWorker, Spent};
use crate::drive::sink::Flush;
use crate::kernel::entrance::Entrance;
use crate::kernel::helper::Helper;
use crate::kernel::settings::Settings;
use crate::kernel::sleep::EventCount;
use crate::queue::end_owner::{Claimant, heavy_barrier};
use crate::queue::flag::RemoteFlag;
use crate::queue::ring::Ring;
use crate::queue::ring::stack::TakeAllStack;
use crate::request::class::CLASSES_MAX;
use crate::request::ending::Owner;
use crate::request::ending::{end_unstarted, end_unstarted_if, give_up_if};
use crate::request::{Coroutine, Header, Outcome, Reference, RequestPhase, RequestPlace, StateSnapshot};

pub(crate) use crate::request::Request;

/// Stage of a runtime's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Stage {
    /// It takes requests.
    Running,
    /// It accepts no more requests, and lets those that it has end.
    Draining,
    /// It cancels the requests that it has.
    Cancelling,
    /// Its threads end.
    Stopping,
}

/// State of a request that comes out of an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It waits, and is to run.
    Waits,
    /// It has started elsewhere, and comes with its coroutine.
    Started,
    /// It has ended, and the queue's reference is gone.
    Ended,
}

/// Notice to all threads, in one word: the stage in the lowest bits, above them the number of times that stacks were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice(u32);

impl Notice {
    /// The notice of a runtime that has just begun.
    pub(crate) const FIRST: Notice = Notice(Stage::Running as u32);
    const STAGE: u32 = 3;

    pub(crate) fn stage(self) -> Stage {
        const ALL: [Stage; 4] = [Stage::Running, Stage::Draining, Stage::Cancelling, Stage::Stopping];
        ALL[(self.0 & Notice::STAGE) as usize]
    }
}

/// The start of a runtime, by the counter and by the system's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began {
    pub(crate) cycles: u64,
    pub(crate) at: SystemTime,
}

/// State of one runtime that its threads share. See the [module](self).
pub(crate) struct Shared {
    /// Number of the runtime, which no other one of the process has.
    pub(crate) id: u64,
    /// Mark of this runtime in the state words of cells; not 0.
    pub(crate) mark: u32,
    /// Mark of the classes of its requests.
    pub(crate) of: u16,
    pub(crate) workers: Box<[SharedWorker]>,
    /// Where submissions enter.
    pub(crate) entrance: Entrance,
    pub(crate) event_count: EventCount,
    pub(crate) helper: Arc<Helper>,
    pub(crate) clock: Clock,
    pub(crate) classes: Classes,
    pub(crate) settings: Settings,
    /// Decisions, if they are logged.
    pub(crate) logs: Option<Logs>,
    /// A quantum that replaces the policy's, in cycles; 0: the policy's own.
    pub(crate) quantum: AtomicU64,
    /// A [`Notice`].
    notice: AtomicU32,
    /// Time since when the dispatcher has had nothing to do, in cycles; 0: it is busy. Not 0 without a dispatcher.
    pub(crate) dispatcher_idle_since: CachePadded<AtomicU64>,
    /// The dispatcher has placed the last request.
    pub(crate) dispatcher_done: AtomicBool,
    /// Workers that are stuck.
    pub(crate) stuck: AtomicU32,
    /// Counts of unusual events, for the statistics.
    pub(crate) counts: EventCounts,
    /// More requests come than the workers can do; the watchdog says so.
    pub(crate) overloaded: atomic::AtomicBool,
    /// A bit for each class of whose long requests none has passed a probe; the watchdog says so.
    pub(crate) unprobed: atomic::AtomicU64,
    pub(crate) timeline: Timelines,
    /// The stacks of all workers, once they are known.
    pub(crate) stacks: OnceLock<Arc<StackBudget>>,
    pub(crate) began: Began,
    /// Sinks of replies, which workers flush.
    pub(crate) sinks: Box<[Arc<dyn Flush>]>,
    /// Started requests that the shutdown has given up, by class.
    pub(crate) given_up: Box<[atomic::AtomicU64]>,
    spin: u64,
    /// Number of forks before the start. A process with more of them has none of the threads.
    forks: u64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(settings: Settings, clock: Clock, helper: Arc<Helper>) -> Shared {
        let inbox = |capacity| match settings.two_level && settings.system.rebalance == RebalanceConfig::None
        {
            true => Ring::with_one_producer(capacity),
            false => Ring::new(capacity),
        };
        let worker = |_| SharedWorker {
            board: CachePadded::default(),
            mail: CachePadded::new(Mail {
                woken: TakeAllStack::new(),
                flagged_by: AtomicU32::new(0),
                started: AtomicU32::new(0),
                probe_flag: RemoteFlag::new(),
                thread: AtomicU32::new(0),
            }),
            inbox: inbox(settings.inbox),
            spent: CachePadded::new(Spent::new()),
            pressure: Pressure::default(),
        };
        let two_level = settings.two_level;
        static RUNTIMES: atomic::AtomicU64 = atomic::AtomicU64::new(0);
        let id = RUNTIMES.fetch_add(1, Ordering::Relaxed);
        Shared {
            id,
            mark: (id % u64::from(u32::MAX)) as u32 + 1,
            of: settings.classes.of,
            dispatcher_idle_since: CachePadded::new(AtomicU64::new(u64::from(!two_level))),
            dispatcher_done: AtomicBool::new(!two_level),
            stuck: AtomicU32::new(0),
            counts: EventCounts::default(),
            overloaded: atomic::AtomicBool::new(false),
            unprobed: atomic::AtomicU64::new(0),
            timeline: Timelines::new(settings.workers),
            stacks: OnceLock::new(),
            began: Began { cycles: now(), at: SystemTime::now() },
            given_up: (0..CLASSES_MAX).map(|_| atomic::AtomicU64::new(0)).collect(),
            spin: clock.cycles_of(settings.spin),
            workers: (0..settings.workers).map(worker).collect(),
            entrance: match AnyBlind::of(settings.system.dispatch) {
                Some(policy) => Entrance::Inboxes(policy),
                None => Entrance::Dispatcher(Ring::new(settings.entry)),
            },
            event_count: EventCount::default(),
            helper,
            clock,
            classes: Classes::new(settings.workers),
            logs: settings
                .log
                .map(|capacity| Logs::new(capacity, settings.workers, two_level, settings.policy.clone())),
            sinks: settings.sinks.clone().into(),
            settings,
            quantum: AtomicU64::new(0),
            notice: AtomicU32::new(Stage::Running as u32),
            forks: crate::base::fork::count(),
        }
    }

    /// The place of requests that are at `worker`, or at the dispatcher ([`NOWHERE`](crate::request::NOWHERE)).
    #[inline(always)]
    pub(crate) fn place(&self, worker: u16) -> RequestPlace {
        RequestPlace::new(worker, self.mark)
    }

    /// Is this process a child of the one that has the threads?
    pub(crate) fn is_forked(&self) -> bool {
        crate::base::fork::count() != self.forks
    }

    /// The present [`Notice`]: workers compare it with the last one that they have taken.
    #[inline(always)]
    pub(crate) fn notice(&self) -> Notice {
        Notice(self.notice.load(Ordering::Acquire))
    }

    pub(crate) fn stage(&self) -> Stage {
        self.notice().stage()
    }

    /// Moves on to `stage`; a runtime never goes back to an earlier one.
    pub(crate) fn enter(&self, stage: Stage) {
        let later = |word| (Notice(word).stage() < stage).then_some(word & !Notice::STAGE | stage as u32);
        let _ = self.notice.fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
        self.event_count.wake_all();
    }

    /// Asks all workers to give idle stacks back, for one that has requests and no stack for them.
    pub(crate) fn ask_for_stacks(&self) {
        self.notice.fetch_add(Notice::STAGE + 1, Ordering::AcqRel);
    }

    /// Wakes the coroutine of `cell`, which is parked or about to park.
    #[inline]
    pub(crate) fn wake(&self, cell: Request) {
        let Some(worker) = cell.state.notify(self.mark) else { return };
        // SAFETY: cells stay where they are, and `notify` tells one caller alone to push.
        unsafe { self.workers[usize::from(worker)].mail.woken.push(cell.address()) };
        self.wake_sleepers();
    }

    /// Wakes the runtime's threads if they sleep: there is something to do. To be called after that has become visible to them.
    #[inline]
    pub(crate) fn wake_sleepers(&self) {
        if self.event_count.wake_if_asleep() {
            self.helper.wake_up();
        }
    }

    /// Time for which all threads have to be idle before they sleep, in cycles.
    pub(crate) fn settings_spin(&self) -> u64 {
        self.spin
    }

    /// Has everybody had nothing to do for `span` cycles at `time`?
    pub(crate) fn all_idle_for(&self, span: u64, time: u64) -> bool {
        let idle = |since: &AtomicU64| {
            let since = since.load(Ordering::Relaxed);
            since != 0 && time.saturating_sub(since) >= span
        };
        idle(&self.dispatcher_idle_since) && self.workers.iter().all(|worker| idle(&worker.board.idle_since))
    }

    /// Is any worker stuck in a handler?
    #[inline]
    pub(crate) fn any_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed) != 0
    }

    /// Has the dispatcher taken in everything that was submitted?
    pub(crate) fn entry_is_empty(&self) -> bool {
        self.entrance.queue().is_none_or(Ring::is_empty)
    }

    /// Gives up the started request with its coroutine, which is leaked; its handle is told.
    ///
    /// # Safety
    /// The caller has taken the request out of a queue.
    #[cold]
    pub(crate) unsafe fn give_up(&self, cell: Request) {
        // SAFETY: as the caller promises; the coroutine is forgotten, so nobody resumes it.
        unsafe {
            std::mem::forget(cell.take_coroutine());
            give_up_if(cell, self, |_| true);
        }
    }

    /// Says what a worker has to do with `cell`, which it has taken out of an inbox.
    ///
    /// # Safety
    /// The caller has [`Reference::Runtime`], which it has taken out of an inbox. [`Admission::Ended`] says that it has been dropped.
    #[inline(always)]
    pub(crate) unsafe fn admits(&self, cell: Request, stage: Stage, time: u64) -> Admission {
        // SAFETY: as the caller promises.
        unsafe { self.end_if_due(cell, stage, time) };
        match cell.state.load().phase() {
            RequestPhase::Waiting => Admission::Waits,
            RequestPhase::Started => Admission::Started,
            RequestPhase::Ending | RequestPhase::Done | RequestPhase::Free => {
                // SAFETY: that of the inbox, from which the caller has taken the request.
                unsafe { cell.drop_ref(Reference::Runtime) };
                Admission::Ended
            }
        }
    }

    /// Ends a request that has not started if its deadline is over, or the runtime cancels.
    ///
    /// # Safety
    /// The caller has a reference to the request.
    #[inline(always)]
    pub(crate) unsafe fn end_if_due(&self, cell: Request, stage: Stage, time: u64) {
        if cell.deadline.get() < time {
            // SAFETY: as the caller promises.
            unsafe { end_unstarted(cell, Outcome::Expired, self) };
        }
        if stage >= Stage::Cancelling {
            // SAFETY: as the caller promises.
            unsafe { end_unstarted(cell, Outcome::Stopped, self) };
        }
    }

    /// Ends every request that is still in a queue, once no thread is there to run it.
    ///
    /// Whoever pushes to a queue (a submission, a thief, the dispatcher) reads the stage afterwards, and the shutdown
    /// takes from the queues after it has set the stage, with a full fence between on both sides: one of them sees the other, so no request
    /// stays behind. A submission has the fence of [`Shared::wake_sleepers`].
    pub(crate) fn end_queued(&self) {
        fence(Ordering::SeqCst);
        let inboxes = self.workers.iter().map(|worker| &worker.inbox);
        for ring in inboxes.chain(self.entrance.queue()) {
            while let Some((cell, _)) = ring.pop() {
                // SAFETY: the queue's reference is this thread's now.
                unsafe {
                    if cell.state.load().is_started() {
                        self.give_up(cell);
                        continue;
                    }
                    end_unstarted(cell, Outcome::Stopped, self);
                    cell.drop_ref(Reference::Runtime);
                }
            }
        }
    }

    /// Ends the requests of workers that are stuck in a handler, except those of the handlers themselves. Called after the last stage has
    /// been entered and the queues have been emptied. See [`crate::queue::end_owner`].
    #[cold]
    pub(crate) fn end_held_up(&self) {
        if !heavy_barrier() {
            return;
        }
        for (number, worker) in self.workers.iter().enumerate() {
            let is_in_a_slice = worker.board.slice_start.load(Ordering::Acquire) != 0;
            if is_in_a_slice && worker.spent.end_owner.claim(Claimant::Shutdown) {
                let running = worker.spent.running.load(Ordering::Relaxed);
                // SAFETY: by the protocol of the claim, the worker resumes nobody any more.
                unsafe { self.end_all_at(number as u16, running) };
            }
        }
    }

    /// Ends all requests that are at `worker`, but for the one in the cell `but`.
    ///
    /// # Safety
    /// The coroutines of these requests do not run, and nobody resumes them from now on.
    pub(crate) unsafe fn end_all_at(&self, worker: u16, but: *mut Header) {
        let place = self.place(worker);
        let is_here = |state: StateSnapshot| state.is_at(place);
        crate::request::for_each(|cell| {
            if cell.address().as_ptr() != but && is_here(cell.state.load()) {
                // SAFETY: as the caller promises; `is_here` takes only requests that are at the worker.
                unsafe {
                    give_up_if(cell, self, is_here);
                    end_unstarted_if(cell, Outcome::Stopped, self, is_here);
                }
            }
        });
    }

    /// Called by threads that end, which may have pushed to a queue after the shutdown has emptied it.
    pub(crate) fn end_queued_if_stopping(&self) {
        fence(Ordering::SeqCst);
        if self.stage() == Stage::Stopping {
            self.end_queued();
        }
    }

    /// The calling thread sleeps with the others, as in [`EventCount::sleep_unless`]; the watchdog, which sleeps when all of them
    /// sleep, has to see then what the thread runs: a timer may have woken it, of which nobody tells the watchdog.
    pub(crate) fn sleep_unless(&self, longest: Option<Duration>, has_work: impl FnOnce() -> bool) {
        self.event_count.sleep_unless(longest, has_work);
        self.helper.wake_up();
    }

    /// As [`Shared::sleep_unless`], until one of `awaited` is ready as well: see [`EventCount::sleep_for_unless`].
    pub(crate) fn sleep_for_unless(
        &self,
        bell: usize,
        awaited: &[Awaited],
        longest: Option<Duration>,
        has_work: impl FnOnce() -> bool,
    ) {
        self.event_count.sleep_for_unless(bell, awaited, longest, has_work);
        self.helper.wake_up();
    }

    /// Has any worker's inbox so many requests that they are `wanted`? Asked by those that take from others, before they sleep.
    pub(crate) fn any_inbox(&self, wanted: impl Fn(u32) -> bool) -> bool {
        self.workers.iter().any(|worker| !worker.inbox.is_empty() && wanted(worker.inbox.len() as u32))
    }

    /// Cleans the thread up after a request that ended inside of a critical section, or with a lock, and counts it.
    #[cold]
    pub(crate) fn left_something(&self, cell: Request, coroutine: Option<&Coroutine>) {
        probe::forget_handlers();
        if let Some(coroutine) = coroutine {
            // SAFETY: a seat is there for as long as its coroutine.
            probe::request_ended(unsafe { coroutine.seat().as_ref() }.high);
        }
        if self.counts.unbalanced.fetch_add(1, Ordering::Relaxed) == 0 {
            say!(
                "a request of class `{}` has ended with a lock that it had taken, or inside of a critical section. Whoever wants the lock waits for \
                 ever, unless code without probes has given it back. Further requests that end so are counted as `unbalanced` in the statistics",
                self.settings.classes.name(cell.class.get())
            );
        }
    }

    /// Counts and says how many replies the sinks of `worker` could not send before its end.
    #[cold]
    pub(crate) fn count_unsent(&self, replies: usize, worker: usize) {
        self.counts.unsent.fetch_add(replies as u64, Ordering::Relaxed);
        say!(
            "worker {worker} has ended with up to {replies} replies that its sink could not send: whoever waits for them has not read what came \
             before. They are counted as `unsent` in the statistics"
        );
    }

    /// Counts a request that ended otherwise than by returning.
    #[cold]
    pub(crate) fn count_outcome(&self, outcome: Outcome) {
        let count = match outcome {
            Outcome::Returned => return,
            Outcome::Panicked => &self.counts.panicked,
            Outcome::Cancelled => &self.counts.cancelled,
            Outcome::Expired => &self.counts.expired,
            Outcome::Abandoned => &self.counts.abandoned,
            Outcome::Stopped => &self.counts.stopped,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Owner for Shared {
    #[inline]
    fn wake(&self, coroutine: Request) {
        self.wake(coroutine);
    }

    #[inline]
    unsafe fn tell(&self, request: Request) {
        // SAFETY: as the caller promises.
        unsafe { self.helper.tell(request) };
    }

    unsafe fn tell_directly(&self, request: Request) {
        // SAFETY: as the caller promises.
        unsafe { self.helper.tell_directly(request) };
    }

    fn given_up(&self, request: Request) {
        self.given_up[usize::from(request.class.get()) % CLASSES_MAX].fetch_add(1, Ordering::Relaxed);
        self.count_outcome(Outcome::Abandoned);
    }

    fn count(&self, outcome: Outcome) {
        self.count_outcome(outcome);
    }

    fn left(&self, worker: u16) {
        if let Some(worker) = self.workers.get(usize::from(worker)) {
            worker.board.left.fetch_add(1, Ordering::Relaxed);
        }
    }
}
