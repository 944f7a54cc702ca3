//! A task of the loop for contexts, in one cache line. `site` makes one at each arrival, and the loop and its thieves move it between
//! lanes. Data only.

use crate::engine::kernel::tasks::Linked;

/// Not yet.
pub(super) const NEVER: u64 = u64::MAX;

/// One request in the system.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Task {
    /// When it arrived.
    pub(super) arrival_ps: u64,
    /// Its service time alone on an uninstrumented core.
    pub(super) service_ps: u64,
    /// Work left, probes included. Cold misses are no work: the task waits for memory meanwhile.
    pub(super) remaining_ps: u64,
    /// Time that it has been on a context, up to when that was accounted for last.
    pub(super) attained_ps: u64,
    /// When it first ran, or [`NEVER`].
    pub(super) start_ps: u64,
    /// The number under which it waits, or waited last.
    pub(super) key: u64,
    /// Its number among all requests of the run, and its class in the low byte.
    number_class: u64,
    /// The next in its queue; of a task that runs, the worker.
    pub(super) next: u32,
    /// Preemptions so far.
    pub(super) preemptions: u32,
}

impl Task {
    pub(super) fn new(
        number: u64,
        arrival_ps: u64,
        (service_ps, class): (u64, u8),
        remaining_ps: u64,
    ) -> Task {
        Task {
            arrival_ps,
            service_ps,
            remaining_ps,
            attained_ps: 0,
            start_ps: NEVER,
            key: 0,
            number_class: number << 8 | u64::from(class),
            next: 0,
            preemptions: 0,
        }
    }

    #[inline(always)]
    pub(super) fn number(&self) -> u64 {
        self.number_class >> 8
    }

    #[inline(always)]
    pub(super) fn class(&self) -> u8 {
        self.number_class as u8
    }
}

impl Linked for Task {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}
