//! Requests that at random panic, sleep, lock, spawn, borrow, wait for one another, expire, are refused, are forgotten and are
//! cancelled, on more workers than there are cores: each ends exactly once, and the runtime's own statistics say the same as
//! what was counted outside.
//!
//! ```text
//!  submitters ──▶ runtime ──▶ handlers ──▶ children        all of them write to
//!      │ wait, cancel, forget    │                         records: one a request, by its number
//!      └───────────┬─────────────┘                            │
//!                  ▼                                          ▼
//!            what handles say                     accounts, after the shutdown ◀── Runtime::stats
//! ```
//!
//! `CAUDAL_STRESS_REQUESTS` says how many requests there are in all, `CAUDAL_STRESS_SEED` which; `scripts/stress` runs a million for
//! each of several seeds.

mod accounts;
#[path = "../common/mod.rs"]
mod common;
mod handlers;
mod submitters;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use caudal_rt::{LeftBehind, OnFull, Pinning, Runtime, Shutdown};
use common::{Policy, builder_of};
use world::World;

/// One of the runtimes that are stressed.
#[derive(Clone, Copy, Debug)]
struct Case {
    policy: Policy,
    /// Queues are short: submitters wait, or are refused.
    on_full: OnFull,
    queues: (usize, usize),
    /// How it ends: all that was accepted runs, or submitters are still at it when everything is cancelled.
    end: Shutdown,
    /// The dispatcher looks at the clock for probes in flag mode.
    flags: bool,
}

const FCFS: &str = "{ policy = \"fcfs\" }";
const SHARING: &str = "{ policy = \"processor-sharing\", quantum = \"1us\" }";
const LAS: &str = "{ policy = \"las\", quantum = \"2us\" }";
const JSQ_MSQ: &str = "{ policy = \"jsq\", ties = \"msq\" }";
/// Maximum serviced quanta are for processor sharing alone.
const JSQ: &str = "{ policy = \"jsq\" }";
const RANDOM: &str = "{ policy = \"random\" }";
const STEALS: &str = "\"work-stealing\"";
const NO_REBALANCE: &str = "\"none\"";

fn case(policy: Policy) -> Case {
    Case { policy, on_full: OnFull::Wait, queues: (1 << 10, 1 << 14), end: Shutdown::Drain, flags: false }
}

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} = {text}: write a number")))
}

/// Runs each of `cases` with its share of half of all requests: there are two tests.
fn stress(cases: &[Case]) {
    world::planned_panics_are_quiet();
    let seed = number("CAUDAL_STRESS_SEED", 20_261_122);
    let requests = number("CAUDAL_STRESS_REQUESTS", 100_000) / 2 / cases.len() as u64;
    for (i, case) in cases.iter().enumerate() {
        run(case, seed.wrapping_add(i as u64), requests as u32, seed);
    }
}

fn run(case: &Case, seed: u64, requests: u32, named: u64) {
    let runtime = start(case, seed);
    let world = Arc::new(World::new(&runtime, seed, requests));
    let over = AtomicBool::new(false);
    let left = std::thread::scope(|scope| {
        let title = format!("CAUDAL_STRESS_SEED={named}, {case:?}");
        scope.spawn(|| accounts::watch(&world, &over, title));
        let _over = Over(&over);
        let submitters: Vec<_> = (0..3)
            .map(|number| {
                let (runtime, world) = (&runtime, &world);
                scope.spawn(move || submitters::submit_all(runtime, world, number))
            })
            .collect();
        if case.end == Shutdown::Cancel {
            while world.made() < requests / 8 * 7 {
                std::thread::sleep(Duration::from_millis(1));
            }
        } else {
            submitters.into_iter().for_each(|submitter| submitter.join().unwrap());
        }
        runtime.shutdown(case.end)
    });
    world.expect(left == LeftBehind::default(), || format!("{left:?}"));
    accounts::check(&world, &runtime.stats(), case.end);
    let wrong = world.wrong();
    assert!(wrong.is_empty(), "CAUDAL_STRESS_SEED={named}, {case:?}:\n{}", wrong.join("\n"));
}

/// Says that a run is over, also where a submitter has panicked.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn start(case: &Case, seed: u64) -> Runtime {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let builder = builder_of(2 * cores + 1, &case.policy).pinning(Pinning::None);
    // The bound is there to fail instead of hanging: nothing is given up.
    let builder =
        builder.queues(case.queues.0, case.queues.1).on_full(case.on_full).raise_flags(case.flags).seed(seed);
    builder.spin(Duration::from_micros(50)).shutdown_bound(Duration::from_secs(120)).start().unwrap()
}

#[test]
fn with_a_dispatcher_every_request_ends_once() {
    let placed = |dispatch, discipline, rebalance| Policy { dispatch, discipline, rebalance };
    let sharing = placed(JSQ_MSQ, SHARING, NO_REBALANCE);
    stress(&[
        case(sharing),
        case(placed(JSQ, FCFS, NO_REBALANCE)),
        case(placed(JSQ, LAS, NO_REBALANCE)),
        case(placed(JSQ, FCFS, STEALS)),
        case(placed(JSQ_MSQ, SHARING, STEALS)),
        Case { queues: (4, 8), ..case(placed(JSQ, FCFS, NO_REBALANCE)) },
        Case { queues: (8, 16), on_full: OnFull::Refuse, ..case(sharing) },
        Case { flags: true, ..case(sharing) },
        Case { flags: true, ..case(placed(JSQ, LAS, STEALS)) },
        Case { end: Shutdown::Cancel, ..case(sharing) },
        Case { end: Shutdown::Cancel, flags: true, ..case(sharing) },
        Case { end: Shutdown::Cancel, queues: (4, 8), ..case(placed(JSQ, LAS, NO_REBALANCE)) },
    ]);
}

#[test]
fn without_a_dispatcher_every_request_ends_once() {
    let drawn = |discipline, rebalance| Policy { dispatch: RANDOM, discipline, rebalance };
    let sheds = "{ policy = \"work-shedding\", threshold = \"2us\" }";
    let both = "{ policy = \"steal-and-shed\", threshold = \"2us\" }";
    stress(&[
        case(drawn(FCFS, STEALS)),
        case(drawn(SHARING, sheds)),
        case(drawn(LAS, both)),
        Case { queues: (4, 2), ..case(drawn(FCFS, both)) },
        Case { queues: (8, 2), on_full: OnFull::Refuse, ..case(drawn(SHARING, STEALS)) },
        case(drawn(LAS, NO_REBALANCE)),
        Case { end: Shutdown::Cancel, ..case(drawn(FCFS, STEALS)) },
        Case { end: Shutdown::Cancel, queues: (4, 2), ..case(drawn(SHARING, both)) },
    ]);
}
