//! The run of the engine as its callers ask for it, and its outcome. An experiment makes a [`Run`] for each replication; every loop takes
//! one and returns an [`Outcome`]. Data, and the assembly of outcomes.

use std::sync::atomic::AtomicBool;

use caudal_config::{Costs, Point, System};
use caudal_stats::OverloadCheck;
use caudal_stats::mser::Mser5;
use caudal_workload::{Arrivals, Service};

use super::account::Account;
use super::record::{ClassStats, Recorder};
use super::short_cuts::ShortCuts;
use super::source::Source;
use super::window::{Backlog, Length, Window};

/// One replication: a system, its load, a seed and a length.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The system.
    pub system: &'a System,
    /// The costs of its actions.
    pub costs: &'a Costs,
    /// Service times.
    pub service: &'a Service,
    /// When requests arrive.
    pub arrivals: &'a Arrivals,
    /// Mean time between arrivals, in ps.
    pub mean_gap_ps: f64,
    /// Seed of all randomness.
    pub seed: u64,
    /// How many requests.
    pub length: Length,
    /// Keep the series from which the end of the warm-up is found?
    pub pilot: bool,
    /// Keep how long each request waited ([`ClassStats::wait_ps`])?
    pub waits: bool,
    /// The short cuts that the engine may take.
    pub short_cuts: ShortCuts,
    /// Ends the run soon after it is set, within some hundred arrivals: what comes out is worth nothing then. The authors'
    /// simulator does not look at it.
    pub stop: Option<&'a AtomicBool>,
}

/// How many times the longest service time a run waits for the last measured requests, if they are that few.
const PATIENCE: f64 = 10.0;

impl<'a> Run<'a> {
    /// A run of `point`, of this length: on the seed of its file, without waiting times, by all short cuts.
    pub fn of(point: &'a Point, length: Length) -> Run<'a> {
        Run {
            system: &point.system,
            costs: &point.costs,
            service: &point.workload.service,
            arrivals: &point.workload.arrivals,
            mean_gap_ps: point.mean_gap_ps(),
            seed: point.measure.seed,
            length,
            pilot: false,
            waits: false,
            short_cuts: ShortCuts::ALL,
            stop: None,
        }
    }

    /// The requests of the run, from the first on.
    pub(in crate::engine) fn source(&self) -> Source {
        Source::new(self.arrivals.sampler(self.seed, self.mean_gap_ps), self.service.sampler(self.seed))
    }

    /// An empty recorder of what the run asks for.
    pub(in crate::engine) fn recorder(&self) -> Recorder {
        Recorder::new(self.service.classes().len(), self.pilot, self.waits)
    }

    /// Workers of each pool.
    pub(in crate::engine) fn pool_sizes(&self) -> Vec<u32> {
        self.system.pool_sizes().expect("a system that was checked shares out its cores")
    }

    /// Requests with a longer service time than this, in ps, are long: others wait behind them.
    pub(in crate::engine) fn long_ps(&self) -> u64 {
        self.service.mean_ps() as u64
    }

    /// How long arrivals go on at least, in ps, for measured requests that have not completed by the end of the measured
    /// part: on many cores, that part may be shorter than a service time.
    pub fn patience_ps(&self) -> u64 {
        // All but one in a million are shorter than this.
        (self.service.quantile(0.999_999) as f64 * self.costs.probe_factor * PATIENCE) as u64
    }
}

/// How many events a run has taken. Hosts that do the same may take different numbers of them: they are no part of what came out,
/// and are not shown with it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Events(pub u64);

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Statistics of the measured requests, by class.
    pub classes: Vec<ClassStats>,
    /// Accounts of the time in which the measured requests arrived.
    pub account: Account,
    /// Time from the first to past the last measured arrival, in ps.
    pub span_ps: u64,
    /// When the run ended.
    pub end_ps: u64,
    /// Events that were simulated, arrivals included, warm-up and drain too: what the run has taken, whatever the host's speed.
    pub events: Events,
    /// Did it keep up, counted in requests?
    pub overload: OverloadCheck,
    /// Did it keep up, counted in ns of work? Of one run this says little where few requests make most of
    /// the work; the majority of several does.
    pub overload_work: OverloadCheck,
    /// Did the cores work, for requests or for the scheduler, nearly all the time that they were here, or wait for
    /// a dispatcher? Where they had time to spare, work that has piled up was a burst.
    pub no_time_to_spare: bool,
    /// Measured requests that had not completed.
    pub unfinished: u64,
    /// Measured requests that had arrived.
    pub arrived: u64,
    /// The series of a pilot run.
    pub series: Option<Mser5>,
    /// The backlog of requests that had arrived and were not done, from the first measured request to past the last, at equal distances; fewer samples
    /// where the run is short or ended early, none where a loop takes none.
    pub backlog: Vec<Backlog>,
}

impl Outcome {
    /// Did it fall behind, in requests or in work?
    pub fn fell_behind(&self) -> bool {
        self.overload.is_overloaded() || self.overload_work.is_overloaded() && self.no_time_to_spare
    }
}

/// All but a twentieth of the core time.
fn no_time_to_spare(account: &Account) -> bool {
    let Account { moving_ps, placing_ps, switching_ps, stalled_ps, .. } = account;
    let spent_ps = account.busy_ps + moving_ps + placing_ps + switching_ps + stalled_ps;
    spent_ps * 20 >= (account.held_ps - account.allocating_ps) * 19
}

/// The outcome of a run that ended at this time, after so many events.
pub(in crate::engine) fn outcome(
    recorder: Recorder,
    window: Window,
    measured_left: u64,
    (end_ps, events): (u64, u64),
) -> Outcome {
    let mut classes = recorder.classes;
    for (class, &behind_ps) in classes.iter_mut().zip(&window.behind_ps) {
        class.behind_long_ps = Some(behind_ps);
    }
    let recorded: u64 = classes.iter().map(|class| class.latency_ps.count()).sum();
    Outcome {
        classes,
        account: window.account,
        span_ps: window.span_ps,
        end_ps,
        events: Events(events),
        overload: window.check,
        overload_work: window.work,
        no_time_to_spare: no_time_to_spare(&window.account),
        unfinished: measured_left,
        arrived: recorded + measured_left,
        series: recorder.pilot,
        backlog: window.backlog,
    }
}
