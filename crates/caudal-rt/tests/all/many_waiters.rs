//! Several requests of one worker that wait at once: for each kind of lock, and for what has one futex word a *thread* (std's `park` and all
//! that is made of it, `parking_lot`'s queues), which several of its requests then share.
//!
//! Each is tried in a child process: what goes wrong is a hang, which the child ends itself, or corrupt memory.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use caudal_rt::{ClassId, Handle, Runtime, no_preempt, yield_now};

use crate::common::{self, runtime};

const WAITERS: usize = 3;
const ROUNDS: usize = 5;
/// After so long a child takes itself for hanging: a round is some 10 ms.
const LONGEST: Duration = Duration::from_secs(30);

/// The requests of one round, all of one worker.
struct Round<'r> {
    runtime: &'r Runtime,
    class: ClassId,
    handles: Vec<Handle<()>>,
    begun: Arc<AtomicUsize>,
    go: Arc<AtomicBool>,
}

impl Round<'_> {
    fn request(&mut self, body: impl FnOnce() + Send + 'static) {
        let begun = Arc::clone(&self.begun);
        let body = move || {
            begun.fetch_add(1, SeqCst);
            body();
        };
        self.handles.push(self.runtime.submit(self.class, body).unwrap());
    }

    /// One that has something, for as long as `body` runs what it is given.
    fn holder(&mut self, body: impl FnOnce(&dyn Fn()) + Send + 'static) {
        let go = Arc::clone(&self.go);
        self.request(move || {
            body(&|| {
                while !go.load(SeqCst) {
                    yield_now();
                }
            });
        });
        self.all_wait();
    }

    /// `body` gets each one's number.
    fn waiters(&mut self, body: impl Fn(usize) + Clone + Send + 'static) {
        for number in 0..WAITERS {
            let body = body.clone();
            self.request(move || body(number));
        }
        self.all_wait();
    }

    /// Waiters that park until their flags are set, and their thread, to unpark.
    fn parked(&mut self) -> (Flags, Arc<OnceLock<thread::Thread>>) {
        let (flags, worker) = (Flags::default(), Arc::new(OnceLock::new()));
        let (their_flags, their_worker) = (Arc::clone(&flags), Arc::clone(&worker));
        self.waiters(move |number| {
            their_worker.get_or_init(thread::current);
            while !their_flags[number].load(SeqCst) {
                thread::park();
            }
        });
        (flags, worker)
    }

    /// All have begun, and have had the time to come to their waits.
    fn all_wait(&self) {
        while self.begun.load(SeqCst) < self.handles.len() {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(3));
    }

    fn end(self) {
        self.go.store(true, SeqCst);
        common::all(self.handles);
    }
}

