//! Whether every request has ended exactly once, and whether the runtime has counted the same.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::time::Duration;

use caudal_rt::Shutdown;
use caudal_rt::stats::Snapshot;

use crate::world::{
    ABANDONED, ACCEPTED, CANCELLED, CANCELLED_EARLY, EXPIRED, HAS_DEADLINE, PANICKED, PERMITS, RETURNED,
    Record, SCOPED, STOPPED, World,
};

/// How requests have ended, as seen from outside.
#[derive(Debug, Default)]
struct Totals {
    started: u64,
    panicked: u64,
    /// Of those that had started, and of the others.
    cancelled: u64,
    cancelled_early: u64,
    /// Requests that did not start, and were not cancelled by their handles.
    unstarted: u64,
}

/// After the shutdown.
pub(crate) fn check(world: &World, stats: &Snapshot, end: Shutdown) {
    let mut totals = Totals::default();
    for (number, record) in world.records().iter().enumerate() {
        let wrong = what_is_wrong(record, end);
        world.expect(wrong.is_none(), || format!("request {number}: {}: {record:?}", wrong.unwrap_or("")));
        totals.add(record);
    }
    totals.check(world, stats, end);
    for (mutex, raised) in world.mutexes.iter().zip(&world.raised) {
        let value = mutex.try_lock().map(|guard| *guard);
        world.expect(value == Some(raised.load(Relaxed)), || format!("a mutex: {value:?}, {raised:?}"));
    }
    let value = world.lock.try_write().map(|guard| *guard);
    world.expect(value == Some(world.written.load(Relaxed)), || format!("the lock: {value:?}"));
    let permits = world.semaphore.available();
    world.expect(permits == u64::from(PERMITS), || format!("{permits} permits are left of {PERMITS}"));
}

/// Has this request not ended exactly once?
fn what_is_wrong(record: &Record, end: Shutdown) -> Option<&'static str> {
    let of = |count: &AtomicU8| count.load(Relaxed);
    let (ran, left, heard) = (of(&record.ran), of(&record.left), of(&record.heard));
    let results = of(&record.results);
    let started = ran == 1;
    [
        (of(&record.dropped) == 1, "its captures were not dropped once"),
        (ran <= 1, "it ran more than once"),
        ((left != 0) == started, "its frame was not left once"),
        (results == u8::from(left == RETURNED), "it has not one result"),
        (of(&record.results_dropped) == results, "its result was not dropped once"),
        (record.has(ACCEPTED) || !started, "it ran and was not accepted"),
        (!(record.has(CANCELLED_EARLY) && started), "it ran although it was cancelled before"),
        (heard != ABANDONED, "it was given up"),
        (heard == 0 || !started || heard == left, "its handle says otherwise"),
        (
            heard == 0 || started || [CANCELLED, EXPIRED, STOPPED].contains(&heard),
            "it has ended without a run",
        ),
        (heard != EXPIRED || record.has(HAS_DEADLINE), "it has expired without a deadline"),
        (heard != STOPPED || end == Shutdown::Cancel, "it was stopped, not drained"),
        (started || heard != CANCELLED || record.has(CANCELLED_EARLY | SCOPED), "nobody has cancelled it"),
    ]
    .into_iter()
    .find_map(|(holds, otherwise)| (!holds).then_some(otherwise))
}

impl Totals {
    fn add(&mut self, record: &Record) {
        let started = record.ran.load(Relaxed) == 1;
        let left = record.left.load(Relaxed);
        self.started += u64::from(started);
        self.panicked += u64::from(left == PANICKED);
        self.cancelled += u64::from(left == CANCELLED);
        if started || !record.has(ACCEPTED) {
            return;
        }
        let early = record.has(CANCELLED_EARLY);
        self.cancelled_early += u64::from(early);
        // A scope may have cancelled its requests without a word: in a drained runtime nothing else ends those early.
        let scoped = !early && record.has(SCOPED);
        self.unstarted += u64::from(!early && !scoped);
        self.cancelled_early += u64::from(scoped);
    }

    fn check(&self, world: &World, stats: &Snapshot, end: Shutdown) {
        let counters = stats.counters;
        let class = stats.class("stressed").expect("the class has been made");
        let same = |what: &str, counted: u64, runtimes: u64| {
            world.expect(counted == runtimes, || {
                format!("{what}: {counted}, and {runtimes} by the runtime; {self:?}")
            });
        };
        same("started", self.started, class.queueing.count());
        same("ended after a start", self.started, class.sojourn.count());
        same("ended at workers", self.started, stats.finished());
        same("panicked", self.panicked, counters.panicked);
        same("given up", 0, counters.abandoned);
        same("ended in critical sections", 0, counters.unbalanced);
        same("inside", 0, stats.workers.iter().map(|worker| u64::from(worker.inside)).sum());
        same("in inboxes", 0, stats.workers.iter().map(|worker| worker.inbox).sum());
        let (full, stopped) = (world.full.load(Relaxed), world.stopped.load(Relaxed));
        if end == Shutdown::Drain {
            same("cancelled", self.cancelled + self.cancelled_early, counters.cancelled);
            same("expired", self.unstarted, counters.expired);
            same("stopped", 0, counters.stopped);
            same("refused", full, counters.refused);
            same("refused after the end", 0, stopped);
        } else {
            // Whether a scope or the shutdown ended an unstarted request is not known, nor who was refused at a full queue.
            let ended = self.cancelled + self.cancelled_early + self.unstarted;
            same("ended early", ended, counters.cancelled + counters.expired + counters.stopped);
            let refused = full..=full + stopped;
            world.expect(refused.contains(&counters.refused), || {
                format!("{} refused: {refused:?}", counters.refused)
            });
        }
    }
}

/// How often it is looked whether anything goes on, and after how many looks without any progress the test gives up.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOKS_MAX: u32 = 1_800;

/// Ends the process with what is known if nothing ends any more: a test that hangs says nothing.
pub(crate) fn watch(world: &World, over: &AtomicBool, title: String) {
    let (mut gone, mut looks) = (0, 0);
    while !over.load(Relaxed) {
        std::thread::sleep(LOOK_EVERY);
        looks = if world.gone() == gone { looks + 1 } else { 0 };
        gone = world.gone();
        if looks == LOOKS_MAX {
            eprintln!("{title}: nothing ends any more; {gone} of {} requests are gone; left:", world.made());
            let records = world.records().iter().enumerate();
            let left = records.filter(|(_, record)| record.dropped.load(Relaxed) == 0);
            left.take(20).for_each(|(number, record)| eprintln!("{number}: {record:?}"));
            std::process::abort();
        }
    }
}
