//! Sources that can be waited for, and sinks: requests from within the process, and replies from the workers that did the work.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel as replies};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_rt::drive::channel::channel;
use caudal_rt::drive::{Intake, REPLIES_MAX, Sink, Source};
use caudal_rt::task::Sinks;
use caudal_rt::{ClassId, Pinning, Shutdown, StartError};

use crate::common::builder;

/// Sends each batch of replies, with the thread on which it was sent.
struct Post {
    batch: Vec<u64>,
    to: Sender<(String, Vec<u64>)>,
}

impl Sink for Post {
    type Reply = u64;

    fn put(&mut self, reply: u64) {
        self.batch.push(reply);
    }

    fn flush(&mut self) -> bool {
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        self.to.send((thread, std::mem::take(&mut self.batch))).is_ok()
    }
}

/// Waits until the runtime's threads sleep: their time on a core does not grow any more. A minute of looks is never.
fn fall_asleep() {
    let ran = || {
        let mut ran = HashMap::new();
        for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if ["caudal-0", "caudal-1", "caudal-dispatch"].contains(&name.trim()) {
                let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
                ran.insert(task.file_name(), text.split(' ').next().unwrap_or_default().to_owned());
            }
        }
        ran
    };
    for _ in 0..1_200 {
        let before = ran();
        std::thread::sleep(Duration::from_millis(50));
        if !before.is_empty() && before == ran() {
            return;
        }
    }
    panic!("the threads stay up");
}

/// In a process of its own: the threads of other tests' runtimes have the same names.
#[test]
fn a_runtime_sleeps_while_a_source_that_can_be_waited_for_has_nothing() {
    const ASLEEP: &str = "CAUDAL_TEST_ASLEEP";
    if std::env::var_os(ASLEEP).is_none() {
        let mut child = crate::child(
            module_path!(),
            "a_runtime_sleeps_while_a_source_that_can_be_waited_for_has_nothing",
        );
        return crate::passes(child.env(ASLEEP, "1"));
    }
    for two_level in [true, false] {
        let builder = builder(2, two_level).pinning(Pinning::None).spin(Duration::from_micros(100));
        let class = builder.class("get").unwrap();
        let (post, letters) = replies();
        let sinks = Sinks::new(2, |_| Post { batch: Vec::new(), to: post.clone() });
        let reply = sinks.clone();
        let (sender, source) = channel(class, move |value: u64| reply.put(value)).unwrap();
        let runtime = builder.source(source).sinks(&sinks).start().unwrap();
        for value in 0..5 {
            fall_asleep();
            sender.send(value);
            let (thread, batch) = letters.recv_timeout(Duration::from_secs(60)).expect("it wakes up");
            assert_eq!(batch, [value]);
            assert!(thread.starts_with("caudal-") && thread != "caudal-dispatch", "{thread}");
        }
        // A submission and the shutdown wake it as well.
        fall_asleep();
        runtime.submit(class, || ()).unwrap().wait().unwrap();
        fall_asleep();
        assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}

#[test]
fn all_that_is_sent_is_served_once_and_answered_from_the_workers() {
    const SENT: u64 = 20_000;
    for two_level in [true, false] {
        let builder = builder(2, two_level).pinning(Pinning::None);
        let class = builder.class("get").unwrap();
        let (post, letters) = replies();
        let sinks = Sinks::new(2, |_| Post { batch: Vec::new(), to: post.clone() });
        drop(post);
        let reply = sinks.clone();
        let (sender, source) = channel(class, move |value: u64| reply.put(value)).unwrap();
        let runtime = builder.source(source).sinks(&sinks).start().unwrap();
        let other = sender.clone();
        let sends = std::thread::spawn(move || (0..SENT / 2).for_each(|value| other.send(2 * value)));
        (0..SENT / 2).for_each(|value| sender.send(2 * value + 1));
        sends.join().unwrap();
        drop(sender);
        let mut seen = vec![false; SENT as usize];
        let mut left = SENT;
        while left > 0 {
            let (_, batch) = letters.recv_timeout(Duration::from_secs(60)).expect("all are answered");
            assert!(batch.len() <= REPLIES_MAX, "{}", batch.len());
            left -= batch.len() as u64;
            batch.iter().for_each(|&value| assert!(!std::mem::replace(&mut seen[value as usize], true)));
        }
        assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}

/// A source that has a request whenever it is asked, and notes that it was.
struct Eager(ClassId, Arc<AtomicBool>);

impl Source for Eager {
    fn poll(&mut self, intake: &mut Intake<'_>) -> bool {
        self.1.store(true, Relaxed);
        intake.submit(self.0, caudal_rt::clock::now(), || ());
        true
    }
}

/// A sink that says what its test wants.
struct Full(Arc<AtomicBool>);

impl Sink for Full {
    type Reply = ();

    fn put(&mut self, (): ()) {}

    fn flush(&mut self) -> bool {
        true
    }

    fn is_full(&self) -> bool {
        self.0.load(Relaxed)
    }
}

#[test]
fn a_worker_whose_sink_is_full_takes_nothing_in() {
    let (full, asked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let builder = builder(1, false).pinning(Pinning::None);
    let class = builder.class("get").unwrap();
    let says = Arc::clone(&full);
    let sinks = Sinks::new(1, move |_| Full(Arc::clone(&says)));
    let runtime = builder.source(Eager(class, Arc::clone(&asked))).sinks(&sinks).start().unwrap();
    // Submissions go on: each is served after at least one look at everything.
    (0..100).for_each(|_| runtime.submit(class, || ()).unwrap().wait().unwrap());
    assert!(!asked.load(Relaxed));
    full.store(false, Relaxed);
    while !asked.load(Relaxed) {
        std::thread::yield_now();
    }
    runtime.shutdown(Shutdown::Drain);
}

#[test]
fn sinks_are_of_one_runtime_and_replies_of_its_requests() {
    let sinks = Sinks::new(1, |_| Full(Arc::default()));
    let few = builder(2, false).pinning(Pinning::None).sinks(&sinks).start();
    assert!(matches!(few, Err(StartError::Setting { name: "sinks", .. })));
    let sinks = Sinks::new(1, |_| Full(Arc::default()));
    let first = builder(1, false).pinning(Pinning::None).sinks(&sinks).start().unwrap();
    let second = builder(1, false).pinning(Pinning::None).sinks(&sinks).start();
    assert!(matches!(second, Err(StartError::Setting { name: "sinks", .. })));
    let other = builder(1, false).pinning(Pinning::None).start().unwrap();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    for runtime in [&first, &other] {
        let (class, sinks) = (runtime.class("x").unwrap(), sinks.clone());
        outcomes.lock().unwrap().push(runtime.submit(class, move || sinks.put(())).unwrap().wait().is_ok());
    }
    assert_eq!(*outcomes.lock().unwrap(), [true, false]);
    assert!(catch_unwind(AssertUnwindSafe(|| sinks.put(()))).is_err(), "outside of requests");
}
