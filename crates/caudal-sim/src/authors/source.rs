//! The requests of a run of the authors' simulator, in whole ns. `machine` asks for the next one when time has come to it. It draws from
//! the workload's samplers and touches nothing else.
//!
//! Gaps are floored one by one, so that several requests may arrive at one time; services are floored and
//! drawn again while that gives 0. Both bias the load upwards, by 0.25 % at 8 cores and more with more.

use caudal_workload::{ArrivalSampler, Demand, ServiceSampler};

const BATCH: usize = 256;

/// No place: a request that is where it belongs.
pub(super) const HERE: u32 = u32::MAX;

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) arrival_ns: u64,
    pub(super) service_ns: u64,
    /// The core that it is on its way to, or [`HERE`].
    pub(super) bound_for: u32,
    pub(super) class: u8,
}

/// Arrival times with floored gaps.
#[derive(Clone)]
struct Gaps {
    sampler: ArrivalSampler,
    drawn_ps: [u64; BATCH],
    at: usize,
    filled: usize,
    last_ps: u64,
    now_ns: u64,
}

impl Gaps {
    fn new(sampler: ArrivalSampler) -> Gaps {
        Gaps { sampler, drawn_ps: [0; BATCH], at: 0, filled: 0, last_ps: 0, now_ns: 0 }
    }

    /// The next arrival, if there is one before `end_ns`.
    fn next_before(&mut self, end_ns: u64) -> Option<u64> {
        if self.at == self.filled {
            self.filled = self.sampler.fill(&mut self.drawn_ps);
            self.at = 0;
            if self.filled == 0 {
                return None;
            }
        }
        let drawn_ps = self.drawn_ps[self.at];
        self.at += 1;
        self.now_ns += (drawn_ps - self.last_ps) / 1_000;
        self.last_ps = drawn_ps;
        (self.now_ns < end_ns).then_some(self.now_ns)
    }
}

/// The requests that a run will bring, known before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    pub(super) requests: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
}

/// The requests of a run, in order.
pub(super) struct Source {
    feed: Feed,
    next: Option<Request>,
}

enum Feed {
    Drawn(Box<Drawn>),
    #[cfg(test)]
    Listed(std::vec::IntoIter<Request>),
}

struct Drawn {
    gaps: Gaps,
    end_ns: u64,
    services: ServiceSampler,
    demands: [Demand; BATCH],
    at: usize,
}

impl Source {
    /// All requests that arrive before `end_ns`; `None` if there are none.
    pub(super) fn new(
        arrivals: ArrivalSampler,
        services: ServiceSampler,
        end_ns: u64,
    ) -> Option<(Source, Ahead)> {
        let gaps = Gaps::new(arrivals);
        let ahead = look_ahead(gaps.clone(), end_ns)?;
        let drawn = Drawn { gaps, end_ns, services, demands: [Demand::default(); BATCH], at: BATCH };
        Some((Source::from_feed(Feed::Drawn(Box::new(drawn))), ahead))
    }

    fn from_feed(feed: Feed) -> Source {
        let mut source = Source { feed, next: None };
        source.take();
        source
    }

    /// When the next request arrives.
    #[inline]
    pub(super) fn peek_ns(&self) -> Option<u64> {
        self.next.map(|request| request.arrival_ns)
    }

    /// Takes the next request.
    pub(super) fn take(&mut self) -> Option<Request> {
        let following = match &mut self.feed {
            Feed::Drawn(drawn) => drawn.next(),
            #[cfg(test)]
            Feed::Listed(requests) => requests.next(),
        };
        std::mem::replace(&mut self.next, following)
    }
}

impl Drawn {
    fn next(&mut self) -> Option<Request> {
        let arrival_ns = self.gaps.next_before(self.end_ns)?;
        let (service_ns, class) = self.service();
        Some(Request { arrival_ns, service_ns, bound_for: HERE, class })
    }

    fn service(&mut self) -> (u64, u8) {
        loop {
            if self.at == BATCH {
                self.services.fill(&mut self.demands);
                self.at = 0;
            }
            let demand = self.demands[self.at];
            self.at += 1;
            if demand.service_ps >= 1_000 {
                return (demand.service_ps / 1_000, demand.class);
            }
        }
    }
}

#[cfg(test)]
impl Source {
    /// Requests of these (arrival, service) in ns.
    pub(super) fn listed(requests: &[(u64, u64)]) -> (Source, Ahead) {
        let request = |&(arrival_ns, service_ns): &(u64, u64)| Request {
            arrival_ns,
            service_ns,
            bound_for: HERE,
            class: 0,
        };
        let all: Vec<Request> = requests.iter().map(request).collect();
        let (first_ns, last_ns) = (all[0].arrival_ns, all[all.len() - 1].arrival_ns);
        let ahead = Ahead { requests: all.len() as u64, first_ns, last_ns };
        (Source::from_feed(Feed::Listed(all.into_iter())), ahead)
    }
}

/// Draws the arrivals once before the run: which requests count depends on when the last one completes, and
/// that is never before it arrives, so that hardly any have to be kept until the end.
fn look_ahead(mut gaps: Gaps, end_ns: u64) -> Option<Ahead> {
    let first_ns = gaps.next_before(end_ns)?;
    let mut ahead = Ahead { requests: 1, first_ns, last_ns: first_ns };
    while let Some(last_ns) = gaps.next_before(end_ns) {
        ahead.requests += 1;
        ahead.last_ns = last_ns;
    }
    Some(ahead)
}