/// For each kind, what a round submits, and what this thread then does.
macro_rules! kinds {
    ($($name:ident: |$round:ident| $body:block)*) => {
        $(
            #[test]
            fn $name() {
                in_a_child(stringify!($name));
            }
        )*

        const KINDS: &[(&str, fn(&mut Round<'_>))] = &[$((stringify!($name), |$round| $body)),*];
    };
}

const CHILD: &str = "CAUDAL_TEST_WAITERS";

fn in_a_child(kind: &str) {
    crate::passes(crate::child(module_path!(), "child_of_the_others").env(CHILD, kind));
}

fn ends_if_it_hangs() {
    thread::spawn(|| {
        thread::sleep(LONGEST);
        eprintln!("it hangs");
        std::process::abort();
    });
}

/// Not a test by itself.
#[test]
fn child_of_the_others() {
    let Ok(name) = std::env::var(CHILD) else { return };
    let (_, kind) = KINDS.iter().find(|(kind, _)| *kind == name).expect("a kind of that name");
    ends_if_it_hangs();
    let runtime = runtime(1, true, |builder| builder);
    let class = runtime.class("waits").unwrap();
    for _ in 0..ROUNDS {
        let mut round = Round {
            runtime: &runtime,
            class,
            handles: Vec::new(),
            begun: Arc::default(),
            go: Arc::default(),
        };
        kind(&mut round);
        round.end();
    }
}

/// Flags of the waiters that may go on, one after the other.
type Flags = Arc<[AtomicBool; WAITERS]>;

kinds! {
    std_mutex: |round| {
        let lock = Arc::new(Mutex::new(0));
        let its = Arc::clone(&lock);
        round.holder(move |hold| {
            let _guard = its.lock().unwrap();
            hold();
        });
        round.waiters(move |_| *lock.lock().unwrap() += 1);
    }

    std_rwlock: |round| {
        let lock = Arc::new(RwLock::new(0));
        let its = Arc::clone(&lock);
        round.holder(move |hold| {
            let _guard = its.write().unwrap();
            hold();
        });
        round.waiters({
            let lock = Arc::clone(&lock);
            move |_| *lock.write().unwrap() += 1
        });
        round.waiters(move |_| assert!(*lock.read().unwrap() <= WAITERS));
    }

    std_condvar: |round| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let its = Arc::clone(&shared);
        round.waiters(move |_| {
            let guard = its.0.lock().unwrap();
            *its.1.wait_while(guard, |permits| *permits == 0).unwrap() -= 1;
        });
        for _ in 0..WAITERS {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
        }
    }

    std_once: |round| {
        let once = Arc::new(Once::new());
        let its = Arc::clone(&once);
        round.holder(move |hold| its.call_once(hold));
        round.waiters(move |_| once.call_once(|| unreachable!("the first one has")));
    }

    std_once_lock: |round| {
        let lock = Arc::new(OnceLock::new());
        let its = Arc::clone(&lock);
        round.holder(move |hold| assert_eq!(*its.get_or_init(|| { hold(); 1 }), 1));
        round.waiters(move |_| assert_eq!(*lock.get_or_init(|| 2), 1));
    }

    std_barrier: |round| {
        let barrier = Arc::new(Barrier::new(WAITERS + 1));
        let its = Arc::clone(&barrier);
        round.waiters(move |_| {
            its.wait();
        });
        barrier.wait();
    }

    mpsc_each_its_own: |round| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..WAITERS).map(|_| mpsc::channel()).unzip();
        for (number, receiver) in receivers.into_iter().enumerate() {
            round.request(move || assert_eq!(receiver.recv(), Ok(number)));
        }
        round.all_wait();
        // The last one first, one at a time: whose token it is the thread's word does not say.
        for (number, sender) in senders.iter().enumerate().rev() {
            sender.send(number).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        // The senders have to live: their end would wake whoever waits.
        common::all(std::mem::take(&mut round.handles));
    }

    mpsc_rendezvous: |round| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..WAITERS).map(|_| mpsc::sync_channel(0)).unzip();
        for (number, sender) in senders.into_iter().enumerate() {
            round.request(move || sender.send(number).unwrap());
        }
        round.all_wait();
        for (number, receiver) in receivers.iter().enumerate().rev() {
            assert_eq!(receiver.recv(), Ok(number));
        }
    }

    mpsc_bounded: |round| {
        let (sender, receiver) = mpsc::sync_channel(1);
        round.waiters(move |number| (0..10).for_each(|_| sender.send(number).unwrap()));
        assert_eq!(receiver.iter().count(), WAITERS * 10);
    }

    mpsc_with_a_time: |round| {
        let (senders, receivers): (Vec<mpsc::Sender<()>>, Vec<_>) = (0..WAITERS).map(|_| mpsc::channel()).unzip();
        for receiver in receivers {
            round.request(move || {
                let begun = Instant::now();
                let span = Duration::from_millis(2);
                assert_eq!(receiver.recv_timeout(span), Err(mpsc::RecvTimeoutError::Timeout));
                assert!(begun.elapsed() >= span);
            });
        }
        common::all(std::mem::take(&mut round.handles));
        drop(senders);
    }

    park_and_unpark: |round| {
        let (flags, worker) = round.parked();
        for flag in flags.iter().rev() {
            flag.store(true, SeqCst);
            worker.get().unwrap().unpark();
            thread::sleep(Duration::from_millis(1));
        }
    }

    // One token for all of them: whoever gets it leaves the others waiting.
    park_with_one_token: |round| {
        let (flags, worker) = round.parked();
        flags.iter().for_each(|flag| flag.store(true, SeqCst));
        worker.get().unwrap().unpark();
    }

    park_with_a_time: |round| {
        round.waiters(|_| {
            let end = Instant::now() + Duration::from_millis(2);
            while Instant::now() < end {
                thread::park_timeout(end.saturating_duration_since(Instant::now()));
            }
        });
    }

    // One may not be set aside, and sleeps as a thread, while others of its thread are parked.
    park_in_a_section: |round| {
        let (flags, worker) = round.parked();
        let slept = Arc::new(AtomicBool::new(false));
        let its = Arc::clone(&slept);
        round.request(move || no_preempt(|| while !its.load(SeqCst) { thread::park() }));
        round.all_wait();
        slept.store(true, SeqCst);
        worker.get().unwrap().unpark();
        flags.iter().for_each(|flag| flag.store(true, SeqCst));
        worker.get().unwrap().unpark();
    }

    scope: |round| {
        round.waiters(|number| {
            let ended = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(3 - number as u64));
                    ended.store(true, SeqCst);
                });
            });
            assert!(ended.load(SeqCst));
        });
    }

    crossbeam_channel_of_all: |round| {
        let (sender, receiver) = crossbeam_channel::unbounded();
        round.waiters(move |_| assert_eq!(receiver.recv(), Ok(7)));
        (0..WAITERS).for_each(|_| sender.send(7).unwrap());
        common::all(std::mem::take(&mut round.handles));
    }

    crossbeam_channel_each_its_own: |round| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..WAITERS).map(|_| crossbeam_channel::bounded(1)).unzip();
        for (number, receiver) in receivers.into_iter().enumerate() {
            round.request(move || assert_eq!(receiver.recv(), Ok(number)));
        }
        round.all_wait();
        for (number, sender) in senders.iter().enumerate().rev() {
            sender.send(number).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        common::all(std::mem::take(&mut round.handles));
    }

    parking_lot_mutex: |round| {
        let lock = Arc::new(parking_lot::Mutex::new(0));
        let its = Arc::clone(&lock);
        round.holder(move |hold| {
            let _guard = its.lock();
            hold();
        });
        round.waiters(move |_| *lock.lock() += 1);
    }

    parking_lot_rwlock: |round| {
        let lock = Arc::new(parking_lot::RwLock::new(0));
        let its = Arc::clone(&lock);
        round.holder(move |hold| {
            let _guard = its.write();
            hold();
        });
        round.waiters({
            let lock = Arc::clone(&lock);
            move |_| *lock.write() += 1
        });
        round.waiters(move |_| assert!(*lock.read() <= WAITERS));
    }

    parking_lot_condvar: |round| {
        let shared = Arc::new((parking_lot::Mutex::new(0), parking_lot::Condvar::new()));
        let its = Arc::clone(&shared);
        round.waiters(move |_| {
            let mut permits = its.0.lock();
            its.1.wait_while(&mut permits, |permits| *permits == 0);
            *permits -= 1;
        });
        for _ in 0..WAITERS {
            *shared.0.lock() += 1;
            shared.1.notify_one();
            thread::sleep(Duration::from_millis(1));
        }
    }

    parking_lot_once: |round| {
        let once = Arc::new(parking_lot::Once::new());
        let its = Arc::clone(&once);
        round.holder(move |hold| its.call_once(hold));
        round.waiters(move |_| once.call_once(|| unreachable!("the first one has")));
    }

    parking_lot_with_a_time: |round| {
        let lock = Arc::new(parking_lot::Mutex::new(0));
        let its = Arc::clone(&lock);
        round.holder(move |hold| {
            let _guard = its.lock();
            hold();
        });
        round.waiters(move |_| assert!(lock.try_lock_for(Duration::from_millis(1)).is_none()));
        // However long they take: it has the lock until they have given up.
        common::all(round.handles.split_off(1));
    }

    parking_lot_two_mutexes: |round| {
        for _ in 0..2 {
            let lock = Arc::new(parking_lot::Mutex::new(0));
            let its = Arc::clone(&lock);
            round.holder(move |hold| {
                let _guard = its.lock();
                hold();
            });
            round.waiters(move |_| *lock.lock() += 1);
        }
    }

    dashmap: |round| {
        let map = Arc::new(dashmap::DashMap::new());
        map.insert("key", 0);
        let its = Arc::clone(&map);
        round.holder(move |hold| {
            let _guard = its.get_mut("key");
            hold();
        });
        round.waiters(move |_| *map.get_mut("key").unwrap() += 1);
    }
}

