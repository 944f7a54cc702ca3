//! The requests' work as code that knows nothing of probes, in Rust here and in C in `csrc/job.c`: steps each of which needs the result of
//! the one before, as in [`caudal_measure::work`]. A compiler with the probe pass makes it yield.
//! A contest runs it with `--code c` or `--code rust`.
//!
//! A step is a multiplication, and a shift that goes on beside it, joined by an exclusive or: multiplications alone, a compiler would
//! join eight at a time. So it takes 4 cycles where the assembly's takes 3, and there are three for four of them.
//!
//! ```text
//!  chunk, some 200 ns                           chunk
//!  since = clock   ×  ×  ×  ×  × ...    a gap?  since = clock   ×  ×  × ...
//!                        |
//!                        a probe: somewhere, once a quantum ──▶ [`away`]: a gap until here?  others run;  since = clock
//! ```
//!
//! A yield may lie in a chunk, where hand-placed probes have them between two. So the hook that probes call looks at the clock first,
//! and sets `since` anew when the request goes on: time away is no gap, and no stall of the machine goes unseen. That is some
//! 10 ns a quantum, which the requests with hand-placed probes are spared.

use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_measure::clock;
use caudal_measure::gaps::GapLog;
use caudal_measure::work::Job;

/// Knuth's, as in the assembly.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
/// Cycles of a step there and here.
const ASSEMBLYS_CYCLES: u64 = 3;
const STEP_CYCLES: u64 = 4;

/// A request's work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Unedited {
    chunks: u32,
    steps: u32,
}

impl From<Job> for Unedited {
    fn from(job: Job) -> Unedited {
        let steps = (u64::from(job.iterations) * ASSEMBLYS_CYCLES).div_ceil(STEP_CYCLES);
        Unedited { chunks: job.chunks, steps: u32::try_from(steps).expect("fewer than the assembly's") }
    }
}

/// The clock readings of the worker's code.
#[repr(C)]
struct Watch {
    /// When the running chunk began, or went on; 0: none runs.
    since: u64,
    /// The length from which on a span is a gap, in ticks.
    threshold: u64,
    gap: extern "C" fn(u64, u64),
}

/// The watch of the one worker, its log, and the hook of the runtime.
struct Worker {
    watch: UnsafeCell<Watch>,
    gaps: UnsafeCell<GapLog>,
    hook: OnceLock<extern "C" fn(u64)>,
    yields: AtomicU64,
}

// SAFETY: only coroutines of the one worker write, one after the other; `gaps` and `yields` are read when they are over.
unsafe impl Sync for Worker {}

static WORKER: OnceLock<Worker> = OnceLock::new();

fn worker() -> &'static Worker {
    WORKER.get().expect("the bench has watched the worker before it submits")
}

unsafe extern "C" {
    /// Where probes that are due call.
    static caudal_probe_hook_v1: extern "C" fn(u64);
    fn caudal_bench_job(job: *const Unedited, watch: *mut Watch) -> u64;
}

/// Before the runtime starts: what its worker will see goes to `gaps`. Once in a process.
///
/// # Panics
/// The second time.
pub fn watch_worker(gaps: GapLog, threshold_ticks: u64) {
    let watch = Watch { since: 0, threshold: threshold_ticks, gap: note };
    let worker = Worker {
        watch: UnsafeCell::new(watch),
        gaps: UnsafeCell::new(gaps),
        hook: OnceLock::new(),
        yields: AtomicU64::new(0),
    };
    assert!(WORKER.set(worker).is_ok(), "one runtime a process");
}

/// Once the runtime has started and set its hook: puts ours in front of it.
///
/// # Panics
/// Without [`watch_worker`].
pub fn watch_yields() {
    // SAFETY: only the runtime's start and this thread, below, ever write it.
    let hook = unsafe { (&raw const caudal_probe_hook_v1).read() };
    worker().hook.get_or_init(|| hook);
    caudal_probe::set_hook(away);
}

/// The gaps, and how many yields there were; the worker is at its end.
pub fn seen() -> (GapLog, u64) {
    let worker = worker();
    // SAFETY: nobody writes any more.
    let gaps = unsafe { &*worker.gaps.get() };
    (gaps.clone(), worker.yields.load(Ordering::Relaxed))
}

extern "C" fn note(start: u64, end: u64) {
    // SAFETY: see `Worker`; the log has no probes' hook in it, so nobody else is at it.
    unsafe { &mut *worker().gaps.get() }.check(start, end);
}

/// The hook: others run.
extern "C" fn away(now: u64) {
    let worker = worker();
    let since = worker.watch.get().cast::<u64>();
    // SAFETY: `since` is the first field; see `Worker`.
    let began = unsafe { since.read_volatile() };
    if began != 0 {
        note(began, now);
    }
    worker.yields.store(worker.yields.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    worker.hook.get().expect("it was set before this was")(now);
    // SAFETY: as above.
    unsafe { since.write_volatile(if began == 0 { 0 } else { clock::now() }) };
}

/// The work in C.
pub fn in_c(job: Unedited) -> u64 {
    // SAFETY: both live; see `Worker`.
    unsafe { caudal_bench_job(&job, worker().watch.get()) }
}

/// The work in Rust.
pub fn in_rust(job: Unedited) -> u64 {
    let watch = worker().watch.get();
    let since = watch.cast::<u64>();
    // SAFETY: nobody changes it.
    let threshold = unsafe { (*watch).threshold };
    let mut state = 1_u64;
    for _ in 0..job.chunks {
        // SAFETY: see `Worker`.
        unsafe { since.write_volatile(clock::now()) };
        for _ in 0..job.steps {
            state = state.wrapping_mul(MULTIPLIER) ^ (state >> 32);
        }
        let end = clock::now_after_all();
        // SAFETY: as above.
        let began = unsafe { since.read_volatile() };
        // SAFETY: as above.
        unsafe { since.write_volatile(0) };
        if end.wrapping_sub(began) > threshold {
            note(began, end);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_do_the_same_work_and_see_its_gaps() {
        // Every chunk is a gap at a threshold of 0.
        watch_worker(GapLog::new(0, 100), 0);
        watch_yields();
        let job = Unedited::from(Job { chunks: 5, iterations: 13 });
        assert_eq!((job.chunks, job.steps), (5, 10));
        let expected = (0..50).fold(1_u64, |state, _| state.wrapping_mul(MULTIPLIER) ^ (state >> 32));
        for (work, gaps) in [(in_c as fn(Unedited) -> u64, 5), (in_rust, 10)] {
            assert_eq!(work(job), expected);
            assert_eq!(seen().0.gaps().len(), gaps);
        }
        // Away in the midst of one: a gap before, none while away, a new beginning behind.
        let since = worker().watch.get().cast::<u64>();
        // SAFETY: this thread is the worker.
        unsafe { since.write_volatile(5) };
        away(9);
        let (log, yields) = seen();
        let last = *log.gaps().last().expect("one more");
        assert_eq!((last.start, last.end, yields), (5, 9, 1));
        // SAFETY: as above.
        unsafe {
            assert!(since.read_volatile() > 9);
            since.write_volatile(0);
        }
        away(11);
        // SAFETY: as above.
        assert_eq!(unsafe { since.read_volatile() }, 0);
        assert_eq!(seen().0.gaps().len(), 11);
    }
}
