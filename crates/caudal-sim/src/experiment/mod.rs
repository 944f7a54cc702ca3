//! The experiment at one simulated point: replications of a run until its statistics are precise enough. The sweep of a file, the tuner
//! and the figures of papers call it for each point. It runs replications on several threads under the feature `host`, and touches
//! nothing else.
//!
//! 1. *Warm-up.* Unless it is given, as many requests are left out as theory asks for ([`crate::steady`]), or more
//!    if twenty short pilot runs laid over one another say so (MSER-5); they are repeated with longer runs until
//!    they do.
//! 2. *A stage* is a series of replications of one length, judged in their own order after each one, so
//!    that the number of threads does not change a bit. It ends when all statistics that it stops on are precise, or
//!    after [`STAGE_MAX`] replications.
//! 3. A stage that was not precise enough is thrown away, and one with longer replications follows. So
//!    memory does not grow with the number of requests, and what is reported comes from few, long
//!    replications, whose percentiles have little bias.
//! 4. A stage whose backlog still grows from its first half to its second had not forgotten that it began empty. It is
//!    thrown away, too, and all that it measured is left out of the next one, on fresh seeds ([`crate::steady`]).
//!
//! Where what arrives goes through a cycle (a rate that moves, rows that are replayed in order), a replication measures
//! whole cycles; where the limit of requests holds less than one, replications begin at different places of it, and cover it
//! together. Recorded arrivals are played whole ([`crate::recorded`]).
//!
//! Latency covers every measured request: after the last one has arrived, arrivals go on until all of them
//! have completed. Core time is accounted from the first to the last measured arrival.

pub mod recorded;
pub mod steady;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::{Costs, Measure, Metric, System, Variant, WarmUp};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::random::hash;
use caudal_stats::mser::Mser5;
use caudal_stats::trend::{self, Halves};
use caudal_stats::{Decision, Estimate, Replicated, Scale, StopRule};
use caudal_workload::{Arrivals, Service};

use crate::engine::{
    Account, BACKLOG_SAMPLES, ClassStats, Length, Outcome, Run, ShortCuts, Unwatched, simulate,
};
use crate::lanes::LaneLoad;
use crate::threads;

use caudal_row::{Gap, Recorded};

use self::steady::{LENIENCE, Memory, Overheads};

/// Replications of a stage: at least, and at most.
pub const STAGE_MIN: u32 = 12;
/// See [`STAGE_MIN`].
pub const STAGE_MAX: u32 = 30;
/// Pilot runs that are laid over one another.
const PILOTS: u64 = 20;
/// A hundredth of the measured requests unfinished is more than a few.
const STUCK: u64 = 100;
/// Requests of a pilot run: at first, and at most.
const PILOT_REQUESTS: (u64, u64) = (4_000, 64_000);
/// Requests of a replication in the first stage, at least.
const FIRST_REQUESTS: u64 = 20_000;
/// The same in warm-ups, where the work of all cores together is what remembers.
const FIRST_WARM_UPS: u64 = 4;
/// Numbers of replications from one stage on fresh seeds to the next.
const FRESH: u64 = 1 << 32;
/// Multiples of it are spread evenly over a circle, however many there are: the golden ratio.
const SPREAD: f64 = 0.618_033_988_749_894_9;

/// Requests that a quick run of a system takes, at most: a second or a few. One that forks is some hundred tasks.
pub fn quick_requests(system: &System) -> u64 {
    if system.parallelism.forks() { 200_000 } else { 2_000_000 }
}

/// A simulated point, and the statistics that are to be known of it.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
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
    /// How, and how precisely.
    pub measure: &'a Measure,
    /// Settle for 10 % precision and [`quick_requests`].
    pub quick: bool,
    /// The statistics that must be precise before the experiment ends.
    pub stop_on: StopOn,
}

/// The statistics whose precision ends an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum StopOn {
    /// The mean and all reported percentiles of all requests' latency, but for those that lie at a gap.
    Reported,
    /// This one.
    Only(Quantity),
}

