//! The short cut for one first-come-first-served queue on the same cores all the time, without an observer: each request is given its
//! start, without events. The engine calls [`run`] once a run, when `route` says so. It owns the run's state.
//!
//! Here a request that starts is never stopped, and requests start in the order in which they arrive. So each takes
//! the core that becomes free first, as soon as both are there (Kiefer and Wolfowitz's recursion); its start and its end are
//! known then. No task is kept and no event is needed: a batch of requests goes through a few loops, one after the other.
//! At a mark, the accounts are computed from the starts and ends that lie before it. The general host does the same with six times the
//! instructions; tests compare the two.
//!
//! ```text
//!   ring:   … | recorded … | started …                       | filled …
//!             | statistics | start and end are known,        | drawn
//!             | are made   | though they may lie in the future
//! ```

mod behind;
mod cores;
mod sorted;

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use caudal_workload::{ArrivalSampler, Demand, ServiceSampler};

use self::behind::Behind;
use self::cores::Cores;
use self::sorted::{BATCH, Batch};
use crate::engine::kernel::account::Account;
use crate::engine::kernel::intake::is_set;
use crate::engine::kernel::record::{Completed, Plain, Recorder, sum};
use crate::engine::kernel::run::{Outcome, Run, outcome};
use crate::engine::kernel::source;
use crate::engine::kernel::window::Length;
use crate::engine::kernel::window::{Audit, Window};

/// Statistics are made of a request when this many later ones have started, because hardly any request still runs then.
const LAG: usize = BATCH;

/// The drawn requests, column by column.
struct Ring {
    arrival_ps: Vec<u64>,
    demand: Vec<Demand>,
    /// Service and probes.
    work_ps: Vec<u64>,
    start_ps: Vec<u64>,
    /// The state of [`Behind`] at its start: the integral, and how fast it grows.
    behind_ps: Vec<u64>,
    long: Vec<u64>,
}

impl Ring {
    fn new(capacity: usize) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= BATCH);
        Ring {
            arrival_ps: vec![0; capacity],
            demand: vec![Demand::default(); capacity],
            work_ps: vec![0; capacity],
            start_ps: vec![0; capacity],
            behind_ps: vec![0; capacity],
            long: vec![0; capacity],
        }
    }

    #[inline(always)]
    fn mask(&self) -> usize {
        self.arrival_ps.len() - 1
    }

    #[inline(always)]
    fn end_ps(&self, number: usize) -> u64 {
        let at = number & self.mask();
        self.start_ps[at] + self.work_ps[at]
    }

    /// Twice the room; requests `live` stay.
    #[cold]
    fn grow(&mut self, live: Range<usize>) {
        let mut grown = Ring::new(2 * self.arrival_ps.len());
        let (old, new) = (self.mask(), grown.mask());
        for i in live {
            grown.arrival_ps[i & new] = self.arrival_ps[i & old];
            grown.demand[i & new] = self.demand[i & old];
            grown.work_ps[i & new] = self.work_ps[i & old];
            grown.start_ps[i & new] = self.start_ps[i & old];
            grown.behind_ps[i & new] = self.behind_ps[i & old];
            grown.long[i & new] = self.long[i & old];
        }
        *self = grown;
    }
}

/// A request that still ran when statistics were made of its neighbours.
#[derive(Clone, Copy)]
struct Late {
    number: usize,
    end_ps: u64,
    completed: Completed,
}

/// The cores, and how far the requests have come.
struct Starts {
    ring: Ring,
    cores: Cores,
    behind: Behind,
    workers: u32,
    /// Requests drawn.
    filled: usize,
    /// Requests that have arrived, and whose start is known.
    started: usize,
    now_ps: u64,
    /// Time before which all that was due is done, in ps.
    done_before_ps: u64,
    /// Work that has arrived.
    offered_ps: u128,
    /// Requests with more work than this are long. Work grows with the service time, probes included.
    long_ps: u64,
    measured: Range<usize>,
    /// Requests before this one have been recorded, or are among the late ones.
    recorded: usize,
    late: Vec<Late>,
    plain: Box<Plain>,
}

impl Starts {
    /// Lets the requests before `until` arrive, which are of the batch that was drawn last.
    fn start(&mut self, until: usize) {
        let requests = self.started..until;
        let at = requests.start & self.ring.mask();
        let places = at..at + requests.len();
        let sum_ps = sum(&self.ring.work_ps[places.clone()]);
        let mut change = [0; BATCH];
        let change = &mut change[..requests.len()];
        let mut batch = Batch {
            arrival_ps: &self.ring.arrival_ps[places.clone()],
            work_ps: &self.ring.work_ps[places.clone()],
            start_ps: &mut self.ring.start_ps[places],
            change,
            long_ps: self.long_ps,
        };
        self.cores.start(&mut batch, sum_ps);
        self.behind.count(&mut self.ring, requests, change);
        self.offered_ps += sum_ps;
        self.started = until;
    }

