//! Measurements of every class: a set of histograms for each class and worker. Workers add to their own sets when requests start, are
//! pre-empted and end; statistics read all of them at any time.
//!
//! ```text
//! line 0   queueing     service     plain     ┐ sum, largest value and buckets' address of each histogram;
//! line 1   sojourn      lateness              │ a request that ends in its first quantum touches lines 0 and 1
//! line 2   quanta       preemptions           ┘ and a bucket of each of three histograms
//! line 3   sections
//! ```
//!
//! ## Who may touch what
//!
//! One [`Measured`] is for one worker and one class: only that worker writes, with plain loads and stores; anybody reads.
//!
//! *Why a snapshot adds up.* A worker records queueing before the request runs, then service, sojourn, and last `plain`, or quanta
//! and preemptions. Each record ends with a store that releases; a reader takes them in the reverse order, each with a load that
//! acquires. So whatever a reader has counted in one histogram, it counts in those that were written before it:
//! preemptions ≤ quanta ≤ sojourn ≤ service ≤ queueing, and equal when nothing runs.

use std::sync::{Arc, OnceLock};

use crate::base::primitives::{AtomicU64, Ordering};
use crate::board::histogram::{Histogram, LiveHistogram};
use crate::request::class::CLASSES_MAX;

/// Measurements of one class by one worker; times in cycles. See the [module](self).
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Measured {
    /// Arrival to start.
    queueing: LiveHistogram,
    /// Time on the worker.
    service: LiveHistogram,
    /// Requests that ended within their first quantum: no quantum used up, no preemption.
    plain: AtomicU64,
    _line: [u64; 1],
    /// Arrival to completion.
    sojourn: LiveHistogram,
    /// From the end of a quantum to the yield.
    lateness: LiveHistogram,
    _line_too: [u64; 2],
    /// Quanta that were used up, by requests that used up any.
    quanta: LiveHistogram,
    /// Switches away before the end, of the same requests.
    preemptions: LiveHistogram,
    _line_as_well: [u64; 2],
    /// Outermost critical sections that were entered by the measuring functions.
    sections: LiveHistogram,
}

const _: () = assert!(cfg!(loom) || size_of::<Measured>() == 256);

impl Measured {
    /// A request has got a coroutine, `queueing` after its arrival.
    #[inline(always)]
    pub(crate) fn started(&self, queueing: u64) {
        self.queueing.record(queueing);
    }

    /// It was made to yield, `late` after the end of its quantum.
    #[inline(always)]
    pub(crate) fn preempted(&self, late: u64) {
        self.lateness.record(late);
    }

    /// It has left an outermost critical section after so long.
    #[inline]
    pub(crate) fn left_section(&self, took: u64) {
        self.sections.record(took);
    }

    /// It has ended.
    #[inline(always)]
    pub(crate) fn ended(&self, service: u64, sojourn: u64, quanta: u32, preemptions: u32) {
        self.service.record(service);
        self.sojourn.record(sojourn);
        if quanta == 0 && preemptions == 0 {
            self.plain.store(self.plain.load(Ordering::Relaxed) + 1, Ordering::Release);
        } else {
            self.quanta.record(u64::from(quanta));
            self.preemptions.record(u64::from(preemptions));
        }
    }

    /// The histograms so far.
    fn taken(&self) -> Taken {
        // In the reverse order of writing: see the module's head.
        let (mut preemptions, mut quanta) = (self.preemptions.snapshot(), self.quanta.snapshot());
        let plain = self.plain.load(Ordering::Acquire);
        quanta.add_zeros(plain);
        preemptions.add_zeros(plain);
        let lateness = self.lateness.snapshot();
        let sojourn = self.sojourn.snapshot();
        let service = self.service.snapshot();
        let sections = self.sections.snapshot();
        Taken {
            preemptions,
            quanta,
            lateness,
            sojourn,
            service,
            sections,
            queueing: self.queueing.snapshot(),
        }
    }
}

/// Histograms of one class, in cycles.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) preemptions: Histogram,
    pub(crate) quanta: Histogram,
    pub(crate) lateness: Histogram,
    pub(crate) sojourn: Histogram,
    pub(crate) service: Histogram,
    pub(crate) sections: Histogram,
    pub(crate) queueing: Histogram,
}

impl Taken {
    fn merge(&mut self, other: &Taken) {
        self.preemptions.merge(&other.preemptions);
        self.quanta.merge(&other.quanta);
        self.lateness.merge(&other.lateness);
        self.sojourn.merge(&other.sojourn);
        self.service.merge(&other.service);
        self.sections.merge(&other.sections);
        self.queueing.merge(&other.queueing);
    }
}

/// Measurements of all classes.
#[derive(Debug)]
pub(crate) struct Classes {
    workers: Box<[Arc<OfWorker>]>,
}

/// Measurements of one worker, by class.
#[derive(Debug)]
pub(crate) struct OfWorker([OnceLock<Box<Measured>>; CLASSES_MAX]);

impl OfWorker {
    /// Place for its measurements of `class`; made now if it has not been prepared.
    #[inline(always)]
    pub(crate) fn class(&self, class: u16) -> &Measured {
        self.0[usize::from(class) % CLASSES_MAX].get_or_init(Box::default)
    }
}

impl Classes {
    pub(crate) fn new(workers: usize) -> Classes {
        let worker = |_| Arc::new(OfWorker([const { OnceLock::new() }; CLASSES_MAX]));
        Classes { workers: (0..workers).map(worker).collect() }
    }

    /// Place for the measurements of `worker`.
    #[inline(always)]
    pub(crate) fn of_worker(&self, worker: usize) -> &Arc<OfWorker> {
        &self.workers[worker]
    }

    /// Makes the histograms of `class` for all workers, so that none of them has to while a request waits: 105 KiB each.
    pub(crate) fn prepare(&self, class: u16) {
        for worker in &self.workers {
            worker.class(class);
        }
    }

    /// Measurements of `class` by all workers.
    pub(crate) fn taken(&self, class: u16) -> Taken {
        let mut all = Taken::default();
        for worker in &self.workers {
            if let Some(measured) = worker.0[usize::from(class) % CLASSES_MAX].get() {
                all.merge(&measured.taken());
            }
        }
        all
    }
}