/// One statistic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantity {
    /// Index of the class; all requests if none.
    pub class: Option<usize>,
    /// Of what.
    pub metric: Metric,
    /// A percentile, or the mean if none.
    pub percentile: Option<f64>,
    /// Instead of both: the share of requests with a longer latency than this, in ps.
    pub above_ps: Option<u64>,
}

/// Statistics of a class, or of all requests.
#[derive(Clone, Debug, Default)]
pub struct ClassResults {
    /// Sojourn times in ps.
    pub latency_ps: Replicated,
    /// Slowdowns times [`crate::engine::SLOWDOWN_ONE`].
    pub slowdown: Replicated,
    /// How long requests waited, in ps; nothing unless [`Measure::wait`] asks for it.
    pub wait_ps: Replicated,
    /// Sums over all replications.
    pub sums: ClassStats,
    /// Has the slowdown no mean? See [`Service::class_has_inverse_mean`].
    no_mean_slowdown: bool,
}

impl ClassResults {
    fn push(&mut self, replication: &ClassStats) {
        self.latency_ps.push(&replication.latency_ps);
        self.slowdown.push(&replication.slowdown);
        if let Some(wait_ps) = &replication.wait_ps {
            self.wait_ps.push(wait_ps);
        }
        self.sums.merge(replication);
    }

    /// The values of `metric` that were recorded.
    pub fn recorded(&self, metric: Metric) -> &Replicated {
        match metric {
            Metric::Latency => &self.latency_ps,
            Metric::Slowdown => &self.slowdown,
            Metric::Wait => &self.wait_ps,
        }
    }

    /// An estimate of a percentile of `metric`, or of its mean, in ns or as a ratio.
    pub fn estimate(&self, metric: Metric, percentile: Option<f64>, confidence: f64) -> Estimate {
        let slowdown = metric == Metric::Slowdown;
        let scale = if slowdown { Scale::SLOWDOWN } else { Scale::PS_TO_NS };
        let raw = match percentile {
            Some(p) => self.recorded(metric).percentile(p, confidence),
            None => self.recorded(metric).mean(confidence),
        };
        let found = scale.estimate(raw);
        // What a sample of a mean says that is infinite is no more than a lower bound.
        let no_upper_end = slowdown && percentile.is_none() && self.no_mean_slowdown;
        if no_upper_end { Estimate { high: f64::INFINITY, ..found } } else { found }
    }

    /// The share of requests with a longer latency than `above_ps`: the miss ratio of a target.
    pub fn miss_ratio(&self, above_ps: u64, confidence: f64) -> Estimate {
        self.latency_ps.miss_ratio(above_ps, confidence)
    }

    /// The gaps at `percentiles` of the latency: around them there are hardly any values.
    pub fn gaps(&self, percentiles: &[f64]) -> Vec<Gap> {
        let gap = |&percentile: &f64| {
            let (low, high) = self.latency_ps.gap(percentile)?;
            Some(Gap { percentile, low_ns: low / 1e3, high_ns: high / 1e3 })
        };
        percentiles.iter().filter_map(gap).collect()
    }
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Results {
    /// All requests.
    pub all: ClassResults,
    /// By class, in the order of the service's classes.
    pub classes: Vec<ClassResults>,
    /// Accounts of each replication, and the time that they cover, in ps.
    pub accounts: Vec<(Account, u64)>,
    /// Did most replications fall behind their load?
    pub overloaded: bool,
    /// Are all statistics that it stops on as precise as was asked?
    pub precise: bool,
    /// Were the replications long enough to forget that they began empty, and was as much work done as is offered in
    /// the long run? If not, the estimates are those of a system that is still filling up, or that met none of its
    /// rarest requests. Never in overload or of recorded arrivals, which have no steady state.
    pub steady: bool,
    /// The part of recorded arrivals that was played, if they were recorded.
    pub recorded: Option<Recorded>,
    /// Measured requests.
    pub requests: u64,
    /// Of those, how many had not completed when their run was given up.
    pub unfinished: u64,
    /// Requests left out at the start of each replication.
    pub warm_up: u64,
    /// Requests measured in each replication.
    pub measured: u64,
    /// All requests that were simulated, pilots and thrown-away stages included.
    pub simulated: u64,
    /// Events of the engine in these replications, warm-up and drain included.
    pub events: u64,
    /// Replications that fell behind their load.
    fell_behind: u32,
    /// The number of the first replication.
    first_number: u64,
    /// Backlog in the halves of each replication: requests, and ns of work. Empty where no sample was taken.
    backlogs: [Vec<Halves>; 2],
    /// Lanes that have cores of their own, and what they have to do.
    pub lane_loads: Vec<LaneLoad>,
}

/// The run was asked to stop; nothing of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Why an experiment has no results.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// It was asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The `authors-simulator` variant can not do this.
    #[error("{0}")]
    Variant(String),
}

