//! The requests of a run, drawn from the workload's samplers a batch at a time. The loops take the next request from it at each arrival.
//! It owns the samplers' streams and touches nothing else.

use caudal_workload::{ArrivalSampler, Demand, ServiceSampler};

const BATCH: usize = 256;

/// Arrivals and demands from streams of their own: no policy draws from them, so all see the same requests.
pub(in crate::engine) struct Source {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    arrival_ps: [u64; BATCH],
    demands: [Demand; BATCH],
    at: usize,
    filled: usize,
    /// Requests handed out.
    taken: u64,
}

impl Source {
    pub(in crate::engine) fn new(arrivals: ArrivalSampler, services: ServiceSampler) -> Source {
        let mut source = Source {
            arrivals,
            services,
            arrival_ps: [0; BATCH],
            demands: [Demand::default(); BATCH],
            at: 0,
            filled: 0,
            taken: 0,
        };
        source.refill();
        source
    }

    /// When the next request arrives; `None` when there are no more.
    #[inline]
    pub(in crate::engine) fn peek_ps(&self) -> Option<u64> {
        (self.at < self.filled).then(|| self.arrival_ps[self.at])
    }

    /// Takes the request of [`Source::peek_ps`]: its number, its arrival, its demand.
    #[inline(always)]
    pub(in crate::engine) fn take(&mut self) -> (u64, u64, Demand) {
        let request = (self.taken, self.arrival_ps[self.at], self.demands[self.at]);
        self.taken += 1;
        self.at += 1;
        if self.at == self.filled {
            self.refill();
        }
        request
    }

    /// Requests handed out so far.
    pub(in crate::engine) fn taken(&self) -> u64 {
        self.taken
    }

    /// True right after a batch was drawn: a good moment for work that is due every few hundred requests.
    #[inline]
    pub(in crate::engine) fn at_batch_start(&self) -> bool {
        self.at == 0
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        self.filled = self.arrivals.fill(&mut self.arrival_ps);
        self.services.fill(&mut self.demands[..self.filled]);
        self.arrivals.stretch(&self.arrival_ps[..self.filled], &mut self.demands[..self.filled]);
        self.at = 0;
    }
}

/// Work of a request of `service_ps` with probes that stretch it.
#[inline]
pub(in crate::engine) fn work_ps(service_ps: u64, stretch: f64) -> u64 {
    if stretch == 1.0 { service_ps } else { ((service_ps as f64 * stretch).round() as u64).max(service_ps) }
}
