//! The generator: one thread that sends every request at its intended time, reads answers, and never waits.
//! Used by `search` and the crate's users.
//!
//! A turn of the loop sends what is due, a batch at most, then takes the answers that have come, then gives up the requests whose
//! time-out is over. Latency counts from the *intended* time, so a generator or a service that stands still is charged for all requests
//! that were due meanwhile.
//!
//! **The share of the schedule that was kept**: if at the end of the schedule requests are unsent, the intended time of the first of
//! them over the length of the schedule; else 1. A run that falls below [`STOP_BELOW`] is stopped, also before its end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::clock::Clock;
use crate::flight::{Flight, Waiting};
use crate::record::{ClassRecord, OwnRecord};
use crate::schedule::{Due, Endless, Schedule};
use crate::traffic::Traffic;
use crate::transport::{Answer, Broken, Transport};

/// The kept share of the schedule below which a run stops.
pub const STOP_BELOW: f64 = 0.95;
/// The kept share of the schedule below which a run warns.
pub const WARN_BELOW: f64 = 0.999;
/// Requests that leave together at most.
const BATCH: usize = 32;
/// The time before a request is due in which the generator looks at nothing but the clock, because a look for answers takes as long.
const GUARD_NS: u64 = 1_000;
/// An idle turn that lasts longer is a stall: a look for answers takes a microsecond.
const STALL_NS: u64 = 10_000;
/// The time between two looks at whether to stop.
const CHECK_NS: u64 = 100_000_000;
/// The earliest time at which a run that is behind its schedule is stopped.
const STOP_AFTER_NS: u64 = 1_000_000_000;
/// The time from the call to the first request that may be due.
const LEAD_NS: u64 = 1_000_000;

/// The rule by which requests are sent.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has one of them, which every turn of the loop reads")]
pub enum Pace {
    /// Open loop: at intended times, whatever comes back.
    Open(Schedule),
    /// Closed loop: so many wait at any time, and an answer makes room for the next. Latency counts from the moment of sending.
    Closed {
        /// The requests.
        requests: Endless,
        /// How many wait.
        window: u32,
    },
}

/// A run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// When requests are sent.
    pub pace: Pace,
    /// The commands that they become.
    pub traffic: Traffic,
    /// The time after which a request counts as unanswered, in ns.
    pub timeout_ns: u64,
    /// The time at the beginning whose requests are sent and not counted, in ns.
    pub warm_up_ns: u64,
    /// The time at which nothing more is due, warm-up included, in ns after the start.
    pub end_ns: u64,
    /// The most requests that wait at any time.
    pub capacity: u32,
}

/// Counts for somebody who watches from another thread.
#[derive(Debug, Default)]
pub struct Live {
    /// Time since the start, in ns.
    pub time_ns: AtomicU64,
    /// Requests that were sent.
    pub sent: AtomicU64,
    /// Requests that were done.
    pub answered: AtomicU64,
    /// Requests that were refused, failed, wrong, unanswered or unsent.
    pub not_done: AtomicU64,
}

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All requests were sent.
    Whole,
    /// Too little of the schedule was kept.
    Behind,
    /// Somebody asked to stop.
    Interrupted,
    /// The way to the service broke.
    Broken(Broken),
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The requests, by class.
    pub classes: Vec<ClassRecord>,
    /// The generator itself.
    pub own: OwnRecord,
    /// How it ended.
    pub ended: Ended,
}

impl Pace {
    #[inline]
    fn next_at(&self) -> Option<u64> {
        match self {
            Pace::Open(schedule) => schedule.peek().map(|due| due.at_ns),
            Pace::Closed { .. } => None,
        }
    }

    /// The next request, if it is due.
    #[inline]
    fn take(&mut self, now_ns: u64, end_ns: u64, waiting: usize) -> Option<Due> {
        match self {
            Pace::Open(schedule) => {
                let due = schedule.peek().filter(|due| due.at_ns <= now_ns)?;
                schedule.advance();
                Some(due)
            }
            Pace::Closed { requests, window } => {
                (waiting < *window as usize && now_ns < end_ns).then(|| requests.take(now_ns))
            }
        }
    }

