//! One queue, first come first served, on the same cores all the time, without an observer: by starts.
//!
//! Here a request that starts is never stopped, so its sojourn time is known at that moment, and requests
//! start in the order in which they arrive. So no task is kept: the queue is a range of indices into the
//! requests that were drawn, and the loop only writes down when each of them starts. Statistics are made of
//! that some hundreds at a time. The general host does the same with four times the instructions; tests hold
//! the one against the other.
//!
//! ```text
//!   ring:   … | recorded … | started …  | arrived …       | filled …
//!             | statistics | in service | drawn, in the   | room
//!             | are due    | or done    | future          |
//!                          '- waiting --'
//! ```

use caudal_workload::{ArrivalSampler, Demand, ServiceSampler};

use super::core::{Account, work_ps};
use super::host::Length;
use super::keys::Keys;
use super::record::{Completed, Recorder};
use super::tree::{NEVER, WinnerTree};
use super::window::{Audit, Window};
use super::{Outcome, outcome};

/// Requests drawn at a time.
const BATCH: usize = 256;

/// What is known of a drawn request. While it waits, its place in `start_ps` holds [`Machine::behind_ps`] as of
/// its arrival; once it has started, the time of that.
struct Ring {
    arrival_ps: Vec<u64>,
    demand: Vec<Demand>,
    start_ps: Vec<u64>,
}

impl Ring {
    fn new(capacity: usize) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= BATCH);
        Ring {
            arrival_ps: vec![0; capacity],
            demand: vec![Demand::default(); capacity],
            start_ps: vec![0; capacity],
        }
    }

    #[inline(always)]
    fn mask(&self) -> usize {
        self.arrival_ps.len() - 1
    }

    /// Twice the room; requests `live` stay.
    #[cold]
    fn grow(&mut self, live: std::ops::Range<usize>) {
        let mut grown = Ring::new(2 * self.arrival_ps.len());
        let (old, new) = (self.mask(), grown.mask());
        for i in live {
            grown.arrival_ps[i & new] = self.arrival_ps[i & old];
            grown.demand[i & new] = self.demand[i & old];
            grown.start_ps[i & new] = self.start_ps[i & old];
        }
        *self = grown;
    }
}

/// What a core does.
#[derive(Clone, Copy, Default)]
struct Serving {
    due_ps: u64,
    /// Which request.
    number: u64,
    /// 1 if that is longer than the mean, else 0.
    long: u64,
}

/// The cores, and how far the requests have come.
struct Machine {
    keys: Keys,
    due: WinnerTree,
    serving: Box<[Serving]>,
    /// Cores without a request.
    idle: Vec<u32>,
    /// Requests drawn.
    filled: usize,
    arrived: usize,
    started: usize,
    now_ps: u64,
    /// What was due before then is done.
    done_before_ps: u64,
    /// Work that has arrived.
    offered_ps: u128,
    long_ps: u64,
    stretch: f64,
    /// Cores that run long requests, and the integral of that over time. Only differences over times at which
    /// somebody waits are right, and nobody looks at others.
    long_running: u64,
    behind_ps: u64,
    changed_ps: u64,
    /// Time that requests have waited behind long ones, by class, times the cores.
    behind_sums_ps: Vec<u128>,
}

impl Machine {
    /// Arrivals before request `until`, and the completions before each of them.
    #[inline(never)]
    fn run(&mut self, ring: &mut Ring, until: usize) {
        let mask = ring.mask();
        for number in self.arrived..until {
            self.offered_ps += u128::from(work_ps(ring.demand[number & mask].service_ps, self.stretch));
        }
        while self.arrived < until {
            let arrival_ps = ring.arrival_ps[self.arrived & mask];
            self.complete_before(arrival_ps, ring);
            (self.now_ps, self.done_before_ps) = (arrival_ps, arrival_ps);
            if let Some(core) = self.idle.pop() {
                self.start(core as usize, arrival_ps, ring);
            } else {
                self.settle(arrival_ps);
                ring.start_ps[self.arrived & mask] = self.behind_ps;
            }
            self.arrived += 1;
        }
    }

