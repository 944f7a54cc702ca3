//! Two hosts, one decision: what policies decide in the runtime, they decide in the simulator's host as well.
//!
//! Real runs are logged and replayed through the simulator's pools and views. A log of which one observation has been changed
//! must not pass.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use caudal_rt::{Builder, DecisionLog, Entry, Pinning, Runtime, Shutdown, ThreadLog};
use caudal_sim::replay::{Replay, replay};

/// Decisions that a test looks at, at least.
const ENOUGH: u64 = 2_000;

struct Case {
    dispatch: &'static str,
    discipline: &'static str,
    rebalance: &'static str,
    /// Do requests wait for others?
    blocks: bool,
    /// Do started requests change their workers?
    moves: bool,
}

const FCFS: &str = r#"{ policy = "fcfs" }"#;
const SHARING: &str = r#"{ policy = "processor-sharing", quantum = "2us" }"#;
const TAIL: &str = r#"{ policy = "processor-sharing", quantum = "2us", fresh = "tail" }"#;
const RESIDENT: &str =
    r#"{ policy = "processor-sharing", quantum = "2us", started_max = 2, lone = "yield" }"#;
const LAS: &str = r#"{ policy = "las", quantum = "2us" }"#;
const JSQ: &str = r#"{ policy = "jsq" }"#;
const MSQ: &str = r#"{ policy = "jsq", ties = "msq" }"#;
const JBSQ: &str = r#"{ policy = "jbsq", bound = 2 }"#;
const POWER: &str = r#"{ policy = "power-of-k", k = 2 }"#;
const RANDOM: &str = r#"{ policy = "random" }"#;
const ROUND_ROBIN: &str = r#"{ policy = "round-robin" }"#;
const STAY: &str = r#"{ policy = "none" }"#;
const STEAL: &str = r#"{ policy = "work-stealing" }"#;
const SHED: &str = r#"{ policy = "work-shedding", threshold = "2us" }"#;
const BOTH: &str = r#"{ policy = "steal-and-shed", threshold = "2us" }"#;

const CASES: &[Case] = &[
    Case { dispatch: JSQ, discipline: FCFS, rebalance: STAY, blocks: true, moves: false },
    Case { dispatch: MSQ, discipline: SHARING, rebalance: STAY, blocks: true, moves: false },
    Case { dispatch: JBSQ, discipline: FCFS, rebalance: STAY, blocks: false, moves: false },
    Case { dispatch: POWER, discipline: TAIL, rebalance: STAY, blocks: true, moves: false },
    Case { dispatch: JSQ, discipline: RESIDENT, rebalance: STAY, blocks: false, moves: false },
    Case { dispatch: JSQ, discipline: LAS, rebalance: STAY, blocks: true, moves: false },
    Case { dispatch: RANDOM, discipline: FCFS, rebalance: STEAL, blocks: true, moves: false },
    Case { dispatch: ROUND_ROBIN, discipline: SHARING, rebalance: STAY, blocks: true, moves: false },
    Case { dispatch: RANDOM, discipline: LAS, rebalance: SHED, blocks: true, moves: false },
    Case { dispatch: RANDOM, discipline: SHARING, rebalance: BOTH, blocks: true, moves: false },
    Case { dispatch: JSQ, discipline: FCFS, rebalance: BOTH, blocks: false, moves: false },
    Case { dispatch: RANDOM, discipline: SHARING, rebalance: STEAL, blocks: true, moves: true },
    Case { dispatch: RANDOM, discipline: LAS, rebalance: STEAL, blocks: true, moves: true },
];

fn builder(case: &Case, workers: usize) -> Builder {
    let Case { dispatch, discipline, rebalance, .. } = case;
    let text = format!(
        "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {dispatch}\n\
         discipline = {discipline}\nrebalance = {rebalance}\n"
    );
    Builder::parse(&text, "parity.toml").unwrap().workers(workers).pinning(Pinning::None)
}

/// Works for so long, and lets itself be pre-empted.
fn work(span: Duration) -> u64 {
    let begun = Instant::now();
    let mut iterations = 0;
    while begun.elapsed() < span {
        caudal_rt::probe();
        iterations = black_box(iterations + 1);
    }
    iterations
}