    fn is_over(&self, now_ns: u64, end_ns: u64) -> bool {
        match self {
            Pace::Open(schedule) => schedule.peek().is_none(),
            Pace::Closed { .. } => now_ns >= end_ns,
        }
    }
}

/// Runs until all requests were sent and answered or given up, or until `stop` is set.
///
/// # Panics
/// If there is no room for requests.
pub fn generate<C: Clock, T: Transport>(
    setup: Setup,
    clock: &C,
    transport: &mut T,
    live: &Live,
    stop: &AtomicBool,
) -> Measured {
    assert!(setup.capacity > 0, "a generator without room for requests");
    let classes = setup.traffic.classes().iter().map(|class| ClassRecord::new(class)).collect();
    let mut generator = Generator {
        flight: Flight::new(setup.capacity),
        classes,
        own: OwnRecord { kept: 1.0, ..OwnRecord::default() },
        setup,
        clock,
        transport,
        start_ns: clock.now_ns() + LEAD_NS,
        sent: 0,
        batch: [0; BATCH],
        answers: Vec::with_capacity(1_024),
        stray: 0,
    };
    let ended = generator.run(live, stop).unwrap_or_else(Ended::Broken);
    // Requests that still wait when a run is broken off have no answer.
    while let Some((_, waiting)) = generator.flight.give_up(u64::MAX) {
        generator.unanswered(waiting);
    }
    generator.own.stray = generator.stray + generator.transport.stray();
    generator.own.lost_datagrams = generator.transport.lost_datagrams();
    Measured { classes: generator.classes, own: generator.own, ended }
}

struct Generator<'a, C, T> {
    setup: Setup,
    clock: &'a C,
    transport: &'a mut T,
    flight: Flight,
    classes: Vec<ClassRecord>,
    own: OwnRecord,
    start_ns: u64,
    sent: u64,
    /// Intended times of the requests that leave together.
    batch: [u64; BATCH],
    answers: Vec<Answer>,
    stray: u64,
}