    /// Completions before the arrivals at `arrival_ps`.
    #[inline(always)]
    fn complete_before(&mut self, arrival_ps: u64, ring: &mut Ring) {
        let mut end = self.keys.before(arrival_ps);
        loop {
            let key = self.due.min();
            if key < end {
                self.complete(key, ring);
            } else if Keys::is_far(end) {
                self.rebase(arrival_ps);
                end = self.keys.before(arrival_ps);
            } else {
                return;
            }
        }
    }

    /// A core completes its request, and begins the next.
    #[inline(always)]
    fn complete(&mut self, key: u64, ring: &mut Ring) {
        let (core, now_ps) = (self.keys.worker(key), self.keys.time_ps(key));
        self.long_running -= self.serving[core].long;
        if self.started == self.arrived {
            self.idle.push(core as u32);
            return self.due.set(core, NEVER);
        }
        // The one that left was there until now, too.
        self.long_running += self.serving[core].long;
        self.settle(now_ps);
        self.long_running -= self.serving[core].long;
        let (at, mask) = (self.started & ring.mask(), ring.mask());
        let waited_behind_ps = self.behind_ps.wrapping_sub(ring.start_ps[at & mask]);
        self.behind_sums_ps[ring.demand[at & mask].class as usize] += u128::from(waited_behind_ps);
        self.start(core, now_ps, ring);
    }

    /// The next request starts on `core`.
    #[inline(always)]
    fn start(&mut self, core: usize, now_ps: u64, ring: &mut Ring) {
        let at = self.started & ring.mask();
        let service_ps = ring.demand[at].service_ps;
        let long = u64::from(service_ps > self.long_ps);
        let due_ps = now_ps + work_ps(service_ps, self.stretch);
        ring.start_ps[at] = now_ps;
        self.long_running += long;
        self.serving[core] = Serving { due_ps, number: self.started as u64, long };
        self.due.set(core, self.keys.of(core, due_ps));
        self.started += 1;
    }

    #[inline(always)]
    fn settle(&mut self, now_ps: u64) {
        self.behind_ps = self.behind_ps.wrapping_add(self.long_running * (now_ps - self.changed_ps));
        self.changed_ps = now_ps;
    }

    /// Nothing is left that keys can tell apart.
    #[cold]
    fn rebase(&mut self, arrival_ps: u64) {
        let running: Vec<usize> = self.running().collect();
        let due_ps = running.iter().map(|&core| self.serving[core].due_ps);
        self.keys.rebase(due_ps.min().unwrap_or(arrival_ps).min(arrival_ps));
        running.into_iter().for_each(|core| self.due.set(core, self.keys.of(core, self.serving[core].due_ps)));
    }

    /// Cores with a request.
    fn running(&self) -> impl Iterator<Item = usize> {
        let mut runs = vec![true; self.serving.len()];
        self.idle.iter().for_each(|&core| runs[core as usize] = false);
        (0..runs.len()).filter(move |&core| runs[core])
    }
}

pub(super) struct Central {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    ring: Ring,
    machine: Machine,
    measured: std::ops::Range<usize>,
    window: Window,
    /// Requests before this one have been recorded, or are among the late ones.
    recorded: usize,
    /// Measured requests that still ran when statistics were made of those before and after them, and when
    /// they arrived.
    late: Vec<(u64, Completed)>,
    recorder: Recorder,
}

/// What a run needs.
pub(super) struct Parts {
    pub(super) arrivals: ArrivalSampler,
    pub(super) services: ServiceSampler,
    pub(super) recorder: Recorder,
    pub(super) cores: u32,
    /// Requests longer than this are long.
    pub(super) long_ps: u64,
    /// What probes make of a service time.
    pub(super) stretch: f64,
    pub(super) length: Length,
}