/// How something that takes long is run: the number of its threads, the flag that stops it, and the listener to its progress.
/// Experiments tell the listener how many requests they have simulated since the last call; sweeps, searches and plans have a `P` of their own.
#[derive(Clone, Copy)]
pub struct Control<'a, P = u64> {
    /// Number of threads to use; at least 1. It does not change a bit of the result.
    pub threads: usize,
    /// Set by the caller to stop the work: what is known so far is returned, or nothing.
    pub stop: &'a AtomicBool,
    /// Called with the progress since the last call, from any thread.
    pub progress: &'a (dyn Fn(P) + Sync),
}

impl<P> Control<'_, P> {
    /// Tells the listener of `progress`.
    pub fn tell(&self, progress: P) {
        (self.progress)(progress);
    }
}

impl<P> fmt::Debug for Control<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Control { threads, stop, .. } = self;
        f.debug_struct("Control").field("threads", threads).field("stop", stop).finish_non_exhaustive()
    }
}

impl Control<'_> {
    fn check(&self) -> Result<(), Interrupted> {
        if self.stop.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }
}

impl Experiment<'_> {
    /// Runs the experiment.
    ///
    /// # Errors
    /// [`ExperimentError::Interrupted`] when `control.stop` was set, and what the variant can not do.
    pub fn run(&self, control: &Control<'_>) -> Result<Results, ExperimentError> {
        match self.arrivals.count() {
            Some(count) => self.play(count, control),
            None => self.approach(control),
        }
    }

    /// Stages until one is precise enough, or the limit of requests is reached.
    fn approach(&self, control: &Control<'_>) -> Result<Results, ExperimentError> {
        let mut simulated = 0;
        let rule = self.rule();
        let max_requests = if self.quick { quick_requests(self.system) } else { u64::MAX }
            .min(self.measure.stop.max_requests);
        let most = (max_requests / u64::from(rule.min_replications)).max(1);
        let auto = self.measure.warm_up == WarmUp::Auto;
        let (mut warm_up, overheads) = match self.measure.warm_up {
            WarmUp::Auto => self.pilot(control, &mut simulated)?,
            given => (self.given_warm_up(given), Overheads::default()),
        };
        warm_up = if auto { warm_up.min(most) } else { warm_up };
        let mut requests =
            self.measure.requests.unwrap_or_else(|| self.first_requests(warm_up, overheads)).min(most);
        let fixed = self.measure.requests.is_some() || self.measure.replications.is_some();
        let mut first_number = 0;
        loop {
            requests =
                self.measure.requests.map_or_else(|| self.fitting(requests, most), |given| given.min(most));
            let mut results =
                self.stage(control, &rule, Length { warm_up, measured: requests }, first_number)?;
            simulated += results.simulated;
            results.simulated = simulated;
            if let Some(more) = self.longer_warm_up(&results, most).filter(|_| auto) {
                warm_up = more;
                let overheads = self.overheads(&results);
                requests =
                    if fixed { requests } else { requests.max(self.first_requests(warm_up, overheads)) };
                continue;
            }
            let grows = auto && !fixed && !results.overloaded && self.still_grows(&results, trend::WARNED);
            if grows && 2 * requests <= most {
                (warm_up, requests) = ((warm_up + requests).min(most), 2 * requests);
                first_number += FRESH;
                continue;
            }
            let more = self.longer(&results, &rule, requests, max_requests);
            match more {
                Some(more) if !(results.precise || results.overloaded || fixed) => requests = more,
                _ => return Ok(results),
            }
        }
    }

    /// A warm-up that was given, in requests.
    pub(crate) fn given_warm_up(&self, given: WarmUp) -> u64 {
        match given {
            WarmUp::Requests(requests) => requests,
            WarmUp::Time(time) => (time.0 as f64 / self.mean_gap_ps).ceil() as u64,
            WarmUp::Auto => 0,
        }
    }

    /// Requests of a replication in the first stage after this warm-up.
    fn first_requests(&self, warm_up: u64, overheads: Overheads) -> u64 {
        let Memory { wandering, filling } = self.memory(overheads);
        let needed = self.lengths(overheads);
        let by_warm_up = match filling > wandering {
            true => (needed.measured * (warm_up as f64 / needed.warm_up).max(1.0)) as u64,
            false => FIRST_WARM_UPS * warm_up,
        };
        FIRST_REQUESTS.max(by_warm_up)
    }

    /// About so many requests that make whole cycles of what arrives, `most` at most. Where not even one fits, as many as do.
    fn fitting(&self, requests: u64, most: u64) -> u64 {
        let Some(cycle) = self.cycle() else { return requests.min(most) };
        let fit = (most as f64 / cycle).floor();
        let cycles = (self.whole_cycles(requests as f64) / cycle).min(fit);
        if cycles >= 1.0 { (cycles.round() * cycle).round() as u64 } else { most }
    }

    /// The warm-up that a stage should have had, at most `most`, if it turns out to be much longer: its overheads were
    /// higher than those of the pilot runs.
    fn longer_warm_up(&self, results: &Results, most: u64) -> Option<u64> {
        let needed = self.needed_warm_up(results).min(most);
        (!results.overloaded && LENIENCE * needed as f64 > results.warm_up as f64).then_some(needed)
    }

    /// Adds the next `replications` to results of this experiment, as long as those that they have: what one
    /// question takes can be found out after another one has been answered.
    ///
    /// # Errors
    /// As [`Self::run`]; the results are as they were.
    pub fn extend(
        &self,
        results: &mut Results,
        replications: u32,
        control: &Control<'_>,
    ) -> Result<(), ExperimentError> {
        let length = Length { warm_up: results.warm_up, measured: results.measured };
        let next = results.first_number + results.accounts.len() as u64;
        let numbers: Vec<u64> = (next..next + u64::from(replications)).collect();
        for outcome in self.replicate(control, &numbers, length, false)? {
            results.push(&outcome, length);
        }
        self.judge_load(results);
        Ok(())
    }

    /// The precision that is asked for.
    pub(crate) fn relative_error(&self) -> f64 {
        let asked = self.measure.stop.relative_error;
        if self.quick { asked.max(0.1) } else { asked }
    }

    fn rule(&self) -> StopRule {
        let stop = &self.measure.stop;
        let exactly = self.measure.replications;
        StopRule {
            confidence: stop.confidence,
            relative_error: self.relative_error(),
            min_replications: exactly.unwrap_or(STAGE_MIN),
            max_replications: exactly.unwrap_or(STAGE_MAX),
        }
    }

    /// Requests of a replication in the next stage, after one of `requests` was not precise enough; `None`
    /// if that would be more than is allowed.
    fn longer(&self, results: &Results, rule: &StopRule, requests: u64, max_requests: u64) -> Option<u64> {
        let worst = self.judged_estimates(results, rule.confidence).into_iter();
        let worst = worst.map(|estimate| estimate.relative_half_width()).fold(0.0, f64::max);
        // Error shrinks with the square root of the requests; no interval at all: try four times as many.
        let factor = if worst.is_finite() { (worst / rule.relative_error).powi(2) * 1.2 } else { 4.0 };
        let factor = factor.clamp(2.0, 16.0);
        let limit = max_requests / u64::from(STAGE_MAX);
        let next = ((requests as f64 * factor) as u64).min(limit);
        (next > requests + requests / 4).then_some(next)
    }

    pub(crate) fn judged_estimates(&self, results: &Results, confidence: f64) -> Vec<Estimate> {
        match &self.stop_on {
            StopOn::Reported => {
                let clear = |p: &&f64| results.all.latency_ps.gap(**p).is_none();
                let percentiles = self.measure.percentiles.iter().filter(clear).map(|&p| Some(p));
                let statistics = std::iter::once(None).chain(percentiles);
                let latencies = statistics.map(|p| results.all.estimate(Metric::Latency, p, confidence));
                let misses = self.measure.miss.iter().map(|late| results.all.miss_ratio(late.0, confidence));
                latencies.chain(misses).collect()
            }
            StopOn::Only(quantity) => vec![results.estimate(quantity, confidence)],
        }
    }

    /// Requests to leave out at the start of each replication: what theory asks for, or MSER-5 if that is more; none of
    /// recorded arrivals. Adds what it took to `simulated`.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn find_warm_up(&self, control: &Control<'_>, simulated: &mut u64) -> Result<u64, ExperimentError> {
        match self.arrivals.count() {
            Some(_) => Ok(0),
            None => Ok(self.pilot(control, simulated)?.0),
        }
    }

    /// The warm-up, and what the scheduler took in the runs in which it was found.
    fn pilot(&self, control: &Control<'_>, simulated: &mut u64) -> Result<(u64, Overheads), ExperimentError> {
        let (mut requests, most) = PILOT_REQUESTS;
        loop {
            let mut series: Option<Mser5> = None;
            let mut overloaded = 0;
            let length = Length { warm_up: 0, measured: requests };
            let numbers: Vec<u64> = (0..PILOTS).map(|pilot| u64::MAX - pilot).collect();
            let mut accounts = Vec::new();
            for outcome in self.replicate(control, &numbers, length, true)? {
                overloaded += u32::from(outcome.fell_behind());
                accounts.push(outcome.account);
                let found = outcome.series.unwrap_or_default();
                match &mut series {
                    Some(series) => series.superpose(&found),
                    none => *none = Some(found),
                }
            }
            *simulated += PILOTS * requests;
            let cut = match series.and_then(|series| series.truncation()) {
                Some(cut) => cut,
                None if u64::from(overloaded) > PILOTS / 2 => 0,
                None if requests * 4 > most => requests,
                None => {
                    requests *= 4;
                    continue;
                }
            };
            let overheads = Overheads::of(&self.system.rebalance, accounts.iter());
            return Ok((cut.max(self.lengths(overheads).warm_up.ceil() as u64), overheads));
        }
    }

    /// Runs that are too short to have filled up fall behind their load, and would with any: not every growth is
    /// overload.
    fn judge_load(&self, results: &mut Results) {
        let done = results.accounts.len() as u32;
        let behind = done >= 4 && 2 * results.fell_behind > done;
        // What arrives for a lane that can not do it piles up, however few requests it is: that takes no simulation.
        let lane_full = results.lane_loads.iter().any(|lane| lane.busy >= 1.0);
        if results.recorded.is_some() {
            // A queue that grows at the end of what was recorded is a part of what happened.
            results.overloaded = lane_full || self.busiest(self.overheads(results)) >= 1.0;
            return;
        }
        results.overloaded = behind && self.shows_growth(results) || lane_full || self.is_stuck(results);
        results.steady = !behind
            && self.long_enough(results)
            && self.work_agrees(results)
            && !self.still_grows(results, trend::CERTAIN);
    }

    /// On contexts, which slow each other down, arithmetic says only what a lane has to do at least. But requests that have not
    /// completed when as many have come again as were measured are more than a few only where they come faster than they go.
    fn is_stuck(&self, results: &Results) -> bool {
        self.system.contexts.is_some() && results.unfinished > results.requests / STUCK
    }

    /// The replications of these numbers, in their order.
    fn replicate(
        &self,
        control: &Control<'_>,
        numbers: &[u64],
        length: Length,
        pilot: bool,
    ) -> Result<Vec<Outcome>, ExperimentError> {
        let one = |&number: &u64| -> Result<Outcome, ExperimentError> {
            control.check()?;
            let outcome = self.replication(number, length, pilot, control.stop)?;
            // One that was told to stop has ended before its time.
            control.check()?;
            (control.progress)(length.warm_up + length.measured);
            Ok(outcome)
        };
        threads::in_order(control.threads, numbers, one)
    }

    fn replication(
        &self,
        number: u64,
        length: Length,
        pilot: bool,
        stop: &AtomicBool,
    ) -> Result<Outcome, ExperimentError> {
        // Parts of a cycle begin where others do not.
        let part = self.cycle().filter(|cycle| (length.measured as f64) < 0.999 * cycle);
        let place = part.map(|_| (number % FRESH) as f64 * SPREAD % 1.0);
        let moved = place.map(|place| {
            let row = self.service.replayed_rows().map_or(0, |rows| (place * rows as f64) as u64);
            (self.service.from_row(row), self.arrivals.from_part_of_cycle(place))
        });
        let (service, arrivals) = match &moved {
            Some((service, arrivals)) => (service, arrivals),
            None => (self.service, self.arrivals),
        };
        let run = Run {
            system: self.system,
            costs: self.costs,
            service,
            arrivals,
            mean_gap_ps: self.mean_gap_ps,
            seed: hash(self.measure.seed, number),
            length,
            pilot,
            waits: self.measure.wait,
            short_cuts: ShortCuts::ALL,
            stop: Some(stop),
        };
        match self.system.variant {
            Variant::Paper => Ok(simulate(&run, Unwatched)),
            Variant::AuthorsSimulator => crate::authors_outcome(&run).map_err(ExperimentError::Variant),
        }
    }

    /// Replications of one length, from this number on.
    pub(crate) fn stage(
        &self,
        control: &Control<'_>,
        rule: &StopRule,
        length: Length,
        first_number: u64,
    ) -> Result<Results, ExperimentError> {
        let mut results = Results { first_number, ..Results::new(self, length) };
        let mut number = first_number;
        loop {
            // Threads run ahead; what they do beyond the replication that ends the stage is not used.
            let ahead = control.threads.max(1) as u64;
            let numbers: Vec<u64> = (number..number + ahead).collect();
            for outcome in self.replicate(control, &numbers, length, false)? {
                results.push(&outcome, length);
                number += 1;
                let done = (number - first_number) as u32;
                self.judge_load(&mut results);
                if results.overloaded && done >= rule.min_replications.min(8) {
                    return Ok(results);
                }
                if done < rule.min_replications {
                    continue;
                }
                let decision = rule.decide(done, &self.judged_estimates(&results, rule.confidence));
                results.precise = decision == Decision::Precise;
                if decision != Decision::Continue {
                    return Ok(results);
                }
            }
        }
    }
}

