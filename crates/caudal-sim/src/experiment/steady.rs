//! The steady state of a system: how long a run has to be to show it, and whether a run did. An experiment asks for the lengths before
//! its first replication, and judges each stage afterwards. Pure.
//!
//! What a run has to leave out and how long it has to be follow from the system's relaxation time
//! ([`caudal_stats::relaxation`]): from the second moment of *all* requests' service times and from the time to spare
//! of whatever is nearest to its limit, with probes and the scheduler's overheads. The statistic that was asked for
//! says nothing of it: a percentile of short requests looks steady while the work of rare long ones still piles up.
//!
//! | what remembers | for how long | who has it |
//! | --- | --- | --- |
//! | the work of all queues together | until it has wandered: a relaxation time of one queue with all cores | every system |
//! | what is in each queue | until queues that began empty have filled up, all at the same time: the number of queues times what one of them takes, by how requests choose a queue and who helps it ([`relaxation::Apart`]) | more than one pool |
//! | a lane's own work | the same of its servers | lanes, and pools by size |
//! | a dispatcher, or a lock | the same of one server | where it costs something |
//! | what arrives | a cycle of the rate; once through the rows that are replayed in order | arrivals that move, `replay` |
//!
//! The longest of them decides what is left out and how much is measured; whole cycles, because what a part of one shows is
//! that part. Recorded arrivals are another question: see [`crate::recorded`].
//!
//! **The data may object.** The backlog is sampled 32 times in each replication; where its second half has more than its
//! first, the system had not forgotten its empty start, whatever theory says ([`caudal_stats::trend`]). A run that chose
//! its own lengths is then repeated, with more left out, longer, and on fresh seeds, until it agrees with itself or the
//! limit of requests is reached; what still grows then, or has lengths that were given, is not called steady. This costs
//! nothing where theory is right. A second, longer run of everything would cost as much as the first one many times over,
//! and say less: what a run ten times as long would see of a start that is not forgotten is a trend in the shorter one.
//!
//! Afterwards, the accounts tell whether it was: in the long run, as much work is done as is offered. What is missing
//! beyond chance had not been done when the run ended, or was never offered, because the longest requests are so rare
//! that the run met none.

use caudal_config::{ContextsConfig, Variant};
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_stats::Estimate;
use caudal_stats::relaxation::{self, Apart, Choice, Help, Queue};
use caudal_stats::trend;

use crate::engine::Account;
use crate::experiment::{Experiment, Results};
use crate::lanes::{LaneLoad, lane_loads, throughput};

/// From this share of their time on, the cores can not keep up, or it would take too long to see that they do.
pub const FULL: f64 = 0.995;
/// Confidence at which the work that was done must agree with what was offered.
const WORK_CONFIDENCE: f64 = 0.99;
/// The shortest runs that count as long enough, as a part of what theory says: it is known no better than that,
/// because overheads that are measured vary.
pub(crate) const LENIENCE: f64 = 0.7;
/// The part of the precision that is asked for by which a backlog may grow from one half of a run to the other: half as much
/// is what the mean is off, at most.
const TREND: f64 = 0.5;
/// The part of a run's length that makes up as much for a lack of warm-up.
const DILUTION: f64 = 0.05;

/// How long a system remembers, in requests that arrive meanwhile; infinite where there is no steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    /// Until the work of all of it, of its lanes, or of its dispatcher has wandered. A replication has to see it do so a few
    /// times.
    pub(crate) wandering: f64,
    /// Until its queues have filled up, each on its own. Many queues are many samples.
    pub(crate) filling: f64,
}

/// How long replications have to be, in requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Requests to leave out.
    pub warm_up: f64,
    /// Requests to measure in each of [`relaxation::REPLICATIONS`].
    pub measured: f64,
}

/// Overheads of the scheduler, as far as they grow with the load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overheads {
    /// Core time, for each unit of it that went to requests.
    pub per_work: f64,
    /// Preemptions per request.
    pub preemptions: f64,
}