impl Central {
    pub(super) fn new(parts: Parts) -> Central {
        let Parts { arrivals, services, recorder, cores, long_ps, stretch, length } = parts;
        let machine = Machine {
            keys: Keys::new(cores),
            due: WinnerTree::new(cores as usize),
            serving: vec![Serving::default(); cores as usize].into_boxed_slice(),
            idle: (0..cores).collect(),
            filled: 0,
            arrived: 0,
            started: 0,
            now_ps: 0,
            done_before_ps: 0,
            offered_ps: 0,
            long_ps,
            stretch,
            long_running: 0,
            behind_ps: 0,
            changed_ps: 0,
            behind_sums_ps: vec![0; recorder.classes.len()],
        };
        Central {
            arrivals,
            services,
            ring: Ring::new(2 * BATCH),
            machine,
            measured: length.warm_up as usize..(length.warm_up + length.measured) as usize,
            window: Window::new(length),
            recorded: 0,
            late: Vec::with_capacity(cores as usize),
            recorder,
        }
    }

    /// Runs to the end: all measured requests have completed, or the system is overloaded.
    pub(super) fn run(mut self) -> Outcome {
        loop {
            if self.machine.arrived == self.machine.filled && !self.refill() {
                self.drain();
                break;
            }
            // Up to the next request at which there is something to look up; after the measured part, any.
            let arrived = self.machine.arrived;
            let until = self.window.next_mark().min(self.machine.filled as u64) as usize;
            if until > arrived && !self.window.is_closed() {
                self.machine.run(&mut self.ring, until);
                continue;
            }
            let arrival_ps = self.ring.arrival_ps[arrived & self.ring.mask()];
            self.machine.complete_before(arrival_ps, &mut self.ring);
            (self.machine.now_ps, self.machine.done_before_ps) = (arrival_ps, arrival_ps);
            if self.with_window(|window, audit| window.at_request(arrived as u64, audit)) {
                break;
            }
            self.machine.run(&mut self.ring, arrived + 1);
        }
        self.record();
        self.into_outcome()
    }

    /// Draws more requests; `false` if there are none.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        self.record();
        let machine = &mut self.machine;
        if machine.filled + BATCH - self.recorded > self.ring.arrival_ps.len() {
            self.ring.grow(self.recorded..machine.filled);
        }
        // Batches divide the capacity: each is contiguous, but for the last of arrivals that end.
        let at = machine.filled & self.ring.mask();
        let end = (at + BATCH).min(self.ring.arrival_ps.len());
        let drawn = self.arrivals.fill(&mut self.ring.arrival_ps[at..end]);
        self.services.fill(&mut self.ring.demand[at..at + drawn]);
        machine.filled += drawn;
        if machine.keys.are_old(machine.now_ps) {
            machine.rebase(machine.now_ps);
        }
        drawn > 0
    }

    /// There are no more arrivals: what is in the system completes.
    fn drain(&mut self) {
        self.with_window(|window, audit| window.close(audit));
        let arrived = self.machine.arrived;
        self.measured.end = self.measured.end.min(arrived).max(self.measured.start);
        while !self.audited().1.measured_is_done() {
            let machine = &mut self.machine;
            if Keys::is_far(machine.due.min()) {
                machine.rebase(u64::MAX);
            }
            let key = machine.due.min();
            machine.now_ps = machine.keys.time_ps(key);
            machine.done_before_ps = machine.now_ps + 1;
            machine.complete(key, &mut self.ring);
        }
    }

    fn audited(&mut self) -> (&mut Window, Audited<'_>) {
        let Central { window, machine, ring, measured, .. } = self;
        (window, Audited { machine, ring, measured: measured.clone() })
    }

    fn with_window<T>(&mut self, ask: impl FnOnce(&mut Window, &mut Audited<'_>) -> T) -> T {
        let (window, mut audited) = self.audited();
        ask(window, &mut audited)
    }

    /// Makes statistics of the requests that have started since last time and are done, and of those that
    /// were late then.
    fn record(&mut self) {
        let done_before_ps = self.machine.done_before_ps;
        let sojourn_end_ps = |done: &Completed, arrival_ps: u64| arrival_ps + done.sojourn_ps;
        let recorder = &mut self.recorder;
        self.late.retain(|(arrival_ps, done)| {
            let is_late = sojourn_end_ps(done, *arrival_ps) >= done_before_ps;
            if !is_late {
                recorder.push(*done);
            }
            is_late
        });
        let (mask, stretch) = (self.ring.mask(), self.machine.stretch);
        let measured = self.recorded.max(self.measured.start)..self.machine.started.min(self.measured.end);
        for number in measured {
            let (arrival_ps, start_ps) = (self.ring.arrival_ps[number & mask], self.ring.start_ps[number & mask]);
            let demand = self.ring.demand[number & mask];
            let work_ps = work_ps(demand.service_ps, stretch);
            let done = Completed {
                sojourn_ps: start_ps + work_ps - arrival_ps,
                service_ps: demand.service_ps,
                queued_ps: start_ps - arrival_ps,
                overhead_ps: 0,
                work_ps,
                preemptions: 0,
                class: demand.class,
            };
            if start_ps + work_ps < done_before_ps {
                recorder.push(done);
            } else {
                self.late.push((arrival_ps, done));
            }
        }
        self.recorded = self.machine.started;
    }

    fn into_outcome(mut self) -> Outcome {
        self.recorder.flush();
        let measured_left = self.audited().1.measured_left();
        outcome(self.recorder, self.window, measured_left, self.machine.now_ps)
    }
}

