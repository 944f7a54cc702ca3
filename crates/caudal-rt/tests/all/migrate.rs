//! Started requests that may change their thread do where a worker has nothing else to do; others never do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use caudal_rt::{ClassId, Failure, Handle, Pinning, Runtime, Shutdown};

use crate::common::{self, Policy};

const SHARING: &str = "{ policy = \"processor-sharing\", quantum = \"2us\" }";
const LAS: &str = "{ policy = \"las\", quantum = \"2us\" }";
const SPINNERS: usize = 5;
/// No test waits for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that runs until it is told to stop, and says on which thread.
struct Spinner {
    stop: AtomicBool,
    thread: AtomicU32,
    first: AtomicU32,
    turns: AtomicU64,
}

impl Spinner {
    fn new() -> Arc<Spinner> {
        let (stop, turns) = (AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Spinner { stop, thread: AtomicU32::new(0), first: AtomicU32::new(0), turns })
    }

    fn spin(&self) -> u64 {
        while !self.stop.load(SeqCst) {
            let thread = this_thread();
            let _ = self.first.compare_exchange(0, thread, SeqCst, SeqCst);
            self.thread.store(thread, SeqCst);
            self.turns.fetch_add(1, SeqCst);
            common::probes(1);
        }
        self.turns.load(SeqCst)
    }

    fn has_begun(&self) -> bool {
        self.thread.load(SeqCst) != 0
    }

    fn has_moved(&self) -> bool {
        self.thread.load(SeqCst) != self.first.load(SeqCst)
    }
}

#[inline(never)]
fn this_thread() -> u32 {
    // SAFETY: the call has no precondition.
    unsafe { libc::gettid() as u32 }
}

fn runtime(discipline: &'static str) -> (Runtime, ClassId) {
    let policy = Policy {
        dispatch: "{ policy = \"random\" }",
        discipline,
        rebalance: "{ policy = \"work-stealing\" }",
    };
    let runtime = common::builder_of(2, &policy).pinning(Pinning::None).start().unwrap();
    let class = runtime.class("spinner").unwrap();
    (runtime, class)
}

