//! Runtimes for tests.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::time::Duration;

use caudal_rt::{Builder, LeftBehind, Pinning, Runtime, Shutdown};

/// System of a test's runtime, as a policy file says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) dispatch: &'static str,
    pub(crate) discipline: &'static str,
    pub(crate) rebalance: &'static str,
}

/// Processor sharing, with a dispatcher or without one.
const fn sharing(two_level: bool) -> Policy {
    Policy {
        dispatch: if two_level { "{ policy = \"jsq\", ties = \"msq\" }" } else { "{ policy = \"random\" }" },
        discipline: "{ policy = \"processor-sharing\", quantum = \"2us\" }",
        rebalance: "\"none\"",
    }
}

/// With `CAUDAL_EVERY_PROBE=1` every probe of the process yields: in all tests that get their runtimes here.
fn every_probe_if_asked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("CAUDAL_EVERY_PROBE").is_some_and(|asked| asked == "1") {
            caudal_probe::set_every(true);
        }
    });
}

/// The builder of a runtime with that policy.
pub(crate) fn builder_of(workers: usize, policy: &Policy) -> Builder {
    every_probe_if_asked();
    let Policy { dispatch, discipline, rebalance } = policy;
    let text = format!(
        "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {dispatch}\ndiscipline = {discipline}\n\
         rebalance = {rebalance}\n"
    );
    Builder::parse(&text, "test.toml").unwrap()
}

/// The builder of a runtime with processor sharing, with a dispatcher or without one.
#[allow(dead_code)]
pub(crate) fn builder(workers: usize, two_level: bool) -> Builder {
    builder_of(workers, &sharing(two_level))
}

/// A runtime of which `with` changes what it likes.
#[allow(dead_code)]
pub(crate) fn runtime(workers: usize, two_level: bool, with: impl FnOnce(Builder) -> Builder) -> Runtime {
    with(builder(workers, two_level).pinning(Pinning::None)).start().unwrap()
}

/// `count` probes, a few hundred nanoseconds apart in all: time in which a request may be pre-empted.
#[allow(dead_code)]
pub(crate) fn probes(count: u32) {
    for iteration in 0..count * 8 {
        std::hint::black_box(iteration);
        std::hint::spin_loop();
        if iteration % 8 == 0 {
            caudal_rt::probe();
        }
    }
}

/// Waits for all of them, none of which may fail.
#[allow(dead_code)]
pub(crate) fn all<T>(handles: Vec<caudal_rt::Handle<T>>) {
    handles.into_iter().for_each(|handle| drop(handle.wait().expect("it ends by returning")));
}

/// A lock as C code that nobody has instrumented takes it: who finds it taken puts the thread to sleep.
#[allow(dead_code)]
pub(crate) struct LibrarysLock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is for several threads.
unsafe impl Sync for LibrarysLock {}

#[allow(dead_code)]
impl LibrarysLock {
    pub(crate) const fn new() -> LibrarysLock {
        LibrarysLock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }

    pub(crate) fn lock(&self) {
        // SAFETY: the mutex is initialised.
        assert_eq!(unsafe { libc::pthread_mutex_lock(self.0.get()) }, 0);
    }

    pub(crate) fn unlock(&self) {
        // SAFETY: as above, and its callers have locked it.
        assert_eq!(unsafe { libc::pthread_mutex_unlock(self.0.get()) }, 0);
    }
}

/// Requests and threads that a shutdown that cancels has left behind when no more than `threads` of the runtime's threads are left: one that gets no core in
/// time ends, and gives up what it has, behind the shutdown's bound.
#[allow(dead_code)]
pub(crate) fn left_behind(runtime: &Runtime, threads: usize) -> LeftBehind {
    loop {
        let left = runtime.shutdown(Shutdown::Cancel);
        if left.threads <= threads {
            return left;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
