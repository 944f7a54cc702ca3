//! What a run writes down about each request that it measures.

use caudal_stats::Histogram;
use caudal_stats::mser::Mser5;

/// Fractional bits of a recorded slowdown.
pub const SLOWDOWN_ONE: u64 = 1024;

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) sojourn_ps: u64,
    pub(super) service_ps: u64,
    pub(super) queued_ps: u64,
    pub(super) overhead_ps: u64,
    /// Service and probes.
    pub(super) work_ps: u64,
    pub(super) preemptions: u32,
    pub(super) class: u8,
}

/// Statistics of one class of requests over one run.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// Sojourn times in ps.
    pub latency_ps: Histogram,
    /// Sojourn over service time, times [`SLOWDOWN_ONE`].
    pub slowdown: Histogram,
    /// Time from arrival to first service, summed, in ps.
    pub queued_ps: u128,
    /// Time in the queue while the pool's workers ran requests longer than the mean, summed, in ps:
    /// each moment counts by the share of workers that did. Only run-to-completion pools account for it.
    pub behind_long_ps: Option<f64>,
    /// Time between first service and completion without any: waiting for the next turn, summed, in ps.
    pub preempted_ps: u128,
    /// Time on a core that went to the scheduler and not to the request, summed, in ps.
    pub overhead_ps: u128,
    /// Extra work of probes, summed, in ps.
    pub probe_ps: u128,
    /// Preemptions, summed.
    pub preemptions: u64,
}

impl ClassStats {
    pub(crate) fn merge(&mut self, other: &ClassStats) {
        self.latency_ps.merge(&other.latency_ps);
        self.slowdown.merge(&other.slowdown);
        self.queued_ps += other.queued_ps;
        self.behind_long_ps = match (self.behind_long_ps, other.behind_long_ps) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
        self.preempted_ps += other.preempted_ps;
        self.overhead_ps += other.overhead_ps;
        self.probe_ps += other.probe_ps;
        self.preemptions += other.preemptions;
    }
}

/// Takes completions in small batches: a loop over many fills the processor's pipelines, one at a time
/// between two events does not.
pub(super) struct Recorder {
    batch: Vec<Completed>,
    pub(super) classes: Vec<ClassStats>,
    /// The series from which the end of the warm-up is found, in a pilot run.
    pub(super) pilot: Option<Mser5>,
}

const BATCH: usize = 128;

impl Recorder {
    pub(super) fn new(classes: usize, pilot: bool) -> Recorder {
        Recorder {
            batch: Vec::with_capacity(BATCH),
            classes: vec![ClassStats::default(); classes],
            pilot: pilot.then(Mser5::new),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, completed: Completed) {
        self.batch.push(completed);
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    #[inline(never)]
    pub(super) fn flush(&mut self) {
        for done in &self.batch {
            let class = &mut self.classes[done.class as usize];
            class.latency_ps.record(done.sojourn_ps);
            class.slowdown.record(slowdown(done.sojourn_ps, done.service_ps));
            class.queued_ps += u128::from(done.queued_ps);
            class.overhead_ps += u128::from(done.overhead_ps);
            class.probe_ps += u128::from(done.work_ps - done.service_ps);
            let other_ps = done.sojourn_ps - done.queued_ps - done.overhead_ps - done.work_ps;
            class.preempted_ps += u128::from(other_ps);
            class.preemptions += u64::from(done.preemptions);
        }
        if let Some(series) = &mut self.pilot {
            for done in &self.batch {
                series.push(done.sojourn_ps as f64);
            }
        }
        self.batch.clear();
    }
}

/// Slowdown as a fixed-point number; at least [`SLOWDOWN_ONE`], because no request is served in less than
/// its service time.
#[inline]
fn slowdown(sojourn_ps: u64, service_ps: u64) -> u64 {
    // Both below 2^53 ps (2.5 hours): the quotient is off by at most one part in 2^52.
    (sojourn_ps as f64 * SLOWDOWN_ONE as f64 / service_ps as f64) as u64
}
