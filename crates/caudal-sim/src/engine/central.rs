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

use super::core::{self, Account};
use super::host::Length;
use super::keys::Keys;
use super::long::Long;
use super::record::{Plain, Recorder};
use super::tree::{Earliest, NEVER, WinnerTree};
use super::window::{Audit, Window};
use super::{Outcome, outcome};

/// Requests drawn at a time.
const BATCH: usize = 256;

/// What is known of a drawn request. While it waits, its place in `start_ps` holds [`Long::behind_ps`] as of
/// its arrival; once it has started, the time of that.
struct Ring {
    arrival_ps: Vec<u64>,
    demand: Vec<Demand>,
    /// Service and probes.
    work_ps: Vec<u64>,
    start_ps: Vec<u64>,
}

impl Ring {
    fn new(capacity: usize) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= BATCH);
        Ring {
            arrival_ps: vec![0; capacity],
            demand: vec![Demand::default(); capacity],
            work_ps: vec![0; capacity],
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
            grown.work_ps[i & new] = self.work_ps[i & old];
            grown.start_ps[i & new] = self.start_ps[i & old];
        }
        *self = grown;
    }
}

/// What a core does.
#[derive(Clone, Copy, Default)]
struct Serving {
    due_ps: u64,
    /// 1 if the request is longer than the mean, else 0.
    long: u64,
}

/// The cores, and how far the requests have come.
struct Machine {
    keys: Keys,
    due: WinnerTree,
    serving: Box<[Serving]>,
    /// Cores without a request: the first `idle_len` of these.
    idle: Box<[u32]>,
    idle_len: usize,
    /// Requests drawn.
    filled: usize,
    arrived: usize,
    started: usize,
    now_ps: u64,
    /// What was due before then is done.
    done_before_ps: u64,
    /// Work that has arrived.
    offered_ps: u128,
    /// Requests with more work than this are long. Work grows with the service time, probes included.
    long_ps: u64,
    long: Long,
    /// Time that requests have waited behind long ones, by class, times the cores.
    behind_sums_ps: Vec<u128>,
}

impl Machine {
    /// Arrivals before request `until`, the completions before each of them, and those before `until` itself
    /// if that is `drawn`.
    fn advance(&mut self, ring: &mut Ring, until: usize, drawn: bool) {
        let mask = ring.mask();
        for number in self.arrived..until {
            self.offered_ps += u128::from(ring.work_ps[number & mask]);
        }
        while !self.advance_near(ring, until, drawn) {
            self.rebase(ring.arrival_ps[self.arrived & mask]);
        }
        let last = if drawn { until } else { until - 1 };
        self.now_ps = ring.arrival_ps[last & mask];
        self.done_before_ps = self.now_ps;
    }

    /// The same, as far as keys can tell times apart; `false` if that was not all.
    fn advance_near(&mut self, ring: &mut Ring, until: usize, drawn: bool) -> bool {
        match self.due.levels() {
            1 => self.advance_by(WinnerTree::unrolled::<1>, ring, until, drawn),
            2 => self.advance_by(WinnerTree::unrolled::<2>, ring, until, drawn),
            3 => self.advance_by(WinnerTree::unrolled::<3>, ring, until, drawn),
            4 => self.advance_by(WinnerTree::unrolled::<4>, ring, until, drawn),
            5 => self.advance_by(WinnerTree::unrolled::<5>, ring, until, drawn),
            6 => self.advance_by(WinnerTree::unrolled::<6>, ring, until, drawn),
            _ => self.advance_by(|due| due, ring, until, drawn),
        }
    }