impl Overheads {
    /// The overheads in a series of accounts. Thieves take only time that they have to spare; answering a flag does not.
    pub fn of<'a>(rebalance: &RebalanceConfig, accounts: impl Iterator<Item = &'a Account>) -> Overheads {
        let sheds = matches!(rebalance, RebalanceConfig::WorkShedding(_) | RebalanceConfig::StealAndShed(_));
        let (mut spent, mut busy, mut preemptions, mut completed) = (0.0, 0.0, 0.0, 0.0);
        for account in accounts {
            let moving_ps = if sheds { account.moving_ps } else { 0 };
            spent += (account.switching_ps + account.placing_ps + account.stalled_ps + moving_ps) as f64;
            busy += account.busy_ps as f64;
            preemptions += account.preemptions as f64;
            completed += account.completed as f64;
        }
        Overheads { per_work: spent / busy.max(1.0), preemptions: preemptions / completed.max(1.0) }
    }
}

impl Experiment<'_> {
    /// Share of the cores' time that requests and the scheduler ask for; 1 and more if there is not enough of it.
    pub fn cores_busy(&self, overheads: Overheads) -> f64 {
        if let Some(contexts) = &self.system.contexts {
            return self.contexts_busy(contexts, overheads);
        }
        // Cores that come and go come when there is work.
        let cores = match self.system.allocation {
            AllocationConfig::Static => f64::from(self.system.cores_allocated),
            _ => f64::from(self.system.cores),
        };
        self.offered_cores() * (1.0 + overheads.per_work) / cores
    }

    /// The same of cores with hardware contexts, of which those that wait for memory do nothing, and those that switch
    /// nothing useful.
    fn contexts_busy(&self, contexts: &ContextsConfig, overheads: Overheads) -> f64 {
        let cores = f64::from(self.system.cores);
        let preemptions_per_ps = overheads.preemptions / self.mean_gap_ps / cores;
        let waiting = preemptions_per_ps * self.costs.cold_miss.0 as f64;
        let switching = preemptions_per_ps * self.costs.preemption.0 as f64;
        let most = contexts.adaptation.as_ref().map_or(contexts.count, LoadAdaptationConfig::most);
        let active = f64::from(most) - waiting;
        if active <= switching {
            return f64::INFINITY;
        }
        let useful = throughput(&contexts.speeds(), active) * (active - switching) / active;
        self.offered_cores() / cores / useful
    }

    /// The lanes that have cores of their own, and what they have to do.
    pub fn lane_loads(&self) -> Vec<LaneLoad> {
        lane_loads(self.system, self.costs, self.service, self.mean_gap_ps)
    }

    /// Share of their time that requests ask for of the cores, of the cores of one lane, or of the dispatcher, whichever
    /// is most.
    pub fn busiest(&self, overheads: Overheads) -> f64 {
        let lanes = self.lane_loads().iter().map(|lane| lane.busy).fold(self.cores_busy(overheads), f64::max);
        lanes.max(self.dispatcher_busy(overheads))
    }

    /// Share of its time that requests ask for of a dispatcher, or of the lock of a shared queue.
    fn dispatcher_busy(&self, overheads: Overheads) -> f64 {
        (self.costs.dispatcher.0 as f64 + self.slices_ps(overheads)) / self.mean_gap_ps
    }

    /// The dispatcher's time for a request's slices.
    fn slices_ps(&self, overheads: Overheads) -> f64 {
        self.costs.dispatcher_quantum.0 as f64 * overheads.preemptions
    }

    /// Work that arrives, probes included, in cores.
    fn offered_cores(&self) -> f64 {
        self.service.mean_ps() * self.costs.probe_factor / self.mean_gap_ps
    }

    /// How long replications have to be; nothing where there is no steady state. Recorded arrivals are played whole.
    pub fn lengths(&self, overheads: Overheads) -> Lengths {
        if let Some(count) = self.arrivals.count() {
            return Lengths { warm_up: 0.0, measured: count as f64 };
        }
        let Memory { wandering, filling, .. } = self.memory(overheads);
        let finite = |requests: f64| if requests.is_finite() { requests } else { 0.0 };
        let (wandering, filling, cycle) = (finite(wandering), finite(filling), self.cycle());
        let measured = (relaxation::MEASURED * wandering).max(relaxation::FILLED * filling);
        Lengths {
            // What a cycle leaves behind is there when the next one begins.
            warm_up: (relaxation::WARM_UP * wandering.max(filling)).max(cycle.unwrap_or(0.0)),
            measured: self.whole_cycles(measured),
        }
    }

    /// Requests that a run is to leave out and to measure which measures `least` requests at least and `most` at most, whatever the
    /// memory, and leaves out a quarter of that at least; but recorded arrivals are played whole, and cycles too where one
    /// fits.
    pub fn lengths_within(&self, (least, most): (f64, f64)) -> (u64, u64) {
        let Lengths { warm_up, measured } = self.lengths(Overheads::default());
        if let Some(count) = self.arrivals.count() {
            return (0, count);
        }
        let clamped = measured.clamp(least, most);
        let whole = self.whole_cycles(clamped).round();
        let measured = if whole <= most { whole } else { clamped } as u64;
        ((warm_up as u64).clamp(measured / 4, measured), measured)
    }

    /// Requests that arrive while what arrives goes through all that it goes through once: the rate of the arrivals, or the
    /// rows that are replayed, whichever is longer. None where any part of a run is like any other.
    pub(crate) fn cycle(&self) -> Option<f64> {
        let of_rate =
            if self.arrivals.is_stationary() { 0.0 } else { self.arrivals.cycle_ps() / self.mean_gap_ps };
        let of_rows = self.service.replayed_rows().map_or(0.0, |rows| rows as f64);
        let cycle = of_rate.max(of_rows);
        (cycle > 0.0).then_some(cycle)
    }

    /// At least so many requests, and whole cycles of what arrives.
    pub fn whole_cycles(&self, requests: f64) -> f64 {
        self.cycle().map_or(requests, |cycle| cycle * (requests / cycle).ceil().max(1.0))
    }

    /// The warm-up that replications with these overheads need.
    pub(crate) fn needed_warm_up(&self, results: &Results) -> u64 {
        self.lengths(self.overheads(results)).warm_up.ceil() as u64
    }

    /// The memory of the system with these overheads.
    pub(crate) fn memory(&self, overheads: Overheads) -> Memory {
        let (arrivals, services) = (self.arrivals.dispersion(self.mean_gap_ps), self.service.dispersion());
        let servers = f64::from(self.system.cores_allocated);
        let all = Queue { busy: self.cores_busy(overheads), arrivals, services, servers };
        let dispatcher = Queue {
            busy: self.dispatcher_busy(overheads),
            arrivals,
            // As many slices as a request is long.
            services: if self.slices_ps(overheads) > 0.0 { services } else { 0.0 },
            servers: 1.0,
        };
        let lanes = self.lane_loads().iter().map(|lane| lane.relaxation(arrivals)).fold(0.0, f64::max);
        let bursts = self.arrivals.cycle_ps() / self.mean_gap_ps;
        Memory {
            wandering: all.relaxation().max(lanes).max(dispatcher.relaxation()).max(bursts),
            filling: self.apart(all).map_or(0.0, |apart| apart.filling()),
        }
    }

    /// Queues that fill up each on its own, of which all together are `all`.
    fn apart(&self, all: Queue) -> Option<Apart> {
        let queues = self.system.pools.sizes(self.system.cores)?.len() as f64;
        if queues <= 1.0 {
            return None;
        }
        let (arrivals, choice) = match self.system.dispatch {
            // What comes to one of many queues by chance is nearly independent, however the whole comes.
            DispatchConfig::Random => (1.0 + (all.arrivals - 1.0) / queues, Choice::Chance),
            DispatchConfig::RoundRobin => (all.arrivals / queues, Choice::Chance),
            DispatchConfig::PowerOfK(config) => {
                (1.0 + (all.arrivals - 1.0) / queues, Choice::ShortestOf(f64::from(config.k)))
            }
            DispatchConfig::Jsq(_) | DispatchConfig::Jbsq(_) | DispatchConfig::LeastWork => {
                (all.arrivals, Choice::ShortestOf(queues))
            }
            // Their own load and their own times: lanes.
            DispatchConfig::Sita(_) => return None,
        };
        let each = Queue { arrivals, servers: all.servers / queues, ..all };
        Some(Apart { each, queues, choice, help: self.help() })
    }

    /// The help that a queue gets which is longer than others.
    fn help(&self) -> Help {
        let services_ps = self.service.mean_ps() * self.costs.probe_factor;
        let checks = services_ps / self.costs.steal_check.0 as f64;
        match self.system.rebalance {
            RebalanceConfig::None => Help::None,
            RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_) => Help::Thieves(checks),
            RebalanceConfig::WorkShedding(config) => Help::Asked(config.threshold.0 as f64 / services_ps),
        }
    }

    /// Had replications of these lengths time to forget that they began empty, and are they long enough to vary as
    /// replications should?
    pub(crate) fn long_enough(&self, results: &Results) -> bool {
        let overheads = self.overheads(results);
        let Memory { wandering, filling } = self.memory(overheads);
        let lengths = self.lengths(overheads);
        let (warm_up, measured) = (results.warm_up as f64, results.measured as f64);
        let all = measured * results.accounts.len() as f64;
        wandering.max(filling).is_finite()
            && warm_up + DILUTION * measured >= LENIENCE * lengths.warm_up
            && all >= LENIENCE * lengths.measured * f64::from(relaxation::REPLICATIONS)
    }

    /// Is there anything in the second halves of these replications that is no echo of their beginning?
    pub(crate) fn shows_growth(&self, results: &Results) -> bool {
        let overheads = self.overheads(results);
        let Memory { wandering, filling } = self.memory(overheads);
        let passed = results.warm_up as f64 + results.measured as f64 / 2.0;
        self.busiest(overheads) >= 1.0 || passed >= LENIENCE * relaxation::WARM_UP * wandering.max(filling)
    }

    /// Does the backlog of these replications still grow, by more than precision tolerates, and by more than it would by
    /// chance with probability `error`? A rate that moves, or rows in their order, are no trend.
    pub(crate) fn still_grows(&self, results: &Results, error: f64) -> bool {
        let tolerance = TREND * self.relative_error();
        self.arrivals.is_stationary()
            && self.service.replayed_rows().is_none()
            && results.backlogs().iter().any(|halves| trend::grows(halves, tolerance, error))
    }

    /// Is there no time to spare, or so little that it can not be measured whether there is any? Requests that arrive
    /// at equal distances and are all alike need none.
    pub fn is_full(&self, overheads: Overheads) -> bool {
        let busy = self.busiest(overheads);
        if self.is_by_the_clock() { busy > 1.0 + relaxation::ROUNDING } else { busy >= FULL }
    }

    /// Do requests come at equal distances, and are all alike, so that no queue ever grows but for want of cores?
    fn is_by_the_clock(&self) -> bool {
        self.arrivals.dispersion(self.mean_gap_ps) + self.service.scv() == 0.0
            && self.system.dispatch != DispatchConfig::Random
            && self.arrivals.count().is_none()
    }

    /// The overheads of the scheduler in these replications.
    pub fn overheads(&self, results: &Results) -> Overheads {
        Overheads::of(&self.system.rebalance, results.accounts.iter().map(|(account, _)| account))
    }

    /// Was as much work done as is offered in the long run, within chance? Where the arrivals are no chance, or
    /// services are rounded, nothing can be said against it.
    pub fn work_agrees(&self, results: &Results) -> bool {
        let by_chance = self.arrivals.is_stationary() && self.service.replayed_rows().is_none();
        if !by_chance || self.system.variant != Variant::Paper {
            return true;
        }
        let done: Estimate =
            results.ratio(WORK_CONFIDENCE, |account, span_ps| (account.busy_ps as f64, span_ps as f64));
        let (low, high) = (done.estimate - done.half_width(), done.estimate + done.half_width());
        let offered = self.offered_cores();
        // Services are whole picoseconds, and requests that straddle the ends of a run are not many.
        (low - 1e-3 * offered..=high + 1e-3 * offered).contains(&offered)
    }
}

