//! Cost of a pair of switches, to a coroutine and back: this crate's, and corosensei's.
//!
//! ```text
//! cargo run --release -p caudal-rt --example switch
//! ```
//!
//! Two coroutines take turns, each suspended some calls deep, as a request is at a probe. The calls themselves are measured
//! apart and subtracted.

use std::hint::black_box;

use caudal_rt::bench::SwitchPair;
use caudal_rt::clock;
use corosensei::{Coroutine, CoroutineResult, Yielder};

const SWITCHES: usize = 200_000;
const ROUNDS: usize = 15;

fn main() {
    println!("ns a pair of switches, calls subtracted: median (least) of {ROUNDS} rounds of {SWITCHES}");
    println!("{:<12} {:>15} {:>15}", "calls deep", "caudal", "corosensei");
    for calls in 0..=4 {
        let alone = rounds(|| calls_alone(calls))[1];
        let own = rounds(|| own(calls)).map(|ns| ns - alone);
        let other = rounds(|| other(calls)).map(|ns| ns - alone);
        let said = [own, other].map(|[least, median]| format!("{median:.1} ({least:.1})"));
        println!("{calls:<12} {:>15} {:>15}", said[0], said[1]);
    }
}

/// The least and the median.
fn rounds(round: impl FnMut() -> f64) -> [f64; 2] {
    let mut values: Vec<f64> = std::iter::repeat_with(round).take(ROUNDS).collect();
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2]]
}

fn nanos_each(body: impl FnOnce()) -> f64 {
    let begun = clock::now();
    body();
    clock::Clock::of_this_machine().nanos(clock::now() - begun) / SWITCHES as f64
}

fn own(calls: u32) -> f64 {
    let mut pairs = [SwitchPair::new(calls, 0), SwitchPair::new(calls, 1)];
    nanos_each(|| (0..SWITCHES).for_each(|i| pairs[black_box(i) % 2].switch()))
}

#[inline(never)]
fn deep(calls: u32, end: &dyn Fn()) {
    if calls > 0 {
        deep(calls - 1, end);
        black_box(());
    } else {
        end();
    }
}

fn calls_alone(calls: u32) -> f64 {
    nanos_each(|| (0..SWITCHES).for_each(|_| deep(black_box(calls), &|| ())))
}

fn other(calls: u32) -> f64 {
    let body = move |yielder: &Yielder<(), ()>, ()| {
        for _ in 0..SWITCHES / 2 {
            deep(black_box(calls), &|| yielder.suspend(()));
        }
    };
    let mut pair = [Coroutine::<(), (), ()>::new(body), Coroutine::new(body)];
    let nanos = nanos_each(|| {
        for i in 0..SWITCHES {
            let result = pair[black_box(i) % 2].resume(());
            debug_assert!(matches!(result, CoroutineResult::Yield(())));
        }
    });
    pair.iter_mut()
        .for_each(|coroutine| assert!(matches!(coroutine.resume(()), CoroutineResult::Return(()))));
    nanos
}