    /// Request `number` is about to arrive.
    fn advance_to(&mut self, number: usize) {
        self.now_ps = self.ring.arrival_ps[number & self.ring.mask()];
        self.done_before_ps = self.now_ps;
    }

    /// Room for a batch.
    fn make_room(&mut self) {
        let live = self.recorded.min(self.behind.before())..self.filled;
        if live.len() + BATCH > self.ring.arrival_ps.len() {
            self.ring.grow(live);
        }
    }

    /// Makes statistics of the requests before `until` that have started and are done, and of late ones that are done now.
    fn record(&mut self, recorder: &mut Recorder, until: usize) {
        let (measured, done_before_ps) = (&self.measured, self.done_before_ps);
        self.late.retain(|late| {
            let is_done = late.end_ps < done_before_ps;
            if is_done && measured.contains(&late.number) {
                recorder.push(late.completed);
            }
            !is_done
        });
        while self.recorded < until {
            let at = self.recorded & self.ring.mask();
            let places = at..(at + (until - self.recorded).min(BATCH)).min(self.ring.arrival_ps.len());
            let starts_ps = &self.ring.start_ps[places];
            let started = match starts_ps.last() {
                Some(&last_ps) if last_ps < done_before_ps => starts_ps.len(),
                _ => starts_ps.partition_point(|&start_ps| start_ps < done_before_ps),
            };
            if started == 0 {
                break;
            }
            self.record_started(recorder, self.recorded..self.recorded + started);
            self.recorded += started;
        }
    }

    /// Makes statistics of at most [`BATCH`] requests that have all started, and whose places in the ring are next to each other.
    fn record_started(&mut self, recorder: &mut Recorder, requests: Range<usize>) {
        let at = requests.start & self.ring.mask();
        let places = at..at + requests.len();
        let times = self.ring.arrival_ps[places.clone()].iter().zip(&self.ring.start_ps[places.clone()]);
        let (works_ps, demands) = (&self.ring.work_ps[places.clone()], &self.ring.demand[places]);
        let all_are_done = self.plain.fill(times.zip(works_ps.iter().zip(demands)), self.done_before_ps);
        let Range { start, end } = self.measured;
        if all_are_done && start <= requests.start && requests.end <= end {
            return recorder.push_first(&self.plain, requests.len());
        }
        for (at, number) in requests.enumerate() {
            let (end_ps, completed) = (self.ring.end_ps(number), self.plain.completed(at));
            if end_ps >= self.done_before_ps {
                self.late.push(Late { number, end_ps, completed });
            } else if self.measured.contains(&number) {
                recorder.push(completed);
            }
        }
    }

    /// Requests that have arrived and are not done: number, end, work.
    fn unfinished(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let mask = self.ring.mask();
        let late = self.late.iter().map(|late| (late.number, late.end_ps, late.completed.work_ps));
        let others = (self.recorded..self.started)
            .map(move |number| (number, self.ring.end_ps(number), self.ring.work_ps[number & mask]));
        late.chain(others).filter(|&(_, end_ps, _)| end_ps >= self.done_before_ps)
    }

    /// The end of the last measured request; 0 if all are done.
    fn measured_end_ps(&self) -> u64 {
        let measured = self.unfinished().filter(|&(number, ..)| self.measured.contains(&number));
        measured.map(|(_, end_ps, _)| end_ps).max().unwrap_or(0)
    }

    /// Measured requests that have not completed.
    fn measured_left(&self) -> u64 {
        let unarrived = self.measured.end - self.started.clamp(self.measured.start, self.measured.end);
        let unfinished = self.unfinished().filter(|&(number, ..)| self.measured.contains(&number)).count();
        (unarrived + unfinished) as u64
    }
}

impl Audit for Starts {
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn measured_is_done(&self) -> bool {
        self.measured_left() == 0
    }

    fn account(&mut self) -> Account {
        let (mut left_ps, mut unfinished) = (0, 0);
        for (_, end_ps, work_ps) in self.unfinished() {
            left_ps += u128::from(work_ps.min(end_ps - self.now_ps));
            unfinished += 1;
        }
        Account {
            busy_ps: self.offered_ps - left_ps,
            offered_ps: self.offered_ps,
            held_ps: u128::from(self.workers) * u128::from(self.now_ps),
            completed: self.started as u64 - unfinished,
            ..Account::default()
        }
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        let sums_ps = self.behind.until(&self.ring, self.started, self.now_ps);
        sums_ps.into_iter().map(|sum_ps| sum_ps as f64 / f64::from(self.workers)).collect()
    }
}

