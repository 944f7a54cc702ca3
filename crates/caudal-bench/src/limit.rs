//! The limit with which the engine is compared: the fastest event loop that we could write by hand for a single
//! system, M/M/16 with one FCFS queue, with the same requests in and the same statistics out.
//! The rows about speed call [`simulate`] in turns with the engine, on one thread, and state the engine's speed as a share of the limit's.
//!
//! It is fast because it assumes things that an engine for any policy can not assume:
//!
//! * Nothing is known of a request but its arrival and its demand, and requests start in the order in which
//!   they arrive. So the queue is a range of indices into the drawn requests, and no task is ever stored.
//! * A request that starts is never stopped: its sojourn time is known at that moment. The loop only writes
//!   down when each request starts; statistics are made of that a batch at a time, without a branch.
//! * Servers are alike, so ties need no rule.
//!
//! ```text
//!   ring:   … | recorded … | started …  | arrived …       | filled …
//!             | statistics | in service | drawn, in the   | room
//!             | are due    | or done    | future          |
//!                          '- waiting --'
//! ```
//!
//! It still goes through every arrival and every completion in order of time, knows the queue and the busy
//! servers at each of them, and could show them to an observer. The recursion of Kiefer and Wolfowitz (start =
//! the later of the arrival and the earliest free server) does without completions; it is faster, but no
//! event loop: nothing that happens *at* a completion could be added to it.
//!
//! **The engine does not go from event to event here.** For one queue, first come first served, without an observer, it takes the
//! recursion, with the times at which servers become free in order in vectors (`engine/short_cuts/central` in `caudal-sim`). It
//! is faster than this loop, although it also finds out how long requests wait behind long ones, and keeps accounts. So
//! for this one system, a figure above 1 only says that going from event to event is expensive. It does not say that the engine has no
//! overhead: the same recursion without the engine's accounts would take four fifths of its time. The streams
//! of requests and the statistics are the same functions in both.
//!
//! # What was tried
//!
//! M/M/16, load 0.8, ns per request (median of 7 alternating rounds of 3.3 million, on a busy machine, AMD Zen 3),
//! instructions and mispredicted branches per request (callgrind). Sampling and statistics, the same in all,
//! were 20 ns and 178 instructions of each; a batch at a time, they now are 14 ns and 148, so that this loop takes
//! 28 ns and 226. The rows compare with each other. All gave the same statistics.
//!
//! | design | ns | instructions | mispredicted |
//! | --- | --- | --- | --- |
//! | **winner tree of completions, statistics by start** (this one) | **34** | **254** | **1.31** |
//! | the same, completion → start or idle by masks instead of a branch | 40 | 269 | 1.32 |
//! | the same, arrival → start or wait by masks | 42 | 266 | 1.34 |
//! | the same, both by masks | 42 | 282 | 1.24 |
//! | the same, arrivals and completions in one loop without any branch, an event a step | 40 | 324 | 0.24 |
//! | least of 16 by a network of comparisons at each change, instead of the tree | 47 | 294 | 1.34 |
//! | the same with `minpd` on times as floats | 61 | – | – |
//! | two levels of four | 46 | – | – |
//! | sorted array, insertion by moving what is later | 46 | 254 | 2.43 |
//! | sorted array, insertion by comparing all 16 at once | 49 | 367 | 1.33 |
//! | winner tree, tasks in a queue and statistics at completion, as an engine does it | 49 | 356 | 1.33 |
//! | Kiefer and Wolfowitz's recursion with a winner tree (no events) | 29 | 219 | 0.24 |
//!
//! The tree without branches loses to the one with them although it guesses wrong a fifth as often: each step
//! then waits for the whole of the one before.

use caudal_stats::Histogram;
use caudal_workload::{ArrivalSampler, Arrivals, Demand, Service, ServiceSampler};

/// Servers.
pub(crate) const SERVERS: usize = 16;
/// Requests drawn at a time.
const BATCH: usize = 256;
/// Bits of a key that hold the server.
const ID_BITS: u32 = SERVERS.trailing_zeros();
const NEVER: u64 = u64::MAX;

/// The statistics of the limit, which are those of the engine for M/M/16.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Sojourn times of the measured requests, in ps.
    pub(crate) latency_ps: Histogram,
    /// Sojourn over service time, in the engine's fixed-point numbers.
    pub(crate) slowdown: Histogram,
    /// Time from arrival to service, summed, in ps.
    pub(crate) queued_ps: u128,
    /// Requests that have arrived, with those left out and those after the last measured one.
    pub(crate) arrived: u64,
}

