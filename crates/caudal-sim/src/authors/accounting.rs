//! The record of a run of the authors' simulator: latencies of the requests that count, and the time of the cores by its use. `machine`
//! adds to it at each completion and each change of a core. Data in memory.

use caudal_stats::OverloadCheck;
use caudal_stats::mser::Mser5;

use super::source::{Ahead, Request};
use crate::engine::{Account, ClassStats, SLOWDOWN_ONE};

/// A request that has completed.
#[derive(Clone, Copy, Debug)]
struct Done {
    request: Request,
    started_ns: u64,
    completed_ns: u64,
}

/// Requests that arrived after the first tenth of the run's *end* time count, and the end is known at the
/// end: what arrived around a tenth of it is kept until then.
pub(super) struct Records {
    classes: Vec<ClassStats>,
    /// An arrival after this counts, whenever the run ends.
    sure_after_tenths_ns: u64,
    /// One up to this does not.
    never_until_tenths_ns: u64,
    open_arrivals_ns: Vec<u64>,
    open: Vec<Done>,
    arrived: u64,
    /// Latencies of the requests that count, in order of completion, if they are wanted.
    latencies_ns: Option<Vec<u64>>,
    series: Option<Mser5>,
}

/// The statistics that [`Records`] come to.
pub(super) struct Recorded {
    pub(super) classes: Vec<ClassStats>,
    pub(super) arrived: u64,
    pub(super) series: Option<Mser5>,
    pub(super) latencies_ns: Vec<u64>,
}

impl Records {
    pub(super) fn new(
        classes: usize,
        ahead: &Ahead,
        duration_ns: u64,
        keep: bool,
        (pilot, waits): (bool, bool),
    ) -> Records {
        let class = ClassStats { wait_ps: waits.then(Box::default), ..ClassStats::default() };
        Records {
            classes: vec![class; classes],
            sure_after_tenths_ns: duration_ns,
            never_until_tenths_ns: ahead.last_ns,
            open_arrivals_ns: Vec::new(),
            open: Vec::new(),
            arrived: 0,
            latencies_ns: keep.then(Vec::new),
            series: pilot.then(Mser5::new),
        }
    }

    pub(super) fn arrived(&mut self, arrival_ns: u64) {
        if arrival_ns * 10 > self.sure_after_tenths_ns {
            self.arrived += 1;
        } else if arrival_ns * 10 > self.never_until_tenths_ns {
            self.open_arrivals_ns.push(arrival_ns);
        }
    }

    pub(super) fn completed(&mut self, request: Request, started_ns: u64, completed_ns: u64) {
        let done = Done { request, started_ns, completed_ns };
        if let Some(series) = &mut self.series {
            series.push((done.latency_ns() * 1_000) as f64);
        }
        if request.arrival_ns * 10 > self.sure_after_tenths_ns {
            self.write(&done);
        } else if request.arrival_ns * 10 > self.never_until_tenths_ns {
            self.open.push(done);
        }
    }

    fn write(&mut self, done: &Done) {
        let Request { arrival_ns, service_ns, class, .. } = done.request;
        let latency_ns = done.latency_ns();
        let queued_ns = done.started_ns - arrival_ns;
        let stats = &mut self.classes[usize::from(class)];
        stats.latency_ps.record(latency_ns * 1_000);
        stats.slowdown.record((latency_ns as f64 * SLOWDOWN_ONE as f64 / service_ns as f64) as u64);
        if let Some(wait_ps) = &mut stats.wait_ps {
            wait_ps.record((latency_ns - service_ns) * 1_000);
        }
        stats.queued_ps += u128::from(queued_ns) * 1_000;
        // Run to completion: what is neither queueing nor service is penalties that its core paid.
        stats.overhead_ps += u128::from(latency_ns - queued_ns - service_ns) * 1_000;
        if let Some(latencies_ns) = &mut self.latencies_ns {
            latencies_ns.push(latency_ns);
        }
    }