/// The machine as the marks of a run see it.
struct Audited<'a> {
    machine: &'a Machine,
    ring: &'a Ring,
    measured: std::ops::Range<usize>,
}

impl Audited<'_> {
    /// Requests that wait.
    fn waiting(&self) -> impl Iterator<Item = usize> {
        let mask = self.ring.mask();
        (self.machine.started..self.machine.arrived).map(move |number| number & mask)
    }

    /// Measured requests that run.
    fn measured_running(&self) -> u64 {
        let machine = self.machine;
        let is_measured = |&core: &usize| self.measured.contains(&(machine.serving[core].number as usize));
        machine.running().filter(is_measured).count() as u64
    }

    /// Measured requests that have not completed.
    fn measured_left(&self) -> u64 {
        let unstarted = self.measured.end - self.machine.started.clamp(self.measured.start, self.measured.end);
        unstarted as u64 + self.measured_running()
    }
}

impl Audit for Audited<'_> {
    fn now_ps(&self) -> u64 {
        self.machine.now_ps
    }

    fn measured_is_done(&self) -> bool {
        self.machine.started >= self.measured.end && self.measured_running() == 0
    }

    fn books(&mut self) -> Account {
        let Audited { machine, ring, .. } = &*self;
        let work = |at: usize| u128::from(work_ps(ring.demand[at].service_ps, machine.stretch));
        let waiting: u128 = self.waiting().map(work).sum();
        let left = |core: usize| u128::from(machine.serving[core].due_ps - machine.now_ps);
        let left: u128 = machine.running().map(left).sum();
        Account {
            busy_ps: machine.offered_ps - waiting - left,
            offered_ps: machine.offered_ps,
            held_ps: machine.serving.len() as u128 * u128::from(machine.now_ps),
            completed: machine.started as u64 - machine.running().count() as u64,
            ..Account::default()
        }
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        let Audited { machine, ring, .. } = &*self;
        let since_ps = machine.long_running * (machine.now_ps - machine.changed_ps);
        let behind_ps = machine.behind_ps.wrapping_add(since_ps);
        let mut sums_ps = machine.behind_sums_ps.clone();
        for at in self.waiting() {
            sums_ps[ring.demand[at].class as usize] += u128::from(behind_ps.wrapping_sub(ring.start_ps[at]));
        }
        sums_ps.into_iter().map(|sum_ps| sum_ps as f64 / machine.serving.len() as f64).collect()
    }
}