/// Simulates until `measured` requests after the first `warm_up` have started.
///
/// # Panics
/// After 2^59 ps of simulated time (6 days, 7 · 10^12 requests): keys hold no more.
pub(crate) fn simulate(service: &Service, load: f64, seed: u64, warm_up: u64, measured: u64) -> Found {
    let mean_gap_ps = service.mean_ps() / (load * SERVERS as f64);
    let mut source =
        Source { arrivals: Arrivals::poisson().sampler(seed, mean_gap_ps), services: service.sampler(seed) };
    let mut ring = Ring::new(2 * BATCH);
    let mut machine =
        ServersAndEvents { due: WinnerTree::new(), idle: (1 << SERVERS) - 1, arrived: 0, started: 0 };
    let mut found = Found::default();
    let wanted = warm_up..warm_up + measured;
    while (machine.started as u64) < wanted.end {
        ring.refill(&mut source);
        machine.run(&mut ring);
        ring.record(machine.started, &wanted, &mut found);
    }
    found.arrived = machine.arrived as u64;
    found
}

struct Source {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
}

/// Requests that have been drawn and are not in the statistics yet, by number modulo a power of two.
struct Ring {
    arrival_ps: Vec<u64>,
    demand: Vec<Demand>,
    start_ps: Vec<u64>,
    /// Requests drawn.
    filled: usize,
    /// Requests whose statistics have been made.
    recorded: usize,
}

impl Ring {
    fn new(capacity: usize) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= BATCH);
        Ring {
            arrival_ps: vec![0; capacity],
            demand: vec![Demand::default(); capacity],
            start_ps: vec![0; capacity],
            filled: 0,
            recorded: 0,
        }
    }

    #[inline(never)]
    fn refill(&mut self, source: &mut Source) {
        if self.filled + BATCH - self.recorded > self.arrival_ps.len() {
            self.grow();
        }
        // Batches divide the capacity: each is contiguous.
        let at = self.filled & (self.arrival_ps.len() - 1);
        source.arrivals.fill(&mut self.arrival_ps[at..at + BATCH]);
        source.services.fill(&mut self.demand[at..at + BATCH]);
        let last_ps = self.arrival_ps[at + BATCH - 1];
        assert!(last_ps < 1 << (63 - ID_BITS), "keys end at {last_ps} ps");
        self.filled += BATCH;
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.arrival_ps.len() - 1;
        let mut grown = Ring::new(2 * self.arrival_ps.len());
        (grown.filled, grown.recorded) = (self.filled, self.recorded);
        let new = grown.arrival_ps.len() - 1;
        for i in self.recorded..self.filled {
            grown.arrival_ps[i & new] = self.arrival_ps[i & old];
            grown.demand[i & new] = self.demand[i & old];
            grown.start_ps[i & new] = self.start_ps[i & old];
        }
        *self = grown;
    }

    /// Makes statistics of all requests up to `started`.
    #[inline(never)]
    fn record(&mut self, started: usize, wanted: &std::ops::Range<u64>, found: &mut Found) {
        let mask = self.arrival_ps.len() - 1;
        let mut next = self.recorded.max(wanted.start as usize);
        let end = started.min(wanted.end as usize);
        self.recorded = started;
        while next < end {
            let at = next & mask;
            let count = (end - next).min(mask + 1 - at).min(BATCH);
            let span = at..at + count;
            record(&self.arrival_ps[span.clone()], &self.demand[span.clone()], &self.start_ps[span], found);
            next += count;
        }
    }
}

/// At most [`BATCH`] requests, column by column, by the same functions as the engine's.
#[inline(always)]
fn record(arrival_ps: &[u64], demand: &[Demand], start_ps: &[u64], found: &mut Found) {
    let (mut latency_ps, mut service_ps, mut slowdown) = ([0; BATCH], [0; BATCH], [0; BATCH]);
    let mut queued_ps = 0;
    let requests = arrival_ps.iter().zip(demand).zip(start_ps);
    for (((&arrival_ps, demand), &start_ps), out) in requests.zip(latency_ps.iter_mut().zip(&mut service_ps))
    {
        let waited_ps = start_ps - arrival_ps;
        queued_ps += waited_ps;
        (*out.0, *out.1) = (waited_ps + demand.service_ps, demand.service_ps);
    }
    found.queued_ps += u128::from(queued_ps);
    let count = start_ps.len();
    caudal_stats::slowdowns(&latency_ps[..count], &service_ps[..count], &mut slowdown[..count]);
    found.latency_ps.record_all(&latency_ps[..count]);
    found.slowdown.record_all(&slowdown[..count]);
}

/// The servers, the clock's events, and how far the requests have come.
#[derive(Clone, Copy)]
struct ServersAndEvents {
    due: WinnerTree,
    /// A bit for each idle server.
    idle: u32,
    arrived: usize,
    started: usize,
}