#[cfg(test)]
mod tests {
    use caudal_config::{File, Point};

    use super::*;
    use crate::experiment::StopOn;
    use crate::sweep::experiment;

    fn point(text: &str) -> Point {
        File::parse(text, "test.toml").expect("a file").points().expect("points").remove(0)
    }

    #[test]
    fn contexts_that_wait_for_memory_or_switch_carry_less() {
        let busy = |contexts: &str, preemptions: f64| {
            let text = format!(
                "[workload]\nservice = {{ distribution = \"exponential\", mean = \"10us\" }}\nrate = \"70k/s\"\n\
                 [system]\ncores = 1\ncontexts = {contexts}\ndiscipline = {{ policy = \"processor-sharing\", quantum = \"2us\" }}\n\
                 [costs]\ncold_miss = \"1us\"\npreemption = \"0ns\""
            );
            let overheads = Overheads { preemptions, ..Overheads::default() };
            experiment(&point(&text), false, StopOn::Reported).cores_busy(overheads)
        };
        let one = |preemptions| busy("{ count = 1 }", preemptions);
        assert!((one(0.0) - 0.7).abs() < 1e-9);
        // 10 us of work and n of waiting, 14.3 us apart.
        assert!(one(4.2) < 1.0 && one(4.4) > 1.0 && one(20.0).is_infinite());
        // Two contexts at 0.8 each; of 2.0 contexts 0.35 wait, so that 1.65 do 1.39 of the work of one.
        assert!((busy("{ count = 2 }", 5.0) - 0.7 / 1.39).abs() < 1e-9);
    }

