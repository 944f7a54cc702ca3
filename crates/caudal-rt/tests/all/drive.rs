//! Sources that can be waited for, and sinks: requests from within the process, and replies from the workers that did the work.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::mpsc::{Sender, channel as replies};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_rt::drive::channel::{SendError, bounded, channel};
use caudal_rt::drive::{Doorbell, Intake, Polled, REPLIES_MAX, Rings, Sink, Source};
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
            sender.send(value).unwrap();
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
        let sends =
            std::thread::spawn(move || (0..SENT / 2).for_each(|value| other.send(2 * value).unwrap()));
        (0..SENT / 2).for_each(|value| sender.send(2 * value + 1).unwrap());
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
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        self.1.store(true, Relaxed);
        intake.submit(self.0, caudal_rt::clock::now(), || ());
        Polled::Worked
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

/// A sink that can send nothing until it may.
struct Stuck {
    may: Arc<AtomicBool>,
    tries: Arc<AtomicU64>,
    to: Sender<()>,
    waiting: usize,
}

impl Sink for Stuck {
    type Reply = ();

    fn put(&mut self, (): ()) {
        self.waiting += 1;
    }

    fn flush(&mut self) -> bool {
        self.tries.fetch_add(1, Relaxed);
        if self.may.load(Relaxed) {
            (0..std::mem::take(&mut self.waiting)).for_each(|_| self.to.send(()).unwrap());
        }
        self.waiting == 0
    }
}