/// A library whose thread-local nobody could keep out of use: the process ends rather than go on with a corrupt queue.
#[test]
fn two_waits_on_one_thread_local_end_the_process() {
    let output = crate::child(module_path!(), "child_with_a_thread_local_of_its_own")
        .env(CHILD, "a thread-local")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("two requests of a worker wait on one thread-local"), "{}\n{said}", output.status);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT));
}

/// Not a test by itself.
#[test]
fn child_with_a_thread_local_of_its_own() {
    thread_local! {
        static WORD: AtomicU32 = const { AtomicU32::new(1) };
    }
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    ends_if_it_hangs();
    let wait = || {
        WORD.with(|word| {
            let word = word.as_ptr();
            // SAFETY: the word is this thread's, and no time is given.
            let wait = |span: *const libc::timespec| unsafe {
                libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, 1, span)
            };
            while wait(std::ptr::null()) == 0 {}
        });
    };
    let runtime = runtime(1, true, |builder| builder);
    let class = runtime.class("waits").unwrap();
    let one = runtime.submit(class, wait).unwrap();
    thread::sleep(Duration::from_millis(10));
    assert!(!one.is_done(), "one alone waits");
    eprintln!("the second one");
    let two = runtime.submit(class, wait).unwrap();
    common::all(vec![one, two]);
}
