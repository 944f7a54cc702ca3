//! Stand-in for the system call in models: a list of sleepers, under a lock, by the addresses of their words.
//!
//! As in the kernel the word is compared under the lock under which sleepers queue, and is read without any ordering of its own:
//! a waker that changes it first finds the sleeper queued, or the sleeper sees the change, which the lock has ordered. A sleep with a limit ends
//! as soon as others could run, which is what a limit or a signal may do at any time; a sleep without one ends only by a
//! wake-up, so that a model in which that is lost is a deadlock, which loom reports.

use std::time::Duration;

use loom::sync::Mutex;
use loom::thread::{self, Thread};

use crate::base::primitives::{AtomicU32, Ordering};

struct Sleeper {
    word: usize,
    ticket: u64,
    thread: Thread,
}

#[derive(Default)]
struct Sleepers {
    queue: Vec<Sleeper>,
    tickets: u64,
}

loom::lazy_static! {
    static ref SLEEPERS: Mutex<Sleepers> = Mutex::new(Sleepers::default());
}

fn address(word: *const AtomicU32) -> usize {
    word as usize
}

/// Sleeps while `word` is `value`, at most for `longest`; may return for no reason.
pub(crate) fn wait(word: &AtomicU32, value: u32, longest: Option<Duration>) {
    if longest.is_some() {
        return thread::yield_now();
    }
    let ticket = {
        let mut sleepers = SLEEPERS.lock().unwrap();
        if word.load(Ordering::Relaxed) != value {
            return;
        }
        sleepers.tickets += 1;
        let ticket = sleepers.tickets;
        sleepers.queue.push(Sleeper { word: address(word), ticket, thread: thread::current() });
        ticket
    };
    while SLEEPERS.lock().unwrap().queue.iter().any(|sleeper| sleeper.ticket == ticket) {
        thread::park();
    }
}

/// Wakes up to `count` threads that sleep on `word`.
pub(crate) fn wake(word: &AtomicU32, count: i32) {
    wake_at(word, count);
}

/// As [`wake`], for a word that may be gone.
pub(crate) fn wake_at(word: *const AtomicU32, count: i32) {
    let mut sleepers = SLEEPERS.lock().unwrap();
    let woken = sleepers.queue.extract_if(.., |sleeper| sleeper.word == address(word));
    let threads: Vec<Thread> = woken.take(count as usize).map(|sleeper| sleeper.thread).collect();
    drop(sleepers);
    threads.iter().for_each(Thread::unpark);
}
