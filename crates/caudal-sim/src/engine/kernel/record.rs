//! The statistics of a run: what it records of each request that it measures. Every loop of the engine calls it at completions.

use caudal_stats::Histogram;
/// A slowdown of 1, as it is recorded.
pub use caudal_stats::SLOWDOWN_ONE;
use caudal_stats::mser::Mser5;
use caudal_workload::Demand;

/// A completed request.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Completed {
    pub(in crate::engine) sojourn_ps: u64,
    pub(in crate::engine) service_ps: u64,
    pub(in crate::engine) queued_ps: u64,
    pub(in crate::engine) overhead_ps: u64,
    /// Service and probes.
    pub(in crate::engine) work_ps: u64,
    pub(in crate::engine) preemptions: u32,
    pub(in crate::engine) class: u8,
}

/// Requests that are never stopped and pay for nothing, column by column.
pub(in crate::engine) struct Plain {
    sojourn_ps: [u64; PLAIN],
    service_ps: [u64; PLAIN],
    work_ps: [u64; PLAIN],
    class: [u8; PLAIN],
    len: usize,
}

/// Most of them.
const PLAIN: usize = 256;

impl Plain {
    pub(in crate::engine) const EMPTY: Plain = Plain {
        sojourn_ps: [0; PLAIN],
        service_ps: [0; PLAIN],
        work_ps: [0; PLAIN],
        class: [0; PLAIN],
        len: 0,
    };

    pub(in crate::engine) fn is_full(&self) -> bool {
        self.len == PLAIN
    }

    /// Adds one if `counts`. There must be room.
    #[inline(always)]
    pub(in crate::engine) fn push_if(&mut self, counts: bool, sojourn_ps: u64, work_ps: u64, demand: Demand) {
        let at = self.len;
        (self.sojourn_ps[at], self.work_ps[at]) = (sojourn_ps, work_ps);
        (self.service_ps[at], self.class[at]) = (demand.service_ps, demand.class);
        self.len += usize::from(counts);
    }

    /// Writes requests over the first ones: arrival, start, work, demand. `true` if surely all are done before `done_before_ps`.
    #[inline(always)]
    pub(in crate::engine) fn fill<'a>(
        &mut self,
        requests: impl Iterator<Item = ((&'a u64, &'a u64), (&'a u64, &'a Demand))>,
        done_before_ps: u64,
    ) -> bool {
        let mut late = 0;
        let times = self.sojourn_ps.iter_mut().zip(&mut self.work_ps);
        let demands = self.service_ps.iter_mut().zip(&mut self.class);
        for (((arrival_ps, start_ps), (work_ps, demand)), (time, to)) in requests.zip(times.zip(demands)) {
            let end_ps = start_ps + work_ps;
            (*time.0, *time.1) = (end_ps - arrival_ps, *work_ps);
            (*to.0, *to.1) = (demand.service_ps, demand.class);
            // The top bit tells which is greater, unless they are 2^63 ps apart.
            late |= (done_before_ps - 1).wrapping_sub(end_ps);
        }
        late >> 63 == 0
    }
}

/// Statistics of one class of requests over one run.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// Sojourn times in ps.
    pub latency_ps: Histogram,
    /// Sojourn over service time, times [`SLOWDOWN_ONE`].
    pub slowdown: Histogram,
    /// Sojourn less service time, probes and all overheads included, in ps; of requests that fork, less what they would have taken
    /// alone on all cores. Kept only where [`super::run::Run::waits`] asks for it.
    pub wait_ps: Option<Box<Histogram>>,
    /// Time from arrival to first service, summed, in ps.
    pub queued_ps: u128,
    /// Time in the queue while the pool's workers ran requests longer than the mean, summed, in ps:
    /// each moment counts by the share of workers that did. Only run-to-completion pools account for it.
    pub behind_long_ps: Option<f64>,
    /// Time between first service and completion without any: waiting for the next slice, summed, in ps.
    pub preempted_ps: u128,
    /// Time on a core that went to the scheduler and not to the request, summed, in ps.
    pub overhead_ps: u128,
    /// Of requests that fork: time between admission and completion, longer than they would have taken alone on all cores,
    /// summed, in ps. `None` where requests are done by one core each.
    pub fewer_cores_ps: Option<u128>,
    /// Extra work of probes, summed, in ps; of requests that fork, what they take longer for it alone on all cores.
    pub probe_ps: u128,
    /// Preemptions, summed.
    pub preemptions: u64,
}