    #[inline(never)]
    fn advance_by<'a, E: Earliest>(
        &'a mut self,
        view: impl FnOnce(&'a mut WinnerTree) -> E,
        ring: &mut Ring,
        until: usize,
        drawn: bool,
    ) -> bool {
        let mask = ring.mask();
        // Slices of one length: the compiler then sees that `i & mask` lies in all of them.
        let (arrivals_ps, demands) = (&ring.arrival_ps[..=mask], &ring.demand[..=mask]);
        let (works_ps, starts_ps) = (&ring.work_ps[..=mask], &mut ring.start_ps[..=mask]);
        let Machine { due, serving, idle, behind_sums_ps, .. } = self;
        let (mut due, serving, idle, behind_sums_ps) =
            (view(due), &mut serving[..], &mut idle[..], &mut behind_sums_ps[..]);
        // Local copies: what is behind `self` would have to be in memory at every step.
        let (keys, long_ps) = (self.keys, self.long_ps);
        let (mut arrived, mut started, mut long, mut idle_len) =
            (self.arrived, self.started, self.long, self.idle_len);
        let is_near = loop {
            if arrived == until && !drawn {
                break true;
            }
            let arrival_ps = arrivals_ps[arrived & mask];
            let end = keys.before(arrival_ps);
            let mut key = due.min();
            while key < end {
                let (core, now_ps) = (keys.worker(key), keys.time_ps(key));
                long.running -= serving[core].long;
                if started < arrived {
                    let at = started & mask;
                    // The one that leaves was there until now.
                    long.running += serving[core].long;
                    long.settle(now_ps);
                    long.running -= serving[core].long;
                    let waited_behind_ps = long.behind_ps.wrapping_sub(starts_ps[at]);
                    behind_sums_ps[demands[at].class as usize] += u128::from(waited_behind_ps);
                    starts_ps[at] = now_ps;
                    let is_long = u64::from(works_ps[at] > long_ps);
                    let due_ps = now_ps + works_ps[at];
                    long.running += is_long;
                    serving[core] = Serving { due_ps, long: is_long };
                    due.set(core, keys.of(core, due_ps));
                    started += 1;
                } else {
                    idle[idle_len] = core as u32;
                    idle_len += 1;
                    due.set(core, NEVER);
                }
                key = due.min();
            }
            if Keys::is_far(end) {
                break false;
            }
            if arrived == until {
                break true;
            }
            let at = arrived & mask;
            if idle_len > 0 {
                idle_len -= 1;
                let core = idle[idle_len] as usize;
                starts_ps[at] = arrival_ps;
                let is_long = u64::from(works_ps[at] > long_ps);
                let due_ps = arrival_ps + works_ps[at];
                long.running += is_long;
                serving[core] = Serving { due_ps, long: is_long };
                due.set(core, keys.of(core, due_ps));
                started += 1;
            } else {
                long.settle(arrival_ps);
                starts_ps[at] = long.behind_ps;
            }
            arrived += 1;
        };
        (self.arrived, self.started, self.long, self.idle_len) = (arrived, started, long, idle_len);
        is_near
    }

    /// Nothing is left that keys can tell apart.
    #[cold]
    fn rebase(&mut self, arrival_ps: u64) {
        let running: Vec<usize> = self.running().collect();
        let due_ps = running.iter().map(|&core| self.serving[core].due_ps);
        self.keys.rebase(due_ps.min().unwrap_or(arrival_ps).min(arrival_ps));
        running
            .into_iter()
            .for_each(|core| self.due.set(core, self.keys.of(core, self.serving[core].due_ps)));
    }

    /// Cores with a request.
    fn running(&self) -> impl Iterator<Item = usize> {
        let mut runs = vec![true; self.serving.len()];
        self.idle[..self.idle_len].iter().for_each(|&core| runs[core as usize] = false);
        (0..runs.len()).filter(move |&core| runs[core])
    }
}

/// A measured request that runs.
#[derive(Clone, Copy)]
struct Late {
    end_ps: u64,
    sojourn_ps: u64,
    work_ps: u64,
    demand: Demand,
}

