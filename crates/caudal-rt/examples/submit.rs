//! How long a request takes from its submission to its first instruction on an idle worker of another core.
//!
//! ```text
//! cargo run --release -p caudal-rt --example submit [-- ROUNDS]
//! ```
//!
//! *Direct*: a thread submits to the worker's own inbox. *Dispatcher*: a source hands the request to the dispatcher, on the
//! dispatcher's core. Either way one other core is waited for; a request is submitted when the one before it has ended. Beside
//! it the least that a hop can take: a line that one core writes and the other one polls.
//!
//! A virtual machine's cores are near to each other (one cache) at one time and far at another. So all three take turns, and
//! rounds are told apart by what the line took in them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use caudal_rt::{Builder, ClassId, Intake, Pinning, Polled, Shutdown, Source, clock};
use crossbeam_utils::CachePadded;

const ROUNDS: usize = 40;
/// Of each of the three in a round.
const REQUESTS: usize = 3_000;
/// A line that takes longer has come from another cache, in ns.
const FAR_NS: f64 = 130.0;

/// When the request ran, in cycles, and how many have run; each on lines of its own.
static RAN: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(0));
static COUNT: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(0));

/// Medians of a round, in ns: line, direct, dispatcher.
type Round = [f64; 3];

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(ROUNDS).max(1);
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return println!("submit to run: needs two cores");
    }
    let clock = clock::Clock::of_this_machine();
    let median = |mut spans: Vec<u64>| {
        spans.sort_unstable();
        clock.nanos(spans[spans.len() / 2])
    };
    let take = |_| [hop(REQUESTS), direct(REQUESTS), dispatched(REQUESTS)].map(median);
    let (near, far): (Vec<Round>, Vec<Round>) = (0..rounds).map(take).partition(|round| round[0] < FAR_NS);
    println!("ns, medians of {REQUESTS} requests: median over the rounds (least to highest)");
    println!("{:<34} {:>6} {:>17} {:>17} {:>17}", "", "rounds", "line", "direct", "dispatcher");
    print("cores that share a cache", &near);
    print("cores that do not", &far);
}

fn print(name: &str, rounds: &[Round]) {
    if rounds.is_empty() {
        return;
    }
    let of = |column: usize| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[column]).collect();
        values.sort_by(f64::total_cmp);
        format!("{:.0} ({:.0}–{:.0})", values[values.len() / 2], values[0], values[values.len() - 1])
    };
    println!("{name:<34} {:>6} {:>17} {:>17} {:>17}", rounds.len(), of(0), of(1), of(2));
}

fn pin(core: usize) {
    // SAFETY: the set is valid for the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// A store on one core until the load on the other one that sees it.
fn hop(requests: usize) -> Vec<u64> {
    let (line, seen) = (CachePadded::new(AtomicU64::new(0)), CachePadded::new(AtomicU64::new(0)));
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            for number in 1..=requests as u64 {
                while line.load(Ordering::Acquire) != number {
                    std::hint::spin_loop();
                }
                RAN.store(clock::now(), Ordering::Relaxed);
                seen.store(number, Ordering::Release);
            }
        });
        pin(0);
        let mut spans = Vec::with_capacity(requests);
        for number in 1..=requests as u64 {
            pause();
            let begun = clock::now();
            line.store(number, Ordering::Release);
            while seen.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
            spans.push(RAN.load(Ordering::Relaxed).saturating_sub(begun));
        }
        spans
    })
}

/// Some 2 us: the other side has come to rest.
fn pause() {
    let until = clock::now() + 5_000;
    while clock::now() < until {
        std::hint::spin_loop();
    }
}

fn job() {
    RAN.store(clock::now(), Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Release);
}

fn builder(dispatch: &str) -> Builder {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {dispatch}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"1us\" }}\n"
    );
    Builder::parse(&text, "submit.toml").expect("the file is right")
}

fn direct(requests: usize) -> Vec<u64> {
    let builder = builder("{ policy = \"random\" }").pinning(Pinning::These(vec![1]));
    let class = builder.class("get").expect("the first class");
    let runtime = builder.start().expect("two cores");
    pin(0);
    let mut spans = Vec::with_capacity(requests);
    for _ in 0..requests {
        pause();
        let before = COUNT.load(Ordering::Relaxed);
        let begun = clock::now();
        drop(runtime.submit(class, job).expect("there is room"));
        while COUNT.load(Ordering::Acquire) == before {
            std::hint::spin_loop();
        }
        spans.push(RAN.load(Ordering::Relaxed).saturating_sub(begun));
    }
    runtime.shutdown(Shutdown::Drain);
    spans
}

/// Hands in one request when the one before it has ended.
struct OneByOne {
    class: ClassId,
    begun: u64,
    before: u64,
    next: u64,
    spans: Vec<u64>,
    left: usize,
    done: std::sync::mpsc::Sender<Vec<u64>>,
}

impl Source for OneByOne {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        if self.begun != 0 {
            if COUNT.load(Ordering::Acquire) == self.before {
                return Polled::Nothing;
            }
            self.spans.push(RAN.load(Ordering::Relaxed).saturating_sub(self.begun));
            (self.begun, self.next) = (0, clock::now() + 5_000);
        }
        if clock::now() < self.next {
            return Polled::Nothing;
        }
        if self.left == 0 {
            let _ = self.done.send(std::mem::take(&mut self.spans));
            return Polled::Over;
        }
        self.left -= 1;
        self.before = COUNT.load(Ordering::Relaxed);
        self.begun = clock::now();
        intake.submit(self.class, self.begun, job);
        Polled::Worked
    }
}

fn dispatched(requests: usize) -> Vec<u64> {
    let builder = builder("{ policy = \"jsq\", ties = \"msq\" }").pinning(Pinning::These(vec![1, 0]));
    let class = builder.class("get").expect("the first class");
    let (done, spans) = std::sync::mpsc::channel();
    let source = OneByOne { class, begun: 0, before: 0, next: 0, spans: Vec::new(), left: requests, done };
    let runtime = builder.source(source).start().expect("two cores");
    let spans = spans.recv().expect("the source answers");
    runtime.shutdown(Shutdown::Drain);
    spans
}