/// Waits until `count` has grown by `by`.
fn await_growth(count: &AtomicU64, by: u64) {
    let before = count.load(Relaxed);
    while count.load(Relaxed) < before + by {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_runtime_does_not_sleep_on_replies_that_could_not_be_sent() {
    let (may, tries) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (to, sent) = replies();
    let builder = builder(1, false).pinning(Pinning::None).spin(Duration::from_micros(10));
    let class = builder.class("get").unwrap();
    let (may_it, tried) = (Arc::clone(&may), Arc::clone(&tries));
    let sinks = Sinks::new(1, move |_| Stuck {
        may: Arc::clone(&may_it),
        tries: Arc::clone(&tried),
        to: to.clone(),
        waiting: 0,
    });
    let reply = sinks.clone();
    let runtime = builder.sinks(&sinks).start().unwrap();
    runtime.submit(class, move || reply.put(())).unwrap().wait().unwrap();
    // It has been idle for longer than it spins, and tries all the same.
    std::thread::sleep(Duration::from_millis(50));
    await_growth(&tries, 5);
    may.store(true, Relaxed);
    sent.recv_timeout(Duration::from_secs(60)).expect("the reply is sent");
    assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
}

#[test]
fn replies_that_can_not_be_sent_before_the_end_are_counted() {
    let (to, _sent) = replies();
    let builder = builder(1, false).pinning(Pinning::None);
    let class = builder.class("get").unwrap();
    let sinks =
        Sinks::new(1, |_| Stuck { may: Arc::default(), tries: Arc::default(), to: to.clone(), waiting: 0 });
    let reply = sinks.clone();
    let runtime = builder.sinks(&sinks).start().unwrap();
    runtime.submit(class, move || (0..3).for_each(|_| reply.put(()))).unwrap().wait().unwrap();
    assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    assert_eq!(runtime.stats().counters.unsent, 3);
}

/// A sink that writes to a socket, as much as there is room for.
struct Writes {
    to: UnixStream,
    left: Vec<u8>,
    tries: Arc<AtomicU64>,
}

impl Sink for Writes {
    type Reply = Vec<u8>;

    fn put(&mut self, reply: Vec<u8>) {
        self.left.extend(reply);
    }

    fn flush(&mut self) -> bool {
        self.tries.fetch_add(1, Relaxed);
        while !self.left.is_empty()
            && let Ok(written) = self.to.write(&self.left)
        {
            self.left.drain(..written);
        }
        self.left.is_empty()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.to.as_fd())
    }
}

#[test]
fn a_sink_with_a_descriptor_is_waited_for() {
    const BYTES: usize = 4 << 20;
    let builder = builder(1, false).pinning(Pinning::None).spin(Duration::from_micros(10));
    let class = builder.class("get").unwrap();
    let (to, mut from) = UnixStream::pair().unwrap();
    to.set_nonblocking(true).unwrap();
    let tries = Arc::new(AtomicU64::new(0));
    let mut sink = Some(Writes { to, left: Vec::new(), tries: Arc::clone(&tries) });
    let sinks = Sinks::new(1, move |_| sink.take().unwrap());
    let reply = sinks.clone();
    let runtime = builder.sinks(&sinks).start().unwrap();
    runtime.submit(class, move || reply.put(vec![7; BYTES])).unwrap().wait().unwrap();
    // Nobody reads, so it sleeps: there is a pause of a tenth of a second between two tries at last.
    while {
        let before = tries.load(Relaxed);
        std::thread::sleep(Duration::from_millis(100));
        tries.load(Relaxed) != before
    } {}
    let mut read = vec![0; BYTES];
    from.read_exact(&mut read).unwrap();
    assert!(read.iter().all(|&byte| byte == 7));
    assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
}

/// A sink with a fault.
struct Faulty;

impl Sink for Faulty {
    type Reply = ();

    fn put(&mut self, (): ()) {}

    fn flush(&mut self) -> bool {
        true
    }

    fn is_full(&self) -> bool {
        panic!("a fault in the sink")
    }
}

#[test]
fn a_sink_that_panics_when_it_is_asked_for_room_ends_nothing() {
    let asked = Arc::new(AtomicBool::new(false));
    let builder = builder(1, false).pinning(Pinning::None);
    let class = builder.class("get").unwrap();
    let runtime =
        builder.source(Eager(class, Arc::clone(&asked))).sinks(&Sinks::new(1, |_| Faulty)).start().unwrap();
    while !asked.load(Relaxed) {
        std::thread::yield_now();
    }
    runtime.shutdown(Shutdown::Drain);
}

#[test]
fn what_is_sent_when_the_source_has_gone_comes_back_and_what_waits_is_dropped_and_counted() {
    let builder = builder(1, false).pinning(Pinning::None);
    let class = builder.class("get").unwrap();
    let value = Arc::new(());
    let (sender, source) = bounded(3, class, drop::<Arc<()>>).unwrap();
    (0..3).for_each(|_| sender.send(Arc::clone(&value)).unwrap());
    assert!(matches!(sender.send(Arc::clone(&value)), Err(SendError::Full(_))));
    assert_eq!((sender.waiting(), sender.dropped(), Arc::strong_count(&value)), (3, 0, 4));
    drop(source);
    assert_eq!((sender.waiting(), sender.dropped(), Arc::strong_count(&value)), (0, 3, 1));
    let given_back = sender.send(Arc::clone(&value)).unwrap_err();
    assert!(matches!(given_back, SendError::Closed(_)));
    drop(given_back.into_inner());
    assert_eq!(Arc::strong_count(&value), 1);
}

/// A source whose descriptor has a fault.
struct Undescribed(Arc<AtomicBool>, Arc<AtomicU64>);

impl Source for Undescribed {
    fn poll(&mut self, _: &mut Intake<'_>) -> Polled {
        self.1.fetch_add(1, Relaxed);
        Polled::Nothing
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        panic!("a fault in the descriptor")
    }
}

impl Drop for Undescribed {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_source_whose_descriptor_panics_is_not_asked_any_more() {
    for two_level in [true, false] {
        let (gone, polls) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let builder = builder(1, two_level).pinning(Pinning::None).spin(Duration::from_micros(10));
        let class = builder.class("get").unwrap();
        let runtime = builder.source(Undescribed(Arc::clone(&gone), polls)).start().unwrap();
        while !gone.load(Relaxed) {
            std::thread::yield_now();
        }
        runtime.submit(class, || ()).unwrap().wait().unwrap();
        assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}

/// A source that hands in as much as it may, and notes how much has not run at most.
struct Greedy {
    class: ClassId,
    left: u64,
    handed_in: u64,
    ran: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl Source for Greedy {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        while self.left > 0 && intake.has_room() {
            self.left -= 1;
            self.handed_in += 1;
            let ran = Arc::clone(&self.ran);
            intake.submit(self.class, caudal_rt::clock::now(), move || _ = ran.fetch_add(1, Relaxed));
        }
        self.most.fetch_max(self.handed_in - self.ran.load(Relaxed), Relaxed);
        if self.left == 0 { Polled::Over } else { Polled::Worked }
    }
}

#[test]
fn a_worker_takes_in_from_its_source_what_its_inbox_has_room_for() {
    let policy = crate::common::Policy {
        dispatch: "{ policy = \"random\" }",
        discipline: "{ policy = \"fcfs\" }",
        rebalance: "\"none\"",
    };
    let builder = crate::common::builder_of(1, &policy).pinning(Pinning::None).queues(4, 4);
    let class = builder.class("get").unwrap();
    let (ran, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (left, handed_in) = (1_000, 0);
    let source = Greedy { class, left, handed_in, ran: Arc::clone(&ran), most: Arc::clone(&most) };
    let runtime = builder.source(source).start().unwrap();
    while ran.load(Relaxed) < 1_000 {
        std::thread::yield_now();
    }
    runtime.shutdown(Shutdown::Drain);
    assert!(most.load(Relaxed) <= 5, "an inbox of 4, and one request on the worker: {}", most.load(Relaxed));
}

/// How a test's source tells that something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    ByDoorbell,
    ByDescriptor,
}

/// A source of one long request, then of one that ends the long one when the test brings it.
struct Interrupting {
    tells: Tells,
    class: ClassId,
    brought: Arc<AtomicU32>,
    never: UnixStream,
    polls: Arc<AtomicU64>,
    long: Option<Box<dyn FnOnce() + Send>>,
    short: Option<Box<dyn FnOnce() + Send>>,
}

impl Source for Interrupting {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        self.polls.fetch_add(1, Relaxed);
        let job = match self.brought.load(Acquire) {
            0 => self.long.take(),
            _ => self.short.take(),
        };
        let Some(job) = job else { return Polled::Nothing };
        intake.submit(self.class, caudal_rt::clock::now(), job);
        Polled::Worked
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.never.as_fd())
    }

    fn doorbell(&self) -> Option<Doorbell> {
        let bell = || Doorbell::new(Arc::clone(&self.brought), Rings::OnChange);
        (self.tells == Tells::ByDoorbell).then(bell)
    }
}

/// The long request goes on alone, without a poll for each quantum, until the short one has come.
#[test]
fn arrivals_are_noticed_while_a_lone_request_goes_on_and_polls_are_few() {
    for tells in [Tells::ByDoorbell, Tells::ByDescriptor] {
        let builder = builder(1, false).pinning(Pinning::None);
        let class = builder.class("get").unwrap();
        let (ended, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (brought, quanta) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)));
        let (until, counts) = (Arc::clone(&ended), Arc::clone(&quanta));
        let long = move || {
            while !until.load(Relaxed) {
                let begun = caudal_rt::clock::now();
                // Far longer than a quantum.
                while caudal_rt::clock::now() - begun < 100_000 {
                    caudal_rt::probe();
                }
                counts.fetch_add(1, Relaxed);
            }
        };
        let ends = Arc::clone(&ended);
        let (never, _other) = UnixStream::pair().unwrap();
        let source = Interrupting {
            tells,
            class,
            brought: Arc::clone(&brought),
            never,
            polls: Arc::clone(&polls),
            long: Some(Box::new(long)),
            short: Some(Box::new(move || ends.store(true, Relaxed))),
        };
        let runtime = builder.source(source).start().unwrap();
        while quanta.load(Relaxed) == 0 {
            std::thread::yield_now();
        }
        let (before, quanta_before) = (polls.load(Relaxed), runtime.stats().workers[0].busy_ns);
        await_growth(&quanta, 200);
        let (polled, busy_ns) =
            (polls.load(Relaxed) - before, runtime.stats().workers[0].busy_ns - quanta_before);
        match tells {
            Tells::ByDoorbell => assert!(polled <= 1, "{polled} polls, though the doorbell did not ring"),
            // A quantum is 2 us; every tenth of it may be a poll's.
            Tells::ByDescriptor => assert!(polled <= busy_ns / 9_000 + 2, "{polled} polls in {busy_ns} ns"),
        }
        brought.store(1, Release);
        while !ended.load(Relaxed) {
            std::thread::yield_now();
        }
        assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}

/// A source that works by itself for a long time, then hands in a request.
struct Diligent {
    class: ClassId,
    polls: u64,
    never: UnixStream,
    ran: Option<Sender<()>>,
}

impl Source for Diligent {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        self.polls += 1;
        if self.polls > 1_000_000
            && let Some(ran) = self.ran.take()
        {
            intake.submit(self.class, caudal_rt::clock::now(), move || ran.send(()).unwrap());
        }
        Polled::Worked
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.never.as_fd())
    }
}

#[test]
fn a_runtime_does_not_sleep_while_a_source_works() {
    for two_level in [true, false] {
        let builder = builder(1, two_level).pinning(Pinning::None).spin(Duration::from_micros(1));
        let class = builder.class("get").unwrap();
        let (ran, has_run) = replies();
        let (never, _other) = UnixStream::pair().unwrap();
        let runtime = builder.source(Diligent { class, polls: 0, never, ran: Some(ran) }).start().unwrap();
        has_run
            .recv_timeout(Duration::from_secs(60))
            .expect("the source is polled until it hands something in");
        assert_eq!(runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}