pub(super) struct Central {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    ring: Ring,
    machine: Machine,
    /// What probes make of a service time.
    stretch: f64,
    measured: std::ops::Range<usize>,
    window: Window,
    /// Requests before this one have been recorded, or are among the late ones.
    recorded: usize,
    /// Measured requests that still ran when statistics were made of those before and after them.
    late: Vec<Late>,
    /// Those that are on their way to the recorder.
    plain: Box<Plain>,
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
            idle_len: cores as usize,
            filled: 0,
            arrived: 0,
            started: 0,
            now_ps: 0,
            done_before_ps: 0,
            offered_ps: 0,
            long_ps: core::work_ps(long_ps, stretch),
            long: Long::default(),
            behind_sums_ps: vec![0; recorder.classes.len()],
        };
        Central {
            arrivals,
            services,
            ring: Ring::new(2 * BATCH),
            machine,
            stretch,
            measured: length.warm_up as usize..(length.warm_up + length.measured) as usize,
            window: Window::new(length),
            recorded: 0,
            late: Vec::with_capacity(cores as usize),
            plain: Box::new(Plain::EMPTY),
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
            let (arrived, filled) = (self.machine.arrived, self.machine.filled);
            let mark = if self.window.is_closed() { arrived } else { self.window.next_mark() as usize };
            self.machine.advance(&mut self.ring, mark.min(filled), mark < filled);
            if mark < filled {
                self.record();
                if self.with_window(|window, audit| window.at_request(mark as u64, audit)) {
                    break;
                }
                // It arrives all the same; this looks nothing up.
                self.machine.advance(&mut self.ring, mark + 1, false);
            }
        }
        self.record();
        self.into_outcome()
    }

    /// Draws more requests; `false` if there are none.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        self.record();
        self.make_room(BATCH);
        let machine = &mut self.machine;
        // Batches divide the capacity: each is contiguous, but for the last of arrivals that end.
        let at = machine.filled & self.ring.mask();
        let end = (at + BATCH).min(self.ring.arrival_ps.len());
        let drawn = self.arrivals.fill(&mut self.ring.arrival_ps[at..end]);
        let (demands, works_ps) =
            (&mut self.ring.demand[at..at + drawn], &mut self.ring.work_ps[at..at + drawn]);
        self.services.fill(demands);
        for (work_ps, demand) in works_ps.iter_mut().zip(demands) {
            *work_ps = core::work_ps(demand.service_ps, self.stretch);
        }
        machine.filled += drawn;
        if machine.keys.are_old(machine.now_ps) {
            machine.rebase(machine.now_ps);
        }
        drawn > 0
    }

    fn make_room(&mut self, more: usize) {
        if self.machine.filled + more - self.recorded > self.ring.arrival_ps.len() {
            self.ring.grow(self.recorded..self.machine.filled);
        }
    }

    /// There are no more arrivals: what is in the system completes.
    fn drain(&mut self) {
        self.with_window(|window, audit| window.close(audit));
        let arrived = self.machine.arrived;
        self.measured.end = self.measured.end.min(arrived).max(self.measured.start);
        // One more arrival, later than everything, which never comes.
        let closed_ps = self.machine.now_ps;
        self.record();
        self.make_room(1);
        let at = arrived & self.ring.mask();
        self.ring.arrival_ps[at] = u64::MAX;
        self.machine.advance(&mut self.ring, arrived, true);
        self.machine.now_ps = closed_ps.max(self.record());
    }

    fn audited(&mut self) -> (&mut Window, Audited<'_>) {
        let Central { window, machine, ring, measured, late, .. } = self;
        (window, Audited { machine, ring, measured: measured.clone(), late: late.len() })
    }

    fn with_window<T>(&mut self, ask: impl FnOnce(&mut Window, &mut Audited<'_>) -> T) -> T {
        let (window, mut audited) = self.audited();
        ask(window, &mut audited)
    }

    /// Makes statistics of the requests that have started since last time and are done, and of those that
    /// were late then; returns when the last of them was done.
    fn record(&mut self) -> u64 {
        let done_before_ps = self.machine.done_before_ps;
        let late = &mut self.late;
        let mut last_ps = 0;
        // Those that are late now stay where they are.
        let mut kept = 0;
        for at in 0..late.len() {
            let request = late[at];
            let is_done = request.end_ps < done_before_ps;
            self.plain.push_if(is_done, request.sojourn_ps, request.work_ps, request.demand);
            last_ps = last_ps.max(if is_done { request.end_ps } else { 0 });
            late[kept] = request;
            kept += usize::from(!is_done);
            self.plain.is_full().then(|| self.recorder.push_plain(&mut self.plain));
        }
        late.truncate(kept);
        let mask = self.ring.mask();
        let (arrivals_ps, demands) = (&self.ring.arrival_ps[..=mask], &self.ring.demand[..=mask]);
        let (works_ps, starts_ps) = (&self.ring.work_ps[..=mask], &self.ring.start_ps[..=mask]);
        let measured = self.recorded.max(self.measured.start)..self.machine.started.min(self.measured.end);
        for at in measured.map(|number| number & mask) {
            let end_ps = starts_ps[at] + works_ps[at];
            let sojourn_ps = end_ps - arrivals_ps[at];
            let is_done = end_ps < done_before_ps;
            self.plain.push_if(is_done, sojourn_ps, works_ps[at], demands[at]);
            if is_done {
                last_ps = last_ps.max(end_ps);
            } else {
                late.push(Late { end_ps, sojourn_ps, work_ps: works_ps[at], demand: demands[at] });
            }
            if self.plain.is_full() {
                self.recorder.push_plain(&mut self.plain);
            }
        }
        self.recorder.push_plain(&mut self.plain);
        self.recorded = self.machine.started;
        last_ps
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
    /// Measured requests that have started and not completed.
    late: usize,
}

impl Audited<'_> {
    /// Requests that wait.
    fn waiting(&self) -> impl Iterator<Item = usize> {
        let mask = self.ring.mask();
        (self.machine.started..self.machine.arrived).map(move |number| number & mask)
    }

    /// Measured requests that have not completed.
    fn measured_left(&self) -> u64 {
        let unstarted =
            self.measured.end - self.machine.started.clamp(self.measured.start, self.measured.end);
        (unstarted + self.late) as u64
    }
}

impl Audit for Audited<'_> {
    fn now_ps(&self) -> u64 {
        self.machine.now_ps
    }

    fn measured_is_done(&self) -> bool {
        self.measured_left() == 0
    }

    fn books(&mut self) -> Account {
        let Audited { machine, ring, .. } = &*self;
        let waiting: u128 = self.waiting().map(|at| u128::from(ring.work_ps[at])).sum();
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
        let behind_ps = machine.long.behind_ps(machine.now_ps);
        let mut sums_ps = machine.behind_sums_ps.clone();
        for at in self.waiting() {
            sums_ps[ring.demand[at].class as usize] += u128::from(behind_ps.wrapping_sub(ring.start_ps[at]));
        }
        sums_ps.into_iter().map(|sum_ps| sum_ps as f64 / machine.serving.len() as f64).collect()
    }
}