struct Central<'a> {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    starts: Starts,
    /// The factor by which probes stretch a service time.
    stretch: f64,
    window: Window,
    /// When the last measured request ends, once all have arrived.
    measured_end_ps: Option<u64>,
    recorder: Recorder,
    /// See [`Run::stop`].
    stop: Option<&'a AtomicBool>,
}

/// Runs one queue, first come first served: [`Route::Central`](crate::engine::Route::Central).
pub(in crate::engine) fn run(run: &Run<'_>) -> Outcome {
    Central::new(run).run()
}

impl<'a> Central<'a> {
    fn new(run: &Run<'a>) -> Central<'a> {
        let (cores, recorder, stretch) = (run.system.cores, run.recorder(), run.costs.probe_factor);
        let Length { warm_up, measured } = run.length;
        let starts = Starts {
            ring: Ring::new(2 * BATCH),
            cores: Cores::new(cores),
            behind: Behind::new(recorder.classes.len()),
            workers: cores,
            filled: 0,
            started: 0,
            now_ps: 0,
            done_before_ps: 0,
            offered_ps: 0,
            long_ps: source::work_ps(run.long_ps(), stretch),
            measured: warm_up as usize..(warm_up + measured) as usize,
            recorded: 0,
            late: Vec::with_capacity(cores as usize),
            plain: Box::new(Plain::EMPTY),
        };
        Central {
            arrivals: run.arrivals.sampler(run.seed, run.mean_gap_ps),
            services: run.service.sampler(run.seed),
            starts,
            stretch,
            window: Window::new(run.length, run.patience_ps()),
            measured_end_ps: None,
            recorder,
            stop: run.stop,
        }
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    fn run(mut self) -> Outcome {
        while !is_set(self.stop) {
            if self.starts.started == self.starts.filled && !self.refill() {
                self.drain();
                break;
            }
            let mark = self.next_mark();
            self.starts.start(mark.min(self.starts.filled));
            if mark < self.starts.filled {
                self.starts.advance_to(mark);
                if self.window.at_request(mark as u64, &mut self.starts) {
                    break;
                }
                self.starts.start(mark + 1);
            }
            self.starts.advance_to(self.starts.started - 1);
        }
        self.starts.record(&mut self.recorder, self.starts.started);
        self.recorder.flush();
        let measured_left = self.starts.measured_left();
        let events = self.starts.started as u64;
        outcome(self.recorder, self.window, measured_left, (self.starts.now_ps, events))
    }

    /// The next request that is a mark; after the measured part, the first request that arrives when all measured requests
    /// are done.
    fn next_mark(&mut self) -> usize {
        let Starts { ring, started, filled, .. } = &self.starts;
        let mark = (self.window.next_mark() as usize).max(*started);
        if !self.window.is_closed() {
            return mark;
        }
        let end_ps = *self.measured_end_ps.get_or_insert_with(|| self.starts.measured_end_ps());
        let at = started & ring.mask();
        let arrivals_ps = &ring.arrival_ps[at..at + filled - started];
        mark.min(started + arrivals_ps.partition_point(|&arrival_ps| arrival_ps <= end_ps))
    }

    /// Draws more requests; `false` if there are none.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        let starts = &mut self.starts;
        starts.record(&mut self.recorder, starts.started.saturating_sub(LAG));
        starts.make_room();
        // Batches divide the capacity: each is contiguous, but for the last of arrivals that end.
        let at = starts.filled & starts.ring.mask();
        let end = (at + BATCH).min(starts.ring.arrival_ps.len());
        let drawn = self.arrivals.fill(&mut starts.ring.arrival_ps[at..end]);
        let demands = &mut starts.ring.demand[at..at + drawn];
        self.services.fill(demands);
        self.arrivals.stretch(&starts.ring.arrival_ps[at..at + drawn], demands);
        let works_ps = starts.ring.work_ps[at..at + drawn].iter_mut().zip(demands);
        if self.stretch == 1.0 {
            works_ps.for_each(|(work_ps, demand)| *work_ps = demand.service_ps);
        } else {
            works_ps
                .for_each(|(work_ps, demand)| *work_ps = source::work_ps(demand.service_ps, self.stretch));
        }
        starts.filled += drawn;
        drawn > 0
    }

    /// There are no more arrivals: what is in the system completes.
    fn drain(&mut self) {
        self.window.close(&mut self.starts);
        let starts = &mut self.starts;
        starts.measured.end = starts.measured.end.min(starts.started).max(starts.measured.start);
        starts.now_ps = starts.now_ps.max(starts.measured_end_ps());
        starts.done_before_ps = u64::MAX;
    }
}