impl<C: Clock, T: Transport> Generator<'_, C, T> {
    /// The time since the start; 0 before it.
    #[inline]
    fn now_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.start_ns)
    }

    fn run(&mut self, live: &Live, stop: &AtomicBool) -> Result<Ended, Broken> {
        let (mut now, mut check, mut watch_kept) = (self.now_ns(), CHECK_NS, true);
        loop {
            let began = now;
            let leaving = self.take_due(now)?;
            if leaving > 0 {
                self.transport.flush()?;
                let after = self.now_ns();
                self.record_errors(leaving, now, after);
                now = after;
            }
            let is_near = leaving == 0 && self.setup.pace.next_at().is_some_and(|at| at < now + GUARD_NS);
            let came = if is_near { 0 } else { self.read()? };
            now = self.now_ns();
            if came > 0 {
                self.count_answers(now);
            }
            self.give_up(now);
            if leaving == 0 && came == 0 {
                self.idle(began, now);
            }
            let is_over = self.setup.pace.is_over(now, self.setup.end_ns);
            if is_over && self.flight.is_empty() {
                self.publish(live, now);
                return Ok(if self.own.kept < STOP_BELOW { Ended::Behind } else { Ended::Whole });
            }
            if watch_kept && now >= self.setup.end_ns {
                watch_kept = false;
                self.own.kept = self.kept(self.setup.end_ns);
            }
            if now >= check {
                check = now + CHECK_NS;
                self.publish(live, now);
                if stop.load(Relaxed) {
                    return Ok(Ended::Interrupted);
                }
                let kept = if watch_kept { self.kept(now) } else { self.own.kept };
                if kept < STOP_BELOW && now >= STOP_AFTER_NS.min(self.setup.end_ns) {
                    self.own.kept = kept;
                    return Ok(Ended::Behind);
                }
            }
        }
    }

    /// The share of the schedule up to `until_ns` that was sent.
    fn kept(&self, until_ns: u64) -> f64 {
        match self.setup.pace.next_at() {
            Some(at) if at < until_ns => at as f64 / until_ns as f64,
            _ => 1.0,
        }
    }

    /// Hands the requests that are due to the transport, at most a batch; returns how many will leave.
    #[inline]
    fn take_due(&mut self, now: u64) -> Result<usize, Broken> {
        let mut leaving = 0;
        while leaving < BATCH {
            let Some(due) = self.setup.pace.take(now, self.setup.end_ns, self.flight.len()) else { break };
            let (class, command) = self.setup.traffic.command(due);
            let is_counted = due.at_ns >= self.setup.warm_up_ns;
            if is_counted {
                self.classes[usize::from(class)].due += 1;
            }
            let Some(id) = self.flight.begin(Waiting { at_ns: due.at_ns, class }) else {
                self.classes[usize::from(class)].unsent += u64::from(is_counted);
                continue;
            };
            self.transport.send(id, command)?;
            self.batch[leaving] = due.at_ns;
            leaving += 1;
        }
        self.sent += leaving as u64;
        Ok(leaving)
    }

    /// The requests of a batch leave one after the other between two readings of the clock. A closed loop has no intended times.
    #[inline]
    fn record_errors(&mut self, leaving: usize, before: u64, after: u64) {
        if let Pace::Closed { .. } = self.setup.pace {
            return;
        }
        for (place, &at_ns) in self.batch[..leaving].iter().enumerate() {
            if at_ns >= self.setup.warm_up_ns {
                let left = before + (after - before) * place as u64 / leaving as u64;
                self.own.send_error.record(left.saturating_sub(at_ns));
            }
        }
    }

    #[inline]
    fn read(&mut self) -> Result<usize, Broken> {
        self.transport.poll(&mut self.answers)?;
        Ok(self.answers.len())
    }

    #[inline]
    fn count_answers(&mut self, now: u64) {
        for Answer { id, outcome } in self.answers.drain(..) {
            let Some(Waiting { at_ns, class }) = self.flight.end(id) else {
                self.stray += 1;
                continue;
            };
            if at_ns < self.setup.warm_up_ns {
                continue;
            }
            let (class, latency_ns) = (&mut self.classes[usize::from(class)], now.saturating_sub(at_ns));
            if latency_ns > self.setup.timeout_ns {
                class.unanswered += 1;
            } else {
                class.answer(outcome, latency_ns);
            }
        }
    }

    #[inline]
    fn give_up(&mut self, now: u64) {
        let Some(until_ns) = now.checked_sub(self.setup.timeout_ns + 1) else { return };
        while let Some((id, waiting)) = self.flight.give_up(until_ns) {
            self.transport.forget(id);
            self.unanswered(waiting);
        }
    }

    fn unanswered(&mut self, waiting: Waiting) {
        if waiting.at_ns >= self.setup.warm_up_ns {
            self.classes[usize::from(waiting.class)].unanswered += 1;
        }
    }

    /// A turn in which nothing happened.
    #[inline]
    fn idle(&mut self, began: u64, now: u64) {
        if began < self.setup.warm_up_ns || now > self.setup.end_ns {
            return;
        }
        let turn_ns = now - began;
        if turn_ns > STALL_NS {
            self.own.stalls.record(turn_ns);
        } else {
            self.own.idle_ns += turn_ns;
        }
    }

    fn publish(&mut self, live: &Live, now: u64) {
        self.own.watched_ns = now.min(self.setup.end_ns).saturating_sub(self.setup.warm_up_ns);
        live.time_ns.store(now, Relaxed);
        live.sent.store(self.sent, Relaxed);
        live.answered.store(self.classes.iter().map(|class| class.answered).sum(), Relaxed);
        live.not_done.store(self.classes.iter().map(ClassRecord::not_done).sum(), Relaxed);
    }
}