/// Runs requests of all kinds, in bursts; the log of it.
fn log_of(case: &Case, requests: u64) -> DecisionLog {
    let runtime = Arc::new(builder(case, 3).seed(requests).log(1 << 19).start().unwrap());
    let class = runtime.class("any").unwrap();
    let mut handles = Vec::new();
    for i in 0..requests {
        let span = Duration::from_nanos(match i % 16 {
            0 => 40_000,
            1..4 => 7_000,
            _ => 500,
        });
        let handle = match i % 11 {
            3 if case.blocks => {
                let inner: Arc<Runtime> = Arc::clone(&runtime);
                let parent = move || {
                    let child = inner.submit(class, move || work(span)).map(|child| child.wait().is_ok());
                    u64::from(child.is_ok()) + work(Duration::from_nanos(300))
                };
                runtime.submit(class, parent)
            }
            5 => runtime.request(class).deadline(Duration::from_nanos(200)).submit(move || work(span)),
            _ if case.moves => {
                // SAFETY: the handler has nothing that belongs to a thread.
                unsafe { runtime.request(class).migratable() }.submit(move || work(span))
            }
            _ => runtime.submit(class, move || work(span)),
        };
        let handle = handle.unwrap();
        match i % 7 {
            0 => drop(handle),
            1 => drop(handle.cancel()),
            _ => handles.push(handle),
        }
        if i % 61 == 0 {
            handles.drain(..).for_each(|handle| drop(handle.wait()));
        }
    }
    handles.drain(..).for_each(|handle| drop(handle.wait()));
    runtime.shutdown(Shutdown::Drain);
    runtime.take_log().unwrap()
}

fn checked(log: &DecisionLog) -> Replay {
    replay(log, 3).unwrap()
}

fn assert_same(log: &DecisionLog) -> u64 {
    let replay = checked(log);
    let shown: Vec<String> = replay.differences.iter().map(ToString::to_string).collect();
    assert!(replay.is_same(), "{} of {}: {shown:#?}", replay.differing, replay.decisions);
    assert_eq!(log.lost(), 0, "the logs were long enough");
    replay.decisions
}

#[test]
fn the_simulators_host_decides_as_the_runtime_did() {
    let mut decisions = 0;
    for case in CASES {
        let log = log_of(case, 6_000);
        let here = assert_same(&log);
        eprintln!("{} {} {}: {here}", case.dispatch, case.discipline, case.rebalance);
        assert!(here > ENOUGH, "{here} decisions of {} {}", case.dispatch, case.discipline);
        decisions += here;
    }
    assert!(decisions >= 100_000, "{decisions} decisions");
}

#[test]
fn a_log_that_was_written_and_read_says_the_same() {
    let log = log_of(&CASES[1], 500);
    let (mut lines, mut binary) = (Vec::new(), Vec::new());
    log.write_lines(&mut lines).unwrap();
    log.write_binary(&mut binary).unwrap();
    assert_eq!(DecisionLog::read(&lines).unwrap(), log);
    assert_eq!(DecisionLog::read(&binary).unwrap(), log);
}

#[test]
fn a_log_that_is_full_is_a_whole_beginning() {
    let runtime = builder(&CASES[1], 2).log(256).start().unwrap();
    let class = runtime.class("any").unwrap();
    for _ in 0..2_000 {
        drop(runtime.submit(class, || work(Duration::from_nanos(200))).unwrap());
    }
    runtime.shutdown(Shutdown::Drain);
    let log = runtime.take_log().unwrap();
    assert!(log.lost() > 0);
    assert!(log.threads.iter().all(|thread| thread.entries.len() <= 256));
    assert!(checked(&log).is_same());
}

#[test]
fn a_log_can_be_copied_while_it_is_written() {
    let runtime = builder(&CASES[1], 2).log(1 << 18).start().unwrap();
    let class = runtime.class("any").unwrap();
    let mut longest = 0;
    for i in 0..4_000 {
        let handle = runtime.submit(class, || work(Duration::from_nanos(500))).unwrap();
        if i % 400 == 399 {
            // Else no worker may have begun yet.
            handle.wait().unwrap();
            let log = runtime.take_log().unwrap();
            assert!(checked(&log).is_same());
            assert!(log.len() >= longest);
            longest = log.len();
        }
    }
    runtime.shutdown(Shutdown::Drain);
    assert!(longest > 0);
}