/// Does a request wait, for others or for the scheduler, however short it is? Not where cores are shared in infinitely
/// small slices, or the shortest goes first, and that costs nothing.
fn even_the_shortest_wait(system: &System, costs: &Costs) -> bool {
    let gives_way = match system.discipline {
        DisciplineConfig::Srpt => costs.preemption == Picos::ZERO,
        other => other.quantum() == Some(Picos::ZERO),
    };
    let free = costs.dispatcher == Picos::ZERO
        && !matches!(system.dispatch, DispatchConfig::PowerOfK(_))
        && system.allocation == AllocationConfig::Static;
    !(gives_way && free)
}

impl Results {
    fn new(experiment: &Experiment<'_>, length: Length) -> Results {
        let all_wait = even_the_shortest_wait(experiment.system, experiment.costs);
        let class = |class: usize| ClassResults {
            no_mean_slowdown: all_wait && !experiment.service.class_has_inverse_mean(class),
            ..ClassResults::default()
        };
        let classes: Vec<ClassResults> = (0..experiment.service.classes().len()).map(class).collect();
        let no_mean_slowdown = classes.iter().any(|class| class.no_mean_slowdown);
        Results {
            all: ClassResults { no_mean_slowdown, ..ClassResults::default() },
            classes,
            accounts: Vec::new(),
            overloaded: false,
            precise: false,
            steady: false,
            requests: 0,
            unfinished: 0,
            warm_up: length.warm_up,
            measured: length.measured,
            simulated: 0,
            events: 0,
            recorded: experiment.arrivals.count().map(|arrivals| recorded::recorded(arrivals, length)),
            fell_behind: 0,
            first_number: 0,
            backlogs: [Vec::new(), Vec::new()],
            lane_loads: experiment.lane_loads(),
        }
    }