fn submit(runtime: &Runtime, class: ClassId, spinner: &Arc<Spinner>, migratable: bool) -> Handle<u64> {
    let spinner = Arc::clone(spinner);
    let request = runtime.request(class);
    // SAFETY: a spinner keeps nothing across probes that belongs to a thread.
    let request = if migratable { unsafe { request.migratable() } } else { request };
    request.submit(move || spinner.spin()).unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Spinners on two workers, all running; then those on the worker that has fewer are told to stop, and it has nothing to do.
fn spin_on_one_worker(
    runtime: &Runtime,
    class: ClassId,
    migratable: bool,
) -> (Vec<Arc<Spinner>>, Vec<Handle<u64>>) {
    let spinners: Vec<_> = (0..SPINNERS).map(|_| Spinner::new()).collect();
    let handles = spinners.iter().map(|spinner| submit(runtime, class, spinner, migratable)).collect();
    wait_until("all spin", || spinners.iter().all(|spinner| spinner.has_begun()));
    let one = spinners[0].thread.load(SeqCst);
    let (here, there): (Vec<_>, Vec<_>) =
        spinners.iter().cloned().partition(|spinner| spinner.thread.load(SeqCst) == one);
    let (many, few) = if here.len() > there.len() { (here, there) } else { (there, here) };
    few.iter().for_each(|spinner| spinner.stop.store(true, SeqCst));
    (many, handles)
}

fn stop_all(spinners: &[Arc<Spinner>], handles: Vec<Handle<u64>>) {
    spinners.iter().for_each(|spinner| spinner.stop.store(true, SeqCst));
    handles.into_iter().for_each(|handle| assert!(handle.wait().unwrap() > 0));
}

#[test]
fn a_worker_with_nothing_to_do_takes_a_started_request_that_may_move() {
    for discipline in [SHARING, LAS] {
        let (runtime, class) = runtime(discipline);
        let (many, handles) = spin_on_one_worker(&runtime, class, true);
        wait_until("one has moved", || many.iter().any(|spinner| spinner.has_moved()));
        let turns: Vec<u64> = many.iter().map(|spinner| spinner.turns.load(SeqCst)).collect();
        wait_until("all go on", || {
            many.iter().zip(&turns).all(|(spinner, &before)| spinner.turns.load(SeqCst) > before + 100)
        });
        stop_all(&many, handles);
        assert_eq!(runtime.shutdown(Shutdown::Drain).abandoned, 0);
        let stats = runtime.stats();
        assert_eq!(stats.workers.iter().map(|worker| worker.finished).sum::<u64>(), SPINNERS as u64);
        assert_eq!(stats.stacks.mapped, 0, "stacks of those that have moved are unmapped as well");
    }
}

#[test]
fn others_stay_where_they_have_started() {
    let (runtime, class) = runtime(SHARING);
    let (many, handles) = spin_on_one_worker(&runtime, class, false);
    let turns: Vec<u64> = many.iter().map(|spinner| spinner.turns.load(SeqCst)).collect();
    wait_until("all have had many quanta", || {
        many.iter().zip(&turns).all(|(spinner, &before)| spinner.turns.load(SeqCst) > before + 10_000)
    });
    assert!(!many.iter().any(|spinner| spinner.has_moved()), "a request has changed its thread unasked");
    stop_all(&many, handles);
}

#[test]
fn a_shutdown_that_cancels_reaches_those_that_move() {
    let (runtime, class) = runtime(SHARING);
    let spinners: Vec<_> = (0..SPINNERS).map(|_| Spinner::new()).collect();
    let handles: Vec<_> = spinners
        .iter()
        .map(|spinner| {
            let spinner = Arc::clone(spinner);
            let run = move || loop {
                spinner.thread.store(this_thread(), SeqCst);
                common::probes(4);
                caudal_rt::check_cancelled();
            };
            // SAFETY: it keeps nothing across probes that belongs to a thread.
            unsafe { runtime.request(class).migratable() }.submit(run).unwrap()
        })
        .collect();
    wait_until("all spin", || spinners.iter().all(|spinner| spinner.has_begun()));
    assert_eq!(runtime.shutdown(Shutdown::Cancel).abandoned, 0);
    for handle in handles {
        let ended: Result<(), Failure> = handle.wait();
        assert!(matches!(ended, Err(Failure::Cancelled)), "{ended:?}");
    }
}

#[test]
fn those_that_do_not_end_are_given_up_wherever_they_are() {
    for _ in 0..20 {
        let policy = Policy {
            dispatch: "{ policy = \"random\" }",
            discipline: SHARING,
            rebalance: "{ policy = \"work-stealing\" }",
        };
        let builder = common::builder_of(2, &policy).pinning(Pinning::None);
        let runtime = builder.shutdown_bound(Duration::from_millis(5)).start().unwrap();
        let class = runtime.class("spinner").unwrap();
        let spinners: Vec<_> = (0..SPINNERS).map(|_| Spinner::new()).collect();
        let handles: Vec<_> = spinners.iter().map(|spinner| submit(&runtime, class, spinner, true)).collect();
        wait_until("all spin", || spinners.iter().all(|spinner| spinner.has_begun()));
        // A worker that gets no core in time gives its requests up later.
        runtime.shutdown(Shutdown::Cancel);
        for handle in handles {
            assert!(matches!(handle.wait(), Err(Failure::Abandoned)));
        }
        wait_until("all threads have ended", || runtime.shutdown(Shutdown::Cancel).threads == 0);
        assert_eq!(runtime.shutdown(Shutdown::Cancel).abandoned, SPINNERS as u64);
    }
}

/// A request that may move, of a runtime whose workers steal.
fn submit_movable(runtime: &Runtime, class: ClassId, job: impl FnOnce() + Send + 'static) -> Handle<()> {
    // SAFETY: the jobs here keep nothing across probes that belongs to a thread.
    unsafe { runtime.request(class).migratable() }.submit(job).unwrap()
}

/// All of them end, by returning.
fn all_end(handles: &[Handle<()>], runtime: &Runtime) {
    let begun = Instant::now();
    while !handles.iter().all(Handle::is_done) {
        let left = handles.iter().filter(|handle| !handle.is_done()).count();
        assert!(begun.elapsed() < PATIENCE, "{left} never end: {:?}", runtime.stats().workers);
        std::thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn one_that_was_on_its_way_from_a_stuck_worker_goes_to_another() {
    let policy = Policy {
        dispatch: "{ policy = \"jsq\", ties = \"msq\" }",
        discipline: SHARING,
        rebalance: "{ policy = \"work-stealing\" }",
    };
    let builder = common::builder_of(2, &policy).pinning(Pinning::None);
    let runtime = builder.stuck_after(Duration::from_millis(1)).start().unwrap();
    let class = runtime.class("any").unwrap();
    for _ in 0..15 {
        let handles: Vec<_> = (0..40)
            .map(|number| {
                std::thread::sleep(Duration::from_micros(200));
                submit_movable(&runtime, class, move || {
                    common::probes(if number % 5 == 0 { 2_000 } else { 20_000 });
                    if number % 5 == 0 {
                        std::thread::sleep(Duration::from_millis(4));
                    }
                })
            })
            .collect();
        all_end(&handles, &runtime);
    }
}

#[test]
fn stacks_that_move_are_not_missed_where_there_are_few() {
    for (workers, stacks) in [(2, 2), (3, 4), (4, 5), (4, 6)] {
        let policy = Policy {
            dispatch: "{ policy = \"random\" }",
            discipline: SHARING,
            rebalance: "{ policy = \"work-stealing\" }",
        };
        let builder = common::builder_of(workers, &policy).pinning(Pinning::None);
        let runtime = builder.stacks_max(stacks).start().unwrap();
        let class = runtime.class("any").unwrap();
        for _ in 0..20 {
            let handles: Vec<_> =
                (0..60).map(|_| submit_movable(&runtime, class, || common::probes(3_000))).collect();
            all_end(&handles, &runtime);
        }
    }
}
