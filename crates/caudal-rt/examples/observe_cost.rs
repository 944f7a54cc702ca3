//! Cost of measuring for a request on this machine: the same closed loop on two runtimes, one that measures and one that does not,
//! in turns.
//!
//! ```text
//! cargo run --release -p caudal-rt --example observe_cost [-- ROUNDS]
//! ```
//!
//! The requests do nothing. Clock reads are in both loops: scheduling needs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_rt::{Builder, ClassId, Intake, Pinning, Polled, Runtime, Source, clock};

const REQUESTS: u64 = 200_000;
/// Of each, unless the argument says otherwise.
const ROUNDS: usize = 31;

/// Hands in `left` requests that do nothing, and keeps the worker full.
struct Requests {
    class: ClassId,
    left: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl Source for Requests {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        let mut left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            // Nothing is stored: that could undo what the main thread asks for at this moment.
            return Polled::Nothing;
        }
        while left > 0 && intake.has_room() {
            let ended = Arc::as_ptr(&self.ended) as usize;
            intake.submit(self.class, clock::now(), move || {
                // SAFETY: the source, which keeps the counter, outlives its requests; only this worker writes.
                let ended = unsafe { &*(ended as *const AtomicU64) };
                ended.store(ended.load(Ordering::Relaxed) + 1, Ordering::Release);
            });
            left -= 1;
        }
        self.left.store(left, Ordering::Release);
        Polled::Worked
    }
}

struct Contestant {
    _runtime: Runtime,
    left: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
    hz: f64,
}

impl Contestant {
    fn new(measuring: bool) -> Contestant {
        let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                    discipline = { policy = \"processor-sharing\", quantum = \"1us\" }\n";
        let builder = Builder::parse(text, "cost.toml").expect("the file is right");
        let class = builder.class("empty").expect("the first class");
        let (left, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let source = Requests { class, left: Arc::clone(&left), ended: Arc::clone(&ended) };
        let builder = builder.pinning(Pinning::Cores).measuring(measuring).source(source);
        let hz = clock::Clock::of_this_machine().hz();
        Contestant { _runtime: builder.start().expect("a core"), left, ended, hz }
    }

    /// Nanoseconds a request.
    fn round(&self) -> f64 {
        let until = self.ended.load(Ordering::Acquire) + REQUESTS;
        let begun = clock::now();
        self.left.store(REQUESTS, Ordering::Release);
        while self.ended.load(Ordering::Acquire) < until {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
        (clock::now() - begun) as f64 / self.hz * 1e9 / REQUESTS as f64
    }
}

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(ROUNDS).max(1);
    let mut rounds = [Vec::new(), Vec::new()];
    for _ in 0..count {
        for (measuring, rounds) in [false, true].into_iter().zip(&mut rounds) {
            // One at a time, so that both have the same core.
            let contestant = Contestant::new(measuring);
            contestant.round();
            rounds.push(contestant.round());
        }
    }
    let of = |rounds: &mut Vec<f64>| {
        rounds.sort_by(f64::total_cmp);
        (rounds[0], rounds[rounds.len() / 4], rounds[rounds.len() / 2])
    };
    let (without, with) = (of(&mut rounds[0]), of(&mut rounds[1]));
    println!(
        "ns a request          least  quartile  median   ({REQUESTS} requests a round, {count} rounds in turns)"
    );
    println!("without measuring   {:7.1}   {:7.1} {:7.1}", without.0, without.1, without.2);
    println!("with                {:7.1}   {:7.1} {:7.1}", with.0, with.1, with.2);
    println!(
        "measuring takes     {:7.1}   {:7.1} {:7.1}",
        with.0 - without.0,
        with.1 - without.1,
        with.2 - without.2
    );
}