impl ServersAndEvents {
    /// Goes through all events up to the last drawn arrival.
    #[inline(never)]
    fn run(&mut self, ring: &mut Ring) {
        let mask = ring.arrival_ps.len() - 1;
        // Slices of one length: the compiler then sees that `i & mask` lies in all of them.
        let (arrival_ps, demand) = (&ring.arrival_ps[..=mask], &ring.demand[..=mask]);
        let start_ps = &mut ring.start_ps[..=mask];
        // A local copy: what is behind `self` would have to be in memory at every step.
        let ServersAndEvents { mut due, mut idle, mut arrived, mut started } = *self;
        while arrived < ring.filled {
            // No server in the low bits: arrivals come before the completions of their time.
            let arrival_key = arrival_ps[arrived & mask] << ID_BITS;
            let mut key = due.min();
            while key < arrival_key {
                let server = key as usize % SERVERS;
                if started < arrived {
                    let i = started & mask;
                    start_ps[i] = key >> ID_BITS;
                    due.set(server, key + (demand[i].service_ps << ID_BITS));
                    started += 1;
                } else {
                    idle |= 1 << server;
                    due.set(server, NEVER);
                }
                key = due.min();
            }
            if idle != 0 {
                let server = idle.trailing_zeros();
                idle &= idle - 1;
                let i = arrived & mask;
                start_ps[i] = arrival_key >> ID_BITS;
                due.set(server as usize, arrival_key + (demand[i].service_ps << ID_BITS) + u64::from(server));
                started += 1;
            }
            arrived += 1;
        }
        *self = ServersAndEvents { due, idle, arrived, started };
    }
}

/// The earliest of 16 completions: `keys[1]` is the least, leaves begin at 16.
#[derive(Clone, Copy)]
struct WinnerTree {
    keys: [u64; 2 * SERVERS],
}

impl WinnerTree {
    fn new() -> WinnerTree {
        WinnerTree { keys: [NEVER; 2 * SERVERS] }
    }

    #[inline(always)]
    fn min(&self) -> u64 {
        self.keys[1]
    }

    /// Changes the completion of `server`. The loop is unrolled and has no branch; the remainders tell the compiler that no index is out of bounds.
    #[inline(always)]
    fn set(&mut self, server: usize, key: u64) {
        let keys = &mut self.keys;
        let mut at = SERVERS + server % SERVERS;
        let mut winner = key;
        keys[at] = winner;
        for _ in 0..ID_BITS {
            winner = winner.min(keys[at ^ 1]);
            at = (at >> 1) % SERVERS;
            keys[at] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn content(histogram: &Histogram) -> (Vec<(u64, u64)>, u128, u64, u64) {
        let buckets = histogram.iter().map(|bucket| (bucket.low, bucket.count)).collect();
        (buckets, histogram.sum(), histogram.min(), histogram.max())
    }

    #[test]
    fn the_limit_finds_what_the_engine_finds() {
        for (load, requests) in [(0.1, 20_000), (0.8, 300_000), (0.95, 100_000)] {
            for seed in [1, 2, 77] {
                let case = Case::single_queue(SERVERS as u32, load);
                let outcome = case.simulate(requests, seed);
                let class = &outcome.classes[0];
                let warm_up = requests / 10;
                let found = simulate(&case.service, load, seed, warm_up, requests - warm_up);
                assert_eq!(
                    content(&found.latency_ps),
                    content(&class.latency_ps),
                    "load {load}, seed {seed}"
                );
                assert_eq!(content(&found.slowdown), content(&class.slowdown), "load {load}, seed {seed}");
                assert_eq!(found.queued_ps, class.queued_ps, "load {load}, seed {seed}");
            }
        }
    }

    #[test]
    fn a_long_queue_makes_the_ring_grow_and_changes_nothing() {
        // Twice more work than can be done: the backlog is half of what has arrived. Kiefer and Wolfowitz say
        // when each request starts, without a queue.
        let (load, requests) = (2.0, 20_000);
        let case = Case::single_queue(SERVERS as u32, load);
        let found = simulate(&case.service, load, 5, 0, requests);
        let (mut arrival_ps, mut demand) = (vec![0; 20_000], vec![Demand::default(); 20_000]);
        let gap_ps = case.service.mean_ps() / (load * SERVERS as f64);
        Arrivals::poisson().sampler(5, gap_ps).fill(&mut arrival_ps);
        case.service.sampler(5).fill(&mut demand);
        let (mut free_ps, mut queued_ps) = ([0; SERVERS], 0);
        for (arrival_ps, demand) in arrival_ps.into_iter().zip(demand) {
            let first = free_ps.iter_mut().min().unwrap();
            let start_ps = arrival_ps.max(*first);
            *first = start_ps + demand.service_ps;
            queued_ps += u128::from(start_ps - arrival_ps);
        }
        assert!(found.arrived > requests + 1024, "the backlog outgrew the ring: {}", found.arrived);
        assert_eq!((found.latency_ps.count(), found.queued_ps), (requests, queued_ps));
    }
}