    #[test]
    fn queues_that_share_nothing_remember_for_longer_and_a_dispatcher_may_be_the_limit() {
        let relaxation = |system: &str| {
            let text =
                format!("[workload]\nservice = \"exp-1us\"\nload = 0.8\n[system]\ncores = 8\n{system}");
            let Memory { wandering, filling } =
                experiment(&point(&text), false, StopOn::Reported).memory(Overheads::default());
            wandering.max(filling)
        };
        let jsq = relaxation("dispatch = \"jsq\"");
        // 2 * 2 * 16 requests and what runs, of each.
        assert!((relaxation("dispatch = \"random\"") / 8.0 - 65.6).abs() < 1e-9);
        assert!((64.0..100.0).contains(&jsq), "{jsq}");
        let stealing = relaxation("dispatch = \"random\"\nrebalance = \"work-stealing\"");
        assert!((stealing / jsq - 1.0).abs() < 1e-9, "{stealing}");
        let slow = relaxation(
            "dispatch = \"random\"\nrebalance = \"work-stealing\"\n[costs]\nsteal_check = \"10us\"",
        );
        assert!(slow > 3.0 * jsq, "thieves that look at a queue in ten services help little: {slow}");
        // 6.4 M requests/s of 150 ns each.
        assert!(relaxation("dispatch = \"jsq\"\n[costs]\ndispatcher = \"150ns\"") > 5.0 * jsq);
    }

    #[test]
    fn a_choice_of_two_fills_up_in_services_of_all_queues() {
        let memory = |cores: u32, dispatch: &str| {
            let text = format!(
                "[workload]\nservice = \"exp-1us\"\nload = 0.9\n[system]\ncores = {cores}\ndispatch = {dispatch}"
            );
            experiment(&point(&text), false, StopOn::Reported).memory(Overheads::default())
        };
        let two = "{ policy = \"power-of-k\", k = 2 }";
        let [some, many] = [256, 4096].map(|cores| memory(cores, two));
        assert!((many.filling / some.filling - 16.0).abs() < 1e-9);
        assert!((many.filling / (4096.0 * 0.9) - 25.1).abs() < 0.1, "services: {}", many.filling / 3686.0);
        assert!(many.wandering < 0.1 * many.filling);
        assert!(memory(256, "\"random\"").filling > 10.0 * some.filling);
    }
}