    #[cfg(test)]
    pub(super) fn latencies_ns(&self) -> &[u64] {
        self.latencies_ns.as_deref().unwrap_or_default()
    }

    /// The run has ended at `end_ns`.
    pub(super) fn close(mut self, end_ns: u64) -> Recorded {
        let counts = |arrival_ns: u64| arrival_ns * 10 > end_ns;
        self.arrived += self.open_arrivals_ns.iter().filter(|&&arrival_ns| counts(arrival_ns)).count() as u64;
        for done in std::mem::take(&mut self.open) {
            if counts(done.request.arrival_ns) {
                self.write(&done);
            }
        }
        let Records { classes, arrived, series, latencies_ns, .. } = self;
        Recorded { classes, arrived, series, latencies_ns: latencies_ns.unwrap_or_default() }
    }
}

impl Done {
    /// A request whose first ns is the one at which it arrives takes exactly its service time.
    fn latency_ns(&self) -> u64 {
        self.completed_ns - self.request.arrival_ns + 1
    }
}

/// Core time in ns since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) task_ns: u64,
    pub(super) looking_ns: u64,
    pub(super) stealing_ns: u64,
    pub(super) spinning_ns: u64,
    pub(super) responding_ns: u64,
    pub(super) paying_ns: u64,
    pub(super) allocating_ns: u64,
    pub(super) steals: u64,
    pub(super) steals_empty: u64,
    pub(super) sheds: u64,
    pub(super) grants: u64,
    pub(super) grants_refused: u64,
    pub(super) completed: u64,
}

impl Ledger {
    fn held_ns(&self) -> u64 {
        let moving_ns = self.stealing_ns + self.responding_ns;
        self.task_ns + self.looking_ns + moving_ns + self.spinning_ns + self.paying_ns + self.allocating_ns
    }

    /// The same in the engine's terms.
    pub(super) fn account(&self) -> Account {
        let ps = |ns: u64| u128::from(ns) * 1_000;
        Account {
            busy_ps: ps(self.task_ns),
            held_ps: ps(self.held_ns()),
            allocating_ps: ps(self.allocating_ns),
            looking_ps: ps(self.looking_ns),
            moving_ps: ps(self.stealing_ns + self.responding_ns),
            placing_ps: ps(self.paying_ns),
            steals: self.steals,
            steals_empty: self.steals_empty,
            sheds: self.sheds,
            grants: self.grants,
            grants_refused: self.grants_refused,
            completed: self.completed,
            given_up: 0,
            given_up_ps: 0,
            ..Account::default()
        }
    }
}

/// Does the machine keep up? Counted over the second half of the run's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Half of the time, and three quarters of it.
    marks_ns: [u64; 2],
    passed: usize,
    /// Requests that had arrived and completed at the half.
    half: (u64, u64),
    check: OverloadCheck,
}

impl Pace {
    pub(super) fn new(duration_ns: u64) -> Pace {
        let marks_ns = [duration_ns / 2, duration_ns / 4 * 3];
        Pace { marks_ns, passed: 0, half: (0, 0), check: OverloadCheck::default() }
    }

    /// When [`Pace::pass`] is to be called next.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.marks_ns.get(self.passed).copied().unwrap_or(u64::MAX)
    }

    /// So many requests had `arrived` and `completed` by [`Pace::next_ns`].
    pub(super) fn pass(&mut self, arrived: u64, completed: u64) {
        if self.passed == 0 {
            self.half = (arrived, completed);
            self.check.backlog_start = arrived - completed;
        } else {
            self.check.backlog_middle = arrived - completed;
        }
        self.passed += 1;
    }

    /// So many of them at the end.
    pub(super) fn end(mut self, arrived: u64, completed: u64) -> OverloadCheck {
        if self.passed > 0 {
            self.check.arrivals = arrived - self.half.0;
            self.check.completions = completed - self.half.1;
        }
        self.check.backlog_end = arrived - completed;
        self.check
    }
}