impl ClassStats {
    /// Adds requests of this class: the sums first, then one histogram, then the other. Each loop keeps its
    /// own few values in registers.
    #[inline(always)]
    fn record(&mut self, batch: &[Completed]) {
        // No part of a sojourn is longer than it: where these are not, sums fit into one word.
        let longest_ps = batch.iter().fold(0, |any, done| any | done.sojourn_ps);
        let step = if longest_ps < u64::MAX / BATCH as u64 { BATCH } else { 1 };
        for batch in batch.chunks(step) {
            self.add(batch);
        }
        batch.iter().for_each(|done| self.latency_ps.record(done.sojourn_ps));
        batch
            .iter()
            .for_each(|done| self.slowdown.record(caudal_stats::slowdown(done.sojourn_ps, done.service_ps)));
        if let Some(wait_ps) = &mut self.wait_ps {
            batch.iter().for_each(|done| wait_ps.record(done.sojourn_ps.saturating_sub(done.service_ps)));
        }
    }

    /// Adds to the sums, of so few requests that no sum of them is above 64 bits.
    #[inline(always)]
    fn add(&mut self, few: &[Completed]) {
        let (mut sojourn_ps, mut queued_ps, mut overhead_ps) = (0, 0, 0);
        let (mut work_ps, mut service_ps, mut preemptions) = (0, 0, 0);
        for done in few {
            sojourn_ps += done.sojourn_ps;
            queued_ps += done.queued_ps;
            overhead_ps += done.overhead_ps;
            work_ps += done.work_ps;
            service_ps += done.service_ps;
            preemptions += u64::from(done.preemptions);
        }
        self.queued_ps += u128::from(queued_ps);
        self.overhead_ps += u128::from(overhead_ps);
        self.probe_ps += u128::from(work_ps - service_ps);
        self.preempted_ps += u128::from(sojourn_ps - queued_ps - overhead_ps - work_ps);
        self.preemptions += preemptions;
    }

    pub(crate) fn merge(&mut self, other: &ClassStats) {
        self.latency_ps.merge(&other.latency_ps);
        self.slowdown.merge(&other.slowdown);
        if let Some(wait_ps) = &other.wait_ps {
            self.wait_ps.get_or_insert_default().merge(wait_ps);
        }
        self.queued_ps += other.queued_ps;
        self.behind_long_ps = match (self.behind_long_ps, other.behind_long_ps) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
        self.preempted_ps += other.preempted_ps;
        self.overhead_ps += other.overhead_ps;
        self.fewer_cores_ps = match (self.fewer_cores_ps, other.fewer_cores_ps) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
        self.probe_ps += other.probe_ps;
        self.preemptions += other.preemptions;
    }
}

/// Takes completions in small batches: a loop over many fills the processor's pipelines, one at a time
/// between two events does not.
pub(in crate::engine) struct Recorder {
    batch: Box<[Completed; BATCH]>,
    filled: usize,
    pub(in crate::engine) classes: Vec<ClassStats>,
    /// The series from which the end of the warm-up is found, in a pilot run.
    pub(in crate::engine) pilot: Option<Mser5>,
}

const BATCH: usize = 128;

impl Recorder {
    pub(in crate::engine) fn new(classes: usize, pilot: bool, waits: bool) -> Recorder {
        let class = ClassStats { wait_ps: waits.then(Box::default), ..ClassStats::default() };
        Recorder {
            batch: Box::new([Completed::default(); BATCH]),
            filled: 0,
            classes: vec![class; classes],
            pilot: pilot.then(Mser5::new),
        }
    }

    #[inline(always)]
    pub(in crate::engine) fn push(&mut self, completed: Completed) {
        self.batch[self.filled] = completed;
        self.filled += 1;
        if self.filled == BATCH {
            self.flush();
        }
    }

