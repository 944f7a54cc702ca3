//! Locks of the standard library and of `parking_lot`: whoever finds one taken lets the worker's other requests run, although
//! nobody has compiled these libraries for that.
//!
//! Each is tried as it is, and in a child process whose runtime does not hear of waits: there the worker sleeps for ever, and its
//! watchdog says so. Nothing here is judged by time.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use std::time::{Duration, Instant};

use caudal_rt::Runtime;

use crate::common::{self, probes, runtime};

/// How far two requests of one worker are.
#[derive(Default)]
struct Turns {
    begun: AtomicBool,
    wants: AtomicBool,
}

impl Turns {
    const fn new() -> Turns {
        Turns { begun: AtomicBool::new(false), wants: AtomicBool::new(false) }
    }

    /// The first one, while it has it: it is pre-empted until the second one wants it, and then some more.
    fn be_preempted(&self) {
        self.begun.store(true, Ordering::Relaxed);
        while !self.wants.load(Ordering::Relaxed) {
            probes(1);
        }
        probes(1_000);
    }

    /// The second one is about to want it.
    fn want(&self) {
        self.wants.store(true, Ordering::Relaxed);
    }
}

/// A kind of lock: what the first request does, and what the second.
struct Kind {
    name: &'static str,
    first: fn(&Turns),
    second: fn(&Turns),
}

static MUTEX: Mutex<u32> = Mutex::new(0);
static WRITTEN: RwLock<u32> = RwLock::new(0);
static READ: RwLock<u32> = RwLock::new(0);
static ONCE: Once = Once::new();
static ONCE_LOCK: OnceLock<u32> = OnceLock::new();
static WAITS: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
static BARRIER: OnceLock<Barrier> = OnceLock::new();
static CHANNEL: Mutex<Option<mpsc::Receiver<u32>>> = Mutex::new(None);
static SENDER: Mutex<Option<mpsc::Sender<u32>>> = Mutex::new(None);
static OTHERS_MUTEX: parking_lot::Mutex<u32> = parking_lot::Mutex::new(0);
static OTHERS_RWLOCK: parking_lot::RwLock<u32> = parking_lot::RwLock::new(0);

const KINDS: &[Kind] = &[
    Kind {
        name: "mutex",
        first: |turns| {
            let mut guard = MUTEX.lock().unwrap();
            turns.be_preempted();
            *guard += 1;
        },
        second: |turns| {
            turns.want();
            assert_eq!(*MUTEX.lock().unwrap(), 1, "it has waited");
        },
    },
    Kind {
        name: "rwlock_of_a_writer",
        first: |turns| {
            let mut guard = WRITTEN.write().unwrap();
            turns.be_preempted();
            *guard += 1;
        },
        second: |turns| {
            turns.want();
            assert_eq!(*WRITTEN.read().unwrap(), 1, "it has waited");
        },
    },
    Kind {
        name: "rwlock_of_a_reader",
        first: |turns| {
            let guard = READ.read().unwrap();
            turns.be_preempted();
            assert_eq!(*guard, 0, "the writer has waited");
        },
        second: |turns| {
            turns.want();
            *READ.write().unwrap() += 1;
        },
    },
    Kind {
        name: "once",
        first: |turns| ONCE.call_once(|| turns.be_preempted()),
        second: |turns| {
            turns.want();
            ONCE.call_once(|| unreachable!("the first one has"));
        },
    },
    Kind {
        name: "once_lock",
        first: |turns| {
            ONCE_LOCK.get_or_init(|| {
                turns.be_preempted();
                1
            });
        },
        second: |turns| {
            turns.want();
            assert_eq!(*ONCE_LOCK.get_or_init(|| 2), 1);
        },
    },
    Kind {
        name: "condvar",
        first: |turns| {
            let mut rung = WAITS.0.lock().unwrap();
            turns.begun.store(true, Ordering::Relaxed);
            while !*rung {
                rung = WAITS.1.wait(rung).unwrap();
            }
        },
        second: |_| {
            *WAITS.0.lock().unwrap() = true;
            WAITS.1.notify_one();
        },
    },
    Kind {
        name: "barrier",
        first: |turns| {
            let barrier = BARRIER.get_or_init(|| Barrier::new(2));
            turns.begun.store(true, Ordering::Relaxed);
            barrier.wait();
        },
        second: |_| {
            BARRIER.get().expect("the first one is there").wait();
        },
    },
    Kind {
        name: "channel",
        first: |turns| {
            let (sender, receiver) = mpsc::channel();
            *SENDER.lock().unwrap() = Some(sender);
            *CHANNEL.lock().unwrap() = Some(receiver);
            let receiver = CHANNEL.lock().unwrap().take().expect("nobody else takes it");
            turns.begun.store(true, Ordering::Relaxed);
            assert_eq!(receiver.recv(), Ok(7));
        },
        second: |_| {
            let sender = SENDER.lock().unwrap().take().expect("the first one has put it there");
            sender.send(7).unwrap();
        },
    },
    Kind {
        name: "parking_lot_mutex",
        first: |turns| {
            let mut guard = OTHERS_MUTEX.lock();
            turns.be_preempted();
            *guard += 1;
        },
        second: |turns| {
            turns.want();
            assert_eq!(*OTHERS_MUTEX.lock(), 1, "it has waited");
        },
    },
    Kind {
        name: "parking_lot_rwlock",
        first: |turns| {
            let mut guard = OTHERS_RWLOCK.write();
            turns.be_preempted();
            *guard += 1;
        },
        second: |turns| {
            turns.want();
            assert_eq!(*OTHERS_RWLOCK.read(), 1, "it has waited");
        },
    },
];

fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).expect("a kind of that name")
}

fn one_worker() -> Runtime {
    let runtime = runtime(1, true, |b| b.stuck_after(Duration::from_millis(20)));
    runtime.set_quantum(Duration::from_micros(1));
    runtime
}

/// Runs both requests, the second once the first has begun.
fn both(runtime: &Runtime, kind: &'static Kind) {
    static TURNS: [Turns; KINDS.len()] = [const { Turns::new() }; KINDS.len()];
    let turns = &TURNS[KINDS.iter().position(|other| std::ptr::eq(other, kind)).expect("one of them")];
    let classes = [runtime.class("first").unwrap(), runtime.class("second").unwrap()];
    let first = runtime.submit(classes[0], || (kind.first)(turns)).unwrap();
    while !turns.begun.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let second = runtime.submit(classes[1], || (kind.second)(turns)).unwrap();
    first.wait().unwrap();
    second.wait().unwrap();
}

const CHILD: &str = "CAUDAL_TEST_LOCK";

/// A runtime that does not hear of waits.
extern "C" fn answers_no(_round: u32) -> i32 {
    0
}

/// Not a test by itself: the child process of the others. Its worker never comes back.
#[test]
fn child_whose_runtime_does_not_hear_of_waits() {
    let Ok(name) = std::env::var(CHILD) else { return };
    let runtime = one_worker();
    caudal_probe::set_wait_hook(answers_no);
    both(&runtime, kind(&name));
    eprintln!("both have ended");
}

/// Fate of `name` without the hook: the worker of a child process sleeps.
fn sleeps_without_the_hook(name: &str) {
    let mut child = crate::child(module_path!(), "child_whose_runtime_does_not_hear_of_waits")
        .env(CHILD, name)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let said: Vec<String> = lines
        .inspect(|line| assert_ne!(line, "both have ended", "it goes well without the hook"))
        .take_while(|line| !line.contains("worker 0 has been in one request of class"))
        .collect();
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(running, "it said {said:?}, and not that its worker is stuck");
}

macro_rules! kinds {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let name = stringify!($name);
                both(&one_worker(), kind(name));
                sleeps_without_the_hook(name);
            }
        )*
    };
}

kinds! {
    mutex rwlock_of_a_writer rwlock_of_a_reader once once_lock condvar barrier channel parking_lot_mutex parking_lot_rwlock
}

/// A wait with a time ends by it, though nobody wakes who waits.
#[test]
fn a_wait_with_a_time_is_over_then() {
    static NOBODY_RINGS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    const SPAN: Duration = Duration::from_millis(2);
    let runtime = one_worker();
    let class = runtime.class("waits").unwrap();
    let waits = || {
        let begun = Instant::now();
        let guard = NOBODY_RINGS.0.lock().unwrap();
        let (_guard, waited) = NOBODY_RINGS.1.wait_timeout_while(guard, SPAN, |()| true).unwrap();
        (waited.timed_out(), begun.elapsed() >= SPAN)
    };
    assert_eq!(runtime.submit(class, waits).unwrap().wait().unwrap(), (true, true));
}

/// A thread that is no request sleeps as ever, and is woken by a request.
#[test]
fn threads_and_requests_share_a_lock() {
    static SHARED: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());
    let runtime = one_worker();
    let class = runtime.class("shares").unwrap();
    let adds = |number: u32| {
        let mut value = SHARED.0.lock().unwrap();
        while *value != number {
            value = SHARED.1.wait(value).unwrap();
        }
        *value += 1;
        SHARED.1.notify_all();
    };
    let handles: Vec<_> =
        (0..20).map(|number| runtime.submit(class, move || adds(2 * number)).unwrap()).collect();
    let threads: Vec<_> = (0..20).map(|number| std::thread::spawn(move || adds(2 * number + 1))).collect();
    common::all(handles);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*SHARED.0.lock().unwrap(), 40);
}
