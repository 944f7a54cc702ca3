//! The requests of a run and their intended send times, drawn while the run goes on from the streams that the simulator draws from.
//! A session makes a [`Schedule`] for each open-loop run, or an [`Endless`] for a closed loop, and gives it to the generator, which takes the next
//! request whenever one is due. Pure.
//!
//! The same seed gives the same requests on every machine: a simulation with the same seed and rate sees these very requests. They are
//! drawn some at a time, so that a long run at a high rate needs no memory for its schedule.

use caudal_workload::{ArrivalSampler, Arrivals, Demand, Service, ServiceSampler};

/// Requests that are drawn at a time: less than half a microsecond of work. The requests do not depend on it.
const BATCH: usize = 32;

/// A request of the workload before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Intended send time, in ns after the run's start.
    pub at_ns: u64,
    /// Its number in the run, from 0.
    pub number: u64,
    /// Its class: an index into [`Service::classes`].
    pub class: u8,
    /// Its work, in ps.
    pub service_ps: u64,
}

/// The requests of an open loop, in the order of their intended send times.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrivals: ArrivalSampler,
    services: ServiceSampler,
    end_ns: u64,
    at_ps: [u64; BATCH],
    demands: [Demand; BATCH],
    drawn: usize,
    next: usize,
    number: u64,
}

impl Schedule {
    /// Requests at `rate_per_s` on average, until `end_ns` after the start. Recorded arrivals that are not scaled have a rate of
    /// their own, and end with the recording.
    ///
    /// # Panics
    /// If the rate is not above 0 and finite.
    pub fn new(service: &Service, arrivals: &Arrivals, rate_per_s: f64, seed: u64, end_ns: u64) -> Schedule {
        let mut schedule = Schedule {
            arrivals: arrivals.sampler(seed, 1e12 / rate_per_s),
            services: service.sampler(seed),
            end_ns,
            at_ps: [0; BATCH],
            demands: [Demand::default(); BATCH],
            drawn: 0,
            next: 0,
            number: 0,
        };
        schedule.draw();
        schedule
    }

    /// The next request; none when the schedule is over.
    #[inline]
    pub fn peek(&self) -> Option<Due> {
        if self.next == self.drawn {
            return None;
        }
        let (at_ns, demand) = (self.at_ps[self.next] / 1_000, self.demands[self.next]);
        (at_ns < self.end_ns).then_some(Due {
            at_ns,
            number: self.number,
            class: demand.class,
            service_ps: demand.service_ps,
        })
    }

    /// Goes on to the request behind the next one.
    #[inline]
    pub fn advance(&mut self) {
        self.next += 1;
        self.number += 1;
        if self.next == self.drawn {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.drawn = self.arrivals.fill(&mut self.at_ps);
        let demands = &mut self.demands[..self.drawn];
        self.services.fill(demands);
        self.arrivals.stretch(&self.at_ps[..self.drawn], demands);
        self.next = 0;
    }
}

/// Requests without send times, for a closed loop.
#[derive(Clone, Debug)]
pub struct Endless {
    services: ServiceSampler,
    demands: [Demand; BATCH],
    next: usize,
    number: u64,
}

impl Endless {
    /// The classes and the work of the requests that [`Schedule`] has with the same seed.
    pub fn new(service: &Service, seed: u64) -> Endless {
        let mut services = service.sampler(seed);
        let mut demands = [Demand::default(); BATCH];
        services.fill(&mut demands);
        Endless { services, demands, next: 0, number: 0 }
    }

    /// The next request, to be sent at `at_ns`.
    #[inline]
    pub fn take(&mut self, at_ns: u64) -> Due {
        if self.next == BATCH {
            self.services.fill(&mut self.demands);
            self.next = 0;
        }
        let demand = self.demands[self.next];
        let due = Due { at_ns, number: self.number, class: demand.class, service_ps: demand.service_ps };
        self.next += 1;
        self.number += 1;
        due
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use caudal_workload::{ArrivalSpec, ServiceSpec};

    use super::*;

    fn all(mut schedule: Schedule) -> Vec<Due> {
        let mut dues = Vec::new();
        while let Some(due) = schedule.peek() {
            dues.push(due);
            schedule.advance();
        }
        dues
    }

    #[test]
    fn requests_are_those_of_the_workload_whatever_the_batch() {
        let service = ServiceSpec::named("extreme-bimodal").compile(Path::new("")).unwrap();
        let arrivals = Arrivals::poisson();
        let dues = all(Schedule::new(&service, &arrivals, 1e6, 7, 1_000_000));
        let (mut at_ps, mut demands) = (vec![0; dues.len() + 1], vec![Demand::default(); dues.len()]);
        arrivals.sampler(7, 1e6).fill(&mut at_ps);
        service.sampler(7).fill(&mut demands);
        assert!(dues.len() > 800 && at_ps[dues.len()] / 1_000 >= 1_000_000);
        for (number, due) in dues.iter().enumerate() {
            let Demand { class, service_ps } = demands[number];
            let at_ns = at_ps[number] / 1_000;
            assert_eq!(*due, Due { at_ns, number: number as u64, class, service_ps });
        }
        let mut endless = Endless::new(&service, 7);
        for due in &dues {
            assert_eq!(endless.take(due.at_ns), *due);
        }
    }

    #[test]
    fn every_process_keeps_its_rate_and_recorded_arrivals_end() {
        let service = ServiceSpec::named("exp-1us").compile(Path::new("")).unwrap();
        let specs = [
            ArrivalSpec::Constant,
            ArrivalSpec::LogNormal { spread: caudal_workload::GapSpread::Scv(4.0) },
            ArrivalSpec::OnOff {
                on: caudal_policy::Picos::from_nanos(10_000),
                off: caudal_policy::Picos::from_nanos(30_000),
                off_rate: 0.0,
            },
        ];
        for spec in specs {
            let arrivals = spec.compile(Path::new("")).unwrap();
            let count = all(Schedule::new(&service, &arrivals, 1e6, 3, 100_000_000)).len();
            assert!((90_000..110_000).contains(&count), "{spec:?}: {count}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("at.csv"), "timestamp_ns\n0\n500\n1700\n").unwrap();
        let file = caudal_workload::TimestampFile {
            file: "at.csv".into(),
            columns: caudal_workload::TimestampColumns::default(),
            scale: false,
        };
        let arrivals = ArrivalSpec::File(file).compile(folder.path()).unwrap();
        let at: Vec<u64> =
            all(Schedule::new(&service, &arrivals, 1.0, 3, u64::MAX)).iter().map(|due| due.at_ns).collect();
        assert_eq!(at, [0, 500, 1700]);
    }
}