/// Changes one entry of `log` after the other by `change`, which answers whether it has, until the replay notices. Fails if it
/// notices none.
fn assert_noticed(mut log: DecisionLog, change: impl Fn(&mut ThreadLog, usize) -> bool) {
    assert_same(&log);
    let mut changed = 0;
    for thread in 0..log.threads.len() {
        for at in 0..log.threads[thread].entries.len() {
            let before = log.threads[thread].clone();
            if !change(&mut log.threads[thread], at) {
                continue;
            }
            changed += 1;
            if !checked(&log).is_same() {
                return;
            }
            log.threads[thread] = before;
        }
    }
    panic!("{changed} entries were changed, and none was noticed");
}

#[test]
fn a_count_that_was_not_seen_is_noticed() {
    for dispatch in [JSQ, MSQ, POWER] {
        let log = log_of(&Case { dispatch, ..CASES[1] }, 800);
        assert_noticed(log, |thread, at| {
            let Entry::Seen { unfinished, .. } = &mut thread.entries[at] else { return false };
            *unfinished += 1;
            true
        });
    }
}

#[test]
fn a_bound_that_was_not_reached_is_noticed() {
    assert_noticed(log_of(&CASES[2], 800), |thread, at| {
        let Entry::Seen { unfinished, .. } = &mut thread.entries[at] else { return false };
        let is_held = *unfinished == 2;
        *unfinished = 1;
        is_held
    });
}

#[test]
fn quanta_that_were_not_received_are_noticed() {
    assert_noticed(log_of(&CASES[1], 3_000), |thread, at| {
        let Entry::Seen { quanta, .. } = &mut thread.entries[at] else { return false };
        *quanta += 1_000;
        true
    });
}

#[test]
fn service_that_was_not_received_is_noticed() {
    assert_noticed(log_of(&CASES[5], 800), |thread, at| {
        let Entry::Stopped { attained_ps, .. } = &mut thread.entries[at] else { return false };
        *attained_ps = attained_ps.saturating_sub(1_000_000);
        true
    });
}

#[test]
fn service_that_was_not_received_elsewhere_is_noticed() {
    let case = CASES.iter().rfind(|case| case.moves).unwrap();
    assert_noticed(log_of(case, 3_000), |thread, at| {
        let Entry::Moved { attained_ps, .. } = &mut thread.entries[at] else { return false };
        *attained_ps = attained_ps.saturating_sub(1_000_000);
        true
    });
}

#[test]
fn arrivals_in_another_order_are_noticed() {
    assert_noticed(log_of(&CASES[3], 3_000), |thread, at| {
        let two = thread.entries[at..].first_chunk::<4>().copied();
        let Some([one @ Entry::Arrival { .. }, first, other @ Entry::Arrival { .. }, second]) = two else {
            return false;
        };
        let queued = |entry| matches!(entry, Entry::Enqueue { .. });
        if !(queued(first) && queued(second)) {
            return false;
        }
        thread.entries[at..at + 4].copy_from_slice(&[other, second, one, first]);
        true
    });
}

#[test]
fn a_queue_of_another_length_is_noticed() {
    assert_noticed(log_of(&CASES[6], 3_000), |thread, at| {
        let Entry::Looked { len, .. } = &mut thread.entries[at] else { return false };
        *len += 1;
        true
    });
    assert_noticed(log_of(&CASES[8], 3_000), |thread, at| {
        let Entry::Shed { len, .. } = &mut thread.entries[at] else { return false };
        *len += 1;
        true
    });
}

#[test]
fn a_wait_of_another_length_is_noticed() {
    assert_noticed(log_of(&CASES[8], 3_000), |thread, at| {
        let Entry::Overload { waited_ps, .. } = &mut thread.entries[at] else { return false };
        *waited_ps = if *waited_ps > 2_000_000 { 1_999_999 } else { 2_000_001 };
        true
    });
}

#[test]
fn another_worker_with_a_flag_is_noticed() {
    assert_noticed(log_of(&CASES[8], 3_000), |thread, at| {
        let Entry::Unflagged { bits, .. } = &mut thread.entries[at] else { return false };
        let flagged = *bits & bits.wrapping_sub(1);
        std::mem::replace(bits, flagged) != flagged && flagged != 0
    });
}

#[test]
fn a_draw_of_another_request_is_noticed() {
    for case in [&CASES[6], &CASES[7]] {
        assert_noticed(log_of(case, 800), |thread, at| {
            let Entry::Placed { number, .. } = &mut thread.entries[at] else { return false };
            *number += 1 << 50 | 1;
            true
        });
    }
}
