//! Two threads on one key: whatever they do, its history is linearizable. `preempted.rs` has the same with requests of a runtime.

use std::sync::{Arc, Barrier};

use proptest::prelude::*;

use crate::connection::{Client, Connection, small_service};
use crate::history::{Answer, Operation, Recorder, is_linearizable};
use crate::small_store;

const ROUNDS: u64 = 300;
/// Operations of each client in a round.
pub(crate) const OPERATIONS: u64 = 30;

/// A client's operations, chosen by its seed: many changes of the same number, few deletions.
pub(crate) fn client(seed: u64, mut on: impl Client, recorder: &Recorder) {
    let mut last_seen = 0;
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for count in 0..OPERATIONS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let value = seed * 1_000 + count;
        let operation = match random % 16 {
            0..5 => Operation::Gets,
            5..8 => Operation::Cas { seen: last_seen, value },
            8..12 => Operation::Incr(1),
            12..15 => Operation::Set(value),
            _ => Operation::Delete,
        };
        if let Answer::Item(Some((_, cas))) = recorder.run(&mut on, operation) {
            last_seen = cas;
        }
    }
}

#[test]
fn histories_of_two_threads_are_linearizable() {
    let store = Arc::new(small_store());
    for round in 0..ROUNDS {
        let recorder = Arc::new(Recorder::new(format!("k-{round}")));
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (store, recorder, start) = (&store, &recorder, &start);
                scope.spawn(move || {
                    start.wait();
                    client(round * 2 + thread + 1, &**store, recorder);
                });
            }
        });
        let events = Arc::into_inner(recorder).expect("both are done").events();
        assert!(is_linearizable(&events), "round {round}: {events:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Two connections, each on a thread of its own, which send requests as text and read the answers.
    #[test]
    fn histories_of_two_connections_are_linearizable(seeds in any::<[u32; 2]>()) {
        let service = small_service();
        let recorder = Recorder::new("k".to_owned());
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            for seed in seeds {
                let (service, recorder, start) = (&service, &recorder, &start);
                scope.spawn(move || {
                    start.wait();
                    client(u64::from(seed), Connection::new(service), recorder);
                });
            }
        });
        let events = recorder.events();
        prop_assert!(is_linearizable(&events), "{:#?}", events);
    }
}

/// Sums of two threads that only count are exact, which a lost update would show at once.
#[test]
fn counts_of_two_threads_add_up() {
    let store = small_store();
    crate::set(&store, "n", "0");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    store.arithmetic(b"n", caudal_proto::text::Direction::Up, 1, crate::NOW).unwrap();
                }
            });
        }
    });
    assert_eq!(crate::value(&store, "n").as_deref(), Some("40000"));
}