    #[inline(never)]
    pub(in crate::engine) fn flush(&mut self) {
        let batch = &self.batch[..self.filled];
        if let [class] = &mut self.classes[..] {
            class.record(batch);
        } else {
            for same in batch.chunk_by(|a, b| a.class == b.class) {
                self.classes[same[0].class as usize].record(same);
            }
        }
        if let Some(series) = &mut self.pilot {
            for done in batch {
                series.push(done.sojourn_ps as f64);
            }
        }
        self.filled = 0;
    }
}

impl Recorder {
    /// A request that was done by several workers at a time, in less time than it has work, which alone on all cores it would
    /// have taken this long, without probes and with them.
    pub(in crate::engine) fn push_forked(
        &mut self,
        done: Completed,
        [service_alone_ps, work_alone_ps]: [u64; 2],
    ) {
        let class = &mut self.classes[usize::from(done.class)];
        class.latency_ps.record(done.sojourn_ps);
        class.slowdown.record(caudal_stats::slowdown(done.sojourn_ps, done.service_ps));
        if let Some(wait_ps) = &mut class.wait_ps {
            wait_ps.record(done.sojourn_ps.saturating_sub(service_alone_ps));
        }
        class.queued_ps += u128::from(done.queued_ps);
        class.preemptions += u64::from(done.preemptions);
        class.probe_ps += u128::from(work_alone_ps - service_alone_ps);
        let fewer_cores_ps = (done.sojourn_ps - done.queued_ps).saturating_sub(work_alone_ps);
        *class.fewer_cores_ps.get_or_insert(0) += u128::from(fewer_cores_ps);
        if let Some(series) = &mut self.pilot {
            series.push(done.sojourn_ps as f64);
        }
    }

    /// As [`Recorder::push`] of every one; none is left then.
    pub(in crate::engine) fn push_plain(&mut self, plain: &mut Plain) {
        let count = std::mem::take(&mut plain.len);
        self.push_first(plain, count);
    }

    /// As [`Recorder::push`] of the first `count`, column by column.
    pub(in crate::engine) fn push_first(&mut self, plain: &Plain, count: usize) {
        let ([class], None) = (&mut self.classes[..], &self.pilot) else {
            return (0..count).for_each(|at| self.push(plain.completed(at)));
        };
        let (sojourns_ps, services_ps) = (&plain.sojourn_ps[..count], &plain.service_ps[..count]);
        let (work_ps, before_ps) = (sum(&plain.work_ps[..count]), class.latency_ps.sum());
        class.latency_ps.record_all(sojourns_ps);
        class.queued_ps += class.latency_ps.sum() - before_ps - work_ps;
        class.probe_ps += work_ps - sum(services_ps);
        let slowdowns = &mut [0; PLAIN][..count];
        caudal_stats::slowdowns(sojourns_ps, services_ps, slowdowns);
        class.slowdown.record_all(slowdowns);
        if let Some(wait_ps) = &mut class.wait_ps {
            let waits = &mut [0; PLAIN][..count];
            let both = sojourns_ps.iter().zip(services_ps);
            waits
                .iter_mut()
                .zip(both)
                .for_each(|(wait, (sojourn, service))| *wait = sojourn.saturating_sub(*service));
            wait_ps.record_all(waits);
        }
    }
}

/// The sum of fewer than 2^32 numbers: in two halves, because vectors know no carry.
pub(in crate::engine) fn sum(numbers: &[u64]) -> u128 {
    let (mut low, mut high) = (0_u64, 0_u64);
    for number in numbers {
        low += number & u64::from(u32::MAX);
        high += number >> 32;
    }
    u128::from(low) + (u128::from(high) << 32)
}

impl Plain {
    pub(in crate::engine) fn completed(&self, at: usize) -> Completed {
        Completed {
            sojourn_ps: self.sojourn_ps[at],
            service_ps: self.service_ps[at],
            queued_ps: self.sojourn_ps[at] - self.work_ps[at],
            overhead_ps: 0,
            work_ps: self.work_ps[at],
            preemptions: 0,
            class: self.class[at],
        }
    }
}