    fn push(&mut self, outcome: &Outcome, length: Length) {
        let mut all = ClassStats::default();
        for (class, stats) in self.classes.iter_mut().zip(&outcome.classes) {
            class.push(stats);
            all.merge(stats);
        }
        self.all.push(&all);
        self.accounts.push((outcome.account, outcome.span_ps));
        self.requests += outcome.arrived;
        self.unfinished += outcome.unfinished;
        self.simulated += length.warm_up + length.measured;
        self.events += outcome.events.0;
        self.fell_behind += u32::from(outcome.fell_behind());
        let series = [
            outcome.backlog.iter().map(|sample| sample.requests as f64).collect::<Vec<_>>(),
            outcome.backlog.iter().map(|sample| sample.work_ns as f64).collect(),
        ];
        // Runs that ended early, or are too short for samples at equal distances, say nothing.
        if outcome.backlog.len() as u64 == BACKLOG_SAMPLES + 1 {
            for (halves, series) in self.backlogs.iter_mut().zip(&series) {
                halves.extend(Halves::of(series));
            }
        }
    }

    /// Backlog in the halves of each replication that was sampled: requests, and ns of work.
    pub(crate) fn backlogs(&self) -> &[Vec<Halves>; 2] {
        &self.backlogs
    }

    /// Do the figures hold for what they are about: the steady state, or all that was recorded of arrivals?
    pub fn holds(&self) -> bool {
        self.steady || self.recorded.is_some_and(|recorded| recorded.is_whole() && !self.overloaded)
    }

    /// An estimate of `quantity`, in ns or as a ratio.
    pub fn estimate(&self, quantity: &Quantity, confidence: f64) -> Estimate {
        let results = quantity.class.map_or(&self.all, |class| &self.classes[class]);
        match quantity.above_ps {
            Some(above_ps) => results.miss_ratio(above_ps, confidence),
            None => results.estimate(quantity.metric, quantity.percentile, confidence),
        }
    }

    /// An estimate of a ratio of two sums over the accounts of all replications.
    pub fn ratio(&self, confidence: f64, part: impl Fn(&Account, u64) -> (f64, f64)) -> Estimate {
        let parts: Vec<(f64, f64)> =
            self.accounts.iter().map(|(account, span_ps)| part(account, *span_ps)).collect();
        caudal_stats::ratio_of_sums(&parts, confidence)
    }
}
